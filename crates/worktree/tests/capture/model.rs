//! Random edits, with ignore files that change in between, compared with a model that reads everything again each time
//! and knows nothing of stamps, indexes or hints.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;
use retake_core::{FileChange, FilePath, Record};
use retake_worktree::{CaptureScope, Manifest, Permission, Rules, hash};

use super::{World, file_path};

const MAX_FILE: u64 = 40;
const MAX_IGNORED: u64 = 8;

#[derive(Clone, Debug)]
enum Step {
    Write(String, usize, u8),
    Remove(String),
    Folder(String),
    Link(String, String),
    Fifo(String),
    Mode(String, bool),
    Rename(String, String),
    Ignore(&'static str, Vec<&'static str>),
    Capture,
    /// Only of the folders with changes.
    Hinted,
    /// Of the folders that a watch names.
    Watched,
    /// A capture that is not stored, and a new start.
    Crash,
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "build", "x.log", "Build", "node_modules"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn step() -> impl Strategy<Value = Step> {
    let pattern = prop::sample::select(vec!["build/", "/a", "*.log", "!build", "!*.log", "b", "/a/b"]);
    prop_oneof![
        6 => (path(), prop::sample::select(vec![0, 1, 8, 9, 40, 41]), any::<u8>())
            .prop_map(|(path, len, byte)| Step::Write(path, len, byte)),
        2 => path().prop_map(Step::Remove),
        2 => path().prop_map(Step::Folder),
        1 => (path(), path()).prop_map(|(path, target)| Step::Link(path, target)),
        1 => path().prop_map(Step::Fifo),
        1 => (path(), any::<bool>()).prop_map(|(path, tight)| Step::Mode(path, tight)),
        2 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (prop::sample::select(vec!["", "a/"]), prop::collection::vec(pattern, 0..3))
            .prop_map(|(folder, lines)| Step::Ignore(folder, lines)),
        3 => Just(Step::Capture),
        2 => Just(Step::Hinted),
        3 => Just(Step::Watched),
        1 => Just(Step::Crash),
    ]
}

/// The content of the disk, covered or not.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Is(Record, Vec<u8>),
    Special,
}

type Disk = BTreeMap<FilePath, Node>;

fn read_all(root: &Path) -> Disk {
    fn into(disk: &mut Disk, root: &Path, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let at = entry.unwrap().path();
            let path = file_path(at.strip_prefix(root).unwrap().to_str().unwrap());
            let meta = fs::symlink_metadata(&at).unwrap();
            let mode = (meta.permissions().mode() & 0o777) as u16;
            let node = if meta.is_dir() {
                into(disk, root, &at);
                Node::Is(Record::Folder { mode }, Vec::new())
            } else if meta.is_file() {
                let bytes = fs::read(&at).unwrap();
                Node::Is(Record::File { hash: hash(&bytes), len: bytes.len() as u64, mode }, bytes)
            } else if meta.is_symlink() {
                let target = fs::read_link(&at).unwrap();
                Node::Is(Record::Link { target: target.as_os_str().as_encoded_bytes().into() }, Vec::new())
            } else {
                Node::Special
            };
            disk.insert(path, node);
        }
    }
    let mut disk = Disk::new();
    into(&mut disk, root, root);
    disk
}

/// The content of the disk, if nothing is ignored.
pub(super) fn on_disk(root: &Path) -> BTreeMap<FilePath, Record> {
    let record = |(path, node)| match node {
        Node::Is(record, _) => Some((path, record)),
        Node::Special => None,
    };
    read_all(root).into_iter().filter_map(record).collect()
}

/// The ignore files in force: for each folder, the disk on which its own is read.
struct Ignores<'a>(&'a dyn Fn(Option<&FilePath>) -> &'a Disk);

