//! A key with its modifiers, as people write it: `ctrl+r`, `alt+enter`, `f1`, `?`.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    held: KeyModifiers,
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_code = self.code.partial_cmp(&other.code).expect("BUG: keys are ordered");
        by_code.then_with(|| self.held.bits().cmp(&other.held.bits()))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A key can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{text}” is not a key: keys are written like ctrl+r, alt+enter, shift+tab, f1, pageup, space or ?")]
pub struct KeyError {
    text: String,
}

const NAMED: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
];

impl Key {
    /// The key of an event, in one form where terminals differ: `shift+tab`, and letters without their shift.
    #[must_use]
    pub fn of(event: KeyEvent) -> Self {
        let held = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match event.code {
            KeyCode::BackTab => Self { code: KeyCode::Tab, held: held | KeyModifiers::SHIFT },
            KeyCode::Char(c) if held.contains(KeyModifiers::CONTROL) => {
                // The oldest terminal codes have no letters: they are read as digits.
                let c = match c {
                    '4' => '\\',
                    '5' => ']',
                    '6' => '^',
                    '7' | '/' | '-' => '_',
                    c => c.to_ascii_lowercase(),
                };
                Self { code: KeyCode::Char(c), held }
            }
            KeyCode::Char(c) => {
                let c = if held.contains(KeyModifiers::SHIFT) { c.to_ascii_uppercase() } else { c };
                Self { code: KeyCode::Char(c), held: held - KeyModifiers::SHIFT }
            }
            code => Self { code, held },
        }
    }

    /// The key that terminals report instead, if they can't report this one: the control codes of these letters are those
    /// keys.
    #[must_use]
    pub fn told_as(self) -> Option<Self> {
        let code = match self.code {
            KeyCode::Char('i') => KeyCode::Tab,
            KeyCode::Char('m') => KeyCode::Enter,
            KeyCode::Char('[') => KeyCode::Esc,
            _ => return None,
        };
        (self.held == KeyModifiers::CONTROL).then_some(Self { code, held: KeyModifiers::NONE })
    }

    /// The event of pressing it.
    #[must_use]
    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.held)
    }

    /// The letter that it types, if any.
    #[must_use]
    pub fn letter(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.held.is_empty() => Some(c),
            _ => None,
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let wrong = || KeyError { text: text.to_owned() };
        let mut held = KeyModifiers::NONE;
        let mut rest = text;
        loop {
            let lower = rest.to_ascii_lowercase();
            let (name, modifier) = match () {
                () if lower.starts_with("ctrl+") => ("ctrl+", KeyModifiers::CONTROL),
                () if lower.starts_with("alt+") => ("alt+", KeyModifiers::ALT),
                () if lower.starts_with("shift+") => ("shift+", KeyModifiers::SHIFT),
                () => break,
            };
            held |= modifier;
            rest = &rest[name.len()..];
        }
        let lower = rest.to_ascii_lowercase();
        if let Some((_, code)) = NAMED.iter().find(|(name, _)| *name == lower) {
            return Ok(Self { code: *code, held });
        }
        if let Some(number) = lower.strip_prefix('f').and_then(|number| number.parse().ok()) {
            return if (1..=12).contains(&number) {
                Ok(Self { code: KeyCode::F(number), held })
            } else {
                Err(wrong())
            };
        }
        let mut letters = rest.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if !letter.is_control() => {
                // As terminals report it: the letter of `Alt+D` is a capital without Shift.
                let is_small = held.contains(KeyModifiers::ALT) && !held.contains(KeyModifiers::SHIFT);
                let letter = if is_small { letter.to_ascii_lowercase() } else { letter };
                Ok(Self::of(KeyEvent::new(KeyCode::Char(letter), held)))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in
            [(KeyModifiers::CONTROL, "Ctrl+"), (KeyModifiers::ALT, "Alt+"), (KeyModifiers::SHIFT, "Shift+")]
        {
            if self.held.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::F(number) => write!(f, "F{number}"),
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(letter) if self.held.contains(KeyModifiers::ALT) && letter.is_ascii_uppercase() => {
                write!(f, "Shift+{letter}")
            }
            KeyCode::Char(letter) if self.held.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                write!(f, "{}", letter.to_ascii_uppercase())
            }
            KeyCode::Char(letter) => write!(f, "{letter}"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            code => {
                let named = NAMED.iter().find(|(_, named)| *named == code);
                let name = named.map_or("?", |(name, _)| *name);
                write!(f, "{}{}", name[..1].to_uppercase(), &name[1..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_and_named() {
        for (text, told) in [
            ("ctrl+r", "Ctrl+R"),
            ("Ctrl+R", "Ctrl+R"),
            ("alt+enter", "Alt+Enter"),
            ("alt+d", "Alt+D"),
            ("Alt+D", "Alt+D"),
            ("alt+shift+u", "Alt+Shift+U"),
            ("shift+tab", "Shift+Tab"),
            ("f1", "F1"),
            ("pageup", "PgUp"),
            ("?", "?"),
            ("R", "R"),
            ("ctrl++", "Ctrl++"),
            ("space", "Space"),
        ] {
            assert_eq!(text.parse::<Key>().map(|key| key.to_string()), Ok(told.to_owned()), "{text}");
        }
        for text in ["", "ctrl+", "f13", "hyper+x", "xy"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }

    #[test]
    fn terminals_that_differ_agree() {
        let key = |code, held| Key::of(KeyEvent::new(code, held));
        assert_eq!(key(KeyCode::Char('U'), KeyModifiers::ALT), "alt+shift+u".parse().expect("a key"));
        assert_eq!(key(KeyCode::Char('7'), KeyModifiers::CONTROL), "ctrl+_".parse().expect("a key"));
        assert_eq!(key(KeyCode::Char('/'), KeyModifiers::CONTROL), "ctrl+_".parse().expect("a key"));
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), "shift+tab".parse().expect("a key"));
        assert_eq!(key(KeyCode::Char('R'), KeyModifiers::SHIFT), "R".parse().expect("a key"));
        assert_eq!(key(KeyCode::Char('R'), KeyModifiers::CONTROL), "ctrl+r".parse().expect("a key"));
    }
}
