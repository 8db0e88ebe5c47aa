//! Providers, through the `genai` library: OpenAI's two formats at any address, Anthropic, Gemini and Ollama.
//!
//! No type of `genai` leaves this module. The key is read for each call and sent to the provider only: errors do not
//! contain it, and redirects are not followed.

mod block;
mod calls;
mod content;
mod failure;
mod prompt;
mod reply;
mod tap;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::genai::adapter::AdapterKind;
use ::genai::chat::{CacheControl, ChatOptions, ReasoningEffort};
use ::genai::resolver::{AuthData, Endpoint as Address};
use ::genai::{Client, Headers, ModelIden, ServiceTarget};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Chunk, Effort, Model, ModelError, ModelErrorKind, ModelInfo, Prompt};
use crate::clock::Clock;
use crate::ids::Random;
use crate::secret::Environment;
use crate::settings::{Endpoint, EndpointKind};
use calls::CallIds;
use failure::Failures;
use reply::Reply;
use tap::FrameTap;

/// The timeouts for a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two bytes of the answer. A slow stream may last for ever.
    pub idle: Duration,
}

/// A model of a provider.
pub struct ProviderModel {
    name: String,
    remote: Arc<Remote>,
}

impl ProviderModel {
    /// The model `model` at `endpoint`. Nothing is read or connected before the first call.
    pub fn new(
        endpoint: Endpoint,
        model: &str,
        info: ModelInfo,
        timeouts: Timeouts,
        environment: Environment,
        world: (Arc<dyn Clock>, Arc<dyn Random>),
    ) -> Self {
        let name = format!("{}/{model}", endpoint.name);
        let model = model.to_owned();
        let (clock, random) = world;
        let client = OnceLock::new();
        let remote = Remote { endpoint, model, info, timeouts, environment, clock, random, client };
        Self { name, remote: Arc::new(remote) }
    }
}

impl Model for ProviderModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn info(&self) -> ModelInfo {
        self.remote.info
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let remote = Arc::clone(&self.remote);
        futures::stream::once(async move { remote.ask(prompt).await }).try_flatten().boxed()
    }
}

/// The parts of a call; connections are kept between calls.
struct Remote {
    endpoint: Endpoint,
    model: String,
    info: ModelInfo,
    timeouts: Timeouts,
    environment: Environment,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    client: OnceLock<Client>,
}

