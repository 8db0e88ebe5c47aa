//! The table of request × needed grant. A request without a row does not compile. What the content of a request needs in addition
//! is here as well. Must never ask who sends a request: the check itself is the owner's.

use crate::Action;
use crate::access::{Demand, Need, Over, Right};
use crate::content::{Part, Role};
use crate::event::Follow;
use crate::request::{Create, ExportWhole, Request, RequestKind, Say};
use crate::run::{Run, RunStart};

const fn everything(right: Right) -> Need {
    Need { right, over: Over::Everything }
}

const fn named(right: Right) -> Need {
    Need { right, over: Over::Named }
}

const fn somewhere(right: Right) -> Need {
    Need { right, over: Over::Somewhere }
}

/// What a kind of request needs at least.
pub const fn need(kind: RequestKind) -> Need {
    use RequestKind as K;
    use Right::{Administer, Read, Rewind, Talk};
    match kind {
        K::Log | K::Info | K::Plan | K::Alternatives | K::Marked | K::Ops | K::Targets | K::Tree => {
            named(Read)
        }
        K::Prompt | K::CatchUp | K::Context | K::Cost | K::Waiting | K::Todo | K::Jobs | K::JobOutput => {
            named(Read)
        }
        K::Posts | K::Tools | K::Permissions | K::FilesLog | K::FilesStatus | K::FilesDiff | K::Export => {
            named(Read)
        }
        K::EarlierRequest | K::Search | K::Paths => named(Read),
        K::Say | K::Cancel | K::Unqueue | K::Respond | K::JobStop | K::Checkpoint => named(Talk),
        K::Draft | K::SetDraft | K::ClaimDraft => named(Talk),
        K::Apply | K::Edit | K::SetArchived => named(Rewind),
        K::List | K::Models => somewhere(Read),
        K::History | K::ListMemory | K::Status | K::Work => everything(Read),
        K::Create | K::Fork | K::MemoryHome | K::Remember | K::EditMemory | K::Forget => everything(Talk),
        K::DraftIn | K::SetDraftIn | K::ClaimDraftIn => everything(Talk),
        // These decide what runs on this machine, or reach beyond one conversation.
        K::Decide | K::SetPermissions => everything(Administer),
        K::ImportStart | K::ImportLines | K::ImportEnd | K::FolderPaths | K::CommandFiles => {
            everything(Administer)
        }
        K::Workspaces | K::WorkspaceShow | K::WorkspaceForget | K::WorkspacePrune => everything(Administer),
        K::McpList | K::McpTools | K::McpAdd | K::McpRemove | K::McpAllow => everything(Administer),
        K::HooksList | K::HookApprove | K::HookRevoke => everything(Administer),
        K::Outbox | K::OutboxRetry | K::OutboxDrop | K::Backup | K::Doctor | K::Stop => {
            everything(Administer)
        }
        // A gateway acts for members of chats, with their rights.
        K::GatewayConnect
        | K::Arrive
        | K::GatewayCursor
        | K::GatewayTake
        | K::GatewaySettle
        | K::GatewayHold => Need { right: Talk, over: Over::Account },
        K::Pair | K::Unpair | K::PeopleList | K::Bind | K::PlaceList => everything(Administer),
        K::TokenCreate | K::TokenList | K::TokenRevoke => everything(Administer),
    }
}

/// What a run needs at least.
pub const RUN: Need = named(Right::Talk);

/// What a subscription needs.
pub const FOLLOW: Need = named(Right::Read);

/// What a whole export needs.
pub const EXPORT_WHOLE: Need = named(Right::Read);

/// What a whole import needs.
pub const IMPORT_WHOLE: Need = everything(Right::Administer);

/// What attaching a client needs: it hands over its environment and keys.
pub const ATTACH: Need = everything(Right::Administer);

const ADMINISTER: Need = everything(Right::Administer);

