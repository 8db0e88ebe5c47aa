//! The English sentences and hints for problems, from their codes and values. Must never read the `message` or the `hint` of a
//! problem, except to show it when no row of the table fits.
//!
//! `{field}` in a row is a value of the problem, `{field:form}` is the same in another form (`value` lists the forms), and `{}` is
//! its next remedy. A row fits only if the problem has all values of its text, and as many remedies. So a problem of a newer
//! owner, or of the client itself, is shown in its own words.

mod hints;
mod sentences;
#[cfg(test)]
mod tests;

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
    let code = of_table(code);
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

/// The code whose rows count: those of a failed model are also for a model that cannot be called at all.
fn of_table(code: &ProblemCode) -> &ProblemCode {
    if *code == ProblemCode::NoModel { &ProblemCode::Model } else { code }
}

/// The hint of the first row that fits.
fn hint_of(code: &ProblemCode, fields: &Fields, remedies: &[Remedy]) -> Option<Hint> {
    let kind = fields.get("what").and_then(Value::as_str).unwrap_or_default();
    let code = of_table(code);
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
