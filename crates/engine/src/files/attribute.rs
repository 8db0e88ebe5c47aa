//! Whose a change is: of what was found between two captures, the calls that were open then (design, section 2). Nobody's
//! is the user's.

use std::collections::BTreeMap;

use retake_core::{ContentHash, FileChange, Grade, Record};
use retake_worktree::Findings;

/// The number of a call that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CallNo(u64);

/// The calls that may be changing a workspace, and what was found while they were open.
#[derive(Debug, Default)]
pub(super) struct Calls {
    last: u64,
    open: BTreeMap<CallNo, Vec<(Grade, FileChange)>>,
    /// Processes that outlived their calls, by the id of the call.
    pub(super) jobs: Vec<String>,
}

impl Calls {
    /// A call begins. A capture has just been made.
    pub(super) fn begin(&mut self) -> CallNo {
        self.last += 1;
        self.open.insert(CallNo(self.last), Vec::new());
        CallNo(self.last)
    }

    /// Gives what was found to the calls that are open; what is nobody's comes back. While a job of an earlier call still
    /// runs, nobody knows which of them it was.
    pub(super) fn attribute(&mut self, findings: &Findings) -> Vec<FileChange> {
        if self.open.is_empty() {
            return findings.changes.iter().chain(&findings.late).cloned().collect();
        }
        let alone = self.open.len() == 1 && self.jobs.is_empty();
        let grade = if alone { Grade::Seen } else { Grade::Ambiguous };
        for seen in self.open.values_mut() {
            seen.extend(findings.changes.iter().map(|change| (grade, change.clone())));
            seen.extend(findings.late.iter().map(|change| (Grade::Ambiguous, change.clone())));
        }
        Vec::new()
    }

    /// The bytes that open calls have been seen to change: no row names them yet.
    pub(super) fn objects(&self) -> impl Iterator<Item = ContentHash> {
        let changes = self.open.values().flatten().map(|(_, change)| change);
        changes.flat_map(|change| [&change.before, &change.after]).flatten().filter_map(Record::hash)
    }

    /// Whether no call is open.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets the jobs that have ended: what they did until now has just been attributed.
    pub(super) fn forget_ended(&mut self, is_alive: impl Fn(&str) -> bool) {
        self.jobs.retain(|job| is_alive(job));
    }

    /// A call ends, a capture has just been made: what it did comes back.
    pub(super) fn end(&mut self, call: CallNo) -> Vec<(Grade, FileChange)> {
        self.open.remove(&call).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use retake_core::FilePath;

    use super::*;

    fn found(names: &[&str], late: &[&str]) -> Findings {
        let change = |name: &&str| FileChange {
            path: FilePath::new(name.as_bytes()).unwrap(),
            before: None,
            after: None,
        };
        Findings {
            changes: names.iter().map(change).collect(),
            late: late.iter().map(change).collect(),
            ..Findings::default()
        }
    }

    fn names(changes: &[(Grade, FileChange)]) -> Vec<(Grade, String)> {
        changes.iter().map(|(grade, change)| (*grade, change.path.to_string())).collect()
    }

    #[test]
    fn what_one_call_did_is_seen_and_what_several_did_is_ambiguous() {
        let mut calls = Calls::default();
        assert_eq!(calls.attribute(&found(&["mine"], &[])).len(), 1);
        let first = calls.begin();
        assert!(calls.attribute(&found(&["a"], &["late"])).is_empty());
        let second = calls.begin();
        assert!(calls.attribute(&found(&["b"], &[])).is_empty());
        let own = |grade, name: &str| (grade, name.to_owned());
        let both = own(Grade::Ambiguous, "b");
        let first = names(&calls.end(first));
        assert_eq!(first, [own(Grade::Seen, "a"), own(Grade::Ambiguous, "late"), both.clone()]);
        assert!(calls.attribute(&found(&["c"], &[])).is_empty());
        assert_eq!(names(&calls.end(second)), [both, own(Grade::Seen, "c")]);
        assert_eq!(calls.attribute(&found(&["mine"], &["too"])).len(), 2);
    }

    #[test]
    fn while_a_job_runs_nobody_knows() {
        let mut calls = Calls { jobs: vec!["c1".into()], ..Calls::default() };
        let call = calls.begin();
        calls.attribute(&found(&["a"], &[]));
        assert_eq!(names(&calls.end(call)), [(Grade::Ambiguous, "a".to_owned())]);
        calls.forget_ended(|_| false);
        let call = calls.begin();
        calls.attribute(&found(&["b"], &[]));
        assert_eq!(names(&calls.end(call)), [(Grade::Seen, "b".to_owned())], "its own again");
    }
}
