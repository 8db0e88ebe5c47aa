//! What the spec demands of a step (`rewind.md`, *Plan*, *After*): which changes leave the files and which come, what is a conflict,
//! what stays in spite of it, and what of the files is then the person's own.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::Choice;
use retake_engine::Scope;

use super::naive::{Act, Kept, Outcome, Talk, Thing};
use super::truth::{Reg, Val};
use super::view::{Clash, Clashes, Item, View, Who};

/// What a step must come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    pub(super) view: View,
    pub(super) kept: Kept,
    /// Of each of these groups one path at least is in conflict.
    pub(super) must: Vec<BTreeSet<String>>,
    /// These may be in conflict, and no others.
    pub(super) may: BTreeSet<String>,
    /// What comes of these is not settled by the spec alone, but that nothing of others is lost.
    pub(super) free: BTreeSet<String>,
    /// In these the lines of others go, as it was asked for in so many words.
    pub(super) told: BTreeSet<String>,
    /// In these something stays as it is uncertain whose it is.
    pub(super) doubt: BTreeSet<String>,
    /// In these nothing else is to be done.
    pub(super) only_doubt: BTreeSet<String>,
    /// These are exactly so, unless they are in conflict.
    pub(super) exact: BTreeMap<String, Option<Thing>>,
    /// The entries whose changes leave, and those whose changes come.
    pub(super) out: BTreeSet<usize>,
    pub(super) into: BTreeSet<usize>,
    /// Whether a step that was done before is reversed.
    pub(super) reverses: bool,
}

/// What is asked for along with a step.
pub(super) struct Asked<'a> {
    pub(super) act: &'a Act,
    pub(super) scope: Scope,
    pub(super) chosen: BTreeMap<String, Choice>,
    pub(super) others: Option<Choice>,
    /// What was left by earlier steps and is asked about again in this one, by the plan.
    pub(super) again: BTreeSet<usize>,
}

