//! What calls changed in a git repository: effects that only git reverts, so a plan names them and the commands (spec
//! `rewind.md`, *Plan*, case 21). Pure: must never read or run git.
//!
//! A suggested command undoes what git did and no more. If a call only went to existing commits, git's command restores their
//! files, too. If it made commits, git must not restore files: the command leaves each as it is on disk. No command removes the
//! last name of a commit that a person may want.

use std::collections::{BTreeMap, HashSet};

mod file;
mod following;
mod remark;
mod worktrees;

use crate::shell_word::shell_word;

pub use file::{GitFile, GitFileChange, GitFileRole, PutBack};
pub use remark::GitRemark;

/// The place of HEAD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GitPlace {
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit, in hexadecimal digits; `None` if there is none yet.
    pub commit: Option<String>,
}

/// A branch, or the stash, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitRef {
    /// Its full name: `refs/heads/…` or `refs/stash`.
    pub name: String,
    /// Its commit before.
    pub before: Option<String>,
    /// Its commit after.
    pub after: Option<String>,
}

/// A linked worktree of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GitWorktree {
    /// Its absolute folder; invalid UTF-8 is replaced by replacement characters.
    pub path: String,
    /// The place of its HEAD.
    pub head: GitPlace,
    /// Whether it is locked.
    pub locked: bool,
}

impl GitWorktree {
    /// Whether this is the same folder on the same branch. A commit on a branch moves the branch.
    pub fn is_as(&self, other: &Self) -> bool {
        let on = |of: &Self| (of.path.clone(), of.head.branch.clone());
        on(self) == on(other) && (self.head.branch.is_some() || self.head.commit == other.head.commit)
    }
}

/// A linked worktree, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitWorktreeMove {
    /// Its name in git: a folder of `.git/worktrees`.
    pub name: String,
    /// Its state before.
    pub before: Option<GitWorktree>,
    /// Its state after.
    pub after: Option<GitWorktree>,
}

/// The moves while a call ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GitMove {
    /// HEAD, before and after.
    pub head: Option<(GitPlace, GitPlace)>,
    /// Branches and the stash.
    pub refs: Vec<GitRef>,
    /// Whether the index changed.
    pub index: bool,
    /// Linked worktrees that were created, removed or moved.
    pub worktrees: Vec<GitWorktreeMove>,
}

/// The moves in git of reverted calls, compared with git's current state.
#[derive(Debug)]
pub struct GitBack<'a> {
    /// The place of HEAD.
    now: &'a GitPlace,
    /// The place of HEAD before, if these moves brought it to where it is.
    to: Option<GitPlace>,
    /// Their moves of branches and the stash, unless somebody has moved these since.
    refs: Vec<GitRef>,
    /// The commits of all of them before.
    before: BTreeMap<String, String>,
    /// Whether they staged changes and committed nothing.
    staged: bool,
    /// The current linked worktrees.
    there: &'a BTreeMap<String, GitWorktree>,
    /// Their moves of linked worktrees, unless somebody has moved these since.
    worktrees: Vec<GitWorktreeMove>,
}

/// The number of digits of a commit that are shown: enough for git.
const SHORT: usize = 12;

/// The branches of a repository.
const HEADS: &str = "refs/heads/";

impl<'a> GitBack<'a> {
    /// For these moves, oldest first. `refs` are the current branches and stash, and `there` the linked worktrees by name.
    pub fn new(
        moves: &[GitMove],
        now: &'a GitPlace,
        refs: &BTreeMap<String, String>,
        there: &'a BTreeMap<String, GitWorktree>,
    ) -> Self {
        let mut moved: Vec<GitRef> = Vec::new();
        for next in moves.iter().flat_map(|one| &one.refs) {
            match moved.iter_mut().find(|known| known.name == next.name) {
                Some(known) => known.after.clone_from(&next.after),
                None => moved.push(next.clone()),
            }
        }
        // If somebody has moved it since, it is theirs by now.
        moved.retain(|moved| moved.before != moved.after && refs.get(&moved.name) == moved.after.as_ref());
        let mut before = refs.clone();
        for moved in &moved {
            match &moved.before {
                Some(commit) => before.insert(moved.name.clone(), commit.clone()),
                None => before.remove(&moved.name),
            };
        }
        let to = head_before(moves, now);
        let staged = to.is_none() && moves.iter().any(|moved| moved.index && moved.head.is_none());
        Self { now, to, refs: moved, before, staged, there, worktrees: worktrees::moved(moves, there) }
    }

