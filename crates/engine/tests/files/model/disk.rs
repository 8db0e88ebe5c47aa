//! The folder itself: its content, read in a simple way, and edits by anyone.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use rustix::fs::XattrFlags;

use super::naive::{Thing, Tree};
use super::steps::{Bytes, Edit, Name};
use super::text::{Mint, PLACES, Text};

/// The extended attribute set by edits.
const TAG: &str = "user.model";

/// The content saved during a step.
const SAVED: &[u8] = b"saved";
const SAVED_MODE: u32 = 0o640;

/// Everything below a folder except git's files.
pub(super) fn all(root: &Path) -> Tree {
    let mut tree = Tree::new();
    below(root, "", &mut tree);
    tree
}

fn below(folder: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        if prefix.is_empty() && name == ".git" {
            continue;
        }
        let (name, path) = (format!("{prefix}{name}"), entry.path());
        let meta = fs::symlink_metadata(&path).expect("it is there");
        let mode = meta.permissions().mode() & 0o7777;
        let thing = if meta.is_symlink() {
            Thing::Link(fs::read_link(&path).expect("a link").to_str().expect("UTF-8").to_owned())
        } else if meta.is_dir() {
            below(&path, &format!("{name}/"), tree);
            Thing::Folder { mode }
        } else {
            Thing::File { bytes: fs::read(&path).expect("a file"), mode }
        };
        tree.insert(name, thing);
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Removes anything at a path.
fn clear(path: &Path) {
    if is_folder(path) {
        fs::remove_dir_all(path).expect("removed");
    } else if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path).expect("removed");
    }
}

/// Creates a path's folders, replacing anything in their place.
fn make_room(root: &Path, name: &str) {
    for (at, _) in name.match_indices('/') {
        let folder = root.join(&name[..at]);
        if !is_folder(&folder) {
            clear(&folder);
            fs::create_dir(folder).expect("made");
        }
    }
}

/// Writes a file, in place if it exists.
fn write(root: &Path, name: &str, bytes: &[u8]) {
    make_room(root, name);
    let path = root.join(name);
    if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
        clear(&path);
    }
    fs::write(path, bytes).expect("written");
}

/// Makes an edit as this author, whatever exists.
pub(super) fn edit(root: &Path, edit: &Edit, mint: &mut Mint, who: &str) {
    let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    let text =
        |path: &Path| fs::read(path).ok().and_then(|bytes| Text::parse(&bytes)).filter(|_| is_file(path));
    match edit {
        Edit::Lines(name, place, count) => {
            let mut new = text(&root.join(name.file())).unwrap_or_else(|| Text::new(mint, who));
            let place = &mut new.places[usize::from(*place) % PLACES];
            *place = (0..*count).map(|_| mint.token(who)).collect();
            write(root, name.file(), &new.bytes());
        }
        Edit::Write(name, Bytes::Empty) => write(root, name.file(), b""),
        Edit::Write(name, Bytes::Binary) => {
            write(root, name.file(), &[b"\0\xff", mint.token(who).as_bytes(), b"\r\n"].concat());
        }
        Edit::Remove(name) => clear(&root.join(name.str())),
        Edit::Mode(name) => {
            let path = root.join(name.file());
            if text(&path).is_some() {
                fs::set_permissions(path, fs::Permissions::from_mode(mint.bits())).expect("set");
            }
        }
        Edit::Tag(name) => {
            let path = root.join(name.file());
            if is_file(&path) {
                // Not every file system has them.
                let _ = rustix::fs::setxattr(&path, TAG, mint.token(who).as_bytes(), XattrFlags::empty());
            }
        }
        Edit::Link(name, target) => {
            make_room(root, name.file());
            clear(&root.join(name.file()));
            symlink(target.str(), root.join(name.file())).expect("linked");
        }
        Edit::Folder(name) => make_room(root, &format!("{}/", name.folder())),
        Edit::Flat(name) => {
            write(root, name.folder(), &Text::new(mint, who).bytes());
        }
        Edit::Rename(from, to) => {
            let to = if from.is_folder() { to.folder() } else { to.file() };
            let (old, new) = (root.join(from.str()), root.join(to));
            if fs::symlink_metadata(&old).is_ok() && !new.starts_with(&old) && !old.starts_with(&new) {
                make_room(root, to);
                clear(&new);
                fs::rename(old, new).expect("renamed");
            }
        }
        Edit::Copy(from, to) | Edit::Hard(from, to) => {
            let (old, new) = (root.join(from.file()), root.join(to.file()));
            if is_file(&old) && old != new {
                match edit {
                    Edit::Hard(..) => {
                        make_room(root, to.file());
                        clear(&new);
                        fs::hard_link(old, new).expect("linked");
                    }
                    _ => write(root, to.file(), &fs::read(old).expect("read")),
                }
            }
        }
    }
}

/// The extended attributes of files.
pub(super) fn tags(root: &Path, tree: &Tree) -> BTreeMap<String, Option<Vec<u8>>> {
    let tag = |path: &str| {
        let mut value = vec![0; 64];
        let len = rustix::fs::lgetxattr(root.join(path), TAG, &mut value[..]).ok()?;
        value.truncate(len);
        Some(value)
    };
    let files = tree.iter().filter(|(_, thing)| matches!(thing, Thing::File { .. }));
    files.map(|(path, _)| (path.clone(), tag(path))).collect()
}

/// Saves a file like an editor, by a rename over it; `None` if its folder does not exist.
pub(super) fn save(root: &Path, name: Name) -> Option<(String, Thing)> {
    let (path, draft) = (root.join(name.file()), root.with_file_name("draft"));
    let folder = path.parent().expect("it has one");
    // Never through a link.
    let reached = name.file().match_indices('/').all(|(at, _)| is_folder(&root.join(&name.file()[..at])));
    if is_folder(&path) || !reached || !is_folder(folder) {
        return None;
    }
    fs::write(&draft, SAVED).expect("written");
    fs::set_permissions(&draft, fs::Permissions::from_mode(SAVED_MODE)).expect("set");
    fs::rename(draft, path).expect("saved");
    Some((name.file().to_owned(), saved()))
}

/// The saved content.
pub(super) fn saved() -> Thing {
    Thing::File { bytes: SAVED.to_vec(), mode: SAVED_MODE }
}

/// Commits everything, and checks out a branch, which is created if new. Whatever git refuses is not done.
pub(super) fn git(root: &Path, branch: u8) {
    let script = format!(
        "[ -d .git ] || git init -q -b b0; git add -A; git commit -qm x; \
         git checkout -qf b{branch} 2> /dev/null || git checkout -qb b{branch}"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(root);
    for (name, value) in [("NAME", "a"), ("EMAIL", "a@b")] {
        shell.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let done = shell.output().expect("a shell");
    assert!(root.join(".git").is_dir(), "{done:?}");
}
