//! Writes a styled text: line breaks between blocks, the marks and the indentation of lists, and the ranges of styles. Must never
//! write a style that begins or ends in the break between two blocks.

use std::cmp::Reverse;

use crate::adapter::{Style, Styled, StyledText};

/// Deeper lists are not indented further.
const DEEPEST_LIST: usize = 8;

/// Deeper quotations are not marked.
const DEEPEST_QUOTE: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    styles: Vec<Styled>,
    /// The open styles: whether each has a range of its own. One that is in force already has none.
    open: Vec<bool>,
    /// The open styles with ranges, as places in `styles`.
    live: Vec<usize>,
    /// How many of the styles, from the first, have their beginning.
    begun: usize,
    /// The line breaks before the next text.
    breaks: usize,
    /// What stands before the next text: marks of list items. With the number of styles that were opened before it.
    lead: Option<(String, usize)>,
    /// The open items and quotations, each with the indentation of a further line.
    depth: Vec<usize>,
}

impl Writer {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What was written from there.
    pub(super) fn since(&self, from: usize) -> &str {
        self.text.get(from..).unwrap_or_default()
    }

    /// The next text begins after so many line breaks.
    pub(super) fn block(&mut self, breaks: usize) {
        if self.lead.is_none() {
            self.breaks = self.breaks.max(breaks);
        }
    }

    /// The next text begins on a line of its own, also in an item of a list.
    pub(super) fn own_line(&mut self) {
        if self.lead.is_some() {
            self.break_lines();
            self.write_lead();
            self.text.truncate(self.text.trim_end().len());
        }
        self.block(1);
    }

    pub(super) fn item(&mut self, bullet: &str) {
        let (styles, depth) = (self.styles.len(), self.indentation());
        let lead = self.lead.get_or_insert_with(|| (indentation(depth), styles));
        lead.0.push_str(bullet);
        self.breaks = self.breaks.max(1);
        self.depth.push(depth + 1);
    }

    pub(super) fn item_ends(&mut self) {
        if self.lead.is_some() {
            self.own_line();
        }
        self.depth.pop();
        self.block(1);
    }

    /// Lists in a quotation are indented from its own edge.
    pub(super) fn quote(&mut self) {
        self.own_line();
        self.open(Style::Quote);
        self.depth.push(0);
    }

    pub(super) fn quote_ends(&mut self) {
        self.depth.pop();
        self.close();
        self.block(2);
    }

    /// Writes a text; its line breaks are line breaks within a block.
    pub(super) fn say(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.breaks += 1;
            }
            if !line.is_empty() {
                self.begin_text();
                self.text.push_str(line);
            }
        }
    }

    /// Writes whole lines.
    pub(super) fn lines(&mut self, text: &str) {
        for line in text.lines() {
            self.say(line);
            self.block(1);
        }
    }

    pub(super) fn block_of_code(&mut self, language: Option<String>, code: &str) {
        let code = code.strip_suffix('\n').unwrap_or(code);
        if code.trim().is_empty() {
            return;
        }
        self.own_line();
        self.open(Style::Block(language));
        self.break_lines();
        self.begin_styles(self.styles.len());
        self.text.push_str(code);
        self.close();
        self.block(2);
    }

    pub(super) fn open(&mut self, style: Style) {
        let in_force = self.live.iter().filter(|at| self.styles[**at].style == style).count();
        let most = if style == Style::Quote { DEEPEST_QUOTE } else { 1 };
        self.open.push(in_force < most);
        if in_force < most {
            self.live.push(self.styles.len());
            self.styles.push(Styled { range: 0..0, style });
        }
    }

    pub(super) fn close(&mut self) {
        let has_range = self.open.pop() == Some(true);
        let Some(at) = has_range.then(|| self.live.pop()).flatten() else { return };
        if at < self.begun {
            self.styles[at].range.end = self.text.len();
        } else {
            // Nothing was written in it. Styles that have no beginning are the last ones.
            self.styles.truncate(at);
        }
    }

    pub(super) fn finish(mut self) -> StyledText {
        if self.lead.is_some() {
            self.own_line();
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.styles.sort_by_key(|it| (it.range.start, Reverse(it.range.end)));
        StyledText { text: self.text, styles: self.styles }
    }

    fn indentation(&self) -> usize {
        self.depth.last().copied().unwrap_or_default()
    }

    fn begin_text(&mut self) {
        let breaks = self.break_lines();
        if self.lead.is_some() {
            self.write_lead();
        } else if breaks > 0 {
            self.text.push_str(&indentation(self.indentation()));
        }
        self.begin_styles(self.styles.len());
    }

    /// Writes the marks of list items. A quotation around the list begins before them, a style of the item's text after them.
    fn write_lead(&mut self) {
        if let Some((lead, styles)) = self.lead.take() {
            self.begin_styles(styles);
            self.text.push_str(&lead);
        }
    }

    /// Writes the line breaks that are due; the first text has none before it.
    fn break_lines(&mut self) -> usize {
        let breaks = std::mem::take(&mut self.breaks);
        if self.text.is_empty() {
            return 0;
        }
        self.text.extend(std::iter::repeat_n('\n', breaks));
        breaks
    }

    /// The styles up to this number begin here, if they have not begun.
    fn begin_styles(&mut self, until: usize) {
        for style in self.styles.iter_mut().take(until).skip(self.begun) {
            style.range = self.text.len()..self.text.len();
        }
        self.begun = self.begun.max(until);
    }
}

fn indentation(depth: usize) -> String {
    "  ".repeat(depth.min(DEEPEST_LIST))
}
