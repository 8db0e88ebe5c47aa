//! Lists: conversations, turns, alternatives, hidden messages, operations, models, and the findings of a check. Must never wrap
//! a row.

use retake_wire::reply::{
    Alternatives, Conversation, Conversations, MarkedPage, Memory, MemoryFact, Model, Models, Operations,
    PathLine, Paths, Report, TargetPage, Written,
};
use retake_wire::{OperationReason, english};

use super::entries::dim;
use super::id::{self, Ids};
use super::table::{cell, lines, table};
use super::{content, outbox, words};
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// Conversations, newest first.
pub fn conversations(look: &Look, page: &Conversations) -> Text {
    if page.conversations.is_empty() {
        return dim(
            look,
            "no such conversation is here: `retake` begins one; `--archived` lists archived ones, `--all` those of all folders",
        );
    }
    let ids: Ids = page.conversations.iter().map(|it| it.id.as_str()).collect();
    let row = |it: &Conversation| {
        let mut state = String::new();
        if it.running {
            state.push_str("running ");
        }
        if it.access.read_only_cause.is_some() {
            state.push_str("read-only ");
        }
        if it.archived {
            state.push_str("archived ");
        }
        vec![
            cell(ids.short(&it.id)).style(Style::Dim),
            cell(words::when(look, it.changed_ms)),
            cell(words::count(it.counts.messages, "message")).right(),
            cell(state.trim_end()).style(Style::Warn),
            cell(safe::line(&words::named(it))),
        ]
    };
    let rows: Vec<_> = page.conversations.iter().map(row).collect();
    let mut text = table(look, &rows);
    if let Some(last) = page.conversations.last().filter(|_| page.more) {
        let hint = format!("… more: --before {}", ids.short(&last.id));
        text.push(dim(look, &hint));
    }
    text
}

/// Remembered facts.
pub fn memory(look: &Look, memory: &Memory) -> Text {
    if memory.facts.is_empty() {
        return dim(look, "nothing is remembered here");
    }
    let row = |it: &MemoryFact| {
        vec![
            cell(safe::line(&it.id)).style(Style::Dim),
            cell(words::when(look, it.time_ms)),
            cell(if it.everywhere { "everywhere" } else { "" }),
            cell(safe::line(&it.text)),
        ]
    };
    let rows: Vec<_> = memory.facts.iter().map(row).collect();
    let more = if memory.more { dim(look, "… more: --limit") } else { Text::new() };
    table(look, &rows) + more
}

/// A conversation in brief.
pub fn conversation(look: &Look, it: &Conversation) -> Text {
    let mut rows = vec![
        ("conversation", it.id.clone()),
        ("title", it.title.clone().unwrap_or_default()),
        ("begins", it.preview.clone()),
        ("folder", it.folder.clone().unwrap_or_default()),
        ("changed", words::when(look, it.changed_ms)),
        ("messages", words::counts(it.counts)),
        ("head", it.head.clone()),
        ("undo", english::next_undo(&it.steps)),
        ("redo", english::next_redo(&it.steps)),
        ("read-only", it.access.read_only_cause.as_ref().map(english::read_only_cause).unwrap_or_default()),
    ];
    if let Some(parent) = &it.parent {
        rows.push(("fork of", format!("{} at {}", parent.conversation, parent.head)));
    }
    let rows: Vec<_> = rows
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![cell(name).style(Style::Dim), cell(safe::line(&value))])
        .collect();
    table(look, &rows)
}

/// The targets of a rewind, newest first.
pub fn targets(look: &Look, page: &TargetPage) -> Text {
    if page.targets.is_empty() {
        return dim(look, "there is no turn to go back to");
    }
    let did: Vec<String> = page.targets.iter().map(|it| words::did(it.did)).collect();
    let told = did.iter().any(|did| !did.is_empty());
    let heading = ["turn", "when"].into_iter().chain(told.then_some("did")).chain(["takes back", "message"]);
    let heading = heading.map(|title| cell(title).style(Style::Dim)).collect();
    let turns = page.targets.iter().zip(did).map(|(it, did)| {
        let first = [cell(format!("t{}", it.turn)).style(Style::Accent), cell(words::when(look, it.time_ms))];
        let last = [
            match it.at_work {
                true => cell(english::RUN_AT_WORK).style(Style::Warn),
                false => cell(words::counts(it.takes_back)).style(Style::Dim),
            },
            cell(safe::line(&it.preview)),
        ];
        first.into_iter().chain(told.then(|| cell(did))).chain(last).collect()
    });
    let rows: Vec<_> = std::iter::once(heading).chain(turns).collect();
    let mut text = table(look, &rows);
    if let Some(last) = page.targets.last().filter(|_| page.more) {
        text.push(dim(look, &format!("… older: --before t{}", last.turn)));
    }
    text
}

