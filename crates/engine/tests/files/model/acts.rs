//! Rewinds, undos, redos, drops and branch switches: planned and applied, and held against what the model decides.

use retake_core::{Action, Apply, Reason, Role, Seen};
use retake_engine::{AppliedFiles, FileOptions, Result, Scope};

use super::disk;
use super::expect::{Asked, Expected, expect};
use super::naive::{Act, Done, Files, Kept, Kind, Op, Outcome, Thing, Tree};
use super::steps::{Aim, Chosen, Fault};
use super::told::{self, Told};
use super::world::{World, assert_same};

impl World {
    /// What an action aims at, where there is something.
    fn aim(&self, at: usize, aim: Aim) -> Option<Act> {
        let talk = &self.talks[at];
        let back = |list: &[usize], number: u8| {
            list.iter().rev().nth(usize::from(number) % list.len().max(1)).copied()
        };
        let answers = || {
            let answers = talk.timeline().into_iter();
            answers.filter(|entry| talk.said[*entry].role == Role::Assistant).collect::<Vec<_>>()
        };
        let turn = |number: u8| {
            let turns = talk.turns();
            turns.iter().rev().nth(usize::from(number) % turns.len().max(1)).copied()
        };
        Some(match aim {
            Aim::Rewind(number) => Act::Rewind(back(&talk.timeline(), number)?),
            Aim::Turn(number) => Act::Rewind(turn(number)?.0),
            Aim::Retry(number) => Act::Retry(back(&talk.timeline(), number)?),
            Aim::Checkout(None) => Act::Checkout(None),
            Aim::Checkout(Some(number)) => {
                Act::Checkout(Some(back(&(0..talk.said.len()).collect::<Vec<_>>(), number)?))
            }
            Aim::Choose(number, alternative) => {
                Act::Choose(back(&answers(), number)?, usize::from(alternative))
            }
            Aim::Restore(number) => {
                let heads: Vec<usize> = (0..talk.heads.len()).collect();
                Act::Restore(back(&heads, number)?)
            }
            Aim::Drop(number) => {
                let (from, to) = turn(number)?;
                Act::Drop(from, to)
            }
            Aim::Show if talk.dropped.is_empty() => return None,
            Aim::Show => Act::Show(talk.dropped.iter().copied().collect()),
            Aim::Undo(count) => Act::Undo(usize::from(count)),
            Aim::Redo(count) => Act::Redo(usize::from(count)),
        })
    }

    fn action(&self, at: usize, act: &Act) -> Action {
        let id = |entry: &usize| self.talks[at].said[*entry].id;
        match act {
            Act::Rewind(entry) => Action::Rewind(id(entry)),
            Act::Retry(entry) => Action::Retry(id(entry)),
            Act::Checkout(entry) => Action::Checkout(entry.as_ref().map(id)),
            Act::Choose(entry, number) => Action::Choose(id(entry), *number),
            Act::Restore(head) => Action::Restore(self.talks[at].heads[*head].0),
            Act::Drop(from, to) => {
                let entries = vec![id(from), id(to)];
                Action::Mark { verb: Reason::Drop, entries, range: true, seen: None }
            }
            Act::Show(entries) => {
                let entries = entries.iter().map(id).collect();
                Action::Mark { verb: Reason::Show, entries, range: false, seen: None }
            }
            Act::Undo(count) => Action::Undo(*count),
            Act::Redo(count) => Action::Redo(*count),
        }
    }

