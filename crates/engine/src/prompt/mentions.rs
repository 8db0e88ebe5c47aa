//! `@path` in a person's message attaches the file.
//!
//! The person typed it, so it may name any file that they can read. A file that is not attached is reported, never left out
//! silently; the message itself does not change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use retake_core::{Fact, Part, Source};
use retake_tools::read_fact;

use super::{Places, bounded_read};
use crate::notice::{FileKind, Mentioned, Notice};

/// The longest text that is attached.
const MOST_TEXT: u64 = 64 * 1024;

/// The largest picture that is attached: no provider accepts a larger one.
const MOST_PICTURE: u64 = 5 * 1024 * 1024;

/// The largest PDF that is attached; it is sent again in every turn.
const MOST_PDF: u64 = 10 * 1024 * 1024;

/// The most files that one message attaches.
const MOST_FILES: usize = 32;

/// The most bytes that one message attaches.
const MOST_TOGETHER: usize = 20 * 1024 * 1024;

/// The most entries of a folder that are listed.
const MOST_ENTRIES: usize = 200;

/// The most entries of a folder that are read.
const MOST_SEEN: usize = 10_000;

/// A person's message with the files that it mentions, and the notices about them.
pub fn mentions(mut parts: Vec<Part>, places: &Places) -> (Vec<Part>, Vec<Notice>) {
    let is_piped = unmark(&mut parts);
    let mut found = FoundAttachments {
        places,
        seen: BTreeSet::new(),
        bytes: 0,
        parts: Vec::new(),
        facts: Vec::new(),
        notices: Vec::new(),
    };
    for text in parts.iter().filter_map(Part::as_text) {
        for mention in mentioned(text) {
            match is_piped {
                true => found.pass_over(&mention),
                false => found.attach(&mention),
            }
        }
    }
    parts.append(&mut found.parts);
    // An attached file counts as read.
    parts.extend((!found.facts.is_empty()).then_some(Part::Facts(found.facts)));
    (parts, found.notices)
}

/// The key of the fact that marks piped text while it waits to be sent.
const PIPED: &str = "piped";

/// The mark of piped text: it is untrusted and attaches nothing.
pub fn piped() -> Part {
    Part::Facts(vec![Fact::new(PIPED, "yes")])
}

/// Removes the mark; returns whether it was there.
pub fn unmark(parts: &mut Vec<Part>) -> bool {
    let all = parts.len();
    parts.retain(|part| *part != piped());
    parts.len() < all
}

/// A mention as it was typed.
struct Mention<'a> {
    name: &'a str,
    /// Whether it was in quotes: then punctuation at its end is part of the name.
    quoted: bool,
}

/// The mentions of a message, except those in code blocks and quotes, which may be somebody else's text.
fn mentioned(text: &str) -> Vec<Mention<'_>> {
    let mut mentions = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.trim_start().starts_with('>') {
            of_line(line, &mut mentions);
        }
    }
    mentions
}

fn of_line<'a>(line: &'a str, mentions: &mut Vec<Mention<'a>>) {
    let mut before = ' ';
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let begins = c == '@' && (before.is_whitespace() || "([{<,;:\"'".contains(before));
        before = c;
        if !begins {
            continue;
        }
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (name, behind, quoted) = match quoted {
            Some((name, behind)) => (name, behind, true),
            None => {
                let (name, behind) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
                (name, behind, false)
            }
        };
        if !name.is_empty() {
            mentions.push(Mention { name, quoted });
            before = 'x';
            rest = behind;
        }
    }
}

/// The attachments so far.
struct FoundAttachments<'a> {
    places: &'a Places,
    seen: BTreeSet<PathBuf>,
    bytes: usize,
    parts: Vec<Part>,
    facts: Vec<Fact>,
    notices: Vec<Notice>,
}