/// File names, one per line; folders end with a slash.
pub(crate) fn paths(page: &Paths) -> String {
    let line = |it: &PathLine| format!("{}{}\n", safe::line(&it.path), if it.is_dir { "/" } else { "" });
    page.paths.iter().map(line).collect()
}

/// The alternatives of an answer.
pub fn alternatives(look: &Look, all: &Alternatives) -> Text {
    if all.alternatives.is_empty() {
        return dim(look, "there is no other answer");
    }
    let ids: Ids = all.alternatives.iter().map(|it| it.line.id.as_str()).collect();
    let rows: Vec<_> = all
        .alternatives
        .iter()
        .map(|it| {
            vec![
                cell(if it.current { "*" } else { " " }).style(Style::Good),
                cell(it.number.to_string()).style(Style::Accent).right(),
                cell(words::when(look, it.line.time_ms)),
                cell(ids.short(&it.line.id)).style(Style::Dim),
                cell(safe::line(&it.line.preview)),
            ]
        })
        .collect();
    let more = all.alternatives.last().filter(|_| all.more);
    let more = more.map(|last| dim(look, &format!("… more: --after {}", last.number)));
    table(look, &rows) + more
}

/// Hidden, dropped or excluded messages, newest first.
pub fn marked(look: &Look, page: &MarkedPage) -> Text {
    if page.marked.is_empty() {
        return dim(look, "nothing is hidden here, dropped, or kept from the model");
    }
    let ids: Ids = page.marked.iter().map(|it| it.line.id.as_str()).collect();
    let row = |it: &retake_wire::reply::Marked| {
        let (speaker, style) = words::said_by(&it.line);
        vec![
            cell(format!("t{}", it.turn)).style(Style::Accent),
            cell(it.mark.name()).style(Style::Warn),
            cell(it.marked_ms.map(|then| words::when(look, then)).unwrap_or_default()),
            cell(ids.short(&it.line.id)).style(Style::Dim),
            cell(words::count(it.counts.messages, "message")).right(),
            cell(speaker).style(style),
            cell(safe::line(&it.line.preview)),
        ]
    };
    let mut text = table(look, &page.marked.iter().map(row).collect::<Vec<_>>());
    if let Some(last) = page.marked.last().filter(|_| page.more) {
        text.push(dim(look, &format!("… older: --before {}", ids.short(&last.line.id))));
    }
    text
}

/// The word that people know an operation by; JSON and the store use another name.
pub(crate) fn verb(reason: OperationReason) -> &'static str {
    match reason {
        OperationReason::Checkout => "switch",
        other => other.name(),
    }
}

/// Operations, newest first.
pub fn operations(look: &Look, page: &Operations) -> Text {
    if page.operations.is_empty() {
        return dim(look, "nothing has been done here yet");
    }
    let rows: Vec<_> = page
        .operations
        .iter()
        .map(|it| {
            let next = match (it.undo_next, it.redo_next) {
                (true, _) => "undo next",
                (_, true) => "redo next",
                _ => "",
            };
            vec![
                cell(safe::line(&it.head)).style(Style::Accent),
                cell(words::when(look, it.time_ms)),
                cell(verb(it.reason)).style(Style::Bold),
                cell(words::asked_by(&it.principal, &it.author)),
                cell(format!("before: {}", safe::line(&it.before))).style(Style::Dim),
                cell(next).style(Style::Good),
            ]
        })
        .collect();
    let heads = lines(look, &rows);
    let mut text = Text::new();
    for (head, it) in heads.into_iter().zip(&page.operations) {
        text.push(head);
        let what = english::operation(it);
        if !what.is_empty() {
            text.push(content::block(look, &what, 4, None));
        }
    }
    if let Some(last) = page.operations.last().filter(|_| page.more) {
        text.push(dim(look, &format!("… older: --before {}", last.number)));
    }
    text
}

