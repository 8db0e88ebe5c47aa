//! The names of commands after a slash, which are the same in every client. Must never run anything: it says which command was meant.

use super::keymap::TABLE;

/// Names in other programs, and in earlier versions of this one, and what has that function here.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("abort", "stop"),
    ("alternatives", "choose"),
    ("approvals", "permissions"),
    ("branch", "fork"),
    ("branches", "tree"),
    ("bye", "quit"),
    ("chats", "list"),
    ("clear", "new"),
    ("conversations", "list"),
    ("exit", "quit"),
    ("history", "log"),
    ("keys", "help"),
    ("models", "model"),
    ("mode", "permissions"),
    ("q", "quit"),
    ("regenerate", "retry"),
    ("rename", "title"),
    ("reset", "new"),
    ("resume", "list"),
    ("rollback", "rewind"),
    ("sessions", "list"),
    ("status", "files"),
    ("todos", "todo"),
    ("usage", "cost"),
    ("vim", "editor"),
];

/// Commands of conversations by lines that the full screen does not have; each is a verb of the command line, too.
pub const BY_LINES_ONLY: &[&str] = &["export", "log"];

/// Verbs of the command line that no client in the terminal has as a command.
pub const IN_A_SHELL: &[&str] = &[
    "archive",
    "ask",
    "backup",
    "completions",
    "config",
    "doctor",
    "erase",
    "exec",
    "fold",
    "gateway",
    "hooks",
    "import",
    "man",
    "outbox",
    "pair",
    "place",
    "posts",
    "request",
    "say",
    "serve",
    "targets",
    "token",
    "unfold",
    "workspace",
];

/// The least likeness of a name that may be a typing error, between 0 and 1.
const ALIKE: f64 = 0.7;

/// What a name that is no command may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A command of this client.
    Here(&'static str),
    /// A command that this client does not have.
    Elsewhere(&'static str),
}

/// What was meant by `name`, which is no command of the client that has the commands `here` and not those of `elsewhere`.
#[must_use]
pub fn meant(
    name: &str,
    here: &[&'static str],
    elsewhere: impl IntoIterator<Item = &'static str>,
) -> Option<Meant> {
    let name = name.to_lowercase();
    let elsewhere: Vec<_> = elsewhere.into_iter().filter(|other| !here.contains(other)).collect();
    let known = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(&*name, |(_, ours)| ours);
    let of = |names: &[&'static str]| names.iter().copied().find(|ours| *ours == known);
    if let Some(ours) = of(here) {
        return Some(Meant::Here(ours));
    }
    if let Some(other) = of(&elsewhere) {
        return Some(Meant::Elsewhere(other));
    }
    let likeness = |ours: &&'static str| (strsim::jaro_winkler(ours, &name), *ours);
    let alike = here.iter().map(likeness).filter(|(likeness, _)| *likeness > ALIKE);
    alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, ours)| Meant::Here(ours))
}

/// The commands of the full screen.
#[must_use]
pub fn of_full_screen() -> Vec<&'static str> {
    TABLE.iter().filter(|row| row.takes.is_some()).map(|row| row.typed_name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_programs_lead_to_ours() {
        let here = of_full_screen();
        let of = |name: &str| meant(name, &here, BY_LINES_ONLY.iter().copied());
        assert_eq!(of("clear"), Some(Meant::Here("new")));
        assert_eq!(of("exit"), Some(Meant::Here("quit")));
        assert_eq!(of("Resume"), Some(Meant::Here("list")));
        assert_eq!(of("rewnd"), Some(Meant::Here("rewind")));
        assert_eq!(of("history"), Some(Meant::Elsewhere("log")));
        assert_eq!(of("usr/bin/env"), None);
    }

    #[test]
    fn verbs_of_the_command_line_are_no_commands_here() {
        let here = of_full_screen();
        for verb in IN_A_SHELL {
            assert!(!here.contains(verb) && !BY_LINES_ONLY.contains(verb), "{verb}");
            assert!(OTHER_NAMES.iter().all(|(other, _)| other != verb), "{verb}");
        }
    }

    #[test]
    fn each_other_name_leads_to_a_command_and_is_none_itself() {
        let here = of_full_screen();
        for (other, ours) in OTHER_NAMES {
            assert!(here.contains(ours) || BY_LINES_ONLY.contains(ours), "{ours}");
            assert!(!here.contains(other) && !BY_LINES_ONLY.contains(other), "{other}");
        }
    }
}
