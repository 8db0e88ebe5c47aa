//! One row for each request: parameters are checked, names become ids, the engine carries it out, and the result becomes a
//! reply. It must never decide what a request does.

mod agent;
mod changes;
mod chat;
mod commands;
mod composer;
mod erase;
mod files;
mod folders;
mod hooks;
mod mcp;
mod memory;
mod outbox;
mod owner;
mod reads;
mod steps;
mod tokens;
mod transfer;

use std::path::{Path, PathBuf};

use retake_core::{BadId, ConversationId, EntryId, Head, RequestId};
use retake_wire::request::LARGEST_PAGE;
use retake_wire::{Problem, Reply, Request};

pub(crate) use reads::ConversationExtras;

use crate::InProcess;
use crate::convert::{misused, problem};
use crate::log;

/// The size of a page: the requested one, or the usual one.
fn limit(asked: Option<usize>, usual: usize) -> Result<usize, Problem> {
    match asked.unwrap_or(usual) {
        limit @ 1..=LARGEST_PAGE => Ok(limit),
        other => Err(misused(
            "page_size",
            &[
                ("parameter", "limit".into()),
                ("count", other.into()),
                ("least", 1.into()),
                ("most", LARGEST_PAGE.into()),
            ],
        )),
    }
}

/// The first items of a list, and whether there are more.
fn page<T>(all: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut page: Vec<T> = all.take(limit.saturating_add(1)).collect();
    let more = page.len() > limit;
    page.truncate(limit);
    (page, more)
}

/// A match with an arm for each request: `Variant: handler` for those with fields, and written arms for the others. It has no arm for
/// the rest, so that a request without a handler does not compile.
macro_rules! handled {
    ($self:ident, $request:ident, { $($variant:ident: $handler:ident,)* } { $($arms:tt)* }) => {
        match $request {
            $(Request::$variant(it) => $self.$handler(it).await,)*
            $($arms)*
        }
    };
}

impl InProcess {
    pub(crate) async fn dispatch(&self, request: Request) -> Result<Reply, Problem> {
        handled! { self, request, {
            Create: create, Fork: fork, Say: say, Edit: edit, Plan: plan, Apply: apply,
            Checkpoint: checkpoint, FilesLog: files_log, FilesStatus: files_status,
            FilesDiff: files_diff, Workspaces: workspaces, WorkspaceShow: workspace_show,
            WorkspaceForget: workspace_forget, WorkspacePrune: workspace_prune, Cancel: cancel,
            List: list, Info: info, SetArchived: set_archived, Log: log, Prompt: prompt,
            Targets: targets, Alternatives: alternatives, Marked: marked, Ops: ops,
            EarlierRequest: earlier_request, Tree: tree, Search: search, CatchUp: catch_up,
            Export: export, ImportStart: import_start, ImportLines: import_lines,
            ImportEnd: import_end, ListMemory: list_memory, MemoryHome: memory_home,
            Remember: remember, EditMemory: edit_memory, Forget: forget, CommandFiles: command_files,
            McpList: mcp_list, McpTools: mcp_tools, McpAdd: mcp_add, McpRemove: mcp_remove,
            HooksList: hooks_list, HookApprove: hook_approve, HookRevoke: hook_revoke,
            McpAllow: mcp_allow, Backup: backup, Doctor: doctor, History: history, Paths: paths,
            FolderPaths: folder_paths, Draft: draft, SetDraft: set_draft, DraftIn: draft_in,
            SetDraftIn: set_draft_in, ClaimDraft: claim_draft, ClaimDraftIn: claim_draft_in,
            OutboxRetry: outbox_retry, OutboxDrop: outbox_drop,
            Decide: decide, Respond: respond, Todo: todo, Jobs: jobs, JobOutput: job_output,
            JobStop: job_stop, Tools: tools, Permissions: permissions, SetPermissions: set_permissions,
            Waiting: waiting, Unqueue: unqueue, Context: context, Cost: cost,
            GatewayConnect: gateway_connect, Arrive: arrive, GatewayCursor: gateway_cursor,
            GatewayTake: gateway_take, GatewaySettle: gateway_settle, GatewayHold: gateway_hold,
            Pair: pair, Unpair: unpair, Bind: bind, Posts: posts, TokenCreate: token_create,
            TokenRevoke: token_revoke,
        } {
            Request::Work => Ok(Reply::Work(files::work(self.engine.doing()))),
            Request::Models => self.models().await,
            Request::Status => Ok(Reply::Status(self.status().await)),
            Request::Stop => self.stop(),
            Request::Outbox => self.outbox().await,
            Request::PeopleList => self.people_list().await,
            Request::PlaceList => self.place_list().await,
            Request::TokenList => self.token_list().await,
        } }
    }

    /// The conversation with this name.
    pub(crate) async fn conversation(&self, name: &str) -> Result<ConversationId, Problem> {
        let conversation = self.readable_conversation(name).await?;
        log::names(&conversation);
        Ok(conversation)
    }

    /// The entry with this name.
    pub(crate) async fn entry(&self, conversation: ConversationId, name: &str) -> Result<EntryId, Problem> {
        self.engine.entry(conversation, name).await.map_err(problem)
    }

    /// The entry with this name, if one is given.
    pub(crate) async fn entry_if(
        &self,
        conversation: ConversationId,
        name: Option<&str>,
    ) -> Result<Option<EntryId>, Problem> {
        match name {
            Some(name) => self.entry(conversation, name).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The head with this name.
pub(crate) fn head(text: &str) -> Result<Head, Problem> {
    text.parse().map_err(|_: BadId| misused("head", &[("name", text.into())]))
}

/// A folder's absolute path.
fn absolute(name: &str) -> Result<PathBuf, Problem> {
    let bad = |what| misused(what, &[("path", name.into())]);
    match Path::new(name) {
        _ if name.contains('\0') => Err(bad("folder_with_zero_byte")),
        path if path.is_absolute() => Ok(path.to_owned()),
        _ => Err(bad("folder_not_absolute")),
    }
}

/// The folder for a new conversation, from its given name.
fn works_in(folder: Option<String>) -> Result<Option<String>, Problem> {
    folder.map(from_root).transpose()
}

/// A folder's name, which must be absolute.
fn from_root(name: String) -> Result<String, Problem> {
    absolute(&name).map(|_| name)
}

/// The id of a request.
pub(crate) fn request_id(text: &str) -> Result<RequestId, Problem> {
    text.parse().map_err(|_: BadId| misused("request_id", &[("name", text.into())]))
}
