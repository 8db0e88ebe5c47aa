//! Calls over HTTP, for all adapters. An error of the HTTP client names the address of the call, and some addresses hold the token. So
//! such an error never leaves this file, and becomes a [`Failure`].

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use crate::failure::Failure;

/// The longest answer that is read as JSON.
const LONGEST: usize = 16 * 1024 * 1024;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a call may take that is no long poll.
const ANSWER: Duration = Duration::from_secs(30);

/// How long a call may take that has a file.
pub(crate) const FILE: Duration = Duration::from_secs(180);

/// A client for calls to a platform: no redirects, no cookies.
///
/// # Errors
/// The TLS library cannot be set up.
pub(crate) fn client() -> Result<Client, Failure> {
    // The library requires a provider of encryption. One that is installed already stays.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = Client::builder()
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("retake/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|_| Failure::Unreachable)
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body as JSON; `Null` if it is none.
    pub(crate) json: Value,
}

impl Answer {
    /// The time of `Retry-After`, in seconds.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds: f64 = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// Sends a request, and reads the answer.
///
/// # Errors
/// [`Failure::Unreachable`] if no connection was made. [`Failure::Unknown`] if the answer was lost.
pub(crate) async fn answer(request: RequestBuilder) -> Result<Answer, Failure> {
    let response = request.send().await.map_err(|error| failure(&error))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = bytes(response, LONGEST).await?;
    Ok(Answer { status, headers, json: serde_json::from_slice(&body).unwrap_or_default() })
}

/// The body of a response, at most so many bytes.
///
/// # Errors
/// [`Failure::Unreadable`] if it is longer, [`Failure::Unknown`] if it breaks off.
pub(crate) async fn bytes(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|_| Failure::Unknown)? {
        if body.len() + piece.len() > most {
            return Err(Failure::Unreadable);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// What an error of the HTTP client says about the effect of the call.
pub(crate) fn failure(error: &reqwest::Error) -> Failure {
    match error {
        error if error.is_builder() => Failure::Unreadable,
        error if error.is_connect() => Failure::Unreachable,
        _ => Failure::Unknown,
    }
}
