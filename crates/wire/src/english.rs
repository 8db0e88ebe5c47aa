//! The English sentences for problems, conditions, causes, notices and remedies. Clients show them, and the server fills the
//! `message` and the `hint` of a problem, and the deprecated text fields of the API with them. Must never decide anything.
//!
//! The sentences and hints for problems are tables by code (`problem/sentences.rs`, `problem/hints.rs`); a translation is another
//! table.

mod call_refusal;
mod cause;
mod files;
mod folder;
mod gateway;
mod mcp;
mod notice;
mod op_summary;
mod problem;
mod report;
#[cfg(test)]
mod rows;
mod sandbox;

use crate::condition::{Condition, MarkCount, StepRefusal, UncoveredPath};
use crate::hint::Remedy;
use crate::mark::{Mark, MarkVerb};
use crate::problem::Problem;

pub use call_refusal::{call_ended, call_refusal, effect_without_words};
pub use cause::{
    ask_cause, effort, facts_from, model_cause, read_only_cause, unavailable_cause, uncovered_cause,
};
pub use files::{after_choice, left_path, path_cause};
pub use gateway::{gateway_remedy, gateway_trouble};
pub use mcp::{mcp_approval, mcp_remark};
pub use notice::{model_failure, never_captured, owner_silent, run_notice, run_notice_or};
pub use op_summary::{next_redo, next_undo, op_summary, operation, planned_step, step_made, steps};
pub use problem::{has_sentence, hint, problem};
pub use report::{finding, repair};
pub use sandbox::{sandbox_cause, sandbox_fact};

/// Why a rewind to before a turn is not possible without stopping a run.
pub const RUN_AT_WORK: &str = "a model is answering; stop it first";

/// The sentence for a code that only newer versions know.
const UNKNOWN: &str = "this version of Retake does not know what the owner says here; a newer one does";

/// The sentence for a condition. `command` gives the client's command for a remedy.
pub fn condition(it: &Condition, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        Condition::NoFileChanges => "files stay as they are: these messages changed none".to_owned(),
        Condition::ConversationOnly => "files are not touched: only the conversation goes back".to_owned(),
        Condition::NoCoveredFileChanges => "no file changes that Retake keeps track of".to_owned(),
        Condition::FilesUnchanged => "no file changes: all are already in this state".to_owned(),
        Condition::CoveredFoldersOnly { folders } => format!(
            "only files of {} go back: not what commands did elsewhere, nor what git keeps for itself",
            if *folders > 1 { "these folders" } else { "this folder" }
        ),
        Condition::NotCovered { paths, more, at_least } => not_covered(paths, *more, *at_least, command),
        Condition::UnseenCalls { calls } => {
            format!("what {calls} earlier calls changed can't be seen either")
        }
        Condition::UnseenCall { call, why, .. } => format!("what `{call}` changed can't be seen: {why}"),
        Condition::CutOffCall { call } => {
            format!("what `{call}` did is not known: it was cut off before there was a result")
        }
        Condition::CutOffCalls { calls: 1 } => "one more call was cut off".to_owned(),
        Condition::CutOffCalls { calls } => format!("{calls} more calls were cut off"),
        Condition::JobEnded { job } => format!("the job `{job}` does not run again"),
        Condition::Adopted { files: 1 } => {
            "1 file becomes your own: later steps treat it as your edit".to_owned()
        }
        Condition::Adopted { files } => {
            format!("{files} files become your own: later steps treat them as your edits")
        }
        Condition::Returned { files: 1 } => "1 file belongs to its turn again".to_owned(),
        Condition::Returned { files } => format!("{files} files belong to their turns again"),
        Condition::MemoryChanges { gone, came } => memory_changes(*gone, *came),
        Condition::MarksStay { head, marks, verbs } => marks_stay(head, marks, verbs, command),
        Condition::OfParent { parent, files, named, turn } => {
            of_parent((parent, *files), named, *turn, command)
        }
        Condition::InFolder { folder: None, remark } => folder::remark(remark, command),
        Condition::InFolder { folder: Some(folder), remark } => {
            format!("in {folder}: {}", folder::remark(remark, command))
        }
        Condition::FolderGone { folder, missing: true, .. } => {
            format!("the workspace's folder {folder} is not there: what was changed in it stays")
        }
        Condition::FolderGone { folder, cause, why, .. } => {
            let why = cause.as_ref().map(notice::because).or_else(|| why.clone());
            let why = why.map(|why| format!("{why}; ")).unwrap_or_default();
            format!("the folder {folder} cannot be opened: {why}what was changed in it stays")
        }
        Condition::Unknown => UNKNOWN.to_owned(),
        erasure => of_erasure(erasure, command),
    }
}

