//! The English sentences about what stays in a folder. Must never leave out the command that reverts it.

use crate::condition::FolderRemark;
use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::Remedy;

/// The sentence for a remark. `command` gives the client's command for a remedy.
pub(super) fn remark(it: &FolderRemark, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        FolderRemark::GitRepositoryMade => "the git repository stays, which a command made".to_owned(),
        FolderRemark::GitHead { branch, commit, command } => {
            let at = place(branch.as_deref(), commit.as_deref());
            format!("git's HEAD stays on {at}, where a command put it: `{command}` goes back")
        }
        FolderRemark::GitStash => {
            "the stash stays as a command left it: `git stash list` shows it".to_owned()
        }
        FolderRemark::GitStaged => {
            "what a command staged in git stays so: `git restore --staged .` unstages it".to_owned()
        }
        FolderRemark::GitFile { path, change, role, remedy, command: recorded } => {
            let it = git_file(*change, *role, (remedy.as_ref(), recorded.as_deref()), command);
            format!("{path} stays as it is now, since the last call: {it}")
        }
        FolderRemark::HardLink { path, all_change } => {
            let what = match all_change {
                true => "its names become separate files",
                false => "its other names stay as they are",
            };
            format!("{path} is a hard link: {what}")
        }
        FolderRemark::LinesStay { path, from } => format!(
            "{path} keeps lines that this takes out of {from}: a later turn, which stays, made it and removed {from}"
        ),
        FolderRemark::GitBranchMade { branch, only_name, head, command } => {
            let rest = match (only_name, head, command) {
                (true, ..) => ", with commits that no other had before".to_owned(),
                (false, _, None) => String::new(),
                (false, true, Some(command)) => format!(": after that, `{command}` removes it"),
                (false, false, Some(command)) => format!(": `{command}` removes it"),
            };
            format!("the branch {branch} stays, which a command made{rest}")
        }
        FolderRemark::GitBranchRemoved { branch, command } => {
            format!("the branch {branch} stays away, which a command removed: `{command}` brings it back")
        }
        FolderRemark::GitBranchMoved { branch, command } => {
            format!("the branch {branch} stays where a command put it: `{command}` goes back")
        }
        FolderRemark::GitWorktreeMade { folder, only_name, command } => {
            let removal = worktree_removal(*only_name, command.as_deref());
            format!("the folder {folder} stays, it is a worktree of git{removal}")
        }
        FolderRemark::GitWorktreeMoved { from, folder, command } => {
            let back = back(command.as_deref(), "goes back", "move it back yourself");
            format!("the worktree {from} stays at {folder}, where a command moved it: {back}")
        }
        FolderRemark::GitWorktreeHead { folder, command } => {
            let back = back(command.as_deref(), "goes back", "go back yourself");
            format!("the worktree {folder} stays where a command put its HEAD: {back}")
        }
        FolderRemark::GitWorktreeRemoved { folder, command } => {
            let back = command.as_ref().map(|it| format!(": `{it}` brings it back, with what was committed"));
            format!("the worktree {folder} stays away, which a command removed{}", back.unwrap_or_default())
        }
        FolderRemark::RepositoryMoved { from, folder, command } => {
            let back = command.as_ref().map(|command| format!("`{command}` moves it back"));
            let back = back.unwrap_or_else(|| "move it back yourself".to_owned());
            format!(
                "the folder {folder} stays, with what git keeps in it: a command moved it from {from}; {back}"
            )
        }
        FolderRemark::RepositoryUncertain { from, folder } => format!(
            "the folder {folder} stays, with what git keeps in it: it may be what was in {from}, so look at both before \
             you move anything"
        ),
        FolderRemark::Submodule { folder, command } => {
            let back = back(command.as_deref(), "removes it", "remove it yourself");
            format!("the folder {folder} stays, it is a submodule of git: {back}")
        }
        FolderRemark::Repository { folder } => format!(
            "the folder {folder} stays, it holds a git repository: remove it yourself when nobody needs its commits"
        ),
        FolderRemark::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// Why a command is missing.
const UNTYPED: &str = "as no command can name its path";

/// The command and what it does. Without a command: what a person does instead.
fn back(command: Option<&str>, does: &str, yourself: &str) -> String {
    command.map_or_else(|| format!("{yourself}, {UNTYPED}"), |command| format!("`{command}` {does}"))
}

/// How to remove a worktree that a command created.
fn worktree_removal(only_name: bool, command: Option<&str>) -> String {
    match (command, only_name) {
        (Some(command), _) => format!(": `{command}` removes it, with what is not committed in it"),
        (None, true) => {
            " with commits that no branch has: remove it yourself when nobody needs them".to_owned()
        }
        (None, false) => format!(": remove it yourself, {UNTYPED}"),
    }
}

/// The place of HEAD.
fn place(branch: Option<&str>, commit: Option<&str>) -> String {
    match (branch, commit) {
        (Some(branch), Some(commit)) => format!("{branch} ({commit})"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => "nothing".to_owned(),
    }
}

// The model gets the same text below the result of its call: `told` in `engine/src/files/note.rs`.

/// How a file that git runs or reads changed, and how to restore it.
pub(super) fn git_file(
    change: GitFileChange,
    role: GitFileRole,
    back: (Option<&Remedy>, Option<&str>),
    command: &dyn Fn(&Remedy) -> String,
) -> String {
    let back = match back {
        (None | Some(Remedy::Unknown), Some(recorded)) => format!("to put it back: {recorded}"),
        (Some(known), _) => format!("to put it back: {}", command(known)),
        (None, None) => "what it was could not be kept".to_owned(),
    };
    format!("{}; {back}", git_file_kind(change, role))
}

/// How a file that git runs or reads changed, and what git does with it.
pub(super) fn git_file_kind(change: GitFileChange, role: GitFileRole) -> String {
    format!("{}; {}", changed(change), obeyed(role))
}

fn changed(how: GitFileChange) -> &'static str {
    match how {
        GitFileChange::New => "new",
        GitFileChange::Changed => "changed",
        GitFileChange::Removed => "removed",
        GitFileChange::Unknown => super::UNKNOWN,
    }
}

fn obeyed(role: GitFileRole) -> &'static str {
    match role {
        GitFileRole::Hook => "git runs it",
        GitFileRole::Settings => "git does what it says",
        GitFileRole::Rebase => "git runs its `exec` lines when the rebase goes on",
        GitFileRole::Unknown => super::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::remark;
    use crate::english::{condition, remedy, rows};

    /// Each remark in its form on the wire, with its sentence.
    const ROWS: &[(&str, &str)] = &[
        (r#"{"code":"git_repository_made"}"#, "the git repository stays, which a command made"),
        (
            r#"{"code":"git_head","branch":"two","commit":"cccc","command":"git switch main"}"#,
            "git's HEAD stays on two (cccc), where a command put it: `git switch main` goes back",
        ),
        (
            r#"{"code":"git_head","commit":"cccc","command":"git switch main"}"#,
            "git's HEAD stays on cccc, where a command put it: `git switch main` goes back",
        ),
        (
            r#"{"code":"git_head","branch":"two","command":"git switch main"}"#,
            "git's HEAD stays on two, where a command put it: `git switch main` goes back",
        ),
        (
            r#"{"code":"git_head","command":"git switch main"}"#,
            "git's HEAD stays on nothing, where a command put it: `git switch main` goes back",
        ),
        (
            r#"{"code":"git_branch_made","branch":"own","only_name":true,"head":false}"#,
            "the branch own stays, which a command made, with commits that no other had before",
        ),
        (
            r#"{"code":"git_branch_made","branch":"b","only_name":false,"head":false}"#,
            "the branch b stays, which a command made",
        ),
        (
            r#"{"code":"git_branch_made","branch":"b","only_name":false,"head":true,"command":"git branch -D b"}"#,
            "the branch b stays, which a command made: after that, `git branch -D b` removes it",
        ),
        (
            r#"{"code":"git_branch_made","branch":"b","only_name":false,"head":false,"command":"git branch -D b"}"#,
            "the branch b stays, which a command made: `git branch -D b` removes it",
        ),
        (
            r#"{"code":"git_branch_removed","branch":"gone","command":"git branch gone c"}"#,
            "the branch gone stays away, which a command removed: `git branch gone c` brings it back",
        ),
        (
            r#"{"code":"git_branch_moved","branch":"m","command":"git branch -f m d"}"#,
            "the branch m stays where a command put it: `git branch -f m d` goes back",
        ),
        (r#"{"code":"git_stash"}"#, "the stash stays as a command left it: `git stash list` shows it"),
        (
            r#"{"code":"git_staged"}"#,
            "what a command staged in git stays so: `git restore --staged .` unstages it",
        ),
        (
            r#"{"code":"git_worktree_made","folder":"w","only_name":false,"command":"git worktree remove --force w"}"#,
            "the folder w stays, it is a worktree of git: `git worktree remove --force w` removes it, with what is not \
                 committed in it",
        ),
        (
            r#"{"code":"git_worktree_made","folder":"w\\xff","only_name":false}"#,
            "the folder w\\xff stays, it is a worktree of git: remove it yourself, as no command can name its path",
        ),
        (
            r#"{"code":"git_worktree_made","folder":"w","only_name":true}"#,
            "the folder w stays, it is a worktree of git with commits that no branch has: remove it yourself when nobody \
                 needs them",
        ),
        (
            r#"{"code":"git_worktree_moved","from":"/w","folder":"/x","command":"git worktree move /x /w"}"#,
            "the worktree /w stays at /x, where a command moved it: `git worktree move /x /w` goes back",
        ),
        (
            r#"{"code":"git_worktree_moved","from":"/w\\xff","folder":"/x"}"#,
            "the worktree /w\\xff stays at /x, where a command moved it: move it back yourself, as no command can name its path",
        ),
        (
            r#"{"code":"git_worktree_head","folder":"/x\\xff"}"#,
            "the worktree /x\\xff stays where a command put its HEAD: go back yourself, as no command can name its path",
        ),
        (
            r#"{"code":"git_worktree_head","folder":"/x","command":"git -C /w switch main"}"#,
            "the worktree /x stays where a command put its HEAD: `git -C /w switch main` goes back",
        ),
        (
            r#"{"code":"git_worktree_removed","folder":"/w"}"#,
            "the worktree /w stays away, which a command removed",
        ),
        (
            r#"{"code":"git_worktree_removed","folder":"/w","command":"git worktree add /w main"}"#,
            "the worktree /w stays away, which a command removed: `git worktree add /w main` brings it back, with what was \
                 committed",
        ),
        (
            r#"{"code":"repository_moved","from":"sub","folder":"sub2","command":"mv sub2 sub"}"#,
            "the folder sub2 stays, with what git keeps in it: a command moved it from sub; `mv sub2 sub` moves it back",
        ),
        (
            r#"{"code":"repository_moved","from":"a\\n","folder":"b"}"#,
            "the folder b stays, with what git keeps in it: a command moved it from a\\n; move it back yourself",
        ),
        (
            r#"{"code":"repository_uncertain","from":"sub","folder":"sub2"}"#,
            "the folder sub2 stays, with what git keeps in it: it may be what was in sub, so look at both before you move \
                 anything",
        ),
        (
            r#"{"code":"submodule","folder":"s","command":"git rm -f s"}"#,
            "the folder s stays, it is a submodule of git: `git rm -f s` removes it",
        ),
        (
            r#"{"code":"submodule","folder":"s\\xff"}"#,
            "the folder s\\xff stays, it is a submodule of git: remove it yourself, as no command can name its path",
        ),
        (
            r#"{"code":"git_file","path":"h","change":"new","role":"hook","remedy":{"do":"put_back","path":"/h"},"command":"retake"}"#,
            "h stays as it is now, since the last call: new; git runs it; to put it back: remove /h",
        ),
        (
            r#"{"code":"git_file","path":"h","change":"changed","role":"hook","remedy":{"do":"put_back","path":"/h","kept":"/k","mode":493}}"#,
            "h stays as it is now, since the last call: changed; git runs it; to put it back: write /k to /h",
        ),
        (
            r#"{"code":"git_file","path":"h","change":"new","role":"hook","command":"retake files put-back --remove 'h'"}"#,
            "h stays as it is now, since the last call: new; git runs it; to put it back: retake files put-back --remove 'h'",
        ),
        (
            r#"{"code":"git_file","path":"c","change":"changed","role":"settings"}"#,
            "c stays as it is now, since the last call: changed; git does what it says; what it was could not be kept",
        ),
        (
            r#"{"code":"git_file","path":"t","change":"removed","role":"rebase"}"#,
            "t stays as it is now, since the last call: removed; git runs its `exec` lines when the rebase goes on; what it \
                 was could not be kept",
        ),
        (
            r#"{"code":"repository","folder":"r"}"#,
            "the folder r stays, it holds a git repository: remove it yourself when nobody needs its commits",
        ),
        (
            r#"{"code":"hard_link","path":"a","all_change":true}"#,
            "a is a hard link: its names become separate files",
        ),
        (
            r#"{"code":"hard_link","path":"a","all_change":false}"#,
            "a is a hard link: its other names stay as they are",
        ),
        (
            r#"{"code":"lines_stay","path":"b","from":"a"}"#,
            "b keeps lines that this takes out of a: a later turn, which stays, made it and removed a",
        ),
    ];

    #[test]
    fn each_remark_about_a_folder_is_one_sentence_with_its_command() {
        rows::check(ROWS, |it| remark(it, &remedy));
    }

    #[test]
    fn sentence_about_a_further_folder_names_it() {
        for (json, sentence) in [
            (
                r#"{"code":"in_folder","folder":"/other","remark":{"code":"repository","folder":"/other/r"}}"#,
                "in /other: the folder /other/r stays, it holds a git repository: remove it yourself when nobody needs its \
                 commits",
            ),
            (
                r#"{"code":"in_folder","remark":{"code":"git_stash"}}"#,
                "the stash stays as a command left it: `git stash list` shows it",
            ),
            (
                r#"{"code":"folder_gone","folder":"/w","missing":true}"#,
                "the workspace's folder /w is not there: what was changed in it stays",
            ),
            (
                r#"{"code":"folder_gone","folder":"/w","missing":false,"why":"Permission denied (os error 13)"}"#,
                "the folder /w cannot be opened: Permission denied (os error 13); what was changed in it stays",
            ),
            (
                r#"{"code":"folder_gone","folder":"/w","missing":false,"cause":{"code":"storage","message":"Not a directory","fields":{"path":"/w"}},"why":"older"}"#,
                "the folder /w cannot be opened: Not a directory; what was changed in it stays",
            ),
            (
                r#"{"code":"folder_gone","folder":"/w","missing":false}"#,
                "the folder /w cannot be opened: what was changed in it stays",
            ),
        ] {
            let it = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(condition(&it, &remedy), sentence);
            assert_eq!(serde_json::to_string(&it).expect("written"), json);
        }
    }
}
