//! Links whose address needs too much of a post are spelled out: the address stands after the label. Must never drop an address.

use super::walk::{Part, walk};
use crate::adapter::{Style, Styled, StyledText};

/// The largest rendering of a byte of an address: escaped once for HTML, and once more for JSON.
const LARGEST_BYTE: usize = 16;

/// The text with only those links that leave half of a post for their label.
pub(super) fn fitted(text: &StyledText, limit: usize, measure: &dyn Fn(&StyledText) -> usize) -> StyledText {
    let fits = |style: &Style| match style {
        Style::Link(address) if address.len().saturating_mul(LARGEST_BYTE) > limit / 2 => {
            let link = Styled { range: 0..1, style: style.clone() };
            measure(&StyledText { text: "x".to_owned(), styles: vec![link] }) <= limit / 2
        }
        _ => true,
    };
    let mut out = StyledText::default();
    let mut open = Vec::new();
    for part in walk(text) {
        match part {
            Part::Open(style) => {
                open.push(fits(style).then_some(out.styles.len()));
                if fits(style) {
                    let range = out.text.len()..out.text.len();
                    out.styles.push(Styled { range, style: style.clone() });
                }
            }
            Part::Text(piece) => out.text.push_str(piece),
            Part::Close(style) => match (open.pop().flatten(), style) {
                (Some(at), _) => out.styles[at].range.end = out.text.len(),
                (None, Style::Link(address)) => {
                    if !out.text.ends_with(address.as_str()) {
                        out.text.push_str(&format!(" ({address})"));
                    }
                }
                (None, _) => {}
            },
        }
    }
    out
}
