//! The real content of the folder, and its changes: which text is where, under any name, and which of its places was written. It
//! knows nothing of authors.

use std::collections::{BTreeMap, BTreeSet};

use super::naive::{Thing, Tree};
use super::text::Text;
use super::view::{View, Who};

/// A register: something that can be written on its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reg {
    /// The content of a path.
    Whole(String),
    /// A place of a text.
    Place(usize, usize),
    /// The permission bits of a text.
    Mode(usize),
}

impl Reg {
    /// Its text.
    pub(super) fn text(&self) -> Option<usize> {
        match self {
            Self::Whole(_) => None,
            Self::Place(text, _) | Self::Mode(text) => Some(*text),
        }
    }
}

/// The value of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Val {
    Absent,
    /// A text, by its number, which a rename keeps.
    Text(usize),
    Other(Thing),
    Lines(Vec<String>),
    Bits(u32),
}

/// Whether two files differ only in their permission bits, which are merged apart from the bytes.
pub(super) fn same_but_bits(one: &Val, other: &Val) -> bool {
    match (one, other) {
        (Val::Other(Thing::File { bytes, .. }), Val::Other(Thing::File { bytes: others, .. })) => {
            bytes == others
        }
        _ => false,
    }
}

/// A change. If a text leaves a path, with its content.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) reg: Reg,
    pub(super) from: Val,
    pub(super) to: Val,
    pub(super) found: Option<Body>,
}

/// The places of a text and its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) places: Vec<Vec<String>>,
    pub(super) mode: u32,
}

/// Changes since the last time.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// New texts, with their content.
    pub(super) born: Vec<(usize, Body)>,
    pub(super) events: Vec<Event>,
    /// Paths with an ambiguous rename.
    pub(super) unclear: BTreeSet<String>,
}

/// All texts that ever existed, and their present paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub(super) at: BTreeMap<String, Val>,
    texts: Vec<(String, Body)>,
    /// The last text of a path, among those with a frame.
    had: BTreeMap<(String, String), usize>,
}

impl Truth {
    /// The bytes of a text with these places.
    pub(super) fn thing(&self, text: usize, body: &Body) -> Thing {
        let text = Text { frame: self.texts[text].0.clone(), places: body.places.clone() };
        Thing::File { bytes: text.bytes(), mode: body.mode }
    }

    /// The folder now has this content. `hint` says which text is expected where.
    pub(super) fn advance(&mut self, tree: &Tree, hint: &BTreeMap<String, usize>) -> News {
        let mut news = News::default();
        let found: BTreeMap<&String, (Text, u32)> = tree
            .iter()
            .filter_map(|(path, thing)| match thing {
                Thing::File { bytes, mode } => Some((path, (Text::parse(bytes)?, *mode))),
                Thing::Link(_) | Thing::Folder { .. } => None,
            })
            .collect();
        let mut places = self.renamed(&found, &mut news);
        self.stayed(&found, &mut places);
        for (path, (text, _)) in &found {
            if places.contains_key(*path) {
                continue;
            }
            let key = ((*path).clone(), text.frame.clone());
            let known = [hint.get(*path), self.had.get(&key)].into_iter().flatten().copied();
            let fits = |at: &usize| self.texts[*at].0 == text.frame && !places.values().any(|it| it == at);
            let at = known.into_iter().find(fits).unwrap_or(self.texts.len() + news.born.len());
            if at >= self.texts.len() {
                let (text, mode) = &found[path];
                news.born.push((at, Body { places: text.places.clone(), mode: *mode }));
            }
            // Another text with this frame was just removed: it may be that one.
            let went = self.at.iter().filter(|(other, val)| match val {
                // Even if "another file took the old name" (*Plan*).
                Val::Text(other_at) => {
                    let frame = &self.texts[*other_at].0;
                    let stays = found.get(other).is_some_and(|(there, _)| there.frame == *frame);
                    *other_at != at && *frame == text.frame && !stays
                }
                _ => false,
            });
            let went: Vec<String> = went.map(|(other, _)| other.clone()).collect();
            if !went.is_empty() {
                news.unclear.extend(went.into_iter().chain([(*path).clone()]));
            }
            places.insert((*path).clone(), at);
        }
        for (at, body) in &news.born {
            let (path, _) = places.iter().find(|(_, text)| *text == at).expect("it is somewhere");
            self.texts.push((found[path].0.frame.clone(), body.clone()));
        }
        self.differ(tree, &found, &places, &mut news);
        news
    }

    /// The real differences from a view.
    pub(super) fn apart(&self, view: &View) -> Vec<Event> {
        let mut apart = Vec::new();
        for reg in view.piles.keys() {
            let is = match reg {
                Reg::Whole(path) => self.at.get(path).cloned().unwrap_or(Val::Absent),
                Reg::Place(text, _) | Reg::Mode(text)
                    if !self.at.values().any(|val| *val == Val::Text(*text)) =>
                {
                    continue;
                }
                Reg::Place(text, place) => Val::Lines(self.texts[*text].1.places[*place].clone()),
                Reg::Mode(text) => Val::Bits(self.texts[*text].1.mode),
            };
            let from = view.top(reg).clone();
            if from != is {
                apart.push(Event { reg: reg.clone(), from, to: is, found: None });
            }
        }
        for (path, val) in &self.at {
            let reg = Reg::Whole(path.clone());
            if !view.piles.contains_key(&reg) {
                apart.push(Event { reg, from: Val::Absent, to: val.clone(), found: None });
            }
        }
        apart
    }

