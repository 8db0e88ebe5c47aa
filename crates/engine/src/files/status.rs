//! The differences in a folder now, their authors if known, and what captures do not cover. Must never change anything.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use futures::future::BoxFuture;

use retake_core::{
    ConversationId, DeltaId, EntryId, FileChange, FilePath, Grade, Pos, Record, Stack, Time, Uncovered,
    WorkspaceNo, calls_as_run, without_full_folders,
};
use retake_tools::processes;
use retake_worktree::{CaptureScope, KnownPath};

use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::process::command_line;

/// How many captures are searched for changes by others, and how many deltas for versions that calls left.
const LOOK_BACK: usize = 256;

/// The state of the folders of a conversation.
#[derive(Clone, Debug)]
pub struct FilesStatus {
    /// Each of them, its own first.
    pub folders: Vec<FolderStatus>,
    /// The number of rewound calls whose changes are still in the files.
    pub ahead: usize,
    /// The number of calls of the conversation whose changes are not in all their files.
    pub behind: usize,
    /// Calls whose processes still run.
    pub running: Vec<Job>,
    /// Further folders that cannot be opened, with the error.
    pub gone: Vec<(PathBuf, EngineError)>,
}

/// The state of a folder.
#[derive(Clone, Debug)]
pub struct FolderStatus {
    /// The folder.
    pub root: PathBuf,
    /// The folder; none for the conversation's own.
    pub folder: Option<PathBuf>,
    /// Changes of this conversation's calls that are in the files now.
    pub calls: Vec<ByCalls>,
    /// Other changes since the conversation began, as far as captures saw them.
    pub others: Vec<FileChange>,
    /// Paths that captures do not cover.
    pub uncovered: Vec<Uncovered>,
}

/// A path that calls have changed.
#[derive(Clone, Debug)]
pub struct ByCalls {
    /// Its version before the calls, and now.
    pub change: FileChange,
    /// The least certain of their grades.
    pub grade: Grade,
    /// Their results.
    pub calls: Vec<EntryId>,
    /// Whether somebody else has changed it since.
    pub touched: bool,
}

/// A call whose processes still run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The entry of the call.
    pub call: EntryId,
    /// Its command, or else its arguments.
    pub what: String,
    /// The number of its processes.
    pub processes: usize,
}

