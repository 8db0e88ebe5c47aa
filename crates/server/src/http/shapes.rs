//! The schemas of requests for parsing: JSON schemas that a test generates from the types of `wire`. Must never accept a request
//! that the API document refuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::bad_request::Shape;
use super::parse::{Field, Fields, Form};

/// The document of the API, in OpenAPI 3.1.
pub const OPENAPI: &str = include_str!("../../../../docs/openapi.json");

/// The schemas of requests and all that they refer to, by name.
const REQUESTS: &str = include_str!("requests.json");

/// The streams, whose requests have their own types.
const STREAMS: [(&str, &str); 4] = [
    ("run", "Run"),
    ("follow", "Follow"),
    ("export_stream", "ExportWhole"),
    ("import_stream", "ImportWhole"),
];

/// The fields of all requests.
pub(super) struct Shapes(BTreeMap<String, Fields>);

impl Shapes {
    pub(super) fn new() -> Self {
        let all: Map<String, Value> = serde_json::from_str(REQUESTS).expect("BUG: a test wrote the shapes");
        let all = Arc::new(all);
        let fields =
            |shape: Value| Fields { forms: forms(&all, &shape), shape: Shape::new(Arc::clone(&all), shape) };
        let variants = choices(&all["Request"]).into_iter().flatten().map(|variant| {
            let name = variant["properties"]["request"]["const"].as_str().unwrap_or_default();
            (name.to_owned(), fields(variant.clone()))
        });
        let streams = STREAMS.map(|(name, shape)| {
            let refers = json!({ "$ref": format!("#/components/schemas/{shape}") });
            (name.to_owned(), fields(refers))
        });
        Self(variants.chain(streams).collect())
    }

    pub(super) fn of(&self, name: &str) -> &Fields {
        self.0.get(name).expect("BUG: every request has a shape")
    }
}

/// The schema itself, or the one that it refers to.
fn whole<'a>(all: &'a Map<String, Value>, shape: &'a Value) -> &'a Value {
    let name = shape["$ref"].as_str().and_then(|at| at.rsplit('/').next());
    name.map_or(shape, |name| &all[name])
}

/// The fields of a request, for each of its variants.
fn forms(all: &Map<String, Value>, shape: &Value) -> Vec<Form> {
    let shape = whole(all, shape);
    let own = form(all, shape);
    let forms = choices(shape).into_iter().flatten().map(|choice| {
        let Form { word, fields } = form(all, choice);
        Form { word, fields: own.fields.clone().into_iter().chain(fields).collect() }
    });
    let forms: Vec<Form> = forms.collect();
    if forms.is_empty() { vec![own] } else { forms }
}

fn form(all: &Map<String, Value>, shape: &Value) -> Form {
    let fields = shape["properties"].as_object().into_iter().flatten();
    // The path names the request.
    let fields = fields.filter(|(name, _)| *name != "request");
    let fields = fields.map(|(name, field)| (name.clone(), kind(whole(all, field))));
    Form {
        word: word_of(shape).map(|(name, word)| (name.to_owned(), word.to_owned())),
        fields: fields.collect(),
    }
}

/// The form of a field in a query.
fn kind(shape: &Value) -> Field {
    let kinds = match &shape["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![&**kind],
        _ => Vec::new(),
    };
    match kinds.iter().any(|kind| ["integer", "number", "boolean"].contains(kind)) {
        true => Field::Json { least: shape["minimum"].as_u64(), most: shape["maximum"].as_u64() },
        false => Field::Text,
    }
}

/// The variants of a schema.
pub(super) fn choices(shape: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|of| shape[*of].as_array())
}

/// The identifying field of a variant, with its value.
pub(super) fn word_of(choice: &Value) -> Option<(&str, &str)> {
    let fields = choice["properties"].as_object().into_iter().flatten();
    let mut words = fields.filter_map(|(name, field)| Some((name.as_str(), field["const"].as_str()?)));
    words.find(|(name, _)| *name != "request")
}
