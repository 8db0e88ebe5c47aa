//! Approval of calls, and answers to questions of tools, in the order of the requests. A key arms an answer, and Enter gives it; any
//! other key gives it up, and the letter of the answer is text then. Must never take a key that is part of a text as an answer, and
//! must never remove such a key from the text.

use crossterm::event::KeyEvent;
use retake_wire::request::{Decide, Respond};
use retake_wire::{Decision, PendingApproval, Request, Rule};

use super::keys::typed;
use super::{App, RequestPurpose, Requester};
use crate::render::agent::{self, RuleExtent};
use crate::ui::keymap::{Command, Context, Key};
use crate::ui::view::granted_by;

/// How long a request must be on the screen before a key answers it. While a person types, it counts as unread.
const NEW_MS: i64 = 500;

/// The requests of a tab, and the keys that answer them.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// When the front request was shown; while a person keeps typing, when the last letter was typed.
    pub(super) asked_ms: Option<i64>,
    /// The answer that Enter gives.
    pub(super) armed: Option<Armed>,
    /// Which of the offered rules is selected.
    pub(super) offer: usize,
    /// When a letter of a text was last typed.
    wrote_ms: i64,
    /// The last request that was answered here.
    last: Option<String>,
    /// Text was typed for a request that another client has answered meanwhile.
    is_late: bool,
}

/// An answer that waits for Enter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub(super) command: Command,
    /// Its letter is all that the composer holds.
    pub(super) is_typed: bool,
    /// When it was armed, and shown.
    since_ms: i64,
}

impl Answers {
    /// Another request is in front now, or none. Text typed for the one before may still be meant for it.
    pub(super) fn next_request(&mut self, before: Option<&str>, is_asked: bool, now_ms: i64) {
        self.is_late =
            before.is_some() && before != self.last.as_deref() && self.asked_ms <= Some(self.wrote_ms);
        self.asked_ms = is_asked.then_some(now_ms);
        (self.offer, self.armed) = (0, None);
    }

    /// The request is not on the screen: whatever covers it, nobody reads it.
    pub(super) fn cover(&mut self, now_ms: i64) {
        if self.asked_ms.is_some() {
            (self.asked_ms, self.armed) = (Some(now_ms), None);
        }
    }

    /// The composer was emptied: nothing typed for an earlier request is left.
    pub(super) fn forget_late(&mut self) {
        self.is_late = false;
    }

    /// Whether the front request is too new to have been read.
    fn is_new(&self, now_ms: i64) -> bool {
        self.asked_ms.is_some_and(|asked| now_ms - asked < NEW_MS)
    }

    /// The person is typing: a new request is not read yet.
    fn wrote(&mut self, now_ms: i64) {
        self.wrote_ms = now_ms;
        if self.is_new(now_ms) {
            self.asked_ms = Some(now_ms);
        }
    }

    /// The text was sent: later keys are not part of it.
    pub(super) fn words_end(&mut self) {
        self.wrote_ms = 0;
    }
}

impl App {
    /// Whether a call waits for approval.
    pub(super) fn is_asked(&self) -> bool {
        self.asks().is_some()
    }

    fn asks(&self) -> Option<&PendingApproval> {
        self.tab().talk.live.as_ref().and_then(|live| live.asks.first())
    }

    /// The selected rule.
    pub(super) fn rule(&self) -> Option<&Rule> {
        agent::chosen(&self.asks()?.offers, self.tab().answers.offer)
    }

    /// The commands of an approval request.
    pub(super) fn of_asked(&mut self, command: Command) -> bool {
        if !matches!(command.row().context, Context::Asked | Context::Grant) {
            return false;
        }
        match command {
            _ if !self.is_asked() => self.refuse("no call waits for your answer"),
            Command::Grant => self.gives_armed(),
            Command::ShowCall => self.show_call(),
            Command::AllowWider => self.other_rule(),
            answer => self.arms(answer, false),
        }
        true
    }

    /// A key while an answer is armed: any but the one that gives it gives it up. Returns whether the key is consumed.
    pub(super) fn gives_up(&mut self, event: KeyEvent) -> bool {
        let command = self.keys.find(Context::Grant, Key::of(event));
        if command == Some(Command::Grant) {
            return false;
        }
        let Some(armed) = self.tab_mut().answers.armed.take() else { return false };
        let is_back = command == Some(Command::Escape);
        if is_back {
            self.remove_letter(armed);
            self.hint("nothing was answered: the call still waits for you");
        }
        is_back
    }

