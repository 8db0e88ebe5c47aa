//! What stays though the conversation goes back: calls that nothing takes back, and words that come back to their author.

use retake_wire::reply::{EffectLine, EffectState, Effects, Plan, Receipt, Words};
use retake_wire::{EffectClass, FileCounts, Part};

use super::{content, words};
use crate::text::style::Style;
use crate::text::{Look, Text, safe, width};

/// So many columns are for one call.
const CALL: usize = 60;

/// Whether files return that calls may have changed: then only the other effects of the calls stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Some go back.
    Return,
    /// None do.
    Stay,
}

impl Files {
    /// As a plan says.
    pub fn of_plan(plan: &Plan) -> Self {
        Self::counted(plan.files.as_ref().map(|files| files.counts))
    }

    /// As a receipt says.
    pub fn of_receipt(receipt: &Receipt) -> Self {
        Self::counted(receipt.files.as_ref().map(|files| files.counts))
    }

    fn counted(counts: Option<FileCounts>) -> Self {
        if counts.unwrap_or_default() == FileCounts::default() { Self::Stay } else { Self::Return }
    }
}

/// Calls that can't be taken back, in a line.
pub fn effects(look: &Look, effects: &Effects, files: Files) -> Text {
    if effects.is_empty() {
        return Text::new();
    }
    let calls: Vec<String> = effects.calls.iter().map(|call| one(look, call)).collect();
    let more = match effects.count.saturating_sub(calls.len() as u64) {
        0 => String::new(),
        more => format!(", … and {} more", words::number(more)),
    };
    let what = what(effects, files);
    let line = format!("! can't be taken back: {what}: {}{more}", calls.join(", "));
    content::block(look, &line, 0, Some(Style::Warn))
}

/// The same, as short as can be.
pub fn brief(effects: &Effects, files: Files) -> Option<String> {
    (!effects.is_empty()).then(|| format!("! can't be taken back: {}", what(effects, files)))
}

/// What of the calls stays.
fn what(effects: &Effects, files: Files) -> String {
    let count = words::count(effects.count, "call");
    match files {
        Files::Return => format!("what {count} did beyond these files"),
        Files::Stay => count,
    }
}

/// A call, and what came of it.
pub(crate) fn one(look: &Look, call: &EffectLine) -> String {
    let line = safe::line(&call.line);
    let line = width::truncate(&line, CALL);
    let when = words::when(look, call.began_ms);
    let how = match call.state {
        EffectState::Begun => "; begun, how it ended is not known",
        EffectState::Failed => "; it failed",
        EffectState::Done => "",
    };
    let by = if call.class == EffectClass::Compensable { "; another call may take it back" } else { "" };
    format!("`{line}` ({when}{how}{by})")
}

/// Words that waited for a run, in a line.
pub fn waited(look: &Look, all: &[Words]) -> Text {
    if all.is_empty() {
        return Text::new();
    }
    let parts: Vec<Part> = all.iter().flat_map(|words| words.parts.clone()).collect();
    let attached = content::attached(&parts).map(|attached| format!(" {attached}")).unwrap_or_default();
    let text = text(&parts);
    let quoted = if text.trim().is_empty() { String::new() } else { format!(" “{text}”") };
    content::block(look, &format!("words that waited come back:{quoted}{attached}"), 0, None)
}

/// The text of words, to be edited.
pub fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
