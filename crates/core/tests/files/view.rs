//! A conversation's view of a folder: for each register, the pile of its writes with their authors. Reverting a change removes it
//! from that pile; if another author has written on top of it, that is a conflict.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::moved::is_written_upon;
use super::naive::{Delta, Thing, Tree};
use super::truth::{Body, Event, Reg, Truth, Val, same_but_bits};

/// The author of a write, from a conversation's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// It existed before.
    Base,
    /// A person, another conversation, git.
    Other,
    /// A call, by its entry; `false`: perhaps.
    Own(usize, bool),
}

/// A write and its author.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) who: Who,
    pub(super) val: Val,
}

/// All writes that count, lowest first.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) piles: BTreeMap<Reg, Vec<Item>>,
    /// Registers with unknown layers below.
    pub(super) unsure: BTreeSet<Reg>,
    /// What others had removed of an entry's change before that went: it does not return with the entry (case 58).
    pub(super) removed: BTreeMap<(usize, Reg), Val>,
}

/// How two changes of the same register conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clash {
    /// A plan may call it a conflict.
    May,
    /// A plan must call it one.
    Must,
}

/// The conflicts of registers.
pub(super) type Clashes = BTreeMap<Reg, Clash>;

/// Whether a call's item counts as another author's.
pub(super) type Theirs<'a> = &'a dyn Fn(usize, &Reg) -> bool;

fn add(clashes: &mut Clashes, reg: &Reg, clash: Clash) {
    let there = clashes.entry(reg.clone()).or_insert(clash);
    *there = clash.max(*there);
}

/// Without changes that others made and reverted.
fn without_nothing(pile: Vec<Item>) -> Vec<Item> {
    let mut clean: Vec<Item> = Vec::new();
    for item in pile {
        let run = clean.iter().rev().take_while(|item| item.who == Who::Other).count();
        let below = clean.len() - run;
        if item.who == Who::Other && below > 0 && clean[below - 1].val == item.val {
            clean.truncate(below);
        } else {
            clean.push(item);
        }
    }
    clean
}

fn is_folder(val: &Val) -> bool {
    matches!(val, Val::Other(Thing::Folder { .. }))
}

pub(super) fn is_other(item: &Item, reg: &Reg, theirs: Theirs<'_>) -> bool {
    match item.who {
        Who::Base => false,
        Who::Other => true,
        Who::Own(entry, _) => theirs(entry, reg),
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.who, self.val)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base is no new write.
        for (reg, pile) in self.piles.iter().filter(|(_, pile)| pile.len() > 1) {
            let unsure = if self.unsure.contains(reg) { " (unsure)" } else { "" };
            writeln!(f, "{reg:?}{unsure}: {pile:?}")?;
        }
        Ok(())
    }
}

impl View {
    /// A text exists for the first time.
    pub(super) fn begin(&mut self, text: usize, body: &Body) {
        let base = |val| vec![Item { who: Who::Base, val }];
        for (at, place) in body.places.iter().enumerate() {
            self.piles.insert(Reg::Place(text, at), base(Val::Lines(place.clone())));
        }
        self.piles.insert(Reg::Mode(text), base(Val::Bits(body.mode)));
    }

    pub(super) fn top(&self, reg: &Reg) -> &Val {
        self.piles.get(reg).and_then(|pile| pile.last()).map_or(&Val::Absent, |item| &item.val)
    }

    /// An author has written something.
    pub(super) fn write(&mut self, event: &Event, who: Who) {
        let base = || vec![Item { who: Who::Base, val: event.from.clone() }];
        let pile = self.piles.entry(event.reg.clone()).or_insert_with(base);
        if who == Who::Other {
            // What others have reverted is as before their change. The earlier paths of texts are kept.
            let mut at = pile.len();
            while at > 1 && pile[at - 1].who == Who::Other && event.reg.text().is_some() {
                at -= 1;
            }
            pile.truncate(at);
            if pile[at - 1].val == event.to {
                return;
            }
        } else if pile.len() > 1 && pile[pile.len() - 1].who == who {
            pile.pop();
        }
        pile.push(Item { who, val: event.to.clone() });
    }

    /// The path of a text.
    pub(super) fn path_of(&self, text: usize) -> Option<&String> {
        self.piles.iter().find_map(|(reg, pile)| match reg {
            Reg::Whole(path) if pile.last()?.val == Val::Text(text) => Some(path),
            _ => None,
        })
    }

