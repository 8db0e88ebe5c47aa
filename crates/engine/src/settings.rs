//! The settings file: its tables, its defaults, and its errors.
//!
//! The structs of `tables` define the settings; reading, checking, the documented defaults and `retake config` are derived from
//! them and their schema. Must never contain a provider's key, and no error may quote a value.

mod chats;
mod edit;
mod hooks;
mod keys;
mod memory;
mod models;
mod programs;
mod read;
mod tables;
mod text;
mod values;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use retake_core::{Field, Permission, Remedy, Rule, Ruling};
use retake_tools::Secrets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use thiserror::Error;

use crate::model::RetryPolicy;
use crate::model::genai::Timeouts;
use crate::secret::KeySource;

pub use chats::{ChatConsent, ChatPolicy, ChatTable};
pub use edit::{add_rule, documented_defaults, get, read_by, remove_rule, save, set, unset};
pub(crate) use hooks::{HOOKS_FILE, HookEntry, folder_hooks};
pub use hooks::{Hook, HookTable, HookTarget};
pub use keys::ReadBy;
pub(crate) use keys::most_alike;
pub(crate) use memory::MEMORY;
pub use memory::{Memory, MemoryServiceSettings};
pub use models::FactsFrom;
pub use tables::{
    Agent, Client, DemoModel, EndpointTable, Files, FormatterTable, LanguageServerTable, Local, Mcp,
    ModelChoice, ModelFacts, Owner, Permissions, Retries, Settings, UsualModels, Waits,
};
pub use text::text;
pub use values::{Days, Millis, Seconds, Time, WholeNumber};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndpointKind {
    /// Chat completions of OpenAI, which most other providers and servers speak, too.
    OpenAi,
    /// Responses of OpenAI. Some of its models call tools only there.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Messages of Anthropic.
    Anthropic,
    /// Gemini of Google.
    Gemini,
    /// Ollama's own format.
    Ollama,
}

