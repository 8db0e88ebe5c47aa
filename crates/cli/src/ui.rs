//! The terminal interface for verbs and the line client: output, input, questions, the time. Must know nothing of conversations.
//! A test implements it with a script, [`crate::app`] with the real terminal.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use clap::ValueEnum;

use crate::term::pick::Row;
use crate::term::style::Palette;

pub use retake_tui::text::{Look, Text};
pub use retake_tui::ui::World;

pub use crate::term::editor::Read;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If standard output is a terminal.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

/// The terminal or the standard streams.
#[async_trait]
pub trait Ui: Send {
    /// Sets the use of colours and of the pager.
    fn adjust(&mut self, color: Color, pager: bool);

    /// The width of standard output, and the time.
    fn look(&self) -> Look;

    /// The colours of standard output.
    fn palette(&self) -> Palette;

    /// The colours of standard error.
    fn error_palette(&self) -> Palette;

    /// Whether a person can be asked: standard input, output and error are all terminals.
    fn interactive(&self) -> bool;

    /// Whether standard input is a terminal, so that it must not be read without a prompt.
    fn input_is_terminal(&self) -> bool;

    /// Whether standard output is a terminal, which interprets control sequences.
    fn output_is_terminal(&self) -> bool;

    /// The host of the full-screen program, if the terminal supports it. The file of the editor is in this folder.
    fn screen(&mut self, private: &Path) -> Option<Box<dyn World>>;

    /// Writes to standard output, unchanged and at once.
    fn print(&mut self, text: &str) -> io::Result<()>;

    /// Writes a text to standard output, through the pager if that helps.
    fn page(&mut self, text: &str) -> io::Result<()>;

    /// Writes to standard error.
    fn note(&mut self, text: &str) -> io::Result<()>;

    /// Writes a rendering to standard output, at once.
    fn print_text(&mut self, text: &Text) -> io::Result<()> {
        let text = text.print(self.palette());
        self.print(&text)
    }

    /// Writes a rendering to standard output, through the pager if that helps.
    fn page_text(&mut self, text: &Text) -> io::Result<()> {
        let text = text.print(self.palette());
        self.page(&text)
    }

    /// Writes a rendering to standard error.
    fn note_text(&mut self, text: &Text) -> io::Result<()> {
        let text = text.print(self.error_palette());
        self.note(&text)
    }

    /// Reads standard input to its end.
    fn input(&mut self) -> io::Result<String>;

    /// Asks a question with the answers yes and no; Enter is no.
    fn confirm(&mut self, question: &str) -> io::Result<bool>;

    /// Lets the person pick a row.
    fn pick(
        &mut self,
        question: &str,
        rows: &[Row],
        preview: &mut dyn FnMut(usize) -> String,
    ) -> io::Result<Option<usize>>;

    /// Prepares the composer: earlier prompts, oldest first, and the commands to complete with their help.
    fn compose(&mut self, history: Vec<String>, commands: Vec<(String, String)>);

    /// Reads the person's next message, starting with the prefill.
    fn read(&mut self, prompt: &str, prefill: Option<String>) -> io::Result<Read>;

    /// Asks a question with a text as its answer. Keys pressed before are discarded. Ctrl-C is an answer, too.
    fn answer(&mut self, prompt: &str) -> io::Result<Read>;

    /// Asks for a secret: what is typed is not shown. `None`: the person cancelled.
    fn answer_secret(&mut self, prompt: &str) -> io::Result<Option<String>>;

    /// Until the next read, Ctrl-C only wakes [`Ui::interrupted`], earlier presses are forgotten, and other keys are kept without
    /// an echo.
    fn listen(&mut self) -> io::Result<()>;

    /// Waits for Ctrl-C. Dropping the future loses none.
    async fn interrupted(&mut self);

    /// Waits for Ctrl-C, or for other keys, which the next read gets. Dropping the future loses none.
    async fn pressed(&mut self) -> Pressed;
}

/// A key that was pressed while nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// Ctrl-C.
    Interrupt,
    /// Other keys.
    Keys,
}