    /// The present path of a register, or the last one.
    pub(super) fn place_of<'a>(&'a self, reg: &'a Reg) -> Option<&'a String> {
        match reg {
            Reg::Whole(path) => Some(path),
            Reg::Place(text, _) | Reg::Mode(text) => self.path_of(*text),
        }
    }

    fn body(&self, text: usize, places: usize) -> Body {
        let places = (0..places).map(|at| match self.top(&Reg::Place(text, at)) {
            Val::Lines(lines) => lines.clone(),
            other => panic!("BUG: {other:?} in a place"),
        });
        let Val::Bits(mode) = *self.top(&Reg::Mode(text)) else { panic!("BUG: no bits") };
        Body { places: places.collect(), mode }
    }

    /// The expected folder.
    pub(super) fn tree(&self, truth: &Truth) -> Tree {
        let mut tree = Tree::new();
        for (reg, pile) in &self.piles {
            let Reg::Whole(path) = reg else { continue };
            let thing = match &pile.last().expect("never empty").val {
                Val::Text(text) => truth.thing(*text, &self.body(*text, super::text::PLACES)),
                Val::Other(thing) => thing.clone(),
                _ => continue,
            };
            tree.insert(path.clone(), thing);
        }
        // A folder exists as long as something is in it.
        let paths: Vec<String> = tree.keys().cloned().collect();
        for path in paths {
            for (at, _) in path.match_indices('/') {
                tree.entry(path[..at].to_owned()).or_insert(Thing::Folder { mode: 0o755 });
            }
        }
        tree
    }

    /// Which text is expected where.
    pub(super) fn hint(&self) -> BTreeMap<String, usize> {
        let texts = self.piles.iter().filter_map(|(reg, pile)| match (reg, &pile.last()?.val) {
            (Reg::Whole(path), Val::Text(text)) => Some((path.clone(), *text)),
            _ => None,
        });
        texts.collect()
    }

    /// Takes out the changes of these entries. Uncertain ones stay.
    pub(super) fn take(&mut self, out: &BTreeSet<usize>, theirs: Theirs<'_>) -> Clashes {
        let mut clashes = Clashes::new();
        let before = self.clone();
        for (reg, pile) in &mut self.piles {
            let goes = |item: &Item| match item.who {
                Who::Own(entry, sure) => out.contains(&entry) && !theirs(entry, reg) && sure,
                Who::Base | Who::Other => false,
            };
            let Some(first) = pile.iter().position(goes) else { continue };
            // The earlier paths of texts are kept.
            let above = pile.split_off(first);
            let clean = without_nothing(above.clone());
            if reg.text().is_none() && clean.len() < above.len() {
                // What returns is "its state at turn start" (case 1), whatever others had put there in between.
                self.unsure.insert(reg.clone());
            }
            pile.extend(clean);
            let last = pile.iter().rposition(goes).expect("there is a first");
            let stays: Vec<&Item> = pile[first..].iter().filter(|item| !goes(item)).collect();
            let target = &pile[first - 1].val;
            let is_removed = stays.last().is_some_and(|top| is_other(top, reg, theirs) && top.val == *target);
            // They have not removed what a later call put there.
            let upper = pile.iter().rposition(|item| !goes(item)).unwrap_or_default();
            for (at, item) in pile.iter().enumerate().filter(|(_, item)| goes(item)) {
                let Who::Own(entry, _) = item.who else { continue };
                match is_removed && at < upper {
                    true => self.removed.insert((entry, reg.clone()), item.val.clone()),
                    false => self.removed.remove(&(entry, reg.clone())),
                };
            }
            if let Some(top) = stays.last() {
                // A change that cancels itself, or differs only in bits from what returns, conflicts with nobody.
                let bits = same_but_bits(&top.val, &pile[last].val) || same_but_bits(&top.val, target);
                // What others have restored exactly as the call had left it can't be distinguished from that.
                let is_alike = reg.text().is_none() && top.who == Who::Other && top.val == pile[last].val;
                let nothing = pile[last].val == *target || bits || is_alike;
                // A call that stays removed just what goes, or went: "overlapping files merge or conflict" (case 36).
                let spent = [&Val::Lines(Vec::new()), &pile[last].val];
                let is_spent = pile.get(last + 1).is_some_and(|item| spent.contains(&&item.val));
                if bits || is_alike || is_spent {
                    self.unsure.insert(reg.clone());
                }
                // If a call that stays wrote on top of it first, others wrote on top of that. The same if others had reverted it
                // already: then it "clashes only with what was written in its own place". A folder in the place of a folder
                // changes nothing; one "is removed only when empty" (*Plan*).
                let is_change = |item: &Item| {
                    item.val != *target && !(is_folder(&item.val) && is_folder(&pile[last].val))
                };
                let above = &pile[last + 1..];
                let is_upon = above.first().is_some_and(is_change) && is_written_upon(above, reg, theirs);
                let is_away = reg.text().is_some_and(|text| before.path_of(text).is_none());
                let clash = match top.val != *target && !nothing && is_upon && !is_away {
                    true => Clash::Must,
                    false => Clash::May,
                };
                add(&mut clashes, reg, clash);
            }
            let keeps: Vec<Item> = pile.iter().filter(|item| !goes(item)).cloned().collect();
            *pile = keeps;
        }
        // What returned as it went, without what others had removed of it: they may have written there since.
        let came = before.removed.keys().filter(|(entry, _)| out.contains(entry));
        came.for_each(|(_, reg)| add(&mut clashes, reg, Clash::May));
        self.hidden(&before, theirs, &mut clashes);
        self.gone(&before, theirs, &mut clashes);
        clashes
    }

