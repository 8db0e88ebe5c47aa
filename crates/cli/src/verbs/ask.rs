//! `retake ask`: one turn with the model, for scripts.

use clap::Args;
use retake_wire::{FilesWish, Part, Run, RunStart};

use super::answer::answer;
use crate::args::{May, Place, Repeat};
use crate::context::Context;
use crate::error::{Failure, Result};

/// Say something and print the answer
///
/// Goes on with the last conversation of this folder, or begins one. What the model does is said on standard error. Where nobody
/// can be asked, it does only what the settings, --mode and --allow allow; exit code 9 says that it wanted more, so that not all may be
/// done. Exit code 6 says that the model failed: what you said is kept, and `retake retry` asks again.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) new: bool,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The last entry you have seen: refuse if it is no longer in the conversation
    #[arg(long, value_name = "ENTRY")]
    pub(crate) seen: Option<String>,
    #[command(flatten)]
    pub(crate) may: May,
    #[command(flatten)]
    pub(crate) repeat: Repeat,
    /// What to say; `-` reads standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
}

impl Ask {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = cx.words(&self.text, "message")?;
        // What is typed at a terminal is the person's own, wherever it is read from.
        let piped = cx.are_piped(&self.text) && !cx.ui.input_is_terminal();
        let conversation = self.conversation(cx).await?;
        let run = Run {
            conversation,
            folder: Some(cx.folder.to_owned()),
            start: RunStart::Say { parts: vec![Part::text(text)], seen: self.seen, steer: None, piped },
            model: self.model,
            head: None,
            permit: self.may.permit(),
            files: FilesWish::default(),
            request_id: self.repeat.request_id,
        };
        answer(cx, run).await.map_err(at_work)
    }

    async fn conversation(&self, cx: &mut Context<'_>) -> Result<String> {
        let named = self.place.conversation.clone();
        if !self.new && (named.is_some() || cx.last().await?.is_some()) {
            return cx.conversation(named).await;
        }
        // The run begins one.
        Ok(String::new())
    }
}

/// Another terminal's run is at work: it may wait for somebody who answers what it asks.
fn at_work(mut failure: Failure) -> Failure {
    if let Failure::Problem(problem) = &mut failure
        && problem.code == "run_active"
    {
        let hint = "`retake -c` in a terminal follows it, answers what it asks and stops it with Ctrl-C; `retake ask --new` begins another conversation";
        problem.hint = Some(hint.into());
    }
    failure
}
