//! Where a name leads: relative names, `..` and links resolved, and whether that is inside of a root. It reads links, sees what
//! is there, and must never take a name's word for where it leads.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use retake_core::Touch;

use super::text;

/// As many links as the system follows on the way to a file.
const MOST_LINKS: usize = 40;

/// Where names are looked up: the folder where relative ones begin, and the roots.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The absolute path as the name says it, without `..`.
    pub(super) named: PathBuf,
    /// The absolute path without links, but for those on the way to the root.
    pub(super) path: PathBuf,
    /// The root that it is in, if it is in one.
    pub(super) inside: Option<Inside>,
    /// The last part of the name is a link.
    pub(super) link: bool,
}

/// What is inside of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    /// The root, without links.
    pub(super) root: PathBuf,
    /// The way from there, without links.
    pub(super) below: PathBuf,
}

impl Ground {
    pub(crate) fn new(folder: &Path, roots: &[PathBuf]) -> Self {
        Self { folder: folder.to_owned(), roots: roots.to_vec() }
    }

    /// Where a name leads, be something there or not. An empty one is the folder itself.
    pub(super) fn place(&self, name: &str) -> Result<Place, String> {
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
                let inside = Some(Inside { root: real_root, below: below.to_owned() });
                return Ok(Place { named, path, inside, link });
            }
        }
        Ok(Place { named, path: real, inside: None, link })
    }

    /// The same for a file that is to be written: inside of a root, and not git's own.
    pub(super) fn place_to_write(&self, name: &str) -> Result<Place, String> {
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

    /// A path as the model may say it again: from the folder where relative names begin, if it is below it.
    pub(super) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.folder) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => text::path(below),
            Err(_) => text::path(path),
        }
    }

    /// A path as people know it: from the first root, if it is below it.
    pub(super) fn line(&self, path: &Path) -> String {
        match self.roots.first().and_then(|root| path.strip_prefix(root).ok()) {
            Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Some(below) => text::path(below),
            None => text::path(path),
        }
    }
}

impl Place {
    /// What reading it touches: what it is called, and where that leads.
    pub(super) fn read(&self) -> Vec<Touch> {
        self.both().map(Touch::Read).collect()
    }

    /// The absolute path without any link.
    pub(super) fn real(&self) -> PathBuf {
        self.inside.as_ref().map_or_else(|| self.path.clone(), |inside| inside.root.join(&inside.below))
    }

    /// What writing it touches.
    pub(super) fn written(&self) -> Vec<Touch> {
        self.both().map(Touch::Write).collect()
    }

    fn both(&self) -> impl Iterator<Item = PathBuf> {
        let other = (self.named != self.path).then(|| self.named.clone());
        [Some(self.path.clone()), other].into_iter().flatten()
    }
}

/// Whether a path has a part that is git's own.
fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_bytes().eq_ignore_ascii_case(b".git"))
}

/// Whether it lies in a repository, whatever that is named, or would make the folder one in which it lies.
fn is_in_repository(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let first = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
        let first = first.map(|part| part.as_os_str());
        let has = |name: &str| first == Some(name.as_ref()) || folder.join(name).symlink_metadata().is_ok();
        has("HEAD") && (has("commondir") || has("objects") && has("refs"))
    })
}

/// The path by its letters alone: without `.` and `..`.
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

/// Where an absolute path leads, links followed, also the last one, and also where nothing is there. A link to nowhere
/// would else seem to be inside while writing through it makes a file outside.
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
            // No link, or nothing there.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {}
            // A file on the way: what comes after it can't be there, which whoever opens it finds out.
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
