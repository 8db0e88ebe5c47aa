//! Approval of calls, and answers to questions of tools, in the order of the requests. Must never take a key that is part of a
//! text as an answer, and must never remove such a key from the text.

use crossterm::event::{KeyCode, KeyEvent};
use retake_wire::request::{Decide, Respond};
use retake_wire::{Decision, PendingApproval, Request, Rule};

use super::keys::typed;
use super::tab::{InputFor, InputLine};
use super::{App, RequestPurpose, Requester};
use crate::render::agent::{self, RuleExtent};
use crate::ui::keymap::{Command, Context, Key};
use crate::ui::letter_keys::ALONE_MS;

/// How long a request must be on the screen before a key answers it. While a person types, it counts as unread.
const NEW_MS: i64 = 500;

/// The requests of a tab, and the keys that answer them.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// When the front request was shown; while a person keeps typing, when the last letter was typed.
    pub(super) asked_ms: Option<i64>,
    /// A letter that answers unless another key follows it.
    pending: Option<Pending>,
    /// Which of the offered rules is selected.
    pub(super) offer: usize,
    /// The selected rule is shown, and waits for the key that grants it.
    pub(super) granting: Option<Granting>,
    /// When a letter of a text was last typed.
    wrote_ms: i64,
    /// The last request that was answered here.
    last: Option<String>,
    /// Text was typed for a request that another client has answered meanwhile.
    is_late: bool,
}

/// A letter that answers once it is certain that it is not part of a text.
#[derive(Clone, Debug)]
struct Pending {
    answer: Answer,
    letter: char,
    /// When it was pressed.
    at_ms: i64,
    /// It was pressed before anyone could have read the request.
    is_early: bool,
}

/// A rule that waits for the key that grants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granting {
    pub(super) place: RuleExtent,
    /// The letter that chose the rule: followed by another letter, it is text.
    letter: Option<char>,
    /// When the rule was shown.
    since_ms: i64,
}

/// The answer that a letter gives.
#[derive(Clone, Debug)]
enum Answer {
    /// For an approval request, by this command.
    Approval(Command),
    /// For a question of a tool, with this choice.
    Choice(String),
}

