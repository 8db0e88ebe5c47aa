//! Requests with changes: each is answered with a receipt.

use futures::stream::BoxStream;
use retake_core::{
    Action, ChangeOrigin, ConversationId, EntryId, Flags, Mark, Part, Reason, Receipt, SayRequest, SeenState,
    Time,
};
use retake_engine::{Compaction, Exec, RunEvent, RunRequest, Start};
use retake_wire::{
    Action as WireAction, Attached, MarkVerb, Problem, ProblemKind, Reply, RunStart, reply, request,
};

use super::files::translate;
use super::{head, request_id, works_in};
use crate::InProcess;
use crate::convert::{self, misused, own_problem, problem};
use crate::log;

impl InProcess {
    pub(super) async fn create(&self, create: request::Create) -> Result<Reply, Problem> {
        let by = self.by(
            create.request_id.as_deref(),
            "create",
            &request::Create { request_id: None, ..create.clone() },
        )?;
        if let Some(receipt) = self.engine.created(&by).await.map_err(problem)? {
            return self.receipt(receipt).await;
        }
        let folder = works_in(create.folder)?;
        self.engine.can_work_in(folder.as_deref()).await.map_err(problem)?;
        let receipt = self.engine.create(create.title, folder, by).await;
        self.receipt(receipt.map_err(problem)?).await
    }

    pub(super) async fn fork(&self, fork: request::Fork) -> Result<Reply, Problem> {
        let parent = self.conversation(&fork.conversation).await?;
        let worded = request::Fork { request_id: None, conversation: parent.to_string(), ..fork.clone() };
        let by = self.by(fork.request_id.as_deref(), "fork", &worded)?;
        if let Some(receipt) = self.engine.created(&by).await.map_err(problem)? {
            return self.receipt(receipt).await;
        }
        let entry = self.entry_if(parent, fork.entry.as_deref()).await?;
        let receipt = self.engine.fork(parent, entry, fork.title, by).await;
        self.receipt(receipt.map_err(problem)?).await
    }

    pub(super) async fn say(&self, say: request::Say) -> Result<Reply, Problem> {
        let conversation = self.conversation(&say.conversation).await?;
        let by = self.by(
            say.request_id.as_deref(),
            "say",
            &request::Say { request_id: None, conversation: String::new(), ..say.clone() },
        )?;
        if let Some(receipt) = self.recorded(conversation, &by).await? {
            return self.receipt(receipt).await;
        }
        let seen = self.entry_if(conversation, say.seen.as_deref()).await?;
        let author = match (say.author.is_empty(), say.role) {
            (false, _) => say.author,
            (true, retake_wire::Role::User) => by.author.clone(),
            (true, _) => String::new(),
        };
        let flags = Flags { synthetic: say.synthetic, observed: say.observed, ..Flags::default() };
        let say = SayRequest {
            flags,
            time: say.time_ms.map(Time),
            platform_id: say.platform_id,
            seen,
            ..SayRequest::new(
                self.engine.new_entry_id(),
                convert::role_in(say.role),
                convert::parts_in(say.parts)?,
                ChangeOrigin { author, ..by },
            )
        };
        let receipt = self.engine.say(conversation, say).await;
        self.receipt(receipt.map_err(problem)?).await
    }

    /// A refusal, with the current head if the author saw another one: this may be its only reason.
    pub(super) async fn with_head(
        &self,
        problem: Problem,
        of: ConversationId,
        seen: Option<&str>,
    ) -> Problem {
        let refuses = matches!(problem.kind, ProblemKind::Refused | ProblemKind::NotFound);
        let Some(seen) = seen.filter(|_| refuses && problem.head.is_none()) else {
            return problem;
        };
        let now = self.engine.now_at(of).await.map(|(now, _)| now.to_string());
        Problem { head: now.ok().filter(|now| now != seen), ..problem }
    }

    pub(super) async fn edit(&self, edit: request::Edit) -> Result<Reply, Problem> {
        let conversation = self.conversation(&edit.conversation).await?;
        let head = edit.head.clone();
        match self.edited(conversation, edit).await {
            Err(problem) => Err(self.with_head(problem, conversation, head.as_deref()).await),
            done => done,
        }
    }

    async fn edited(&self, conversation: ConversationId, edit: request::Edit) -> Result<Reply, Problem> {
        let by = self.by(
            edit.request_id.as_deref(),
            "edit",
            &request::Edit { request_id: None, conversation: String::new(), ..edit.clone() },
        )?;
        if let Some(receipt) = self.recorded(conversation, &by).await? {
            return self.reworded(&receipt, None).await.map(Reply::Receipt);
        }
        let entry = self.entry(conversation, &edit.entry).await?;
        let parts = self.wording(conversation, entry, edit.parts, edit.attached).await?;
        let seen = seen(edit.head.as_deref(), false)?;
        let files = translate::file_options(&edit.files)?;
        let edited = self.engine.edit(conversation, entry, parts, files, seen, by).await;
        let (receipt, back) = edited.map_err(problem)?;
        self.reworded(&receipt, Some(&back)).await.map(Reply::Receipt)
    }

