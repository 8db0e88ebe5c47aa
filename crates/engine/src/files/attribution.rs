//! Finds the author of a change: changes between two captures belong to the calls that were open then. A change without an open
//! call is the person's.

use retake_core::{EntryId, FileChange, Grade, Uncertain};
use retake_store::{CapturedCallChanges, OpenCall};
use retake_worktree::Findings;

/// The calls that may change a workspace.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Running calls, in the order in which they began.
    open: Vec<OpenCall>,
    /// Ended calls whose processes may still run.
    jobs: Vec<OpenCall>,
    /// The ids of calls that were interrupted before they had a result.
    cut_off: Vec<String>,
}

/// Changes with their authors.
#[derive(Debug, Default)]
pub(super) struct Attributed {
    /// Changes without a call.
    pub(super) unowned: Vec<FileChange>,
    /// Changes of calls, at most one call for each conversation.
    pub(super) owned: Vec<CapturedCallChanges>,
}

impl Calls {
    /// The state after a restart: no call runs. Processes of `jobs` may still run. Calls with an id in `cut_off` have no
    /// result.
    pub(super) fn after_restart(jobs: Vec<OpenCall>, cut_off: Vec<String>) -> Self {
        Self { open: Vec::new(), jobs, cut_off }
    }

    /// Registers a call that begins. A capture has just been made.
    pub(super) fn begin(&mut self, call: OpenCall) {
        self.open.push(call);
    }

    /// Attributes the changes. A call that was open alone is the author. If several were open, or a job of an earlier call, the
    /// author is not certain: the newest call of each conversation gets the changes, as ambiguous. Changes that are found late
    /// may have happened at any time.
    pub(super) fn attribute(&self, findings: &Findings) -> Attributed {
        let mut owners: Vec<&OpenCall> = Vec::new();
        for call in self.open.iter().rev().chain(self.jobs.iter().rev()) {
            if owners.iter().all(|owner| owner.conversation != call.conversation) {
                owners.push(call);
            }
        }
        if owners.is_empty() {
            let unowned = findings.changes.iter().chain(&findings.late).cloned().collect();
            return Attributed { unowned, owned: Vec::new() };
        }
        let grade = self.grade();
        let found = findings.changes.iter().map(|change| (grade, change.clone()));
        let late = findings.late.iter().map(|change| (Grade::Ambiguous(Uncertain::Late), change.clone()));
        let changes: Vec<_> = found.chain(late).collect();
        // Late changes may be anybody's.
        let candidates = if findings.late.is_empty() { self.candidates() } else { Vec::new() };
        let owned = owners.into_iter().map(|call| CapturedCallChanges {
            conversation: call.conversation,
            entry: call.entry,
            changes: changes.clone(),
            candidates: candidates.clone(),
        });
        Attributed {
            unowned: Vec::new(),
            owned: if changes.is_empty() { Vec::new() } else { owned.collect() },
        }
    }

    /// The answers whose calls may have made ambiguous changes. Empty if somebody else may have, too: calls of several
    /// conversations were open, or a job was at work, beside which a person works for hours.
    fn candidates(&self) -> Vec<EntryId> {
        let mut entries: Vec<EntryId> = self.open.iter().map(|call| call.entry).collect();
        entries.sort_unstable();
        entries.dedup();
        let is_one = self.open.windows(2).all(|calls| calls[0].conversation == calls[1].conversation);
        if self.open.len() > 1 && is_one && self.jobs.is_empty() { entries } else { Vec::new() }
    }

    /// The grade for changes that are found now.
    fn grade(&self) -> Grade {
        let is_cut_off = |job: &OpenCall| self.cut_off.contains(&job.id);
        match (self.open.len(), self.jobs.is_empty()) {
            (0 | 1, false) if self.jobs.iter().any(is_cut_off) => Grade::Ambiguous(Uncertain::CutOff),
            (0 | 1, false) => Grade::Ambiguous(Uncertain::Job),
            (1, true) => Grade::Seen,
            _ => Grade::Ambiguous(Uncertain::Several),
        }
    }

    /// Whether no call is open.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// The jobs that have ended. Must be checked before a capture: changes just before a job's end still belong to it.
    pub(super) fn ended(&self, is_alive: impl Fn(&str) -> bool) -> Vec<String> {
        self.jobs.iter().map(|job| &job.id).filter(|id| !is_alive(id)).cloned().collect()
    }

    /// Whether processes of ended calls still run, apart from these calls.
    pub(super) fn linger(&self, over: &[String]) -> bool {
        self.jobs.iter().any(|job| !over.contains(&job.id))
    }

