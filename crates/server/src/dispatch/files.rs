//! Plans and actions with their files: the options for the engine, and the engine's results as replies. It only translates.

use retake_core::{Action, Apply, ConversationId, FilesExtent, Planned, Reason};
use retake_engine::{FileOptions, PlannedFiles, Restore, Scope, WorkInProgress};
use retake_wire::{Action as WireAction, Condition, Problem, Reply, english, reply, request};

use super::changes::seen;
use super::{erase, steps};
use crate::InProcess;
use crate::convert::{self, misused, problem};

pub(super) mod authors;
mod folders;
pub(super) mod translate;

use translate::{bytes_in, file_options};

/// The work in progress, as a reply.
pub(super) fn work(doing: Option<WorkInProgress>) -> reply::Work {
    let doing = doing.map(|doing| match doing {
        WorkInProgress::Looking { folders } => reply::OwnerWork::Looking { folders },
        WorkInProgress::Reading { done, of } => reply::OwnerWork::Reading { done, of },
        WorkInProgress::Writing { files } => reply::OwnerWork::Writing { files },
    });
    reply::Work { doing }
}

impl InProcess {
    pub(super) async fn plan(&self, plan: request::Plan) -> Result<Reply, Problem> {
        let conversation = self.conversation(&plan.conversation).await?;
        let options = file_options(&plan.files)?;
        let asked = match plan.action {
            WireAction::Undo { count } | WireAction::Redo { count } => Some(count),
            _ => None,
        };
        let (action, options) = self.asked(conversation, plan.action, options).await?;
        let traits = action.traits();
        if !traits.touches_files {
            no_file_options(&plan.files, plan.diff)?;
            if !traits.is_planned {
                return self.plan_erase(conversation, action).await;
            }
            return self.plan_without_files(conversation, action).await;
        }
        let (scope, restores) = (options.scope, options.restore.is_some());
        let again = (action.clone(), options.clone());
        let planned = self.engine.plan_both(conversation, action, options).await.map_err(problem)?;
        let refused = self.why_refused(conversation, (&again.0, &again.1), &planned).await?;
        let PlannedFiles {
            conversation: half,
            files,
            digest,
            notes,
            running,
            effects,
            unseen,
            at_work,
            waiting,
            cut_off,
        } = planned;
        let messages = half.as_ref().map(|half| [half.plan.taken_back, half.plan.brought_back]);
        let extent = FilesExtent::new(scope, files.iter().map(|folder| &folder.plan), messages);
        let said = (!restores).then(|| translate::remark(extent.before()));
        let more = notes.into_iter().map(convert::note);
        let conditions: Vec<Condition> =
            said.into_iter().chain(translate::unknown(&cut_off, &unseen)).chain(more).collect();
        let concerns_files = files.iter().any(|folder| folder.plan.concerns_files());
        let files = match files.iter().all(|folder| folder.plan.paths.is_empty()) {
            true => None,
            false => Some(self.files_plan(conversation, files, digest, plan.diff).await?),
        };
        let steps = asked.zip(half.as_ref());
        let steps = steps.map(|(asked, half)| {
            let (done, refusal) = refused.map_or((half.ops, None), |(done, why)| (done, Some(why)));
            steps::steps(done, asked, refusal)
        });
        let step_summaries: Vec<_> =
            half.iter().flat_map(|half| half.steps.iter().map(convert::step)).collect();
        let posts = match &half {
            Some(half) => self.posts_planned(conversation, half).await?,
            None => reply::StepPosts::default(),
        };
        let shown = match half {
            Some(half) => convert::plan(conversation.to_string(), half, conditions),
            None => {
                let (head, _) = self.engine.now_at(conversation).await.map_err(problem)?;
                convert::plan_of_files(conversation.to_string(), head.to_string(), conditions)
            }
        };
        let unchanged = shown.unchanged && !concerns_files;
        let running = running
            .into_iter()
            .map(|running| reply::Running { entry: running.entry.to_string(), processes: running.processes });
        Ok(Reply::Plan(reply::Plan {
            unchanged,
            steps,
            step_lines: step_summaries.iter().map(english::planned_step).collect(),
            step_summaries,
            files,
            running: running.collect(),
            at_work,
            waiting,
            outside: reply::Outside { effects: crate::agent::effects(effects), posts },
            ..shown
        }))
    }

