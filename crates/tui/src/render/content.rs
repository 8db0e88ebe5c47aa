//! The parts of a message as people read them. Must never drop a part silently.

use retake_wire::{Part, RecalledFact, SentCall, Usage, call_line};

use super::words;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe, width};

/// The most lines shown of a tool's result.
const RESULT_LINES: usize = 12;

/// The parts, each wrapped and indented.
pub fn parts(look: &Look, parts: &[Part], indent: usize) -> Text {
    parts_noted(look, parts, indent, &|_, _| None)
}

/// The same, with notes below the calls: the callback gets the call's number, from 1, and its tool.
pub(super) fn parts_noted(
    look: &Look,
    parts: &[Part],
    indent: usize,
    note: &dyn Fn(usize, &str) -> Option<&'static str>,
) -> Text {
    let mut text = Text::new();
    let mut calls = 0;
    for part in parts {
        match part {
            Part::Text { text: said } => text.push(block(look, said, indent, None)),
            Part::Reasoning { text: thought, .. } => {
                text.push(block(look, thought, indent, Some(Style::Dim)));
            }
            Part::ToolResult { content, failed, .. } => {
                let style = if *failed { Style::Error } else { Style::Tool };
                let shown = match failed {
                    true => format!("← failed: {}", failure(content)),
                    false => format!("← {}", first_lines(content)),
                };
                text.push(block(look, &shown, indent, Some(style)));
            }
            other => {
                let style = match other {
                    Part::ToolCall { .. } => Style::Tool,
                    _ => Style::Dim,
                };
                text.push(block(look, &label(other), indent, Some(style)));
                if let Part::ToolCall { name, sent, .. } = other {
                    calls += 1;
                    if let Some(sent) = sent {
                        text.push(block(look, &self::sent(sent), indent, Some(Style::Dim)));
                    }
                    if let Some(note) = note(calls, name) {
                        text.push(block(look, &format!("! {note}"), indent, Some(Style::Warn)));
                    }
                }
            }
        }
    }
    text
}

/// The placeholder for a part that is not text.
fn label(part: &Part) -> String {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
        Part::Image { media_type, .. } => format!("[image: {media_type}]"),
        Part::File { name, .. } => format!("[file: {name}]"),
        Part::ToolCall { name, arguments, .. } => format!("→ {}", call_line(name, arguments)),
        Part::ToolResult { content, .. } => format!("← {content}"),
        Part::Recalled { facts } => recalled(facts),
        Part::Erased => "[erased]".to_owned(),
    }
}

/// The line that says how many facts a message recalls.
pub fn recalled_line(facts: &[RecalledFact]) -> String {
    format!("recalled {}", words::count(facts.len() as u64, "fact"))
}

/// The facts that a message recalls, each in a line.
pub fn recalled(facts: &[RecalledFact]) -> String {
    let lines = facts.iter().map(|fact| match &fact.text {
        Some(text) => format!("- {}", safe::line(text)),
        None if fact.erased => "- (erased)".to_owned(),
        None => "- (no longer remembered)".to_owned(),
    });
    std::iter::once(recalled_line(facts)).chain(lines).collect::<Vec<_>>().join("\n")
}

/// A repaired call as the model sent it.
pub fn sent(sent: &SentCall) -> String {
    let arguments = serde_json::from_str::<serde_json::Value>(&sent.arguments);
    let arguments = arguments.map_or_else(|_| sent.arguments.clone(), |value| value.to_string());
    format!("repaired; the model sent {} {}", safe::line(&sent.name), safe::line(&arguments))
}

fn first_lines(text: &str) -> String {
    let lines = text.lines().count();
    if lines <= RESULT_LINES {
        return text.trim_end().to_owned();
    }
    let shown: Vec<&str> = text.lines().take(RESULT_LINES).collect();
    let more = words::count((lines - RESULT_LINES) as u64, "line");
    format!("{}\n… and {more} more", shown.join("\n"))
}

/// A failure: the reason from the brackets in its last line, then its first lines. Without such a line, only the
/// first lines.
fn failure(text: &str) -> String {
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    match last.strip_prefix('[').and_then(|why| why.strip_suffix(']')) {
        Some(why) => format!("{why}\n{}", first_lines(before)).trim_end().to_owned(),
        None => first_lines(text),
    }
}

/// A text, made safe, wrapped and indented.
pub fn block(look: &Look, text: &str, indent: usize, style: Option<Style>) -> Text {
    let safe = safe::block(text);
    let room = look.columns.saturating_sub(indent).max(20);
    let margin = " ".repeat(indent);
    let mut shown = Text::new();
    for line in width::wrap(safe.trim_end_matches('\n'), room) {
        if !line.is_empty() {
            shown.push(margin.as_str());
            shown.push(Text::of(line, style));
        }
        shown.push("\n");
    }
    shown
}

