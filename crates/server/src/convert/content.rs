//! Converts the parts of messages. A call and its repaired form are one part for clients.

use std::mem;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{Part, Recalled, RecalledWords, Source, ToolOutcome};
use retake_wire::Problem;

use super::misused;

fn source(source: Source) -> (Option<String>, Option<String>) {
    match source {
        Source::Inline(bytes) => (Some(BASE64.encode(bytes)), None),
        Source::Link(url) => (None, Some(url)),
    }
}

fn source_in(data: Option<String>, url: Option<String>) -> Result<Source, Problem> {
    match (data, url) {
        (Some(data), None) => {
            let bad = |_| misused("base64", &[("parameter", "data".into())]);
            BASE64.decode(data).map(Source::Inline).map_err(bad)
        }
        (None, Some(url)) => Ok(Source::Link(url)),
        _ => Err(misused("data_or_url", &[])),
    }
}

fn recalled(fact: Recalled) -> retake_wire::RecalledFact {
    let erased = fact.words == RecalledWords::Erased;
    let text = match fact.words {
        RecalledWords::Known(text) => Some(text),
        RecalledWords::Unread | RecalledWords::TakenBack | RecalledWords::Erased => None,
    };
    retake_wire::RecalledFact { id: fact.id.to_string(), text, erased }
}

/// A part in the form for people. Facts for later turns are left out.
fn part(part: Part) -> Option<retake_wire::Part> {
    Some(match part {
        Part::Text(text) => retake_wire::Part::Text { text },
        Part::Image { media_type, source: from } => {
            let (data, url) = source(from);
            retake_wire::Part::Image { media_type, data, url }
        }
        Part::File { name, media_type, source: from } => {
            let (data, url) = source(from);
            retake_wire::Part::File { name, media_type, data, url }
        }
        Part::ToolCall { id, name, arguments } => {
            retake_wire::Part::ToolCall { id, name, arguments, sent: None }
        }
        Part::ToolResult { call, content, outcome } => {
            retake_wire::Part::ToolResult { call, content, failed: outcome == ToolOutcome::Failed }
        }
        Part::Reasoning { text, signature } => retake_wire::Part::Reasoning { text, signature },
        Part::Recalled(facts) => {
            retake_wire::Part::Recalled { facts: facts.into_iter().map(recalled).collect() }
        }
        Part::Erased => retake_wire::Part::Erased,
        Part::Repaired { .. } | Part::Facts(_) => return None,
    })
}

pub(crate) fn parts(all: Vec<Part>) -> Vec<retake_wire::Part> {
    let mut shown: Vec<retake_wire::Part> = Vec::with_capacity(all.len());
    for next in all {
        match (next, shown.last_mut()) {
            (
                Part::Repaired { name: own, arguments: repaired },
                Some(retake_wire::Part::ToolCall { name, arguments, sent, .. }),
            ) => {
                let (name, arguments) = (mem::replace(name, own), mem::replace(arguments, repaired));
                *sent = Some(retake_wire::SentCall { name, arguments });
            }
            (next, _) => shown.extend(part(next)),
        }
    }
    shown
}

fn part_in(part: retake_wire::Part) -> Result<Part, Problem> {
    Ok(match part {
        retake_wire::Part::Text { text } => Part::Text(text),
        retake_wire::Part::Image { media_type, data, url } => {
            Part::Image { media_type, source: source_in(data, url)? }
        }
        retake_wire::Part::File { name, media_type, data, url } => {
            Part::File { name, media_type, source: source_in(data, url)? }
        }
        retake_wire::Part::ToolCall { id, name, arguments, .. } => Part::ToolCall { id, name, arguments },
        retake_wire::Part::ToolResult { call, content, failed } => {
            let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Ok };
            Part::ToolResult { call, content, outcome }
        }
        retake_wire::Part::Reasoning { text, signature } => Part::Reasoning { text, signature },
        retake_wire::Part::Recalled { .. } => return Err(misused("recalled_part", &[])),
        retake_wire::Part::Erased => return Err(misused("erased_part", &[])),
    })
}

pub(crate) fn parts_in(all: Vec<retake_wire::Part>) -> Result<Vec<Part>, Problem> {
    let mut parts = Vec::with_capacity(all.len());
    for mut next in all {
        let mut repaired = None;
        if let retake_wire::Part::ToolCall { name, arguments, sent, .. } = &mut next
            && let Some(sent) = sent.take()
        {
            let (name, arguments) = (mem::replace(name, sent.name), mem::replace(arguments, sent.arguments));
            repaired = Some(Part::Repaired { name, arguments });
        }
        parts.push(part_in(next)?);
        parts.extend(repaired);
    }
    Ok(parts)
}
