//! Markdown that comes in pieces: finished blocks are kept as lines, and only the last one is read again. The lines are always those
//! of the whole text. Must never read a finished block twice.

use ratatui::text::Line;

use super::blocks;
use super::code::{self, Code};
use super::markdown;
use crate::face::theme::Theme;
use crate::text::safe;

/// So much of what is finished tells it from another text.
const MARK: usize = 64;

/// A text that grows.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    /// How it was asked for.
    asked: Option<(u16, Theme, (u64, u64))>,
    lines: Vec<Line<'static>>,
    /// So many of the lines, and so many bytes of the text, are finished.
    finished: (usize, usize),
    /// The end of the finished text.
    mark: String,
    /// A block of code that is open at the end.
    open: Option<Open>,
    /// Bytes that were parsed.
    #[cfg(test)]
    pub(super) parsed: usize,
}

/// A block of code whose end has not come yet.
#[derive(Debug)]
struct Open {
    fence: String,
    info: String,
    code: Code,
    /// Where it begins in the text.
    from: usize,
    /// So many bytes of the text, and so many lines up to there, are drawn.
    drawn: (usize, usize),
}

impl Streaming {
    /// The lines of the text, which goes on from what it was; another text begins anew.
    pub(crate) fn update(&mut self, text: &str, width: u16, theme: Theme) -> &[Line<'static>] {
        // Code that is open has its own colours, whichever blocks have been painted meanwhile.
        let known =
            if self.open.is_some() { self.asked.map_or(0, |asked| asked.2.1) } else { code::generation() };
        let asked = Some((width, theme, (code::languages(), known)));
        let drawn = self.open.as_ref().map_or(0, |open| open.drawn.0);
        let goes_on = text.len() >= drawn
            && text.get(..self.finished.1).is_some_and(|before| before.ends_with(&self.mark));
        if self.asked != asked || !goes_on {
            #[cfg(test)]
            let parsed = self.parsed;
            *self = Self { asked, ..Self::default() };
            #[cfg(test)]
            {
                self.parsed = parsed;
            }
        }
        if !self.code_goes_on(text, width, theme) {
            self.grow(text, width, theme);
        }
        &self.lines
    }

    /// The lines as of the last update.
    #[cfg(test)]
    pub(super) fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    fn grow(&mut self, text: &str, width: u16, theme: Theme) {
        self.open = None;
        self.lines.truncate(self.finished.0);
        let mut from = self.finished.1;
        let mut sure = true;
        while from < text.len() {
            let block = blocks::first(&text[from..]);
            let to = from + block.end;
            sure &= block.sure;
            if to == text.len() && !block.sure && self.open_code(text, from, width, theme) {
                return;
            }
            self.push(&text[from..to], width, theme);
            from = to;
            if sure {
                self.finished = (self.lines.len(), to);
                let mark = (to.saturating_sub(MARK)..to).find(|at| text.is_char_boundary(*at)).unwrap_or(to);
                text[mark..to].clone_into(&mut self.mark);
            }
        }
    }

    fn push(&mut self, block: &str, width: u16, theme: Theme) {
        #[cfg(test)]
        {
            self.parsed += block.len();
        }
        let lines = markdown::render(block, width.into(), theme);
        self.gap(lines.is_empty());
        self.lines.extend(lines);
    }

    fn gap(&mut self, nothing: bool) {
        if !nothing && !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    /// Whether the last block is code that is not closed; then it is drawn line after line.
    fn open_code(&mut self, text: &str, at: usize, width: u16, theme: Theme) -> bool {
        let bare = text[at..].trim_start_matches('\n');
        let Some((head, body)) = bare.split_once('\n') else { return false };
        let Some(fence) = blocks::opening(head.trim_end()) else { return false };
        let closes = |line: &str| blocks::closes(line.trim_start(), fence);
        if bare.contains('\r') || !body.contains('\n') || body.split('\n').any(closes) {
            return false;
        }
        let info = safe::line(head[fence.len()..].trim()).into_owned();
        self.gap(false);
        let drawn = (text.len() - body.len(), self.lines.len());
        let code = Code::growing(&info, body, theme);
        self.open = Some(Open { fence: fence.to_owned(), info, code, from: drawn.0, drawn });
        self.code_goes_on(text, width, theme)
    }

    /// Draws what came of the code that is open; `false` where none is, or where it ends.
    fn code_goes_on(&mut self, text: &str, width: u16, theme: Theme) -> bool {
        let Some(open) = &mut self.open else { return false };
        let Some(new) = text.get(open.drawn.0..) else { return false };
        if new.contains('\r') {
            return false;
        }
        if new.split('\n').any(|line| blocks::closes(line.trim_start(), &open.fence)) {
            self.close_code(text);
            return false;
        }
        self.lines.truncate(open.drawn.1);
        let whole = new.rfind('\n').map_or(0, |at| at + 1);
        for line in new[..whole].split_terminator('\n') {
            let run = open.code.line(&safe::block(line));
            self.lines.extend(markdown::code_lines(&run, width.into(), theme).into_iter().map(Line::from));
        }
        open.drawn = (open.drawn.0 + whole, self.lines.len());
        let last = &new[whole..];
        // White space alone is no line before its end has come.
        if !last.trim_matches([' ', '\t']).is_empty() {
            let run = open.code.peek(&safe::block(last));
            self.lines.extend(markdown::code_lines(&run, width.into(), theme).into_iter().map(Line::from));
        }
        #[cfg(test)]
        {
            self.parsed += new.len();
        }
        true
    }

    /// The code that is open ends: what was painted of it is kept for the whole.
    fn close_code(&mut self, text: &str) {
        let Some(mut open) = self.open.take() else { return };
        let mut end = open.drawn.0;
        for line in text[end..].split_inclusive('\n') {
            if blocks::closes(line.trim(), &open.fence) {
                break;
            }
            open.code.line(&safe::block(line.trim_end_matches('\n')));
            end += line.len();
        }
        open.code.ended(&open.info, &safe::block(&text[open.from..end]));
    }
}
