//! A person's command as a tool call: call and result are stored, with captures around it, and its changes are its delta.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_core::{
    AnsweredRequest, ChangeOrigin, ConversationId, Flags, Part, Receipt, Role, SayRequest, ToolOutcome,
};
use retake_tools::processes;
use retake_worktree::CaptureScope;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tracing::Instrument as _;

use super::call_capture::{CapturedCall, FoldersBeforeCall};
use super::jobs::TO_END;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::notice::Notice;
use crate::process::command_line;
use crate::run::{Ended, Events, Outcome, RunEvent};
use crate::session::Claim;

/// The tool of a command that a person runs.
pub const PERSON_COMMAND: &str = "exec";

/// How much of a command's output is kept: its end.
const OUTPUT_KEPT: usize = 64 << 10;

/// The most that a pipe contains.
const PIPE: usize = 1 << 20;

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// A message before it, which opens a turn.
    pub say: Option<String>,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// A call at work.
struct Call {
    /// While this lives, nothing else runs in the conversation.
    claim: Claim,
    around: CapturedCall,
    child: Child,
    receipt: Receipt,
}

impl Engine {
    /// Runs a command as a tool call of a conversation. Refusals come back before anything is stored.
    pub fn exec(
        self: &Arc<Self>,
        conversation: ConversationId,
        exec: Exec,
    ) -> BoxFuture<'_, Result<BoxStream<'static, RunEvent>>> {
        Box::pin(async move {
            if exec.command.is_empty() {
                return Err(EngineError::usage("no command is named").with("what", "no_command"));
            }
            self.for_people(conversation).await?;
            let claim = self.claim(conversation)?;
            // Earlier changes are not the command's. A new turn ends the one before.
            let sweep = if exec.say.is_some() { CaptureScope::Whole } else { CaptureScope::Watched };
            let further = match self.folder_of(conversation).await? {
                Some(own) => self.further(&own).await?.kept,
                None => Vec::new(),
            };
            let before = self.before_call(conversation, &further, sweep).await?;
            let call = self.start_call(conversation, &exec, before, claim).await?;
            let (events, stream) = Events::stream();
            let serving = AnsweredRequest { by: exec.by, began: Some(call.receipt.clone()) };
            call.claim.serves(Some(vec![serving]));
            let (engine, events) =
                (Arc::clone(self), events.on(Arc::clone(&self.session(conversation).feed)));
            tokio::spawn(async move { engine.attend_call(call, events).await }.in_current_span());
            Ok(stream)
        })
    }

    /// Records the call before it runs.
    async fn start_call(
        &self,
        conversation: ConversationId,
        exec: &Exec,
        mut before: FoldersBeforeCall,
        claim: Claim,
    ) -> Result<Call> {
        let folder: PathBuf = before.held.own().root.path().to_owned();
        let line = command_line(&exec.command);
        let first = self.store().snapshot(conversation).await?.conversation().state.tip.is_none();
        if let Some(words) = exec.say.clone().or_else(|| first.then(|| format!("run {line}"))) {
            let say = self.saying(Role::User, vec![Part::text(words)], self.by(None));
            self.store().say(conversation, say).await?;
        }
        let id = self.new_entry_id().to_string();
        let arguments = json!({ "command": exec.command }).to_string();
        let call = Part::ToolCall { id: id.clone(), name: PERSON_COMMAND.into(), arguments };
        let receipt =
            self.store().say(conversation, self.saying(Role::Assistant, vec![call], exec.by.clone())).await?;
        let entry = receipt.entries.first().copied().expect("BUG: a message has an entry");
        let around = self.open_call(&mut before, conversation, (conversation, entry), id.clone()).await?;
        drop(before);
        let theirs = exec.by.request.as_ref().and_then(|request| self.environment_of(request));
        match processes::start(&exec.command, &folder, &id, theirs.as_deref()).await {
            Ok(child) => Ok(Call { claim, around, child, receipt }),
            Err(error) => {
                self.call_never_began(&around).await?;
                let what = format!("can't start {}: {error}", exec.command[0]);
                let result =
                    Part::ToolResult { call: id, content: what.clone(), outcome: ToolOutcome::Failed };
                self.store().say(conversation, self.saying(Role::Tool, vec![result], self.by(None))).await?;
                Err(EngineError::new(Kind::NotFound, "no_command", what)
                    .with("command", exec.command[0].as_str())
                    .with("detail", error.to_string()))
            }
        }
    }

    /// Follows a command to its end.
    async fn attend_call(self: Arc<Self>, mut call: Call, events: Events) {
        events.send(RunEvent::Started(Some(call.receipt.clone()), PERSON_COMMAND.to_owned(), None));
        for (folder, why) in call.around.lost.drain(..) {
            events.send(RunEvent::Notice(Notice::FolderNotCaptured(folder, why)));
        }
        let (ending, output) = self.attend(&mut call, &events).await;
        let ended = self.end_call(&call.around, &ending, &output, &events).await;
        call.claim.serves(None);
        drop(call);
        let ended = ended.unwrap_or_else(|error| Ended {
            outcome: Outcome::Failed,
            receipt: None,
            entry: None,
            error: Some(error),
        });
        events.send(RunEvent::Ended(ended));
    }

