//! Listens on the sockets, and routes each request to the owner.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, RawPathParams, Request as HttpRequest, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, post};
use axum::serve::ListenerExt as _;
use axum::{Extension, Router};
use retake_wire::http::{ENDPOINTS, EVENTS, EXPORT, Endpoint, IMPORT, LIST_EVENTS, Method, RUNS};
use retake_wire::{Attach, CLIENT, CLIENTS, Client, LEAVE, Number, Problem, ProblemKind, Reply};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower_http::catch_panic::CatchPanicLayer;

use super::listen::{ListenerClients, listen};
use super::parse;
use super::problem::{ProblemResponse, bad, bad_request, defect, nowhere};
use super::shapes::{OPENAPI, Shapes};
use super::slow_readers::{ConnectionState, TimeLimitedListener};
use super::token::{Token, bearer};
use super::{socket, stream, transfer};
use crate::InProcess;
use crate::access::Caller;
use crate::convert::own_problem;

/// How long the stream of a run continues when the owner stops: its end may follow.
const MOMENT: Duration = Duration::from_secs(1);

/// How long replies in progress may take when the owner stops.
const ANSWERS: Duration = Duration::from_secs(5);

/// What to serve, and where.
pub struct Serving {
    /// The owner.
    pub client: InProcess,
    /// Its data directory, with the socket and the token.
    pub data_dir: PathBuf,
    /// An additional loopback address. Port 0 uses a free one.
    pub listen: Option<SocketAddr>,
    /// How long an event may wait for its subscriber, and a client may take to send a request, before the connection ends.
    pub patience: Duration,
}

impl Serving {
    /// Longer than a terminal in use ever takes.
    pub const PATIENCE: Duration = Duration::from_secs(30);
}

/// A listening owner.
#[must_use = "it listens until `stop`"]
pub struct ListeningOwner {
    /// The address in addition to its socket.
    pub address: Option<SocketAddr>,
    data_dir: PathBuf,
    made: socket::SocketIdentity,
    stop: watch::Sender<bool>,
    listening: JoinSet<()>,
}

impl ListeningOwner {
    /// Accepts no new connections, ends the streams, and waits for the replies in progress.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let answered = async { while self.listening.join_next().await.is_some() {} };
        // Longer work is left as after a crash: no client got a reply.
        if tokio::time::timeout(ANSWERS, answered).await.is_err() {
            tracing::warn!("requests that took too long were broken off");
        }
        socket::remove(&self.data_dir, self.made);
    }
}

/// The state for handling requests.
#[derive(Clone)]
pub(super) struct HttpState {
    pub(super) shapes: Arc<Shapes>,
    stop: watch::Receiver<bool>,
}

/// Listens on the socket of the data directory, and at the given address. The caller owns that directory.
///
/// # Errors
///
/// It cannot listen there.
pub async fn serve(serving: Serving) -> Result<ListeningOwner, Problem> {
    let Serving { client, data_dir, listen: listen_at, patience } = serving;
    let (stop, stopped) = watch::channel(false);
    let desk = HttpState { shapes: Arc::new(Shapes::new()), stop: stopped };
    let mut listening = JoinSet::new();
    // Before the first client: a client that finds the socket must find the token, too.
    let token = Token::of(&data_dir).map_err(|error| trouble("what", "token", &error))?;
    let (socket, made) =
        socket::listen(&data_dir).map_err(|error| trouble("path", data_dir.display().to_string(), &error))?;
    let mut address = None;
    if let Some(at) = listen_at {
        let listener = over_tcp(at).await?;
        address = listener.local_addr().ok();
        if let Some(address) = address {
            // One owner listens once.
            client.owner_info.address.get_or_init(|| address);
        }
        let guard = Guard { owner: client.clone(), token: token.clone(), names_owner: false };
        let guarded = router(desk.clone()).layer(middleware::from_fn_with_state(guard, known));
        let over = until(desk.stop.clone());
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        listening.spawn(listen(
            TimeLimitedListener { listener, patience },
            ListenerClients::Anybody,
            guarded,
            over,
        ));
    }
    let own = PrivateSocket { socket, owner: client.clone() };
    let (over, router) = (until(desk.stop.clone()), router(desk.clone()));
    let router =
        router.merge(Router::new().route(CLIENTS, post(attach)).route(LEAVE, post(leave)).with_state(desk));
    let router = router.layer(middleware::from_fn_with_state(Guard::of_socket(client, token), known));
    listening.spawn(listen(
        TimeLimitedListener { listener: own, patience },
        ListenerClients::User,
        router,
        over,
    ));
    Ok(ListeningOwner { address, data_dir, made, stop, listening })
}

