//! Text for people and for the model: safe names for a terminal, sizes, kinds of line breaks. Pure.

use std::borrow::Cow;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most bytes of a line that are shown.
pub(super) const MOST_OF_LINE: usize = 2_000;

/// A name with escapes for terminal control characters and for line ends.
pub(crate) fn escaped(name: &str) -> String {
    bytes_escaped(name.as_bytes())
}

/// The same for a path.
pub(super) fn path(path: &Path) -> String {
    bytes_escaped(path.as_os_str().as_bytes())
}

fn bytes_escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter.is_control() || reorders(letter) {
                true => shown.extend(letter.escape_default()),
                false => shown.push(letter),
            }
        }
        for byte in chunk.invalid() {
            // It can't fail on a string.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Whether a character changes the direction of text, or is an unusual line end.
fn reorders(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// A number with its noun: `1 line`, `2 lines`.
pub(super) fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

/// A size for people.
pub(super) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit)
}

/// The beginning of a line, with a note about the rest if it is too long.
pub(super) fn cut(line: &[u8], most: usize) -> String {
    cut_of(line, line.len(), most)
}

/// The same for a line of this length, given a little more than the shown beginning.
pub(super) fn cut_of(head: &[u8], length: usize, most: usize) -> String {
    if length <= most {
        return String::from_utf8_lossy(head).into_owned();
    }
    // Not within a character: in UTF-8 they have at most three more bytes.
    let mut end = most.min(head.len());
    while end > most.saturating_sub(3) && head.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    format!("{}… [{} more bytes of this line]", String::from_utf8_lossy(&head[..end]), length - end)
}

/// A line with single spaces for all its white space, and none at its ends.
pub(super) fn without_space(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// All with a line feed; also when there is only one line.
    Lf,
    /// All with a carriage return and a line feed.
    CrLf,
    /// Mixed.
    Mixed,
}

impl LineEnds {
    /// The line ends of this text.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut before = 0;
        let (mut bare, mut with) = (false, false);
        for byte in text {
            if *byte == b'\n' {
                if before == b'\r' { with = true } else { bare = true }
            }
            before = *byte;
        }
        match (with, bare) {
            (false, _) => Self::Lf,
            (true, false) => Self::CrLf,
            (true, true) => Self::Mixed,
        }
    }

    /// A line without its line feed, for comparison: if all lines end with CRLF, the carriage return is left out.
    pub(super) fn bare(self, line: &[u8]) -> &[u8] {
        match self {
            Self::CrLf => line.strip_suffix(b"\r").unwrap_or(line),
            Self::Lf | Self::Mixed => line,
        }
    }

    /// A text with line feeds, converted to these line ends.
    pub(super) fn fit(self, text: &str) -> Cow<'_, str> {
        if self != Self::CrLf || !text.contains('\n') {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::{LineEnds, cut, escaped, size};

    #[test]
    fn a_name_is_never_interpreted_as_terminal_control_sequences() {
        assert_eq!(escaped("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\\nc\\u{202e}d");
        assert_eq!(escaped("grüße 日本.txt"), "grüße 日本.txt");
    }

    #[test]
    fn a_line_is_never_cut_within_a_letter() {
        assert_eq!(cut("日本".as_bytes(), 4), "日… [3 more bytes of this line]");
        assert_eq!(cut("日本".as_bytes(), 6), "日本");
        assert_eq!(cut(b"abc", 2), "ab… [1 more bytes of this line]");
    }

    #[test]
    fn sizes_are_short() {
        let shown = [0, 999, 1_000, 1_999, 52_400_000, 5_000_000_000].map(size);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.9 kB", "52.4 MB", "5.0 GB"]);
    }

    #[test]
    fn a_text_keeps_its_kind_of_line_breaks() {
        assert_eq!(LineEnds::of(b"a\r\nb\r\n"), LineEnds::CrLf);
        assert_eq!(LineEnds::of(b"a\r\nb\n"), LineEnds::Mixed);
        assert_eq!(LineEnds::of(b"a\nb\n"), LineEnds::Lf);
        assert_eq!(LineEnds::of(b"\r"), LineEnds::Lf);
        assert_eq!(LineEnds::CrLf.fit("a\nb\r\n"), "a\r\nb\r\n");
        assert_eq!(LineEnds::Mixed.fit("a\nb\r\n"), "a\nb\r\n");
    }
}
