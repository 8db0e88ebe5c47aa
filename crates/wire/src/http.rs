//! Requests as HTTP: one table gives the method and the path of each request. The server, the client and the OpenAPI document are
//! made from it, so no verb is written twice. Must never know a socket.
//!
//! The variables of a path are taken from the fields of the request. The other fields become the query of a `GET`, and otherwise
//! a JSON body. The id of a request is sent as `Idempotency-Key`.

mod needs;
mod table;

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use strum::IntoStaticStr;

use crate::access::Need;
use crate::event::Follow;
use crate::request::Request;

pub use needs::{ATTACH, EXPORT_WHOLE, FOLLOW, IMPORT_WHOLE, RUN, need};
pub use table::{ENDPOINTS, EVENTS, EXPORT, IMPORT, LIST_EVENTS, RUNS};

/// The header with the id of a request. A repeated request with the same id gets the same receipt.
pub const REQUEST_ID: &str = "idempotency-key";

/// The header of a stream with the id of the last event that the client received.
pub const LAST_EVENT: &str = "last-event-id";

/// The media type of a problem (RFC 9457).
pub const PROBLEM: &str = "application/problem+json";

/// The characters that are percent-encoded in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Method {
    /// Reads something.
    Get,
    /// Creates something, or reads with a request body.
    Post,
    /// Replaces something.
    Put,
    /// Changes a part of something.
    Patch,
    /// Removes something.
    Delete,
}

impl Method {
    /// The name of the method.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The HTTP endpoint of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The name of the request, as in its `request` field in JSON.
    pub name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path. Names in braces are fields of the request.
    pub path: &'static str,
    /// The name of the reply, as in its `reply` field in JSON.
    pub reply: &'static str,
    /// Whether the request changes nothing.
    pub reads: bool,
}

impl Endpoint {
    /// What such a request needs at least.
    pub fn needs(&self) -> Need {
        need(self.name.parse().expect("BUG: every row of the table is a request's"))
    }

    /// The fields of the request that are in the path.
    pub fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Request {
    /// The endpoint of this request.
    pub fn endpoint(&self) -> &'static Endpoint {
        let name: &str = self.into();
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name == name);
        endpoint.expect("BUG: every request has a row in the table")
    }
}

/// A request in its HTTP form.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The HTTP method.
    pub method: Method,
    /// The path and the query.
    pub target: String,
    /// The value of the header [`REQUEST_ID`].
    pub request_id: Option<String>,
    /// The body.
    pub body: Option<Value>,
}

/// Converts a request to its HTTP form.
///
/// # Errors
///
/// If a field in the path is empty: the name of that field.
pub fn encode(request: &Request) -> Result<Sent, &'static str> {
    let mut fields = fields(request);
    fields.remove("request");
    let endpoint = request.endpoint();
    let request_id = match fields.remove("request_id") {
        Some(Value::String(id)) => Some(id),
        _ => None,
    };
    let mut target = filled(endpoint, &mut fields)?;
    let body = match endpoint.method {
        Method::Get | Method::Delete => {
            target.push_str(&query(fields));
            None
        }
        _ => Some(Value::Object(fields)),
    };
    Ok(Sent { method: endpoint.method, target, request_id, body })
}

/// The path and the query of an event stream.
pub fn follow(follow: &Follow) -> String {
    let mut target = match &follow.conversation {
        Some(name) => EVENTS.replace("{conversation}", &utf8_percent_encode(name, SEGMENT).to_string()),
        None => LIST_EVENTS.to_owned(),
    };
    if let Some(since) = &follow.since {
        target.push_str("?since=");
        target.extend(utf8_percent_encode(since, SEGMENT));
    }
    target
}

/// Builds the request of an endpoint from these fields.
///
/// # Errors
///
/// If a field is missing or invalid.
pub fn decode(endpoint: &Endpoint, mut fields: Map<String, Value>) -> Result<Request, serde_json::Error> {
    fields.insert("request".to_owned(), endpoint.name.into());
    serde_json::from_value(Value::Object(fields))
}

fn fields(request: &Request) -> Map<String, Value> {
    match serde_json::to_value(request) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("BUG: a request is an object with string keys"),
    }
}

