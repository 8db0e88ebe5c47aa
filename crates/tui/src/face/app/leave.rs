//! Runs that are at work as the face is left: they belong to the owner, and go on. Must never leave one out.

use super::App;
use super::tab::Tab;
use crate::text::safe;

/// A run that was at work as its face was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// Its conversation.
    pub conversation: String,
    /// What it was doing, in a line.
    pub what: String,
}

impl App {
    /// What goes on without this face.
    pub(crate) fn goes_on(&self) -> Vec<AtWork> {
        let one = |tab: &Tab| {
            let live = tab.talk.live.as_ref()?;
            let call = live.calls.first().map(|call| &call.now.call.line);
            let call = call.or(live.asks.first().map(|asks| &asks.call.line));
            let what = call
                .map_or_else(|| "the answer of the model".to_owned(), |line| safe::line(line).into_owned());
            Some(AtWork { conversation: tab.conversation()?, what })
        };
        self.tabs.iter().filter(|tab| tab.talk.is_running()).filter_map(one).collect()
    }
}
