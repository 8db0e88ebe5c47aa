//! In which environment the commands of a turn run: that of the client that asked for it. Held in memory only.

use std::collections::VecDeque;
use std::sync::Arc;

use retake_core::{ConversationId, RequestId};
use retake_tools::Surroundings;

use super::locked;
use crate::engine::Engine;

/// Of so many requests it is known: of those that are at work or wait, and more.
const MOST: usize = 1024;

/// The surroundings of requests, the last one first.
pub(crate) type Given = VecDeque<(RequestId, Arc<Surroundings>)>;

impl Engine {
    /// Says in which environment the commands of a request are to run.
    pub fn surrounds(&self, request: RequestId, surroundings: Arc<Surroundings>) {
        let mut given = locked(&self.waits.surroundings);
        given.push_front((request, surroundings));
        given.truncate(MOST);
    }

    /// Says in which environment the commands run whose client is not known.
    pub fn lives_in(&self, own: Surroundings) {
        // The first one counts: a process has one.
        drop(self.waits.own.set(Arc::new(own)));
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
