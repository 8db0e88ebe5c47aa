//! Requests as HTTP: one table gives the method and the path of each. Server, client and the OpenAPI document are made from it,
//! so that no verb is written twice. Must never know a socket.
//!
//! The variables of a path are taken from the request's fields. The other fields become a query in a `GET`, and a JSON body
//! otherwise. The id of a request is sent as `Idempotency-Key`.

mod table;

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::event::Follow;
use crate::request::Request;

pub use table::{ENDPOINTS, EVENTS, EXPORT, IMPORT, LIST_EVENTS, RUNS};

/// The header that names a request: the same again gets the same receipt.
pub const REQUEST_ID: &str = "idempotency-key";

/// The header of a stream that names the last event that was seen.
pub const LAST_EVENT: &str = "last-event-id";

/// The type of a problem's body (RFC 9457).
pub const PROBLEM: &str = "application/problem+json";

/// What of a name stands in a path as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes something, or asks with a body.
    Post,
    /// Puts something instead of another.
    Put,
    /// Changes something.
    Patch,
    /// Takes something away.
    Delete,
}

impl Method {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The request, as its `request` field says it in JSON.
    pub name: &'static str,
    /// What it does.
    pub method: Method,
    /// Where; names in braces are fields of the request.
    pub path: &'static str,
    /// What it is answered with, as the reply's `reply` field says it.
    pub reply: &'static str,
    /// Whether it changes nothing.
    pub reads: bool,
}

impl Endpoint {
    /// The fields of the request that stand in the path.
    pub fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Request {
    /// Its row in the table.
    pub fn endpoint(&self) -> &'static Endpoint {
        let name: &str = self.into();
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name == name);
        endpoint.expect("BUG: every request has a row in the table")
    }
}

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// What it does.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// What the header [`REQUEST_ID`] says.
    pub request_id: Option<String>,
    /// The body.
    pub body: Option<Value>,
}

/// A request, as it is sent.
///
/// # Errors
///
/// The field of the path that is empty: there is no such place.
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

/// The path and query of a stream.
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

/// The request that these fields make at an endpoint.
///
/// # Errors
///
/// When a field is missing, or is not what it must be.
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

/// The path with its fields, which are taken out.
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
    // One order, independent of the map type.
    let fields: BTreeMap<String, Value> = fields.into_iter().filter(|(_, value)| !value.is_null()).collect();
    for (name, value) in fields {
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(&name);
        query.push('=');
        query.extend(utf8_percent_encode(&plain(&value), SEGMENT));
    }
    query
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Alternatives, Apply, Log, Of, OfWorkspace, Projection};
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
        let folder = Request::WorkspaceShow(OfWorkspace { workspace: "/home/a b".into() });
        assert_eq!(target(&folder), Ok("/v1/workspaces/%2Fhome%2Fa%20b".to_owned()));
        assert_eq!(target(&Request::Info(Of { conversation: String::new() })), Err("conversation"));
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
    fn requests_that_only_read_are_those_of_get_and_two_with_a_body() {
        let reads = |endpoint: &&Endpoint| endpoint.reads && endpoint.method != Method::Get;
        let with_body: Vec<_> = ENDPOINTS.iter().filter(reads).map(|endpoint| endpoint.name).collect();
        assert_eq!(with_body, ["plan", "files_diff"]);
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
