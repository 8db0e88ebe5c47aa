//! Problems in the form of RFC 9457. Must never contain more than the problem itself.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use retake_wire::http::PROBLEM;
use retake_wire::{Problem, ProblemKind};
use serde_json::{Value, json};

use crate::convert::with_sentence;

/// A problem as a response.
pub(super) struct ProblemResponse(pub(super) Problem);

impl ProblemResponse {
    /// With a named value of its code.
    pub(super) fn with(self, name: &str, value: impl Into<Value>) -> Self {
        Self(self.0.with(name, value))
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response {
        let problem = with_sentence(self.0);
        let status = status_of(&problem);
        answer(status, &body(&problem, status))
    }
}

/// The status of a problem.
pub(super) fn status_of(problem: &Problem) -> StatusCode {
    match problem.kind {
        ProblemKind::Usage => match &*problem.code {
            retake_wire::UNAUTHORIZED => StatusCode::UNAUTHORIZED,
            "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "uri_too_long" => StatusCode::URI_TOO_LONG,
            "headers_too_large" => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "not_json" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            // A request that violates the API document.
            "bad_request" => StatusCode::BAD_REQUEST,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        },
        ProblemKind::NotFound => StatusCode::NOT_FOUND,
        ProblemKind::Refused if problem.code == retake_wire::NOT_PERMITTED => StatusCode::FORBIDDEN,
        ProblemKind::Refused => StatusCode::CONFLICT,
        ProblemKind::Stale => StatusCode::PRECONDITION_FAILED,
        ProblemKind::Model => StatusCode::BAD_GATEWAY,
        ProblemKind::Storage => StatusCode::SERVICE_UNAVAILABLE,
        ProblemKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The members of RFC 9457, and those of the problem, which our clients read.
fn body(problem: &Problem, status: StatusCode) -> Value {
    debug_assert!(
        retake_wire::english::has_sentence(problem),
        "BUG: the table of sentences has no row for {problem:?}"
    );
    let mut body = json!({
        "type": format!("urn:retake:problem:{}", problem.code),
        "title": problem.code.title().unwrap_or_else(|| title(problem.kind)),
        "status": status.as_u16(),
        "detail": problem.message,
    });
    if let (Value::Object(body), Ok(Value::Object(own))) = (&mut body, serde_json::to_value(problem)) {
        body.extend(own);
    }
    body
}

fn title(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Usage => "the request makes no sense as it is",
        ProblemKind::NotFound => "something named in the request is not there",
        ProblemKind::Refused => "the request is not possible in the current state",
        ProblemKind::Stale => "the author of the request saw an older state",
        ProblemKind::Model => "the model or its provider failed",
        ProblemKind::Storage => "the store or the machine failed",
        ProblemKind::Internal => "a defect of ours",
    }
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = (status, body.to_string()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// A problem of the HTTP request.
pub(super) fn bad(code: &str) -> ProblemResponse {
    ProblemResponse(Problem { code: code.into(), kind: ProblemKind::Usage, ..Problem::default() })
}

/// A request that the API document does not describe. `what` names the mismatch, for programs.
pub(super) fn bad_request(what: &str) -> ProblemResponse {
    bad("bad_request").with("what", what)
}

/// The body for an error that the HTTP library itself returns, in the form of every other error; `None` if a handler has returned
/// one of its own.
pub(super) fn worded(head: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines: Vec<&str> = head.split("\r\n").collect();
    let empty = lines.iter().position(|line| line.eq_ignore_ascii_case("content-length: 0"))?;
    let ProblemResponse(problem) = match lines.first()?.split(' ').nth(1)? {
        "400" => bad_request("not_http"),
        "414" => bad("uri_too_long"),
        "431" => bad("headers_too_large"),
        _ => return None,
    };
    let problem = with_sentence(problem);
    let body = body(&problem, status_of(&problem)).to_string();
    let (kind, length) = (format!("content-type: {PROBLEM}"), format!("content-length: {}", body.len()));
    lines.splice(empty..=empty, [&*kind, &*length]);
    Some(format!("{}\r\n\r\n{body}", lines.join("\r\n")).into_bytes())
}

/// The problem of an unknown path.
pub(super) fn nowhere(path: &str) -> ProblemResponse {
    let ProblemResponse(problem) = bad("unknown_path").with("what", "route").with("path", path);
    ProblemResponse(Problem { kind: ProblemKind::NotFound, ..problem })
}

/// The problem of an internal error: its cause is not shown.
pub(super) fn defect() -> ProblemResponse {
    let ProblemResponse(problem) = bad("internal");
    ProblemResponse(Problem { kind: ProblemKind::Internal, ..problem })
}
