//! Trees as values, a caller that stores its intent in a small file, and this binary again as another process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use retake_core::{FileChange, FilePath, Record};
use retake_worktree::{
    Direction, MemoryObjects, Objects as _, Outcome, Prepared, Refusal, Report, Root, SettledApply,
    StagedApply, StagingName, discard, recover,
};

/// The content of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(Vec<u8>, u16),
    Link(Vec<u8>),
    Folder(u16),
}

/// Everything below a folder.
pub(crate) type Tree = BTreeMap<FilePath, Node>;

pub(crate) fn path(text: impl AsRef<[u8]>) -> FilePath {
    FilePath::new(text.as_ref()).expect("a path")
}

pub(crate) fn file(bytes: impl AsRef<[u8]>) -> Node {
    Node::File(bytes.as_ref().to_vec(), 0o644)
}

pub(crate) fn tree<const N: usize>(nodes: [(&str, Node); N]) -> Tree {
    nodes.into_iter().map(|(name, node)| (path(name), node)).collect()
}

/// The location of a path below a folder.
pub(crate) fn at(root: &Path, path: &FilePath) -> PathBuf {
    root.join(OsStr::from_bytes(path.as_bytes()))
}

/// Everything below a folder, with the staging folder.
pub(crate) fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    read_into(root, None, &mut tree).expect("read");
    tree
}

fn read_into(root: &Path, folder: Option<&FilePath>, tree: &mut Tree) -> io::Result<()> {
    for entry in fs::read_dir(folder.map_or(root.to_path_buf(), |folder| at(root, folder)))? {
        let entry = entry?;
        let name = entry.file_name();
        let here = folder
            .map_or_else(|| path(name.as_bytes()), |folder| folder.join(name.as_bytes()).expect("a path"));
        let meta = entry.path().symlink_metadata()?;
        let mode = (meta.permissions().mode() & 0o777) as u16;
        let node = if meta.is_dir() {
            read_into(root, Some(&here), tree)?;
            Node::Folder(mode)
        } else if meta.is_symlink() {
            Node::Link(fs::read_link(entry.path())?.as_os_str().as_bytes().to_vec())
        } else if meta.is_file() {
            Node::File(fs::read(entry.path())?, mode)
        } else {
            Node::Link(b"(strange)".to_vec())
        };
        tree.insert(here, node);
    }
    Ok(())
}

/// Writes a tree into an empty folder.
pub(crate) fn write(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        let here = at(root, path);
        match node {
            Node::File(bytes, mode) => {
                fs::write(&here, bytes).expect("written");
                set_mode(&here, *mode);
            }
            Node::Link(target) => symlink(OsStr::from_bytes(target), &here).expect("linked"),
            Node::Folder(_) => fs::create_dir(&here).expect("made"),
        }
    }
    for (path, node) in tree.iter().rev() {
        if let Node::Folder(mode) = node {
            set_mode(&at(root, path), *mode);
        }
    }
}

pub(crate) fn set_mode(path: &Path, mode: u16) {
    fs::set_permissions(path, fs::Permissions::from_mode(u32::from(mode))).expect("set");
}

fn record(node: &Node, objects: &MemoryObjects) -> Record {
    match node {
        Node::File(bytes, mode) => {
            Record::File { hash: objects.put(bytes).expect("put"), len: bytes.len() as u64, mode: *mode }
        }
        Node::Link(target) => Record::Link { target: target.as_slice().into() },
        Node::Folder(mode) => Record::Folder { mode: *mode },
    }
}

/// The changes from one tree to another.
pub(crate) fn changes(before: &Tree, after: &Tree, objects: &MemoryObjects) -> Vec<FileChange> {
    let side = |tree: &Tree, path: &FilePath| tree.get(path).map(|node| record(node, objects));
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let change = |path: &FilePath| FileChange {
        path: path.clone(),
        before: side(before, path),
        after: side(after, path),
    };
    let changes = paths.into_iter().map(change);
    changes.filter(|change| change.before != change.after).collect()
}

/// A workspace in a folder of its own, and beside it the file in which its caller stores the intent.
pub(crate) struct Caller {
    pub(crate) root: PathBuf,
    intent: PathBuf,
    pub(crate) objects: MemoryObjects,
    pub(crate) changes: Vec<FileChange>,
}

/// The result of an apply.
#[derive(Debug)]
pub(crate) enum Ended {
    Applied(Report),
    Refused(Vec<Refusal>),
    PutBack(Report),
}

impl Caller {
    /// In an existing folder, empty.
    pub(crate) fn new(home: &Path) -> Self {
        let root = home.join("root");
        if !root.exists() {
            fs::create_dir(&root).expect("made");
        }
        Self { root, intent: home.join("intent"), objects: MemoryObjects::default(), changes: Vec::new() }
    }

    /// In an existing folder, with these files, and a plan to change them.
    pub(crate) fn with(home: &Path, before: &Tree, after: &Tree) -> Self {
        let caller = Self::planned(home, before, after);
        write(&caller.root, before);
        caller
    }

    /// The same if the files are there already.
    pub(crate) fn planned(home: &Path, before: &Tree, after: &Tree) -> Self {
        let mut caller = Self::new(home);
        caller.changes = changes(before, after, &caller.objects);
        caller
    }

    pub(crate) fn read(&self) -> Tree {
        read(&self.root)
    }

    fn name() -> StagingName {
        StagingName::new("a1").expect("a name")
    }

    fn write_down(&self, intent: &str) {
        fs::write(&self.intent, intent).expect("written");
    }

    /// The stored intent, unless it is closed.
    pub(crate) fn intent(&self) -> Option<String> {
        fs::read_to_string(&self.intent).ok()
    }

