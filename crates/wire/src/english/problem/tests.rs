//! Tests of the tables, and of the choice of a row.

use super::*;
use crate::notice::RunNotice;

/// Codes without a row: only clients make these problems, for themselves and in their own words.
const OF_CLIENTS: &[ProblemCode] = &[
    ProblemCode::BrokenRun,
    ProblemCode::Client,
    ProblemCode::NoConversation,
    ProblemCode::NotEditable,
    ProblemCode::NothingSaid,
    ProblemCode::OwnerAway,
    ProblemCode::OwnerLost,
    ProblemCode::OwnerSilent,
    ProblemCode::OwnerStart,
    ProblemCode::OwnerVersion,
    ProblemCode::Signals,
    ProblemCode::StillThere,
    ProblemCode::StrangeAnswer,
    ProblemCode::Terminal,
    ProblemCode::UnexpectedReply,
    ProblemCode::UnknownCommand,
];

/// A code without a row because no problem has it: it is stored with a call.
const OF_CALLS: &[ProblemCode] = &[ProblemCode::Unseen];

/// A problem of the owner, with a message that no sentence has.
fn of(code: ProblemCode, fields: Value) -> Problem {
    let fields = serde_json::from_value(fields).expect("an object");
    Problem { code, message: "its own words".to_owned(), fields, ..Problem::default() }
}

#[test]
fn every_code_of_the_owner_has_a_row_and_no_code_of_clients_has_one() {
    for code in ProblemCode::ALL {
        let has_row = SENTENCES.iter().any(|(of, ..)| of == of_table(code));
        let is_without = OF_CLIENTS.contains(code) || OF_CALLS.contains(code);
        assert_eq!(has_row, !is_without, "{code}");
    }
}

/// The placeholders of a text.
fn placeholders(text: &str) -> Vec<&str> {
    let pieces = text.split('{').skip(1);
    pieces.map(|piece| piece.split_once('}').expect("a closing brace").0).collect()
}

#[test]
fn every_value_in_a_row_is_a_field_of_its_code() {
    for (code, what, text) in SENTENCES.iter().chain(HINTS) {
        assert!(what.is_empty() || code.fields().contains(&"what"), "{code} has no field `what`");
        for placeholder in placeholders(text).into_iter().filter(|it| !it.is_empty()) {
            let name = placeholder.split(':').next().unwrap_or_default();
            assert!(code.fields().contains(&name), "{code} has no field `{name}`: {text}");
        }
    }
    assert!(SENTENCES.iter().all(|(.., text)| !placeholders(text).contains(&"")), "a remedy");
}

/// No row is hidden by an earlier one of its code and `what` that needs no other values and as many remedies.
#[test]
fn every_row_can_be_the_first_one_that_fits() {
    let remedies = |text| placeholders(text).iter().filter(|it| it.is_empty()).count();
    for table in [SENTENCES, HINTS] {
        for (at, (code, what, text)) in table.iter().enumerate() {
            let needed = placeholders(text);
            let hides = |(of, earlier, other): &&Row| {
                of == code
                    && (earlier.is_empty() || earlier == what)
                    && remedies(other) == remedies(text)
                    && placeholders(other).iter().all(|value| needed.contains(value))
            };
            assert_eq!(table[..at].iter().find(hides), None, "{code} {what}: {text}");
        }
    }
}

#[test]
fn hint_has_the_values_and_all_remedies_of_its_problem() {
    let head = || Remedy::Restore { head: Some("2.5".to_owned()) };
    let not_stored = json!({ "obstacles": ["not_stored", "changed"] });
    let changed = json!({ "obstacles": ["changed", "not_stored"] });
    let rows = [
        (
            ProblemCode::NotOnPath,
            json!({ "operation": 3 }),
            vec![Remedy::Undo, head()],
            "operation 3 took it back; undo or restore 2.5 brings it back",
        ),
        (
            ProblemCode::NotOnPath,
            json!({}),
            vec![Remedy::Tree],
            "tree lists the branches; switch to the one that it is on",
        ),
        (ProblemCode::RunActive, json!({}), vec![], "try again when it is over"),
        (ProblemCode::RunActive, json!({}), vec![Remedy::Stop], "stop stops it; then go on"),
        (ProblemCode::RunActive, json!({ "what": "command" }), vec![], "wait for its end, or stop it"),
        (
            ProblemCode::FilesRefused,
            not_stored,
            vec![Remedy::Doctor],
            "leave this path out; doctor looks for damage",
        ),
        (ProblemCode::FilesRefused, changed, vec![], "make a new plan: it sees what is there now"),
        (
            ProblemCode::Model,
            json!({ "what": "no_key", "path": "/k", "key_file": "open" }),
            vec![],
            "chmod 600 /k",
        ),
    ];
    for (code, fields, remedies, text) in rows {
        let it = Problem { remedies, ..of(code, fields) };
        assert_eq!(hint(&it).map(|hint| hint.worded(super::super::remedy)).as_deref(), Some(text));
    }
}

