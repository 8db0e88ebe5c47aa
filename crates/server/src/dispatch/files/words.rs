//! Converts the options for files to the engine's, and its plans and results to the wire's. Only types.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{
    Choice, Chosen, DeltaId, EntryId, FilePath, FilePlan, Grade, LeftPath, PathMove, PathPlan, Record,
    Totals, Unanswered, Verdict, WhyLeft, without_full_folders,
};
use retake_engine::{FileOptions, Scope, Uncaptured, WhyUnseen, named_in, shown_in};
use retake_wire::{Condition, PathCause, Problem, ProblemCode, UncoveredCause, UncoveredPath, english};

use super::whose::Whose;
use crate::convert::{git_file, uncovered_cause, usage};

pub(in crate::dispatch) fn file_options(files: &retake_wire::FileOptions) -> Result<FileOptions, Problem> {
    let scope = match files.scope {
        retake_wire::Scope::Both => Scope::Both,
        retake_wire::Scope::Conversation => Scope::Conversation,
        retake_wire::Scope::Files => Scope::Files,
    };
    let nothing_to_choose = files.choose.is_empty() && !files.exact && files.seen.is_none();
    if scope == Scope::Conversation && !nothing_to_choose {
        return Err(usage("there is nothing to choose for files that stay as they are"));
    }
    let mut chosen = Chosen { others: files.exact.then_some(Choice::Checkpoint), ..Chosen::default() };
    let mut elsewhere = BTreeMap::new();
    for choose in &files.choose {
        let (name, choice) = (bytes_in(&choose.name)?, choice_in(&choose.choice)?);
        if name.starts_with(b"/") {
            elsewhere.insert(PathBuf::from(OsString::from_vec(name)), choice);
        } else {
            chosen.paths.insert(FilePath::new(&name).map_err(|error| usage(error.to_string()))?, choice);
        }
    }
    let seen = files.seen.as_deref().map(unhex).transpose()?;
    Ok(FileOptions { scope, chosen, elsewhere, seen, stop: files.stop, ..FileOptions::default() })
}

/// The bytes of a given name.
pub(in crate::dispatch) fn bytes_in(name: &retake_wire::FileName) -> Result<Vec<u8>, Problem> {
    match &name.path_base64 {
        Some(text) => BASE64.decode(text).map_err(|_| usage("“path_base64” is not valid base64")),
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
            return Err(usage("no hunk is chosen: name one at least, or skip the file"));
        }
        retake_wire::Choice::Hunks(numbers) => {
            let mut numbers = numbers.clone();
            numbers.sort_unstable();
            numbers.dedup();
            Choice::Hunks(numbers)
        }
    })
}

pub(super) fn choice(choice: Choice) -> retake_wire::Choice {
    match choice {
        Choice::Disk => retake_wire::Choice::Disk,
        Choice::Yours => retake_wire::Choice::Yours,
        Choice::Checkpoint => retake_wire::Choice::Checkpoint,
        Choice::Merge => retake_wire::Choice::Merge,
        Choice::Skip => retake_wire::Choice::Skip,
        Choice::Hunks(numbers) => retake_wire::Choice::Hunks(numbers),
    }
}

