//! Files: a call's changes are stored with its result, and an operation with its file half and its intent, each as one
//! transaction.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use retake_core::{
    Action, Capture, ChangeKind, ContentHash, ConversationId, DeltaId, DeltaLine, EntryId, FileChange,
    FilePath, GitMove, Grade, Layer, Moved, OpNo, Path, Receipt, SayRequest, Span, Stack, Time, Undecided,
    WorkspaceInfo, WorkspaceNo,
};

use super::decide::locate;
use super::erase::{ErasureTargets, elsewhere, noted};
use super::load::Loaded;
use super::{Context, Store};
use crate::error::{Result, StoreError};
use crate::files::{
    CallsSeen, CapturedCallChanges, Claim, DeltaLayers, ErasureSum, IntentRow, NeededFiles, NewCapture,
    NewDelta, OpenCall,
};
use crate::rows::{KEPT_SINCE, Key, Rows};
use target::{wanted, wanted_by};

impl Context {
    fn workspace(&mut self, row: WorkspaceInfo) -> Result<WorkspaceInfo> {
        let known = self.rows.workspaces()?;
        let same = |known: &&WorkspaceInfo| known.root == row.root && known.identity == row.identity;
        if let Some(known) = known.iter().find(same) {
            return Ok(known.clone());
        }
        let no = self.rows.insert_workspace(&row)?;
        Ok(WorkspaceInfo { no, ..row })
    }

    fn captured(&mut self, workspace: WorkspaceNo, new: NewCapture) -> Result<u64> {
        let NewCapture { time, name, changes, calls, mark, manifest } = new;
        let last = self.rows.last_capture(workspace)?;
        let row = Capture { no: last + 1, time, name, changes, manifest };
        self.rows.insert_capture(workspace, &row)?;
        self.rows.set_mark(workspace, mark)?;
        self.saw(workspace, calls)?;
        Ok(row.no)
    }

    /// Attributes changes to calls, and removes ended calls.
    fn saw(&mut self, workspace: WorkspaceNo, calls: CallsSeen) -> Result<()> {
        if !calls.owned.is_empty() {
            self.is_of_folder();
        }
        for CapturedCallChanges { conversation, entry, changes, candidates } in calls.owned {
            let loaded = self.load(conversation)?;
            let seq = loaded.key(locate(&*self.rows, &loaded, entry)?)?.seq;
            self.add_delta(&loaded, workspace, seq, changes, &candidates)?;
        }
        calls.over.iter().try_for_each(|id| self.rows.remove_call(workspace, id))
    }

    fn say_changed(&mut self, id: ConversationId, say: SayRequest, deltas: Vec<NewDelta>) -> Result<Receipt> {
        let before = self.load(id)?.conversation.head.seq;
        let receipt = self.say(id, say)?;
        let loaded = self.load(id)?;
        let after = loaded.conversation.head.seq;
        // Recorded before, together with its deltas.
        if after == before {
            return Ok(receipt);
        }
        for delta in deltas {
            self.rows.set_mark(delta.workspace, delta.mark)?;
            let (home, seq) = match delta.of {
                None => (Arc::clone(&loaded), after.0),
                Some((of, answer)) => {
                    let home = self.load(of)?;
                    let seq = home.key(locate(&*self.rows, &home, answer)?)?.seq;
                    (home, seq)
                }
            };
            self.add_delta(&home, delta.workspace, seq, delta.changes, &delta.candidates)?;
            if let Some(moved) = delta.git {
                self.add_git_move(&home, seq, delta.workspace, moved)?;
            }
            self.saw(delta.workspace, delta.calls)?;
        }
        Ok(receipt)
    }

    /// Adds the moves in git of a call. The calls of subagents share one place.
    fn add_git_move(
        &mut self,
        home: &Loaded,
        seq: u64,
        workspace: WorkspaceNo,
        moved: GitMove,
    ) -> Result<()> {
        let all = self.rows.git_moves(home.row.log)?.into_iter();
        let mut earlier = all.filter(|(at, of, _)| (*at, *of) == (seq, workspace)).map(|(.., moved)| moved);
        let moved = match earlier.next() {
            Some(earlier) => earlier.then(moved),
            None => moved,
        };
        self.rows.insert_git_move(&home.row, seq, workspace, &moved)
    }

