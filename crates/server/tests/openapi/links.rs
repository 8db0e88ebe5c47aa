//! Requests that can follow a reply, as links of the document. API testers follow them, and readers learn where ids come from.

use serde_json::{Map, Value, json};

/// A reply's fields, by the parameters that take them.
type LinkParameters = &'static [(&'static str, &'static str)];

const CONVERSATION: (&str, &str) = ("conversation", "$response.body#/conversation");
const ENTRY: (&str, &str) = ("entry", "$response.body#/entries/0");

/// Each link: the request of the reply, the next request, what it takes from the reply, and its body.
const LINKS: &[(&str, &str, LinkParameters, &str)] = &[
    ("create", "say", &[CONVERSATION], ""),
    ("create", "info", &[CONVERSATION], ""),
    ("create", "set_draft", &[CONVERSATION], ""),
    ("say", "say", &[CONVERSATION], ""),
    ("say", "log", &[CONVERSATION], ""),
    ("say", "targets", &[CONVERSATION], ""),
    ("say", "edit", &[CONVERSATION, ENTRY], ""),
    ("say", "alternatives", &[CONVERSATION, ENTRY], ""),
    ("say", "plan", &[CONVERSATION], r#"{"action":"rewind","entry":"$response.body#/entries/0"}"#),
    ("say", "apply", &[CONVERSATION], r#"{"action":"rewind","entry":"$response.body#/entries/0"}"#),
    ("say", "fork", &[CONVERSATION], r#"{"entry":"$response.body#/entries/0"}"#),
    ("edit", "apply", &[CONVERSATION], r#"{"action":"undo","count":1}"#),
    ("apply", "apply", &[CONVERSATION], r#"{"action":"undo","count":1}"#),
    ("apply", "catch_up", &[CONVERSATION, ("since", "$response.body#/revision")], ""),
    ("apply", "prompt", &[CONVERSATION, ("at", "$response.body#/head")], ""),
    ("apply", "ops", &[CONVERSATION], ""),
    ("apply", "tree", &[CONVERSATION], ""),
    ("fork", "export", &[CONVERSATION], ""),
    ("fork", "say", &[CONVERSATION], ""),
    ("import_stream", "export_stream", &[CONVERSATION], ""),
    ("list", "info", &[("conversation", "$response.body#/conversations/0/id")], ""),
];

/// The links of a request's reply.
pub(super) fn of(name: &str) -> Value {
    let links = LINKS.iter().filter(|(from, ..)| *from == name);
    let told = links.map(|(_, next, given, body)| {
        let given: Map<String, Value> =
            given.iter().map(|(name, from)| ((*name).to_owned(), (*from).into())).collect();
        let mut link = json!({ "operationId": next, "parameters": given });
        if !body.is_empty() {
            link["requestBody"] = serde_json::from_str(body).expect("BUG: a body is JSON");
        }
        ((*next).to_owned(), link)
    });
    Value::Object(told.collect())
}