    /// A letter that is typed into the empty composer during a request: with Enter it answers. Returns whether the key is consumed,
    /// which only a space is: no text begins with one, and to look grants nothing.
    pub(super) fn letter_answers(&mut self, event: KeyEvent) -> bool {
        let is_free = self.is_asked() && self.tab().is_free_to_answer() && self.tab().composer.is_empty();
        if !is_free || typed(event).is_none() {
            return false;
        }
        let command = self.keys.find(Context::Asked, Key::of(event));
        match command.filter(|command| command.row().context == Context::Asked) {
            Some(Command::ShowCall) => {
                self.show_call();
                return true;
            }
            // What is typed before anybody could read the request is text.
            Some(command) if !self.is_new() => self.arms(command, true),
            _ => {}
        }
        false
    }

    /// Arms an answer. While lines of the call are folded, Enter shows them instead.
    fn arms(&mut self, command: Command, is_typed: bool) {
        if granted_by(command).is_some() && self.rule().is_none() {
            if !is_typed {
                self.no_rule();
            }
            return;
        }
        let is_folded = self.tab().view.more_lines(&self.keys).is_some();
        let command = if is_folded && command != Command::Deny { Command::ShowCall } else { command };
        let since_ms = self.now_ms;
        let tab = self.tab_mut();
        tab.answers.armed = Some(Armed { command, is_typed, since_ms });
        if !is_folded {
            // What Enter does is shown below the call.
            tab.view.to_end();
        }
    }

    fn no_rule(&mut self) {
        let once = self.keys.answer_name(Command::AllowOnce, false);
        self.hint(format!("no narrow rule allows such calls: {once} allows this one"));
    }

    fn remove_letter(&mut self, armed: Armed) {
        if armed.is_typed {
            self.tab_mut().composer.clear();
        }
    }

    /// Gives the armed answer.
    fn gives_armed(&mut self) {
        let Some(armed) = self.tab().answers.armed else {
            return self.refuse("no answer is chosen: choose one first");
        };
        if self.is_too_new() {
            return;
        }
        let extent = granted_by(armed.command);
        let is_folded = self.tab().view.more_lines(&self.keys).is_some();
        if extent.is_some() && is_folded {
            return self.refuse(NO_ROOM);
        }
        // A rule must be read before it is granted.
        if extent.is_some() && self.now_ms - armed.since_ms < NEW_MS {
            let key = self.keys.named(Command::Grant);
            return self.refuse(format!("the rule was just shown: read it first, then {key} grants it"));
        }
        self.tab_mut().answers.armed = None;
        self.remove_letter(armed);
        match (armed.command, extent) {
            (Command::AllowOnce, _) if !is_folded => self.decide(Decision::Once),
            (Command::Deny, _) => self.decide(Decision::Deny { words: None }),
            (Command::AllowWider, _) => self.other_rule(),
            (_, Some(extent)) => match self.rule().cloned() {
                Some(rule) => self.grant(rule, extent),
                None => self.no_rule(),
            },
            _ => self.show_call(),
        }
    }

    /// The person is typing: they have not read the new request.
    pub(super) fn is_writing(&mut self) {
        let now_ms = self.now_ms;
        self.tab_mut().answers.wrote(now_ms);
    }

    fn grant(&mut self, rule: Rule, place: RuleExtent) {
        let allows = agent::allows(&rule, place);
        let (told, decision) = match place {
            RuleExtent::Here => (String::new(), Decision::InConversation { rule }),
            RuleExtent::Everywhere => {
                (" (in the settings; /permissions takes it back)".to_owned(), Decision::Always { rule })
            }
        };
        self.say(format!("from now on: {allows}{told}"));
        self.decide(decision);
    }

    fn show_call(&mut self) {
        if !self.tab().view.hides_asked() {
            return self.say("all of the call is shown");
        }
        let tab = self.tab_mut();
        tab.view.command(Command::ShowCall, &tab.talk);
    }

    /// The next offered rule; after the widest one, the first.
    fn other_rule(&mut self) {
        let Some(next) = self.asks().and_then(|asks| agent::wider(&asks.offers, self.tab().answers.offer))
        else {
            return self.refuse("there is no wider rule for such calls");
        };
        self.tab_mut().answers.offer = next;
    }

