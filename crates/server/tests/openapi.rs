//! The OpenAPI document: the checked-in one is the one of the code, and says the same thing once.

use std::path::Path;

use retake_wire::http::ENDPOINTS;
use serde_json::Value;

use super::world::variants;

const REQUESTS: &str = include_str!("../../wire/src/request.rs");

/// Set to write the document anew.
const WRITE: &str = "RETAKE_WRITE_OPENAPI";

#[test]
fn the_checked_in_document_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let now = format!("{:#}\n", retake_server::openapi());
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &now).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == now, "docs/openapi.json is out of date; {WRITE}=1 writes it anew");
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

/// A field of a choice hides one of the whole: in JSON only one of them could be said.
#[test]
fn no_field_is_said_twice() {
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
    look("", &retake_server::openapi());
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
