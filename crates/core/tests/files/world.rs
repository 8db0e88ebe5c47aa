//! Does each step with core's plans and in the naive model, and compares plan and result. The folder, its versions and its
//! records are in memory.

use std::collections::BTreeMap;

use retake_core::{
    Choice, Chosen, ConversationId, CurrentPath, DeltaId, DesiredState, EntryId, FileChange, FilePath,
    FilePlan, Grade, Head, MergeBytes, Moves, PathPlan, PlanInput, Record, Role, Scope, Uncertain,
    WantedPath,
};

use super::bytes::Versions;
use super::expect::{Asked, expect};
use super::folder;
use super::ideal::{Model, Step, difference};
use super::log::Log;
use super::naive::{Act, Outcome, Talk, Thing, Tree};
use super::steps::{Aim, Do, Edit};
use super::text::Mint;
use super::told::Told;
use crate::kit::new_id;

/// Two conversations in one folder, and their expected state.
pub(super) struct World {
    model: Model,
    logs: Vec<Log>,
    versions: Versions,
    /// The last version of each path that no call wrote.
    theirs: BTreeMap<FilePath, Option<Record>>,
    mint: Mint,
}

fn path(name: &str) -> FilePath {
    FilePath::new(name.as_bytes()).expect("a path")
}

impl World {
    /// A folder after these edits.
    pub(super) fn new(edits: &[Edit]) -> Self {
        let (mut mint, mut tree) = (Mint::default(), Tree::new());
        edits.iter().for_each(|edit| folder::edit(&mut tree, edit, &mut mint, "b"));
        let talks = (0..2).map(|_| Talk::new(ConversationId::new(new_id()))).collect();
        let model = Model::new(talks, tree);
        let (versions, theirs) = (Versions::default(), BTreeMap::new());
        Self { model, logs: vec![Log::new(1), Log::new(2)], versions, theirs, mint }
    }

    /// Does a step.
    pub(super) fn step(&mut self, at: usize, step: &Do) {
        let is_open = self.model.talks[at].open.is_some();
        match step {
            Do::Call(says, edits) if !is_open => {
                self.begin(at, *says);
                self.edit(edits);
                self.end(at);
            }
            Do::Begin(says) if !is_open => self.begin(at, *says),
            Do::End if is_open => self.end(at),
            Do::Edit(edits) => {
                if !self.model.is_open() {
                    self.model.alone = None;
                }
                self.edit(edits);
            }
            Do::Checkpoint => self.look(None),
            Do::Say => {
                self.say(at, Role::User);
                self.model.remember(at);
            }
            Do::Act(aim, scope, (paths, others), _) if !is_open => {
                let paths = paths.iter().map(|(name, choice)| (name.str().to_owned(), choice.clone()));
                self.act(at, *aim, *scope, &(paths.collect(), others.clone()));
            }
            Do::Kill => self.kill(),
            // Steps of a disk or of the program; or steps that need an open call, or none.
            Do::Git(_) | Do::Restart | Do::Call(..) | Do::Begin(_) | Do::End | Do::Act(..) => {}
        }
        for talk in &mut self.model.talks {
            let head = Head::new(talk.ops as u64, talk.said.len() as u64);
            if talk.heads.last().is_none_or(|(last, ..)| *last != head) {
                talk.heads.push((head, talk.tip, talk.kept.clone()));
            }
        }
    }

    /// Ends every call.
    pub(super) fn close(&mut self) {
        for at in 0..self.model.talks.len() {
            if self.model.talks[at].open.is_some() {
                self.end(at);
            }
        }
    }

    fn edit(&mut self, edits: &[Edit]) {
        let who = match (self.model.talks[0].open, self.model.talks[1].open) {
            (None, None) => "person".to_owned(),
            (Some(call), None) => format!("x{call}"),
            (None, Some(call)) => format!("y{call}"),
            _ => "either".to_owned(),
        };
        edits.iter().for_each(|edit| folder::edit(&mut self.model.tree, edit, &mut self.mint, &who));
    }

    fn say(&mut self, at: usize, role: Role) -> usize {
        let entry = self.model.talks[at].say(EntryId::new(new_id()), role);
        self.model.remember(at);
        entry
    }

    fn begin(&mut self, at: usize, says: bool) {
        self.look(None);
        if says || self.model.talks[at].tip.is_none() {
            self.say(at, Role::User);
        }
        let call = self.say(at, Role::Assistant);
        self.model.talks[at].open = Some(call);
        if at != 0 {
            self.model.alone = None;
        }
    }

