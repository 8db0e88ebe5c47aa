//! The parts of a message in requests. The owner accepts every form of them; replies use a wider schema.

use serde_json::{Value, json};

/// The name of the schema of a part in a request.
pub(super) const SAID: &str = "SaidPart";

/// The name of the schema of a part in a draft.
pub(super) const DRAFTED: &str = "DraftedPart";

/// The fields of requests that hold parts.
const PARTS: [&str; 2] = ["parts", "instead_of"];

/// The parts of a person's draft.
const OF_PERSONS: [&str; 3] = ["text", "image", "file"];

/// Both schemas, made from that of parts.
pub(super) fn shapes(part: &Value) -> [(&'static str, Value); 2] {
    let forms = part["oneOf"].as_array().cloned().unwrap_or_default();
    // Erased content can't be sent again, and recalled facts are in messages of the program only.
    let sent = forms.into_iter().filter(|form| !["erased", "recalled"].contains(&word(form)));
    let forms = sent.flat_map(with_one_source);
    let said: Vec<Value> = forms.collect();
    let of_persons = said.iter().filter(|form| OF_PERSONS.contains(&word(form))).cloned();
    let shape = |name: &str, forms: Vec<Value>| {
        let titled = forms.into_iter().map(|mut form| {
            let title = form["title"].as_str().unwrap_or_default();
            form["title"] = title.replacen("Part", name, 1).into();
            form
        });
        json!({ "description": "One piece of a message's content.", "oneOf": titled.collect::<Vec<_>>() })
    };
    let drafted = shape(DRAFTED, of_persons.collect());
    [(SAID, shape(SAID, said)), (DRAFTED, drafted)]
}

fn word(form: &Value) -> &str {
    form["properties"]["type"]["const"].as_str().unwrap_or_default()
}

/// A form whose content is either there or somewhere else, as two forms.
fn with_one_source(form: Value) -> Vec<Value> {
    const SOURCES: [(&str, &str, &str); 2] = [("data", "url", "Data"), ("url", "data", "Url")];
    if SOURCES.iter().any(|(source, ..)| form["properties"][source].is_null()) {
        return vec![form];
    }
    let with = |(source, other, suffix): (&str, &str, &str)| {
        let mut form = form.clone();
        form["properties"].as_object_mut().map(|fields| fields.remove(other));
        form["properties"][source]["type"] = "string".into();
        form["required"].as_array_mut().into_iter().for_each(|required| required.push(source.into()));
        let title = form["title"].as_str().unwrap_or_default();
        form["title"] = format!("{title}{suffix}").into();
        form
    };
    SOURCES.map(with).into()
}

/// Sets the parts of a request.
pub(super) fn take(request: &mut Value, name: &str) {
    let said = super::writer::at(name);
    let forms = request.get_mut("oneOf").and_then(Value::as_array_mut).map(std::mem::take);
    if let Some(mut forms) = forms {
        forms.iter_mut().for_each(|form| take(form, name));
        request["oneOf"] = forms.into();
    }
    for field in PARTS {
        if let Some(items) = request.pointer_mut(&format!("/properties/{field}/items")) {
            *items = json!({ "$ref": said });
        }
    }
}