impl Engine {
    /// The differences in the folders of a conversation: the current ones, and those where it has changed something.
    pub fn files_status(&self, conversation: ConversationId) -> BoxFuture<'_, Result<FilesStatus>> {
        Box::pin(async move {
            let own = self.workspace(conversation).await?;
            let mut nos = vec![own.no];
            let mut status = FilesStatus {
                folders: Vec::new(),
                ahead: 0,
                behind: 0,
                running: Vec::new(),
                gone: Vec::new(),
            };
            status.folders.push(self.folder_status(own, conversation, None).await?);
            for folder in self.further_known(conversation).await? {
                match self.workspace_row_at(folder.clone()).await {
                    Ok((row, root)) => {
                        nos.push(row.no);
                        let held = self.hold(row, root, self.files.at_work().await).await?;
                        let folder = held.root.path().to_owned();
                        status.folders.push(self.folder_status(held, conversation, Some(folder)).await?);
                    }
                    Err(error) => status.gone.push((folder, error)),
                }
            }
            let snapshot = self.store().snapshot(conversation).await?;
            let (known, depth) = (snapshot.conversation(), snapshot.conversation().tree.depth());
            let (mut ahead, mut behind) = (BTreeSet::new(), BTreeSet::new());
            for (line, _) in self.store().deltas(conversation).await? {
                let pos = Pos::new(depth, line.seq);
                let wanted = known.wants_files_of(pos);
                ahead.extend((!wanted && line.applied > 0).then_some(line.seq));
                // An adopted path is the person's own and not behind.
                let kept = known.state.kept.paths.iter().filter(|path| path.entry == pos);
                let own = kept.filter(|path| path.workspace == line.workspace).count() as u64;
                behind.extend((wanted && line.applied + own < line.paths).then_some(line.seq));
            }
            (status.ahead, status.behind) = (ahead.len(), behind.len());
            status.running = self.running_calls(&nos).await?;
            Ok(status)
        })
    }

    /// The differences in one folder.
    async fn folder_status(
        &self,
        held: HeldWorkspace,
        conversation: ConversationId,
        folder: Option<PathBuf>,
    ) -> Result<FolderStatus> {
        let (held, _, uncovered) = self.capture_all(held, CaptureScope::Whole, None).await?;
        let mut entries = HashMap::new();
        let mut touched: BTreeMap<FilePath, ()> = BTreeMap::new();
        for (line, entry) in self.store().deltas(conversation).await? {
            if line.workspace != held.no {
                continue;
            }
            entries.insert(line.id, entry);
            if line.applied > 0 {
                let layers = self.store().delta(conversation, line.id).await?;
                touched.extend(layers.into_iter().map(|(path, _)| (path, ())));
            }
        }
        let stacks = self.store().layers(conversation, held.no, touched.into_keys().collect()).await?;
        let others = self.others(&held, conversation, &stacks).await?;
        let calls =
            stacks.into_iter().filter_map(|(path, stack)| by_calls(&held, path, &stack, &entries)).collect();
        Ok(FolderStatus { root: held.root.path().to_owned(), folder, calls, others, uncovered })
    }

    /// Changes by others since the conversation began, at paths that none of its calls changed.
    async fn others(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        stacks: &[(FilePath, Stack)],
    ) -> Result<Vec<FileChange>> {
        let began = self.store().snapshot(conversation).await?.created();
        let mut first: BTreeMap<FilePath, Option<Record>> = BTreeMap::new();
        for capture in self.captures_since(held.no, |time| time >= began).await? {
            first.extend(capture.changes.into_iter().map(|change| (change.path, change.before)));
        }
        for (path, _) in stacks.iter().filter(|(_, stack)| !stack.layers().is_empty()) {
            first.remove(path);
        }
        let changes = first.into_iter().filter_map(|(path, before)| {
            let after = now(held, &path)?;
            (before != after).then_some(FileChange { path, before, after })
        });
        Ok(without_full_folders(changes.collect(), |change| change))
    }

    /// Changes by others in a folder since a moment that are there now, as far as the last captures show. Versions that the
    /// conversation's calls left or its rewinds restored do not count. Without a folder, the conversation's own.
    pub async fn others_since(
        &self,
        conversation: ConversationId,
        folder: Option<PathBuf>,
        since: Time,
    ) -> Result<Vec<FilePath>> {
        let (row, root) = match folder {
            None => self.own_workspace(conversation).await?,
            Some(folder) => self.workspace_row_at(folder).await?,
        };
        // Newest first: the oldest capture has the version before, the newest one the version that they left.
        let mut changed: BTreeMap<FilePath, (Option<Record>, Option<Record>)> = BTreeMap::new();
        let captures = self.store().captures(row.no, None, LOOK_BACK).await?;
        let recent = captures.into_iter().take_while(|capture| capture.time >= since);
        for change in recent.flat_map(|capture| capture.changes) {
            changed.entry(change.path).or_insert((None, change.after)).0 = change.before;
        }
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let held = self.hold(row, root, self.files.at_work().await).await?;
        let stacks = self.store().layers(conversation, held.no, changed.keys().cloned().collect()).await?;
        let mut theirs = Vec::new();
        for (path, stack) in stacks {
            let (Some((before, left)), Some(after)) = (changed.remove(&path), now(&held, &path)) else {
                continue;
            };
            let is_ours = stack.layers().last().is_some_and(|last| last.after == after);
            if before == after || is_ours {
                continue;
            }
            theirs.push((FileChange { path, before, after }, left));
        }
        // The conversation changed it after them: that version is its own.
        let later =
            theirs.iter().filter(|(change, left)| change.after != *left).map(|(it, _)| it.path.clone());
        let known = self.found_or_left(conversation, held.no, later.collect()).await?;
        let is_known = |change: &FileChange| {
            change.after.is_none() || known.contains(&(change.path.clone(), change.after.clone()))
        };
        theirs.retain(|(change, left)| change.after == *left || !is_known(change));
        let theirs = without_full_folders(theirs, |(change, _)| change);
        Ok(theirs.into_iter().map(|(change, _)| change.path).collect())
    }

    /// The versions of these paths that calls of a conversation found or left, as far as its last deltas show.
    async fn found_or_left(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        paths: BTreeSet<FilePath>,
    ) -> Result<HashSet<(FilePath, Option<Record>)>> {
        let mut known = HashSet::new();
        if paths.is_empty() {
            return Ok(known);
        }
        let deltas = self.store().deltas(conversation).await?;
        let here = deltas.iter().rev().filter(|(line, _)| line.workspace == workspace).take(LOOK_BACK);
        for (line, _) in here {
            for (path, layers) in self.store().delta(conversation, line.id).await? {
                if paths.contains(&path) {
                    let both = layers.into_iter().flat_map(|layer| [layer.before, layer.after]);
                    known.extend(both.map(|record| (path.clone(), record)));
                }
            }
        }
        Ok(known)
    }

    /// Calls of any conversation that may change one of these workspaces and whose processes still run.
    async fn running_calls(&self, workspaces: &[WorkspaceNo]) -> Result<Vec<Job>> {
        let mut running = Vec::new();
        let mut calls = self.store().open_calls().await?;
        calls.retain(|call| workspaces.contains(&call.workspace));
        calls.dedup_by(|next, call| next.id == call.id);
        for call in calls {
            let processes = processes::alive(&call.id).len();
            if processes > 0 {
                let parts = self.store().content(call.conversation, call.entry).await?;
                let what = calls_as_run(&parts).next().map(|call| asked(call.arguments));
                running.push(Job { call: call.entry, what: what.unwrap_or_default(), processes });
            }
        }
        Ok(running)
    }
}

/// The current version of a path; `None` if it is not known.
fn now(held: &HeldWorkspace, path: &FilePath) -> Option<Option<Record>> {
    match held.tree.known(path) {
        KnownPath::Absent => Some(None),
        KnownPath::Is(record) => Some(Some(record)),
        KnownPath::NotCovered(_) => None,
    }
}

fn by_calls(
    held: &HeldWorkspace,
    path: FilePath,
    stack: &Stack,
    entries: &HashMap<DeltaId, EntryId>,
) -> Option<ByCalls> {
    let (first, last) = (stack.layers().first()?, stack.layers().last()?);
    let after = now(held, &path)?;
    let touched = last.after != after;
    let change = FileChange { path, before: first.before.clone(), after };
    let differs = change.before != change.after;
    let grade = stack.layers().iter().map(|layer| layer.grade).max()?;
    let mut calls: Vec<_> =
        stack.layers().iter().filter_map(|layer| entries.get(&layer.delta).copied()).collect();
    calls.dedup();
    differs.then_some(ByCalls { change, grade, calls, touched })
}

/// The request of a call, for people.
fn asked(arguments: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    let words = parsed.as_ref().and_then(|parsed| parsed["command"].as_array());
    let words: Option<Vec<&str>> = words.map(|words| words.iter().filter_map(|word| word.as_str()).collect());
    words.map_or_else(|| arguments.to_owned(), |words| command_line(&words))
}