    /// A new wording, with the images and files of the old one if they are kept.
    async fn wording(
        &self,
        of: ConversationId,
        entry: EntryId,
        parts: Vec<retake_wire::Part>,
        attached: Attached,
    ) -> Result<Vec<Part>, Problem> {
        let mut parts = convert::parts_in(parts)?;
        if attached == Attached::Kept {
            parts.extend(self.engine.attachments(of, entry).await.map_err(problem)?);
        }
        Ok(parts)
    }

    pub(super) async fn cancel(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let conversation = self.conversation(&of.conversation).await?;
        if self.engine.cancel(conversation) {
            return Ok(Reply::Done);
        }
        Err(own_problem(ProblemKind::Refused, "not_running", &[]))
    }

    /// The author, request id and wording of a request.
    pub(super) fn by(
        &self,
        request: Option<&str>,
        kind: &str,
        worded: &(impl serde::Serialize + std::fmt::Debug),
    ) -> Result<ChangeOrigin, Problem> {
        let wording = Some(retake_engine::request_digest(kind, worded));
        Ok(ChangeOrigin { wording, ..self.origin(request.map(request_id).transpose()?) })
    }

    /// The receipt of a repeated request: looked up before the names in it.
    pub(super) async fn recorded(
        &self,
        of: ConversationId,
        by: &ChangeOrigin,
    ) -> Result<Option<Receipt>, Problem> {
        self.engine.receipt(of, by).await.map_err(problem)
    }

    /// A receipt with the current content for the client's composer.
    pub(super) async fn receipt(&self, receipt: Receipt) -> Result<Reply, Problem> {
        self.wire_receipt(&receipt).await.map(Reply::Receipt)
    }

    pub(crate) async fn wire_receipt(&self, receipt: &Receipt) -> Result<reply::Receipt, Problem> {
        let content = match receipt.composer {
            // Text that was hidden or dropped since does not come back with a retry.
            Some(id) => self.engine.visible_content(receipt.conversation, id).await.map_err(problem)?,
            None => None,
        };
        Ok(convert::receipt(receipt, content))
    }

    /// Converts a run of the wire and starts it in the engine.
    pub(crate) async fn begin_run(
        &self,
        run: retake_wire::Run,
    ) -> Result<(ConversationId, BoxStream<'static, RunEvent>), Problem> {
        let seen = seen(run.head.as_deref(), false)?;
        let worded = retake_wire::Run { request_id: None, conversation: String::new(), ..run.clone() };
        let by = self.by(run.request_id.as_deref(), "run", &worded)?;
        let permit = self.permit(run.permit)?;
        let files = translate::file_options(&run.files)?;
        let retake_wire::Run { conversation, folder, start, model, head, .. } = run;
        let start = match start {
            RunStart::Say { .. } | RunStart::Command { entry: None, .. } if conversation.is_empty() => {
                let start = Start::Say(self.said(start)?, None);
                let begun = self
                    .engine
                    .begin(
                        works_in(folder)?,
                        RunRequest { start, model, steer: None, permit, files, seen, by },
                    )
                    .await;
                let begun = begun.map_err(problem)?;
                log::names(&begun.0);
                return Ok(begun);
            }
            start => start,
        };
        let conversation = self.conversation(&conversation).await?;
        if let RunStart::Exec { command, say } = start {
            let events = match self.recorded(conversation, &by).await? {
                Some(receipt) => self.engine.exec_again(conversation, &by, receipt).await,
                None => self.engine.exec(conversation, Exec { command, say, by }).await,
            };
            return Ok((conversation, events.map_err(problem)?));
        }
        let begun = async {
            if let Some(receipt) = self.recorded(conversation, &by).await? {
                let again = self.engine.run_again(conversation, &by, receipt, model.as_deref()).await;
                return again.map_err(problem);
            }
            let steer = match &start {
                RunStart::Say { steer, .. } | RunStart::Command { steer, entry: None, .. } => {
                    self.steer(*steer)
                }
                _ => None,
            };
            let start = self.start(conversation, start).await?;
            let request = RunRequest { start, model, steer, permit, files, seen, by };
            self.engine.run(conversation, request).await.map_err(problem)
        };
        match begun.await {
            Ok(events) => Ok((conversation, events)),
            Err(problem) => Err(self.with_head(problem, conversation, head.as_deref()).await),
        }
    }

    async fn start(&self, of: ConversationId, start: RunStart) -> Result<Start, Problem> {
        Ok(match start {
            RunStart::Command { entry: Some(ref entry), .. } => {
                let entry = self.entry(of, entry).await?;
                Start::Edit(entry, self.said(start)?)
            }
            RunStart::Say { ref seen, .. } | RunStart::Command { ref seen, .. } => {
                let seen = self.entry_if(of, seen.as_deref()).await?;
                Start::Say(self.said(start)?, seen)
            }
            RunStart::Retry { entry } => Start::Retry(self.entry(of, &entry).await?),
            RunStart::Edit { entry, parts, attached } => {
                let entry = self.entry(of, &entry).await?;
                let mut parts = self.wording(of, entry, parts, attached).await?;
                parts.extend(self.untrusted_mark());
                Start::Edit(entry, parts)
            }
            RunStart::Answer => Start::Answer,
            RunStart::Compact { instructions, from, to, branch } => Start::Compact(Compaction {
                instructions,
                from: self.entry_if(of, from.as_deref()).await?,
                to: self.entry_if(of, to.as_deref()).await?,
                branch: self.entry_if(of, branch.as_deref()).await?,
            }),
            RunStart::Exec { .. } => {
                return Err(misused("command_as_prompt", &[]));
            }
        })
    }

