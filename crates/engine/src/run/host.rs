//! The host of a call: the services that its tool may use, such as facts of the path, questions, and the clock.

mod delegate;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{
    AnswerPlace, CallTarget, ConversationId, EffectClass, EntryId, Fact, Fence, MemoryId, Permission,
    ProvidedFact, Ruling,
};
use retake_tools::{Call, CallEnvironment, Guard, Guarded, Host, Output, Piece, SubagentTask, ToolQuestion};
use tokio::sync::watch;

use super::Events;
use super::call::Ready;
use super::event::{Question, RunEvent};
use super::guard::Guards;
use super::subagent::{CallerRun, Subagents};
use crate::Engine;
use crate::error::Result;
use crate::files::CapturedCall;
use crate::log::LogFailure as _;
use crate::notice::Notice;

/// Tools that show content of the files that they search.
const SHOWS_CONTENT: [&str; 2] = [READ, "grep"];

/// The tool that reads a file: a file that it may read, a command may read, too.
const READ: &str = "read";

/// The host of a call.
#[derive(Clone)]
pub(super) struct ToolHost {
    pub(super) engine: Arc<Engine>,
    pub(super) conversation: ConversationId,
    /// The call.
    pub(super) key: String,
    pub(super) events: Events,
    pub(super) halt: watch::Receiver<bool>,
    pub(super) fence: Fence,
    pub(super) answering: AnswerPlace,
    pub(super) roots: Vec<PathBuf>,
    /// The number of roots that captures cover, the conversation's own first.
    pub(super) kept: usize,
    /// Files with secrets.
    pub(super) guarded: Arc<Guarded>,
    /// The permissions.
    pub(super) permission: Arc<Permission>,
    /// The files in the call's intent to read.
    pub(super) reads: Vec<PathBuf>,
    pub(super) spool: PathBuf,
    /// For a call of a subagent: the call that it works for.
    pub(super) caller: Option<Arc<CallerRun>>,
    /// What the call needs to start subagents.
    pub(super) subagents: Option<Arc<Subagents>>,
}

impl ToolHost {
    /// The conversation that the call's effects belong to, with the answer that caused them.
    pub(super) fn accountable(&self, entry: EntryId) -> (ConversationId, EntryId) {
        let of_caller = self.caller.as_ref().map(|caller| (caller.conversation, caller.answer));
        of_caller.unwrap_or((self.conversation, entry))
    }

    /// The context of a call. A command may write in the captured folders only. Files there whose names suggest secrets are
    /// hidden from it, except those that a rule allows to read.
    pub(super) async fn call(&self, ready: &Ready, around: Option<&CapturedCall>) -> Result<Call> {
        let is_lost = |root: &PathBuf| around.is_some_and(|it| it.lost.iter().any(|(lost, _)| lost == root));
        let captured = self.roots.iter().take(self.kept).filter(|root| !is_lost(root));
        let writable: Vec<PathBuf> = captured.cloned().collect();
        let is_command = |touch: &CallTarget| matches!(touch, CallTarget::Command(_));
        let roots =
            if ready.intent.touches.iter().any(is_command) { writable.clone() } else { self.roots.clone() };
        let (mut hide, mut held) = (Vec::new(), Vec::new());
        if ready.starts_programs() {
            hide = self.engine.secret_files(&writable, &self.guarded).await?;
            let guards = Guards { guarded: &self.guarded, permission: &self.permission, roots: &self.roots };
            hide.retain(|path| guards.of(READ, path) == Some(Guard::Refused));
            held = around.map(|around| around.held.clone()).unwrap_or_default();
        }
        let writes = ready.intent.touches.iter().filter_map(|touch| match touch {
            CallTarget::Write(path) => Some(path.clone()),
            _ => None,
        });
        Ok(Call {
            id: ready.key.clone(),
            arguments: ready.arguments.clone().unwrap_or_default(),
            roots,
            writable,
            reads: ready.intent.class == EffectClass::None,
            writes: Some(writes.collect()),
            hide,
            held,
            spool: self.spool.clone(),
            host: Arc::new(self.clone()),
        })
    }
}

#[async_trait]
impl Host for ToolHost {
    async fn fact(&self, key: &str) -> Option<String> {
        // A value that cannot be read is unknown: the tool that needs it reports this.
        self.engine
            .store()
            .fact(self.conversation, key.to_owned())
            .await
            .or_log("a fact is not known")
            .flatten()
    }

    async fn facts(&self, prefix: &str) -> Vec<Fact> {
        let facts = self.engine.store().facts(self.conversation, prefix.to_owned()).await;
        facts.or_log("facts are not known").unwrap_or_default()
    }

    fn new_memory_id(&self) -> Option<MemoryId> {
        Some(MemoryId::of(self.engine.new_entry_id()))
    }

    async fn recall(&self, words: &str) -> Vec<ProvidedFact> {
        let recalled = self.engine.recalled_in(self.conversation, words).await;
        let (facts, failures) = recalled.or_log("no facts are recalled").unwrap_or_default();
        for failure in failures {
            self.events.send(RunEvent::Notice(Notice::NothingRecalled(failure)));
        }
        facts
    }

    async fn is_remembered(&self, id: &MemoryId) -> bool {
        self.engine.memory_named(self.conversation, id.as_str()).await.is_ok()
    }

    async fn ask(&self, question: ToolQuestion) -> Option<String> {
        let listening = self.events.listening();
        if self.engine.is_unattended(None, &listening) {
            return None;
        }
        let id = format!("{}-q", self.key);
        let (_open, answer) = self.engine.session(self.conversation).ask_question(id.clone());
        let ToolQuestion { question, choices } = question;
        self.events.send(RunEvent::Question(Question { id, question, choices }));
        tokio::select! {
            answer = answer => answer.ok(),
            () = self.engine.until_unattended(None, &listening) => None,
            () = self.stopped() => None,
        }
    }

    async fn delegate(&self, task: SubagentTask) -> Output {
        self.run_subagent(task).await
    }

    async fn tell(&self, piece: Piece) {
        self.events.send(RunEvent::Printed(self.key.clone(), piece.text));
    }

    fn leaves_out(&self, tool: &str, path: &Path) -> bool {
        let guards = Guards { guarded: &self.guarded, permission: &self.permission, roots: &self.roots };
        // Files that the call itself names were ruled before. Names alone reveal nothing.
        if SHOWS_CONTENT.contains(&tool) && guards.of(tool, path).is_some() && !self.is_agreed(path) {
            return true;
        }
        let ruling = |path: &Path| self.permission.reading(tool, path, &self.roots);
        match ruling(path) {
            Some(Ruling::Deny) => true,
            // The approval of the whole call includes this file.
            Some(Ruling::Ask) => !self.reads.iter().any(|read| ruling(read) == Some(Ruling::Ask)),
            Some(Ruling::Allow) | None => false,
        }
    }

    fn is_agreed(&self, path: &Path) -> bool {
        self.reads.iter().any(|read| read == path)
    }

    async fn stopped(&self) {
        let mut halt = self.halt.clone();
        if halt.wait_for(|halt| *halt).await.is_err() {
            // The run is gone and sends no stop; the call ends by itself.
            std::future::pending::<()>().await;
        }
    }

    fn stopped_by(&self) -> &'static str {
        self.engine.stopped_by()
    }

    fn environment(&self) -> Option<Arc<CallEnvironment>> {
        let home = self.caller.as_ref().map_or(self.conversation, |caller| caller.conversation);
        self.engine.environment_in(home)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.engine.parts().clock.sleep(time)
    }
}
