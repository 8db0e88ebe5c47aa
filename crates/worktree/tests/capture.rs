//! Captures of real folders. A world is a root, a data folder and an object store; `lines` shows the findings.

mod coverage;
mod hostile;
mod index;
mod kinds;
mod model;
mod rules;
mod scale;
mod steps;
mod watched;
mod written;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{FileChange, FilePath, Record};
use retake_worktree::{
    Capture, CaptureScope, CoverageChange, Findings, Mark, MemoryObjects, Objects, Permission, Result, Rules,
    Tree,
};

struct World {
    dir: tempfile::TempDir,
    objects: Arc<MemoryObjects>,
    rules: Rules,
    mark: Option<Mark>,
    tree: Tree,
}

impl World {
    /// A captured empty root.
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// A captured root with this content.
    fn with(fill: impl FnOnce(&Path)) -> Self {
        Self::ruled(Rules::default(), fill)
    }

    fn ruled(rules: Rules, fill: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        fs::create_dir(dir.path().join("data")).unwrap();
        fill(&dir.path().join("root"));
        let objects = Arc::new(MemoryObjects::default());
        let tree = open(&dir, &rules, objects.clone(), None).unwrap();
        let mut world = Self { dir, objects, rules, mark: None, tree };
        assert_eq!(world.lines(), Vec::<String>::new(), "a first capture finds no changes");
        world
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.root(), path, bytes);
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A capture of the places that the watch names: the number of folders it read, and its findings.
    fn watched(&mut self) -> (u64, Vec<String>) {
        let capture = self.tree.capture(&CaptureScope::Watched, Permission::Ask, &|_| ()).unwrap();
        (capture.stats.folders, lines(&self.accept(capture)))
    }

    fn look(&self) -> Result<Capture> {
        self.tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ())
    }

    fn accept(&mut self, capture: Capture) -> Findings {
        self.mark = Some(capture.mark());
        self.tree.accept(capture).unwrap()
    }

    /// Captures, and returns the findings, one per line.
    fn lines(&mut self) -> Vec<String> {
        let capture = self.look().unwrap();
        lines(&self.accept(capture))
    }

    fn uncovered(&self) -> Vec<String> {
        let capture = self.look().unwrap();
        capture.uncovered.iter().map(|one| format!("{}: {}", one.path, one.why.name())).collect()
    }

    /// Like another process after this one ended abruptly.
    fn reopen(&mut self) {
        self.tree = open(&self.dir, &self.rules, self.objects.clone(), self.mark).unwrap();
    }

    fn record(&self, path: &str) -> Option<Record> {
        self.tree.records().get(&file_path(path)).cloned()
    }

    /// The bytes in the object store for a path of the last capture.
    fn kept(&self, path: &str) -> Vec<u8> {
        let record = self.record(path).unwrap_or_else(|| panic!("no record of {path}"));
        self.objects.get(&record.hash().unwrap()).unwrap()
    }

    fn paths(&self) -> Vec<String> {
        self.tree.records().keys().map(ToString::to_string).collect()
    }
}

fn open(
    dir: &tempfile::TempDir,
    rules: &Rules,
    objects: Arc<dyn Objects>,
    mark: Option<Mark>,
) -> Result<Tree> {
    Tree::open(&dir.path().join("root"), &dir.path().join("data"), rules.clone(), objects, mark)
}

fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn file_path(path: &str) -> FilePath {
    FilePath::new(path.as_bytes()).unwrap()
}

/// `+` added, `-` removed, `~` changed; `?` is late.
fn lines(findings: &Findings) -> Vec<String> {
    let line = |mark: &str, change: &FileChange| {
        let sign = match (&change.before, &change.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        format!("{mark}{sign} {}", change.path)
    };
    let mut lines: Vec<String> = findings.changes.iter().map(|change| line("", change)).collect();
    lines.extend(findings.late.iter().map(|change| line("?", change)));
    lines.extend(findings.coverage.iter().map(|(path, change)| match change {
        CoverageChange::Gained => format!("gained {path}"),
        CoverageChange::Lost(why) => format!("lost {path}: {}", why.name()),
    }));
    let again = Findings::decode(&findings.encode());
    assert_eq!(again.as_ref(), Some(findings), "findings survive being kept");
    lines
}

/// Runs without root's privileges, so that permissions count; another user has none to drop.
fn without_privilege<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let drop_and_run = move || {
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
        set_capabilities(None, sets).unwrap();
        run()
    };
    std::thread::scope(|scope| scope.spawn(drop_and_run).join().unwrap())
}
