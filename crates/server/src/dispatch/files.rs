//! Plans and actions with their file half: what is wished becomes the engine's, what it planned and did becomes a reply.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{
    Choice, Chosen, Clash, ConversationId, DeltaNo, EntryId, FilePath, FilePlan, Grade, PathMove, PathPlan,
    Reason, RequestId, Seen, Totals, Verdict,
};
use retake_engine::store::{Action, Apply, By, PageRequest, Reading, Receipt};
use retake_engine::worktree::{Left, Note, NoteKind, WhyLeft};
use retake_engine::{EngineError, FilesPlanned, FilesWish, Scope};
use retake_wire::{Action as WireAction, Problem, Reply, reply, request};

use super::changes::seen;
use super::store_problem;
use crate::InProcess;
use crate::convert::{self, problem, usage};

/// What was done, in one step or in several.
#[derive(Default)]
struct Done {
    receipts: Vec<Receipt>,
    left: Vec<String>,
    notes: Vec<String>,
    refused: Option<String>,
}

impl InProcess {
    pub(super) async fn plan(&self, plan: request::Plan) -> Result<Reply, Problem> {
        let conversation = self.conversation(&plan.conversation).await?;
        let wish = wish(&plan.files)?;
        let erases = matches!(plan.action, WireAction::Erase { .. });
        let action = self.action(conversation, plan.action).await?;
        if !takes_files(&action) {
            no_wish(&plan.files, plan.diff)?;
            let planned = self.engine.plan(conversation, action).await.map_err(problem)?;
            let stays = erases.then(|| "erased content can't be brought back, by nothing".to_owned());
            let stays = stays.into_iter().collect();
            return Ok(Reply::Plan(convert::plan(conversation.to_string(), planned, stays)));
        }
        let scope = wish.scope;
        let planned = self.engine.plan_both(conversation, action, wish).await.map_err(problem)?;
        let FilesPlanned { conversation: half, files, digest, git, running } = planned;
        let stays = std::iter::once(stays(scope, files.as_ref()).to_owned()).chain(git).collect();
        let changes_files = files
            .as_ref()
            .is_some_and(|files| files.paths.iter().any(|path| !matches!(path.verdict, Verdict::Unchanged)));
        let files = match files {
            Some(files) if !files.paths.is_empty() => {
                Some(self.files_plan(conversation, files, digest, plan.diff).await?)
            }
            _ => None,
        };
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
        Ok(Reply::Plan(reply::Plan { unchanged, files, running: running.collect(), ..shown }))
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
                let action = self.action(conversation, apply.action).await?;
                if !takes_files(&action) {
                    no_wish(&apply.files, false)?;
                }
                self.act(conversation, Apply { action, seen, by }, wish).await?
            }
        };
        let given = self.told(conversation, done, asked).await?;
        Ok(Reply::Receipt(given))
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
        let files = self.engine.store().has_changes(of).await.map_err(store_problem)?;
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

    /// What a request did that comes again: the steps that are recorded, and no other.
    async fn recorded_steps(
        &self,
        of: ConversationId,
        first: Receipt,
        by: &By,
        asked: usize,
    ) -> Result<Done, Problem> {
        let mut receipts = vec![first];
        for at in 2..=asked {
            match self.recorded(of, &step_of(by, at)?).await? {
                Some(receipt) => receipts.push(receipt),
                None => break,
            }
        }
        Ok(Done { receipts, ..Done::default() })
    }

    /// The receipt of all steps together.
    async fn told(
        &self,
        of: ConversationId,
        done: Done,
        asked: Option<usize>,
    ) -> Result<reply::Receipt, Problem> {
        let Done { receipts, left, notes, refused } = done;
        let mut all = receipts.into_iter();
        let mut whole = all.next().expect("BUG: something was done");
        for next in all {
            let ops = [whole.ops, next.ops].concat();
            let entries = [whole.entries, next.entries].concat();
            let lifted = [whole.lifted, next.lifted].concat();
            let taken_back = sum(whole.taken_back, next.taken_back);
            let brought_back = sum(whole.brought_back, next.brought_back);
            let unchanged = whole.unchanged && next.unchanged;
            whole = Receipt { ops, entries, lifted, taken_back, brought_back, unchanged, ..next };
        }
        let mut counts = retake_wire::FileCounts::default();
        let mut any = false;
        for op in &whole.ops {
            if let Some(moved) = self.engine.store().moved(of, *op).await.map_err(store_problem)? {
                any = true;
                moved.moves.iter().for_each(|made| count(&mut counts, made));
            }
        }
        let files = (any || !left.is_empty() || !notes.is_empty()).then_some(retake_wire::FilesDone {
            counts,
            left,
            notes,
        });
        let steps = asked.map(|asked| reply::Steps { done: whole.ops.len(), asked, refused });
        Ok(reply::Receipt { steps, files, ..self.wire_receipt(&whole).await? })
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

impl Done {
    fn add(&mut self, applied: retake_engine::FilesApplied) {
        let why = |path: &PathPlan| why(&path.verdict).map(|why| format!("{}: {why}", path.path));
        self.left.extend(applied.plan.paths.iter().filter_map(why));
        self.left.extend(applied.left.iter().map(left));
        self.notes.extend(applied.notes.iter().map(note));
        self.receipts.push(applied.receipt);
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
            | Action::Mark { verb: Reason::Drop, .. }
    )
}

fn no_wish(files: &retake_wire::FilesWish, diff: bool) -> Result<(), Problem> {
    if files.is_default() && !diff {
        return Ok(());
    }
    Err(usage("this action has nothing to do with files"))
}

/// The request of a step: the first one has the id as it was given.
fn step_of(by: &By, at: usize) -> Result<By, Problem> {
    let Some(id) = by.request.as_ref().filter(|_| at > 1) else {
        return Ok(by.clone());
    };
    let id: RequestId = format!("{id}~{at}")
        .parse()
        .map_err(|_| usage("the request id is too long for several steps: 120 characters are not"))?;
    Ok(By { request: Some(id), ..by.clone() })
}

/// Whether there is simply nothing more.
fn is_end(error: &EngineError) -> bool {
    [retake_core::Refusal::NothingToUndo, retake_core::Refusal::NothingToRedo]
        .into_iter()
        .any(|end| error.message == end.to_string())
}

fn sum(one: Totals, other: Totals) -> Totals {
    Totals {
        messages: one.messages + other.messages,
        calls: one.calls + other.calls,
        turns: one.turns + other.turns,
    }
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
    Ok(FilesWish { scope, chosen, seen, stop: files.stop })
}

fn path_in(name: &retake_wire::FileName) -> Result<FilePath, Problem> {
    let bytes = match &name.path_base64 {
        Some(text) => BASE64.decode(text).map_err(|_| usage("“path_base64” is not valid base64"))?,
        None => name.path.clone().into_bytes(),
    };
    FilePath::new(&bytes).map_err(|error| usage(error.to_string()))
}

fn name(path: &FilePath) -> retake_wire::FileName {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(text) => retake_wire::FileName { path: text.to_owned(), path_base64: None },
        Err(_) => {
            let path_base64 = Some(BASE64.encode(path.as_bytes()));
            retake_wire::FileName { path: path.to_string(), path_base64 }
        }
    }
}

