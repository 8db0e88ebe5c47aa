//! The bytes of all versions by their hash, and line-based merges of them, in place of a worktree's object store. Hashes count
//! up.

use std::ops::Range;

use retake_core::{ContentHash, MergeBytes, NoSuchHunks, Record};

use super::naive::Thing;

/// All versions.
#[derive(Debug, Default)]
pub(super) struct Versions(Vec<Vec<u8>>);

/// Lines of a base that a side changed, and its replacement.
type Change<'a> = (Range<usize>, &'a [&'a str]);

impl Versions {
    fn put(&mut self, bytes: Vec<u8>) -> (ContentHash, u64) {
        let len = bytes.len() as u64;
        let no = self.0.iter().position(|known| *known == bytes).unwrap_or(self.0.len());
        if no == self.0.len() {
            self.0.push(bytes);
        }
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&(no as u64).to_be_bytes());
        (ContentHash(hash), len)
    }

    fn bytes(&self, hash: ContentHash) -> &[u8] {
        let no = hash.0[..8].iter().fold(0, |no, byte| no << 8 | usize::from(*byte));
        &self.0[no]
    }

    /// The lines of a text; `None` for other content.
    fn text(&self, hash: ContentHash) -> Option<Vec<&str>> {
        let text = std::str::from_utf8(self.bytes(hash)).ok()?;
        (!text.contains('\0')).then(|| text.split_inclusive('\n').collect())
    }

    pub(super) fn record(&mut self, thing: &Thing) -> Record {
        let bits = |mode: u32| u16::try_from(mode & 0o777).expect("bits");
        match thing {
            Thing::File { bytes, mode } => {
                let (hash, len) = self.put(bytes.clone());
                Record::File { hash, len, mode: bits(*mode) }
            }
            Thing::Link(target) => Record::Link { target: target.as_bytes().into() },
            Thing::Folder { mode } => Record::Folder { mode: bits(*mode) },
        }
    }

    pub(super) fn thing(&self, record: &Record) -> Thing {
        match record {
            Record::File { hash, mode, .. } => {
                Thing::File { bytes: self.bytes(*hash).to_vec(), mode: (*mode).into() }
            }
            Record::Link { target } => Thing::Link(String::from_utf8(target.to_vec()).expect("UTF-8")),
            Record::Folder { mode } => Thing::Folder { mode: (*mode).into() },
        }
    }
}

