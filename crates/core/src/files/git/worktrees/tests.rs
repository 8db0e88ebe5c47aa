//! The remarks about linked worktrees, as tables.

use super::*;
use crate::files::git::GitPlace;

/// A worktree in words: its folder, its branch and its commit, `-` for none; a `!` at the end locks it.
fn tree(words: &str) -> Option<GitWorktree> {
    let (words, locked) = words.strip_suffix('!').map_or((words, false), |words| (words, true));
    let words: Vec<&str> = words.split(' ').collect();
    let some = |word: &str| (word != "-").then(|| word.to_owned());
    let [path, branch, commit] = words[..] else { return None };
    let head = GitPlace { branch: some(branch), commit: some(commit) };
    Some(GitWorktree { path: path.to_owned(), head, locked })
}

/// The remarks about the worktree `one` after these moves, each from and to, when it is `now`.
fn stays(moves: &[(&str, &str)], now: &str, had: &[&str]) -> Vec<GitRemark> {
    let moves: Vec<GitMove> = moves
        .iter()
        .map(|(before, after)| GitMove {
            worktrees: vec![GitWorktreeMove {
                name: "one".to_owned(),
                before: tree(before),
                after: tree(after),
            }],
            ..GitMove::default()
        })
        .collect();
    let there = tree(now).map(|tree| ("one".to_owned(), tree)).into_iter().collect();
    let (head, refs) = (GitPlace::default(), BTreeMap::new());
    let back = GitBack::new(&moves, &head, &refs, &there);
    back.stays(&had.iter().map(|commit| (*commit).to_owned()).collect())
}

/// Moves, the current state, and the remarks.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, Vec<GitRemark>);

#[test]
fn a_remaining_worktree_is_reported_with_the_command_that_removes_it() {
    let made = |folder: &str, is_only_name: bool, command: Option<String>| GitRemark::WorktreeMade {
        folder: folder.to_owned(),
        is_only_name,
        command,
    };
    let removes = |path: &str, force: &str, name: &str| {
        made(path, false, Some(format!("git worktree remove {force} {name}")))
    };
    let moved = || GitRemark::WorktreeMoved {
        from: "/w".to_owned(),
        folder: "/x".to_owned(),
        command: Some("git worktree move /x /w".to_owned()),
    };
    let at = |folder: &str, to: &str| GitRemark::WorktreeHead {
        folder: folder.to_owned(),
        command: Some(format!("git -C /w switch {to}")),
    };
    let switched = |to: &str| at("/w", to);
    let away = |command: Option<&str>| GitRemark::WorktreeRemoved {
        folder: "/w".to_owned(),
        command: command.map(|how| format!("git worktree add {how}")),
    };
    let rows: Vec<Row<'_>> = vec![
        (&[("", "/w main a")], "/w main a", vec![removes("/w", "--force", "/w")]),
        (&[("", "/w main a")], "/w main a!", vec![removes("/w", "--force --force", "/w")]),
        (&[("", "/it's main a")], "/it's main a", vec![removes("/it's", "--force", "'/it'\\''s'")]),
        // Its HEAD may be the only name of its commits.
        (&[("", "/w - a")], "/w - a", vec![made("/w", true, None)]),
        (&[("", "/w - had")], "/w - had", vec![removes("/w", "--force", "/w")]),
        (&[("", "/w - -")], "/w - -", vec![removes("/w", "--force", "/w")]),
        (&[("/w main a", "/x main a")], "/x main a", vec![moved()]),
        (&[("/w main a", "/w two a")], "/w two a", vec![switched("main")]),
        (&[("/w - aaaaaaaaaaaaaaaa", "/w two a")], "/w two a", vec![switched("--detach aaaaaaaaaaaa")]),
        (&[("/w - -", "/w two a")], "/w two a", vec![]),
        (&[("/w main a", "/x two a")], "/x two a", vec![moved(), at("/x", "main")]),
        (&[("/w main a", "")], "", vec![away(Some("/w main"))]),
        (&[("/w - aaaaaaaaaaaaaaaa", "")], "", vec![away(Some("--detach /w aaaaaaaaaaaa"))]),
        (&[("/w - -", "")], "", vec![away(None)]),
        // A commit in it moves its branch.
        (&[("/w main a", "/w main b")], "/w main b", vec![]),
        // Of several moves the first and the last count.
        (&[("", "/v main a"), ("/v main a", "/w main a")], "/w main a", vec![removes("/w", "--force", "/w")]),
        (&[("", "/w main a"), ("/w main a", "")], "", vec![]),
        // Somebody has moved it since.
        (&[("", "/w main a")], "", vec![]),
        (&[("", "/w main a")], "/w two a", vec![]),
        (&[("/w main a", "")], "/w main a", vec![]),
    ];
    for (moves, now, told) in rows {
        assert_eq!(stays(moves, now, &["had"]), told, "{moves:?}, now {now:?}");
    }
}