#[test]
fn problem_of_another_version_keeps_its_own_hint() {
    // Its sentence is its own, too.
    let newer = Problem {
        hint: Some("its own words".into()),
        ..of(ProblemCode::RunActive, json!({ "what": "of_a_newer_owner" }))
    };
    assert_eq!(hint(&newer), Some("its own words".into()));
    // An older owner lists no remedies of a cause.
    let damaged = json!({ "row": "entry 7", "detail": "cut" });
    let older = || Hint(vec![HintPiece::Do(Remedy::Doctor), HintPiece::Text(" helps".to_owned())]);
    let cause = NoticeCause::from(of(ProblemCode::Damaged, damaged));
    let cause = NoticeCause { hint: Some(older()), ..cause };
    assert_eq!(cause_hint(&cause), Some(older()));
    // A remedy that the table has no place for.
    let own = Problem {
        hint: Some("its own words".into()),
        remedies: vec![Remedy::Undo],
        ..of(ProblemCode::RequestReused, json!({}))
    };
    assert_eq!(hint(&own), Some("its own words".into()));
}

#[test]
fn first_row_that_fits_is_the_sentence() {
    let rows = [
        (json!({ "operation": 4 }), "operation 4 is missing"),
        (json!({ "operation": 4, "row": "entry 7", "detail": "cut" }), "entry 7 is damaged: cut"),
        (json!({ "what": "unknown_workspace", "operation": 4 }), "the workspace of the step is not known"),
    ];
    for (fields, sentence) in rows {
        assert_eq!(problem(&of(ProblemCode::Damaged, fields)), sentence);
    }
}

#[test]
fn problem_without_the_values_of_a_row_is_shown_in_its_own_words() {
    let rows = [
        (ProblemCode::StaleHead, json!({ "seen": "1.2" })),
        (ProblemCode::Conflict, json!({ "what": "others", "paths": [] })),
        (ProblemCode::NotVisible, json!({ "mark": "of a newer owner" })),
        (ProblemCode::Model, json!({ "what": "of_a_newer_owner", "target": "x" })),
        (ProblemCode::NotCovered, json!({ "path": "a", "uncovered": "of_a_newer_owner" })),
        (ProblemCode::Usage, json!({})),
        (ProblemCode::RunActive, json!({ "what": "of_a_newer_owner" })),
        (ProblemCode::from("of_a_newer_owner"), json!({ "path": "a" })),
    ];
    for (code, fields) in rows {
        assert_eq!(problem(&of(code, fields)), "its own words");
    }
}

#[test]
fn notices_come_after_the_sentence_and_once() {
    let notices = || -> Box<[RunNotice]> { Box::new([RunNotice::AnswerCut]) };
    let known = Problem { notices: notices(), ..of(ProblemCode::NothingToUndo, json!({})) };
    assert_eq!(problem(&known), "there is nothing to undo; the answer was cut at the model's limit");
    let own = Problem { notices: notices(), ..of(ProblemCode::OwnerAway, json!({})) };
    assert_eq!(problem(&own), "its own words");
}

#[test]
fn cause_of_a_notice_has_the_sentence_of_a_problem() {
    let fields = json!({ "path": "/c", "what": "unwritable" });
    let known = NoticeCause::from(of(ProblemCode::Settings, fields));
    assert_eq!(cause(&known), "cannot write the settings to /c");
    assert_eq!(cause(&NoticeCause::from(of(ProblemCode::Settings, json!({})))), "its own words");
}

