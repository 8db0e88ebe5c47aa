//! What a call did that captures could not see: to paths that they do not cover, and in folders that could not be looked at behind it.
//! It is a fact of the call's result, so that it is known before the call is taken back. Must never say whose such a change is.

use std::collections::BTreeMap;

use retake_core::{ConversationId, EntryId, Fact, FilePath, Part, Path};
use retake_store::{Action, SayRequest};
use retake_worktree::{Stamp, Uncovered, WhyNot};
use serde_json::{Value, json};

use super::blocking;
use super::called::Called;
use super::plan::{FilesWish, Scope};
use super::workspace::Held;
use crate::engine::Engine;
use crate::error::Result;

/// How the keys of these facts begin; what follows is the entry of the result.
const UNSEEN: &str = "unseen/";

/// So many paths of a folder are looked at before and after each call.
const LOOKED_AT: usize = 256;

/// So many are kept by name.
const NAMED: usize = 8;

/// What a call that is taken back did, and what stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The call.
    pub called: Called,
    /// Paths that captures do not cover and that were changed meanwhile, the first of them, each with why it is not covered.
    pub paths: Vec<(String, String)>,
    /// How many more.
    pub more: u64,
    /// Why a folder could not be looked at behind it, a sentence for each.
    pub blind: Vec<String>,
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
pub(super) fn note(say: &mut SayRequest, paths: &[(String, String)], blind: &[String]) {
    if paths.is_empty() && blind.is_empty() {
        return;
    }
    let named = &paths[..paths.len().min(NAMED)];
    let value = json!({ "paths": named, "more": paths.len() - named.len(), "blind": blind }).to_string();
    say.parts.push(Part::Facts(vec![Fact::new(format!("{UNSEEN}{}", say.id), value)]));
}

impl Engine {
    /// What calls that an action takes back did, and what stays as it is. Where only the conversation goes back, all does.
    pub(super) async fn unseen(
        &self,
        conversation: ConversationId,
        action: &Action,
        wish: &FilesWish,
    ) -> Result<Vec<Unseen>> {
        if wish.scope == Scope::Conversation || matches!(action, Action::Files(_)) {
            return Ok(Vec::new());
        }
        // Where there is no folder, no call was looked around; that is known without a reading.
        if self.folder_of(conversation).await?.is_none() {
            return Ok(Vec::new());
        }
        let facts = self.store().facts(conversation, UNSEEN.to_owned()).await?;
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let gone = self.plan(conversation, action.clone()).await?.plan.gone;
        let mut all = Vec::new();
        for fact in facts {
            all.extend(self.unseen_of(conversation, &fact, &gone).await?);
        }
        all.sort_by_key(|(pos, _)| *pos);
        Ok(all.into_iter().map(|(_, unseen)| unseen).collect())
    }

    /// What a fact says, if its call is among these.
    async fn unseen_of(
        &self,
        conversation: ConversationId,
        fact: &Fact,
        gone: &Path,
    ) -> Result<Option<(u64, Unseen)>> {
        let entry = fact.key.strip_prefix(UNSEEN).and_then(|entry| entry.parse::<EntryId>().ok());
        let Some((entry, said)) = entry.zip(serde_json::from_str::<Value>(&fact.value).ok()) else {
            return Ok(None);
        };
        let pos = self.store().meta(conversation, entry).await?.pos;
        if !gone.contains(pos) {
            return Ok(None);
        }
        let called = self.called(conversation, entry).await?;
        let list = |key: &str| said[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let unseen = Unseen {
            called,
            paths: list("paths").iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect(),
            more: said["more"].as_u64().unwrap_or(0),
            blind: list("blind").iter().map(text).collect(),
        };
        Ok(Some((pos.seq, unseen)))
    }
}
