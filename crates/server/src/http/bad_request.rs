//! Explains why a request cannot be read: the field, its valid values, and the given one. Must never decide whether it can be
//! read: the parser does, and calls this afterwards.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::problem::{ProblemResponse, bad_request};
use super::shapes::{choices, word_of};

/// The most characters of a field's value that are shown.
const SHOWN: usize = 40;

/// Why a request can't be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestMismatch {
    /// `missing`, `unknown`, `unfit` or `twice`.
    what: &'static str,
    /// The path of the field; none for the whole body. A field may have the empty name.
    parameter: Option<String>,
    expected: Expected,
    /// The type of the value that is there, as JSON Schema names it.
    given_type: Option<&'static str>,
    /// The value that is there, shortened.
    given: Option<String>,
}

/// The valid values of a field, as its schema has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expected {
    /// The values, if only some texts are valid.
    words: Vec<String>,
    /// The types of which any value is valid.
    types: Vec<ExpectedType>,
}

/// A type of JSON, and the limits of a number of it.
#[derive(Clone, Debug, PartialEq)]
struct ExpectedType {
    /// As JSON Schema names it.
    name: String,
    least: Option<i64>,
    most: Option<i64>,
}

impl Expected {
    /// A whole number within these limits.
    pub(super) fn number(least: u64, most: u64) -> Self {
        let limit = |limit| i64::try_from(limit).ok();
        let number = ExpectedType { name: "integer".to_owned(), least: limit(least), most: limit(most) };
        Self { types: vec![number], ..Self::default() }
    }

    /// Any object.
    pub(super) fn object() -> Self {
        let object = ExpectedType { name: "object".to_owned(), least: None, most: None };
        Self { types: vec![object], ..Self::default() }
    }

    fn words(words: Vec<String>) -> Self {
        Self { words, ..Self::default() }
    }

    /// What one of these expects. Each value and type occurs once.
    fn any(all: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for one in all {
            for word in one.words {
                if !sum.words.contains(&word) {
                    sum.words.push(word);
                }
            }
            for kind in one.types {
                if !sum.types.contains(&kind) {
                    sum.types.push(kind);
                }
            }
        }
        sum
    }
}

impl RequestMismatch {
    pub(super) fn new(what: &'static str, parameter: Option<&str>) -> Self {
        let (expected, parameter) = (Expected::default(), parameter.map(str::to_owned));
        Self { what, parameter, expected, given_type: None, given: None }
    }

    fn expects(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }

    /// With the value that is there, if it is no list or object: those may be long, and hold what nobody should see.
    fn given(self, value: &Value) -> Self {
        let given = match value {
            Value::Array(_) | Value::Object(_) => None,
            Value::String(text) => Some(shortened(text)),
            other => Some(other.to_string()),
        };
        Self { given_type: Some(type_of(value)), given, ..self }
    }

    /// As an answer.
    pub(super) fn told(self) -> ProblemResponse {
        let Self { what, parameter, expected, given_type, given } = self;
        let mut told = bad_request(what);
        if let Some(parameter) = parameter {
            told = told.with("parameter", parameter);
        }
        let mut types: Vec<_> = expected.types.iter().map(|kind| kind.name.clone()).collect();
        types.dedup();
        // Limits belong together: they are those of one type.
        let limited = expected.types.iter().find(|kind| kind.least.is_some() || kind.most.is_some());
        for (name, list) in [("expected", expected.words), ("expected_types", types)] {
            if !list.is_empty() {
                told = told.with(name, list);
            }
        }
        let rest = [
            ("least", limited.and_then(|kind| kind.least).map(Value::from)),
            ("most", limited.and_then(|kind| kind.most).map(Value::from)),
            ("given_type", given_type.map(Value::from)),
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
        self.look(None, &self.shape, &Value::Object(given.clone()))
    }

    fn target<'a>(&'a self, shape: &'a Value) -> Option<&'a Value> {
        self.shapes.get(shape["$ref"].as_str()?.rsplit('/').next()?)
    }

    fn look(&self, at: Option<&str>, shape: &Value, value: &Value) -> Option<RequestMismatch> {
        if let Some(why) = self.target(shape).and_then(|target| self.look(at, target, value)) {
            return Some(why);
        }
        if !fits(shape, value) {
            return Some(unfit(at, self.expected(shape), value));
        }
        if let Some(why) = choices(shape).and_then(|choices| self.choose(at, choices, value)) {
            return Some(why);
        }
        match value {
            Value::Object(members) => self.members(at, shape, members),
            Value::Array(items) => {
                let mut items = items.iter().enumerate();
                items.find_map(|(i, item)| {
                    self.look(Some(&format!("{}[{i}]", at.unwrap_or_default())), &shape["items"], item)
                })
            }
            _ => None,
        }
    }

    fn members(
        &self,
        at: Option<&str>,
        shape: &Value,
        members: &Map<String, Value>,
    ) -> Option<RequestMismatch> {
        // The path names the request.
        let required = shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let absent = required.filter(|name| *name != "request").find(|name| !members.contains_key(*name));
        if let Some(name) = absent {
            let wanted = &shape["properties"][name];
            let at = below(at, name);
            return Some(missing(&at, self.expected(wanted)));
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
            self.look(Some(&below(at, name)), field?, value)
        })
    }

