//! The options for files as the engine takes them, and the engine's plans and results as the wire has them. It only translates.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{
    BadFilePath, Choice, Chosen, DeltaId, EntryId, FilePath, FileTotals, FilesRemark, Grade, LeftPath,
    LeftReason, PathPlan, Unanswered, Verdict,
};
use retake_engine::{FileOptions, Scope, Uncaptured, UnseenReason, named_in, shown_in};
use retake_wire::{
    Condition, PathCause, Problem, ProblemCode, ProblemKind, UncoveredCause, UncoveredPath, english,
};

use super::authors::Origins;
use crate::convert::{self, git_file, misused, own_problem, uncovered_cause};

pub(in crate::dispatch) fn file_options(files: &retake_wire::FileOptions) -> Result<FileOptions, Problem> {
    let scope = match files.scope {
        retake_wire::Scope::Both => Scope::Both,
        retake_wire::Scope::Conversation => Scope::Conversation,
        retake_wire::Scope::Files => Scope::Files,
    };
    let nothing_to_choose = files.choose.is_empty() && !files.exact && files.seen.is_none();
    if scope == Scope::Conversation && !nothing_to_choose {
        return Err(misused("choices_without_files", &[]));
    }
    let mut chosen = Chosen { others: files.exact.then_some(Choice::Checkpoint), ..Chosen::default() };
    let mut elsewhere = BTreeMap::new();
    for choose in &files.choose {
        let (name, choice) = (bytes_in(&choose.name)?, choice_in(&choose.choice)?);
        if name.starts_with(b"/") {
            elsewhere.insert(PathBuf::from(OsString::from_vec(name)), choice);
        } else {
            let bad = |error: BadFilePath| {
                let fields = [("path", error.path().into()), ("what", error.why().name().into())];
                own_problem(ProblemKind::Usage, "bad_path", &fields)
            };
            chosen.paths.insert(FilePath::new(&name).map_err(bad)?, choice);
        }
    }
    let seen = files.seen.as_deref().map(unhex).transpose()?;
    Ok(FileOptions { scope, chosen, elsewhere, seen, stop: files.stop, ..FileOptions::default() })
}

/// The bytes of a given name.
pub(in crate::dispatch) fn bytes_in(name: &retake_wire::FileName) -> Result<Vec<u8>, Problem> {
    match &name.path_base64 {
        Some(text) => {
            BASE64.decode(text).map_err(|_| misused("base64", &[("parameter", "path_base64".into())]))
        }
        None => Ok(name.path.clone().into_bytes()),
    }
}

/// The name of a path in a folder; without one, in the conversation's own.
pub(in crate::dispatch) fn name(folder: Option<&Path>, path: &FilePath) -> retake_wire::FileName {
    match String::from_utf8(named_in(folder, path)) {
        Ok(text) => retake_wire::FileName { path: text, path_base64: None },
        Err(error) => {
            let path_base64 = Some(BASE64.encode(error.as_bytes()));
            retake_wire::FileName { path: shown_in(folder, path), path_base64 }
        }
    }
}

fn choice_in(choice: &retake_wire::Choice) -> Result<Choice, Problem> {
    Ok(match choice {
        retake_wire::Choice::Disk => Choice::Disk,
        retake_wire::Choice::Yours => Choice::Yours,
        retake_wire::Choice::Checkpoint => Choice::Checkpoint,
        retake_wire::Choice::Merge => Choice::Merge,
        retake_wire::Choice::Skip => Choice::Skip,
        retake_wire::Choice::Hunks(numbers) if numbers.is_empty() => {
            return Err(misused("no_hunk", &[]));
        }
        retake_wire::Choice::Hunks(numbers) => {
            let mut numbers = numbers.clone();
            numbers.sort_unstable();
            numbers.dedup();
            Choice::Hunks(numbers)
        }
    })
}

