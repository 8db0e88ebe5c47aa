//! The requirements of the spec for a step (`rewind.md`, *Plan*, *After*). Which changes leave the files and which come, what is
//! a conflict, what stays anyway, and which part of the files then belongs to the person.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::Choice;
use retake_core::Scope;

use super::naive::{Act, Back, Delta, Files, Kept, Outcome, Talk, Thing};
use super::truth::{Reg, Val};
use super::view::{Clash, Clashes, Item, View, Who};

/// The expected result of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    pub(super) view: View,
    pub(super) kept: Kept,
    /// In each of these groups at least one path must be in conflict.
    pub(super) must: Vec<BTreeSet<String>>,
    /// Only these may be in conflict.
    pub(super) may: BTreeSet<String>,
    /// The spec alone does not decide about these, except that no change by others is lost.
    pub(super) free: BTreeSet<String>,
    /// The spec alone does not decide about the permission bits of these.
    pub(super) bits: BTreeSet<String>,
    /// In these the lines of other authors go, because that was explicitly requested.
    pub(super) told: BTreeSet<String>,
    /// In these something stays because its author is uncertain.
    pub(super) doubt: BTreeSet<String>,
    /// In these nothing else is to be done; each with the paths at which that may be reported.
    pub(super) only_doubt: BTreeMap<String, BTreeSet<String>>,
    /// These have exactly this content, unless they are in conflict.
    pub(super) exact: BTreeMap<String, Option<Thing>>,
    /// A conflict here is only with what a person has adopted.
    pub(super) hand: BTreeSet<String>,
    /// The entries whose changes leave, and those whose changes come.
    pub(super) out: BTreeSet<usize>,
    pub(super) into: BTreeSet<usize>,
    /// Whether an earlier step is reversed.
    pub(super) reverses: bool,
}

/// The request of a step.
pub(super) struct Asked<'a> {
    pub(super) act: &'a Act,
    pub(super) scope: Scope,
    pub(super) chosen: BTreeMap<String, Choice>,
    pub(super) others: Option<Choice>,
    /// Entries left by earlier steps that need a choice again in this one, according to the plan.
    pub(super) again: BTreeSet<usize>,
    /// Whether all or none of the changes of entries are in the files: needed only where the model does not know.
    pub(super) applied: BTreeMap<usize, Option<bool>>,
}

/// The expected result of a step.
pub(super) fn expect(talk: &Talk, outcome: &Outcome, asked: &Asked<'_>) -> Expected {
    let after = &outcome.talk;
    let writers = talk.writers();
    let kept = outcome.kept.last().expect("one at least");
    if asked.scope == Scope::Conversation {
        return of_conversation_alone(talk, outcome, asked);
    }
    let wanted = |entry: usize| after.wants_with(entry, kept);
    let (mut out, mut into) = (BTreeSet::new(), BTreeSet::new());
    match &outcome.back {
        Some(back) => {
            out.extend(back.iter().flat_map(|(answers, _)| answers).filter(|it| writers.contains(it)));
        }
        None => {
            let again = |entry: &usize| asked.again.contains(entry);
            out.extend(writers.iter().copied().filter(|it| !wanted(*it) && (talk.wants(*it) || again(it))));
            into.extend(writers.iter().copied().filter(|it| wanted(*it) && (!talk.wants(*it) || again(it))));
        }
    }
    let mut view = talk.view.clone();
    let theirs = |entry: usize, reg: &Reg| {
        kept.single.contains(&(entry, reg.clone())) || kept.adopted.contains(&entry)
    };
    let mut clashes = Clashes::new();
    if outcome.back.is_none() {
        merge(&mut clashes, view.take(&out, &theirs));
    }
    if outcome.back.is_none() {
        // What a choice has left in a file remains the person's.
        let given_back = talk.kept.single.difference(&kept.single);
        given_back.for_each(|(entry, reg)| view.give(*entry, reg));
    }
    // Adoptions of an earlier head return with it; single kept paths do not.
    let single = |entry: usize, reg: &Reg| kept.single.contains(&(entry, reg.clone()));
    for delta in talk.deltas.iter().filter(|delta| into.contains(&delta.entry)) {
        merge(&mut clashes, view.put(delta, &single));
    }
    let reverses = go_back(talk, outcome, &theirs, &mut view, &mut clashes);
    if outcome.back.as_ref().is_some_and(|back| back.len() > 1) {
        // Steps that cancel each other may conflict on the way, but their total does not. Nor does what goes in total.
        let goes = |item: &Item| match item.who {
            Who::Base => true,
            Who::Own(entry, is_sure) => is_sure && out.contains(&entry),
            Who::Other => false,
        };
        for (reg, clash) in &mut clashes {
            let all_goes = talk.view.piles.get(reg).is_none_or(|pile| pile.iter().all(goes));
            if view.top(reg) == talk.view.top(reg) || all_goes {
                *clash = Clash::May;
            }
        }
    }
    if asked.scope == Scope::Files && outcome.back.is_some() {
        forget_whose(&talk.view, &mut view);
    }
    let outcome_kept = kept;
    let partly = matches!(asked.act, Act::Redo(_)) && outcome.back.is_none();
    let kept = match asked.scope {
        Scope::Files => {
            talk.steered(talk.kept.clone(), &writers.into_iter().filter(|it| wanted(*it)).collect())
        }
        _ => kept.clone(),
    };
    let expected = Expected { view, kept, out, into, reverses, ..Expected::default() };
    let mut made = Made { talk, asked, kept: outcome_kept, back: outcome.back.as_ref(), expected };
    made.place(&clashes);
    made.followed();
    made.orphans();
    made.adopted();
    made.doubts();
    made.choose();
    if partly {
        made.expected.free.extend(made.all_paths());
        made.expected.may.extend(made.all_paths());
        made.expected.must.clear();
    }
    made.swaps();
    made.expected
}

