//! What a step does to each path, by the rules of `rewind.md`, on plain maps.

use std::collections::{BTreeMap, HashMap};

use retake_core::{Choice, Clash, Grade, Verdict};

use super::merge::{merge, one};
use super::naive::{Kind, Layer, Moved, Outcome, Talk, Thing, Tree};

/// A path of a plan.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) verdict: Verdict,
    pub(super) moved: Moved,
    pub(super) renamed: Option<String>,
    /// What would leave it.
    out: Vec<usize>,
}

pub(super) type Plan = BTreeMap<String, Planned>;

/// What is known when a plan is made.
pub(super) struct Known<'a> {
    pub(super) tree: &'a Tree,
    /// What nobody's call wrote last.
    pub(super) theirs: &'a HashMap<String, Option<Thing>>,
    pub(super) chosen: &'a HashMap<String, Choice>,
    pub(super) others: Option<Choice>,
}

/// What a path is to become.
struct Goal {
    have: Vec<Layer>,
    want: Vec<Layer>,
    /// What is reversed on the way, in this order.
    reversed: Vec<Moved>,
}

/// The plan of an action.
pub(super) fn plan(talk: &Talk, outcome: &Outcome, known: &Known<'_>) -> Plan {
    let mut plan = Plan::new();
    for (path, goal) in goals(talk, outcome) {
        if goal.want != goal.have || !goal.reversed.is_empty() {
            plan.insert(path.clone(), goal.plan(&path, known));
        }
    }
    follow_renames(&mut plan);
    let mut cleared = plan.clone();
    fit_folders(&mut plan, known.tree);
    let way = in_the_way(&plan, known);
    if way.is_empty() {
        return plan;
    }
    for path in way {
        let have = talk.layers.get(&path).cloned().unwrap_or_default();
        let planned = makes_way(have, &path, known);
        cleared.insert(path, planned);
    }
    fit_folders(&mut cleared, known.tree);
    cleared
}

/// What lies in folders that are chosen to make way, and is not planned.
fn in_the_way(plan: &Plan, known: &Known<'_>) -> Vec<String> {
    let chosen = |path: &String| known.chosen.get(path).cloned().or(known.others.clone());
    let makes_way = |(path, planned): &(&String, &Planned)| {
        planned.verdict == Verdict::Conflict(Clash::Kind) && chosen(path) == Some(Choice::Checkpoint)
    };
    let folders: Vec<String> = plan.iter().filter(makes_way).map(|(path, _)| format!("{path}/")).collect();
    let inside = |path: &&String| folders.iter().any(|folder| path.starts_with(folder.as_str()));
    known.tree.keys().filter(inside).filter(|path| !plan.contains_key(*path)).cloned().collect()
}

/// It goes, unless something else is chosen for it by its name. Its layers are those before it was first found missing.
fn makes_way(have: Vec<Layer>, path: &str, known: &Known<'_>) -> Planned {
    let disk = known.tree.get(path).cloned();
    let after = match known.chosen.get(path) {
        Some(Choice::Disk | Choice::Skip) => disk.clone(),
        Some(Choice::Yours) => known.theirs.get(path).cloned().flatten(),
        _ => None,
    };
    let mut layers = have.clone();
    let left = have.last().is_some_and(|last| last.after == after);
    if after != disk
        && !left
        && let Some(kept) = have.iter().rposition(|layer| layer.before == after)
    {
        for layer in &mut layers[kept..] {
            (layer.before, layer.after) = (after.clone(), after.clone());
        }
    }
    let verdict = match &after {
        after if *after == disk => Verdict::Unchanged,
        None => Verdict::Delete,
        Some(_) => Verdict::Revert,
    };
    let moved = Moved { before: disk, after, layers_before: have, layers_after: layers };
    Planned { verdict, moved, renamed: None, out: Vec::new() }
}

