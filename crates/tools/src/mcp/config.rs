//! The files that declare MCP servers, in the form of other agents: parsed strictly, each error with its line. Must never
//! resolve a variable: an entry is kept as it is in the file.

mod error;
mod place;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use retake_core::shell_word;
use rustix::fs::OFlags;
use serde_json::{Map, Value};

use super::allowed::entry_digest;

pub use error::{ConfigError, ConfigFault};

/// The key of the servers in the file.
pub(super) const SERVERS: &str = "mcpServers";

/// The file of a project, in its folder.
const PROJECT_FILE: &str = ".mcp.json";

/// The longest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// The longest name of a server.
const LONGEST_NAME: usize = 40;

/// The longest entry of a project: a person must be able to read all of it before approving.
const LONGEST_ENTRY: usize = 4 << 10;

/// The file that declares a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's own file.
    User,
    /// The project's file, which came with the folder, so a person must approve it first.
    Project,
}

/// The transport to a server, from its file: `${VAR}` is a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// A program that is started and reached through its pipes.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Additional variables.
        env: Vec<(String, String)>,
        /// Its working folder; without one, the workspace folder.
        cwd: Option<String>,
    },
    /// An address with streamable HTTP.
    Url {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

impl ServerTransport {
    /// In a line, for people: without variables and headers, which may be secret.
    pub fn line(&self) -> String {
        match self {
            Self::Command { command, args, .. } => {
                let words = std::iter::once(command).chain(args);
                words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
            }
            Self::Url { url, .. } => url.clone(),
        }
    }

    /// In the form of a file.
    pub(super) fn to_json(&self) -> Value {
        let texts = |pairs: &[(String, String)]| -> Value {
            pairs
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.clone())))
                .collect::<Map<_, _>>()
                .into()
        };
        let mut fields = Map::new();
        match self {
            Self::Command { command, args, env, cwd } => {
                fields.insert("command".into(), command.clone().into());
                fields.insert("args".into(), args.clone().into());
                if !env.is_empty() {
                    fields.insert("env".into(), texts(env));
                }
                if let Some(cwd) = cwd {
                    fields.insert("cwd".into(), cwd.clone().into());
                }
            }
            Self::Url { url, headers } => {
                fields.insert("url".into(), url.clone().into());
                if !headers.is_empty() {
                    fields.insert("headers".into(), texts(headers));
                }
            }
        }
        fields.into()
    }
}

/// A server in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The file that declares it.
    pub origin: Origin,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Its transport.
    pub way: ServerTransport,
    /// Whether its process is confined like a command with network. Only the user's file can disable this.
    pub confined: bool,
    /// Additional folders that its process may write, from the user's file.
    pub write: Vec<String>,
    /// A digest of folder, name and entry, which an approval is for. The order of keys in the file does not change it.
    pub digest: String,
    /// The digest of earlier versions of this program, which depends on the order of keys.
    earlier_digest: String,
}

impl Entry {
    /// Whether this is the digest of the entry, whichever version of this program made it.
    pub fn has_digest(&self, digest: &str) -> bool {
        digest == self.digest || digest == self.earlier_digest
    }
}

/// All servers of a folder.
#[derive(Debug, Default)]
pub struct Config {
    /// The servers, sorted by name.
    pub servers: Vec<Entry>,
    /// The errors of a file; its valid parts count.
    pub problems: Vec<ConfigError>,
    /// Warnings about it.
    pub warnings: Vec<ConfigError>,
}

impl Config {
    /// Reads the user's file, and the project's in its folder. If both have a server with the same name, the user's counts.
    pub fn read(user: &Path, folder: &Path) -> Self {
        let mut config = Self::default();
        let mut servers = BTreeMap::new();
        let files = [(user.to_owned(), Origin::User), (folder.join(PROJECT_FILE), Origin::Project)];
        for (path, origin) in files {
            let text = match origin {
                Origin::Project => stays_within(&path, folder).and_then(|()| text_of(&path)),
                Origin::User => text_of(&path),
            };
            let found = match text {
                Ok(Some(text)) => Reading { path: &path, text: &text, origin, folder }.all(&mut config),
                Ok(None) => Ok(Vec::new()),
                Err(problem) => Err(problem),
            };
            match found {
                Ok(found) => found.into_iter().for_each(|entry| {
                    servers.entry(entry.name.clone()).or_insert(entry);
                }),
                Err(problem) => config.problems.push(problem),
            }
        }
        config.servers = servers.into_values().collect();
        config
    }
}

