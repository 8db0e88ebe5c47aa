//! A protocol connection: its handshake, requests and answers, as JSON. Must never wait in a way that the caller
//! cannot cancel.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, PeerRequestOptions, RequestHandle, RunningService,
    ServiceError, serve_client,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::transport::{DynamicTransportError, IntoTransport};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value};

use super::failure::{Failure, FailureKind};

/// How long to wait until a cancellation is sent.
const CANCEL: Duration = Duration::from_secs(1);

/// The longest reason in a message.
const REASON: usize = 600;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum LinkError {
    /// The connection is closed.
    Closed,
    /// This failure.
    Said(Failure),
}

/// Handles unrequested messages.
#[derive(Clone)]
struct Listener {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("retake", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }
}

/// A connection. Dropping it closes it.
pub(super) struct Link(RunningService<RoleClient, Listener>);

impl Link {
    /// Makes the handshake. `changed` is set whenever the server reports changed tools.
    pub(super) async fn open<T, E, A>(transport: T, changed: Arc<AtomicBool>) -> Result<Self, LinkError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let opened = serve_client(Listener { changed }, transport).await;
        opened.map(Self).map_err(|error| no_hello(&error))
    }

    /// Whether it is open, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.0.is_closed() && !self.0.peer().is_transport_closed()
    }

    /// A page of the tools.
    pub(super) async fn list(&self, cursor: Option<String>) -> Result<Value, LinkError> {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        self.ask(ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page))).await?.answer().await
    }

    /// Begins a call.
    pub(super) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Pending, LinkError> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.ask(ClientRequest::CallToolRequest(CallToolRequest::new(call))).await
    }

    async fn ask(&self, request: ClientRequest) -> Result<Pending, LinkError> {
        let sent = self.0.peer().send_request_with_option(request, PeerRequestOptions::no_options()).await;
        sent.map(Pending).map_err(|error| no_answer(&error))
    }
}

/// A request in progress.
pub(super) struct Pending(RequestHandle<RoleClient>);

impl Pending {
    /// Its answer.
    pub(super) async fn answer(&mut self) -> Result<Value, LinkError> {
        let answer = (&mut self.0.rx).await.map_err(|_| LinkError::Closed)?;
        let answer: ServerResult = answer.map_err(|error| no_answer(&error))?;
        serde_json::to_value(answer)
            .map_err(|error| LinkError::Said(FailureKind::BadReply.with(error.to_string())))
    }

    /// Tells the server that nobody waits any more.
    pub(super) async fn cancel(self, why: &str) {
        // A server that does not read gets no cancellation.
        if !matches!(tokio::time::timeout(CANCEL, self.0.cancel(Some(why.to_owned()))).await, Ok(Ok(_))) {
            tracing::info!("an MCP server is not told that a call was cancelled");
        }
    }
}

fn no_hello(error: &ClientInitializeError) -> LinkError {
    if error.is_authorization_required() {
        let how = "it asks for authorization: give it a header, such as `Authorization: Bearer ${TOKEN}`";
        return LinkError::Said(FailureKind::Unauthorized.with(how));
    }
    let mut kind = FailureKind::BadReply;
    let said = match error {
        ClientInitializeError::ConnectionClosed(_) => return LinkError::Closed,
        ClientInitializeError::TransportError { error, .. } => return not_sent(error),
        ClientInitializeError::JsonRpcError(error) => {
            kind = FailureKind::Refused;
            error.message.to_string()
        }
        ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it answered a request that was not sent".to_owned()
        }
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "its reply to the first request (`initialize`) is not valid".to_owned()
        }
        other => other.to_string(),
    };
    LinkError::Said(kind.with(super::text::line(&said, REASON)))
}

fn no_answer(error: &ServiceError) -> LinkError {
    let (kind, said) = match error {
        ServiceError::TransportClosed => return LinkError::Closed,
        ServiceError::McpError(error) => (FailureKind::Refused, error.message.to_string()),
        ServiceError::TransportSend(error) => return not_sent(error),
        ServiceError::Cancelled { .. } => {
            (FailureKind::Refused, "the server cancelled the request".to_owned())
        }
        other => (FailureKind::BadReply, other.to_string()),
    };
    LinkError::Said(kind.with(super::text::line(&said, REASON)))
}

/// A message that cannot be sent through a pipe means that it is closed; the process knows why.
fn not_sent(error: &DynamicTransportError) -> LinkError {
    let error = &*error.error;
    if error.is::<std::io::Error>() {
        return LinkError::Closed;
    }
    let said = match error.downcast_ref() {
        // The library does not expose it as a source.
        Some(StreamableHttpError::<reqwest::Error>::Client(cause)) => chain(cause),
        _ => chain(error),
    };
    LinkError::Said(FailureKind::Unreachable.with(super::text::line(&said, REASON)))
}

/// An error and its causes, without repetitions.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    for cause in std::iter::successors(error.source(), |cause| (*cause).source()) {
        let cause = cause.to_string();
        if !said.contains(&cause) {
            said.push_str(": ");
            said.push_str(&cause);
        }
    }
    said
}
