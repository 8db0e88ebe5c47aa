//! The author of each line, by its text: every write puts a unique token into the file, and the test knows the author and the
//! time of each token. It knows no layer and no rule of a plan. After any steps and choices, a person's last text in a place is
//! never reverted, and text that was removed stays out.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::hunks::tests::Disk;
use super::super::stack::tests::{SLOTS, Slots, delta, record, slots};
use super::*;
use crate::files::Uncertain;

/// The content of every slot of a missing file.
const ABSENT: u8 = 255;

/// The content of an empty slot in an existing file.
const EMPTY: u8 = 0;

/// The author of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeOrigin {
    Person,
    Agent(DeltaId),
}

/// The author: a person, or the agent with a delta of its own.
type Author = Option<Grade>;

#[derive(Clone, Debug)]
enum AuthorAction {
    /// An author writes these slots.
    Write { who: Author, slots: Vec<usize> },
    /// An author removes the file, or creates it if it is missing.
    Flip { who: Author },
    /// Everything from this delta on goes or returns.
    From { at: usize, wanted: bool, choice: Option<Choice> },
    /// One delta is dropped, or shown again.
    One { at: usize, choice: Option<Choice> },
}

/// One file, with its whole history.
struct File {
    disk: Slots,
    stack: Stack,
    /// The original layer of each delta, and whether it is wanted.
    deltas: BTreeMap<DeltaId, (Layer, bool)>,
    /// For each slot all tokens with their authors, in the order of writes.
    written: Vec<Vec<(u8, ChangeOrigin)>>,
    /// For each slot the places in that order of a person's tokens that no choice has replaced.
    dear: Vec<Vec<usize>>,
    /// Tokens that a choice has kept, by slot.
    kept: BTreeSet<(usize, u8)>,
    /// Tokens that a choice adopted, by slot and place, with their earlier author.
    adopted: BTreeMap<(usize, usize), DeltaId>,
    /// Deltas with parts that a choice has kept and that cannot be separated.
    muddled: BTreeSet<DeltaId>,
    /// Deltas that a step has restored.
    shown: BTreeSet<DeltaId>,
    /// Deltas that a choice has settled for this path: no later step removes or adds them (spec `rewind.md`, *Adoption*).
    settled: BTreeSet<DeltaId>,
    next: u8,
    /// What a person wrote last.
    theirs: Option<Slots>,
}

fn version(slots: Slots) -> Option<Record> {
    (slots != [ABSENT; SLOTS]).then(|| record(slots))
}

fn of(version: Option<&Record>) -> Slots {
    version.map_or([ABSENT; SLOTS], slots)
}

impl File {
    fn new() -> Self {
        // The initial content counts as a person's.
        let disk = std::array::from_fn(|slot| u8::try_from(slot).expect("small") + 1);
        let written = disk.map(|token| vec![(token, ChangeOrigin::Person)]).to_vec();
        Self {
            disk,
            stack: Stack::default(),
            deltas: BTreeMap::new(),
            written,
            dear: vec![vec![0]; SLOTS],
            kept: BTreeSet::new(),
            adopted: BTreeMap::new(),
            muddled: BTreeSet::new(),
            shown: BTreeSet::new(),
            settled: BTreeSet::new(),
            next: 1 + u8::try_from(SLOTS).expect("small"),
            theirs: None,
        }
    }

    /// An author leaves tokens in some slots.
    fn writes(&mut self, who: Author, slots: &[usize], token: impl Fn(&mut Self) -> u8) {
        let before = version(self.disk);
        let no = delta(self.deltas.len() as u64 + 1);
        for slot in slots {
            let token = token(self);
            self.disk[*slot] = token;
            self.written[*slot].push((token, who.map_or(ChangeOrigin::Person, |_| ChangeOrigin::Agent(no))));
            if who.is_none() {
                self.dear[*slot].push(self.written[*slot].len() - 1);
            }
        }
        let after = version(self.disk);
        match who {
            Some(grade) => {
                let layer = Layer { delta: no, grade, before, after };
                self.stack.push(layer.clone());
                self.deltas.insert(no, (layer, true));
            }
            None => self.theirs = Some(self.disk),
        }
    }

    fn fresh(&mut self) -> u8 {
        self.next += 1;
        self.next
    }

    /// The file as the planner sees it.
    fn look(&self) -> Disk {
        Disk { now: version(self.disk), theirs: self.theirs.map(version) }
    }

