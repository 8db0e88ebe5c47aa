//! Every step of a capture: it fails there, the process is killed there, a file changes there, the root disappears
//! there, the disk is full there. Changes are found by this capture or by the next, never lost and never twice.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;

use retake_core::{ContentHash, FileChange, FilePath, Record};
use retake_testkit::again::{Small, may_mount};
use retake_worktree::failpoint::{FAILPOINTS, Watch, die, watch};
use retake_worktree::{
    CaptureScope, CoverageChange, Findings, Mark, Objects as _, PackObjects, PackSizes, Permission, Result,
    Rules, Tree, hash,
};

use super::model::on_disk;
use super::{file_path, write};
use crate::apply::kit::quick_dir;
use crate::objects::full::is_full;
use crate::objects::noise;

/// So small that a capture fills blocks and seals segments.
const SMALL: PackSizes = PackSizes { block: 2_000, segment: 6_000, whole: 3_000, chunk: 512 };
/// The child's folder, and the pass at which it dies.
const HOME: &str = "RETAKE_CAPTURE_HOME";
const DIES_AT: &str = "RETAKE_CAPTURE_DIES_AT";

/// A workspace, and its row in a store.
struct Place {
    home: PathBuf,
    objects: Arc<PackObjects>,
    tree: Tree,
}

impl Place {
    /// Like a start: the row tells what was stored.
    fn open(home: &Path) -> Self {
        let objects = Arc::new(PackObjects::open_sized(home.join("pack"), SMALL).expect("opened"));
        fs::create_dir_all(home.join("data")).expect("made");
        let row = fs::read(home.join("mark")).ok();
        let mark = row.map(|row| Mark(ContentHash(row.try_into().expect("a mark"))));
        let rules = Rules::default();
        let tree = Tree::open(&home.join("root"), &home.join("data"), rules, objects.clone(), mark);
        let tree = tree.expect("opened");
        assert_eq!(tree.is_known(), mark.is_some(), "what was kept has its index");
        Self { home: home.to_owned(), objects, tree }
    }

    /// A folder that was captured, and changed since.
    fn changed(home: &Path) -> Self {
        let root = home.join("root");
        for number in 0..12 {
            write(&root, &format!("d{}/f{number}", number % 3), noise(number, 700));
        }
        symlink("f0", root.join("d0/link")).expect("linked");
        let mut place = Self::open(home);
        assert!(place.keep().expect("kept").is_empty());
        for number in 0..9 {
            write(&root, &format!("d{}/f{number}", number % 3), noise(100 + number, 700));
        }
        write(&root, "new/deep/file", noise(200, 900));
        write(&root, ".gitignore", "nothing\n");
        fs::remove_file(root.join("d1/f10")).expect("removed");
        fs::remove_file(root.join("d0/link")).expect("removed");
        symlink("f3", root.join("d0/link")).expect("linked");
        fs::set_permissions(root.join("d2/f11"), fs::Permissions::from_mode(0o600)).expect("set");
        place
    }

    /// A capture as the engine makes it: read, stored in the row with its findings, accepted.
    fn keep(&mut self) -> Result<Findings> {
        let capture = self.tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ())?;
        let (findings, mark) = (capture.findings.encode(), capture.mark());
        fs::write(self.home.join("findings"), findings).expect("kept");
        fs::write(self.home.join("row"), mark.0.0).expect("kept");
        fs::rename(self.home.join("row"), self.home.join("mark")).expect("kept");
        self.tree.accept(capture)
    }

    fn mark(&self) -> Option<Vec<u8>> {
        fs::read(self.home.join("mark")).ok()
    }

    /// The last capture in the row.
    fn kept(&self) -> Vec<FileChange> {
        Findings::decode(&fs::read(self.home.join("findings")).expect("kept")).expect("findings").changes
    }

    fn root(&self) -> PathBuf {
        self.home.join("root")
    }

    /// The last capture equals the folder, and has all content.
    fn agrees(&self, when: &str) {
        assert_eq!(self.tree.records(), on_disk(&self.root()), "{when}");
        for hash in self.tree.records().values().filter_map(Record::hash) {
            self.objects.get(&hash).expect("it is there");
        }
        assert!(self.objects.check(&mut |_, _| {}).expect("checked").damaged.is_empty(), "{when}");
    }
}

