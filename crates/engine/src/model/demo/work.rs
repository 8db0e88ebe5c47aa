//! The demo's tool calls: which come next, and what their results were. A pure function of the prompt.

use retake_core::{Part, Role, ToolOutcome};

use super::super::Prompt;
use super::grammar::{self, Action, WantedCall};

/// The demo's next text and calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// The text.
    pub(super) text: String,
    /// The calls.
    pub(super) calls: Vec<WantedCall>,
}

/// The calls of one answer, each with the place of its action.
type AnswerCalls<'a> = Vec<(usize, &'a WantedCall)>;

/// The result of a call.
struct Outcome<'a> {
    content: &'a str,
    failed: bool,
}

/// How many characters of a result are quoted.
const QUOTED: usize = 80;

/// The answer to a message that requests work; `None` if it requests none or there are no tools.
pub(super) fn answer(prompt: &Prompt) -> Option<Answer> {
    if prompt.tools.is_empty() {
        return None;
    }
    let last = prompt.messages.iter().rposition(|message| message.role == Role::User)?;
    let said = prompt.messages[last].parts.iter().rev().find_map(Part::as_text)?;
    let steps = grammar::steps(said)?;
    let actions: Vec<&Action> = steps.iter().flatten().collect();
    let stages = stages(&steps);
    let results: Vec<Vec<Outcome<'_>>> = results(prompt, last, &stages);
    let done = results.len();
    let failed = results.last().is_some_and(|results| results.iter().any(|result| result.failed));
    if failed || done == stages.len() {
        return Some(Answer { text: told(&actions, &stages, &results), calls: Vec::new() });
    }
    let stage = &stages[done];
    let missing = stage.iter().find(|(_, call)| !prompt.tools.iter().any(|tool| tool.name == call.tool));
    if let Some((at, call)) = missing {
        let text = format!("I cannot {}: I have no tool called {}.", actions[*at].line, call.tool);
        return Some(Answer { text, calls: Vec::new() });
    }
    let lines: Vec<String> = stage
        .iter()
        .map(|(at, call)| match actions[*at].calls.last() {
            Some(last) if last != *call => format!("{} it, to {}", call.tool, actions[*at].line),
            _ => actions[*at].line.clone(),
        })
        .collect();
    let calls = stage.iter().map(|(_, call)| (*call).clone()).collect();
    Some(Answer { text: format!("I {}.", listed(&lines)), calls })
}

/// Each step takes as many answers as its longest action has calls.
fn stages(steps: &[Vec<Action>]) -> Vec<AnswerCalls<'_>> {
    let mut stages = Vec::new();
    let mut before = 0;
    for step in steps {
        let longest = step.iter().map(|action| action.calls.len()).max().unwrap_or_default();
        for nth in 0..longest {
            let calls = step.iter().enumerate();
            stages
                .push(calls.filter_map(|(at, action)| Some((before + at, action.calls.get(nth)?))).collect());
        }
        before += step.len();
    }
    stages
}

/// The results of the stages so far: an answer that calls the tools of the next stage is that stage. Calls of other models
/// are skipped.
fn results<'a>(prompt: &'a Prompt, last: usize, stages: &[AnswerCalls<'_>]) -> Vec<Vec<Outcome<'a>>> {
    let behind = &prompt.messages[last + 1..];
    let answered = |id: &str| {
        let parts = behind.iter().flat_map(|message| &message.parts);
        let mut results = parts.filter_map(|part| match part {
            Part::ToolResult { call, content, outcome } if call == id => {
                Some(Outcome { content, failed: *outcome == ToolOutcome::Failed })
            }
            _ => None,
        });
        results.next().unwrap_or(Outcome { content: "there is no result", failed: true })
    };
    let mut done = Vec::new();
    for message in behind.iter().filter(|message| message.role == Role::Assistant) {
        let calls = message.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        });
        let calls: Vec<(&str, &str)> = calls.collect();
        let Some(stage) = stages.get(done.len()) else { break };
        if !calls.is_empty()
            && calls.iter().map(|(_, name)| *name).eq(stage.iter().map(|(_, call)| call.tool.as_str()))
        {
            done.push(calls.into_iter().map(|(id, _)| answered(id)).collect());
        }
    }
    done
}

/// A summary of the results in a sentence or two.
fn told(actions: &[&Action], stages: &[AnswerCalls<'_>], results: &[Vec<Outcome<'_>>]) -> String {
    let mut done = Vec::new();
    let mut failed = Vec::new();
    let mut seen = vec![false; actions.len()];
    for (stage, results) in stages.iter().zip(results) {
        for ((at, call), result) in stage.iter().zip(results) {
            let action = actions[*at];
            seen[*at] = true;
            let quote = quote(result.content);
            if result.failed {
                failed.push(format!("{}: {quote}", action.line));
            } else if action.calls.last() == Some(*call) {
                done.push(if quote.is_empty() {
                    action.line.clone()
                } else {
                    format!("{} ({quote})", action.line)
                });
            }
        }
    }
    let left = actions.iter().zip(seen).filter(|(_, seen)| !seen).map(|(action, _)| action.line.clone());
    let left: Vec<String> = left.collect();
    let mut sentences = Vec::new();
    if !done.is_empty() {
        sentences.push(format!("Done: {}.", done.join("; ")));
    }
    if !failed.is_empty() {
        // A truncated text has its own end.
        let failed = failed.join("; ");
        sentences.push(format!("Failed: {failed}{}", if failed.ends_with('…') { "" } else { "." }));
    }
    if !left.is_empty() {
        sentences.push(format!("So I have stopped, and did not {}.", listed(&left)));
    }
    sentences.join(" ")
}

/// `a`, `a and b`, `a, b and c`.
fn listed(lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// The last non-empty line of a result, which contains errors and summaries; of an edit the text before its diff.
fn quote(content: &str) -> String {
    let said = content.split("\n@@ ").next().unwrap_or_default();
    let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