fn choice_in(choice: retake_wire::Choice) -> Choice {
    match choice {
        retake_wire::Choice::Disk => Choice::Disk,
        retake_wire::Choice::Yours => Choice::Yours,
        retake_wire::Choice::Checkpoint => Choice::Checkpoint,
        retake_wire::Choice::Merge => Choice::Merge,
        retake_wire::Choice::Skip => Choice::Skip,
    }
}

fn choice(choice: Choice) -> retake_wire::Choice {
    match choice {
        Choice::Disk => retake_wire::Choice::Disk,
        Choice::Yours => retake_wire::Choice::Yours,
        Choice::Checkpoint => retake_wire::Choice::Checkpoint,
        Choice::Merge => retake_wire::Choice::Merge,
        Choice::Skip => retake_wire::Choice::Skip,
    }
}

fn path_plan(path: PathPlan, calls: &HashMap<DeltaNo, EntryId>) -> retake_wire::PathPlan {
    let verdict = match &path.verdict {
        Verdict::Revert => retake_wire::Verdict::Revert,
        Verdict::Delete => retake_wire::Verdict::Delete,
        Verdict::Recreate => retake_wire::Verdict::Recreate,
        Verdict::Merge => retake_wire::Verdict::Merge,
        Verdict::Conflict(_) => retake_wire::Verdict::Conflict,
        Verdict::Unchanged => retake_wire::Verdict::Unchanged,
        Verdict::Kept => retake_wire::Verdict::Ambiguous,
        Verdict::GitHas => retake_wire::Verdict::GitHas,
        Verdict::NotEmpty => retake_wire::Verdict::NotEmpty,
        Verdict::NotCovered(_) => retake_wire::Verdict::NotCovered,
    };
    let grade = match path.grade {
        Grade::Written => retake_wire::Grade::Written,
        Grade::Seen => retake_wire::Grade::Seen,
        Grade::Ambiguous => retake_wire::Grade::Ambiguous,
    };
    let by = path.out.iter().chain(&path.into).filter_map(|no| calls.get(no)).map(ToString::to_string);
    retake_wire::PathPlan {
        name: name(&path.path),
        verdict,
        why: why(&path.verdict),
        grade,
        calls: by.collect(),
        choices: path.choices.into_iter().map(choice).collect(),
        renamed: path.renamed.map(|other| other.to_string()),
        diff: None,
    }
}

