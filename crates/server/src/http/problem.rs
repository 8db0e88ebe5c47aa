//! Problems as RFC 9457 has them. Must never say more than the problem itself does.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use retake_wire::http::PROBLEM;
use retake_wire::{Problem, ProblemKind};
use serde_json::{Value, json};

/// A problem, as an answer.
pub(super) struct Told(pub(super) Problem);

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let status = status_of(&self.0);
        answer(status, &body(&self.0, status))
    }
}

/// The status of a problem.
pub(super) fn status_of(problem: &Problem) -> StatusCode {
    match problem.kind {
        ProblemKind::Usage => match &*problem.code {
            "unauthorized" => StatusCode::UNAUTHORIZED,
            "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "not_json" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            // What the document does not let through.
            "bad_request" => StatusCode::BAD_REQUEST,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        },
        ProblemKind::NotFound => StatusCode::NOT_FOUND,
        ProblemKind::Refused => StatusCode::CONFLICT,
        ProblemKind::Stale => StatusCode::PRECONDITION_FAILED,
        ProblemKind::Model => StatusCode::BAD_GATEWAY,
        ProblemKind::Storage => StatusCode::SERVICE_UNAVAILABLE,
        ProblemKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The members of RFC 9457, and those of the problem: a client of ours reads these.
fn body(problem: &Problem, status: StatusCode) -> Value {
    let mut body = json!({
        "type": format!("urn:retake:problem:{}", problem.code),
        "title": if status == StatusCode::UNAUTHORIZED { "the token is missing, or another one" } else { title(problem.kind) },
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
        ProblemKind::Refused => "the request does not fit the state of things now",
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

/// A problem of the request as it came.
pub(super) fn bad(code: &str, message: impl Into<String>, hint: &str) -> Told {
    Told(Problem {
        code: code.to_owned(),
        kind: ProblemKind::Usage,
        message: message.into(),
        hint: Some(hint.into()),
        causes: Vec::new(),
        head: None,
    })
}

/// There is nothing at this path.
pub(super) fn nowhere(path: &str) -> Told {
    let Told(problem) =
        bad("unknown_path", format!("there is nothing at {path}"), "/openapi.json lists what there is");
    Told(Problem { kind: ProblemKind::NotFound, ..problem })
}

/// A defect of ours: what it was stays inside.
pub(super) fn defect() -> Told {
    let Told(problem) =
        bad("internal", "the owner has a defect here", "what was acknowledged before is stored");
    Told(Problem { kind: ProblemKind::Internal, ..problem })
}
