//! Explains why a request cannot be read: the field, its valid values, and the given one. Must never decide whether it can be
//! read: the parser does, and calls this afterwards.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::problem::{ProblemResponse, bad};
use super::shapes::{choices, word_of};

/// The most characters of a field's value that are shown.
const SHOWN: usize = 40;

/// Why a request can't be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestMismatch {
    /// `missing`, `unknown`, `unfit` or `twice`.
    what: &'static str,
    /// The path of the field. Empty for the whole body.
    parameter: String,
    /// The sentence.
    message: String,
    expected: Expected,
    /// The value that is there, shortened.
    given: Option<String>,
}

/// The valid values of a field, as its schema has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expected {
    /// The values, or the types if any value of a type is valid.
    any_of: Vec<String>,
    /// The smallest number.
    least: Option<i64>,
    /// The largest number.
    most: Option<i64>,
}

impl Expected {
    /// A whole number within these limits.
    pub(super) fn number(least: u64, most: u64) -> Self {
        let limit = |limit| i64::try_from(limit).ok();
        Self { any_of: vec!["integer".to_owned()], least: limit(least), most: limit(most) }
    }

    fn words(words: Vec<String>) -> Self {
        Self { any_of: words, ..Self::default() }
    }
}

impl RequestMismatch {
    pub(super) fn new(what: &'static str, parameter: &str, message: String) -> Self {
        let (expected, given) = (Expected::default(), None);
        Self { what, parameter: parameter.to_owned(), message, expected, given }
    }

    pub(super) fn expects(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }

    pub(super) fn given(self, value: &Value) -> Self {
        Self { given: Some(shortened(&value.to_string())), ..self }
    }

    /// As an answer.
    pub(super) fn told(self, hint: &str) -> ProblemResponse {
        let Self { what, parameter, message, expected, given } = self;
        let mut told = bad("bad_request", message, hint).with("what", what);
        if !parameter.is_empty() {
            told = told.with("parameter", parameter);
        }
        if !expected.any_of.is_empty() {
            told = told.with("expected", expected.any_of);
        }
        let rest = [
            ("least", expected.least.map(Value::from)),
            ("most", expected.most.map(Value::from)),
            ("given", given.map(Value::from)),
        ];
        rest.into_iter().fold(told, |told, (name, value)| match value {
            Some(value) => told.with(name, value),
            None => told,
        })
    }
}

/// The schema of a request, with all that it refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    shapes: Arc<Map<String, Value>>,
    shape: Value,
}

impl Shape {
    pub(super) fn new(shapes: Arc<Map<String, Value>>, shape: Value) -> Self {
        Self { shapes, shape }
    }

    /// The first mismatch.
    pub(super) fn misfit(&self, given: &Map<String, Value>) -> Option<RequestMismatch> {
        self.look("", &self.shape, &Value::Object(given.clone()))
    }

    fn target<'a>(&'a self, shape: &'a Value) -> Option<&'a Value> {
        self.shapes.get(shape["$ref"].as_str()?.rsplit('/').next()?)
    }

    fn look(&self, at: &str, shape: &Value, value: &Value) -> Option<RequestMismatch> {
        if let Some(why) = self.target(shape).and_then(|target| self.look(at, target, value)) {
            return Some(why);
        }
        if !fits(shape, value) {
            let message = format!("{} is {}, not {}", called(at), self.takes(shape), got(value));
            let why = RequestMismatch::new("unfit", at, message).expects(self.expected(shape));
            return Some(why.given(value));
        }
        if let Some(why) = choices(shape).and_then(|choices| self.choose(at, choices, value)) {
            return Some(why);
        }
        match value {
            Value::Object(members) => self.members(at, shape, members),
            Value::Array(items) => {
                let mut items = items.iter().enumerate();
                items.find_map(|(i, item)| self.look(&format!("{at}[{i}]"), &shape["items"], item))
            }
            _ => None,
        }
    }

    fn members(&self, at: &str, shape: &Value, members: &Map<String, Value>) -> Option<RequestMismatch> {
        // The path names the request.
        let required = shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = required.filter(|name| *name != "request").find(|name| !members.contains_key(*name));
        if let Some(name) = missing {
            let wanted = &shape["properties"][name];
            let at = below(at, name);
            let message = format!("{} is missing: it is {}", called(&at), self.takes(wanted));
            return Some(RequestMismatch::new("missing", &at, message).expects(self.expected(wanted)));
        }
        let fields = shape["properties"].as_object();
        let is_closed =
            ["additionalProperties", "unevaluatedProperties"].iter().any(|more| shape[more] == false);
        let is_strange = |name: &&String| !fields.is_some_and(|fields| fields.contains_key(*name));
        if let Some(name) = members.keys().find(is_strange).filter(|_| is_closed) {
            return Some(stranger(&below(at, name)));
        }
        members.iter().find_map(|(name, value)| {
            let field =
                fields.and_then(|fields| fields.get(name)).or_else(|| shape.get("additionalProperties"));
            self.look(&below(at, name), field?, value)
        })
    }