    /// Plans an action and does it.
    pub(super) async fn act(&mut self, at: usize, aim: Aim, scope: Scope, chosen: &Chosen, fault: Fault) {
        let Some(act) = self.aim(at, aim) else { return };
        let id = self.talks[at].id;
        let action = self.action(at, &act);
        let paths = chosen.0.iter().map(|(name, choice)| {
            (retake_core::FilePath::new(name.str().as_bytes()).expect("a path"), choice.clone())
        });
        let taken = retake_core::Chosen { paths: paths.collect(), others: chosen.1.clone() };
        let options = FileOptions { scope, chosen: taken, ..FileOptions::default() };
        let by = self.engine().by(matches!(fault, Fault::Twins).then(|| self.request_id()));
        let apply = Apply { action: action.clone(), seen: Seen::Anything, by };
        if self.talks[at].open.is_some() {
            if !matches!(act, Act::Drop(..) | Act::Show(_)) {
                let refused = self.engine().apply_both(id, apply, options).await;
                assert!(refused.is_err(), "a call is open");
            }
            return;
        }
        let planned = self.engine().plan_both(id, action, options.clone()).await;
        let touches = scope != Scope::Conversation && !self.talks[at].deltas.is_empty();
        let outcome = self.talks[at].act(&act);
        // What the conversation refuses looks at no files.
        if touches && outcome.is_some() {
            self.look();
        }
        let outcome = outcome.and_then(|_| self.talks[at].act(&act));
        let allowed = outcome.is_some() || scope == Scope::Files && !touches;
        assert_eq!(planned.is_ok(), allowed, "{act:?}: {planned:?}");
        let told = match &planned {
            Ok(planned) => Some(self.told(at, planned).await),
            Err(_) => None,
        };
        let applied = self.applied(at).await;
        let expected = outcome.as_ref().map(|outcome| {
            let chosen_paths = chosen.0.iter().map(|(name, choice)| (name.str().to_owned(), choice.clone()));
            let again = told.as_ref().map(|told| told.again(&self.talks[at])).unwrap_or_default();
            let (chosen, others) = (chosen_paths.collect(), chosen.1.clone());
            expect(&self.talks[at], outcome, &Asked { act: &act, scope, chosen, others, again, applied })
        });
        self.check(&("the plan of", &act)).await;
        if let (Some(told), Some(expected)) = (&told, &expected) {
            told.fits(expected, &act);
        }
        let fault = self.possible(fault, expected.as_ref());
        self.faults.expect(fault, &self.root());
        let seen = planned.ok().map(|planned| planned.digest);
        let options = FileOptions { seen, ..options };
        let (there, tags) = (self.tree.clone(), disk::tags(&self.root(), &self.tree));
        let done = self.done(id, apply, options, fault).await;
        let struck = self.faults.over();
        let saved = self.faults.saved();
        let step = Step { act: &act, scope, chosen, outcome, expected, told, touches, saved: &saved };
        match done {
            Ok(done) => self.was_done(at, step, Some(&done)),
            Err(error) if struck => {
                let is_done = self.is_decided().await;
                if is_done {
                    self.was_done(at, step, None);
                }
                drop(error);
            }
            Err(error) => self.was_refused(at, &step, &error),
        }
        // What is no part of a record stays with its file. With another version may come what that one brought.
        let (skip, now) = (saved.as_ref().map(|(path, _)| path.clone()), disk::all(&self.root()));
        for (path, tag) in disk::tags(&self.root(), &now) {
            let is_another = there.get(&path) != now.get(&path) || skip.as_ref() == Some(&path);
            let is_same = tags.get(&path).is_none_or(|before| *before == tag);
            // What a person has set on a version stays with the file when that version goes.
            let set = self.set.get(&path).filter(|(_, on)| there.get(&path) == Some(on));
            let is_theirs = set.is_some_and(|(set, _)| tags.get(&path) == Some(&Some(set.clone())));
            // A version that was there after that comes as it was.
            let mut since = self.since.iter().filter(|(of, ..)| *of == path);
            let came_so = since.any(|(_, thing, had)| now.get(&path) == Some(thing) && *had == tag);
            let may_differ = is_another && (!is_theirs || came_so || skip.as_ref() == Some(&path));
            assert!(is_same || may_differ, "{act:?}: the attributes of {path}: {tag:?}");
        }
        if let Some((path, thing)) = saved {
            self.alone = None;
            self.tree.insert(path, thing);
        }
    }

