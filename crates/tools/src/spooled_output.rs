//! The output of a command: reported while it runs, limited for the model, complete on disk up to a cap. Must never
//! fill memory or disk, and must never slow the command down for a listener.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use anstream::adapter::{StripStr, strip_str};

/// How much of the beginning is kept for the model.
const HEAD: usize = 10 << 10;

/// How much of the end is kept.
const TAIL: usize = 20 << 10;

/// The most output that the model gets at once.
pub(crate) const BOUND: usize = HEAD + TAIL;

/// The most bytes that are reported in one tick.
const TOLD: usize = 64 << 10;

/// The output of a command or the text of a page: limited for the model, complete in the spool.
pub(crate) struct SpooledOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    lines: u64,
    log: PathBuf,
    file: Option<File>,
    /// The room that is left in the file.
    room: u64,
    /// Why the file is not complete.
    lost: Option<String>,
}

impl SpooledOutput {
    /// Empty output. All of it goes to a file, up to a cap.
    pub(crate) fn new(log: PathBuf, cap: u64) -> Self {
        let (file, lost) = match crate::kept::file(&log) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(format!("the rest could not be kept: {error}"))),
        };
        Self { head: Vec::new(), tail: VecDeque::new(), bytes: 0, lines: 0, log, file, room: cap, lost }
    }

    /// Adds output.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', piece).count() as u64;
        let (first, rest) = piece.split_at(piece.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        self.tail.drain(..(self.tail.len() + rest.len()).saturating_sub(TAIL));
        self.tail.extend(rest);
        self.keep(piece);
    }

    fn keep(&mut self, piece: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let fits = usize::try_from(self.room).unwrap_or(usize::MAX).min(piece.len());
        let kept = file.write_all(&piece[..fits]);
        self.room -= fits as u64;
        let lost = match kept {
            Err(error) => Some(format!("the rest could not be kept: {error}")),
            Ok(()) if fits < piece.len() => Some("it was full then, and the rest was dropped".to_owned()),
            Ok(()) => None,
        };
        if lost.is_some() {
            (self.file, self.lost) = (None, lost);
        }
    }

    /// The text for the model. The file stays only if something was left out.
    pub(crate) fn bounded(mut self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let tail = self.tail.make_contiguous();
        if kept == self.bytes {
            // It is not needed, or was never created.
            let _ = std::fs::remove_file(&self.log);
            return plain(&[&self.head, &*tail].concat());
        }
        let head = &self.head[..memchr::memrchr(b'\n', &self.head).map_or(HEAD, |end| end + 1)];
        let tail = &tail[memchr::memchr(b'\n', tail).map_or(0, |end| end + 1)..];
        let shown = |part: &[u8]| memchr::memchr_iter(b'\n', part).count() as u64;
        let bytes = self.bytes - (head.len() + tail.len()) as u64;
        let lines = self.lines - shown(head) - shown(tail);
        let log = self.log.display();
        let lost = self.lost.map(|lost| format!("; {lost}")).unwrap_or_default();
        let left_out = format!("[… {bytes} bytes, {lines} lines left out; the whole is in {log}{lost} …]");
        format!("{}\n{left_out}\n{}", plain(head).trim_end(), plain(tail))
    }
}

/// Text for the model without terminal control sequences. Of an overwritten line only the final text is left. Bytes
/// that are no text become a replacement character.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = clean(strip_str(&text).to_string());
    let lines = text.split_inclusive('\n').map(|line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        [line.rsplit('\r').next().unwrap_or_default(), end].concat()
    });
    let mut text: String = lines.collect();
    let mut last = ' ';
    text.retain(|char| std::mem::replace(&mut last, char) != char || char != char::REPLACEMENT_CHARACTER);
    text
}

/// Text without control characters except line breaks and tabs.
fn clean(mut text: String) -> String {
    text.retain(|char| !char.is_control() || "\n\t\r".contains(char));
    text
}

/// How many of these bytes are complete characters; an invalid end counts as one.
pub(crate) fn whole(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    let last = (start..bytes.len()).rev().find(|at| bytes[*at] & 0xc0 != 0x80);
    let needed = |first: u8| first.leading_ones() as usize;
    match last {
        Some(at) if bytes[at] >= 0xc0 && at + needed(bytes[at]) > bytes.len() => at,
        _ => bytes.len(),
    }
}

/// Turns output into the pieces that are reported: text, never cut within a character, and in one tick not more than a
/// person can read. The tail of output beyond that is held and reported later: the latest output is never left out.
#[derive(Default)]
pub(crate) struct OutputReporter {
    strip: StripStr,
    /// The beginning of an incomplete character.
    begun: Vec<u8>,
    /// The end of the output that exceeded one tick.
    held: Vec<u8>,
    tick: u32,
    told: usize,
    skipped: u64,
}

impl OutputReporter {
    /// The piece to report for further output.
    pub(crate) fn piece(&mut self, bytes: &[u8], tick: u32) -> Option<String> {
        let mut text = String::new();
        if tick != self.tick {
            (self.tick, self.told) = (tick, 0);
            text = self.rest().unwrap_or_default();
        }
        let fits = if self.held.is_empty() { bytes.len().min(TOLD - self.told) } else { 0 };
        self.told += fits;
        text += &self.text(&bytes[..fits]);
        self.hold(&bytes[fits..]);
        (!text.is_empty()).then_some(text)
    }