/// The expected findings, once.
fn expected() -> Vec<FileChange> {
    let home = quick_dir();
    Place::changed(home.path()).keep().expect("kept").changes
}

/// The points that a capture passes, in order.
fn points() -> Vec<&'static str> {
    let home = quick_dir();
    let mut place = Place::changed(home.path());
    let passed = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&passed);
    let guard = watch(move |name| {
        seen.borrow_mut().push(name);
        Ok(())
    });
    place.keep().expect("kept");
    drop(guard);
    passed.take()
}

/// Does something at one pass of any failpoint.
fn at(moment: usize, mut act: impl FnMut() -> io::Result<()> + 'static) -> Watch {
    let passed = Cell::new(0);
    watch(move |_| {
        passed.set(passed.get() + 1);
        if passed.get() == moment { act() } else { Ok(()) }
    })
}

/// After a start, the next capture finds what the row does not have, and no more.
fn settled(home: &Path, before: Option<Vec<u8>>, expected: &[FileChange], when: &str) -> bool {
    let mut place = Place::open(home);
    let kept = place.mark() != before;
    let mut found = if kept { place.kept() } else { Vec::new() };
    let next = place.keep().expect("kept");
    assert!(next.late.is_empty() && next.coverage.is_empty(), "{when}: {next:?}");
    found.extend(next.changes);
    assert_eq!(found, expected, "{when}");
    place.agrees(when);
    kept
}

#[test]
fn the_tests_pass_every_failpoint_of_a_capture() {
    let passed: BTreeSet<_> = points().into_iter().collect();
    let ours = ["capture.", "index.", "objects.", "root."];
    let listed = FAILPOINTS.iter().copied().filter(|name| ours.iter().any(|our| name.starts_with(our)));
    assert_eq!(passed, listed.collect());
}

#[test]
fn a_failure_at_any_step_of_a_capture_loses_nothing() {
    let (expected, points) = (expected(), points());
    let mut seen = [0; 2];
    for (moment, name) in points.iter().enumerate() {
        let home = quick_dir();
        let mut place = Place::changed(home.path());
        let before = place.mark();
        let guard = at(moment + 1, || Err(io::Error::from_raw_os_error(5)));
        let ended = place.keep();
        drop(guard);
        let when = format!("{name}, passing {moment}: {ended:?}");
        match (*name, &ended) {
            // An unreadable path is reported, and compared once it can be read.
            ("root.openat2" | "capture.listed" | "capture.reading" | "capture.read", Ok(found)) => {
                assert!(found.changes != expected || !found.coverage.is_empty(), "{when}");
                let found_since = place.keep().expect("kept");
                assert!(found_since.coverage.iter().all(|(_, change)| *change == CoverageChange::Gained));
                place.agrees(&when);
                continue;
            }
            // Only for speed: missing parts are created again.
            ("objects.listed" | "objects.indexed", Ok(_)) => {}
            (_, Err(_)) => {}
            (_, Ok(_)) => panic!("passed over: {when}"),
        }
        drop(place);
        seen[usize::from(settled(home.path(), before, &expected, &when))] += 1;
    }
    assert!(seen[0] > 10 && seen[1] > 1, "{seen:?}");
}

