//! The gateway of an account as a process. It talks to the owner with its own token, which permits that account only. If the owner ends,
//! it is started again: a gateway is a client, too.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use retake_gateway::{Condition, Health};
use retake_wire::reply::GatewayTrouble;
use retake_wire::{
    Client, Follow, HttpClient, NumberedEvent, Problem, ProblemKind, Reply, Request, Run, RunEvent, english,
};
use tokio::sync::Notify;

use super::connect;
use crate::accounts::Account;
use crate::connection::{AWAY, LOST};
use crate::context::Context;
use crate::error::{Failure, Result, hinted};
use crate::gateways::one;
use crate::term::safe;

/// Runs until Ctrl-C.
pub(super) async fn run(cx: &mut Context<'_>, name: &str, account: &Account) -> Result {
    let adapter = connect(name, account)?;
    let misses = Arc::new(Notify::new());
    let http = HttpClient::new(one::address(&cx.paths.data_dir, account))?;
    let client: Arc<dyn Client> = Arc::new(Watched { http, misses: Arc::clone(&misses) });
    let health = Health::default();
    let mut seen = health.watch();
    let options = one::options(name, health);
    // The first request starts the owner if there is none, and this client keeps it.
    cx.call(Request::Status).await?;
    one::take_over(&*client, &options).await;
    cx.aside(&format!("the gateway of {name} runs; Ctrl-C ends it"))?;
    cx.ui.listen()?;
    let mut keeps = pin!(keep_an_owner(cx.client, &misses));
    let mut is_failing = false;
    let stop = async {
        loop {
            tokio::select! {
                () = cx.ui.interrupted() => break,
                never = &mut keeps => match never {},
                Ok(()) = seen.changed() => {
                    let condition = seen.borrow_and_update().clone();
                    if let Some(text) = news(&condition, &mut is_failing) {
                        // Without a reader of its output, the gateway goes on.
                        drop(cx.aside(&format!("{name}: {text}")));
                    }
                }
            }
        }
    };
    match retake_gateway::run(adapter, client, options, stop).await {
        Ok(()) => Ok(()),
        Err(error) => Err(ended(&one::trouble(&error))),
    }
}

/// Starts another owner each time that the gateway misses one. The gateway repeats its requests with growing pauses of at most ten
/// seconds, and each failure counts.
async fn keep_an_owner(client: &dyn Client, misses: &Notify) -> std::convert::Infallible {
    loop {
        misses.notified().await;
        // If this fails, the next failure of the gateway leads here again.
        drop(client.call(Request::Work).await);
    }
}

/// What is new about the gateway, for people.
fn news(condition: &Condition, is_failing: &mut bool) -> Option<String> {
    let trouble = match condition {
        Condition::Fails(failure) => one::trouble_of(failure),
        Condition::Starting | Condition::Works => None,
    };
    let was_failing = std::mem::replace(is_failing, trouble.is_some());
    match trouble {
        Some(trouble) => Some(said(&trouble)),
        None => was_failing.then(|| "works again".to_owned()),
    }
}

fn said(trouble: &GatewayTrouble) -> String {
    safe::line(&english::gateway_trouble(trouble)).to_string()
}

fn ended(trouble: &GatewayTrouble) -> Failure {
    let hint = english::gateway_remedy(trouble).unwrap_or("run the gateway again");
    hinted(ProblemKind::Refused, "gateway", said(trouble), hint).into()
}

/// The client of the gateway. It tells when there is no owner.
struct Watched {
    http: HttpClient,
    misses: Arc<Notify>,
}

impl Watched {
    fn look(&self, problem: &Problem) {
        if [AWAY, LOST].contains(&&*problem.code) {
            self.misses.notify_one();
        }
    }
}

#[async_trait]
impl Client for Watched {
    async fn call(&self, request: Request) -> std::result::Result<Reply, Problem> {
        self.http.call(request).await.inspect_err(|problem| self.look(problem))
    }

    async fn run(&self, run: Run) -> std::result::Result<BoxStream<'static, RunEvent>, Problem> {
        self.http.run(run).await.inspect_err(|problem| self.look(problem))
    }

    async fn follow(
        &self,
        follow: Follow,
    ) -> std::result::Result<BoxStream<'static, NumberedEvent>, Problem> {
        self.http.follow(follow).await.inspect_err(|problem| self.look(problem))
    }
}