/// No command can name the path.
#[test]
fn remark_about_a_path_that_is_not_utf_8_has_no_command() {
    let (folder, lost) = (|| "/x".to_owned(), || "/\u{fffd}".to_owned());
    let made = |is_only_name| GitRemark::WorktreeMade { folder: lost(), is_only_name, command: None };
    let moved = |from, folder| GitRemark::WorktreeMoved { from, folder, command: None };
    let rows: Vec<Row<'_>> = vec![
        (&[("", "/\u{fffd} main a")], "/\u{fffd} main a", vec![made(false)]),
        (&[("", "/\u{fffd} - a")], "/\u{fffd} - a", vec![made(true)]),
        (&[("/\u{fffd} main a", "/x main a")], "/x main a", vec![moved(lost(), folder())]),
        (&[("/x main a", "/\u{fffd} main a")], "/\u{fffd} main a", vec![moved(folder(), lost())]),
        (
            &[("/\u{fffd} main a", "/\u{fffd} two a")],
            "/\u{fffd} two a",
            vec![GitRemark::WorktreeHead { folder: lost(), command: None }],
        ),
        (&[("/\u{fffd} main a", "")], "", vec![GitRemark::WorktreeRemoved { folder: lost(), command: None }]),
    ];
    for (moves, now, told) in rows {
        assert_eq!(stays(moves, now, &[]), told, "{moves:?}, now {now:?}");
    }
}

#[test]
fn commits_are_asked_for_that_only_a_new_worktree_may_lead_to() {
    let (head, refs) = (GitPlace::default(), BTreeMap::new());
    let there: BTreeMap<_, _> = [("a", "/a - x"), ("b", "/b main y"), ("c", "/c - z")]
        .into_iter()
        .map(|(name, words)| (name.to_owned(), tree(words).expect("a worktree")))
        .collect();
    let worktrees = [("a", ""), ("b", ""), ("c", "/c - w")].map(|(name, before)| GitWorktreeMove {
        name: name.to_owned(),
        before: tree(before),
        after: there.get(name).cloned(),
    });
    let moves = [GitMove { worktrees: worktrees.to_vec(), ..GitMove::default() }];
    let back = GitBack::new(&moves, &head, &refs, &there);
    assert_eq!(back.asked(), ["x"]);
    assert_eq!(back.worktrees_made().collect::<Vec<_>>(), ["/a", "/b"]);
    // `b` goes, and `c` goes back to its place: a branch is checked out in neither of them.
    assert_eq!(back.checked_out("main"), None);
    let none = GitBack::new(&[], &head, &refs, &there);
    assert_eq!((none.checked_out("main"), none.checked_out("two")), (Some("/b"), None));
}

#[test]
fn a_branch_that_a_worktree_has_is_moved_there_and_not_removed() {
    let there = [("one".to_owned(), tree("/w two b").expect("a worktree"))].into();
    let head = GitPlace { branch: Some("main".to_owned()), commit: Some("a".to_owned()) };
    let told = |before: Option<&str>| {
        let moved = super::super::GitRef {
            name: "refs/heads/two".to_owned(),
            before: before.map(str::to_owned),
            after: Some("b".to_owned()),
        };
        let moves = [GitMove { refs: vec![moved], ..GitMove::default() }];
        let refs = [("refs/heads/two".to_owned(), "b".to_owned())].into();
        GitBack::new(&moves, &head, &refs, &there).stays(&["b".to_owned()].into())
    };
    let branch = || "two".to_owned();
    let command = "git -C /w reset --soft a".to_owned();
    assert_eq!(told(Some("a")), [GitRemark::BranchMoved { branch: branch(), command }]);
    let made = GitRemark::BranchMade { branch: branch(), is_only_name: false, is_head: false, command: None };
    assert_eq!(told(None), [made]);
}