/// The path with the values of its fields, which are removed from `fields`.
fn filled(endpoint: &Endpoint, fields: &mut Map<String, Value>) -> Result<String, &'static str> {
    let mut path = String::new();
    for part in endpoint.path.split('/').skip(1) {
        path.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                let value = plain(&fields.remove(name).unwrap_or_default());
                if value.is_empty() {
                    return Err(name);
                }
                path.extend(utf8_percent_encode(&value, SEGMENT));
            }
            None => path.push_str(part),
        }
    }
    Ok(path)
}

fn query(fields: Map<String, Value>) -> String {
    let mut query = String::new();
    // A fixed order, independent of the map type.
    let fields: BTreeMap<String, Value> = fields.into_iter().filter(|(_, value)| !value.is_null()).collect();
    for (name, value) in fields {
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(&name);
        query.push('=');
        query.extend(utf8_percent_encode(&plain(&value), SEGMENT));
    }
    query
}

/// A string as it is, any other value as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Alternatives, Apply, ConversationTarget, Log, Projection, WorkspaceTarget};
    use crate::{Action, FileOptions};

    #[test]
    fn fields_of_the_path_are_not_sent_again() {
        let request = Request::Alternatives(Alternatives {
            conversation: "c".into(),
            entry: "@".into(),
            limit: None,
            after: None,
        });
        let sent = encode(&request).expect("a place");
        assert_eq!(sent.target, "/v1/conversations/c/entries/%40/alternatives");
        assert_eq!((sent.method, sent.body), (Method::Get, None));
        let log = Log {
            conversation: "c".into(),
            at: None,
            branch: None,
            projection: Projection::Prompt,
            limit: Some(3),
            before: Some("t2".into()),
            after: None,
        };
        let target = |request: &Request| encode(request).map(|sent| sent.target);
        let page = "/v1/conversations/c/entries?as=prompt&before=t2&limit=3";
        assert_eq!(target(&Request::Log(log)), Ok(page.to_owned()));
        let folder = Request::WorkspaceShow(WorkspaceTarget { workspace: "/home/a b".into() });
        assert_eq!(target(&folder), Ok("/v1/workspaces/%2Fhome%2Fa%20b".to_owned()));
        assert_eq!(
            target(&Request::Info(ConversationTarget { conversation: String::new() })),
            Err("conversation")
        );
    }

    #[test]
    fn the_id_of_a_request_is_a_header_and_the_rest_a_body() {
        let request = Request::Apply(Apply {
            conversation: "c".into(),
            action: Action::Undo { count: 2 },
            head: Some("3.4".into()),
            since: false,
            files: FileOptions::default(),
            request_id: Some("once".into()),
        });
        let sent = encode(&request).expect("a place");
        assert_eq!(sent.request_id.as_deref(), Some("once"));
        let body = serde_json::json!({ "action": "undo", "count": 2, "head": "3.4", "since": false });
        assert_eq!(sent.body, Some(body.clone()));
        let Value::Object(mut fields) = body else { unreachable!() };
        fields.extend([("conversation".into(), "c".into()), ("request_id".into(), "once".into())]);
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name == "apply").expect("it is there");
        assert_eq!(decode(endpoint, fields).expect("decoded"), request);
    }

    #[test]
    fn requests_that_only_read_are_those_of_get_and_three_with_a_body() {
        let reads = |endpoint: &&Endpoint| endpoint.reads && endpoint.method != Method::Get;
        let with_body: Vec<_> = ENDPOINTS.iter().filter(reads).map(|endpoint| endpoint.name).collect();
        assert_eq!(with_body, ["plan", "context", "files_diff"]);
        assert!(ENDPOINTS.iter().all(|endpoint| endpoint.reads || endpoint.method != Method::Get));
        assert!(Request::Work.only_reads() && !Request::Stop.only_reads());
    }

    #[test]
    fn every_request_has_one_place_of_its_own() {
        for (at, endpoint) in ENDPOINTS.iter().enumerate() {
            let same = |other: &Endpoint| {
                other.name == endpoint.name || (other.method, other.path) == (endpoint.method, endpoint.path)
            };
            assert!(!ENDPOINTS[at + 1..].iter().any(same), "{endpoint:?}");
            assert!(endpoint.path.starts_with("/v1/"), "{endpoint:?}");
        }
    }
}
