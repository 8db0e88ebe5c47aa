//! What a call did that captures could not see: to paths that they do not cover, and in folders that could not be looked at behind it.
//! It is a fact of the call's result, so that it is known before the call is taken back. Must never say whose such a change is.

use std::collections::{BTreeMap, HashSet};

use retake_core::{ConversationId, EntryId, Fact, FilePath, Part, SayRequest, Scope, Uncovered, WhyNot};
use retake_worktree::Stamp;
use serde_json::{Value, json};

use super::blocking;
use super::call_info::Called;

use super::options::FileOptions;
use super::workspace::Held;
use crate::Engine;
use crate::error::Result;

/// The key of these facts. They are read from the calls that are taken back only, so that no facts of other conversations are read.
pub(super) const UNSEEN: &str = "unseen";

/// So many paths of a folder are looked at before and after each call.
const LOOKED_AT: usize = 256;

/// So many are kept by name.
const NAMED: usize = 8;

/// At most so many calls whose changes could not be seen are reported.
const BLIND: usize = 8;

/// What calls that are taken back did, and what stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncaptured {
    /// Paths that captures do not cover and that were changed meanwhile, of the oldest call first, each with why it is not
    /// covered; of each call the first of them.
    pub paths: Vec<(String, WhyUnseen)>,
    /// At least so many more.
    pub more: u64,
    /// The last calls behind which a folder could not be looked at, oldest first, each with why.
    pub blind: Vec<(Called, String)>,
    /// How many more there were before them.
    pub more_blind: usize,
}

/// Why captures do not see the change of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WhyUnseen {
    /// They do not cover it.
    NotCovered(WhyNot),
    /// What was recorded with the call, in words: of files that are git's own, and by earlier versions.
    Recorded(String),
}

/// What is in a folder and not covered, as it was at a moment.
#[derive(Debug, Default)]
pub(super) struct Outside(BTreeMap<FilePath, (WhyNot, Option<Stamp>)>);

impl Outside {
    /// As it is now.
    pub(super) async fn of(held: Held, uncovered: Vec<Uncovered>) -> Result<(Held, Self)> {
        blocking(move || {
            let looked = uncovered.into_iter().enumerate().map(|(at, Uncovered { path, why })| {
                let stamp = (at < LOOKED_AT).then(|| held.root.stamp(&path)).flatten();
                (path, (why, stamp))
            });
            let outside = Self(looked.collect());
            (held, outside)
        })
        .await
    }

    /// What is not as it was, of what was there before or is now; of a folder only what is seen from outside.
    pub(super) fn changed(&self, after: &Self) -> Vec<(FilePath, WhyNot)> {
        let known = |stamp: &Option<Stamp>| stamp.is_some();
        let was = self.0.iter().filter(|(path, (_, before))| match after.0.get(*path) {
            Some((_, now)) => known(before) && known(now) && before != now,
            None => true,
        });
        let came = after.0.iter().filter(|(path, _)| !self.0.contains_key(*path));
        let mut all: Vec<_> = was.chain(came).map(|(path, (why, _))| (path.clone(), *why)).collect();
        all.sort();
        all
    }
}

/// Notes it in the result of the call.
pub(super) fn note(say: &mut SayRequest, paths: &[(String, WhyUnseen)], blind: &[String]) {
    if paths.is_empty() && blind.is_empty() {
        return;
    }
    let (named, more) = paths.split_at(paths.len().min(NAMED));
    let (paths, more, blind) = (named.to_vec(), more.len() as u64, blind.to_vec());
    let noted = Noted { entry: say.id.to_string(), paths, more, blind };
    say.parts.push(Part::Facts(vec![Fact::new(UNSEEN, noted.written())]));
}

/// What one call did, as its result keeps it.
#[derive(Debug)]
struct Noted {
    /// The result.
    entry: String,
    paths: Vec<(String, WhyUnseen)>,
    more: u64,
    blind: Vec<String>,
}

impl Noted {
    fn written(&self) -> String {
        let Self { entry, paths, more, blind } = self;
        let path = |(path, why): &(String, WhyUnseen)| match why {
            WhyUnseen::NotCovered(why) => json!([path, why.name()]),
            WhyUnseen::Recorded(words) => json!([path, words]),
        };
        let paths: Vec<Value> = paths.iter().map(path).collect();
        json!({ "entry": entry, "paths": paths, "more": more, "blind": blind }).to_string()
    }

    /// What is not as it was written is left out.
    fn read(said: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(said).ok()?;
        let list = |key: &str| said[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let why = |words: String| {
            WhyNot::from_name(&words).map_or(WhyUnseen::Recorded(words), WhyUnseen::NotCovered)
        };
        let path = |pair: &Value| Some((text(&pair[0])?, why(text(&pair[1])?)));
        Some(Self {
            entry: text(&said["entry"])?,
            paths: list("paths").iter().filter_map(path).collect(),
            more: said["more"].as_u64().unwrap_or(0),
            blind: list("blind").iter().filter_map(text).collect(),
        })
    }
}

impl Engine {
    /// What calls that an action takes back did, of what they made known, newest first. Where only the conversation goes back, all
    /// does.
    pub(super) async fn unseen(
        &self,
        of: ConversationId,
        said: &[String],
        options: &FileOptions,
    ) -> Result<Uncaptured> {
        let mut unseen = Uncaptured::default();
        if options.scope == Scope::Conversation {
            return Ok(unseen);
        }
        let noted: Vec<Noted> = said.iter().rev().filter_map(|said| Noted::read(said)).collect();
        let mut known = HashSet::new();
        for pair in noted.iter().flat_map(|noted| &noted.paths) {
            if known.insert(pair) {
                unseen.paths.push(pair.clone());
            }
        }
        unseen.more = noted.iter().map(|noted| noted.more).max().unwrap_or(0);
        let blind = noted.iter().flat_map(|noted| noted.blind.iter().map(move |why| (&noted.entry, why)));
        let blind: Vec<_> = blind.collect();
        unseen.more_blind = blind.len().saturating_sub(BLIND);
        for (entry, why) in &blind[unseen.more_blind..] {
            let nobody = Called { asked: Vec::new(), began: None, ended: None, turn: None };
            let called = match entry.parse::<EntryId>() {
                // An import may name an entry that is not here.
                Ok(entry) => self.called(of, entry).await.unwrap_or(nobody),
                Err(_) => nobody,
            };
            unseen.blind.push((called, (*why).clone()));
        }
        Ok(unseen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_recorded_by_name_and_words_of_an_earlier_version_are_kept() {
        let said = r#"{"blind":[],"entry":"e","more":0,"paths":[["big","the file is over the limit"],["ff","special"]]}"#;
        let noted = Noted::read(said).expect("read");
        let words = WhyUnseen::Recorded("the file is over the limit".to_owned());
        let special = WhyUnseen::NotCovered(WhyNot::Special);
        assert_eq!(noted.paths, [("big".to_owned(), words), ("ff".to_owned(), special)]);
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(json(&noted.written()), json(said));
    }
}
