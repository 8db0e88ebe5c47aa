//! The English sentences and hints for problems, from their codes and values. Must never read the `message` or the `hint` of a
//! problem, except to show it when no row of the table fits.
//!
//! `{field}` in a row is a value of the problem, `{field:form}` is the same in another form (`value` lists the forms), and `{}` is
//! its next remedy. A row fits only if the problem has all values of its text, and as many remedies. So a problem of a newer
//! owner, or of the client itself, is shown in its own words.

mod hints;
mod sentences;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::condition::UncoveredCause;
use crate::hint::{Hint, HintPiece, Remedy};
use crate::notice::{ModelFailure, NoticeCause};
use crate::problem::Problem;
use crate::problem_code::ProblemCode;

use hints::HINTS;
use sentences::SENTENCES;

/// The most items of a list that are shown.
const SHOWN: usize = 5;

/// A row of a table: the code, the value of the field `what` (empty: any), and the text.
type Row = (ProblemCode, &'static str, &'static str);

/// The values of a problem, by name.
type Fields = BTreeMap<String, Value>;

/// What failed, on what, and why, without the causes. What happened in addition comes after it.
pub fn problem(it: &Problem) -> String {
    // The message of a problem without a row ends with its notices already.
    let Some(sentence) = sentence(&it.code, &it.fields) else { return it.message.clone() };
    let notices = it.notices.iter().map(|notice| super::run_notice(notice, &super::remedy));
    std::iter::once(sentence).chain(notices).collect::<Vec<_>>().join("; ")
}

/// Whether the table has a sentence for a problem.
pub fn has_sentence(it: &Problem) -> bool {
    sentence(&it.code, &it.fields).is_some()
}

/// What to do next.
pub fn hint(it: &Problem) -> Option<Hint> {
    hint_or_own(&it.code, &it.fields, &it.remedies, it.hint.as_ref())
}

/// The sentence for the cause of a notice or a condition.
pub(super) fn cause(it: &NoticeCause) -> String {
    sentence(&it.code, &it.fields).unwrap_or_else(|| it.message.clone())
}

/// What to do about the cause of a notice or a condition.
pub(super) fn cause_hint(it: &NoticeCause) -> Option<Hint> {
    hint_or_own(&it.code, &it.fields, &it.remedies, it.hint.as_ref())
}

/// The sentence of the first row that fits.
fn sentence(code: &ProblemCode, fields: &Fields) -> Option<String> {
    let kind = fields.get("what").and_then(Value::as_str).unwrap_or_default();
    // A row without a `what` also fits an unknown one, but only if its sentence has values.
    let is_of =
        |what: &str, text: &str| what == kind || what.is_empty() && (kind.is_empty() || text.contains('{'));
    let rows = SENTENCES.iter().filter(|(of, what, text)| of == code && is_of(what, text));
    rows.map(|(_, _, sentence)| *sentence)
        .find_map(|sentence| filled(sentence, fields, &[]))
        .map(|text| text.worded(super::remedy))
}

/// The hint of the table; that of the problem itself if no row fits, or if a client or an owner of another version made it.
fn hint_or_own(code: &ProblemCode, fields: &Fields, remedies: &[Remedy], own: Option<&Hint>) -> Option<Hint> {
    let has_unlisted = |own: &Hint| remedies.is_empty() && own.remedies().next().is_some();
    let is_of_others = |own: &&Hint| sentence(code, fields).is_none() || has_unlisted(own);
    let others = own.filter(is_of_others);
    others.cloned().or_else(|| hint_of(code, fields, remedies)).or_else(|| own.cloned())
}

/// The hint of the first row that fits.
fn hint_of(code: &ProblemCode, fields: &Fields, remedies: &[Remedy]) -> Option<Hint> {
    // The same helps with a model that cannot be called at all.
    let code = if *code == ProblemCode::NoModel { &ProblemCode::Model } else { code };
    let kind = fields.get("what").and_then(Value::as_str).unwrap_or_default();
    let rows = HINTS.iter().filter(|(of, what, _)| of == code && (what.is_empty() || *what == kind));
    rows.map(|(_, _, text)| *text).find_map(|text| filled(text, fields, remedies))
}

