//! The rules of coverage: the limits, the folders known by name or by a marker, and the ignore files. Only ignore files
//! inside the root count. Captures do not see `.git/info/exclude`, the user's global ignore file and those in folders above
//! the root: a change in them would silently change the coverage.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use retake_core::{ContentHash, FilePath, UncoveredReason};
use rustix::fs::FileType;

use super::below::Listing;
use crate::objects::Objects;

/// What a workspace's captures cover (spec `rewind.md`, *Capture*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Larger files are not covered.
    pub max_file: u64,
    /// Larger *ignored* files in covered folders are not covered.
    pub max_ignored: u64,
    /// With more new files at once, a capture asks first.
    pub ask_files: u64,
    /// With more bytes of new content at once, a capture asks first.
    pub ask_bytes: u64,
    /// The user's home folder, which cannot be a root, nor can a folder above it.
    pub home: Option<PathBuf>,
    /// The folder with all of Retake's data. It is not covered, and neither it nor a folder in it can be a root.
    pub own: Option<PathBuf>,
    /// Paths that are covered although a rule excludes them (unless they exceed `max_file`): those that our own edit tools
    /// wrote. A tree remembers earlier ones.
    pub always: BTreeSet<FilePath>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_file: 64 << 20,
            max_ignored: 1 << 20,
            ask_files: 200_000,
            ask_bytes: 2_000_000_000,
            home: None,
            own: None,
            always: BTreeSet::new(),
        }
    }
}

/// The limits for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub file: u64,
    pub ignored: u64,
}

/// The names of ignore files; an earlier name has priority over a later one, in any folder.
pub(crate) const IGNORE_FILES: [&[u8]; 3] = [b".retakeignore", b".ignore", b".gitignore"];

/// A larger ignore file is an ordinary file.
pub(crate) const LONGEST_IGNORE_FILE: u64 = 1 << 20;

/// The ignore files in force in a folder: its own and those of the folders above it, up to the root.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    outer: Option<Arc<Chain>>,
    /// The length of the path below the root that is skipped before the names in these files.
    skip: usize,
    files: [Option<Arc<Gitignore>>; 3],
}

impl Chain {
    /// The chain in a folder with ignore files of its own.
    pub(crate) fn inner(
        outer: &Arc<Self>,
        folder: Option<&FilePath>,
        files: [Option<Arc<Gitignore>>; 3],
    ) -> Arc<Self> {
        if files.iter().all(Option::is_none) {
            return Arc::clone(outer);
        }
        let skip = folder.map_or(0, |folder| folder.as_bytes().len() + 1);
        Arc::new(Self { outer: Some(Arc::clone(outer)), skip, files })
    }

    /// Why a folder is not entered, as far as its name shows.
    pub(crate) fn excludes(&self, path: &[u8]) -> Option<UncoveredReason> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if name == b"node_modules" {
            return Some(UncoveredReason::NodeModules);
        }
        self.ignores(path, true).then_some(UncoveredReason::Ignored)
    }

    /// Why a file of this size is not covered.
    pub(crate) fn excludes_file(&self, path: &[u8], size: u64, limits: Limits) -> Option<UncoveredReason> {
        if size > limits.file {
            Some(UncoveredReason::TooLarge)
        } else if size > limits.ignored && self.ignores(path, false) {
            Some(UncoveredReason::IgnoredAndLarge)
        } else {
            None
        }
    }

    fn ignores(&self, path: &[u8], is_folder: bool) -> bool {
        for which in 0..IGNORE_FILES.len() {
            let mut at = Some(self);
            while let Some(chain) = at {
                let below = Path::new(OsStr::from_bytes(&path[chain.skip.min(path.len())..]));
                match chain.files[which].as_ref().map(|file| file.matched(below, is_folder)) {
                    Some(Match::Ignore(_)) => return true,
                    Some(Match::Whitelist(_)) => return false,
                    Some(Match::None) | None => at = chain.outer.as_deref(),
                }
            }
        }
        false
    }
}

