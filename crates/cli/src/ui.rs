//! What verbs and the conversation need of the world around them: output, input, questions, the time. Must never know what it is
//! about; a test gives a script, [`crate::app`] the real terminal.

use std::io;
use std::path::Path;

use async_trait::async_trait;

use crate::term::pick::Row;
use crate::term::style::Palette;

pub use retake_tui::text::Look;
pub use retake_tui::ui::World;

pub use crate::args::Color;
pub use crate::term::editor::Read;

/// The world around the program.
#[async_trait]
pub trait Ui: Send {
    /// Uses colours, and the pager, as the arguments say.
    fn adjust(&mut self, color: Color, pager: bool);

    /// How standard output looks.
    fn look(&self) -> Look;

    /// The colours of standard error.
    fn error_palette(&self) -> Palette;

    /// Whether a person sits there: standard input, output and error are all terminals.
    fn interactive(&self) -> bool;

    /// Whether standard input is a terminal, so that nothing is to be read from it unasked.
    fn input_is_terminal(&self) -> bool;

    /// Whether standard output is a terminal, which acts on what it is given.
    fn output_is_terminal(&self) -> bool;

    /// The process around the full-screen face, where the terminal can show it. What is written in the editor is in this folder.
    fn screen(&mut self, private: &Path) -> Option<Box<dyn World>>;

    /// Writes to standard output, as it is and at once.
    fn print(&mut self, text: &str) -> io::Result<()>;

    /// Writes a text to standard output, through the pager where that helps.
    fn page(&mut self, text: &str) -> io::Result<()>;

    /// Writes to standard error.
    fn note(&mut self, text: &str) -> io::Result<()>;

    /// Reads standard input to its end.
    fn input(&mut self) -> io::Result<String>;

    /// Asks a question that yes or no answers; Enter is no.
    fn confirm(&mut self, question: &str) -> io::Result<bool>;

    /// Lets the person pick a row.
    fn pick(
        &mut self,
        question: &str,
        rows: &[Row],
        preview: &mut dyn FnMut(usize) -> String,
    ) -> io::Result<Option<usize>>;

    /// Gets ready to compose: earlier prompts, oldest first, and the commands to complete with their help.
    fn compose(&mut self, history: Vec<String>, commands: Vec<(String, String)>);

    /// Reads what the person writes next, beginning with the prefill.
    fn read(&mut self, prompt: &str, prefill: Option<String>) -> io::Result<Read>;

    /// Asks a question that words answer. Keys pressed before it was asked answer nothing; Ctrl-C is an answer, too.
    fn answer(&mut self, prompt: &str) -> io::Result<Read>;

    /// Until the next read Ctrl-C is only what [`Ui::interrupted`] waits for, earlier presses are forgotten, and other keys wait
    /// unseen.
    fn listen(&mut self) -> io::Result<()>;

    /// Waits for Ctrl-C. Dropping the future loses none.
    async fn interrupted(&mut self);

    /// Waits for Ctrl-C, or for other keys, which wait for the next read. Dropping the future loses none.
    async fn pressed(&mut self) -> Pressed;
}

/// What was pressed while nobody read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// Ctrl-C.
    Interrupt,
    /// Other keys.
    Keys,
}
