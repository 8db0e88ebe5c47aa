//! What stays although the conversation goes back: calls that can't be reverted, and messages that return to their
//! author.

use retake_wire::reply::{EffectLine, EffectState, Effects, Plan, Receipt, Words};
use retake_wire::{EffectClass, FileCounts, Part, english};

use super::content::sentence;
use super::plan::dim_rest;
use super::{content, words};
use crate::text::style::Style;
use crate::text::{Look, Text, safe, width};

/// The columns for one call.
const CALL: usize = 60;

/// Whether files that calls may have changed are reverted: then only the other effects of the calls stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Some are reverted.
    Return,
    /// None is reverted.
    Stay,
}

impl Files {
    /// According to a plan.
    pub fn of_plan(plan: &Plan) -> Self {
        Self::counted(plan.files.as_ref().map(|files| files.counts))
    }

    /// According to a receipt.
    pub fn of_receipt(receipt: &Receipt) -> Self {
        Self::counted(receipt.files.as_ref().map(|files| files.counts))
    }

    fn counted(counts: Option<FileCounts>) -> Self {
        if counts.unwrap_or_default() == FileCounts::default() { Self::Stay } else { Self::Return }
    }
}

/// Calls that can't be reverted, one per line below a title.
pub fn effects(look: &Look, effects: &Effects, files: Files) -> Text {
    let title = brief(effects, files).map(|title| sentence(look, &title, 0, Some(Style::Error)));
    let calls = effects.calls.iter().map(|call| sentence(look, &one(look, call), 2, Some(Style::Warn)));
    Text::from(title) + calls.collect::<Text>() + dim_rest(effects.count, effects.calls.len())
}

/// The title alone.
pub fn brief(effects: &Effects, files: Files) -> Option<String> {
    let count = words::count(effects.count, "call");
    let what = match files {
        Files::Return => format!("what {count} did beyond these files"),
        Files::Stay => count,
    };
    (!effects.is_empty()).then(|| format!("! can't be taken back: {what}"))
}

/// A call and its result.
fn one(look: &Look, call: &EffectLine) -> String {
    let what = match english::effect_without_words(call) {
        Some(phrase) => safe::line(&phrase).into_owned(),
        None => format!("`{}`", width::truncate(&safe::line(&call.line), CALL)),
    };
    let when = words::when(look, call.began_ms);
    let how = match call.state {
        EffectState::Begun => "; begun, how it ended is not known",
        EffectState::Failed => "; it failed",
        EffectState::Done => "",
    };
    let by = if call.class == EffectClass::Compensable { "; another call may take it back" } else { "" };
    format!("{what} ({when}{how}{by})")
}

/// Waiting messages, in one line.
pub fn waited(look: &Look, all: &[Words]) -> Text {
    if all.is_empty() {
        return Text::new();
    }
    let parts: Vec<Part> = all.iter().flat_map(|words| words.parts.clone()).collect();
    let attached = content::attached(&parts).map(|attached| format!(" {attached}")).unwrap_or_default();
    let text = text(&parts);
    let quoted = if text.trim().is_empty() { String::new() } else { format!(" “{text}”") };
    content::block(look, &format!("waiting messages return to you:{quoted}{attached}"), 0, None)
}

/// The text of a message, for editing.
pub fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
