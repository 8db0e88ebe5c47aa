//! Schemas for readers that support only a part of JSON Schema. Must never change what a schema accepts.

use serde_json::{Map, Value};

/// The largest number that every JSON reader reads exactly.
const EXACT: u64 = (1 << 53) - 1;

/// The forms of a schema.
pub(super) fn choices(shape: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|of| shape[*of].as_array())
}

/// A schema with these fields and no others. Each of its choices is complete: some readers can't combine them.
pub(super) fn closed(mut shape: Value) -> Value {
    entitle("", &mut shape);
    let Some(members) = shape.as_object_mut() else { return shape };
    let Some(of) = ["oneOf", "anyOf"].into_iter().find(|of| members.contains_key(*of)) else {
        members.insert("additionalProperties".to_owned(), false.into());
        return shape;
    };
    members.remove("type");
    let fields = members.remove("properties").unwrap_or_default();
    let required = members.remove("required").unwrap_or_default();
    for choice in members[of].as_array_mut().into_iter().flatten() {
        let Some(choice) = choice.as_object_mut() else { continue };
        for (name, shared) in [("properties", &fields), ("required", &required)] {
            match (choice.get_mut(name), shared) {
                (Some(Value::Object(own)), Value::Object(shared)) => own.extend(shared.clone()),
                (Some(Value::Array(own)), Value::Array(shared)) => own.extend(shared.iter().cloned()),
                (Some(_), _) | (None, Value::Null) => {}
                (None, shared) => drop(choice.insert(name.to_owned(), shared.clone())),
            }
        }
        choice.insert("additionalProperties".to_owned(), false.into());
    }
    shape
}

/// The field of a choice that identifies it, and its value.
pub(super) fn word_of(choice: &Value) -> Option<(&str, &str)> {
    let fields = choice["properties"].as_object().into_iter().flatten();
    let mut words = fields.filter_map(|(name, field)| Some((name.as_str(), field["const"].as_str()?)));
    words.find(|(name, _)| *name != "request")
}

fn pascal(word: &str) -> String {
    let parts = word.split('_').map(|part| {
        let (first, rest) = part.split_at_checked(1).unwrap_or_default();
        first.to_uppercase() + rest
    });
    parts.collect()
}

/// Gives each choice a title that identifies it.
pub(super) fn entitle(name: &str, shape: &mut Value) {
    for of in ["oneOf", "anyOf"] {
        for choice in shape.get_mut(of).and_then(Value::as_array_mut).into_iter().flatten() {
            let title = word_of(choice).map(|(_, word)| format!("{name}{}", pascal(word)));
            if let (Some(title), Some(choice)) = (title, choice.as_object_mut()) {
                choice.insert("title".to_owned(), title.into());
            }
        }
    }
}

/// Replaces a choice of constants with a list.
fn list_words(members: &mut Map<String, Value>) {
    let Some(choices) = members.get("oneOf").and_then(Value::as_array) else { return };
    let (mut words, mut says) = (Vec::new(), String::new());
    for choice in choices {
        match (&choice["const"], &choice["enum"]) {
            (Value::String(word), _) => {
                words.push(word.clone());
                let about = choice["description"].as_str().unwrap_or_default();
                says.push_str(&format!("\n- `{word}`: {about}"));
            }
            (_, Value::Array(more)) => words.extend(more.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => return,
        }
    }
    members.remove("oneOf");
    let about = members.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    members.insert("description".to_owned(), format!("{about}{says}").trim().into());
    members.insert("type".to_owned(), "string".into());
    members.insert("enum".to_owned(), words.into());
}

/// Replaces Rust terms with those of JSON Schema, and links in texts with plain names.
pub(super) fn tidy(shape: &mut Value) {
    match shape {
        Value::Object(members) => {
            list_words(members);
            let format = members.get("format").and_then(Value::as_str).map(str::to_owned);
            match format.as_deref() {
                Some("uint" | "uint64") => {
                    members.remove("format");
                    members.entry("maximum").or_insert(EXACT.into());
                }
                Some("uint32") => {
                    members.remove("format");
                    members.entry("maximum").or_insert(u32::MAX.into());
                }
                Some("uint8" | "uint16") => {
                    members.remove("format");
                }
                _ => {}
            }
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text =
                    text.replace("[`crate::", "`").replace("[`", "`").replace("`]", "`").replace("::", ".");
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}
