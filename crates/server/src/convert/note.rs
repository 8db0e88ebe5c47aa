//! Notes of the engine as conditions.

use retake_core::{GitRemark, Reason};
use retake_engine::{GitFileChange, GitFileRole, Note};
use retake_wire::{Condition, MarkCount, MarkVerb};

/// The condition of a note.
pub(crate) fn note(of: Note) -> Condition {
    match of {
        Note::Adopted { files } => Condition::Adopted { files: files as u64 },
        Note::Returned { files } => Condition::Returned { files: files as u64 },
        Note::MarksStay { head, marks, back } => Condition::MarksStay {
            head: head.to_string(),
            marks: marks
                .into_iter()
                .map(|(mark, messages)| MarkCount { mark: mark.name().to_owned(), messages })
                .collect(),
            verbs: back.into_iter().filter_map(verb).collect(),
        },
        Note::OfParent { parent, files, named, turn } => {
            Condition::OfParent { parent: parent.to_string(), files: files as u64, named, turn }
        }
        Note::InFolder { folder, note: it } => {
            Condition::InFolder { folder: folder.display().to_string(), condition: Box::new(note(*it)) }
        }
        Note::FolderGone { folder, is_missing } => {
            Condition::FolderGone { folder: folder.display().to_string(), missing: is_missing }
        }
        Note::HardLink { path, all_change } => Condition::HardLink { path, all_change },
        Note::LinesStay { path, from } => Condition::LinesStay { path, from },
        Note::Git(remark) => git(remark),
        Note::RepositoryMoved { from, folder, command } => {
            Condition::RepositoryMoved { from, folder, command }
        }
        Note::RepositoryUncertain { from, folder } => Condition::RepositoryUncertain { from, folder },
        Note::Submodule { folder, command } => Condition::Submodule { folder, command },
        Note::Repository { folder } => Condition::Repository { folder },
        Note::GitFile { path, change, role, command } => {
            Condition::GitFile { path, change: git_change(change), role: git_role(role), command }
        }
    }
}

fn git(remark: GitRemark) -> Condition {
    match remark {
        GitRemark::Repository => Condition::GitRepositoryMade,
        GitRemark::Head { at, command } => {
            Condition::GitHead { branch: at.branch, commit: at.commit, command }
        }
        GitRemark::BranchMade { branch, is_only_name, is_head, command } => {
            Condition::GitBranchMade { branch, only_name: is_only_name, head: is_head, command }
        }
        GitRemark::BranchRemoved { branch, command } => Condition::GitBranchRemoved { branch, command },
        GitRemark::BranchMoved { branch, command } => Condition::GitBranchMoved { branch, command },
        GitRemark::Stash => Condition::GitStash,
        GitRemark::Staged => Condition::GitStaged,
        GitRemark::WorktreeMade { folder, command } => Condition::GitWorktreeMade { folder, command },
        GitRemark::WorktreeMoved { from, folder, command } => {
            Condition::GitWorktreeMoved { from, folder, command }
        }
        GitRemark::WorktreeHead { folder, command } => Condition::GitWorktreeHead { folder, command },
        GitRemark::WorktreeRemoved { folder, command } => Condition::GitWorktreeRemoved { folder, command },
    }
}

fn git_change(change: GitFileChange) -> retake_wire::GitFileChange {
    match change {
        GitFileChange::New => retake_wire::GitFileChange::New,
        GitFileChange::Changed => retake_wire::GitFileChange::Changed,
        GitFileChange::Removed => retake_wire::GitFileChange::Removed,
    }
}

fn git_role(role: GitFileRole) -> retake_wire::GitFileRole {
    match role {
        GitFileRole::Hook => retake_wire::GitFileRole::Hook,
        GitFileRole::Settings => retake_wire::GitFileRole::Settings,
        GitFileRole::Rebase => retake_wire::GitFileRole::Rebase,
    }
}

/// The verb that marks messages, of a reason that does.
fn verb(reason: Reason) -> Option<MarkVerb> {
    match reason {
        Reason::Hide => Some(MarkVerb::Hide),
        Reason::Show => Some(MarkVerb::Show),
        Reason::Exclude => Some(MarkVerb::Exclude),
        Reason::Include => Some(MarkVerb::Include),
        Reason::Drop => Some(MarkVerb::Drop),
        _ => None,
    }
}
