//! What is told of a step's files as a whole.

use super::*;
use crate::files::Choice;
use crate::files::testing::{World, planned, wanted_path};

/// A plan that takes a delta back where the folder has this.
fn plan(now: char, choice: Option<Choice>) -> FilePlan {
    let choice: Vec<_> = choice.into_iter().map(|choice| ("a", choice)).collect();
    planned(vec![wanted_path("a", &[(1, "ab")], &[])], &choice, &mut World::of(&[("a", now)])).unwrap()
}

fn calls(calls: u64) -> Option<[Totals; 2]> {
    Some([Totals { calls, ..Totals::default() }, Totals::default()])
}

fn extent(scope: Scope, plans: &[FilePlan], messages: Option<[Totals; 2]>) -> FilesExtent {
    FilesExtent::new(scope, plans.iter(), messages)
}

#[test]
fn step_says_why_no_file_changes() {
    let (changes, unchanged) = ([plan('b', None)], [plan('a', None)]);
    let rows = [
        (extent(Scope::Both, &[], calls(0)), Some(FilesRemark::NoFileChanges)),
        (extent(Scope::Conversation, &[], calls(0)), Some(FilesRemark::NoFileChanges)),
        (extent(Scope::Conversation, &[], calls(1)), Some(FilesRemark::ConversationOnly)),
        (extent(Scope::Both, &[], calls(1)), Some(FilesRemark::NoCoveredFileChanges)),
        // Of files alone no message says whether calls are concerned.
        (extent(Scope::Files, &[], None), Some(FilesRemark::NoCoveredFileChanges)),
        (extent(Scope::Both, &unchanged, calls(1)), Some(FilesRemark::Unchanged)),
        (extent(Scope::Both, &changes, calls(1)), None),
    ];
    for (extent, remark) in rows {
        assert_eq!(extent.unchanged(), remark, "{extent:?}");
    }
    // What a person has chosen to keep is told, although it stays.
    let kept = [plan('b', Some(Choice::Disk))];
    assert_eq!(extent(Scope::Both, &kept, calls(1)).unchanged(), None);
}

#[test]
fn plan_of_changes_names_the_number_of_folders() {
    let plans = [plan('b', None), FilePlan::default()];
    assert_eq!(extent(Scope::Both, &plans, calls(1)).before(), FilesRemark::CoveredFoldersOnly(2));
    assert_eq!(extent(Scope::Both, &[], calls(0)).before(), FilesRemark::NoFileChanges);
}

#[test]
fn steps_together_change_files_if_one_does() {
    let idle = extent(Scope::Both, &[], calls(0));
    let changes = extent(Scope::Both, &[plan('b', None)], calls(1));
    for both in [idle.and(changes), changes.and(idle)] {
        assert_eq!((both.unchanged(), both.before()), (None, FilesRemark::CoveredFoldersOnly(1)));
    }
    assert_eq!(idle.and(idle).unchanged(), Some(FilesRemark::NoFileChanges));
    let conversation = extent(Scope::Conversation, &[], calls(1));
    assert_eq!(idle.and(conversation).unchanged(), Some(FilesRemark::ConversationOnly));
}

#[test]
fn repeated_request_says_that_no_file_changed_only_where_no_call_moved() {
    let totals = |calls| Totals { calls, ..Totals::default() };
    assert_eq!(FilesExtent::repeated([totals(0), totals(0)], false), Some(FilesRemark::NoFileChanges));
    assert_eq!(FilesExtent::repeated([totals(0), totals(1)], false), None);
    assert_eq!(FilesExtent::repeated([totals(0), totals(0)], true), None);
}