/// What is wrong with the settings.
#[derive(Debug, Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    #[error("line {line} is not valid TOML: {problem}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// There is no such setting.
    #[error("unknown setting {key}{}", at(*line))]
    #[strum(serialize = "unknown_key")]
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
    #[strum(serialize = "wrong_value")]
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
    /// What helps, in the order of the hint for it.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::NoText { .. } => vec![Remedy::ConfigSet],
            Self::Unknown { nearest: None, table, .. } if table.is_empty() => vec![Remedy::Config],
            Self::Wrong { .. } => vec![Remedy::Config],
            Self::InFile { source, .. } => source.remedies(),
            _ => Vec::new(),
        }
    }

    /// Its values, by name.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        let line = |line: usize| ("line", Field::Number(line as u64));
        let text = |name, text: &str| (name, Field::from(text));
        let path = |path: &Path| ("path", Field::from(path));
        let fields = match self {
            Self::Unreadable { path: at, .. } | Self::Unwritable { path: at, .. } => vec![path(at)],
            Self::NoText { path: at, problem } => vec![path(at), text("problem", &problem.to_string())],
            Self::InFile { file, source } => {
                return source.fields().into_iter().chain([path(file)]).collect();
            }
            Self::Syntax { line: at, problem } => vec![line(*at), text("problem", problem)],
            Self::Unknown { key, line: at, nearest, table } => {
                let nearest = nearest.iter().map(|nearest| text("nearest", nearest));
                let within = key.rsplit_once('.').map_or("", |(within, _)| within);
                let table = (!table.is_empty())
                    .then(|| [text("section", within), ("settings", table.clone().into())]);
                let table = table.into_iter().flatten();
                [text("key", key)].into_iter().chain(at.map(line)).chain(nearest).chain(table).collect()
            }
            Self::Section { key, settings } => vec![text("key", key), ("settings", settings.clone().into())],
            Self::Wrong { key, line: at, problem } => {
                [text("key", key), text("problem", problem)].into_iter().chain(at.map(line)).collect()
            }
        };
        std::iter::once(text("what", self.name())).chain(fields).collect()
    }

    /// The kind of error; the same in every format.
    fn name(&self) -> &'static str {
        match self {
            Self::InFile { source, .. } => source.name(),
            plain => plain.into(),
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
            _ => None,
        }
    }

    /// Whether it is this error, in whatever line.
    fn is_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown { key, .. }, Self::Unknown { key: other, .. }) => key == other,
            (Self::Wrong { key, problem, .. }, Self::Wrong { key: other, problem: same, .. }) => {
                (key, problem) == (other, same)
            }
            _ => false,
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
    /// The settings of a file. A file that does not exist sets nothing.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        Self::parse(&text(path)?).map_err(|error| error.within(path))
    }

    /// The settings of a text.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let (settings, wrong) = read::settings(text)?;
        wrong.into_iter().next().map_or(Ok(settings), Err)
    }

    /// All errors in the text of a file, in the order of its lines. Only the client knows the meaning of its own table.
    pub fn check(text: &str) -> Vec<SettingsError> {
        match read::settings(text) {
            Err(error) => vec![error],
            Ok((settings, wrong)) if wrong.is_empty() => {
                let whole = settings.wrong_default(text).into_iter();
                whole
                    .chain(settings.wrong_programs(text))
                    .chain(settings.wrong_hooks(text))
                    .chain(chats::wrong_chats(&settings.chat, text))
                    .chain(settings.wrong_memory(text))
                    .collect()
            }
            Ok((_, wrong)) => wrong,
        }
    }

    /// Why no endpoint can have the default model, as far as the settings show. Whether the endpoint has it, only the endpoint knows.
    fn wrong_default(&self, text: &str) -> Option<SettingsError> {
        const DEMO: &str = crate::model::Demo::NAME;
        let name = self.model.default.as_deref()?.trim();
        let (endpoint, model) = name.split_once('/').unwrap_or((name, ""));
        let endpoints = self.endpoints();
        let problem = if !endpoints.contains_key(endpoint) {
            let known: Vec<&str> =
                std::iter::once(DEMO).chain(endpoints.keys().map(String::as_str)).collect();
            format!("names an endpoint that is not there; there are {}", known.join(", "))
        } else if model.is_empty() && (name.contains('/') || self.usual_model(endpoint).is_none()) {
            "names an endpoint without a model: write it as ENDPOINT/MODEL".to_owned()
        } else {
            return None;
        };
        (name != DEMO).then(|| wrong(text, &["model", "default"], &problem))
    }

    /// What is wrong with an endpoint as a whole.
    fn wrong_endpoint(&self, text: &str) -> Option<SettingsError> {
        let built_in = built_in(&self.local);
        self.set_endpoints().find_map(|(name, given)| {
            let is_reserved = name.is_empty() || name.contains('/') || name == "demo";
            let has_two_keys = given.key_env.is_some() && given.key_file.is_some();
            let has_no_address = given.base_url.is_none() && !built_in.contains_key(name);
            let checks = [
                (is_reserved, None, "needs another name: not empty, without a slash, and not demo"),
                (has_two_keys, Some("key_file"), "and key_env are both given; one of them is enough"),
                (has_no_address, Some("base_url"), "is missing"),
            ];
            let (_, field, problem) = checks.into_iter().find(|(is_wrong, ..)| *is_wrong)?;
            Some(wrong(text, &["endpoint", name].into_iter().chain(field).collect::<Vec<_>>(), problem))
        })
    }

    /// Whether an owner with these settings must start again for others. It reads rules, mode and the tables of chats before each decision,
    /// and nothing of the client's table.
    pub fn needs_restart_for(&self, others: &Self) -> bool {
        let Permissions { mode, allow, ask, deny, .. } = self.permissions.clone();
        let permissions = Permissions { mode, allow, ask, deny, ..others.permissions.clone() };
        let (client, chat) = (self.client.clone(), self.chat.clone());
        Self { permissions, client, chat, ..others.clone() } != *self
    }

    /// The line of a setting or table in the text of a file; none, where the text does not have it.
    pub fn line(text: &str, path: &[&str]) -> Option<usize> {
        read::line(text, path)
    }

    /// What the text of a file sets for the client, the table `[face]`, checked and as JSON, without defaults.
    pub fn client(text: &str) -> Result<serde_json::Value, SettingsError> {
        Self::parse(text)?;
        let mut set: BTreeMap<String, serde_json::Value> = toml::from_str(text).expect("BUG: it was parsed");
        Ok(set.remove("face").unwrap_or_else(|| serde_json::json!({})))
    }

    /// The model to use of a provider when only its key is known.
    pub fn usual_model(&self, provider: &str) -> Option<&str> {
        let UsualModels { anthropic, openai, gemini } = &self.model.usual;
        let usual = [("anthropic", anthropic), ("openai", openai), ("gemini", gemini)];
        usual.into_iter().find_map(|(name, model)| (name == provider).then_some(model.as_str()))
    }

    /// Where models are, by name: the built-in endpoints, and those of the file.
    pub fn endpoints(&self) -> BTreeMap<String, Endpoint> {
        let mut all = built_in(&self.local);
        for (name, given) in self.set_endpoints() {
            let endpoint = all.entry(name.clone()).or_insert_with(|| Endpoint {
                name: name.clone(),
                kind: EndpointKind::OpenAi,
                base_url: String::new(),
                key: KeySource::None,
            });
            let known = std::mem::replace(&mut endpoint.key, KeySource::None);
            let file = given.key_file.clone().map(KeySource::File);
            endpoint.key = given.key_env.clone().map(KeySource::Env).or(file).unwrap_or(known);
            endpoint.kind = given.kind.unwrap_or(endpoint.kind);
            if let Some(base_url) = &given.base_url {
                endpoint.base_url.clone_from(base_url);
            }
        }
        all
    }

    /// The accounts of chats in which everybody may talk.
    pub fn open_chats(&self) -> impl Iterator<Item = &str> {
        self.chat.iter().filter(|(_, given)| given.is_open()).map(|(name, _)| name.as_str())
    }

    /// Whether the file sets the format of an endpoint.
    pub(crate) fn sets_kind(&self, endpoint: &str) -> bool {
        self.endpoint.get(endpoint).is_some_and(|given| given.kind.is_some())
    }

    /// The tables of endpoints that set something. An empty table makes no endpoint.
    fn set_endpoints(&self) -> impl Iterator<Item = (&String, &EndpointTable)> {
        self.endpoint.iter().filter(|(_, given)| **given != EndpointTable::default())
    }

    /// The variables in which keys of endpoints, and secrets of hooks and of the memory service, may be.
    pub fn key_variables(&self) -> Vec<String> {
        let variable = |endpoint: Endpoint| match endpoint.key {
            KeySource::Env(name) => Some(name),
            KeySource::None | KeySource::File(_) => None,
        };
        self.endpoints().into_values().filter_map(variable).chain(self.secret_variables()).collect()
    }

    /// The variables that commands and MCP servers do not get: those that look like secrets, and those of
    /// [`Self::key_variables`], without the exceptions of `permissions.variables`.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.key_variables(), self.permissions.variables.clone())
    }

    /// What the agent may do in every conversation, unless the conversation has its own permissions.
    pub fn permission(&self) -> Permission {
        let Permissions { mode, allow, ask, deny, .. } = &self.permissions;
        let rules = [(Ruling::Allow, allow), (Ruling::Ask, ask), (Ruling::Deny, deny)];
        let read = |(ruling, texts): (Ruling, &Vec<String>)| -> Vec<_> {
            texts.iter().filter_map(|text| Rule::read(ruling, text).ok()).collect()
        };
        Permission { mode: *mode, rules: rules.into_iter().flat_map(read).collect() }
    }
}

