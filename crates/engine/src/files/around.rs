//! Around a call: what was changed before it is not the call's, what is changed while it runs is, and is stored with its
//! result. Whatever the call does, it is written down before it begins.

use std::path::PathBuf;

use retake_core::{ConversationId, EntryId, Fact, FilePath, Grade};
use retake_store::{CallsSeen, NewDelta, OpenCall, Owned, Receipt, SayRequest, WorkspaceNo};
use retake_tools::processes;
use retake_worktree::{GitState, Known, Permission, Sweep};

use super::attribute::Attributed;
use super::git;
use super::workspace::{Held, accept, is_alive, see};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::run::Changed;

/// A call that may be changing a folder.
#[derive(Debug)]
pub(crate) struct Around {
    /// Its id, which its processes bear.
    pub(crate) id: String,
    conversation: ConversationId,
    entry: EntryId,
    workspace: WorkspaceNo,
    git: Option<GitState>,
}

/// What came of a call.
pub(crate) struct AroundEnded {
    /// Of its result.
    pub(crate) receipt: Receipt,
    /// How many files it was seen to change.
    pub(crate) changed: usize,
    /// How many of its processes live on.
    pub(crate) living: usize,
    /// Why its changes could not be seen.
    pub(crate) unseen: Option<EngineError>,
}

/// A folder just before a call.
pub(super) struct Before {
    pub(super) held: Held,
    git: Option<GitState>,
}

impl Engine {
    /// Looks at the folder before a call: what is found is somebody else's.
    pub(super) async fn before_call(&self, conversation: ConversationId, sweep: Sweep) -> Result<Before> {
        let held = self.workspace(conversation).await?;
        let (held, _) = self.capture_where(held, sweep, None).await?;
        let (held, git) = git::look(held).await?;
        Ok(Before { held, git })
    }

    /// Writes down that a call may be changing the folder from now on.
    pub(super) async fn open_call(
        &self,
        before: &mut Before,
        conversation: ConversationId,
        entry: EntryId,
        id: String,
    ) -> Result<Around> {
        let workspace = before.held.no;
        let open = OpenCall { id: id.clone(), workspace, conversation, entry };
        self.store().begin_call(open.clone()).await?;
        before.held.calls.begin(open);
        Ok(Around { id, conversation, entry, workspace, git: before.git.take() })
    }

    /// Looks at the whole folder at the beginning of a turn. Of the versions of files that these facts tell, those come back that
    /// are not there any more. What is not covered is not known.
    pub(crate) async fn changed_since(
        &self,
        conversation: ConversationId,
        read: Vec<Fact>,
    ) -> Result<Vec<Changed>> {
        let before = self.before_call(conversation, Sweep::Whole).await?;
        let changed = |fact: Fact| {
            let path = PathBuf::from(fact.key.strip_prefix("read/")?);
            let path = below(&before.held, &[path]).pop()?;
            let is_there = match before.held.tree.known(&path) {
                Known::Is(record) if record.hash().is_some_and(|hash| hash.to_string() == fact.value) => None,
                Known::Is(_) => Some(true),
                Known::Absent => Some(false),
                Known::NotCovered(_) => None,
            };
            is_there.map(|is_there| Changed { key: fact.key, is_there })
        };
        Ok(read.into_iter().filter_map(changed).collect())
    }

    /// A call is about to begin, that may change the conversation's folder.
    pub(crate) async fn call_begins(
        &self,
        conversation: ConversationId,
        entry: EntryId,
        id: String,
    ) -> Result<Around> {
        let mut before = self.before_call(conversation, Sweep::Watched).await?;
        self.open_call(&mut before, conversation, entry, id).await
    }

    /// A call never began: it has changed nothing.
    pub(super) async fn call_never_began(&self, of: &Around) -> Result<()> {
        if let Some(opened) = self.files.opened(of.workspace) {
            opened.lock().await.calls.end(&of.id, false);
        }
        Ok(self.store().forget_calls(vec![of.id.clone()]).await?)
    }

    /// Captures what a call did, and stores it with its result. What it says it wrote itself, by name, is known exactly; the
    /// rest was seen. The result is stored also where the folder can't be looked at any more.
    pub(crate) async fn call_ends(
        &self,
        of: &Around,
        written: &[PathBuf],
        mut say: SayRequest,
    ) -> Result<AroundEnded> {
        match self.call_seen(of, written, say.clone()).await? {
            Ok(ended) => Ok(ended),
            Err(unseen) => {
                let lives = is_alive(&of.id);
                if let Some(opened) = self.files.opened(of.workspace) {
                    opened.lock().await.calls.end(&of.id, lives);
                }
                remark(&mut say, &format!("\n[what it changed can't be seen: {unseen}]"));
                let receipt = self.store().say(of.conversation, say).await?;
                if !lives {
                    self.store().forget_calls(vec![of.id.clone()]).await?;
                }
                Ok(AroundEnded { receipt, changed: 0, living: 0, unseen: Some(unseen) })
            }
        }
    }

    /// The same; the inner error is that the folder can't be looked at.
    async fn call_seen(
        &self,
        of: &Around,
        written: &[PathBuf],
        say: SayRequest,
    ) -> Result<std::result::Result<AroundEnded, EngineError>> {
        let held = match self.workspace(of.conversation).await {
            Ok(held) => held,
            Err(error) => return Ok(Err(error)),
        };
        // Asked first: whatever ends while the tree is looked at may have written behind the look.
        let (mut over, living) = (held.calls.ended(is_alive), processes::alive(&of.id).len());
        let (held, capture) = match see(held, Sweep::Watched, Permission::Granted).await {
            Ok(seen) => seen,
            Err(error) => return Ok(Err(error)),
        };
        let (mut held, git) = git::look(held).await?;
        let git = of.git.as_ref().zip(git.as_ref()).and_then(|(before, after)| before.moved_to(after));
        let Attributed { owned, .. } = held.calls.attribute(&capture.findings);
        let (own, owned): (Vec<Owned>, Vec<Owned>) =
            owned.into_iter().partition(|owned| owned.entry == of.entry);
        let names = below(&held, written);
        let mut changes: Vec<_> = own.into_iter().flat_map(|own| own.changes).collect();
        for (grade, change) in &mut changes {
            if names.contains(&change.path) {
                *grade = Grade::Written;
            }
        }
        let changed = changes.len();
        over.extend((living == 0).then(|| of.id.clone()));
        let calls = CallsSeen { owned, over: over.clone() };
        let delta = NewDelta { workspace: held.no, changes, git, calls, mark: capture.mark().0 };
        // Until it is stored, what it changed is still to be found.
        held.calls.end(&of.id, true);
        let receipt = self.store().say_changed(of.conversation, say, delta).await?;
        held.calls.forget(&over);
        accept(&mut held, capture)?;
        held.called = true;
        Ok(Ok(AroundEnded { receipt, changed, living, unseen: None }))
    }
}

/// Absolute names, as paths of the folder; what is outside of it is not covered.
fn below(held: &Held, names: &[PathBuf]) -> Vec<FilePath> {
    use std::os::unix::ffi::OsStrExt as _;
    let inside = names.iter().filter_map(|name| name.strip_prefix(held.root.path()).ok());
    inside.filter_map(|name| FilePath::new(name.as_os_str().as_bytes()).ok()).collect()
}

/// Adds a remark to a result.
fn remark(say: &mut SayRequest, remark: &str) {
    for part in &mut say.parts {
        if let retake_core::Part::ToolResult { content, .. } = part {
            content.push_str(remark);
        }
    }
}