    fn wanted_path(&self) -> WantedPath {
        let is_wanted = |no: &DeltaId| self.deltas[no].1;
        let have: Vec<DeltaId> = self.stack.layers().iter().map(|layer| layer.delta).collect();
        let stays = |no: &DeltaId| is_wanted(no) || self.settled.contains(no);
        let staying = self.stack.layers().iter().filter(|layer| stays(&layer.delta));
        let is_missing = |no: &DeltaId| !have.contains(no) && !self.settled.contains(no);
        let entering = self.deltas.values().filter(|(layer, wanted)| *wanted && is_missing(&layer.delta));
        let mut layers: Vec<Layer> =
            staying.cloned().chain(entering.map(|(layer, _)| layer.clone())).collect();
        layers.sort_by_key(|layer| layer.delta);
        let path = FilePath::new(b"f").expect("a path");
        WantedPath { path, stack: self.stack.clone(), want: DesiredState::Layers(layers) }
    }

    fn plan(&mut self, choice: Option<&Choice>) -> Option<PathPlan> {
        let wanted_path = self.wanted_path();
        let paths = choice.map(|choice| (wanted_path.path.clone(), choice.clone())).into_iter().collect();
        let plan =
            FilePlan::new(vec![wanted_path], &Chosen { paths, others: None }, &mut self.look()).ok()?;
        plan.paths.into_iter().next()
    }

    /// A step that switches what is wanted; a refused one changes nothing.
    fn step(&mut self, flips: &[DeltaId], choice: Option<&Choice>) -> Result<(), TestCaseError> {
        for no in flips {
            self.deltas.get_mut(no).expect("it is there").1 ^= true;
        }
        let unchosen = self.plan(None);
        let planned = match choice {
            None => unchosen.clone(),
            Some(_) => self.plan(choice),
        };
        let clashes = |plan: &Option<PathPlan>| {
            plan.as_ref().is_some_and(|plan| matches!(plan.verdict, Verdict::Conflict(_)))
        };
        let unfit = planned.is_none() && unchosen.is_some();
        if unfit || clashes(&planned) {
            for no in flips {
                self.deltas.get_mut(no).expect("it is there").1 ^= true;
            }
            return Ok(());
        }
        let Some(planned) = planned else { return self.check() };
        let (was, step) = (self.disk, planned.step);
        self.disk = of(step.change.after.as_ref());
        self.stack = step.stack_after.clone();
        // A choice of a version replaces the content explicitly.
        let names = match choice {
            Some(Choice::Checkpoint | Choice::Yours) => true,
            // Hunks belong to the merged version, or to the wanted one if it clashes.
            Some(Choice::Hunks(_)) => {
                unchosen.as_ref().is_some_and(|plan| !plan.choices.contains(&Choice::Merge))
            }
            _ => false,
        };
        // A kept removal is a person's from now on, and cannot be distinguished from another.
        if choice == Some(&Choice::Disk) && self.disk == [ABSENT; SLOTS] {
            self.dear.iter_mut().for_each(Vec::clear);
        }
        if planned.adopts && choice == Some(&Choice::Disk) {
            self.adopts(&planned.out);
        }
        if names {
            self.gives_back();
        }
        for (slot, was) in was.into_iter().enumerate() {
            let (Some(at), true) = (self.at(slot).next(), names) else { continue };
            self.dear[slot].retain(|dear| *dear <= at);
            // A returning version contains what it was made on, and not the current content.
            if !planned.into.is_empty() && self.disk[slot] != was {
                let written = &self.written[slot];
                self.dear[slot].retain(|dear| written[*dear].0 != was);
            }
        }
        let is_kept = matches!(
            choice,
            Some(Choice::Checkpoint | Choice::Yours | Choice::Disk | Choice::Skip | Choice::Hunks(_))
        );
        if is_kept {
            self.kept.extend(self.disk.iter().copied().enumerate());
            let alone = planned.out.len() == 1 && self.slots_of(planned.out[0]).len() == 1;
            if !alone {
                self.muddled.extend(planned.out.iter().chain(&planned.into));
            }
        }
        // A returning version contains what it was made on.
        if is_kept && !planned.into.is_empty() {
            let out = self.deltas.iter().filter(|(no, (_, wanted))| !wanted || self.settled.contains(no));
            self.muddled.extend(out.map(|(no, _)| no));
        }
        // Below a removal that stays there is nothing to decide, and content that was made on top of what goes contains some
        // of it.
        let removals = step.stack_after.layers().iter().filter(|layer| layer.after.is_none());
        if let Some(last) = removals.map(|layer| layer.delta).max() {
            self.muddled.extend(planned.out.iter().filter(|out| **out < last));
        }
        self.shown.extend(&planned.into);
        if planned.adopts {
            self.settled.extend(planned.out.iter().chain(&planned.into));
        }
        self.goes_back(&step, was)?;
        self.check()
    }