/// The error of a setting that is of the right kind; its line is that of the setting or its table.
fn wrong(text: &str, path: &[&str], problem: &str) -> SettingsError {
    let line = read::line(text, path).or_else(|| read::line(text, &path[..path.len() - 1]));
    SettingsError::Wrong { key: path.join("."), line, problem: problem.to_owned() }
}

/// The endpoints that need no settings.
fn built_in(local: &Local) -> BTreeMap<String, Endpoint> {
    let cloud = |variable: &str| KeySource::Env(variable.to_owned());
    let here = |port: WholeNumber<1, 65_535>, path: &str| format!("http://127.0.0.1:{}{path}", port.0);
    let gemini = "https://generativelanguage.googleapis.com/v1beta".to_owned();
    let all = [
        (
            "anthropic",
            EndpointKind::Anthropic,
            "https://api.anthropic.com/v1".to_owned(),
            cloud("ANTHROPIC_API_KEY"),
        ),
        ("openai", EndpointKind::OpenAi, "https://api.openai.com/v1".to_owned(), cloud("OPENAI_API_KEY")),
        ("gemini", EndpointKind::Gemini, gemini, cloud("GEMINI_API_KEY")),
        ("ollama", EndpointKind::Ollama, here(local.ollama_port, ""), KeySource::None),
        ("llamacpp", EndpointKind::OpenAi, here(local.llamacpp_port, "/v1"), KeySource::None),
        ("lmstudio", EndpointKind::OpenAi, here(local.lmstudio_port, "/v1"), KeySource::None),
    ];
    all.map(|(name, kind, base_url, key)| {
        (name.to_owned(), Endpoint { name: name.to_owned(), kind, base_url, key })
    })
    .into()
}

impl From<&Waits> for Timeouts {
    fn from(waits: &Waits) -> Self {
        Self {
            connect: waits.connect_timeout_s.0,
            first_byte: waits.first_byte_timeout_s.0,
            idle: waits.idle_timeout_s.0,
        }
    }
}

impl From<&Retries> for RetryPolicy {
    fn from(retries: &Retries) -> Self {
        Self {
            tries: u32::try_from(retries.tries.0).unwrap_or(u32::MAX),
            first_wait: retries.first_wait_ms.0,
            longest_wait: retries.longest_wait_s.0,
            longest_retry_after: retries.longest_retry_after_s.0,
        }
    }
}

/// How long earlier versions of files are kept, and how much of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long captures without a name are kept.
    pub retention: Duration,
    /// Bytes that all versions of files together may take.
    pub quota: u64,
}

impl From<&Files> for Retention {
    fn from(files: &Files) -> Self {
        Self { retention: files.retention_days.0, quota: files.quota_mb.0 * 1_000_000 }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self::from(&Files::default())
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
