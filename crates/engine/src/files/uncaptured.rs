//! Changes by a call that captures could not see: paths that they do not cover, and folders that could not be captured after it.
//! They are facts of the call's result, so they are known before the call is reverted. Must never name the author of such a
//! change.

use std::collections::{BTreeMap, HashSet};

use retake_core::{
    ConversationId, EntryId, Fact, FilePath, GitFile, GitFileChange, GitFileRole, Part, PutBack, SayRequest,
    Scope, Uncovered, UncoveredReason,
};
use retake_worktree::Stamp;
use serde_json::{Value, json};

use super::blocking;
use super::call_info::CallInfo;
use super::options::FileOptions;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

/// The key of these facts. They are read from the reverted calls only, never from other conversations.
pub(super) const UNSEEN: &str = "unseen";

/// The most uncovered paths of a folder that are compared around each call.
const LOOKED_AT: usize = 256;

/// The most paths that are stored by name.
const NAMED: usize = 8;

/// The most calls with failed captures that are reported.
const BLIND: usize = 8;

/// Changes by reverted calls that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncaptured {
    /// Changed paths that captures do not cover, with the reason, the oldest call first; of each call the first few.
    pub paths: Vec<(String, UnseenReason)>,
    /// The least number of further paths.
    pub more: u64,
    /// The last calls after which a folder could not be captured, oldest first, each with the error.
    pub blind: Vec<(CallInfo, CaptureFailure)>,
    /// The number of earlier such calls.
    pub more_blind: usize,
}

/// Why captures do not see the change of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnseenReason {
    /// Captures do not cover the path.
    NotCovered(UncoveredReason),
    /// Captures skip git's own files.
    GitFile(GitFile),
    /// A text that an earlier version recorded with the call.
    Recorded(String),
}

/// Why a folder could not be captured after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFailure {
    /// The code of the error. An earlier version recorded none.
    pub code: Option<String>,
    /// What failed, on what, and why.
    pub why: String,
}

/// The uncovered paths in a folder at a moment.
#[derive(Debug, Default)]
pub(super) struct UncoveredPaths(BTreeMap<FilePath, (UncoveredReason, Option<Stamp>)>);

