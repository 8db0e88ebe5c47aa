//! Golden records: the files in `tests/golden` define the stored form of every variant.
//!
//! The macro makes the list of variants and the match that names one from the same words. So a new variant does not compile until it is
//! listed, and fails until it has a sample.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use retake_core::{
    AnswerPlace, Change, ContentHash, ConversationId, DeltaId, EntryId, Fact, FileChange, FilePath, Fold,
    FoldId, Folds, GitMove, GitPlace, GitRef, GitWorktree, GitWorktreeMove, Grade, Head, KeepState, Kept,
    KeptChange, KeptPath, LabelTarget, Layer, LogNo, Mark, MarkChange, Marks, OpNo, Operation, Part, Path,
    PathMove, Pos, RangeChange, Ranges, Reason, Recalled, Record, Revision, Seq, Source, Span, Stack, State,
    Step, Time, ToolOutcome, Uncertain, UndoHistory, Usage, WorkspaceNo,
};
use uuid::Uuid;

use super::*;
use crate::stream::StreamRow;

macro_rules! variants {
    ($list:ident, $name:ident: $type:ty { $($pattern:pat => $text:literal),+ $(,)? }) => {
        const $list: &[&str] = &[$($text),+];
        fn $name(value: &$type) -> &'static str {
            match value { $($pattern => $text),+ }
        }
    };
}

mod chat;
mod tool_turns;

variants! { PARTS, part_name: Part {
    Part::Text(_) => "text",
    Part::Image { .. } => "image",
    Part::File { .. } => "file",
    Part::ToolCall { .. } => "call",
    Part::Repaired { .. } => "repaired",
    Part::ToolResult { .. } => "result",
    Part::Reasoning { .. } => "reasoning",
    Part::Facts(_) => "facts",
    Part::Recalled(_) => "recalled",
    Part::Erased => "erased",
} }

variants! { CHANGES, change_name: Change {
    Change::Move { .. } => "move",
    Change::Mark(_) => "mark",
    Change::Fold(_) => "fold",
    Change::Unfold(_) => "unfold",
    Change::Label { .. } => "label",
    Change::Files => "files",
    Change::Erase(_) => "erase",
    Change::Unknown { .. } => "unknown",
} }

variants! { REASONS, reason_name: Reason {
    Reason::Rewind => "rewind",
    Reason::Undo(_) => "undo",
    Reason::Redo(_) => "redo",
    Reason::Restore(_) => "restore",
    Reason::Checkout => "checkout",
    Reason::Choose => "choose",
    Reason::Retry => "retry",
    Reason::Edit => "edit",
    Reason::Compensate(_) => "compensate",
    Reason::Hide => "hide",
    Reason::Show => "show",
    Reason::Exclude => "exclude",
    Reason::Include => "include",
    Reason::Drop => "drop",
    Reason::Files => "files",
    Reason::Fold => "fold",
    Reason::AutoFold => "auto-fold",
    Reason::Unfold => "unfold",
    Reason::Label => "label",
    Reason::Title => "title",
    Reason::Erase => "erase",
} }

/// Compares with a file of `tests/golden`.
fn golden(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../tests/golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text) });
}

fn covers_all<T>(list: &[&str], name: fn(&T) -> &'static str, samples: &[T]) {
    for variant in list {
        assert!(samples.iter().any(|sample| name(sample) == *variant), "no sample of {variant}");
    }
}

fn parts() -> Vec<Part> {
    let text = |text: &str| text.to_owned();
    vec![
        Part::text("Grüße, “you”\n"),
        Part::Image { media_type: text("image/png"), source: Source::Inline(vec![0, 255, 62]) },
        Part::File {
            name: text("a.txt"),
            media_type: None,
            source: Source::Link(text("https://example.org/a.txt")),
        },
        Part::File {
            name: text("b"),
            media_type: Some(text("text/plain")),
            source: Source::Inline(Vec::new()),
        },
        Part::ToolCall { id: text("c1"), name: text("read"), arguments: text("{\"path\": \"a\"}") },
        Part::Repaired { name: text("read"), arguments: text("{\"path\": \"b\"}") },
        Part::ToolResult { call: text("c1"), content: text("done"), outcome: ToolOutcome::Ok },
        Part::ToolResult { call: text("c2"), content: text("no such file"), outcome: ToolOutcome::Failed },
        Part::Reasoning { text: text("hm"), signature: Some(text("c2ln")) },
        Part::Reasoning { text: String::new(), signature: None },
        Part::Facts(vec![Fact::new("cwd", "src"), Fact::new("todo", "")]),
        Part::Recalled(vec![Recalled::new("0123456789ab".parse().expect("an id"))]),
        Part::Erased,
    ]
}