impl Request {
    /// What this request needs.
    pub fn demand(&self) -> Demand<'_> {
        let need = match self {
            // A folder of this machine, a message in the name of somebody else, an erasure in all forks.
            Self::Create(Create { folder: Some(_), .. }) => ADMINISTER,
            Self::Say(say) if speaks_for_others(say) => ADMINISTER,
            Self::Apply(apply) if matches!(apply.action, Action::Erase { .. }) => ADMINISTER,
            other => need(other.into()),
        };
        Demand { need, named: self.account().or_else(|| self.conversation()) }
    }

    /// The account that a gateway's request names.
    fn account(&self) -> Option<&str> {
        Some(match self {
            Self::GatewayConnect(it) => &it.account,
            Self::Arrive(it) => &it.account,
            Self::GatewayCursor(it) => &it.account,
            Self::GatewayTake(it) => &it.account,
            Self::GatewaySettle(it) => &it.account,
            Self::GatewayHold(it) => &it.account,
            _ => return None,
        })
    }

    /// The conversation that the request names.
    pub fn conversation(&self) -> Option<&str> {
        Some(match self {
            Self::FilesStatus(it)
            | Self::Cancel(it)
            | Self::Info(it)
            | Self::ImportEnd(it)
            | Self::Todo(it) => &it.conversation,
            Self::Tools(it)
            | Self::Permissions(it)
            | Self::Waiting(it)
            | Self::Unqueue(it)
            | Self::Cost(it) => &it.conversation,
            Self::FilesLog(it) | Self::Ops(it) => &it.conversation,
            Self::Posts(it) => &it.conversation,
            Self::Fork(it) => &it.conversation,
            Self::Say(it) => &it.conversation,
            Self::Edit(it) => &it.conversation,
            Self::Plan(it) => &it.conversation,
            Self::Apply(it) => &it.conversation,
            Self::Checkpoint(it) => &it.conversation,
            Self::FilesDiff(it) => &it.conversation,
            Self::SetArchived(it) => &it.conversation,
            Self::Log(it) => &it.conversation,
            Self::Prompt(it) => &it.conversation,
            Self::Targets(it) => &it.conversation,
            Self::Alternatives(it) => &it.conversation,
            Self::Marked(it) => &it.conversation,
            Self::Tree(it) => &it.conversation,
            Self::CatchUp(it) => &it.conversation,
            Self::Export(it) => &it.conversation,
            Self::ImportLines(it) => &it.conversation,
            Self::Remember(it) => &it.conversation,
            Self::EditMemory(it) => &it.conversation,
            Self::Forget(it) => &it.conversation,
            Self::Draft(it) => &it.conversation,
            Self::SetDraft(it) => &it.conversation,
            Self::ClaimDraft(it) => &it.conversation,
            Self::Paths(it) => &it.conversation,
            Self::Decide(it) => &it.conversation,
            Self::Respond(it) => &it.conversation,
            Self::Jobs(it) => &it.conversation,
            Self::JobOutput(it) => &it.conversation,
            Self::JobStop(it) => &it.conversation,
            Self::SetPermissions(it) => &it.conversation,
            Self::Context(it) => &it.conversation,
            Self::EarlierRequest(it) => return it.conversation.as_deref(),
            Self::Search(it) => return it.conversation.as_deref(),
            _ => return None,
        })
    }
}

/// Whether a message is not simply one of its sender: another role, name, time or origin.
fn speaks_for_others(say: &Say) -> bool {
    say.role != Role::User
        || !say.author.is_empty()
        || say.synthetic
        || say.time_ms.is_some()
        || say.platform_id.is_some()
        || has_call(&say.parts)
}

/// Whether parts claim what only the owner knows: calls and results.
fn has_call(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::ToolCall { .. } | Part::ToolResult { .. }))
}

impl Run {
    /// What this run needs.
    pub fn demand(&self) -> Demand<'_> {
        let conversation = Some(self.conversation.as_str()).filter(|name| !name.is_empty());
        let need = match &self.start {
            // A command, more permissions, or a folder of this machine.
            RunStart::Exec { .. } => ADMINISTER,
            _ if self.folder.is_some() || !self.permit.is_default() => ADMINISTER,
            RunStart::Edit { .. } | RunStart::Retry { .. } | RunStart::Compact { .. } => named(Right::Rewind),
            RunStart::Command { entry: Some(_), .. } => named(Right::Rewind),
            RunStart::Say { .. } | RunStart::Command { .. } | RunStart::Answer => RUN,
        };
        Demand { need, named: conversation }
    }
}

impl Follow {
    /// What this subscription needs.
    pub fn demand(&self) -> Demand<'_> {
        Demand { need: FOLLOW, named: self.conversation.as_deref() }
    }
}

impl ExportWhole {
    /// What this export needs.
    pub fn demand(&self) -> Demand<'_> {
        Demand { need: EXPORT_WHOLE, named: Some(&self.conversation) }
    }
}