async fn over_tcp(listen: SocketAddr) -> Result<TcpListener, Problem> {
    if !listen.ip().is_loopback() {
        let address = [("address", listen.to_string().into())];
        return Err(own_problem(ProblemKind::Usage, "not_loopback", &address));
    }
    let listener = TcpListener::bind(listen).await;
    listener.map_err(|error| trouble("address", listen.to_string(), &error))
}

async fn until(mut stop: watch::Receiver<bool>) {
    // When all senders are gone, the owner is over, too.
    drop(stop.wait_for(|stop| *stop).await);
}

/// A moment after the stop, so that work that ends at once can still report it.
async fn after(stop: watch::Receiver<bool>) {
    until(stop).await;
    tokio::time::sleep(MOMENT).await;
}

fn trouble(name: &str, value: impl Into<serde_json::Value>, error: &io::Error) -> Problem {
    let causes = vec![error.to_string()];
    Problem { causes, ..own_problem(ProblemKind::Storage, "listen", &[(name, value.into())]) }
}

/// The socket, for its user only: its mode ensures that, and the user of each connection is checked. When the data folder has
/// moved, new connections are closed: the next owner starts there.
struct PrivateSocket {
    socket: UnixListener,
    owner: InProcess,
}

impl axum::serve::Listener for PrivateSocket {
    type Io = tokio::net::UnixStream;
    type Addr = tokio::net::unix::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let us = rustix::process::geteuid().as_raw();
        loop {
            let (stream, address) = axum::serve::Listener::accept(&mut self.socket).await;
            if !self.owner.is_in_place() {
                continue;
            }
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == us || peer.uid() == 0) {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.socket.local_addr()
    }
}

fn router(desk: HttpState) -> Router {
    let mut router = Router::new();
    for endpoint in ENDPOINTS {
        let answer = move |State(desk): State<HttpState>,
                           Extension(client): Extension<InProcess>,
                           params: RawPathParams,
                           http: HttpRequest| async move {
            answer((desk, client), endpoint, params, http).await
        };
        router = router.route(endpoint.path, on(filter(endpoint.method), answer));
    }
    router
        .route(RUNS, post(run))
        .route(EXPORT, get(transfer::export))
        .route(IMPORT, post(transfer::import))
        .route(EVENTS, get(events))
        .route(LIST_EVENTS, get(events))
        .route("/openapi.json", get(openapi))
        .method_not_allowed_fallback(async || bad("method_not_allowed"))
        .fallback(async |uri: Uri| nowhere(uri.path()))
        .layer(middleware::from_fn(readable))
        .layer(CatchPanicLayer::custom(|_| defect().into_response()))
        .with_state(desk)
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

/// Refuses a path that is not valid text.
async fn readable(http: HttpRequest, next: Next) -> Response {
    if percent_encoding::percent_decode_str(http.uri().path()).decode_utf8().is_err() {
        return bad_request("path_not_utf8").into_response();
    }
    next.run(http).await
}

/// Finds out who sends a request, and refuses strangers.
#[derive(Clone)]
struct Guard {
    owner: InProcess,
    token: Token,
    /// Whether a refused client learns which owner this is.
    names_owner: bool,
}

impl Guard {
    /// Only processes of the user use the socket: they learn which owner this is.
    fn of_socket(owner: InProcess, token: Token) -> Self {
        Self { owner, token, names_owner: true }
    }

    /// Who sends a request: the user, who knows the token of the data directory, or the bearer of a token that was made.
    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        match bearer(headers) {
            Some(said) if self.token.is(said) => Ok(Caller::local()),
            said => self.owner.caller_with(said.unwrap_or_default()).await,
        }
    }

    /// The problem of a request without a valid token.
    fn refusal(&self, problem: Problem) -> ProblemResponse {
        let refused = ProblemResponse(problem);
        match self.names_owner {
            true => refused.with("version", env!("CARGO_PKG_VERSION")).with("pid", std::process::id()),
            false => refused,
        }
    }
}

