//! `retake ask`: one turn with the model, for scripts.

use clap::Args;
use retake_wire::{FileOptions, Part, Run, RunStart};

use super::RunVerb;
use super::model_run::answer;
use crate::args::{ConversationArg, PermissionArgs, RequestIdArg};
use crate::command_files;
use crate::context::Context;
use crate::error::{Failure, Result};

/// Send a message to the model and print its answer
///
/// Continues the last conversation of this folder, or begins one. Standard error shows what the model does. If no person can give
/// approvals, the model does only what the settings, --mode and --allow permit. Exit code 9 means that it needed an approval, so the task
/// may be incomplete. Exit code 6 means that the model failed: your message is stored, and `retake retry` asks again.
#[derive(Debug, Default, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) place: ConversationArg,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) new: bool,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The last entry you have seen; fails if it is no longer in the conversation
    #[arg(long, value_name = "ENTRY")]
    pub(crate) seen: Option<String>,
    #[command(flatten)]
    pub(crate) may: PermissionArgs,
    #[command(flatten)]
    pub(crate) repeat: RequestIdArg,
    /// The message; `-` reads standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
}

impl RunVerb for Ask {
    const EXAMPLES: &'static [&'static str] = &[
        "retake ask 'what does main.rs do?'",
        "git diff | retake ask --new - --mode plan",
        "retake ask 'fix the tests' --mode allow-edits --allow 'shell(cargo test)'",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = cx.words(&self.text, "message")?;
        // Text typed at a terminal is the person's own.
        let piped = cx.are_piped(&self.text) && !cx.ui.input_is_terminal();
        let conversation = self.conversation(cx).await?;
        let seen = self.seen;
        let command = if piped { None } else { command_files::sent(cx, &text).await };
        let start = match command {
            Some((name, arguments)) => RunStart::Command {
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                attached: Vec::new(),
                entry: None,
                seen,
                steer: None,
            },
            None => RunStart::Say { parts: vec![Part::text(text)], seen, steer: None, piped },
        };
        let run = Run {
            conversation,
            folder: Some(cx.folder.to_owned()),
            start,
            model: self.model,
            head: None,
            permit: self.may.permit(),
            files: FileOptions::default(),
            request_id: self.repeat.request_id,
        };
        answer(cx, run).await.map_err(at_work)
    }
}

impl Ask {
    async fn conversation(&self, cx: &mut Context<'_>) -> Result<String> {
        let named = self.place.conversation.clone();
        if !self.new && (named.is_some() || cx.last().await?.is_some()) {
            return cx.conversation(named).await;
        }
        // The run begins one.
        Ok(String::new())
    }
}

/// Adds a hint to a refusal because of an active run, which may wait for an approval.
fn at_work(mut failure: Failure) -> Failure {
    if let Failure::Problem(problem) = &mut failure
        && problem.code == "run_active"
    {
        let hint = "`retake -c` in a terminal follows the run, answers its questions and stops it with Ctrl-C; `retake ask --new` begins another conversation";
        problem.hint = Some(hint.into());
    }
    failure
}
