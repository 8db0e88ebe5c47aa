//! Edits of files spread over a tree, the same for the same seed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// Larger files are not edited: editing is not measured.
const LARGEST: u64 = 1 << 20;

/// The files that can be edited, in shuffled order.
pub(super) struct Edits {
    work: PathBuf,
    files: Vec<PathBuf>,
}

/// Some files, and their new content.
pub(super) struct Edit(Vec<Change>);

struct Change {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Edits {
    /// The edits of a tree with these files.
    pub(super) fn of(work: &Path, mut files: Vec<PathBuf>) -> io::Result<Self> {
        files.retain(|file| !file.as_os_str().as_encoded_bytes().ends_with(b"ignore"));
        let mut small = Vec::with_capacity(files.len());
        for file in files {
            if fs::metadata(work.join(&file))?.len() <= LARGEST {
                small.push(file);
            }
        }
        Rng::with_seed(1).shuffle(&mut small);
        Ok(Self { work: work.into(), files: small })
    }

    /// The files that can be edited.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether so many files can be edited together.
    pub(super) fn can(&self, count: usize) -> bool {
        count <= self.files.len()
    }

    /// An edit of so many files; the same number gives the same edit.
    pub(super) fn plan(&self, number: u64, count: usize) -> io::Result<Edit> {
        let mut rng = Rng::with_seed(number);
        let start = rng.usize(..self.files.len());
        let chosen = (0..count).map(|at| &self.files[(start + at) % self.files.len()]);
        let edit = chosen.map(|file| {
            let path = self.work.join(file);
            let before = fs::read(&path)?;
            // In the middle of the text, like an edit by a person.
            let half = before.len() / 2;
            let middle =
                before[half..].iter().position(|byte| *byte == b'\n').map_or(half, |at| half + at + 1);
            let line = format!("    // edit {} of {number}\n", rng.u32(..));
            let after = [&before[..middle], line.as_bytes(), &before[middle..]].concat();
            Ok(Change { path, before, after })
        });
        Ok(Edit(edit.collect::<io::Result<_>>()?))
    }
}

impl Edit {
    /// Writes the files.
    pub(super) fn make(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|change| fs::write(&change.path, &change.after))
    }

    /// Checks that the files have their earlier content, whichever program restored them.
    pub(super) fn check_undone(&self) -> anyhow::Result<()> {
        for Change { path, before, .. } in &self.0 {
            anyhow::ensure!(fs::read(path)? == *before, "{} was not restored", path.display());
        }
        Ok(())
    }
}