    /// The commits that had a name before.
    pub fn tips(&self) -> Vec<String> {
        let head = self.to.as_ref().and_then(|to| to.commit.clone());
        self.before.values().cloned().chain(head).collect()
    }

    /// The commits for which the caller must find out whether they existed before: whether one of `tips` contains them.
    pub fn asked(&self) -> Vec<String> {
        let refs = self.refs.iter().filter_map(|moved| moved.after.clone());
        self.now.commit.clone().into_iter().chain(refs).chain(self.asked_in_worktrees()).collect()
    }

    /// The commits between which git's own command restores files: from the current one to the earlier one. `None` if it leaves
    /// files as they are.
    pub fn files(&self, had: &HashSet<String>) -> Option<(String, GitPlace)> {
        let to = self.to.as_ref()?;
        Some((self.base(to, had)?.clone(), to.clone()))
    }

    /// What stays when these moves are reverted. The commands must run in this order. `had` are those of the `asked` commits that
    /// existed before.
    pub fn stays(&self, had: &HashSet<String>) -> Vec<GitRemark> {
        if self.to.as_ref().is_some_and(|before| *before == GitPlace::default()) {
            return vec![GitRemark::Repository];
        }
        // First: git neither moves nor removes a branch that is checked out in a worktree.
        let mut told = self.worktrees_stay(had);
        if let Some(command) = self.to.as_ref().and_then(|to| self.way_back(to, had)) {
            let at = GitPlace { commit: self.now.commit.as_deref().map(short), ..self.now.clone() };
            told.push(GitRemark::Head { at, command });
        }
        told.extend(self.refs.iter().filter_map(|moved| self.ref_stays(moved, had)));
        told.extend(self.staged.then_some(GitRemark::Staged));
        told.extend(self.worktrees_gone());
        told
    }

    /// The move of a branch.
    fn moved(&self, branch: &str) -> Option<&GitRef> {
        self.refs.iter().find(|moved| moved.name.strip_prefix(HEADS) == Some(branch))
    }

