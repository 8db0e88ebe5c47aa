//! Compares a plan with the spec's requirements, and the folder afterwards with both.

use std::collections::BTreeSet;
use std::fmt;

use retake_core::{BlockingAuthor, DeltaId, FilePlan, Record, Verdict};

use super::expect::Expected;
use super::naive::{Act, Talk, Thing, Tree};
use super::truth::{Reg, Truth, Val};
use super::view::{Item, Who};

/// A plan's statement about a path.
pub(super) struct PathTold {
    pub(super) path: String,
    pub(super) verdict: Verdict,
    against: Option<BlockingAuthor>,
    before: Option<Record>,
    after: Option<Record>,
    /// Whether it changes the path, or its parts.
    moves: bool,
    /// The entries whose changes leave or come.
    out: BTreeSet<usize>,
    into: BTreeSet<usize>,
}

impl fmt::Debug for PathTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, verdict, against, before, after, out, into, .. } = self;
        write!(f, "{path} {verdict:?} {against:?}: {before:?} -> {after:?}, out {out:?}, into {into:?}")
    }
}

/// A plan's statements.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) paths: Vec<PathTold>,
}

impl Told {
    /// A plan in the model's terms, with the entry of each delta.
    pub(super) fn new<'a>(
        plans: impl IntoIterator<Item = &'a FilePlan>,
        entry: impl Fn(DeltaId) -> Option<usize>,
    ) -> Self {
        let paths = plans.into_iter().flat_map(|plan| &plan.paths).map(|path| PathTold {
            path: path.path.to_string(),
            verdict: path.verdict.clone(),
            against: path.against,
            before: path.step.change.before.clone(),
            after: path.step.change.after.clone(),
            moves: path.step.change.before != path.step.change.after
                || path.step.stack_before != path.step.stack_after,
            out: path.out.iter().filter_map(|no| entry(*no)).collect(),
            into: path.into.iter().filter_map(|no| entry(*no)).collect(),
        });
        Self { paths: paths.collect() }
    }

    pub(super) fn conflicts(&self) -> bool {
        self.paths.iter().any(|path| matches!(path.verdict, Verdict::Conflict(_)))
    }

    pub(super) fn moves(&self) -> bool {
        self.paths.iter().any(|path| path.moves)
    }

    /// What earlier steps have left and this one asks about again.
    pub(super) fn again(&self, talk: &Talk) -> BTreeSet<usize> {
        let left = |entry: &usize| {
            let is_in = |reg: &Reg| {
                let mut pile = talk.view.piles.get(reg).into_iter().flatten();
                pile.any(|item| matches!(item.who, Who::Own(of, _) if of == *entry))
            };
            let mut own = talk.deltas.iter().filter(|delta| delta.entry == *entry);
            talk.view.is_less(*entry)
                || own.by_ref().flat_map(|delta| &delta.events).any(|event| {
                    is_in(&event.reg) != talk.wants(*entry) || talk.view.unsure.contains(&event.reg)
                })
        };
        self.paths.iter().flat_map(|path| path.out.iter().chain(&path.into)).copied().filter(left).collect()
    }

    /// The plan says everything required, and nothing forbidden.
    pub(super) fn fits(&self, expected: &Expected, act: &Act) {
        let conflicts: BTreeSet<&String> = self
            .paths
            .iter()
            .filter(|path| matches!(path.verdict, Verdict::Conflict(_)))
            .map(|path| &path.path)
            .collect();
        for path in &conflicts {
            assert!(
                expected.may.contains(*path),
                "{act:?}: {path} is in no conflict: others wrote elsewhere\\n{self:#?}\\n{:#?}",
                expected.view
            );
        }
        for group in &expected.must {
            assert!(
                group.iter().any(|path| conflicts.iter().any(|other| is_near(path, other))),
                "{act:?}: {group:?} is in conflict: others wrote in the same place\\n{self:#?}\\n{:#?}",
                expected.view
            );
        }
        for told in self.paths.iter().filter(|told| expected.hand.contains(&told.path)) {
            let is_named = !conflicts.contains(&told.path) || told.against == Some(BlockingAuthor::Hand);
            assert!(is_named, "{act:?}: what was adopted is said to be the person's\n{told:#?}");
        }
        for (path, said) in expected.only_doubt.iter().filter(|(path, _)| !expected.free.contains(*path)) {
            let mut told = self.paths.iter().filter(|told| said.contains(&told.path));
            assert!(
                // If a known change comes or conflicts beside it, the plan says that instead, and names what stays.
                told.any(|told| {
                    matches!(told.verdict, Verdict::Kept | Verdict::Conflict(_)) || !told.into.is_empty()
                }),
                "{act:?}: {path} is uncertain, and that is not said\\n{self:#?}"
            );
        }
        if !expected.reverses && !matches!(act, Act::Undo(_) | Act::Redo(_)) {
            // A conflict always needs a choice. So does "unchanged: the path is already in the target state" (*Plan*): nothing is
            // done to what is there.
            let is_free = |path: &&PathTold| {
                expected.free.contains(&path.path)
                    || conflicts.contains(&path.path)
                    || path.verdict == Verdict::Unchanged && path.before == path.after
            };
            for path in self.paths.iter().filter(|path| !is_free(path)) {
                let fits = path.out.is_subset(&expected.out) && path.into.is_subset(&expected.into);
                assert!(fits, "{act:?}: out {:?}, into {:?}\\n{path:#?}", expected.out, expected.into);
            }
        }
    }

    /// The folder has the planned content, and nothing else has changed.
    pub(super) fn is_so(&self, found: &Tree, before: &Tree, skip: Option<&str>, act: &Act) {
        for path in self.paths.iter().filter(|path| skip != Some(&path.path)) {
            assert!(
                is_record(found.get(&path.path), path.after.as_ref())
                    && is_record(before.get(&path.path), path.before.as_ref()),
                "{act:?}: the plan and the disk: {path:#?}\\n{:?}",
                found.get(&path.path)
            );
        }
        let all: BTreeSet<&String> = found.keys().chain(before.keys()).collect();
        for path in all.into_iter().filter(|path| skip != Some(path)) {
            if found.get(path) != before.get(path) {
                let is_planned = self.paths.iter().any(|told| told.path == *path);
                let is_folder = |thing: Option<&Thing>| matches!(thing, None | Some(Thing::Folder { .. }));
                let folder = is_folder(found.get(path)) && is_folder(before.get(path));
                assert!(
                    is_planned || folder,
                    "{act:?}: {path} changed, and the plan does not say so\\n{self:#?}"
                );
            }
        }
    }
}