/// A text with its values and remedies. `None` if one is missing, or if a remedy has no place in it.
fn filled(text: &str, fields: &Fields, remedies: &[Remedy]) -> Option<Hint> {
    let mut remedies = remedies.iter();
    let mut pieces = Vec::new();
    let mut texts = text.split('{');
    let mut text = texts.next().unwrap_or_default().to_owned();
    for piece in texts {
        let (placeholder, rest) = piece.split_once('}')?;
        match placeholder {
            "" => {
                pieces.push(HintPiece::Text(std::mem::take(&mut text)));
                pieces.push(HintPiece::Do(remedies.next()?.clone()));
            }
            placeholder => text.push_str(&value(placeholder, fields)?),
        }
        text.push_str(rest);
    }
    pieces.push(HintPiece::Text(text));
    pieces.retain(|piece| !matches!(piece, HintPiece::Text(text) if text.is_empty()));
    remedies.next().is_none().then_some(Hint(pieces))
}

/// The text for a placeholder. Other forms than these are a set of `WORDS` or, for a number, the noun that it counts.
fn value(placeholder: &str, fields: &Fields) -> Option<String> {
    let (name, form) = placeholder.split_once(':').unwrap_or((placeholder, ""));
    let value = fields.get(name);
    match form {
        "" => text(value?),
        // Without quotes, and without characters that a terminal may act on.
        "escaped" => Some(value?.as_str()?.escape_debug().to_string()),
        "quoted" => Some(format!("{:?}", value?.as_str()?)),
        // The only item of a list, or all items.
        "one" => only(value?),
        "all" => Some(value?.as_array()?.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
        // The code point of a character.
        "point" => value?.as_str()?.chars().next().map(|sign| format!("U+{:04X}", u32::from(sign))),
        "octal" => Some(format!("{:o}", value?.as_u64()?)),
        "MiB" => Some((value?.as_u64()? >> 20).to_string()),
        // The valid values of a field of a request, and the one that is there.
        "expected" => Some(expected(fields)),
        "given" => given(value?.as_str()?, fields),
        // Why a model failed, and why captures do not cover a path.
        "failure" => failure(value?.as_str()?),
        "uncovered" => uncovered(value?.as_str()?),
        // What is in the way: of one path, or of each path of a list.
        "obstacle" => obstacle(value?.as_str()?, fields.get("detail")),
        "obstacles" => obstacles(fields),
        form => match value? {
            Value::String(value) => words(form, value),
            // Of several, the first one.
            Value::Array(values) => words(form, values.first()?.as_str()?),
            number => Some(super::count(number.as_u64()?, form)),
        },
    }
}

/// A value as it is; of a list, the first items. `None` for an empty list.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(all) => {
            let shown: Vec<String> = all.iter().take(SHOWN).filter_map(text).collect();
            (!shown.is_empty()).then(|| format!("{}{}", shown.join(", "), more(all.len())))
        }
        _ => None,
    }
}

/// The sign that a list of this length is cut.
fn more(length: usize) -> &'static str {
    if length > SHOWN { " …" } else { "" }
}

fn only(value: &Value) -> Option<String> {
    match value.as_array()?.as_slice() {
        [one] => text(one),
        _ => None,
    }
}

/// The words for a value of a closed set. `None` for a value of a newer owner.
fn words(set: &str, value: &str) -> Option<String> {
    let row =
        sentences::WORDS.iter().chain(hints::WORDS).find(|(of, known, _)| *of == set && *known == value);
    row.map(|(_, _, words)| (*words).to_owned())
}

fn failure(code: &str) -> Option<String> {
    let failure: ModelFailure = serde_json::from_value(json!({ "code": code })).ok()?;
    match failure {
        ModelFailure::Unknown => None,
        known => Some(super::model_failure(known).to_owned()),
    }
}

fn uncovered(code: &str) -> Option<String> {
    let cause: UncoveredCause = serde_json::from_value(json!({ "code": code })).ok()?;
    match cause {
        UncoveredCause::Unknown => None,
        known => Some(super::uncovered_cause(&known)),
    }
}

