//! Export and import: each format, on both stores, and an export of a conversation that continues meanwhile.

use retake_core::{Action, PageRequest, Part, Projection, Reading, Reason, Role};
use retake_engine::ExportFormat;
use serde_json::Value;

use super::{Desk, rich};

/// Compares with a file of `tests/golden`.
fn golden(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text) });
}

#[tokio::test]
async fn the_formats_are_pinned() {
    let desk = Desk::new(1).await;
    let (id, fork) = rich(&desk).await;
    golden("export_jsonl", &desk.export(id, ExportFormat::Jsonl).await);
    golden("export_jsonl_of_a_fork", &desk.export(fork, ExportFormat::Jsonl).await);
    golden("export_markdown", &desk.export(id, ExportFormat::Markdown).await);
    golden("export_text", &desk.export(id, ExportFormat::Text).await);
    golden("export_full", &desk.export(id, ExportFormat::Full).await);
}

/// An export without waiting messages: they are nowhere else, and only their run is over for the reader.
fn but_waiting(text: &str) -> Vec<&str> {
    let waits = |line: &&str| line.contains(r#""state":"queued""#) || line.contains(r#""error":"unqueued""#);
    text.lines().filter(|line| !waits(line)).collect()
}

#[tokio::test]
async fn an_export_of_this_version_will_always_be_read() {
    let pinned = include_str!("../golden/export_full.snap");
    let text = pinned.splitn(3, "---\n").last().expect("a snapshot has a head").trim_end();
    let desk = Desk::new(9).await;
    let id = desk.import(text).await.expect("imported");
    assert_eq!(but_waiting(&desk.export(id, ExportFormat::Full).await), but_waiting(text));
    let older = [
        include_str!("../golden/export_full_1.snap"),
        include_str!("../golden/export_full_2.snap"),
        include_str!("../golden/export_full_3.snap"),
        include_str!("../golden/export_full_4.snap"),
        include_str!("../golden/export_full_5.snap"),
    ];
    for (version, pinned) in (1..).zip(older) {
        let text = pinned.splitn(3, "---\n").last().expect("a snapshot has a head").trim_end();
        let older = Desk::new(10).await;
        let of_old = older.import(text).await.expect("imported");
        let now = older.export(of_old, ExportFormat::Full).await;
        let version = format!("\"version\":{version}");
        let then = text.replacen(&version, "\"version\":6", 1);
        assert_eq!(but_waiting(&now), but_waiting(&then), "the rest is the same");
    }
    let pinned = include_str!("../golden/export_jsonl.snap");
    let text = pinned.splitn(3, "---\n").last().expect("a snapshot has a head").trim_end();
    let id = desk.import(text).await.expect("imported");
    assert_eq!(comparable(&desk.export(id, ExportFormat::Jsonl).await), comparable(text));
}

#[tokio::test]
async fn nothing_hidden_or_rewound_is_in_an_export_for_others() {
    let desk = Desk::new(1).await;
    let (id, _) = rich(&desk).await;
    for format in [ExportFormat::Jsonl, ExportFormat::Markdown, ExportFormat::Text] {
        let text = desk.export(id, format).await;
        for word in ["secret wish", "never mind", "password", "said in the fork", "\u{1b}"] {
            assert!(!text.contains(word), "{word} in {format:?}");
        }
    }
}

#[tokio::test]
async fn a_full_export_comes_back_byte_for_byte_over_both_stores() {
    let (desk, folder) = (Desk::new(1).await, tempfile::tempdir().expect("a folder"));
    let (id, fork) = rich(&desk).await;
    let text = desk.export(id, ExportFormat::Full).await;
    assert_eq!(desk.export(fork, ExportFormat::Full).await, text, "a fork takes its whole tree along");
    let file = Desk::in_folder(folder.path(), 2).await;
    assert_eq!(file.import(&text).await.expect("imported"), id);
    assert_eq!(but_waiting(&file.export(id, ExportFormat::Full).await), but_waiting(&text));
    let again = Desk::new(3).await;
    again.import(&file.export(fork, ExportFormat::Full).await).await.expect("imported");
    assert_eq!(but_waiting(&again.export(id, ExportFormat::Full).await), but_waiting(&text));
    let mut summaries = [desk.list().await, file.list().await, again.list().await];
    summaries.iter_mut().for_each(|list| list.sort_by_key(|summary| summary.id));
    assert_eq!(summaries[0], summaries[1]);
    assert_eq!(summaries[0], summaries[2]);
}

#[tokio::test]
async fn imported_conversation_continues_as_before() {
    let desk = Desk::new(1).await;
    let (id, _) = rich(&desk).await;
    let other = Desk::new(2).await;
    other.import(&desk.export(id, ExportFormat::Full).await).await.expect("imported");
    for desk in [&desk, &other] {
        desk.apply(id, Action::Undo(2)).await;
        let retried = desk.engine.create(None, None, desk.engine.by(super::request("new"))).await;
        assert_eq!(retried.expect_err("other arguments").code, "request_reused");
    }
    let page = PageRequest { limit: 99, ..PageRequest::default() };
    let reading = Reading::now(Projection::Timeline);
    let shown = |page: retake_core::EntryPage| page.entries;
    assert_eq!(
        shown(desk.store.page(id, reading, page.clone()).await.expect("a page")),
        shown(other.store.page(id, reading, page).await.expect("a page")),
    );
}

#[tokio::test]
async fn a_tree_that_is_here_is_not_restored_again() {
    let desk = Desk::new(1).await;
    let (id, _) = rich(&desk).await;
    let text = desk.export(id, ExportFormat::Full).await;
    let error = desk.import(&text).await.expect_err("it is here");
    assert_eq!(error.code, "conversation_exists");
    assert_eq!(desk.export(id, ExportFormat::Full).await, text);
}

#[tokio::test]
async fn a_full_export_that_does_not_hold_together_is_refused_whole() {
    let desk = Desk::new(1).await;
    let (id, _) = rich(&desk).await;
    let text = desk.export(id, ExportFormat::Full).await;
    let without = |wanted: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains(wanted)).expect("there is one");
        [&lines[..at], &lines[at + 1..]].concat().join("\n")
    };
    let rows = [
        without("\"seq\":3,"),
        without("\"no\":2,\"at\""),
        text.lines().take(2).collect::<Vec<_>>().join("\n"),
        text.lines().take(12).collect::<Vec<_>>().join("\n"),
        text.replacen("\"totals\":[2,0,1]", "\"totals\":[3,0,1]", 1),
        text.replacen("\"after\":3", "\"after\":900", 1),
    ];
    let rows = rows.into_iter().chain([
        text.replacen("\"seq\":3,\"call\"", "\"seq\":33,\"call\"", 1),
        text.replacen("{\"run\":{\"conversation\":0,\"no\":1,", "{\"run\":{\"conversation\":0,\"no\":4,", 1),
        text.replacen("\"state\":\"succeeded\"", "\"state\":\"queued\"", 1),
        text.replacen("\"mode\":\"plan", "\"mode\":\"forbid", 1),
    ]);
    // Counters go on from there.
    let number = |field: &str, number: &str| {
        let at = text.find(&format!("\"{field}\":")).expect("a field") + field.len() + 3;
        let end = at + text[at..].find([',', '}']).expect("its end");
        format!("{}{number}{}", &text[..at], &text[end..])
    };
    let rows = rows.chain([
        number("revision", "18446744073709551615"),
        number("revision", "9223372036854775807"),
        number("rewinds", "9223372036854775807"),
        number("head", "\"0.18446744073709551615\""),
        text.replacen("\"totals\":[2,0,1]", "\"totals\":[9223372036854775807,0,1]", 1),
    ]);
    for (number, broken) in rows.enumerate() {
        assert_ne!(broken, text, "row {number} breaks something");
        let other = Desk::new(2).await;
        let error = other.import(&broken).await.expect_err("it is broken");
        assert!(["bad_export", "bad_import"].contains(&error.code), "row {number}: {error}");
        assert!(other.list().await.is_empty(), "row {number} left something");
    }
}