/// A call's doing is wanted while its entry is on the path and not dropped. Undo and redo touch nothing but what they
/// take back.
fn goals(talk: &Talk, outcome: &Outcome) -> BTreeMap<String, Goal> {
    let timeline = outcome.talk.timeline();
    let mut goals = BTreeMap::new();
    let have = |path: &String| talk.layers.get(path).cloned().unwrap_or_default();
    let touched = talk.deltas.iter().flat_map(|delta| delta.layers.keys());
    if let Some(back) = &outcome.back {
        let moved = back.reversed.iter().flat_map(|op| op.moves.keys());
        for path in touched.chain(moved) {
            let (have, moves) = (have(path), back.reversed.iter().filter_map(|op| op.moves.get(path)));
            let reversed: Vec<Moved> = moves.cloned().collect();
            let mut want = reversed.last().map_or(have.clone(), |made| made.layers_before.clone());
            want.retain(|layer| !back.answers.contains(&talk.deltas[layer.delta].entry));
            goals.insert(path.clone(), Goal { have, want, reversed });
        }
        return goals;
    }
    // What is shown again brings its own files, and settles nothing that another step has left.
    let (shows, was) = (matches!(outcome.kinds.as_slice(), [Kind::Shown(_)]), talk.timeline());
    let wanted = |delta: usize| timeline.contains(&talk.deltas[delta].entry);
    let settles = |delta: usize| !shows || wanted(delta) != was.contains(&talk.deltas[delta].entry);
    for path in touched {
        let have = have(path);
        let stays = |layer: &&Layer| wanted(layer.delta) || !settles(layer.delta);
        let mut want: Vec<Layer> = have.iter().filter(stays).cloned().collect();
        for (number, delta) in talk.deltas.iter().enumerate() {
            if wanted(number) && settles(number) && !have.iter().any(|layer| layer.delta == number) {
                want.extend(delta.layers.get(path).into_iter().flatten().cloned());
            }
        }
        want.sort_by_key(|layer| layer.delta);
        goals.insert(path.clone(), Goal { have, want, reversed: Vec::new() });
    }
    goals
}

/// A path with other layers in it, those layers, and whether others' work was merged.
type Rebuilt = (Option<Thing>, Vec<Layer>, bool);

/// Takes back what is not wanted, last first, and puts forward again what is, over what others wrote.
fn rebuild(have: &[Layer], want: &[Layer], disk: &Option<Thing>) -> Result<Rebuilt, Clash> {
    let kept = have.iter().zip(want).take_while(|(have, want)| have.delta == want.delta).count();
    // What nobody else wrote in between of goes back as one.
    let mut pieces: Vec<(Option<Thing>, Option<Thing>)> = Vec::new();
    for layer in &have[kept..] {
        match pieces.last_mut() {
            Some((_, after)) if *after == layer.before => *after = layer.after.clone(),
            _ => pieces.push((layer.before.clone(), layer.after.clone())),
        }
    }
    let (mut now, mut mixed) = (disk.clone(), false);
    // What is gone and is to be gone needs no decision.
    let gone = disk.is_none() && want.last().is_some_and(|last| last.after.is_none());
    let merge = |base: &Option<Thing>, now: &Option<Thing>, goal: &Option<Thing>| match merge(base, now, goal)
    {
        Err(_) if gone => Ok((goal.clone(), false)),
        merged => merged.map(|(merged, both)| (merged, both && !gone)),
    };
    for (before, after) in pieces.iter().rev() {
        let (merged, both) = merge(after, &now, before)?;
        (now, mixed) = (merged, mixed || both);
    }
    let mut layers = have[..kept].to_vec();
    for layer in &want[kept..] {
        let (merged, both) = merge(&layer.before, &now, &layer.after)?;
        layers.push(Layer { before: now, after: merged.clone(), ..layer.clone() });
        (now, mixed) = (merged, mixed || both);
    }
    Ok((now, layers, mixed))
}

impl Goal {
    fn plan(self, path: &str, known: &Known<'_>) -> Planned {
        let disk = known.tree.get(path).cloned();
        let theirs = known.theirs.get(path).cloned();
        let out = difference(&self.have, &self.want);
        // What an operation had put there itself is sure.
        let sure = |delta: usize| {
            self.reversed.iter().flat_map(|made| &made.layers_after).any(|layer| layer.delta == delta)
        };
        let mut leaving = self.have.iter().filter(|layer| out.contains(&layer.delta) && !sure(layer.delta));
        let ambiguous = leaving.any(|layer| layer.grade == Grade::Ambiguous);
        let merged = self.merged(&disk);
        let choice = known.chosen.get(path).cloned().or(known.others.clone()).filter(|choice| match choice {
            Choice::Merge => merged.is_ok(),
            Choice::Yours => theirs.is_some(),
            _ => true,
        });
        let (verdict, after, layers) = match (choice, merged) {
            (Some(Choice::Skip), _) => (None, disk.clone(), self.have.clone()),
            (Some(Choice::Disk), _) => (None, disk.clone(), self.settled()),
            (Some(Choice::Yours), _) => (None, theirs.flatten(), self.settled()),
            (Some(Choice::Checkpoint), _) => (None, self.checkpoint(), self.exactly()),
            (None, _) if ambiguous => self.without_ambiguous(&disk),
            (_, Ok((after, layers, mixed))) => (mixed.then_some(Verdict::Merge), after, layers),
            (_, Err(clash)) => (Some(Verdict::Conflict(clash)), disk.clone(), self.have.clone()),
        };
        let plain = match (&disk, &after) {
            (before, after) if before == after => Verdict::Unchanged,
            (_, None) => Verdict::Delete,
            (None, _) => Verdict::Recreate,
            _ => Verdict::Revert,
        };
        let verdict = verdict.unwrap_or(plain);
        let moved = Moved { before: disk, after, layers_before: self.have, layers_after: layers };
        Planned { verdict, moved, renamed: None, out }
    }

