//! The names of texts that a step moves, or that were moved before it (`rewind.md`, *Plan*): what is true for one name is true
//! for the others.

use std::collections::BTreeSet;

use super::expect::Made;
use super::naive::{Delta, Thing};
use super::truth::{Reg, Val};
use super::view::{Item, Theirs, Who, is_other};

impl Delta {
    /// The paths between which it moved a text.
    pub(super) fn names(&self, text: usize) -> impl Iterator<Item = String> {
        let is_its = move |val: &Val| *val == Val::Text(text);
        self.events.iter().filter_map(move |event| match &event.reg {
            Reg::Whole(path) if is_its(&event.from) || is_its(&event.to) => Some(path.clone()),
            _ => None,
        })
    }
}

impl Made<'_> {
    /// Paths of texts that the step moves: they are decided together.
    pub(super) fn links(&self) -> Vec<BTreeSet<String>> {
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

    /// The paths that a text has had.
    pub(super) fn homes(&self, text: usize) -> BTreeSet<String> {
        let piles = self.talk.view.piles.iter().chain(&self.expected.view.piles);
        piles
            .filter_map(|(reg, pile)| match reg {
                Reg::Whole(path) if pile.iter().any(|item| item.val == Val::Text(text)) => Some(path.clone()),
                _ => None,
            })
            .collect()
    }

    /// The registers that the reversed steps on files had written.
    pub(super) fn reversed(&self) -> BTreeSet<Reg> {
        let steps = self.back.into_iter().flatten().filter_map(|(_, op)| op.as_ref()?.files.as_ref());
        let regs = steps.flat_map(|files| {
            let (before, after) = (&files.views.0.piles, &files.views.1.piles);
            let all = before.keys().chain(after.keys());
            all.filter(|reg| before.get(reg) != after.get(reg)).cloned().collect::<Vec<_>>()
        });
        regs.collect()
    }

    /// The two names of each text that the reversed steps had moved.
    pub(super) fn renamed_back(&self) -> Vec<BTreeSet<String>> {
        let steps = self.back.into_iter().flatten().filter_map(|(_, op)| op.as_ref()?.files.as_ref());
        let names = steps.flat_map(|files| {
            let (before, after) = (files.views.0.hint(), files.views.1.hint());
            let of = |(old, text): (String, usize)| {
                let new = after.iter().find(|(new, at)| **at == text && **new != old)?;
                Some(BTreeSet::from([old, new.0.clone()]))
            };
            before.into_iter().filter_map(of).collect::<Vec<_>>()
        });
        names.collect()
    }

    /// "Kind, mode and bytes merge separately": the bits that a call found return with it, even if others have restored the text
    /// itself by now, with other ones.
    pub(super) fn bits_of_found(&mut self) {
        let (view, out) = (&self.talk.view, &self.expected.out);
        let goes = self.talk.deltas.iter().filter(|delta| out.contains(&delta.entry));
        let other_bits =
            goes.flat_map(|delta| &delta.events).filter_map(|event| match (&event.from, &event.found) {
                (Val::Text(text), Some(found)) => {
                    (*view.top(&Reg::Mode(*text)) != Val::Bits(found.mode)).then_some(*text)
                }
                _ => None,
            });
        let texts: BTreeSet<usize> = other_bits.collect();
        let homes: BTreeSet<String> = texts.into_iter().flat_map(|text| self.homes(text)).collect();
        self.expected.may.extend(homes.iter().cloned());
        self.expected.bits.extend(homes);
    }

    /// "Where a turn that stays renamed a file, a layer below that goes follows the rename": another file that a text had
    /// replaced returns under the new name. The model has no name for it there.
    pub(super) fn followed(&mut self) {
        let out = &self.expected.out;
        let goes = |item: &Item| matches!(item.who, Who::Own(entry, true) if out.contains(&entry));
        let stays = |item: &Item| matches!(item.who, Who::Own(entry, _) if !out.contains(&entry));
        let mut names = BTreeSet::new();
        for (reg, pile) in &self.talk.view.piles {
            for (at, item) in pile.iter().enumerate().skip(1).filter(|(_, item)| goes(item)) {
                // Even if a turn that goes had removed that one before.
                let below = pile[..at].iter().rfind(|item| !goes(item));
                let is_over = below
                    .is_some_and(|item| matches!(item.val, Val::Other(Thing::File { .. }) | Val::Text(_)));
                let Val::Text(text) = item.val else { continue };
                if matches!(reg, Reg::Whole(_)) && is_over && pile[at + 1..].iter().any(stays) {
                    names.extend(self.homes(text));
                }
            }
        }
        self.expected.must.retain(|group| group.is_disjoint(&names));
        self.expected.may.extend(names.iter().cloned());
        self.expected.free.extend(names);
    }
}

/// Whether others wrote on top of something, and their content is there: no call that stays has removed it in between.
pub(super) fn is_written_upon(above: &[Item], reg: &Reg, theirs: Theirs<'_>) -> bool {
    let is_theirs = |item: &Item| is_other(item, reg, theirs);
    let are_theirs = above.first().is_some_and(is_theirs) && above.last().is_some_and(is_theirs);
    are_theirs && !above.iter().any(|item| item.val == Val::Absent && !is_theirs(item))
}