/// Whether one path is the other or in it.
fn is_near(one: &str, other: &str) -> bool {
    let within =
        |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    one == other || within(one, other) || within(other, one)
}

fn is_record(thing: Option<&Thing>, record: Option<&Record>) -> bool {
    match (thing, record) {
        (None, None) => true,
        (Some(Thing::File { bytes, mode }), Some(Record::File { len, mode: planned, .. })) => {
            bytes.len() as u64 == *len && mode & 0o777 == u32::from(*planned)
        }
        (Some(Thing::Link(target)), Some(Record::Link { target: planned })) => {
            target.as_bytes() == &planned[..]
        }
        (Some(Thing::Folder { .. }), Some(Record::Folder { .. })) => true,
        _ => false,
    }
}

/// The folder after a step meets the requirements.
pub(super) fn holds(before: &Tree, found: &Tree, talk: &Talk, expected: &Expected, truth: &Truth, act: &Act) {
    let tree = expected.view.tree(truth);
    let all: BTreeSet<&String> = tree.keys().chain(found.keys()).collect();
    let is_folder = |thing: Option<&Thing>| matches!(thing, Some(Thing::Folder { .. }));
    for path in all {
        let (is, should) = (found.get(path), tree.get(path));
        if expected.free.contains(path) || is_folder(is) || is_folder(should) {
            continue;
        }
        let same = match (is, should) {
            (Some(Thing::File { bytes, .. }), Some(Thing::File { bytes: should, .. }))
                if expected.bits.contains(path) =>
            {
                bytes == should
            }
            _ => is == should,
        };
        assert!(
            same,
            "{act:?}: {path}\\n   found {is:?}\\nexpected {should:?}\\n  before {:?}\\n{:#?}",
            before.get(path),
            talk.view
        );
    }
    for (path, should) in &expected.exact {
        let is = found.get(path);
        // A folder goes only when it is empty: its content is checked separately.
        let holds = format!("{path}/");
        if should.is_none() && is_folder(is) && found.keys().any(|other| other.starts_with(&holds)) {
            continue;
        }
        assert!(is == should.as_ref(), "{act:?}: {path} exactly\\n   found {is:?}\\nexpected {should:?}");
    }
    folders(found, talk, expected, act);
    lines(before, found, talk, expected, act);
}

