//! The settings of memory: what turns recall, and a memory service that is asked, too.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{self, Seconds, WholeNumber};
use super::{Settings, SettingsError, wrong};
use crate::secret::KeySource;

/// The name of the memory service in the outbox. No hook has it.
pub(crate) const MEMORY: &str = "memory";

/// The table `[agent.memory]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Whether the model gets remembered facts at the beginning of a turn: the newest ones, and those that the memory
    /// service recalls. Each is given once.
    pub recall: bool,
    /// The most facts that a turn gets by itself.
    pub(super) facts: WholeNumber<1, 100>,
    /// Whether the model has the tools remember, recall and forget.
    pub tools: bool,
    /// The address of a memory service beside the built-in memory. It gets the texts of all conversations, and
    /// answers questions for facts.
    #[serde(deserialize_with = "values::hook_url")]
    pub(super) url: Option<String>,
    /// The environment variable with the secret that signs requests to the service, as for hooks.
    #[serde(deserialize_with = "values::variable")]
    pub(super) secret_env: Option<String>,
    /// Or the file with the secret, alone on one line, readable by you only (chmod 600).
    pub(super) secret_file: Option<PathBuf>,
    /// Seconds that the service may take for an answer. A turn waits for it.
    pub(super) timeout_s: Seconds<1, 60>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            recall: true,
            facts: WholeNumber(20),
            tools: true,
            url: None,
            secret_env: None,
            secret_file: None,
            timeout_s: Seconds::new(5),
        }
    }
}

/// A memory service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryServiceSettings {
    /// Its address.
    pub url: String,
    /// The secret that signs requests.
    pub secret: KeySource,
    /// The time limit of an answer.
    pub limit: Duration,
}

impl Memory {
    /// The most facts that a turn gets by itself; 0 for none.
    pub fn recalled(&self) -> usize {
        if self.recall { usize::try_from(self.facts.0).unwrap_or(usize::MAX) } else { 0 }
    }

    /// The memory service, if there is one.
    pub fn service(&self) -> Option<MemoryServiceSettings> {
        let file = self.secret_file.clone().map(KeySource::File);
        let secret = self.secret_env.clone().map(KeySource::Env).or(file).unwrap_or(KeySource::None);
        let url = self.url.clone()?;
        Some(MemoryServiceSettings { url, secret, limit: self.timeout_s.0 })
    }
}

impl Settings {
    /// What is wrong with the settings of memory as a whole.
    pub(super) fn wrong_memory(&self, text: &str) -> Option<SettingsError> {
        let memory = &self.agent.memory;
        let has_secret = memory.secret_env.is_some() || memory.secret_file.is_some();
        let (field, problem) = match (&memory.url, &memory.secret_env, &memory.secret_file) {
            (_, Some(_), Some(_)) => ("secret_file", "and secret_env are both given; one of them is enough"),
            (None, ..) if has_secret => ("url", "is missing, so the secret is never used"),
            _ => return None,
        };
        Some(wrong(text, &["agent", "memory", field], problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_of_memory_has_an_address_and_at_most_one_secret() {
        let rows = [
            ("url = \"https://m.example/x\"\nsecret_env = \"S\"", None),
            ("secret_env = \"S\"", Some("agent.memory.url (line 1) is missing, so the secret is never used")),
            ("url = \"http://m\"\nsecret_env = \"S\"\nsecret_file = \"/s\"", Some("are both given")),
            ("url = \"ftp://m\"", Some("begins with http")),
        ];
        for (text, expected) in rows {
            let text = format!("[agent.memory]\n{text}");
            let wrong: Vec<String> = Settings::check(&text).iter().map(ToString::to_string).collect();
            match expected {
                None => assert_eq!(wrong, [""; 0], "{text}"),
                Some(part) => assert!(wrong.len() == 1 && wrong[0].contains(part), "{text}: {wrong:?}"),
            }
        }
        let settings = Settings::parse("[agent.memory]\nurl = \"http://m\"").expect("valid");
        let service = settings.agent.memory.service().expect("a service");
        assert_eq!(
            (service.url.as_str(), service.secret, service.limit.as_secs()),
            ("http://m", KeySource::None, 5)
        );
    }
}
