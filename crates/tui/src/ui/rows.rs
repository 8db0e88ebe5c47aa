//! A list of things to pick from, with a filter: what is typed narrows it, and the letters that fit are marked. It knows what is
//! selected and what is visible; how a row looks, its owner says, and only of the visible ones. Must never look at all rows to draw,
//! nor allocate for each of them when a letter is typed.

mod ink;
#[cfg(test)]
mod tests;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::keymap::Command;
use super::pane::Brush;
use super::theme::Paint;
use crate::text::{safe, width};

pub(crate) use ink::Ink;

/// A letter of the filter must bring in so much: what fits only with its letters strewn all over a text does not fit.
const LEAST_PER_LETTER: u32 = 16;

/// Something to pick.
pub(crate) trait Row {
    /// What tells it from all others, so that it stays selected when the list is another one.
    fn key(&self) -> &str;

    /// What the filter looks at, in the fields that [`Ink::field`] draws.
    fn fields(&self) -> Vec<String>;

    /// Why it can't be picked, if so.
    fn why_not(&self) -> Option<&str> {
        None
    }

    /// How it stands to the filter.
    fn stands(&self) -> Stands {
        Stands::Filtered
    }
}

/// How a row stands to the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// It is there when it fits.
    Filtered,
    /// It is always there, behind those that fit.
    Always,
    /// It is a heading: always there, never selected.
    Heading,
    /// It connects rows: there only while nothing is typed, never selected.
    Between,
}

impl Stands {
    fn is_selectable(self) -> bool {
        matches!(self, Self::Filtered | Self::Always)
    }
}

/// In which order what fits the filter is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As it was given.
    Kept,
    /// What fits best first.
    Best,
}

/// What a command or a click did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// Nothing: it is not for the list, or there was nothing to do.
    Nothing,
    /// Another row is selected.
    Moved,
    /// The filter is another one, and so may be what is selected.
    Filtered,
    /// The row that was selected already was clicked: it is to be taken.
    Taken,
}

/// A list of things to pick from.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    all: Vec<Kept<T>>,
    order: Order,
    filter: String,
    pattern: Pattern,
    matcher: Matcher,
    /// What has all letters of the filter: how well it fits, and where it is in `all`; in that order.
    fits: Vec<(u32, u32)>,
    /// What of it fits well enough, in the order shown.
    shown: Vec<(u32, u32)>,
    /// How many of `all` the filter looks at, and how many of these fit.
    counts: (usize, usize),
    /// Which of `shown` is selected.
    selected: usize,
    /// The first of `shown` that is drawn.
    top: usize,
    /// Where the rows were drawn last.
    area: Rect,
    /// For texts that are more than ASCII.
    letters: Vec<char>,
    /// Which letters of a row fit.
    marks: Vec<u32>,
}

#[derive(Debug)]
struct Kept<T> {
    item: T,
    /// Its fields, safe, a line each.
    text: String,
}

impl<T: Row> Kept<T> {
    fn new(item: T) -> Self {
        let mut text = String::new();
        for (at, field) in item.fields().iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            text.push_str(&safe::line(field).replace('\n', " "));
        }
        Self { item, text }
    }
}

/// The place of the first row that `is_meant`, else the end.
fn first<T>(all: &[Kept<T>], is_meant: impl Fn(&T) -> bool) -> usize {
    all.iter().position(|kept| is_meant(&kept.item)).unwrap_or(all.len())
}