    fn is_new(&self) -> bool {
        self.tab().answers.is_new(self.now_ms)
    }

    /// A key pressed just before the request appeared answers nothing.
    fn is_too_new(&mut self) -> bool {
        let is_new = self.is_new();
        if is_new {
            self.refuse(TOO_NEW);
        }
        is_new
    }

    fn decide(&mut self, decision: Decision) {
        let Some(id) = self.asks().map(|asks| asks.id.clone()) else { return };
        let Some(conversation) = self.here() else { return };
        let answers = &mut self.tab_mut().answers;
        (answers.last, answers.armed) = (Some(id.clone()), None);
        let tab = self.tab().id;
        let decide = Decide { conversation, id, decision };
        self.ask(Requester::Tab(tab, RequestPurpose::Decided), Request::Decide(decide));
    }

    /// Text sent during a request answers it.
    pub(super) fn words_answer(&mut self) -> bool {
        let text = self.tab().composer.text();
        let text = text.trim();
        if text.is_empty() || self.tab().front().is_none() || self.is_too_new() {
            return !text.is_empty() && self.tab().front().is_some();
        }
        if !self.is_asked() {
            let answer = self.choice(text).unwrap_or_else(|| text.to_owned());
            self.tab_mut().composer.clear();
            self.respond(answer);
        } else if let Some(command) = self.letter(text) {
            if granted_by(command).is_some() && self.rule().is_none() {
                self.tab_mut().composer.clear();
                self.no_rule();
            } else {
                self.hint(format!("“{text}” does not answer now: delete it, and type it again"));
            }
        } else if agent::looks_like_yes(text) {
            let allow = self.keys.answer_name(Command::AllowOnce, true);
            self.hint(format!("that does not look like a refusal: {allow} allows the call"));
        } else {
            let words = Some(text.to_owned());
            self.tab_mut().composer.clear();
            self.decide(Decision::Deny { words });
        }
        true
    }

    /// The answer whose letter is all of the text.
    fn letter(&self, text: &str) -> Option<Command> {
        let key = text.parse::<Key>().ok().filter(|key| key.letter().is_some())?;
        self.keys.find(Context::Asked, key).filter(|command| command.row().context == Context::Asked)
    }

    /// Text typed for a question that another client has answered is not sent as a message, unless Enter is pressed again.
    pub(super) fn answers_too_late(&mut self) -> bool {
        let is_late = std::mem::take(&mut self.tab_mut().answers.is_late) && !self.tab().composer.is_empty();
        if is_late {
            self.refuse("the question is already answered: press Enter again to send this text as a message");
        }
        is_late
    }

    /// What waits for the person, with the keys that answer it.
    pub(super) fn what_waits(&self) -> Option<String> {
        if self.is_asked() {
            let [allow, deny] =
                [Command::AllowOnce, Command::Deny].map(|command| self.keys.answer_name(command, false));
            let more = self.tab().view.more_lines(&self.keys);
            let keys = more.unwrap_or_else(|| format!("{allow} allows it, {deny} refuses it"));
            return Some(format!("a call waits for you: {keys}"));
        }
        self.question().map(|question| match question.choices.is_empty() {
            true => "a question waits for you: type an answer".to_owned(),
            false => "a question waits for you: type the number of an answer, or another answer".to_owned(),
        })
    }

    fn question(&self) -> Option<&retake_wire::Question> {
        self.tab().talk.live.as_ref().and_then(|live| live.questions.first())
    }

    /// The choice with the number that was typed.
    fn choice(&self, text: &str) -> Option<String> {
        let number = text.parse::<usize>().ok()?.checked_sub(1)?;
        self.question()?.choices.get(number).cloned()
    }

    fn respond(&mut self, answer: String) {
        let Some(id) = self.question().map(|question| question.id.clone()) else { return };
        let Some(conversation) = self.here() else { return };
        self.tab_mut().answers.last = Some(id.clone());
        let tab = self.tab().id;
        self.ask(
            Requester::Tab(tab, RequestPurpose::Decided),
            Request::Respond(Respond { conversation, id, answer }),
        );
    }
}

/// The notice for a key that was pressed too early.
const TOO_NEW: &str = "the agent has just asked: look first, then press a key";

/// The notice if the window is too small for the rule that would be granted.
const NO_ROOM: &str = "too small to show the rule: make the window larger";
