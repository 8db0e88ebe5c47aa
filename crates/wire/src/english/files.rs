//! The English sentences about single paths. Must never say “somebody else” about changes by a turn of this conversation.

use crate::condition::{PathCause, PathChange, UncertainWhen};
use crate::files::{AfterChoice, AuthorKind, BlockingAuthor, Choice, ChoiceOutcome};

/// Why a path stays as it is.
pub fn path_cause(it: &PathCause) -> String {
    match it {
        PathCause::Clash { by, change, uncertain } => clash(by, *change, *uncertain),
        PathCause::FolderInTheWay => {
            "a folder is in its place, and not all in it can be taken away: move it elsewhere".to_owned()
        }
        PathCause::NoParent { by } => {
            let by = by.as_ref().map(|by| format!(": {} changed that", author(by))).unwrap_or_default();
            format!("the folder that it belongs in is no longer a folder{by}")
        }
        PathCause::Needed => "what comes back belongs into it".to_owned(),
        PathCause::NotEmpty { by: None } => "something else is in it".to_owned(),
        PathCause::NotEmpty { by: Some(by) } => match by.whose {
            AuthorKind::Git => "git keeps something in it".to_owned(),
            AuthorKind::Uncovered => "what is in it is not covered".to_owned(),
            _ => format!("{} put something into it", author(by)),
        },
        PathCause::MadeSince { by } => format!("{} made it since", author(by)),
        PathCause::Uncertain { when } => changed(when),
        PathCause::KeepsUncertain { when } => format!("an uncertain change stays in it: {}", changed(when)),
        PathCause::MovedWithGit => {
            "it was moved with what git keeps there: the folder moves back as a whole".to_owned()
        }
        PathCause::GitHead => {
            "it is what git's HEAD has, which a command moved: only git goes back there".to_owned()
        }
        PathCause::NotCovered { cause } => format!("not covered: {}", super::uncovered_cause(cause)),
        PathCause::Undecided => "stays as it is, undecided: a later step asks again".to_owned(),
        PathCause::ChosenDisk => "stays as it is and counts as yours: not asked again".to_owned(),
        PathCause::WrittenMeanwhile => "somebody wrote there meanwhile".to_owned(),
        PathCause::Unreachable => "its folder is gone, is a link, or is elsewhere".to_owned(),
        PathCause::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// A path that a step left as it is, with the name that the reader sees.
pub fn left_path(name: &str, cause: &PathCause, kept: &[String]) -> String {
    let kept = if kept.is_empty() { String::new() } else { format!("; it is kept in {}", kept.join(", ")) };
    format!("{name}: {}{kept}", path_cause(cause))
}

/// The version of a file after a choice.
pub fn after_choice(it: &AfterChoice) -> String {
    let turn = turn(it.turn);
    let whole = if it.partly { format!("a call of {turn}") } else { turn };
    let file = match it.becomes {
        ChoiceOutcome::Stays if it.call.is_some() => format!("stays as {whole} left it"),
        ChoiceOutcome::Stays => "stays as it is now".to_owned(),
        ChoiceOutcome::Gone => "is removed".to_owned(),
        ChoiceOutcome::Left => format!("as {whole} left it"),
        ChoiceOutcome::Before => format!("as it was before {whole}"),
        ChoiceOutcome::Yours => "as you or another program left it last".to_owned(),
        ChoiceOutcome::Merged => "holds what both sides did".to_owned(),
        ChoiceOutcome::Other => "becomes an earlier version".to_owned(),
    };
    match (&it.choice, it.becomes) {
        (Choice::Skip, _) => format!("{file}, undecided: a later step asks again"),
        // The last version by another author may be the current one: then both are the same.
        (Choice::Disk, _) | (Choice::Yours, ChoiceOutcome::Stays) => {
            format!("{file} and counts as yours: not asked again")
        }
        // Turns that stay wrote between or after the reverted ones: this version never existed.
        (Choice::Checkpoint, ChoiceOutcome::Other) => {
            "loses what goes and all edits since the last turn that changed it; undo brings back what it is now"
                .to_owned()
        }
        (Choice::Checkpoint, ChoiceOutcome::Left | ChoiceOutcome::Before | ChoiceOutcome::Gone) | (Choice::Yours, _) => {
            format!("{file}; undo brings back what it is now")
        }
        _ => file,
    }
}

/// The author of a change, as the subject of a sentence in the past tense.
fn author(by: &BlockingAuthor) -> String {
    match by.whose {
        AuthorKind::Later | AuthorKind::There | AuthorKind::Missing => turn(by.turn),
        AuthorKind::Hand => "you or another program".to_owned(),
        AuthorKind::Git => "git".to_owned(),
        AuthorKind::Uncovered => "somebody".to_owned(),
        AuthorKind::Others => "somebody else".to_owned(),
    }
}

fn turn(number: Option<u64>) -> String {
    number.map_or_else(|| "a turn of another branch".to_owned(), |number| format!("t{number}"))
}

fn clash(by: &BlockingAuthor, change: PathChange, uncertain: bool) -> String {
    let who = author(by);
    match (by.whose, change) {
        (AuthorKind::Later, change) => {
            let may = if uncertain { "may have " } else { "" };
            let what = match change {
                PathChange::Removed => "removed it",
                PathChange::Made => "made it",
                PathChange::Permissions => "changed its permissions",
                PathChange::Kind => "made another kind of thing of it",
                PathChange::SamePlace => "changed the same place",
                PathChange::File | PathChange::Folder => "changed this file",
            };
            format!("{who} {may}{what} later")
        }
        (AuthorKind::There, PathChange::Removed) => format!("{who} removed it"),
        (AuthorKind::There, PathChange::Made) => format!("{who} made it, too"),
        (AuthorKind::There, _) => format!("it is as {who} left it, which changed the same place"),
        (AuthorKind::Missing, _) => format!("it goes on from what {who} did, and that is not there"),
        (AuthorKind::Git, _) => "the folder in its place holds what git keeps for itself".to_owned(),
        (AuthorKind::Uncovered, _) => "the folder in its place holds what is not covered".to_owned(),
        (AuthorKind::Hand | AuthorKind::Others, change) => {
            let what = match change {
                PathChange::SamePlace => "changed the same place",
                PathChange::Permissions => "changed its permissions, too",
                PathChange::Kind => "made another kind of thing of it",
                PathChange::Removed => "removed it",
                PathChange::Made => "made something there",
                PathChange::File | PathChange::Folder => "changed the folder that it is in",
            };
            format!("{who} {what}")
        }
    }
}

/// When a path changed, if that makes the author uncertain.
fn changed(when: &[UncertainWhen]) -> String {
    let words = |when: &UncertainWhen| match when {
        UncertainWhen::Unrecorded => {
            "while several calls or a background job ran, or around a call that was cut off"
        }
        UncertainWhen::Late => "at a time that is not known, as the change was found late",
        UncertainWhen::Job => "while a background job ran",
        UncertainWhen::CutOff => "around a call that was cut off",
        UncertainWhen::Several => "while several calls ran",
    };
    let when: Vec<&str> = when.iter().map(words).collect();
    format!("it changed {}: nobody knows whose change it is", when.join(", and "))
}
