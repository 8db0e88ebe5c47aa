//! Markdown that arrives in pieces: finished blocks are kept as lines, and only the last one is parsed again. The lines always
//! equal those of the whole text. Must never parse a finished block twice.

use std::ops::Range;

use ratatui::text::Line;

use super::blocks;
use super::code::{self, Code};
use super::markdown::{self, Addresses, BlockLayout};
use super::wrap::Run;
use crate::text::safe;
use crate::ui::theme::Theme;

/// How much of the finished text identifies it, in bytes.
const MARK: usize = 64;

/// A growing text.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    /// The parameters of the last update.
    asked: Option<(u16, Theme, (u64, u64))>,
    lines: Vec<Line<'static>>,
    /// Finished lines, and finished bytes of the text.
    finished: (usize, usize),
    /// The end of the finished text.
    mark: String,
    /// Addresses that finished blocks define, and all that the lines use.
    named: (Addresses, Addresses),
    /// Finished blocks that refer to addresses defined in other blocks.
    refers: Vec<LinkedBlock>,
    /// An open code block at the end.
    open: Option<Open>,
    /// Parsed bytes.
    #[cfg(test)]
    pub(super) parsed: usize,
}

/// A finished block that refers to addresses of other blocks.
#[derive(Debug)]
struct LinkedBlock {
    labels: Vec<String>,
    text: Range<usize>,
    lines: Range<usize>,
}

/// A code block without its end.
#[derive(Debug)]
struct Open {
    fence: String,
    info: String,
    code: Code,
    /// Its start in the text.
    from: usize,
    /// Drawn bytes of the text, and lines up to there.
    drawn: (usize, usize),
}

impl Streaming {
    /// The lines of the text, if it continues the text before; another text is laid out from its beginning.
    pub(crate) fn update(&mut self, text: &str, width: u16, theme: Theme) -> &[Line<'static>] {
        // An open code block has its own colours, whatever was painted meanwhile.
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

    /// The lines of the last update.
    #[cfg(test)]
    pub(super) fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    fn grow(&mut self, text: &str, width: u16, theme: Theme) {
        self.open = None;
        self.lines.truncate(self.finished.0);
        self.learn(text, width, theme);
        let mut from = self.finished.1;
        let mut sure = true;
        while from < text.len() {
            let block = blocks::first(&text[from..]);
            let to = from + block.end;
            sure &= block.sure;
            if to == text.len() && !block.sure && self.open_code(text, from, width, theme) {
                return;
            }
            let (laid, lines) = self.push(&text[from..to], width, theme);
            if sure {
                for (label, address) in laid.names {
                    self.named.0.entry(label).or_insert(address);
                }
                if !laid.refers.is_empty() {
                    self.refers.push(LinkedBlock { labels: laid.refers, text: from..to, lines });
                }
            }
            from = to;
            if sure {
                self.finished = (self.lines.len(), to);
                let mark = (to.saturating_sub(MARK)..to).find(|at| text.is_char_boundary(*at)).unwrap_or(to);
                text[mark..to].clone_into(&mut self.mark);
            }
        }
    }

    /// Addresses in the unfinished part are valid for all blocks: finished blocks that refer to them are laid out again.
    fn learn(&mut self, text: &str, width: u16, theme: Theme) {
        let mut known = self.named.0.clone();
        for (label, address) in super::addresses(&text[self.finished.1..]) {
            known.entry(label).or_insert(address);
        }
        let before = std::mem::replace(&mut self.named.1, known);
        if before == self.named.1 {
            return;
        }
        let mut grown = 0_isize;
        for block in &mut self.refers {
            let at = |line: usize| line.saturating_add_signed(grown);
            block.lines = at(block.lines.start)..at(block.lines.end);
            if block.labels.iter().all(|label| before.get(label) == self.named.1.get(label)) {
                continue;
            }
            #[cfg(test)]
            {
                self.parsed += block.text.len();
            }
            let laid = markdown::lay(&text[block.text.clone()], width.into(), theme, &self.named.1);
            let (old, new) = (block.lines.len(), laid.lines.len());
            self.lines.splice(block.lines.clone(), laid.lines);
            block.lines.end = block.lines.start + new;
            grown += new.cast_signed() - old.cast_signed();
        }
        self.finished.0 = self.finished.0.saturating_add_signed(grown);
    }

    fn push(&mut self, block: &str, width: u16, theme: Theme) -> (BlockLayout, Range<usize>) {
        #[cfg(test)]
        {
            self.parsed += block.len();
        }
        let mut laid = markdown::lay(block, width.into(), theme, &self.named.1);
        self.gap(laid.lines.is_empty());
        let from = self.lines.len();
        self.lines.append(&mut laid.lines);
        (laid, from..self.lines.len())
    }

    fn gap(&mut self, nothing: bool) {
        if !nothing && !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    /// Whether the last block is an open code block; then it is drawn line by line.
    fn open_code(&mut self, text: &str, at: usize, width: u16, theme: Theme) -> bool {
        let bare = text[at..].trim_start_matches('\n');
        let Some((head, body)) = bare.split_once('\n') else { return false };
        let Some(fence) = blocks::opening(head.trim_end()) else { return false };
        let closes = |line: &str| blocks::closes(line.trim_start(), fence);
        // Escapes in the name of the language are decoded by the parser.
        if bare.contains('\r')
            || head.contains(['&', '\\'])
            || !body.contains('\n')
            || body.split('\n').any(closes)
        {
            return false;
        }
        let info = safe::line(head[fence.len()..].trim()).into_owned();
        self.gap(false);
        let drawn = (text.len() - body.len(), self.lines.len());
        let code = Code::growing(&info, body, theme);
        self.open = Some(Open { fence: fence.to_owned(), info, code, from: drawn.0, drawn });
        self.code_goes_on(text, width, theme)
    }

    /// Draws what was added to the open code block; `false` if there is none, or if it ends.
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
        let mut is_first = open.drawn.0 == open.from;
        let (info, width) = (open.info.clone(), usize::from(width));
        let mut laid = |run: &Run| {
            let mut lines = markdown::code_lines(run, width, theme);
            if std::mem::take(&mut is_first) {
                markdown::label(&mut lines, &info, width, theme);
            }
            lines.into_iter().map(Line::from)
        };
        for line in new[..whole].split_terminator('\n') {
            self.lines.extend(laid(&open.code.line(&safe::block(line))));
        }
        open.drawn = (open.drawn.0 + whole, self.lines.len());
        let last = &new[whole..];
        // White space alone is no line until the line ends.
        if !last.trim_matches([' ', '\t']).is_empty() {
            self.lines.extend(laid(&open.code.peek(&safe::block(last))));
        }
        #[cfg(test)]
        {
            self.parsed += new.len();
        }
        true
    }

    /// The open code block ends: its colours are kept for the whole.
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
