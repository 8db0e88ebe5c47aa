//! Parses an HTTP request to one of `wire`: path, query, header and body become its fields. Unknown parts are refused, because a
//! misspelt option must not be dropped silently.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::{RawPathParams, Request as HttpRequest};
use axum::http::{HeaderMap, header};
use retake_core::RequestId;
use retake_engine::whole_pairs;
use retake_wire::http::{Endpoint, LAST_EVENT, REQUEST_ID, decode};
use retake_wire::{Follow, Request, Run};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::bad_request::{Expected, RequestMismatch, Shape, stranger, unfit};
use super::body::whole;
use super::json::UniqueFields;
use super::problem::{ProblemResponse, bad, bad_request};

/// The possible fields of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields {
    /// Its variants, at least one.
    pub(super) forms: Vec<Form>,
    /// The whole schema.
    pub(super) shape: Shape,
}

/// One variant of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    /// The field that identifies this variant, with its value.
    pub(super) word: Option<(String, String)>,
    /// All fields, as far as they matter here.
    pub(super) fields: BTreeMap<String, Field>,
}

/// The kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// In a query it is written as in JSON: a number, or `true` or `false`.
    Json {
        /// The smallest valid number.
        least: Option<u64>,
        /// The largest valid number.
        most: Option<u64>,
    },
    /// Anything else.
    Text,
}

/// The request for an endpoint.
pub(super) async fn request(
    endpoint: &Endpoint,
    fields: &Fields,
    params: RawPathParams,
    http: HttpRequest,
) -> Result<Request, ProblemResponse> {
    let (head, body) = http.into_parts();
    let mut given = body_of(&head.headers, body).await?;
    for (name, text) in pairs(head.uri.query().unwrap_or_default()) {
        let value = fields.value(&name, text);
        if given.insert(name.clone(), value).is_some() {
            return Err(RequestMismatch::new("twice", Some(&name)).told());
        }
    }
    for (name, text) in &params {
        given.insert(name.to_owned(), text.into());
    }
    fields.check(&given)?;
    identify(&head.headers, &mut given)?;
    let mut request = decode(endpoint, given.clone()).map_err(|_| fields.unreadable(&given))?;
    if request.request_id().is_none() {
        without_identity(&head.headers)?;
    }
    Ok(request)
}

/// The run in a body.
pub(super) async fn run(fields: &Fields, http: HttpRequest) -> Result<Run, ProblemResponse> {
    let (head, body) = http.into_parts();
    let mut given = body_of(&head.headers, body).await?;
    fields.check(&given)?;
    identify(&head.headers, &mut given)?;
    fields.read(given)
}

/// The subscription of a stream. A client that reconnects sends the last event's id in a header.
pub(super) fn follow(
    fields: &Fields,
    params: &RawPathParams,
    http: &HttpRequest,
) -> Result<Follow, ProblemResponse> {
    without_identity(http.headers())?;
    let mut given = Map::new();
    for (name, text) in pairs(http.uri().query().unwrap_or_default()) {
        given.insert(name.clone(), fields.value(&name, text));
    }
    fields.check(&given)?;
    if let Some(since) = http.headers().get(LAST_EVENT).and_then(|since| since.to_str().ok()) {
        given.insert("since".to_owned(), since.into());
    }
    given.remove("conversation");
    for (name, text) in params {
        given.insert(name.to_owned(), text.into());
    }
    fields.read(given)
}

/// The fields in path and query, for another kind of body.
pub(super) fn named<T: DeserializeOwned>(
    fields: &Fields,
    params: &RawPathParams,
    http: &HttpRequest,
) -> Result<T, ProblemResponse> {
    let mut given = Map::new();
    for (name, text) in pairs(http.uri().query().unwrap_or_default()) {
        given.insert(name.clone(), fields.value(&name, text));
    }
    fields.check(&given)?;
    for (name, text) in params {
        given.insert(name.to_owned(), text.into());
    }
    fields.read(given)
}

impl Fields {
    /// The value for a text in a query: a text that is no number stays a text, and is refused as one.
    fn value(&self, name: &str, text: String) -> Value {
        let field = self.forms.iter().find_map(|form| form.fields.get(name));
        let json =
            matches!(field, Some(Field::Json { .. })).then(|| serde_json::from_str(&text).ok()).flatten();
        // A missing field is left out.
        json.filter(|json: &Value| json.is_number() || json.is_boolean()).unwrap_or_else(|| text.into())
    }

    fn read<T: DeserializeOwned>(&self, given: Map<String, Value>) -> Result<T, ProblemResponse> {
        serde_json::from_value(Value::Object(given.clone())).map_err(|_| self.unreadable(&given))
    }

