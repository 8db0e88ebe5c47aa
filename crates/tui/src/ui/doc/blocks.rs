//! Finds the ends of Markdown blocks line by line, so that a growing text is parsed from its last block only. Must never call
//! final what more text could change.

use std::borrow::Cow;

/// The end of the first block of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// In bytes.
    pub(super) end: usize,
    /// Whether later text can't change that.
    pub(super) sure: bool,
}

/// The first block of a text: a paragraph, a whole list, a code block …
pub(super) fn first(text: &str) -> Block {
    let mut fence: Option<&str> = None;
    let (mut begun, mut list, mut blank) = (false, false, false);
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let sure = line.ends_with('\n');
        let bare = line.trim_end();
        let indent = bare.len() - bare.trim_start_matches(' ').len();
        let before = Block { end: from, sure };
        from += line.len();
        if let Some(open) = fence {
            if closes(bare.trim_start(), open) {
                fence = None;
                if !list {
                    return Block { end: from, sure };
                }
            }
            continue;
        }
        if bare.is_empty() {
            blank = true;
            continue;
        }
        let item = behind_marker(bare.trim_start());
        let opens = opening(item.unwrap_or(bare).trim_start());
        let ends = match (begun, list) {
            (false, _) => false,
            (true, true) => blank && indent < 2 && item.is_none(),
            (true, false) => indent < 4 && (blank || (opens.is_some() && item.is_none())),
        };
        if ends {
            return before;
        }
        list |= item.is_some() && indent < 4;
        fence = opens.filter(|_| list || indent < 4);
        (begun, blank) = (true, false);
    }
    Block { end: text.len(), sure: false }
}

/// Sets apart a numbered list directly below a paragraph by an empty line: Markdown takes it for part of the paragraph unless it
/// begins with 1. A single number is no list.
pub(super) fn apart(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut fence: Option<&str> = None;
    let (mut is_paragraph, mut before, mut from) = (false, Vec::new(), 0);
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        match fence {
            Some(open) if closes(bare, open) => fence = None,
            Some(_) => {}
            None => {
                fence = opening(bare);
                let next = || lines.get(at + 1).and_then(|next| number(next));
                let begins = number(line).filter(|first| *first != 1 && next() == Some(first + 1));
                if is_paragraph && begins.is_some() {
                    before.push(from);
                }
                // Indented lines and lines after an item may be part of a list.
                let is_plain = fence.is_none() && behind_marker(bare).is_none() && !bare.is_empty();
                let goes_on = is_paragraph || at == 0 || lines[at - 1].trim().is_empty();
                is_paragraph = is_plain
                    && goes_on
                    && bare.len() == line.len()
                    && !bare.starts_with(['|', '>', '<', '#']);
            }
        }
        from += line.len();
    }
    if before.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut apart = text.to_owned();
    before.into_iter().rev().for_each(|at| apart.insert(at, '\n'));
    Cow::Owned(apart)
}

/// The number of the list item that begins with this line.
fn number(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    behind_marker(line)?;
    line[..digits].parse().ok()
}

/// The fence at the start of a line, if it opens a block.
pub(super) fn opening(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(sign).len();
    let info = &line[length..];
    (length >= 3 && (sign == '~' || !info.contains('`'))).then(|| &line[..length])
}

/// Whether a line closes a block with this fence.
pub(super) fn closes(line: &str, open: &str) -> bool {
    let line = line.trim_end();
    let sign = open.chars().next().unwrap_or('`');
    line.len() >= open.len() && line.chars().all(|letter| letter == sign)
}

/// The text after the marker of a list item.
fn behind_marker(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+'])?,
        1..=9 => line[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(mut text: &str) -> Vec<&str> {
        let mut blocks = Vec::new();
        while !text.is_empty() {
            let (block, rest) = text.split_at(first(text).end);
            blocks.push(block.trim());
            text = rest;
        }
        blocks
    }

    #[test]
    fn blocks_are_found() {
        assert_eq!(blocks("one\ntwo\n\nthree"), ["one\ntwo", "three"]);
        assert_eq!(blocks("- a\n\n- b\n\n  more\n\nend"), ["- a\n\n- b\n\n  more", "end"]);
        assert_eq!(blocks("so:\n```rust\na\n\nb\n```\nend"), ["so:", "```rust\na\n\nb\n```", "end"]);
        assert_eq!(
            blocks("1. a\n   ```\n   x\n\n   y\n   ```\n2. b"),
            ["1. a\n   ```\n   x\n\n   y\n   ```\n2. b"]
        );
        assert_eq!(blocks("```\nnever closed\n\nat all"), ["```\nnever closed\n\nat all"]);
        assert_eq!(blocks("    code\n\n    more\n\ntext"), ["code\n\n    more", "text"]);
    }

    #[test]
    fn only_whole_lines_are_sure() {
        assert!(!first("one\n\ntwo").sure);
        assert!(first("one\n\ntwo\n").sure);
        assert!(!first("- one\n\n2").sure, "it may become an item");
    }
}