    /// Adds the layers of a call's changes to its paths.
    fn add_delta(
        &mut self,
        loaded: &Loaded,
        workspace: WorkspaceNo,
        seq: u64,
        changes: Vec<(Grade, FileChange)>,
        candidates: &[EntryId],
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.touched(loaded.row.id, ChangeKind::Files);
        let log = loaded.row.log;
        self.finish_lists(log, Some(workspace))?;
        let delta = DeltaId { log, no: self.rows.last_delta(log)? + 1 };
        let mut paths: BTreeMap<FilePath, Vec<Layer>> = BTreeMap::new();
        for (grade, change) in changes {
            let layer = Layer { delta, grade, before: change.before, after: change.after };
            paths.entry(change.path).or_default().push(layer);
        }
        let mut layers = DeltaLayers::new();
        for (path, steps) in paths {
            let mut own = Stack::default();
            let mut stack = self.rows.layers(log, workspace, &path)?;
            for step in steps {
                own.push(step.clone());
                stack.push(step);
            }
            self.set_layers(&loaded.row, workspace, &path, &stack)?;
            layers.push((path, own.layers().to_vec()));
        }
        let paths = layers.len() as u64;
        let line = DeltaLine { id: delta, seq, workspace, paths, applied: paths };
        self.rows.insert_delta(&loaded.row, &line, &layers)?;
        for answer in candidates {
            let seq = loaded.key(locate(&*self.rows, loaded, *answer)?)?.seq;
            self.rows.insert_candidate(&loaded.row, delta, seq)?;
        }
        Ok(())
    }
}

pub(super) mod step;
mod target;

/// Whether a call has ever changed something, or still may.
pub(super) fn has_changes(rows: &dyn Rows, loaded: &Loaded) -> Result<bool> {
    let log = loaded.row.log;
    Ok(rows.last_delta(log)? > 0
        || rows.last_moved(log, None)?.is_some()
        || !rows.git_moves(log)?.is_empty()
        || rows.calls()?.iter().any(|call| call.conversation == loaded.row.id))
}

/// The entries whose deltas are all completely in the files, and those of whose deltas nothing is there.
pub(super) fn undecided_files(rows: &dyn Rows, loaded: &Loaded) -> Result<Undecided> {
    let mut applied: BTreeMap<u64, (bool, bool)> = BTreeMap::new();
    for line in rows.deltas(loaded.row.log)?.into_iter().filter(|line| line.paths > 0) {
        let (there, missing) = applied.entry(line.seq).or_insert((true, true));
        *there &= line.applied == line.paths;
        *missing &= line.applied == 0;
    }
    let depth = loaded.conversation.tree.depth();
    let those = |is: fn(&(bool, bool)) -> bool| {
        let entries = applied.iter().filter(|(_, all)| is(all)).map(|(seq, _)| *seq);
        Path::from_spans(entries.map(|seq| Span::new(depth, seq, seq)))
    };
    Ok(Undecided { there: those(|(there, _)| *there), missing: those(|(_, missing)| *missing) })
}

/// The deltas of a conversation, each with the id of its entry.
fn deltas(
    rows: &dyn Rows,
    loaded: &Loaded,
    keeps: impl Fn(&DeltaLine) -> bool,
) -> Result<Vec<(DeltaLine, EntryId)>> {
    let log = loaded.row.log;
    let lines = rows.deltas(log)?.into_iter().filter(keeps);
    lines.map(|line| Ok((line, rows.meta(Key { log, seq: line.seq })?.id))).collect()
}

impl Store {
    /// The workspace at a path; a new one if it is not known.
    pub async fn workspace(&self, root: Vec<u8>, identity: (u64, u64), now: Time) -> Result<WorkspaceInfo> {
        let row = WorkspaceInfo { no: WorkspaceNo(0), root, identity, created: now, mark: None };
        self.write(|context| context.workspace(row)).await
    }