    /// Forwards the command's output until it ends or is stopped.
    async fn attend(&self, call: &mut Call, events: &Events) -> (Ending, Vec<u8>) {
        let (out, err) = (call.child.stdout.take(), call.child.stderr.take());
        let (pieces, mut printed) = mpsc::channel::<Vec<u8>>(64);
        let (over, is_over) = watch::channel(false);
        if let Some(pipe) = out {
            tokio::spawn(pump(pipe, pieces.clone(), is_over.clone()));
        }
        if let Some(pipe) = err {
            tokio::spawn(pump(pipe, pieces.clone(), is_over));
        }
        drop(pieces);
        let mut output = Vec::new();
        let group = call.child.id();
        let mut stopped = false;
        let status = loop {
            tokio::select! {
                biased;
                () = call.claim.stopped(), if !stopped => {
                    stopped = true;
                    processes::stop(group, &call.around.id, false);
                    let (clock, id) = (Arc::clone(&self.parts().clock), call.around.id.clone());
                    tokio::spawn(async move {
                        clock.sleep(TO_END).await;
                        if !processes::alive(&id).is_empty() {
                            processes::stop(group, &id, true);
                        }
                    });
                }
                Some(piece) = async { events.taken().await; printed.recv().await } => {
                    let text = String::from_utf8_lossy(&piece).into_owned();
                    events.send(RunEvent::Text(text));
                    keep_end(&mut output, &piece);
                }
                status = call.child.wait() => break status,
            }
        };
        // Output from before the end may still be in the pipes. A job that holds them open is not waited for.
        over.send_replace(true);
        while let Some(piece) = printed.recv().await {
            events.send(RunEvent::Text(String::from_utf8_lossy(&piece).into_owned()));
            keep_end(&mut output, &piece);
        }
        (Ending { status, stopped }, output)
    }

    /// Captures the changes of the command, and stores them with its output.
    async fn end_call(
        &self,
        of: &CapturedCall,
        ending: &Ending,
        output: &[u8],
        events: &Events,
    ) -> Result<Ended> {
        let ended = self.call_ends(of, &[], self.result(&of.id, ending, output)).await?;
        let living = Notice::of_processes(ended.living);
        for notice in living.into_iter().chain(ended.git_files.notices()) {
            events.send(RunEvent::Notice(notice));
        }
        let interrupted = ending.stopped || ended.unseen.is_some();
        let outcome = if interrupted { Outcome::Interrupted } else { Outcome::Succeeded };
        let entry = ended.receipt.entries.first().copied();
        Ok(Ended { outcome, entry, receipt: Some(ended.receipt), error: ended.unseen })
    }

    /// The result of a call, to be stored.
    fn result(&self, id: &str, ending: &Ending, output: &[u8]) -> SayRequest {
        let (outcome, said) = match ending.stopped {
            true => (ToolOutcome::Failed, format!("\n[{}]", self.stopped_by())),
            false => ending.said(),
        };
        let content = format!("{}{said}", String::from_utf8_lossy(output));
        let result = Part::ToolResult { call: id.to_owned(), content, outcome };
        let flags = Flags { interrupted: ending.stopped, ..Flags::default() };
        SayRequest { flags, ..self.saying(Role::Tool, vec![result], self.by(None)) }
    }
}

/// How a command ended.
struct Ending {
    status: std::io::Result<ExitStatus>,
    stopped: bool,
}

impl Ending {
    /// The outcome for the result, if nobody stopped the command.
    fn said(&self) -> (ToolOutcome, String) {
        match &self.status {
            Ok(status) if status.success() => (ToolOutcome::Ok, String::new()),
            Ok(status) => (ToolOutcome::Failed, format!("\n{}", processes::failed_line(*status))),
            Err(error) => (ToolOutcome::Failed, format!("\n[its end could not be waited for: {error}]")),
        }
    }
}

/// Forwards what comes through a pipe. After the command's end, only what is still in it.
async fn pump(
    mut pipe: impl AsyncRead + AsFd + Send + Unpin,
    pieces: mpsc::Sender<Vec<u8>>,
    mut is_over: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 8 << 10];
    loop {
        let read = tokio::select! {
            biased;
            read = pipe.read(&mut buffer) => read.unwrap_or(0),
            // The receiver of the end is gone: treat it as the end.
            _ = is_over.wait_for(|over| *over) => break,
        };
        if read == 0 || pieces.send(buffer[..read].to_vec()).await.is_err() {
            return;
        }
    }
    // A read never waits for the pipe here. A job may continue to fill it.
    for _ in 0..PIPE / buffer.len() {
        match rustix::io::read(&pipe, &mut buffer) {
            Ok(read) if read > 0 && pieces.send(buffer[..read].to_vec()).await.is_ok() => {}
            _ => return,
        }
    }
}

/// Keeps the end of the output.
fn keep_end(output: &mut Vec<u8>, piece: &[u8]) {
    output.extend_from_slice(piece);
    if output.len() > 2 * OUTPUT_KEPT {
        output.drain(..output.len() - OUTPUT_KEPT);
    }
}