/// The sentence for a condition of an erasure.
fn of_erasure(it: &Condition, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        Condition::NothingToErase => {
            "no message, title, label or version of a file here holds it; words that were not sent yet are searched when it is done"
                .to_owned()
        }
        Condition::AlreadyErased => "what is named here is erased already: nothing is left of it".to_owned(),
        Condition::ErasesMessages { messages, conversation: None } => {
            format!("{} would be erased", count(*messages, "message"))
        }
        Condition::ErasesMessages { messages, conversation: Some(id) } => format!(
            "{} would be erased in the conversation {id}, too: a fork and what it was forked from are erased together",
            count(*messages, "message")
        ),
        Condition::ErasesInForks { messages } => {
            format!("{} would be erased in further forks", count(*messages, "message"))
        }
        Condition::ErasesSteps { steps } => {
            format!("{} with a title, a label or a name would be erased", count(*steps, "step"))
        }
        Condition::ErasesPaths { paths, named } => format!(
            "what is kept of {} goes too, and can't go back any more: {}{}; what is in the folder now stays as it is",
            count(*paths, "path"),
            named.join(", "),
            if *paths > named.len() as u64 { ", …" } else { "" },
        ),
        Condition::ErasesVersions { versions } => format!("{} would be erased", of_files(*versions)),
        Condition::ErasedVersions { versions } => format!("erased {}", of_files(*versions)),
        Condition::KeepsSharedVersions { versions } => {
            format!("kept {}: other commands, captures or conversations name the same bytes", of_files(*versions))
        }
        Condition::KeepsCurrentVersions { versions } => {
            format!("kept {}: so a file is now; change or remove it there, then erase again", of_files(*versions))
        }
        Condition::LostVersions { versions } => {
            format!("{} beside them had been damaged before, and could not be kept", count(*versions, "version"))
        }
        Condition::OthersNotSearched { problem: why } => {
            format!("other conversations could not be searched: {}", problem(why))
        }
        Condition::OthersContain { count, conversations, more } => {
            let contain = match count {
                1 => "1 other conversation contains".to_owned(),
                _ => format!("{count} other conversations, forks included, contain"),
            };
            let erase = |id: &String| command(&Remedy::Erase { conversation: id.clone() });
            let commands = conversations.iter().map(erase).collect::<Vec<_>>().join(", ");
            let more = if *more { ", …" } else { "" };
            format!("{contain} the text, too. Erase it there with the same TEXT: {commands}{more}")
        }
        Condition::EraseIsFinal => "erased content cannot be brought back by any command".to_owned(),
        // Not about an erasure: `condition` has the sentences for these.
        Condition::NoFileChanges
        | Condition::ConversationOnly
        | Condition::NoCoveredFileChanges
        | Condition::FilesUnchanged
        | Condition::CoveredFoldersOnly { .. }
        | Condition::NotCovered { .. }
        | Condition::UnseenCalls { .. }
        | Condition::UnseenCall { .. }
        | Condition::CutOffCall { .. }
        | Condition::CutOffCalls { .. }
        | Condition::JobEnded { .. }
        | Condition::Adopted { .. }
        | Condition::Returned { .. }
        | Condition::MemoryChanges { .. }
        | Condition::MarksStay { .. }
        | Condition::OfParent { .. }
        | Condition::InFolder { .. }
        | Condition::FolderGone { .. }
        | Condition::Unknown => UNKNOWN.to_owned(),
    }
}

/// The sentence for facts that are taken back, and for those that come back.
fn memory_changes(gone: u64, came: u64) -> String {
    let is_gone = if gone == 1 { "is taken back" } else { "are taken back" };
    let comes = if came == 1 { "comes back" } else { "come back" };
    let facts = |number| count(number, "remembered fact");
    match (gone, came) {
        (gone, 0) => format!("{} {is_gone}", facts(gone)),
        (0, came) => format!("{} {comes}", facts(came)),
        _ => format!("{} {is_gone}, and {came} {comes}", facts(gone)),
    }
}

/// The sentence for marks that differ from those at a head, with the actions that set these again.
fn marks_stay(
    head: &str,
    marks: &[MarkCount],
    verbs: &[MarkVerb],
    command: &dyn Fn(&Remedy) -> String,
) -> String {
    let now = |it: &MarkCount| if it.mark == Mark::Normal { "shown" } else { it.mark.name() };
    let pieces = marks.iter().enumerate().map(|(at, it)| match at {
        0 => format!("{} {}", count(it.messages, "message"), now(it)),
        _ => format!("{} {}", it.messages, now(it)),
    });
    let pieces = pieces.collect::<Vec<_>>().join(", ");
    let back = verbs.iter().map(|verb| command(&Remedy::Mark { verb: *verb })).collect::<Vec<_>>().join(", ");
    format!("marks stay as they are now, not as at {head}: {pieces}; take that back with {back}")
}

