//! What calls moved in a git repository: effects that only git takes back, so a plan names them and how (spec `rewind.md`,
//! *Plan*, case 21). Pure: nothing here reads or runs git.

/// Where HEAD is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GitPlace {
    /// The branch; nothing when it is detached.
    pub branch: Option<String>,
    /// The commit, in hexadecimal digits; nothing where there is none yet.
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

/// What was moved while a call ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GitMove {
    /// HEAD, before and after.
    pub head: Option<(GitPlace, GitPlace)>,
    /// Branches and the stash.
    pub refs: Vec<GitRef>,
    /// Whether something else is staged.
    pub index: bool,
}

/// So many digits of a commit are shown: git takes them for it.
const SHORT: usize = 12;

/// The branches of a repository.
const HEADS: &str = "refs/heads/";

/// What stays in git when these moves are taken back, first first: a sentence each, with the command that would go back.
/// Where HEAD has gone on since, nothing is said of it: what was there is somebody else's by now.
pub fn git_stays(moves: &[GitMove], now: &GitPlace) -> Vec<String> {
    let mut told = Vec::new();
    let place = head_before(moves, now);
    if place.as_ref().is_some_and(|before| *before == GitPlace::default()) {
        return vec!["the git repository stays, which a command made".to_owned()];
    }
    if let Some(before) = &place
        && let Some(command) = way_back(before, now)
    {
        told.push(format!(
            "git's HEAD stays on {}, where a command put it: `{command}` goes back",
            name(now)
        ));
    }
    let mut refs: Vec<GitRef> = Vec::new();
    for moved in moves.iter().flat_map(|moved| &moved.refs) {
        match refs.iter_mut().find(|known| known.name == moved.name) {
            Some(known) => known.after.clone_from(&moved.after),
            None => refs.push(moved.clone()),
        }
    }
    told.extend(
        refs.iter().filter(|moved| moved.before != moved.after).filter_map(|moved| ref_stays(moved, now)),
    );
    if place.is_none() && moves.iter().any(|moved| moved.index && moved.head.is_none()) {
        told.push("what a command staged in git stays so: `git restore --staged .` unstages it".to_owned());
    }
    told
}

/// Where HEAD was before the moves that have brought it to where it is.
pub fn head_before(moves: &[GitMove], now: &GitPlace) -> Option<GitPlace> {
    let mut at = now;
    for (before, after) in moves.iter().rev().filter_map(|moved| moved.head.as_ref()) {
        if after == at {
            at = before;
        }
    }
    (at != now).then(|| at.clone())
}

/// The command that brings HEAD from one place to another and keeps what is not committed.
fn way_back(to: &GitPlace, from: &GitPlace) -> Option<String> {
    let commit = to.commit.as_deref().map(short);
    Some(match (&to.branch, commit) {
        (Some(branch), Some(commit)) if to.branch == from.branch => {
            debug_assert_ne!(to.commit, from.commit, "BUG: {branch} has not moved");
            format!("git reset --keep {commit}")
        }
        (Some(branch), _) => format!("git switch {}", quoted(branch)),
        (None, Some(commit)) => format!("git switch --detach {commit}"),
        (None, None) => return None,
    })
}

/// What stays of a branch; of the one that HEAD is on, HEAD's sentence tells.
fn ref_stays(moved: &GitRef, now: &GitPlace) -> Option<String> {
    let Some(branch) = moved.name.strip_prefix(HEADS) else {
        return Some("the stash stays as a command left it: `git stash list` shows it".to_owned());
    };
    let name = quoted(branch);
    match (moved.before.as_deref().map(short), &moved.after) {
        (None, _) if now.branch.as_deref() == Some(branch) => {
            Some(format!("the branch {branch} stays, which a command made"))
        }
        _ if now.branch.as_deref() == Some(branch) => None,
        (None, _) => Some(format!(
            "the branch {branch} stays, which a command made: `git branch -D {name}` removes it"
        )),
        (Some(commit), None) => Some(format!(
            "the branch {branch} stays away, which a command removed: `git branch {name} {commit}` brings it back"
        )),
        (Some(commit), Some(_)) => Some(format!(
            "the branch {branch} stays where a command put it: `git branch -f {name} {commit}` goes back"
        )),
    }
}

fn name(place: &GitPlace) -> String {
    let commit = place.commit.as_deref().map(short);
    match (&place.branch, commit) {
        (Some(branch), Some(commit)) => format!("{branch} ({commit})"),
        (Some(only), None) => only.clone(),
        (None, Some(commit)) => commit.to_owned(),
        (None, None) => "nothing".to_owned(),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+@,".contains(&byte);
    if name.bytes().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
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

    #[test]
    fn the_command_goes_back_to_where_head_was_first() {
        let first = head(at("main", "aaaaaaaaaaaaaaaa"), at("two", "bbbb"));
        let second = head(at("two", "bbbb"), at("two", "cccc"));
        let tell = |moves: &[GitMove], now: &GitPlace| git_stays(moves, now).join("; ");
        let both = [first.clone(), second.clone()];
        let said = tell(&both, &at("two", "cccc"));
        assert_eq!(
            said,
            "git's HEAD stays on two (cccc), where a command put it: `git switch main` goes back"
        );
        let said = tell(&both[1..], &at("two", "cccc"));
        assert_eq!(
            said,
            "git's HEAD stays on two (cccc), where a command put it: `git reset --keep bbbb` goes back"
        );
        assert_eq!(tell(&both, &at("two", "dddd")), "", "somebody has gone on");
        assert_eq!(tell(&both, &at("main", "aaaaaaaaaaaaaaaa")), "", "somebody has gone back");
        let there_and_back = [first, head(at("two", "bbbb"), at("main", "aaaaaaaaaaaaaaaa"))];
        assert_eq!(tell(&there_and_back, &at("main", "aaaaaaaaaaaaaaaa")), "");
        let detached = head(at("", "aaaaaaaaaaaaaaaa"), at("it's", "b"));
        let said = tell(&[detached], &at("it's", "b"));
        assert!(said.ends_with("`git switch --detach aaaaaaaaaaaa` goes back"), "{said}");
        let quoted = head(at("it's; rm", "a"), at("", "b"));
        assert!(tell(&[quoted], &at("", "b")).contains("`git switch 'it'\\''s; rm'`"));
    }

    #[test]
    fn branches_the_stash_and_what_is_staged_stay() {
        let now = at("main", "a");
        let moves = [
            moved("refs/heads/new", "", "b"),
            moved("refs/heads/gone", "c", ""),
            moved("refs/heads/moved", "d", "e"),
            moved("refs/heads/moved", "e", "f"),
            moved("refs/heads/back", "d", "e"),
            moved("refs/heads/back", "e", "d"),
            moved("refs/stash", "", "g"),
            GitMove { index: true, ..GitMove::default() },
        ];
        assert_eq!(
            git_stays(&moves, &now),
            [
                "the branch new stays, which a command made: `git branch -D new` removes it",
                "the branch gone stays away, which a command removed: `git branch gone c` brings it back",
                "the branch moved stays where a command put it: `git branch -f moved d` goes back",
                "the stash stays as a command left it: `git stash list` shows it",
                "what a command staged in git stays so: `git restore --staged .` unstages it",
            ]
        );
        let commit = GitMove { index: true, ..moved("refs/heads/main", "z", "a") };
        let commit = GitMove { head: Some((at("main", "z"), now.clone())), ..commit };
        assert_eq!(git_stays(&[commit], &now).len(), 1, "one sentence for one commit");
    }
}