    /// "What a choice settled is no such removal" (*After*): these return as they were.
    pub(super) fn settle(&mut self, entries: &BTreeSet<usize>, is_at: impl Fn(&Reg) -> bool) {
        self.removed.retain(|(entry, reg), _| !entries.contains(entry) || !is_at(reg));
    }

    /// What is there of an entry belongs to the person: "what the choice left in the file" (*Adoption*). In a text removed since,
    /// it left nothing.
    pub(super) fn give(&mut self, entry: usize, reg: &Reg) {
        let is_gone = reg.text().is_some_and(|text| self.path_of(text).is_none());
        let Some(pile) = self.piles.get_mut(reg) else { return };
        let is_own = |item: &Item| matches!(item.who, Who::Own(of, _) if of == entry);
        pile.retain(|item| !is_gone || !is_own(item));
        pile.iter_mut().filter(|item| is_own(item)).for_each(|item| item.who = Who::Other);
    }

    /// The changes of a call return.
    pub(super) fn put(&mut self, delta: &Delta, theirs: Theirs<'_>) -> Clashes {
        let mut clashes = Clashes::new();
        let before = self.clone();
        for event in &delta.events {
            if theirs(delta.entry, &event.reg) {
                continue;
            }
            let who = Who::Own(delta.entry, delta.sure);
            let there =
                self.piles.get(&event.reg).is_some_and(|pile| pile.iter().any(|item| item.who == who));
            if there {
                continue;
            }
            // The earlier name of a text with another name since may belong to another file now.
            let homes = event.reg.text().map(|text| before.homes_of(text)).unwrap_or_default();
            if homes.len() > 1 {
                homes.into_iter().for_each(|home| add(&mut clashes, &Reg::Whole(home), Clash::May));
            }
            let top = self.top(&event.reg).clone();
            if self.is_removed(delta.entry, event) {
                // Later changes by others may still conflict with it.
                let clash = self.piles.get(&event.reg).filter(|_| top != event.from).map(|_| Clash::May);
                clash.into_iter().for_each(|clash| add(&mut clashes, &event.reg, clash));
                continue;
            }
            if top == event.from {
                if let (Val::Text(text), Some(found)) = (&event.from, &event.found)
                    && self.body(*text, found.places.len()) != *found
                {
                    // A returning rename need not include what others wrote under the old name since. And "kind, mode and bytes
                    // merge separately": different bits alone need no conflict.
                    let is_written = self.body(*text, found.places.len()).places != found.places;
                    let clash = if is_written && delta.leaves(*text) { Clash::Must } else { Clash::May };
                    add(&mut clashes, &event.reg, clash);
                }
                // A call that stays, and others, wrote above its place: that the content is the same as then is chance.
                let is_later = |item: &Item| matches!(item.who, Who::Own(entry, _) if entry > delta.entry);
                if self.piles.get(&event.reg).is_some_and(|pile| pile.iter().any(is_later)) {
                    add(&mut clashes, &event.reg, Clash::May);
                    self.unsure.insert(event.reg.clone());
                }
                self.write(event, who);
                continue;
            }
            let pile = self.piles.get(&event.reg).expect("it has been written");
            let last = pile.last().expect("never empty");
            let bits = same_but_bits(&top, &event.from);
            let clash = is_other(last, &event.reg, theirs) && top != event.to && !bits;
            add(&mut clashes, &event.reg, if clash { Clash::Must } else { Clash::May });
            self.unsure.insert(event.reg.clone());
        }
        self.missing(delta, &mut clashes);
        self.hidden(&before, theirs, &mut clashes);
        clashes
    }

