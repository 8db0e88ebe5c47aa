//! The project's servers that a person approved. Must never take a changed entry for the one that was allowed.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::config::{ConfigError, Entry, Origin, document, text_of};
use super::file::save;

/// The key above all that is allowed.
const ALLOWED: &str = "allowed";

/// The file that remembers it.
#[derive(Clone, Debug)]
pub struct Allowed {
    path: PathBuf,
}

impl Allowed {
    /// What this file remembers; it need not be there.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Whether a server may be started: the user's own may. An entry that has changed since is another one.
    pub fn holds(&self, entry: &Entry) -> Result<bool, ConfigError> {
        if entry.origin == Origin::User {
            return Ok(true);
        }
        let digest = |item: &Value| item.get("digest").and_then(Value::as_str) == Some(&entry.digest);
        Ok(self.read()?.iter().any(digest))
    }

    /// Allows a server of this folder, as its entry is now, and revokes what was allowed for an earlier entry of that
    /// name. Returns the size of the file in bytes.
    pub fn allow(&self, folder: &Path, entry: &Entry) -> Result<u64, ConfigError> {
        let folder = folder.to_string_lossy();
        let mut items = self.read()?;
        items.retain(|item| {
            item.get("folder") != Some(&json!(folder)) || item.get("name") != Some(&json!(entry.name))
        });
        items.push(json!({ "folder": folder, "name": entry.name, "digest": entry.digest }));
        let document: Map<_, _> = [(ALLOWED.to_owned(), Value::from(items))].into_iter().collect();
        let text = format!("{:#}\n", Value::Object(document));
        save(&self.path, &text)
            .map_err(|source| ConfigError::Unwritable { path: self.path.clone(), source })?;
        Ok(text.len() as u64)
    }

    fn read(&self) -> Result<Vec<Value>, ConfigError> {
        let text = text_of(&self.path)?.unwrap_or_default();
        match document(&self.path, &text)?.remove(ALLOWED) {
            Some(Value::Array(items)) => Ok(items),
            None => Ok(Vec::new()),
            Some(_) => Err(ConfigError::Wrong {
                path: self.path.clone(),
                line: 1,
                key: ALLOWED.to_owned(),
                problem: "takes a list".to_owned(),
            }),
        }
    }
}
