//! Converts between the engine's types and those of `wire`, by hand: the only place where types become
//! JSON.

mod cause;
mod content;
mod done;
mod note;
pub(crate) mod notices;
pub(crate) mod posts;
mod report;
mod run_notice;
mod sandbox;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use retake_core::{
    Branch, Choice, EffectClass, EntryLine, Field, Hit, Meta, Part, Planned, Receipt, Role, ShownEntry,
    StartedCall, Summary, TargetLine, Totals,
};
use retake_engine::settings::SettingsError;
use retake_engine::{EngineError, Kind, PERSON_COMMAND};
use retake_wire::{Condition, HitState, Problem, ProblemCode, ProblemKind, Remedy, english, reply};

pub(crate) use cause::{ask_cause, effort, facts_from, model_cause, unavailable_cause, uncovered_cause};
pub(crate) use content::{parts, parts_in};
pub(crate) use done::{mark, marked, operation, step};
pub(crate) use note::{facts, git_file, note};
pub(crate) use report::{finding, repair};
pub(crate) use run_notice::{cause, mcp_remark, not_run, run_notice};
pub(crate) use sandbox::{sandbox_cause, sandbox_fact};

/// The problem for an engine's error, as the reply to a request.
pub(crate) fn problem(error: EngineError) -> Problem {
    if error.kind == Kind::Storage {
        tracing::error!(code = error.code, cause = error.for_log(), "a request has failed");
    }
    shown_problem(error)
}

/// A problem that is only shown: no request has failed.
pub(crate) fn shown_problem(error: EngineError) -> Problem {
    let kind = match error.kind {
        Kind::Usage => ProblemKind::Usage,
        Kind::NotFound => ProblemKind::NotFound,
        Kind::Refused => ProblemKind::Refused,
        Kind::Stale => ProblemKind::Stale,
        Kind::Model => ProblemKind::Model,
        Kind::Storage => ProblemKind::Storage,
    };
    let code = ProblemCode::from(error.code);
    debug_assert!(code.title().is_some(), "BUG: the list of codes lacks {code}");
    for (name, _) in &error.fields {
        debug_assert!(code.fields().contains(name), "BUG: the list of fields of {code} lacks {name}");
    }
    let notices: Vec<_> = error.notices.into_iter().map(run_notice).collect();
    let sentences = notices.iter().map(|it| english::run_notice(it, &english::remedy));
    let message = std::iter::once(error.message).chain(sentences).collect::<Vec<_>>().join("; ");
    with_sentence(Problem {
        code,
        kind,
        message,
        fields: named(error.fields),
        hint: None,
        remedies: error.remedies.into_iter().map(remedy).collect(),
        causes: error.cause.into_iter().map(|cause| cause.to_string()).collect(),
        notices: notices.into(),
        head: error.head.map(|head| head.to_string()),
    })
}

/// A problem with the `message` and `hint` that our own clients make. What has no row in their tables keeps its own.
pub(crate) fn with_sentence(problem: Problem) -> Problem {
    let (message, hint) = (english::problem(&problem), english::hint(&problem));
    debug_assert!(
        problem.remedies.is_empty() || hint.is_some(),
        "BUG: no hint has the remedies of {problem:?}"
    );
    Problem { message, hint, ..problem }
}

