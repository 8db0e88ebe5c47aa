//! The OpenAPI document: the checked-in one equals the generated one, and says nothing twice.

mod example;
mod links;
mod parts;
mod shape;
mod writer;

use std::collections::BTreeSet;
use std::path::Path;

use retake_wire::http::{ENDPOINTS, IMPORT, RUNS, decode};
use serde_json::{Map, Value};

use super::world::variants;

const REQUESTS: &str = include_str!("../../wire/src/request.rs");

/// Set this to write the document again.
const WRITE: &str = "RETAKE_WRITE_OPENAPI";

fn document() -> Value {
    serde_json::from_str(retake_server::OPENAPI).expect("a document")
}

/// Both files that the server is built with.
#[test]
fn the_checked_in_document_is_that_of_the_code() {
    let made = [
        ("../../docs/openapi.json", format!("{:#}\n", writer::document())),
        ("src/http/requests.json", format!("{:#}\n", writer::request_shapes())),
    ];
    for (path, now) in made {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&file, &now).expect("written");
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == now, "{path} is out of date; {WRITE}=1 writes it anew");
    }
}

#[test]
fn every_request_stands_in_the_table_with_the_reply_that_it_promises() {
    let promised = variants(REQUESTS, "Request");
    assert_eq!(promised.len(), ENDPOINTS.len());
    for (name, promise) in promised {
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name == snake(&name));
        let endpoint = endpoint.unwrap_or_else(|| panic!("{name} is not in the table"));
        let (_, reply) = promise.split_once("→ `").expect("each request says how it is answered");
        assert_eq!(endpoint.reply, snake(reply.trim_end_matches('`')), "{name}");
    }
}

/// A field of a choice would hide one of the whole: JSON can contain only one of them.
#[test]
fn no_field_is_in_a_shape_and_in_its_choice() {
    fn look(at: &str, shape: &Value) {
        let own = shape["properties"].as_object();
        let choices = ["oneOf", "anyOf"].iter().filter_map(|of| shape[*of].as_array()).flatten();
        for choice in choices {
            for name in choice["properties"].as_object().into_iter().flat_map(|fields| fields.keys()) {
                assert!(own.is_none_or(|own| !own.contains_key(name)), "{name} at {at}");
            }
        }
        match shape {
            Value::Object(members) => {
                members.iter().for_each(|(name, inside)| look(&format!("{at}/{name}"), inside));
            }
            Value::Array(items) => items.iter().for_each(|inside| look(at, inside)),
            _ => {}
        }
    }
    look("", &document());
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The fields of the example of an operation, from its body and its parameters.
fn fields_of(operation: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    let body = &operation["requestBody"]["content"]["application/json"];
    if body.is_object() {
        let example = body["example"].as_object().unwrap_or_else(|| panic!("no example: {operation}"));
        fields.extend(example.clone());
    }
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a name");
        let header = parameter["in"] == "header";
        assert!(parameter["required"] != true || !parameter["example"].is_null(), "{parameter}");
        if !header && !parameter["example"].is_null() {
            fields.insert(name.to_owned(), parameter["example"].clone());
        }
    }
    fields
}

/// Each example can be sent unchanged: it is parsed as its request. A request with an id or a holder includes it.
#[test]
fn trial_17_each_request_has_an_example_that_can_be_read() {
    let document = document();
    let operation = |path: &str, method: &str| document["paths"][path][method].clone();
    for endpoint in ENDPOINTS {
        let operation = operation(endpoint.path, &endpoint.method.name().to_lowercase());
        let fields = fields_of(&operation);
        let read = decode(endpoint, fields.clone());
        assert!(read.is_ok(), "{}: {fields:?}: {read:?}", endpoint.name);
        let shape = &operation["requestBody"]["content"]["application/json"]["schema"];
        let name_of = |shape: &Value| shape["$ref"].as_str()?.rsplit('/').next().map(str::to_owned);
        let shape = name_of(shape).map_or(shape, |name| &document["components"]["schemas"][name]);
        let with = |field: &str| {
            let mut fields = fields.clone();
            shape["properties"].get(field)?;
            fields.insert(field.to_owned(), "mine".into());
            decode(endpoint, fields).ok()
        };
        let name = endpoint.name;
        if let Some(mut request) = with("request_id") {
            let identity = request.identity().unwrap_or_else(|| panic!("{name} has a request id"));
            assert_eq!(identity.id.as_deref(), Some("mine"), "{name}");
            // A fork makes a conversation of its own.
            let changes_one = endpoint.path.contains("{conversation}") && name != "Fork";
            assert_eq!(identity.conversation.is_some(), changes_one, "{name}");
        }
        // Gateways have holders of accounts.
        if let Some(mut request) = with("holder").filter(|_| name.contains("draft")) {
            let holder = request.holder().unwrap_or_else(|| panic!("{name} has a holder"));
            assert_eq!(holder.as_deref(), Some("mine"), "{name}");
        }
    }
    let run = fields_of(&operation(RUNS, "post"));
    serde_json::from_value::<retake_wire::Run>(Value::Object(run)).expect("a run");
    let stream = operation(IMPORT, "post");
    let lines = stream["requestBody"]["content"]["application/octet-stream"]["example"].as_str();
    let lines = lines.expect("an example").lines();
    let roles = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line")["role"].clone());
    assert_eq!(roles.collect::<Vec<_>>(), ["user", "assistant"]);
}

