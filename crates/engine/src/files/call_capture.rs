//! The captures around a call: changes before it are not the call's; changes during it are, and are stored with its result. The
//! call is recorded before it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retake_core::{
    ConversationId, EntryId, Fact, FileChange, FilePath, GitFile, Grade, Receipt, SayRequest,
    UncoveredReason, WorkspaceNo, without_full_folders,
};
use retake_store::{CallsSeen, CapturedCallChanges, NewDelta, OpenCall};
use retake_tools::processes;
use retake_worktree::{Capture, CaptureScope, GitState, KnownPath, Permission};

use super::attribution::Attributed;
use super::conversation_folders::{HeldWorkspaces, shown_in};
use super::git;
use super::git_hooks::{self, Change, HooksAndSettings, shown};
use super::note;
use super::uncaptured::{self, CaptureFailure, UncoveredPaths, UnseenReason};
use super::workspace::{HeldWorkspace, accept, is_alive, see};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::notice::Notice;
use crate::run::Changed;

/// A call that may change folders.
#[derive(Debug)]
pub(crate) struct CapturedCall {
    /// Its id, which marks its processes.
    pub(crate) id: String,
    /// The conversation that gets its result.
    conversation: ConversationId,
    /// The conversation and the answer that its changes belong to.
    of: (ConversationId, EntryId),
    /// Its folders, with the state of each repository before the call.
    places: Vec<(WorkspaceNo, Option<GitState>)>,
    /// The conversation's own folder.
    own: WorkspaceNo,
    /// What captures did not cover there, before the call.
    outside: Vec<(WorkspaceNo, UncoveredPaths)>,
    /// The hooks and settings of git there, before the call.
    planted: Vec<(WorkspaceNo, HooksAndSettings)>,
    /// Paths that the sandbox keeps read-only, beside the folders' own repositories: other repositories, settings, and
    /// set-uid or set-gid programs.
    pub(crate) held: Vec<PathBuf>,
    /// Further folders that could not be captured, with the error: the call must change nothing there.
    pub(crate) lost: Vec<(PathBuf, EngineError)>,
}

/// The result of a call with its captures.
pub(crate) struct CapturedCallEnd {
    /// The receipt of its result.
    pub(crate) receipt: Receipt,
    /// The number of files that it changed.
    pub(crate) changed: usize,
    /// The number of its processes that still run.
    pub(crate) living: usize,
    /// Its changes of hooks and settings of git.
    pub(crate) git_files: GitFilesChanged,
    /// Why some of its changes could not be captured.
    pub(crate) unseen: Option<EngineError>,
}

/// Folders just before a call.
pub(super) struct FoldersBeforeCall {
    pub(super) held: HeldWorkspaces,
    places: Vec<(WorkspaceNo, Option<GitState>)>,
    outside: Vec<(WorkspaceNo, UncoveredPaths)>,
    planted: Vec<(WorkspaceNo, HooksAndSettings)>,
    kept: Vec<PathBuf>,
    lost: Vec<(PathBuf, EngineError)>,
}

/// A folder just after a call, captured and not yet accepted.
struct FolderAfterCall {
    held: HeldWorkspace,
    capture: Capture,
    /// The names of calls without running processes.
    over: Vec<String>,
    delta: NewDelta,
    /// Changes that captures do not cover, with the reason.
    uncovered: Vec<(String, UncoveredReason)>,
    /// Changes of hooks and settings of git.
    planted: Vec<(String, Change)>,
    /// The same, for files that captures cover.
    captured: Vec<(String, GitFile)>,
}

