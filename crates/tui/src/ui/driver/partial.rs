//! Keys with Alt as many terminals send them: `ESC`, then the key's own sequence, `ESC [ A`. The event library makes Esc, `[` and
//! `A` of that; this module joins them to one key again. Must never hold a key longer than the parts of one key can take.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The parts of one key arrive within this many milliseconds; nobody types so fast.
pub(super) const AT_ONCE_MS: u16 = 5;

/// The most digits of a key.
const DIGITS: usize = 4;

/// An Esc that may begin such a key, and the keys after it.
#[derive(Debug, Default)]
pub(super) struct PartialKey {
    held: Vec<KeyEvent>,
    held_ms: i64,
}

impl PartialKey {
    /// Whether a key is held.
    pub(super) fn is_begun(&self) -> bool {
        !self.held.is_empty()
    }

    /// Handles an event: returns complete keys.
    pub(super) fn take(&mut self, event: Event, now_ms: i64) -> Vec<Event> {
        let key = match event {
            Event::Key(key) if key.kind == KeyEventKind::Press => key,
            other => return self.give_up().into_iter().chain([other]).collect(),
        };
        let letter = match key.code {
            KeyCode::Char(letter) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(letter),
            _ => None,
        };
        if let Some(code) = letter.and_then(|last| self.code(last)) {
            self.held.clear();
            return vec![Event::Key(KeyEvent::new(code, KeyModifiers::ALT))];
        }
        match (self.held.len(), letter) {
            (0, _) if key == KeyEvent::from(KeyCode::Esc) => self.hold(key, now_ms),
            (0, _) => vec![Event::Key(key)],
            (1, Some('[')) => self.hold(key, now_ms),
            (2..=DIGITS, Some('0'..='9')) => self.hold(key, now_ms),
            _ => {
                let mut events = self.give_up();
                events.extend(self.take(Event::Key(key), now_ms));
                events
            }
        }
    }

    /// Time has passed: returns keys that nothing has followed; they were pressed separately.
    pub(super) fn rest(&mut self, now_ms: i64) -> Vec<Event> {
        if now_ms - self.held_ms < i64::from(AT_ONCE_MS) { Vec::new() } else { self.give_up() }
    }

    fn give_up(&mut self) -> Vec<Event> {
        self.held.drain(..).map(Event::Key).collect()
    }

    fn hold(&mut self, key: KeyEvent, now_ms: i64) -> Vec<Event> {
        self.held.push(key);
        self.held_ms = now_ms;
        Vec::new()
    }

    /// The key of a sequence with this last letter.
    fn code(&self, last: char) -> Option<KeyCode> {
        let digits: String = self.held.get(2..)?.iter().filter_map(|key| key.code.as_char()).collect();
        Some(match (&*digits, last) {
            ("", 'A') => KeyCode::Up,
            ("", 'B') => KeyCode::Down,
            ("", 'C') => KeyCode::Right,
            ("", 'D') => KeyCode::Left,
            ("" | "1", 'H') | ("1" | "7", '~') => KeyCode::Home,
            ("" | "1", 'F') | ("4" | "8", '~') => KeyCode::End,
            ("3", '~') => KeyCode::Delete,
            ("5", '~') => KeyCode::PageUp,
            ("6", '~') => KeyCode::PageDown,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that the event library makes of this text, in which `^` is Esc.
    fn keys(sent: &str) -> Vec<Event> {
        let key = |letter: char| match letter {
            '^' => KeyCode::Esc.into(),
            letter if letter.is_uppercase() => KeyEvent::new(KeyCode::Char(letter), KeyModifiers::SHIFT),
            letter => KeyCode::Char(letter).into(),
        };
        sent.chars().map(|letter| Event::Key(key(letter))).collect()
    }

    fn alt(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::ALT))
    }

    /// The keys returned at once, and those returned when nothing follows.
    fn taken(sent: Vec<Event>) -> (Vec<Event>, Vec<Event>) {
        let mut partial = PartialKey::default();
        let whole = sent.into_iter().flat_map(|event| partial.take(event, 0)).collect();
        assert_eq!(partial.rest(i64::from(AT_ONCE_MS) - 1), [], "not yet");
        let rest = partial.rest(AT_ONCE_MS.into());
        assert!(!partial.is_begun());
        (whole, rest)
    }

    #[test]
    fn key_that_arrives_in_pieces_is_joined() {
        for (sent, code) in [
            ("^[A", KeyCode::Up),
            ("^[D", KeyCode::Left),
            ("^[H", KeyCode::Home),
            ("^[5~", KeyCode::PageUp),
            ("^[3~", KeyCode::Delete),
        ] {
            assert_eq!(taken(keys(sent)), (vec![alt(code)], Vec::new()), "{sent}");
        }
        let (whole, rest) = taken(keys("x^[A^[By"));
        assert_eq!(whole, [keys("x"), vec![alt(KeyCode::Up), alt(KeyCode::Down)], keys("y")].concat());
        assert_eq!(rest, []);
    }

    #[test]
    fn key_event_kind_is_preserved() {
        for sent in ["^", "^^", "^x", "^[", "^[x", "^[1", "^[12345~", "^[Z", "[A", "^^[", "^[^"] {
            let (whole, rest) = taken(keys(sent));
            assert_eq!([whole, rest].concat(), keys(sent), "{sent}");
        }
        let resized = vec![Event::Resize(80, 24)];
        let (whole, rest) = taken([keys("^"), resized.clone()].concat());
        assert_eq!((whole, rest), ([keys("^"), resized].concat(), Vec::new()));
        assert!(taken(keys("^")).0.is_empty(), "an Esc waits until nothing follows");
    }
}
