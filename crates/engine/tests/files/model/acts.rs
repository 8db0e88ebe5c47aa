//! Rewinds, undos, redos, drops and branch switches: planned and applied, and compared with the model.

use std::collections::BTreeMap;

use retake_core::{Action, Apply, EntryId, Reason, SeenState};
use retake_engine::{AppliedFiles, FileOptions, PlannedFiles, Result, Scope};

use super::disk;
use super::expect::{Asked, Expected, expect};
use super::ideal::Step;
use super::naive::{Act, Thing, Tree};
use super::steps::{Aim, Chosen, Fault};
use super::told::Told;
use super::world::World;

impl World {
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

    /// Plans an action and applies it.
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
        let apply = Apply { action: action.clone(), seen: SeenState::Anything, by };
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
        // A refusal of the conversation's half reads no files.
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
        let is_plain = chosen.0.is_empty() && chosen.1.is_none();
        let names = chosen.0.iter().map(|(name, _)| name.str().to_owned()).collect();
        let step =
            Step { act: &act, scope, is_plain, names, outcome, expected, told, touches, saved: &saved };
        let found = disk::all(&self.root());
        match done {
            Ok(done) => self.was_done(at, step, found, Some(!done.receipt.ops.is_empty())),
            Err(error) if struck => {
                let is_done = self.is_decided().await;
                if is_done {
                    let found = disk::all(&self.root());
                    self.was_done(at, step, found, None);
                }
                drop(error);
            }
            Err(error) => self.was_refused(at, &step, &found, &error),
        }
        self.check_attributes(&act, &there, &tags, saved.as_ref().map(|(path, _)| path));
        if let Some((path, thing)) = saved {
            self.alone = None;
            self.tree.insert(path, thing);
        }
    }

    /// Compares the attributes of all files with those before an action; `skip` is a path that a person saved meanwhile.
    fn check_attributes(
        &self,
        act: &Act,
        there: &Tree,
        tags: &BTreeMap<String, Option<Vec<u8>>>,
        skip: Option<&String>,
    ) {
        // Attributes outside of a record stay with their file. Another version may bring its own.
        let now = disk::all(&self.root());
        for (path, tag) in disk::tags(&self.root(), &now) {
            let is_another = there.get(&path) != now.get(&path) || skip == Some(&path);
            let is_same = tags.get(&path).is_none_or(|before| *before == tag);
            // An attribute that a person has set on a version stays with the file when that version goes.
            let set = self.set.get(&path).filter(|(_, on)| there.get(&path) == Some(on));
            let is_theirs = set.is_some_and(|(set, _)| tags.get(&path) == Some(&Some(set.clone())));
            // A version that existed after that returns with its attribute.
            let mut since = self.since.iter().filter(|(of, ..)| *of == path);
            let came_so = since.any(|(_, thing, had)| now.get(&path) == Some(thing) && *had == tag);
            let may_differ = is_another && (!is_theirs || came_so || skip == Some(&path));
            assert!(is_same || may_differ, "{act:?}: the attributes of {path}: {tag:?}");
        }
    }

    /// Applies it: once, or twice at the same time as the same request.
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
            // A client that learns that the other one is at work repeats its request.
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

    /// A fault that is possible here. An open call would be lost with the program, and a file saved in a temporary folder would
    /// keep that folder.
    fn possible(&self, fault: Fault, expected: Option<&Expected>) -> Fault {
        let Fault::Saves(_, name) = fault else {
            return if self.is_open() && !matches!(fault, Fault::Twins) { Fault::Never } else { fault };
        };
        // Saving an identical file changes nothing: the step finds what was planned.
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

    /// After a failure: whether the step is done anyway, once open work is settled.
    async fn is_decided(&mut self) -> bool {
        let intents = self.engine().kept().intents().await.expect("intents");
        let Some(intent) = intents.first() else { return false };
        let forward = intent.op.is_some() && !intent.back;
        self.restart().await;
        forward
    }
}

impl World {
    /// The plan in the model's terms.
    async fn told(&self, at: usize, planned: &PlannedFiles) -> Told {
        assert!(planned.files.len() <= 1, "there is one folder");
        let talk = &self.talks[at];
        let deltas = self.engine().kept().deltas(talk.id).await.expect("deltas");
        let mut entries = Vec::new();
        for (line, entry) in deltas {
            let place = talk.said.iter().position(|said| EntryId::eq(&said.id, &entry));
            entries.push((line.id, place.expect("it was said")));
        }
        let plans = planned.files.iter().map(|folder| &folder.plan);
        Told::new(plans, |no| entries.iter().find(|(of, _)| *of == no).map(|(_, entry)| *entry))
    }

    /// Whether all or none of the changes of entries are in the files, according to the store; `None` for a part.
    async fn applied(&self, at: usize) -> BTreeMap<usize, Option<bool>> {
        let talk = &self.talks[at];
        let mut applied: BTreeMap<usize, (bool, bool)> = BTreeMap::new();
        for (line, entry) in self.engine().kept().deltas(talk.id).await.expect("deltas") {
            let place = talk.said.iter().position(|said| EntryId::eq(&said.id, &entry)).expect("it was said");
            let (all, none) = applied.entry(place).or_insert((true, true));
            *all &= line.applied == line.paths;
            *none &= line.applied == 0;
        }
        let known = applied.into_iter().map(|(entry, (all, none))| (entry, (all || none).then_some(all)));
        known.collect()
    }
}