    fn merged(&self, disk: &Option<Thing>) -> Result<Rebuilt, Clash> {
        let (mut now, mut have, mut mixed) = (disk.clone(), &self.have, false);
        for made in &self.reversed {
            let (there, _, first) = rebuild(have, &made.layers_after, &now)?;
            let (back, then) = merge(&made.after, &there, &made.before)?;
            (now, have, mixed) = (back, &made.layers_before, mixed || first || then);
        }
        let (after, layers, last) = rebuild(have, &self.want, &now)?;
        Ok((after, layers, mixed || last))
    }

    /// What nobody is sure of stays, the rest goes.
    fn without_ambiguous(&self, disk: &Option<Thing>) -> (Option<Verdict>, Option<Thing>, Vec<Layer>) {
        let stays = |layer: &&Layer| {
            layer.grade == Grade::Ambiguous && !self.want.iter().any(|want| want.delta == layer.delta)
        };
        let mut want: Vec<Layer> = self.want.iter().chain(self.have.iter().filter(stays)).cloned().collect();
        want.sort_by_key(|layer| layer.delta);
        let kept = (Some(Verdict::Kept), disk.clone(), self.have.clone());
        if want.iter().map(|layer| layer.delta).eq(self.have.iter().map(|layer| layer.delta)) {
            return kept;
        }
        match rebuild(&self.have, &want, disk) {
            Ok((after, layers, mixed)) => (mixed.then_some(Verdict::Merge), after, layers),
            Err(_) => kept,
        }
    }

    /// What is on the disk is kept: what was to go is somebody else's from now on.
    fn settled(&self) -> Vec<Layer> {
        let mut settled: Vec<Layer> = Vec::new();
        let mut begins: Option<Option<Thing>> = None;
        for layer in &self.have {
            if self.want.iter().any(|want| want.delta == layer.delta) {
                let before = begins.take().unwrap_or(layer.before.clone());
                settled.push(Layer { before, ..layer.clone() });
            } else {
                begins.get_or_insert(layer.before.clone());
            }
        }
        settled
    }

    /// The layers where it is as the calls left it: what was dropped is below none of them, what comes in is below the next.
    fn exactly(&self) -> Vec<Layer> {
        if !self.reversed.is_empty() {
            return self.want.clone();
        }
        let had = |layer: &Layer| self.have.iter().any(|have| have.delta == layer.delta);
        let mut layers = self.settled();
        layers.extend(self.want.iter().filter(|layer| !had(layer)).cloned());
        layers.sort_by_key(|layer| layer.delta);
        for at in 1..layers.len() {
            if !had(&layers[at - 1]) && had(&layers[at]) {
                layers[at].before = layers[at - 1].after.clone();
            }
        }
        layers
    }

    /// As the calls left it, whatever others wrote.
    fn checkpoint(&self) -> Option<Thing> {
        let have = match self.reversed.last() {
            Some(made) if made.layers_before == self.want => return made.before.clone(),
            Some(made) => &made.layers_before,
            None => &self.have,
        };
        let kept = have.iter().zip(&self.want).take_while(|(have, want)| have.delta == want.delta).count();
        match (self.want[kept..].last(), have.get(kept)) {
            (Some(put), _) => put.after.clone(),
            (None, Some(taken)) => taken.before.clone(),
            (None, None) => have.last().and_then(|layer| layer.after.clone()),
        }
    }
}

/// The calls that are in the first and not in the second.
fn difference(have: &[Layer], want: &[Layer]) -> Vec<usize> {
    let gone = have.iter().filter(|layer| !want.iter().any(|want| want.delta == layer.delta));
    gone.map(|layer| layer.delta).collect()
}

