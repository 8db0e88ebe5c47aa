//! Runs a subagent for a call, to its end. It must never outlive the call.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use retake_core::name::title_of_import;
use retake_core::{
    Caller, ChangeOrigin, ConversationId, EffectClass, EntryId, NewSubagent, Part, ToolOutcome, joined_text,
    shorten,
};
use retake_tools::{Host as _, Output, SUBAGENT, SubagentTask};

use super::ToolHost;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::log::LogFailure as _;
use crate::prompt_files::{PromptFile, PromptOrigin};
use crate::run::subagent::{CallerRun, Subagents};
use crate::run::{Ended, Outcome, PreparedRun, RunEvent};

/// The longest title, in characters.
const TITLE: usize = 60;

/// What a subagent did so far.
#[derive(Default)]
struct Progress {
    /// Its calls that may have left something running.
    calls: Vec<String>,
    ended: Option<Ended>,
}

impl ToolHost {
    /// Gives a task to a subagent, and waits for its result.
    pub(super) async fn run_subagent(&self, task: SubagentTask) -> Output {
        let Some(setup) = self.subagents.clone() else {
            return Output::failed("a subagent cannot start subagents");
        };
        let agent = match &task.agent {
            None => None,
            Some(name) => match setup.agents.iter().find(|agent| agent.name == *name) {
                Some(agent) => Some(agent.clone()),
                None => {
                    let names: Vec<&str> = setup.agents.iter().map(|agent| agent.name.as_str()).collect();
                    let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
                    return Output::failed(format!("there is no agent “{name}”; known agents: {known}"));
                }
            },
        };
        let slot = tokio::select! {
            biased;
            () = self.stopped() => return Output::failed(format!("[{}]", self.engine.stopped_by())),
            slot = setup.at_once.acquire() => slot,
        };
        let done = self.start_subagent(&setup, agent, task).await;
        drop(slot);
        done.unwrap_or_else(|error| Output::failed(format!("the subagent failed: {error}")))
    }

    async fn start_subagent(
        &self,
        setup: &Subagents,
        agent: Option<PromptFile>,
        task: SubagentTask,
    ) -> Result<Output> {
        let Some((entry, _)) = self.key.rsplit_once('-') else { return Err(EngineError::running()) };
        let answer: EntryId = entry.parse().map_err(|_| EngineError::running())?;
        let name = agent.as_ref().map_or(SUBAGENT, |agent| &agent.name).to_owned();
        // A model wrote it: what a title must not have becomes a blank.
        let title = title_of_import(&format!("{name}: {}", shorten(&task.title, TITLE))).unwrap_or(name);
        let id = self.engine.new_conversation_id();
        let caller = Caller { conversation: self.conversation, entry: answer, call: self.key.clone() };
        let by = ChangeOrigin { author: setup.model.clone(), ..self.engine.by(None) };
        let new = NewSubagent { id, caller, title: title.clone(), by: by.clone() };
        self.engine.store().create_subagent(new).await?;
        let of = Arc::new(CallerRun {
            conversation: self.conversation,
            answer,
            events: self.events.clone(),
            permit: setup.permit.clone(),
            mode: setup.mode,
            agent,
            fence: self.fence,
            title,
        });
        let events = self.engine.begin_subagent(id, task.task, by, of, &setup.model).await?;
        let progress = self.follow_subagent(id, events).await;
        self.engine.end_jobs_of(progress.calls).await;
        let Some(ended) = progress.ended else { return Ok(Output::failed("the subagent gave no result")) };
        self.engine.reported(id, ended).await
    }

