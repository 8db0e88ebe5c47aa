//! The terminal's answer about its background. The event library takes it for keys: `Alt+]`, `1`, `1`, `;` and so on to the bell
//! (`Ctrl+G`) or `Alt+\`. This module removes them again, whenever they arrive. Must never remove a key that a person pressed.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::ui::theme::Background;

/// The beginning of the answer; the parts of the colour follow.
const HEADS: [&str; 2] = ["\x1b]11;rgb:", "\x1b]11;rgba:"];

/// The most letters in the parts: four of four digits.
const PARTS: usize = 19;

/// From this many letters on, a person can't have typed it.
const CERTAIN: usize = "\x1b]11;".len();

/// How long an `Alt+]` is held until it is certain that no answer follows; also the longest time for the rest of an answer.
const KEY_MS: i64 = 100;
const REST_MS: i64 = 1_000;

/// How long after the question the terminal is not yet given back.
const LATE_MS: i64 = 150;

/// Waits for an answer; at first for none.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// When the question was sent, until the answer arrives.
    asked_ms: Option<i64>,
    /// The part that has arrived, as sent and as keys.
    said: String,
    held: Vec<KeyEvent>,
    held_ms: i64,
    /// The last key was Esc, which a slow line may have separated from an answer.
    escaped: bool,
}

impl Answer {
    /// The question was sent.
    pub(super) fn comes(now_ms: i64) -> Self {
        Self { asked_ms: Some(now_ms), ..Self::default() }
    }

    /// Whether a part of the answer has arrived.
    pub(super) fn is_begun(&self) -> bool {
        !self.held.is_empty()
    }

    /// Handles an event: returns the events that are no answer, and the answer.
    pub(super) fn take(&mut self, event: Event, now_ms: i64) -> (Vec<Event>, Option<Background>) {
        let key = match event {
            Event::Key(key) if self.asked_ms.is_some() && key.kind != KeyEventKind::Release => key,
            other => return (vec![other], None),
        };
        let partial = std::mem::replace(&mut self.escaped, key.code == KeyCode::Esc) && self.said.is_empty();
        let text = match sent(key) {
            Some(text) if partial && text == "]" => "\x1b]".to_owned(),
            Some(text) => text,
            None => return (self.give_up(Some(key)), None),
        };
        let said = format!("{}{text}", self.said);
        if !is_begun(&said) {
            if self.held.is_empty() {
                return (vec![Event::Key(key)], None);
            }
            // The held keys are no answer, but this key may begin one.
            let mut events = self.give_up(None);
            let (more, background) = self.take(Event::Key(key), now_ms);
            events.extend(more);
            return (events, background);
        }
        if is_whole(&said) {
            *self = Self::default();
            return (Vec::new(), Background::of_answer(&said));
        }
        self.said = said;
        self.held.push(key);
        self.held_ms = now_ms;
        (Vec::new(), None)
    }

    /// Time has passed: returns keys that no answer follows. The rest of an incomplete answer is dropped.
    pub(super) fn rest(&mut self, now_ms: i64) -> Vec<Event> {
        let waited = now_ms - self.held_ms;
        let is_certain = self.said.len() >= CERTAIN;
        if self.held.is_empty() || waited < if is_certain { REST_MS } else { KEY_MS } {
            return Vec::new();
        }
        let events = self.give_up(None);
        if is_certain { Vec::new() } else { events }
    }

    /// How long to wait for it before the terminal is given back.
    pub(super) fn wait(&self, now_ms: i64) -> Option<Duration> {
        let left = self.asked_ms? + LATE_MS - now_ms;
        u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }

    fn give_up(&mut self, with: Option<KeyEvent>) -> Vec<Event> {
        self.said.clear();
        self.held.drain(..).chain(with).map(Event::Key).collect()
    }
}

/// The text that the terminal sent for this key of the library. `None` if it is no part of any answer.
fn sent(key: KeyEvent) -> Option<String> {
    let KeyCode::Char(letter) = key.code else { return None };
    match key.modifiers - KeyModifiers::SHIFT {
        KeyModifiers::NONE => Some(letter.to_string()),
        KeyModifiers::ALT => Some(format!("\x1b{letter}")),
        KeyModifiers::CONTROL if letter == 'g' => Some("\x07".to_owned()),
        _ => None,
    }
}

/// The parts of the colour, and what follows them.
fn parts(said: &str) -> Option<&str> {
    HEADS.iter().find_map(|head| said.strip_prefix(head))
}

fn is_whole(said: &str) -> bool {
    said.ends_with('\x07') || said.ends_with("\x1b\\")
}