    /// Whether others had removed something of an entry before it went.
    pub(super) fn is_less(&self, entry: usize) -> bool {
        self.removed.keys().any(|(of, _)| *of == entry)
    }

    /// Whether others had removed it, or its text, before it went.
    fn is_removed(&self, entry: usize, event: &Event) -> bool {
        let is_text =
            |text| self.removed.iter().any(|((of, _), val)| *of == entry && *val == Val::Text(text));
        self.removed.contains_key(&(entry, event.reg.clone())) || event.reg.text().is_some_and(is_text)
    }

    /// A returning change was made in a text that is not in the files: nothing creates that text any more.
    fn missing(&self, delta: &Delta, clashes: &mut Clashes) {
        let is_made = |text| self.piles.values().flatten().any(|item| item.val == Val::Text(text));
        let is_missing = |event: &Event| {
            matches!(event.reg, Reg::Place(text, _) if !is_made(text)) && *self.top(&event.reg) == event.to
        };
        let is_whole = |path: &String| delta.events.iter().any(|event| event.reg == Reg::Whole(path.clone()));
        if delta.events.iter().any(is_missing) {
            let within: Vec<&String> = delta.before.keys().filter(|path| !is_whole(path)).collect();
            let is_removed = |event: &Event| match event.reg.text() {
                Some(text) => self.removed.values().any(|val| *val == Val::Text(text)),
                None => false,
            };
            let is_plain = within.len() == 1 && !delta.events.iter().any(is_removed);
            let clash = if is_plain { Clash::Must } else { Clash::May };
            within.into_iter().for_each(|path| add(clashes, &Reg::Whole(path.clone()), clash));
        }
    }

    /// Reverses the changes of a step.
    pub(super) fn reverse(&mut self, step: (&Self, &Self), theirs: Theirs<'_>) -> Clashes {
        let mut clashes = Clashes::new();
        let before = self.clone();
        let (old, new) = step;
        let none = Vec::new();
        for reg in old.piles.keys().chain(new.piles.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (old.piles.get(reg).unwrap_or(&none), new.piles.get(reg).unwrap_or(&none));
            let now = self.piles.get(reg).unwrap_or(&none);
            if was == is || now == was {
                continue;
            }
            let since = now.get(is.len()..).filter(|_| !is.is_empty() && now.starts_with(is));
            let others = since.is_some_and(|since| since.iter().all(|item| item.who == Who::Other));
            if now == is || others && now.last().map(|item| &item.val) == is.last().map(|item| &item.val) {
                self.piles.insert(reg.clone(), was.clone());
                if was.is_empty() {
                    self.piles.remove(reg);
                }
                continue;
            }
            let val = |pile: &Vec<Item>| pile.last().map_or(Val::Absent, |item| item.val.clone());
            if val(now) == val(was) && !was.is_empty() {
                // Another author has done the same already: what returns is theirs.
                add(&mut clashes, reg, Clash::May);
                let comes = was.last().is_some_and(|item| matches!(item.who, Who::Own(..)));
                if !comes || !now.last().is_some_and(|item| item.who == Who::Other) {
                    // A later call that stays and has done the same keeps its own layer, whatever is chosen: only those "that the
                    // step would have taken out (or put in) are no layers of the path any more" (*Adoption*).
                    let is_own = |item: &Item| matches!(item.who, Who::Own(..));
                    let since = now.strip_prefix(&is[..]).filter(|since| since.iter().all(is_own));
                    let pile = was.iter().chain(since.filter(|_| comes).unwrap_or_default());
                    self.piles.insert(reg.clone(), pile.cloned().collect());
                }
                continue;
            }
            self.unsure.insert(reg.clone());
            let bits = same_but_bits(&val(now), &val(is));
            let last = now.last().filter(|_| val(was) != val(is) && val(now) != val(was) && !bits);
            let clash = last.is_some_and(|last| is_other(last, reg, theirs));
            add(&mut clashes, reg, if clash { Clash::Must } else { Clash::May });
        }
        // A text that goes, and was written since.
        for text in before.texts().difference(&self.texts()) {
            for (reg, pile) in before.piles.iter().filter(|(reg, _)| reg.text() == Some(*text)) {
                if new.piles.get(reg) != Some(pile) {
                    let place = matches!(reg, Reg::Place(..)) && new.top(reg) != before.top(reg);
                    add(&mut clashes, reg, if place { Clash::Must } else { Clash::May });
                }
            }
        }
        self.hidden(&before, theirs, &mut clashes);
        clashes
    }

