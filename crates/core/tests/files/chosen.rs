//! The effects of a person's choices (`rewind.md`, *Plan*, *Adoption*): what stays unchanged, for now or for good, and what then
//! no longer belongs to a turn.

use std::collections::BTreeSet;

use retake_core::Choice;
use retake_core::Scope;

use super::expect::Made;
use super::naive::{Act, Kept};
use super::text::PLACES;
use super::truth::{Reg, Val};
use super::view::{Item, Who};

impl Made<'_> {
    /// Applies the choices.
    pub(super) fn choose(&mut self) {
        let mut touched: BTreeSet<String> = self.changed().iter().flat_map(|reg| self.paths(reg)).collect();
        touched.extend(self.expected.may.iter().cloned());
        touched.extend(self.expected.doubt.iter().cloned());
        touched.extend(self.expected.only_doubt.values().flatten().cloned());
        // What a choice had kept, and what now belongs to its turn again, returns only if no other choice is made. A step on files
        // alone plans these paths, too, so a choice counts for them.
        let single = self.talk.kept.single.symmetric_difference(&self.kept.single);
        touched.extend(single.flat_map(|(_, reg)| self.paths(reg)));
        let reversed: BTreeSet<String> = self.reversed().iter().flat_map(|reg| self.paths(reg)).collect();
        for path in self.all_paths() {
            let Some(choice) = self.chosen(&path).cloned() else { continue };
            // "Exactly as it was there, whatever others wrote since", and "the last version that someone else wrote": even if the
            // reversed steps cancel each other.
            let is_named =
                || matches!(choice, Choice::Checkpoint | Choice::Yours) && reversed.contains(&path);
            if !touched.contains(&path) && !is_named() {
                continue;
            }
            // One of several names that belong together can't stay alone.
            let apart = |other: &String| *other != path && self.chosen(other) != Some(&choice);
            let links = self.links().into_iter().filter(|link| link.contains(&path));
            let free = self.expected.free.contains(&path);
            // A path that is left alone keeps everything, unless another of its names is not left alone.
            let mut homes = self.homes_at(&path).into_iter().flat_map(|text| self.homes(text));
            let free = free && (choice != Choice::Skip || homes.any(|home| apart(&home)));
            let is_free = links.flatten().any(|other| apart(&other)) || free;
            // The spec alone does not decide about these layers.
            let takes_doubt = choice == Choice::Merge && self.expected.doubt.contains(&path);
            let is_left = is_free && matches!(choice, Choice::Skip | Choice::Disk);
            if choice == Choice::Yours || takes_doubt || is_left {
                let texts = self.homes_at(&path);
                let regs = self.talk.view.piles.keys().chain(self.expected.view.piles.keys());
                let mut here = regs.filter(|reg| is_at(reg, &path, &texts)).cloned().collect::<Vec<_>>();
                // "Both names of a rename are decided together", whatever has taken the place of one of them since.
                here.extend(texts.iter().flat_map(|text| self.homes(*text)).map(Reg::Whole));
                self.expected.view.unsure.extend(here);
            }
            if choice == Choice::Checkpoint {
                // Changes by others go as well, as chosen, and uncertain ones; whether they return with the text that they were
                // written into is not specified.
                let texts = self.homes_at(&path);
                let is_others = |pile: &[Item]| {
                    pile.iter().any(|item| matches!(item.who, Who::Other | Who::Own(_, false)))
                };
                let piles = self.expected.view.piles.iter().filter(|(reg, _)| is_at(reg, &path, &texts));
                let gone: Vec<Reg> =
                    piles.filter(|(_, pile)| is_others(pile)).map(|(reg, _)| reg.clone()).collect();
                // So that returns with its turn, which "comes back as it went" (*After*).
                let goes =
                    |item: &Item| matches!(item.who, Who::Own(of, false) if self.expected.out.contains(&of));
                let piles = self.expected.view.piles.iter_mut().filter(|(reg, _)| gone.contains(reg));
                piles.for_each(|(_, pile)| pile.retain(|item| !goes(item)));
                self.expected.view.unsure.extend(gone);
                self.expected.view.settle(&self.expected.out, |reg| is_at(reg, &path, &texts));
            }
            match choice {
                Choice::Skip if !is_free => self.leave(&path, false),
                Choice::Disk if !is_free => self.leave(&path, true),
                _ => self.free(&path, &choice),
            }
        }
    }

    /// The choice for a path.
    fn chosen(&self, path: &str) -> Option<&Choice> {
        self.asked.chosen.get(path).or(self.asked.others.as_ref())
    }

    /// The result for a path depends on what can be applied.
    fn free(&mut self, path: &str, choice: &Choice) {
        if *choice == Choice::Checkpoint && !self.expected.free.contains(path) {
            self.exact(path);
        }
        let mut linked: BTreeSet<String> = self
            .links()
            .into_iter()
            .filter(|link| link.contains(path))
            .flatten()
            .chain([path.to_owned()])
            .collect();
        if *choice == Choice::Checkpoint {
            // The same for all names of what is there, and for the content of a folder that goes.
            linked.extend(self.homes_at(path).into_iter().flat_map(|text| self.homes(text)));
            let below = format!("{path}/");
            linked.extend(self.all_paths().into_iter().filter(|other| other.starts_with(&below)));
        }
        self.expected.must.retain(|group| group.is_disjoint(&linked));
        self.expected.may.extend(linked.iter().cloned());
        self.expected.free.extend(linked.iter().cloned());
        if matches!(choice, Choice::Skip | Choice::Disk | Choice::Yours) {
            self.free_copies(path);
        }
        // One of the names of a renamed text is left alone, and the other one goes: that was requested, too.
        if matches!(choice, Choice::Checkpoint | Choice::Yours) || linked.len() > 1 {
            self.expected.told.extend(linked);
        }
    }

    /// The content before the first change that leaves, if nothing has been reverted since.
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

    /// A path stays unchanged: for now, or for good.
    fn leave(&mut self, path: &str, for_good: bool) {
        let texts: BTreeSet<usize> = self.homes_at(path);
        let homes: BTreeSet<String> = texts.iter().flat_map(|text| self.homes(*text)).collect();
        let regs: Vec<Reg> = self.changed().into_iter().chain(self.talk.view.piles.keys().cloned()).collect();
        for reg in regs.into_iter().filter(|reg| is_at(reg, path, &texts)) {
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
            let mut toggled: BTreeSet<usize> = own(&old).symmetric_difference(&then).copied().collect();
            let single = self.talk.kept.single.symmetric_difference(&self.expected.kept.single);
            toggled.extend(single.filter(|(_, of)| *of == reg).map(|(entry, _)| *entry));
            if for_good {
                // What lies under others' or later changes is no change of this path any more.
                let goes = |who: Who| matches!(who, Who::Own(entry, _) if toggled.contains(&entry));
                // The same for all of a text that something else has replaced.
                let is_away = reg.text().is_some_and(|text| self.talk.view.path_of(text).is_none());
                let top = if is_away { Some(pile.len()) } else { None };
                let covered = top.or(pile.iter().rposition(|item| !goes(item.who))).unwrap_or(0);
                let mut at = 0;
                pile.retain(|item| {
                    at += 1;
                    at > covered || !goes(item.who)
                });
                if self.loses(&reg, &mut pile, &homes) {
                    self.expected.view.unsure.insert(reg.clone());
                }
                if self.asked.scope == Scope::Files {
                    // The entry is taken out, so what the choice leaves of it belongs to the person, including uncertain changes.
                    let out = &self.expected.out;
                    let goes =
                        |who: Who| goes(who) || matches!(who, Who::Own(entry, false) if out.contains(&entry));
                    pile.iter_mut().filter(|item| goes(item.who)).for_each(|item| item.who = Who::Other);
                }
                if self.asked.scope == Scope::Both {
                    // What was there before and is wanted is no layer that "the step would have put in" (*Adoption*).
                    let before = own(&old);
                    let into = self.expected.into.iter().filter(|entry| !before.contains(*entry));
                    // Nor does it take out what is neither in the files nor wanted, for example if several undos cancel each
                    // other.
                    let is_own = |entry: usize| {
                        let mut all = self.talk.view.piles.values().flatten();
                        all.any(|item| matches!(item.who, Who::Own(of, _) if of == entry))
                    };
                    let out =
                        self.expected.out.iter().filter(|entry| is_own(**entry) || self.talk.wants(**entry));
                    let asked: Vec<usize> = out.chain(into).chain(&toggled).copied().collect();
                    // The same for its other names.
                    let others = homes.iter().filter(|home| !self.asked.chosen.contains_key(*home));
                    for reg in others.map(|home| Reg::Whole(home.clone())).chain([reg.clone()]) {
                        self.expected.kept.single.extend(asked.iter().map(|entry| (*entry, reg.clone())));
                    }
                }
            } else {
                let single = |kept: &Kept| kept.single.iter().filter(|(_, of)| *of == reg).count();
                if single(&self.talk.kept) != single(&self.expected.kept) {
                    self.expected.view.unsure.insert(reg.clone());
                }
            }
            self.expected.view.piles.insert(reg.clone(), pile);
        }
        // A choice for one name of a rename also applies to the others.
        for home in homes {
            if !self.asked.chosen.contains_key(&home) {
                self.expected.only_doubt.remove(&home);
                self.expected.must.retain(|group| !group.contains(&home));
            }
        }
        self.free_copies(path);
        self.expected.must.retain(|group| !group.contains(path));
        self.expected.may.remove(path);
        self.expected.free.remove(path);
        self.expected.told.remove(path);
        self.expected.doubt.remove(path);
        self.expected.only_doubt.remove(path);
    }

    /// "A rename is recognised by equal bytes": a copy of kept content may be taken for its other name.
    fn free_copies(&mut self, path: &str) {
        let copies = self.copies(&self.homes_at(path)).into_iter();
        for other in copies.filter(|other| !self.asked.chosen.contains_key(other)) {
            self.expected.may.insert(other.clone());
            self.expected.free.insert(other);
        }
    }

    /// The paths of other texts with the same content as one of these.
    fn copies(&self, texts: &BTreeSet<usize>) -> BTreeSet<String> {
        let view = &self.talk.view;
        let is_copy = |one: usize, other: usize| {
            let same =
                |place: usize| view.top(&Reg::Place(one, place)) == view.top(&Reg::Place(other, place));
            one != other && (0..PLACES).all(same)
        };
        let there = view.hint().into_iter();
        let copies = there.filter(|(_, text)| texts.iter().any(|one| is_copy(*one, *text)));
        copies.map(|(path, _)| path).collect()
    }

    /// If a text goes with the turn that created it, a later turn loses the lines that it wrote over. Returns whether the text had
    /// replaced something else: then only the later turn's own lines are left, and what the choice keeps is directly beside them.
    fn loses(&self, reg: &Reg, pile: &mut [Item], homes: &BTreeSet<String>) -> bool {
        let (Reg::Place(text, _), [below, above, ..]) = (reg, pile) else { return false };
        let leaves = |who: Who| matches!(who, Who::Own(entry, _) if self.expected.out.contains(&entry));
        if !matches!(above.who, Who::Own(..)) || leaves(above.who) {
            return false;
        }
        let (mut is_made, mut is_over) = (true, false);
        for pile in homes.iter().filter_map(|home| self.talk.view.piles.get(&Reg::Whole(home.clone()))) {
            let Some(at) = pile.iter().position(|item| item.val == Val::Text(*text)) else { continue };
            is_made &= leaves(pile[at].who);
            is_over |= at > 0 && pile[at - 1].val != Val::Absent;
        }
        if is_made {
            below.val = Val::Lines(Vec::new());
        }
        is_made && is_over
    }

    pub(super) fn homes_at(&self, path: &str) -> BTreeSet<usize> {
        let pile = self.talk.view.piles.get(&Reg::Whole(path.to_owned()));
        let later = self.expected.view.piles.get(&Reg::Whole(path.to_owned()));
        let texts = pile.into_iter().chain(later).flatten().filter_map(|item| match item.val {
            Val::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }
}

/// Whether something writable is at a path that these texts have or had.
fn is_at(reg: &Reg, path: &str, texts: &BTreeSet<usize>) -> bool {
    match reg {
        Reg::Whole(at) => at == path,
        Reg::Place(text, _) | Reg::Mode(text) => texts.contains(text),
    }
}
