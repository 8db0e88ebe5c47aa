//! A request as it came in, as one of `wire`: path, query, header and body become its fields. What it doesn't know is refused, as a
//! misspelt wish must not be dropped in silence.

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request as HttpRequest};
use axum::http::{HeaderMap, header};
use retake_wire::http::{Endpoint, LAST_EVENT, REQUEST_ID, decode};
use retake_wire::{Follow, Request, Run};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::problem::{Told, bad};

/// The largest body: pictures of a message, lines of an import.
pub(super) const LARGEST: usize = 64 * 1024 * 1024;

/// What a request can say: each of its forms, of which there is at least one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(pub(super) Vec<Form>);

/// One form of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    /// The field that says that it is this form, and how.
    pub(super) word: Option<(String, String)>,
    /// All fields, as far as they matter here.
    pub(super) fields: BTreeMap<String, Field>,
}

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// In a query it is written as in JSON: a number, or `true` or `false`.
    Json {
        /// The largest number that is understood.
        most: Option<u64>,
    },
    /// Anything else.
    Text,
}

/// The request of an endpoint.
pub(super) async fn request(
    endpoint: &Endpoint,
    fields: &Fields,
    params: RawPathParams,
    http: HttpRequest,
) -> Result<Request, Told> {
    let (head, body) = http.into_parts();
    let mut given = body_of(&head.headers, body).await?;
    for (name, text) in pairs(head.uri.query().unwrap_or_default()) {
        let value = fields.value(&name, &text)?;
        if given.insert(name.clone(), value).is_some() {
            return Err(bad("bad_request", format!("`{name}` is said twice"), "say it once"));
        }
    }
    for (name, text) in &params {
        given.insert(name.to_owned(), text.into());
    }
    fields.check(&given)?;
    identify(&head.headers, &mut given)?;
    decode(endpoint, given).map_err(|error| unreadable(&error))
}

/// The run that a body asks for.
pub(super) async fn run(fields: &Fields, http: HttpRequest) -> Result<Run, Told> {
    let (head, body) = http.into_parts();
    let mut given = body_of(&head.headers, body).await?;
    fields.check(&given)?;
    identify(&head.headers, &mut given)?;
    serde_json::from_value(Value::Object(given)).map_err(|error| unreadable(&error))
}

/// What a stream is to follow. Who comes back names the last event in a header.
pub(super) fn follow(fields: &Fields, params: &RawPathParams, http: &HttpRequest) -> Result<Follow, Told> {
    let mut given = Map::new();
    for (name, text) in pairs(http.uri().query().unwrap_or_default()) {
        given.insert(name.clone(), fields.value(&name, &text)?);
    }
    fields.check(&given)?;
    if let Some(since) = http.headers().get(LAST_EVENT).and_then(|since| since.to_str().ok()) {
        given.insert("since".to_owned(), since.into());
    }
    given.remove("conversation");
    for (name, text) in params {
        given.insert(name.to_owned(), text.into());
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| unreadable(&error))
}

/// What path and query ask for, where the body is something else.
pub(super) fn named<T: DeserializeOwned>(
    fields: &Fields,
    params: &RawPathParams,
    http: &HttpRequest,
) -> Result<T, Told> {
    let mut given = Map::new();
    for (name, text) in pairs(http.uri().query().unwrap_or_default()) {
        given.insert(name.clone(), fields.value(&name, &text)?);
    }
    fields.check(&given)?;
    for (name, text) in params {
        given.insert(name.to_owned(), text.into());
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| unreadable(&error))
}

impl Fields {
    fn value(&self, name: &str, text: &str) -> Result<Value, Told> {
        match self.0.iter().find_map(|form| form.fields.get(name)) {
            Some(Field::Json { .. }) => match serde_json::from_str(text) {
                // What is not there is left away.
                Ok(Value::Null) | Err(_) => Err(bad(
                    "bad_request",
                    format!("`{name}` can't be “{text}”"),
                    "say a number, or true or false",
                )),
                Ok(value) => Ok(value),
            },
            _ => Ok(text.into()),
        }
    }

    /// What reading the request would not notice.
    fn check(&self, given: &Map<String, Value>) -> Result<(), Told> {
        let hint = "/openapi.json says what there is";
        let words = self.0.iter().filter_map(|form| Some(form.word.as_ref()?.0.as_str()));
        if let Some(name) =
            words.into_iter().find(|name| given.get(*name).is_some_and(|word| !word.is_string()))
        {
            return Err(bad("bad_request", format!("`{name}` is a word"), hint));
        }
        let parts = given.get("parts").and_then(Value::as_array).into_iter().flatten();
        if parts.into_iter().any(|part| !part["type"].is_null() && !part["type"].is_string()) {
            return Err(bad("bad_request", "the `type` of a part is a word", hint));
        }
        let is_meant = |form: &&Form| match &form.word {
            Some((name, word)) => given.get(name).is_some_and(|said| said == word),
            None => true,
        };
        let mut strange = None;
        for form in self.0.iter().filter(is_meant) {
            match form.strange(given) {
                Some(why) => strange = Some(why),
                None => return Ok(()),
            }
        }
        // Where no form is meant, the reader says so.
        strange.map_or(Ok(()), |why| Err(bad("bad_request", why, hint)))
    }
}

impl Form {
    /// What of this is not in the form.
    fn strange(&self, given: &Map<String, Value>) -> Option<String> {
        given.iter().find_map(|(name, value)| match (self.fields.get(name), value.as_u64()) {
            (None, _) => Some(format!("there is no `{name}` in this request")),
            (Some(Field::Json { most: Some(most) }), Some(number)) if number > *most => {
                Some(format!("`{name}` is at most {most}"))
            }
            _ => None,
        })
    }
}

/// The header says which request it is.
fn identify(headers: &HeaderMap, given: &mut Map<String, Value>) -> Result<(), Told> {
    if let Some(id) = identity(headers)? {
        given.insert("request_id".to_owned(), id.into());
    }
    Ok(())
}

/// Which request it is, where the header says so.
pub(super) fn identity(headers: &HeaderMap) -> Result<Option<String>, Told> {
    let id = headers.get(REQUEST_ID).map(|id| id.to_str().map(str::to_owned)).transpose();
    id.map_err(|_| bad("bad_request", "the Idempotency-Key is no text", "use letters and digits"))
}

async fn body_of(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Told> {
    let bytes = to_bytes(body, LARGEST)
        .await
        .map_err(|_| bad("too_large", "the body could not be read whole", "a request has at most 64 MiB"))?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(bad(
            "not_json",
            "the body is not said to be JSON",
            "send it with Content-Type: application/json",
        ));
    }
    let mut given: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
    given.values_mut().for_each(whole);
    Ok(given)
}

/// A number without a fraction is an integer, however it is written (JSON Schema 2020-12, validation, 6.1.1). No request holds JSON
/// that is kept as it came.
fn whole(value: &mut Value) {
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        Value::Number(number) => {
            let float = number
                .as_f64()
                .filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT);
            if let Some(float) = float {
                *value = (float as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole),
        Value::Object(members) => members.values_mut().for_each(whole),
        _ => {}
    }
}

fn unreadable(error: &serde_json::Error) -> Told {
    let hint = "/openapi.json says what a request looks like";
    bad("bad_request", format!("the request can't be read: {error}"), hint)
}

/// The names and values of a query.
fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (plain(name), plain(value))
    })
}

fn plain(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