#[test]
fn content() {
    let parts = parts();
    covers_all(PARTS, part_name, &parts);
    let mut text = String::new();
    let mut pin = |parts: &[Part]| {
        let json = encode_parts(parts);
        assert_eq!(decode_parts(&json).as_deref(), Ok(parts));
        writeln!(text, "{json}").unwrap();
    };
    pin(&[]);
    parts.iter().for_each(|part| pin(std::slice::from_ref(part)));
    pin(&parts[..2]);
    golden("content", &text);
}

#[test]
fn files() {
    let path = |name: &[u8]| FilePath::new(name).unwrap();
    let file = Record::File { hash: ContentHash([0xab; 32]), len: 12, mode: 0o755 };
    let link = |target: &[u8]| Record::Link { target: Arc::from(target) };
    let changes = [
        FileChange { path: path(b"a/b.txt"), before: None, after: Some(file.clone()) },
        FileChange {
            path: path(b"\xff"),
            before: Some(link(b"../x")),
            after: Some(Record::Folder { mode: 0o700 }),
        },
        FileChange { path: path("ä".as_bytes()), before: Some(link(b"\xfe")), after: None },
    ];
    let own = LogNo(4);
    let layer = |log, no, grade| {
        let delta = DeltaId { log: LogNo(log), no };
        Layer { delta, grade, before: None, after: Some(file.clone()) }
    };
    let layers = vec![
        layer(4, 1, Grade::Written),
        layer(4, 2, Grade::Seen),
        layer(4, 3, Grade::Ambiguous(Uncertain::Unrecorded)),
        layer(4, 4, Grade::Ambiguous(Uncertain::CutOff)),
        layer(9, 1, Grade::Seen),
    ];
    let stack = Stack::new(layers.clone());
    let delta = vec![(path(b"a"), layers), (path(b"b"), Vec::new())];
    let moves =
        [PathMove { change: changes[0].clone(), stack_before: stack.clone(), stack_after: Stack::default() }];
    let place =
        |branch: Option<&str>| GitPlace { branch: branch.map(str::to_owned), commit: Some("a1".into()) };
    let tree = GitWorktree { path: "/w".into(), head: place(Some("new")), locked: false };
    let git = GitMove {
        head: Some((place(Some("main")), place(None))),
        refs: vec![GitRef { name: "refs/heads/new".into(), before: None, after: Some("a1".into()) }],
        index: true,
        worktrees: vec![GitWorktreeMove { name: "w".into(), before: None, after: Some(tree) }],
    };
    assert_eq!(decode_git_move(r#"{"index":true}"#).map(|moved| moved.worktrees), Ok(Vec::new()));
    let texts = [
        encode_changes(&changes),
        encode_delta(&delta, own),
        encode_stack(&stack, own),
        encode_moves(&moves, own),
        encode_git_move(&git),
        encode_git_move(&GitMove::default()),
    ];
    assert_eq!(decode_git_move(&texts[4]).as_ref(), Ok(&git));
    assert_eq!(decode_git_move(&texts[5]), Ok(GitMove::default()));
    assert_eq!(decode_changes(&texts[0]).as_deref(), Ok(&changes[..]));
    assert_eq!(decode_delta(&texts[1], own).as_ref(), Ok(&delta));
    assert_eq!(decode_stack(&texts[2], own).as_ref(), Ok(&stack));
    assert_eq!(decode_moves(&texts[3], own).as_deref(), Ok(&moves[..]));
    golden("files", &texts.join("\n"));
}

#[test]
fn a_stored_path_that_leaves_the_root_is_damage() {
    for bad in ["..", "/etc/passwd", "a/../../b", ".git/config", ""] {
        assert!(decode_changes(&format!("[[{bad:?},null,null]]")).is_err(), "{bad}");
        assert!(decode_moves(&format!("[[{bad:?},null,null,[],[]]]"), LogNo(1)).is_err(), "{bad}");
    }
    for bad in [r#"["a",{"f":["zz",1,420]},null]"#, r#"["a",{"d":65535},null]"#, r#"["a",{"x":1},null]"#] {
        assert!(decode_changes(&format!("[{bad}]")).is_err(), "{bad}");
    }
}

#[test]
fn usage() {
    let rows = [
        Usage::default(),
        Usage { input_tokens: Some(10), cached_input_tokens: Some(0), output_tokens: Some(3) },
    ];
    let pin = |usage: &Usage| {
        let json = encode_usage(*usage);
        assert_eq!(decode_usage(&json), Ok(*usage));
        json
    };
    golden("usage", &rows.iter().map(pin).collect::<Vec<_>>().join("\n"));
}

fn fold() -> Fold {
    Fold {
        id: FoldId { depth: 1, op: OpNo(4) },
        covers: Path::from_spans([Span::new(0, 1, 3), Span::new(1, 2, 2)]),
    }
}

fn changes() -> Vec<Change> {
    let hide = |from, to, before, after| MarkChange { span: Span::new(0, from, to), before, after };
    let label = |target, before: Option<&str>, after: Option<&str>| Change::Label {
        target,
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    vec![
        Change::Move { before: Some(Pos::new(0, 9)), after: Some(Pos::new(0, 3)) },
        Change::Move { before: None, after: None },
        Change::Mark(vec![hide(12345, 12345, Mark::Normal, Mark::Hidden)]),
        Change::Mark(vec![hide(1, 3, Mark::Excluded, Mark::Normal), hide(5, 5, Mark::Normal, Mark::Dropped)]),
        Change::Fold(fold()),
        Change::Unfold(fold()),
        label(LabelTarget::Title, None, Some("Title")),
        label(LabelTarget::Entry(Pos::new(1, 2)), Some("a"), None),
        Change::Files,
        Change::Erase(vec![Pos::new(0, 7), Pos::new(1, 1)]),
        Change::Unknown { kind: "teleport".into() },
    ]
}

fn reasons() -> Vec<Reason> {
    let mut reasons = vec![
        Reason::Undo(Step::Turn(Pos::new(0, 5))),
        Reason::Redo(Step::Op(OpNo(6))),
        Reason::Restore(Head::new(12, 340)),
        Reason::Compensate(Step::Turn(Pos::new(1, 5))),
    ];
    for verb in REASONS {
        reasons.extend(plain_reason(verb));
    }
    reasons
}

fn plain_reason(verb: &str) -> Option<Reason> {
    super::op::PLAIN_REASONS.into_iter().find(|reason| reason_name(reason) == verb)
}

fn operation(reason: Reason, change: Change) -> Operation {
    let no = OpNo(8);
    let history_before = UndoHistory { done: Some(Step::Op(OpNo(7))), undone: None, void: Vec::new() };
    Operation {
        no,
        at: Seq(9),
        revision: Revision(17),
        reason,
        tip: match &change {
            Change::Move { after, .. } => *after,
            _ => Some(Pos::new(0, 9)),
        },
        change,
        kept: KeptChange::default(),
        summary: None,
        history_after: if reason.traits().is_step {
            history_before.did(Step::Op(no))
        } else {
            history_before.clone()
        },
        history_before,
        principal: retake_core::Principal::default(),
        author: "mia".into(),
        time: Time(1_795_300_000_000),
        request: None,
    }
}

fn pin_op(op: &Operation) -> String {
    let record = encode_op(op);
    let line = format!("{record:?}");
    assert_eq!(decode_op(record, None).as_ref(), Ok(op));
    line
}

#[test]
fn operations() {
    let (changes, reasons) = (changes(), reasons());
    covers_all(CHANGES, change_name, &changes);
    covers_all(REASONS, reason_name, &reasons);
    let mut text = String::new();
    for change in changes {
        let reason = match change {
            Change::Unknown { .. } => Reason::Label,
            _ => Reason::Rewind,
        };
        writeln!(text, "{}", pin_op(&operation(reason, change))).unwrap();
    }
    for reason in reasons {
        let change = Change::Mark(Vec::new());
        writeln!(text, "{}", pin_op(&operation(reason, change))).unwrap();
    }
    let mut undo = operation(Reason::Undo(Step::Op(OpNo(7))), Change::Fold(fold()));
    undo.summary = Some("in short".into());
    undo.history_after = UndoHistory {
        done: None,
        undone: Some(OpNo(8)),
        void: vec![Step::Op(OpNo(3)), Step::Turn(Pos::new(0, 2))],
    };
    writeln!(text, "{}", pin_op(&undo)).unwrap();
    let mut first = operation(Reason::Label, Change::Mark(Vec::new()));
    first.history_before = UndoHistory::default();
    first.history_after = UndoHistory::default();
    writeln!(text, "{}", pin_op(&first)).unwrap();
    let mut keeps = operation(Reason::Rewind, Change::Files);
    keeps.kept = KeptChange {
        entries: vec![
            RangeChange { span: Span::new(0, 3, 9), before: KeepState::ByPath, after: KeepState::Adopted },
            RangeChange { span: Span::new(0, 1, 2), before: KeepState::TakenOut, after: KeepState::ByPath },
        ],
        adopted: kept().paths.into_iter().collect(),
        returned: vec![kept_path(1, b"a")],
        before: Some(OpNo(4)),
    };
    writeln!(text, "{}", pin_op(&keeps)).unwrap();
    golden("operations", &text);
}

fn kept_path(seq: u64, path: &[u8]) -> KeptPath {
    let path = FilePath::new(path).unwrap();
    KeptPath { entry: Pos::new(0, seq), workspace: WorkspaceNo(1), path }
}

fn kept() -> Kept {
    let entries = [(Span::new(0, 3, 9), KeepState::Adopted), (Span::new(0, 12, 12), KeepState::TakenOut)];
    Kept {
        entries: Ranges::from_ranges(entries),
        paths: [kept_path(2, b"src/a.rs"), kept_path(5, b"\xff")].into(),
        last: Some(OpNo(8)),
    }
}

#[test]
fn record_of_a_newer_version_is_unknown_not_damage() {
    let known = encode_op(&operation(Reason::Hide, Change::Mark(Vec::new())));
    let kind = OpRecord {
        kind: "teleport".into(),
        reason: "beam".into(),
        delta: "{\"far\":1}".into(),
        ..known.clone()
    };
    let verb = OpRecord { reason: "beam".into(), ..known };
    for (record, word) in [(kind, "teleport"), (verb, "beam")] {
        let op = decode_op(record, None).unwrap();
        assert_eq!(op.change, Change::Unknown { kind: word.into() });
    }
}

#[test]
fn states() {
    let at = |depth, from, to| Span::new(depth, from, to);
    let marks = Marks::from_ranges([
        (at(0, 2, 2), Mark::Hidden),
        (at(0, 4, 4), Mark::Hidden),
        (at(0, 6, 8), Mark::Excluded),
        (at(1, 1, 5), Mark::Dropped),
    ]);
    let labels = BTreeMap::from([
        (LabelTarget::Title, "Title".to_owned()),
        (LabelTarget::Entry(Pos::new(0, 3)), "here".to_owned()),
    ]);
    let full = State {
        tip: Some(Pos::new(1, 5)),
        marks: Arc::new(marks),
        folds: Arc::new(Folds::new(vec![fold()])),
        labels: Arc::new(labels),
        kept: Arc::new(kept()),
    };
    let mut text = String::new();
    for state in [State::default(), full] {
        let json = encode_state(&state);
        assert_eq!(decode_state(&json), Ok(state));
        writeln!(text, "{json}").unwrap();
    }
    golden("states", &text);
}

#[test]
fn streams() {
    let id = ConversationId::new(Uuid::from_u128(1));
    let stream = StreamRow {
        conversation: id,
        entry: EntryId::new(Uuid::from_u128(2)),
        answering: AnswerPlace { turn: Some(Pos::new(0, 1)), tip: Some(Pos::new(0, 2)) },
        step: Some(Step::Op(OpNo(3))),
        author: "demo/demo".into(),
        parts: vec![Part::text("so f")],
    };
    let least = StreamRow {
        answering: AnswerPlace { turn: None, tip: None },
        step: None,
        parts: Vec::new(),
        ..stream.clone()
    };
    let mut text = String::new();
    for stream in [stream, least] {
        let json = encode_stream(&stream);
        assert_eq!(decode_stream(id, &json), Ok(stream));
        writeln!(text, "{json}").unwrap();
    }
    golden("streams", &text);
}

#[test]
fn malformed_record_is_an_error() {
    let content = [
        "",
        "{}",
        "null",
        "[{\"text\":1}]",
        "[{\"video\":\"a\"}]",
        "[\"text\"]",
        "[{\"image\":{\"media\":\"a\",\"source\":{\"link\":\"b\"},\"more\":1}}]",
        "[{\"image\":{\"media\":\"a\",\"source\":{\"base64\":\"?\"}}}]",
    ];
    for json in content {
        assert!(decode_parts(json).is_err(), "{json}");
    }
    let states = [
        "{\"x\":1}",
        "{\"t\":0}",
        "{\"m\":[[0,\"h\",[1]]]}",
        "{\"m\":[[0,\"z\",[1,1]]]}",
        "{\"m\":[[0,\"h\",[0,1]]]}",
        "{\"m\":[[0,\"h\",[1,0]]]}",
        "{\"m\":[[0,\"h\",[3,1]],[0,\"d\",[2,1]]]}",
        "{\"f\":[[0,1,[[5,1],[2,1]]]]}",
    ];
    for json in states {
        assert!(decode_state(json).is_err(), "{json}");
    }
    for json in ["[1,2]", "{}", "[1,2,-3]", "[1,2,3,4]"] {
        assert!(decode_usage(json).is_err(), "{json}");
    }
    let good = encode_op(&operation(Reason::Hide, Change::Mark(Vec::new())));
    let bad = [
        OpRecord { delta: "[[1]]".into(), ..good.clone() },
        OpRecord { reason: "undo".into(), ..good.clone() },
        OpRecord { reason: "hide o1".into(), ..good.clone() },
        OpRecord { tip: Some(0), ..good.clone() },
        OpRecord { before: Some("{\"d\":\"x1\"}".into()), ..good },
    ];
    for record in bad {
        assert!(decode_op(record.clone(), None).is_err(), "{record:?}");
    }
}
