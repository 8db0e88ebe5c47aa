//! Approval of calls, and answers to questions of tools, in the order of the requests. A letter answers together with Enter, and is
//! text until then. Must never take a key that is part of a text as an answer, and must never remove such a key from the text.

use crossterm::event::KeyEvent;
use retake_wire::request::{Decide, Respond};
use retake_wire::{Decision, PendingApproval, Request, Rule};

use super::keys::typed;
use super::tab::{InputFor, InputLine};
use super::{App, RequestPurpose, Requester};
use crate::render::agent::{self, RuleExtent};
use crate::ui::composer::Composer;
use crate::ui::keymap::{Command, Context, Key};

/// How long a request must be on the screen before a key answers it. While a person types, it counts as unread.
const NEW_MS: i64 = 500;

/// The requests of a tab, and the keys that answer them.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// When the front request was shown; while a person keeps typing, when the last letter was typed.
    pub(super) asked_ms: Option<i64>,
    /// The letter of an answer that was typed into the empty composer: it answers with Enter while nothing else is typed.
    chosen: Option<Chosen>,
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

/// A letter in the composer, and the answer that Enter gives with it.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    letter: char,
    command: Command,
}

/// A rule that waits for the key that grants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granting {
    pub(super) place: RuleExtent,
    /// When the rule was shown.
    since_ms: i64,
}

impl Answers {
    /// Another request is in front now, or none. Text typed for the one before may still be meant for it.
    pub(super) fn next_request(&mut self, before: Option<&str>, is_asked: bool, now_ms: i64) {
        self.is_late =
            before.is_some() && before != self.last.as_deref() && self.asked_ms <= Some(self.wrote_ms);
        self.asked_ms = is_asked.then_some(now_ms);
        self.offer = 0;
        (self.chosen, self.granting) = (None, None);
    }

    /// The answer that Enter gives, if the composer holds its letter alone.
    pub(super) fn chosen(&self, composer: &Composer) -> Option<Command> {
        let chosen = self.chosen?;
        composer.text().chars().eq([chosen.letter]).then_some(chosen.command)
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
        if !self.is_too_new() {
            self.answers(command);
        }
        true
    }

    /// A key while a rule waits to be granted: only the key that grants it leaves the rule there. Returns whether the key is
    /// consumed.
    pub(super) fn leaves_rule(&mut self, event: KeyEvent) -> bool {
        let command = self.keys.find(Context::Grant, Key::of(event));
        if command == Some(Command::Grant) || self.tab_mut().answers.granting.take().is_none() {
            return false;
        }
        let is_back = command == Some(Command::Escape);
        if is_back {
            self.remove_chosen();
            self.say("nothing was granted: the call still waits for you");
        }
        is_back
    }

    /// A letter that is typed into the empty composer during a request: with Enter it would answer. Returns whether the key is
    /// consumed, which only a space is: no text begins with one, and to look grants nothing.
    pub(super) fn letter_answers(&mut self, event: KeyEvent) -> bool {
        let is_free = self.is_asked() && self.tab().is_free_to_answer() && self.tab().composer.is_empty();
        let Some(letter) = typed(event).filter(|_| is_free) else { return false };
        let command = self.keys.find(Context::Asked, Key::of(event));
        let Some(command) = command.filter(|command| command.row().context == Context::Asked) else {
            return false;
        };
        if command == Command::ShowCall {
            let hides = self.tab().view.hides_asked();
            if hides {
                self.show_call();
            }
            return hides;
        }
        self.tab_mut().answers.chosen = Some(Chosen { letter, command });
        if let Some(place) = granted_by(command) {
            self.shows_rule(place);
        }
        false
    }

    /// Shows the selected rule, which waits for the key that grants it; if there is none, or if lines of the call are folded, does
    /// nothing.
    fn shows_rule(&mut self, place: RuleExtent) {
        if self.rule().is_some() && self.tab().view.more_lines(&self.keys).is_none() {
            let since_ms = self.now_ms;
            self.tab_mut().answers.granting = Some(Granting { place, since_ms });
        }
    }

    /// Removes the letter of an answer from the composer.
    pub(super) fn remove_chosen(&mut self) -> bool {
        let tab = self.tab_mut();
        let is_chosen = tab.chosen().is_some();
        if is_chosen {
            tab.answers.chosen = None;
            tab.composer.clear();
        }
        is_chosen
    }

    /// The person is typing: they have not read the new request.
    pub(super) fn is_writing(&mut self) {
        let now_ms = self.now_ms;
        self.tab_mut().answers.wrote(now_ms);
    }

    /// Carries out a command of the request.
    fn answers(&mut self, command: Command) {
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
        if command == Command::Grant {
            return self.grants_shown();
        }
        let Some(place) = granted_by(command) else { return self.decide(Decision::Once) };
        if self.rule().is_none() {
            let once = self.keys.answer_name(Command::AllowOnce, false);
            return self.refuse(format!("no narrow rule allows such calls: {once} allows this one"));
        }
        self.shows_rule(place);
    }

    /// Grants the rule that is shown, once it could be read.
    fn grants_shown(&mut self) {
        let Some(granting) = self.tab().answers.granting else { return };
        if self.now_ms - granting.since_ms < NEW_MS {
            let key = self.keys.named(Command::Grant);
            return self.refuse(format!("the rule was just shown: read it first, then {key} grants it"));
        }
        if let Some(rule) = self.rule().cloned() {
            self.remove_chosen();
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
        if let Some(command) = self.tab().chosen() {
            if !self.is_too_new() {
                self.remove_chosen();
                match command {
                    Command::Deny => self.denied(""),
                    command => self.answers(command),
                }
            }
            return true;
        }
        let text = text.trim();
        if text.is_empty() || self.tab().front().is_none() || self.is_too_new() {
            return !text.is_empty() && self.tab().front().is_some();
        }
        if !self.is_asked() {
            let answer = self.choice(text).unwrap_or_else(|| text.to_owned());
            self.tab_mut().composer.clear();
            self.respond(answer);
        } else if is_yes(text) {
            let allow = self.keys.answer_name(Command::AllowOnce, true);
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

/// Where the rule holds that this command grants.
fn granted_by(command: Command) -> Option<RuleExtent> {
    match command {
        Command::AllowHere => Some(RuleExtent::Here),
        Command::AllowAlways => Some(RuleExtent::Everywhere),
        _ => None,
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
