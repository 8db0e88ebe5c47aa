//! What stays though the conversation goes back: calls that nothing takes back, and words that come back to their author.

use retake_wire::reply::{EffectLine, EffectState, Effects, Words};
use retake_wire::{EffectClass, Part};

use super::{content, words};
use crate::text::Look;
use crate::text::style::Style;
use crate::text::{safe, width};

/// So many columns are for one call.
const CALL: usize = 60;

/// Calls that can't be taken back, in a line.
pub fn effects(look: &Look, effects: &Effects) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let calls: Vec<String> = effects.calls.iter().map(|call| one(look, call)).collect();
    let more = match effects.count.saturating_sub(calls.len() as u64) {
        0 => String::new(),
        more => format!(", … and {} more", words::number(more)),
    };
    let count = words::count(effects.count, "call");
    let line = format!("! can't be taken back: {count}: {}{more}", calls.join(", "));
    content::block(look, &line, 0, Some(Style::Warn))
}

/// The same, as short as can be.
pub fn brief(effects: &Effects) -> Option<String> {
    let count = words::count(effects.count, "call");
    (!effects.is_empty()).then(|| format!("! can't be taken back: {count}"))
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
pub fn waited(look: &Look, all: &[Words]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let parts: Vec<Part> = all.iter().flat_map(|words| words.parts.clone()).collect();
    let attached = content::attached(&parts).map(|attached| format!(" {attached}")).unwrap_or_default();
    content::block(look, &format!("words that waited come back: “{}”{attached}", text(&parts)), 0, None)
}

/// The text of words, to be edited.
pub fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
