//! `retake completions`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::Result;
use crate::ui::Ui;

/// Print the completions for a shell
///
/// For example: retake completions bash > ~/.local/share/bash-completion/completions/retake
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Does it.
    pub(crate) fn run(self, ui: &mut dyn Ui) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "retake", &mut script);
        Ok(ui.print(&String::from_utf8_lossy(&script))?)
    }
}