#[test]
fn killed_at_any_step_of_a_capture_nothing_is_lost_and_nothing_found_twice() {
    if let (Some(home), Ok(moment)) = (std::env::var_os(HOME), std::env::var(DIES_AT)) {
        let mut place = Place::open(Path::new(&home));
        let _watch = at(moment.parse().expect("a number"), die);
        return drop(place.keep().expect("kept"));
    }
    let expected = expected();
    let (mut moment, mut seen) = (1, [0; 2]);
    loop {
        let home = quick_dir();
        let place = Place::changed(home.path());
        let before = place.mark();
        drop(place);
        let test = "capture::steps::killed_at_any_step_of_a_capture_nothing_is_lost_and_nothing_found_twice";
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", test, "--test-threads=1"]);
        command.env(HOME, home.path()).env(DIES_AT, moment.to_string());
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("started");
        assert!(status.success() || status.signal() == Some(9), "at {moment}: {status}");
        let kept = settled(home.path(), before, &expected, &format!("killed at {moment}"));
        if status.success() {
            break;
        }
        seen[usize::from(kept)] += 1;
        moment += 1;
    }
    assert!(seen[0] > 30 && seen[1] > 1, "{seen:?}");
}

/// Possible events of a file.
type Act = fn(&Path) -> io::Result<()>;

const ACTS: [Act; 5] = [
    |at| fs::write(at, noise(300, 700)),
    |at| {
        let draft = at.with_extension("swp");
        fs::write(&draft, noise(300, 700))?;
        fs::rename(&draft, at)
    },
    |at| fs::remove_file(at),
    |at| {
        fs::remove_file(at)?;
        fs::create_dir(at)?;
        fs::write(at.join("inner"), "x")
    },
    |at| {
        fs::remove_file(at)?;
        symlink("/etc/hostname", at)
    },
];

#[test]
fn a_file_that_changes_at_any_step_of_a_capture_is_whole_or_found_later() {
    let points = points().len();
    let versions = [noise(1, 700), noise(101, 700), noise(300, 700)].map(|bytes| hash(&bytes));
    for (number, act) in ACTS.into_iter().enumerate() {
        for moment in 1..=points {
            let when = format!("act {number} at {moment}");
            let home = quick_dir();
            let mut place = Place::changed(home.path());
            let mut known = KnownPath { records: place.tree.records(), gained: Vec::new() };
            let busy = place.root().join("d1/f1");
            let guard = at(moment, move || act(&busy));
            let first = place.keep().expect("kept");
            drop(guard);
            known.follow(&first, &when);
            let hash = known.records.get(&file_path("d1/f1")).and_then(Record::hash);
            assert!(hash.is_none_or(|hash| versions.contains(&hash)), "{when}: a mixture");
            known.follow(&place.keep().expect("kept"), &when);
            place.agrees(&when);
            let mut records = place.tree.records();
            let told = |path: &FilePath| !known.gained.iter().any(|gained| path.is_within(gained));
            known.records.retain(|path, _| told(path));
            records.retain(|path, _| told(path));
            assert_eq!(known.records, records, "{when}");
        }
    }
}

/// The knowledge of a reader that gets only changes.
#[derive(Default)]
pub(super) struct KnownPath {
    pub(super) records: BTreeMap<FilePath, Record>,
    /// Newly covered files; their content is not reported.
    gained: Vec<FilePath>,
}

impl KnownPath {
    pub(super) fn follow(&mut self, findings: &Findings, when: &str) {
        for change in findings.changes.iter().chain(&findings.late) {
            assert_eq!(self.records.get(&change.path), change.before.as_ref(), "{when}: {change:?}");
            match &change.after {
                Some(after) => drop(self.records.insert(change.path.clone(), after.clone())),
                None => drop(self.records.remove(&change.path)),
            }
        }
        let gained = findings.coverage.iter().filter(|(_, change)| *change == CoverageChange::Gained);
        self.gained.extend(gained.map(|(path, _)| path.clone()));
    }
}

#[test]
fn a_folder_that_moves_at_any_step_of_a_hinted_capture_is_reported_once() {
    for comes in [false, true] {
        for with_root in [false, true] {
            moves_while_hinted(comes, with_root);
        }
    }
}