    /// The problem of a request that cannot be read.
    fn unreadable(&self, given: &Map<String, Value>) -> ProblemResponse {
        let why = self.shape.misfit(given).unwrap_or_else(|| RequestMismatch::new("unfit", None));
        why.told()
    }

    /// Checks what parsing would not notice.
    fn check(&self, given: &Map<String, Value>) -> Result<(), ProblemResponse> {
        // Parsers also accept the number of a variant.
        let words = self.forms.iter().filter_map(|form| Some(form.word.as_ref()?.0.as_str()));
        let no_word = |word: &Value| !word.is_null() && !word.is_string();
        let items = |value| Value::as_array(value).into_iter().flatten();
        // Parts, and lists of parts.
        let mut parts = given.values().flat_map(items).flat_map(|part| items(part).chain([part]));
        if words.into_iter().any(|name| given.get(name).is_some_and(no_word))
            || parts.any(|part| no_word(&part["type"]))
        {
            return Err(self.unreadable(given));
        }
        let is_meant = |form: &&Form| match &form.word {
            Some((name, word)) => given.get(name).is_some_and(|said| said == word),
            None => true,
        };
        let mut strange = None;
        for form in self.forms.iter().filter(is_meant) {
            match form.strange(given) {
                Some(why) => strange = Some(why),
                None => return Ok(()),
            }
        }
        // Without a matching variant, the parser reports the error.
        strange.map_or(Ok(()), |why: RequestMismatch| Err(why.told()))
    }
}

impl Form {
    /// The first field that is not in the variant.
    fn strange(&self, given: &Map<String, Value>) -> Option<RequestMismatch> {
        given.iter().find_map(|(name, value)| match (self.fields.get(name), value.as_u64()) {
            (None, _) => Some(stranger(name)),
            (Some(Field::Json { least, most: Some(most) }), Some(number))
                if !(least.unwrap_or(0)..=*most).contains(&number) =>
            {
                let least = least.unwrap_or(0);
                Some(unfit(Some(name), Expected::number(least, *most), value))
            }
            _ => None,
        })
    }
}

/// Sets the request id from the header.
fn identify(headers: &HeaderMap, given: &mut Map<String, Value>) -> Result<(), ProblemResponse> {
    if let Some(id) = identity(headers)? {
        given.insert("request_id".to_owned(), id.into());
    }
    Ok(())
}

/// Refuses a key that would have no effect: its sender relies on it.
pub(super) fn without_identity(headers: &HeaderMap) -> Result<(), ProblemResponse> {
    match headers.contains_key(REQUEST_ID) {
        true => Err(bad_request("key_without_effect")),
        false => Ok(()),
    }
}

/// The request id in the header, if there is one.
pub(super) fn identity(headers: &HeaderMap) -> Result<Option<String>, ProblemResponse> {
    let id = headers.get(REQUEST_ID).map(|id| id.to_str().map(str::to_owned)).transpose();
    let id = id.map_err(|_| bad_request("key_not_ascii"))?;
    match id {
        Some(id) if id.parse::<RequestId>().is_err() => Err(bad("usage").with("what", "idempotency_key")),
        id => Ok(id),
    }
}

async fn body_of(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, ProblemResponse> {
    let bytes = whole(headers, body).await?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let (kind, about) = kind.split_once(';').unwrap_or((kind, ""));
    let kind = kind.trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(bad("not_json"));
    }
    if let Some(other) = about.split(';').find_map(other_charset) {
        return Err(bad("not_json").with("charset", other));
    }
    let text = str::from_utf8(&bytes).map_err(|_| bad_request("body_not_utf8"))?;
    let UniqueFields(given) =
        serde_json::from_str(&whole_pairs(text)).map_err(|error| match error.is_data() {
            true => bad_request("field_twice").with("detail", error.to_string()),
            false => bad_request("not_json").with("detail", error.to_string()),
        })?;
    let Value::Object(mut given) = given else {
        return Err(unfit(None, Expected::object(), &given).told());
    };
    given.values_mut().for_each(integral);
    Ok(given)
}

/// The charset parameter of a content type, if it is not JSON's.
fn other_charset(parameter: &str) -> Option<String> {
    let (name, value) = parameter.split_once('=')?;
    let value = value.trim().trim_matches('"');
    let same = ["utf-8", "utf8"].iter().any(|same| value.eq_ignore_ascii_case(same));
    (name.trim().eq_ignore_ascii_case("charset") && !same).then(|| value.escape_debug().to_string())
}

/// A number without a fraction is an integer, however it is written (JSON Schema 2020-12, validation, 6.1.1). No request contains
/// JSON that is stored unchanged.
fn integral(value: &mut Value) {
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
        Value::Array(items) => items.iter_mut().for_each(integral),
        Value::Object(members) => members.values_mut().for_each(integral),
        _ => {}
    }
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