/// The changes from one text to another: common lines in the same order stay.
fn changes<'a>(base: &[&str], side: &'a [&'a str]) -> Vec<Change<'a>> {
    let mut longest = vec![vec![0; side.len() + 1]; base.len() + 1];
    for at in (0..base.len()).rev() {
        for by in (0..side.len()).rev() {
            longest[at][by] = match base[at] == side[by] {
                true => longest[at + 1][by + 1] + 1,
                false => longest[at + 1][by].max(longest[at][by + 1]),
            };
        }
    }
    let (mut at, mut by, mut all) = (0, 0, Vec::new());
    let (mut from, mut from_by) = (0, 0);
    loop {
        let stays = at < base.len() && by < side.len() && base[at] == side[by];
        if stays || at == base.len() && by == side.len() {
            if from < at || from_by < by {
                all.push((from..at, &side[from_by..by]));
            }
            if !stays {
                return all;
            }
            (at, by) = (at + 1, by + 1);
            (from, from_by) = (at, by);
        } else if by == side.len() || at < base.len() && longest[at + 1][by] >= longest[at][by + 1] {
            at += 1;
        } else {
            by += 1;
        }
    }
}

/// The lines of a text after these changes, in order.
fn changed(base: &[&str], changes: impl IntoIterator<Item = (Range<usize>, Vec<String>)>) -> Vec<u8> {
    let (mut text, mut done) = (String::new(), 0);
    for (lines, with) in changes {
        text.extend(base[done..lines.start].iter().copied());
        text.extend(with);
        done = lines.end;
    }
    text.extend(base[done..].iter().copied());
    text.into_bytes()
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// Whether two changes of the same text exclude each other.
fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    let within =
        |point: &Range<usize>, range: &Range<usize>| range.start < point.start && point.start < range.end;
    match (one.is_empty(), other.is_empty()) {
        (true, true) => one == other,
        (true, false) => within(one, other),
        (false, true) => within(other, one),
        (false, false) => one.start < other.end && other.start < one.end,
    }
}

/// The changes of both sides; `None` if they changed the same place, or places that touch.
fn merged(base: &[&str], ours: &[&str], theirs: &[&str]) -> Option<Vec<u8>> {
    let (ours, theirs) = (changes(base, ours), changes(base, theirs));
    let touch = |one: &Range<usize>, other: &Range<usize>| one.start <= other.end && other.start <= one.end;
    let only_theirs = |their: &&Change<'_>| !ours.contains(their);
    let clash = |their: &Change<'_>| ours.iter().any(|our| our != their && touch(&our.0, &their.0));
    if theirs.iter().any(clash) {
        return None;
    }
    let mut all: Vec<_> = ours.iter().chain(theirs.iter().filter(only_theirs)).collect();
    all.sort_by_key(|(lines, _)| lines.start);
    Some(changed(base, all.into_iter().map(|(lines, with)| (lines.clone(), owned(with)))))
}

/// All of ours, and the changes of theirs in lines that ours left unchanged.
fn merged_over(base: &[&str], ours: &[&str], theirs: &[&str]) -> Vec<u8> {
    let ours = changes(base, ours);
    let mut pieces: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    for (lines, with) in changes(base, theirs) {
        let met: Vec<&Range<usize>> =
            ours.iter().map(|(our, _)| our).filter(|our| overlap(our, &lines)).collect();
        if met.is_empty() {
            pieces.push((lines, owned(with)));
            continue;
        }
        let only_added = met.iter().all(|our| our.is_empty());
        let as_many = lines.len() == with.len();
        for (at, line) in lines.enumerate() {
            if !ours.iter().any(|(our, _)| our.contains(&line)) {
                let with = match at {
                    _ if as_many => &with[at..=at],
                    0 if only_added => with,
                    _ => &[],
                };
                pieces.push((line..line + 1, owned(with)));
            }
        }
    }
    pieces.extend(ours.iter().map(|(lines, with)| (lines.clone(), owned(with))));
    pieces.sort_by_key(|(lines, _)| (lines.start, lines.end));
    changed(base, pieces)
}

/// Theirs without the lines that they only added where ours changed something, too.
fn beside(base: &[&str], ours: &[&str], theirs: &[&str]) -> Vec<u8> {
    let (ours, mut theirs) = (changes(base, ours), changes(base, theirs));
    theirs.retain(|(lines, _)| !(lines.is_empty() && ours.iter().any(|(our, _)| overlap(our, lines))));
    changed(base, theirs.into_iter().map(|(lines, with)| (lines, owned(with))))
}

impl MergeBytes for Versions {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let merged = merged(&self.text(base)?, &self.text(ours)?, &self.text(theirs)?)?;
        Some(self.put(merged))
    }

    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        let theirs = match theirs {
            Some(theirs) => self.text(theirs)?,
            None => Vec::new(),
        };
        let merged = merged_over(&self.text(base)?, &self.text(ours)?, &theirs);
        Some(self.put(merged))
    }

    fn beside(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let text = beside(&self.text(base)?, &self.text(ours)?, &self.text(theirs)?);
        Some(self.put(text))
    }

    /// No sequence chooses hunks.
    fn part(&mut self, _: ContentHash, _: ContentHash, _: &[u32]) -> Result<(ContentHash, u64), NoSuchHunks> {
        Err(NoSuchHunks::NoText)
    }
}