impl Remote {
    async fn ask(&self, prompt: Prompt) -> Result<BoxStream<'static, Result<Chunk, ModelError>>, ModelError> {
        let key = self.key()?;
        let failures = Failures::new(self.target(), key.clone(), Arc::clone(&self.clock));
        let client = self.client()?.clone();
        let tap = FrameTap::new(self.endpoint.kind);
        let options = self.options(&tap);
        let ids = CallIds::new(&prompt, Arc::clone(&self.clock), Arc::clone(&self.random));
        let request = prompt::request(prompt, &self.endpoint, self.info.images);
        let answer = client.exec_chat_stream(self.address(key.as_ref()), request, Some(&options)).await;
        let stream = answer.map_err(|error| failures.of(&error))?.stream;
        Ok(Reply::new(stream, self.endpoint.kind, tap, failures, ids).into_stream())
    }

    /// Its name in errors.
    fn target(&self) -> String {
        format!("{}/{} at {}", self.endpoint.name, self.model, self.endpoint.base_url)
    }

    fn key(&self) -> Result<Option<SecretString>, ModelError> {
        self.endpoint
            .key
            .read(&self.environment)
            .map_err(|error| ModelError::no_key(self.target(), &error).because(&told(&error)))
    }

    fn address(&self, key: Option<&SecretString>) -> ServiceTarget {
        let adapter = match self.endpoint.kind {
            EndpointKind::OpenAi => AdapterKind::OpenAI,
            EndpointKind::OpenAiResponses => AdapterKind::OpenAIResp,
            EndpointKind::Anthropic => AdapterKind::Anthropic,
            EndpointKind::Gemini => AdapterKind::Gemini,
            EndpointKind::Ollama => AdapterKind::Ollama,
        };
        let base = format!("{}/", self.endpoint.base_url.trim_end_matches('/'));
        let auth = match (key, self.endpoint.kind) {
            (Some(key), EndpointKind::OpenAi | EndpointKind::OpenAiResponses | EndpointKind::Anthropic) => {
                AuthData::from_single(key.expose_secret())
            }
            (key, _) => self.own_address(&base, key),
        };
        ServiceTarget {
            endpoint: Address::from_owned(base),
            auth,
            model: ModelIden::new(adapter, self.name_for_library()),
        }
    }

    /// The name of the model, in a form from which the library takes nothing off. Otherwise, of `groq::llama` it would send `llama`,
    /// and of `o3-mini-high` the model `o3-mini` with the effort `high`.
    fn name_for_library(&self) -> String {
        let ends_in_effort = self
            .model
            .rsplit_once('-')
            .is_some_and(|(_, last)| ReasoningEffort::from_keyword(last).is_some());
        // Ollama's name is in no other place, and its efforts are not taken off.
        let end = if ends_in_effort && self.endpoint.kind != EndpointKind::Ollama { "-" } else { "" };
        format!("::{}{end}", self.model)
    }

    /// The address and the headers of a request where the library's own do not fit. It needs a key for its headers, changes the
    /// model's name in Gemini's address, and sends no key to Ollama.
    fn own_address(&self, base: &str, key: Option<&SecretString>) -> AuthData {
        let (path, mut headers) = match self.endpoint.kind {
            EndpointKind::OpenAi => ("chat/completions".to_owned(), Vec::new()),
            EndpointKind::OpenAiResponses => ("responses".to_owned(), Vec::new()),
            EndpointKind::Anthropic => {
                ("messages".to_owned(), vec![("anthropic-version", "2023-06-01".to_owned())])
            }
            EndpointKind::Gemini => {
                (format!("models/{}:streamGenerateContent?alt=sse", self.model), Vec::new())
            }
            EndpointKind::Ollama => ("api/chat".to_owned(), Vec::new()),
        };
        headers.extend(key.map(|key| match self.endpoint.kind {
            EndpointKind::Gemini => ("x-goog-api-key", key.expose_secret().to_owned()),
            _ => ("authorization", format!("Bearer {}", key.expose_secret())),
        }));
        AuthData::RequestOverride { url: format!("{base}{path}"), headers: Headers::from(headers) }
    }

    fn options(&self, tap: &FrameTap) -> ChatOptions {
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(self.timeouts.first_byte)
            .with_stream_read_timeout(self.timeouts.idle)
            .with_raw_frame_sink(tap.clone());
        let options = match self.info.sent_effort() {
            Some(Effort::Low) => options.with_reasoning_effort(ReasoningEffort::Low),
            Some(Effort::Medium) => options.with_reasoning_effort(ReasoningEffort::Medium),
            Some(Effort::High) => options.with_reasoning_effort(ReasoningEffort::High),
            None => options,
        };
        match self.endpoint.kind {
            // The exact name of the model: `name_for_library`. For some models the library adds an option that other servers
            // refuse, and by which OpenAI caches only what is marked; a wish that it does not send leaves the option out.
            EndpointKind::OpenAi => options
                .with_extra_body(json!({ "model": self.model }))
                .with_cache_control(CacheControl::Ephemeral5m),
            EndpointKind::OpenAiResponses => {
                // A model that does not reason refuses a summary and encrypted reasoning.
                let reasons = self.info.takes_effort != Some(false);
                let mut body = json!({ "model": self.model });
                if reasons {
                    // Instead of the library's "detailed", which not every model has.
                    body["reasoning"] = json!({ "summary": "auto" });
                }
                if let Some(effort) = self.info.sent_effort() {
                    body["reasoning"]["effort"] = <&str>::from(effort).into();
                }
                let options = options.with_cache_control(CacheControl::Ephemeral5m);
                options.with_capture_reasoning_content(reasons).with_extra_body(body)
            }
            EndpointKind::Anthropic => {
                let options = options.with_extra_body(json!({ "model": self.model }));
                let most = self.info.output_tokens.and_then(|most| u32::try_from(most).ok());
                // Without it, the library chooses by the name.
                most.map_or(options.clone(), |most| options.with_max_tokens(most))
            }
            EndpointKind::Gemini | EndpointKind::Ollama => options,
        }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if self.client.get().is_none() {
            let http = http_client(&self.endpoint.base_url, self.timeouts.connect);
            let client = http.map_err(|error| told(&error)).and_then(|http| {
                Client::builder().with_reqwest(http).build().map_err(|error| error.to_string())
            });
            let client = client.map_err(|words| {
                ModelError::new(ModelErrorKind::BadSettings, self.target()).because(&words)
            })?;
            // Another call may have been first; one of the two clients is kept.
            let _ = self.client.set(client);
        }
        Ok(self.client.get().expect("BUG: the client was just set"))
    }
}

/// An HTTP client for one address. Addresses on this computer are never reached through a proxy.
pub(crate) fn http_client(base_url: &str, connect: Duration) -> Result<reqwest::Client, reqwest::Error> {
    retake_tools::tls::prepare();
    let builder = reqwest::Client::builder()
        .connect_timeout(connect)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("retake/", env!("CARGO_PKG_VERSION")));
    let local = crate::settings::is_loopback(base_url);
    if local { builder.no_proxy() } else { builder }.build()
}

/// An error with its causes, on one line.
fn told(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
