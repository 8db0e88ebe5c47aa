//! Keys of providers: their sources, and how they are kept secret.
//!
//! A key is read when it is needed and held in a [`SecretString`], which neither Debug nor Display shows. Must
//! never print, log or store one.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use retake_core::Field;
use rustix::fs::OFlags;
use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

/// The longest key file that is read. Real keys have a few hundred bytes.
const MAX_KEY_BYTES: u64 = 64 * 1024;

/// Looks a variable up.
type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Keys that clients have sent. Held in memory only.
#[derive(Default)]
pub struct ReceivedKeys(Mutex<HashMap<String, SecretString>>);

impl ReceivedKeys {
    /// Stores the value of a variable that this process does not have.
    pub fn take(&self, name: &str, value: &str) {
        if std::env::var_os(name).is_none_or(|own| own.is_empty()) && !value.trim().is_empty() {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(name.to_owned(), SecretString::from(value));
        }
    }

    fn get(&self, name: &str) -> Option<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map(|value| value.expose_secret().to_owned())
    }
}

impl fmt::Debug for ReceivedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handed")
    }
}

/// The environment variables of the program.
#[derive(Clone)]
pub struct Environment {
    get: Arc<Lookup>,
}

impl Environment {
    /// The environment of this process.
    pub fn process() -> Self {
        Self { get: Arc::new(|name| std::env::var(name).ok()) }
    }

    /// The environment of this process; missing variables come from these keys.
    pub fn with(handed: Arc<ReceivedKeys>) -> Self {
        Self { get: Arc::new(move |name| std::env::var(name).ok().or_else(|| handed.get(name))) }
    }

    /// A fixed set of variables, for tests.
    pub fn fixed<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { get: Arc::new(move |name| variables.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone())) }
    }

    /// The key in the variable `name`, if it is set and not blank.
    pub fn key(&self, name: &str) -> Option<SecretString> {
        let value = (self.get)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| SecretString::from(value))
    }

    fn home(&self) -> Option<PathBuf> {
        (self.get)("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

/// The source of an endpoint's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The endpoint needs no key.
    None,
    /// An environment variable with this name.
    Env(String),
    /// A file that only its owner can read.
    File(PathBuf),
}

/// Why a key is not available.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The variable is not set, or blank.
    #[error("no key: the environment variable {0} is not set")]
    NotSet(String),
    /// The file cannot be read.
    #[error("cannot read the key file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// Others can read the file.
    #[error("the key file {} can be read by others (mode {mode:03o})", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("the key file {} does not belong to you", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is no regular file, empty, too long, or has several lines.
    #[error("the key file {} does not hold one key on one line", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
}

impl KeyError {
    /// Its values, by name.
    pub(crate) fn fields(&self) -> Vec<(&'static str, Field)> {
        let (defect, path) = match self {
            Self::NotSet(name) => return vec![("variable", name.as_str().into())],
            Self::Unreadable { path, .. } => ("unreadable", path),
            Self::Open { path, .. } => ("open", path),
            Self::Foreign { path } => ("foreign", path),
            Self::NoKey { path } => ("invalid", path),
        };
        vec![("key_file", defect.into()), ("path", path.as_path().into())]
    }
}

impl KeySource {
    /// Reads the key. `Ok(None)` only if none is needed.
    pub fn read(&self, environment: &Environment) -> Result<Option<SecretString>, KeyError> {
        match self {
            Self::None => Ok(None),
            Self::Env(name) => environment.key(name).map(Some).ok_or_else(|| KeyError::NotSet(name.clone())),
            Self::File(path) => read_file(&expand_home(path, environment)).map(Some),
        }
    }
}

/// `~/x` becomes `x` in the home folder; other paths are unchanged.
fn expand_home(path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn read_file(path: &Path) -> Result<SecretString, KeyError> {
    let unreadable = |source| KeyError::Unreadable { path: path.to_owned(), source };
    // The checks use the opened file, so nobody can exchange it between check and reading. A pipe in its place is
    // not waited for.
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(KeyError::NoKey { path: path.to_owned() });
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(KeyError::Foreign { path: path.to_owned() });
    }
    if meta.mode() & 0o077 != 0 {
        return Err(KeyError::Open { path: path.to_owned(), mode: meta.mode() & 0o777 });
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    let key = text.trim();
    if key.is_empty() || key.contains(['\n', '\r']) {
        return Err(KeyError::NoKey { path: path.to_owned() });
    }
    Ok(SecretString::from(key))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;

    use super::*;

    fn file_with(content: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("key");
        fs::write(&path, content).expect("a key file");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its mode");
        (dir, path)
    }

    fn read(path: &Path) -> Result<Option<SecretString>, KeyError> {
        KeySource::File(path.to_owned()).read(&Environment::fixed([]))
    }

    #[test]
    fn a_private_file_gives_its_key_without_the_line_break() {
        let (_dir, path) = file_with("k-123\n", 0o600);
        let key = read(&path).expect("a key").expect("a key");
        assert_eq!(key.expose_secret(), "k-123");
        assert!(!format!("{key:?}").contains("k-123"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_command_that_helps() {
        let (_dir, path) = file_with("k-123", 0o640);
        let error = read(&path).expect_err("refused");
        assert!(matches!(error, KeyError::Open { mode: 0o640, .. }), "{error}");
        assert_eq!(error.fields(), [("key_file", "open".into()), ("path", Field::from(&*path))]);
        assert!(!format!("{error:?} {error}").contains("k-123"));
    }

    #[test]
    fn files_without_exactly_one_key_are_refused() {
        for content in ["", " \n", "a\nb\n"] {
            let (_dir, path) = file_with(content, 0o600);
            assert!(matches!(read(&path), Err(KeyError::NoKey { .. })), "{content:?}");
        }
        assert!(matches!(read(Path::new("/nowhere/key")), Err(KeyError::Unreadable { .. })));
        assert!(matches!(read(Path::new("/")), Err(KeyError::NoKey { .. })));
    }

    #[test]
    fn the_environment_gives_keys_that_are_not_blank() {
        let environment = Environment::fixed([("A", " k "), ("B", "  "), ("HOME", "/home/me")]);
        assert_eq!(environment.key("A").expect("set").expose_secret(), "k");
        assert!(environment.key("B").is_none());
        assert!(
            matches!(KeySource::Env("C".into()).read(&environment), Err(KeyError::NotSet(name)) if name == "C")
        );
        assert_eq!(expand_home(Path::new("~/k"), &environment), Path::new("/home/me/k"));
    }
}
