//! Moves that follow each other, as one.

use super::GitMove;

impl GitMove {
    /// This move and a later one, from the first state to the last.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        self.head = match (self.head, later.head) {
            (Some((before, _)), Some((_, after))) => Some((before, after)),
            (first, second) => second.or(first),
        };
        for moved in later.refs {
            match self.refs.iter_mut().find(|known| known.name == moved.name) {
                Some(known) => known.after = moved.after,
                None => self.refs.push(moved),
            }
        }
        for moved in later.worktrees {
            match self.worktrees.iter_mut().find(|known| known.name == moved.name) {
                Some(known) => known.after = moved.after,
                None => self.worktrees.push(moved),
            }
        }
        self.index |= later.index;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GitPlace, GitRef};
    use super::*;

    #[test]
    fn moves_that_follow_each_other_are_one_from_the_first_state_to_the_last() {
        let place = |commit: &str| GitPlace { branch: None, commit: Some(commit.to_owned()) };
        let made = |name: &str, before: &str, after: &str| GitRef {
            name: name.to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        let first = GitMove {
            head: Some((place("a"), place("b"))),
            refs: vec![made("refs/heads/x", "a", "b")],
            ..GitMove::default()
        };
        let second = GitMove {
            head: Some((place("b"), place("c"))),
            refs: vec![made("refs/heads/x", "b", "c"), made("refs/heads/y", "d", "e")],
            index: true,
            ..GitMove::default()
        };
        let both = GitMove {
            head: Some((place("a"), place("c"))),
            refs: vec![made("refs/heads/x", "a", "c"), made("refs/heads/y", "d", "e")],
            index: true,
            ..GitMove::default()
        };
        assert_eq!(first.clone().then(second), both);
        assert_eq!(GitMove::default().then(first.clone()), first);
        assert_eq!(first.clone().then(GitMove::default()), first);
    }
}
