//! The full output of calls in the spool. It is erased together with its entries, and removed when it is old. Must never touch
//! another file.

use std::fs;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use retake_core::{Action, ConversationId, EntryId};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::files::blocking;

/// The most bytes that are overwritten or searched at once.
const PIECE: usize = 1 << 20;

impl Engine {
    /// The calls whose results an erasure names. They must be collected before the erasure, because their names are gone
    /// afterwards.
    pub(crate) async fn calls_erased(&self, of: ConversationId, action: &Action) -> Result<Vec<EntryId>> {
        let Action::Erase { entries, .. } = action else { return Ok(Vec::new()) };
        let metas = self.store().metas(of, entries.clone()).await?;
        let calls = metas.iter().filter_map(|meta| meta.answers).collect();
        Ok([entries.clone(), self.store().entry_ids(of, calls).await?].concat())
    }

    /// Erases the output of these calls, and all other output that contains the text. Can be repeated.
    pub(crate) async fn erase_output(&self, calls: Vec<EntryId>, text: Option<String>) -> Result<()> {
        let Some(folder) = self.spool() else { return Ok(()) };
        let erase = move || {
            for file in logs(&folder)? {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let named = calls.iter().any(|call| name.starts_with(&call.to_string()));
                let holds = || text.as_deref().map_or(Ok(false), |text| holds(&file, text.as_bytes()));
                let is_pipe = fs::symlink_metadata(&file)?.file_type().is_fifo();
                // A pipe keeps nothing, and to open it would block.
                if named || !is_pipe && holds()? {
                    if !is_pipe {
                        overwrite(&file)?;
                    }
                    fs::remove_file(&file)?;
                }
            }
            Ok(())
        };
        blocking(erase).await?.map_err(|error: io::Error| {
            let what = "what commands have printed could not be erased from the data directory";
            EngineError { cause: Some(Arc::new(error)), ..EngineError::new(Kind::Storage, "storage", what) }
                .with("what", "output_not_erased")
        })
    }

    /// Removes output that is older than the captures without a name.
    pub(crate) async fn forget_output(&self) -> Result<()> {
        let Some(folder) = self.spool() else { return Ok(()) };
        let kept = self.files.kept_for();
        let since = self.now().0 / 1000 - i64::try_from(kept.as_secs()).unwrap_or(i64::MAX);
        let forget = move || {
            for file in logs(&folder)? {
                if fs::symlink_metadata(&file)?.mtime() < since {
                    fs::remove_file(&file)?;
                    // With its last file, the folder of a conversation is removed.
                    drop(file.parent().filter(|of| *of != folder).map(fs::remove_dir));
                }
            }
            Ok::<_, io::Error>(())
        };
        // A file that cannot be removed now is removed the next time.
        if let Err(error) = blocking(forget).await? {
            tracing::warn!(cause = error.raw_os_error(), "old output of commands stays");
        }
        Ok(())
    }

    fn spool(&self) -> Option<PathBuf> {
        self.parts().agent.as_ref().map(|agent| agent.spool.clone())
    }
}

/// The files and pipes in the spool and in its folders of conversations; none if there was never any output.
fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            // An empty folder may just have been removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() || kind.is_fifo() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    Ok(files)
}

/// Whether a file contains a text, also across two pieces.
fn holds(file: &Path, text: &[u8]) -> io::Result<bool> {
    if text.is_empty() {
        return Ok(false);
    }
    let (mut file, finder) = (fs::File::open(file)?, memmem::Finder::new(text));
    let (mut piece, mut kept) = (vec![0; PIECE + text.len()], 0);
    loop {
        let read = file.read(&mut piece[kept..])?;
        let seen = kept + read;
        if finder.find(&piece[..seen]).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        let from = seen.saturating_sub(text.len() - 1);
        piece.copy_within(from..seen, 0);
        kept = seen - from;
    }
}

/// Overwrites a file with zeros.
fn overwrite(file: &Path) -> io::Result<()> {
    let mut file = fs::File::options().write(true).open(file)?;
    let mut left = file.metadata()?.len();
    file.rewind()?;
    let zeros = vec![0; PIECE];
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        file.write_all(&zeros[..piece])?;
        left -= piece as u64;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipes_of_jobs_are_listed_with_their_logs() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("c")).expect("made");
        fs::write(dir.path().join("c/a.log"), "").expect("written");
        let (pipe, mode) = (dir.path().join("c/a.in"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let all = logs(dir.path()).expect("read");
        assert!(all.len() == 2 && all.contains(&pipe), "{all:?}");
    }

    #[test]
    fn a_text_is_found_across_pieces_and_overwritten() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.log");
        for at in [0, PIECE - 3, PIECE, PIECE + 4, 2 * PIECE + 5] {
            let mut bytes = vec![b'x'; 3 * PIECE];
            bytes[at..at + 7].copy_from_slice(b"hunter2");
            fs::write(&path, &bytes).expect("written");
            assert!(holds(&path, b"hunter2").expect("read"), "{at}");
            assert!(!holds(&path, b"hunter3").expect("read"), "{at}");
        }
        overwrite(&path).expect("overwritten");
        assert!(fs::read(&path).expect("read").iter().all(|byte| *byte == 0));
        assert!(!holds(&path, b"").expect("nothing is not sought"));
    }
}