    /// The commit up to which HEAD's files belong to commits that existed before; `None` if that is not known.
    fn base(&'a self, to: &GitPlace, had: &HashSet<String>) -> Option<&'a String> {
        let now = self.now.commit.as_ref()?;
        if had.contains(now) {
            return Some(now);
        }
        let branch = self.now.branch.as_deref().filter(|branch| to.branch.as_deref() != Some(*branch))?;
        self.moved(branch)?.before.as_ref()
    }

    /// The command that moves HEAD back without losing uncommitted changes.
    fn way_back(&self, to: &GitPlace, had: &HashSet<String>) -> Option<String> {
        let base = self.base(to, had);
        let is_there = base.is_some() && base == self.now.commit.as_ref();
        let commit = to.commit.as_deref().map(short);
        if to.branch == self.now.branch {
            return Some(match commit {
                Some(commit) if !is_there => format!("git reset --soft {commit}"),
                Some(commit) if to.branch.is_some() => format!("git reset --keep {commit}"),
                Some(commit) => format!("git switch --detach {commit}"),
                None => "git update-ref -d HEAD".to_owned(),
            });
        }
        // First the commits since, which leaves files and the index; then git's checkout.
        let first = base.filter(|_| !is_there).map(|base| format!("git reset --soft {}", short(base)));
        let (way, last) = match (&to.branch, commit) {
            (Some(branch), Some(commit)) => {
                let (name, moved) = (shell_word(branch), self.moved(branch));
                let is_gone = moved.is_some_and(|moved| moved.after.is_none());
                let way = match base {
                    Some(_) if is_gone => format!("git switch -c {name} {commit}"),
                    Some(_) => format!("git switch {name}"),
                    None => format!("git symbolic-ref HEAD {}", shell_word(&format!("{HEADS}{branch}"))),
                };
                let is_moved = moved.is_some() && !(is_gone && base.is_some());
                (way, is_moved.then(|| format!("git reset --soft {commit}")))
            }
            (Some(branch), None) => {
                let way = format!("git symbolic-ref HEAD {}", shell_word(&format!("{HEADS}{branch}")));
                (way, self.moved(branch).map(|_| "git update-ref -d HEAD".to_owned()))
            }
            (None, Some(commit)) if base.is_some() => (format!("git switch --detach {commit}"), None),
            (None, Some(commit)) => (format!("git update-ref --no-deref HEAD {commit}"), None),
            (None, None) => return None,
        };
        let steps: Vec<String> = first.into_iter().chain([way]).chain(last).collect();
        Some(steps.join(" && "))
    }

    /// The remark about a branch or the stash, unless the remark about HEAD contains it.
    fn ref_stays(&self, moved: &GitRef, had: &HashSet<String>) -> Option<GitRemark> {
        let Some(branch) = moved.name.strip_prefix(HEADS) else {
            return Some(GitRemark::Stash);
        };
        if self.to.as_ref().is_some_and(|to| to.branch.as_deref() == Some(branch)) {
            return None;
        }
        let is_head_s = self.now.branch.as_deref() == Some(branch);
        let goes_first =
            |to: &GitPlace| self.base(to, had).is_some_and(|base| moved.before.as_ref() == Some(base));
        if is_head_s
            && (self.to.is_none() || self.to.as_ref().is_some_and(goes_first))
            && moved.before.is_some()
        {
            return None;
        }
        let (branch, name) = (branch.to_owned(), shell_word(branch));
        Some(match (moved.before.as_deref().map(short), &moved.after) {
            (None, after) => {
                // Its name may be the only one of these commits.
                let is_only_name = after.as_ref().is_some_and(|after| !had.contains(after));
                let is_in_use = (is_head_s && self.to.is_none()) || self.checked_out(&branch).is_some();
                let command = (!is_only_name && !is_in_use).then(|| format!("git branch -D {name}"));
                GitRemark::BranchMade { branch, is_only_name, is_head: is_head_s, command }
            }
            (Some(commit), None) => {
                GitRemark::BranchRemoved { branch, command: format!("git branch {name} {commit}") }
            }
            (Some(commit), Some(_)) => {
                let command = match self.checked_out(&branch) {
                    Some(path) => format!("git -C {} reset --soft {commit}", shell_word(path)),
                    None => format!("git branch -f {name} {commit}"),
                };
                GitRemark::BranchMoved { branch, command }
            }
        })
    }
}

/// The place of HEAD before the moves that brought it to where it is.
fn head_before(moves: &[GitMove], now: &GitPlace) -> Option<GitPlace> {
    let mut at = now;
    for (before, after) in moves.iter().rev().filter_map(|moved| moved.head.as_ref()) {
        if after == at {
            at = before;
        }
    }
    (at != now).then(|| at.clone())
}

fn short(commit: &str) -> String {
    commit.get(..SHORT).unwrap_or(commit).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(branch: &str, commit: &str) -> GitPlace {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        GitPlace { branch: some(branch), commit: some(commit) }
    }

    fn head(before: GitPlace, after: GitPlace) -> GitMove {
        GitMove { head: Some((before, after)), ..GitMove::default() }
    }

    fn moved(name: &str, before: &str, after: &str) -> GitMove {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let refs = vec![GitRef { name: name.to_owned(), before: some(before), after: some(after) }];
        GitMove { refs, ..GitMove::default() }
    }

    /// The state of git: HEAD, and branches and the stash.
    type State<'a> = (GitPlace, &'a [(&'a str, &'a str)]);

    fn told(moves: &[GitMove], (now, refs): &State<'_>, had: &[&str]) -> Vec<GitRemark> {
        let refs = refs.iter().map(|(name, commit)| ((*name).to_owned(), (*commit).to_owned())).collect();
        let there = BTreeMap::new();
        let back = GitBack::new(moves, now, &refs, &there);
        back.stays(&had.iter().map(|commit| (*commit).to_owned()).collect())
    }

    /// The command that moves HEAD back.
    fn goes_back(moves: &[GitMove], state: &State<'_>, had: &[&str]) -> String {
        match told(moves, state, had).into_iter().next() {
            Some(GitRemark::Head { at, command }) if at == state.0 => command,
            other => panic!("{moves:?}: {other:?}"),
        }
    }

