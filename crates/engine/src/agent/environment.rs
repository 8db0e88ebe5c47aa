//! In which environment the commands of a turn run: that of the client that asked for it. Held in memory only.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::Arc;

use retake_core::{ConversationId, RequestId};
use retake_tools::Surroundings;

use super::locked;
use crate::Engine;

/// Of so many requests it is known: of those that are at work or wait, and more.
const MOST: usize = 1024;

/// The surroundings of requests, the last one first.
pub(crate) type Given = VecDeque<(RequestId, Arc<Surroundings>)>;

/// The environment variables and the umask of a client, for the commands of its requests. Cheap to clone; `Debug` shows no value.
#[derive(Clone, Debug)]
pub struct CommandEnvironment(Arc<Surroundings>);

impl CommandEnvironment {
    /// These variables, and this umask; without one, that of this process.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>, umask: Option<u32>) -> Self {
        Self(Arc::new(Surroundings::new(variables, umask)))
    }
}

impl Engine {
    /// Sets the environment in which the commands of a request run.
    pub fn set_environment(&self, request: RequestId, environment: CommandEnvironment) {
        let mut given = locked(&self.waits.surroundings);
        given.push_front((request, environment.0));
        given.truncate(MOST);
    }

    /// Sets the umask for files of requests whose client is not known. Only the first call has an effect.
    pub fn set_own_umask(&self, umask: Option<u32>) {
        drop(self.waits.own.set(Arc::new(Surroundings::own(umask))));
    }

    /// The umask of files whose client hands over none.
    pub fn own_umask(&self) -> Option<u32> {
        self.own_surroundings().and_then(|own| own.umask())
    }

    /// The environment of this process.
    pub(crate) fn own_surroundings(&self) -> Option<Arc<Surroundings>> {
        self.waits.own.get().cloned()
    }

    /// The environment of a request.
    pub(crate) fn surroundings_of(&self, request: &RequestId) -> Option<Arc<Surroundings>> {
        let given = locked(&self.waits.surroundings);
        let theirs =
            given.iter().find(|(of, _)| of == request).map(|(_, surroundings)| Arc::clone(surroundings));
        drop(given);
        theirs.or_else(|| self.own_surroundings())
    }

    /// The environment of whoever asked last for what is at work in a conversation.
    pub(crate) fn surroundings_in(&self, conversation: ConversationId) -> Option<Arc<Surroundings>> {
        match self.served_last(conversation) {
            Some(request) => self.surroundings_of(&request),
            None => self.own_surroundings(),
        }
    }
}
