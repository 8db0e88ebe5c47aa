//! Which requests can be sent again when no answer came.

use super::Request;

impl Request {
    /// The id of the request, of one that can have one.
    pub fn request_id(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Create(it) => Some(&mut it.request_id),
            Self::Fork(it) => Some(&mut it.request_id),
            Self::Say(it) => Some(&mut it.request_id),
            Self::Edit(it) => Some(&mut it.request_id),
            Self::Apply(it) => Some(&mut it.request_id),
            Self::ImportStart(it) => Some(&mut it.request_id),
            _ => None,
        }
    }

    /// Who holds the draft that is asked for or kept, of a request that does one of both.
    pub fn holder(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::SetDraft(it) => Some(&mut it.holder),
            Self::SetDraftIn(it) => Some(&mut it.holder),
            Self::ClaimDraft(it) => Some(&mut it.holder),
            Self::ClaimDraftIn(it) => Some(&mut it.holder),
            _ => None,
        }
    }

    /// Whether it may be sent again where nobody knows if it was done: it is done once, or changes nothing that counts.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Create(it) => it.request_id.is_some(),
            Self::Fork(it) => it.request_id.is_some(),
            Self::Say(it) => it.request_id.is_some(),
            Self::Edit(it) => it.request_id.is_some(),
            Self::Apply(it) => it.request_id.is_some(),
            Self::ImportStart(it) => it.request_id.is_some(),
            Self::SetDraft(it) => it.holder.is_some(),
            Self::SetDraftIn(it) => it.holder.is_some(),
            Self::ClaimDraft(it) => it.holder.is_some(),
            Self::ClaimDraftIn(it) => it.holder.is_some(),
            _ => self.only_reads(),
        }
    }

    /// Whether it changes nothing, so that it needs no end where nobody waits for it any more.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Fork(_)
            | Self::Say(_)
            | Self::Edit(_)
            | Self::Apply(_)
            | Self::ImportStart(_)
            | Self::Checkpoint(_)
            | Self::WorkspaceForget(_)
            | Self::WorkspacePrune(_)
            | Self::Cancel(_)
            | Self::ImportLines(_)
            | Self::ImportEnd(_)
            | Self::McpAdd(_)
            | Self::McpRemove(_)
            | Self::McpAllow(_)
            | Self::Backup(_)
            | Self::Doctor(_)
            | Self::SetDraft(_)
            | Self::SetDraftIn(_)
            | Self::ClaimDraft(_)
            | Self::ClaimDraftIn(_)
            | Self::SetArchived(_)
            | Self::Decide(_)
            | Self::Respond(_)
            | Self::JobStop(_)
            | Self::SetPermissions(_)
            | Self::Unqueue(_)
            | Self::Stop => false,
            Self::Plan(_)
            | Self::FilesLog(_)
            | Self::FilesStatus(_)
            | Self::FilesDiff(_)
            | Self::Workspaces(_)
            | Self::WorkspaceShow(_)
            | Self::Work
            | Self::List(_)
            | Self::Info(_)
            | Self::Log(_)
            | Self::Prompt(_)
            | Self::Targets(_)
            | Self::Alternatives(_)
            | Self::Marked(_)
            | Self::Ops(_)
            | Self::Tree(_)
            | Self::Search(_)
            | Self::CatchUp(_)
            | Self::Export(_)
            | Self::Models
            | Self::McpList(_)
            | Self::McpTools(_)
            | Self::History(_)
            | Self::Paths(_)
            | Self::FolderPaths(_)
            | Self::Draft(_)
            | Self::DraftIn(_)
            | Self::Todo(_)
            | Self::Jobs(_)
            | Self::JobOutput(_)
            | Self::Tools(_)
            | Self::Permissions(_)
            | Self::Waiting(_)
            | Self::Cost(_)
            | Self::Status => true,
        }
    }
}
