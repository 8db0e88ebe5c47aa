//! Golden digests: the current ones, and those that earlier versions stored.

use std::fmt::Write as _;

use retake_core::{
    Action, ChangeOrigin, ContentHash, EntryId, Flags, FoldId, Head, Mark, OpNo, Part, Path, Pos, Reason,
    Role, Scope, SeenState, Seq, Span, Step, Time, Usage,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    action_value, canonical, import_value, of_arguments, of_call, of_lines, of_stored, of_text, parts_value,
};
use crate::transfer::{FullConversation, FullImport, FullParent, Import, ImportEntry, ImportMessage};

fn id(number: u128) -> EntryId {
    EntryId::new(Uuid::from_u128(number))
}

fn actions() -> Vec<Action> {
    let marks = Action::Mark {
        verb: Reason::Hide,
        entries: vec![id(1), id(2)],
        range: true,
        seen: Some(Mark::Normal),
    };
    let covers = Path::from_spans(vec![Span { depth: 0, from: 1, to: 4 }]);
    let fold = Action::Fold {
        verb: Reason::Fold,
        from: id(1),
        to: id(2),
        summary: "short".into(),
        covers: Some(covers),
    };
    let erase = Action::Erase {
        entries: vec![id(1)],
        matching: Some("a".into()),
        objects: vec![ContentHash([7; 32])],
    };
    vec![
        Action::Rewind(id(1)),
        Action::Edit(id(1)),
        Action::Retry(id(1)),
        Action::Undo(2),
        Action::Redo(2),
        Action::Restore(Head { op: OpNo(3), seq: Seq(4) }),
        Action::Checkout(None),
        Action::Checkout(Some(id(1))),
        Action::Choose(id(1), 2),
        Action::Compensate(Step::Turn(Pos::new(1, 2))),
        Action::Compensate(Step::Op(OpNo(5))),
        marks,
        fold,
        Action::Files(Reason::Files),
        Action::Half(Scope::Files, Box::new(Action::Undo(1))),
        Action::Unfold(FoldId { depth: 1, op: OpNo(2) }),
        Action::Label(Some(id(1)), Some("name".into())),
        Action::Label(None, None),
        erase,
    ]
}

fn import() -> Import {
    let said = ImportMessage {
        id: id(9),
        role: Role::User,
        author: "ada".into(),
        parts: vec![Part::text("hello")],
        flags: Flags::default(),
        time: Some(Time(5)),
        usage: Some(Usage { input_tokens: Some(1), cached_input_tokens: None, output_tokens: Some(2) }),
        platform_id: None,
    };
    Import {
        id: retake_core::ConversationId::new(Uuid::from_u128(3)),
        title: Some("title".into()),
        folder: Some("/tmp".into()),
        created: Some(Time(4)),
        entries: vec![ImportEntry {
            said: vec![said],
            chosen: 0,
            mark: Mark::Excluded,
            label: Some("here".into()),
        }],
        by: ChangeOrigin::default(),
    }
}

fn full() -> FullImport {
    let conversation = FullConversation {
        id: retake_core::ConversationId::new(Uuid::from_u128(3)),
        parent: FullParent::None,
        folder: None,
        created: Time(1),
        request: None,
        changed: Time(2),
        head: Head::default(),
        revision: retake_core::Revision(1),
        rewinds: 0,
        archived: false,
        entries: Vec::new(),
        ops: Vec::new(),
        beside: crate::transfer::FullBeside::default(),
    };
    FullImport { conversations: vec![conversation] }
}

fn hex(print: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(print))
}

/// Never change a line: add new ones, and a new version if the encoding changes.
#[test]
fn stored_digests_do_not_change() {
    let mut all = String::new();
    let mut add = |what: String, digest: retake_core::Digest| {
        let before = digest.before.map(hex).unwrap_or_default();
        writeln!(all, "{} {before} {what}", hex(digest.current)).expect("a text");
    };
    for action in actions() {
        for seen in
            [SeenState::Anything, SeenState::Since(Head::default()), SeenState::Exactly(Head::default())]
        {
            let value = action_value(&action, seen);
            add(value.to_string(), of_stored("apply", &value, &(&action, seen)));
        }
    }
    let value = import_value(&import());
    add("import".into(), of_stored("import", &value, &crate::store::import_arguments(&import())));
    let lines = |each: &mut dyn FnMut(&str)| crate::record::encode_import(&full(), each);
    add("full import".into(), of_lines("full import", &full(), lines));
    // In alphabetical order, because the earlier encoding keeps the order of its keys.
    let call =
        Ok(json!({ "command": "true", "more": { "a": [1.5, "é"], "b": 1 }, "network": true, "path": null }));
    add("call".into(), of_call("shell", &call));
    add("call with bad arguments".into(), of_call("shell", &Err("no JSON".into())));
    add("text".into(), of_text("instructions", "0\nUse “tabs”.\n"));
    insta::with_settings!({ snapshot_path => "../../tests/golden", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("digests", all);
    });
}

#[test]
fn order_of_keys_does_not_change_a_digest() {
    let one: Value = serde_json::from_str(r#"{"b":{"y":1,"x":[{"q":1,"p":2}]},"a":"text"}"#).expect("JSON");
    let other: Value = serde_json::from_str(r#"{"a":"text","b":{"x":[{"p":2,"q":1}],"y":1}}"#).expect("JSON");
    assert_eq!(of_call("tool", &Ok(one.clone())).current, of_call("tool", &Ok(other.clone())).current);
    assert_eq!(of_arguments("kind", &one), of_arguments("kind", &other));
    let swapped = json!({ "a": "text", "b": { "x": [{ "p": 1, "q": 2 }], "y": 1 } });
    assert_ne!(of_arguments("kind", &one), of_arguments("kind", &swapped));
    assert_ne!(of_arguments("kind", &one), of_arguments("other kind", &one));
}

#[test]
fn canonical_text_sorts_keys_and_omits_null_and_false() {
    let mut text = String::new();
    let value = json!({ "c": false, "b": null, "a": [null, false, "x\n", 1, -2, true], "\"": {} });
    canonical(&value, &mut text);
    assert_eq!(text, r#"{"\"":{},"a":[null,false,"x\n",1,-2,true]}"#);
    assert_eq!(parts_value(&[Part::text("a")]), json!("a"));
}
