//! The terminal while the UI has it. Must never be left in raw mode, in the alternate screen, with the mouse captured or the
//! cursor hidden: not by an error, a panic or a signal.

use std::io::{self, Stdout, Write as _, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crossterm::{cursor, event, execute, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use tokio::sync::Notify;

use super::App;
use crate::text::safe;

/// Whether the UI has the terminal. A panic or a signal has no access to values of the UI, so this is a static.
static HAS_TERMINAL: AtomicBool = AtomicBool::new(false);

/// Whether a panic took it away from the UI.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// The most bytes for the clipboard: terminals drop more.
const COPIED: usize = 100_000;

/// Wakes the UI when that has happened.
static BROKE: Notify = Notify::const_new();

/// Gives the terminal back if the UI has it: for signals. Returns whether it had it. The process is expected to end.
pub fn restore() -> bool {
    if !HAS_TERMINAL.swap(false, Ordering::SeqCst) {
        return false;
    }
    IS_BROKEN.store(true, Ordering::SeqCst);
    give_back();
    true
}

/// The same for a panic: if the UI itself did not panic, it ends with [`UiError::Panicked`](super::UiError::Panicked).
pub fn restore_after_panic() -> bool {
    let had = restore();
    if had {
        BROKE.notify_one();
    }
    had
}

/// Whether the UI has the terminal.
pub(super) fn has_terminal() -> bool {
    HAS_TERMINAL.load(Ordering::SeqCst)
}

/// Waits until a panic has taken the terminal away.
pub(super) async fn broke() {
    BROKE.notified().await;
}

fn is_broken() -> bool {
    IS_BROKEN.load(Ordering::SeqCst)
}

/// A terminal that is gone can't be given back, and the error reaches nobody.
fn give_back() {
    let _ = execute!(
        stdout(),
        event::PopKeyboardEnhancementFlags,
        event::DisableFocusChange,
        event::DisableMouseCapture,
        event::DisableBracketedPaste,
        terminal::LeaveAlternateScreen,
        cursor::Show
    );
    let _ = terminal::disable_raw_mode();
}

/// The terminal while the UI has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter(mouse: bool) -> io::Result<Self> {
        let mut screen = Self { terminal: Terminal::new(CrosstermBackend::new(stdout()))?, mouse };
        screen.resume()?;
        Ok(screen)
    }

    pub(super) fn resume(&mut self) -> io::Result<()> {
        HAS_TERMINAL.store(true, Ordering::SeqCst);
        terminal::enable_raw_mode()?;
        // Terminals ignore protocols that they do not know.
        let flags = event::KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        execute!(
            stdout(),
            terminal::EnterAlternateScreen,
            event::EnableBracketedPaste,
            event::EnableFocusChange,
            event::PushKeyboardEnhancementFlags(flags)
        )?;
        if self.mouse {
            execute!(stdout(), event::EnableMouseCapture)?;
        }
        self.clear()
    }

    /// Gives the terminal to another program for a while.
    pub(super) fn pause(&mut self) {
        if HAS_TERMINAL.swap(false, Ordering::SeqCst) {
            give_back();
        }
    }

    /// Gives the terminal back permanently.
    pub(super) fn give_back(&mut self) {
        self.pause();
    }

    /// Forgets the content of the screen, so that all of it is drawn again. Sends no query to the terminal: its answer would
    /// arrive among the keys.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        execute!(stdout(), terminal::Clear(terminal::ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    /// Draws, unless the terminal is no longer the UI's.
    pub(super) fn draw(&mut self, app: &mut App) -> io::Result<()> {
        if is_broken() {
            return Ok(());
        }
        self.terminal.draw(|frame| app.draw(frame)).map(drop)
    }

    /// Queries the background (OSC 11). A terminal that does not know the query ignores it.
    pub(super) fn ask_background(&mut self) -> io::Result<()> {
        stdout().write_all(b"\x1b]11;?\x1b\\")?;
        stdout().flush()
    }

    /// Puts a text into the clipboard of the terminal, local or remote (OSC 52).
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let end = (0..=COPIED.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        write!(stdout(), "\x1b]52;c;{}\x07", BASE64.encode(&text[..end]))?;
        stdout().flush()
    }

    /// Rings the bell, and notifies terminals that show messages.
    pub(super) fn notify(&mut self, text: &str) -> io::Result<()> {
        write!(stdout(), "\x1b]9;{}\x07\x07", safe::line(text))?;
        stdout().flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.pause();
    }
}
