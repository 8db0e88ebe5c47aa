//! One arm for each request: parameters are checked, names become ids, the engine carries it out, and the result becomes a
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

impl InProcess {
    pub(crate) async fn dispatch(&self, request: Request) -> Result<Reply, Problem> {
        match request {
            Request::Create(create) => self.create(create).await,
            Request::Fork(fork) => self.fork(fork).await,
            Request::Say(say) => self.say(say).await,
            Request::Edit(edit) => self.edit(edit).await,
            Request::Plan(plan) => self.plan(plan).await,
            Request::Apply(apply) => self.apply(apply).await,
            Request::Checkpoint(it) => self.checkpoint(it).await,
            Request::FilesLog(page) => self.files_log(page).await,
            Request::FilesStatus(of) => self.files_status(&of.conversation).await,
            Request::FilesDiff(diff) => self.files_diff(diff).await,
            Request::Workspaces(page) => self.workspaces(page).await,
            Request::WorkspaceShow(of) => self.workspace_show(&of.workspace).await,
            Request::WorkspaceForget(of) => self.workspace_forget(&of.workspace).await,
            Request::WorkspacePrune(prune) => self.workspace_prune(prune.how).await,
            Request::Work => Ok(Reply::Work(files::work(self.engine.doing()))),
            Request::Cancel(of) => self.cancel(&of.conversation).await,
            Request::List(list) => self.list(list).await,
            Request::Info(of) => self.info(&of.conversation).await,
            Request::SetArchived(set) => self.set_archived(set).await,
            Request::Log(log) => self.log(log).await,
            Request::Prompt(at) => self.prompt(at).await,
            Request::Targets(targets) => self.targets(targets).await,
            Request::Alternatives(of) => self.alternatives(of).await,
            Request::Marked(marked) => self.marked(marked).await,
            Request::Ops(page) => self.ops(page).await,
            Request::EarlierRequest(it) => self.earlier_request(it).await,
            Request::Tree(of) => self.tree(of).await,
            Request::Search(search) => self.search(search).await,
            Request::CatchUp(catch_up) => self.catch_up(catch_up).await,
            Request::Export(export) => self.export(export).await,
            Request::ImportStart(start) => self.import_start(start).await,
            Request::ImportLines(lines) => self.import_lines(lines).await,
            Request::ImportEnd(of) => self.import_end(&of.conversation).await,
            Request::Models => self.models().await,
            Request::ListMemory(of) => self.list_memory(of).await,
            Request::MemoryHome(of) => self.memory_home(of).await,
            Request::Remember(it) => self.remember(it).await,
            Request::EditMemory(it) => self.edit_memory(it).await,
            Request::Forget(it) => self.forget(it).await,
            Request::CommandFiles(of) => self.command_files(of).await,
            Request::McpList(of) => self.mcp_list(of).await,
            Request::McpTools(of) => self.mcp_tools(of).await,
            Request::McpAdd(add) => self.mcp_add(add).await,
            Request::McpRemove(of) => self.mcp_remove(of).await,
            Request::HooksList(of) => self.hooks_list(of).await,
            Request::HookApprove(approve) => self.hook_approve(approve).await,
            Request::HookRevoke(revoke) => self.hook_revoke(revoke).await,
            Request::McpAllow(allow) => self.mcp_allow(allow).await,
            Request::Backup(backup) => self.backup(backup).await,
            Request::Doctor(doctor) => self.doctor(doctor).await,
            Request::History(history) => self.history(history).await,
            Request::Paths(paths) => self.paths(paths).await,
            Request::FolderPaths(paths) => self.folder_paths(paths).await,
            Request::Draft(of) => self.draft(of).await,
            Request::SetDraft(set) => self.set_draft(set).await,
            Request::DraftIn(of) => self.draft_in(of).await,
            Request::SetDraftIn(set) => self.set_draft_in(set).await,
            Request::ClaimDraft(claim) => self.claim_draft(claim).await,
            Request::ClaimDraftIn(claim) => self.claim_draft_in(claim).await,
            Request::Status => Ok(Reply::Status(self.status().await)),
            Request::Stop => self.stop(),
            Request::Outbox => self.outbox().await,
            Request::OutboxRetry(named) => self.outbox_retry(named).await,
            Request::OutboxDrop(named) => self.outbox_drop(named).await,
            of_agent => self.of_agent(of_agent).await,
        }
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
