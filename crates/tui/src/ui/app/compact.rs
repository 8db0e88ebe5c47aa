//! The command that lets the model summarise earlier messages.

use retake_wire::{Ended, Outcome, Run, RunStart};

use super::App;
use crate::ui::keymap::Command;
use crate::ui::msg::TabId;
use crate::ui::talk::Tone;

impl App {
    /// Starts a run that summarises all messages.
    pub(super) fn compact(&mut self, words: &str) {
        self.summarise(words, None, None);
    }

    /// Starts a run that summarises from one message to another.
    pub(super) fn summarise(&mut self, words: &str, from: Option<String>, to: Option<String>) {
        let Some(conversation) = self.tab().conversation() else {
            self.refuse("nothing was said yet: there is nothing to summarise");
            return;
        };
        let instructions = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        let run = Run {
            conversation,
            folder: None,
            start: RunStart::Compact { instructions, from, to, branch: None },
            files: Default::default(),
            model: self.tab().model.name.clone(),
            head: None,
            permit: Default::default(),
            request_id: None,
        };
        self.run(self.tab().id, run);
        self.hint("the model summarises earlier messages …".to_owned());
    }

    /// The run has ended.
    pub(super) fn compacted(&mut self, id: TabId, ended: &Ended) {
        if let Some(problem) = &ended.problem {
            self.complain_in(id, problem);
        }
        let undo = self.keys.named(Command::Undo);
        let (note, tone) = match ended.outcome {
            Outcome::Succeeded => {
                self.read_context(id);
                let what = match &ended.entry {
                    Some(_) => "the summary of the branch is the last message here",
                    None => "the model gets the summary, you still see the messages",
                };
                (format!("summarised: {what}; {undo} takes it back"), Tone::Done)
            }
            _ => ("nothing was summarised".to_owned(), Tone::Quiet),
        };
        self.note_in(id, note, tone);
    }
}
