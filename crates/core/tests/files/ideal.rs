//! A folder and its conversations in the ideal: the author of each change, and the required result of a step. The folder itself
//! may be in memory or on a disk; its owner passes the content.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use retake_core::{Role, Scope};

use super::expect::Expected;
use super::naive::{Act, Delta, Done, Files, Kept, Kind, Op, Outcome, Talk, Thing, Tree};
use super::steps::Aim;
use super::told::{self, Told};
use super::truth::{News, Reg, Truth, Val};
use super::view::{View, Who};

/// The model.
pub(super) struct Model {
    pub(super) talks: Vec<Talk>,
    /// The content of the folder.
    pub(super) tree: Tree,
    /// Its content at the last capture.
    pub(super) looked: Tree,
    pub(super) truth: Truth,
    /// While only one conversation's calls have changed anything: the folder at each tip.
    pub(super) alone: Option<HashMap<Option<usize>, Tree>>,
}

impl Model {
    /// Of conversations that begin with this folder.
    pub(super) fn new(mut talks: Vec<Talk>, tree: Tree) -> Self {
        let mut truth = Truth::default();
        let news = truth.advance(&tree, &BTreeMap::new());
        talks.iter_mut().for_each(|talk: &mut Talk| learn(&mut talk.view, &news, Who::Base));
        Self { talks, looked: tree.clone(), truth, alone: Some([(None, tree.clone())].into()), tree }
    }

    pub(super) fn is_open(&self) -> bool {
        self.talks.iter().any(|talk| talk.open.is_some())
    }

    /// Captures the folder: changes belong to the open calls, or to nobody. When the call of a conversation ends, its own changes
    /// belong to the entry with its result.
    pub(super) fn look(&mut self, ending: Option<(usize, usize)>) {
        let open = self.talks.iter().filter(|talk| talk.open.is_some()).count();
        let own = |at: usize| ending.filter(|(ending, _)| *ending == at).map(|(_, entry)| entry);
        let entries: Vec<Option<usize>> =
            self.talks.iter().enumerate().map(|(at, talk)| own(at).or(talk.open)).collect();
        self.attribute(&entries, open == 1);
    }

    /// Attributes the changes since the last capture to these entries.
    pub(super) fn attribute(&mut self, entries: &[Option<usize>], sure: bool) {
        let before = std::mem::replace(&mut self.looked, self.tree.clone());
        let news = self.truth.advance(&self.tree, &BTreeMap::new());
        for (at, entry) in entries.iter().enumerate() {
            let talk = &mut self.talks[at];
            let who = entry.map_or(Who::Other, |entry| Who::Own(entry, sure));
            learn(&mut talk.view, &news, who);
            self.truth.come_back(&mut talk.view, &news, who);
            if let Who::Own(entry, sure) = who
                && !news.events.is_empty()
            {
                let changed = difference(&before, &self.tree).into_iter();
                let before = changed.map(|(path, before, _)| (path, before)).collect();
                let (events, ops) = (news.events.clone(), talk.ops);
                talk.deltas.push(Delta { entry, sure, events, before, ops });
                // Changes of a call seen before later entries belong to its entry: so they are there at all tips from then on.
                let since = |tip: &Option<usize>| talk.path_to(*tip).contains(&entry);
                self.alone.iter_mut().for_each(|alone| alone.retain(|tip, _| !since(tip)));
                self.remember(at);
            }
        }
    }

    /// A step has changed nothing on the disk.
    pub(super) fn settle(&mut self, at: usize) {
        let talk = &mut self.talks[at];
        self.truth.begin_again(&mut talk.view);
        for event in self.truth.apart(&talk.view) {
            talk.view.write(&event, Who::Other);
            talk.view.unsure.insert(event.reg.clone());
        }
    }

    /// A step of a conversation has restored files: its own view is now true, and for the other conversation it is a change by
    /// another author.
    pub(super) fn put_back(&mut self, at: usize, tree: Tree) {
        self.looked = tree.clone();
        let hint = self.talks[at].view.hint();
        let news = self.truth.advance(&tree, &hint);
        self.tree = tree;
        for (other, talk) in self.talks.iter_mut().enumerate() {
            if other != at {
                learn(&mut talk.view, &news, Who::Other);
                self.truth.come_back(&mut talk.view, &news, Who::Other);
                continue;
            }
            news.born.iter().for_each(|(text, body)| talk.view.begin(*text, body));
            self.truth.begin_again(&mut talk.view);
            // The real content differs from the model: the layers below are unknown, too.
            for event in self.truth.apart(&talk.view) {
                talk.view.write(&event, Who::Other);
                talk.view.unsure.insert(event.reg.clone());
            }
        }
    }