    /// Closes the intent if the report allows it.
    fn close(&self, settled: SettledApply) -> retake_worktree::Result<Report> {
        let report = settled.finish()?;
        if report.is_closed() {
            fs::remove_file(&self.intent).expect("removed");
        }
        Ok(report)
    }

    /// The whole protocol.
    pub(crate) fn apply(&self) -> retake_worktree::Result<Ended> {
        let lock = Root::open(&self.root)?.lock()?;
        self.write_down("preparing");
        let prepared = StagedApply::prepare(&lock, &Self::name(), self.changes.clone(), &self.objects);
        let staging = match prepared {
            Ok(Prepared::Ready(staging)) => staging,
            refused => {
                discard(&lock, &Self::name())?;
                fs::remove_file(&self.intent).expect("removed");
                let Prepared::Refused(refusals) = refused? else { unreachable!() };
                return Ok(Ended::Refused(refusals));
            }
        };
        self.write_down("forward");
        match staging.carry_out()? {
            Outcome::Applied(settled) => self.close(settled).map(Ended::Applied),
            Outcome::Interrupted(interrupted) => {
                self.write_down("back");
                self.close(interrupted.put_back(&self.objects)?).map(Ended::PutBack)
            }
        }
    }

    /// Carries it out, then another program writes, and then all of it is reverted: another root was interrupted.
    pub(crate) fn carry_out_and_back(&self, write: impl FnOnce()) -> retake_worktree::Result<Report> {
        let lock = Root::open(&self.root)?.lock()?;
        let prepared = StagedApply::prepare(&lock, &Self::name(), self.changes.clone(), &self.objects)?;
        let Prepared::Ready(staging) = prepared else { panic!("refused") };
        let Outcome::Applied(settled) = staging.carry_out()? else { panic!("interrupted") };
        write();
        settled.put_back(&self.objects)?.finish()
    }

    /// The work of the next start.
    pub(crate) fn start(&self) -> retake_worktree::Result<Option<Report>> {
        let Some(intent) = self.intent() else { return Ok(None) };
        let lock = Root::open(&self.root)?.lock()?;
        let direction = match intent.as_str() {
            "forward" => Direction::Forward,
            "back" => Direction::Back,
            _ => {
                discard(&lock, &Self::name())?;
                fs::remove_file(&self.intent).expect("removed");
                return Ok(None);
            }
        };
        let report = recover(&lock, &Self::name(), self.changes.clone(), direction, &self.objects)?;
        if report.is_closed() {
            fs::remove_file(&self.intent).expect("removed");
        }
        Ok(Some(report))
    }
}

impl Ended {
    pub(crate) fn applied(self) -> Report {
        match self {
            Self::Applied(report) => report,
            other => panic!("not applied: {other:?}"),
        }
    }

    pub(crate) fn put_back(self) -> Report {
        match self {
            Self::PutBack(report) => report,
            other => panic!("not put back: {other:?}"),
        }
    }

    pub(crate) fn refused(self) -> Vec<Refusal> {
        match self {
            Self::Refused(refusals) => refusals,
            other => panic!("not refused: {other:?}"),
        }
    }
}

/// A folder that is removed with all its content, even if that is not readable for its owner.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        open_folders(self.path());
    }
}

/// Makes all folders accessible for their owner. The cleanup after the tests handles what remains.
fn open_folders(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_folders(&entry.path());
        }
    }
}

/// A folder on a file system without a disk, if there is one: syncing costs nothing there.
pub(crate) fn quick_dir() -> Home {
    Home(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder"))
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A plan with every kind of step that the user of the tests may take. Files of an inaccessible folder go and come only
/// if the plan includes the folder: then it is opened for its owner. In a folder that stays, only root may change them.
pub(crate) fn every_step() -> (Tree, Tree) {
    let (mut before, mut after) = every_step_of_an_owner();
    if is_root() {
        let folder = || ("shut", Node::Folder(0o555));
        before.extend(tree([folder(), ("shut/a", file("old")), ("shut/b", file("goes"))]));
        after.extend(tree([folder(), ("shut/a", file("new"))]));
    }
    (before, after)
}

fn every_step_of_an_owner() -> (Tree, Tree) {
    let before = tree([
        ("bytes", file("old")),
        ("closed", Node::Folder(0o555)),
        ("closed/a", file("old")),
        ("closed/b", file("goes")),
        ("empty", Node::Folder(0o755)),
        ("file-to-folder", file("a file")),
        ("folder-to-file", Node::Folder(0o755)),
        ("folder-to-file/in", Node::Folder(0o755)),
        ("folder-to-file/in/it", file("goes")),
        ("goes", file("goes")),
        ("link", Node::Link(b"bytes".to_vec())),
        ("link-to-file", Node::Link(b"/nowhere".to_vec())),
        ("mode", Node::File(b"same".to_vec(), 0o755)),
        ("modes", Node::Folder(0o755)),
        ("stays", file("stays")),
    ]);
    let after = tree([
        ("bytes", file("new")),
        ("closed", Node::Folder(0o511)),
        ("closed/a", file("new")),
        ("comes", Node::Folder(0o700)),
        ("comes/deep", Node::Folder(0o555)),
        ("comes/deep/file", Node::File(b"x".to_vec(), 0o444)),
        ("comes/empty", Node::Folder(0o755)),
        ("file-to-folder", Node::Folder(0o755)),
        ("file-to-folder/in", file("comes")),
        ("folder-to-file", file("a file")),
        ("link", Node::Link(b"stays".to_vec())),
        ("link-to-file", file("no link")),
        ("mode", Node::File(b"same".to_vec(), 0o644)),
        ("modes", Node::Folder(0o711)),
        ("stays", file("stays")),
    ]);
    (before, after)
}