    /// The plan of an action without files.
    async fn plan_without_files(
        &self,
        conversation: ConversationId,
        action: Action,
    ) -> Result<Reply, Problem> {
        // Hidden calls have had their effects anyway.
        let mut planned = self.engine.plan(conversation, action).await.map_err(problem)?;
        let effects = std::mem::take(&mut planned.effects);
        let effects = crate::agent::effects(self.engine.left_behind(conversation, effects).await);
        let posts = self.posts_planned(conversation, &planned).await?;
        let plan = convert::plan(conversation.to_string(), planned, Vec::new());
        Ok(Reply::Plan(reply::Plan { outside: reply::Outside { effects, posts }, ..plan }))
    }

    /// What a step would do to posts in chats.
    async fn posts_planned(&self, of: ConversationId, half: &Planned) -> Result<reply::StepPosts, Problem> {
        let posts = self.engine.posts_planned(of, &half.plan).await.map_err(problem)?;
        Ok(convert::posts::step(posts))
    }

    pub(super) async fn apply(&self, apply: request::Apply) -> Result<Reply, Problem> {
        let conversation = self.conversation(&apply.conversation).await?;
        let head = apply.head.clone();
        match self.applied(conversation, apply).await {
            Err(problem) => Err(self.with_head(problem, conversation, head.as_deref()).await),
            done => done,
        }
    }

    async fn applied(&self, conversation: ConversationId, apply: request::Apply) -> Result<Reply, Problem> {
        let seen = seen(apply.head.as_deref(), apply.since)?;
        let by = self.by(
            apply.request_id.as_deref(),
            "apply",
            &(&apply.action, &apply.head, apply.since, &apply.files),
        )?;
        let asked = match apply.action {
            WireAction::Undo { count } | WireAction::Redo { count } => Some(count),
            _ => None,
        };
        let mut text = None;
        let done = match self.recorded(conversation, &by).await? {
            Some(receipt) => {
                let again = self.engine.act_again(conversation, &by, receipt, asked.unwrap_or(1));
                again.await.map_err(problem)?
            }
            None => {
                let options = file_options(&apply.files)?;
                let (action, options) = self.asked(conversation, apply.action, options).await?;
                if !action.traits().touches_files {
                    no_file_options(&apply.files, false)?;
                }
                text = erase::text_of(&action);
                let apply = Apply { action, seen, by };
                self.engine.act(conversation, apply, options).await.map_err(problem)?
            }
        };
        let mut done = self.done(done).await?;
        done.conditions.extend(self.elsewhere(conversation, text).await);
        let given = self.told(done, asked).await?;
        Ok(Reply::Receipt(given))
    }

    /// Converts an action of the wire to the engine's, with its options for files: all of them for a request about
    /// nothing else.
    async fn asked(
        &self,
        of: ConversationId,
        action: WireAction,
        options: FileOptions,
    ) -> Result<(Action, FileOptions), Problem> {
        let WireAction::RestoreFiles { paths, to } = action else {
            return Ok((self.action(of, action).await?, options));
        };
        if paths.is_empty() {
            return Err(misused("no_files_named", &[]));
        }
        if options.scope == Scope::Conversation {
            return Err(misused("restore_scope", &[]));
        }
        let names = paths.iter().map(bytes_in).collect::<Result<Vec<_>, _>>()?;
        let paths = self.engine.paths(of, names).await.map_err(problem)?;
        let to = self.engine.as_of(of, to.as_deref()).await.map_err(problem)?;
        let restore = Some(Restore { paths, to });
        Ok((Action::Files(Reason::Files), FileOptions { scope: Scope::Files, restore, ..options }))
    }
}

fn no_file_options(files: &retake_wire::FileOptions, diff: bool) -> Result<(), Problem> {
    if files.is_default() && !diff {
        return Ok(());
    }
    Err(misused("no_file_options", &[]))
}
