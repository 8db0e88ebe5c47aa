//! From the text of a settings file to [`Settings`], strictly.
//!
//! A value in the wrong place or of the wrong kind is an error with its line, never ignored and never repaired.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use retake_core::{Mode, Permission, Rule, Ruling, Steer};
use retake_tools::{Network, Secrets, check_guarded};
use toml_edit::{Document, Item, TableLike};

use super::keys::{self, Takes, Value};
use super::{Endpoint, EndpointKind, Retention, Settings, SettingsError};
use crate::model::genai::Timeouts;
use crate::model::{ModelInfo, RetryPolicy};
use crate::secret::KeySource;

/// The values that a file gives, by path, each checked.
#[derive(Debug, Default)]
pub(super) struct Values(BTreeMap<Vec<String>, Given>);

#[derive(Debug)]
struct Given {
    value: Value<String>,
    line: Option<usize>,
}

impl Values {
    /// The values of a text in which nothing is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, SettingsError> {
        let (values, wrong) = Self::gathered(text)?;
        wrong.into_iter().next().map_or(Ok(values), Err)
    }

    /// The values of a text, and all that is wrong with the others.
    pub(super) fn gathered(text: &str) -> Result<(Self, Vec<SettingsError>), SettingsError> {
        let document = Document::parse(text).map_err(|error| SettingsError::Syntax {
            line: error.span().map_or(1, |span| line_of(text, span.start)),
            problem: error.message().to_owned(),
        })?;
        let (mut values, mut wrong) = (Self::default(), Vec::new());
        values.gather(text, &mut Vec::new(), document.as_table(), &mut wrong);
        wrong.sort_by_key(SettingsError::in_line);
        Ok((values, wrong))
    }

    fn gather(
        &mut self,
        text: &str,
        path: &mut Vec<String>,
        table: &dyn TableLike,
        all_wrong: &mut Vec<SettingsError>,
    ) {
        for (name, item) in table.iter() {
            path.push(name.to_owned());
            let span = table.get_key_value(name).and_then(|(key, _)| key.span()).or_else(|| item.span());
            let line = span.map(|span| line_of(text, span.start));
            if let Some(key) = keys::find(path) {
                match checked(key.takes, item) {
                    Ok(value) => drop(self.0.insert(path.clone(), Given { value, line })),
                    Err(problem) => all_wrong.push(wrong(path, line, problem)),
                }
            } else if keys::KEYS.iter().any(|key| key.is_in(path)) {
                match item.as_table_like() {
                    Some(table) => self.gather(text, path, table, all_wrong),
                    None => all_wrong.push(wrong(path, line, "is a table, not a value")),
                }
            } else {
                all_wrong.push(keys::unknown(path, line));
            }
            path.pop();
        }
    }

    /// The line in which a setting stands, or the first one of a table.
    pub(super) fn line(&self, path: &[&str]) -> Option<usize> {
        let within =
            |own: &&Vec<String>| path.iter().zip(own.iter()).all(|(a, b)| a == b) && own.len() >= path.len();
        self.0.keys().filter(within).filter_map(|own| self.0[own].line).min()
    }

    fn given(&self, path: &[&str]) -> Option<&Given> {
        self.0.get(&path.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        match &self.given(path)?.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn whole(&self, path: &[&str]) -> Option<u64> {
        match self.given(path)?.value {
            Value::Whole(number) => Some(number),
            _ => None,
        }
    }

    fn number(&self, path: &[&str]) -> Option<f64> {
        match self.given(path)?.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A text that has a default.
    fn text_or_default(&self, path: &[&str]) -> String {
        self.text(path).unwrap_or_else(|| match default(path) {
            Value::Text(text) => (*text).to_owned(),
            _ => String::new(),
        })
    }

    /// A whole number that has a default.
    fn whole_or_default(&self, path: &[&str]) -> u64 {
        self.whole(path).unwrap_or_else(|| match default(path) {
            Value::Whole(number) => *number,
            _ => 0,
        })
    }

    /// A list, which is empty by default.
    fn list(&self, path: &[&str]) -> &[String] {
        match self.given(path).map(|given| &given.value) {
            Some(Value::List(texts)) => texts,
            _ => &[],
        }
    }

    /// True or false, which has a default.
    fn flag(&self, path: &[&str]) -> bool {
        match self.given(path).map(|given| &given.value) {
            Some(Value::Flag(flag)) => *flag,
            _ => *default(path) == Value::Flag(true),
        }
    }

    /// What is given in a table, as JSON.
    pub(super) fn table(&self, table: &str) -> serde_json::Value {
        let mut all = serde_json::Value::Object(serde_json::Map::new());
        for (path, given) in self.0.iter().filter(|(path, _)| path[0] == table) {
            let mut place = &mut all;
            for name in &path[1..] {
                place = &mut place[name.as_str()];
            }
            *place = given.value.as_json();
        }
        all
    }

    /// The names that the user chose in a table.
    fn names(&self, table: &str) -> BTreeSet<&str> {
        let paths = self.0.keys().filter(|path| path[0] == table);
        paths.filter_map(|path| path.get(1).map(String::as_str)).collect()
    }
}

fn default(path: &[&str]) -> &'static Value<&'static str> {
    let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
    &keys::find(&path).expect("BUG: the table has every setting that is read").default
}

fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}

fn wrong(path: &[String], line: Option<usize>, problem: impl Into<String>) -> SettingsError {
    SettingsError::Wrong { key: path.join("."), line, problem: problem.into() }
}

/// The value of an item, if the setting takes it; else what is wrong with it.
fn checked(takes: Takes, item: &Item) -> Result<Value<String>, String> {
    let text = || item.as_str().map(str::to_owned).ok_or_else(|| "takes a text in quotes".to_owned());
    match takes {
        Takes::Flag => item.as_bool().map(Value::Flag).ok_or_else(|| "takes true or false".into()),
        Takes::Number => {
            #[expect(clippy::cast_precision_loss, reason = "a price has no 2^53 dollars")]
            let number = item.as_float().or_else(|| item.as_integer().map(|number| number as f64));
            let number = number.filter(|number| number.is_finite() && *number >= 0.0);
            number.map(Value::Number).ok_or_else(|| "takes a number that is not negative".into())
        }
        Takes::Whole(from, to) => {
            let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
            let number = number.filter(|number| (from..=to).contains(number));
            let range = if to == u64::MAX { format!("from {from}") } else { format!("from {from} to {to}") };
            number.map(Value::Whole).ok_or_else(|| format!("takes a whole number {range}"))
        }
        Takes::Text => text().map(Value::Text),
        Takes::Word(words) => {
            // A choice of words that was a flag before.
            let flag = item.as_bool().filter(|_| words.contains(&"on"));
            let word = flag.map_or_else(text, |flag| Ok(if flag { "on" } else { "off" }.to_owned()))?;
            let known = words.contains(&word.as_str());
            known.then_some(Value::Text(word)).ok_or_else(|| format!("takes one of {}", words.join(", ")))
        }
        Takes::Variable => {
            let name = text()?;
            let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let problem = "takes the name of an environment variable; a key never stands in the settings";
            valid.then_some(Value::Text(name)).ok_or_else(|| problem.into())
        }
        Takes::Rules => {
            let list = item.as_array().ok_or("takes a list of rules, such as [\"shell(git push)\"]")?;
            let texts = list.iter().zip(1..).map(|(rule, number)| {
                let text =
                    rule.as_str().ok_or_else(|| format!("has a rule {number} that is no text in quotes"))?;
                let bad =
                    |bad: retake_core::BadRule| format!("has a rule {number} that is none: {}", bad.why());
                Rule::read(Ruling::Allow, text).map(|rule| rule.short()).map_err(bad)
            });
            texts.collect::<Result<_, String>>().map(Value::List)
        }
        Takes::Folders => {
            let list = item.as_array().ok_or("takes a list of folders, such as [\"/home/me/notes\"]")?;
            let folders = list.iter().zip(1..).map(|(folder, number)| {
                let folder = folder.as_str().filter(|folder| folder.starts_with('/'));
                folder.map(str::to_owned).ok_or_else(|| {
                    format!("has a folder {number} that is no text in quotes that begins with a slash")
                })
            });
            folders.collect::<Result<_, String>>().map(Value::List)
        }
        Takes::Texts => {
            let list = item.as_array().ok_or("takes a list of texts in quotes, such as [\"f5\"]")?;
            let texts = list.iter().zip(1..).map(|(text, number)| {
                text.as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| format!("has an item {number} that is no text in quotes"))
            });
            texts.collect::<Result<_, String>>().map(Value::List)
        }
        Takes::Guarded => {
            let list = item
                .as_array()
                .ok_or("takes a list of paths and patterns, such as [\"~/vault\", \"*.secret\"]")?;
            let texts = list.iter().zip(1..).map(|(text, number)| {
                let text =
                    text.as_str().ok_or_else(|| format!("has an item {number} that is no text in quotes"))?;
                check_guarded(&[text.to_owned()])
                    .map_err(|bad| format!("has an item {number} that is none: {bad}"))?;
                Ok(text.to_owned())
            });
            texts.collect::<Result<_, String>>().map(Value::List)
        }
        Takes::Url => checked_url(&text()?).map(Value::Text),
    }
}

