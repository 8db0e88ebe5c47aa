//! The composer: a person's next message, edited on one or more lines. The caller provides the history, which is kept in memory,
//! since prompts are in the store. Must never write a history file, and must never submit anything by itself.
//!
//! | key | does |
//! |---|---|
//! | Enter | submits; accepts the completion if the menu is open |
//! | Alt+Enter, Shift+Enter, Ctrl+J | newline (Shift+Enter if the terminal distinguishes it from Enter) |
//! | `\` then Enter | newline instead of the backslash |
//! | Enter in a burst of keys | newline: a paste in a terminal without bracketed paste; one more Enter submits |
//! | Tab | completes a `/command`, with a short help |
//! | Up, Down, Ctrl+R | earlier prompts |
//! | Ctrl+C | clears the line; on an empty line, twice quits |
//! | Ctrl+D | quits, on an empty line |
//! | Ctrl+Z, Ctrl+G | undo, redo (also of a cleared line) |
//!
//! and the Emacs keys. Pasted text is one insert with its newlines and never submits; a big paste is shown as a placeholder (see
//! [`retake_tui::text::fold`]).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reedline::{
    ColumnarMenu, EditCommand, FileBackedHistory, HistoryItem, MenuBuilder, Reedline, ReedlineMenu, Signal,
};

use super::safe;
use super::style::Palette;

mod keymap;
mod prompt;

use retake_tui::text::fold::Folds;

/// The names of the completion menu and of the host command for Ctrl-C.
const COMMANDS: &str = "commands";
const INTERRUPT: &str = "interrupt";

/// The number of new prompts in the history, in addition to the given ones.
const REMEMBERED: usize = 10_000;

/// How a read ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// With this submitted text, every paste expanded. It may be empty.
    Line(String),
    /// With Ctrl-C, twice on an empty line.
    Interrupted,
    /// With Ctrl-D on an empty line.
    Eof,
}

/// The settings of a composer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The text before the first line, for example `"> "`.
    pub prompt: String,
    /// Earlier prompts, oldest first.
    pub history: Vec<String>,
    /// Commands to complete: the name with its slash, and a short help.
    pub commands: Vec<(String, String)>,
    /// Its colours.
    pub palette: Palette,
    /// The clock, in Unix milliseconds.
    pub now_ms: fn() -> i64,
}

/// The composer. It blocks, so an async caller uses a thread of its own or `spawn_blocking`. Only if [`super::interactive`].
pub struct Editor {
    line: Reedline,
    prompt: prompt::EditorPrompt,
    state: Shared,
    now_ms: fn() -> i64,
}

/// State shared by the composer, its keys and its drawing. All of them are on the reading thread; the lock is never contended.
type Shared = Arc<Mutex<State>>;

#[derive(Debug, Default)]
struct State {
    folds: Folds,
    /// Shown on the empty line until the next key.
    notice: &'static str,
    /// Several lines were pasted: the Enter in the paste does not submit them.
    held: bool,
    /// Whether a note about this is shown, until the next key.
    told: bool,
    /// The last key was Ctrl-C on an empty line: the next one quits.
    leaving: bool,
    /// The last drawn line was text, but not a command.
    prose: bool,
    /// An Enter was ignored, and a note about this is shown until the next key.
    kept: bool,
    /// Until then, an Enter as the first key was meant for what returned the text in the line.
    settles_ms: Option<i64>,
    /// Until then, a letter as the first key was not meant for the question, which nobody has read yet.
    asked_until_ms: Option<i64>,
    /// Such a letter was typed: the next Enter does not submit the line.
    early: bool,
}

/// An Enter this soon after a text returned to the line does not send it: nobody has read it yet.
const SETTLE_MS: i64 = 1_500;

