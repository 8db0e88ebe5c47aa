//! Conversations are exported in pieces and imported line by line, without a loss.

use retake_wire::reply::{Entry, EntryPlace, Receipt};
use retake_wire::request::{
    CatchUp, ConversationTarget, Export, Fork, Format, ImportLines, ImportStart, List, Say,
};
use retake_wire::{Action, MarkVerb, Part, Problem, ProblemKind, Request, Role};

use super::world::{Desk, LARGEST, called, get, label, mark, rewind, said, shows, told};

/// A conversation with all kinds of exported content: eight entries, six of them visible.
pub(super) async fn rich(desk: &Desk) -> String {
    let (id, entries) = desk.talk(&["one\n\u{1b}[2J", "bad"]).await;
    desk.apply(&id, rewind("@")).await;
    let call = called("c1", "look", "{}");
    desk.does(Request::Say(Say { parts: vec![call], ..said(&id, Role::Assistant, "") })).await;
    let result = Part::ToolResult { call: "c1".into(), content: "a cat".into(), failed: true };
    desk.does(Request::Say(Say { parts: vec![result], ..said(&id, Role::Tool, "") })).await;
    let image = Part::Image { media_type: "image/png".into(), data: Some("AAH/".into()), url: None };
    let posted = Say {
        parts: vec![Part::text("中文 🐈"), image],
        author: "bob".into(),
        observed: true,
        time_ms: Some(1_700_000_000_000),
        platform_id: Some("p-1".into()),
        ..said(&id, Role::User, "")
    };
    desk.does(Request::Say(posted)).await;
    desk.apply(&id, mark(MarkVerb::Exclude, "@")).await;
    desk.say(&id, Role::User, "a secret").await;
    desk.apply(&id, mark(MarkVerb::Hide, "@")).await;
    desk.say(&id, Role::Assistant, "fine").await;
    desk.apply(&id, label("@", "end")).await;
    desk.apply(&id, Action::Title { title: Some("Tea & “cake”".into()) }).await;
    desk.say(&id, Role::User, "bye").await;
    assert_eq!(desk.timeline(&id).await.1.len(), 6);
    assert_eq!(desk.timeline(&id).await.1[0].id, entries[0]);
    id
}

/// An export in pieces; between two of them, `meanwhile` is added to the conversation.
pub(super) async fn export(
    desk: &Desk,
    of: &str,
    format: Format,
    meanwhile: Option<&str>,
) -> (String, usize) {
    let (mut text, mut pieces, mut last) = (String::new(), 0, 0);
    let mut export = Export { conversation: of.into(), format, cursor: None };
    loop {
        let chunk = get!(desk, Chunk, Request::Export(export.clone()));
        assert!(last <= chunk.progress.0 && chunk.progress.0 <= chunk.progress.1, "{:?}", chunk.progress);
        last = chunk.progress.0;
        text.push_str(&chunk.text);
        pieces += 1;
        if chunk.cursor.is_none() {
            assert_eq!(chunk.progress.0, chunk.progress.1);
            return (text, pieces);
        }
        export.cursor = chunk.cursor;
        if let Some(meanwhile) = meanwhile {
            desk.say(of, Role::User, meanwhile).await;
        }
    }
}

async fn start(desk: &Desk) -> String {
    get!(desk, Receipt, Request::ImportStart(ImportStart::default())).conversation
}

fn lines(import: &str, first: u64, lines: &[String]) -> Request {
    Request::ImportLines(ImportLines { conversation: import.into(), first, lines: lines.to_vec() })
}

fn end(import: &str) -> Request {
    Request::ImportEnd(ConversationTarget { conversation: import.into() })
}

/// Imports a text; each piece of it is sent twice, and the end, too.
async fn import(desk: &Desk, text: &str) -> Receipt {
    let id = start(desk).await;
    let all: Vec<String> = text.lines().map(str::to_owned).collect();
    for (number, piece) in all.chunks(100).enumerate() {
        for _ in 0..2 {
            desk.does(lines(&id, number as u64 * 100, piece)).await;
        }
    }
    let receipt = get!(desk, Receipt, end(&id));
    desk.does(lines(&id, 0, &all[..1])).await;
    assert_eq!(get!(desk, Receipt, end(&id)), receipt, "ended twice is ended once");
    receipt
}

/// What stays the same when an entry gets another id in another log, without hidden entries, which may open a turn.
fn lasting(entries: Vec<Entry>) -> Vec<Entry> {
    entries
        .into_iter()
        .zip(1..)
        .map(|(entry, seq)| {
            let place = EntryPlace { seq, depth: 0, turn: 0, ..entry.place };
            Entry { id: String::new(), place, ..entry }
        })
        .collect()
}

