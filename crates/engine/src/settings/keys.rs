//! The settings by their paths, from the schema of [`Settings`]: the values of each, its default and its explanation. For an
//! unknown path, the most similar one.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{Settings, SettingsError};

/// A setting. In its path `*` stands for a name that the user chooses.
pub(super) struct Key {
    pub(super) path: Vec<String>,
    pub(super) schema: Value,
}

/// Which process reads a setting, and when: what a change needs to take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBy {
    /// The owner, when it starts: a running one keeps the value that it began with.
    StartingOwner,
    /// The owner, before each decision: a running one uses the new value at once (`agent/settings_file.rs`).
    RunningOwner,
    /// Each client that starts, and no owner.
    Client,
}

/// Every setting, in the order of the documented file.
pub(super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut keys = Vec::new();
    add(&mut keys, &[], settings.into_generator().into_root_schema_for::<Settings>().as_value());
    keys
});

fn add(keys: &mut Vec<Key>, path: &[String], schema: &Value) {
    if schema["type"] != "object" {
        return keys.push(Key { path: path.to_vec(), schema: schema.clone() });
    }
    let named = schema["properties"].as_object().into_iter().flatten();
    let chosen = schema.get("additionalProperties").filter(|schema| schema.is_object());
    let inner = named.map(|(name, schema)| (name.as_str(), schema)).chain(chosen.map(|schema| ("*", schema)));
    for (name, schema) in inner {
        add(keys, &[path, &[name.to_owned()]].concat(), schema);
    }
}

impl Key {
    /// Which process reads it, and when.
    pub(super) fn read_by(&self) -> ReadBy {
        match self.path[0].as_str() {
            "face" => ReadBy::Client,
            _ if self.schema["live"] == true => ReadBy::RunningOwner,
            _ => ReadBy::StartingOwner,
        }
    }

    /// Its type, in the words of JSON schema.
    pub(super) fn kind(&self) -> &str {
        let kind = &self.schema["type"];
        kind.as_str().or_else(|| kind[0].as_str()).unwrap_or("string")
    }

    /// The words from which it takes one; none, where it takes other values.
    pub(super) fn words(&self) -> Vec<&str> {
        let all = ["enum", "oneOf"].iter().filter_map(|list| self.schema[list].as_array()).flatten();
        all.filter_map(|word| word.as_str().or_else(|| word["const"].as_str())).collect()
    }

    /// What it takes, for people.
    pub(super) fn takes(&self) -> String {
        let words = self.words();
        match (self.kind(), &self.schema["maximum"]) {
            ("boolean", _) => "takes true or false".to_owned(),
            // The largest integer of TOML.
            ("integer", most) if *most == i64::MAX => {
                format!("takes a whole number from {}", self.schema["minimum"])
            }
            ("integer", most) => format!("takes a whole number from {} to {most}", self.schema["minimum"]),
            ("number", _) => "takes a number that is not negative".to_owned(),
            ("array", _) => "takes a list of texts in quotes".to_owned(),
            _ if words.is_empty() => "takes a text in quotes".to_owned(),
            _ => format!("takes one of {}", words.join(", ")),
        }
    }

    /// Its default; none, where it has none.
    pub(super) fn default(&self) -> Option<toml_edit::Value> {
        self.schema["default"].to_string().parse().ok()
    }

    /// The value that a person wrote on a command line: without quotes, and of a list also one item.
    pub(super) fn typed(&self, text: &str) -> Result<toml_edit::Value, String> {
        match self.kind() {
            "string" => Ok(text.into()),
            "array" if !text.trim_start().starts_with('[') => Ok(toml_edit::Array::from_iter([text]).into()),
            _ => text.parse().map_err(|_| self.takes()),
        }
    }

    /// Its path, with the names of `path` where the user chooses them; `NAME`, where `path` has none.
    pub(super) fn named<'a>(&'a self, path: &'a [String]) -> Vec<&'a str> {
        let given = path.iter().map(|name| Some(name.as_str())).chain(std::iter::repeat(None));
        let name = |(own, given): (&'a String, Option<&'a str>)| match own.as_str() {
            "*" => given.unwrap_or("NAME"),
            own => own,
        };
        self.path.iter().zip(given).map(name).collect()
    }

    /// Whether it is the setting at `path`, or in the table there.
    pub(super) fn is_within(&self, path: &[String]) -> bool {
        self.path.len() >= path.len()
            && self.path.iter().zip(path).all(|(own, given)| own == "*" || own == given)
    }
}

/// How similar the name of a setting must be to be named as the nearest.
const ALIKE: f64 = 0.8;

/// The setting at `path`.
pub(super) fn find(path: &[String]) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path.len() == path.len() && key.is_within(path))
}

/// The error that there is no setting at `path`: which name is most alike, and what its table has.
pub(super) fn unknown(path: &[String], line: Option<usize>) -> SettingsError {
    let key = path.join(".");
    let within = |table: &[String]| -> Vec<_> {
        KEYS.iter().filter(|key| key.is_within(table)).map(|key| key.named(path)).collect()
    };
    let settings: Vec<_> = within(path).iter().map(|own| own.join(".")).collect();
    if !settings.is_empty() {
        return SettingsError::Section { key, settings };
    }
    let (name, above) = path.split_last().expect("BUG: a path has names");
    let known = || KEYS.iter().map(|key| key.named(path));
    let mut table: Vec<_> = within(above).iter().filter_map(|own| own.get(above.len()).copied()).collect();
    table.dedup();
    let whole = |name: &str| above.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".");
    let nearest =
        most_alike(name, ALIKE, table.iter().map(|name| (name, whole(name)))).or_else(|| match above {
            // A setting's name without its table.
            [] => most_alike(name, ALIKE, known().map(|own| (own[own.len() - 1], own.join(".")))),
            _ if table.is_empty() => {
                let same_depth = known().filter(|own| own.len() == path.len()).map(|own| own.join("."));
                most_alike(&key, ALIKE, same_depth.map(|own| (own.clone(), own)))
            }
            _ => None,
        });
    if above.is_empty() {
        table.clear();
    }
    let table = table.into_iter().map(str::to_owned).collect();
    SettingsError::Unknown { key, line, nearest, table }
}

/// What stands beside the name that is written most alike; none, where no name is more similar than `limit`, from 0 to 1.
pub(crate) fn most_alike<N: AsRef<str>, T>(
    written: &str,
    limit: f64,
    candidates: impl Iterator<Item = (N, T)>,
) -> Option<T> {
    let scored = candidates.map(|(name, meant)| (strsim::jaro_winkler(written, name.as_ref()), meant));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 > limit).then_some(best.1)
}