    /// Follows a subagent to its end, and shows what it does. A stop of the call stops it.
    async fn follow_subagent(
        &self,
        id: ConversationId,
        mut events: BoxStream<'static, RunEvent>,
    ) -> Progress {
        let mut progress = Progress::default();
        let mut stops = false;
        loop {
            let event = tokio::select! {
                biased;
                () = self.stopped(), if !stops => {
                    stops = true;
                    self.engine.cancel(id);
                    continue;
                }
                event = events.next() => event,
            };
            match event {
                Some(RunEvent::Calling(call)) => {
                    self.events.send(RunEvent::Printed(self.key.clone(), format!("{}\n", call.line)));
                    let may_last = call.class != EffectClass::None;
                    progress.calls.extend(may_last.then_some(call.call));
                }
                Some(notice @ RunEvent::Notice(_)) => self.events.send(notice),
                Some(RunEvent::Ended(ended)) => progress.ended = Some(ended),
                Some(_) => {}
                None => return progress,
            }
        }
    }
}

impl Engine {
    /// Starts the run of a new subagent.
    async fn begin_subagent(
        self: &Arc<Self>,
        id: ConversationId,
        task: String,
        by: ChangeOrigin,
        of: Arc<CallerRun>,
        model: &str,
    ) -> Result<BoxStream<'static, RunEvent>> {
        let claim = self.claim(id)?;
        // A folder does not choose who gets what is said.
        let agent = of.agent.as_ref().filter(|agent| agent.origin == PromptOrigin::Settings);
        let own = agent.and_then(|agent| agent.model.clone()).filter(|own| own != "inherit");
        let (choice, model) = match own {
            None => (self.choice(Some(model)).await?, model.to_owned()),
            // Files of other agents have short names that mean nothing elsewhere.
            Some(own) => match self.choice(Some(&own)).await.or_log("a subagent's own model is not there") {
                Some(choice) => (choice, own),
                None => (self.choice(Some(model)).await?, model.to_owned()),
            },
        };
        let notices = match self.folder_of(id).await? {
            Some(folder) => self.open_folder(id, folder).await?,
            None => Vec::new(),
        };
        // The model's text mentions no files: it has tools for them.
        let receipt = self.store().say(id, self.prompt(vec![Part::text(task)], by)).await?;
        let ground = self.on_prompt(id, receipt, None).await?;
        let ground = PreparedRun { notices, caller: Some(of), ..ground };
        self.start_on(claim, choice, ground, Some(model)).await
    }

    /// The result of a subagent: its last message.
    async fn reported(&self, id: ConversationId, ended: Ended) -> Result<Output> {
        let text = match ended.entry {
            Some(entry) => joined_text(&self.store().content(id, entry).await?),
            None => String::new(),
        };
        let why = ended.error.as_ref().map(|error| error.to_string());
        let why = why.unwrap_or_else(|| self.stopped_by().to_owned());
        Ok(match ended.outcome {
            Outcome::Succeeded if text.trim().is_empty() => {
                Output::ok("The subagent has ended without a message.")
            }
            Outcome::Succeeded => Output::ok(text),
            _ if text.trim().is_empty() => Output::failed(format!("[{why}]")),
            _ => Output { outcome: ToolOutcome::Failed, ..Output::ok(format!("{text}\n[{why}]")) },
        })
    }

    /// Refuses to erase single messages in a fork of a subagent's conversation: their files are of the one that started it.
    pub(crate) async fn has_own_files(&self, conversation: ConversationId) -> Result<()> {
        let mut of = self.store().summary(conversation).await?.parent;
        while let Some((parent, _)) = of {
            self.for_people(parent).await?;
            of = self.store().summary(parent).await?.parent;
        }
        Ok(())
    }

    /// Refuses a change that a person makes in a subagent's conversation: it is changed through the one that started it.
    pub(crate) async fn for_people(&self, conversation: ConversationId) -> Result<()> {
        let Some(caller) = self.store().caller(conversation).await? else { return Ok(()) };
        let what = "this is the conversation of a subagent; it is changed through the one that started it";
        Err(EngineError::new(Kind::Refused, "subagent_conversation", what)
            .with("conversation", caller.conversation.to_string()))
    }
}