/// Refuses a project's file that is a link to elsewhere: the project must not choose that file (trial 23).
fn stays_within(path: &Path, folder: &Path) -> Result<(), ConfigError> {
    let leads_out = || {
        let (path, folder) = (path.canonicalize().ok()?, folder.canonicalize().ok()?);
        Some(!path.starts_with(folder))
    };
    if path.is_symlink() && leads_out().unwrap_or(false) {
        let source = std::io::Error::other("it is a link that leads out of the folder");
        return Err(ConfigError::Unreadable { path: path.to_owned(), source });
    }
    Ok(())
}

/// The text of a file; `None` if there is none.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    // A pipe in its place would block.
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(nonblock).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(std::io::Error::other("it is not a regular file")));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(unreadable(std::io::Error::other("it has more than 1 MB")));
    }
    Ok(Some(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)))
}

/// The text of a file as an object; empty for a blank file.
pub(super) fn document(path: &Path, text: &str) -> Result<Map<String, Value>, ConfigError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let syntax = |line, problem: String| ConfigError::Syntax { path: path.to_owned(), line, problem };
    match serde_json::from_str(text) {
        Ok(Value::Object(document)) => Ok(document),
        Ok(_) => Err(syntax(1, "an object in braces is expected".to_owned())),
        Err(error) => {
            let said = error.to_string();
            let problem = said.split(" at line ").next().unwrap_or(&said);
            Err(syntax(error.line(), problem.to_owned()))
        }
    }
}

/// Whether a server may have this name.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain)
}

/// The parser of one file.
struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    origin: Origin,
    folder: &'a Path,
}

