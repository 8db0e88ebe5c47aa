//! The types of settings beyond those of TOML: ranges, units, words, rules, addresses. An error must never quote a value.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use retake_core::{DeliveryEvent, Mode, Rule, Ruling, Steer};
use retake_tools::{FileNames, Network, check_guarded};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Effort;

/// The error of a number that a setting does not take. It is never shown: `read` replaces it by the range (`has_own_check`).
const REFUSED_NUMBER: &str = "is not such a number";

/// A whole number from `FROM` to `TO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WholeNumber<const FROM: u64, const TO: u64>(pub u64);

impl<'de, const FROM: u64, const TO: u64> Deserialize<'de> for WholeNumber<FROM, TO> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Some(u64::deserialize(deserializer)?).filter(|number| (FROM..=TO).contains(number));
        number.map(Self).ok_or_else(|| D::Error::custom(REFUSED_NUMBER))
    }
}

impl<const FROM: u64, const TO: u64> JsonSchema for WholeNumber<FROM, TO> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("from_{FROM}_to_{TO}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": FROM, "maximum": TO })
    }
}

/// A time: in the file a whole number from `FROM` to `TO` of units of so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<const UNIT_MS: u64, const FROM: u64, const TO: u64>(pub Duration);

/// A time in seconds.
pub type Seconds<const FROM: u64, const TO: u64> = Time<1000, FROM, TO>;

/// A time in milliseconds.
pub type Millis<const FROM: u64, const TO: u64> = Time<1, FROM, TO>;

/// A time in days.
pub type Days<const FROM: u64, const TO: u64> = Time<86_400_000, FROM, TO>;

impl<const UNIT_MS: u64, const FROM: u64, const TO: u64> Time<UNIT_MS, FROM, TO> {
    /// A time of so many units.
    pub const fn new(units: u64) -> Self {
        Self(Duration::from_millis(units * UNIT_MS))
    }
}

impl<'de, const UNIT_MS: u64, const FROM: u64, const TO: u64> Deserialize<'de> for Time<UNIT_MS, FROM, TO> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WholeNumber::<FROM, TO>::deserialize(deserializer).map(|units| Self::new(units.0))
    }
}

impl<const UNIT_MS: u64, const FROM: u64, const TO: u64> Serialize for Time<UNIT_MS, FROM, TO> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u128(self.0.as_millis() / u128::from(UNIT_MS))
    }
}

impl<const UNIT_MS: u64, const FROM: u64, const TO: u64> JsonSchema for Time<UNIT_MS, FROM, TO> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        WholeNumber::<FROM, TO>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WholeNumber::<FROM, TO>::json_schema(generator)
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Mode", rename_all = "kebab-case")]
pub(super) enum ModeWord {
    Ask,
    AllowEdits,
    AllowAll,
    Plan,
}

/// The effort of a model's reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EffortWord {
    #[default]
    Default,
    Low,
    Medium,
    High,
}

impl EffortWord {
    /// The effort to send; none for that of the model itself.
    pub(super) fn effort(self) -> Option<Effort> {
        match self {
            Self::Default => None,
            Self::Low => Some(Effort::Low),
            Self::Medium => Some(Effort::Medium),
            Self::High => Some(Effort::High),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Steer", rename_all = "lowercase")]
pub(super) enum SteerWord {
    Queue,
    Join,
    Interrupt,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Network", rename_all = "lowercase")]
pub(super) enum NetworkWord {
    Ask,
    On,
    Off,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NetworkOrFlag {
    Flag(bool),
    Word(#[serde(with = "NetworkWord")] Network),
}

/// Which commands reach the network; the setting was true or false before.
pub(super) fn network<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Network, D::Error> {
    NetworkOrFlag::deserialize(deserializer).map(|given| match given {
        NetworkOrFlag::Flag(true) => Network::On,
        NetworkOrFlag::Flag(false) => Network::Off,
        NetworkOrFlag::Word(word) => word,
    })
}

/// Rules without their first word, in their usual form.
pub(super) fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let read = |text: &str| Rule::read(Ruling::Allow, text).map(|rule| rule.short());
    each(deserializer, "rule", "rules, such as [\"shell(git push)\"]", |text| {
        read(text).map_err(|bad| bad.why().text())
    })
}

/// Absolute folders.
pub(super) fn folders<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let absolute = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    let read = |text: &str| absolute(text).ok_or("it does not begin with a slash");
    each(deserializer, "folder", "folders, such as [\"/home/me/notes\"]", read)
}

/// Any texts.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    each(deserializer, "value", "texts in quotes, such as [\"f5\"]", |text| Ok::<_, String>(text.to_owned()))
}

/// Paths and patterns of files that hold secrets.
pub(super) fn guarded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let read = |text: &str| check_guarded(&[text.to_owned()]).map(|()| text.to_owned());
    each(deserializer, "value", "paths and patterns, such as [\"~/vault\", \"*.secret\"]", read)
}

/// Patterns of files.
pub(super) fn file_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let read = |text: &str| FileNames::new(&[text.to_owned()]).map(|_| text.to_owned());
    each(deserializer, "pattern", "patterns of files, such as [\"*.rs\"]", read)
}

/// A text that is JSON.
pub(super) fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
    let problem = "takes JSON in quotes, such as '{\"checkOnSave\": false}'";
    is_json.then_some(Some(text)).ok_or_else(|| D::Error::custom(problem))
}