impl Engine {
    /// Captures the conversation's folder and these further ones before a call: changes until now are not the call's. A further
    /// folder that cannot be captured is left out and reported.
    pub(super) async fn before_call(
        &self,
        conversation: ConversationId,
        further: &[PathBuf],
        sweep: CaptureScope,
    ) -> Result<FoldersBeforeCall> {
        let own = self.own_workspace(conversation).await?;
        let (no, mut lost) = (own.0.no, Vec::new());
        let mut rows = vec![(None, own)];
        for folder in further {
            match self.workspace_row_at(folder.clone()).await {
                Ok(row) => rows.push((Some(folder.clone()), row)),
                Err(error) => lost.push((folder.clone(), error)),
            }
        }
        rows.sort_by_key(|(_, (row, _))| row.no);
        rows.dedup_by_key(|(_, (row, _))| row.no);
        let (folders, rows): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|(folder, row)| (folder, Ok(row))).unzip();
        let (mut all, mut places, mut outside, mut planted, mut kept) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (folder, held) in folders.into_iter().zip(self.hold_each(rows).await) {
            let looked = match held {
                Ok(held) => self.capture_all(held, sweep.clone(), None).await,
                Err(error) => Err(error),
            };
            let (held, uncovered) = match (looked, folder) {
                (Ok((held, _, uncovered)), _) => (held, uncovered),
                (Err(error), None) => return Err(error),
                (Err(error), Some(folder)) => {
                    lost.push((folder, error));
                    continue;
                }
            };
            let (held, git) = git::look(held).await?;
            let (held, out) = UncoveredPaths::of(held, uncovered).await?;
            let (mut held, own) = git_hooks::before_call(held).await?;
            kept.extend(held.hooks.seen.held(&held.made));
            kept.extend(held.programs());
            planted.push((held.no, own));
            places.push((held.no, git));
            outside.push((held.no, out));
            all.push(held);
        }
        Ok(FoldersBeforeCall { held: HeldWorkspaces { own: no, all }, places, outside, planted, kept, lost })
    }

    /// Records that a call may change the folders from now on.
    pub(super) async fn open_call(
        &self,
        before: &mut FoldersBeforeCall,
        conversation: ConversationId,
        of: (ConversationId, EntryId),
        id: String,
    ) -> Result<CapturedCall> {
        let open = |held: &HeldWorkspace| OpenCall {
            id: id.clone(),
            workspace: held.no,
            conversation: of.0,
            entry: of.1,
        };
        self.store().begin_call(before.held.all.iter().map(open).collect()).await?;
        for held in &mut before.held.all {
            let open = open(held);
            held.calls.begin(open);
        }
        Ok(CapturedCall {
            id,
            conversation,
            of,
            places: std::mem::take(&mut before.places),
            own: before.held.own,
            outside: std::mem::take(&mut before.outside),
            planted: std::mem::take(&mut before.planted),
            held: std::mem::take(&mut before.kept),
            lost: std::mem::take(&mut before.lost),
        })
    }

    /// Captures the folders completely at the beginning of a turn. Returns those of these facts' file versions that are no
    /// longer there, and the further folders that cannot be captured. Nothing is known of files that captures do not cover.
    pub(crate) async fn changed_since(
        &self,
        conversation: ConversationId,
        further: &[PathBuf],
        read: Vec<Fact>,
    ) -> Result<(Vec<Changed>, Vec<(PathBuf, EngineError)>)> {
        let before = self.before_call(conversation, further, CaptureScope::Whole).await?;
        let changed = |fact: Fact| {
            let named = [PathBuf::from(fact.key.strip_prefix("read/")?)];
            let found = before.held.all.iter().find_map(|held| Some((held, below(held, &named).pop()?)));
            let (held, path) = found?;
            let is_there = match held.tree.known(&path) {
                KnownPath::Is(record) if record.hash().is_some_and(|hash| hash.to_string() == fact.value) => {
                    None
                }
                KnownPath::Is(_) => Some(true),
                KnownPath::Absent => Some(false),
                KnownPath::NotCovered(_) => None,
            };
            is_there.map(|is_there| Changed { key: fact.key, is_there })
        };
        let changed = read.into_iter().filter_map(changed).collect();
        Ok((changed, before.lost))
    }

    /// Begins a call that may change the conversation's folder and these further ones. Its changes belong to the conversation and
    /// the answer `of`.
    pub(crate) async fn call_begins(
        &self,
        conversation: ConversationId,
        further: &[PathBuf],
        of: (ConversationId, EntryId),
        id: String,
    ) -> Result<CapturedCall> {
        let mut before = self.before_call(conversation, further, CaptureScope::Watched).await?;
        self.open_call(&mut before, conversation, of, id).await
    }

    /// Forgets a call that did not begin: it has changed nothing.
    pub(crate) async fn call_never_began(&self, of: &CapturedCall) -> Result<()> {
        let all: Vec<WorkspaceNo> = of.places.iter().map(|(no, _)| *no).collect();
        self.over_unseen(of, &all, false).await
    }

    /// Ends a call in these workspaces without a capture.
    async fn over_unseen(&self, of: &CapturedCall, workspaces: &[WorkspaceNo], lives: bool) -> Result<()> {
        for no in workspaces {
            if let Some(opened) = self.files.opened(*no) {
                opened.lock().await.calls.end(&of.id, lives);
            }
            if !lives {
                self.store().forget_calls(*no, vec![of.id.clone()]).await?;
            }
        }
        Ok(())
    }

    /// Captures the changes of a call, and stores them with its result, a delta for each folder. Files that the call reports as
    /// written have the grade written, others seen. The result is stored even if a folder cannot be captured any more.
    pub(crate) async fn call_ends(
        &self,
        of: &CapturedCall,
        written: &[PathBuf],
        mut say: SayRequest,
    ) -> Result<CapturedCallEnd> {
        // Checked first: a process that ends during the capture may have written behind it.
        let living = processes::alive(&of.id).len();
        let (mut after, mut unseen, mut blind, mut whys) = (Vec::new(), None, Vec::new(), Vec::new());
        let held = self.held_again(of).await?;
        for (no, held) in held {
            let looked = match held {
                Ok(held) => self.after_call(of, written, held, living).await,
                Err(error) => Err(error),
            };
            match looked {
                Ok(looked) => after.push(looked),
                Err(error) => {
                    remark(&mut say, &format!("\n[what it changed can't be seen: {error}]"));
                    whys.push(CaptureFailure { code: Some(error.code.to_owned()), why: error.to_string() });
                    unseen.get_or_insert(error);
                    blind.push(no);
                }
            }
        }
        let uncovered: Vec<_> = after
            .iter_mut()
            .flat_map(|after: &mut FolderAfterCall| std::mem::take(&mut after.uncovered))
            .collect();
        let planted =
            self.planted(&of.id, after.iter_mut().flat_map(|after| std::mem::take(&mut after.planted)));
        let captured: Vec<_> =
            after.iter_mut().flat_map(|after| std::mem::take(&mut after.captured)).collect();
        let git_files = GitFilesChanged { stay: planted.clone(), covered: captured };
        if let Some(told) = git_files.told() {
            remark(&mut say, &format!("\n[{told}]"));
        }
        let planted = planted.into_iter().map(|(path, how)| (path, UnseenReason::GitFile(how)));
        let uncovered = uncovered.into_iter().map(|(path, why)| (path, UnseenReason::NotCovered(why)));
        let uncovered: Vec<_> = planted.chain(uncovered).collect();
        uncaptured::note(&mut say, &uncovered, &whys);
        let changed = after.iter().map(|after| counted(&after.delta)).sum();
        // Until the result is stored, its changes must still be found.
        after.iter_mut().for_each(|after| after.held.calls.end(&of.id, true));
        let deltas = after.iter().map(|after| after.delta.clone()).collect();
        let receipt = self.store().say_changed(of.conversation, say, deltas).await?;
        for FolderAfterCall { mut held, capture, over, .. } in after {
            held.calls.forget(&over);
            accept(&mut held, capture)?;
            held.called = true;
        }
        self.over_unseen(of, &blind, living > 0).await?;
        let living = if unseen.is_some() { 0 } else { living };
        Ok(CapturedCallEnd { receipt, changed, living, git_files, unseen })
    }

    /// Holds the folders of a call again, or returns the error of each one that cannot be held.
    async fn held_again(&self, of: &CapturedCall) -> Result<Vec<(WorkspaceNo, Result<HeldWorkspace>)>> {
        let known = self.store().workspaces().await?;
        let mut rows = Vec::new();
        for (no, _) in &of.places {
            rows.push(match known.iter().find(|row| row.no == *no) {
                Some(row) => self.root_of(row).await.map(|root| (row.clone(), root)),
                None => {
                    let error = EngineError::new(
                        Kind::NotFound,
                        "unknown_workspace",
                        "the workspace of the conversation is forgotten",
                    );
                    Err(error.with("what", "forgotten"))
                }
            });
        }
        let held = self.hold_each(rows).await;
        Ok(of.places.iter().map(|(no, _)| *no).zip(held).collect())
    }

    /// Captures one folder after a call with this number of running processes.
    async fn after_call(
        &self,
        of: &CapturedCall,
        written: &[PathBuf],
        held: HeldWorkspace,
        living: usize,
    ) -> Result<FolderAfterCall> {
        let mut over = held.calls.ended(is_alive);
        let (held, mut capture) = see(held, CaptureScope::Watched, Permission::Granted).await?;
        let (held, now) = UncoveredPaths::of(held, std::mem::take(&mut capture.uncovered)).await?;
        let outside = of.outside.iter().find(|(no, _)| *no == held.no).map(|(_, outside)| outside);
        let folder = (held.no != of.own).then(|| held.root.path());
        let uncovered = outside.map(|outside| outside.changed(&now)).unwrap_or_default().into_iter();
        let uncovered = uncovered.map(|(path, why)| (shown_in(folder, &path), why)).collect();
        let (held, git) = git::look(held).await?;
        let (mut held, now) = git_hooks::look(held).await?;
        let before = of.planted.iter().find(|(no, _)| *no == held.no).map(|(_, planted)| planted);
        let changes = before.map(|before| before.changed(&now)).unwrap_or_default();
        held.made.extend(before.map(|before| now.came(before)).unwrap_or_default());
        held.hooks.reported = now;
        held.lingers = living > 0 || held.calls.linger(&over);
        let own = held.no == of.own;
        // Files that captures cover are reverted by a rewind.
        let (captured, planted): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| is_covered(&held, &change.path));
        let captured = captured.iter().map(|it| (shown(&held, own, it), it.file(None))).collect();
        let planted = planted.into_iter().map(|change| (shown(&held, own, &change), change)).collect();
        let before = of.places.iter().find(|(no, _)| *no == held.no).and_then(|(_, git)| git.as_ref());
        let git = before.zip(git.as_ref()).and_then(|(before, after)| before.moved_to(after));
        let Attributed { owned, .. } = held.calls.attribute(&capture.findings);
        let (own, owned): (Vec<CapturedCallChanges>, Vec<CapturedCallChanges>) =
            owned.into_iter().partition(|owned| (owned.conversation, owned.entry) == of.of);
        let names = below(&held, written);
        let candidates = own.first().map(|own| own.candidates.clone()).unwrap_or_default();
        let mut changes: Vec<_> = own.into_iter().flat_map(|own| own.changes).collect();
        for (grade, change) in &mut changes {
            if names.contains(&change.path) {
                *grade = Grade::Written;
            }
        }
        over.extend((living == 0).then(|| of.id.clone()));
        let calls = CallsSeen { owned, over: over.clone() };
        let of = (of.of.0 != of.conversation).then_some(of.of);
        let mark = capture.mark().0;
        let delta = NewDelta { workspace: held.no, changes, candidates, of, git, calls, mark };
        Ok(FolderAfterCall { held, capture, over, delta, uncovered, planted, captured })
    }
}

