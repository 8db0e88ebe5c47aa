//! `retake completions`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::document;
use crate::error::Result;
use crate::ui::Ui;

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Does it.
    pub(crate) fn run(self, ui: &mut dyn Ui, json: bool) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "retake", &mut script);
        let text = String::from_utf8_lossy(&script);
        if json {
            return Ok(ui.print(&document(&serde_json::json!({ "completions": text })))?);
        }
        Ok(ui.print(&text)?)
    }
}
