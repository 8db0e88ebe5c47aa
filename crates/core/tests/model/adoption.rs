//! What the files keep (`docs/spec/rewind.md`, *Adoption*): steps on both halves or on one of them, compared with a list with a
//! value for each entry.

use std::collections::HashMap;

use proptest::prelude::*;
use retake_core::{Action, Apply, KeepState, Mark, Path, Scope, SeenState, Span, Step};

use super::naive::{Kind, Talk};
use super::steps::{self, Do};
use super::verbs::Outcome;
use super::world::World;
use super::{checks, rows::Word};

/// The values that entries had before a step.
type Before = Vec<(usize, KeepState)>;

/// What is kept, as a copied list.
#[derive(Default)]
struct Kept {
    now: Vec<KeepState>,
    /// By the number of the last operation.
    then: Vec<Vec<KeepState>>,
    done: HashMap<Step, Before>,
    undone: Vec<Before>,
}

/// The half of a step, and the entries for which earlier steps left it undecided whether their changes are in the files.
#[derive(Clone, Copy, Debug)]
struct Half {
    scope: Scope,
    there: u64,
    missing: u64,
}

/// Whether bit `index` of a number is set: a random selection of entries.
fn chosen(bits: u64, index: usize) -> bool {
    bits.rotate_right(u32::try_from(index % 64).expect("small")) & 1 == 1
}

fn is_by_path(talk: &Talk, index: usize) -> bool {
    talk.is_on_path(index) && talk.mark(index) != Mark::Dropped
}

/// Whether the changes of an entry belong in the files.
fn is_wanted(talk: &Talk, keep: &[KeepState], index: usize) -> bool {
    match keep.get(index).copied().unwrap_or_default() {
        KeepState::ByPath => is_by_path(talk, index),
        KeepState::Adopted => true,
        KeepState::TakenOut => false,
    }
}

/// The value that makes the changes of an entry belong in the files, or not.
fn value(talk: &Talk, index: usize, is_wanted: bool) -> KeepState {
    match (is_by_path(talk, index), is_wanted) {
        (true, true) | (false, false) => KeepState::ByPath,
        (true, false) => KeepState::TakenOut,
        (false, true) => KeepState::Adopted,
    }
}

impl Kept {
    /// The effect of a whole action.
    fn whole(&self, before: &Talk, after: &Talk, action: &Action) -> Vec<KeepState> {
        let mut keep = self.now.clone();
        match action {
            Action::Undo(_) => {
                let step = before.done.last().map(|done| done.step);
                let changed = step.and_then(|step| self.done.get(&step));
                changed.into_iter().flatten().for_each(|(index, value)| keep[*index] = *value);
            }
            Action::Redo(_) => {
                self.undone.last().into_iter().flatten().for_each(|(index, value)| keep[*index] = *value);
            }
            Action::Restore(head) => {
                let then = &self.then[usize::try_from(head.op.0).expect("a number")];
                keep = (0..keep.len()).map(|index| then.get(index).copied().unwrap_or_default()).collect();
            }
            Action::Checkout(_) | Action::Choose(..) => {
                let came = after.path().into_iter().filter(|index| !before.is_on_path(*index));
                came.for_each(|index| keep[index] = KeepState::ByPath);
            }
            _ => {}
        }
        keep
    }

    /// The effect of one half: the conversation alone leaves the files unchanged, files alone change as with both.
    fn half(&self, before: &Talk, after: &Talk, mut keep: Vec<KeepState>, half: Half) -> Vec<KeepState> {
        if half.scope == Scope::Both {
            return keep;
        }
        let whole = keep.clone();
        if half.scope == Scope::Files {
            keep.clone_from(&self.now);
        }
        for (index, kept) in keep.iter_mut().enumerate() {
            let was = is_wanted(before, &self.now, index);
            let is = is_wanted(after, &whole, index);
            if was == is {
                continue;
            }
            match half.scope {
                Scope::Files => *kept = value(before, index, is),
                _ => {
                    // The files decide about what was left undecided.
                    let undecided = if was { half.missing } else { half.there };
                    let wanted = if chosen(undecided, index) { is } else { was };
                    if wanted != is {
                        *kept = value(after, index, wanted);
                    }
                }
            }
        }
        keep
    }

    /// Records the changes of a step.
    fn note(&mut self, talk: &Talk, action: &Action, half: Half, keep: Vec<KeepState>) {
        let changed = (0..keep.len()).filter(|index| keep[*index] != self.now[*index]);
        let changed: Before = changed.map(|index| (index, self.now[index])).collect();
        match action {
            Action::Undo(_) if half.scope != Scope::Files => self.undone.push(changed),
            Action::Redo(_) if half.scope != Scope::Files => drop(self.undone.pop()),
            _ => drop(self.done.insert(Step::Op(retake_core::OpNo(talk.ops)), changed)),
        }
        self.now = keep;
    }

    /// Follows says and other actions.
    fn follow(&mut self, talk: &Talk) {
        self.now.resize(talk.said.len(), KeepState::ByPath);
        self.then.resize(usize::try_from(talk.ops).expect("a number") + 1, self.now.clone());
        if talk.undone.is_empty() {
            self.undone.clear();
        }
    }
}

/// The selected entries, as a path.
fn path(talk: &Talk, bits: u64) -> Path {
    let chosen = talk.said.iter().enumerate().filter(|(index, _)| chosen(bits, *index));
    Path::from_spans(chosen.map(|(_, said)| Span::one(said.pos)))
}

