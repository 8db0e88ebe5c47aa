//! Which keys do what. One table says of each command its name, its help, where it holds and its usual keys; help, settings and
//! dispatch are made from it. Must never bind one key twice in one place.

mod key;
mod table;

use std::collections::BTreeMap;

pub use key::{Key, KeyError};
pub use table::{Command, Context};

/// Which keys do what.
#[derive(Clone, Debug)]
pub struct Keymap {
    /// By place and key.
    bound: BTreeMap<(Context, Key), Command>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut bound = BTreeMap::new();
        for row in table::TABLE {
            for key in row.keys {
                let key = key.parse().expect("BUG: the keys of the table can be read");
                let before = bound.insert((row.context, key), row.command);
                assert!(before.is_none(), "BUG: {key} is bound twice in {:?}", row.context);
            }
        }
        Self { bound }
    }
}

impl Keymap {
    /// What a key does in a place: there, else in the wider place around it.
    #[must_use]
    pub fn find(&self, context: Context, key: Key) -> Option<Command> {
        let mut place = Some(context);
        while let Some(here) = place {
            if let Some(command) = self.bound.get(&(here, key)) {
                return Some(*command);
            }
            place = here.around();
        }
        None
    }

    /// Gives a command other keys, in the place of those it has; no keys switch them off. A key that another command has there goes
    /// over to this one.
    pub fn bind(&mut self, command: Command, keys: &[Key]) {
        let context = command.row().context;
        self.bound.retain(|_, bound| *bound != command);
        for key in keys {
            self.bound.insert((context, *key), command);
        }
    }

    /// The keys of a command, as they are told to people.
    #[must_use]
    pub fn keys(&self, command: Command) -> Vec<Key> {
        self.bound.iter().filter(|(_, bound)| **bound == command).map(|((_, key), _)| *key).collect()
    }

    /// The first key of a command in words; its name as it is typed, where it has none.
    #[must_use]
    pub fn named(&self, command: Command) -> String {
        let usual = command.row().keys.first().and_then(|key| key.parse().ok());
        let keys = self.keys(command);
        let first = usual.filter(|key| keys.contains(key)).or_else(|| keys.first().copied());
        first.map_or_else(|| format!("/{}", command.row().name), |key: Key| key.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_here_or_around() {
        let keys = Keymap::default();
        let key = |text: &str| text.parse::<Key>().expect("a key");
        assert_eq!(keys.find(Context::Talk, key("ctrl+r")), Some(Command::Rewind));
        assert_eq!(keys.find(Context::Rewind, key("down")), Some(Command::Down));
        assert_eq!(keys.find(Context::Rewind, key("f1")), Some(Command::Help));
        assert_eq!(keys.find(Context::Talk, key("x")), None);
    }

    #[test]
    fn other_keys_take_the_place_of_the_usual_ones() {
        let mut keys = Keymap::default();
        let key = |text: &str| text.parse::<Key>().expect("a key");
        keys.bind(Command::Rewind, &[key("f5")]);
        assert_eq!(keys.find(Context::Talk, key("ctrl+r")), None);
        assert_eq!(keys.find(Context::Talk, key("f5")), Some(Command::Rewind));
        assert_eq!(keys.named(Command::Rewind), "F5");
        keys.bind(Command::Rewind, &[]);
        assert_eq!(keys.named(Command::Rewind), "/rewind");
    }

    #[test]
    fn every_command_has_one_row() {
        for row in table::TABLE {
            assert_eq!(row.command.row().name, row.name);
            assert_eq!(table::TABLE.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