impl Ignores<'_> {
    fn lines(&self, folder: Option<&FilePath>) -> Vec<String> {
        let file = folder.map_or(Ok(file_path(".gitignore")), |folder| folder.join(b".gitignore"));
        match (self.0)(folder).get(&file.unwrap()) {
            Some(Node::Is(Record::File { .. }, bytes)) => {
                String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    fn excludes(&self, path: &FilePath, is_folder: bool) -> bool {
        let text = path.to_string();
        if is_folder && path.name() == b"node_modules" {
            return true;
        }
        let mut folder = path.parent();
        loop {
            let skip = folder.as_ref().map_or(0, |folder| folder.as_bytes().len() + 1);
            if let Some(decided) = decide(&self.lines(folder.as_ref()), &text[skip..], is_folder) {
                return decided;
            }
            match folder {
                Some(inner) => folder = inner.parent(),
                None => return false,
            }
        }
    }
}

/// The last line that matches a path, among the few forms that the steps use.
fn decide(lines: &[String], path: &str, is_folder: bool) -> Option<bool> {
    let name = path.rsplit('/').next().unwrap();
    let speaks = |line: &str| {
        let line = line.trim_start_matches('!');
        match (line.strip_prefix('/'), line.strip_prefix('*'), line.strip_suffix('/')) {
            (Some(anchored), ..) => path == anchored,
            (_, Some(end), _) => name.ends_with(end),
            (.., Some(folder)) => is_folder && name == folder,
            _ => name == line,
        }
    };
    lines.iter().rev().find(|line| speaks(line)).map(|line| !line.starts_with('!'))
}

#[derive(Clone, Debug, PartialEq)]
enum Side {
    Covered(Record),
    Absent,
    NotCovered,
}

/// The state of a path on a disk, by rules that say what they exclude.
fn side(disk: &Disk, path: &FilePath, excludes: &dyn Fn(&FilePath, bool) -> bool) -> Side {
    let mut at = Some(path.clone());
    let mut chain = Vec::new();
    while let Some(folder) = at {
        at = folder.parent();
        chain.push(folder);
    }
    for one in chain.iter().rev() {
        match disk.get(one) {
            None => return Side::Absent,
            Some(Node::Special) => return Side::NotCovered,
            Some(Node::Is(Record::Folder { .. }, _)) if excludes(one, true) => return Side::NotCovered,
            Some(Node::Is(Record::File { len, .. }, _))
                if *len > MAX_FILE || *len > MAX_IGNORED && excludes(one, false) =>
            {
                return Side::NotCovered;
            }
            Some(Node::Is(record, _)) if one == path => return Side::Covered(record.clone()),
            Some(Node::Is(Record::Folder { .. }, _)) => {}
            Some(Node::Is(..)) => return Side::Absent,
        }
    }
    unreachable!("the last one is the path")
}

/// The rule, literally: both sides covered, by the rules in force at the start of the interval; in a new folder, also
/// by the rules that came with it.
fn expected(old: &Disk, new: &Disk) -> Vec<FileChange> {
    let then = Ignores(&|_| old);
    let before = |path: &FilePath, is_folder| then.excludes(path, is_folder);
    let was_known =
        |folder: &FilePath| matches!(side(old, folder, &before), Side::Covered(Record::Folder { .. }));
    let since = Ignores(&|folder| if folder.is_none_or(was_known) { old } else { new });
    let after = |path: &FilePath, is_folder| since.excludes(path, is_folder);
    let paths: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let changes = paths.into_iter().filter_map(|path| {
        let record = |side| match side {
            Side::Covered(record) => Some(Some(record)),
            Side::Absent => Some(None),
            Side::NotCovered => None,
        };
        let (was, is) = (record(side(old, path, &before))?, record(side(new, path, &after))?);
        (was != is).then(|| FileChange { path: path.clone(), before: was, after: is })
    });
    changes.collect()
}

/// The covered files from now on.
fn covered(disk: &Disk) -> BTreeMap<FilePath, Record> {
    let ignores = Ignores(&|_| disk);
    let records = disk.keys().filter_map(|path| {
        match side(disk, path, &|path, is_folder| ignores.excludes(path, is_folder)) {
            Side::Covered(record) => Some((path.clone(), record)),
            _ => None,
        }
    });
    records.collect()
}

/// Does a step as far as possible, and names the folders that it changed.
fn act(world: &World, step: &Step, touched: &mut BTreeSet<Option<FilePath>>) {
    let mut touch = |path: &str| {
        let mut at = Some(file_path(path));
        while let Some(path) = at {
            at = path.parent();
            touched.insert(at.clone());
        }
    };
    let make_room = |path: &str| {
        let at = world.at(path);
        fs::create_dir_all(at.parent().unwrap()).is_ok() && fs::symlink_metadata(&at).is_err()
    };
    match step {
        Step::Write(path, len, byte) => {
            touch(path);
            let at = world.at(path);
            let is_file = fs::symlink_metadata(&at).map_or(true, |meta| meta.is_file());
            if fs::create_dir_all(at.parent().unwrap()).is_ok() && is_file {
                let _ = fs::write(at, vec![*byte; *len]);
            }
        }
        Step::Remove(path) => {
            touch(path);
            let at = world.at(path);
            // Every removed folder has changed: all its content went.
            let removed = file_path(path);
            let below = |path: &FilePath| path.is_within(&removed);
            touched.extend(read_all(&world.root()).into_keys().filter(below).map(Some));
            let _ = fs::remove_file(&at).or_else(|_| fs::remove_dir_all(&at));
        }
        Step::Folder(path) => {
            touch(path);
            let _ = fs::create_dir_all(world.at(path));
        }
        Step::Link(path, target) => {
            touch(path);
            if make_room(path) {
                symlink(format!("./{target}"), world.at(path)).unwrap();
            }
        }
        Step::Fifo(path) => {
            touch(path);
            if make_room(path) {
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, world.at(path), kind, 0o644.into(), 0).unwrap();
            }
        }
        Step::Mode(path, tight) => {
            touch(path);
            touched.insert(Some(file_path(path)));
            let at = world.at(path);
            if fs::symlink_metadata(&at).is_ok_and(|meta| !meta.is_symlink()) {
                fs::set_permissions(at, fs::Permissions::from_mode(if *tight { 0o700 } else { 0o755 }))
                    .unwrap();
            }
        }
        Step::Rename(from, to) => {
            touch(from);
            touch(to);
            if fs::symlink_metadata(world.at(from)).is_ok() {
                let _ = make_room(to) && fs::rename(world.at(from), world.at(to)).is_ok();
            }
        }
        Step::Ignore(folder, lines) => {
            touch(&format!("{folder}.gitignore"));
            if fs::symlink_metadata(world.at(folder)).is_ok_and(|meta| meta.is_dir()) {
                fs::write(world.at(&format!("{folder}.gitignore")), lines.join("\n")).unwrap();
            }
        }
        Step::Capture | Step::Hinted | Step::Watched | Step::Crash => {}
    }
}

/// Paths through a link would be written twice.
fn through_link(world: &World, path: &str) -> bool {
    let mut at = file_path(path).parent();
    while let Some(folder) = at {
        let meta = fs::symlink_metadata(world.at(&folder.to_string()));
        if meta.is_ok_and(|meta| meta.is_symlink()) {
            return true;
        }
        at = folder.parent();
    }
    false
}

fn is_possible(world: &World, step: &Step) -> bool {
    match step {
        Step::Write(path, ..)
        | Step::Remove(path)
        | Step::Folder(path)
        | Step::Link(path, _)
        | Step::Fifo(path)
        | Step::Mode(path, _) => !through_link(world, path),
        Step::Rename(from, to) => !through_link(world, from) && !through_link(world, to),
        Step::Ignore(folder, _) => !through_link(world, &format!("{folder}.gitignore")),
        _ => true,
    }
}

fn check(world: &mut World, sweep: &CaptureScope, kept: &mut Disk) {
    let disk = read_all(&world.root());
    let capture = world.tree.capture(sweep, Permission::Ask, &|_| ()).unwrap();
    let findings = world.accept(capture);
    assert_eq!(findings.changes, expected(kept, &disk), "{sweep:?}");
    assert_eq!(findings.late, Vec::new());
    let records = world.tree.records();
    assert_eq!(records, covered(&disk), "{sweep:?}");
    for record in records.values() {
        if let Some(hash) = record.hash() {
            assert!(retake_worktree::Objects::contains(&*world.objects, &hash));
        }
    }
    let manifest = world.tree.manifest().unwrap();
    assert_eq!(Manifest::read(&*world.objects, manifest).unwrap().records, records);
    *kept = disk;
}

fn run(steps: &[Step]) {
    let rules = Rules { max_file: MAX_FILE, max_ignored: MAX_IGNORED, ..Rules::default() };
    let mut world = World::ruled(rules, |_| {});
    let mut kept = read_all(&world.root());
    let mut touched = BTreeSet::new();
    for step in steps {
        if is_possible(&world, step) {
            act(&world, step, &mut touched);
        }
        match step {
            Step::Capture => check(&mut world, &CaptureScope::Whole, &mut kept),
            Step::Hinted => {
                let named = touched.iter().cloned().collect();
                check(&mut world, &CaptureScope::Folders(named), &mut kept);
            }
            Step::Watched => {
                world.tree.watch().unwrap();
                check(&mut world, &CaptureScope::Watched, &mut kept);
            }
            Step::Crash => {
                let _lost = world.look().unwrap();
                world.reopen();
                assert!(world.tree.is_known());
                continue;
            }
            _ => continue,
        }
        touched.clear();
    }
    check(&mut world, &CaptureScope::Whole, &mut kept);
}

/// Changes that the watch misses are found by a capture of the whole: reported once, with the old and the new state.
fn run_with_lies(steps: &[(Step, u8)]) {
    let mut world = World::new();
    let mut known = super::steps::KnownPath::default();
    let mut touched = BTreeSet::new();
    for (step, lie) in steps {
        let changes_coverage =
            matches!(step, Step::Ignore(..) | Step::Fifo(_)) || format!("{step:?}").contains("node_modules");
        if changes_coverage || !is_possible(&world, step) {
            continue;
        }
        act(&world, step, &mut touched);
        let sweep = match step {
            Step::Capture => CaptureScope::Whole,
            // Some folders are left out.
            Step::Hinted | Step::Watched => {
                let named = touched.iter().zip(0..).filter(|(_, number)| lie >> (number % 8) & 1 == 1);
                CaptureScope::Folders(named.map(|(place, _)| place.clone()).collect())
            }
            _ => continue,
        };
        touched.clear();
        let capture = world.tree.capture(&sweep, Permission::Ask, &|_| ()).unwrap();
        known.follow(&world.accept(capture), "in between");
        if sweep == CaptureScope::Whole {
            assert_eq!(world.tree.records(), on_disk(&world.root()));
        }
    }
    let capture = world.look().unwrap();
    known.follow(&world.accept(capture), "at the end");
    assert_eq!(world.tree.records(), on_disk(&world.root()));
    assert_eq!(known.records, on_disk(&world.root()));
}

proptest! {
    // Each reads and writes files: a quarter of the usual number of cases, or as many as PROPTEST_CASES says.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn captures_agree_with_reading_everything(steps in prop::collection::vec(step(), 1..60)) {
        run(&steps);
    }

    #[test]
    fn a_wrong_watch_costs_only_time(steps in prop::collection::vec((step(), any::<u8>()), 1..60)) {
        run_with_lies(&steps);
    }
}

#[test]
fn nested_removed_folders_are_reported_once() {
    let write = |path: &str| Step::Write(path.into(), 1, 0);
    // The watch does not report the root, from which `a` was moved.
    let steps = [
        (write("a/b/build/x.log"), 0),
        (Step::Capture, 0),
        (Step::Remove("a".into()), 0),
        (Step::Watched, 0b1_1110),
    ];
    // Not by luck: in any order.
    (0..8).for_each(|_| run_with_lies(&steps));
}