#[tokio::test]
async fn imported_export_equals_the_original() {
    let (desk, other) = (Desk::new().await, Desk::new().await);
    let id = rich(&desk).await;
    let (text, _) = export(&desk, &id, Format::Jsonl, None).await;
    assert!(!text.contains("a secret") && !text.contains('\u{1b}'), "{text}");
    for place in [&desk, &other] {
        let new = import(place, &text).await.conversation;
        assert_ne!(new, id);
        let (was, is) = (desk.timeline(&id).await.1, place.timeline(&new).await.1);
        assert_eq!(lasting(is), lasting(was));
        assert_eq!(place.info(&new).await.title.as_deref(), Some("Tea & “cake”"));
        let changes = CatchUp { conversation: new.clone(), since: 0 };
        let changes = get!(place, Changes, Request::CatchUp(changes));
        assert_eq!(changes.came, place.timeline(&new).await.1);
    }
    assert_eq!(desk.timeline(&id).await.1.len(), 6, "the original is as it was");
}

#[tokio::test]
async fn full_export_has_everything_with_ids() {
    let (desk, other) = (Desk::new().await, Desk::new().await);
    let id = rich(&desk).await;
    let fork = Fork { conversation: id.clone(), entry: None, title: Some("fork".into()), request_id: None };
    let fork = get!(desk, Receipt, Request::Fork(fork)).conversation;
    desk.say(&fork, Role::User, "said in the fork").await;
    let (text, _) = export(&desk, &fork, Format::Full, None).await;
    import(&other, &text).await;
    for id in [&id, &fork] {
        let (was, is) = (desk.info(id).await, other.info(id).await);
        assert_eq!(is, was);
        assert_eq!(other.timeline(id).await, desk.timeline(id).await);
        other.apply(id, Action::Undo { count: 1 }).await;
        other.apply(id, Action::Redo { count: 1 }).await;
        assert_eq!(other.texts(id).await, desk.texts(id).await);
    }
    let import = start(&desk).await;
    let all: Vec<String> = text.lines().map(str::to_owned).collect();
    desk.does(lines(&import, 0, &all)).await;
    assert_eq!(desk.refused(end(&import)).await.code, "conversation_exists");
}

#[tokio::test]
async fn answer_costs_the_same_in_the_log_and_in_the_cost_of_its_conversation() {
    let desk = Desk::new().await;
    let text = [
        r#"{"role": "user", "content": "Tea?"}"#,
        r#"{"role": "assistant", "content": "Yes.", "model": "ollama/x", "usage": {"input_tokens": 9, "output_tokens": 2}}"#,
        r#"{"role": "user", "content": "Cake?"}"#,
        r#"{"role": "assistant", "content": "No.", "model": "openai/y", "usage": {"input_tokens": 9, "output_tokens": 2}}"#,
    ];
    let conversation = import(&desk, &text.join("\n")).await.conversation;
    let entries = desk.timeline(&conversation).await.1;
    let by_entry: Vec<_> = entries.iter().filter_map(|entry| Some(entry.usage?.cost_usd)).collect();
    assert_eq!(by_entry, [Some(0.0), None], "one is free, the price of the other is not known");
    let cost = get!(desk, Cost, Request::Cost(ConversationTarget { conversation }));
    let by_model: Vec<_> = cost.models.iter().map(|of| of.usage.cost_usd).collect();
    assert_eq!(by_model, by_entry);
}