/// What a step must come to.
pub(super) fn expect(talk: &Talk, outcome: &Outcome, asked: &Asked<'_>) -> Expected {
    let mut kept = talk.kept.clone();
    let after = &outcome.talk;
    let writers = talk.writers();
    if matches!(asked.act, Act::Checkout(_) | Act::Choose(..)) {
        let brought: BTreeSet<usize> =
            writers.iter().copied().filter(|entry| !talk.is_on(*entry) && after.is_on(*entry)).collect();
        kept.adopted.retain(|entry| !brought.contains(entry));
        kept.out.retain(|entry| !brought.contains(entry));
        kept.single.retain(|(entry, _)| !brought.contains(entry));
    }
    if asked.scope == Scope::Conversation {
        return Expected {
            kept: conversation_alone(talk, outcome, kept),
            view: talk.view.clone(),
            ..Expected::default()
        };
    }
    let wanted =
        |entry: usize| (after.is_on(entry) && !kept.out.contains(&entry)) || kept.adopted.contains(&entry);
    let (mut out, mut into) = (BTreeSet::new(), BTreeSet::new());
    match &outcome.back {
        Some(back) => {
            out.extend(back.iter().flat_map(|(answers, _)| answers).filter(|it| writers.contains(it)))
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
    let mut reverses = false;
    if outcome.back.is_none() {
        merge(&mut clashes, view.take(&out, &theirs));
    }
    for delta in talk.deltas.iter().filter(|delta| into.contains(&delta.entry)) {
        merge(&mut clashes, view.put(delta, &theirs));
    }
    for (answers, op) in outcome.back.iter().flatten() {
        merge(&mut clashes, view.take(answers, &theirs));
        if let Some(files) = op.as_ref().and_then(|op| op.files.as_ref()) {
            reverses = true;
            merge(&mut clashes, view.reverse((&files.views.0, &files.views.1), &theirs));
        }
    }
    let partly = matches!(asked.act, Act::Redo(_)) && outcome.back.is_none();
    let kept = kept_then(talk, outcome, asked, (&kept, &out, &into));
    let expected = Expected { view, kept, out, into, reverses, ..Expected::default() };
    let mut made = Made { talk, asked, expected };
    made.place(&clashes);
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

fn merge(clashes: &mut Clashes, more: Clashes) {
    for (reg, clash) in more {
        let there = clashes.entry(reg).or_insert(clash);
        *there = clash.max(*there);
    }
}

/// The files stay as they are for good.
fn conversation_alone(talk: &Talk, outcome: &Outcome, mut kept: Kept) -> Kept {
    for entry in talk.writers() {
        let wanted = talk.wants(entry);
        let is_in = wanted && !talk.kept.out.contains(&entry) || talk.kept.adopted.contains(&entry);
        match (talk.is_on(entry), outcome.talk.is_on(entry)) {
            (true, false) if wanted => {
                kept.adopted.insert(entry);
            }
            (false, true) if !is_in => {
                kept.out.insert(entry);
            }
            _ => {}
        }
    }
    kept
}

/// The sets after a step that takes files along.
fn kept_then(
    talk: &Talk,
    outcome: &Outcome,
    asked: &Asked<'_>,
    (kept, out, into): (&Kept, &BTreeSet<usize>, &BTreeSet<usize>),
) -> Kept {
    let reversed = outcome.back.iter().flatten().filter_map(|(_, op)| op.as_ref()).last();
    if asked.scope == Scope::Both {
        return reversed.map_or_else(|| kept.clone(), |op| op.kept.0.clone());
    }
    let mut then = talk.kept.clone();
    for entry in out {
        then.adopted.remove(entry);
        if talk.is_on(*entry) {
            then.out.insert(*entry);
        }
    }
    for entry in into {
        then.out.remove(entry);
        if !talk.is_on(*entry) {
            then.adopted.insert(*entry);
        }
    }
    then
}

/// A step as it would be done, before anything is chosen.
struct Made<'a> {
    talk: &'a Talk,
    asked: &'a Asked<'a>,
    expected: Expected,
}

impl Made<'_> {
    fn all_paths(&self) -> BTreeSet<String> {
        let all = self.talk.view.piles.keys().chain(self.expected.view.piles.keys());
        all.filter_map(|reg| match reg {
            Reg::Whole(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
    }

    /// Paths of texts that the step moves: what is so of one is so of the others.
    fn links(&self) -> Vec<BTreeSet<String>> {
        let (before, after) = (self.talk.view.hint(), self.expected.view.hint());
        let mut links: Vec<BTreeSet<String>> = Vec::new();
        for (path, text) in before {
            let moved = after.iter().find(|(there, at)| **at == text && **there != path);
            if let Some((there, _)) = moved {
                let mut link = BTreeSet::from([path, there.clone()]);
                while let Some(at) = links.iter().position(|other| !other.is_disjoint(&link)) {
                    link.extend(links.swap_remove(at));
                }
                links.push(link);
            }
        }
        links
    }

    /// The paths at which something is written.
    fn paths(&self, reg: &Reg) -> BTreeSet<String> {
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

    /// Where a text has been.
    fn homes(&self, text: usize) -> BTreeSet<String> {
        let piles = self.talk.view.piles.iter().chain(&self.expected.view.piles);
        piles
            .filter_map(|(reg, pile)| match reg {
                Reg::Whole(path) if pile.iter().any(|item| item.val == Val::Text(text)) => Some(path.clone()),
                _ => None,
            })
            .collect()
    }

    /// What the step writes.
    fn changed(&self) -> Vec<Reg> {
        let (before, after) = (&self.talk.view.piles, &self.expected.view.piles);
        let regs: BTreeSet<&Reg> = before.keys().chain(after.keys()).collect();
        regs.into_iter().filter(|reg| before.get(reg) != after.get(reg)).cloned().collect()
    }

    /// Says of paths what is so of what is written there.
    fn place(&mut self, clashes: &Clashes) {
        for (reg, clash) in clashes {
            let paths = self.paths(reg);
            if *clash == Clash::Must && !self.expected.must.contains(&paths) {
                self.expected.must.push(paths.clone());
            }
            self.expected.may.extend(paths);
        }
        let unsure: Vec<Reg> = self.talk.view.unsure.union(&self.expected.view.unsure).cloned().collect();
        for reg in self.changed().into_iter().chain(unsure) {
            // Others have renamed it: the merge follows, where the bytes are equal.
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
            // Bits of a text that something else has taken the place of.
            let bits = matches!(&reg, Reg::Mode(text) if self.talk.view.path_of(*text).is_none());
            if unsure || bits || homes.len() > 1 && (by_others || self.expected.reverses) {
                let paths: BTreeSet<String> = self.paths(&reg).into_iter().chain(homes).collect();
                self.expected.must.retain(|group| group.is_disjoint(&paths));
                self.expected.may.extend(paths.iter().cloned());
                self.expected.free.extend(paths);
            }
        }
    }

    /// Where a file takes the place of a folder, or a folder that of a file, all below goes along.
    fn swaps(&mut self) {
        let is_folder = |val: &Val| matches!(val, Val::Other(Thing::Folder { .. }));
        let is_swap = |path: &String| {
            let whole = Reg::Whole(path.clone());
            let (was, is) = (self.talk.view.top(&whole), self.expected.view.top(&whole));
            let below = |view: &View| view.hint().keys().any(|other| other.starts_with(&format!("{path}/")));
            let (was_there, is_there) = (*was != Val::Absent, *is != Val::Absent);
            (is_folder(was) || below(&self.talk.view)) && is_there && !is_folder(is)
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

    /// What is uncertain stays.
    fn doubts(&mut self) {
        let mut sure = BTreeSet::new();
        let mut doubt = BTreeSet::new();
        for (reg, pile) in &self.talk.view.piles {
            for item in pile {
                let Who::Own(entry, is_sure) = item.who else { continue };
                let is_theirs = self.expected.kept.single.contains(&(entry, reg.clone()));
                if self.expected.out.contains(&entry) && !is_theirs {
                    let paths = self.paths(reg);
                    if is_sure { sure.extend(paths) } else { doubt.extend(paths) }
                }
            }
        }
        let both: Vec<String> = doubt.intersection(&sure).cloned().collect();
        self.expected.must.retain(|group| !both.iter().any(|path| group.contains(path)));
        self.expected.may.extend(both.iter().cloned());
        self.expected.free.extend(both);
        self.expected.only_doubt = doubt.difference(&sure).cloned().collect();
        self.expected.doubt = doubt;
    }

    fn choose(&mut self) {
        let mut touched: BTreeSet<String> = self.changed().iter().flat_map(|reg| self.paths(reg)).collect();
        touched.extend(self.expected.may.iter().cloned());
        touched.extend(self.expected.doubt.iter().cloned());
        for path in self.all_paths() {
            let Some(choice) = self.chosen(&path).cloned() else { continue };
            if !touched.contains(&path) {
                continue;
            }
            // Of names that go together one alone can't stay.
            let apart = |other: &String| *other != path && self.chosen(other) != Some(&choice);
            let links = self.links().into_iter().filter(|link| link.contains(&path));
            let is_free = links.flatten().any(|other| apart(&other)) || self.expected.free.contains(&path);
            match choice {
                Choice::Skip if !is_free => self.leave(&path, false),
                Choice::Disk if !is_free => self.leave(&path, true),
                _ => self.free(&path, &choice),
            }
        }
    }

    /// What is chosen for a path.
    fn chosen(&self, path: &str) -> Option<&Choice> {
        self.asked.chosen.get(path).or(self.asked.others.as_ref())
    }

    /// What comes of a path depends on what fits.
    fn free(&mut self, path: &str, choice: &Choice) {
        if *choice == Choice::Checkpoint && !self.expected.free.contains(path) {
            self.exact(path);
        }
        let linked: BTreeSet<String> = self
            .links()
            .into_iter()
            .filter(|link| link.contains(path))
            .flatten()
            .chain([path.to_owned()])
            .collect();
        self.expected.must.retain(|group| group.is_disjoint(&linked));
        self.expected.may.extend(linked.iter().cloned());
        self.expected.free.extend(linked.iter().cloned());
        if matches!(choice, Choice::Checkpoint | Choice::Yours) {
            self.expected.told.extend(linked);
        }
    }

    /// What was there before the first change that leaves, if nothing has been taken back since.
    fn exact(&mut self, path: &str) {
        let is_plain = matches!(self.asked.act, Act::Rewind(_)) && self.expected.into.is_empty();
        let mut deltas = self
            .talk
            .deltas
            .iter()
            .filter(|delta| self.expected.out.contains(&delta.entry) && delta.before.contains_key(path));
        if let Some(first) = deltas.next().filter(|delta| is_plain && delta.ops == self.talk.ops)
            && self.talk.kept == Kept::default()
        {
            self.expected.exact.insert(path.to_owned(), first.before[path].clone());
        }
    }

    /// A path stays as it is: for now, or for good.
    fn leave(&mut self, path: &str, for_good: bool) {
        let texts: BTreeSet<usize> = self.homes_at(path);
        let is_here = |reg: &Reg| match reg {
            Reg::Whole(at) => at == path,
            Reg::Place(text, _) | Reg::Mode(text) => texts.contains(text),
        };
        let regs: Vec<Reg> = self.changed().into_iter().chain(self.talk.view.piles.keys().cloned()).collect();
        for reg in regs.into_iter().filter(is_here) {
            let Some(old) = self.talk.view.piles.get(&reg).cloned() else {
                self.expected.view.piles.remove(&reg);
                continue;
            };
            let mut pile = old.clone();
            let own = |pile: &[Item]| -> BTreeSet<usize> {
                let entries = pile.iter().filter_map(|item| match item.who {
                    Who::Own(entry, _) => Some(entry),
                    Who::Base | Who::Other => None,
                });
                entries.collect()
            };
            let then = own(self.expected.view.piles.get(&reg).map_or(&[][..], |pile| &pile[..]));
            let toggled: BTreeSet<usize> = own(&old).symmetric_difference(&then).copied().collect();
            if for_good {
                // What lies under others' or later changes is no change of this path any more.
                let goes = |who: Who| matches!(who, Who::Own(entry, _) if toggled.contains(&entry));
                let covered = pile.iter().rposition(|item| !goes(item.who)).unwrap_or(0);
                let mut at = 0;
                pile.retain(|item| {
                    at += 1;
                    at > covered || !goes(item.who)
                });
                let asked = self.expected.out.iter().chain(&self.expected.into).chain(&toggled);
                self.expected.kept.single.extend(asked.map(|entry| (*entry, reg.clone())));
            } else {
                let single = |kept: &Kept| kept.single.iter().filter(|(_, of)| *of == reg).count();
                if single(&self.talk.kept) != single(&self.expected.kept) {
                    self.expected.view.unsure.insert(reg.clone());
                }
            }
            self.expected.view.piles.insert(reg.clone(), pile);
        }
        self.expected.must.retain(|group| !group.contains(path));
        self.expected.may.remove(path);
        self.expected.told.remove(path);
        self.expected.doubt.remove(path);
        self.expected.only_doubt.remove(path);
    }

    fn homes_at(&self, path: &str) -> BTreeSet<usize> {
        let pile = self.talk.view.piles.get(&Reg::Whole(path.to_owned()));
        let later = self.expected.view.piles.get(&Reg::Whole(path.to_owned()));
        let texts = pile.into_iter().chain(later).flatten().filter_map(|item| match item.val {
            Val::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }
}
