//! The terminal of the line client: input and output without the full-screen program. It knows nothing of conversations, the
//! engine or the wire. Must never print untrusted text without [`safe`], and must never end with the terminal in raw mode.
//!
//! # How the terminal is restored
//!
//! The terminal is in raw mode only while one of these reads keys: [`editor::Editor::read`] and
//! [`confirm::confirm`]. Between two reads it is as the shell left it, except for [`echo::hide`] while an answer arrives.
//!
//! - *Return, error, unwinding*: each of them restores the terminal through a guard that is dropped on every way out.
//! - *The full-screen program* restores it itself, or through [`restore`]. A panic anywhere ends it: the shell's screen
//!   comes back, with the error and what to do next.
//! - *A panic on another thread*: with the hook of [`restore_on_panic`] its message is printed in the normal mode, and reading
//!   continues. If the main thread panics, the terminal stays restored, since the process is about to end.
//! - *Signals*: in raw mode `Ctrl-C`, `Ctrl-Z` and `Ctrl-\` are keys, not signals. For a signal from another process the caller waits with
//!   [`interrupt::terminated`], calls [`restore`] and exits; a process killed with `SIGKILL` restores nothing (`stty sane` helps).

use std::io::{IsTerminal, Write};

use crossterm::{cursor, event, execute, terminal};

pub mod confirm;
pub mod echo;
pub mod editor;
pub mod interrupt;
pub mod pager;
pub mod pending_keys;
pub mod pick;
pub mod progress;
pub mod secret;

pub use retake_tui::text::{safe, style, time, width};

/// Whether a person is at the terminal: standard input, output and error are all terminals. Only then may the editor
/// and questions be used.
#[must_use]
pub fn interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// Restores the terminal if a read has it in raw mode: cooked mode, the cursor shown, bracketed paste and key protocols off. For
/// the end of the process; does nothing if there is nothing to restore.
pub fn restore() {
    retake_tui::ui::restore();
    echo::show();
    if terminal::is_raw_mode_enabled().unwrap_or(false) {
        // A closed terminal cannot be restored, and shows no error.
        let _ = execute!(
            std::io::stdout(),
            event::DisableBracketedPaste,
            event::PopKeyboardEnhancementFlags,
            cursor::Show
        );
        let _ = terminal::disable_raw_mode();
    }
}

/// Makes panic messages readable while a read has the terminal in raw mode. Called once, at the start of the process.
pub fn restore_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // The full screen would hide the message, and is left for good.
        let was_full = retake_tui::ui::restore_after_panic();
        let raw = terminal::is_raw_mode_enabled().unwrap_or(false);
        if raw {
            let _ = terminal::disable_raw_mode();
            let _ = writeln!(std::io::stderr());
        }
        print(panic);
        if was_full && is_main() {
            // The full-screen program itself has failed and cannot print this.
            let _ = writeln!(std::io::stderr(), "{FAILED}");
        }
        if raw {
            let _ = terminal::enable_raw_mode();
            if is_main() {
                restore();
            }
        }
    }));
}

/// Printed below the message of a panic.
const FAILED: &str = "retake has failed, and this is a bug; your messages are stored: `retake -c` continues, and `retake --plain` does so line by line";

fn is_main() -> bool {
    std::thread::current().name() == Some("main")
}

/// Raw mode for as long as it lives.
struct Raw(());

impl Raw {
    fn enable() -> std::io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self(()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = execute!(std::io::stdout(), cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}
