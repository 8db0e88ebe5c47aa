//! A client that talks to an owner over its socket or over TCP, with its token. It must never repeat a change: the owner
//! might carry it out twice.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use reqwest::{RequestBuilder, Response, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sse_stream::SseStream;

use super::Client;
use crate::attach::{Attach, CLIENT, CLIENTS, LEAVE, Number, OwnerAfterLeave};
use crate::english;
use crate::event::{Event, Follow, NumberedEvent};
use crate::hint::Remedy;
use crate::http::{self, Method, REQUEST_ID, RUNS};
use crate::problem::{Problem, ProblemKind};
use crate::problem_code::ProblemCode;
use crate::reply::Reply;
use crate::request::Request;
use crate::run::{Ended, Outcome, Run, RunEvent};

/// The address of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerAddress {
    /// A Unix socket.
    Socket {
        /// The path of the socket.
        path: PathBuf,
        /// The token. An owner of an older version needs none.
        token: Option<String>,
    },
    /// A base address such as `http://127.0.0.1:4117`.
    Address {
        /// The address.
        base: String,
        /// The token.
        token: String,
    },
}

/// How long an idle connection is kept. This is shorter than the owner's own limit, so that no request is sent over a connection
/// that the owner has closed.
const KEPT: Duration = Duration::from_secs(20);

/// A client of an owner in another process. Cheap to clone: the clones share their connections.
#[derive(Clone, Debug)]
pub struct HttpClient {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    /// The number that the owner gave it when it attached.
    number: Arc<OnceLock<Number>>,
}

impl HttpClient {
    /// A client of the owner at this address. Sends nothing yet.
    ///
    /// # Errors
    ///
    /// If the HTTP client can't be created on this machine.
    pub fn new(reach: OwnerAddress) -> Result<Self, Problem> {
        // Proxies and certificates are only needed to reach other machines, and reading the system's certificates takes longer
        // than most requests. The library requires a provider of encryption. One that is installed already stays.
        drop(rustls::crypto::ring::default_provider().install_default());
        let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_idle_timeout(KEPT);
        let (builder, base, token) = match reach {
            OwnerAddress::Socket { path, token } => (over(builder, &path), "http://owner".to_owned(), token),
            OwnerAddress::Address { base, token } => {
                (builder, base.trim_end_matches('/').to_owned(), Some(token))
            }
        };
        let http = builder.build().map_err(|error| away(&error))?;
        Ok(Self { http, base, token, number: Arc::default() })
    }

    /// Registers this client with the owner. It stays attached until the returned stream is dropped. The items of the stream have
    /// no meaning.
    ///
    /// # Errors
    ///
    /// If the owner can't be reached, or is about to end and accepts no client any more.
    pub async fn attach(&self, attach: &Attach) -> Result<(Number, BoxStream<'static, ()>), Problem> {
        let attach = serde_json::to_value(attach);
        let attach = attach.expect("BUG: a type of the API has string keys and finite numbers");
        let response = answered(self.request(Method::Post, CLIENTS, None, Some(&attach))).await?;
        let mut pieces = pieces(response);
        let first = pieces.next().await.and_then(|(_, data)| serde_json::from_str(&data).ok());
        let number = first.ok_or_else(|| lost().problem.expect("BUG: it says why"))?;
        // A client attaches once.
        let number = *self.number.get_or_init(|| number);
        Ok((number, pieces.map(drop).boxed()))
    }

    /// Detaches this client. The reply says whether the owner ends now.
    ///
    /// # Errors
    ///
    /// If the owner can't be reached.
    pub async fn leave(&self, number: Number) -> Result<OwnerAfterLeave, Problem> {
        let number = serde_json::to_value(number);
        let number = number.expect("BUG: a type of the API has string keys and finite numbers");
        read(answered(self.request(Method::Post, LEAVE, None, Some(&number))).await?).await
    }

    fn request(
        &self,
        method: Method,
        target: &str,
        request_id: Option<&str>,
        body: Option<&Value>,
    ) -> RequestBuilder {
        let method = match method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut request = self.http.request(method, format!("{}{target}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(number) = self.number.get() {
            request = request.header(CLIENT, number.client);
        }
        if let Some(id) = request_id {
            request = request.header(REQUEST_ID, id);
        }
        match body {
            Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(body.to_string()),
            None => request,
        }
    }
}

#[cfg(unix)]
fn over(builder: reqwest::ClientBuilder, path: &Path) -> reqwest::ClientBuilder {
    builder.unix_socket(path)
}

#[async_trait]
impl Client for HttpClient {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        let sent = http::encode(&request).map_err(unnamed)?;
        let once = async || {
            let id = sent.request_id.as_deref();
            read(answered(self.request(sent.method, &sent.target, id, sent.body.as_ref())).await?).await
        };
        match once().await {
            // The owner may have closed an idle connection at this very moment. Reading twice changes nothing.
            Err(lost) if lost.code == ProblemCode::OwnerLost && request.only_reads() => once().await,
            answered => answered,
        }
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let id = run.request_id.clone();
        let run = serde_json::to_value(Run { request_id: None, ..run });
        let run = run.expect("BUG: a type of the API has string keys and finite numbers");
        let response = answered(self.request(Method::Post, RUNS, id.as_deref(), Some(&run))).await?;
        Ok(events(response))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        let response = answered(self.request(Method::Get, &http::follow(&follow), None, None)).await?;
        let told = pieces(response).map(|(id, data)| {
            let event = serde_json::from_str::<Event>(&data).ok()?;
            Some(NumberedEvent { id, event })
        });
        // An event that can't be parsed ends the stream: a new subscription starts with a snapshot.
        Ok(told.take_while(|told| std::future::ready(told.is_some())).filter_map(std::future::ready).boxed())
    }
}