/// What undos and redos revert, in order. Returns whether a step on files is among it.
fn go_back(
    talk: &Talk,
    outcome: &Outcome,
    theirs: &dyn Fn(usize, &Reg) -> bool,
    view: &mut View,
    clashes: &mut Clashes,
) -> bool {
    let mut reverses = false;
    let (on_path, is_alone) = (talk.timeline(), outcome.back.as_ref().is_some_and(|back| back.len() == 1));
    for (answers, op) in outcome.back.iter().flatten() {
        // What an earlier step has left of an entry that is not on the path, apart from what it kept for good.
        let theirs_now = |entry: usize, reg: &Reg| {
            theirs(entry, reg)
                || is_alone && talk.kept.single.contains(&(entry, reg.clone())) && !on_path.contains(&entry)
        };
        merge(clashes, view.take(answers, &theirs_now));
        if let Some(files) = op.as_ref().and_then(|op| op.files.as_ref()) {
            reverses = true;
            let now = view.clone();
            let reversed = view.reverse((&files.views.0, &files.views.1), theirs);
            merge(clashes, eased(talk, files, &now, view, reversed));
        }
    }
    reverses
}

/// The conflicts of a reversed step, without those that are not necessary.
fn eased(talk: &Talk, files: &Files, now: &View, view: &mut View, mut reversed: Clashes) -> Clashes {
    let ((before, after), (was, is)) = (&files.trees, (&files.views.0, &files.views.1));
    // A step that has changed nothing has no conflict: an undo "reverses the rewind's own delta" (*After*).
    let is_same = |reg: &Reg| match reg {
        Reg::Whole(path) => before.get(path) == after.get(path),
        Reg::Place(..) | Reg::Mode(_) => before == after,
    };
    // Nor is it where "the person wrote, removed or made executable just what undo or redo bring back".
    let is_alike = |reg: &Reg| was.top(reg) != is.top(reg) && now.top(reg) == was.top(reg);
    let clear = reversed.iter_mut().filter(|(reg, _)| is_same(reg) || reg.text().is_none() && is_alike(reg));
    clear.for_each(|(_, clash)| *clash = Clash::May);
    for (reg, pile) in &is.piles {
        if let (Reg::Whole(_), Some(Val::Text(text))) = (reg, pile.last().map(|item| &item.val))
            && is_alike(reg)
        {
            // "A later step leaves it", and so also the content of a text that others removed.
            let places = view.piles.keys().filter(|reg| reg.text() == Some(*text)).cloned();
            view.unsure.extend(places.collect::<Vec<_>>());
        }
    }
    // "What somebody else has done alike is theirs", and "a turn comes back as it went" (*After*): later without that.
    for (reg, pile) in was.piles.iter().filter(|(reg, _)| is_alike(reg)) {
        let is_theirs =
            now.piles.get(reg).and_then(|pile| pile.last()).is_some_and(|it| it.who == Who::Other);
        let above = is.piles.get(reg).map_or(0, Vec::len);
        for item in pile.iter().skip(above).filter(|_| is_theirs) {
            if let Who::Own(entry, _) = item.who {
                view.removed.insert((entry, reg.clone()), item.val.clone());
            }
        }
    }
    // "The same merge rules apply if files were touched since" (*After*), even if a choice had kept on the way what it reverses.
    let own = was.piles.iter().filter(|(reg, was)| is.piles.get(*reg) != Some(was));
    for (reg, _) in own.filter(|(reg, _)| talk.kept.single.iter().any(|(_, of)| of == *reg)) {
        reversed.entry(reg.clone()).or_insert(Clash::May);
    }
    reversed
}

