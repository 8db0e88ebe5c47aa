//! Runs that continue after the UI quits: they belong to the owner. Must never leave one out.

use super::App;
use super::tab::Tab;
use crate::text::safe;

/// A run that is at work when the UI quits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRun {
    /// Its conversation.
    pub conversation: String,
    /// What it is doing, in one line.
    pub activity: String,
    /// It waits for an answer of a person.
    pub waits: bool,
}

impl RunningRun {
    /// The line about it for the shell.
    #[must_use]
    pub fn line(&self) -> String {
        let state = if self.waits { "waits for your answer" } else { "still running" };
        format!("{state}: {}", self.activity)
    }
}

impl App {
    /// The runs that continue without this client.
    pub(crate) fn running_runs(&self) -> Vec<RunningRun> {
        let one = |tab: &Tab| {
            let live = tab.talk.live.as_ref()?;
            let asked = live.asks.first().map(|asks| &asks.call.line);
            let asked = asked.or(live.questions.first().map(|question| &question.question));
            let call = asked.or(live.calls.first().map(|call| &call.now.call.line));
            let activity = call
                .map_or_else(|| "the answer of the model".to_owned(), |line| safe::line(line).into_owned());
            Some(RunningRun { conversation: tab.conversation()?, activity, waits: asked.is_some() })
        };
        self.tabs.iter().filter(|tab| tab.talk.is_running()).filter_map(one).collect()
    }
}
