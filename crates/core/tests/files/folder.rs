//! The folder in memory, and edits by anyone: the counterpart of the disk in the engine's test.

use super::naive::{Thing, Tree};
use super::steps::{Bytes, Edit};
use super::text::{Mint, PLACES, Text};

const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

fn is_folder(tree: &Tree, path: &str) -> bool {
    matches!(tree.get(path), Some(Thing::Folder { .. }))
}

/// Whether a path is a folder or below it.
fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes anything at a path.
fn clear(tree: &mut Tree, path: &str) {
    tree.retain(|other, _| !is_within(other, path));
}

/// Creates a path's folders, replacing anything in their place.
fn make_room(tree: &mut Tree, name: &str) {
    for (at, _) in name.match_indices('/') {
        if !is_folder(tree, &name[..at]) {
            clear(tree, &name[..at]);
            tree.insert(name[..at].to_owned(), Thing::Folder { mode: FOLDER_MODE });
        }
    }
}

/// Writes a file, in place if it exists.
fn write(tree: &mut Tree, name: &str, bytes: Vec<u8>) {
    make_room(tree, name);
    let mode = match tree.get(name) {
        Some(Thing::File { mode, .. }) => *mode,
        _ => FILE_MODE,
    };
    clear(tree, name);
    tree.insert(name.to_owned(), Thing::File { bytes, mode });
}

/// Makes an edit as this author, whatever exists.
pub(super) fn edit(tree: &mut Tree, edit: &Edit, mint: &mut Mint, who: &str) {
    let file = |tree: &Tree, path: &str| match tree.get(path) {
        Some(Thing::File { bytes, .. }) => Some(bytes.clone()),
        _ => None,
    };
    match edit {
        Edit::Lines(name, place, count) => {
            let there = file(tree, name.file()).and_then(|bytes| Text::parse(&bytes));
            let mut new = there.unwrap_or_else(|| Text::new(mint, who));
            new.places[usize::from(*place) % PLACES] = (0..*count).map(|_| mint.token(who)).collect();
            write(tree, name.file(), new.bytes());
        }
        Edit::Write(name, Bytes::Empty) => write(tree, name.file(), Vec::new()),
        Edit::Write(name, Bytes::Binary) => {
            write(tree, name.file(), [b"\0\xff", mint.token(who).as_bytes(), b"\r\n"].concat());
        }
        Edit::Remove(name) => clear(tree, name.str()),
        Edit::Mode(name) => {
            if let Some(Thing::File { bytes, mode }) = tree.get_mut(name.file())
                && Text::parse(bytes).is_some()
            {
                *mode = mint.bits();
            }
        }
        // No part of a record.
        Edit::Tag(_) => {}
        Edit::Link(name, target) => {
            make_room(tree, name.file());
            clear(tree, name.file());
            tree.insert(name.file().to_owned(), Thing::Link(target.str().to_owned()));
        }
        Edit::Folder(name) => make_room(tree, &format!("{}/", name.folder())),
        Edit::Flat(name) => write(tree, name.folder(), Text::new(mint, who).bytes()),
        Edit::Rename(from, to) => {
            let (old, new) = (from.str(), if from.is_folder() { to.folder() } else { to.file() });
            if tree.contains_key(old) && !is_within(new, old) && !is_within(old, new) {
                make_room(tree, new);
                clear(tree, new);
                let moved: Vec<String> = tree.keys().filter(|path| is_within(path, old)).cloned().collect();
                for path in moved {
                    let thing = tree.remove(&path).expect("it is there");
                    tree.insert(format!("{new}{}", &path[old.len()..]), thing);
                }
            }
        }
        // Only a disk can have two names of one file.
        Edit::Copy(from, to) | Edit::Hard(from, to) => {
            if let Some(bytes) = file(tree, from.file()).filter(|_| from.file() != to.file()) {
                write(tree, to.file(), bytes);
            }
        }
    }
}
