//! Leave for calls, and answers to questions of tools: the first one asked is answered first. Must never answer by a key that was
//! typed as part of a text.

use crossterm::event::KeyEvent;
use retake_wire::request::{Decide, Respond};
use retake_wire::{Asks, Decision, Request};

use super::keys::typed;
use super::{App, Asked, For};
use crate::face::keymap::Command;

impl App {
    /// Whether a call waits for leave.
    pub(super) fn is_asked(&self) -> bool {
        self.asks().is_some()
    }

    fn asks(&self) -> Option<&Asks> {
        self.tab().talk.live.as_ref().and_then(|live| live.asks.first())
    }

    /// The commands of a question for leave.
    pub(super) fn of_asked(&mut self, command: Command) -> bool {
        let decision = match command {
            Command::AllowOnce => Some(Decision::Once),
            Command::AllowHere => {
                self.asks().and_then(|asks| asks.offers.first().cloned()).map(|rule| Decision::InConversation { rule })
            }
            Command::AllowAlways => {
                self.asks().and_then(|asks| asks.offers.first().cloned()).map(|rule| Decision::Always { rule })
            }
            Command::Deny => Some(Decision::Deny { words: None }),
            _ => return false,
        };
        match decision {
            Some(decision) => self.decide(decision),
            None => self.refuse("no rule would allow such calls: y allows this one"),
        }
        true
    }

    fn decide(&mut self, decision: Decision) {
        let Some(id) = self.asks().map(|asks| asks.id.clone()) else { return };
        let Some(conversation) = self.here() else { return };
        let tab = self.tab().id;
        let decide = Decide { conversation, id, decision };
        self.ask(Asked::Tab(tab, For::Decided), Request::Decide(decide));
    }

    /// Words that are sent while something is asked answer it.
    pub(super) fn words_answer(&mut self) -> bool {
        let text = self.tab().composer.text();
        let text = text.trim();
        if text.is_empty() {
            return false;
        }
        if self.is_asked() {
            let words = Some(text.to_owned());
            self.tab_mut().composer.clear();
            self.decide(Decision::Deny { words });
            return true;
        }
        if self.question().is_some() {
            let answer = text.to_owned();
            self.tab_mut().composer.clear();
            self.respond(answer);
            return true;
        }
        false
    }

    fn question(&self) -> Option<&retake_wire::Question> {
        self.tab().talk.live.as_ref().and_then(|live| live.questions.first())
    }

    /// The number of a choice answers a question, as long as nothing else is typed.
    pub(super) fn number_answers(&mut self, event: KeyEvent) -> bool {
        let tab = self.tab();
        if !tab.composer.is_empty() {
            return false;
        }
        let number = typed(event).and_then(|letter| letter.to_digit(10)).and_then(|digit| digit.checked_sub(1));
        let choice = number.zip(self.question()).and_then(|(at, question)| question.choices.get(at as usize));
        match choice.cloned() {
            Some(answer) => {
                self.respond(answer);
                true
            }
            None => false,
        }
    }

    fn respond(&mut self, answer: String) {
        let Some(id) = self.question().map(|question| question.id.clone()) else { return };
        let Some(conversation) = self.here() else { return };
        let tab = self.tab().id;
        self.ask(Asked::Tab(tab, For::Decided), Request::Respond(Respond { conversation, id, answer }));
    }
}
