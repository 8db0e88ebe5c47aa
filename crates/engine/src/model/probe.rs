//! Requests the list of models from a server. The reply also shows whether it is a model server at all.
//!
//! An open port proves nothing: only a valid reply does.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::discover::Unavailable;
use super::genai::http_client;
use crate::settings::{Endpoint, EndpointKind};

/// The longest list of models that is read, in bytes.
const MAX_BODY: usize = 4 << 20;

/// The names of the models at an endpoint, or the error. The caller limits the time.
pub(super) async fn models(
    endpoint: &Endpoint,
    key: Option<SecretString>,
) -> Result<Vec<String>, Unavailable> {
    let base_url = endpoint.base_url.trim_end_matches('/');
    let (url, list, name) = match endpoint.kind {
        EndpointKind::Ollama => (format!("{base_url}/api/tags"), "/models", "name"),
        EndpointKind::OpenAi | EndpointKind::OpenAiResponses | EndpointKind::Anthropic => {
            (format!("{base_url}/models"), "/data", "id")
        }
        EndpointKind::Gemini => (format!("{base_url}/models"), "/models", "name"),
    };
    let strange = || Unavailable::NoModelServer(base_url.to_owned());
    let silent = || Unavailable::NoAnswer(base_url.to_owned());
    if !listens(&url).await {
        return Err(silent());
    }
    let client = http_client(base_url, Duration::from_secs(10)).map_err(|_| strange())?;
    let mut request = client.get(url);
    if let Some(key) = key {
        request = request.bearer_auth(key.expose_secret());
    }
    let mut response = request.send().await.map_err(|_| silent())?;
    if !response.status().is_success() {
        return Err(Unavailable::Status(base_url.to_owned(), response.status().as_u16()));
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|_| strange())? {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_BODY {
            return Err(strange());
        }
    }
    let body: Value = serde_json::from_slice(&body).map_err(|_| strange())?;
    let models = body.pointer(list).and_then(Value::as_array).ok_or_else(strange)?;
    let names = models.iter().map(|model| model.get(name).and_then(Value::as_str).map(str::to_owned));
    names.collect::<Option<Vec<String>>>().ok_or_else(strange)
}

/// Whether a server listens there. Checked first, because creating an HTTP client is slower than this check.
async fn listens(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            tokio::net::TcpStream::connect((host, port)).await.is_ok()
        }
        _ => false,
    }
}