impl Reading<'_> {
    fn all(&self, config: &mut Config) -> Result<Vec<Entry>, ConfigError> {
        let document = document(self.path, self.text)?;
        let mut found = Vec::new();
        match document.get(SERVERS) {
            Some(Value::Object(servers)) => {
                for (name, value) in servers {
                    match self.entry(name, value, config) {
                        Ok(entry) => found.push(entry),
                        Err(problem) => config.problems.push(problem),
                    }
                }
            }
            Some(_) => return Err(self.wrong(&[SERVERS], "takes an object: a name and a server each")),
            None if document.is_empty() => {}
            None => {
                let has = document.keys().map(|key| format!("“{}”", super::text::line(key, 40)));
                let (path, keys) = (self.path.to_owned(), has.take(3).collect());
                config.warnings.push(ConfigError::NoServers { path, keys });
            }
        }
        Ok(found)
    }

    fn entry(&self, name: &str, value: &Value, config: &mut Config) -> Result<Entry, ConfigError> {
        let at = [SERVERS, name];
        if !is_name(name) {
            return Err(self.wrong(&at, "a name has letters, digits, `-`, `_` and `.`, at most 40"));
        }
        let Value::Object(fields) = value else {
            return Err(self.wrong(&at, "takes an object with “command” or “url”"));
        };
        if self.origin == Origin::Project && value.to_string().len() > LONGEST_ENTRY {
            return Err(
                self.wrong(&at, "is too long to be shown in full: a project's server has at most 4 KB")
            );
        }
        let way = self.way(name, fields)?;
        let known =
            ["command", "args", "env", "cwd", "url", "headers", "type", "disabled", "confined", "write"];
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let (key, line) = (super::text::line(key, 40), self.line(&[SERVERS, name, key]));
            let (path, server) = (self.path.to_owned(), name.to_owned());
            config.warnings.push(ConfigError::UnknownKey { path, line, key, server });
        }
        let disabled = self.flag(name, fields, "disabled", false)?;
        let confined = self.flag(name, fields, "confined", true)?;
        let write = self.list(name, fields, "write")?;
        if self.origin == Origin::Project && (!confined || !write.is_empty()) {
            let key = if confined { "write" } else { "confined" };
            return Err(
                self.wrong(&[SERVERS, name, key], "only your own file can open the sandbox of a server")
            );
        }
        let (digest, earlier_digest) = digests(self.folder, name, value);
        let (name, enabled) = (name.to_owned(), !disabled);
        Ok(Entry { name, origin: self.origin, enabled, way, confined, write, digest, earlier_digest })
    }

    fn way(&self, name: &str, fields: &Map<String, Value>) -> Result<ServerTransport, ConfigError> {
        let kind = self.text(name, fields, "type")?;
        match kind.as_deref() {
            None | Some("stdio" | "http" | "streamable-http" | "streamableHttp") => {}
            Some("sse") => {
                let why = "the older transport “sse” is not supported; many servers also support “http”";
                return Err(self.wrong(&[SERVERS, name, "type"], why));
            }
            Some(_) => return Err(self.wrong(&[SERVERS, name, "type"], "takes “stdio” or “http”")),
        }
        let (command, url) = (self.text(name, fields, "command")?, self.text(name, fields, "url")?);
        match (command, url) {
            (Some(command), None) if !command.trim().is_empty() => Ok(ServerTransport::Command {
                command,
                args: self.list(name, fields, "args")?,
                env: self.pairs(name, fields, "env")?,
                cwd: self.text(name, fields, "cwd")?,
            }),
            (None, Some(url)) if !url.trim().is_empty() => {
                Ok(ServerTransport::Url { url, headers: self.pairs(name, fields, "headers")? })
            }
            (Some(_), Some(_)) => {
                Err(self.wrong(&[SERVERS, name], "has both “command” and “url”; one is enough"))
            }
            _ => Err(self.wrong(&[SERVERS, name], "has neither “command” nor “url”")),
        }
    }

    fn text(
        &self,
        name: &str,
        fields: &Map<String, Value>,
        key: &str,
    ) -> Result<Option<String>, ConfigError> {
        match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(&[SERVERS, name, key], "takes a text in quotes")),
        }
    }

    fn flag(
        &self,
        name: &str,
        fields: &Map<String, Value>,
        key: &str,
        otherwise: bool,
    ) -> Result<bool, ConfigError> {
        match fields.get(key) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(&[SERVERS, name, key], "takes true or false")),
        }
    }

    fn list(&self, name: &str, fields: &Map<String, Value>, key: &str) -> Result<Vec<String>, ConfigError> {
        let wrong = || self.wrong(&[SERVERS, name, key], "takes a list of texts");
        match fields.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(|item| plain(item).ok_or_else(wrong)).collect(),
            Some(_) => Err(wrong()),
        }
    }

    fn pairs(
        &self,
        name: &str,
        fields: &Map<String, Value>,
        key: &str,
    ) -> Result<Vec<(String, String)>, ConfigError> {
        let wrong = || self.wrong(&[SERVERS, name, key], "takes an object of texts");
        let named = |key: &str| !key.is_empty() && !key.contains(['=', '\0']);
        match fields.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(items)) => {
                let pair = |(key, item): (&String, &Value)| match plain(item) {
                    Some(text) if named(key) => Ok((key.clone(), text)),
                    _ => Err(wrong()),
                };
                let mut pairs = items.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
                // Of two headers that differ only in case, the last one is sent. The order in the file must not choose it.
                pairs.sort();
                Ok(pairs)
            }
            Some(_) => Err(wrong()),
        }
    }

    fn line(&self, key: &[&str]) -> usize {
        place::line_of(self.text, key).unwrap_or(1)
    }

    fn wrong(&self, key: &[&str], problem: &str) -> ConfigError {
        ConfigError::Wrong {
            path: PathBuf::from(self.path),
            line: self.line(key),
            key: super::text::line(&key.join("."), 80),
            problem: problem.to_owned(),
        }
    }
}

fn plain(item: &Value) -> Option<String> {
    item.as_str().filter(|text| !text.contains('\0')).map(str::to_owned)
}

/// The digest that an approval is for, and that of earlier versions of this program: they kept the order of keys in the file.
fn digests(folder: &Path, name: &str, value: &Value) -> (String, String) {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    let earlier = entry_digest("retake mcp leave 1", folder, name, value);
    (entry_digest("retake mcp approval 2", folder, name, &sorted), earlier)
}
