//! Lists of chat messages; invalid, duplicate or missing lines; and an import that is never ended.

use retake_core::{Include, Mark, PageRequest, Projection, Reading, SearchRequest, joined_text};

use super::{Desk, NOW, request};

/// The visible messages of the newest conversation, with authors.
async fn shows(desk: &Desk) -> Vec<String> {
    let reading = Reading::now(Projection::Timeline);
    let all = PageRequest { limit: usize::MAX, ..PageRequest::default() };
    let id = desk.list().await[0].id;
    let page = desk.store.page(id, reading, all).await.expect("a page");
    let entries = page.entries.into_iter().map(|shown| shown.entry.expect("sound"));
    entries
        .map(|entry| {
            let (role, parts) = (entry.meta.role.name(), entry.parts.len());
            format!("{role} {} {parts} {}", entry.author, joined_text(&entry.parts))
        })
        .collect()
}

#[tokio::test]
async fn a_list_of_messages_in_every_shape() {
    let messages = [
        r#"{"role": "system", "content": "be brief"}"#,
        r#"{"role": "user", "content": "hi \ud83d", "name": "bob"}"#,
        r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}"#,
        r#"{"role": "tool", "tool_call_id": "1", "content": "3"}"#,
        r#"{"role": "user", "content": [{"type": "text", "text": "and\u0000 now?"}]}"#,
    ];
    let expected =
        ["system  1 be brief", "user bob 1 hi \u{fffd}", "assistant  1 ", "tool  1 ", "user ann 1 and now?"];
    let list = messages.join(",");
    let shapes = [
        messages.join("\n"),
        format!("\u{feff}{}\r\n\n", messages.join("\r\n\n")),
        format!("[{list}]"),
        format!("[\n  {}\n]\n", messages.join(",\n  ")),
        format!("{{\"model\": \"x\", \"messages\": [{list}]}}"),
        format!("{{\n\"system\": \"be brief\",\n\"messages\": [{}]}}", messages[1..].join(",\n")),
    ];
    for shape in shapes {
        let desk = Desk::new(1).await;
        desk.import(&shape).await.expect(&shape);
        let mut shown = shows(&desk).await;
        if shape.contains("model") {
            assert_eq!(
                shown.pop().as_deref(),
                Some("system  1 [Not kept by the import]\nthe document: “model”")
            );
        }
        assert_eq!(shown, expected, "{shape}");
        assert_eq!(desk.list().await[0].counts.turns, 2);
    }
}

#[tokio::test]
async fn trial_16_an_import_keeps_times_and_what_is_inactive_and_says_what_it_did_not_keep() {
    let messages = [
        r#"{"role": "user", "content": "a", "timestamp": 1700000001, "id": "m1", "session_id": "s", "tool_calls": []}"#,
        r#"{"role": "assistant", "content": "b", "created_at": "2023-11-14T22:13:22Z", "model": "x/y", "active": 0}"#,
        r#"{"role": "user", "content": "c", "time_ms": 1700000003000, "reactions": ["+1"]}"#,
        r#"{"role": "assistant", "content": [{"type": "text", "text": "d", "annotations": [1], "citations": null}]}"#,
        r#"{"role": "user", "content": "e", "timestamp": "soon"}"#,
        r#"{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "http://h/a", "detail": "low"}}],
            "name": "n", "model": "m", "token_count": 7, "finish_reason": "stop", "folded": 1, "active": "no",
            "usage": {"prompt_tokens": 1, "total_tokens": 2}, "tool_call_id": "x", "created": 1, "created_at": 1700000005,
            "tool_calls": [{"id": "1", "index": 0, "function": {"name": "f", "arguments": "{}", "strict": true}}]}"#,
    ];
    let messages = messages.map(|message| message.replace('\n', ""));
    let list = messages.join(",\n");
    let named = format!(
        "{{\"title\": \"Old\", \"created_at\": 1700000000, \"colour\": \"red\", \"model\": \"x\", \"updated_at\": 7, \"messages\": [{list}]}}"
    );
    for (text, place) in [(messages.join("\n"), "line"), (named, "message")] {
        let desk = Desk::new(1).await;
        let id = desk.import(&text).await.expect("imported");
        let all = PageRequest { limit: 100, ..PageRequest::default() };
        let page = desk.store.page(id, Reading::now(Projection::Timeline), all).await.expect("a page");
        let shown: Vec<_> =
            page.entries.iter().map(|shown| (shown, shown.entry.as_ref().expect("sound"))).collect();
        let texts: Vec<_> = shown.iter().map(|(_, entry)| joined_text(&entry.parts)).collect();
        assert_eq!(texts[..4], ["a", "c", "d", "e"]);
        assert_eq!([shown[0].1.meta.time.0, shown[1].1.meta.time.0], [1_700_000_001_000, 1_700_000_003_000]);
        let mut lost = vec![
            format!("{place} 1: “id”, “session_id”"),
            format!("{place} 3: “reactions”"),
            format!("{place} 4: “annotations”"),
            format!("{place} 5: “timestamp”, which is not a time: \"soon\""),
            format!(
                "{place} 6: “created”, which is another time: 1, “usage.total_tokens”, “model”, “token_count”, \
                 “finish_reason”, “folded”, “active”, “tool_call_id”, “image_url.detail”, “tool_calls.index”, “function.strict”"
            ),
        ];
        if place == "message" {
            lost.insert(0, "the document: “colour”, “model”, “updated_at”".into());
            let summary = desk.store.summary(id).await.expect("a summary");
            assert_eq!((summary.title.as_deref(), summary.created.0), (Some("Old"), 1_700_000_000_000));
        }
        assert_eq!(texts[5], format!("[Not kept by the import]\n{}", lost.join("\n")));
        assert_eq!((shown[5].0.mark, texts.len()), (Mark::Excluded, 6));
        // Inactive messages are hidden, and return complete.
        let hidden = desk.store.search(SearchRequest {
            query: "b".into(),
            include: Include { hidden: true, rewound: false },
            limit: 9,
            ..SearchRequest::default()
        });
        let hidden = hidden.await.expect("searched").hits;
        assert_eq!(hidden.len(), 1);
    }
}

