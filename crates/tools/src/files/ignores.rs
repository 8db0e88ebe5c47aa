//! Ignore rules: `.ignore`, `.gitignore` and `.git/info/exclude` of a folder and those above it, and the person's global list of
//! git. Folders are not trusted: only regular files are read, up to a limit.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match};

use super::disk;

/// A longer ignore file is skipped, as in captures.
const LONGEST: u64 = 1 << 20;

/// The most bytes of all ignore files; further files are skipped.
const MOST: u64 = 2 << 20;

/// Git's own folder.
const GIT: &str = ".git";

/// The ignore rules of all folders in one walk.
#[derive(Debug)]
pub struct IgnoreRules {
    own: Gitignore,
    read: Mutex<Read>,
}

#[derive(Debug)]
struct Read {
    levels: HashMap<PathBuf, Arc<Level>>,
    /// The bytes that may still be read.
    left: u64,
}

/// The rules of a folder, the strongest first: those of `.ignore`, of `.gitignore`, and of git's folder.
#[derive(Debug)]
struct Level {
    outer: Option<Arc<Level>>,
    rules: [Option<Gitignore>; 3],
    /// Whether the git rules of folders above it belong to another repository.
    is_repository: bool,
}

impl Default for IgnoreRules {
    fn default() -> Self {
        let read = Read { levels: HashMap::new(), left: MOST };
        Self { own: Gitignore::global().0, read: Mutex::new(read) }
    }
}

impl IgnoreRules {
    /// Whether they ignore a file, or a folder with everything below it. The path is absolute. The caller enters the folders
    /// above it and applies their rules.
    pub fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let Some(folder) = path.parent() else { return false };
        let level = self.read.lock().unwrap_or_else(PoisonError::into_inner).level(folder);
        for which in 0..level.rules.len() {
            let mut at = Some(&level);
            while let Some(level) = at {
                match level.rules[which].as_ref().map(|rules| rules.matched(path, is_folder)) {
                    Some(Match::Ignore(_)) => return true,
                    Some(Match::Whitelist(_)) => return false,
                    Some(Match::None) | None => {}
                }
                let is_last = which > 0 && level.is_repository;
                at = level.outer.as_ref().filter(|_| !is_last);
            }
        }
        self.own.matched(path, is_folder).is_ignore()
    }
}

impl IgnoreRules {
    /// The same for an entry of a walk.
    pub fn leave_out_entry(&self, entry: &DirEntry) -> bool {
        self.leave_out(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
    }
}

impl Read {
    fn level(&mut self, folder: &Path) -> Arc<Level> {
        if let Some(level) = self.levels.get(folder) {
            return Arc::clone(level);
        }
        let outer = folder.parent().map(|outer| self.level(outer));
        let git = folder.join(GIT);
        let is_repository = git.symlink_metadata().is_ok();
        let names = [folder.join(".ignore"), folder.join(".gitignore"), git.join("info/exclude")];
        let rules = names.map(|file| self.rules(&file, folder));
        let level = Arc::new(Level { outer, rules, is_repository });
        self.levels.insert(folder.to_owned(), Arc::clone(&level));
        level
    }

    fn rules(&mut self, file: &Path, folder: &Path) -> Option<Gitignore> {
        let (file, size) = disk::open(file).ok()?;
        if size > LONGEST.min(self.left) {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes).ok()?;
        self.left -= bytes.len() as u64;
        let mut builder = GitignoreBuilder::new(folder);
        for line in bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).split(|byte| *byte == b'\n') {
            if let Ok(line) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
                // After an error the line is no pattern; the other lines still count.
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }
}
