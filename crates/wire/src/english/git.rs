//! The English sentences about what stays in git. Must never leave out the command that goes back.

use crate::condition::{Condition, GitFileChange, GitFileRole};

/// What a condition says that is about git; nothing, where it is not.
pub(super) fn of_git(it: &Condition) -> Option<String> {
    Some(match it {
        Condition::GitRepositoryMade => "the git repository stays, which a command made".to_owned(),
        Condition::GitHead { branch, commit, command } => {
            let at = place(branch.as_deref(), commit.as_deref());
            format!("git's HEAD stays on {at}, where a command put it: `{command}` goes back")
        }
        Condition::GitStash => "the stash stays as a command left it: `git stash list` shows it".to_owned(),
        Condition::GitStaged => {
            "what a command staged in git stays so: `git restore --staged .` unstages it".to_owned()
        }
        Condition::GitFile { path, change, role, command } => {
            let (how, what) = (changed(*change), obeyed(*role));
            let back = match command {
                Some(command) => format!("to put it back: {command}"),
                None => "what it was could not be kept".to_owned(),
            };
            format!("{path} stays as it is now, since the last call: {how}; {what}; {back}")
        }
        other => return branch(other).or_else(|| worktree(other)).or_else(|| repository(other)),
    })
}

fn branch(it: &Condition) -> Option<String> {
    Some(match it {
        Condition::GitBranchMade { branch, only_name: true, .. } => {
            format!("the branch {branch} stays, which a command made, with commits that no other had before")
        }
        Condition::GitBranchMade { branch, command: None, .. } => {
            format!("the branch {branch} stays, which a command made")
        }
        Condition::GitBranchMade { branch, head, command: Some(command), .. } => {
            let then = if *head { "after that, " } else { "" };
            format!("the branch {branch} stays, which a command made: {then}`{command}` removes it")
        }
        Condition::GitBranchRemoved { branch, command } => {
            format!("the branch {branch} stays away, which a command removed: `{command}` brings it back")
        }
        Condition::GitBranchMoved { branch, command } => {
            format!("the branch {branch} stays where a command put it: `{command}` goes back")
        }
        _ => return None,
    })
}

fn worktree(it: &Condition) -> Option<String> {
    Some(match it {
        Condition::GitWorktreeMade { folder, command: Some(command) } => format!(
            "the folder {folder} stays, it is a worktree of git: `{command}` removes it, with what is not committed in it"
        ),
        Condition::GitWorktreeMade { folder, command: None } => format!(
            "the folder {folder} stays, it is a worktree of git with commits that no branch has: remove it yourself when \
             nobody needs them"
        ),
        Condition::GitWorktreeMoved { from, folder, command } => {
            format!("the worktree {from} stays at {folder}, where a command moved it: `{command}` goes back")
        }
        Condition::GitWorktreeHead { folder, command } => {
            format!("the worktree {folder} stays where a command put its HEAD: `{command}` goes back")
        }
        Condition::GitWorktreeRemoved { folder, command } => {
            let back = command.as_ref().map(|it| format!(": `{it}` brings it back, with what was committed"));
            format!("the worktree {folder} stays away, which a command removed{}", back.unwrap_or_default())
        }
        _ => return None,
    })
}

fn repository(it: &Condition) -> Option<String> {
    Some(match it {
        Condition::RepositoryMoved { from, folder, command } => {
            let back = match command {
                Some(command) => format!("`{command}` moves it back"),
                None => "move it back yourself".to_owned(),
            };
            format!(
                "the folder {folder} stays, with what git keeps in it: a command moved it from {from}; {back}"
            )
        }
        Condition::RepositoryUncertain { from, folder } => format!(
            "the folder {folder} stays, with what git keeps in it: it may be what was in {from}, so look at both before \
             you move anything"
        ),
        Condition::Submodule { folder, command } => {
            format!("the folder {folder} stays, it is a submodule of git: `{command}` removes it")
        }
        Condition::Repository { folder } => format!(
            "the folder {folder} stays, it holds a git repository: remove it yourself when nobody needs its commits"
        ),
        _ => return None,
    })
}

/// Where HEAD is.
fn place(branch: Option<&str>, commit: Option<&str>) -> String {
    match (branch, commit) {
        (Some(branch), Some(commit)) => format!("{branch} ({commit})"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => "nothing".to_owned(),
    }
}

fn changed(how: GitFileChange) -> &'static str {
    match how {
        GitFileChange::New => "new",
        GitFileChange::Changed => "changed",
        GitFileChange::Removed => "removed",
    }
}

fn obeyed(role: GitFileRole) -> &'static str {
    match role {
        GitFileRole::Hook => "git runs it",
        GitFileRole::Settings => "git does what it says",
        GitFileRole::Rebase => "git runs its `exec` lines when the rebase goes on",
    }
}

#[cfg(test)]
mod tests {
    use crate::english::{condition, remedy};

    /// Each condition as it is on the wire, and its sentence.
    const ROWS: &[(&str, &str)] = &[
        (r#"{"code":"git_repository_made"}"#, "the git repository stays, which a command made"),
        (
            r#"{"code":"git_head","branch":"two","commit":"cccc","command":"git switch main"}"#,
            "git's HEAD stays on two (cccc), where a command put it: `git switch main` goes back",
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
            r#"{"code":"git_worktree_made","folder":"w","command":"git worktree remove --force w"}"#,
            "the folder w stays, it is a worktree of git: `git worktree remove --force w` removes it, with what is not \
                 committed in it",
        ),
        (
            r#"{"code":"git_worktree_made","folder":"w"}"#,
            "the folder w stays, it is a worktree of git with commits that no branch has: remove it yourself when nobody \
                 needs them",
        ),
        (
            r#"{"code":"git_worktree_moved","from":"/w","folder":"/x","command":"git worktree move /x /w"}"#,
            "the worktree /w stays at /x, where a command moved it: `git worktree move /x /w` goes back",
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
            r#"{"code":"in_folder","folder":"/other","condition":{"code":"repository","folder":"/other/r"}}"#,
            "in /other: the folder /other/r stays, it holds a git repository: remove it yourself when nobody needs its \
                 commits",
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
            r#"{"code":"hard_link","path":"a","all_change":false}"#,
            "a is a hard link: its other names stay as they are",
        ),
        (
            r#"{"code":"lines_stay","path":"b","from":"a"}"#,
            "b keeps lines that this takes out of a: a later turn, which stays, made it and removed a",
        ),
        (
            r#"{"code":"folder_gone","folder":"/w","missing":true}"#,
            "the workspace's folder /w is not there: what was changed in it stays",
        ),
    ];

    #[test]
    fn each_condition_about_git_is_one_sentence_with_its_command() {
        for (json, sentence) in ROWS {
            let it = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(condition(&it, &remedy), *sentence);
            assert_eq!(serde_json::to_string(&it).expect("written"), *json);
        }
    }
}