/// An export without what an import creates again: ids, positions, and summaries, which it does not contain.
fn comparable(text: &str) -> Vec<Value> {
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        strip(&mut value);
        value
    };
    text.lines().skip(1).map(line).collect()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for name in ["id", "seq", "depth", "folded"] {
                object.remove(name);
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

#[tokio::test]
async fn an_export_comes_back_as_a_new_conversation() {
    let (desk, folder) = (Desk::new(1).await, tempfile::tempdir().expect("a folder"));
    let (id, fork) = rich(&desk).await;
    let other = Desk::in_folder(folder.path(), 2).await;
    for id in [id, fork] {
        let text = desk.export(id, ExportFormat::Jsonl).await;
        let new = other.import(&text).await.expect("imported");
        assert_ne!(new, id);
        assert_eq!(comparable(&other.export(new, ExportFormat::Jsonl).await), comparable(&text));
        let (old, new) = (desk.store.summary(id).await, other.store.summary(new).await);
        let (old, new) = (old.expect("a summary"), new.expect("a summary"));
        assert_eq!((old.title, old.folder, old.counts), (new.title, new.folder, new.counts));
    }
}

#[tokio::test]
async fn alternatives_come_back_in_their_order() {
    let desk = Desk::new(1).await;
    let id = desk.create().await;
    desk.words(id, Role::User, "name one").await;
    for answer in ["one", "two", "three"] {
        let said = desk.words(id, Role::Assistant, answer).await;
        if answer != "three" {
            desk.apply(id, Action::Retry(said)).await;
        }
    }
    let last = desk.engine.entry(id, "@").await.expect("there is one");
    desk.apply(id, Action::Choose(last, 2)).await;
    desk.words(id, Role::User, "why?").await;
    let text = desk.export(id, ExportFormat::Jsonl).await;
    assert!(text.contains("\"chosen\":2"), "{text}");
    let new = desk.import(&text).await.expect("imported");
    assert_eq!(comparable(&desk.export(new, ExportFormat::Jsonl).await), comparable(&text));
}

#[tokio::test]
async fn all_pieces_are_of_one_state() {
    for format in [ExportFormat::Jsonl, ExportFormat::Text, ExportFormat::Full] {
        let desk = Desk::new(1).await;
        let id = desk.create().await;
        let mut said = vec![desk.words(id, Role::User, "the first").await];
        for number in 0..60 {
            let long = format!("{number} {}", "word ".repeat(20_000));
            said.push(desk.say(id, Role::Assistant, vec![Part::text(long)]).await);
        }
        let (whole, pieces) = desk.export_in(id, format).await;
        assert!(pieces > 2, "{pieces} pieces are too few to show anything");
        let first = desk.engine.export(id, format, None).await.expect("a piece");
        desk.mark(id, Reason::Hide, said[58]).await;
        desk.apply(id, Action::Edit(said[50])).await;
        desk.words(id, Role::Assistant, "another answer").await;
        desk.engine.fork(id, None, None, desk.engine.by(None)).await.expect("forked");
        let (mut text, mut cursor) = (first.text, first.cursor);
        while let Some(next) = cursor {
            let chunk = desk.engine.export(id, format, Some(&next)).await.expect("a piece");
            text.push_str(&chunk.text);
            cursor = chunk.cursor;
        }
        assert_eq!(text, whole, "{format:?}");
    }
}

#[tokio::test]
async fn a_cursor_from_elsewhere_is_refused() {
    let desk = Desk::new(1).await;
    let id = desk.create().await;
    for (format, cursor, code) in [
        (ExportFormat::Jsonl, "x", "bad_cursor"),
        (ExportFormat::Full, "x", "bad_cursor"),
        (ExportFormat::Text, "0.9:1", "unknown_head"),
    ] {
        let error = desk.engine.export(id, format, Some(cursor)).await.expect_err("no such cursor");
        assert_eq!(error.code, code, "{error}");
    }
}

#[tokio::test]
async fn an_empty_conversation_goes_out_and_in() {
    let desk = Desk::new(1).await;
    let id = desk.create().await;
    for format in [ExportFormat::Jsonl, ExportFormat::Full] {
        let other = Desk::new(2).await;
        let new = other.import(&desk.export(id, format).await).await.expect("imported");
        assert_eq!(other.store.summary(new).await.expect("a summary").counts.messages, 0);
    }
}
