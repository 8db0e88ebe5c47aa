//! The result of a check, converted to the wire's types.

use retake_core::{Finding as Found, Repair as Repaired};
use retake_wire::reply::{Finding, Repair};

pub(crate) fn finding(of: Found) -> Finding {
    match of {
        Found::SearchIndex => Finding::SearchIndex,
        Found::Index => Finding::Index,
        Found::Pages => Finding::Pages,
        Found::Unreadable { conversation, detail } => {
            Finding::Unreadable { conversation: conversation.map(|id| id.to_string()), detail }
        }
        Found::Order(id, entry) => Finding::Order { conversation: id.to_string(), entry },
        Found::Facts(id) => Finding::Facts { conversation: id.to_string() },
        Found::StepCutShort(folder) => Finding::StepCutShort { folder },
        Found::EraseCutShort => Finding::EraseCutShort,
        Found::LostVersions { versions, conversations } => Finding::LostVersions {
            versions: versions as u64,
            conversations: conversations.iter().map(ToString::to_string).collect(),
        },
        Found::LostCaptured(versions) => Finding::LostCaptured { versions: versions as u64 },
        Found::LostCurrent(files) => Finding::LostCurrent { files: files as u64 },
    }
}

pub(crate) fn repair(of: Repaired) -> Repair {
    match of {
        Repaired::Indexes => Repair::Indexes,
        Repaired::Versions(versions) => Repair::Versions { versions: versions as u64 },
        Repaired::StepFinished(folder) => Repair::StepFinished { folder },
        Repaired::StepTakenBack(folder) => Repair::StepTakenBack { folder },
        Repaired::EraseFinished => Repair::EraseFinished,
    }
}