/// Only files are restored; the author of unchanged content is not.
fn forget_whose(before: &View, view: &mut View) {
    let was = |reg: &Reg| before.piles.get(reg);
    let same =
        view.piles.iter().filter(|(reg, pile)| was(reg) != Some(*pile) && before.top(reg) == view.top(reg));
    let same: Vec<Reg> = same.map(|(reg, _)| reg.clone()).collect();
    view.unsure.extend(same);
}

/// The files stay unchanged for good.
fn of_conversation_alone(talk: &Talk, outcome: &Outcome, asked: &Asked<'_>) -> Expected {
    let (after, kept) = (&outcome.talk, outcome.kept.last().expect("one at least"));
    let is_in = |entry: &usize| match (talk.wants(*entry), after.wants_with(*entry, kept)) {
        // What an earlier step has left undecided is as in the files.
        (was, is) if was != is => talk.is_in_files(*entry, &asked.applied).unwrap_or(was),
        (was, _) => was,
    };
    let wanted = talk.writers().into_iter().filter(is_in).collect();
    // What a choice had left in a file remains the person's, as its layers do not return.
    let mut view = talk.view.clone();
    talk.kept.single.difference(&kept.single).for_each(|(entry, reg)| view.give(*entry, reg));
    Expected { kept: after.steered(kept.clone(), &wanted), view, ..Expected::default() }
}

fn merge(clashes: &mut Clashes, more: Clashes) {
    for (reg, clash) in more {
        let there = clashes.entry(reg).or_insert(clash);
        *there = clash.max(*there);
    }
}

/// A step as it would be done, before any choice.
pub(super) struct Made<'a> {
    pub(super) talk: &'a Talk,
    pub(super) asked: &'a Asked<'a>,
    /// What would be kept if it were a step of both.
    pub(super) kept: &'a Kept,
    pub(super) back: Option<&'a Back>,
    pub(super) expected: Expected,
}

