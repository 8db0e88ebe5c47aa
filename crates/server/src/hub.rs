//! Who follows is told what happens: one task for each conversation that is followed turns its commits and what its runs say into
//! events, once for all. Must never wait for anybody who follows: who is too slow is dropped, and catches up when it comes back.

mod follow;
mod frame;
mod lobby;
mod room;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retake_core::ConversationId;

use lobby::Lobby;
use room::Room;

pub(crate) use frame::Frame;

/// Everything that is followed.
pub(crate) struct Hub {
    rooms: Mutex<HashMap<ConversationId, Arc<Room>>>,
    lobby: Mutex<Option<Arc<Lobby>>>,
    /// How long a room stays that nobody is in.
    empty: Duration,
}

impl Default for Hub {
    fn default() -> Self {
        Self { rooms: Mutex::default(), lobby: Mutex::default(), empty: Duration::from_secs(10) }
    }
}

impl Hub {
    /// How many follow something.
    pub(crate) fn following(&self) -> u64 {
        let rooms: usize = locked(&self.rooms).values().map(|room| room.following()).sum();
        let lobby = locked(&self.lobby).as_ref().map_or(0, |lobby| lobby.following());
        (rooms + lobby) as u64
    }
}

/// Who follows may be so many events behind before it is dropped.
const BEHIND: usize = 1024;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