/// The document says how large a page may be, and the default.
#[test]
fn trial_17_each_limit_says_its_range_and_what_holds_without_it() {
    let document = document();
    let operations = document["paths"].as_object().expect("paths").values();
    let operations = operations.flat_map(|path| path.as_object().expect("operations").values());
    let parameters =
        operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
    let limits: Vec<_> = parameters.filter(|parameter| parameter["name"] == "limit").collect();
    assert_eq!(limits.len(), 16, "the lists");
    for limit in limits {
        let says = limit["description"].as_str().expect("a description");
        assert!(says.contains("1 to 1000. Default: ") && says.ends_with("0."), "{says}");
        assert_eq!((&limit["schema"]["minimum"], &limit["schema"]["maximum"]), (&1.into(), &1000.into()));
    }
}

/// A list either has pages, or says what limits it.
#[test]
fn trial_17_every_list_has_pages_or_says_what_bounds_it() {
    let document = document();
    let shapes = &document["components"]["schemas"];
    let named = |shape: &Value| -> Option<Value> {
        Some(shapes[shape["$ref"].as_str()?.rsplit('/').next()?].clone())
    };
    let mut unbounded = Vec::new();
    for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.method.name() == "GET") {
        let operation = &document["paths"][endpoint.path]["get"];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        if parameters.into_iter().any(|parameter| parameter["name"] == "limit") {
            continue;
        }
        let shape = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let shape = named(shape).unwrap_or_else(|| shape.clone());
        for (name, field) in shape["properties"].as_object().into_iter().flatten() {
            let says = field["description"].as_str().unwrap_or_default();
            let is_array = field["type"] == "array" || field["type"][0] == "array";
            let is_list = is_array && field["prefixItems"].is_null();
            if is_list && !says.contains("at most") && !says.contains("bounded by") {
                unbounded.push(format!("{}: {name}: {says}", endpoint.name));
            }
        }
    }
    assert_eq!(unbounded, Vec::<String>::new());
}

/// No object in a request accepts a field that the document does not name.
#[test]
fn every_object_in_a_request_is_closed() {
    fn open(all: &Value, shape: &Value, at: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
        if let Some(name) = shape["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            return match seen.insert(name.to_owned()) {
                true => open(all, &all[name], name, seen),
                false => Vec::new(),
            };
        }
        let is_closed = |word| shape[word] == false;
        let is_open = shape["properties"].is_object()
            && !is_closed("additionalProperties")
            && !is_closed("unevaluatedProperties");
        let mut found: Vec<String> = is_open.then(|| at.to_owned()).into_iter().collect();
        for (name, field) in shape["properties"].as_object().into_iter().flatten() {
            found.extend(open(all, field, &format!("{at}.{name}"), seen));
        }
        for of in ["oneOf", "anyOf", "allOf"] {
            for choice in shape[of].as_array().into_iter().flatten() {
                found.extend(open(all, choice, at, seen));
            }
        }
        if shape["items"].is_object() {
            found.extend(open(all, &shape["items"], &format!("{at}[]"), seen));
        }
        found
    }
    let document = document();
    let (all, mut seen) = (&document["components"]["schemas"], BTreeSet::new());
    let operations = document["paths"].as_object().into_iter().flatten();
    let operations = operations.flat_map(|(_, methods)| methods.as_object().into_iter().flatten());
    let mut found = Vec::new();
    for (_, operation) in operations {
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        found.extend(open(all, body, operation["operationId"].as_str().expect("a name"), &mut seen));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_problem_code_is_in_the_document_with_its_english_title() {
    let document = document();
    let listed = document["components"]["schemas"]["ProblemCode"]["x-codes"].as_object().expect("a list");
    assert_eq!(listed.len(), retake_wire::ProblemCode::ALL.len());
    for code in retake_wire::ProblemCode::ALL {
        assert_eq!(listed.get(code.as_str()).and_then(Value::as_str), code.title(), "{code}");
    }
}

#[test]
fn fields_of_every_problem_code_are_in_the_document() {
    let document = document();
    let listed = &document["components"]["schemas"]["ProblemCode"]["x-fields"];
    for code in retake_wire::ProblemCode::ALL {
        let names: Vec<_> =
            listed[code.as_str()].as_array().into_iter().flatten().map(Value::as_str).collect();
        assert_eq!(names, code.fields().iter().copied().map(Some).collect::<Vec<_>>(), "{code}");
    }
    assert_eq!(listed["stale_head"], serde_json::json!(["seen", "now"]));
}