    /// The field that identifies a value as this variant, with its value.
    fn word<'a>(&'a self, shape: &'a Value) -> Option<(&'a str, &'a str)> {
        word_of(shape).or_else(|| word_of(self.target(shape)?))
    }

    /// The mismatch of a value that must match one of these.
    fn choose(&self, at: Option<&str>, choices: &[Value], value: &Value) -> Option<RequestMismatch> {
        let choices: Vec<_> =
            choices.iter().filter(|choice| choice["type"] != "null" || value.is_null()).collect();
        let words: Vec<_> = choices.iter().filter_map(|choice| self.word(choice)).collect();
        if let (Some((field, _)), Value::Object(members)) = (words.first(), value)
            && words.len() == choices.len()
        {
            let inner = below(at, field);
            let mut list: Vec<_> = words.iter().map(|(_, word)| (*word).to_owned()).collect();
            list.dedup();
            let expected = Expected::words(list);
            let Some(said) = members.get(*field) else {
                return Some(missing(&inner, expected));
            };
            // Several may have the same value.
            let meant = words.iter().zip(&choices).filter(|((_, word), _)| said == word);
            let mut whys = meant.map(|(_, choice)| self.look(at, choice, value)).peekable();
            if whys.peek().is_none() {
                return Some(unfit(Some(&inner), expected, said));
            }
            return whys.reduce(|first, why| why.and(first)).flatten();
        }
        let whys: Vec<_> = choices.iter().map(|choice| self.look(at, choice, value)).collect();
        if whys.iter().any(Option::is_none) {
            return None;
        }
        match whys.as_slice() {
            [only] => only.clone(),
            _ => Some(unfit(at, self.expected_of(choices.into_iter()), value)),
        }
    }

    /// The valid values of a field.
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
            let limits = (shape["minimum"].as_i64(), shape["maximum"].as_i64());
            let expected = |kind: &str| {
                let (least, most) = if matches!(kind, "integer" | "number") { limits } else { (None, None) };
                ExpectedType { name: kind.to_owned(), least, most }
            };
            let types = kinds.into_iter().filter(|kind| *kind != "null").map(expected).collect();
            return Expected { types, ..Expected::default() };
        }
        match self.target(shape) {
            Some(target) => self.expected(target),
            None => self.expected_of(choices(shape).into_iter().flatten()),
        }
    }

    fn expected_of<'a>(&self, choices: impl Iterator<Item = &'a Value>) -> Expected {
        Expected::any(choices.map(|choice| self.expected(choice)))
    }
}

fn kinds(shape: &Value) -> Vec<&str> {
    match &shape["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![kind],
        _ => Vec::new(),
    }
}

fn missing(at: &str, expected: Expected) -> RequestMismatch {
    RequestMismatch::new("missing", Some(at)).expects(expected)
}

/// A value that does not match its schema.
pub(super) fn unfit(at: Option<&str>, expected: Expected, value: &Value) -> RequestMismatch {
    RequestMismatch::new("unfit", at).expects(expected).given(value)
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

fn below(at: Option<&str>, name: &str) -> String {
    at.map_or_else(|| name.to_owned(), |at| format!("{at}.{name}"))
}

/// An unknown field.
pub(super) fn stranger(path: &str) -> RequestMismatch {
    RequestMismatch::new("unknown", Some(path))
}

/// The type of a value, as JSON Schema names it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{more}")
}