    /// The parts of these deltas in the file are a person's from now on.
    fn adopts(&mut self, out: &[DeltaId]) {
        for slot in 0..SLOTS {
            let Some(at) = self.at(slot).last() else { continue };
            let ChangeOrigin::Agent(no) = self.written[slot][at].1 else { continue };
            if out.contains(&no) && self.disk[slot] != ABSENT {
                self.adopted.insert((slot, at), no);
                self.written[slot][at].1 = ChangeOrigin::Person;
                self.dear[slot].push(at);
                self.dear[slot].sort_unstable();
            }
        }
    }

    /// A part that a choice explicitly restores as a delta left it belongs to that delta again.
    fn gives_back(&mut self) {
        let layers = self.stack.layers();
        let is_in = |no: DeltaId| layers.iter().any(|layer| layer.delta == no);
        let back: Vec<_> =
            self.adopted.iter().filter(|(_, no)| is_in(**no)).map(|(at, no)| (*at, *no)).collect();
        for ((slot, at), no) in back {
            self.adopted.remove(&(slot, at));
            self.written[slot][at].1 = ChangeOrigin::Agent(no);
            self.dear[slot].retain(|dear| *dear != at);
        }
    }

    /// The slots that a delta wrote.
    fn slots_of(&self, no: DeltaId) -> Vec<usize> {
        let by = |slot: &usize| self.written[*slot].iter().any(|(_, by)| *by == ChangeOrigin::Agent(no));
        (0..SLOTS).filter(by).collect()
    }

    /// A step is reverted exactly.
    fn goes_back(&mut self, step: &PathMove, was: Slots) -> Result<(), TestCaseError> {
        let want =
            DesiredState::Back { reversed: vec![step.clone()], without: Vec::new(), staying: Vec::new() };
        let path = FilePath::new(b"f").expect("a path");
        let wanted_path = WantedPath { path, stack: self.stack.clone(), want };
        let plan = FilePlan::new(vec![wanted_path], &Chosen::default(), &mut self.look()).expect("no hunks");
        let Some(back) = plan.paths.into_iter().next() else { return Ok(()) };
        prop_assert_eq!(of(back.step.change.after.as_ref()), was);
        prop_assert_eq!(&back.step.stack_after, &step.stack_before);
        Ok(())
    }

    /// The places in the order of writes of the token in a slot; a missing file may have several places.
    fn at(&self, slot: usize) -> impl Iterator<Item = usize> {
        let places = self.written[slot].iter().enumerate();
        // A slot that was written over in a created file is empty in what is left of it.
        let token = if self.disk[slot] == EMPTY { ABSENT } else { self.disk[slot] };
        places.filter(move |(_, (there, _))| *there == token).map(|(at, _)| at)
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for slot in 0..SLOTS {
            // A returning part fills an empty place, whoever removed it: this cannot be distinguished from what the agent left.
            let is_shown = |token: u8| {
                let written =
                    self.written[slot].iter().enumerate().filter(|(_, (written, _))| *written == token);
                // Even if a choice has adopted it since.
                let mut deltas = written.filter_map(|(at, (_, by))| match by {
                    ChangeOrigin::Agent(no) => Some(no),
                    ChangeOrigin::Person => self.adopted.get(&(slot, at)),
                });
                deltas.any(|no| self.shown.contains(no))
            };
            let removed =
                self.written[slot].iter().any(|(token, by)| *token == ABSENT && *by != ChangeOrigin::Person);
            let is_excused =
                |at: &usize| self.written[slot][*at].0 == ABSENT && (removed || is_shown(self.disk[slot]));
            let last = self.dear[slot].last().copied().filter(|at| !is_excused(at)).unwrap_or(0);
            let (dear, by) = self.written[slot][last];
            let (there, all) = (self.disk, &self.written[slot]);
            let mut at = self.at(slot).filter(|at| *at >= last).peekable();
            prop_assert!(at.peek().is_some(), "slot {slot}: {dear} of {by:?} is lost: {there:?} of {all:?}");
            let stays = |at: usize| match all[at] {
                (_, ChangeOrigin::Person) => true,
                (token, ChangeOrigin::Agent(no)) => {
                    let (layer, is_wanted) = &self.deltas[&no];
                    let is_kept = self.kept.contains(&(slot, token)) || self.muddled.contains(&no);
                    *is_wanted || is_kept || layer.grade.is_ambiguous()
                }
            };
            prop_assert!(at.any(stays), "slot {slot}: {} is back: {there:?} of {all:?}", there[slot]);
        }
        Ok(())
    }