    /// Every workspace.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceInfo>> {
        self.read(|rows| rows.workspaces()).await
    }

    /// Stores a capture; returns its number.
    pub async fn captured(&self, workspace: WorkspaceNo, capture: NewCapture) -> Result<u64> {
        self.write(move |context| context.captured(workspace, capture)).await
    }

    /// Captures, newest first.
    pub async fn captures(
        &self,
        workspace: WorkspaceNo,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Capture>> {
        self.read(move |rows| rows.captures(workspace, before, limit)).await
    }

    /// The manifests of all checkpoints, in all workspaces.
    pub async fn manifests(&self) -> Result<Vec<ContentHash>> {
        self.read(|rows| rows.manifests()).await
    }

    /// The last checkpoint with this name.
    pub async fn checkpoint(&self, workspace: WorkspaceNo, name: String) -> Result<Option<Capture>> {
        self.read(move |rows| rows.checkpoint(workspace, &name)).await
    }

    /// Records a call that may change these workspaces: a row for each.
    pub async fn begin_call(&self, call: Vec<OpenCall>) -> Result<()> {
        self.write(move |context| call.iter().try_for_each(|call| context.rows.insert_call(call))).await
    }

    /// Removes ended calls that can change nothing more in a workspace.
    pub async fn forget_calls(&self, workspace: WorkspaceNo, ids: Vec<String>) -> Result<()> {
        self.write(move |context| ids.iter().try_for_each(|id| context.rows.remove_call(workspace, id))).await
    }

    /// The calls that may change workspaces, in the order of their entries' ids.
    pub async fn open_calls(&self) -> Result<Vec<OpenCall>> {
        self.read(|rows| rows.calls()).await
    }

    /// Stores an entry together with its file changes, a delta for each workspace, and adds the layers to their paths.
    pub async fn say_changed(
        &self,
        conversation: ConversationId,
        say: SayRequest,
        deltas: Vec<NewDelta>,
    ) -> Result<Receipt> {
        self.write(move |context| context.say_changed(conversation, say, deltas)).await
    }

    /// Whether a call of a conversation has ever changed something, or still may: otherwise there is nothing to plan.
    pub async fn has_changes(&self, conversation: ConversationId) -> Result<bool> {
        self.with(conversation, has_changes).await
    }

    /// The deltas of a conversation, oldest first. Those of its parent are not its own.
    pub async fn deltas(&self, conversation: ConversationId) -> Result<Vec<(DeltaLine, EntryId)>> {
        self.with(conversation, |rows, loaded| deltas(rows, loaded, |_| true)).await
    }

    /// Of these deltas, those that the conversation knows, each with its entry.
    pub async fn deltas_of(
        &self,
        conversation: ConversationId,
        wanted: HashSet<DeltaId>,
    ) -> Result<Vec<(DeltaLine, EntryId)>> {
        self.with(conversation, move |rows, loaded| deltas(rows, loaded, |line| wanted.contains(&line.id)))
            .await
    }

    /// The layers of a delta.
    pub async fn delta(&self, conversation: ConversationId, id: DeltaId) -> Result<DeltaLayers> {
        self.with(conversation, move |rows, _| rows.delta(id)).await
    }

    /// The layers of these paths; an unchanged path has none.
    pub async fn layers(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        paths: Vec<FilePath>,
    ) -> Result<Vec<(FilePath, Stack)>> {
        self.with(conversation, move |rows, loaded| {
            let stack = |path: FilePath| Ok((path.clone(), rows.layers(loaded.row.log, workspace, &path)?));
            paths.into_iter().map(stack).collect()
        })
        .await
    }

    /// The wanted files before an entry on the path.
    pub async fn wanted_before(&self, conversation: ConversationId, entry: EntryId) -> Result<NeededFiles> {
        self.with(conversation, move |rows, loaded| {
            let pos = locate(rows, loaded, entry)?;
            let commit = loaded.conversation.before_entry(&loaded.records(rows), pos)?;
            wanted_by(rows, loaded, commit, false)
        })
        .await
    }

    /// The files that an action wants.
    pub async fn wanted(&self, conversation: ConversationId, action: Action) -> Result<NeededFiles> {
        self.with(conversation, |rows, loaded| wanted(rows, loaded, action)).await
    }

    /// Records the name of a staging folder before it is created. One at a time in a workspace.
    pub async fn preparing(&self, workspace: WorkspaceNo, staging: String) -> Result<()> {
        self.write(move |context| context.preparing(workspace, staging)).await
    }

    /// An operation's moves, in the order of the workspaces; empty if it changed no file.
    pub async fn moved(&self, conversation: ConversationId, op: OpNo) -> Result<Vec<Moved>> {
        self.with(conversation, move |rows, loaded| rows.moved(loaded.row.log, op)).await
    }

    /// The last operation before this one with file changes; without one, the last of all.
    pub async fn last_moved(
        &self,
        conversation: ConversationId,
        before: Option<OpNo>,
    ) -> Result<Option<OpNo>> {
        self.with(conversation, move |rows, loaded| rows.last_moved(loaded.row.log, before)).await
    }

    /// Operations whose files are not settled.
    pub async fn intents(&self) -> Result<Vec<IntentRow>> {
        self.read(|rows| rows.intents()).await
    }

    /// What an erasure would remove from rows about files; empty for another action. Changes nothing.
    pub async fn erasing(&self, conversation: ConversationId, action: Action) -> Result<ErasureSum> {
        self.write(move |context| match &action {
            Action::Erase { entries, matching, objects } => {
                context.erasing(conversation, &ErasureTargets::new(entries, matching.as_deref(), objects))
            }
            _ => Ok(ErasureSum::default()),
        })
        .await
    }

    /// For each other tree of forks, a conversation that contains a text or names one of these objects, and the number of such
    /// conversations.
    pub async fn elsewhere(
        &self,
        conversation: ConversationId,
        text: String,
        objects: Vec<ContentHash>,
    ) -> Result<Vec<(ConversationId, usize)>> {
        let objects = objects.into_iter().collect();
        self.read(move |rows| elsewhere(rows, conversation, &text, &objects)).await
    }

    /// Objects that erasures named, to be erased from the object store unless another row names them.
    pub async fn erased_objects(&self) -> Result<Vec<ContentHash>> {
        self.read(noted).await
    }

    /// Forgets objects that were erased there, and overwrites their names. Content of current files is left for later: the next
    /// erasure or start that finds it in no file erases it.
    pub async fn objects_erased(&self, left: Vec<ContentHash>) -> Result<()> {
        self.write(move |context| context.objects_erased(&left)).await
    }

    /// Every object that a row names, of all conversations and captures.
    pub async fn claims(&self) -> Result<Vec<Claim>> {
        self.read(|rows| rows.claims()).await
    }

    /// The number of captures before a time without a name. The last one of a workspace counts if it has changes.
    pub async fn old_captures(&self, before: Time) -> Result<u64> {
        self.read(move |rows| rows.old_captures(before)).await
    }

    /// Removes captures before a time that have no name; returns their number.
    pub async fn forget_captures(&self, before: Time) -> Result<u64> {
        self.write(move |context| context.rows.remove_captures(before)).await
    }

    /// The time since which the changes of calls and operations are kept; `None` for always.
    pub async fn kept_since(&self) -> Result<Option<Time>> {
        self.read(kept_since).await
    }

    /// Keeps them only since this time from now on.
    pub async fn keep_since(&self, since: Time) -> Result<()> {
        self.write(move |context| {
            let since = kept_since(&*context.rows)?.map_or(since, |before| before.max(since));
            context.rows.set_note(KEPT_SINCE, Some(&since.0.to_le_bytes()))
        })
        .await
    }

    /// Forgets a workspace: its captures, and the changes of calls and operations there. Messages stay.
    pub async fn forget_workspace(&self, workspace: WorkspaceNo) -> Result<()> {
        self.write(move |context| context.rows.remove_workspace(workspace)).await
    }
}

fn kept_since(rows: &dyn Rows) -> Result<Option<Time>> {
    let damaged = |_| StoreError::Damaged {
        row: "the note of how far back files are kept".into(),
        why: "it is not a valid time".into(),
    };
    let note = rows.note(KEPT_SINCE)?;
    let time = note.map(|bytes| <[u8; 8]>::try_from(bytes).map(i64::from_le_bytes).map(Time));
    time.transpose().map_err(damaged)
}
