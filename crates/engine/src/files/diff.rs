//! Reads about files for clients, apart from plans: a change as a diff, and the result of a command that is requested again. Must
//! never run anything.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_core::{
    Capture, ChangeOrigin, ConversationId, DiffHunks, EntryId, FileChange, FilePath, Head, PageRequest, Part,
    Projection, Reading, Receipt, RunResult, Seq,
};
use retake_worktree::Objects;

use super::exec::PERSON_COMMAND;
use super::{WorkInProgress, blocking};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::run::{Ended, Outcome, RunEvent};

/// How many entries after a call are searched for its result: other entries may be appended while it runs.
const LOOK_AHEAD: u64 = 8;

/// How two versions of a file differ, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownDiff {
    /// Remarks, one on each line, then the unified diff.
    pub text: Vec<u8>,
    /// The number of hunks, including those that are not shown.
    pub hunks: usize,
}

impl Engine {
    /// The work on files in progress.
    pub fn doing(&self) -> Option<WorkInProgress> {
        self.files.doing()
    }

    /// A change for people: remarks and a unified diff. `from` is the path that the content had before.
    pub fn diff(
        &self,
        change: FileChange,
        from: Option<FilePath>,
        shown: DiffHunks,
    ) -> BoxFuture<'_, Result<ShownDiff>> {
        Box::pin(async move {
            let objects = self.files.objects().await? as Arc<dyn Objects>;
            let diff = blocking(move || {
                let from = from.as_ref().unwrap_or(&change.path);
                let after = (&change.path, change.after.as_ref());
                retake_worktree::diff(&*objects, (from, change.before.as_ref()), after, &shown)
            });
            let diff = diff.await??;
            Ok(ShownDiff { text: diff.to_bytes(), hunks: diff.hunks })
        })
    }

    /// Captures the folders of a conversation, and stores each capture under a name.
    pub fn checkpoint(
        &self,
        conversation: ConversationId,
        name: String,
    ) -> BoxFuture<'_, Result<Vec<Capture>>> {
        Box::pin(async move {
            let own = self.folder_of(conversation).await?.unwrap_or_default();
            let further = self.further(&own).await?.kept;
            let held = self.workspaces(conversation, &further).await?;
            let held = self.capture_each(held, Some(&name)).await?;
            Ok(self.store().captures(held.own, None, 1).await?)
        })
    }

    /// The captures of the conversation's own folder, newest first.
    pub async fn captures(
        &self,
        conversation: ConversationId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Capture>> {
        let held = self.workspace(conversation).await?;
        Ok(self.store().captures(held.no, before, limit).await?)
    }

    /// The result of the command that an earlier request ran, by its receipt; while it runs, its output. The command does not run
    /// again.
    pub fn exec_again<'a>(
        self: &'a Arc<Self>,
        conversation: ConversationId,
        by: &'a ChangeOrigin,
        receipt: Receipt,
    ) -> BoxFuture<'a, Result<BoxStream<'static, RunEvent>>> {
        Box::pin(async move {
            if let Some(events) = self.attach(conversation, by)? {
                return Ok(events);
            }
            let (text, ended) = match self.result_of(conversation, &receipt).await? {
                Some((entry, text)) => (Some(text), self.result_again(conversation, &receipt, entry).await?),
                None => {
                    let what = "this request has run its command before, and the end of it is not known";
                    let error = EngineError::new(Kind::Refused, "no_answer", what).with("what", "command");
                    (None, Ended { outcome: Outcome::Failed, receipt: None, entry: None, error: Some(error) })
                }
            };
            let began = RunEvent::Started(Some(receipt), PERSON_COMMAND.into(), None);
            let events = std::iter::once(began).chain(text.map(RunEvent::Text));
            Ok(futures::stream::iter(events.chain([RunEvent::Ended(ended)])).boxed())
        })
    }

    /// How a call ended, as its result reported it.
    async fn result_again(&self, of: ConversationId, call: &Receipt, entry: EntryId) -> Result<Ended> {
        let stored = Receipt { entries: vec![entry], ..call.clone() };
        let (receipt, outcome) = match self.store().answered(of, stored).await? {
            RunResult::By { receipt, interrupted: true, .. } => (Some(*receipt), Outcome::Interrupted),
            RunResult::By { receipt, interrupted: false, .. } => (Some(*receipt), Outcome::Succeeded),
            RunResult::Waiting | RunResult::Nothing => (None, Outcome::Succeeded),
        };
        Ok(Ended { outcome, receipt, entry: Some(entry), error: None })
    }

    /// The result and the output of the call of a receipt, even if it was reverted since.
    async fn result_of(&self, of: ConversationId, receipt: &Receipt) -> Result<Option<(EntryId, String)>> {
        let Some(call) = receipt.entries.first().copied() else {
            return Ok(None);
        };
        let parts = self.store().content(of, call).await?;
        let asked = parts.iter().find_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        for ahead in 1..=LOOK_AHEAD {
            // The head right after the result's entry.
            let head = Head { op: receipt.head.op, seq: Seq(receipt.head.seq.0 + ahead) };
            let reading = Reading { at: Some(head), ..Reading::now(Projection::Timeline) };
            let last = PageRequest { limit: 1, ..PageRequest::default() };
            let Ok(page) = self.store().page(of, reading, last).await else {
                return Ok(None);
            };
            let entry = page.entries.into_iter().next_back().and_then(|shown| shown.entry.ok());
            let found = entry.as_ref().and_then(|entry| {
                entry.parts.iter().find_map(|part| match part {
                    Part::ToolResult { call, content, .. } if Some(call) == asked.as_ref() => {
                        Some((entry.meta.id, content.clone()))
                    }
                    _ => None,
                })
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