impl UncoveredPaths {
    /// The current state.
    pub(super) async fn of(held: HeldWorkspace, uncovered: Vec<Uncovered>) -> Result<(HeldWorkspace, Self)> {
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

    /// The uncovered paths that changed, before or after; of a folder only its own metadata.
    pub(super) fn changed(&self, after: &Self) -> Vec<(FilePath, UncoveredReason)> {
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

/// Records it in the result of the call.
pub(super) fn note(say: &mut SayRequest, paths: &[(String, UnseenReason)], blind: &[CaptureFailure]) {
    if paths.is_empty() && blind.is_empty() {
        return;
    }
    let (named, more) = paths.split_at(paths.len().min(NAMED));
    let (paths, more, blind) = (named.to_vec(), more.len() as u64, blind.to_vec());
    let noted = RecordedChanges { entry: say.id.to_string(), paths, more, blind };
    say.parts.push(Part::Facts(vec![Fact::new(UNSEEN, noted.written())]));
}

/// The changes of one call, as its result stores them.
#[derive(Debug)]
struct RecordedChanges {
    /// The result.
    entry: String,
    paths: Vec<(String, UnseenReason)>,
    more: u64,
    blind: Vec<CaptureFailure>,
}

/// The recorded names of changes and roles of git's files.
const CHANGES: [(GitFileChange, &str); 3] =
    [(GitFileChange::New, "new"), (GitFileChange::Changed, "changed"), (GitFileChange::Removed, "removed")];
const ROLES: [(GitFileRole, &str); 3] =
    [(GitFileRole::Hook, "hook"), (GitFileRole::Settings, "settings"), (GitFileRole::Rebase, "rebase")];

fn name_of<T: PartialEq>(names: &[(T, &'static str)], of: &T) -> Option<&'static str> {
    names.iter().find(|(it, _)| it == of).map(|(_, name)| *name)
}

fn named<T: Copy>(names: &[(T, &str)], name: &Value) -> Option<T> {
    names.iter().find(|(_, it)| name == it).map(|(it, _)| *it)
}

impl UnseenReason {
    fn written(&self) -> Value {
        match self {
            Self::NotCovered(why) => json!(why.name()),
            Self::GitFile(GitFile { change, role, back, command }) => {
                let (change, role) = (name_of(&CHANGES, change), name_of(&ROLES, role));
                let back = back.as_ref().map(|back| json!([back.path, back.kept]));
                json!({ "change": change, "role": role, "back": back, "command": command })
            }
            Self::Recorded(words) => json!(words),
        }
    }

    fn read(said: &Value) -> Option<Self> {
        let words = |words: &str| {
            UncoveredReason::from_name(words)
                .map_or_else(|| Self::Recorded(words.to_owned()), Self::NotCovered)
        };
        let file = || {
            let (change, role) = (named(&CHANGES, &said["change"])?, named(&ROLES, &said["role"])?);
            let back = serde_json::from_value(said["back"].clone()).ok();
            let back = back.map(|(path, kept)| PutBack { path, kept });
            let command = said["command"].as_str().map(str::to_owned);
            Some(Self::GitFile(GitFile { change, role, back, command }))
        };
        said.as_str().map(words).or_else(file)
    }
}

impl CaptureFailure {
    fn read(said: &Value) -> Option<Self> {
        let code = said["code"].as_str().map(str::to_owned);
        Some(Self { code, why: said.as_str().or_else(|| said["why"].as_str())?.to_owned() })
    }
}

impl RecordedChanges {
    fn written(&self) -> String {
        let Self { entry, paths, more, blind } = self;
        let paths: Vec<Value> = paths.iter().map(|(path, why)| json!([path, why.written()])).collect();
        let blind: Vec<Value> =
            blind.iter().map(|CaptureFailure { code, why }| json!({ "code": code, "why": why })).collect();
        json!({ "entry": entry, "paths": paths, "more": more, "blind": blind }).to_string()
    }

    /// A text in another form is ignored.
    fn read(said: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(said).ok()?;
        let list = |key: &str| said[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let path = |pair: &Value| Some((text(&pair[0])?, UnseenReason::read(&pair[1])?));
        Some(Self {
            entry: text(&said["entry"])?,
            paths: list("paths").iter().filter_map(path).collect(),
            more: said["more"].as_u64().unwrap_or(0),
            blind: list("blind").iter().filter_map(CaptureFailure::read).collect(),
        })
    }
}

impl Engine {
    /// The unseen changes of the calls that an action reverts, newest first. If only the conversation goes back, this is all of
    /// their changes.
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
        let noted: Vec<RecordedChanges> =
            said.iter().rev().filter_map(|said| RecordedChanges::read(said)).collect();
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
            let nobody = CallInfo { asked: Vec::new(), began: None, ended: None, turn: None };
            let called = match entry.parse::<EntryId>() {
                // An import may name an entry that does not exist here.
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
    fn changes_of_git_and_failures_are_recorded_by_code_and_words_of_an_earlier_version_are_read() {
        let file = GitFile {
            change: GitFileChange::New,
            role: GitFileRole::Hook,
            back: Some(PutBack { path: "x".to_owned(), kept: Some(("k".to_owned(), 0o644)) }),
            command: Some("rm 'x'".to_owned()),
        };
        let blind = CaptureFailure { code: Some("no_workspace".to_owned()), why: "it is gone".to_owned() };
        let paths = vec![("x".to_owned(), UnseenReason::GitFile(file))];
        let noted = RecordedChanges { entry: "e".to_owned(), paths, more: 0, blind: vec![blind] };
        let read = RecordedChanges::read(&noted.written()).expect("read");
        assert_eq!((read.paths, read.blind), (noted.paths, noted.blind));
        let old = RecordedChanges::read(r#"{"blind":["it is gone"],"entry":"e","more":0,"paths":[]}"#)
            .expect("read");
        assert_eq!(old.blind, [CaptureFailure { code: None, why: "it is gone".to_owned() }]);
        let old = r#"{"blind":[],"entry":"e","more":0,"paths":[["x",{"change":"new","role":"hook","command":"rm"}]]}"#;
        let old = RecordedChanges::read(old).expect("read").paths.remove(0).1;
        assert!(
            matches!(old, UnseenReason::GitFile(GitFile { back: None, command: Some(_), .. })),
            "{old:?}"
        );
    }

    #[test]
    fn cause_is_recorded_by_name_and_words_of_an_earlier_version_are_kept() {
        let said = r#"{"blind":[],"entry":"e","more":0,"paths":[["big","the file is over the limit"],["ff","special"]]}"#;
        let noted = RecordedChanges::read(said).expect("read");
        let words = UnseenReason::Recorded("the file is over the limit".to_owned());
        let special = UnseenReason::NotCovered(UncoveredReason::Special);
        assert_eq!(noted.paths, [("big".to_owned(), words), ("ff".to_owned(), special)]);
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(json(&noted.written()), json(said));
    }
}