    /// A text that others bring back has the content of its removal. What a choice had settled meanwhile is theirs then: "a
    /// rewind of the other is a change by someone else" (*Apply*).
    pub(super) fn come_back(&self, view: &mut View, news: &News, who: Who) {
        let came = |text| news.events.iter().any(|event| event.to == Val::Text(text));
        for event in self.apart(view) {
            if who == Who::Other && event.reg.text().is_some_and(came) {
                view.write(&event, who);
            }
        }
    }

    /// A text that a view has forgotten, since an undo should have removed it, but that is still there.
    pub(super) fn begin_again(&self, view: &mut View) {
        for val in self.at.values() {
            if let Val::Text(text) = val
                && !view.piles.contains_key(&Reg::Mode(*text))
            {
                view.begin(*text, &self.texts[*text].1);
            }
        }
    }

    /// Texts under another name now.
    fn renamed(&self, found: &BTreeMap<&String, (Text, u32)>, news: &mut News) -> BTreeMap<String, usize> {
        let gone: Vec<(&String, usize)> = self
            .at
            .iter()
            .filter_map(|(path, val)| match val {
                Val::Text(text) if !found.contains_key(path) => Some((path, *text)),
                _ => None,
            })
            .collect();
        let is = |text: usize, other: &Text| {
            let (frame, body) = &self.texts[text];
            *frame == other.frame && body.places == other.places
        };
        let mut places = BTreeMap::new();
        for (path, text) in &gone {
            let is_new = |path: &String, other: &Text| !matches!(self.at.get(path), Some(Val::Text(at)) if is(*at, other));
            let targets: Vec<&String> = found
                .iter()
                .filter(|(path, (other, _))| is(*text, other) && is_new(path, other))
                .map(|(path, _)| *path)
                .collect();
            let alike = gone.iter().filter(|(_, other)| self.texts[*other] == self.texts[*text]).count();
            match targets[..] {
                [] => {}
                [target] if alike == 1 => {
                    // Over a file: it could be the same text with changes.
                    if self.at.contains_key(target) {
                        news.unclear.extend([target.clone(), (*path).clone()]);
                    }
                    places.insert(target.clone(), *text);
                }
                _ => {
                    news.unclear.extend(targets.into_iter().cloned());
                    news.unclear.insert((*path).clone());
                }
            }
        }
        places
    }

    /// Texts at the same path.
    fn stayed(&self, found: &BTreeMap<&String, (Text, u32)>, places: &mut BTreeMap<String, usize>) {
        for (path, (text, _)) in found {
            if let Some(Val::Text(at)) = self.at.get(*path)
                && self.texts[*at].0 == text.frame
                && !places.contains_key(*path)
                && !places.values().any(|it| it == at)
            {
                places.insert((*path).clone(), *at);
            }
        }
    }

    fn differ(
        &mut self,
        tree: &Tree,
        found: &BTreeMap<&String, (Text, u32)>,
        places: &BTreeMap<String, usize>,
        news: &mut News,
    ) {
        let val = |path: &String| match (places.get(path), tree.get(path)) {
            (Some(text), _) => Val::Text(*text),
            (None, Some(thing)) => Val::Other(thing.clone()),
            (None, None) => Val::Absent,
        };
        let paths: BTreeSet<&String> = self.at.keys().chain(tree.keys()).collect();
        for path in paths {
            let (from, to) = (self.at.get(path).cloned().unwrap_or(Val::Absent), val(path));
            if from != to {
                let found = match from {
                    Val::Text(text) => Some(self.texts[text].1.clone()),
                    _ => None,
                };
                news.events.push(Event { reg: Reg::Whole(path.clone()), from, to, found });
            }
        }
        for (path, at) in places {
            let (text, mode) = &found[path];
            let body = &mut self.texts[*at].1;
            for (place, (from, to)) in body.places.iter().zip(&text.places).enumerate() {
                if from != to {
                    let (from, to) = (Val::Lines(from.clone()), Val::Lines(to.clone()));
                    news.events.push(Event { reg: Reg::Place(*at, place), from, to, found: None });
                }
            }
            if body.mode != *mode {
                let (from, to) = (Val::Bits(body.mode), Val::Bits(*mode));
                news.events.push(Event { reg: Reg::Mode(*at), from, to, found: None });
            }
            *body = Body { places: text.places.clone(), mode: *mode };
            self.had.insert((path.clone(), text.frame.clone()), *at);
        }
        self.at = tree.keys().map(|path| (path.clone(), val(path))).collect();
    }
}