#[test]
fn list_is_cut_after_its_first_items() {
    let sentence =
        |paths: &[&str]| problem(&of(ProblemCode::Conflict, json!({ "what": "others", "paths": paths })));
    assert_eq!(sentence(&["a"]), "you or another program changed a file too: a");
    let five = "you or another program changed files too: a, b, c, d, e";
    assert_eq!(sentence(&["a", "b", "c", "d", "e"]), five);
    assert_eq!(sentence(&["a", "b", "c", "d", "e", "f"]), format!("{five} …"));
}

#[test]
fn values_have_the_form_that_their_sentence_names() {
    let refused = json!({
        "paths": ["a", "b", "c"],
        "obstacles": ["changed", "special_file", "attributes"],
        "details": ["", "socket", ""],
    });
    let number = json!({
        "what": "unfit",
        "parameter": "limit",
        "expected_types": ["integer"],
        "least": 1,
        "most": 9,
        "given_type": "string",
        "given": "x",
    });
    let words = json!({ "what": "missing", "parameter": "role", "expected": ["user", "tool"] });
    let object = json!({ "what": "unfit", "expected_types": ["object"], "given_type": "array" });
    let rows = [
        (
            ProblemCode::FilesRefused,
            refused,
            "can't: a: somebody changed it; b: it is a socket; c: its owner, permissions or attributes can't be kept",
        ),
        (ProblemCode::BadRequest, number, "`limit` is a whole number from 1 to 9, not the text “x”"),
        (ProblemCode::BadRequest, words, "`role` is missing: it is one of user, tool"),
        (ProblemCode::BadRequest, object, "the request is an object, not a list"),
        (
            ProblemCode::NoModel,
            json!({ "what": "rate_limited", "target": "a/b", "detail": "HTTP 429" }),
            "cannot get an answer from a/b: rate limit (HTTP 429)",
        ),
        (
            ProblemCode::NotCovered,
            json!({ "path": "x", "uncovered": "node_modules" }),
            "x is not covered: installed packages",
        ),
        (
            ProblemCode::BadName,
            json!({ "character": "\t", "what": "tab" }),
            "a label or a title can't hold U+0009: a name has no tabs",
        ),
        (
            ProblemCode::NoSuchHunks,
            json!({ "what": "no_such_hunks", "path": "a", "count": 1 }),
            "can't choose hunks of a: it has 1 hunk",
        ),
        (
            ProblemCode::TooLarge,
            json!({ "what": "body", "most": 67_108_864 }),
            "the body is longer than 64 MiB (67108864 bytes), which is the limit",
        ),
        (ProblemCode::NoJob, json!({ "job": "a\"\u{1b}" }), r#"there is no job "a\"\u{1b}""#),
    ];
    for (code, fields, sentence) in rows {
        assert_eq!(problem(&of(code, fields)), sentence);
    }
}

#[test]
fn each_obstacle_has_a_way_out() {
    for (_, obstacle, _) in sentences::WORDS.iter().filter(|(set, ..)| *set == "obstacle") {
        let remedies = if *obstacle == "not_stored" { vec![Remedy::Doctor] } else { vec![] };
        for (code, fields) in [
            (ProblemCode::FilesRefused, json!({ "obstacles": [obstacle] })),
            (ProblemCode::Unsettled, json!({ "obstacle": obstacle })),
        ] {
            let it = Problem { remedies: remedies.clone(), ..of(code, fields) };
            assert!(hint(&it).is_some(), "{it:?}");
        }
    }
}

/// Warnings about a file of MCP servers need no hint.
#[test]
fn each_error_in_a_file_of_mcp_servers_has_a_hint_of_its_own() {
    let whats = SENTENCES.iter().filter(|(code, what, _)| *code == ProblemCode::Mcp && !what.is_empty());
    for (_, what, _) in whats.filter(|(_, what, _)| !["no_servers", "unknown_key", "no_place"].contains(what))
    {
        let has_row = HINTS.iter().any(|(code, of, _)| *code == ProblemCode::Mcp && of == what);
        assert!(has_row, "{what}");
    }
    let hint_of =
        |code, what| hint(&of(code, json!({ "what": what }))).map(|hint| hint.worded(super::super::remedy));
    let address = "correct the address and the headers of its entry";
    assert_eq!(hint_of(ProblemCode::Mcp, "bad_address").as_deref(), Some(address));
    let root = "take it out of agent.roots";
    assert_eq!(hint_of(ProblemCode::NoWorkspace, "holds_own_folder").as_deref(), Some(root));
}
