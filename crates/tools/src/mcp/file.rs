//! Changes of the user's file of servers: each is written completely or not at all, and keeps everything else in the
//! file. Must never write to a project's file.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::config::{ConfigError, SERVERS, ServerTransport, document, is_name, text_of};
use crate::destination;

/// Adds a server to a file, which is created if needed. Returns its size in bytes.
pub fn add(path: &Path, name: &str, way: &ServerTransport) -> Result<u64, ConfigError> {
    if !is_name(name) {
        return Err(ConfigError::BadName(super::text::line(name, 60)));
    }
    makes_sense(name, way)?;
    change(path, |servers| {
        if servers.contains_key(name) {
            return Err(ConfigError::Exists { name: name.to_owned(), path: path.to_owned() });
        }
        servers.insert(name.to_owned(), way.to_json());
        Ok(())
    })
}

/// Removes a server from a file. Returns its size in bytes.
pub fn remove(path: &Path, name: &str) -> Result<u64, ConfigError> {
    change(path, |servers| match servers.shift_remove(name) {
        Some(_) => Ok(()),
        None => Err(ConfigError::Missing { name: super::text::line(name, 60), path: path.to_owned() }),
    })
}

fn makes_sense(name: &str, way: &ServerTransport) -> Result<(), ConfigError> {
    let problem =
        |problem: &str| Err(ConfigError::BadEntry { name: name.to_owned(), problem: problem.to_owned() });
    let bad =
        |pairs: &[(String, String)]| pairs.iter().any(|(key, _)| key.trim().is_empty() || key.contains('='));
    match way {
        ServerTransport::Command { command, .. } if command.trim().is_empty() => {
            problem("its command is empty")
        }
        ServerTransport::Command { env, .. } if bad(env) => problem("a variable needs a name"),
        ServerTransport::Url { url, .. }
            if !url.starts_with("https://") && !url.starts_with("http://") && !url.starts_with("${") =>
        {
            problem("its address begins neither with `https://` nor with `http://`")
        }
        ServerTransport::Url { headers, .. } if super::http::headers(headers).is_err() => {
            problem("a header is not valid")
        }
        _ => Ok(()),
    }
}

fn change(
    path: &Path,
    what: impl FnOnce(&mut Map<String, Value>) -> Result<(), ConfigError>,
) -> Result<u64, ConfigError> {
    let text = text_of(path)?.unwrap_or_default();
    let mut document = document(path, &text)?;
    match document.entry(SERVERS).or_insert_with(|| Map::new().into()) {
        Value::Object(servers) => what(servers)?,
        _ => {
            return Err(ConfigError::Wrong {
                path: path.to_owned(),
                line: 1,
                key: SERVERS.to_owned(),
                problem: "takes an object: a name and a server each".to_owned(),
            });
        }
    }
    let text = format!("{:#}\n", Value::Object(document));
    save(path, &text).map_err(|source| ConfigError::Unwritable { path: path.to_owned(), source })?;
    Ok(text.len() as u64)
}

/// Writes a file completely or not at all.
pub(super) fn save(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A new file is private: variables and headers may be secret.
    destination::write(path, text.as_bytes(), destination::PRIVATE)
}
