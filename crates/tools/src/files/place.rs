//! Resolves names: relative names, `..` and links, and whether the target is inside of a root. It reads links on disk, and must
//! never trust the letters of a name.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use retake_core::CallTarget;

use super::text;

/// The most links that the system follows.
const MOST_LINKS: usize = 40;

/// The base of names: the folder for relative ones, and the roots.
#[derive(Clone, Debug)]
pub(crate) struct PathBase {
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

/// The target of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The absolute path of the name, without `..`.
    pub(super) named: PathBuf,
    /// The absolute path without links, except those above the root.
    pub(crate) path: PathBuf,
    /// Its place in a root, if it is in one.
    pub(crate) inside: Option<PlaceInRoot>,
    /// Whether the last part of the name is a link.
    pub(super) link: bool,
}

/// A place inside of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceInRoot {
    /// The root, without links.
    pub(super) root: PathBuf,
    /// The path below it, without links.
    pub(super) below: PathBuf,
}

impl PathBase {
    pub(crate) fn new(folder: &Path, roots: &[PathBuf]) -> Self {
        Self { folder: folder.to_owned(), roots: roots.to_vec() }
    }

    /// The target of a name, existing or not. An empty name is the folder itself.
    pub(crate) fn place(&self, name: &str) -> Result<Place, String> {
        if name.contains('\0') {
            return Err(format!("the path `{}` holds a NUL character: no file has one", text::escaped(name)));
        }
        let said = self.folder.join(name);
        let lost = |why: String| format!("cannot tell where `{}` leads: {why}", text::escaped(name));
        if !said.is_absolute() {
            return Err(lost("the conversation has no folder; give an absolute path".to_owned()));
        }
        let real = real(&said).map_err(lost)?;
        let named = plain(&said);
        let link = named.symlink_metadata().is_ok_and(|found| found.is_symlink());
        for root in &self.roots {
            let Ok(real_root) = self::real(root) else { continue };
            if let Ok(below) = real.strip_prefix(&real_root) {
                let path = if below.as_os_str().is_empty() { root.clone() } else { root.join(below) };
                let inside = Some(PlaceInRoot { root: real_root, below: below.to_owned() });
                return Ok(Place { named, path, inside, link });
            }
        }
        Ok(Place { named, path: real, inside: None, link })
    }

    /// The same for a file to write: inside of a root, and not git's own.
    pub(crate) fn place_to_write(&self, name: &str) -> Result<Place, String> {
        let place = self.place(name)?;
        let shown = text::escaped(name);
        if name.ends_with('/') {
            return Err(format!("`{shown}` names a folder, not a file"));
        }
        let Some(inside) = &place.inside else {
            let way = match place.path == place.named {
                true => String::new(),
                false => format!(" (it leads to {})", text::path(&place.path)),
            };
            return Err(format!(
                "`{shown}` is outside of the conversation's folders{way}: nothing is written there. The folders are {}",
                self.roots.iter().map(|root| text::path(root)).collect::<Vec<_>>().join(", "),
            ));
        };
        if inside.below.as_os_str().is_empty() {
            return Err(format!("`{shown}` is the conversation's folder itself, not a file"));
        }
        let named = self.roots.iter().find_map(|root| place.named.strip_prefix(root).ok());
        let is_named = [Some(inside.below.as_path()), named].into_iter().flatten().any(is_of_git);
        if is_named || is_in_repository(&place.real()) {
            return Err(format!(
                "`{shown}` is in git's own folder, which only git may change: use git's commands"
            ));
        }
        Ok(place)
    }

    /// A path in a form that the model can use again: relative to the base folder, if it is below it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.folder) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => text::path(below),
            Err(_) => text::path(path),
        }
    }

    /// A path for people: relative to the first root, if it is below it.
    pub(super) fn line(&self, path: &Path) -> String {
        match self.roots.first().and_then(|root| path.strip_prefix(root).ok()) {
            Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Some(below) => text::path(below),
            None => text::path(path),
        }
    }
}

impl Place {
    /// The touches for reading it: its name, and its target.
    pub(super) fn read(&self) -> Vec<CallTarget> {
        self.both().map(CallTarget::Read).collect()
    }

    /// The absolute path without any link.
    pub(super) fn real(&self) -> PathBuf {
        self.inside.as_ref().map_or_else(|| self.path.clone(), |inside| inside.root.join(&inside.below))
    }

    /// The touches for writing it.
    pub(super) fn written(&self) -> Vec<CallTarget> {
        self.both().map(CallTarget::Write).collect()
    }

    fn both(&self) -> impl Iterator<Item = PathBuf> {
        let other = (self.named != self.path).then(|| self.named.clone());
        [Some(self.path.clone()), other].into_iter().flatten()
    }
}

/// Whether a part of a path is git's own folder.
fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_bytes().eq_ignore_ascii_case(b".git"))
}

/// Whether it is in a repository, whatever its name, or would turn its folder into one.
fn is_in_repository(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let first = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
        let first = first.map(|part| part.as_os_str());
        let has = |name: &str| first == Some(name.as_ref()) || folder.join(name).symlink_metadata().is_ok();
        has("HEAD") && (has("commondir") || has("objects") && has("refs"))
    })
}

/// The path from its letters alone: without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The target of an absolute path, following links, including the last one, even if it does not exist. Otherwise a link to
/// nowhere would seem to be inside, while writing through it creates a file outside.
fn real(path: &Path) -> Result<PathBuf, String> {
    let mut found = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            found.pop();
            continue;
        }
        found.push(&part);
        match std::fs::read_link(&found) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err("too many links, one leading to the next".to_owned());
                }
                found.pop();
                if target.is_absolute() {
                    found = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    rest.push_front(part);
                }
            }
            // No link, or it does not exist.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {}
            // A file in the middle: the rest cannot exist, which opening it shows.
            Err(error) if error.kind() == ErrorKind::NotADirectory => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(found)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(named).collect()
}