/// An obstacle in words. `detail` is the kind of a special file, or the attribute that would be lost.
fn obstacle(code: &str, detail: Option<&Value>) -> Option<String> {
    match (code, detail.and_then(Value::as_str).filter(|detail| !detail.is_empty())) {
        ("special_file", Some(kind)) => Some(format!("it is a {kind}")),
        ("attributes", Some(attribute)) => Some(format!("its {attribute} can't be kept")),
        (code, _) => words("obstacle", code),
    }
}

/// The first paths, each with what is in the way.
fn obstacles(fields: &Fields) -> Option<String> {
    let (paths, codes, details) = (list(fields, "paths"), list(fields, "obstacles"), list(fields, "details"));
    let one = |(at, path): (usize, &Value)| {
        let why = obstacle(codes.get(at)?.as_str()?, details.get(at))?;
        Some(format!("{}: {why}", path.as_str()?))
    };
    let shown: Vec<String> = paths.iter().enumerate().take(SHOWN).map(one).collect::<Option<_>>()?;
    (!shown.is_empty()).then(|| format!("{}{}", shown.join("; "), more(paths.len())))
}

/// The valid values of a field of a request, as the end of a clause.
fn expected(fields: &Fields) -> String {
    let valid = texts(fields, "expected");
    let valid = match valid.as_slice() {
        [] => None,
        [word] => Some(format!("“{word}”")),
        several => Some(format!("one of {}", several.join(", "))),
    };
    let types = texts(fields, "expected_types").into_iter().map(|name| json_type(name, fields));
    let types = types.collect::<Vec<_>>().join(" or ");
    let parts: Vec<String> = valid.into_iter().chain((!types.is_empty()).then_some(types)).collect();
    if parts.is_empty() { "something else".to_owned() } else { parts.join(", or ") }
}

/// A type of JSON, with the limits of a whole number.
fn json_type(name: &str, fields: &Fields) -> String {
    let limit = |name: &str| fields.get(name).and_then(Value::as_i64);
    match (name, limit("least"), limit("most")) {
        ("integer", Some(from), Some(to)) => format!("a whole number from {from} to {to}"),
        ("integer", Some(from), None) => format!("a whole number from {from}"),
        ("integer", ..) => "a whole number".to_owned(),
        ("number", ..) => "a number".to_owned(),
        ("boolean", ..) => "true or false".to_owned(),
        ("string", ..) => "a text".to_owned(),
        ("array", ..) => "a list".to_owned(),
        ("object", ..) => "an object".to_owned(),
        (other, ..) => other.to_owned(),
    }
}

/// The value that a field of a request has, by its type.
fn given(kind: &str, fields: &Fields) -> Option<String> {
    let value = || text(fields.get("given")?);
    match kind {
        "null" => Some("null".to_owned()),
        "array" => Some("a list".to_owned()),
        "object" => Some("an object".to_owned()),
        "string" => Some(format!("the text “{}”", value()?)),
        _ => value(),
    }
}

fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    fields.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn texts<'a>(fields: &'a Fields, name: &str) -> Vec<&'a str> {
    list(fields, name).iter().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
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
            let has_row = SENTENCES.iter().any(|(of, ..)| of == code);
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
            (ProblemCode::FilesRefused, changed, vec![], "make a new plan, it sees what is there now"),
            (
                ProblemCode::Model,
                json!({ "what": "no_key", "path": "/k", "mode": 0o640 }),
                vec![],
                "its mode is 640: chmod 600 /k",
            ),
        ];
        for (code, fields, remedies, text) in rows {
            let it = Problem { remedies, ..of(code, fields) };
            assert_eq!(hint(&it).map(|hint| hint.worded(super::super::remedy)).as_deref(), Some(text));
        }
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
            (
                json!({ "what": "unknown_workspace", "operation": 4 }),
                "the workspace of the step is not known",
            ),
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
        assert_eq!(sentence(&["a"]), "somebody else has changed a file too: a");
        let five = "somebody else has changed files too: a, b, c, d, e";
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
}
