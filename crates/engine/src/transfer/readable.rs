//! Exports for people: Markdown and plain text. Hidden content is left out; excluded content is marked.
//!
//! Messages are unchanged except for control characters, which must not reach a terminal.

use retake_core::{Mark, Part, Role, Source, Time, ToolOutcome, preview};
use retake_store::{About, Exported};

/// The header of a Markdown export.
pub(super) fn markdown_title(about: &About) -> String {
    let title = about.title.as_deref().unwrap_or("Conversation");
    format!("# {}\n\n{}\n", shown(title), described(about))
}

/// The header of a text export.
pub(super) fn text_title(about: &About) -> String {
    let title = shown(about.title.as_deref().unwrap_or("Conversation"));
    let line = "=".repeat(title.chars().count());
    format!("{title}\n{line}\n\n{}\n", described(about))
}

fn described(about: &About) -> String {
    let mut text = format!("Begun {}.", date(about.created));
    if let Some(folder) = &about.folder {
        text.push_str(&format!(" Folder: {}.", shown(folder)));
    }
    if let Some((parent, head)) = about.parent {
        text.push_str(&format!(" A fork of {parent} at {head}."));
    }
    text
}

/// An entry in Markdown.
pub(super) fn markdown(exported: &Exported) -> String {
    let parts = parts_of(exported).into_iter().map(|part| match part {
        Piece::Words(text) => text,
        Piece::Block(name, text) => fenced(&name, &text),
    });
    format!("\n## {}\n\n{}\n", heading(exported), parts.collect::<Vec<_>>().join("\n\n"))
}

/// An entry in plain text.
pub(super) fn text(exported: &Exported) -> String {
    let parts = parts_of(exported).into_iter().map(|part| match part {
        Piece::Words(text) => text,
        Piece::Block(name, text) => format!("[{name}]\n{text}"),
    });
    format!("\n--- {}\n\n{}\n", heading(exported), parts.collect::<Vec<_>>().join("\n\n"))
}

/// The author, the time, and the mark.
fn heading(exported: &Exported) -> String {
    let shown_entry = &exported.shown;
    let mut words = match &shown_entry.entry {
        Ok(entry) => {
            let who = match entry.meta.role {
                Role::User => "You",
                Role::Assistant => "Assistant",
                Role::Tool => "Tool",
                Role::System => "System",
            };
            let named = match entry.author.as_str() {
                "" => who.to_owned(),
                author => format!("{who} ({})", shown(author)),
            };
            let mut words = vec![named, date(entry.meta.time)];
            words.extend(entry.meta.flags.interrupted.then(|| "[interrupted]".to_owned()));
            words
        }
        Err(_) => vec!["A damaged message".to_owned()],
    };
    words.extend((shown_entry.mark == Mark::Excluded).then(|| "[excluded]".to_owned()));
    words.extend(shown_entry.alternative.map(|(number, of)| format!("[answer {number} of {of}]")));
    words.extend(shown_entry.label.as_deref().map(|label| format!("“{}”", shown(label))));
    words.join(" · ")
}

/// A piece of an entry.
enum Piece {
    /// Its text.
    Words(String),
    /// A block of machine text, with its name.
    Block(String, String),
}

fn parts_of(exported: &Exported) -> Vec<Piece> {
    match &exported.shown.entry {
        Ok(entry) => entry.parts.iter().filter_map(piece).collect(),
        Err(why) => vec![Piece::Words(format!("[It can't be read: {}]", shown(why)))],
    }
}

fn piece(part: &Part) -> Option<Piece> {
    let place = |source: &Source| match source {
        Source::Inline(bytes) => format!("{} bytes", bytes.len()),
        Source::Link(link) => shown(link),
    };
    Some(match part {
        Part::Text(text) => Piece::Words(shown(text)),
        Part::Image { media_type, source } => {
            Piece::Words(format!("[image: {}, {}]", shown(media_type), place(source)))
        }
        Part::File { name, source, .. } => {
            Piece::Words(format!("[file: {}, {}]", shown(name), place(source)))
        }
        Part::ToolCall { name, arguments, .. } => {
            Piece::Block(format!("calls {}", shown(name)), shown(arguments))
        }
        Part::Repaired { name, arguments } => {
            Piece::Block(format!("repaired to {}", shown(name)), shown(arguments))
        }
        Part::ToolResult { content, outcome, .. } => {
            let name = if *outcome == ToolOutcome::Failed { "failed" } else { "result" };
            Piece::Block(name.to_owned(), shown(content))
        }
        Part::Reasoning { text, .. } => Piece::Block("reasoning".to_owned(), shown(text)),
        Part::Facts(_) => return None,
        // Their words are in other conversations.
        Part::Recalled(_) => Piece::Words(preview(std::slice::from_ref(part))),
        Part::Erased => Piece::Words("[erased]".to_owned()),
    })
}

/// A code block whose fence is longer than any fence in it.
fn fenced(name: &str, text: &str) -> String {
    let mut longest = 0;
    let mut here = 0;
    for c in text.chars() {
        here = if c == '`' { here + 1 } else { 0 };
        longest = longest.max(here);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("*{name}*\n\n{fence}\n{text}\n{fence}")
}

/// Text whose control characters are replaced by their pictures.
fn shown(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' => c,
        '\u{7f}' => '\u{2421}',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(visible).collect()
}

/// A date in UTC; the number for a time outside of the calendar.
fn date(time: Time) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(stamp) => stamp.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{} ms", time.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(shown("a\u{1b}[2J\r\nb\u{9b}\u{7f}\tc"), "a␛[2J\nb\u{fffd}␡\tc");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("result", "a ```` b"), "*result*\n\n`````\na ```` b\n`````");
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date(Time(1_795_300_000_000)), "2026-11-21 22:26 UTC");
        assert_eq!(date(Time(i64::MAX)), format!("{} ms", i64::MAX));
    }
}