fn each<'de, D: Deserializer<'de>, T, E: Display>(
    deserializer: D,
    item: &str,
    takes: &str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, D::Error> {
    let wrong = |_| D::Error::custom(format!("takes a list of {takes}"));
    let items = Vec::<toml::Value>::deserialize(deserializer).map_err(wrong)?;
    let read = |(number, value): (usize, &toml::Value)| match value.as_str().map(&read) {
        Some(Ok(value)) => Ok(value),
        Some(Err(bad)) => Err(D::Error::custom(format!("has a wrong {item} (number {}): {bad}", number + 1))),
        None => Err(D::Error::custom(format!(
            "has a {item} (number {}) that is not a text in quotes",
            number + 1
        ))),
    };
    items.iter().enumerate().map(read).collect()
}

/// A number that is not negative.
pub(super) fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let is_price = number.is_finite() && number >= 0.0;
    is_price.then_some(Some(number)).ok_or_else(|| D::Error::custom(REFUSED_NUMBER))
}

/// The name of an environment variable.
pub(super) fn variable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let problem = "takes the name of an environment variable; a key never stands in the settings";
    valid.then_some(Some(name)).ok_or_else(|| D::Error::custom(problem))
}

/// Events of hooks.
pub(super) fn events<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = || DeliveryEvent::ALL.iter().map(|event| event.name()).collect::<Vec<_>>().join(", ");
    let read = |text: &str| match DeliveryEvent::from_name(text) {
        Some(event) => Ok(event.name().to_owned()),
        None => Err(format!("it is not one of {}", names())),
    };
    each(deserializer, "event", "events, such as [\"rewound\"]", read)
}

/// An http or https address that may hold a secret, but no user and no password.
pub(super) fn hook_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let url = reqwest::Url::parse(&text)
        .map_err(|_| D::Error::custom("takes an address such as \"https://example.org/hook\""))?;
    let is_other = !matches!(url.scheme(), "http" | "https") || !url.has_host();
    match (!url.username().is_empty() || url.password().is_some(), is_other) {
        (true, _) => Err("takes an address without user and password; secret_env names a secret"),
        (_, true) => Err("takes an address that begins with http:// or https://"),
        _ => Ok(Some(text)),
    }
    .map_err(D::Error::custom)
}

/// An http or https address without credentials.
pub(super) fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let url = reqwest::Url::parse(&text)
        .map_err(|_| D::Error::custom("takes an address such as \"https://llm.example/v1\""))?;
    let more = [url.password(), url.query(), url.fragment()];
    let has_more = !url.username().is_empty() || more.iter().any(Option::is_some);
    let is_other = !matches!(url.scheme(), "http" | "https") || !url.has_host();
    match (has_more, is_other) {
        (true, _) => {
            Err("takes an address without user, password, ? and #; give the key with key_env or key_file")
        }
        (_, true) => Err("takes an address that begins with http:// or https://"),
        _ => Ok(Some(text.trim_end_matches('/').to_owned())),
    }
    .map_err(D::Error::custom)
}
