//! Which keys do what. One table gives the name, help, place and default keys of each command; help, settings and dispatch are
//! made from it. Must never bind one key twice in one place.

mod key;
mod table;

use std::collections::BTreeMap;

pub use key::{Key, KeyError};
pub use table::{Command, Context};
pub(crate) use table::{Row, TABLE};

/// The keymap.
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
    /// The command of a key in a place, else in the wider place around it.
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

    /// Replaces the keys of a command; an empty list disables them. A key of another command in the same place moves to this one.
    pub fn bind(&mut self, command: Command, keys: &[Key]) {
        let context = command.row().context;
        self.bound.retain(|_, bound| *bound != command);
        for key in keys {
            self.bound.insert((context, *key), command);
        }
    }

    /// Rebinds commands from the settings: command names as in the table, keys as text; an empty list disables. Errors are
    /// returned as sentences, and those commands keep their keys; `at` gives the position of a setting.
    pub fn configure(
        &mut self,
        settings: &BTreeMap<String, Vec<String>>,
        at: &dyn Fn(&str) -> String,
    ) -> Vec<String> {
        let at = |name: &str| at(&format!("face.keys.{name}"));
        let mut wrong = Vec::new();
        let mut given: BTreeMap<(Context, Key), &str> = BTreeMap::new();
        for (name, texts) in settings {
            let Some(row) = TABLE.iter().find(|row| row.name == name) else {
                wrong.push(format!("{}: {}", at(name), no_command(name)));
                continue;
            };
            let mut keys = Vec::new();
            for text in texts {
                match text.parse::<Key>() {
                    Err(error) => wrong.push(format!("{}: {error}", at(name))),
                    Ok(key) => match (key.told_as(), given.get(&(row.context, key))) {
                        (Some(other), _) => wrong.push(format!(
                            "{}: terminals report {key} as {other}; choose another key",
                            at(name)
                        )),
                        (_, Some(other)) => {
                            wrong.push(format!("{}: {key} is given to {other} already", at(name)));
                        }
                        (None, None) => keys.push(key),
                    },
                }
            }
            // A command whose keys are all invalid keeps its keys.
            if keys.is_empty() && !texts.is_empty() {
                continue;
            }
            given.extend(keys.iter().map(|key| ((row.context, *key), row.name)));
            self.bind(row.command, &keys);
        }
        wrong.extend(self.lost(settings, &at));
        wrong
    }

    /// The commands that lost their last key to another one.
    fn lost(&self, settings: &BTreeMap<String, Vec<String>>, at: &dyn Fn(&str) -> String) -> Vec<String> {
        let usual = Self::default();
        let lost = TABLE.iter().filter(|row| {
            !settings.contains_key(row.name) && !row.keys.is_empty() && self.keys(row.command).is_empty()
        });
        let told = lost.filter_map(|row| {
            let key = *usual.keys(row.command).first()?;
            let taker = self.bound.get(&(row.context, key))?.row().name;
            Some(format!("{}: {key} was the only key of {}, which has none now", at(taker), row.name))
        });
        told.collect()
    }

    /// The keys of a command.
    #[must_use]
    pub fn keys(&self, command: Command) -> Vec<Key> {
        self.bound.iter().filter(|(_, bound)| **bound == command).map(|((_, key), _)| *key).collect()
    }

    /// The first key of a command that types no letter: it also works while text is being written.
    #[must_use]
    pub fn beside_words(&self, command: Command) -> Option<Key> {
        let usual = command.row().keys.iter().filter_map(|key| key.parse().ok());
        let keys = self.keys(command);
        let usual: Vec<Key> = usual.filter(|key| keys.contains(key)).collect();
        usual.into_iter().chain(keys).find(|key| key.letter().is_none())
    }

    /// The key of a command in words that is valid now: while text is being written, one that types no letter, if there is one.
    pub(crate) fn named_while(&self, command: Command, is_writing: bool) -> String {
        let beside = self.beside_words(command).filter(|_| is_writing);
        beside.map_or_else(|| self.named(command), |key| key.to_string())
    }

    /// The keys of an answer to a request in words that are valid now: while text is being written, not its letter.
    pub(crate) fn answer_name(&self, command: Command, is_writing: bool) -> String {
        let name = self.named_while(command, is_writing);
        let is_letter = name.parse::<Key>().is_ok_and(|key| key.letter().is_some());
        let is_answer = command.row().context == Context::Asked && command != Command::ShowCall;
        let needs_enter = is_answer && (is_letter || command != Command::AllowWider);
        if needs_enter { format!("{name} {}", self.named(Command::Grant)) } else { name }
    }

    /// The first key of a command in words; without a key, the name to type.
    #[must_use]
    pub fn named(&self, command: Command) -> String {
        let usual = command.row().keys.first().and_then(|key| key.parse().ok());
        let keys = self.keys(command);
        let first = usual.filter(|key| keys.contains(key)).or_else(|| keys.first().copied());
        first.map_or_else(|| format!("/{}", command.row().typed_name()), |key: Key| key.to_string())
    }
}