fn moves_while_hinted(comes: bool, with_root: bool) {
    for moment in 1.. {
        let when = format!("comes: {comes}, root: {with_root}, at {moment}");
        let home = quick_dir();
        let root = home.path().join("root");
        write(&root, "a/b/file", "x");
        let mut place = Place::open(home.path());
        place.keep().expect("kept");
        let mut known = KnownPath { records: place.tree.records(), gained: Vec::new() };
        write(&root, "a/b/file", "other");
        write(&root, "a/b/new/file", "x");
        let (here, aside) = (root.join("a"), home.path().join("aside"));
        if comes {
            fs::rename(&here, &aside).expect("moved");
        }
        let passed = Rc::new(Cell::new(false));
        let done = Rc::clone(&passed);
        let guard = at(moment, move || {
            done.set(true);
            if comes { fs::rename(&aside, &here) } else { fs::rename(&here, &aside) }
        });
        let mut named = vec![Some(file_path("a")), Some(file_path("a/b"))];
        named.extend(with_root.then_some(None));
        let capture = place.tree.capture(&CaptureScope::Folders(named), Permission::Ask, &|_| ());
        drop(guard);
        let capture = capture.expect("looked");
        known.follow(&place.tree.accept(capture).expect("accepted"), &when);
        known.follow(&place.keep().expect("kept"), &when);
        place.agrees(&when);
        assert_eq!(known.records, place.tree.records(), "{when}");
        if !passed.get() {
            return assert!(moment > 5, "{when}");
        }
    }
}

#[test]
fn a_root_that_is_removed_at_any_step_of_a_capture_deletes_no_file_from_the_index() {
    let expected = expected();
    for another in [false, true] {
        let mut refused = 0;
        for (moment, name) in points().into_iter().enumerate() {
            let home = quick_dir();
            let mut place = Place::changed(home.path());
            let before = place.mark();
            let (root, aside) = (place.root(), home.path().join("aside"));
            let guard = at(moment + 1, move || {
                fs::rename(&root, &aside)?;
                if another { fs::create_dir(&root) } else { Ok(()) }
            });
            let ended = place.keep();
            drop(guard);
            refused += usize::from(ended.is_err());
            drop(place);
            if another {
                fs::remove_dir(home.path().join("root")).expect("it is empty: nothing was written");
            }
            fs::rename(home.path().join("aside"), home.path().join("root")).expect("moved");
            settled(home.path(), before, &expected, &format!("{name}, passing {moment}: {ended:?}"));
        }
        assert!(refused > 20, "{refused}");
    }
}

#[test]
fn a_full_disk_at_any_step_of_a_capture_is_reported_and_loses_nothing() {
    if !may_mount("capture::steps::a_full_disk_at_any_step_of_a_capture_is_reported_and_loses_nothing") {
        return;
    }
    let expected = expected();
    let mut refused = 0;
    for name in ["capture.opened", "capture.swept", "objects.appended", "capture.fetched", "capture.synced"] {
        let home = tempfile::tempdir().unwrap();
        let small = Small::mount(home.path().join("small"), "1m");
        let place = Place::changed(small.path());
        let (before, filler) = (place.mark(), small.path().join("filler"));
        let guard = watch(move |passed| {
            if passed == name && !filler.exists() {
                assert!(fs::write(&filler, vec![0; 2 << 20]).is_err(), "it is full");
            }
            Ok(())
        });
        let ended = place.tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ());
        drop(guard);
        assert!(is_full(ended.map(drop)), "{name}");
        refused += 1;
        fs::remove_file(small.path().join("filler")).unwrap();
        // The same process continues once there is room, and so does a new one.
        let again = place.tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
        assert_eq!(again.findings.changes, expected, "{name}");
        drop(place);
        settled(small.path(), before, &expected, name);
    }
    assert_eq!(refused, 5);
}