/// Why a path is left alone.
fn why(verdict: &Verdict) -> Option<String> {
    let why = match verdict {
        Verdict::Conflict(Clash::Bytes) => "somebody else has changed the same place",
        Verdict::Conflict(Clash::Mode) => "somebody else has changed its permissions too",
        Verdict::Conflict(Clash::Kind) => "somebody else has made another kind of thing of it",
        Verdict::Conflict(Clash::Removed) => "somebody else has removed it",
        Verdict::Conflict(Clash::Made) => "somebody else has made something there",
        Verdict::Conflict(Clash::Parent) => "the folder that it belongs in is none any more",
        Verdict::Kept => "it changed while several calls or a background job ran: nobody knows whose it is",
        Verdict::GitHas => "it is what git's HEAD has, which a command moved: only git goes back there",
        Verdict::NotEmpty => "somebody else has put something into it",
        Verdict::NotCovered(why) => return Some(format!("not covered: {why}")),
        Verdict::Revert | Verdict::Delete | Verdict::Recreate | Verdict::Merge | Verdict::Unchanged => {
            return None;
        }
    };
    Some(why.to_owned())
}

fn tally(plan: &mut retake_wire::FilesPlan, verdict: &Verdict) {
    let counter = match verdict {
        Verdict::Revert => &mut plan.counts.reverted,
        Verdict::Delete => &mut plan.counts.deleted,
        Verdict::Recreate => &mut plan.counts.recreated,
        Verdict::Merge => &mut plan.counts.merged,
        Verdict::Conflict(_) => &mut plan.conflicts,
        Verdict::Kept | Verdict::GitHas | Verdict::NotEmpty | Verdict::NotCovered(_) => &mut plan.left,
        Verdict::Unchanged => return,
    };
    *counter += 1;
}

/// Counts what an operation did to a path, from what is recorded of it: the same each time it is asked.
fn count(counts: &mut retake_wire::FileCounts, made: &PathMove) {
    let (before, after) = (&made.change.before, &made.change.after);
    let layers = || made.stack_before.layers().iter().chain(made.stack_after.layers());
    let counter = match (before, after) {
        _ if before == after => return,
        (_, None) => &mut counts.deleted,
        (None, Some(_)) => &mut counts.recreated,
        // What no call has left or found holds what others wrote.
        _ if layers().all(|layer| layer.before != *after && layer.after != *after) => &mut counts.merged,
        _ => &mut counts.reverted,
    };
    *counter += 1;
}

fn left(left: &Left) -> String {
    let why = match left.why {
        WhyLeft::Foreign => "somebody wrote there meanwhile",
        WhyLeft::NotEmpty => "somebody else has put something into it",
        WhyLeft::Unreachable => "its folder is gone, is a link, or is elsewhere",
    };
    let kept: Vec<String> = left.kept.iter().map(ToString::to_string).collect();
    let kept = if kept.is_empty() { String::new() } else { format!("; it is kept in {}", kept.join(", ")) };
    format!("{}: {why}{kept}", left.path)
}

fn note(note: &Note) -> String {
    let what = match note.kind {
        NoteKind::LinkBreaks => "it had other names, which keep the old content",
        NoteKind::PrivilegeGoes => "it had rights of its own, which are gone",
    };
    format!("{}: {what}", note.path)
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
