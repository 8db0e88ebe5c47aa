//! Leave for calls, and answers to questions of tools: the first one asked is answered first. Must never answer by a key that was
//! typed as part of a text.

use crossterm::event::KeyEvent;
use retake_wire::request::{Decide, Respond};
use retake_wire::{Asks, Decision, Request};

use super::keys::typed;
use super::tab::{EdgeLine, LineFor};
use super::{App, Asked, For};
use crate::face::keymap::{Command, Context};

/// So long no other key may follow one that gives leave.
const ALONE_MS: i64 = 250;

/// So long a question has to be there before a key answers it.
const NEW_MS: i64 = 500;

impl App {
    /// Whether a call waits for leave.
    pub(super) fn is_asked(&self) -> bool {
        self.asks().is_some()
    }

    fn asks(&self) -> Option<&Asks> {
        self.tab().talk.live.as_ref().and_then(|live| live.asks.first())
    }

    /// The commands of a question for leave. A key that gives leave counts once no other one follows: who types words does not mean it.
    pub(super) fn of_asked(&mut self, command: Command) -> bool {
        if matches!(command, Command::AllowOnce | Command::AllowHere | Command::AllowAlways) {
            if !self.is_too_new() {
                let now_ms = self.now_ms;
                self.tab_mut().allowing = Some((command, now_ms));
            }
            return true;
        }
        self.answers(command)
    }

    /// Gives the leave that a key has asked for, once nothing has followed it.
    pub(super) fn leave_rests(&mut self) {
        let now_ms = self.now_ms;
        if let Some((command, _)) = self.tab_mut().allowing.take_if(|(_, at)| now_ms - *at >= ALONE_MS) {
            self.answers(command);
        }
    }

    fn answers(&mut self, command: Command) -> bool {
        let rule =
            self.asks().and_then(|asks| asks.offers.first()).map(ToString::to_string).unwrap_or_default();
        match command {
            Command::AllowHere if self.is_asked() => {
                self.say(format!("from now on in this conversation: {rule}"));
            }
            Command::AllowAlways if self.is_asked() => {
                self.say(format!(
                    "from now on, everywhere: {rule} (in the settings; /permissions takes it back)"
                ));
            }
            _ => {}
        }
        let decision = match command {
            Command::AllowOnce => Some(Decision::Once),
            Command::AllowHere => self
                .asks()
                .and_then(|asks| asks.offers.first().cloned())
                .map(|rule| Decision::InConversation { rule }),
            Command::AllowAlways => self
                .asks()
                .and_then(|asks| asks.offers.first().cloned())
                .map(|rule| Decision::Always { rule }),
            Command::Deny => {
                self.deny();
                return true;
            }
            _ => return false,
        };
        match decision {
            Some(decision) => self.decide(decision),
            None => self.refuse("no rule would allow such calls: y allows this one"),
        }
        true
    }

    /// A key that was on its way when the question came answers nothing.
    fn is_too_new(&mut self) -> bool {
        let is_new = self.tab().asked_ms.is_some_and(|asked| self.now_ms - asked < NEW_MS);
        if is_new {
            self.refuse("the agent has just asked: look first, then press a key");
        }
        is_new
    }

    /// A no, with what the agent is told.
    fn deny(&mut self) {
        if !self.is_too_new() {
            self.tab_mut().line = Some(EdgeLine { what: LineFor::Deny, text: String::new() });
        }
    }

    /// The line of a no is done.
    pub(super) fn denied(&mut self, words: &str) {
        let words = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        self.decide(Decision::Deny { words });
    }

    /// A letter that is no answer is no message either: who types does not look at the question.
    pub(super) fn is_no_answer(&mut self, event: KeyEvent) -> bool {
        if self.context() != Context::Asked || !typed(event).is_some_and(char::is_alphanumeric) {
            return false;
        }
        let keys = [Command::AllowOnce, Command::Deny].map(|command| self.keys.named(command));
        self.refuse(format!("the agent waits for leave: {} allows, {} says no, and why", keys[0], keys[1]));
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
        let number =
            typed(event).and_then(|letter| letter.to_digit(10)).and_then(|digit| digit.checked_sub(1));
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