/// The context size of a model, if known.
pub fn context(model: &Model) -> String {
    model.context_tokens.map(|tokens| format!("{} tokens", words::number(tokens))).unwrap_or_default()
}

/// The prices of a model, if set.
pub fn prices(model: &Model) -> String {
    let prices =
        [(model.input_price, "in"), (model.cached_input_price, "cached"), (model.output_price, "out")];
    let prices: Vec<String> =
        prices.into_iter().filter_map(|(price, way)| Some(format!("${} {way}", price?))).collect();
    if prices.is_empty() { String::new() } else { format!("{} per million", prices.join(", ")) }
}

/// What a model takes beside text, if known.
fn takes(model: &Model) -> String {
    let said = |known: Option<bool>, what: &str| {
        known.map(|takes| if takes { what.to_owned() } else { format!("no {what}") })
    };
    let effort = model.effort.map(|effort| format!("effort {}", english::effort(effort)));
    let takes = [said(model.images, "pictures"), effort.or_else(|| said(model.takes_effort, "effort"))];
    takes.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Models, and the one in use.
pub fn models(look: &Look, models: &Models) -> Text {
    let why_not =
        |it: &Model| it.unavailable_cause.as_ref().map(english::unavailable_cause).unwrap_or_default();
    let rows: Vec<_> = models
        .models
        .iter()
        .map(|it| {
            vec![
                cell(if it.name == models.default { "*" } else { " " }).style(Style::Good),
                cell(safe::line(&it.name)),
                cell(context(it)).right(),
                cell(prices(it)),
                cell(takes(it)),
                cell(it.facts_from.map(english::facts_from).unwrap_or_default()).style(Style::Dim),
                cell(safe::line(&why_not(it))).style(Style::Warn),
            ]
        })
        .collect();
    let (default, cause) = (safe::line(&models.default), english::model_cause(&models.cause));
    let why = format!("{default} is used when none is named: {}", safe::line(&cause));
    let warning = models.problem.as_ref().map(|problem| {
        let warning = english::problem_with_causes(problem);
        let warning = safe::line(&warning);
        let line =
            format!("! it can't be used: {warning}; name another one with `--model`, or set model.default");
        text![(Style::Warn, line), "\n"]
    });
    table(look, &rows) + dim(look, &why) + warning
}

/// A file that was written.
pub fn written(it: &Written) -> String {
    format!("{} ({} bytes)\n", safe::line(&it.path), words::number(it.bytes))
}

/// The findings of a check.
pub fn report(look: &Look, report: &Report) -> Text {
    let (conversations, entries) =
        (words::count(report.conversations, "conversation"), words::count(report.entries, "message"));
    let mut text = Text::from(format!("checked {conversations} with {entries}\n"));
    let mended = report.repairs.iter().map(|it| (Style::Good, "mended", english::repair(it)));
    let wrong = report.findings.iter().map(|it| (Style::Error, "wrong ", english::finding(it)));
    for (style, sign, line) in mended.chain(wrong) {
        text.push(text![(style, sign), format!(" {}\n", safe::line(&line))]);
    }
    for fact in &report.confinement {
        text.push(format!("sandbox: {}\n", safe::line(&english::sandbox_fact(fact))));
    }
    for item in &report.outbox {
        let (state, style) = outbox::state(item, look.now_ms);
        let changes = outbox::changes(item);
        text.push(text![format!("outbox: {} ({changes}) ", safe::line(&item.id)), (style, state), "\n"]);
    }
    if report.findings.is_empty() {
        text.push(text![(Style::Good, "healthy"), "\n"]);
    }
    text
}

/// The short id of a conversation with its title, on one line.
pub fn name(look: &Look, it: &Conversation) -> String {
    format!("{}{}", id::short(&it.id), words::title(it, look.columns.min(60)))
}