impl Answers {
    /// Another request is in front now, or none. Text typed for the one before may still be meant for it.
    pub(super) fn next_request(&mut self, before: Option<&str>, is_asked: bool, now_ms: i64) {
        self.is_late =
            before.is_some() && before != self.last.as_deref() && self.asked_ms <= Some(self.wrote_ms);
        self.asked_ms = is_asked.then_some(now_ms);
        self.offer = 0;
        self.granting = None;
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

    /// The pending letter, if no other key has followed it.
    fn take_due(&mut self, now_ms: i64) -> Option<Pending> {
        self.pending.take_if(|pending| now_ms - pending.at_ms >= ALONE_MS)
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
        if !self.is_too_new() {
            self.answers(command, None);
        }
        true
    }

    /// A key while a rule waits to be granted: only the key that grants it leaves the rule there. A letter after the letter of the
    /// rule makes both of them text. Returns whether the key is consumed.
    pub(super) fn leaves_rule(&mut self, event: KeyEvent) -> bool {
        let command = self.keys.find(Context::Grant, Key::of(event));
        if command == Some(Command::Grant) {
            return false;
        }
        let Some(granting) = self.tab_mut().answers.granting.take() else { return false };
        if let (Some(letter), Some(_)) = (granting.letter, typed(event)) {
            self.write(letter);
        }
        let is_back = command == Some(Command::Escape);
        if is_back {
            self.say("nothing was granted: the call still waits for you");
        }
        is_back
    }

    /// A letter during a request: an answer if nothing is being written and the letter stands alone, else a letter of a text.
    pub(super) fn letter_answers(&mut self, event: KeyEvent) -> bool {
        let goes_on = self.now_ms - self.tab().answers.wrote_ms < ALONE_MS;
        let (Some(letter), false, true) = (typed(event), goes_on, self.tab().is_free_to_answer()) else {
            return false;
        };
        let answer = if self.is_asked() {
            let command = self.keys.find(Context::Asked, Key::of(event));
            let hides = self.tab().view.hides_asked();
            let is_answer = |command: &Command| {
                command.row().context == Context::Asked && (hides || *command != Command::ShowCall)
            };
            command.filter(is_answer).map(Answer::Approval)
        } else {
            self.choice(letter).map(Answer::Choice)
        };
        let Some(answer) = answer else { return false };
        // No text begins with a space, and to look grants nothing.
        if let (' ', Answer::Approval(Command::ShowCall)) = (letter, &answer) {
            self.show_call();
            return true;
        }
        let (at_ms, is_early) = (self.now_ms, self.is_new());
        self.tab_mut().answers.pending = Some(Pending { answer, letter, at_ms, is_early });
        true
    }

    /// A key directly after a letter that would have answered: the two are text. Returns whether the key is consumed.
    pub(super) fn follows_answer(&mut self, event: KeyEvent) -> bool {
        let Some(before) = self.tab_mut().answers.pending.take() else { return false };
        if typed(event).is_some() {
            self.write(before.letter);
        } else if event.code == KeyCode::Enter {
            self.refuse("nothing was answered: press a single key");
            return true;
        }
        false
    }

    /// The request has changed: a letter that would have answered becomes text.
    pub(super) fn forget_answer(&mut self, at: usize) {
        if let Some(before) = self.tabs[at].answers.pending.take() {
            self.tabs[at].composer.key(KeyCode::Char(before.letter).into());
            self.tabs[at].draft.typed(self.now_ms);
        }
    }

    fn write(&mut self, letter: char) {
        if self.tab_mut().composer.key(KeyCode::Char(letter).into()) {
            self.typed();
        }
    }

    /// The person is typing: they have not read the new request.
    pub(super) fn is_writing(&mut self) {
        let now_ms = self.now_ms;
        self.tab_mut().answers.wrote(now_ms);
    }

    /// Gives the answer of a letter, if no other key has followed it.
    pub(super) fn leave_rests(&mut self) {
        let now_ms = self.now_ms;
        let Some(pending) = self.tab_mut().answers.take_due(now_ms) else { return };
        match pending.answer {
            _ if pending.is_early => self.refuse(TOO_NEW),
            Answer::Approval(command) => self.answers(command, Some(pending.letter)),
            Answer::Choice(answer) => self.respond(answer),
        }
    }

    /// Carries out a command of the request, given by a letter or another key.
    fn answers(&mut self, command: Command, letter: Option<char>) {
        if !self.is_asked() {
            return;
        }
        match command {
            Command::Deny => {
                self.tab_mut().line = Some(InputLine { what: InputFor::Deny, text: String::new() });
                return;
            }
            Command::AllowWider => return self.other_rule(),
            Command::ShowCall => return self.show_call(),
            _ => {}
        }
        if let Some(more) = self.tab().view.more_lines(&self.keys) {
            return self.refuse(if command == Command::Grant { NO_ROOM.to_owned() } else { more });
        }
        let place = match command {
            Command::AllowHere => RuleExtent::Here,
            Command::AllowAlways => RuleExtent::Everywhere,
            Command::Grant => return self.grants_shown(),
            _ => return self.decide(Decision::Once),
        };
        if self.rule().is_none() {
            let once = self.keys.named(Command::AllowOnce);
            return self.refuse(format!("no narrow rule allows such calls: {once} allows this one"));
        }
        // A letter typed by mistake must not allow later calls.
        let since_ms = self.now_ms;
        self.tab_mut().answers.granting = Some(Granting { place, letter, since_ms });
    }

    /// Grants the rule that is shown, once it could be read.
    fn grants_shown(&mut self) {
        let Some(granting) = self.tab().answers.granting else { return };
        if self.now_ms - granting.since_ms < NEW_MS {
            let key = self.keys.named(Command::Grant);
            return self.refuse(format!("the rule was just shown: read it first, then {key} grants it"));
        }
        if let Some(rule) = self.rule().cloned() {
            self.grant(rule, granting.place);
        }
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

    /// The input line for a denial is complete.
    pub(super) fn denied(&mut self, words: &str) {
        let words = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        self.decide(Decision::Deny { words });
    }

    fn decide(&mut self, decision: Decision) {
        let Some(id) = self.asks().map(|asks| asks.id.clone()) else { return };
        let Some(conversation) = self.here() else { return };
        let answers = &mut self.tab_mut().answers;
        (answers.last, answers.granting) = (Some(id.clone()), None);
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
            self.tab_mut().composer.clear();
            self.respond(text.to_owned());
        } else if is_yes(text) {
            let allow = self.keys.named_while(Command::AllowOnce, true);
            self.refuse(format!(
                "a text refuses the call, but this one does not look like a refusal: {allow} allows the call"
            ));
        } else {
            let words = Some(text.to_owned());
            self.tab_mut().composer.clear();
            self.decide(Decision::Deny { words });
        }
        true
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
            let [allow, deny] = [Command::AllowOnce, Command::Deny].map(|command| self.keys.named(command));
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
    fn choice(&self, letter: char) -> Option<String> {
        let number = letter.to_digit(10)?.checked_sub(1)?;
        self.question()?.choices.get(number as usize).cloned()
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

/// Whether the text is a yes, which denies nothing.
fn is_yes(words: &str) -> bool {
    let words = words.trim_end_matches(['.', '!']).to_lowercase();
    matches!(words.as_str(), "y" | "yes" | "ok" | "okay" | "allow" | "sure" | "go" | "go on" | "do it")
}