/// The values of a code, by name.
fn named(fields: Vec<(&'static str, Field)>) -> BTreeMap<String, serde_json::Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), field(value))).collect()
}

fn field(value: Field) -> serde_json::Value {
    match value {
        Field::Text(text) => text.into(),
        Field::Number(number) => number.into(),
        Field::Numbers(numbers) => numbers.into(),
        Field::Texts(texts) => texts.into(),
    }
}

/// A problem of the settings.
pub fn wrong_settings(error: SettingsError) -> Problem {
    shown_problem(error.into())
}

/// A choice for a file in conflict.
pub(crate) fn choice(choice: Choice) -> retake_wire::Choice {
    match choice {
        Choice::Disk => retake_wire::Choice::Disk,
        Choice::Yours => retake_wire::Choice::Yours,
        Choice::Checkpoint => retake_wire::Choice::Checkpoint,
        Choice::Merge => retake_wire::Choice::Merge,
        Choice::Skip => retake_wire::Choice::Skip,
        Choice::Hunks(numbers) => retake_wire::Choice::Hunks(numbers),
    }
}

fn remedy(remedy: retake_core::Remedy) -> Remedy {
    use retake_core::Remedy as R;
    match remedy {
        R::Choose => Remedy::Choose,
        R::ChooseFiles(choices) => Remedy::ChooseFiles { choices: choices.into_iter().map(choice).collect() },
        R::Commands => Remedy::Commands,
        R::Config => Remedy::Config,
        R::ConfigSet => Remedy::ConfigSet,
        R::Conversation => Remedy::Conversation,
        R::Doctor => Remedy::Doctor,
        R::Edit => Remedy::Edit,
        R::EndJobs => Remedy::EndJobs,
        R::Exclude => Remedy::Exclude,
        R::Fold => Remedy::Fold,
        R::List => Remedy::List,
        R::Log => Remedy::Log,
        R::Model => Remedy::Model,
        R::Models => Remedy::Models,
        R::Ops => Remedy::Ops,
        R::Restore(head) => Remedy::Restore { head: head.map(|head| head.to_string()) },
        R::Retry => Remedy::Retry,
        R::Rewind => Remedy::Rewind,
        R::Show => Remedy::Show,
        R::Tree => Remedy::Tree,
        R::Undo => Remedy::Undo,
        R::FilesLog => Remedy::FilesLog,
        R::WithoutFiles => Remedy::WithoutFiles,
        R::Hooks => Remedy::Hooks,
        R::McpAllow(server) => Remedy::McpAllow { server },
        R::Backup => Remedy::Backup,
        R::DataDir => Remedy::DataDir,
        R::DoctorMend => Remedy::DoctorMend,
        R::KeepFolder => Remedy::KeepFolder,
        R::McpList => Remedy::McpList,
        R::McpRemove => Remedy::McpRemove,
        R::RemoveLabel => Remedy::RemoveLabel,
        R::Stop => Remedy::Stop,
        R::WorkspaceList => Remedy::WorkspaceList,
    }
}

/// Conditions as sentences, for clients that read the text fields. They must name no command of a client.
pub(crate) fn sentences(conditions: &[Condition]) -> Vec<String> {
    conditions.iter().map(|it| english::condition(it, &english::remedy)).collect()
}

/// A problem that the engine does not know, with the values of its code.
pub(crate) fn own_problem(kind: ProblemKind, code: &str, fields: &[(&str, serde_json::Value)]) -> Problem {
    let problem = Problem { code: code.into(), kind, ..Problem::default() };
    let problem = fields.iter().fold(problem, |problem, (name, value)| problem.with(name, value.clone()));
    debug_assert!(english::has_sentence(&problem), "BUG: the table of sentences has no row for {problem:?}");
    with_sentence(problem)
}

/// A problem of the request itself. `what` names it, for programs.
pub(crate) fn misused(what: &str, fields: &[(&str, serde_json::Value)]) -> Problem {
    own_problem(ProblemKind::Usage, "usage", &[&[("what", what.into())], fields].concat())
}

pub(crate) fn role(role: Role) -> retake_wire::Role {
    match role {
        Role::User => retake_wire::Role::User,
        Role::Assistant => retake_wire::Role::Assistant,
        Role::Tool => retake_wire::Role::Tool,
        Role::System => retake_wire::Role::System,
    }
}

pub(crate) fn role_in(role: retake_wire::Role) -> Role {
    match role {
        retake_wire::Role::User => Role::User,
        retake_wire::Role::Assistant => Role::Assistant,
        retake_wire::Role::Tool => Role::Tool,
        retake_wire::Role::System => Role::System,
    }
}

pub(crate) fn counts(totals: Totals) -> reply::Counts {
    reply::Counts { messages: totals.messages, calls: totals.calls, turns: totals.turns }
}

pub(crate) fn line(line: EntryLine) -> reply::Line {
    let shown = line_of(&line.meta, line.preview);
    match line.called {
        // A person's command is told as such, not as the call of a model that it is stored as.
        Some(called) if called.tool == PERSON_COMMAND => {
            let preview = crate::agent::call_line(&called.tool, &called.arguments);
            reply::Line { preview, ran_by: Some(called.author), ..shown }
        }
        _ => shown,
    }
}

fn line_of(meta: &Meta, preview: String) -> reply::Line {
    reply::Line {
        id: meta.id.to_string(),
        role: role(meta.role),
        time_ms: meta.time.0,
        preview,
        ran_by: None,
        synthetic: meta.flags.synthetic,
    }
}

/// A receipt; the caller reads the content for the composer.
pub(crate) fn receipt(receipt: &Receipt, content: Option<Vec<Part>>) -> reply::Receipt {
    let composer = receipt.composer.zip(content).map(|(id, content)| composer(id.to_string(), content));
    reply::Receipt {
        conversation: receipt.conversation.to_string(),
        head: receipt.head.to_string(),
        revision: receipt.revision.0,
        operations: receipt.ops.iter().map(|no| no.0).collect(),
        entries: receipt.entries.iter().map(ToString::to_string).collect(),
        steps: None,
        step_summaries: Vec::new(),
        unchanged: receipt.unchanged,
        timeline: reply::TimelineChange {
            taken_back: counts(receipt.taken_back),
            brought_back: counts(receipt.brought_back),
            lifted: receipt.lifted.iter().map(|fold| fold_name(*fold)).collect(),
        },
        composer,
        files: None,
        conditions: Vec::new(),
        stays: Vec::new(),
        outside: reply::Outside::default(),
        waited: Vec::new(),
    }
}

/// A fold's name on the wire: its operation, with the depth of the log if it is an ancestor's.
pub(crate) fn fold_name(fold: retake_core::FoldId) -> String {
    format!("{}:{}", fold.depth, fold.op)
}

pub(crate) fn composer(entry: String, content: Vec<Part>) -> reply::Composer {
    reply::Composer { entry, text: retake_core::joined_text(&content), parts: parts(content) }
}

pub(crate) fn plan(conversation: String, planned: Planned, mut conditions: Vec<Condition>) -> reply::Plan {
    conditions.extend(facts(planned.facts));
    let stays = sentences(&conditions);
    reply::Plan {
        conditions,
        conversation,
        head: planned.plan.head.to_string(),
        unchanged: planned.unchanged,
        steps: None,
        step_summaries: Vec::new(),
        step_lines: Vec::new(),
        timeline: reply::TimelinePlan {
            taken_back: counts(planned.plan.taken_back),
            gone: planned.gone.into_iter().map(line).collect(),
            brought_back: counts(planned.plan.brought_back),
            came: planned.came.into_iter().map(line).collect(),
            lifted: planned.plan.lifted.iter().map(|fold| fold_name(*fold)).collect(),
            in_force: planned.plan.in_force.iter().map(|fold| fold_name(*fold)).collect(),
            covers: planned.covers.into_iter().map(line).collect(),
            covered: planned.covered,
        },
        composer: planned.composer.map(|(id, content)| composer(id.to_string(), content)),
        running: Vec::new(),
        at_work: false,
        waiting: 0,
        outside: reply::Outside::default(),
        stays,
        files: None,
    }
}

/// A plan for files alone: the conversation would not change.
pub(crate) fn plan_of_files(conversation: String, head: String, conditions: Vec<Condition>) -> reply::Plan {
    let stays = sentences(&conditions);
    reply::Plan { conversation, head, unchanged: true, conditions, stays, ..reply::Plan::default() }
}

/// The summary of a conversation; for a fork, with the title of its parent.
pub(crate) fn summary(summary: Summary, parent: Option<String>, running: bool) -> reply::Conversation {
    let own = summary.own;
    let read_only_cause = summary.read_only.map(cause::read_only_cause);
    reply::Conversation {
        id: summary.id.to_string(),
        title: summary.title,
        preview: summary.preview,
        folder: summary.folder,
        parent: summary.parent.map(|(id, head)| reply::Parent {
            conversation: id.to_string(),
            head: head.to_string(),
            title: parent,
            own,
        }),
        created_ms: summary.created.0,
        changed_ms: summary.changed.0,
        head: summary.head.to_string(),
        revision: summary.revision.0,
        tip: summary.tip.map(|id| id.to_string()),
        counts: counts(summary.counts),
        steps: reply::NextSteps {
            rewinds: summary.steps.rewinds,
            undo: summary.steps.undo.as_ref().map(|step| step.name().to_owned()),
            redo: summary.steps.redo.as_ref().map(|step| step.name().to_owned()),
            undo_step: summary.steps.undo.as_ref().map(step),
            redo_step: summary.steps.redo.as_ref().map(step),
        },
        access: reply::Access {
            read_only: read_only_cause.as_ref().map(english::read_only_cause),
            read_only_cause,
        },
        running,
        archived: summary.archived,
    }
}

/// An entry in a projection. `cost` computes the cost of a model's answer.
pub(crate) fn entry(
    shown: ShownEntry,
    cost: impl Fn(&str, &retake_core::Usage) -> Option<f64>,
) -> reply::Entry {
    let (meta, author, content, usage, platform) = match shown.entry {
        Ok(entry) => {
            (Some(entry.meta), entry.author, entry.parts, entry.usage, (entry.platform_id, entry.origin))
        }
        Err(why) => (None, String::new(), vec![Part::Text(format!("[damaged: {why}]"))], None, (None, None)),
    };
    let flags = meta.as_ref().map(|meta| meta.flags).unwrap_or_default();
    let usage = usage.map(|usage| retake_wire::Usage {
        input_tokens: usage.input_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        output_tokens: usage.output_tokens,
        cost_usd: cost(&author, &usage),
    });
    reply::Entry {
        id: meta.as_ref().map_or_else(String::new, |meta| meta.id.to_string()),
        place: reply::EntryPlace {
            seq: shown.pos.seq,
            depth: shown.pos.depth,
            turn: meta.as_ref().map_or(0, |meta| meta.totals.turns),
            opens_turn: meta.as_ref().is_some_and(Meta::opens_turn),
        },
        role: meta.as_ref().map_or(retake_wire::Role::System, |meta| role(meta.role)),
        author,
        time_ms: meta.as_ref().map_or(0, |meta| meta.time.0),
        mark: mark(shown.mark),
        fold: shown.fold.map(fold_name),
        label: shown.label,
        flags: reply::EntryFlags {
            synthetic: flags.synthetic,
            observed: flags.observed,
            interrupted: flags.interrupted,
            erased: flags.erased,
            damaged: meta.is_none(),
        },
        alternative: shown.alternative,
        parts: parts(content),
        usage,
        took_ms: None,
        platform_id: platform.0,
        origin: platform.1.map(posts::origin),
    }
}

pub(crate) fn target(target: TargetLine, at_work: bool) -> reply::Target {
    let did = did(&target);
    reply::Target {
        entry: target.target.meta.id.to_string(),
        turn: target.target.number,
        time_ms: target.target.meta.time.0,
        preview: target.preview,
        reason: at_work.then(|| english::RUN_AT_WORK.to_owned()),
        at_work,
        takes_back: counts(target.target.takes_back),
        did,
    }
}

fn did(target: &TargetLine) -> reply::TurnActions {
    let count =
        |is: &dyn Fn(&StartedCall) -> bool| target.did.begun.iter().filter(|begun| is(begun)).count() as u64;
    reply::TurnActions {
        files: target.did.files,
        commands: count(&|begun| begun.tool == retake_engine::SHELL),
        calls: target.target.holds.calls,
        outside: count(&|begun| matches!(begun.class, EffectClass::Compensable | EffectClass::External)),
        posts: target.did.posts,
    }
}

pub(crate) fn branch(branch: Branch) -> reply::Branch {
    reply::Branch {
        leaf: branch.last.meta.id.to_string(),
        current: branch.current,
        from: branch.from.map(line),
        onto: branch.onto.map(|leaf| leaf.to_string()),
        shared: branch.shared.map(line),
        first: branch.first.map(line),
        called: branch.called.map(line),
        last: line(branch.last),
        messages: branch.messages,
        own: branch.own,
        label: branch.label,
    }
}

pub(crate) fn hit(hit: Hit) -> retake_wire::Hit {
    let standing = match hit.visibility {
        retake_core::Visibility::Rewound => Some(HitState::Rewound),
        retake_core::Visibility::OnPath(retake_core::Mark::Hidden) => Some(HitState::Hidden),
        retake_core::Visibility::OnPath(retake_core::Mark::Dropped) => Some(HitState::Dropped),
        retake_core::Visibility::OnPath(retake_core::Mark::Normal | retake_core::Mark::Excluded) => None,
    };
    retake_wire::Hit {
        conversation: hit.conversation.to_string(),
        title: hit.title,
        line: line(hit.line),
        snippet: hit.snippet,
        marks: hit.marks.into_iter().map(|mark| (mark.start, mark.end)).collect(),
        standing,
        before: hit.before.map(line),
        after: hit.after.map(line),
    }
}