    #[test]
    fn the_command_goes_back_to_where_head_was_first() {
        let first = head(at("main", "aaaaaaaaaaaaaaaa"), at("two", "bbbb"));
        let second = head(at("two", "bbbb"), at("two", "cccc"));
        let both = [first.clone(), second.clone()];
        let on = |place: GitPlace| (place, &[][..]);
        let two = on(at("two", "cccc"));
        assert_eq!(goes_back(&both, &two, &["cccc"]), "git switch main");
        let commits = "git symbolic-ref HEAD refs/heads/main";
        assert_eq!(goes_back(&both, &two, &[]), commits, "with commits of these calls");
        assert_eq!(goes_back(&both[1..], &two, &["cccc"]), "git reset --keep bbbb");
        assert_eq!(goes_back(&both[1..], &two, &[]), "git reset --soft bbbb");
        assert_eq!(told(&both, &on(at("two", "dddd")), &[]), [], "somebody has gone on");
        assert_eq!(told(&both, &on(at("main", "aaaaaaaaaaaaaaaa")), &[]), [], "somebody has gone back");
        let there_and_back = [first, head(at("two", "bbbb"), at("main", "aaaaaaaaaaaaaaaa"))];
        assert_eq!(told(&there_and_back, &on(at("main", "aaaaaaaaaaaaaaaa")), &[]), []);
        let detached = [head(at("", "aaaaaaaaaaaaaaaa"), at("it's", "b"))];
        assert_eq!(goes_back(&detached, &on(at("it's", "b")), &["b"]), "git switch --detach aaaaaaaaaaaa");
        let command = goes_back(&detached, &on(at("it's", "b")), &[]);
        assert_eq!(command, "git update-ref --no-deref HEAD aaaaaaaaaaaa");
        let quoted = head(at("it's; rm", "a"), at("", "b"));
        assert_eq!(goes_back(&[quoted], &on(at("", "b")), &["b"]), r"git switch 'it'\''s; rm'");
        let long = on(at("", "bbbbbbbbbbbbbbbb"));
        let told = told(&[head(at("main", "a"), long.0.clone())], &long, &["bbbbbbbbbbbbbbbb"]);
        let [GitRemark::Head { at: now, .. }] = &told[..] else { panic!("{told:?}") };
        assert_eq!(*now, at("", "bbbbbbbbbbbb"), "commits are shown in short");
    }

    #[test]
    fn branches_the_stash_and_what_is_staged_stay() {
        let moves = [
            moved("refs/heads/new", "", "b"),
            moved("refs/heads/own", "", "x"),
            moved("refs/heads/gone", "c", ""),
            moved("refs/heads/moved", "d", "e"),
            moved("refs/heads/moved", "e", "f"),
            moved("refs/heads/back", "d", "e"),
            moved("refs/heads/back", "e", "d"),
            moved("refs/heads/went-on", "d", "e"),
            moved("refs/stash", "", "g"),
            GitMove { index: true, ..GitMove::default() },
        ];
        let refs = [
            ("refs/heads/new", "b"),
            ("refs/heads/own", "x"),
            ("refs/heads/moved", "f"),
            ("refs/heads/back", "d"),
            ("refs/heads/went-on", "z"),
            ("refs/stash", "g"),
        ];
        let now = (at("main", "a"), &refs[..]);
        let made = |branch: &str, command: Option<&str>| GitRemark::BranchMade {
            branch: branch.to_owned(),
            is_only_name: command.is_none(),
            is_head: false,
            command: command.map(str::to_owned),
        };
        let (gone, put) = ("git branch gone c".to_owned(), "git branch -f moved d".to_owned());
        assert_eq!(
            told(&moves, &now, &["a", "b"]),
            [
                made("new", Some("git branch -D new")),
                made("own", None),
                GitRemark::BranchRemoved { branch: "gone".to_owned(), command: gone },
                GitRemark::BranchMoved { branch: "moved".to_owned(), command: put },
                GitRemark::Stash,
                GitRemark::Staged,
            ]
        );
        let commit = GitMove { index: true, ..moved("refs/heads/main", "z", "a") };
        let commit = GitMove { head: Some((at("main", "z"), at("main", "a"))), ..commit };
        let told = told(&[commit], &(at("main", "a"), &[("refs/heads/main", "a")]), &[]);
        assert_eq!(told.len(), 1, "one remark for one commit: {told:?}");
    }

