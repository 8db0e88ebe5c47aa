//! Makes the content of a data directory private to its owner, whatever modes it had before (trial 30). The directory may have
//! been created by hand, be a copy, or come from another version. Must never change files that are not ours.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The prefixes of our files. The token is not among them: once others could read it, it is no secret, and the server creates
/// another one.
const FILES: [&str; 2] = ["retake.db", "owner."];

/// Our folders, with everything below them.
const FOLDERS: [&str; 5] = ["backups", "holders", "objects", "output", "workspaces"];

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;

/// The sticky bit: a shared folder such as `/tmp` is not made private.
const STICKY: u32 = 0o1000;

/// Makes a data directory private; returns a warning about what was open or could not be closed.
///
/// Below a private folder nobody else can reach anything, so only its direct content is checked.
pub(crate) fn close(dir: &Path) -> Option<String> {
    let meta = fs::metadata(dir).ok()?;
    let was_open = meta.mode() & OTHERS != 0;
    let mut failed = Vec::new();
    if was_open && meta.mode() & STICKY == 0 {
        tighten(dir, &meta, &mut failed);
    }
    let (mut ours, mut exposed) = (Vec::new(), false);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() && FOLDERS.contains(&&*name) {
            exposed |= meta.mode() & OTHERS != 0;
            ours.push((entry.path(), meta));
        } else if meta.is_file() && FILES.iter().any(|file| name.starts_with(file)) {
            exposed |= meta.mode() & OTHERS != 0;
            tighten(&entry.path(), &meta, &mut failed);
        }
    }
    while let Some((folder, meta)) = ours.pop() {
        let open = meta.mode() & OTHERS != 0;
        tighten(&folder, &meta, &mut failed);
        if !was_open && !open {
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => ours.push((entry.path(), meta)),
                Ok(meta) if meta.is_file() => tighten(&entry.path(), &meta, &mut failed),
                _ => {}
            }
        }
    }
    let dir = dir.display();
    match failed.first() {
        Some(path) => Some(format!(
            "other users may read {} and what is in {dir}: its modes can't be changed; make it yours (chown), or take another data directory",
            path.display()
        )),
        None if was_open && meta.mode() & STICKY != 0 => {
            Some(format!("other users may write to {dir}; take a data directory of your own"))
        }
        // Nobody else could read the content of a private folder.
        None => (was_open && exposed).then(|| {
            format!("other users could read {dir} (mode {:o}); it is private now", meta.mode() & 0o777)
        }),
    }
}

/// Removes the permissions of group and other users from a file or folder.
fn tighten(path: &Path, meta: &Metadata, failed: &mut Vec<PathBuf>) {
    if meta.mode() & OTHERS == 0 {
        return;
    }
    let mode = meta.mode() & 0o7777 & !OTHERS;
    let set = fs::set_permissions(path, Permissions::from_mode(mode));
    // Some file systems have the same modes for all files and ignore changes.
    let is_open = fs::metadata(path).is_ok_and(|now| now.mode() & OTHERS != 0);
    if set.is_err() || is_open {
        failed.push(path.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
    }

    #[test]
    fn trial_30_only_own_files_lose_permissions() {
        let dir = tempfile::tempdir().expect("a folder");
        let [ours, theirs, below, outside] = ["retake.db-wal", "notes", "objects/1.pack", "outside"]
            .map(|name| dir.path().join("data").join(name));
        fs::create_dir_all(below.parent().expect("a folder")).expect("made");
        for file in [&ours, &theirs, &below, &outside] {
            fs::write(file, "").expect("written");
            set(file, 0o666);
        }
        let data = dir.path().join("data");
        std::os::unix::fs::symlink("../outside", data.join("objects/link")).expect("linked");
        set(&data.join("objects"), 0o755);
        set(&data, 0o755);
        let told = close(&data).expect("it was open");
        assert!(told.contains("mode 755") && told.contains("private now"), "{told}");
        assert_eq!((mode(&data), mode(&data.join("objects"))), (0o700, 0o700));
        assert_eq!((mode(&ours), mode(&below)), (0o600, 0o600));
        assert_eq!((mode(&theirs), mode(&outside)), (0o666, 0o666));
        assert_eq!(close(&data), None);
    }

    #[test]
    fn trial_30_world_writable_folder_is_left_and_reported() {
        let dir = tempfile::tempdir().expect("a folder");
        set(dir.path(), 0o1777);
        let told = close(dir.path()).expect("it is open");
        assert!(told.contains("other users may write"), "{told}");
        assert_eq!(mode(dir.path()), 0o1777);
    }
}