fn checked_url(text: &str) -> Result<String, String> {
    let url = reqwest::Url::parse(text).map_err(|_| "takes an address such as \"https://llm.example/v1\"")?;
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(
            "takes an address without user, password, ? and #; give the key with key_env or key_file".into(),
        );
    }
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("takes an address that begins with http:// or https://".into());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// The settings that follow from the values and the defaults.
pub(super) fn settings(values: &Values) -> Result<Settings, SettingsError> {
    let seconds = |path: &[&str]| Duration::from_secs(values.whole_or_default(path));
    let millis = |path: &[&str]| Duration::from_millis(values.whole_or_default(path));
    let usual = ["anthropic", "openai", "gemini"];
    let usual = usual.map(|name| (name.to_owned(), values.text_or_default(&["model", "usual", name])));
    let endpoints = endpoints(values)?;
    Ok(Settings {
        default_model: values.text(&["model", "default"]),
        system_prompt: values.text(&["model", "system_prompt"]),
        usual_models: usual.into(),
        models: values
            .names("models")
            .into_iter()
            .map(|name| (name.to_owned(), model(values, name)))
            .collect(),
        timeouts: Timeouts {
            connect: seconds(&["network", "connect_timeout_s"]),
            first_byte: seconds(&["network", "first_byte_timeout_s"]),
            idle: seconds(&["network", "idle_timeout_s"]),
        },
        retry: RetryPolicy {
            tries: u32::try_from(values.whole_or_default(&["retry", "tries"])).unwrap_or(u32::MAX),
            first_wait: millis(&["retry", "first_wait_ms"]),
            longest_wait: seconds(&["retry", "longest_wait_s"]),
            longest_retry_after: seconds(&["retry", "longest_retry_after_s"]),
        },
        find_local: values.flag(&["local", "find"]),
        find_within: millis(&["local", "find_within_ms"]),
        demo_pace: millis(&["demo", "word_delay_ms"]),
        keep: Retention {
            retention: Duration::from_secs(values.whole_or_default(&["files", "retention_days"]) * 24 * 3600),
            quota: values.whole_or_default(&["files", "quota_mb"]) * 1_000_000,
        },
        permission: permission(values),
        sandbox: values.flag(&["permissions", "sandbox"]),
        network: match values.text_or_default(&["permissions", "network"]).as_str() {
            "on" => Network::On,
            "off" => Network::Off,
            _ => Network::Ask,
        },
        sockets: values.list(&["permissions", "sockets"]).iter().map(PathBuf::from).collect(),
        secrets: secrets(values, &endpoints),
        memory: Some(values.whole_or_default(&["permissions", "memory_mb"]) * 1_000_000)
            .filter(|bytes| *bytes > 0),
        guarded: values.list(&["permissions", "secrets"]).to_vec(),
        endpoints,
        roots: values.list(&["agent", "roots"]).iter().map(PathBuf::from).collect(),
        server_wait: seconds(&["mcp", "wait_s"]),
        answer_wait: seconds(&["permissions", "wait_s"]),
        idle: seconds(&["owner", "idle_s"]),
        steering: Steer::from_name(&values.text_or_default(&["agent", "steering"])).unwrap_or_default(),
    })
}

