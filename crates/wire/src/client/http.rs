//! A client that reaches an owner over its socket or over TCP, with its token. Must never retry a change without the request's
//! id: the owner might do it twice.

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
use crate::attach::{Attach, CLIENT, CLIENTS, LEAVE, Left, Number};
use crate::event::{Event, Follow, Told};
use crate::hint::{Hint, HintPiece, Remedy};
use crate::http::{self, Method, REQUEST_ID, RUNS};
use crate::problem::{Problem, ProblemKind};
use crate::reply::Reply;
use crate::request::Request;
use crate::run::{Ended, Outcome, Run, RunEvent};

/// Where an owner is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Behind a Unix socket.
    Socket {
        /// The socket.
        path: PathBuf,
        /// The token; an owner of an older version needs none.
        token: Option<String>,
    },
    /// At a base address such as `http://127.0.0.1:4117`, for who knows its token.
    Address {
        /// The address.
        base: String,
        /// The token.
        token: String,
    },
}

/// How long a connection that nobody uses is kept: shorter than an owner lets one be, so that no request goes where nobody listens any
/// more.
const KEPT: Duration = Duration::from_secs(20);

/// A client of an owner in another process. Cheap to clone; connections are kept and used again.
#[derive(Clone, Debug)]
pub struct HttpClient {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    /// Who it is to the owner, once it is attached.
    number: Arc<OnceLock<Number>>,
}

impl HttpClient {
    /// A client of the owner there. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When this machine can't make one.
    pub fn new(reach: Reach) -> Result<Self, Problem> {
        // Proxies and certificates are for other machines; reading the system's certificates takes longer than most requests. The
        // library requires an encryption provider; an installed one stays.
        drop(rustls::crypto::ring::default_provider().install_default());
        let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_idle_timeout(KEPT);
        let (builder, base, token) = match reach {
            Reach::Socket { path, token } => (over(builder, &path), "http://owner".to_owned(), token),
            Reach::Address { base, token } => (builder, base.trim_end_matches('/').to_owned(), Some(token)),
        };
        let http = builder.build().map_err(|error| away(&error))?;
        Ok(Self { http, base, token, number: Arc::default() })
    }

    /// Tells the owner that this client is there. It is so as long as the stream lives that comes back, which says nothing.
    ///
    /// # Errors
    ///
    /// Where the owner can't be reached, or takes no client any more.
    pub async fn attach(&self, attach: &Attach) -> Result<(Number, BoxStream<'static, ()>), Problem> {
        let attach = serde_json::to_value(attach);
        let attach = attach.expect("BUG: what the wire says has string keys and finite numbers");
        let response = answered(self.request(Method::Post, CLIENTS, None, Some(&attach))).await?;
        let mut pieces = pieces(response);
        let first = pieces.next().await.and_then(|(_, data)| serde_json::from_str(&data).ok());
        let number = first.ok_or_else(|| lost().problem.expect("BUG: it says why"))?;
        // It attaches once.
        let number = *self.number.get_or_init(|| number);
        Ok((number, pieces.map(drop).boxed()))
    }

    /// Tells the owner that this client leaves. Whether the owner ends with it.
    ///
    /// # Errors
    ///
    /// Where the owner can't be reached.
    pub async fn leave(&self, number: Number) -> Result<Left, Problem> {
        let number = serde_json::to_value(number);
        let number = number.expect("BUG: what the wire says has string keys and finite numbers");
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
        let request = self.request(sent.method, &sent.target, sent.request_id.as_deref(), sent.body.as_ref());
        read(answered(request).await?).await
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let id = run.request_id.clone();
        let run = serde_json::to_value(Run { request_id: None, ..run });
        let run = run.expect("BUG: what the wire says has string keys and finite numbers");
        let response = answered(self.request(Method::Post, RUNS, id.as_deref(), Some(&run))).await?;
        Ok(events(response))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        let response = answered(self.request(Method::Get, &http::follow(&follow), None, None)).await?;
        let told = pieces(response).map(|(id, data)| {
            let event = serde_json::from_str::<Event>(&data).ok()?;
            Some(Told { id, event })
        });
        // An event that can't be parsed ends the stream: a new subscription starts with a snapshot.
        Ok(told.take_while(|told| std::future::ready(told.is_some())).filter_map(std::future::ready).boxed())
    }
}

/// There is nothing of no name.
fn unnamed(field: &'static str) -> Problem {
    let hint = Hint(vec![HintPiece::Do(Remedy::List), HintPiece::Text(" shows them".to_owned())]);
    Problem {
        code: format!("unknown_{field}").into(),
        kind: ProblemKind::NotFound,
        message: format!("there is no {field} “”"),
        hint: (field == "conversation").then_some(hint),
        ..Problem::default()
    }
}

/// The answer, where it is no problem.
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

/// The ids and data of a stream of events, until it ends or is cut.
fn pieces(response: Response) -> BoxStream<'static, (Option<String>, String)> {
    let pieces = SseStream::from_bytes_stream(response.bytes_stream().map_err(|error| away(&error)));
    let pieces = pieces.take_while(|piece| std::future::ready(piece.is_ok()));
    let pieces = pieces.filter_map(|piece| {
        let piece = piece.ok().and_then(|piece| Some((piece.id, piece.data?)));
        std::future::ready(piece)
    });
    pieces.boxed()
}

/// The events of a run. If the connection ends before the run, the last event says so; the run itself goes on.
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

/// The owner went away before it answered.
fn gone(error: &reqwest::Error) -> Problem {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| (*cause).source());
    Problem {
        code: "owner_lost".into(),
        kind: ProblemKind::Storage,
        message: "the owner of the conversations went away before it answered".to_owned(),
        hint: Some("look whether it was done before you do it again".into()),
        causes: causes.map(ToString::to_string).collect(),
        ..Problem::default()
    }
}

fn lost() -> Ended {
    let problem = Problem {
        code: "owner_lost".into(),
        kind: ProblemKind::Storage,
        message: "the connection to the owner ended before the answer did".to_owned(),
        hint: Some("what was said is stored; look at the conversation again".into()),
        ..Problem::default()
    };
    Ended { outcome: Outcome::Failed, receipt: None, entry: None, problem: Some(problem) }
}

/// The owner can't be reached.
fn away(error: &reqwest::Error) -> Problem {
    if !error.is_connect() && !error.is_builder() {
        // The owner may have received the request: its outcome is unknown.
        return gone(error);
    }
    let causes = std::iter::successors(std::error::Error::source(error), |cause| (*cause).source());
    Problem {
        code: "owner_away".into(),
        kind: ProblemKind::Storage,
        message: "the owner of the conversations can't be reached".to_owned(),
        hint: Some("it may have been stopped; the same command starts it again".into()),
        causes: causes.map(ToString::to_string).collect(),
        ..Problem::default()
    }
}