    /// Does it: once, or twice at the same time as the same request.
    async fn done(
        &self,
        id: retake_core::ConversationId,
        apply: Apply,
        options: FileOptions,
        fault: Fault,
    ) -> Result<AppliedFiles> {
        let engine = self.engine();
        if !matches!(fault, Fault::Twins) {
            return engine.apply_both(id, apply, options).await;
        }
        let again = (apply.clone(), options.clone());
        let (one, two) = tokio::join!(
            engine.apply_both(id, apply.clone(), options.clone()),
            engine.apply_both(id, apply, options)
        );
        let (one, two) = match (one, two) {
            // Who was told that the other one is at work comes again.
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => (Ok(one), engine.apply_both(id, again.0, again.1).await),
            both => both,
        };
        match (one, two) {
            (Ok(one), Ok(two)) => {
                assert_eq!(one.receipt, two.receipt, "the same request, twice");
                Ok(one)
            }
            (Err(one), Err(_)) => Err(one),
            (one, two) => panic!("one request, sent twice: {one:?}, {two:?}"),
        }
    }

    /// A call that is open would be lost with the program; and what is saved in a folder that is there for a moment only
    /// keeps it there.
    fn possible(&self, fault: Fault, expected: Option<&Expected>) -> Fault {
        let Fault::Saves(_, name) = fault else {
            return if self.is_open() && !matches!(fault, Fault::Twins) { Fault::Never } else { fault };
        };
        // One that is there just so already changes nothing: the step finds what was planned.
        let is_there = self.tree.get(name.file()) == Some(&disk::saved());
        if is_there {
            return Fault::Never;
        }
        let stays = |tree: &Tree| {
            let mut above = name.file().match_indices('/').map(|(at, _)| &name.file()[..at]);
            above.all(|folder| matches!(tree.get(folder), Some(Thing::Folder { .. })))
        };
        let after = expected.map(|expected| expected.view.tree(&self.truth));
        if stays(&self.tree) && stays(after.as_ref().unwrap_or(&self.tree)) { fault } else { Fault::Never }
    }

    /// It was refused: that must be for a reason, and nothing has changed.
    fn was_refused(&self, at: usize, step: &Step<'_>, error: &retake_engine::EngineError) {
        let act = step.act;
        assert_same(&disk::all(&self.root()), &self.tree, &(act, "what is refused changes nothing", error));
        let Some(told) = &step.told else { return };
        let named = |name: &str| told.paths.iter().any(|path| path.path == name);
        let is_unnamed = step.chosen.0.iter().any(|(name, _)| !named(name.str()));
        let nothing = step.scope == Scope::Files && !told.moves();
        assert!(told.conflicts() || is_unnamed || nothing, "{act:?} in {at}: {error:?}\n{told:#?}");
        if let Some(op) = self.untouched(at, act, step) {
            panic!("{act:?} of {op:?} where nobody has touched anything: {error:?}");
        }
    }

    /// The operation that a plain undo or redo reverses, if nothing was written since.
    fn untouched(&self, at: usize, act: &Act, step: &Step<'_>) -> Option<std::rc::Rc<Op>> {
        let talk = &self.talks[at];
        let plain = step.scope == Scope::Both && step.chosen.0.is_empty() && step.chosen.1.is_none();
        let op = match act {
            Act::Undo(0 | 1) => talk.done.last().and_then(|done| match done {
                Done::Op(op) => Some(op),
                Done::Turn(_) => None,
            }),
            Act::Redo(0 | 1) => talk.undone.last().map(|(_, op)| op).filter(|op| op.all == 1),
            _ => None,
        };
        op.filter(|op| {
            let files = op.files.as_ref();
            plain && files.is_some_and(|it| it.trees.1 == self.tree && it.deltas == talk.deltas.len())
        })
        .cloned()
    }

