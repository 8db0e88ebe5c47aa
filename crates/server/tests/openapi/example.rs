//! An example of each request, for the API document: generated from its schema, so that every request in the table has one. Must
//! never hold a field that the schema does not have.

use serde_json::{Map, Value, json};

use super::shape::choices;

/// The depth to which schemas are followed: an example is short.
const DEEPEST: usize = 6;

/// Usual values of fields, by name, as JSON.
const USUAL: &[(&str, &str)] = &[
    ("answer", r#""yes""#),
    ("at", r#""3.12""#),
    ("command", r#"["cargo", "test"]"#),
    ("command", r#""github-mcp-server""#),
    ("content", r#""What is 17 * 3?""#),
    ("conversation", r#""0199a000-5c1e-7d20-8f3a-2b6c9d0e1f42""#),
    ("cursor", r#""1:20""#),
    ("data", r#""aGVsbG8=""#),
    ("entries", r#"["t2"]"#),
    ("entry", r#""t2""#),
    ("first", "0"),
    ("folder", r#""/home/ada/sums""#),
    ("from", r#""t1""#),
    ("head", r#""3.12""#),
    ("holder", r#""0199a000-ab""#),
    ("id", r#""0199a000-5c1e-7d20-8f3a-2b6c9d0e1f42-1""#),
    ("idempotency-key", r#""rewind-0199a000-1""#),
    ("job", r#""0199a000-5c1e-7d20-8f3a-2b6c9d0e1f42-1""#),
    ("last-event-id", r#""17""#),
    ("limit", "20"),
    ("lines", r#"["{\"role\": \"user\", \"content\": \"What is 17 * 3?\"}"]"#),
    ("name", r#""draft""#),
    ("query", r#""17 * 3""#),
    ("since", "17"),
    ("summary", r#""Two sums were asked for and answered.""#),
    ("text", r#""What is 17 * 3?""#),
    ("title", r#""Sums""#),
    ("to", r#""t2""#),
    ("url", r#""https://example.org/mcp""#),
    ("workspace", r#""1""#),
];

/// Optional fields that explain most of a request.
const SHOWN: &[&str] = &["conversation", "grants", "head", "how", "mode", "title"];

/// Adds the examples of an operation to the document.
pub(super) fn add(operation: &mut Value, shapes: &Map<String, Value>) {
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        let example = of(&name, &parameter["schema"], shapes, 0);
        // Optional query parameters may be anything: an example with all of them would make no sense.
        if parameter["required"] == true || is_usual(&name) {
            parameter["example"] = example;
        }
    }
    let json = "/requestBody/content/application~1json";
    if let Some(body) = operation.pointer_mut(json) {
        body["example"] = of("", &body["schema"], shapes, 0);
    }
}

fn is_usual(name: &str) -> bool {
    USUAL.iter().any(|(usual, _)| *usual == name)
}

/// An example of a field with this schema.
fn of(name: &str, shape: &Value, shapes: &Map<String, Value>, depth: usize) -> Value {
    let target = shape["$ref"].as_str().and_then(|at| shapes.get(at.rsplit('/').next()?));
    let shape = target.unwrap_or(shape);
    let usual = USUAL.iter().filter(|(usual, _)| *usual == name);
    let mut usual = usual.filter_map(|(_, json)| serde_json::from_str::<Value>(json).ok());
    if let Some(usual) = usual.find(|usual| is(shape, usual)) {
        return usual;
    }
    if let Some(only) = shape.get("const") {
        return only.clone();
    }
    if let Some(first) = shape["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    let choice = choices(shape).and_then(|all| all.iter().find(|choice| choice["type"] != "null"));
    if let Some(choice) = choice.filter(|_| depth < DEEPEST) {
        return of(name, choice, shapes, depth + 1);
    }
    match kind(shape) {
        "object" => object(shape, shapes, depth),
        "array" if depth < DEEPEST => json!([of("", &shape["items"], shapes, depth + 1)]),
        "array" => json!([]),
        "integer" | "number" => {
            shape.get("minimum").filter(|least| **least != 0).cloned().unwrap_or(json!(1))
        }
        "boolean" => json!(true),
        _ => json!("text"),
    }
}

fn object(shape: &Value, shapes: &Map<String, Value>, depth: usize) -> Value {
    let required: Vec<&str> =
        shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = shape["properties"].as_object().into_iter().flatten();
    let fields =
        fields.filter(|(name, _)| required.contains(&name.as_str()) || SHOWN.contains(&name.as_str()));
    let fields = fields.map(|(name, field)| (name.clone(), of(name, field, shapes, depth + 1)));
    Value::Object(fields.collect())
}

/// The JSON type of a value with this schema: not null if another type is possible.
fn kind(shape: &Value) -> &str {
    match &shape["type"] {
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        Value::String(kind) => kind,
        _ => "",
    }
}

/// Whether a schema accepts a value.
fn is(shape: &Value, value: &Value) -> bool {
    let fits =
        shape["enum"].as_array().is_none_or(|words| words.contains(value)) && shape.get("const").is_none();
    fits && choices(shape).is_none()
        && match kind(shape) {
            "string" => value.is_string(),
            "integer" | "number" => value.is_number(),
            "array" => value.is_array() && shape["items"]["type"] == "string",
            _ => false,
        }
}