/// Converts absolute names to paths of the folder; a path outside of it is not covered.
fn below(held: &HeldWorkspace, names: &[PathBuf]) -> Vec<FilePath> {
    use std::os::unix::ffi::OsStrExt as _;
    let inside = names.iter().filter_map(|name| name.strip_prefix(held.root.path()).ok());
    inside.filter_map(|name| FilePath::new(name.as_os_str().as_bytes()).ok()).collect()
}

/// At most so many changes of git's own files are reported for one call.
const MOST_REPORTED: usize = 4;

/// A call's changes of hooks and settings of git, by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct GitFilesChanged {
    /// Changes that a rewind leaves as they are.
    pub(crate) stay: Vec<(String, GitFile)>,
    /// Changes of files that captures cover.
    pub(crate) covered: Vec<(String, GitFile)>,
}

impl GitFilesChanged {
    /// The notices for the person.
    pub(crate) fn notices(self) -> impl Iterator<Item = Notice> {
        let first = |mut files: Vec<(String, GitFile)>| {
            let more = files.len().saturating_sub(MOST_REPORTED);
            files.truncate(MOST_REPORTED);
            (!files.is_empty()).then_some((files, more))
        };
        let stay = first(self.stay).map(|(files, more)| Notice::GitFilesChanged(files, more));
        let covered = first(self.covered).map(|(files, more)| Notice::CoveredGitFilesChanged(files, more));
        stay.into_iter().chain(covered)
    }