    #[test]
    fn a_worktree_is_known_again_by_its_folder_and_branch() {
        let tree = |path: &str, head| GitWorktree { path: path.to_owned(), head, locked: false };
        let rows = [
            ("/w", at("main", "a"), true),
            ("/w", at("main", "b"), true),
            ("/w", at("two", "a"), false),
            ("/x", at("main", "a"), false),
            ("/w", at("", "a"), false),
        ];
        for (path, head, same) in rows {
            assert_eq!(tree("/w", at("main", "a")).is_as(&tree(path, head.clone())), same, "{path} {head:?}");
        }
        let detached = |commit| tree("/w", at("", commit));
        assert!(detached("a").is_as(&detached("a")) && !detached("a").is_as(&detached("b")));
    }

    #[test]
    fn commits_are_asked_for_against_those_that_had_a_name() {
        let refs = BTreeMap::from(
            [("refs/heads/main", "b"), ("refs/heads/two", "c")]
                .map(|(name, commit)| (name.to_owned(), commit.to_owned())),
        );
        let commit =
            GitMove { head: Some((at("main", "a"), at("main", "b"))), ..moved("refs/heads/main", "a", "b") };
        let (now, there) = (at("main", "b"), BTreeMap::new());
        let back = GitBack::new(&[commit], &now, &refs, &there);
        assert_eq!(back.tips(), ["a", "c", "a"], "branches as they were, and where HEAD was");
        assert_eq!(back.asked(), ["b", "b"], "where HEAD is, and what branches got");
        let had = HashSet::from(["b".to_owned()]);
        assert_eq!(back.files(&had), Some(("b".to_owned(), at("main", "a"))), "it only went there");
        assert_eq!(back.files(&HashSet::new()), None, "git's command leaves files as they are");
        let switched = [head(at("main", "a"), at("new", "x")), moved("refs/heads/new", "a", "x")];
        let (now, refs) = (at("new", "x"), [("refs/heads/new".to_owned(), "x".to_owned())].into());
        let back = GitBack::new(&switched, &now, &refs, &there);
        assert_eq!(
            back.files(&HashSet::new()),
            Some(("a".to_owned(), at("main", "a"))),
            "up to its own commits"
        );
    }

    #[test]
    fn the_command_for_head_depends_on_what_moved() {
        let on = |place: GitPlace| (place, &[][..]);
        let to = |before: GitPlace, after: GitPlace| [head(before, after)];
        let rows = [
            (to(at("", "a"), at("", "b")), on(at("", "b")), &["b"][..], "git switch --detach a"),
            (to(at("", "a"), at("", "b")), on(at("", "b")), &[], "git reset --soft a"),
            (to(at("main", "a"), at("main", "b")), on(at("main", "b")), &["b"], "git reset --keep a"),
            (to(at("main", ""), at("main", "b")), on(at("main", "b")), &[], "git update-ref -d HEAD"),
            (
                to(at("main", ""), at("two", "b")),
                on(at("two", "b")),
                &["b"],
                "git symbolic-ref HEAD refs/heads/main",
            ),
        ];
        for (moves, state, had, command) in rows {
            assert_eq!(goes_back(&moves, &state, had), command, "{moves:?}");
        }
        let gone = [head(at("main", "a"), at("two", "b")), moved("refs/heads/main", "a", "")];
        assert_eq!(goes_back(&gone, &on(at("two", "b")), &["b"]), "git switch -c main a");
        let refs = [("refs/heads/main", "c"), ("refs/heads/two", "b")];
        let further = [head(at("main", "a"), at("two", "b")), moved("refs/heads/main", "a", "c")];
        let command = goes_back(&further, &(at("two", "b"), &refs), &["b"]);
        assert_eq!(command, "git switch main && git reset --soft a");
        let refs = [("refs/heads/new", "x")];
        let committed = [head(at("main", "a"), at("new", "x")), moved("refs/heads/new", "a", "x")];
        let command = goes_back(&committed, &(at("new", "x"), &refs), &[]);
        assert_eq!(command, "git reset --soft a && git switch main");
        let born = [head(at("main", ""), at("two", "b")), moved("refs/heads/main", "", "b")];
        let refs = [("refs/heads/main", "b"), ("refs/heads/two", "b")];
        let command = goes_back(&born, &(at("two", "b"), &refs), &["b"]);
        assert_eq!(command, "git symbolic-ref HEAD refs/heads/main && git update-ref -d HEAD");
    }
}