impl FoundAttachments<'_> {
    fn pass_over(&mut self, mention: &Mention<'_>) {
        if let Some((name, path)) = self.named(mention)
            && self.seen.insert(path)
        {
            self.tell(name, Mentioned::Piped);
        }
    }

    fn attach(&mut self, mention: &Mention<'_>) {
        let Some((name, path)) = self.named(mention) else {
            let name = bare(mention);
            if !name.is_empty() {
                self.tell(name, Mentioned::NoFile);
            }
            return;
        };
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(why) = self.led_away(&path, &whole) {
            return self.tell(name, why);
        }
        let is_secret = self.places.guarded.guard(&whole).is_some();
        if !self.seen.insert(whole.clone()) {
            return;
        }
        if self.parts.len() == MOST_FILES {
            return self.tell(name, Mentioned::TooMany(MOST_FILES));
        }
        match attached(name, &whole) {
            Ok(part) if self.bytes + size(&part) > MOST_TOGETHER => {
                self.tell(name, Mentioned::MessageTooLarge);
            }
            Ok(part) => {
                self.bytes += size(&part);
                self.facts.extend(self.fact(&whole, &part));
                self.parts.push(part);
                if is_secret {
                    self.tell(name, Mentioned::Secret);
                }
            }
            Err(why) => self.tell(name, why),
        }
    }

    /// The fact that the agent has read the file, if all of it is attached.
    fn fact(&self, whole: &Path, part: &Part) -> Option<Fact> {
        match part {
            Part::File { source: Source::Inline(bytes), name, .. } if !name.ends_with('/') => {
                read_fact(whole, &self.places.roots, bytes)
            }
            _ => None,
        }
    }

    fn tell(&mut self, name: &str, what: Mentioned) {
        self.notices.push(Notice::Mention(name.to_owned(), what));
    }

    /// Why a file is not the one that the person names: a link of the folder leads out of it, or to a file with secrets. To attach that
    /// file, its own path must be named.
    fn led_away(&self, path: &Path, whole: &Path) -> Option<Mentioned> {
        let folder = &self.places.folder;
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        // `..` in the path means a file outside on purpose.
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        let is_elsewhere = !goes_up && path.starts_with(folder) && !whole.starts_with(&real);
        let guarded = &self.places.guarded;
        let hides_a_secret = guarded.guard(whole).is_some() && guarded.guard(path).is_none();
        if hides_a_secret {
            return Some(Mentioned::LeadsToSecret(whole.to_owned()));
        }
        is_elsewhere.then(|| Mentioned::LeadsOut(whole.to_owned()))
    }

    /// The file that is meant: punctuation at the end may belong to the name or to the sentence.
    fn named<'m>(&self, mention: &Mention<'m>) -> Option<(&'m str, PathBuf)> {
        let mut name = mention.name;
        loop {
            let path = self.places.path(name);
            if !name.is_empty() && path.symlink_metadata().is_ok() {
                return Some((name, path));
            }
            let last = name.chars().next_back().filter(|c| !mention.quoted && SIGNS.contains(*c))?;
            name = &name[..name.len() - last.len_utf8()];
        }
    }
}

/// Punctuation that may follow a name.
const SIGNS: &str = ".,;:!?)]}>\"'…";

fn bare<'a>(mention: &Mention<'a>) -> &'a str {
    if mention.quoted { mention.name } else { mention.name.trim_end_matches(|c| SIGNS.contains(c)) }
}

/// The part for a file, or why it is not attached. Its path has no links.
fn attached(name: &str, path: &Path) -> Result<Part, Mentioned> {
    let about = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if about.is_dir() {
        let name = format!("{}/", name.trim_end_matches('/'));
        let listing = listing(path).map_err(|error| unreadable(&error))?;
        return Ok(text_file(name, listing.into_bytes()));
    }
    let look = bounded_read::beginning(path, MOST_PDF + 1).map_err(|error| unreadable(&error))?;
    let within = |what: FileKind, most: u64| {
        let why = || Mentioned::TooLarge(what, look.len, most);
        (look.len <= most).then_some(()).ok_or_else(why)
    };
    if let Some(media_type) = picture(&look.bytes) {
        within(FileKind::Picture, MOST_PICTURE)?;
        return Ok(Part::Image { media_type: media_type.into(), source: Source::Inline(look.bytes) });
    }
    if look.bytes.starts_with(b"%PDF-") {
        within(FileKind::Pdf, MOST_PDF)?;
        let media_type = Some("application/pdf".into());
        return Ok(Part::File { name: name.to_owned(), media_type, source: Source::Inline(look.bytes) });
    }
    if bounded_read::text(&look.bytes).is_none() {
        return Err(Mentioned::OtherKind);
    }
    within(FileKind::Text, MOST_TEXT)?;
    Ok(text_file(name.to_owned(), look.bytes))
}

fn size(part: &Part) -> usize {
    match part {
        Part::File { source: Source::Inline(bytes), .. }
        | Part::Image { source: Source::Inline(bytes), .. } => bytes.len(),
        _ => 0,
    }
}

fn text_file(name: String, bytes: Vec<u8>) -> Part {
    Part::File { name, media_type: Some("text/plain".into()), source: Source::Inline(bytes) }
}

fn unreadable(error: &std::io::Error) -> Mentioned {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Mentioned::NotAllowed,
        std::io::ErrorKind::NotFound => Mentioned::LeadsNowhere,
        _ => Mentioned::Unreadable(error.to_string()),
    }
}

/// The picture format of these bytes, from their beginning.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The entries of a folder, one level deep.
fn listing(path: &Path) -> std::io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)?.take(MOST_SEEN) {
        let entry = entry?;
        let end = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
        names.push(format!("{}{end}", entry.file_name().to_string_lossy()));
    }
    let (all, mut seen) = (names.len() < MOST_SEEN, names.len());
    names.sort();
    names.truncate(MOST_ENTRIES);
    seen -= names.len();
    if seen > 0 {
        names.push(format!("… and {}{seen} more", if all { "" } else { "at least " }));
    }
    if names.is_empty() {
        names.push("(empty)".into());
    }
    Ok(names.join("\n") + "\n")
}
