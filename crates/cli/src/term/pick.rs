//! A picker: one of some rows, chosen with the keys, drawn inline below the cursor. Must restore the terminal. Must never pick a
//! disabled row, and must never show a row's text without [`safe`].
//!
//! | key | does |
//! |---|---|
//! | Up, Down, Ctrl+P, Ctrl+N, PgUp, PgDn, Home, End | move |
//! | `j`, `k`, `q` | down, up, cancel, while nothing is typed |
//! | any other character | filters, by what a row contains, in any case |
//! | `/` | filters with the characters that follow, `j`, `k` and `q` too |
//! | Backspace | takes back a character of the filter |
//! | Enter | picks |
//! | Esc, Ctrl+C | cancels |
//!
//! Rows with keys of their own answer a question: their keys pick them, `n` and `q` cancel, nothing filters, and Enter means the
//! first one until another is marked. Keys that arrive in a burst (a paste) are ignored.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::{cursor, queue, terminal};

use super::style::{Palette, Style};
use super::width::{self, Size};
use super::{Raw, pending_keys, safe};

mod list;

use list::List;

/// At most this many rows are visible.
const ROWS: usize = 12;

/// At most this many lines of preview are visible.
const PREVIEW: usize = 6;

/// A row to pick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub title: String,
    /// Further information, dimmed: a time, a count.
    pub detail: String,
    /// The reason why it can't be picked, if there is one.
    pub disabled: Option<String>,
    /// The key that picks it. Either all rows have one, or none has.
    pub key: Option<char>,
}

impl Row {
    /// A row that can be picked.
    pub fn new(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { title: title.into(), detail: detail.into(), disabled: None, key: None }
    }
}

/// Lets a person pick a row, and blocks until then. The rows are shown in their order, so the newest comes first; the first one
/// that can be picked is marked. `preview` returns details of a row, and is called once for each marked row. `None` if cancelled.
/// Only if [`super::interactive`].
///
/// # Errors
///
/// If the terminal can't be read or written.
pub fn pick(
    palette: Palette,
    question: &str,
    rows: &[Row],
    preview: &mut dyn FnMut(usize) -> String,
) -> io::Result<Option<usize>> {
    let mut picker = Picker {
        palette,
        question: safe::line(question).into_owned(),
        rows: rows.iter().map(shown).collect(),
        list: List::new(rows),
        preview,
        previews: HashMap::new(),
        several: false,
    };
    let _raw = Raw::enable()?;
    let _region = Region::begin()?;
    // Resizes are noticed only after the first poll of events, so it must come before the first drawing.
    event::poll(Duration::ZERO)?;
    loop {
        picker.draw()?;
        let key = next_key()?;
        if picker.list.is_answer(key) && pending_keys::more_follow()? {
            pending_keys::discard_paste()?;
            picker.several = true;
            continue;
        }
        picker.several &= key.is_none();
        if let Some(done) = picker.list.handle(key) {
            return Ok(done);
        }
    }
}

/// The row with text that is safe to draw.
fn shown(row: &Row) -> Row {
    let line = |text: &str| safe::line(text).into_owned();
    Row {
        title: line(&row.title),
        detail: line(&row.detail),
        disabled: row.disabled.as_deref().map(line),
        key: row.key,
    }
}

/// The next pressed key; `None` if the terminal was resized or needs another drawing.
fn next_key() -> io::Result<Option<KeyEvent>> {
    match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Some(key)),
        _ => Ok(None),
    }
}

struct Picker<'a> {
    palette: Palette,
    question: String,
    rows: Vec<Row>,
    list: List,
    preview: &'a mut dyn FnMut(usize) -> String,
    previews: HashMap<usize, String>,
    /// Several keys arrived in a burst and were ignored.
    several: bool,
}

