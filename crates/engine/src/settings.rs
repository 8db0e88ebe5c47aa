//! The settings file: what may stand in it, what holds without it, and what is wrong with it.
//!
//! One table, `keys::KEYS`, says what there is; reading, checking, the documented defaults and `retake config` all
//! follow from it. Keys of providers never stand in this file, and no error quotes a value of it.

mod edit;
mod keys;
mod read;
mod text;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use retake_core::{Permission, Steer};
use retake_tools::{Network, Secrets};
use thiserror::Error;

use crate::model::genai::Timeouts;
use crate::model::{ModelInfo, RetryPolicy};
use crate::secret::KeySource;

pub use edit::{add_rule, documented_defaults, get, read_by, remove_rule, save, set, unset};
pub use keys::ReadBy;
pub use text::text;

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The model to use when none is named: `provider/model`.
    pub default_model: Option<String>,
    /// Instructions above every conversation.
    pub system_prompt: Option<String>,
    /// The model to use of a provider when only its key is known, by provider.
    pub usual_models: BTreeMap<String, String>,
    /// Where models are, by name: the known providers, and those of the file.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// What the file says of models, by `provider/model`.
    pub models: BTreeMap<String, ModelInfo>,
    /// How long to wait for a provider.
    pub timeouts: Timeouts,
    /// How often to ask again.
    pub retry: RetryPolicy,
    /// Whether to look for a server on this computer.
    pub find_local: bool,
    /// How long looking may take.
    pub find_within: Duration,
    /// The time between two words of the demo.
    pub demo_pace: Duration,
    /// How long and how much is kept of files.
    pub keep: Retention,
    /// What the agent may do in every conversation, as far as the conversation does not say otherwise.
    pub permission: Permission,
    /// Whether commands run in a sandbox, where there is one.
    pub sandbox: bool,
    /// Which commands in the sandbox reach the network.
    pub network: Network,
    /// Unix sockets that commands with network and MCP servers may reach, or folders of them, absolute.
    pub sockets: Vec<PathBuf>,
    /// Which variables of the environment commands and MCP servers do not get: those that look like secrets, and those with keys of
    /// endpoints, but for the ones that are let in.
    pub secrets: Secrets,
    /// Bytes of memory that a command's processes may use together; nothing says three quarters of the machine's.
    pub memory: Option<u64>,
    /// Files that hold secrets, besides those that are guarded by default.
    pub guarded: Vec<String>,
    /// Folders that the agent may work in besides the conversation's own, absolute.
    pub roots: Vec<PathBuf>,
    /// How long a turn waits for MCP servers that are starting.
    pub server_wait: Duration,
    /// What becomes of words that are said while a run goes on.
    pub steering: Steer,
    /// How long what is asked waits after the last client that could answer has left.
    pub answer_wait: Duration,
    /// How long an owner that was started by a client stays with nothing to do.
    pub idle: Duration,
}

impl Settings {
    /// The variables in which keys of endpoints may be.
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.endpoints.values().filter_map(|endpoint| match &endpoint.key {
            KeySource::Env(name) => Some(&**name),
            _ => None,
        })
    }
}

/// Where models are, and how to talk to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The part of a model's name before the slash.
    pub name: String,
    /// The format it speaks.
    pub kind: EndpointKind,
    /// The address below which its paths are, without credentials.
    pub base_url: String,
    /// Where its key is.
    pub key: KeySource,
}

/// The format that an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// Chat completions as OpenAI has them, and nearly everybody else too.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own format.
    Ollama,
}

impl EndpointKind {
    /// The kind of that name in the settings.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" => Some(Self::Gemini),
            "ollama" => Some(Self::Ollama),
            _ => None,
        }
    }
}