impl Made<'_> {
    pub(super) fn all_paths(&self) -> BTreeSet<String> {
        let all = self.talk.view.piles.keys().chain(self.expected.view.piles.keys());
        all.filter_map(|reg| match reg {
            Reg::Whole(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
    }

    /// The paths of a register that is written.
    pub(super) fn paths(&self, reg: &Reg) -> BTreeSet<String> {
        let views = [&self.talk.view, &self.expected.view];
        let mut paths: BTreeSet<String> =
            views.iter().filter_map(|view| view.place_of(reg)).cloned().collect();
        if paths.is_empty()
            && let Some(text) = reg.text()
        {
            paths.extend(self.homes(text));
        }
        for link in self.links() {
            if !link.is_disjoint(&paths) {
                paths.extend(link);
            }
        }
        paths
    }

    /// The registers that the step writes.
    pub(super) fn changed(&self) -> Vec<Reg> {
        let (before, after) = (&self.talk.view.piles, &self.expected.view.piles);
        let regs: BTreeSet<&Reg> = before.keys().chain(after.keys()).collect();
        regs.into_iter().filter(|reg| before.get(reg) != after.get(reg)).cloned().collect()
    }

    /// Transfers conflicts of registers to their paths.
    fn place(&mut self, clashes: &Clashes) {
        for (reg, clash) in clashes {
            let paths = self.paths(reg);
            // Which of its names is reported as a conflict is not specified.
            let homes = reg.text().map(|text| self.homes(text)).unwrap_or_default();
            let paths: BTreeSet<String> = paths.into_iter().chain(homes).collect();
            if *clash == Clash::Must && !self.expected.must.contains(&paths) {
                self.expected.must.push(paths.clone());
            }
            self.expected.may.extend(paths);
        }
        // If a text can't return under one name of a rename, it does not go from the other one, whatever is there now.
        let (out, into) = (&self.expected.out, &self.expected.into);
        let goes = |delta: &&Delta| out.contains(&delta.entry) || into.contains(&delta.entry);
        let moved: BTreeSet<usize> = self.talk.deltas.iter().filter(goes).flat_map(Delta::texts).collect();
        for text in &moved {
            // "Both names of a rename are decided together", also of one that comes and can't.
            let deltas = self.talk.deltas.iter().filter(goes);
            let names = deltas.flat_map(|delta| delta.names(*text));
            let homes: BTreeSet<String> = self.homes(*text).into_iter().chain(names).collect();
            // A name that "another file took" need not be known as that of a rename.
            let is_taken = |home: &String| {
                let pile = self.talk.view.piles.get(&Reg::Whole(home.clone()));
                let since = pile.into_iter().flatten().skip_while(|item| item.val != Val::Text(*text));
                since.skip(1).any(|item| item.val != Val::Absent && item.val != Val::Text(*text))
            };
            let is_hard = homes.iter().any(is_taken);
            // What a turn that stays wrote under the new name follows, or needs a choice.
            let stays = |item: &Item| matches!(item.who, Who::Own(entry, _) if !out.contains(&entry));
            let mut piles = self.talk.view.piles.iter().filter(|(reg, _)| reg.text() == Some(*text));
            let is_later = piles.any(|(_, pile)| pile.iter().any(stays));
            if homes.len() > 1 && (is_hard || is_later || !homes.is_disjoint(&self.expected.may)) {
                self.expected.may.extend(homes);
            }
        }
        // The same if a reversed step had moved it from one to the other.
        for names in self.renamed_back() {
            if !names.is_disjoint(&self.expected.may) {
                self.expected.may.extend(names);
            }
        }
        // Bits are merged apart from the bytes, even where one text replaces another.
        let texts = |view: &View| view.hint().into_values().collect::<BTreeSet<usize>>();
        let (was, is) = (texts(&self.talk.view), texts(&self.expected.view));
        for text in was.symmetric_difference(&is) {
            // A renamed text stays under its new name if it can't return under the old one.
            let homes = self.homes(*text);
            if homes.len() > 1 && !homes.is_disjoint(&self.expected.may) {
                self.expected.may.extend(homes.iter().cloned());
                self.expected.free.extend(homes);
            }
        }
        for text in was.symmetric_difference(&is).chain(&moved) {
            let views = [&self.talk.view, &self.expected.view];
            let mut bits = views.iter().filter_map(|view| view.piles.get(&Reg::Mode(*text)));
            if bits.any(|pile| pile.len() > 1) {
                let homes = self.homes(*text);
                self.expected.may.extend(homes.iter().cloned());
                self.expected.bits.extend(homes);
            }
        }
        self.bits_of_found();
        let unsure: Vec<Reg> = self.talk.view.unsure.union(&self.expected.view.unsure).cloned().collect();
        for reg in self.changed().into_iter().chain(unsure) {
            // Others have renamed it: the merge follows if the bytes are equal.
            let text = reg.text().or(match (self.talk.view.top(&reg), self.expected.view.top(&reg)) {
                (Val::Text(text), _) | (_, Val::Text(text)) => Some(*text),
                _ => None,
            });
            let homes = text.map(|text| self.homes(text)).unwrap_or_default();
            let by_others = homes.iter().any(|path| {
                let pile = self.talk.view.piles.get(&Reg::Whole(path.clone()));
                pile.is_some_and(|pile| pile.iter().any(|item| item.who == Who::Other))
            });
            let unsure = self.talk.view.unsure.contains(&reg) || self.expected.view.unsure.contains(&reg);
            // The bits of a text that something else has replaced.
            let bits = matches!(&reg, Reg::Mode(text) if self.talk.view.path_of(*text).is_none());
            if unsure || bits || homes.len() > 1 && (by_others || self.expected.reverses) {
                let paths: BTreeSet<String> = self.paths(&reg).into_iter().chain(homes).collect();
                self.expected.must.retain(|group| group.is_disjoint(&paths));
                self.expected.may.extend(paths.iter().cloned());
                self.expected.free.extend(paths);
            }
        }
    }

    /// A file created by a dropped turn returns as the target of its removal, with only what others and turns that stay wrote
    /// into it (*After*). The model has no file for that.
    fn orphans(&mut self) {
        let is_made =
            |text: usize| self.talk.view.piles.values().flatten().any(|item| item.val == Val::Text(text));
        let goes = self.talk.deltas.iter().filter(|delta| self.expected.out.contains(&delta.entry));
        let paths =
            goes.flat_map(|delta| &delta.events).filter_map(|event| match (&event.reg, &event.from) {
                (Reg::Whole(path), Val::Text(text)) if !is_made(*text) => Some(path.clone()),
                _ => None,
            });
        let paths: BTreeSet<String> = paths.collect();
        self.expected.may.extend(paths.iter().cloned());
        self.expected.free.extend(paths);
    }

    /// Paths that only turns that go, and adopted turns, have written.
    fn adopted(&mut self) {
        let adopted =
            |who: Who| matches!(who, Who::Own(entry, true) if self.talk.kept.adopted.contains(&entry));
        let goes = |who: Who| matches!(who, Who::Own(entry, true) if self.expected.out.contains(&entry));
        let mut hand: BTreeSet<String> = BTreeSet::new();
        let mut others: BTreeSet<String> = self.links().into_iter().flatten().collect();
        for (reg, pile) in &self.talk.view.piles {
            let mut items = pile.iter().map(|item| item.who).filter(|who| *who != Who::Base && !goes(*who));
            let paths = self.paths(reg);
            if items.clone().any(|who| !adopted(who)) {
                others.extend(paths);
            } else if items.any(adopted) {
                hand.extend(paths);
            }
        }
        // What others put in the place of a folder conflicts with everything below.
        let is_below = |path: &str| path.match_indices('/').any(|(at, _)| others.contains(&path[..at]));
        // What stays in a folder conflicts with what is to replace it: one "is removed only when empty" (*Plan*).
        let holds = |path: &str| {
            let below = format!("{path}/");
            self.expected.may.iter().any(|other| other.starts_with(&below))
        };
        let is_alone = |path: &String| {
            self.expected.into.is_empty()
                && !self.expected.reverses
                && !others.contains(path)
                && !is_below(path)
                && !holds(path)
                && !self.expected.free.contains(path)
                && !self.expected.bits.contains(path)
        };
        hand.retain(is_alone);
        self.expected.hand = hand;
    }

    /// If a file replaces a folder, or a folder a file, everything below is included.
    fn swaps(&mut self) {
        let is_folder = |val: &Val| matches!(val, Val::Other(Thing::Folder { .. }));
        let is_swap = |path: &String| {
            let whole = Reg::Whole(path.clone());
            let (was, is) = (self.talk.view.top(&whole), self.expected.view.top(&whole));
            let within = format!("{path}/");
            let below = |view: &View| {
                let mut all = view.piles.keys();
                all.any(|reg| matches!(reg, Reg::Whole(other) if other.starts_with(&within) && *view.top(reg) != Val::Absent))
            };
            let (was_there, is_there) = (*was != Val::Absent, *is != Val::Absent);
            // The content that others had put into the folder has no folder to return to.
            (is_folder(was) || below(&self.talk.view) || below(&self.expected.view))
                && is_there
                && !is_folder(is)
                || (is_folder(is) || below(&self.expected.view)) && was_there && !is_folder(was)
        };
        let all = self.all_paths();
        for path in all.iter().filter(|path| is_swap(path)).cloned().collect::<Vec<_>>() {
            let within: BTreeSet<String> = all
                .iter()
                .filter(|other| **other == path || other.starts_with(&format!("{path}/")))
                .cloned()
                .collect();
            self.expected.must.retain(|group| group.is_disjoint(&within));
            self.expected.may.extend(within.iter().cloned());
            self.expected.free.extend(within.iter().cloned());
            self.expected.told.extend(within);
        }
    }

    /// Where an uncertain change at a path may be reported. That is under the name at which it was made, if another author, or a
    /// turn that stays, has renamed the file since.
    fn said_at(&self, path: &str) -> BTreeSet<String> {
        let homes = self.homes_at(path).into_iter().flat_map(|text| self.homes(text));
        homes.chain([path.to_owned()]).collect()
    }

    /// Uncertain changes stay.
    fn doubts(&mut self) {
        let mut sure = BTreeSet::new();
        let mut doubt = BTreeSet::new();
        for (reg, pile) in &self.talk.view.piles {
            for item in pile {
                let Who::Own(entry, is_sure) = item.who else { continue };
                // What a choice had kept for good needs no choice again, even after a restore.
                let single = (entry, reg.clone());
                let is_theirs = self.expected.kept.single.contains(&single)
                    || !self.expected.reverses && self.talk.kept.single.contains(&single);
                if self.expected.out.contains(&entry) && !is_theirs {
                    let paths = self.paths(reg);
                    if is_sure { sure.extend(paths) } else { doubt.extend(paths) }
                }
            }
        }
        if self.expected.reverses {
            // Other layers return below.
            sure.extend(doubt.iter().cloned());
        }
        let both: Vec<String> = doubt.intersection(&sure).cloned().collect();
        self.expected.must.retain(|group| !both.iter().any(|path| group.contains(path)));
        self.expected.may.extend(both.iter().cloned());
        self.expected.free.extend(both);
        let said = |path: &String| (path.clone(), self.said_at(path));
        let is_alone = |(_, said): &(String, BTreeSet<String>)| said.is_disjoint(&sure);
        self.expected.only_doubt = doubt.difference(&sure).map(said).filter(is_alone).collect();
        self.expected.doubt = doubt;
    }
}
