//! Previews: a message as one short line.

use unicode_segmentation::UnicodeSegmentation;

use crate::content::{Part, ToolOutcome, calls_as_run};

/// The longest preview, in graphemes, the ellipsis included.
pub const PREVIEW_MAX: usize = 80;

/// The text parts joined by a space, white space folded, at most [`PREVIEW_MAX`] graphemes, none of them split.
/// Without text, the kind of content in brackets. Reads no more of a long text than it shows.
pub fn preview(parts: &[Part]) -> String {
    let words = parts.iter().filter_map(Part::as_text).flat_map(str::split_whitespace);
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > PREVIEW_MAX * 64 {
            break;
        }
    }
    if line.is_empty() {
        line = (0..parts.len())
            .map(|at| placeholder(&parts[at..]))
            .find(|text| !text.is_empty())
            .unwrap_or_default();
    }
    shorten(&line, PREVIEW_MAX)
}

/// The text, cut to `max` graphemes with an ellipsis.
pub fn shorten(text: &str, max: usize) -> String {
    match text.grapheme_indices(true).nth(max) {
        None => text.to_owned(),
        Some(_) => {
            let cut = text.grapheme_indices(true).nth(max - 1).map_or(text.len(), |(at, _)| at);
            format!("{}…", text[..cut].trim_end())
        }
    }
}

/// The placeholder for the first of the parts, which is not text.
fn placeholder(parts: &[Part]) -> String {
    match &parts[0] {
        Part::Text(_) | Part::Repaired { .. } | Part::Facts(_) => String::new(),
        Part::Image { .. } => "[image]".into(),
        Part::File { name, .. } => format!("[file {name}]"),
        Part::ToolCall { .. } => {
            calls_as_run(parts).next().map(|call| format!("[calls {}]", call.name)).unwrap_or_default()
        }
        Part::ToolResult { content, outcome, .. } => came_of_it(content, *outcome),
        Part::Reasoning { .. } => "[reasoning]".into(),
        Part::Recalled(facts) => match facts.len() {
            1 => "[recalled 1 fact]".into(),
            count => format!("[recalled {count} facts]"),
        },
        Part::Erased => "[erased]".into(),
    }
}

/// The first line of a tool's result; for a failed one its end, if its last line has it in brackets.
fn came_of_it(content: &str, outcome: ToolOutcome) -> String {
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let bare = |line: &'_ str| line.len() > 2 && line.starts_with('[') && line.ends_with(']');
    let ending = lines.clone().next_back().filter(|line| outcome == ToolOutcome::Failed && bare(line));
    let first = ending.map(|line| &line[1..line.len() - 1]).or_else(|| lines.next());
    let first = first.map(|line| line.get(..PREVIEW_MAX * 64).unwrap_or(line));
    let words = first.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    match (words, outcome) {
        (Some(words), ToolOutcome::Ok) => words,
        (Some(words), ToolOutcome::Failed) => format!("failed: {words}"),
        (None, ToolOutcome::Ok) => "[no output]".into(),
        (None, ToolOutcome::Failed) => "[failed]".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preview_of_a_tool_result_is_its_first_line() {
        let result = |content: &str, outcome| {
            preview(&[Part::ToolResult { call: "1".into(), content: content.into(), outcome }])
        };
        assert_eq!(result("\n  edited  a.rs\nmore", ToolOutcome::Ok), "edited a.rs");
        assert_eq!(result("no such file", ToolOutcome::Failed), "failed: no such file");
        let ended = "1\n2\n[it ended with exit code 1]\n";
        assert_eq!(result(ended, ToolOutcome::Failed), "failed: it ended with exit code 1");
        assert_eq!(result("[a]\nb\n[c]", ToolOutcome::Ok), "[a]");
        assert_eq!(result(" \n", ToolOutcome::Ok), "[no output]");
        assert_eq!(result("", ToolOutcome::Failed), "[failed]");
        assert_eq!(result(&"é".repeat(10_000), ToolOutcome::Ok).graphemes(true).count(), PREVIEW_MAX);
    }

    #[test]
    fn preview_of_a_repaired_call_names_the_tool_that_runs() {
        let call = Part::ToolCall { id: "1".into(), name: "Bash".into(), arguments: "{}".into() };
        let repaired = Part::Repaired { name: "shell".into(), arguments: "{}".into() };
        assert_eq!(preview(&[call, repaired]), "[calls shell]");
    }

    #[test]
    fn white_space_folds_and_parts_join() {
        let image = Part::Image { media_type: "image/png".into(), source: crate::Source::Inline(vec![1]) };
        let parts = [Part::text(" a\n\tb "), image.clone(), Part::text("c")];
        assert_eq!(preview(&parts), "a b c");
        assert_eq!(preview(&[image]), "[image]");
        assert_eq!(preview(&[]), "");
    }

    #[test]
    fn at_most_eighty_and_no_grapheme_cut() {
        let family = "👨‍👩‍👧‍👦";
        let line = preview(&[Part::text(family.repeat(100))]);
        assert_eq!(line.graphemes(true).count(), PREVIEW_MAX);
        assert_eq!(line, format!("{}…", family.repeat(79)));
        assert_eq!(preview(&[Part::text("x".repeat(80))]), "x".repeat(80));
        assert_eq!(preview(&[Part::text("x".repeat(81))]), format!("{}…", "x".repeat(79)));
    }

    #[test]
    fn brackets_with_nothing_between_are_no_ending() {
        let failed = |content: &str| came_of_it(content, ToolOutcome::Failed);
        for (content, told) in [
            ("first\n[]", "failed: first"),
            ("first\n[x]", "failed: x"),
            ("first\n[x", "failed: first"),
            ("first\nx]", "failed: first"),
        ] {
            assert_eq!(failed(content), told, "{content:?}");
        }
    }
}
