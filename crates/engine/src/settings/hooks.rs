//! The hooks of the settings. One that is not complete is reported, and never runs.

mod folder;

use std::path::PathBuf;
use std::time::Duration;

use retake_core::{DeliveryEvent, DeliveryOrder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::MEMORY;
use super::values::{self, Seconds};
use super::{Settings, SettingsError, wrong};
use crate::secret::KeySource;

pub(crate) use folder::{HOOKS_FILE, HookEntry, folder_hooks};

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Its name in the settings.
    pub name: String,
    /// The events that it gets.
    pub events: Vec<DeliveryEvent>,
    /// Where deliveries go.
    pub target: HookTarget,
    /// Whether it gets the texts of messages.
    pub texts: bool,
    /// Only conversations in this folder.
    pub folder: Option<String>,
    /// The time limit of a delivery.
    pub limit: Duration,
    /// How long a delivery is tried again.
    pub keep_trying: Duration,
    /// In which order it gets the deliveries of a conversation.
    pub order: DeliveryOrder,
}

/// Where the deliveries of a hook go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookTarget {
    /// An address, and the secret that signs requests.
    Url(String, KeySource),
    /// A command.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Whether it reaches the network.
        network: bool,
        /// Folders in which it may write.
        write: Vec<PathBuf>,
    },
}

/// A table `[hook.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookTable {
    /// What it gets: "said", "rewound", "restored", "switched", "marked", "erased", "turn-ended" and
    /// "approval-waiting". A rewind never waits for a hook.
    #[serde(deserialize_with = "values::events")]
    pub(super) on: Vec<String>,
    /// The address that gets a request for each event, in the form of CloudEvents.
    #[serde(deserialize_with = "values::hook_url")]
    pub(super) url: Option<String>,
    /// Or the program and its arguments: `["/home/me/bin/on-rewind"]`. It reads the event on its standard input, and runs in
    /// the sandbox.
    #[serde(deserialize_with = "values::texts")]
    pub(super) command: Vec<String>,
    /// The environment variable with the secret that signs requests (HMAC-SHA256, as in Standard Webhooks).
    #[serde(deserialize_with = "values::variable")]
    pub(super) secret_env: Option<String>,
    /// Or the file with the secret, alone on one line, readable by you only (chmod 600).
    pub(super) secret_file: Option<PathBuf>,
    /// Whether events carry the texts of messages. Without it they carry ids and counts.
    pub(super) text: bool,
    /// Only conversations in this folder and below it: "/home/me/project". Unset: all.
    pub(super) folder: Option<PathBuf>,
    /// Seconds that a request or a command may take.
    pub(super) timeout_s: Seconds<1, 300>,
    /// Seconds that an event is tried again. Then it is passed over, and `retake outbox` lists it.
    pub(super) keep_trying_s: Seconds<0, { 30 * 24 * 3600 }>,
    /// Whether events of a conversation come in their order. Without it, one that must be tried again does not hold up
    /// those after it.
    pub(super) in_order: bool,
    /// Whether the command reaches the network.
    pub(super) network: bool,
    /// Folders that the command may write beside temporary ones: `["/home/me/log"]`.
    #[serde(deserialize_with = "values::folders")]
    pub(super) write: Vec<PathBuf>,
}

impl Default for HookTable {
    fn default() -> Self {
        Self {
            on: Vec::new(),
            url: None,
            command: Vec::new(),
            secret_env: None,
            secret_file: None,
            text: false,
            folder: None,
            timeout_s: Seconds::new(10),
            keep_trying_s: Seconds::new(24 * 3600),
            in_order: true,
            network: false,
            write: Vec::new(),
        }
    }
}

