//! Runs that are at work as the UI is left: they belong to the owner, and go on. Must never leave one out.

use super::App;
use super::tab::Tab;
use crate::text::safe;

/// A run that was at work as its UI was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRun {
    /// Its conversation.
    pub conversation: String,
    /// What it was doing, in a line.
    pub activity: String,
}

impl App {
    /// What goes on without this client.
    pub(crate) fn running_runs(&self) -> Vec<RunningRun> {
        let one = |tab: &Tab| {
            let live = tab.talk.live.as_ref()?;
            let call = live.calls.first().map(|call| &call.now.call.line);
            let call = call.or(live.asks.first().map(|asks| &asks.call.line));
            let activity = call
                .map_or_else(|| "the answer of the model".to_owned(), |line| safe::line(line).into_owned());
            Some(RunningRun { conversation: tab.conversation()?, activity })
        };
        self.tabs.iter().filter(|tab| tab.talk.is_running()).filter_map(one).collect()
    }
}