impl<T: Row> Rows<T> {
    /// An empty list.
    pub(crate) fn new(order: Order) -> Self {
        Self {
            all: Vec::new(),
            order,
            filter: String::new(),
            pattern: Pattern::default(),
            matcher: Matcher::new(Config::DEFAULT),
            fits: Vec::new(),
            shown: Vec::new(),
            counts: (0, 0),
            selected: 0,
            top: 0,
            area: Rect::default(),
            letters: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Other rows take the place of all; what is selected stays so, where it is still there.
    pub(crate) fn set(&mut self, items: impl IntoIterator<Item = T>) {
        self.change(|all| *all = items.into_iter().map(Kept::new).collect());
    }

    /// A row takes the place of the one with its key, or comes in; it stands before the first that `before` says.
    pub(crate) fn put(&mut self, item: T, before: impl Fn(&T) -> bool) {
        self.change(|all| {
            all.retain(|kept| kept.item.key() != item.key());
            all.insert(first(all, before), Kept::new(item));
        });
    }

    /// Further rows before the first that `before` says.
    pub(crate) fn insert(&mut self, items: impl IntoIterator<Item = T>, before: impl Fn(&T) -> bool) {
        self.change(|all| {
            let at = first(all, before);
            all.splice(at..at, items.into_iter().map(Kept::new));
        });
    }

    /// Only these rows stay.
    pub(crate) fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        self.change(|all| all.retain(|kept| stays(&kept.item)));
    }

    /// Further rows behind the others.
    pub(crate) fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        self.change(|all| all.extend(items.into_iter().map(Kept::new)));
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<Kept<T>>)) {
        let key = self.selected().map(|item| item.key().to_owned());
        change(&mut self.all);
        self.fit_all();
        self.reselect(key.as_deref());
    }

    /// All rows, in the order given.
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.all.iter().map(|kept| &kept.item)
    }

    /// How many there are that the filter looks at, whatever fits.
    pub(crate) fn len(&self) -> usize {
        self.counts.0
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many fit the filter.
    pub(crate) fn fitting(&self) -> usize {
        self.counts.1
    }

    /// What is typed.
    pub(crate) fn filter(&self) -> &str {
        &self.filter
    }

    /// What is selected.
    pub(crate) fn selected(&self) -> Option<&T> {
        self.at(self.selected).filter(|item| item.stands().is_selectable())
    }

    /// What is selected, if it can be picked; else why not.
    pub(crate) fn picked(&self) -> Option<Result<&T, &str>> {
        self.selected().map(|item| item.why_not().map_or(Ok(item), Err))
    }

    /// Selects the row with this key, if it is there.
    pub(crate) fn select(&mut self, key: &str) -> bool {
        let at = (0..self.shown.len()).find(|at| self.at(*at).is_some_and(|item| item.key() == key));
        if let Some(at) = at {
            self.selected = at;
        }
        at.is_some()
    }

    /// Whether the last row is in sight or close to it: the next page is to be loaded.
    pub(crate) fn at_end(&self) -> bool {
        let seen = self.top.max(self.selected) + 2 * usize::from(self.area.height.max(1));
        seen >= self.shown.len()
    }

    /// Text was typed: it narrows.
    pub(crate) fn typed(&mut self, text: &str) -> Did {
        let before = self.filter.len();
        self.filter.extend(text.chars().filter(|c| !c.is_control()));
        if self.filter.len() == before {
            return Did::Nothing;
        }
        // What more letters fit, fewer letters fit: only what is shown is looked at. A backslash may make a space a letter.
        self.refilter(before > 0 && !self.filter.contains('\\'));
        Did::Filtered
    }

    /// A command of lists.
    pub(crate) fn command(&mut self, command: Command) -> Did {
        let page = isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX)).max(2) - 1;
        match command {
            Command::Up => self.step(-1),
            Command::Down => self.step(1),
            Command::PageUp => self.step(-page),
            Command::PageDown => self.step(page),
            Command::First => self.step(isize::MIN),
            Command::Last => self.step(isize::MAX),
            Command::Erase if width::pop_letter(&mut self.filter) => {
                self.refilter(false);
                Did::Filtered
            }
            Command::EraseAll if !self.filter.is_empty() => {
                self.filter.clear();
                self.refilter(false);
                Did::Filtered
            }
            _ => Did::Nothing,
        }
    }

    /// A click at a place of the screen.
    pub(crate) fn clicked(&mut self, at: Position) -> Did {
        if !self.area.contains(at) {
            return Did::Nothing;
        }
        let at = self.top + usize::from(at.y - self.area.y);
        match self.at(at) {
            Some(item) if !item.stands().is_selectable() => Did::Nothing,
            None => Did::Nothing,
            Some(_) if at == self.selected => Did::Taken,
            Some(_) => {
                self.selected = at;
                Did::Moved
            }
        }
    }

    fn at(&self, at: usize) -> Option<&T> {
        self.shown.get(at).map(|(_, index)| &self.all[*index as usize].item)
    }

    /// Moves so many rows, as far as there are some; headings are passed over.
    fn step(&mut self, by: isize) -> Did {
        let before = self.selected;
        let last = self.shown.len().saturating_sub(1);
        let wanted = before.saturating_add_signed(by).min(last);
        let heading = |at: &usize| self.at(*at).is_none_or(|item| !item.stands().is_selectable());
        let on = (wanted..=last).find(|at| !heading(at));
        let back = (0..=wanted).rev().find(|at| !heading(at));
        self.selected = if by < 0 { back.or(on) } else { on.or(back) }.unwrap_or(0);
        if self.selected == before { Did::Nothing } else { Did::Moved }
    }

    fn refilter(&mut self, narrows: bool) {
        let key = self.selected().map(|item| item.key().to_owned());
        self.pattern = Pattern::new(&self.filter, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        if narrows {
            self.fit();
        } else {
            self.fit_all();
        }
        self.top = 0;
        match self.order {
            Order::Kept => self.reselect(key.as_deref()),
            Order::Best => self.reselect(None),
        }
    }

    fn fit_all(&mut self) {
        self.counts.0 = self.all.iter().filter(|kept| kept.item.stands() == Stands::Filtered).count();
        self.fits.clear();
        self.fits.extend((0..u32::try_from(self.all.len()).unwrap_or(u32::MAX)).map(|at| (0, at)));
        self.fit();
    }

    /// Of what did fit, keeps what still does.
    fn fit(&mut self) {
        let Self { all, fits, shown, pattern, matcher, letters, filter, .. } = self;
        fits.retain_mut(|(score, at)| {
            let kept = &all[*at as usize];
            match kept.item.stands() {
                Stands::Filtered => {
                    let fits = pattern.score(Utf32Str::new(&kept.text, letters), matcher);
                    // Nothing is above what is always there.
                    *score = fits.map_or(0, |score| score + 1);
                    fits.is_some()
                }
                Stands::Always | Stands::Heading => true,
                Stands::Between => filter.is_empty(),
            }
        });
        let least = least(filter);
        shown.clear();
        shown.extend(fits.iter().filter(|(score, _)| *score == 0 || *score > least));
        self.counts.1 = shown.iter().filter(|(score, _)| *score > 0).count();
        if self.order == Order::Best && least > 0 {
            shown.sort_unstable_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        }
    }

    /// Selects what was selected; where it is gone, what stands in its place, or with another filter the first.
    fn reselect(&mut self, key: Option<&str>) {
        if key.is_none_or(|key| !self.select(key)) {
            self.selected = if key.is_some() && self.filter.is_empty() { self.selected } else { 0 };
            self.selected = self.selected.min(self.shown.len().saturating_sub(1));
            self.step(0);
        }
    }

    /// Draws the filter and below it the rows; where there is none, what `empty` says. Only visible rows are asked how they look.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &Brush<'_>,
        empty: &str,
        row: impl Fn(&T, &mut Ink<'_>),
    ) {
        let head = u16::from(area.height > 2 || !self.filter.is_empty()).min(area.height);
        if head > 0 {
            self.draw_filter(frame, Rect { height: 1, ..area }, brush);
        }
        self.area = Rect { y: area.y + head, height: area.height - head, ..area };
        let visible = usize::from(self.area.height);
        if self.shown.is_empty() {
            return self.draw_empty(frame, brush, empty);
        }
        self.scroll(visible);
        for line in 0..visible.min(self.shown.len() - self.top) {
            let drawn = self.drawn(self.top + line, brush, &row);
            let y = self.area.y + u16::try_from(line).unwrap_or(u16::MAX);
            frame.render_widget(drawn, Rect { y, height: 1, ..self.area });
        }
    }

    /// What is selected comes into sight, with a row around it where there is room.
    fn scroll(&mut self, visible: usize) {
        let around = usize::from(visible > 4);
        let last = self.shown.len().saturating_sub(visible);
        let least = (self.selected + 1 + around).saturating_sub(visible);
        self.top = self.top.max(least).min(self.selected.saturating_sub(around)).min(last);
    }

    fn drawn(&mut self, at: usize, brush: &Brush<'_>, row: &impl Fn(&T, &mut Ink<'_>)) -> Line<'static> {
        let kept = &self.all[self.shown[at].1 as usize];
        self.marks.clear();
        let least = least(&self.filter);
        if !self.filter.is_empty() && kept.item.stands() == Stands::Filtered {
            // The first field is what is read; the others are marked only where it does not fit by itself.
            let first = kept.text.split('\n').next().unwrap_or_default();
            let hay = Utf32Str::new(first, &mut self.letters);
            if self.pattern.indices(hay, &mut self.matcher, &mut self.marks).is_none_or(|fits| fits < least) {
                self.marks.clear();
                let hay = Utf32Str::new(&kept.text, &mut self.letters);
                self.pattern.indices(hay, &mut self.matcher, &mut self.marks);
            }
            self.marks.sort_unstable();
            self.marks.dedup();
        }
        let mut ink = Ink::new(brush.theme, self.area.width, &kept.text, &self.marks);
        let selected = at == self.selected && kept.item.stands().is_selectable();
        ink.text(if selected { "❯ " } else { "  " }, Paint::Accent);
        row(&kept.item, &mut ink);
        if let Some(why) = kept.item.why_not() {
            ink.disabled(why);
        }
        ink.done(selected)
    }

    fn draw_filter(&self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>) {
        let count = match self.filter.is_empty() {
            true => String::new(),
            false => format!(" {} of {}", self.fitting(), self.len()),
        };
        let room = usize::from(area.width).saturating_sub(3 + width::columns(&count));
        let theme = brush.theme;
        let filter = safe::line(&self.filter);
        // Its end is what is being typed.
        let mut from = 0;
        while width::columns(&filter[from..]) > room {
            from += filter[from..].chars().next().map_or(1, char::len_utf8);
        }
        let shown = &filter[from..];
        let mut spans = vec![Span::styled("› ", theme.style(Paint::Accent))];
        if shown.is_empty() {
            spans.push(Span::styled(
                width::truncate("type to filter", room).into_owned(),
                theme.style(Paint::Dim),
            ));
        } else {
            spans.push(Span::raw(shown.to_owned()));
        }
        frame.render_widget(Line::from(spans), area);
        let end = Line::styled(count, theme.style(Paint::Dim)).right_aligned();
        if !shown.is_empty() {
            frame.render_widget(end, Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area });
        }
        let cursor = area.x + (2 + u16::try_from(width::columns(shown)).unwrap_or(0)).min(area.width - 1);
        frame.set_cursor_position(Position::new(cursor, area.y));
    }

    fn draw_empty(&self, frame: &mut Frame<'_>, brush: &Brush<'_>, empty: &str) {
        let text = if self.all.is_empty() { empty.to_owned() } else { self.nothing_fits(brush) };
        let columns = usize::from(self.area.width).saturating_sub(2);
        for (line, text) in (0..self.area.height).zip(width::wrap(&text, columns)) {
            let area = Rect {
                x: self.area.x + 2.min(self.area.width),
                y: self.area.y + line,
                width: self.area.width.saturating_sub(2),
                height: 1,
            };
            frame.render_widget(Line::styled(text, brush.theme.style(Paint::Dim)), area);
        }
    }

    fn nothing_fits(&self, brush: &Brush<'_>) -> String {
        format!(
            "nothing fits “{}”: {} empties the filter",
            safe::line(&self.filter),
            brush.keys.named(Command::EraseAll)
        )
    }
}

/// How well a row must fit a filter at least.
fn least(filter: &str) -> u32 {
    let letters = filter.chars().filter(|c| !c.is_whitespace()).count();
    LEAST_PER_LETTER.saturating_mul(u32::try_from(letters).unwrap_or(u32::MAX))
}
