//! What a person approved of a folder: servers of its project, and hooks. Must never accept a changed entry as the approved one.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::config::{ConfigError, Entry, Origin, document, text_of};
use super::file::save;

/// The key of the approvals in the file.
const ALLOWED: &str = "allowed";

/// The file with the approvals.
#[derive(Clone, Debug)]
pub struct Allowed {
    path: PathBuf,
}

impl Allowed {
    /// The approvals in this file, which may be missing.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Whether a server may be started; the user's own always may. A changed entry needs a new approval.
    pub fn holds(&self, entry: &Entry) -> Result<bool, ConfigError> {
        if entry.origin == Origin::User {
            return Ok(true);
        }
        let is_of = |item: &Value| {
            item.get("digest").and_then(Value::as_str).is_some_and(|digest| entry.has_digest(digest))
        };
        Ok(self.read()?.iter().any(is_of))
    }

    /// Approves a server of this folder with its current entry, and revokes the approval of an earlier entry with
    /// that name. Returns the size of the file in bytes.
    pub fn allow(&self, folder: &Path, entry: &Entry) -> Result<u64, ConfigError> {
        let item = json!({ "folder": folder.to_string_lossy(), "name": entry.name, "digest": entry.digest });
        self.replace(folder, &entry.name, Some(item))
    }

    /// Replaces the approval with this name of a folder, or revokes it. Returns the size of the file in bytes.
    pub fn replace(&self, folder: &Path, name: &str, item: Option<Value>) -> Result<u64, ConfigError> {
        let folder = folder.to_string_lossy();
        let mut items = self.read()?;
        items.retain(|item| {
            item.get("folder") != Some(&json!(folder)) || item.get("name") != Some(&json!(name))
        });
        items.extend(item);
        let document: Map<_, _> = [(ALLOWED.to_owned(), Value::from(items))].into_iter().collect();
        let text = format!("{:#}\n", Value::Object(document));
        save(&self.path, &text)
            .map_err(|source| ConfigError::Unwritable { path: self.path.clone(), source })?;
        Ok(text.len() as u64)
    }

    /// All approvals, as they are in the file.
    pub fn read(&self) -> Result<Vec<Value>, ConfigError> {
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

/// The digest of an entry in one form. The folder is part of it: the same entry does something else elsewhere.
pub fn entry_digest(form: &str, folder: &Path, name: &str, entry: &Value) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(form);
    for part in [folder.as_os_str().as_encoded_bytes(), name.as_bytes(), entry.to_string().as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}
