//! Requests to the owner, each in a task of its own. Must never wait for the screen.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use retake_wire::{Client, Follow, Request, Run};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::super::msg::{Act, Msg, TabId, Ticket};
use crate::hint::Audience;

/// The pause before reconnecting a lost stream: the first one, and the longest.
const AGAIN: Duration = Duration::from_millis(50);
const AGAIN_AT_MOST: Duration = Duration::from_secs(2);

/// Sends a request to the owner in a task of its own, and the reply to the program.
pub(in crate::ui) fn for_owner(
    client: &Arc<dyn Client>,
    tell: &mpsc::Sender<Msg>,
    act: Act,
) -> JoinHandle<()> {
    let (client, tell) = (Arc::clone(client), tell.clone());
    match act {
        Act::Ask(ticket, request) => tokio::spawn(ask(client, tell, ticket, *request)),
        Act::Run(ticket, run) => tokio::spawn(run_it(client, tell, ticket, *run)),
        Act::Follow(tab, follow) => tokio::spawn(follow_it(client, tell, tab, follow)),
        other => unreachable!("BUG: the owner is not asked to do {other:?}"),
    }
}

async fn ask(client: Arc<dyn Client>, tell: mpsc::Sender<Msg>, ticket: Ticket, request: Request) {
    let reply = client.call(request).await.map_err(|problem| Audience::Screen.word(problem));
    // If nobody receives it, the UI is over.
    drop(tell.send(Msg::Replied(ticket, Box::new(reply))).await);
}

async fn run_it(client: Arc<dyn Client>, tell: mpsc::Sender<Msg>, ticket: Ticket, run: Run) {
    let mut events = match client.run(run).await {
        Ok(events) => events,
        Err(problem) => {
            drop(tell.send(Msg::NotRun(ticket, Box::new(problem))).await);
            return;
        }
    };
    while let Some(event) = events.next().await {
        if tell.send(Msg::Ran(ticket, Box::new(event))).await.is_err() {
            return;
        }
    }
}

/// Subscribes, and reconnects to the owner after a loss, until nobody listens.
async fn follow_it(client: Arc<dyn Client>, tell: mpsc::Sender<Msg>, tab: Option<TabId>, mut follow: Follow) {
    let mut pause = AGAIN;
    loop {
        let followed = client.follow(follow.clone()).await;
        let why = followed.as_ref().err().cloned().map(Box::new);
        if let Ok(mut told) = followed {
            while let Some(told) = told.next().await {
                pause = AGAIN;
                if told.id.is_some() {
                    follow.since.clone_from(&told.id);
                }
                if tell.send(Msg::Told(tab, Box::new(told))).await.is_err() {
                    return;
                }
            }
        }
        if tell.send(Msg::Lost(tab, why)).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_AT_MOST);
    }
}

#[cfg(test)]
mod tests {
    use futures::stream::BoxStream;
    use retake_wire::{NumberedEvent, Problem, ProblemCode, Remedy, Reply, RunEvent};

    use super::*;

    /// An owner of the next version, which sends no texts.
    struct Newer;

    #[async_trait::async_trait]
    impl Client for Newer {
        async fn call(&self, _: Request) -> Result<Reply, Problem> {
            let code = ProblemCode::UnknownHead;
            Err(Problem { code, remedies: vec![Remedy::Ops], ..Problem::default() })
        }

        async fn run(&self, _: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
            unreachable!("nothing runs")
        }

        async fn follow(&self, _: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
            unreachable!("nothing is followed")
        }
    }

    #[tokio::test]
    async fn problem_gets_the_hint_of_this_client() {
        let (tell, mut heard) = mpsc::channel(1);
        ask(Arc::new(Newer), tell, Ticket(1), Request::Status).await;
        let Some(Msg::Replied(_, reply)) = heard.recv().await else { panic!("a reply") };
        let hint = reply.expect_err("a problem").hint.expect("a hint");
        assert_eq!(hint, "`/ops` lists the heads".into());
    }
}