    fn does(&mut self, what: &AuthorAction) -> Result<(), TestCaseError> {
        let is_there = self.disk != [ABSENT; SLOTS];
        let all: Vec<usize> = (0..SLOTS).collect();
        match what {
            AuthorAction::Write { who, slots } if is_there => self.writes(*who, slots, Self::fresh),
            AuthorAction::Flip { who } if is_there => self.writes(*who, &all, |_| ABSENT),
            AuthorAction::Write { who, .. } | AuthorAction::Flip { who } => {
                self.writes(*who, &all, Self::fresh);
            }
            AuthorAction::From { at, wanted, choice } => {
                let nos: Vec<DeltaId> = self.deltas.keys().copied().collect();
                let Some(at) = at.checked_rem(nos.len()) else { return Ok(()) };
                let flips = nos[at..].iter().copied().filter(|no| self.deltas[no].1 != *wanted);
                self.step(&flips.collect::<Vec<_>>(), choice.as_ref())?;
            }
            AuthorAction::One { at, choice } => {
                let Some(at) = at.checked_rem(self.deltas.len()) else { return Ok(()) };
                self.step(&[delta(at as u64 + 1)], choice.as_ref())?;
            }
        }
        Ok(())
    }
}

fn steps() -> impl Strategy<Value = Vec<AuthorAction>> {
    let choice = || {
        prop_oneof![
            4 => Just(None),
            3 => Just(Some(Choice::Disk)),
            2 => Just(Some(Choice::Checkpoint)),
            1 => Just(Some(Choice::Yours)),
            1 => Just(Some(Choice::Skip)),
            1 => Just(Some(Choice::Merge)),
            1 => prop::collection::btree_set(1u32..4, 1..3)
                .prop_map(|hunks| Some(Choice::Hunks(hunks.into_iter().collect()))),
        ]
    };
    let who = || prop_oneof![4 => Just(None), 4 => Just(Some(Grade::Seen)), 1 => Just(Some(Grade::Ambiguous(Uncertain::Several)))];
    let some = prop::collection::btree_set(0..SLOTS, 1..3).prop_map(|slots| slots.into_iter().collect());
    let step = prop_oneof![
        8 => (who(), some).prop_map(|(who, slots)| AuthorAction::Write { who, slots }),
        1 => who().prop_map(|who| AuthorAction::Flip { who }),
        3 => (0usize..8, any::<bool>(), choice())
            .prop_map(|(at, wanted, choice)| AuthorAction::From { at, wanted, choice }),
        4 => (0usize..8, choice()).prop_map(|(at, choice)| AuthorAction::One { at, choice }),
    ];
    prop::collection::vec(step, 2..16)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_person_wrote_is_never_lost_and_what_was_taken_out_stays_out(steps in steps()) {
        let mut file = File::new();
        for step in &steps {
            file.does(step)?;
        }
    }
}

#[test]
fn trial_06_what_a_person_wrote_below_a_removal_comes_back_when_all_turns_go() {
    let agent = Some(Grade::Seen);
    let steps = [
        AuthorAction::Write { who: agent, slots: vec![3] },
        AuthorAction::Write { who: None, slots: vec![3] },
        AuthorAction::Flip { who: agent },
        AuthorAction::Flip { who: agent },
        AuthorAction::One { at: 0, choice: None },
        AuthorAction::From { at: 0, wanted: false, choice: None },
    ];
    let mut file = File::new();
    for step in &steps {
        file.does(step).expect("nothing is lost");
    }
    assert_eq!(file.disk, [1, 2, 3, 7]);
}
