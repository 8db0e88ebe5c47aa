//! Why a text was not found: shows the most similar place, so that the next attempt succeeds. The guess is only for the
//! reader and must never change anything.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::text::{self, LineEnds};

/// The largest file that is searched for similar text.
const MOST: usize = 5_000_000;
/// The most lines of the wanted text that are compared.
const COMPARED: usize = 50;
/// The most lines that are shown.
const SHOWN: usize = 12;
/// The most bytes of a line that are shown.
const WIDTH: usize = 300;

/// Why a text is not in the file, after a sentence that says so.
pub(super) fn why(missing: &str, bytes: &[u8], old: &str) -> String {
    if bytes.len() > MOST {
        return format!("{missing}; read the place again");
    }
    let file = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = file.lines().collect();
    let wanted: Vec<String> = old.lines().map(text::without_space).collect();
    let plain: Vec<String> = lines.iter().map(|line| text::without_space(line)).collect();
    if old.contains('\n') && LineEnds::of(bytes) == LineEnds::Mixed && without_returns(&file, old) {
        return format!(
            "{missing} with these line breaks: some lines of this file end with CRLF, some with LF; \
             take one line at a time"
        );
    }
    let (most, at) = best(&plain, &wanted);
    if most > 0 && plain[at..].starts_with(&wanted) {
        let shown = shown(&lines, at, wanted.len());
        return format!("{missing}, but this is, which differs in white space only:\n{shown}");
    }
    let at = if most > 0 { Some(at) } else { alike(&plain, &wanted) };
    match at {
        Some(at) => {
            format!("{missing}. What comes nearest:\n{}", shown(&lines, at, wanted.len().max(3)))
        }
        None => format!("{missing}, nor is anything like it; read it again"),
    }
}

fn without_returns(file: &str, old: &str) -> bool {
    file.replace("\r\n", "\n").contains(&old.replace("\r\n", "\n"))
}

/// The longest run of wanted lines in their order, and its first line. White space and empty lines do not count.
fn best(lines: &[String], wanted: &[String]) -> (usize, usize) {
    let mut at: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        at.entry(line).or_default().push(index);
    }
    let wanted = &wanted[..wanted.len().min(COMPARED)];
    let mut starts: HashMap<usize, usize> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        for start in at.get(line.as_str()).into_iter().flatten().filter_map(|found| found.checked_sub(index))
        {
            *starts.entry(start).or_default() += 1;
        }
    }
    let most = starts.into_iter().max_by_key(|(start, hits)| (*hits, std::cmp::Reverse(*start)));
    most.map_or((0, 0), |(start, hits)| (hits, start))
}

/// The line with the most words in common with the first wanted line.
fn alike(lines: &[String], wanted: &[String]) -> Option<usize> {
    let first = wanted.iter().find(|line| !line.is_empty())?;
    let words: HashSet<&str> = words(first).collect();
    let score = |line: &String| self::words(line).filter(|word| words.contains(word)).count();
    let best =
        lines.iter().map(score).enumerate().max_by_key(|(at, hits)| (*hits, std::cmp::Reverse(*at)))?;
    (best.1 > 0).then_some(best.0)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| word.len() > 1)
}

fn shown(lines: &[&str], at: usize, many: usize) -> String {
    let mut shown = String::new();
    for (index, line) in lines.iter().enumerate().skip(at).take(many.min(SHOWN)) {
        // It cannot fail on a string.
        let _ = writeln!(shown, "{:>6}\t{}", index + 1, text::cut(line.as_bytes(), WIDTH));
    }
    shown
}
