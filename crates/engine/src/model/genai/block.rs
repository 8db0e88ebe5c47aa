//! Blocks: texts of files and of the program, kept apart from the person's words. Must never let a text end its block.

use retake_store::digest::of_text;

/// The number of letters of a mark.
const MARK: usize = 16;

/// A text in a block of its own, with its origin. The mark of the block is a digest of the text and does not occur in it, so that the
/// text cannot hold the end of its block. The same text has the same block in every prompt.
pub(super) fn block(origin: &str, text: &str) -> String {
    let mut mark = mark_of(text);
    while text.contains(&mark) {
        mark = mark_of(&format!("{mark} {text}"));
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    format!("[block {mark}: {origin}]\n{text}\n[end of block {mark}]")
}

fn mark_of(text: &str) -> String {
    let mark = format!("{:032x}", u128::from_be_bytes(of_text("block", text).current));
    mark[..MARK].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text of a block, as a careful reader finds it: up to the first end with its mark.
    fn read(block: &str) -> Option<(&str, &str)> {
        let (head, rest) = block.split_once("]\n")?;
        let (mark, origin) = head.strip_prefix("[block ")?.split_once(": ")?;
        let (text, after) = rest.split_once(&format!("\n[end of block {mark}]"))?;
        after.is_empty().then_some((origin, text))
    }

    proptest! {
        #[test]
        fn no_text_ends_its_block(text in "(\\[end of block [0-9a-f]{1,2}|[a-c\\n\\]]){0,9}", other in ".{0,9}") {
            // The best that a text can know is the block of another text.
            for text in [text.clone(), format!("{text}{}", block("a", &text)), format!("{}\n{text}", block("a", &other))] {
                let made = block("a file", &text);
                let expected = text.strip_suffix('\n').unwrap_or(&text);
                prop_assert_eq!(read(&made), Some(("a file", expected)));
                prop_assert_eq!(block("a", &text), block("a", &text));
            }
        }
    }
}