    /// It was done.
    fn was_done(&mut self, at: usize, step: Step<'_>, done: Option<&AppliedFiles>) {
        let act = step.act;
        let Some(expected) = step.expected else { panic!("{act:?} should be refused: {done:?}") };
        let mut found = disk::all(&self.root());
        if let Some((path, _)) = step.saved {
            // That comes later.
            let before = || expected.view.tree(&self.truth).remove(path);
            let before = expected.exact.get(path).cloned().unwrap_or_else(before);
            found.remove(path);
            found.extend(before.map(|before| (path.clone(), before)));
        }
        let skip = step.saved.as_ref().map(|(path, _)| path.as_str());
        if let Some(told) = &step.told {
            assert!(!told.conflicts(), "{act:?} was done in spite of a conflict: {told:#?}");
            told.is_so(&found, &self.tree, skip, act);
        }
        if step.scope == Scope::Conversation {
            assert_same(&found, &self.tree, &(act, "the conversation alone"));
        }
        if step.touches {
            told::holds(&self.tree, &found, &self.talks[at], &expected, &self.truth, act);
        }
        if let Some(op) = self.untouched(at, act, &Step { outcome: None, expected: None, told: None, ..step })
        {
            let files = op.files.as_ref().expect("it has some");
            assert_same(&found, &files.trees.0, &(act, "what nobody touched comes back"));
        }
        let outcome = step.outcome.expect("expected");
        let plain = step.scope == Scope::Both && step.chosen.0.is_empty() && step.chosen.1.is_none();
        if !plain {
            self.alone = None;
        }
        if let Some(alone) = self.alone.as_ref().filter(|_| at == 0)
            && outcome.talk.dropped.is_empty()
            && let Some(expected) = alone.get(&outcome.talk.tip)
        {
            assert_same(&found, expected, &(act, "nobody else was there"));
        }
        let nothing = outcome.is_nothing(act) && step.scope != Scope::Files;
        let moves = step.told.as_ref().is_some_and(Told::moves);
        let is_step = done.map_or(!nothing || moves, |done| !done.receipt.ops.is_empty());
        assert!(is_step || nothing, "{act:?} made no operation: {done:?}");
        let view = expected.view.clone();
        let kept = (self.talks[at].kept.clone(), expected.kept.clone());
        let views = (self.talks[at].view.clone(), view.clone());
        let trees = (self.tree.clone(), found.clone());
        let files_alone = step.scope == Scope::Files || nothing;
        let mut talk = if files_alone { self.talks[at].clone() } else { outcome.talk.clone() };
        (talk.view, talk.kept) = (view, expected.kept);
        self.talks[at] = talk;
        if found == self.tree {
            // What is nobody's stays so.
            self.settle(at);
        } else {
            self.put_back(at, found);
        }
        if is_step {
            let deltas = self.talks[at].deltas.len();
            let views = (views.0, self.talks[at].view.clone());
            let files = (step.scope != Scope::Conversation).then_some(Files { trees, views, deltas });
            let (kinds, act) =
                if files_alone { (vec![Kind::Files], &Act::Checkout(None)) } else { (outcome.kinds, act) };
            let ops = self.ops(at, kinds, files, (kept.0, &outcome.kept, kept.1));
            self.talks[at].did(act, ops);
        }
    }

    /// The operations of a step. What it does to files is the last one's.
    fn ops(
        &self,
        at: usize,
        kinds: Vec<Kind>,
        files: Option<Files>,
        (mut before, between, after): (Kept, &[Kept], Kept),
    ) -> Vec<Op> {
        let (talk, all) = (&self.talks[at], kinds.len());
        let mut ops = Vec::new();
        for (place, kind) in kinds.into_iter().enumerate() {
            let then = if place + 1 == all { after.clone() } else { between[place].clone() };
            let kept = (std::mem::replace(&mut before, then.clone()), then);
            ops.push(Op { kind, files: None, kept, at: talk.said.len(), all, head: talk.ops });
        }
        ops.last_mut().expect("one at least").files = files;
        ops
    }

    /// After something went wrong: whether the step is done all the same, once what is open is settled.
    async fn is_decided(&mut self) -> bool {
        let intents = self.engine().kept().intents().await.expect("intents");
        let Some(intent) = intents.first() else { return false };
        let forward = intent.op.is_some() && !intent.back;
        self.restart().await;
        forward
    }
}

/// A step that was planned.
struct Step<'a> {
    act: &'a Act,
    scope: Scope,
    chosen: &'a Chosen,
    outcome: Option<Outcome>,
    expected: Option<Expected>,
    told: Option<Told>,
    /// Whether files are looked at.
    touches: bool,
    saved: &'a Option<(String, Thing)>,
}