pub(in crate::dispatch) fn path_plan(
    folder: Option<&Path>,
    path: PathPlan,
    calls: &HashMap<DeltaId, EntryId>,
    whose: &Whose,
) -> retake_wire::PathPlan {
    // By the move that will be recorded, as in the receipt.
    let verdict = match path.verdict {
        Verdict::Revert | Verdict::Merge => path.step.verdict(),
        ref other => other.clone(),
    };
    let verdict = match verdict {
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
    // The last call that changed it comes first. A call that returns instead of a leaving one was reverted before, and is no
    // earlier call of the same change.
    let by: Box<dyn Iterator<Item = &DeltaId>> = match path.out.is_empty() {
        true => Box::new(path.into.iter().rev()),
        false => Box::new(path.out.iter()),
    };
    let mut by: Vec<String> = by.filter_map(|no| calls.get(no)).map(ToString::to_string).collect();
    // A call with a job has several deltas.
    by.dedup();
    let cause = whose.cause(&path);
    retake_wire::PathPlan {
        name: name(folder, &path.path),
        verdict,
        why: cause.as_ref().map(english::path_cause),
        cause,
        against: whose.against(&path),
        outcomes: whose.outcomes(&path),
        grade: grade(path.grade),
        calls: by,
        choices: path.choices.into_iter().map(choice).collect(),
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

/// Counts the plan of a path: `count` counts the changes of files, as for their receipt.
pub(super) fn tally(plan: &mut retake_wire::FilesPlan, path: &retake_wire::PathPlan) {
    match standing(path) {
        _ if path.full_folder => {}
        Stands::Waits => plan.conflicts += 1,
        Stands::Left(_) => plan.left += 1,
        Stands::Done | Stands::So => {}
    }
}

/// The heading of a path in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// It waits for a choice.
    Waits,
    /// It is left alone, with this verdict.
    Left(retake_wire::Verdict),
    /// It is changed.
    Done,
    /// It has the wanted version already.
    So,
}

fn standing(path: &retake_wire::PathPlan) -> Stands {
    match path.verdict {
        retake_wire::Verdict::Conflict => Stands::Waits,
        // It was chosen.
        retake_wire::Verdict::Unchanged if path.cause.is_some() => Stands::Left(path.verdict),
        retake_wire::Verdict::Unchanged => Stands::So,
        retake_wire::Verdict::Revert
        | retake_wire::Verdict::Delete
        | retake_wire::Verdict::Recreate
        | retake_wire::Verdict::Merge
        | retake_wire::Verdict::Part => Stands::Done,
        left => Stands::Left(left),
    }
}

/// Marks the folders whose content is listed under the same heading, in the order of the paths. For each path it is known
/// whether it is only a folder.
pub(super) fn mark_full_folders(paths: &mut [(FilePath, bool, retake_wire::PathPlan)]) {
    let told: Vec<bool> = (0..paths.len())
        .map(|at| {
            let (folder, is_folder, plan) = &paths[at];
            let within = paths[at + 1..].iter().take_while(|(path, ..)| path.is_within(folder));
            let mut alike = within.filter(|(.., other)| standing(other) == standing(plan));
            *is_folder && alike.next().is_some()
        })
        .collect();
    for ((.., plan), told) in paths.iter_mut().zip(told) {
        plan.full_folder = told;
    }
}

/// Whether a path is only a folder, as far as the plan knows.
pub(super) fn is_folder(path: &PathPlan) -> bool {
    let change = &path.step.change;
    let layers = path.step.stack_before.layers().iter().flat_map(|layer| [&layer.before, &layer.after]);
    let mut known = layers.chain([&change.before, &change.after, &path.whole]).flatten().peekable();
    known.peek().is_some() && known.all(|record| matches!(record, Record::Folder { .. }))
}

/// Counts the changed files of one folder, from the recorded moves in the order of the paths: the same result each time. A
/// folder that comes or goes with its files does not count.
pub(in crate::dispatch) fn count<'a>(
    counts: &mut retake_wire::FileCounts,
    moves: impl Iterator<Item = &'a PathMove>,
) {
    let done = moves.filter(|made| made.change.before != made.change.after);
    for made in without_full_folders(done.collect(), |made| &made.change) {
        match made.verdict() {
            Verdict::Delete => counts.deleted += 1,
            Verdict::Recreate => counts.recreated += 1,
            Verdict::Merge => counts.merged += 1,
            _ => counts.reverted += 1,
        }
    }
}

pub(in crate::dispatch) fn left(folder: Option<&Path>, left: &LeftPath) -> retake_wire::LeftPath {
    let cause = match left.why {
        WhyLeft::Foreign => PathCause::WrittenMeanwhile,
        WhyLeft::NotEmpty => PathCause::NotEmpty { by: None },
        WhyLeft::Unreachable => PathCause::Unreachable,
    };
    let kept = left.kept.iter().map(|kept| shown_in(folder, kept)).collect();
    retake_wire::LeftPath { name: name(folder, &left.path), cause, kept }
}

/// A step's relation to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dispatch) struct OfFiles {
    scope: Scope,
    folders: usize,
    paths: usize,
    /// Whether a file is changed or left alone.
    any: bool,
    /// Whether calls come or go.
    calls: bool,
}

impl OfFiles {
    /// For these plans, and these totals of messages.
    pub(in crate::dispatch) fn new<'a>(
        scope: Scope,
        plans: impl Iterator<Item = &'a FilePlan>,
        messages: [Totals; 2],
    ) -> Self {
        let calls = messages.iter().any(|totals| totals.calls > 0);
        let mut all = Self { scope, folders: 0, paths: 0, any: false, calls };
        for plan in plans {
            all.folders += 1;
            all.paths += plan.paths.len();
            all.any |= plan.paths.iter().any(|path| path.verdict != Verdict::Unchanged || path.is_chosen());
        }
        all
    }

    /// For several steps together.
    pub(in crate::dispatch) fn and(self, next: Self) -> Self {
        Self {
            scope: next.scope,
            folders: self.folders.max(next.folders),
            paths: self.paths + next.paths,
            any: self.any || next.any,
            calls: self.calls || next.calls,
        }
    }

    /// What is still known of it for a repeated request without recorded files.
    pub(in crate::dispatch) fn again(messages: [Totals; 2]) -> Option<Condition> {
        messages.iter().all(|totals| totals.calls == 0).then_some(Condition::NoFileChanges)
    }

    /// The condition that no file changes, with the reason.
    pub(in crate::dispatch) fn none(self) -> Option<Condition> {
        match self {
            // Without a reverted or returning call, no file changes.
            Self { paths: 0, calls: false, .. } => Some(Condition::NoFileChanges),
            Self { scope: Scope::Conversation, .. } => Some(Condition::ConversationOnly),
            // A file that is not covered may have been changed anyway.
            Self { paths: 0, .. } => Some(Condition::NoCoveredFileChanges),
            Self { any: false, .. } => Some(Condition::FilesUnchanged),
            _ => None,
        }
    }

    /// The condition about what an action does not do.
    pub(in crate::dispatch) fn before(self) -> Condition {
        self.none().unwrap_or(Condition::CoveredFoldersOnly { folders: self.folders as u64 })
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
        let path = |(path, why): &(String, WhyUnseen)| {
            let cause = match why {
                WhyUnseen::NotCovered(why) => uncovered_cause(*why),
                WhyUnseen::GitFile(file) => git_file(file.clone()),
                WhyUnseen::Recorded(detail) => UncoveredCause::Recorded { detail: detail.clone() },
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
    number.map(u128::to_be_bytes).ok_or_else(|| usage("“seen” is the digest of a file plan: 32 hex digits"))
}