/// A sentence, made safe and wrapped; the lines after the first are indented further.
pub(crate) fn sentence(look: &Look, text: &str, indent: usize, style: Option<Style>) -> Text {
    hanging(look, text, " ".repeat(indent), indent + 2, style)
}

/// The same, with a prefix for the first line and the indentation of the others.
pub(crate) fn hanging(
    look: &Look,
    text: &str,
    before: impl Into<Text>,
    margin: usize,
    style: Option<Style>,
) -> Text {
    let room = look.columns.saturating_sub(margin).max(8);
    let margins = std::iter::once(before.into()).chain(std::iter::repeat(" ".repeat(margin).into()));
    let lines = margins.zip(width::wrap(safe::block(text).trim_end(), room));
    lines.map(|(margin, line)| text![margin, Text::of(line, style), "\n"]).collect()
}

/// Sentences, one per line.
pub(super) fn sentences(look: &Look, all: impl IntoIterator<Item = String>, style: Option<Style>) -> Text {
    all.into_iter().map(|text| sentence(look, &text, 0, style)).collect()
}

/// "[1 image attached]" for parts that are not text, if there are any.
pub fn attached(parts: &[Part]) -> Option<String> {
    let images = parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
    let files = parts.iter().filter(|part| matches!(part, Part::File { .. })).count();
    let others =
        parts.len() - images - files - parts.iter().filter(|part| matches!(part, Part::Text { .. })).count();
    let mut things = Vec::new();
    for (amount, thing) in [(images, "image"), (files, "file"), (others, "other part")] {
        if amount > 0 {
            things.push(words::count(amount as u64, thing));
        }
    }
    (!things.is_empty()).then(|| format!("[{} attached]", things.join(", ")))
}

/// The usage of a model call in one line. `None` if nothing is known.
pub fn usage(usage: &Usage) -> Option<String> {
    let mut pieces = Vec::new();
    if let Some(input) = usage.input_tokens {
        let cached = usage
            .cached_input_tokens
            .filter(|cached| *cached > 0)
            .map(|cached| format!(" ({} cached)", words::number(cached)))
            .unwrap_or_default();
        pieces.push(format!("{} tokens in{cached}", words::number(input)));
    }
    if let Some(output) = usage.output_tokens {
        pieces.push(format!("{} out", words::number(output)));
    }
    if let Some(cost) = usage.cost_usd {
        pieces.push(dollars(cost));
    }
    (!pieces.is_empty()).then(|| pieces.join(" · "))
}

/// An amount of money, with as many digits as it needs.
pub fn dollars(amount: f64) -> String {
    if amount == 0.0 {
        "free".to_owned()
    } else if amount < 0.01 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
}

/// The parts that are not text.
pub fn kept(parts: &[Part]) -> Vec<Part> {
    let kept = |part: &&Part| !matches!(part, Part::Text { .. } | Part::Erased) && !part.is_command_prompt();
    parts.iter().filter(kept).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Part {
        Part::Image {
            media_type: "image/png".to_owned(),
            data: None,
            url: Some("https://example.org/cat.png".to_owned()),
        }
    }

    #[test]
    fn attachments_are_kept() {
        let old = [Part::text("one"), image(), Part::text("two")];
        assert_eq!(kept(&old), [image()]);
        assert_eq!(attached(&old).as_deref(), Some("[1 image attached]"));
        assert_eq!(attached(&old[..1]), None);
    }

    #[test]
    fn failed_call_says_first_how_it_ended() {
        let ended = "it ended with exit code 1";
        assert_eq!(failure(&format!("[{ended}]\n")), ended);
        assert_eq!(failure(&format!("1\n\n[{ended}]")), format!("{ended}\n1"));
        let long = failure(&format!("{}[{ended}]", "a\n".repeat(RESULT_LINES + 5)));
        assert!(long.starts_with(&format!("{ended}\na\na\n")), "{long}");
        assert!(long.ends_with("a\n… and 5 lines more"), "{long}");
        assert_eq!(failure("no such file\n"), "no such file");
    }

    #[test]
    fn usage_says_what_is_known() {
        let mut known = Usage::default();
        assert_eq!(usage(&known), None);
        known.input_tokens = Some(12_345);
        known.cached_input_tokens = Some(12_000);
        known.output_tokens = Some(7);
        known.cost_usd = Some(0.00123);
        assert_eq!(usage(&known).as_deref(), Some("12,345 tokens in (12,000 cached) · 7 out · $0.0012"));
    }
}
