//! `retake completions`: the script that lets a shell complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::RunVerb;
use crate::args::Cli;
use crate::context::{Context, document};
use crate::error::Result;

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl RunVerb for Completions {
    const EXAMPLES: &'static [&'static str] =
        &["retake completions bash > ~/.local/share/bash-completion/completions/retake"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "retake", &mut script);
        let text = String::from_utf8_lossy(&script);
        if cx.json {
            return cx.print(&document(&serde_json::json!({ "completions": text })));
        }
        cx.print(&text)
    }
}
