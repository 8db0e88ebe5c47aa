//! Plans and actions with their file half: what is wished becomes the engine's, what it planned and did becomes a reply.

use std::collections::HashMap;

use retake_core::{Choice, Chosen, ConversationId, DeltaNo, EntryId, FilePlan, Reason, Seen, Verdict};
use retake_engine::store::{Action, Apply, PageRequest, Reading};
use retake_engine::{FilesPlanned, FilesWish, Restore, Scope};
use retake_wire::{Action as WireAction, Problem, Reply, reply, request};

use super::changes::seen;
use super::paths::{bytes_in, choice_in, path_in, path_plan, tally};
use super::steps::{Done, is_end, step_of};
use super::store_problem;
use crate::InProcess;
use crate::convert::{self, problem, usage};

impl InProcess {
    pub(super) async fn plan(&self, plan: request::Plan) -> Result<Reply, Problem> {
        let conversation = self.conversation(&plan.conversation).await?;
        let wish = wish(&plan.files)?;
        let asked = match plan.action {
            WireAction::Undo { count } | WireAction::Redo { count } => Some(count),
            _ => None,
        };
        let erases = matches!(plan.action, WireAction::Erase { .. });
        let (action, wish) = self.asked(conversation, plan.action, wish).await?;
        if !takes_files(&action) {
            no_wish(&plan.files, plan.diff)?;
            let planned = self.engine.plan(conversation, action).await.map_err(problem)?;
            let stays = erases.then(|| "erased content can't be brought back, by nothing".to_owned());
            let stays = stays.into_iter().collect();
            return Ok(Reply::Plan(convert::plan(conversation.to_string(), planned, stays)));
        }
        let (scope, restores) = (wish.scope, wish.restore.is_some());
        let planned = self.engine.plan_both(conversation, action, wish).await.map_err(problem)?;
        let FilesPlanned { conversation: half, files, digest, running } = planned;
        let stays = match restores {
            true => Vec::new(),
            false => vec![stays(scope, files.as_ref()).to_owned()],
        };
        let changes_files = files
            .as_ref()
            .is_some_and(|files| files.paths.iter().any(|path| !matches!(path.verdict, Verdict::Unchanged)));
        let files = match files {
            Some(files) if !files.paths.is_empty() => {
                Some(self.files_plan(conversation, files, digest, plan.diff).await?)
            }
            _ => None,
        };
        let steps = asked.zip(half.as_ref()).map(|(asked, half)| reply::Steps {
            done: half.ops,
            asked,
            refused: None,
        });
        let shown = match half {
            Some(half) => convert::plan(conversation.to_string(), half, stays),
            None => {
                let head = self.engine.store().summary(conversation).await.map_err(store_problem)?.head;
                let (conversation, head) = (conversation.to_string(), head.to_string());
                reply::Plan { conversation, head, unchanged: true, stays, ..reply::Plan::default() }
            }
        };
        let unchanged = shown.unchanged && !changes_files;
        let running = running
            .into_iter()
            .map(|running| reply::Running { entry: running.entry.to_string(), processes: running.processes });
        Ok(Reply::Plan(reply::Plan { unchanged, steps, files, running: running.collect(), ..shown }))
    }

    pub(super) async fn apply(&self, apply: request::Apply) -> Result<Reply, Problem> {
        let conversation = self.conversation(&apply.conversation).await?;
        let seen = seen(apply.head.as_deref(), apply.since)?;
        let by =
            self.by(apply.request_id.as_deref(), &(&apply.action, &apply.head, apply.since, &apply.files))?;
        let asked = match apply.action {
            WireAction::Undo { count } | WireAction::Redo { count } => Some(count),
            _ => None,
        };
        let done = match self.recorded(conversation, &by).await? {
            Some(receipt) => self.recorded_steps(conversation, receipt, &by, asked.unwrap_or(1)).await?,
            None => {
                let wish = wish(&apply.files)?;
                let (action, wish) = self.asked(conversation, apply.action, wish).await?;
                if !takes_files(&action) {
                    no_wish(&apply.files, false)?;
                }
                self.act(conversation, Apply { action, seen, by }, wish).await?
            }
        };
        let given = self.told(conversation, done, asked).await?;
        Ok(Reply::Receipt(given))
    }

    /// The engine's action of one on the wire, and what it wishes for files: all, where it is about nothing else.
    async fn asked(
        &self,
        of: ConversationId,
        action: WireAction,
        wish: FilesWish,
    ) -> Result<(Action, FilesWish), Problem> {
        let WireAction::RestoreFiles { paths, to } = action else {
            return Ok((self.action(of, action).await?, wish));
        };
        if paths.is_empty() {
            return Err(usage("name the files to put back; “.” is all of the folder"));
        }
        if wish.scope == Scope::Conversation {
            return Err(usage("files that are put back are no conversation"));
        }
        let names = paths.iter().map(bytes_in).collect::<Result<Vec<_>, _>>()?;
        let paths = self.engine.paths(of, names).await.map_err(problem)?;
        let to = self.engine.moment(of, to.as_deref()).await.map_err(problem)?;
        let restore = Some(Restore { paths, to });
        Ok((Action::Files(Reason::Files), FilesWish { scope: Scope::Files, restore, ..wish }))
    }