    /// The field that identifies a value as this variant, with its value.
    fn word<'a>(&'a self, shape: &'a Value) -> Option<(&'a str, &'a str)> {
        word_of(shape).or_else(|| word_of(self.target(shape)?))
    }

    /// The mismatch of a value that must match one of these.
    fn choose(&self, at: &str, choices: &[Value], value: &Value) -> Option<RequestMismatch> {
        let choices: Vec<_> =
            choices.iter().filter(|choice| choice["type"] != "null" || value.is_null()).collect();
        let words: Vec<_> = choices.iter().filter_map(|choice| self.word(choice)).collect();
        if let (Some((field, _)), Value::Object(members)) = (words.first(), value)
            && words.len() == choices.len()
        {
            let inner = below(at, field);
            let place = called(&inner);
            let mut list: Vec<_> = words.iter().map(|(_, word)| (*word).to_owned()).collect();
            list.dedup();
            let (text, expected) = (list.join(", "), Expected::words(list));
            let Some(said) = members.get(*field) else {
                let message = format!("{place} is missing: it is one of {text}");
                return Some(RequestMismatch::new("missing", &inner, message).expects(expected));
            };
            // Several may have the same value.
            let meant = words.iter().zip(&choices).filter(|((_, word), _)| said == word);
            let mut whys = meant.map(|(_, choice)| self.look(at, choice, value)).peekable();
            if whys.peek().is_none() {
                let message = format!("{place} is one of {text}, not {}", got(said));
                return Some(RequestMismatch::new("unfit", &inner, message).expects(expected).given(said));
            }
            return whys.reduce(|first, why| why.and(first)).flatten();
        }
        let whys: Vec<_> = choices.iter().map(|choice| self.look(at, choice, value)).collect();
        if whys.iter().any(Option::is_none) {
            return None;
        }
        match whys.as_slice() {
            [only] => only.clone(),
            _ => {
                let takes: Vec<_> = choices.iter().map(|choice| self.takes(choice)).collect();
                let message = format!("{} is {}, not {}", called(at), takes.join(", or "), got(value));
                let all = choices.iter().flat_map(|choice| self.expected(choice).any_of).collect();
                Some(RequestMismatch::new("unfit", at, message).expects(Expected::words(all)).given(value))
            }
        }
    }

    /// The valid values of a field, for programs.
    fn expected(&self, shape: &Value) -> Expected {
        let texts = |list: &Value| -> Vec<String> {
            let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.map(str::to_owned).collect()
        };
        if let Some(word) = shape["const"].as_str() {
            return Expected::words(vec![word.to_owned()]);
        }
        let (words, kinds) = (texts(&shape["enum"]), kinds(shape));
        if !words.is_empty() {
            return Expected::words(words);
        }
        if !kinds.is_empty() {
            let any_of = kinds.into_iter().filter(|kind| *kind != "null").map(str::to_owned).collect();
            let (least, most) = (shape["minimum"].as_i64(), shape["maximum"].as_i64());
            return Expected { any_of, least, most };
        }
        match self.target(shape) {
            Some(target) => self.expected(target),
            None => {
                let chosen = choices(shape).into_iter().flatten();
                let mut all: Vec<_> = chosen.flat_map(|choice| self.expected(choice).any_of).collect();
                all.dedup();
                Expected::words(all)
            }
        }
    }

    /// The valid values of a field.
    fn takes(&self, shape: &Value) -> String {
        if let Some(words) = shape["enum"].as_array() {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return format!("one of {}", words.join(", "));
        }
        if let Some(word) = shape["const"].as_str() {
            return format!("“{word}”");
        }
        let kinds = kinds(shape).into_iter().filter(|kind| *kind != "null");
        let words: Vec<_> = kinds.map(|kind| in_words(kind, shape)).collect();
        if !words.is_empty() {
            return words.join(" or ");
        }
        let chosen = choices(shape).into_iter().flatten().filter(|choice| choice["type"] != "null");
        let chosen: Vec<_> = chosen.map(|choice| self.takes(choice)).collect();
        match self.target(shape) {
            Some(target) => self.takes(target),
            None if chosen.is_empty() => "something else".to_owned(),
            // Variants with an identifying field are all objects.
            None if chosen.iter().all(|takes| *takes == chosen[0]) => chosen[0].clone(),
            None => chosen.join(", or "),
        }
    }
}

fn kinds(shape: &Value) -> Vec<&str> {
    match &shape["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![kind],
        _ => Vec::new(),
    }
}

fn in_words(kind: &str, shape: &Value) -> String {
    match (kind, shape["minimum"].as_i64(), shape["maximum"].as_i64()) {
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

/// Whether a value matches the schema itself, without its inner values.
fn fits(shape: &Value, value: &Value) -> bool {
    let kinds = kinds(shape);
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !kinds.is_empty() && !kinds.iter().any(is) {
        return false;
    }
    if value.is_null() && kinds.contains(&"null") {
        return true;
    }
    let within = |limit: &Value, holds: fn(f64, f64) -> bool| match (limit.as_f64(), value.as_f64()) {
        (Some(limit), Some(number)) => holds(number, limit),
        _ => true,
    };
    shape["enum"].as_array().is_none_or(|words| words.contains(value))
        && shape.get("const").is_none_or(|word| word == value)
        && within(&shape["minimum"], |number, least| number >= least)
        && within(&shape["maximum"], |number, most| number <= most)
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// An unknown field.
pub(super) fn stranger(path: &str) -> RequestMismatch {
    RequestMismatch::new("unknown", path, format!("there is no `{path}` in this request"))
}

fn called(at: &str) -> String {
    if at.is_empty() { "the request".to_owned() } else { format!("`{at}`") }
}

/// The given value, shortened.
pub(super) fn got(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("the text “{}”", shortened(text)),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{more}")
}
