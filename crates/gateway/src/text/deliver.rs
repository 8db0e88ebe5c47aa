//! What is sent of a cut answer: posts, or its beginning and a file. Also the plain form of a post, and the digest of what was sent.
//! Must never lose the end of an answer.

use unicode_segmentation::UnicodeSegmentation;

use super::units::length;
use super::walk::{Part, walk};
use crate::adapter::{SentFile, Style, StyledText};
use crate::capabilities::LengthUnit;

/// An answer as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The posts, in order.
    pub posts: Vec<StyledText>,
    /// The whole answer as a file, sent after the posts, if they are only its beginning.
    pub file: Option<SentFile>,
}

/// The posts of an answer. If there are more than `most`, only the first one, and the source of the answer as a file. `None` sends
/// every post.
pub fn delivery(mut posts: Vec<StyledText>, most: Option<usize>, source: &str) -> Delivery {
    if most.is_none_or(|most| posts.len() <= most.max(1)) {
        return Delivery { posts, file: None };
    }
    posts.truncate(1);
    let file = SentFile {
        name: "answer.md".to_owned(),
        media_type: "text/markdown; charset=utf-8".to_owned(),
        bytes: source.as_bytes().to_vec(),
    };
    Delivery { posts, file: Some(file) }
}

/// A post without styles, for a platform that refuses the formatting. The addresses of links stand after their labels, as far as
/// `longest` permits.
pub fn plain(post: &StyledText, longest: usize, unit: LengthUnit) -> String {
    let mut free = longest.saturating_sub(length(&post.text, unit));
    let mut out = String::new();
    let mut label = 0;
    for part in walk(post) {
        match part {
            Part::Open(Style::Link(_)) => label = out.len(),
            Part::Text(text) => out.push_str(text),
            Part::Close(Style::Link(address)) if out[label..] != **address => {
                let spelled = format!(" ({address})");
                if let Some(rest) = free.checked_sub(length(&spelled, unit)) {
                    free = rest;
                    out.push_str(&spelled);
                }
            }
            Part::Open(_) | Part::Close(_) => {}
        }
    }
    out
}

/// The digest of a text that was sent: 32 hexadecimal digits. White space at its ends does not count, as platforms remove it.
pub fn digest(sent: &str) -> String {
    blake3::hash(sent.trim().as_bytes()).to_hex()[..32].to_owned()
}

/// The longest beginning of a text, in whole graphemes, of at most this length.
pub(crate) fn beginning(text: &str, most: usize, unit: LengthUnit) -> &str {
    let mut used = 0;
    let too_long = text.grapheme_indices(true).find(|(_, grapheme)| {
        used += length(grapheme, unit);
        used > most
    });
    too_long.map_or(text, |(at, _)| &text[..at])
}