/// The store replaces an impossible time by the current one: only what it would not keep is noted.
#[tokio::test]
async fn trial_17_an_import_notes_times_out_of_range_and_roles_that_become_others() {
    let day = 24 * 60 * 60 * 1000;
    let times = [NOW + day, NOW + day + 1, 99_999_999_999_999, -1, 0];
    let mut messages: Vec<String> = times
        .iter()
        .map(|time| format!(r#"{{"role": "user", "content": "at {time}", "time_ms": {time}}}"#))
        .collect();
    messages.push(r#"{"role": "developer", "content": "be brief", "time_ms": 7}"#.into());
    messages.push(r#"{"role": "function", "name": "f", "content": "3", "time_ms": 8}"#.into());
    messages.push(r#"{"role": "human", "content": "me", "time_ms": 9}"#.into());
    let list = messages.join(",\n");
    let named = format!("{{\"title\": \"Old\", \"created_at\": 99999999999999, \"messages\": [{list}]}}");
    for (text, place) in [(messages.join("\n"), "line"), (named, "message")] {
        let desk = Desk::new(1).await;
        let id = desk.import(&text).await.expect("imported");
        let all = PageRequest { limit: 100, ..PageRequest::default() };
        let page = desk.store.page(id, Reading::now(Projection::Timeline), all).await.expect("a page");
        let entries: Vec<_> = page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound")).collect();
        let kept: Vec<_> = entries.iter().map(|entry| entry.meta.time.0).collect();
        assert_eq!([kept[0], kept[4], kept[5], kept[6], kept[7]], [NOW + day, 0, 7, 8, 9], "these are kept");
        let mut lost = vec![
            format!("{place} 2: “time_ms”, which is out of range: {}", NOW + day + 1),
            format!("{place} 3: “time_ms”, which is out of range: 99999999999999"),
            format!("{place} 4: “time_ms”, which is out of range: -1"),
            format!("{place} 6: the role “developer”, which is kept as “system”"),
            format!("{place} 7: the role “function”, which is kept as “tool”"),
        ];
        if place == "message" {
            lost.insert(0, "the document: “created_at”, which is out of range: 99999999999999".into());
        }
        let note = joined_text(&entries.last().expect("a note").parts);
        assert_eq!(note, format!("[Not kept by the import]\n{}", lost.join("\n")));
    }
}

/// A file may hold several conversations: errors and notes name a line by its number in the file.
#[tokio::test]
async fn trial_17_lines_are_named_by_their_numbers_in_the_file() {
    let desk = Desk::new(1).await;
    let bad = r#"{"role": "nobody", "content": "a"}"#;
    let document = |message: &str| format!(r#"{{"messages": [{message}]}}"#);
    for (line, said) in
        [(bad.to_owned(), "line 5: the role"), (document(bad), "line 5: message 1 of the list")]
    {
        let id = desk.engine.import_start(None, None, 4, None).conversation;
        let taken = desk.engine.import_lines(id, 0, &[line]);
        let error = match taken {
            Ok(()) => desk.engine.import_end(id).await.expect_err("a bad role"),
            Err(error) => error,
        };
        assert!(error.to_string().contains(said), "{error}");
    }
    let id = desk.engine.import_start(None, None, 4, None).conversation;
    let odd = r#"{"role": "user", "content": "a", "colour": "red"}"#;
    desk.engine.import_lines(id, 0, &[odd.into()]).expect("taken");
    desk.engine.import_end(id).await.expect("imported");
    assert!(shows(&desk).await[1].ends_with("line 5: “colour”"), "{:?}", shows(&desk).await);
}

#[tokio::test]
async fn a_bad_line_is_named_and_leaves_nothing() {
    let good = "{\"role\":\"user\",\"content\":\"a\"}\n";
    let header = r#"{"format":"retake-export","version":1,"exported_ms":0,"entries":2,"conversation":{"id":"","title":null,"created_ms":0,"folder":null,"head":"0.0","parent":null}}"#;
    let rows = [
        (format!("{good}\n{good}{{\"role\":\"x\",\"content\":\"\"}}"), "line 4: the role “x”"),
        (format!("{}[1]", good.repeat(9)), "line 10: a message is an object"),
        (format!("{good}{{\"role\":\"user\",\"content\":"), "line 2: it is not JSON"),
        ("hello".into(), "line 1: this is neither"),
        (r#"{"format":"retake-export","version":9}"#.into(), "line 1: it has version 9"),
        (String::new(), "there is nothing in it"),
        (format!("{header}\n{{}}"), "line 2: its line can't be read"),
        (format!("{header}\n{header}"), "line 2: another conversation begins here"),
        (header.into(), "it has 0 of 2 messages"),
        ("[\n{\"role\":\"user\"},\n{\"role\":\"y\"}]".into(), "line 3: message 2 of the list: the role “y”"),
        ("[\n1,\n2".into(), "line 3: it is not JSON"),
        ("[]".into(), "the list: there is nothing in it"),
        (" [\n]\n".into(), "the list: there is nothing in it"),
    ];
    for (text, message) in rows {
        let desk = Desk::new(1).await;
        let error = desk.import(&text).await.expect_err(&text);
        assert!(error.to_string().contains(message), "{error}");
        assert!(desk.list().await.is_empty());
    }
}

#[tokio::test]
async fn an_import_that_is_never_ended_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let id = desk.engine.import_start(Some("half".into()), None, 0, None).conversation;
    let line = r#"{"role":"user","content":"a"}"#.to_owned();
    desk.engine.import_lines(id, 0, &[line]).expect("taken");
    assert!(desk.list().await.is_empty(), "nothing is seen before the end");
    drop(desk);
    let desk = Desk::in_folder(folder.path(), 2).await;
    assert!(desk.list().await.is_empty());
    assert_eq!(desk.engine.import_end(id).await.expect_err("it is gone").code, "unknown_import");
}

#[tokio::test]
async fn lines_sent_twice_are_taken_once_and_missing_ones_are_missed() {
    let desk = Desk::new(1).await;
    let line = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
    let id = desk.engine.import_start(None, None, 0, None).conversation;
    let lines = [line("a"), line("b"), line("c")];
    desk.engine.import_lines(id, 0, &lines[..2]).expect("taken");
    desk.engine.import_lines(id, 0, &lines[..2]).expect("passed over");
    let error = desk.engine.import_lines(id, 5, &lines[..1]).expect_err("lines are missing");
    assert!(error.to_string().contains("line 3 has not come"), "{error}");
    desk.engine.import_lines(id, 1, &lines[1..]).expect("the new one is taken");
    let first = desk.engine.import_end(id).await.expect("ended");
    assert_eq!(desk.engine.import_end(id).await.expect("the same again"), first);
    assert_eq!(shows(&desk).await, ["user ann 1 a", "user ann 1 b", "user ann 1 c"]);
}

#[tokio::test]
async fn the_same_request_makes_one_conversation_also_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut made = Vec::new();
    for seed in 1..=2 {
        let desk = Desk::in_folder(folder.path(), seed).await;
        let id = desk.engine.import_start(Some("t".into()), None, 0, request("import")).conversation;
        assert_eq!(desk.engine.import_start(Some("t".into()), None, 0, request("import")).conversation, id);
        desk.engine.import_lines(id, 0, &[r#"{"role":"user","content":"a"}"#.into()]).expect("taken");
        made.push(desk.engine.import_end(id).await.expect("ended"));
        assert_eq!(desk.list().await.len(), 1);
    }
    assert_eq!(made[0], made[1]);
}

#[tokio::test]
async fn ten_thousand_messages_come_in_and_go_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let line = |number: u64| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        format!("{{\"role\":\"{role}\",\"content\":\"number {number} of many\"}}\n")
    };
    let id = desk.import(&(0..10_000).map(line).collect::<String>()).await.expect("imported");
    let counts = desk.store.summary(id).await.expect("a summary").counts;
    assert_eq!((counts.messages, counts.turns), (10_000, 5_000));
    let (text, pieces) = desk.export_in(id, retake_engine::ExportFormat::Jsonl).await;
    assert_eq!(text.lines().count(), 10_001);
    assert!(pieces > 10, "{pieces}");
    let first: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    assert_eq!(first["exported_ms"], NOW);
}