    /// Converts an action of the API to one of core. The compiler does not say that the API lacks one.
    pub(super) async fn action(&self, of: ConversationId, action: WireAction) -> Result<Action, Problem> {
        Ok(match action {
            WireAction::Rewind { entry } => Action::Rewind(self.entry(of, &entry).await?),
            WireAction::Edit { entry } => Action::Edit(self.entry(of, &entry).await?),
            WireAction::Undo { count } => Action::Undo(at_least_one("undo", count)?),
            WireAction::Redo { count } => Action::Redo(at_least_one("redo", count)?),
            WireAction::Restore { head: to } => Action::Restore(head(&to)?),
            WireAction::Checkout { entry } => Action::Checkout(self.entry_if(of, entry.as_deref()).await?),
            WireAction::Choose { entry, number } => {
                let entry = self.entry(of, &entry).await?;
                let answer = self.engine.answer_named(of, entry).await.map_err(problem)?;
                Action::Choose(answer, at_least_one("choose", number)?)
            }
            WireAction::Mark { verb, entries, range, seen } => {
                let seen = seen.as_deref().map(mark).transpose()?;
                let marked = self.engine.mark_named(of, verb_of(verb), &entries, range, seen).await;
                marked.map_err(problem)?
            }
            WireAction::Fold { from, to, summary } => {
                let (from, to) = self.engine.range_named(of, &from, &to).await.map_err(problem)?;
                Action::Fold { verb: Reason::Fold, from, to, summary, covers: None }
            }
            WireAction::Unfold { fold } => {
                Action::Unfold(self.engine.fold(of, &fold).await.map_err(problem)?)
            }
            WireAction::Label { entry, name } => Action::Label(Some(self.entry(of, &entry).await?), name),
            WireAction::Title { title } => Action::Label(None, title),
            WireAction::RestoreFiles { .. } => {
                return Err(misused("restore_files", &[]));
            }
            WireAction::Erase { entries, matching } => {
                if entries.is_empty() && matching.as_deref().is_none_or(str::is_empty) {
                    return Err(nothing_to_erase());
                }
                let mut ids = Vec::new();
                for entry in &entries {
                    ids.push(self.entry(of, entry).await?);
                }
                Action::Erase { entries: ids, matching, objects: Vec::new() }
            }
        })
    }
}

impl InProcess {
    /// The mark of a message whose mentions attach no file: any file of this machine could be named.
    pub(super) fn untrusted_mark(&self) -> Option<Part> {
        (!self.caller.may_mention_files()).then(retake_engine::prompt::piped)
    }

    /// The parts of the message of a run; untrusted text and a command get their marks.
    fn said(&self, start: RunStart) -> Result<Vec<Part>, Problem> {
        let mut parts = said(start)?;
        let mark = self.untrusted_mark().filter(|mark| !parts.contains(mark));
        parts.extend(mark);
        Ok(parts)
    }
}

/// The parts of the message of a run; piped text and a command get their marks.
fn said(start: RunStart) -> Result<Vec<Part>, Problem> {
    match start {
        RunStart::Say { parts, piped, .. } => {
            let mut parts = convert::parts_in(parts)?;
            parts.extend(piped.then(retake_engine::prompt::piped));
            Ok(parts)
        }
        RunStart::Command { name, arguments, attached, .. } => {
            let attached = convert::parts_in(attached)?;
            Ok(retake_engine::prompt_files::command_message(&name, &arguments, attached))
        }
        _ => Ok(Vec::new()),
    }
}

fn nothing_to_erase() -> Problem {
    misused("nothing_to_erase", &[])
}

fn verb_of(verb: MarkVerb) -> Reason {
    match verb {
        MarkVerb::Hide => Reason::Hide,
        MarkVerb::Show => Reason::Show,
        MarkVerb::Exclude => Reason::Exclude,
        MarkVerb::Include => Reason::Include,
        MarkVerb::Drop => Reason::Drop,
    }
}

fn mark(name: &str) -> Result<Mark, Problem> {
    Mark::from_name(name).ok_or_else(|| misused("mark", &[("name", name.into())]))
}

fn at_least_one(verb: &str, count: usize) -> Result<usize, Problem> {
    match count {
        0 => Err(misused("no_steps", &[("action", verb.into()), ("least", 1.into())])),
        count => Ok(count),
    }
}

/// The head that the author saw.
pub(super) fn seen(text: Option<&str>, since: bool) -> Result<SeenState, Problem> {
    Ok(match (text.map(head).transpose()?, since) {
        (Some(head), false) => SeenState::Exactly(head),
        (Some(head), true) => SeenState::Since(head),
        (None, _) => SeenState::Anything,
    })
}