    fn end(&mut self, at: usize) {
        let result = self.say(at, Role::Tool);
        self.look(Some((at, result)));
        self.model.talks[at].open = None;
        self.model.remember(at);
    }

    /// The program is killed with the open calls. Changes since then have an unknown author.
    fn kill(&mut self) {
        let open: Vec<Option<usize>> = self.model.talks.iter().map(|talk| talk.open).collect();
        if open.iter().all(Option::is_none) {
            return;
        }
        self.model.alone = None;
        for at in (0..open.len()).filter(|at| open[*at].is_some()) {
            self.say(at, Role::Tool);
            self.model.talks[at].open = None;
        }
        self.record(&open, Grade::Ambiguous(Uncertain::CutOff));
        self.model.attribute(&open, false);
    }

    /// Captures the folder: changes belong to the open calls, or to nobody; with the ending call and the entry of its result.
    fn look(&mut self, ending: Option<(usize, usize)>) {
        let talks = self.model.talks.iter().enumerate();
        let of = |(at, talk): (usize, &Talk)| {
            ending.filter(|(ending, _)| *ending == at).map(|(_, entry)| entry).or(talk.open)
        };
        let entries: Vec<Option<usize>> = talks.map(of).collect();
        let open = self.model.talks.iter().filter(|talk| talk.open.is_some()).count();
        let grade = if open > 1 { Grade::Ambiguous(Uncertain::Several) } else { Grade::Seen };
        self.record(&entries, grade);
        self.model.look(ending);
    }

