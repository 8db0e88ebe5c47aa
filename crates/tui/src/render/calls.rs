//! Tool calls as they happen: what a call does, its output, its result. Must never show more than a person reads, nor text that
//! has not passed [`safe`].

use retake_wire::{CallEnded, CallShown, EffectClass, PendingApproval, english};

use super::content::block;
use super::files::diff_lines;
use super::words;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe, time, width};

/// The most lines shown of a call's output or result.
const LINES: usize = 12;

/// The same for a call that only reads.
const READ_LINES: usize = 3;

/// The same for a diff.
const DIFF_LINES: usize = 60;

/// Whether a tool only reads: its result is meant for the model.
pub(crate) fn reads(name: &str) -> bool {
    matches!(name, "read" | "list" | "glob" | "grep" | "fetch" | "todo" | "job_output" | "job_list")
}

/// Whether an interrupted call had started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStart {
    /// Perhaps.
    Perhaps,
    /// It had not.
    No,
    /// It had.
    Yes,
}

/// The outcome of an interrupted call.
pub(crate) fn cut_off(name: &str, begun: CallStart) -> &'static str {
    match begun {
        CallStart::Perhaps => "its result is not part of this conversation: it may have run",
        _ if reads(name) => "interrupted before there was a result",
        CallStart::No => "interrupted while it waited for an approval, before it began: nothing has changed",
        CallStart::Yes => {
            "cut off before there was a result: what it did is not known, nor what it went on to do"
        }
    }
}

/// What a call does, in one line.
pub fn calling(look: &Look, call: &CallShown) -> Text {
    let line = safe::line(&call.line);
    let line = width::truncate(&line, look.columns.saturating_sub(2));
    text![(Style::Tool, "●"), " ", (Style::Bold, line), "\n"]
}

/// The approval request for a call: the call, the reason, the changes. Shows all of it: nobody can approve what is left out.
pub fn asks(look: &Look, asks: &PendingApproval) -> Text {
    let line = safe::line(&asks.call.line);
    let room = look.columns.saturating_sub(2).max(20);
    let mut text = Text::new();
    for (number, line) in width::wrap(&line, room).into_iter().enumerate() {
        let sign = if number == 0 { "●" } else { " " };
        text.push(text![(Style::Tool, sign), " ", (Style::Bold, line), "\n"]);
    }
    text.push(match ran_before(asks, look.now_ms) {
        Some(before) => block(look, &before, 2, Some(Style::Warn)),
        None => block(look, &english::ask_cause(&asks.cause), 2, Some(Style::Dim)),
    });
    if let Some(detail) = &asks.call.detail {
        text.push(shown(look, detail, usize::MAX));
    }
    text
}

/// When the same call ran before, and what remains of it, because going back reverted only files. This is then the reason for the
/// request.
pub(crate) fn ran_before(asks: &PendingApproval, now_ms: i64) -> Option<String> {
    let when = time::relative(now_ms, asks.again_ms?);
    Some(format!("the same ran {when}; what it did outside of the files was not taken back"))
}

/// The result of a call. Does not repeat what is on the screen already, such as its detail.
pub fn called(look: &Look, call: Option<&CallShown>, ended: &CallEnded, seen: CallOnScreen) -> Text {
    let mut text = Text::new();
    let lines = match (call.map(|call| call.class), seen) {
        (_, CallOnScreen::Printed) => 1,
        (Some(EffectClass::None), _) => READ_LINES,
        _ => LINES,
    };
    if ended.failed {
        let last = format!("✗ {}", tail(&english::call_ended(ended), lines));
        text.push(block(look, &last, 2, Some(Style::Error)));
    } else if seen == CallOnScreen::Nothing {
        let most = if is_diff(&ended.shown) { DIFF_LINES } else { lines };
        text.push(shown(look, &ended.shown, most));
    }
    if ended.changed > 0 {
        let verb = if ended.changed == 1 { "has" } else { "have" };
        let changed = format!("{} {verb} changed", words::count(ended.changed as u64, "file"));
        text.push(block(look, &changed, 2, Some(Style::Dim)));
    }
    text
}

/// What the screen already shows of a call when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOnScreen {
    /// Only that it started.
    Nothing,
    /// Its expected result, shown before it ran.
    Detail,
    /// Its output.
    Printed,
}

