//! Counts, times, names and titles in words. Must never cut a word that tells an amount.

use retake_wire::reply::{Conversation, Counts, Line, OwnerWork, Parent, TurnActions};
use retake_wire::{Principal, Role};

use crate::text::Look;
use crate::text::style::Style;
use crate::text::{safe, time, width};

/// A number with thousands separators.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things.
pub fn count(amount: u64, thing: &str) -> String {
    let plural = if amount == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", number(amount))
}

/// "4 messages (2 turns, 1 tool call)".
pub fn counts(counts: Counts) -> String {
    let mut more = Vec::new();
    if counts.turns > 0 {
        more.push(count(counts.turns, "turn"));
    }
    if counts.calls > 0 {
        more.push(count(counts.calls, "tool call"));
    }
    let messages = count(counts.messages, "message");
    if more.is_empty() { messages } else { format!("{messages} ({})", more.join(", ")) }
}

/// "2 turns"; messages that are no turn are counted as messages.
pub(crate) fn turns(counts: Counts) -> String {
    if counts.turns > 0 { count(counts.turns, "turn") } else { count(counts.messages, "message") }
}

/// "3 files · 1 command · 2 stay": what a turn did. Empty if it only spoke or read.
pub fn did(did: TurnActions) -> String {
    let (files, commands) = (count(did.files, "file"), count(did.commands, "command"));
    let posts = count(did.posts, "post");
    let all =
        [(did.files, files), (did.commands, commands), (did.posts, posts), (did.outside, stays(did.outside))];
    let some = all.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words);
    some.collect::<Vec<_>>().join(" · ")
}

/// "1 stays": calls with effects outside, which may stay whatever is reverted.
pub fn stays(calls: u64) -> String {
    format!("{} {}", number(calls), if calls == 1 { "stays" } else { "stay" })
}

/// "a, b or c".
pub(crate) fn either(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The time of something.
pub fn when(look: &Look, time_ms: i64) -> String {
    time::relative(look.now_ms, time_ms)
}

/// The speaker, and the style.
pub fn speaker(role: Role, author: &str) -> (String, Style) {
    let (name, style) = match role {
        Role::User => ("you", Style::User),
        Role::Assistant => ("model", Style::Model),
        Role::Tool => ("tool", Style::Tool),
        Role::System => ("system", Style::Warn),
    };
    if author.is_empty() { (name.to_owned(), style) } else { (safe::line(author).into_owned(), style) }
}

/// Who asked for an operation; empty for the user.
pub fn asked_by(principal: &Principal, author: &str) -> String {
    match principal {
        Principal::Local => String::new(),
        Principal::Token { name } => format!("by token {}", safe::line(name)),
        Principal::Member { account, .. } => format!("by {} ({})", safe::line(author), safe::line(account)),
    }
}

/// The author of text that a program wrote by itself.
pub(crate) const PROGRAM: &str = "program";

/// The author of an entry, and the style: in lists a person is always “you”.
pub fn said_by(line: &Line) -> (String, Style) {
    if line.synthetic {
        return (PROGRAM.to_owned(), Style::Dim);
    }
    let role = if line.ran_by.is_some() { Role::User } else { line.role };
    speaker(role, "")
}

/// The title of a conversation, or its first message, in quotes and after a space. Empty if it has neither.
pub fn title(conversation: &Conversation, columns: usize) -> String {
    quoted(&named(conversation), columns)
}

/// The name of a conversation: its title, or its first message. A fork is named by the first message of its own, and says what it
/// is a fork of.
pub fn named(conversation: &Conversation) -> String {
    let begins = conversation.preview.trim();
    match conversation.title.as_deref() {
        Some(title) if !title.is_empty() => title.to_owned(),
        _ => match &conversation.parent {
            Some(parent) => fork(parent, begins),
            None => begins.to_owned(),
        },
    }
}

fn fork(parent: &Parent, begins: &str) -> String {
    let of = parent.title.as_deref().map(str::trim).filter(|title| !title.is_empty()).unwrap_or(begins);
    match (parent.own.as_deref().map(str::trim).filter(|own| !own.is_empty()), of) {
        (None, "") => String::new(),
        (None, of) => format!("{of} (fork)"),
        (Some(own), "") => format!("{own} (fork)"),
        (Some(own), of) => format!("{own} (fork of {of})"),
    }
}

/// A text on one line, in quotes.
pub fn quote(text: &str, columns: usize) -> String {
    let line = safe::line(text);
    format!("“{}”", width::truncate(&line, columns.saturating_sub(2)))
}

/// The same after a space; empty for a text without words.
pub fn quoted(text: &str, columns: usize) -> String {
    if text.trim().is_empty() { String::new() } else { format!(" {}", quote(text, columns)) }
}

/// The verb form for this amount.
pub fn is_are(amount: usize) -> &'static str {
    if amount == 1 { "is" } else { "are" }
}

