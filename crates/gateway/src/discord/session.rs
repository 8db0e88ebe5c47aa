//! The session with the gateway, in memory and in the cursor: which event was handled last, and whether missed messages were read.
//! Must never count an event as handled before the inbox has it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session {
    id: String,
    address: String,
    /// The last event that was handled.
    handled: u64,
    /// Whether messages from before the session were read.
    is_caught_up: bool,
}

/// How the next connection begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Identify,
    Resume { address: String, session: String, sequence: u64 },
}

impl Session {
    /// Reads the event of its beginning.
    pub(super) fn read(ready: &Value, sequence: u64) -> Option<Self> {
        let (id, address) = (ready["session_id"].as_str()?, ready["resume_gateway_url"].as_str()?);
        // Parts of the cursor are separated by spaces.
        let is_plain = |text: &&str| !text.is_empty() && !text.contains(char::is_whitespace);
        let (id, address) = (Some(id).filter(is_plain)?, Some(address).filter(is_plain)?);
        Some(Self { id: id.to_owned(), address: address.to_owned(), handled: sequence, is_caught_up: false })
    }

    /// Reads a cursor: only sessions that have read what they missed are in one.
    fn of_cursor(cursor: &str) -> Option<Self> {
        let mut parts = cursor.split(' ');
        let (handled, id, address) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        Some(Self { id: id.to_owned(), address: address.to_owned(), handled, is_caught_up: true })
    }

    fn cursor(&self) -> Option<String> {
        let Self { id, address, handled, is_caught_up } = self;
        is_caught_up.then(|| format!("{handled} {id} {address}"))
    }
}

/// The state of the only session of an adapter.
#[derive(Debug, Default)]
pub(super) struct State {
    session: Mutex<Known>,
}

#[derive(Debug, Default)]
enum Known {
    /// This program had none yet. The cursor may have that of an earlier one.
    #[default]
    Nothing,
    Session(Session),
    /// The session is over, and so is that of the cursor.
    Lost,
}

impl State {
    pub(super) fn next(&self, cursor: Option<&str>) -> Next {
        let mut known = self.known();
        if matches!(*known, Known::Nothing)
            && let Some(session) = cursor.and_then(Session::of_cursor)
        {
            *known = Known::Session(session);
        }
        match &*known {
            Known::Session(session) => Next::Resume {
                address: session.address.clone(),
                session: session.id.clone(),
                sequence: session.handled,
            },
            Known::Nothing | Known::Lost => Next::Identify,
        }
    }

    pub(super) fn begin(&self, session: Session) {
        *self.known() = Known::Session(session);
    }

    pub(super) fn lose(&self) {
        *self.known() = Known::Lost;
    }

    pub(super) fn is_caught_up(&self) -> bool {
        matches!(&*self.known(), Known::Session(session) if session.is_caught_up)
    }

    pub(super) fn caught_up(&self) {
        if let Known::Session(session) = &mut *self.known() {
            session.is_caught_up = true;
        }
    }

    /// The event was handled. Returns the cursor, if everything before it was, too.
    pub(super) fn handled(&self, sequence: u64) -> Option<String> {
        match &mut *self.known() {
            Known::Session(session) => {
                session.handled = sequence;
                session.cursor()
            }
            Known::Nothing | Known::Lost => None,
        }
    }

    /// A short name of the session: its id is for the platform only.
    pub(super) fn tag(&self) -> String {
        match &*self.known() {
            Known::Session(session) => blake3::hash(session.id.as_bytes()).to_hex()[..12].to_owned(),
            Known::Nothing | Known::Lost => String::new(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Next, Session, State};

    fn resume(sequence: u64) -> Next {
        Next::Resume { address: "wss://g.example".into(), session: "s1".into(), sequence }
    }

    #[test]
    fn session_continues_after_the_last_handled_event_also_in_another_program() {
        let state = State::default();
        assert_eq!(state.next(None), Next::Identify);
        let ready = json!({"session_id": "s1", "resume_gateway_url": "wss://g.example"});
        state.begin(Session::read(&ready, 1).unwrap());
        assert_eq!(state.handled(2), None, "missed messages are not read yet");
        assert_eq!(state.next(None), resume(2));
        state.caught_up();
        let cursor = state.handled(3).unwrap();
        assert_eq!(State::default().next(Some(&cursor)), resume(3));
        state.lose();
        assert_eq!(state.next(Some(&cursor)), Next::Identify);
    }

    #[test]
    fn odd_cursor_and_odd_beginning_are_no_session() {
        for odd in ["", "x", "1", "1 a", "a b c"] {
            assert_eq!(State::default().next(Some(odd)), Next::Identify, "{odd}");
        }
        for odd in
            [json!(null), json!({"session_id": "a b", "resume_gateway_url": "w"}), json!({"session_id": "a"})]
        {
            assert_eq!(Session::read(&odd, 1), None);
        }
    }
}