/// The first lines of a text; a diff in colours.
fn shown(look: &Look, text: &str, most: usize) -> Text {
    let text = text.trim_end();
    let all = text.lines().count();
    let first: Vec<&str> = text.lines().take(most).collect();
    let shown = if first.is_empty() {
        Text::new()
    } else if is_diff(text) {
        diff_lines(&first.join("\n"), "  ")
    } else {
        block(look, &first.join("\n"), 2, Some(Style::Dim))
    };
    shown + more(look, all.saturating_sub(most) as u64)
}

fn more(look: &Look, lines: u64) -> Text {
    if lines == 0 {
        return Text::new();
    }
    let plural = if lines == 1 { "line" } else { "lines" };
    block(look, &format!("… {} more {plural}", words::number(lines)), 2, Some(Style::Dim))
}

/// The last lines of a text.
fn tail(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let left = lines.len().saturating_sub(most);
    let cut = if left > 0 && most > 1 { "…\n" } else { "" };
    format!("{cut}{}", lines[left..].join("\n"))
}

fn is_diff(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("@@ "))
}

/// The output of a call as it arrives: its first lines, cut to the width of the terminal; the rest is counted.
#[derive(Debug, Default)]
pub struct OutputPreview {
    safe: safe::Stream,
    /// Number of shown lines.
    shown: usize,
    /// Number of hidden lines.
    hidden: u64,
    /// Used columns on this line; `None` before it begins.
    used: Option<usize>,
}

impl OutputPreview {
    /// The text to print for the next piece.
    pub fn push(&mut self, look: &Look, text: &str) -> Text {
        let text = self.safe.push(text).into_owned();
        let mut out = String::new();
        for c in text.chars() {
            if self.shown >= LINES {
                self.hide(c);
            } else if c == '\n' {
                out.push_str(if self.used.is_none() { "  \n" } else { "\n" });
                self.used = None;
                self.shown += 1;
            } else {
                self.show(look, c, &mut out);
            }
        }
        Text::styled(Style::Dim, out)
    }

    fn hide(&mut self, c: char) {
        if c == '\n' {
            self.hidden += 1;
            self.used = None;
        } else {
            self.used = Some(0);
        }
    }

    fn show(&mut self, look: &Look, c: char, out: &mut String) {
        let room = look.columns.saturating_sub(3).max(20);
        if self.used.is_none() {
            out.push_str("  ");
        }
        let used = self.used.unwrap_or(0);
        let mut buffer = [0; 4];
        let c = if c == '\t' { "    " } else { c.encode_utf8(&mut buffer) };
        let wide = width::columns(c);
        if used <= room && used + wide > room {
            out.push('…');
        } else if used + wide <= room {
            out.push_str(c);
        }
        self.used = Some(used.saturating_add(wide).min(room + 1));
    }

    /// The text to print at the end.
    pub fn finish(&mut self, look: &Look) -> Text {
        let open = self.used.take().is_some();
        let mut out = self.safe.finish().to_owned();
        if self.shown < LINES && open {
            out.push('\n');
        }
        let hidden = std::mem::take(&mut self.hidden) + u64::from(self.shown >= LINES && open);
        Text::from(out) + more(look, hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { columns: 30, now_ms: 0, ids: true };

    fn printed(pieces: &[&str]) -> String {
        let mut printed = OutputPreview::default();
        let text: Text = pieces.iter().map(|piece| printed.push(&LOOK, piece)).collect();
        (text + printed.finish(&LOOK)).to_string()
    }

    #[test]
    fn output_of_a_call_is_limited_in_width_and_height() {
        assert_eq!(printed(&["one\ntw", "o\n"]), "  one\n  two\n");
        assert_eq!(printed(&["one\n\nthree"]), "  one\n  \n  three\n");
        assert_eq!(printed(&[&"x".repeat(100_000)]), format!("  {}…\n", "x".repeat(27)));
        assert_eq!(printed(&["\x1b[2Jgone\x07\n"]), "  ␛[2Jgone␇\n");
        assert_eq!(printed(&[]), "");
        let many = "line\n".repeat(1_246);
        assert_eq!(printed(&[&many]), "  line\n".repeat(12) + "  … 1,234 more lines\n");
        assert_eq!(printed(&[&many, "half"]), "  line\n".repeat(12) + "  … 1,235 more lines\n");
        assert_eq!(printed(&[&"line\n".repeat(13)]), "  line\n".repeat(12) + "  … 1 more line\n");
    }

    #[test]
    fn end_of_a_failure_is_shown() {
        assert_eq!(tail("one\ntwo\nthree\n", 2), "…\ntwo\nthree");
        assert_eq!(tail("one\ntwo\n", 1), "two");
        assert_eq!(tail("", 2), "");
    }
}