/// The problem of a request with an empty name.
fn unnamed(field: &'static str) -> Problem {
    let problem = Problem {
        code: format!("unknown_{field}").into(),
        kind: ProblemKind::NotFound,
        message: format!("there is no {field} “”"),
        remedies: (field == "conversation").then_some(Remedy::List).into_iter().collect(),
        ..Problem::default()
    };
    Problem { hint: english::hint(&problem), ..problem }
}

/// The response to a request, or the problem that it contains.
async fn answered(request: RequestBuilder) -> Result<Response, Problem> {
    let response = request.send().await.map_err(|error| away(&error))?;
    if response.status() == StatusCode::OK {
        return Ok(response);
    }
    Err(read::<Problem>(response).await?)
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, Problem> {
    let status = response.status();
    let body = response.bytes().await.map_err(|error| away(&error))?;
    serde_json::from_slice(&body).map_err(|error| Problem {
        code: "strange_answer".into(),
        kind: ProblemKind::Internal,
        message: format!("the owner's answer ({status}) can't be understood"),
        hint: Some("it may be of another version: stop it, and start it again".into()),
        causes: vec![error.to_string()],
        ..Problem::default()
    })
}

/// The ids and data of a stream of events, until it ends or breaks off.
fn pieces(response: Response) -> BoxStream<'static, (Option<String>, String)> {
    let pieces = SseStream::from_bytes_stream(response.bytes_stream().map_err(|error| away(&error)));
    let pieces = pieces.take_while(|piece| std::future::ready(piece.is_ok()));
    let pieces = pieces.filter_map(|piece| {
        let piece = piece.ok().and_then(|piece| Some((piece.id, piece.data?)));
        std::future::ready(piece)
    });
    pieces.boxed()
}

/// The events of a run. If the connection ends before the run does, the last event reports this. The run itself continues.
fn events(response: Response) -> BoxStream<'static, RunEvent> {
    let events = pieces(response)
        .filter_map(|(_, data)| std::future::ready(serde_json::from_str::<RunEvent>(&data).ok()));
    let mut is_over = false;
    let events = events.map(Some).chain(futures::stream::once(async { None }));
    let events = events.filter_map(move |event| {
        let event = match event {
            Some(event) => {
                is_over |= matches!(event, RunEvent::Ended(_));
                Some(event)
            }
            None if is_over => None,
            None => Some(RunEvent::Ended(Box::new(lost()))),
        };
        async { event }
    });
    events.boxed()
}

/// The problem of a connection that ended before the response.
fn gone(error: &reqwest::Error) -> Problem {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| (*cause).source());
    Problem {
        code: ProblemCode::OwnerLost,
        kind: ProblemKind::Storage,
        message: "the owner of the conversations went away before it answered".to_owned(),
        hint: Some("look whether it was done before you do it again".into()),
        causes: causes.map(ToString::to_string).collect(),
        ..Problem::default()
    }
}

fn lost() -> Ended {
    let problem = Problem {
        code: ProblemCode::OwnerLost,
        kind: ProblemKind::Storage,
        message: "the connection to the owner ended before the answer did".to_owned(),
        hint: Some("what was said is stored; look at the conversation again".into()),
        ..Problem::default()
    };
    Ended { outcome: Outcome::Failed, receipt: None, entry: None, problem: Some(problem) }
}

/// The problem of a request that failed: the owner can't be reached, or the connection ended.
fn away(error: &reqwest::Error) -> Problem {
    if !error.is_connect() && !error.is_builder() {
        // The owner may have received the request: its outcome is unknown.
        return gone(error);
    }
    let causes = std::iter::successors(std::error::Error::source(error), |cause| (*cause).source());
    Problem {
        code: ProblemCode::OwnerAway,
        kind: ProblemKind::Storage,
        message: "the owner of the conversations can't be reached".to_owned(),
        hint: Some("it may have been stopped; the same command starts it again".into()),
        causes: causes.map(ToString::to_string).collect(),
        ..Problem::default()
    }
}
