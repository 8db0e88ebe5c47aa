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
}

impl App {
    /// The runs that continue without this client.
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