/// The agent renamed one path to another, and somebody has written to that since: going back, it goes along. Of several
/// that could go to one place none does.
fn follow_renames(plan: &mut Plan) {
    let made = |planned: &Planned| {
        let lowest = planned.moved.layers_before.iter().find(|layer| planned.out.contains(&layer.delta))?;
        lowest.after.clone().filter(|_| lowest.before.is_none())
    };
    let mut pairs: Vec<(String, String, Thing)> = Vec::new();
    for (from, clash) in plan.iter() {
        let (
            Verdict::Conflict(Clash::Bytes | Clash::Made),
            Some(Thing::File { bytes: then, mode: made }),
            Some(Thing::File { bytes, mode }),
        ) = (&clash.verdict, made(clash), &clash.moved.before)
        else {
            continue;
        };
        let back = plan.iter().filter_map(|(to, planned)| match (&planned.verdict, &planned.moved.after) {
            (Verdict::Recreate, Some(Thing::File { bytes, mode })) if *bytes == then => Some((to, mode)),
            _ => None,
        });
        if let [(to, old)] = back.collect::<Vec<_>>().as_slice()
            && let Some(mode) = one(&made, mode, old)
        {
            pairs.push((from.clone(), (*to).clone(), Thing::File { bytes: bytes.clone(), mode }));
        }
    }
    for (from, to, thing) in &pairs {
        if pairs.iter().filter(|other| other.1 == *to).count() > 1 {
            continue;
        }
        let target = plan.get_mut(to).expect("it comes back");
        target.moved.after = Some(thing.clone());
        target.verdict = Verdict::Merge;
        target.renamed = Some(from.clone());
        let clash = plan.get_mut(from).expect("it is in conflict");
        let out = clash.out.clone();
        clash.moved.after = None;
        clash.moved.layers_after.retain(|layer| !out.contains(&layer.delta));
        clash.verdict = Verdict::Delete;
        clash.renamed = Some(to.clone());
    }
}

/// What is at a path after the plan.
fn then(plan: &Plan, tree: &Tree, path: &str) -> Option<Thing> {
    plan.get(path).map_or_else(|| tree.get(path).cloned(), |planned| planned.moved.after.clone())
}

/// A folder goes only when nothing is left in it, and what is put back has a folder to be in.
fn fit_folders(plan: &mut Plan, tree: &Tree) {
    let folder = |thing: &Option<Thing>| matches!(thing, Some(Thing::Folder { .. }));
    let names: Vec<String> = plan.keys().cloned().collect();
    for name in names.iter().rev() {
        let moved = &plan[name].moved;
        if !folder(&moved.before) || folder(&moved.after) {
            continue;
        }
        let inside =
            |path: &String| path.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
        if tree.keys().filter(|path| inside(path)).any(|path| then(plan, tree, path).is_some()) {
            let planned = plan.get_mut(name).expect("it is planned");
            if planned.moved.after.is_some() {
                planned.verdict = Verdict::Conflict(Clash::Kind);
                planned.moved.layers_after = planned.moved.layers_before.clone();
            } else {
                planned.verdict = Verdict::NotEmpty;
            }
            planned.moved.after = planned.moved.before.clone();
        }
    }
    for name in &names {
        let moved = &plan[name].moved;
        if moved.after.is_none() || moved.after == moved.before {
            continue;
        }
        let above: Vec<&str> = name.match_indices('/').map(|(at, _)| &name[..at]).collect();
        if above.iter().any(|path| then(plan, tree, path).is_some_and(|thing| !folder(&Some(thing)))) {
            let planned = plan.get_mut(name).expect("it is planned");
            planned.verdict = Verdict::Conflict(Clash::Parent);
            planned.moved.after = planned.moved.before.clone();
            planned.moved.layers_after = planned.moved.layers_before.clone();
            continue;
        }
        for path in above {
            if then(plan, tree, path).is_none() {
                needed(plan, tree, path);
            }
        }
    }
}

/// A folder that is not there is made; one that was to go is needed after all.
fn needed(plan: &mut Plan, tree: &Tree, path: &str) {
    let before = tree.get(path).cloned();
    let empty = Moved { before, after: None, layers_before: Vec::new(), layers_after: Vec::new() };
    let fresh = Planned { verdict: Verdict::Recreate, moved: empty, renamed: None, out: Vec::new() };
    let planned = plan.entry(path.to_owned()).or_insert(fresh);
    if matches!(planned.verdict, Verdict::Conflict(_)) {
        return;
    }
    (planned.moved.after, planned.verdict) = match planned.moved.before.clone() {
        Some(Thing::Folder { mode }) => (Some(Thing::Folder { mode }), Verdict::NotEmpty),
        Some(_) => (Some(Thing::Folder { mode: 0o755 }), Verdict::Revert),
        None => (Some(Thing::Folder { mode: 0o755 }), Verdict::Recreate),
    };
}
