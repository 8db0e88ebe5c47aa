//! How much of the model's context the next prompt takes. Must never show an unknown size as a size.

use retake_wire::english;
use retake_wire::reply::{Context, ContextBasis, ContextParts};

use super::content::block;
use super::table::{cell, table};
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text, safe};

/// The whole, and what takes how much of it.
pub fn context(look: &Look, it: &Context) -> Text {
    let ContextParts { system, notes, summaries, messages, results } = it.parts;
    let rows = [
        ("system prompt and tools", system),
        ("instructions and memory", notes),
        ("summaries", summaries),
        ("messages", messages),
        ("results of tools", results),
    ];
    let row = |(of, tokens): (&str, u64)| {
        let share = percent(tokens, it.used).map(|share| format!("{share} %")).unwrap_or_default();
        vec![cell(of), cell(words::number(tokens)).right(), cell(share).right().style(Style::Dim)]
    };
    let mut text = block(look, &whole(it), 0, None);
    text.push(table(look, &rows.into_iter().map(row).collect::<Vec<_>>()));
    if let Some(at) = it.summarised_at {
        let line = format!("earlier messages are summarised from {} tokens on", words::number(at));
        text.push(block(look, &line, 0, Some(Style::Dim)));
    }
    if let Some(warning) = &it.warning {
        let line = english::run_notice(warning, &english::remedy);
        text.push(block(look, &safe::line(&line), 0, Some(Style::Warn)));
    }
    text
}

/// The sum in a sentence.
fn whole(it: &Context) -> String {
    let basis = match it.basis {
        ContextBasis::Counted => "counted by the provider",
        ContextBasis::Estimated => "estimated",
    };
    let used = words::number(it.used);
    match (it.limit, &it.model) {
        (Some(limit), model) => {
            let share = percent(it.used, limit).unwrap_or_default();
            let model = model.as_deref().map(safe::line).unwrap_or_default();
            format!("{used} of {} tokens ({share} %), {basis} · {model}", words::number(limit))
        }
        (None, Some(model)) => {
            let model = safe::line(model);
            format!(
                "{used} tokens, {basis}; the size of the context of {model} is not known: the setting \
                 models.\"{model}\".context_tokens has it"
            )
        }
        (None, None) => format!("{used} tokens, {basis}; no model can be used, so the limit is not known"),
    }
}

/// The share of a whole in per cent.
pub fn percent(of: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| of.saturating_mul(100) / whole)
}

#[cfg(test)]
mod tests {
    use retake_wire::RunNotice;

    use super::*;

    #[test]
    fn meter_names_its_basis_its_parts_and_what_is_not_known() {
        let look = Look { columns: 200, now_ms: 0, ids: false };
        let parts = ContextParts { system: 6000, notes: 400, summaries: 0, messages: 3000, results: 600 };
        let known = Context {
            model: Some("mine/m".to_owned()),
            limit: Some(40_000),
            summarised_at: Some(32_000),
            used: 10_000,
            basis: ContextBasis::Counted,
            parts,
            warning: None,
        };
        let shown = |it: &Context| context(&look, it).to_string();
        assert_eq!(
            shown(&known),
            "10,000 of 40,000 tokens (25 %), counted by the provider · mine/m\n\
             system prompt and tools  6,000  60 %\n\
             instructions and memory    400   4 %\n\
             summaries                    0   0 %\n\
             messages                 3,000  30 %\n\
             results of tools           600   6 %\n\
             earlier messages are summarised from 32,000 tokens on\n"
        );
        let unknown = Context { limit: None, summarised_at: None, basis: ContextBasis::Estimated, ..known };
        assert!(shown(&unknown).starts_with(
            "10,000 tokens, estimated; the size of the context of mine/m is not known: the setting \
             models.\"mine/m\".context_tokens has it\n"
        ));
        let warning = RunNotice::TooLongForModel { model: "mine/m".to_owned(), tokens: 9, limit: 8 };
        let none = Context { model: None, warning: Some(warning), ..unknown };
        assert!(shown(&none).starts_with("10,000 tokens, estimated; no model can be used"));
        assert!(shown(&none).ends_with("the context of mine/m takes 8: it may be refused\n"));
    }
}
