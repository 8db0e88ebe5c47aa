//! The walk over the styles of a text, for renderers: what opens, what closes, and the text between. Must never yield a style that
//! overlaps another one without nesting.

use std::cmp::Reverse;

use crate::adapter::{Style, Styled, StyledText};

/// A step of the walk over a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A style begins.
    Open(&'a Style),
    /// A piece of the text; never empty.
    Text(&'a str),
    /// The style that was opened last ends.
    Close(&'a Style),
}

/// The steps of the walk over a text. Styles are nested properly: where two overlap, the inner one is closed and opened again.
/// Within code no other style is opened. Styles with impossible ranges are left out.
pub fn walk(text: &StyledText) -> Vec<Part<'_>> {
    let styles = in_order(text);
    let mut edges: Vec<usize> = styles.iter().flat_map(|it| [it.range.start, it.range.end]).collect();
    edges.extend([0, text.text.len()]);
    edges.sort_unstable();
    edges.dedup();
    let mut steps = Steps::default();
    let (mut active, mut next): (Vec<&Styled>, usize) = (Vec::new(), 0);
    for pair in edges.windows(2) {
        active.retain(|it| it.range.end > pair[0]);
        while let Some(style) = styles.get(next).filter(|it| it.range.start <= pair[0]) {
            active.push(style);
            next += 1;
        }
        steps.change_to(visible(&active));
        steps.say(&text.text, pair[0]..pair[1]);
    }
    steps.change_to(&[]);
    steps.parts
}

/// The styles with possible ranges, sorted: outer ones first.
pub(super) fn in_order(text: &StyledText) -> Vec<&Styled> {
    let is_possible = |it: &&Styled| {
        !it.range.is_empty() && text.text.get(it.range.clone()).is_some_and(|part| !part.is_empty())
    };
    let mut styles: Vec<&Styled> = text.styles.iter().filter(is_possible).collect();
    styles.sort_by_key(|it| (it.range.start, Reverse(it.range.end)));
    styles
}

/// The styles up to the first one in which no others are shown.
fn visible<'a, 'b>(active: &'b [&'a Styled]) -> &'b [&'a Styled] {
    let is_code = |it: &&Styled| matches!(it.style, Style::Code | Style::Block(_));
    let end = active.iter().position(is_code).map_or(active.len(), |at| at + 1);
    &active[..end]
}

#[derive(Default)]
struct Steps<'a> {
    parts: Vec<Part<'a>>,
    open: Vec<&'a Styled>,
    /// Where the last text began, if nothing was opened or closed since.
    text_from: Option<usize>,
}

impl<'a> Steps<'a> {
    fn change_to(&mut self, wanted: &[&'a Styled]) {
        let same = self.open.iter().zip(wanted).take_while(|(a, b)| std::ptr::eq(**a, **b)).count();
        if self.open.len() > same || wanted.len() > same {
            self.text_from = None;
        }
        for it in self.open.drain(same..).rev() {
            self.parts.push(Part::Close(&it.style));
        }
        for it in &wanted[same..] {
            self.parts.push(Part::Open(&it.style));
            self.open.push(it);
        }
    }

    fn say(&mut self, text: &'a str, range: std::ops::Range<usize>) {
        let from = *self.text_from.get_or_insert(range.start);
        if from < range.start {
            self.parts.pop();
        }
        self.parts.push(Part::Text(&text[from..range.end]));
    }
}
