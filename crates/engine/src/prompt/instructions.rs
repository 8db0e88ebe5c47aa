//! Instruction files: `AGENTS.md` of the folder and of the folders above it, and the person's own. One in a folder below it counts
//! once a call reads or writes there.
//!
//! Their content is untrusted: the folder may be a stranger's. They are read with a limit, and a link must not lead to a file
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use retake_core::{Digest, Fact, Part};
use retake_store::digest::of_text;

use super::{Places, bounded_read};
use crate::places::MOST_FOLDERS;

/// The prefix of the keys of facts that record the version of a file; the path follows.
pub const FACT: &str = "instructions/";

/// The names of such files, the preferred one first: only one in each folder is read.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The most bytes of all of them together.
const MOST: usize = 32_000;

/// The most bytes of one below the folder, whatever the others have: its version must not depend on them.
const MOST_NESTED: usize = 8_000;

/// The most files below the folder that a path knows.
pub const MOST_FILES_BELOW: usize = 16;

/// An instruction file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its path.
    pub path: PathBuf,
    /// Its text, as far as it fits.
    pub text: String,
    /// The number of bytes that did not fit.
    pub cut: u64,
}

impl Instruction {
    /// The key of the fact that records its version.
    pub fn key(&self) -> String {
        format!("{FACT}{}", self.path.display())
    }

    /// The digest of this version, which its fact records.
    fn digest(&self) -> Digest {
        of_text("instructions", &format!("{}\n{}", self.cut, self.text))
    }
}

/// The value of a fact for this digest.
fn value(digest: Digest) -> String {
    format!("{:032x}", u128::from_be_bytes(digest.current))
}

/// Whether the value of a fact is for this digest, whichever version of this program stored it.
fn is_of(recorded: &str, digest: Digest) -> bool {
    u128::from_str_radix(recorded, 16).is_ok_and(|stored| digest.matches(stored.to_be_bytes()))
}

/// The instruction files of a folder, the nearest last. If not all fit, the nearest ones come first.
pub fn instructions(places: &Places) -> Vec<Instruction> {
    let mut found: Vec<Instruction> = Vec::new();
    let mut left = MOST;
    let (folders, repository) = places.folders();
    for folder in &folders {
        let near = *folder == places.folder;
        // Without a repository, a link must stay within its own folder.
        let within = repository.as_ref().unwrap_or(folder);
        found.extend(of_folder(folder, places, Some(within), near, &mut left));
    }
    if let Some(config) = &places.config
        && !folders.contains(config)
    {
        found.extend(of_folder(config, places, None, true, &mut left));
    }
    found.reverse();
    found
}

/// The instruction files of these folders below the conversation's folder, the outermost first. Those of the folder itself are not
/// among them.
pub fn nested(places: &Places, folders: &BTreeSet<PathBuf>) -> Vec<Instruction> {
    let (_, repository) = places.folders();
    let Ok(whole) = places.folder.canonicalize() else { return Vec::new() };
    let of = |folder: &PathBuf| {
        // A folder that leads elsewhere is not below this one.
        folder.canonicalize().ok().filter(|real| real.starts_with(&whole) && *real != whole)?;
        let (within, mut left) = (repository.as_ref().unwrap_or(folder), MOST_NESTED);
        of_folder(folder, places, Some(within), false, &mut left)
    };
    folders.iter().filter_map(of).collect()
}

/// The folders below the conversation's folder that lead to a path, the path itself included, because it may be one.
pub fn folders_below(folder: &Path, path: &Path) -> Vec<PathBuf> {
    let is_plain = path.components().all(|part| part != Component::ParentDir);
    let below = path.ancestors().take(MOST_FOLDERS).take_while(|at| *at != folder && at.starts_with(folder));
    if is_plain { below.map(Path::to_path_buf).collect() } else { Vec::new() }
}

/// The folders below the conversation's folder whose files the path knows, by its facts.
pub fn known_below(folder: &Path, given: &[Fact]) -> BTreeSet<PathBuf> {
    let known = given.iter().filter(|fact| !fact.value.is_empty());
    let parent = |fact: &Fact| Path::new(fact.key.strip_prefix(FACT)?).parent().map(Path::to_path_buf);
    known.filter_map(parent).filter(|at| at != folder && at.starts_with(folder)).collect()
}

/// The file of one folder, if it has one with content.
fn of_folder(
    folder: &Path,
    places: &Places,
    within: Option<&PathBuf>,
    near: bool,
    left: &mut usize,
) -> Option<Instruction> {
    let path = NAMES.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok())?;
    let leads = path.canonicalize().ok()?;
    if leads != folder.canonicalize().ok()?.join(path.file_name()?) {
        let leaves = match within {
            Some(within) => !leads.starts_with(within.canonicalize().ok()?),
            None => false,
        };
        if leaves || places.guarded.guard(&leads).is_some() {
            return None;
        }
    }
    // One more byte, so that a file that just fits is not reported as truncated.
    let look = bounded_read::beginning(&leads, MOST as u64 + 1).ok()?;
    // The owner of a link counts, too.
    let owners = [look.about.uid(), path.symlink_metadata().ok()?.uid()];
    if !near && !owners.into_iter().all(|owner| places.is_trusted(owner)) {
        return None;
    }
    let text = bounded_read::text(&look.bytes)?;
    if text.trim().is_empty() {
        return None;
    }
    let mut end = text.len().min(*left);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    *left -= end;
    Some(Instruction { path, text: text[..end].to_owned(), cut: look.len - end as u64 })
}

/// The entry about instruction files that the path does not know yet: new ones, changed ones, removed ones, with its facts.
/// `None` if the path knows all. `given` are the facts of the path whose keys begin with [`FACT`].
pub fn due(current: &[Instruction], given: &[Fact]) -> Option<Vec<Part>> {
    let given: BTreeMap<&str, &str> = given
        .iter()
        .filter(|fact| !fact.value.is_empty())
        .map(|fact| (fact.key.as_str(), fact.value.as_str()))
        .collect();
    let mut texts = Vec::new();
    let mut facts = Vec::new();
    for key in given.keys().filter(|key| !current.iter().any(|now| now.key() == **key)) {
        let path = key.strip_prefix(FACT).unwrap_or(key);
        texts.push(format!("{path} is gone: what it said no longer holds."));
        facts.push(Fact::new(*key, ""));
    }
    for instruction in current {
        let (key, digest) = (instruction.key(), instruction.digest());
        let before = given.get(key.as_str());
        if before.is_some_and(|recorded| is_of(recorded, digest)) {
            continue;
        }
        texts.push(told(instruction, before.is_some()));
        facts.push(Fact::new(key, value(digest)));
    }
    // One part for each file: the prompt keeps them apart.
    (!facts.is_empty()).then(|| texts.into_iter().map(Part::Text).chain([Part::Facts(facts)]).collect())
}

fn told(instruction: &Instruction, again: bool) -> String {
    let Instruction { path, text, cut } = instruction;
    let head = match again {
        true => format!("{} has changed. It now says:", path.display()),
        false => format!("{} says:", path.display()),
    };
    let end = match cut {
        0 => String::new(),
        cut => format!("\n[{cut} bytes of it are left out here: there is no room for them]"),
    };
    format!("{head}\n\n{}{end}", text.trim_end())
}
