//! Leaving while something runs: what becomes of that is said before. Must never leave without a word where that stops a run, nor
//! say that it does where another process keeps it going.

use retake_wire::Request;
use retake_wire::reply::Status;

use super::tab::Tab;
use super::{App, Asked, For};
use crate::face::keymap::Command;
use crate::render::words;
use crate::text::safe;

/// What becomes of runs, once it is known who owns them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Runs {
    /// Nobody has asked.
    #[default]
    Unknown,
    /// This process owns them: they stop with it.
    Stop,
    /// Another one does: they go on.
    GoOn,
}

/// A run that was at work as its face was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// Its conversation.
    pub conversation: String,
    /// What it was doing, in a line.
    pub what: String,
}

impl App {
    /// Leaves. Where something runs, the owner is asked first whether that goes on; where it does not, only when asked once more.
    pub(super) fn quit(&mut self) {
        let runs = self.tabs.iter().any(|tab| tab.talk.is_running());
        if self.is_leaving() || !(runs || self.owns) || self.is_once_more(Command::Quit) {
            return self.leave();
        }
        self.runs = Runs::Unknown;
        self.ask(Asked::All(For::Leaving), Request::Status);
    }

    /// The owner has said who it is; or it can't, and then nothing is known of its runs.
    pub(super) fn leaves_from(&mut self, status: Option<&Status>) {
        match status {
            Some(status) if status.pid == self.known.process => {
                let is_here =
                    |run: &&String| self.tabs.iter().any(|tab| tab.conversation().as_ref() == Some(run));
                self.elsewhere = status.running.iter().filter(|run| !is_here(run)).cloned().collect();
                if self.elsewhere.is_empty() && !self.tabs.iter().any(|tab| tab.talk.is_running()) {
                    return self.leave();
                }
                self.runs = Runs::Stop;
                let quit = self.keys.named(Command::Quit);
                let what = match self.elsewhere.len() {
                    0 => "what runs".to_owned(),
                    some => format!(
                        "what runs, also in {} without a tab",
                        words::count(some as u64, "conversation")
                    ),
                };
                self.say(format!("leaving stops {what}: {quit} once more; `retake serve` keeps runs going"));
            }
            Some(_) => {
                self.runs = Runs::GoOn;
                self.leave();
            }
            None => self.leave(),
        }
    }

    /// What leaving stops, as the person was told.
    pub(crate) fn stops(&self) -> Vec<AtWork> {
        if self.runs != Runs::Stop {
            return Vec::new();
        }
        let elsewhere = self.elsewhere.iter().map(|conversation| AtWork {
            conversation: conversation.clone(),
            what: "what runs in a conversation without a tab".to_owned(),
        });
        self.at_work().into_iter().chain(elsewhere).collect()
    }

    /// What goes on without this face.
    pub(crate) fn goes_on(&self) -> Vec<AtWork> {
        if self.runs == Runs::GoOn { self.at_work() } else { Vec::new() }
    }

    fn at_work(&self) -> Vec<AtWork> {
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
