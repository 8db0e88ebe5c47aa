//! Requests to the owner of the conversations. They are repeated until the owner answers: it may be away for a while. Must never
//! log a request, and never go on for an account that another gateway has.

use std::sync::{Arc, Mutex, PoisonError};

use retake_wire::chat::{
    Arrive, Arrived, Audience, GatewayConnect, GatewayConnected, GatewayCursor, GatewayHold, GatewaySettle,
    GatewaySettled, GatewayTake, PostOutcome, PostWork, Previews,
};
use retake_wire::{Client, Problem, ProblemCode, ProblemKind, Reply, Request};

use super::RuntimeError;
use super::backoff::{Backoff, Jitter};
use crate::capabilities::{Capabilities, Resend};

/// How long the owner keeps a request for work open, in milliseconds. A gateway's lease lasts a minute, and this renews it.
pub(super) const WAIT_MS: u64 = 20_000;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotDone {
    /// The gateway must end.
    End(RuntimeError),
    /// The owner refused this request, and would refuse it again.
    Refused(ProblemCode),
}

/// The owner, for one account and one gateway.
pub(super) struct Owner {
    client: Arc<dyn Client>,
    account: String,
    holder: String,
    previews: Previews,
    jitter: Mutex<Jitter>,
}

impl Owner {
    pub(super) fn new(
        client: Arc<dyn Client>,
        (account, holder): (String, String),
        capabilities: &Capabilities,
        seed: u64,
    ) -> Self {
        let [private, shared] = capabilities.previews;
        let can = [(private, Audience::Private), (shared, Audience::Shared)];
        let audiences = can.into_iter().filter_map(|(can, audience)| can.then_some(audience));
        let previews = Previews {
            audiences: audiences.collect(),
            begin_empty: capabilities.resend.first() == Some(&Resend::Send),
        };
        Self { client, account, holder, previews, jitter: Mutex::new(Jitter::new(seed)) }
    }

    pub(super) async fn connect(&self) -> Result<GatewayConnected, NotDone> {
        let (account, holder) = self.names();
        match self.call(Request::GatewayConnect(GatewayConnect { account, holder, replaces: None })).await? {
            Reply::GatewayConnected(connected) => Ok(connected),
            _ => Err(unexpected()),
        }
    }

    /// Stores an event. The account and the holder are filled in.
    pub(super) async fn arrive(&self, arrive: &Arrive) -> Result<Arrived, NotDone> {
        let (account, holder) = self.names();
        let arrive = Arrive { account, holder, ..arrive.clone() };
        match self.call(Request::Arrive(arrive)).await? {
            Reply::Arrived(arrived) => Ok(arrived),
            _ => Err(unexpected()),
        }
    }

    pub(super) async fn cursor(&self, cursor: &str) -> Result<(), NotDone> {
        let (account, holder) = self.names();
        let cursor = cursor.to_owned();
        self.call(Request::GatewayCursor(GatewayCursor { account, holder, cursor })).await.map(drop)
    }

    /// Waits so long for work.
    pub(super) async fn take(&self, most: u32, wait_ms: u64) -> Result<Vec<PostWork>, NotDone> {
        let previews = Some(self.previews.clone());
        let (account, holder) = self.names();
        let take = GatewayTake { account, holder, wait_ms, most: Some(most), previews };
        match self.call(Request::GatewayTake(take)).await? {
            Reply::GatewayWork(work) => Ok(work.work),
            _ => Err(unexpected()),
        }
    }

    /// Reports what became of a post. Says whether it is still wanted.
    pub(super) async fn settle(&self, post: &str, result: PostOutcome) -> Result<bool, NotDone> {
        let (account, holder) = self.names();
        let settle = GatewaySettle { account, holder, post: post.to_owned(), result };
        match self.call(Request::GatewaySettle(settle)).await? {
            Reply::GatewaySettled(GatewaySettled { is_wanted }) => Ok(is_wanted),
            _ => Err(unexpected()),
        }
    }

    pub(super) async fn hold(&self, bucket: String, until_ms: i64) -> Result<(), NotDone> {
        let (account, holder) = self.names();
        self.call(Request::GatewayHold(GatewayHold { account, holder, bucket, until_ms })).await.map(drop)
    }

    fn names(&self) -> (String, String) {
        (self.account.clone(), self.holder.clone())
    }

    /// Sends a request until it is carried out or refused. All requests of a gateway can be repeated.
    async fn call(&self, request: Request) -> Result<Reply, NotDone> {
        let mut backoff = Backoff::of_the_owner();
        loop {
            let problem = match self.client.call(request.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(problem) => problem,
            };
            if let Some(not_done) = judged(&problem) {
                return Err(not_done);
            }
            let delay = {
                let mut jitter = self.jitter.lock().unwrap_or_else(PoisonError::into_inner);
                backoff.next(&mut jitter)
            };
            tracing::debug!(code = problem.code.as_str(), "the owner did not answer");
            tokio::time::sleep(delay).await;
        }
    }
}

/// What a problem means for the gateway. `None`: the request can be repeated.
fn judged(problem: &Problem) -> Option<NotDone> {
    if let Some(holder) = problem.fields.get("holder").and_then(|holder| holder.as_str()) {
        return Some(NotDone::End(RuntimeError::Held { holder: holder.to_owned() }));
    }
    match &problem.code {
        code @ (ProblemCode::Unauthorized | ProblemCode::NotPermitted | ProblemCode::OwnerVersion) => {
            Some(NotDone::End(RuntimeError::Owner(code.clone())))
        }
        ProblemCode::OwnerAway
        | ProblemCode::OwnerLost
        | ProblemCode::OwnerSilent
        | ProblemCode::OwnerLeaving
        | ProblemCode::OwnerStart
        | ProblemCode::Closed
        | ProblemCode::TakenOver => None,
        code => match problem.kind {
            ProblemKind::Usage | ProblemKind::NotFound | ProblemKind::Refused | ProblemKind::Stale => {
                Some(NotDone::Refused(code.clone()))
            }
            ProblemKind::Model | ProblemKind::Storage | ProblemKind::Internal => None,
        },
    }
}

fn unexpected() -> NotDone {
    NotDone::Refused(ProblemCode::UnexpectedReply)
}