fn is_begun(said: &str) -> bool {
    let Some(parts) = parts(said) else { return HEADS.iter().any(|head| head.starts_with(said)) };
    let parts = parts.strip_suffix('\x07').or_else(|| parts.strip_suffix("\x1b\\")).unwrap_or(parts);
    parts.len() <= PARTS && parts.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that the event library makes of a terminal's output.
    fn keys(sent: &str) -> Vec<Event> {
        let mut keys = Vec::new();
        let mut letters = sent.chars().peekable();
        while let Some(letter) = letters.next() {
            let (letter, held) = match letter {
                '\x1b' if letters.peek().is_none_or(|next| *next == '\x1b') => {
                    keys.push(Event::Key(KeyCode::Esc.into()));
                    continue;
                }
                '\x1b' => (letters.next().expect("looked at"), KeyModifiers::ALT),
                '\x07' => ('g', KeyModifiers::CONTROL),
                letter if letter.is_uppercase() => (letter, KeyModifiers::SHIFT),
                letter => (letter, KeyModifiers::NONE),
            };
            keys.push(Event::Key(KeyEvent::new(KeyCode::Char(letter), held)));
        }
        keys
    }

    /// The keys that remain, and the answer.
    fn take(answer: &mut Answer, events: Vec<Event>) -> (Vec<Event>, Option<Background>) {
        let mut all = (Vec::new(), None);
        for event in events {
            let (events, background) = answer.take(event, 0);
            all = (all.0.into_iter().chain(events).collect(), all.1.or(background));
        }
        all
    }

    #[test]
    fn answer_of_the_terminal_is_removed_from_the_keys() {
        for (sent, background) in [
            ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", Background::Light),
            ("\x1b]11;rgb:1E1E/1E1E/2e2e\x07", Background::Dark),
            ("\x1b]11;rgba:ffff/ffff/ffff/ffff\x07", Background::Light),
        ] {
            for (before, after) in [("", ""), ("hello", " you"), ("\x1bx\x1b]", "\x1b]"), ("\x1b]11", "12")] {
                let mut answer = Answer::comes(0);
                let events = [keys(before), keys(sent), keys(after)].concat();
                let (mut left, found) = take(&mut answer, events);
                left.extend(answer.rest(REST_MS));
                assert_eq!(found, Some(background), "{before:?} {sent:?}");
                assert_eq!(left, [keys(before), keys(after)].concat(), "{sent:?}");
            }
        }
    }

    #[test]
    fn answer_without_its_escape_is_recognised() {
        let mut answer = Answer::comes(0);
        let events = [vec![Event::Key(KeyCode::Esc.into())], keys("]11;rgb:00/00/00\x07x")].concat();
        let (left, found) = take(&mut answer, events);
        assert_eq!(found, Some(Background::Dark));
        assert_eq!(left, [vec![Event::Key(KeyCode::Esc.into())], keys("x")].concat());
    }

    #[test]
    fn keys_that_are_no_answer_stay_unchanged() {
        for typed in
            ["hello", "\x1b]", "\x1b]11;go", "\x1b]x\x1b]", "]11;rgb:", "\x1b]11;rgb:xyz", "\x07", "\x1b\\"]
        {
            let mut answer = Answer::comes(0);
            let (mut left, found) = take(&mut answer, keys(typed));
            assert_eq!(answer.rest(KEY_MS - 1), [], "{typed:?}");
            left.extend(answer.rest(KEY_MS));
            assert_eq!((left, found), (keys(typed), None), "{typed:?}");
            assert!(!answer.is_begun());
        }
    }

    #[test]
    fn mouse_and_paste_pass_between_the_pieces_of_a_key() {
        let mut answer = Answer::comes(0);
        let answered = keys("\x1b]11;rgb:00/00/00\x07");
        let (begin, end) = answered.split_at(5);
        let events = [begin, &[Event::FocusGained, Event::Resize(80, 24)], end].concat();
        let (left, found) = take(&mut answer, events);
        assert_eq!(left, [Event::FocusGained, Event::Resize(80, 24)]);
        assert_eq!(found, Some(Background::Dark));
    }

    #[test]
    fn rest_of_an_incomplete_answer_is_not_typed() {
        let mut answer = Answer::comes(0);
        let (left, _) = take(&mut answer, keys("\x1b]11;rgb:00/00"));
        assert_eq!(left, []);
        assert!(answer.is_begun());
        assert_eq!(answer.rest(KEY_MS), []);
        assert!(answer.is_begun());
        assert_eq!(answer.rest(REST_MS), []);
        assert!(!answer.is_begun());
        assert_eq!(answer.wait(LATE_MS - 50), Some(Duration::from_millis(50)));
        assert_eq!(answer.wait(LATE_MS), None);
    }

    #[test]
    fn only_an_expected_answer_is_held_back() {
        let mut answer = Answer::default();
        let sent = keys("\x1b]11;rgb:00/00/00\x07");
        assert_eq!(take(&mut answer, sent.clone()), (sent, None));
        assert_eq!(answer.wait(0), None);
    }
}
