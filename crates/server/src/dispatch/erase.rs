//! The effect of an erasure on files, planned or done, as conditions. Must never quote erased content.

use retake_core::{Action, ConversationId};
use retake_engine::{ErasePlan, ErasedRows, ObjectsErased};
use retake_wire::{Condition, Problem, Reply};

use crate::InProcess;
use crate::convert::{self, problem};

/// The most paths that are named.
const NAMED: usize = 5;

impl InProcess {
    pub(super) async fn plan_erase(&self, of: ConversationId, action: Action) -> Result<Reply, Problem> {
        let text = text_of(&action);
        let ErasePlan { conversation, rows, objects } =
            self.engine.plan_erase(of, action).await.map_err(problem)?;
        let mut conditions = vec![Condition::EraseIsFinal];
        conditions.extend(messages(of, &rows));
        if rows.messages.is_empty() && rows.operations == 0 && rows.paths.is_empty() && objects.gone == 0 {
            conditions.push(match text {
                Some(_) => Condition::NothingToErase,
                None => Condition::AlreadyErased,
            });
        }
        conditions.extend(would(&rows, &objects));
        conditions.extend(self.elsewhere(of, text).await);
        Ok(Reply::Plan(convert::plan(of.to_string(), conversation, conditions)))
    }

    /// The other conversations that contain the text.
    pub(super) async fn elsewhere(&self, of: ConversationId, text: Option<String>) -> Option<Condition> {
        let found = match self.engine.elsewhere(of, text?).await {
            Ok(found) => found,
            Err(error) => return Some(Condition::OthersNotSearched { problem: Box::new(problem(error)) }),
        };
        let count: usize = found.iter().map(|(_, of_tree)| of_tree).sum();
        (count > 0).then(|| Condition::OthersContain {
            count: count as u64,
            conversations: found.iter().take(NAMED).map(|(id, _)| id.to_string()).collect(),
            more: found.len() > NAMED,
        })
    }
}

/// The text that is erased everywhere.
pub(super) fn text_of(action: &Action) -> Option<String> {
    match action {
        Action::Erase { matching, .. } => matching.clone().filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// The planned effect on files.
fn would(rows: &ErasedRows, objects: &ObjectsErased) -> Vec<Condition> {
    if !rows.names_objects && rows.paths.is_empty() {
        return Vec::new();
    }
    let named: Vec<String> = rows.paths.iter().take(NAMED).map(ToString::to_string).collect();
    let paths = rows.paths.len() as u64;
    let paths = (paths > 0).then_some(Condition::ErasesPaths { paths, named });
    let versions = (objects.gone > 0).then_some(Condition::ErasesVersions { versions: objects.gone });
    paths.into_iter().chain(versions).chain(kept(objects)).collect()
}

/// The part of the conversation that is erased, and of each other one in its tree of forks.
fn messages(of: ConversationId, rows: &ErasedRows) -> Vec<Condition> {
    let (own, others): (Vec<_>, Vec<_>) = rows.messages.iter().partition(|(id, _)| *id == of);
    let named = |(id, messages): &(ConversationId, u64)| Condition::ErasesMessages {
        messages: *messages,
        conversation: (*id != of).then(|| id.to_string()),
    };
    let more: u64 = others.iter().skip(NAMED).map(|(_, number)| number).sum();
    let mut all: Vec<Condition> = own.iter().chain(others.iter().take(NAMED)).map(named).collect();
    all.extend((more > 0).then_some(Condition::ErasesInForks { messages: more }));
    all.extend((rows.operations > 0).then_some(Condition::ErasesSteps { steps: rows.operations }));
    all
}

/// The effect on files.
pub(super) fn done(objects: &ObjectsErased) -> Vec<Condition> {
    let gone = (objects.gone > 0).then_some(Condition::ErasedVersions { versions: objects.gone });
    let lost = (objects.lost > 0).then_some(Condition::LostVersions { versions: objects.lost });
    gone.into_iter().chain(kept(objects)).chain(lost).collect()
}

fn kept(objects: &ObjectsErased) -> impl Iterator<Item = Condition> {
    let shared = (objects.shared > 0).then_some(Condition::KeepsSharedVersions { versions: objects.shared });
    let current =
        (objects.current > 0).then_some(Condition::KeepsCurrentVersions { versions: objects.current });
    shared.into_iter().chain(current)
}