impl Picker<'_> {
    fn draw(&mut self) -> io::Result<()> {
        let lines = self.lines(width::terminal());
        let mut frame = Vec::new();
        queue!(frame, terminal::Clear(terminal::ClearType::FromCursorDown))?;
        frame.extend_from_slice(lines.join("\r\n").as_bytes());
        // The cursor stays at the start of the picker, even when a resized terminal wraps the lines again.
        let up = u16::try_from(lines.len() - 1).expect("BUG: a picker has few lines");
        if up > 0 {
            queue!(frame, cursor::MoveUp(up))?;
        }
        queue!(frame, cursor::MoveToColumn(0))?;
        let mut out = io::stdout().lock();
        out.write_all(&frame)?;
        out.flush()
    }

    /// The lines to draw: fewer than the terminal has, and each shorter than it is wide.
    fn lines(&mut self, size: Size) -> Vec<String> {
        let columns = size.columns.saturating_sub(1).max(1);
        let available = size.rows.saturating_sub(1).max(1);
        // The preview gets at most a third of the room between header and help.
        let body = available.saturating_sub(2);
        let preview = PREVIEW.min(body / 3);
        self.list.set_height(ROWS.min(body - preview));
        let mut lines = vec![self.header(columns)];
        for (row, marked) in self.list.visible() {
            lines.push(self.row(row, marked, columns));
        }
        if self.list.is_empty() {
            let nothing = width::truncate("  no match", columns);
            lines.push(self.palette.paint(Style::Warn, nothing).to_string());
        }
        lines.extend(self.preview_lines(preview, columns));
        lines.push(self.help(columns));
        lines.truncate(available);
        lines
    }

    fn header(&self, columns: usize) -> String {
        let (position, found) = self.list.position();
        let count = format!("{position}/{found}");
        let text = match self.list.filter() {
            Some(filter) => format!("{}  {count}  /{}", self.question, safe::line(filter)),
            None => format!("{}  {count}", self.question),
        };
        self.palette.paint(Style::Bold, width::truncate(&text, columns)).to_string()
    }

    fn row(&self, index: usize, marked: bool, columns: usize) -> String {
        let row = &self.rows[index];
        let title = format!("{} {}", if marked { '>' } else { ' ' }, row.title);
        let detail = match &row.disabled {
            Some(why) => format!("({why})"),
            None => row.detail.clone(),
        };
        // The detail has priority over the title, but gets more than half of the width only if the title leaves it.
        let left = columns.saturating_sub(width::columns(&title) + 2);
        let detail = width::truncate(&detail, left.max(columns / 2));
        let room = columns.saturating_sub(width::columns(&detail) + 2);
        let title = width::truncate(&title, if detail.is_empty() { columns } else { room });
        let painted = match (&row.disabled, marked) {
            (Some(_), _) => self.palette.paint(Style::Dim, title).to_string(),
            (None, true) => self.palette.paint(Style::Accent, title).to_string(),
            (None, false) => title.into_owned(),
        };
        if detail.is_empty() {
            return painted;
        }
        let style = if row.disabled.is_some() { Style::Warn } else { Style::Dim };
        format!("{painted}  {}", self.palette.paint(style, detail))
    }

    fn preview_lines(&mut self, max: usize, columns: usize) -> Vec<String> {
        let Some(marked) = self.list.marked() else {
            return Vec::new();
        };
        let preview = &mut self.preview;
        let text = self
            .previews
            .entry(marked)
            .or_insert_with(|| safe::block(&preview(marked)).trim_end().to_owned());
        if text.is_empty() || max == 0 {
            return Vec::new();
        }
        // Only what can be visible is wrapped, so that a huge preview costs nothing.
        let beginning: String = text.chars().take(columns.saturating_mul(max + 1)).collect();
        let mut lines = width::wrap(&beginning, columns.saturating_sub(5).max(1));
        if lines.len() > max {
            lines.truncate(max);
            lines[max - 1].push('…');
        }
        let draw = |line: &String| {
            let line = format!("  │ {line}");
            self.palette.paint(Style::Dim, width::truncate(&line, columns)).to_string()
        };
        lines.iter().map(draw).collect()
    }

    fn help(&self, columns: usize) -> String {
        let help = match self.list.refusal() {
            Some(row) => {
                let why = self.rows[row].disabled.as_deref().unwrap_or_default();
                let text = format!("  cannot be picked: {why}");
                return self.palette.paint(Style::Error, width::truncate(&text, columns)).to_string();
            }
            None if self.several => {
                "  several keys at once are not an answer · y, Enter or a letter answers · n, Esc cancel"
            }
            None if self.list.is_question() => "  ↑↓ move · y, Enter or a letter answers · n, Esc cancel",
            None => "  ↑↓ move · Enter pick · type to filter · Esc cancel",
        };
        self.palette.paint(Style::Dim, width::truncate(help, columns)).to_string()
    }
}

/// The part of the screen below the cursor, empty again when it is dropped.
struct Region;

impl Region {
    fn begin() -> io::Result<Self> {
        let mut out = io::stdout().lock();
        queue!(out, cursor::Hide, cursor::MoveToColumn(0))?;
        out.flush()?;
        Ok(Self)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        let _ = queue!(
            out,
            cursor::MoveToColumn(0),
            terminal::Clear(terminal::ClearType::FromCursorDown),
            cursor::Show
        );
        let _ = out.flush();
    }
}

fn is_ctrl(key: KeyEvent, letter: char) -> bool {
    key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char(letter)
}