/// What is wrong with the settings.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings in {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// What is named is no file of text.
    #[error("cannot read the settings in {}: {problem}", path.display())]
    NoText {
        /// What is named.
        path: PathBuf,
        /// What it is.
        problem: String,
    },
    /// The file cannot be written.
    #[error("cannot write the settings to {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Something is wrong in the file.
    #[error("the settings in {} are wrong", file.display())]
    InFile {
        /// The file.
        file: PathBuf,
        /// What is wrong, and in which line.
        #[source]
        source: Box<SettingsError>,
    },
    /// The file is not TOML.
    #[error("line {line} is no TOML: {problem}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// There is no such setting.
    #[error("unknown setting {key}{}", at(*line))]
    Unknown {
        /// The setting as written.
        key: String,
        /// The line, from 1; `None` if it does not come from a file.
        line: Option<usize>,
        /// The known one that is written most alike.
        nearest: Option<String>,
        /// What its table has instead; empty where there is no such table.
        table: Vec<String>,
    },
    /// A table is named where a setting is meant.
    #[error("{key} is a section of the settings, not a setting")]
    Section {
        /// The table as written.
        key: String,
        /// What it has, each setting in full.
        settings: Vec<String>,
    },
    /// The value is not one that the setting takes.
    #[error("the setting {key}{} {problem}", at(*line))]
    Wrong {
        /// The setting.
        key: String,
        /// The line, from 1; `None` if it does not come from a file.
        line: Option<usize>,
        /// What is wrong, without the value.
        problem: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

impl SettingsError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } | Self::Unwritable { path, .. } => {
                format!("check the permissions of {}", path.display())
            }
            Self::NoText { .. } => {
                "the settings are a file of UTF-8 text; `retake config set KEY VALUE` makes one".into()
            }
            Self::Syntax { line, .. } => format!("correct line {line}"),
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean {nearest}?"),
            Self::Unknown { nearest: None, key, table, .. } if !table.is_empty() => {
                let within = key.rsplit_once('.').map_or("", |(within, _)| within);
                format!("[{within}] has {}", table.join(", "))
            }
            Self::Section { settings, .. } => format!("its settings are {}", settings.join(", ")),
            Self::Unknown { .. } | Self::Wrong { .. } => "`retake config` lists every setting".into(),
            Self::InFile { source, .. } => source.hint(),
        }
    }

    /// The same of this file, where it is about a line of it.
    pub fn within(self, file: &Path) -> Self {
        match self {
            Self::Syntax { .. } | Self::Unknown { line: Some(_), .. } | Self::Wrong { line: Some(_), .. } => {
                Self::InFile { file: file.to_owned(), source: Box::new(self) }
            }
            other => other,
        }
    }

    /// The line that it is about.
    fn in_line(&self) -> Option<usize> {
        match self {
            Self::Syntax { line, .. } => Some(*line),
            Self::Unknown { line, .. } | Self::Wrong { line, .. } => *line,
            Self::InFile { source, .. } => source.in_line(),
            Self::Unreadable { .. }
            | Self::NoText { .. }
            | Self::Unwritable { .. }
            | Self::Section { .. } => None,
        }
    }

    /// The same of a value that is in no file yet.
    fn unwritten(mut self) -> Self {
        if let Self::Unknown { line, .. } | Self::Wrong { line, .. } = &mut self {
            *line = None;
        }
        self
    }
}

impl Settings {
    /// The settings of a file. A file that is not there says nothing.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        Self::parse(&text(path)?).map_err(|error| error.within(path))
    }

    /// The settings of a text.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        read::settings(&read::Values::parse(text)?)
    }

    /// All that is wrong in the text of a file, in the order of its lines. What the face makes of its table only the face knows.
    pub fn check(text: &str) -> Vec<SettingsError> {
        let (values, mut wrong) = match read::Values::gathered(text) {
            Ok(gathered) => gathered,
            Err(error) => return vec![error],
        };
        if wrong.is_empty() {
            match read::settings(&values) {
                Ok(settings) => wrong.extend(settings.wrong_default().map(|problem| SettingsError::Wrong {
                    key: "model.default".to_owned(),
                    line: values.line(&["model", "default"]),
                    problem,
                })),
                Err(error) => wrong.push(error),
            }
        }
        wrong
    }

    /// Why no endpoint can have the default model, as far as the settings alone say it. Whether one has it, only that one knows.
    fn wrong_default(&self) -> Option<String> {
        const DEMO: &str = crate::model::Demo::NAME;
        let name = self.default_model.as_deref()?.trim();
        let (endpoint, model) = name.split_once('/').unwrap_or((name, ""));
        if name == DEMO {
            return None;
        }
        if !self.endpoints.contains_key(endpoint) {
            let known: Vec<&str> =
                std::iter::once(DEMO).chain(self.endpoints.keys().map(String::as_str)).collect();
            return Some(format!("names an endpoint that is not there; there are {}", known.join(", ")));
        }
        let no_model = model.is_empty() && (name.contains('/') || !self.usual_models.contains_key(endpoint));
        no_model.then(|| "names an endpoint without a model: write it as ENDPOINT/MODEL".to_owned())
    }

    /// The line of a setting in the text of a file, where it stands in it.
    pub fn line(text: &str, path: &[&str]) -> Option<usize> {
        read::Values::gathered(text).ok()?.0.line(path)
    }

    /// What the text of a file sets for the face, the table `[face]`, checked and as JSON: what is not set is not in it.
    pub fn face(text: &str) -> Result<serde_json::Value, SettingsError> {
        let values = read::Values::parse(text)?;
        read::settings(&values)?;
        Ok(values.table("face"))
    }

    /// What is known of a model. Without a word in the settings nothing is.
    pub fn model_info(&self, name: &str) -> ModelInfo {
        self.models.get(name).copied().unwrap_or_default()
    }
}

impl Default for Settings {
    fn default() -> Self {
        read::settings(&read::Values::default()).expect("BUG: the defaults are valid")
    }
}

impl Settings {
    /// Whether a model costs nothing where no price is set for it: the demo, and those of servers on this computer.
    pub fn is_free(&self, name: &str) -> bool {
        let (provider, _) = name.split_once('/').unwrap_or((name, ""));
        let here = self.endpoints.get(provider).is_some_and(|endpoint| is_loopback(&endpoint.base_url));
        here || name == "demo" || name.starts_with("demo:")
    }
}

/// How long earlier versions of files are kept, and how much of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Captures without a name are kept so long.
    pub retention: Duration,
    /// All versions of files together may take so many bytes.
    pub quota: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { retention: Duration::from_secs(30 * 24 * 3600), quota: 10_240_000_000 }
    }
}

/// Whether an address is on this computer.
pub fn is_loopback(base_url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(base_url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests;