fn secrets(values: &Values, endpoints: &BTreeMap<String, Endpoint>) -> Secrets {
    let keys = endpoints.values().filter_map(|endpoint| match &endpoint.key {
        KeySource::Env(name) => Some(name.clone()),
        KeySource::None | KeySource::File(_) => None,
    });
    Secrets::new(keys, values.list(&["permissions", "variables"]).to_vec())
}

fn permission(values: &Values) -> Permission {
    let rules = |ruling: Ruling| {
        let texts = values.list(&["permissions", ruling.name()]);
        texts.iter().filter_map(move |text| Rule::read(ruling, text).ok())
    };
    Permission {
        mode: Mode::from_name(&values.text_or_default(&["permissions", "mode"])).unwrap_or_default(),
        rules: Ruling::ALL.into_iter().flat_map(rules).collect(),
    }
}

fn model(values: &Values, name: &str) -> ModelInfo {
    ModelInfo {
        context_tokens: values.whole(&["models", name, "context_tokens"]),
        input_price: values.number(&["models", name, "input_price"]),
        cached_input_price: values.number(&["models", name, "cached_input_price"]),
        output_price: values.number(&["models", name, "output_price"]),
    }
}

/// The endpoints that are known without a file.
fn known(values: &Values) -> [Endpoint; 6] {
    let cloud = |name: &str, kind, base_url: &str, variable: &str| Endpoint {
        name: name.into(),
        kind,
        base_url: base_url.into(),
        key: KeySource::Env(variable.into()),
    };
    let local = |name: &str, kind, path: &str| {
        let port = values.whole_or_default(&["local", &format!("{name}_port")]);
        Endpoint {
            name: name.into(),
            kind,
            base_url: format!("http://127.0.0.1:{port}{path}"),
            key: KeySource::None,
        }
    };
    let gemini = "https://generativelanguage.googleapis.com/v1beta";
    [
        cloud("anthropic", EndpointKind::Anthropic, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        cloud("openai", EndpointKind::OpenAi, "https://api.openai.com/v1", "OPENAI_API_KEY"),
        cloud("gemini", EndpointKind::Gemini, gemini, "GEMINI_API_KEY"),
        local("ollama", EndpointKind::Ollama, ""),
        local("llamacpp", EndpointKind::OpenAi, "/v1"),
        local("lmstudio", EndpointKind::OpenAi, "/v1"),
    ]
}

fn endpoints(values: &Values) -> Result<BTreeMap<String, Endpoint>, SettingsError> {
    let mut endpoints: BTreeMap<_, _> =
        known(values).map(|endpoint| (endpoint.name.clone(), endpoint)).into();
    for name in values.names("endpoint") {
        let endpoint = endpoint(values, name, endpoints.get(name))?;
        endpoints.insert(name.to_owned(), endpoint);
    }
    Ok(endpoints)
}

fn endpoint(values: &Values, name: &str, known: Option<&Endpoint>) -> Result<Endpoint, SettingsError> {
    let path = |field: &str| ["endpoint", name, field].map(str::to_owned);
    if name.is_empty() || name.contains('/') || name == "demo" {
        let problem = "needs another name: not empty, without a slash, and not demo";
        return Err(wrong(&path("base_url")[..2], values.line(&["endpoint", name]), problem));
    }
    let key_env = values.text(&["endpoint", name, "key_env"]);
    let key_file = values.text(&["endpoint", name, "key_file"]);
    let key = match (key_env, key_file) {
        (Some(_), Some(_)) => {
            let line = values.given(&["endpoint", name, "key_file"]).and_then(|given| given.line);
            return Err(wrong(&path("key_file"), line, "and key_env are both given; one of them is enough"));
        }
        (Some(variable), None) => KeySource::Env(variable),
        (None, Some(file)) => KeySource::File(PathBuf::from(file)),
        (None, None) => known.map_or(KeySource::None, |known| known.key.clone()),
    };
    let kind = match (values.text(&["endpoint", name, "kind"]), known) {
        (None, Some(known)) => known.kind,
        (kind, _) => kind.as_deref().and_then(EndpointKind::from_name).unwrap_or(EndpointKind::OpenAi),
    };
    let base_url =
        values.text(&["endpoint", name, "base_url"]).or_else(|| known.map(|known| known.base_url.clone()));
    let base_url =
        base_url.ok_or_else(|| wrong(&path("base_url"), values.line(&["endpoint", name]), "is missing"))?;
    Ok(Endpoint { name: name.to_owned(), kind, base_url, key })
}