    /// The sentence for the model, in the result of the call.
    pub(crate) fn told(&self) -> Option<String> {
        let list = |all: &[(String, GitFile)], words: fn(&GitFile) -> String| {
            let more = all.len().saturating_sub(MOST_REPORTED);
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            let shown: Vec<_> = all
                .iter()
                .take(MOST_REPORTED)
                .map(|(path, how)| format!("{path} ({})", words(how)))
                .collect();
            (!all.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
        };
        let stay = list(&self.stay, note::told).map(|list| {
            format!(
                "while it ran, hooks or settings of git were changed, and a rewind does not undo that: {list}"
            )
        });
        let covered = list(&self.covered, note::said)
            .map(|list| format!("files that git runs or reads as settings were changed: {list}"));
        let told: Vec<String> = stay.into_iter().chain(covered).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// Whether captures cover a path.
fn is_covered(held: &HeldWorkspace, path: &Path) -> bool {
    let is_git = path.components().any(|name| name.as_os_str().eq_ignore_ascii_case(".git"));
    let below = below(held, &[path.to_owned()]).pop().filter(|_| !is_git);
    below.is_some_and(|path| !matches!(held.tree.known(&path), KnownPath::NotCovered(_)))
}

/// Adds a remark to a result.
fn remark(say: &mut SayRequest, remark: &str) {
    for part in &mut say.parts {
        if let retake_core::Part::ToolResult { content, .. } = part {
            content.push_str(remark);
        }
    }
}

/// The number of files that a delta changed. A folder that came or went with its files does not count.
fn counted(delta: &NewDelta) -> usize {
    let mut last: BTreeMap<&FilePath, FileChange> = BTreeMap::new();
    for (_, change) in &delta.changes {
        last.entry(&change.path).or_insert_with(|| change.clone()).after.clone_from(&change.after);
    }
    without_full_folders(last.into_values().collect(), |change| change).len()
}