    /// Does an action with its files. Several steps back or forth are taken one at a time: each is whole, or is not done.
    async fn act(&self, of: ConversationId, apply: Apply, wish: FilesWish) -> Result<Done, Problem> {
        if !takes_files(&apply.action) {
            let receipt = self.engine.apply(of, apply).await.map_err(problem)?;
            return Ok(Done { receipts: vec![receipt], ..Done::default() });
        }
        let (count, step): (usize, fn(usize) -> Action) = match apply.action {
            Action::Undo(count) => (count, Action::Undo),
            Action::Redo(count) => (count, Action::Redo),
            _ => (1, Action::Undo),
        };
        let files = self.engine.store().has_files(of).await.map_err(store_problem)?;
        if count == 1 || !files || wish.scope == Scope::Conversation {
            let mut done = Done::default();
            done.add(self.engine.apply_both(of, apply, wish).await.map_err(problem)?);
            return Ok(done);
        }
        if wish.seen.is_some() {
            return Err(usage("a plan of files that was seen is of one step: take one at a time"));
        }
        let mut done = Done::default();
        let mut seen = apply.seen;
        for at in 1..=count {
            let by = step_of(&apply.by, at)?;
            match self.engine.apply_both(of, Apply { action: step(1), seen, by }, wish.clone()).await {
                Ok(applied) => {
                    seen = Seen::Exactly(applied.receipt.head);
                    done.add(applied);
                }
                Err(error) if at == 1 => return Err(problem(error)),
                Err(error) if is_end(&error) => break,
                Err(error) => {
                    done.refused = Some(error.message);
                    break;
                }
            }
        }
        Ok(done)
    }

    async fn files_plan(
        &self,
        of: ConversationId,
        plan: FilePlan,
        digest: [u8; 16],
        diff: bool,
    ) -> Result<retake_wire::FilesPlan, Problem> {
        let deltas = self.engine.store().deltas(of).await.map_err(store_problem)?;
        let calls: HashMap<DeltaNo, EntryId> =
            deltas.into_iter().map(|(line, entry)| (line.no, entry)).collect();
        let mut shown = retake_wire::FilesPlan { digest: hex(&digest), ..Default::default() };
        for path in plan.paths {
            tally(&mut shown, &path.verdict);
            let changes = path.step.change.before != path.step.change.after;
            let diff = match diff && changes {
                true => {
                    let bytes = self.engine.diff(path.step.change.clone(), None).await.map_err(problem)?;
                    Some(String::from_utf8_lossy(&bytes).into_owned())
                }
                false => None,
            };
            shown.paths.push(retake_wire::PathPlan { diff, ..path_plan(path, &calls) });
        }
        Ok(shown)
    }

    /// The entries of the turns that these are in.
    pub(super) async fn turns(
        &self,
        of: ConversationId,
        entries: Vec<EntryId>,
    ) -> Result<Vec<EntryId>, Problem> {
        let reading = Reading { projection: retake_core::Projection::Timeline, at: None };
        let all = PageRequest { limit: usize::MAX, ..PageRequest::default() };
        let page = self.engine.store().page(of, reading, all).await.map_err(store_problem)?;
        let metas: Vec<_> =
            page.entries.into_iter().filter_map(|shown| shown.entry.ok()).map(|entry| entry.meta).collect();
        let wanted: Vec<u64> =
            metas.iter().filter(|meta| entries.contains(&meta.id)).map(|meta| meta.totals.turns).collect();
        let found: Vec<EntryId> =
            metas.iter().filter(|meta| wanted.contains(&meta.totals.turns)).map(|meta| meta.id).collect();
        // What is not shown is refused by its name.
        Ok(if found.is_empty() { entries } else { found })
    }
}

/// Whether files go with an action.
fn takes_files(action: &Action) -> bool {
    matches!(
        action,
        Action::Rewind(_)
            | Action::Edit(_)
            | Action::Undo(_)
            | Action::Redo(_)
            | Action::Restore(_)
            | Action::Checkout(_)
            | Action::Choose(..)
            | Action::Files(_)
            | Action::Mark { verb: Reason::Drop | Reason::Show, .. }
    )
}

fn no_wish(files: &retake_wire::FilesWish, diff: bool) -> Result<(), Problem> {
    if files.is_default() && !diff {
        return Ok(());
    }
    Err(usage("this action has nothing to do with files"))
}

fn wish(files: &retake_wire::FilesWish) -> Result<FilesWish, Problem> {
    let scope = match files.scope {
        retake_wire::Scope::Both => Scope::Both,
        retake_wire::Scope::Conversation => Scope::Conversation,
        retake_wire::Scope::Files => Scope::Files,
    };
    let nothing_to_choose = files.choose.is_empty() && !files.exact && files.seen.is_none();
    if scope == Scope::Conversation && !nothing_to_choose {
        return Err(usage("there is nothing to choose for files that stay as they are"));
    }
    let mut chosen = Chosen { others: files.exact.then_some(Choice::Checkpoint), ..Chosen::default() };
    for choose in &files.choose {
        chosen.paths.insert(path_in(&choose.name)?, choice_in(choose.choice));
    }
    let seen = files.seen.as_deref().map(unhex).transpose()?;
    Ok(FilesWish { scope, chosen, seen, stop: files.stop, restore: None })
}

/// What an action does not do, said before it is done.
fn stays(scope: Scope, files: Option<&FilePlan>) -> &'static str {
    match (scope, files) {
        (Scope::Conversation, _) => "files are not touched: only the conversation goes back",
        (_, None) => "no file comes or goes: no command of this conversation has changed one",
        (_, Some(plan)) if plan.paths.is_empty() => "no file comes or goes",
        _ => {
            "only files of this folder go back: not what commands did elsewhere, nor what git keeps for itself"
        }
    }
}

fn hex(digest: &[u8; 16]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<[u8; 16], Problem> {
    let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
    number.map(u128::to_be_bytes).ok_or_else(|| usage("“seen” is the digest of a file plan: 32 hex digits"))
}
