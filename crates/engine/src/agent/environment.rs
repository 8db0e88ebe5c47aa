//! The environment in which the commands of a turn run: that of the client that requested it. Held in memory only.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::Arc;

use retake_core::{ConversationId, RequestId};
use retake_tools::CallEnvironment;

use super::locked;
use crate::Engine;

/// The most environments that are kept: more than the requests that run or wait.
const MOST: usize = 1024;

/// The environments of requests, the newest first.
pub(crate) type RequestEnvironments = VecDeque<(RequestId, Arc<CallEnvironment>)>;

/// The environment variables and the umask of a client, for the commands of its requests. Cheap to clone; `Debug` shows no value.
#[derive(Clone, Debug)]
pub struct CommandEnvironment(Arc<CallEnvironment>);

impl CommandEnvironment {
    /// These variables, and this umask. Without a umask, that of this process.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>, umask: Option<u32>) -> Self {
        Self(Arc::new(CallEnvironment::new(variables, umask)))
    }
}

impl Engine {
    /// Sets the environment in which the commands of a request run.
    pub fn set_environment(&self, request: RequestId, environment: CommandEnvironment) {
        let mut given = locked(&self.waits.environments);
        given.push_front((request, environment.0));
        given.truncate(MOST);
    }

    /// Sets the umask for files of requests whose client is not known. Only the first call has an effect.
    pub fn set_own_umask(&self, umask: Option<u32>) {
        drop(self.waits.own.set(Arc::new(CallEnvironment::own(umask))));
    }

    /// The umask for files of clients that send none.
    pub fn own_umask(&self) -> Option<u32> {
        self.own_environment().and_then(|own| own.umask())
    }

    /// The environment of this process.
    pub(crate) fn own_environment(&self) -> Option<Arc<CallEnvironment>> {
        self.waits.own.get().cloned()
    }

    /// The environment of a request.
    pub(crate) fn environment_of(&self, request: &RequestId) -> Option<Arc<CallEnvironment>> {
        let given = locked(&self.waits.environments);
        let theirs =
            given.iter().find(|(of, _)| of == request).map(|(_, environment)| Arc::clone(environment));
        drop(given);
        theirs.or_else(|| self.own_environment())
    }

    /// The environment of the client that last requested a run or step of a conversation.
    pub(crate) fn environment_in(&self, conversation: ConversationId) -> Option<Arc<CallEnvironment>> {
        match self.served_last(conversation) {
            Some(request) => self.environment_of(&request),
            None => self.own_environment(),
        }
    }
}