impl HookTable {
    /// Why it is not complete: the setting, and the problem.
    fn defect(&self, name: &str) -> Option<(&'static str, &'static str)> {
        if name == MEMORY {
            return Some(("on", "is of a hook with the name memory, which the memory service has"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Some((
                "on",
                "is of a hook whose name has other characters than letters, digits, - and _",
            ));
        }
        match (&self.url, self.command.is_empty()) {
            (Some(_), false) => return Some(("command", "and url are both given; a hook has one of them")),
            (None, true) => return Some(("url", "and command are missing, so this hook is never called")),
            (Some(_), true) if self.network || !self.write.is_empty() => {
                return Some(("url", "is given with network or write, which are for commands"));
            }
            _ => {}
        }
        if self.secret_env.is_some() && self.secret_file.is_some() {
            return Some(("secret_file", "and secret_env are both given; one of them is enough"));
        }
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
            return Some(("folder", "takes a folder whose path begins with a slash"));
        }
        self.on.is_empty().then_some(("on", "is missing, so this hook is never called"))
    }

    fn hook(&self, name: &str) -> Hook {
        let file = self.secret_file.clone().map(KeySource::File);
        let secret = self.secret_env.clone().map(KeySource::Env).or(file).unwrap_or(KeySource::None);
        let target = match &self.url {
            Some(url) => HookTarget::Url(url.clone(), secret),
            None => HookTarget::Command {
                words: self.command.clone(),
                network: self.network,
                write: self.write.clone(),
            },
        };
        Hook {
            name: name.to_owned(),
            events: self.on.iter().filter_map(|event| DeliveryEvent::from_name(event)).collect(),
            target,
            texts: self.text,
            folder: self.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
            limit: self.timeout_s.0,
            keep_trying: self.keep_trying_s.0,
            order: if self.in_order { DeliveryOrder::Strict } else { DeliveryOrder::Scheduled },
        }
    }
}

impl Settings {
    /// The hooks that are complete.
    pub fn hooks(&self) -> Vec<Hook> {
        let whole = self.hook.iter().filter(|(name, given)| given.defect(name).is_none());
        whole.map(|(name, given)| given.hook(name)).collect()
    }

    /// What is wrong with hooks as a whole.
    pub(super) fn wrong_hooks(&self, text: &str) -> Vec<SettingsError> {
        let defects = self.hook.iter().filter_map(|(name, given)| Some((name, given.defect(name)?)));
        defects.map(|(name, (field, problem))| wrong(text, &["hook", name, field], problem)).collect()
    }

    /// The variables in which secrets of hooks and of the memory service may be.
    pub(super) fn secret_variables(&self) -> impl Iterator<Item = String> {
        let hooks = self.hook.values().filter_map(|given| given.secret_env.clone());
        hooks.chain(self.agent.memory.secret_env.clone())
    }

    /// The files with secrets of hooks and of the memory service.
    pub fn secret_files(&self) -> impl Iterator<Item = PathBuf> {
        let hooks = self.hook.values().filter_map(|given| given.secret_file.clone());
        hooks.chain(self.agent.memory.secret_file.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_needs_events_and_one_target() {
        let text = "[hook.a]\non = [\"rewound\", \"said\"]\nurl = \"https://example.org/h?t=1\"\n\
                    [hook.b]\non = [\"said\"]\n[hook.c]\non = [\"said\"]\nurl = \"http://h\"\ncommand = [\"x\"]\n\
                    [hook.d]\nurl = \"http://h\"\n[hook.memory]\non = [\"said\"]\nurl = \"http://h\"\n\
                    [hook.n]\non = [\"said\"]\nnetwork = true\nurl = \"http://h\"\n[hook.\"e f\"]\non = [\"said\"]\nurl = \"http://h\"";
        let settings = Settings::parse(text).expect("valid");
        let names: Vec<String> = settings.hooks().into_iter().map(|hook| hook.name).collect();
        assert_eq!(names, ["a"]);
        let wrong: Vec<String> = Settings::check(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            wrong,
            [
                "the setting hook.b.url (line 4) and command are missing, so this hook is never called",
                "the setting hook.c.command (line 9) and url are both given; a hook has one of them",
                "the setting hook.d.on (line 10) is missing, so this hook is never called",
                "the setting hook.e f.on (line 20) is of a hook whose name has other characters than letters, digits, - and _",
                "the setting hook.memory.on (line 13) is of a hook with the name memory, which the memory service has",
                "the setting hook.n.url (line 18) is given with network or write, which are for commands",
            ]
        );
    }

    #[test]
    fn wrong_values_of_hooks_are_named() {
        let rows = [
            ("hook.a.on = [\"rewind\"]", "it is not one of said, rewound"),
            ("hook.a.url = \"ftp://x\"", "begins with http"),
            ("hook.a.url = \"https://me:pw@x\"", "without user and password"),
            ("hook.a.write = [\"log\"]", "does not begin with a slash"),
            ("hook.a.timeout_s = 0", "takes a whole number from 1 to 300"),
        ];
        for (text, expected) in rows {
            let wrong: Vec<String> = Settings::check(text).iter().map(ToString::to_string).collect();
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{text}: {wrong:?}");
        }
    }
}