    /// Removes ended jobs after their changes were attributed.
    pub(super) fn forget(&mut self, ended: &[String]) {
        self.jobs.retain(|job| !ended.contains(&job.id));
        self.cut_off.retain(|id| !ended.contains(id));
    }

    /// Registers the end of a call. With `lives`, its processes still run.
    pub(super) fn end(&mut self, id: &str, lives: bool) {
        let Some(at) = self.open.iter().position(|call| call.id == id) else { return };
        let call = self.open.remove(at);
        self.jobs.extend(lives.then_some(call));
    }
}

#[cfg(test)]
mod tests {
    use retake_core::WorkspaceNo;
    use retake_core::{ConversationId, EntryId, FilePath};
    use uuid::Uuid;

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

    /// A call of a conversation.
    fn call(id: u128, conversation: u128) -> OpenCall {
        OpenCall {
            id: id.to_string(),
            workspace: WorkspaceNo(1),
            conversation: ConversationId::new(Uuid::from_u128(conversation)),
            entry: EntryId::new(Uuid::from_u128(id)),
        }
    }

    /// The call, its grade, and the path of each change.
    fn told(calls: &Calls, findings: &Findings) -> Vec<String> {
        let attributed = calls.attribute(findings);
        let unowned = attributed.unowned.iter().map(|change| format!("nobody {}", change.path));
        let owned = attributed.owned.iter().flat_map(|owned| {
            let no = owned.entry.uuid().as_u128();
            owned.changes.iter().map(move |(grade, change)| format!("{no} {grade:?} {}", change.path))
        });
        unowned.chain(owned).collect()
    }

    #[test]
    fn change_of_one_open_call_is_seen_and_of_several_ambiguous() {
        let mut calls = Calls::default();
        assert_eq!(told(&calls, &found(&["mine"], &["too"])), ["nobody mine", "nobody too"]);
        calls.begin(call(1, 1));
        assert!(told(&calls, &found(&[], &[])).is_empty());
        assert_eq!(told(&calls, &found(&["a"], &["late"])), ["1 Seen a", "1 Ambiguous(Late) late"]);
        calls.begin(call(2, 2));
        assert_eq!(told(&calls, &found(&["b"], &[])), ["2 Ambiguous(Several) b", "1 Ambiguous(Several) b"]);
        calls.begin(call(3, 1));
        assert_eq!(
            told(&calls, &found(&["b"], &[])),
            ["3 Ambiguous(Several) b", "2 Ambiguous(Several) b"],
            "once in each"
        );
        calls.end("1", false);
        calls.end("2", false);
        assert_eq!(told(&calls, &found(&["c"], &[])), ["3 Seen c"]);
        calls.end("3", false);
        assert_eq!(told(&calls, &found(&["mine"], &[])), ["nobody mine"]);
    }

    #[test]
    fn candidates_are_known_if_only_calls_of_one_conversation_were_open() {
        let mut calls = Calls::default();
        let of = |calls: &Calls, found: &Findings| -> Vec<u128> {
            let owned = calls.attribute(found).owned;
            owned[0].candidates.iter().map(|entry| entry.uuid().as_u128()).collect()
        };
        calls.begin(call(1, 1));
        assert!(of(&calls, &found(&["a"], &[])).is_empty(), "one call is no question");
        calls.begin(call(2, 1));
        assert_eq!(of(&calls, &found(&["a"], &[])), [1, 2]);
        assert!(of(&calls, &found(&["a"], &["late"])).is_empty(), "it may have happened at any time");
        calls.begin(call(3, 2));
        assert!(of(&calls, &found(&["a"], &[])).is_empty(), "another conversation");
        calls.end("3", true);
        assert!(of(&calls, &found(&["a"], &[])).is_empty(), "a job");
    }

    #[test]
    fn change_during_a_job_belongs_to_the_job_until_it_ends() {
        let mut calls = Calls::after_restart(vec![call(1, 1)], vec!["1".to_owned()]);
        calls.begin(call(2, 2));
        calls.end("2", true);
        assert_eq!(told(&calls, &found(&["a"], &[])), ["2 Ambiguous(CutOff) a", "1 Ambiguous(CutOff) a"]);
        calls.begin(call(3, 1));
        assert_eq!(told(&calls, &found(&["a"], &[])), ["3 Ambiguous(CutOff) a", "2 Ambiguous(CutOff) a"]);
        calls.end("3", false);
        let ended = calls.ended(|id| id == "2");
        assert_eq!(ended, ["1"]);
        calls.forget(&ended);
        assert_eq!(told(&calls, &found(&["a"], &[])), ["2 Ambiguous(Job) a"]);
        calls.forget(&calls.ended(|_| false));
        assert_eq!(told(&calls, &found(&["mine"], &[])), ["nobody mine"]);
    }
}