/// Folders that nobody else has touched come and go with the calls that created them.
fn folders(found: &Tree, talk: &Talk, expected: &Expected, act: &Act) {
    for (reg, pile) in &expected.view.piles {
        let Reg::Whole(path) = reg else { continue };
        let is_folder = |item: &Item| matches!(item.val, Val::Other(Thing::Folder { .. }));
        let below = format!("{path}/");
        let is_clean = |(reg, pile): (&Reg, &Vec<Item>)| match reg {
            Reg::Whole(other)
                if other == path || other.starts_with(&below) || path.starts_with(&format!("{other}/")) =>
            {
                pile.iter().all(|item| item.who != Who::Other) && !expected.free.contains(other)
            }
            _ => true,
        };
        let mut all = talk.view.piles.iter().chain(&expected.view.piles);
        if pile.iter().any(is_folder) && all.all(is_clean) && !expected.may.contains(path) {
            // Remaining content keeps it.
            let holds = expected.view.piles.keys().any(|reg| {
                matches!(reg, Reg::Whole(other) if other.starts_with(&below))
                    && *expected.view.top(reg) != Val::Absent
            });
            let should = holds || is_folder(pile.last().expect("never empty"));
            let is = matches!(found.get(path), Some(Thing::Folder { .. }));
            assert!(is == should, "{act:?}: the folder {path} should be there: {should}");
        }
    }
}

/// Lines by others are never lost.
fn lines(before: &Tree, found: &Tree, talk: &Talk, expected: &Expected, act: &Act) {
    let text = |tree: &Tree| {
        let files = tree.values().filter_map(|thing| match thing {
            Thing::File { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        files.collect::<String>()
    };
    let (was, is) = (text(before), text(found));
    let is: BTreeSet<&str> = is.lines().collect();
    for (reg, pile) in &talk.view.piles {
        let Some(Item { who, val: Val::Lines(lines) }) = pile.last() else { continue };
        let theirs = match who {
            Who::Base => false,
            Who::Other => true,
            Who::Own(entry, _) => {
                talk.kept.single.contains(&(*entry, reg.clone())) || talk.kept.adopted.contains(entry)
            }
        };
        let is_told = talk.view.place_of(reg).is_none_or(|path| expected.told.contains(path));
        // The call of these is unknown; a person's own lines are recognized by their names.
        let is_unsure = talk.view.unsure.contains(reg);
        let is_theirs = |line: &&String| !is_unsure || line.starts_with("person");
        if !theirs || is_told || expected.view.top(reg) != talk.view.top(reg) {
            continue;
        }
        // "Each takes back its own deltas" (*Apply*): if another conversation has done so with a possible change of a call of
        // this one, a returned line belongs to the call that wrote it, and goes with that.
        let is_back = pile.iter().any(|item| matches!(item.who, Who::Own(_, false)));
        let goes = |line: &String| {
            let is_its = |item: &Item| match (item.who, &item.val) {
                (Who::Own(entry, true), Val::Lines(own)) => {
                    expected.out.contains(&entry) && own.contains(line)
                }
                _ => false,
            };
            is_back && pile.iter().any(is_its)
        };
        // "Of a single path, what the turn did is put in again where it is missing" (*Adoption*): a line that it had removed goes again.
        let went = |line: &String| {
            let has = |val: &Val| matches!(val, Val::Lines(all) if all.contains(line));
            let deltas = talk.deltas.iter().filter(|delta| expected.into.contains(&delta.entry));
            let mut own = deltas.flat_map(|delta| &delta.events).filter(|event| event.reg == *reg);
            is_unsure && own.any(|event| has(&event.from) && !has(&event.to))
        };
        let hidden = expected.view.place_of(reg).is_none();
        for line in lines
            .iter()
            .filter(|line| is_theirs(line) && !goes(line) && !went(line))
            .filter(|line| !hidden && was.lines().any(|there| there == line.as_str()))
        {
            assert!(is.contains(line.as_str()), "{act:?}: a line of others is lost: {line}\\n{found:#?}");
        }
    }
}
