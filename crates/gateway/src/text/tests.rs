//! Tests of parsing and splitting. Must never compare with a rendering of a platform.

mod cases;
mod markdown;
mod random;
mod render;

use super::{Part, walk};
use crate::adapter::{Style, StyledText};

/// The text with its styles in brackets.
fn shown(text: &StyledText) -> String {
    let steps = walk(text).into_iter().map(|part| match part {
        Part::Text(text) => text.to_owned(),
        Part::Open(Style::Link(address)) => format!("<a {address}>"),
        Part::Open(Style::Block(language)) => format!("<pre {}>", language.as_deref().unwrap_or("-")),
        Part::Open(style) => format!("<{}>", tag(style)),
        Part::Close(style) => format!("</{}>", tag(style)),
    });
    steps.collect()
}

fn tag(style: &Style) -> &'static str {
    match style {
        Style::Bold => "b",
        Style::Italic => "i",
        Style::Strike => "s",
        Style::Code => "code",
        Style::Block(_) => "pre",
        Style::Quote => "quote",
        Style::Link(_) => "a",
    }
}

/// A rendering that is longer than the text: HTML.
fn html(text: &StyledText) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let steps = walk(text).into_iter().map(|part| match part {
        Part::Text(text) => escaped(text),
        Part::Open(Style::Link(address)) => format!("<a href=\"{}\">", escaped(address)),
        Part::Open(Style::Block(Some(language))) => format!("<pre class=\"{language}\">"),
        Part::Open(style) => format!("<{}>", tag(style)),
        Part::Close(style) => format!("</{}>", tag(style)),
    });
    steps.collect()
}