/// The sentence for files that stay as turns of an ancestor left them, with the command that reverts them there.
fn of_parent(
    (parent, files): (&str, u64),
    named: &[String],
    turn: Option<u64>,
    command: &dyn Fn(&Remedy) -> String,
) -> String {
    let stay = if files == 1 { "1 file stays".to_owned() } else { format!("{files} files stay") };
    let more = if files > named.len() as u64 { " …" } else { "" };
    let way = turn.map(|turn| command(&Remedy::RewindFiles { conversation: parent.to_owned(), turn }));
    let way = way.map(|way| format!("; {way} takes them back there")).unwrap_or_default();
    format!(
        "{stay} as turns of the conversation that this one was forked from left them: {}{more}{way}",
        named.join(", ")
    )
}

fn not_covered(
    paths: &[UncoveredPath],
    more: u64,
    at_least: bool,
    command: &dyn Fn(&Remedy) -> String,
) -> String {
    let names: Vec<String> =
        paths.iter().map(|it| format!("{} ({})", it.path, cause::uncovered(&it.cause, command))).collect();
    let more = match (more, at_least) {
        (0, _) => String::new(),
        (more, false) => format!(", and {more} more"),
        (more, true) => format!(", and at least {more} more"),
    };
    format!("not covered, stays as it is: {}{more}", names.join(", "))
}

/// How a command ended.
pub fn exit_code(code: i32) -> String {
    format!("exit code {code}")
}

/// What failed, with its causes.
pub fn problem_with_causes(it: &Problem) -> String {
    let sentence = problem(it);
    std::iter::once(&sentence).chain(&it.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
}

/// What failed, with its causes, and what to do next. `command` gives the client's command for a remedy.
pub fn problem_with_hint(it: &Problem, command: &dyn Fn(&Remedy) -> String) -> String {
    let hint = hint(it).map(|hint| hint.worded(command));
    std::iter::once(problem_with_causes(it)).chain(hint).collect::<Vec<_>>().join("; ")
}

/// Why one of several steps was refused.
pub fn step_refusal(it: &StepRefusal) -> String {
    match it {
        StepRefusal::Conflict { name, cause } => format!("{}: {}", name.path, path_cause(cause)),
        StepRefusal::ConflictBefore => {
            "its files were in conflict when this was asked for first; look at its plan".to_owned()
        }
        StepRefusal::Refused { problem: why } => problem(why),
        StepRefusal::Unknown => UNKNOWN.to_owned(),
    }
}

/// A remedy as text for a reader without commands, such as a program that shows a text field unchanged.
pub fn remedy(it: &Remedy) -> String {
    match it {
        Remedy::Erase { conversation } => conversation.clone(),
        Remedy::Restore { head: Some(head) } => format!("restore {head}"),
        Remedy::Mark { verb } => verb.name().to_owned(),
        Remedy::PutBack { path, kept: None, .. } => format!("remove {path}"),
        Remedy::PutBack { path, kept: Some(kept), .. } => format!("write {kept} to {path}"),
        Remedy::RewindFiles { conversation, turn } => {
            format!("a rewind of the files of turn {turn} in the conversation {conversation}")
        }
        other => {
            let name =
                serde_json::to_value(other).ok().and_then(|it| Some(it.get("do")?.as_str()?.to_owned()));
            name.unwrap_or_default().replace('_', " ")
        }
    }
}

fn of_files(versions: u64) -> String {
    format!("{} of a file", count(versions, "version"))
}

pub(crate) fn count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_go_and_come_are_one_sentence() {
        for (gone, came, sentence) in [
            (1, 0, "1 remembered fact is taken back"),
            (2, 0, "2 remembered facts are taken back"),
            (0, 1, "1 remembered fact comes back"),
            (0, 3, "3 remembered facts come back"),
            (1, 2, "1 remembered fact is taken back, and 2 come back"),
            (2, 1, "2 remembered facts are taken back, and 1 comes back"),
        ] {
            assert_eq!(condition(&Condition::MemoryChanges { gone, came }, &remedy), sentence);
        }
    }

    #[test]
    fn code_of_a_newer_owner_is_read_and_has_a_sentence() {
        let newer = |tag: &str| serde_json::json!({ tag: "not_known_yet", "field": 1 });
        let read = serde_json::from_value(newer("code")).expect("a condition");
        assert_eq!(condition(&read, &remedy), UNKNOWN);
        let read = serde_json::from_value(newer("code")).expect("a cause");
        assert_eq!(path_cause(&read), UNKNOWN);
        let read = serde_json::from_value(newer("code")).expect("a refusal");
        assert_eq!(step_refusal(&read), UNKNOWN);
        let read: Remedy = serde_json::from_value(newer("do")).expect("a remedy");
        assert_eq!(read, Remedy::Unknown);
    }
}