    /// Records the folder at this tip, while one conversation is alone with it and nothing is dropped.
    pub(super) fn remember(&mut self, at: usize) {
        let (tip, whole) = (self.talks[at].tip, self.talks[at].dropped.is_empty());
        // A call's changes belong to its end.
        let is_open = self.is_open();
        match self.alone.as_mut().filter(|_| at == 0 && !is_open) {
            Some(alone) if whole => drop(alone.insert(tip, self.tree.clone())),
            Some(alone) => drop(alone.remove(&tip)),
            None => {}
        }
    }

    /// The target of an action, if there is one.
    pub(super) fn aim(&self, at: usize, aim: Aim) -> Option<Act> {
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

    /// It was refused: that needs a reason, and nothing has changed.
    pub(super) fn was_refused(&self, at: usize, step: &Step<'_>, found: &Tree, error: &dyn fmt::Debug) {
        let act = step.act;
        assert_same(found, &self.tree, &(act, "what is refused changes nothing", error));
        let Some(told) = &step.told else { return };
        let named = |name: &str| told.paths.iter().any(|path| path.path == name);
        let is_unnamed = step.names.iter().any(|name| !named(name));
        let nothing = step.scope == Scope::Files && !told.moves();
        assert!(told.conflicts() || is_unnamed || nothing, "{act:?} in {at}: {error:?}\n{told:#?}");
        if let Some(op) = self.untouched(at, act, step) {
            panic!("{act:?} of {op:?} where nobody has touched anything: {error:?}");
        }
    }

    /// The operation that a plain undo or redo reverses, if nothing was written since.
    fn untouched(&self, at: usize, act: &Act, step: &Step<'_>) -> Option<std::rc::Rc<Op>> {
        let talk = &self.talks[at];
        let plain = step.scope == Scope::Both && step.is_plain;
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

    /// It was applied, with this content of the folder. Whether it made an operation, if known.
    pub(super) fn was_done(&mut self, at: usize, step: Step<'_>, mut found: Tree, made_op: Option<bool>) {
        let act = step.act;
        let Some(expected) = step.expected else { panic!("{act:?} should be refused") };
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
        let plain = step.scope == Scope::Both && step.is_plain;
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
        let is_step = made_op.unwrap_or(!nothing || moves);
        assert!(is_step || nothing, "{act:?} made no operation");
        let view = expected.view.clone();
        let kept = (self.talks[at].kept.clone(), expected.kept.clone());
        let views = (self.talks[at].view.clone(), view.clone());
        let trees = (self.tree.clone(), found.clone());
        let files_alone = step.scope == Scope::Files || nothing;
        let mut talk = if files_alone { self.talks[at].clone() } else { outcome.talk.clone() };
        (talk.view, talk.kept) = (view, expected.kept);
        self.talks[at] = talk;
        if found == self.tree {
            // Changes without an author stay so.
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

    /// The operations of a step. The last one has the file changes.
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
            let (no, at) = (talk.ops + place + 1, talk.said.len());
            ops.push(Op { no, kind, files: None, kept, at, all, head: talk.ops });
        }
        ops.last_mut().expect("one at least").files = files;
        ops
    }
}

/// A planned step.
pub(super) struct Step<'a> {
    pub(super) act: &'a Act,
    pub(super) scope: Scope,
    /// Whether nothing is chosen, and the paths with a choice.
    pub(super) is_plain: bool,
    pub(super) names: Vec<String>,
    pub(super) outcome: Option<Outcome>,
    pub(super) expected: Option<Expected>,
    pub(super) told: Option<Told>,
    /// Whether files are involved.
    pub(super) touches: bool,
    pub(super) saved: &'a Option<(String, Thing)>,
}

/// This author has written these.
fn learn(view: &mut View, news: &News, who: Who) {
    news.born.iter().for_each(|(text, body)| view.begin(*text, body));
    news.events.iter().for_each(|event| view.write(event, who));
    for path in &news.unclear {
        let whole = Reg::Whole(path.clone());
        let texts: Vec<usize> = view
            .piles
            .get(&whole)
            .into_iter()
            .flatten()
            .filter_map(|item| match item.val {
                Val::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let within: Vec<Reg> = view
            .piles
            .keys()
            .filter(|reg| reg.text().is_some_and(|text| texts.contains(&text)))
            .cloned()
            .collect();
        view.unsure.extend(within);
        view.unsure.insert(whole);
    }
}

/// Compares two trees, and shows their difference.
pub(super) fn assert_same(found: &Tree, expected: &Tree, told: &dyn std::fmt::Debug) {
    let apart: Vec<_> = difference(found, expected);
    assert!(apart.is_empty(), "{told:?}\npath, found, expected: {apart:#?}");
}

/// The difference of two trees.
pub(super) fn difference(before: &Tree, after: &Tree) -> Vec<(String, Option<Thing>, Option<Thing>)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let both =
        names.into_iter().map(|name| (name.clone(), before.get(name).cloned(), after.get(name).cloned()));
    both.filter(|(_, before, after)| before != after).collect()
}