    /// Whether something is held for the next tick.
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty() || self.skipped > 0
    }

    /// The held output.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let held = std::mem::take(&mut self.held);
        self.told = held.len();
        let skipped = std::mem::take(&mut self.skipped);
        let text = skip(skipped) + &self.text(&held);
        (!text.is_empty()).then_some(text)
    }

    /// The piece to report at the end.
    pub(crate) fn end(mut self) -> Option<String> {
        let mut text = self.rest().unwrap_or_default();
        // An incomplete character is replaced.
        text += &clean(self.strip.strip_next(&String::from_utf8_lossy(&self.begun)).collect());
        (!text.is_empty()).then_some(text)
    }

    /// Holds the end of excess output; a line that is cut is left out with everything before it.
    fn hold(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        let Some(cut) = self.held.len().checked_sub(TOLD).filter(|cut| *cut > 0) else { return };
        let line = self.held[cut..].iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        let character = self.held[cut..].iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
        let cut = cut + line.unwrap_or(character);
        self.held.drain(..cut);
        self.skipped += (cut + self.begun.len()) as u64;
        (self.strip, self.begun) = (StripStr::new(), Vec::new());
    }

    /// The text of further output to report; an incomplete character waits for its end.
    fn text(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let rest = self.begun.split_off(whole(&self.begun));
        let bytes = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8_lossy(&bytes);
        clean(self.strip.strip_next(&text).collect())
    }
}

fn skip(skipped: u64) -> String {
    if skipped == 0 { String::new() } else { format!("\n[… {skipped} bytes not shown …]\n") }
}

#[cfg(test)]
mod tests {
    use super::{OutputReporter, TOLD, plain, whole};

    #[test]
    fn bytes_that_are_no_text_are_removed() {
        let rows: [(&[u8], &str); 8] = [
            (b"plain\ttext\n", "plain\ttext\n"),
            (b"\x1b[31mred\x1b[0m\n", "red\n"),
            (b"\x1b]0;title\x07after", "after"),
            (b"\x1b]52;c;cHduZWQ=\x1b\\after", "after"),
            (b"10%\r20%\r100%\r\ndone\r\n", "100%\ndone\n"),
            (b"bell\x07 back\x08 nul\0", "bell back nul"),
            ("csi as one character \u{9b}31m".as_bytes(), "csi as one character 31m"),
            (b"bad \xff\xfe\xfd end", "bad \u{fffd} end"),
        ];
        for (bytes, text) in rows {
            assert_eq!(plain(bytes), text, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn no_character_is_cut() {
        let text = "aä€😀".as_bytes();
        let wholes: Vec<usize> = (0..=text.len()).map(|end| whole(&text[..end])).collect();
        assert_eq!(wholes, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!(whole(b"\x80\x80\x80\x80"), 4, "never a character");
        let mut teller = OutputReporter::default();
        let told: Vec<Option<String>> = text.chunks(2).map(|chunk| teller.piece(chunk, 0)).collect();
        let told: Vec<String> = told.into_iter().flatten().collect();
        assert_eq!(told.concat(), "aä€😀");
        assert_eq!(teller.end(), None);
    }

    #[test]
    fn reported_output_is_bounded() {
        let mut teller = OutputReporter::default();
        let much = vec![b'x'; 3 * TOLD];
        assert_eq!(teller.piece(&much, 1).map(|text| text.len()), Some(TOLD));
        assert_eq!(teller.piece(b"more", 1), None);
        let next = teller.piece(b"now", 2).unwrap();
        let skipped = format!("\n[… {} bytes not shown …]\n", TOLD + 4);
        assert!(next.starts_with(&skipped) && next.ends_with("xmore"), "the end of it, in the next tick");
        assert_eq!(next.len(), skipped.len() + TOLD);
        assert_eq!(teller.end().as_deref(), Some("now"));
    }

    #[test]
    fn the_latest_output_is_reported_though_none_follows() {
        let mut teller = OutputReporter::default();
        let lines: String = (1..=200_000).map(|line| format!("{line}\n")).collect();
        drop(teller.piece(lines.as_bytes(), 1));
        assert!(teller.holds());
        let rest = teller.rest().unwrap();
        let (said, tail) = rest.trim_start().split_once('\n').unwrap();
        assert!(said.contains("bytes not shown"), "{said}");
        assert!(lines.contains(&format!("\n{tail}")) && tail.ends_with("\n200000\n"), "whole lines");
        assert!(!teller.holds() && teller.rest().is_none());
        // Holding output must not cut a character.
        let mut teller = OutputReporter::default();
        drop(teller.piece(&vec![b'x'; TOLD], 1));
        drop(teller.piece("ä".repeat(TOLD).as_bytes(), 1));
        let rest = teller.rest().unwrap();
        assert!(!rest.contains('\u{fffd}') && rest.ends_with('ä'));
    }
}