fn no_command(name: &str) -> String {
    let name = crate::text::safe::line(name);
    let same = TABLE.iter().filter(|row| row.name.contains(&*name) || name.contains(row.name));
    let meant = same.map(|row| row.name).next();
    let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    format!("there is no command “{name}”{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(settings: &[(&str, &[&str])]) -> (Keymap, Vec<String>) {
        let mut keys = Keymap::default();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let settings = settings.iter().map(|(name, keys)| ((*name).to_owned(), texts(keys))).collect();
        let wrong = keys.configure(&settings, &|key| format!("settings, {key}"));
        (keys, wrong)
    }

    #[test]
    fn settings_give_other_keys() {
        let (keys, wrong) = configured(&[("rewind", &["f5", "alt+r"]), ("reasoning", &[]), ("undo", &[])]);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(keys.named(Command::Rewind), "F5");
        assert_eq!(keys.find(Context::Talk, "alt+r".parse().expect("a key")), Some(Command::Rewind));
        assert_eq!(keys.keys(Command::Reasoning), []);
        assert_eq!(keys.named(Command::Undo), "/undo");
    }

    #[test]
    fn errors_in_settings_are_reported() {
        let said = |settings: &[(&str, &[&str])]| configured(settings).1;
        assert_eq!(
            said(&[("rewin", &["f5"])]),
            ["settings, face.keys.rewin: there is no command “rewin”; did you mean rewind?"]
        );
        assert_eq!(
            said(&[("rewind", &["ctrl+i"])]),
            ["settings, face.keys.rewind: terminals report Ctrl+I as Tab; choose another key"]
        );
        assert_eq!(
            said(&[("rewind", &["hyper+x"])]),
            [
                "settings, face.keys.rewind: “hyper+x” is not a key: keys are written like ctrl+r, alt+enter, shift+tab, f1, pageup, space or ?"
            ]
        );
        assert_eq!(
            said(&[("rewind", &["f5"]), ("tree", &["f5"])]),
            ["settings, face.keys.tree: F5 is given to rewind already"]
        );
        assert_eq!(
            said(&[("rewind", &["alt+t"])]),
            ["settings, face.keys.rewind: Alt+T was the only key of tree, which has none now"]
        );
    }

    #[test]
    fn a_command_whose_keys_are_wrong_keeps_its_own() {
        let (keys, _) = configured(&[("rewind", &["ctrl+m"])]);
        assert_eq!(keys.named(Command::Rewind), "Ctrl+R");
    }

    #[test]
    fn no_key_of_a_narrow_place_hides_one_that_is_needed() {
        // The same function in another place, or the wider place's function is useless there.
        let meant: &[(&str, &str)] = &[
            ("beside", "new"),
            // A request is answered before its tab is closed.
            ("allow-wider", "close"),
            ("select-up", "history-up"),
            ("select-up", "select"),
            ("select-down", "history-down"),
            ("select-page-up", "scroll-up"),
            ("select-page-down", "scroll-down"),
            ("select-leave", "escape"),
            ("select-open", "send"),
            ("grant", "send"),
            ("find-next", "send"),
            ("find-next", "newline"),
            ("find-next", "history-down"),
            ("find-previous", "newline"),
            ("find-previous", "history-up"),
            ("find-leave", "escape"),
        ];
        let keys = Keymap::default();
        for ((place, key), command) in &keys.bound {
            let Some(hidden) = place.around().and_then(|around| keys.find(around, *key)) else { continue };
            let pair = (command.row().name, hidden.row().name);
            assert!(meant.contains(&pair), "{key} in {place:?}: {} hides {}", pair.0, pair.1);
        }
    }

    #[test]
    fn no_usual_key_is_one_that_terminals_keep_or_cannot_tell() {
        let keys = Keymap::default();
        // Keys of the shell, beginnings of escape sequences, and the word motions of line editors.
        let kept =
            ["alt+[", "alt+shift+o", "alt+left", "alt+right", "alt+b", "alt+f", "ctrl+left", "ctrl+right"];
        let editing =
            ["ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+y", "ctrl+d", "ctrl+h", "home", "end"];
        for (place, key) in keys.bound.keys() {
            let named = |text: &&str| text.parse::<Key>() == Ok(*key);
            assert_eq!(key.told_as(), None, "{key}");
            assert!(!kept.iter().any(named), "{key}");
            let is_writing =
                matches!(place, Context::Everywhere | Context::Talk | Context::Asked | Context::Grant);
            assert!(!(is_writing && editing.iter().any(named)), "{key} is needed for writing");
        }
    }

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
    fn configured_keys_replace_the_default_ones() {
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
