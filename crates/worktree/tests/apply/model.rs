//! Random plans over random trees, with people who write in between, failures and crashes, compared with trees in
//! memory. Files that nobody else touched are all as before or all as after, and content written by people is never
//! lost.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fastrand::Rng;
use retake_core::FilePath;
use retake_worktree::Report;
use retake_worktree::failpoint::watch;

use super::atomic::unsupported;
use super::kit::{Caller, Ended, Node, Tree, at, is_root, path, quick_dir, read};
use super::limits::{NOBODY, again, open_home};

/// The number of plans; more on request.
const ROUNDS: &str = "RETAKE_APPLY_ROUNDS";
const ROUNDS_DEFAULT: u64 = 1500;

const NAMES: [&str; 4] = ["a", "b", "c", "\u{e4} \n"];

fn random_path(rng: &mut Rng) -> FilePath {
    let depth = rng.usize(1..=3);
    let names: Vec<_> = (0..depth).map(|_| NAMES[rng.usize(..NAMES.len())]).collect();
    path(names.join("/"))
}

fn random_node(rng: &mut Rng) -> Node {
    match rng.u8(..10) {
        0..5 => Node::File(vec![b'x'; rng.usize(..3)], [0o644, 0o755, 0o444][rng.usize(..3)]),
        // Links lead nowhere, so that nothing is written through them.
        5 => Node::Link(b"nowhere".to_vec()),
        6 => Node::Link(b"/nowhere".to_vec()),
        _ => Node::Folder([0o755, 0o700, 0o555][rng.usize(..3)]),
    }
}

/// A tree in which everything is in a folder.
fn random_tree(rng: &mut Rng) -> Tree {
    let mut tree = Tree::new();
    for _ in 0..rng.usize(..12) {
        let path = random_path(rng);
        let mut folder = path.parent();
        while let Some(parent) = folder {
            let node = tree.entry(parent.clone()).or_insert(Node::Folder(0o755));
            if !matches!(node, Node::Folder(_)) {
                *node = Node::Folder(0o755);
            }
            folder = parent.parent();
        }
        let is_full = tree.keys().any(|other| *other != path && other.is_within(&path));
        let node = random_node(rng);
        if !is_full || matches!(node, Node::Folder(_)) {
            tree.insert(path, node);
        }
    }
    tree
}

/// Another author's action: its place, and the bytes that must not be lost.
#[derive(Default)]
struct Theirs {
    wrote: BTreeMap<Vec<u8>, FilePath>,
    touched: BTreeSet<FilePath>,
    count: u64,
}

impl Theirs {
    /// An action of a person at a random path. It removes their own content there, as they see it.
    fn act(&mut self, root: &Path, paths: &[FilePath], rng: &mut Rng) {
        let target = if rng.bool() && !paths.is_empty() {
            rng.choice(paths).expect("one").clone()
        } else {
            random_path(rng)
        };
        let here = at(root, &target);
        self.touched.insert(target.clone());
        self.count += 1;
        let bytes = format!("theirs {}", self.count).into_bytes();
        let before = if here.symlink_metadata().is_ok() { seen(root, &target) } else { Vec::new() };
        let done = match rng.u8(..6) {
            0 => fs::OpenOptions::new()
                .write(true)
                .truncate(true)
                .custom_no_follow()
                .open(&here)
                .and_then(|mut file| io::Write::write_all(&mut file, &bytes)),
            1 | 2 => {
                let draft = root.join("draft");
                fs::write(&draft, &bytes)
                    .and_then(|()| fs::rename(&draft, &here))
                    .inspect_err(|_| fs::remove_file(&draft).unwrap_or_default())
            }
            3 => fs::remove_file(&here),
            4 => fs::remove_dir_all(&here).or_else(|_| fs::remove_file(&here)),
            _ => fs::create_dir(&here).and_then(|()| fs::write(here.join("a"), &bytes)),
        };
        // A failed write may have had an effect: the present state counts.
        drop(done);
        for gone in before {
            self.wrote.remove(&gone);
        }
        for (bytes, path) in found(root, &target) {
            if bytes.starts_with(b"theirs") {
                self.wrote.insert(bytes, path);
            }
        }
    }
}

trait NoFollow {
    fn custom_no_follow(&mut self) -> &mut Self;
}

impl NoFollow for fs::OpenOptions {
    fn custom_no_follow(&mut self) -> &mut Self {
        use std::os::unix::fs::OpenOptionsExt as _;
        self.custom_flags(0o400_000)
    }
}

/// The files at and below a path.
fn found(root: &Path, target: &FilePath) -> Vec<(Vec<u8>, FilePath)> {
    let files = read(root).into_iter().filter_map(|(path, node)| match node {
        Node::File(bytes, _) if path.is_within(target) => Some((bytes, path)),
        _ => None,
    });
    files.collect()
}

fn seen(root: &Path, target: &FilePath) -> Vec<Vec<u8>> {
    found(root, target).into_iter().map(|(bytes, _)| bytes).collect()
}

