//! Runs a call: the ledger before it, captures around it, and its result as one entry with its changes.

use std::path::Path;

use retake_core::{
    CallPrint, CallTarget, ChangeOrigin, Effect, EffectClass, EffectState, Flags, Part, SayRequest, Source,
    ToolOutcome, recalled_parts,
};
use retake_store::digest::digest;
use retake_tools::Output;
use tracing::Instrument as _;

use super::super::event::{CallEnded, NotRun, RunEvent};
use super::super::host::ToolHost;
use super::super::repaired;
use super::Ready;
use crate::error::Result;
use crate::files::CapturedCall;
use crate::notice::Notice;

/// The most bytes of a result that are stored.
const RESULT_MAX: usize = 256 << 10;

/// Whether a call is in the ledger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LedgerState {
    /// It never began, or it has no effect that can stay.
    Never,
    /// It was recorded before it began.
    InLedger,
}

impl ToolHost {
    /// Runs a call and stores its result. Returns the digest of the result.
    pub(super) async fn run(self, ready: Ready) -> Result<Option<CallPrint>> {
        let Some(tool) = ready.tool.clone() else { return Ok(None) };
        let changes = ready.intent.class != EffectClass::None;
        if changes {
            let caller = self.caller.as_ref().map(|caller| (caller.conversation, caller.fence));
            let of = std::iter::once((self.conversation, self.fence)).chain(caller).collect();
            self.engine.store().begin_effect(self.effect(&ready), of).await?;
        }
        let begun = if changes { LedgerState::InLedger } else { LedgerState::Never };
        // Without a capture before it, none of its changes could be reverted, and no secret could be hidden from it.
        let around = match ready.is_captured(&self.roots) {
            false => None,
            true => match self.begins(&ready).await {
                Ok(around) => Some(around),
                Err(error) => return self.not_run(&ready, None, NotRun::Failed(error), begun).await,
            },
        };
        let call = match self.call(&ready, around.as_ref()).await {
            Ok(call) => call,
            Err(error) => return self.not_run(&ready, around, NotRun::Failed(error), begun).await,
        };
        let work = tokio::spawn(async move { tool.call(call).await }.in_current_span());
        let output =
            work.await.unwrap_or_else(|error| Output::failed(format!("the tool broke off: {error}")));
        self.store(&ready, around, output, None, begun).await
    }

    /// Stores that a call is not run, before anything of it began.
    pub(super) async fn never_run(&self, ready: &Ready, why: NotRun) -> Result<Option<CallPrint>> {
        self.not_run(ready, None, why, LedgerState::Never).await
    }

    async fn not_run(
        &self,
        ready: &Ready,
        around: Option<CapturedCall>,
        why: NotRun,
        begun: LedgerState,
    ) -> Result<Option<CallPrint>> {
        self.store(ready, around, Output::failed(format!("not run: {why}")), Some(why), begun).await
    }

    /// Captures the folders before the call. It must not write in a folder that cannot be captured.
    async fn begins(&self, ready: &Ready) -> Result<CapturedCall> {
        let further = self.roots.get(1..self.kept).unwrap_or_default();
        let engine = &self.engine;
        let of = self.accountable(ready.entry);
        let mut around = engine.call_begins(self.conversation, further, of, ready.key.clone()).await?;
        let writes = |root: &Path| {
            let mut touches = ready.intent.touches.iter();
            touches.any(|touch| matches!(touch, CallTarget::Write(path) if path.starts_with(root)))
        };
        match around.lost.iter().position(|(root, _)| writes(root)) {
            None => Ok(around),
            Some(at) => {
                engine.call_never_began(&around).await?;
                Err(around.lost.swap_remove(at).1)
            }
        }
    }

    fn effect(&self, ready: &Ready) -> Effect {
        let (conversation, entry) = self.accountable(ready.entry);
        Effect {
            call: ready.key.clone(),
            conversation,
            entry,
            tool: ready.name.clone(),
            class: ready.leaves,
            print: ready.digest().current,
            began: self.engine.now(),
            state: EffectState::Begun,
        }
    }

    /// Stores the result with the call's changes. Returns the digest of the result, unless the call changed files.
    async fn store(
        &self,
        ready: &Ready,
        around: Option<CapturedCall>,
        output: Output,
        not_run: Option<NotRun>,
        begun: LedgerState,
    ) -> Result<Option<CallPrint>> {
        let Output { content, outcome, attached, facts, recalled, written, shown, .. } = output;
        self.engine.waits.notes(&facts);
        let content = repaired::reported(bounded(content), outcome, &ready.repairs);
        let stopped = *self.halt.borrow();
        let mut shown = shown.unwrap_or_else(|| content.clone());
        let files = attached.iter().map(|file| (&file.name, &file.bytes));
        let print = digest(&format!("{outcome:?} {content} {:?}", files.collect::<Vec<_>>()));
        let mut parts = vec![Part::ToolResult { call: ready.id.clone(), content, outcome }];
        parts.extend(attached.into_iter().map(part));
        parts.extend(recalled_parts(&recalled));
        parts.extend((!facts.is_empty()).then_some(Part::Facts(facts)));
        let state = if outcome == ToolOutcome::Ok { EffectState::Done } else { EffectState::Failed };
        let say = SayRequest {
            flags: Flags { interrupted: stopped, ..Flags::default() },
            answering: Some(self.answering),
            fence: Some(self.fence),
            ends: (begun == LedgerState::InLedger).then(|| (ready.key.clone(), state)),
            by: ChangeOrigin { author: ready.name.clone(), ..self.engine.by(None) },
            ..self.engine.saying(retake_core::Role::Tool, parts, self.engine.by(None))
        };
        let (receipt, changed, notice) = match around {
            None => (self.engine.store().say(self.conversation, say).await?, 0, None),
            Some(around) => {
                let ended = self.engine.call_ends(&around, &written, say).await?;
                if let Some(told) = ended.git_files.told() {
                    shown.push_str(&format!("\n[{told}]"));
                }
                let unseen = ended.unseen.map(Notice::Failed);
                (ended.receipt, ended.changed, unseen.or_else(|| Notice::of_processes(ended.living)))
            }
        };
        if let Some(notice) = notice {
            self.events.send(RunEvent::Notice(notice));
        }
        let entry = receipt.entries.first().copied().unwrap_or(ready.entry);
        let called = CallEnded { call: ready.key.clone(), outcome, shown, not_run, changed, entry };
        self.events.send(RunEvent::Called(called));
        Ok((changed == 0).then_some(print))
    }
}

/// A result, truncated to the limit.
fn bounded(mut content: String) -> String {
    if content.len() > RESULT_MAX {
        let cut = (0..=RESULT_MAX).rev().find(|at| content.is_char_boundary(*at)).unwrap_or(0);
        let left = content.len() - cut;
        content.truncate(cut);
        content.push_str(&format!("\n[{left} more bytes are left out]"));
    }
    content
}

fn part(attached: retake_tools::Attached) -> Part {
    let retake_tools::Attached { name, media_type, bytes } = attached;
    let source = Source::Inline(bytes);
    if media_type.starts_with("image/") {
        Part::Image { media_type, source }
    } else {
        Part::File { name, media_type: Some(media_type), source }
    }
}