    /// Records the changes since the last capture.
    fn record(&mut self, entries: &[Option<usize>], grade: Grade) {
        let (mut changes, versions) = (Vec::new(), &mut self.versions);
        for (name, before, after) in difference(&self.model.looked, &self.model.tree) {
            let mut record = |thing: Option<Thing>| thing.map(|thing| versions.record(&thing));
            changes.push(FileChange { path: path(&name), before: record(before), after: record(after) });
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        if entries.iter().all(Option::is_none) {
            self.theirs.extend(changes.into_iter().map(|change| (change.path, change.after)));
        } else if !changes.is_empty() {
            for (at, entry) in entries.iter().enumerate() {
                entry.iter().for_each(|entry| self.logs[at].saw(*entry, grade, &changes));
            }
        }
    }

    /// Plans an action and applies it.
    fn act(
        &mut self,
        at: usize,
        aim: Aim,
        scope: Scope,
        chosen: &(BTreeMap<String, Choice>, Option<Choice>),
    ) {
        let Some(act) = self.model.aim(at, aim) else { return };
        let touches = scope != Scope::Conversation && !self.model.talks[at].deltas.is_empty();
        if self.model.talks[at].act(&act).is_none() {
            return;
        }
        if touches {
            self.look(None);
        }
        let Some(outcome) = self.model.talks[at].act(&act) else { return };
        let plan = if touches { self.plan(at, &act, &outcome, chosen) } else { FilePlan::default() };
        let found = self.changed(&plan);
        let (talk, log) = (&self.model.talks[at], &self.logs[at]);
        let told = Told::new([&plan], |delta| log.entry(delta));
        let (paths, others) = chosen.clone();
        let (again, applied) = (told.again(talk), log.applied_of());
        let asked = Asked { act: &act, scope, chosen: paths, others, again, applied };
        let mut expected = expect(talk, &outcome, &asked);
        told.fits(&expected, &act);
        let moves = plan.paths.iter().map(|path| &path.step);
        let counts = |step: &&retake_core::PathMove| {
            step.change.before != step.change.after || step.stack_before != step.stack_after
        };
        let moves: Moves =
            moves.filter(counts).map(|step| (step.change.path.clone(), step.clone())).collect();
        let is_something = !moves.is_empty() || plan.adopted().next().is_some();
        let is_unnamed = |name: &String| plan.paths.iter().all(|path| path.path.to_string() != *name);
        let nothing = scope == Scope::Files && !is_something;
        let step = Step {
            act: &act,
            scope,
            is_plain: chosen.0.is_empty() && chosen.1.is_none(),
            names: chosen.0.keys().cloned().collect(),
            touches,
            saved: &None,
            told: Some(told),
            expected: None,
            outcome: None,
        };
        if !plan.is_clean() || nothing || chosen.0.keys().any(is_unnamed) {
            let tree = self.model.tree.clone();
            self.model.was_refused(at, &step, &tree, &"refused");
            return;
        }
        let adopted = plan.adopted().filter_map(|(delta, path)| Some((log.entry(delta)?, path.to_string())));
        expected.kept.paths.extend(adopted);
        let is_op = !outcome.is_nothing(&act) || is_something;
        let step = Step { expected: Some(expected), outcome: Some(outcome), ..step };
        self.model.was_done(at, step, found, Some(is_op));
        if !moves.is_empty() {
            self.logs[at].did(self.model.talks[at].ops, moves);
        }
    }

    /// Core's plan.
    fn plan(
        &mut self,
        at: usize,
        act: &Act,
        outcome: &Outcome,
        (paths, others): &(BTreeMap<String, Choice>, Option<Choice>),
    ) -> FilePlan {
        let (talk, log) = (&self.model.talks[at], &self.logs[at]);
        if matches!(act, Act::Show(_)) && !log.flips(talk, outcome) {
            return FilePlan::default();
        }
        let mut wanted_paths = log.wanted_paths(talk, act, outcome, &mut self.versions);
        let paths = paths.iter().map(|(name, choice)| (path(name), choice.clone())).collect();
        let mut chosen = Chosen { paths, others: others.clone() };
        let mut looking =
            Looking { tree: &self.model.tree, talk, log, versions: &mut self.versions, theirs: &self.theirs };
        let mut plan = FilePlan::new(wanted_paths.clone(), &chosen, &mut looking).expect("no hunks");
        // The content of a folder that is replaced goes with it.
        let in_the_way = plan.in_the_way(&chosen, &mut looking);
        if !in_the_way.is_empty() {
            for path in in_the_way {
                chosen.paths.entry(path.clone()).or_insert(Choice::Checkpoint);
                let want = DesiredState::Version { record: None, named: true };
                wanted_paths.push(WantedPath { stack: log.stack(&path), path, want });
            }
            plan = FilePlan::new(wanted_paths, &chosen, &mut looking).expect("no hunks");
        }
        // A folder created for returning content keeps its layers.
        let is_made = |path: &&mut PathPlan| {
            path.out.is_empty() && path.into.is_empty() && path.step.stack_before.layers().is_empty()
        };
        for path in plan.paths.iter_mut().filter(is_made) {
            path.step.stack_before = log.stack(&path.path);
            path.step.stack_after = path.step.stack_before.clone();
        }
        plan
    }

    /// The folder after a plan.
    fn changed(&mut self, plan: &FilePlan) -> Tree {
        let mut tree = self.model.tree.clone();
        for change in plan.changes() {
            let name = change.path.to_string();
            let found = tree.get(&name).map(|thing| self.versions.record(thing));
            assert_eq!(found, change.before, "what is at {name}");
            match &change.after {
                Some(record) => drop(tree.insert(name, self.versions.thing(record))),
                None => drop(tree.remove(&name)),
            }
        }
        for (name, thing) in &tree {
            for (at, _) in name.match_indices('/') {
                let is_folder = matches!(tree.get(&name[..at]), Some(Thing::Folder { .. }));
                assert!(is_folder || !plan.is_clean(), "{name} has no folder to be in: {thing:?}\n{plan:#?}");
            }
        }
        tree
    }
}

/// What a plan reads.
struct Looking<'a> {
    tree: &'a Tree,
    talk: &'a Talk,
    log: &'a Log,
    versions: &'a mut Versions,
    theirs: &'a BTreeMap<FilePath, Option<Record>>,
}

impl PlanInput for Looking<'_> {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self.versions
    }

    fn now(&mut self, path: &FilePath) -> CurrentPath {
        let thing = self.tree.get(&path.to_string());
        CurrentPath::Covered(thing.map(|thing| self.versions.record(thing)))
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        let all = self.tree.keys().map(|name| path(name));
        all.filter(|path| path.parent().as_ref() == Some(folder)).map(Some).collect()
    }

    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>> {
        self.theirs.get(path).cloned()
    }

    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId> {
        self.log.left_by(path, record)
    }

    fn is_adopted(&mut self, path: &FilePath, delta: DeltaId) -> bool {
        let entry = self.log.entry(delta);
        let kept = &self.talk.kept;
        entry.is_some_and(|it| kept.adopted.contains(&it) || kept.paths.contains(&(it, path.to_string())))
    }

    fn is_git_s(&mut self, _: &FilePath) -> bool {
        false
    }
}