/// The events at the points of one apply.
struct Fate {
    rng: Rng,
    in_steps: bool,
    acts: bool,
    paths: Vec<FilePath>,
    /// One in this many points fails, or ends the process.
    fails: u64,
    dies: u64,
}

impl Fate {
    fn at(&mut self, name: &'static str, root: &Path, theirs: &RefCell<Theirs>) -> io::Result<()> {
        while self.acts && self.rng.u8(..15) == 0 {
            theirs.borrow_mut().act(root, &self.paths, &mut self.rng);
        }
        if self.dies > 0 && self.rng.u64(..self.dies) == 0 {
            resume_unwind(Box::new("killed"));
        }
        if self.fails > 0 && self.rng.u64(..self.fails) == 0 {
            return Err(io::Error::from_raw_os_error(5));
        }
        unsupported(self.in_steps, name)
    }
}

/// One plan, applied with these events; then restarted until its intent is closed.
struct Round {
    caller: Caller,
    theirs: Rc<RefCell<Theirs>>,
    reports: Vec<Report>,
    forward: bool,
}

fn run(seed: u64, home: &Path, before: &Tree, after: &Tree) -> Round {
    let caller = Caller::with(home, before, after);
    let theirs = Rc::new(RefCell::new(Theirs::default()));
    let mut rng = Rng::with_seed(seed ^ 0x5eed);
    let in_steps = rng.u8(..3) == 0;
    let acts = rng.bool();
    let (fails, dies) = [(0, 0), (40, 0), (0, 40), (60, 60)][rng.usize(..4)];
    let rounds = Cell::new(0);
    let paths: Vec<_> = caller.changes.iter().map(|change| change.path.clone()).collect();
    let mut reports = Vec::new();
    let mut forward = false;
    loop {
        let lucky = rounds.get() >= 3;
        assert!(rounds.get() < 10, "seed {seed}: the intent stays open: {reports:#?}");
        let (fails, dies) = if lucky { (0, 0) } else { (fails, dies) };
        let mut fate = Fate { rng: rng.fork(), in_steps, acts, paths: paths.clone(), fails, dies };
        let (root, shared): (PathBuf, _) = (caller.root.clone(), Rc::clone(&theirs));
        let guard = watch(move |name| fate.at(name, &root, &shared));
        let first = rounds.replace(rounds.get() + 1) == 0;
        let intent = caller.intent();
        let ended = catch_unwind(AssertUnwindSafe(|| match first {
            true => caller.apply().map(|ended| match ended {
                Ended::Applied(report) => (true, Some(report)),
                Ended::PutBack(report) => (false, Some(report)),
                Ended::Refused(_) => (false, None),
            }),
            false => caller.start().map(|report| (intent.as_deref() == Some("forward"), report)),
        }));
        drop(guard);
        if let Ok(Ok((went, report))) = ended {
            forward = went;
            reports.extend(report);
        } else if lucky {
            panic!("seed {seed}: {ended:?}");
        }
        if caller.intent().is_none() {
            return Round { caller, theirs, reports, forward };
        }
    }
}

fn check(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let (before, after) = (random_tree(&mut rng), random_tree(&mut rng));
    let home = quick_dir();
    let round = run(seed, home.path(), &before, &after);
    let theirs = round.theirs.borrow();
    let found = round.caller.read();
    let kept: Vec<_> =
        round.reports.iter().flat_map(|r| &r.left).flat_map(|left| left.kept.clone()).collect();
    let wrong = |what: &str| -> ! {
        panic!(
            "seed {seed}: {what}\nforward {}, before {before:#?}\nafter {after:#?}\nfound {found:#?}\ntheirs {:#?} {:?}\n{:#?}",
            round.forward, theirs.wrote, theirs.touched, round.reports
        )
    };
    for (bytes, path) in &theirs.wrote {
        let holds = |path: &FilePath| matches!(found.get(path), Some(Node::File(there, _)) if there == bytes);
        let below = |kept: &FilePath| found.keys().any(|path| path.is_within(kept) && holds(path));
        if !holds(path) && !kept.iter().any(below) {
            wrong(&format!("what somebody wrote at {path} is lost"));
        }
    }
    let side = if round.forward { &after } else { &before };
    let others = |path: &FilePath| {
        let staging = path.as_bytes().starts_with(b".retake-") && !kept.is_empty();
        staging || theirs.touched.iter().any(|touched| touched.is_within(path) || path.is_within(touched))
    };
    for path in side.keys().chain(found.keys()).filter(|path| !others(path)) {
        if side.get(path) != found.get(path) {
            wrong(&format!("{path} is on neither side"));
        }
    }
}

#[test]
fn no_foreign_change_is_lost_and_an_apply_is_all_or_nothing() {
    let rounds = std::env::var(ROUNDS).ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS_DEFAULT);
    for seed in 0..rounds {
        check(seed);
    }
    // Root may do what others may not: others must open an inaccessible folder.
    if is_root() {
        again(
            "model::no_foreign_change_is_lost_and_an_apply_is_all_or_nothing",
            open_home().path(),
            Some(NOBODY),
        );
    }
}
