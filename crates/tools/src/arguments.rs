//! Parses the arguments of a call as the type of its tool's schema. Arguments that do not fit are reported to the model in
//! the words of the schema; it must never see the name of a Rust type.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::files::text::escaped;
use crate::set::schema_of;

/// The arguments, or their error.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| {
        // What the schema does not say, such as a number that is too large, the parser says.
        let why = fault("", arguments, &schema_of::<T>()).unwrap_or_else(|| error.to_string());
        format!("the arguments are not valid: {why}")
    })
}

/// The first place where a value differs from its schema. `at` is the name of the value, empty for the arguments themselves.
fn fault(at: &str, value: &Value, schema: &Value) -> Option<String> {
    let name = if at.is_empty() { "they".to_owned() } else { format!("`{at}`") };
    let wanted = schema["type"].as_str().unwrap_or_default();
    if value.is_null() || !is_a(value, wanted) {
        return Some(format!("{name} must be {}, not {}", in_words(wanted), kind(value)));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        return Some(format!("{name} must be one of {}", quoted(words.iter().filter_map(Value::as_str))));
    }
    if let Some(least) = schema["minimum"].as_f64().filter(|least| value.as_f64() < Some(*least)) {
        return Some(format!("{name} must be at least {least}"));
    }
    if let Some(items) = value.as_array() {
        let mut items = items.iter().enumerate();
        return items.find_map(|(n, item)| fault(&format!("{at}[{n}]"), item, &schema["items"]));
    }
    let (fields, known) = (value.as_object()?, schema["properties"].as_object()?);
    let of = if at.is_empty() { String::new() } else { format!(" of {name}") };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return Some(format!("`{missing}`{of} is missing"));
    }
    // Null for an optional parameter may be valid.
    let (null, given): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| value.is_null());
    given.into_iter().chain(null).find_map(|(field, value)| {
        let Some(schema) = known.get(field) else {
            let (field, known) = (escaped(field), quoted(known.keys().map(String::as_str)));
            return Some(format!("there is no parameter `{field}`{of}; there are {known}"));
        };
        let at = if at.is_empty() { field.clone() } else { format!("{at}.{field}") };
        fault(&at, value, schema)
    })
}

/// Whether a value has a type of JSON Schema.
fn is_a(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.is_i64() || value.is_u64(),
        "" => true,
        wanted => kind_name(value) == wanted,
    }
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        value if value.is_f64() => "a number with a fraction",
        value => in_words(kind_name(value)),
    }
}

fn in_words(kind: &str) -> &'static str {
    match kind {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "a list",
        _ => "an object",
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A line for people: the first line of a text, with terminal control characters escaped.
pub(crate) fn line(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    let more = if first.len() < text.len() { " …" } else { "" };
    format!("{}{more}", escaped(first))
}