/// One half of an action, or both, with core and in the model.
fn act(world: &mut World, kept: &mut Kept, action: Action, half: Half) {
    let before = world.talks.all[0].clone();
    let mut after = before.clone();
    let mut expected = after.act(&action);
    let mut keep = kept.now.clone();
    if let Ok(outcome) = &mut expected {
        let whole = kept.whole(&before, &after, &action);
        if outcome.ops == 0 && whole != kept.now && matches!(action, Action::Restore(_)) {
            let tip = after.now.tip;
            after.did("restore", Step::Op(after.next_op()), Kind::Tip { before: tip, after: tip });
            *outcome = after.recorded(None);
            after.revision += 1;
        }
        let changes = outcome.ops > 0;
        if changes || half.scope == Scope::Files {
            keep = kept.half(&before, &after, if changes { whole } else { keep }, half);
        }
        if half.scope == Scope::Files {
            let is_rewind = changes && matches!(action, Action::Rewind(_));
            after = before.clone();
            after.did("files", Step::Op(after.next_op()), Kind::Marks(Vec::new()));
            *outcome = Outcome { composer: None, ..after.recorded(None) };
            after.revision += 1;
            after.rewinds += u64::from(is_rewind);
        }
    }
    let (now, rows) = (world.now(0), world.rows(0));
    let apply = Apply { action: action.clone(), seen: SeenState::Anything, by: crate::kit::by() };
    let undecided =
        retake_core::Undecided { there: path(&before, half.there), missing: path(&before, half.missing) };
    let at = |id| before.find(id).map(|index| before.said[index].pos).ok_or(Word("unknown"));
    let commit = now.decide(&rows, &apply, &at);
    let commit = commit.and_then(|whole| now.one_half(&rows, &apply.by, (half.scope, &undecided), whole));
    if let Ok(commit) = &commit {
        let ids = |is_one: &dyn Fn(usize) -> bool| {
            let some = (0..keep.len()).filter(|index| is_one(*index));
            some.map(|index| before.said[index].id).collect::<Vec<_>>()
        };
        let adopted = now.adopted_by(&rows, commit).map(|part| rows.ids(&part));
        assert_eq!(
            adopted,
            Ok(ids(&|at| keep[at] == KeepState::Adopted && kept.now[at] != KeepState::Adopted))
        );
        let returned = now.returned_by(&rows, commit).map(|part| rows.ids(&part));
        assert_eq!(
            returned,
            Ok(ids(&|at| keep[at] == KeepState::ByPath && kept.now[at] != KeepState::ByPath))
        );
    }
    let is_done = expected.as_ref().is_ok_and(|outcome| outcome.ops > 0);
    let told = format!("{action:?}, {half:?}");
    if world.judge(0, after, &expected, commit, &told) && is_done {
        kept.note(&world.talks.all[0], &action, half, keep);
    }
}

/// Each entry is kept as the model says, and its changes belong in the files or not.
fn check(world: &World, kept: &Kept) {
    let (talk, now) = (&world.talks.all[0], world.now(0));
    for (index, said) in talk.said.iter().enumerate() {
        assert_eq!(now.state.kept.entries.get(said.pos), kept.now[index], "entry {index}");
        assert_eq!(now.wants_files_of(said.pos), is_wanted(talk, &kept.now, index), "entry {index}");
    }
    assert_eq!(world.rows(0).load(now.head), *now, "read from the rows");
}

/// A rewind to before an entry, with everything that was kept at its time.
fn check_before(world: &World, kept: &Kept, index: usize) {
    let (talk, now, rows) = (&world.talks.all[0], world.now(0), world.rows(0));
    let Some(said) = talk.said.get(index).filter(|said| talk.aim(said.id).is_ok()) else { return };
    let back = now.before_entry(&rows, said.pos).expect("a rewind");
    let back = now.after(&rows, &back).expect("a conversation");
    let head = talk.heads.iter().find(|(head, _)| head.seq.0 == said.pos.seq).expect("a head").0;
    let then = &kept.then[usize::try_from(head.op.0).expect("a number")];
    for (other, said) in talk.said.iter().enumerate() {
        let then = then.get(other).copied().unwrap_or_default();
        assert_eq!(back.state.kept.entries.get(said.pos), then, "{other} before entry {index}");
    }
}

fn run(steps: &[(Do, Half)]) {
    let (mut world, mut kept) = (World::new(), Kept::default());
    kept.follow(&world.talks.all[0]);
    for (number, (step, half)) in steps.iter().enumerate() {
        let action = world.talks.action(0, step).map(|action| match action {
            Action::Undo(_) => Action::Undo(1),
            Action::Redo(_) => Action::Redo(1),
            other => other,
        });
        match action {
            Some(Action::Compensate(_)) => continue,
            Some(action)
                if !matches!(action, Action::Fold { .. } | Action::Unfold(_) | Action::Label(..)) =>
            {
                act(&mut world, &mut kept, action, *half);
            }
            _ if matches!(step, Do::Fork(_)) => continue,
            _ => {
                world.step(0, step);
            }
        }
        kept.follow(&world.talks.all[0]);
        checks::at_a_glance(&world, 0);
        check(&world, &kept);
        check_before(&world, &kept, number * 7919 % kept.now.len().max(1));
    }
}

fn half() -> impl Strategy<Value = Half> {
    let scope = prop_oneof![
        2 => Just(Scope::Both),
        2 => Just(Scope::Conversation),
        2 => Just(Scope::Files),
    ];
    let bits = || prop_oneof![2 => Just(0), 1 => any::<u64>()];
    (scope, bits(), bits()).prop_map(|(scope, there, missing)| Half { scope, there, missing })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_half_of_a_step_keeps_what_the_specification_says(
        steps in steps::steps(),
        halves in prop::collection::vec(half(), 60),
    ) {
        let steps = steps.into_iter().map(|(_, step)| step).zip(halves);
        run(&steps.collect::<Vec<_>>());
    }
}
