//! A row of the list of conversations. Must never show a sign that can't be recognized without colour.

use retake_wire::Hit;
use retake_wire::reply::Conversation;

use crate::render::{hits, words};
use crate::text::{time, width};
use crate::ui::rows::{Filtering, Row, RowSpans};
use crate::ui::theme::{Paint, Theme};

/// An item of the list.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A conversation, and its folder if that differs from the person's.
    Talk(Box<Conversation>, Option<String>),
    /// A heading.
    Heading(String),
    /// A search hit.
    Hit(Box<Hit>),
}

impl Item {
    pub(super) fn talk(conversation: Conversation, here: &str) -> Self {
        let elsewhere = conversation.folder.as_deref().filter(|folder| *folder != here).map(short);
        Self::Talk(Box::new(conversation), elsewhere)
    }

    /// Whether it is a conversation of another folder.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Talk(_, Some(_)))
    }

    /// The conversation that it is or belongs to.
    pub(super) fn conversation(&self) -> Option<&str> {
        match self {
            Self::Talk(conversation, _) => Some(&conversation.id),
            Self::Hit(hit) => Some(&hit.conversation),
            Self::Heading(_) => None,
        }
    }
}

impl Row for Item {
    fn key(&self) -> &str {
        match self {
            Self::Talk(conversation, _) => &conversation.id,
            Self::Heading(text) => text,
            Self::Hit(hit) => &hit.line.id,
        }
    }

    fn fields(&self) -> Vec<String> {
        match self {
            Self::Talk(conversation, folder) => {
                let title = named(conversation);
                let begins = conversation.title.as_ref().map(|_| conversation.preview.clone());
                vec![title, folder.clone().unwrap_or_default(), begins.unwrap_or_default()]
            }
            Self::Heading(_) | Self::Hit(_) => Vec::new(),
        }
    }

    fn filtering(&self) -> Filtering {
        match self {
            Self::Talk(..) => Filtering::Filtered,
            Self::Heading(_) => Filtering::Heading,
            Self::Hit(_) => Filtering::Always,
        }
    }
}

/// The title, or the first words.
fn named(conversation: &Conversation) -> String {
    let named = words::named(conversation);
    if named.is_empty() { "(nothing said yet)".to_owned() } else { named }
}

/// The last two parts of a path.
fn short(folder: &str) -> String {
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => folder.to_owned(),
        [one] => (*one).to_owned(),
        [.., above, last] => format!("{above}/{last}"),
    }
}

/// Facts about the list as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListContext<'a> {
    /// The person's current conversation.
    pub(super) current: Option<&'a str>,
    /// Some belong to another folder, so there is a column for it.
    pub(super) folders: bool,
}

/// Draws a row.
pub(super) fn draw(item: &Item, ink: &mut RowSpans<'_>, now_ms: i64, seen: ListContext<'_>, theme: Theme) {
    match item {
        Item::Talk(conversation, folder) => {
            draw_talk(conversation, folder.is_some(), ink, now_ms, seen);
        }
        Item::Heading(text) => ink.text(text, Paint::Dim),
        Item::Hit(hit) => draw_hit(hit, ink, now_ms, theme),
    }
}

fn draw_talk(it: &Conversation, elsewhere: bool, ink: &mut RowSpans<'_>, now_ms: i64, seen: ListContext<'_>) {
    let current = seen.current == Some(it.id.as_str());
    let (sign, paint) = match () {
        () if it.running => ("● ", Paint::Good),
        () if it.access.read_only_cause.is_some() => ("⊘ ", Paint::Warn),
        () if current => ("• ", Paint::Accent),
        () => ("  ", Paint::Plain),
    };
    ink.text(sign, paint);
    let room = ink.room();
    // A conversation of this folder needs no column for it.
    let folder = if room >= 56 && seen.folders && elsewhere { 22 } else { 0 };
    let counts = if room >= 72 { 15 } else { 0 };
    let time = when(it.changed_ms, when_columns(room), now_ms);
    // Without another column, the time takes only the room that it needs.
    let is_alone = folder == 0 && counts == 0 && !time.is_empty();
    let when = if is_alone { width::columns(&time) + 2 } else { when_columns(room) };
    let mut title = room.saturating_sub(folder + counts + when);
    if it.parent.is_some() {
        ink.text("⑂ ", Paint::Dim);
        title = title.saturating_sub(2);
    }
    ink.field_column(0, title, Paint::Plain);
    if folder > 0 {
        ink.space(2);
        ink.field_column(1, folder - 2, Paint::Dim);
    }
    ink.column_right(&words::count(it.counts.messages, "message"), counts, Paint::Dim);
    ink.column_right(&time, when, Paint::Dim);
}

fn draw_hit(hit: &Hit, ink: &mut RowSpans<'_>, now_ms: i64, theme: Theme) {
    let (speaker, style) = words::said_by(&hit.line);
    ink.spans([ratatui::text::Span::styled(width::fit(&speaker, 7), theme.of(style))]);
    let room = ink.room();
    let title = if room >= 50 { 24 } else { 0 };
    let when = when_columns(room);
    let said = room.saturating_sub(title + when);
    let left = ink.room() - said;
    for (text, marked) in around(hit, said) {
        let cut = width::truncate(&text, ink.room().saturating_sub(left));
        ink.text(&cut, if marked { Paint::Match } else { Paint::Plain });
    }
    ink.space(ink.room().saturating_sub(left));
    if title > 0 {
        ink.space(2);
        ink.column(&hit.title, title - 2, Paint::Dim);
    }
    ink.column_right(&self::when(hit.line.time_ms, when, now_ms), when, Paint::Dim);
}

/// The text of a hit in pieces, with the matches; cut at the front so that the match is visible. The ranges are not trusted.
fn around(hit: &Hit, columns: usize) -> Vec<(String, bool)> {
    let mut pieces = hits::pieces(hit);
    let whole: usize = pieces.iter().map(|(text, _)| width::columns(text)).sum();
    let before = pieces.first().filter(|(_, marked)| !marked).map_or(0, |(text, _)| width::columns(text));
    if whole > columns && before > columns / 3 && pieces.len() > 1 {
        pieces[0].0 = width::end(&pieces[0].0, columns / 3);
    }
    pieces
}

/// The columns of the time, with the space before it.
fn when_columns(room: usize) -> usize {
    match room {
        56.. => 18,
        34.. => 12,
        _ => 0,
    }
}

/// A time in words, for so many columns.
fn when(time_ms: i64, columns: usize, now_ms: i64) -> String {
    match columns {
        0 => String::new(),
        12 => match time::short(now_ms, time_ms).as_str() {
            now @ "now" => now.to_owned(),
            age => format!("{age} ago"),
        },
        _ => time::relative(now_ms, time_ms),
    }
}
