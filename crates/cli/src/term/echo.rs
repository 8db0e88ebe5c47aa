//! Hides keys that are pressed while nothing is read, so that they do not break the output; the terminal keeps them for the next read.
//! Must never end with the echo off.

use std::io::{IsTerminal, stdin};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// The modes of the terminal before it was silenced.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

fn before() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops the terminal from echoing input, until [`show`]. Ctrl-C still interrupts.
pub fn hide() {
    let mut before = before();
    if before.is_some() || !stdin().is_terminal() {
        return;
    }
    let Ok(modes) = tcgetattr(stdin()) else {
        return;
    };
    if silence(&modes) {
        *before = Some(modes);
    }
}

/// Hides the echo again after the shell had the terminal while the process was suspended.
pub fn hide_again() {
    if let Some(modes) = &*before() {
        silence(modes);
    }
}

/// Returns whether it succeeded: a terminal that can't be silenced echoes input, as it would anyway.
fn silence(modes: &Termios) -> bool {
    let mut silent = modes.clone();
    // Each key is available at once, before the line ends.
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON);
    silent.special_codes[SpecialCodeIndex::VMIN] = 1;
    silent.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &silent).is_ok()
}

/// Echoes input again. Does nothing if it is not hidden.
pub fn show() {
    if let Some(modes) = before().take() {
        // A closed terminal cannot be restored, and shows no error.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}