/// The most bytes of ignore files that are kept parsed, which takes some forty times as many.
const MOST_PARSED: usize = 2 << 20;

/// Parsed ignore files, by the hash of their bytes. The oldest are dropped for new ones, and parsed again when they are
/// needed.
#[derive(Debug, Default)]
pub(crate) struct Parsed(Mutex<Cache>);

#[derive(Debug, Default)]
struct Cache {
    parsed: HashMap<ContentHash, Arc<Gitignore>>,
    /// Oldest first, each with its bytes.
    order: VecDeque<(ContentHash, usize)>,
    bytes: usize,
}

impl Cache {
    fn insert(&mut self, hash: ContentHash, bytes: usize, parsed: Arc<Gitignore>) {
        if self.parsed.insert(hash, parsed).is_some() {
            return;
        }
        self.order.push_back((hash, bytes));
        self.bytes += bytes;
        while self.bytes > MOST_PARSED && self.order.len() > 1 {
            if let Some((oldest, bytes)) = self.order.pop_front() {
                self.parsed.remove(&oldest);
                self.bytes -= bytes;
            }
        }
    }
}

impl Parsed {
    pub(crate) fn get(&self, hash: &ContentHash) -> Option<Arc<Gitignore>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).parsed.get(hash).cloned()
    }

    /// From the object store, if needed; `None` if it is not available.
    pub(crate) fn get_or_load(&self, hash: &ContentHash, objects: &dyn Objects) -> Option<Arc<Gitignore>> {
        self.get(hash).or_else(|| Some(self.parse(*hash, &objects.get(hash).ok()?)))
    }

    pub(crate) fn parse(&self, hash: ContentHash, bytes: &[u8]) -> Arc<Gitignore> {
        let parsed = Arc::new(parse(bytes));
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(hash, bytes.len(), Arc::clone(&parsed));
        parsed
    }
}

/// An invalid line, or one that is not UTF-8, excludes nothing.
fn parse(bytes: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(".");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            // After an error the line is no pattern; the other lines still count.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Why a folder is not covered, as far as its content shows; `is_tag` returns whether a `CACHEDIR.TAG` is valid.
pub(crate) fn marked(listing: &Listing, is_tag: impl FnOnce() -> bool) -> Option<UncoveredReason> {
    let is = |name: &[u8], kind| listing.kind_of(name) == Some(kind);
    let head = [FileType::RegularFile, FileType::Symlink].map(Some);
    if head.contains(&listing.kind_of(b"HEAD"))
        && is(b"objects", FileType::Directory)
        && is(b"refs", FileType::Directory)
    {
        Some(UncoveredReason::Repository)
    } else if is(b"pyvenv.cfg", FileType::RegularFile) {
        Some(UncoveredReason::VirtualEnvironment)
    } else if is(b"CACHEDIR.TAG", FileType::RegularFile) && is_tag() {
        Some(UncoveredReason::CacheFolder)
    } else {
        None
    }
}

/// The beginning of a valid `CACHEDIR.TAG`.
pub(crate) const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether git keeps its own files under this name.
pub(crate) fn is_git(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_24_parsed_ignore_files_take_bounded_memory() {
        let parsed = Parsed::default();
        let rules = |no: usize| (0..20_000).map(|at| format!("x{no}y{at}\n")).collect::<String>();
        let hash = |no: u8| ContentHash([no; 32]);
        for no in 0..20 {
            let known = parsed.parse(hash(no), rules(no.into()).as_bytes());
            assert!(known.matched(format!("x{no}y7"), false).is_ignore());
        }
        assert!(parsed.get(&hash(19)).is_some(), "the last one stays");
        assert!(parsed.get(&hash(0)).is_none(), "the first one made way");
        assert!(parsed.0.lock().unwrap().bytes <= MOST_PARSED);
    }
}