/// The file work that is going on.
pub fn doing(doing: OwnerWork) -> String {
    match doing {
        OwnerWork::Looking { folders } => format!("looking at files: {}", count(folders, "folder")),
        OwnerWork::Reading { done, of } => format!("reading files: {} of {}", number(done), number(of)),
        OwnerWork::Writing { files } => format!("putting back {}", count(files, "file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_words() {
        for (amount, text) in [
            (0, "0 turns"),
            (1, "1 turn"),
            (999, "999 turns"),
            (1_000, "1,000 turns"),
            (1_234_567, "1,234,567 turns"),
        ] {
            assert_eq!(count(amount, "turn"), text);
        }
    }

    #[test]
    fn fork_and_its_parent_have_different_names() {
        let mut it = crate::ui::testing::conversation("c1", None, "fix the parser", 1);
        assert_eq!(named(&it), "fix the parser");
        it.parent =
            Some(Parent { conversation: "c0".to_owned(), head: "1.2".to_owned(), title: None, own: None });
        assert_eq!(named(&it), "fix the parser (fork)");
        let says = |it: &mut Conversation, title: Option<&str>, own: Option<&str>| {
            let parent = it.parent.as_mut().expect("a fork");
            (parent.title, parent.own) = (title.map(str::to_owned), own.map(str::to_owned));
            named(it)
        };
        assert_eq!(says(&mut it, None, Some("try it by hand")), "try it by hand (fork of fix the parser)");
        assert_eq!(says(&mut it, Some("Parser"), Some("try it by hand")), "try it by hand (fork of Parser)");
        assert_eq!(says(&mut it, Some("Parser"), None), "Parser (fork)");
        it.title = Some("another way".to_owned());
        assert_eq!(named(&it), "another way", "a title of its own tells it apart");
        it.title = Some(String::new());
        it.preview = String::new();
        says(&mut it, None, None);
        assert_eq!(named(&it), "");
    }

    #[test]
    fn counts_leave_out_zeros() {
        let all = Counts { messages: 4, calls: 1, turns: 2 };
        assert_eq!(counts(all), "4 messages (2 turns, 1 tool call)");
        let some = Counts { calls: 0, ..all };
        assert_eq!(counts(some), "4 messages (2 turns)");
        let few = Counts { messages: 1, ..Counts::default() };
        assert_eq!(counts(few), "1 message");
        let all = TurnActions { files: 3, commands: 1, calls: 5, outside: 2, posts: 1 };
        assert_eq!(did(all), "3 files · 1 command · 1 post · 2 stay");
        assert_eq!(did(TurnActions { calls: 4, ..TurnActions::default() }), "");
    }

    /// A conversation without title and words is named by its id, without empty quotes.
    #[test]
    fn trial_15_nothing_is_quoted_that_has_no_words() {
        let id = "0199a000-0001-7000-8000-000000000001".to_owned();
        let line = |preview: &str| retake_wire::reply::Line {
            id: id.clone(),
            role: Role::Tool,
            time_ms: 0,
            preview: preview.to_owned(),
            ran_by: None,
            synthetic: false,
        };
        let image = retake_wire::Part::Image { media_type: "image/png".to_owned(), data: None, url: None };
        let words =
            retake_wire::reply::Words { parts: vec![image.clone()], author: String::new(), time_ms: 0 };
        let hit = retake_wire::Hit {
            conversation: id.clone(),
            title: String::new(),
            line: line("figs"),
            snippet: "figs".to_owned(),
            marks: Vec::new(),
            standing: None,
            before: None,
            after: None,
        };
        let tree = retake_wire::reply::Tree {
            subagents: Vec::new(),
            head: "1.2".to_owned(),
            branches: Vec::new(),
            forks: vec![retake_wire::reply::ForkLine {
                conversation: id.clone(),
                title: " ".to_owned(),
                from: None,
            }],
            more: false,
        };
        let composer =
            retake_wire::reply::Composer { entry: id.clone(), text: String::new(), parts: vec![image] };
        for ids in [true, false] {
            let look = Look { columns: 80, now_ms: 0, ids };
            let shown = [
                crate::render::lists::name(&look, &crate::ui::testing::conversation(&id, None, "", 1)),
                crate::render::hits::hits(
                    &look,
                    &retake_wire::Hits { hits: vec![hit.clone()], more: false, understood: None },
                )
                .to_string(),
                crate::render::tree::tree(&look, &tree).to_string(),
                crate::render::plan::returns(&look, &composer),
                crate::render::effects::waited(&look, std::slice::from_ref(&words)).to_string(),
            ];
            for (at, text) in shown.iter().enumerate() {
                assert!(!text.contains("“”") && !text.contains("  \n"), "{text:?}");
                assert!(at > 2 || text.contains("0199a000-0001"), "{text:?}");
            }
        }
    }
}