/// Lets a request through with the owner as its sender sees it: handlers have no other way to it.
async fn known(State(guard): State<Guard>, mut http: HttpRequest, next: Next) -> Response {
    match guard.caller(http.headers()).await {
        Ok(caller) => {
            http.extensions_mut().insert(guard.owner.acting_for(caller));
            next.run(http).await
        }
        Err(problem) => {
            guard.token.restore();
            // It does not keep its connection either.
            ([(header::CONNECTION, "close")], guard.refusal(problem)).into_response()
        }
    }
}

async fn answer(
    (desk, client): (HttpState, InProcess),
    endpoint: &'static Endpoint,
    params: RawPathParams,
    http: HttpRequest,
) -> Response {
    let request = match parse::request(endpoint, desk.shapes.of(endpoint.name), params, http).await {
        Ok(request) => request,
        Err(told) => return told.into_response(),
    };
    match client.call(request).await {
        Ok(reply) => replied(&reply),
        Err(problem) => ProblemResponse(problem).into_response(),
    }
}

pub(super) fn replied(reply: &Reply) -> Response {
    match serde_json::to_vec(reply) {
        Ok(json) => json_of(json),
        Err(_) => defect().into_response(),
    }
}

fn json_of(json: Vec<u8>) -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], Body::from(json)).into_response()
}

async fn run(
    State(desk): State<HttpState>,
    Extension(client): Extension<InProcess>,
    ConnectInfo(line): ConnectInfo<ConnectionState>,
    http: HttpRequest,
) -> Response {
    let number = http.headers().get(CLIENT).and_then(|number| number.to_str().ok()?.parse().ok());
    let run = match parse::run(desk.shapes.of("run"), http).await {
        Ok(run) => run,
        Err(told) => return told.into_response(),
    };
    // A client over TCP has no process on this machine.
    client.surrounds(run.request_id.as_deref(), number.filter(|_| line.is_private() && client.is_local()));
    match client.run(run).await {
        Ok(events) => stream::run(events, after(desk.stop)),
        Err(problem) => ProblemResponse(problem).into_response(),
    }
}

async fn events(
    State(desk): State<HttpState>,
    Extension(client): Extension<InProcess>,
    ConnectInfo(line): ConnectInfo<ConnectionState>,
    params: RawPathParams,
    http: HttpRequest,
) -> Response {
    let follow = match parse::follow(desk.shapes.of("follow"), &params, &http) {
        Ok(follow) => follow,
        Err(told) => return told.into_response(),
    };
    match client.frames(follow).await {
        Ok(frames) => stream::follow(frames, line.followed(), until(desk.stop)),
        Err(problem) => ProblemResponse(problem).into_response(),
    }
}

/// Attaches a client on this machine, while the stream of the response is read.
async fn attach(
    State(desk): State<HttpState>,
    Extension(client): Extension<InProcess>,
    ConnectInfo(line): ConnectInfo<ConnectionState>,
    body: Bytes,
) -> Response {
    let Ok(attach) = serde_json::from_slice::<Attach>(&body) else {
        return bad_request("client_description").into_response();
    };
    match client.attend(attach, line.pid()).await {
        Ok(attending) => stream::present(attending, until(desk.stop)),
        Err(problem) => ProblemResponse(problem).into_response(),
    }
}

/// Detaches a client on this machine.
async fn leave(Extension(client): Extension<InProcess>, body: Bytes) -> Response {
    match serde_json::from_slice::<Number>(&body) {
        Ok(number) => match client.leaves(number).await {
            Ok(after) => json_of(serde_json::to_vec(&after).unwrap_or_default()),
            Err(problem) => ProblemResponse(problem).into_response(),
        },
        Err(_) => bad_request("client_number").into_response(),
    }
}

async fn openapi(headers: HeaderMap) -> Result<Response, ProblemResponse> {
    parse::without_identity(&headers)?;
    Ok(json_of(OPENAPI.as_bytes().to_vec()))
}