pub(in crate::dispatch) fn path_plan(
    folder: Option<&Path>,
    path: PathPlan,
    calls: &HashMap<DeltaId, EntryId>,
    origins: &Origins,
) -> retake_wire::PathPlan {
    let verdict = match path.recorded_verdict() {
        Verdict::Revert => retake_wire::Verdict::Revert,
        Verdict::Delete => retake_wire::Verdict::Delete,
        Verdict::Recreate => retake_wire::Verdict::Recreate,
        Verdict::Merge => retake_wire::Verdict::Merge,
        Verdict::Part => retake_wire::Verdict::Part,
        Verdict::Conflict(_) => retake_wire::Verdict::Conflict,
        Verdict::Unchanged => retake_wire::Verdict::Unchanged,
        Verdict::Kept => retake_wire::Verdict::Ambiguous,
        Verdict::GitHas => retake_wire::Verdict::GitHas,
        Verdict::NotEmpty => retake_wire::Verdict::NotEmpty,
        Verdict::Foreign => retake_wire::Verdict::Foreign,
        Verdict::NotCovered(_) => retake_wire::Verdict::NotCovered,
    };
    let mut by: Vec<String> =
        path.shown_deltas().filter_map(|no| calls.get(&no)).map(ToString::to_string).collect();
    // A call whose job went on has several.
    by.dedup();
    let cause = origins.cause(&path);
    retake_wire::PathPlan {
        name: name(folder, &path.path),
        verdict,
        why: cause.as_ref().map(english::path_cause),
        cause,
        against: path.opponent().map(|by| origins.author(by)),
        outcomes: origins.outcomes(&path),
        grade: grade(path.grade),
        calls: by,
        choices: path.choices.into_iter().map(convert::choice).collect(),
        renamed: path.renamed.map(|other| shown_in(folder, &other)),
        hunks: retake_wire::PathHunks { count: None, part: path.hunks },
        diff: None,
        theirs: path.theirs,
        full_folder: false,
        kept: false,
    }
}

pub(in crate::dispatch) fn grade(grade: Grade) -> retake_wire::Grade {
    match grade {
        Grade::Written => retake_wire::Grade::Written,
        Grade::Seen => retake_wire::Grade::Seen,
        Grade::Ambiguous(_) => retake_wire::Grade::Ambiguous,
    }
}

/// The counts of a step's files.
pub(in crate::dispatch) fn counts(totals: FileTotals) -> retake_wire::FileCounts {
    let FileTotals { deleted, recreated, merged, reverted } = totals;
    retake_wire::FileCounts { deleted, recreated, merged, reverted }
}

pub(in crate::dispatch) fn left(folder: Option<&Path>, left: &LeftPath) -> retake_wire::LeftPath {
    let cause = match left.why {
        LeftReason::Foreign => PathCause::WrittenMeanwhile,
        LeftReason::NotEmpty => PathCause::NotEmpty { by: None },
        LeftReason::Unreachable => PathCause::Unreachable,
    };
    let kept = left.kept.iter().map(|kept| shown_in(folder, kept)).collect();
    retake_wire::LeftPath { name: name(folder, &left.path), cause, kept }
}

/// The remark about a step's files as a whole.
pub(in crate::dispatch) fn remark(remark: FilesRemark) -> Condition {
    match remark {
        FilesRemark::NoFileChanges => Condition::NoFileChanges,
        FilesRemark::ConversationOnly => Condition::ConversationOnly,
        FilesRemark::NoCoveredFileChanges => Condition::NoCoveredFileChanges,
        FilesRemark::Unchanged => Condition::FilesUnchanged,
        FilesRemark::CoveredFoldersOnly(folders) => Condition::CoveredFoldersOnly { folders: folders as u64 },
    }
}

/// The most uncovered paths, or interrupted calls, that are named.
const NAMED: usize = 4;

/// The conditions about unknown effects: of interrupted calls, and where captures do not see them.
pub(in crate::dispatch) fn unknown(cut_off: &[Unanswered], unseen: &Uncaptured) -> Vec<Condition> {
    let (named, more) = cut_off.split_at(cut_off.len().min(NAMED));
    let line = |call: &Unanswered| crate::agent::call_line(&call.tool, &call.arguments);
    let mut all: Vec<_> = named.iter().map(|call| Condition::CutOffCall { call: line(call) }).collect();
    all.extend((!more.is_empty()).then_some(Condition::CutOffCalls { calls: more.len() as u64 }));
    if !unseen.paths.is_empty() {
        let (named, others) = unseen.paths.split_at(unseen.paths.len().min(NAMED));
        let path = |(path, why): &(String, UnseenReason)| {
            let cause = match why {
                UnseenReason::NotCovered(why) => uncovered_cause(*why),
                UnseenReason::GitFile(file) => git_file(file.clone()),
                UnseenReason::Recorded(detail) => UncoveredCause::Recorded { detail: detail.clone() },
            };
            UncoveredPath { path: path.clone(), cause }
        };
        all.push(Condition::NotCovered {
            paths: named.iter().map(path).collect(),
            more: others.len() as u64 + unseen.more,
            at_least: unseen.more > 0,
        });
    }
    let calls = unseen.more_blind as u64;
    all.extend((calls > 0).then_some(Condition::UnseenCalls { calls }));
    all.extend(unseen.blind.iter().map(|(called, why)| Condition::UnseenCall {
        call: crate::agent::called(&called.asked),
        problem: why.code.clone().map(ProblemCode::from),
        why: why.why.clone(),
    }));
    all
}

pub(in crate::dispatch) fn hex(digest: &[u8; 16]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<[u8; 16], Problem> {
    let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
    number.map(u128::to_be_bytes).ok_or_else(|| misused("plan_digest", &[]))
}
