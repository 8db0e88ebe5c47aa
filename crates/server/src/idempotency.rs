//! Requests with a key (`Idempotency-Key`). Equal concurrent ones are carried out one after another, and those that arrive during
//! the first one get its reply. A later one gets the receipt from the store. A key of one conversation must never delay another
//! conversation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::BoxStream;
use retake_core::ConversationId;
use retake_engine::request_digest;
use retake_wire::{Problem, Reply, Request, Run, RunEvent};
use tokio::sync::OwnedMutexGuard;

use crate::InProcess;
use crate::convert::problem;

/// The scope of a key, and the key: in a conversation, or among the requests that create one.
type Key = (Option<ConversationId>, String);

/// The digest of a request's content, and its reply, for equal ones that have waited.
type SharedReply = Option<([u8; 16], Result<Reply, Problem>)>;

/// Requests in progress with a key.
#[derive(Default)]
pub(crate) struct RequestsInProgress(Mutex<HashMap<Key, Arc<tokio::sync::Mutex<SharedReply>>>>);

impl RequestsInProgress {
    /// Waits until no other request with this key is in progress, and excludes others with it while the result lives.
    async fn turn(&self, key: Key) -> OwnedMutexGuard<SharedReply> {
        let one = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // An unused key is removed.
            all.retain(|_, one| Arc::strong_count(one) > 1);
            Arc::clone(all.entry(key).or_default())
        };
        one.lock_owned().await
    }
}

impl InProcess {
    /// Carries out a request; with a key, only once.
    pub(crate) async fn done_once(&self, mut request: Request) -> Result<Reply, Problem> {
        let identity = request.identity();
        let identity = identity.and_then(|it| Some((it.id.clone()?, it.conversation.map(str::to_owned))));
        let Some((id, conversation)) = identity else {
            return self.dispatch(request).await;
        };
        let of = match conversation {
            Some(name) => Some(self.engine.conversation(&name).await.map_err(problem)?),
            None => None,
        };
        // The store recognises a repeated request by such a digest, too.
        let content = request_digest(request.endpoint().name, &request).current;
        let mut turn = self.once.turn((of, id)).await;
        if let Some((same, answer)) = &*turn
            && *same == content
        {
            return answer.clone();
        }
        let answer = self.dispatch(request).await;
        *turn = Some((content, answer.clone()));
        answer
    }

    /// Begins a run; with a key, only once: an equal one gets the events of the same run.
    pub(crate) async fn begun_once(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let Some(id) = run.request_id.clone() else {
            return self.start_run(run).await;
        };
        let of = match &*run.conversation {
            "" => None,
            name => Some(self.engine.conversation(name).await.map_err(problem)?),
        };
        let _turn = self.once.turn((of, id)).await;
        self.start_run(run).await
    }
}
