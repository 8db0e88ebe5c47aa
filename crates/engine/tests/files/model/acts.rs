//! Rewinds, undos, redos, drops and branch switches: planned and applied, and held against what the model decides.

use std::collections::{BTreeMap, HashMap};

use retake_core::{Choice, Reason, Role, Seen, Verdict};
use retake_engine::store::{Action, Apply};
use retake_engine::{FilesPlanned, FilesWish, Result, Scope};

use super::decide::{Known, Plan, plan};
use super::naive::{Act, Done, Kind, Layers, Moved, Op, Outcome, Talk, Thing, Tree};
use super::steps::{Aim, Chosen, Fault};
use super::world::{World, assert_same};

/// What a step comes to: how the conversation and the folder are then, or why it is refused.
type Decided = std::result::Result<(Talk, Tree), &'static str>;

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
        let wished = retake_core::Chosen { paths: paths.collect(), others: chosen.1.clone() };
        let wish = FilesWish { scope, chosen: wished, ..FilesWish::default() };
        let apply = Apply { action: action.clone(), seen: Seen::Anything, by: self.engine().by(None) };
        if self.talks[at].open.is_some() {
            if !matches!(act, Act::Drop(..) | Act::Show(_)) {
                let refused = self.engine().apply_both(id, apply, wish).await;
                assert!(refused.is_err(), "a call is open");
            }
            return;
        }
        let planned = self.engine().plan_both(id, action, wish.clone()).await;
        let touches = scope != Scope::Conversation && !self.talks[at].deltas.is_empty();
        if touches {
            self.look();
        }
        let outcome = self.talks[at].act(&act);
        let made = outcome.as_ref().filter(|_| touches).map(|outcome| self.planned(at, outcome, chosen));
        // Of files that no call has ever changed nothing is asked.
        compare(&planned, outcome.is_some() || scope == Scope::Files && !touches, made.as_ref(), &act);
        self.check(&("the plan of", &act)).await;
        // What is chosen for a name that the plan has not would be chosen in silence.
        let is_planned = |made: &Plan| chosen.0.iter().all(|(name, _)| made.contains_key(name.str()));
        let decided = match made {
            Some(made) if !is_planned(&made) => Err("nothing in the plan is called so"),
            made => self.decided(at, &act, outcome, scope, made),
        };
        self.as_when_alone(at, &act, scope, chosen, &decided);
        let fault = self.possible(fault, &decided);
        self.faults.expect(fault, &self.root());
        let seen = planned.ok().map(|planned| planned.digest);
        let done = self.engine().apply_both(id, apply, FilesWish { seen, ..wish }).await;
        let struck = self.faults.over();
        let saved = self.faults.saved();
        match (decided, done) {
            (Ok((talk, tree)), Ok(_)) => self.becomes(at, talk, tree),
            (Ok((talk, tree)), Err(error)) => {
                assert!(struck, "{act:?}: {error:?}");
                if self.is_decided().await {
                    self.becomes(at, talk, tree);
                }
            }
            (Err(_), Err(_)) => assert!(!struck, "{act:?}"),
            (Err(why), Ok(done)) => panic!("{act:?} should be refused ({why}): {:?}", done.receipt),
        }
        if saved.is_some() {
            self.alone = None;
        }
        self.tree.extend(saved);
    }

    /// A call that is open would be lost with the program; and what is saved in a folder that is there for a moment only
    /// keeps it there.
    fn possible(&self, fault: Fault, decided: &Decided) -> Fault {
        let Fault::Saves(_, name) = fault else {
            return if self.is_open() { Fault::Never } else { fault };
        };
        let stays = |tree: &Tree| {
            let mut above = name.str().match_indices('/').map(|(at, _)| &name.str()[..at]);
            above.all(|folder| matches!(tree.get(folder), Some(Thing::Folder { .. })))
        };
        let after = decided.as_ref().map_or(&self.tree, |(_, tree)| tree);
        if stays(&self.tree) && stays(after) { fault } else { Fault::Never }
    }

    fn planned(&self, at: usize, outcome: &Outcome, chosen: &Chosen) -> Plan {
        let mut choices: HashMap<String, Choice> = HashMap::new();
        choices.extend(chosen.0.iter().map(|(name, choice)| (name.str().to_owned(), choice.clone())));
        let known =
            Known { tree: &self.tree, theirs: &self.theirs, chosen: &choices, others: chosen.1.clone() };
        plan(&self.talks[at], outcome, &known)
    }

    /// What an action comes to.
    fn decided(
        &self,
        at: usize,
        act: &Act,
        outcome: Option<Outcome>,
        scope: Scope,
        made: Option<Plan>,
    ) -> Decided {
        let outcome = outcome.ok_or("there is nothing to do")?;
        let (mut talk, mut tree) = (outcome.talk.clone(), self.tree.clone());
        let Some(made) = made else {
            return match scope {
                Scope::Files => Err("no files"),
                _ if outcome.is_nothing(act) => Ok((talk, tree)),
                _ => {
                    let ops = self.ops(at, outcome.kinds, BTreeMap::new(), (&talk.layers, &tree));
                    talk.did(act, ops);
                    Ok((talk, tree))
                }
            };
        };
        if made.values().any(|planned| matches!(planned.verdict, Verdict::Conflict(_))) {
            return Err("conflict");
        }
        let mut moves = BTreeMap::new();
        for (path, planned) in made {
            let moved = planned.moved;
            if moved.before == moved.after && moved.layers_before == moved.layers_after {
                continue;
            }
            match moved.after.clone() {
                Some(thing) => tree.insert(path.clone(), thing),
                None => tree.remove(&path),
            };
            talk.layers.insert(path.clone(), moved.layers_after.clone());
            moves.insert(path, moved);
        }
        let files_alone = scope == Scope::Files || (outcome.is_nothing(act) && !moves.is_empty());
        if outcome.is_nothing(act) && moves.is_empty() && scope == Scope::Both {
            return Ok((talk, tree));
        }
        if scope == Scope::Files && moves.is_empty() {
            return Err("unchanged");
        }
        // Files alone are a step of their own, whatever they were put back for.
        let (kinds, act) =
            if files_alone { (vec![Kind::Files], &Act::Checkout(None)) } else { (outcome.kinds, act) };
        if files_alone {
            talk = Talk { layers: talk.layers, ..self.talks[at].clone() };
        }
        let ops = self.ops(at, kinds, moves, (&talk.layers, &tree));
        talk.did(act, ops);
        Ok((talk, tree))
    }

    /// The operations of a step. What it does to files is the last one's.
    fn ops(
        &self,
        at: usize,
        kinds: Vec<Kind>,
        moves: BTreeMap<String, Moved>,
        (layers, tree): (&Layers, &Tree),
    ) -> Vec<Op> {
        let (talk, all) = (&self.talks[at], kinds.len());
        let one = |kind| Op {
            kind,
            moves: BTreeMap::new(),
            trees: (self.tree.clone(), tree.clone()),
            layers_after: layers.clone(),
            at: talk.said.len(),
            all,
            head: talk.ops,
        };
        let mut ops: Vec<Op> = kinds.into_iter().map(one).collect();
        ops.last_mut().expect("one at least").moves = moves;
        ops
    }

    /// What must be so whatever the rules of merging are: undoing what nobody has touched since brings back exactly
    /// what was there, and a conversation that is alone with its folder finds at each tip what it left there.
    fn as_when_alone(&mut self, at: usize, act: &Act, scope: Scope, chosen: &Chosen, decided: &Decided) {
        let talk = &self.talks[at];
        let plain = scope == Scope::Both && chosen.0.is_empty() && chosen.1.is_none();
        let reversed = match act {
            Act::Undo(0 | 1) => talk.done.last().and_then(|done| match done {
                Done::Op(op) => Some(op),
                Done::Turn(_) => None,
            }),
            Act::Redo(0 | 1) => talk.undone.last().map(|(_, op)| op).filter(|op| op.all == 1),
            _ => None,
        };
        if let Some(op) = reversed.filter(|op| plain && !op.moves.is_empty())
            && op.trees.1 == self.tree
            && op.layers_after == talk.layers
        {
            let (_, tree) = decided.as_ref().unwrap_or_else(|why| panic!("{act:?} of {op:#?}: {why}"));
            assert_same(tree, &op.trees.0, &(act, "what nobody touched comes back"));
        }
        if !plain {
            self.alone = None;
        }
        let Some(alone) = self.alone.as_ref().filter(|_| at == 0) else { return };
        if let Ok((talk, tree)) = decided
            && talk.dropped.is_empty()
        {
            let expected = alone.get(&talk.tip).expect("it has been there");
            assert_same(tree, expected, &(act, "nobody else was there"));
        }
    }

    fn becomes(&mut self, at: usize, talk: Talk, tree: Tree) {
        self.talks[at] = talk;
        if tree != self.tree {
            self.put_back(tree);
        }
    }

    /// After something went wrong: whether the step is done all the same, once what is open is settled.
    async fn is_decided(&mut self) -> bool {
        let intents = self.engine().store().intents().await.expect("intents");
        let Some(intent) = intents.first() else { return false };
        let forward = intent.op.is_some() && !intent.back;
        self.restart().await;
        forward
    }
}

/// Holds a plan against the model's.
fn compare(planned: &Result<FilesPlanned>, allowed: bool, made: Option<&Plan>, act: &Act) {
    let planned = match planned {
        Ok(planned) if allowed => planned,
        Err(_) if !allowed => return,
        other => panic!("{act:?}: allowed {allowed}, got {other:?}"),
    };
    assert!(planned.files.len() <= 1, "there is one folder");
    let found = planned.files.first().map(|folder| {
        let paths = folder.plan.paths.iter();
        paths
            .map(|path| {
                (path.path.to_string(), path.verdict.clone(), path.renamed.as_ref().map(ToString::to_string))
            })
            .collect::<Vec<_>>()
    });
    // A show that brings nothing back has no plan of files: whether there is an empty one makes no difference.
    let counts = |paths: usize| !matches!(act, Act::Show(_)) || paths > 0;
    let found = found.filter(|found: &Vec<_>| counts(found.len()));
    let made = made.filter(|made| counts(made.len()));
    let expected = made.map(|made| {
        let paths = made.iter();
        paths
            .map(|(path, planned)| (path.clone(), planned.verdict.clone(), planned.renamed.clone()))
            .collect::<Vec<_>>()
    });
    assert_eq!(found, expected, "the plan of {act:?}");
}