fn lock(state: &Shared) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Editor {
    /// A composer with its history. Of the terminal, it only asks which keys can be distinguished.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings { prompt, history, commands, palette, now_ms } = settings;
        let state = Shared::default();
        let capacity = history.len() + REMEMBERED;
        let line = Reedline::create()
            .with_history(Box::new(memory(capacity)))
            .with_edit_mode(Box::new(keymap::Keymap::new(Arc::clone(&state), now_ms)))
            .with_highlighter(Box::new(prompt::Labels::new(Arc::clone(&state))))
            .with_hinter(Box::new(prompt::Notice::new(Arc::clone(&state))))
            .with_completer(Box::new(prompt::Commands::new(commands)))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(
                ColumnarMenu::default().with_name(COMMANDS).with_columns(1).with_marker(""),
            )))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(palette.is_coloured())
            .use_bracketed_paste(true)
            .use_kitty_keyboard_enhancement(true);
        let prompt = prompt::EditorPrompt::new(&prompt);
        let mut editor = Self { line, prompt, state, now_ms };
        for entry in &history {
            editor.remember(entry);
        }
        editor
    }

    /// Shows another prompt from the next read on.
    pub fn set_prompt(&mut self, prompt: &str) {
        self.prompt = prompt::EditorPrompt::new(prompt);
    }

    /// Adds a prompt to the history that was not typed here. Submitted lines are added automatically.
    pub fn remember(&mut self, text: &str) {
        let folded = lock(&self.state).folds.fold(text);
        self.line
            .history_mut()
            .save(HistoryItem::from_command_line(folded))
            .expect("BUG: a history in memory always saves");
    }

    /// Reads the person's next message, and blocks until then. A prefill is in the buffer at the start, with the cursor at its
    /// end, for editing. Nothing is submitted by itself, nor by an Enter that was pressed before anybody could read it.
    ///
    /// # Errors
    ///
    /// If the terminal can't be read or written.
    pub fn read(&mut self, prefill: Option<String>) -> io::Result<Read> {
        let _guard = TerminalRestorer;
        lock(&self.state).settles_ms = prefill.as_ref().map(|_| (self.now_ms)() + SETTLE_MS);
        if let Some(text) = prefill {
            let folded = lock(&self.state).folds.fold(&text);
            self.line.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(folded)]);
        }
        loop {
            let signal = self.line.read_line(&self.prompt)?;
            let mut state = lock(&self.state);
            (state.notice, state.told) = ("", false);
            drop(state);
            match signal {
                Signal::Success(text) => {
                    let mut state = lock(&self.state);
                    state.held = false;
                    return Ok(Read::Line(state.folds.expand(&text)));
                }
                Signal::HostCommand(command) if command == INTERRUPT => self.interrupted(),
                Signal::CtrlC => {
                    lock(&self.state).leaving = false;
                    return Ok(Read::Interrupted);
                }
                Signal::CtrlD => return Ok(Read::Eof),
                _ => {}
            }
        }
    }

    /// Reads the answer to a question: on an empty line Ctrl-C quits at once. Words begun in its first `unread_ms`
    /// milliseconds are submitted by the second Enter only.
    ///
    /// # Errors
    ///
    /// If the terminal can't be read or written.
    pub fn answer(&mut self, unread_ms: i64) -> io::Result<Read> {
        {
            let mut state = lock(&self.state);
            (state.leaving, state.asked_until_ms) = (true, Some((self.now_ms)() + unread_ms));
        }
        self.read(None)
    }

    /// Ctrl-C clears a line with text; on an empty one it shows how to quit.
    fn interrupted(&mut self) {
        let empty = self.line.current_buffer_contents().is_empty();
        let mut state = lock(&self.state);
        if empty {
            state.leaving = true;
            state.notice = "press Ctrl-C again to quit";
        } else {
            state.notice = "cleared: Ctrl-Z brings it back, Ctrl-D quits";
            (state.held, state.early) = (false, false);
            drop(state);
            self.line.run_edit_commands(&[EditCommand::Clear]);
        }
    }
}

/// A history in memory only.
fn memory(capacity: usize) -> FileBackedHistory {
    FileBackedHistory::new(capacity).expect("BUG: a number of prompts in memory is a valid capacity")
}

/// Restores the terminal if reading panics, even when the composer itself outlives the panic.
struct TerminalRestorer;

impl Drop for TerminalRestorer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            super::restore();
        }
    }
}
