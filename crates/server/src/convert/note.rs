//! Notes of the engine, converted to conditions.

use retake_core::{FactsChanged, GitFile, GitFileChange, GitFileRole, GitRemark, PutBack, Reason};
use retake_engine::{FolderRemark as Remark, NotOpened, Note};
use retake_wire::{
    Condition, FolderRemark, MarkCount, MarkVerb, NoticeCause, Problem, Remedy, UncoveredCause,
};

use super::{named, with_sentence};

/// The condition of a note.
pub(crate) fn note(of: Note) -> Condition {
    match of {
        Note::Adopted { files } => Condition::Adopted { files: files as u64 },
        Note::Returned { files } => Condition::Returned { files: files as u64 },
        Note::MarksStay { head, marks, back } => Condition::MarksStay {
            head: head.to_string(),
            marks: marks
                .into_iter()
                .map(|(mark, messages)| MarkCount { mark: super::mark(mark), messages })
                .collect(),
            verbs: back.into_iter().filter_map(verb).collect(),
        },
        Note::OfParent { parent, files, named, turn } => {
            Condition::OfParent { parent: parent.to_string(), files: files as u64, named, turn }
        }
        Note::InFolder { folder, remark } => Condition::InFolder {
            folder: folder.map(|folder| folder.display().to_string()),
            remark: in_folder(remark),
        },
        Note::FolderGone { folder, why: None } => Condition::FolderGone {
            folder: folder.display().to_string(),
            missing: true,
            cause: None,
            why: None,
        },
        Note::FolderGone { folder, why: Some(NotOpened { code, message, why, fields }) } => {
            Condition::FolderGone {
                folder: folder.display().to_string(),
                missing: false,
                cause: Some(NoticeCause::from(with_sentence(Problem {
                    code: code.into(),
                    fields: named(fields),
                    causes: Some(why.clone()).filter(|why| *why != message).into_iter().collect(),
                    message,
                    ..Problem::default()
                }))),
                why: Some(why),
            }
        }
    }
}

/// The condition of a change of the facts that count; none without one.
pub(crate) fn facts(of: FactsChanged) -> Option<Condition> {
    let FactsChanged { gone, came } = of;
    (of != FactsChanged::default()).then_some(Condition::MemoryChanges { gone, came })
}

fn in_folder(of: Remark) -> FolderRemark {
    match of {
        Remark::HardLink { path, all_change } => FolderRemark::HardLink { path, all_change },
        Remark::LinesStay { path, from } => FolderRemark::LinesStay { path, from },
        Remark::Git(remark) => git(remark),
        Remark::RepositoryMoved { from, folder, command } => {
            FolderRemark::RepositoryMoved { from, folder, command }
        }
        Remark::RepositoryUncertain { from, folder } => FolderRemark::RepositoryUncertain { from, folder },
        Remark::Submodule { folder, command } => FolderRemark::Submodule { folder, command },
        Remark::Repository { folder } => FolderRemark::Repository { folder },
        Remark::GitFile { path, file: GitFile { change, role, back, command } } => FolderRemark::GitFile {
            path,
            change: git_change(change),
            role: git_role(role),
            remedy: back.map(put_back),
            command,
        },
    }
}

fn git(remark: GitRemark) -> FolderRemark {
    match remark {
        GitRemark::Repository => FolderRemark::GitRepositoryMade,
        GitRemark::Head { at, command } => {
            FolderRemark::GitHead { branch: at.branch, commit: at.commit, command }
        }
        GitRemark::BranchMade { branch, is_only_name, is_head, command } => {
            FolderRemark::GitBranchMade { branch, only_name: is_only_name, head: is_head, command }
        }
        GitRemark::BranchRemoved { branch, command } => FolderRemark::GitBranchRemoved { branch, command },
        GitRemark::BranchMoved { branch, command } => FolderRemark::GitBranchMoved { branch, command },
        GitRemark::Stash => FolderRemark::GitStash,
        GitRemark::Staged => FolderRemark::GitStaged,
        GitRemark::WorktreeMade { folder, is_only_name, command } => {
            FolderRemark::GitWorktreeMade { folder, only_name: is_only_name, command }
        }
        GitRemark::WorktreeMoved { from, folder, command } => {
            FolderRemark::GitWorktreeMoved { from, folder, command }
        }
        GitRemark::WorktreeHead { folder, command } => FolderRemark::GitWorktreeHead { folder, command },
        GitRemark::WorktreeRemoved { folder, command } => {
            FolderRemark::GitWorktreeRemoved { folder, command }
        }
    }
}

/// Why captures do not see one of git's own files.
pub(crate) fn git_file(of: GitFile) -> UncoveredCause {
    let GitFile { change, role, back, command } = of;
    UncoveredCause::GitFile {
        change: git_change(change),
        role: git_role(role),
        remedy: back.map(put_back),
        command,
    }
}

pub(super) fn put_back(of: PutBack) -> Remedy {
    let (kept, mode) = of.kept.unzip();
    Remedy::PutBack { path: of.path, kept, mode }
}

pub(super) fn git_change(change: GitFileChange) -> retake_wire::GitFileChange {
    match change {
        GitFileChange::New => retake_wire::GitFileChange::New,
        GitFileChange::Changed => retake_wire::GitFileChange::Changed,
        GitFileChange::Removed => retake_wire::GitFileChange::Removed,
    }
}

pub(super) fn git_role(role: GitFileRole) -> retake_wire::GitFileRole {
    match role {
        GitFileRole::Hook => retake_wire::GitFileRole::Hook,
        GitFileRole::Settings => retake_wire::GitFileRole::Settings,
        GitFileRole::Rebase => retake_wire::GitFileRole::Rebase,
    }
}

/// The verb of a reason that marks messages.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::convert::run_notice;

    /// A hook of git that a command changed, and its earlier content.
    fn hook() -> GitFile {
        GitFile {
            change: GitFileChange::Changed,
            role: GitFileRole::Hook,
            back: Some(PutBack { path: "/h".into(), kept: Some(("/k".into(), 0o755)) }),
            command: None,
        }
    }

    #[test]
    fn folder_that_cannot_be_opened_has_the_code_and_the_values_of_the_failure() {
        let why = NotOpened {
            code: "file",
            message: "can't open".into(),
            why: "no".into(),
            fields: vec![("path", "/w".into())],
        };
        let shown = note(Note::FolderGone { folder: "/w".into(), why: Some(why) });
        let cause =
            json!({ "code": "file", "message": "can't open", "fields": { "path": "/w" }, "causes": ["no"] });
        let expected =
            json!({ "code": "folder_gone", "folder": "/w", "missing": false, "cause": cause, "why": "no" });
        assert_eq!(serde_json::to_value(shown).expect("JSON"), expected);
    }

    #[test]
    fn what_puts_a_file_of_git_back_is_a_remedy_everywhere() {
        let remedy = json!({ "do": "put_back", "path": "/h", "kept": "/k", "mode": 0o755 });
        let remark = Remark::GitFile { path: "h".into(), file: hook() };
        let notice = retake_engine::Notice::GitFilesChanged(vec![("h".into(), hook())], 0);
        let shown = [
            serde_json::to_value(note(Note::InFolder { folder: None, remark })).expect("JSON")["remark"]
                .take(),
            serde_json::to_value(git_file(hook())).expect("JSON"),
            serde_json::to_value(run_notice(notice)).expect("JSON")["files"][0].take(),
        ];
        for shown in shown {
            assert_eq!(shown["remedy"], remedy, "{shown}");
        }
    }
}