    fn texts(&self) -> BTreeSet<usize> {
        self.hint().into_values().collect()
    }

    /// Texts that go since nothing creates them any more, although others, or calls that stay, wrote into them; also those that
    /// were not visible any more.
    fn gone(&self, before: &Self, theirs: Theirs<'_>, clashes: &mut Clashes) {
        let made = |view: &Self| {
            let items = view.piles.values().flatten();
            let texts = items.filter_map(|item| match item.val {
                Val::Text(text) => Some(text),
                _ => None,
            });
            texts.collect::<BTreeSet<usize>>()
        };
        let there = before.texts();
        let goes = there.difference(&self.texts()).copied().collect::<BTreeSet<_>>();
        for text in goes.iter().chain(made(before).difference(&made(self))) {
            for (reg, pile) in self.piles.iter().filter(|(reg, _)| reg.text() == Some(*text)) {
                let pile = without_nothing(pile.clone());
                let mut upon = pile.iter().filter(|item| item.who != Who::Base).peekable();
                if upon.peek().is_some() {
                    // Lines that others removed are not lost with the file.
                    let says = |item: &Item| item.val != Val::Lines(Vec::new());
                    let sure = upon.any(|item| match item.who {
                        Who::Own(_, true) => true,
                        _ => is_other(item, reg, theirs) && says(item),
                    });
                    let must = sure && matches!(reg, Reg::Place(..)) && there.contains(text);
                    for home in before.homes_of(*text) {
                        add(clashes, &Reg::Whole(home), Clash::May);
                    }
                    add(clashes, reg, if must { Clash::Must } else { Clash::May });
                }
            }
        }
    }

    /// All paths that a text has ever had.
    fn homes_of(&self, text: usize) -> Vec<String> {
        let is = |item: &Item| item.val == Val::Text(text);
        let homes = self.piles.iter().filter(|(_, pile)| pile.iter().any(is));
        homes
            .filter_map(|(reg, _)| match reg {
                Reg::Whole(path) => Some(path.clone()),
                _ => None,
            })
            .collect()
    }

    /// Changes within texts that are not on the disk: if others have removed or replaced them, that is a conflict.
    fn hidden(&self, before: &Self, theirs: Theirs<'_>, clashes: &mut Clashes) {
        let there: BTreeSet<usize> = before.texts().union(&self.texts()).copied().collect();
        let is_made = |text| self.piles.values().flatten().any(|item| item.val == Val::Text(text));
        for (reg, pile) in &self.piles {
            let Some(text) = reg.text().filter(|text| !there.contains(text)) else { continue };
            if before.piles.get(reg).is_none_or(|was| was == pile) {
                continue;
            }
            // What others had removed before its turn went and came back is still removed by them (cases 18 and 58).
            let removed = before.removed.iter().filter(|(_, val)| **val == Val::Text(text));
            removed.for_each(|((_, whole), _)| add(clashes, whole, Clash::May));
            // Permission bits are merged on their own, whatever has replaced the text.
            let is_place = matches!(reg, Reg::Place(..));
            for (reg, pile) in &before.piles {
                let has = |item: &Item| item.val == Val::Text(text);
                if pile.iter().any(has) {
                    // If a call that stays had removed the text, others wrote on top of nothing of it.
                    let above = pile.iter().rposition(has).map_or(&[][..], |at| &pile[at + 1..]);
                    let other = is_written_upon(above, reg, theirs);
                    // Another author may have had it under another name before.
                    let must = other && is_place && is_made(text) && before.homes_of(text).len() == 1;
                    add(clashes, reg, if must { Clash::Must } else { Clash::May });
                }
            }
        }
    }
}