#[tokio::test]
async fn pieces_of_an_export_are_of_one_state() {
    let desk = Desk::new().await;
    let import = start(&desk).await;
    let message = |number: u64| format!(r#"{{"role": "user", "content": "{number} {}"}}"#, "x".repeat(1000));
    let all: Vec<String> = (0..1100).map(message).collect();
    desk.does(lines(&import, 0, &all)).await;
    let id = get!(desk, Receipt, end(&import)).conversation;
    for format in [Format::Jsonl, Format::Markdown, Format::Text] {
        let (whole, pieces) = export(&desk, &id, format, None).await;
        let (torn, _) = export(&desk, &id, format, Some("said meanwhile")).await;
        assert!(pieces > 2, "{format:?}: {pieces}");
        let skip = usize::from(format == Format::Jsonl);
        let body = |text: &str| text.lines().skip(skip).map(str::to_owned).collect::<Vec<_>>();
        assert!(body(&whole) == body(&torn), "{format:?}: what is said meanwhile is not in it");
        desk.apply(&id, Action::Undo { count: pieces - 1 }).await;
    }
    let (text, pieces) = export(&desk, &id, Format::Full, None).await;
    assert!(pieces > 1, "{pieces}");
    assert!(text.contains("said meanwhile"), "a full export has also what was taken back");
}

#[tokio::test]
async fn markdown_and_text_exports_are_never_imported() {
    let desk = Desk::new().await;
    let id = rich(&desk).await;
    for format in [Format::Markdown, Format::Text] {
        let (text, _) = export(&desk, &id, format, None).await;
        assert!(text.contains("中文 🐈") && !text.contains("a secret") && !text.contains('\u{1b}'), "{text}");
        let import = start(&desk).await;
        let first = text.lines().next().expect("a line").to_owned();
        assert_eq!(desk.refused(lines(&import, 0, &[first])).await.code, "bad_import");
    }
}

/// Sends lines and ends the import; returns the error.
async fn hostile(desk: &Desk, first: u64, all: &[String]) -> Problem {
    let import = start(desk).await;
    if let Err(problem) = desk.client.call(lines(&import, first, all)).await {
        if problem.code == "bad_import" {
            assert_eq!(desk.refused(end(&import)).await.code, "unknown_import", "a bad line ends it");
        }
        return problem;
    }
    desk.refused(end(&import)).await
}

#[tokio::test]
async fn invalid_import_lines_are_reported_and_nothing_is_imported() {
    let desk = Desk::new().await;
    let good = r#"{"role": "user", "content": "a"}"#.to_owned();
    let header = r#"{"format":"retake-export","version":1,"exported_ms":0,"entries":9,"conversation":{"id":"","title":null,"created_ms":0,"folder":null,"head":"0.0","parent":null}}"#;
    let rows: Vec<(&str, u64, Vec<String>)> = vec![
        ("nothing", 0, vec![]),
        ("blank lines", 0, vec![String::new(), "  ".into()]),
        ("words", 0, vec!["hello".into()]),
        ("escapes", 0, vec!["\u{1b}]0;x\u{7}".into()]),
        ("an unknown role", 0, vec![good.clone(), good.replace("user", "\\u001b[2J")]),
        ("half a line", 0, vec![good.clone(), good[..9].into()]),
        ("a line too early", 7, vec![good.clone()]),
        ("the last line there can be", LARGEST as u64, vec![good.clone()]),
        ("deep", 0, vec!["[".repeat(100_000)]),
        ("deep within", 0, vec![good.replace("\"a\"", &"[".repeat(100_000))]),
        ("a number for words", 0, vec![good.replace("\"a\"", "1e999")]),
        ("an unknown part", 0, vec![good.replace("\"a\"", r#"[{"type": "virus"}]"#)]),
        ("another version", 0, vec![header.replace("\"version\":1", "\"version\":9")]),
        ("a huge count", 0, vec![header.replace(":9,", ":18446744073709551615,")]),
        ("a second header", 0, vec![header.into(), header.into()]),
        ("an export and a message", 0, vec![header.into(), good]),
    ];
    let mut text = String::new();
    for (what, first, all) in rows {
        let problem = hostile(&desk, first, &all).await;
        // Its turn may still come.
        let early = problem.code == "lines_missing";
        let kind = if early { ProblemKind::Refused } else { ProblemKind::Usage };
        assert_eq!(problem.kind, kind, "{what}: {problem:?}");
        text.push_str(&format!("{what}\n{}", told(&problem)));
    }
    let list = get!(desk, Conversations, Request::List(List::default()));
    assert_eq!(list.conversations, []);
    shows!(text);
}

/// An abandoned import keeps its lines, but not for ever.
#[tokio::test]
async fn idle_import_gives_way_to_others() {
    let desk = Desk::new().await;
    let good = [r#"{"role": "user", "content": "a"}"#.to_owned()];
    let (kept, left) = (start(&desk).await, start(&desk).await);
    desk.does(lines(&left, 0, &good)).await;
    desk.does(lines(&kept, 0, &good)).await;
    for _ in 0..63 {
        start(&desk).await;
    }
    assert_eq!(desk.refused(end(&left)).await.code, "unknown_import");
    let receipt = get!(desk, Receipt, end(&kept));
    assert_eq!(desk.texts(&receipt.conversation).await, ["a"]);
}

#[tokio::test]
async fn lines_are_accepted_only_for_an_import_in_progress() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let good = [r#"{"role": "user", "content": "a"}"#.to_owned()];
    for name in [&*id, &id[..8], "nonsense", ""] {
        for request in [lines(name, 0, &good), end(name)] {
            let problem = desk.refused(request).await;
            let told = if name == id { "unknown_import" } else { "unknown_conversation" };
            assert_eq!((&*problem.code, problem.kind), (told, ProblemKind::NotFound), "{problem:?}");
        }
    }
    assert_eq!(desk.texts(&id).await, ["one"]);
}
