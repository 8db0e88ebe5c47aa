//! Files with secrets, which are not read unless a person allows it (trial 23): fixed paths and patterns of names. The sandbox
//! hides them from commands as well; by name only with namespaces, and only in the workspace. Must never open a file.

mod usual;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use globset::{Glob, GlobSet, GlobSetBuilder};

use usual::BELOW_HOME;

/// The item for everything that is guarded by default. It is the first of every list.
const DEFAULT: &str = "default";

/// Names of key files.
const NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.jks",
    "*.keystore",
    ".netrc",
    ".pgpass",
    ".git-credentials",
];

/// Names of project files that often contain secrets, and often do not: they need an approval.
const ASKED: &[&str] = &[".env", ".env.*"];

/// Suffixes of examples and of public keys.
const HARMLESS: [&str; 5] = [".pub", ".example", ".sample", ".template", ".dist"];

/// The guard of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Reading needs an approval.
    Asked,
    /// Reading is refused.
    Refused,
}

/// The error of an item in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadItem(String);

impl fmt::Display for BadItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The guarded files.
#[derive(Debug)]
pub struct Guarded {
    /// Files and folders by their names.
    paths: Vec<PathBuf>,
    /// These, and their targets behind links at the last check.
    found: Mutex<Arc<[PathBuf]>>,
    refused: GlobSet,
    asked: GlobSet,
}

/// An item of the list.
enum Item<'a> {
    Default,
    /// Below the home folder.
    Home(&'a str),
    Path(&'a str),
    Name(&'a str, Guard),
}

impl Guarded {
    /// The default, further items, and these paths of our own. A `!` before an item removes an equal one; `!default` removes all
    /// defaults.
    ///
    /// # Errors
    ///
    /// The first invalid item.
    pub fn new(
        items: &[String],
        home: Option<&Path>,
        own: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, BadItem> {
        let (mut paths, mut names): (Vec<PathBuf>, Vec<(String, Guard)>) = (Vec::new(), Vec::new());
        for text in [DEFAULT].into_iter().chain(items.iter().map(String::as_str)) {
            let (text, takes_out) = text.strip_prefix('!').map_or((text, false), |rest| (rest, true));
            let (mut of_paths, mut of_names) = (Vec::new(), Vec::new());
            match item(text)? {
                Item::Default => {
                    of_paths
                        .extend(home.into_iter().flat_map(|home| BELOW_HOME.iter().map(|it| home.join(it))));
                    of_names.extend(NAMES.iter().map(|name| ((*name).to_owned(), Guard::Refused)));
                    of_names.extend(ASKED.iter().map(|name| ((*name).to_owned(), Guard::Asked)));
                }
                Item::Home(below) => of_paths.extend(home.map(|home| home.join(below))),
                Item::Path(path) => of_paths.push(PathBuf::from(path)),
                Item::Name(name, guard) => of_names.push((name.to_lowercase(), guard)),
            }
            match takes_out {
                true => {
                    paths.retain(|path| !of_paths.contains(path));
                    names.retain(|(name, _)| !of_names.iter().any(|(out, _)| out == name));
                }
                false => {
                    paths.extend(of_paths);
                    names.extend(of_names);
                }
            }
        }
        paths.extend(own);
        paths.sort();
        paths.dedup();
        let set = |of: Guard| {
            let globs = names.iter().filter(|(_, guard)| *guard == of);
            let mut all = GlobSetBuilder::new();
            globs.filter_map(|(name, _)| Glob::new(name).ok()).for_each(|glob| {
                all.add(glob);
            });
            all.build().map_err(|error| BadItem(error.to_string()))
        };
        let found = Mutex::new(found(&paths));
        Ok(Self { found, refused: set(Guard::Refused)?, asked: set(Guard::Asked)?, paths })
    }

    /// Resolves links again: before each call, because somebody may have changed them.
    pub fn look_again(&self) {
        *self.locked() = found(&self.paths);
    }

    fn locked(&self) -> MutexGuard<'_, Arc<[PathBuf]>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The guard of this file or folder. The path is compared as it is: the caller has resolved links.
    pub fn guard(&self, path: &Path) -> Option<Guard> {
        let found = Arc::clone(&self.locked());
        if found.iter().any(|guarded| path.starts_with(guarded)) {
            return Some(Guard::Refused);
        }
        self.guard_name(path.file_name()?)
    }

    /// The guard of a file with this name, in any folder.
    pub fn guard_name(&self, name: &OsStr) -> Option<Guard> {
        let name = name.to_string_lossy().to_lowercase();
        if HARMLESS.iter().any(|end| name.ends_with(end)) {
            return None;
        }
        match (self.refused.is_match(&name), self.asked.is_match(&name)) {
            (true, _) => Some(Guard::Refused),
            (false, true) => Some(Guard::Asked),
            (false, false) => None,
        }
    }

    /// The fixed paths, existing or not, for a sandbox: it resolves links itself.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// Paths, and their targets behind links.
fn found(paths: &[PathBuf]) -> Arc<[PathBuf]> {
    let behind_links = paths.iter().map(|path| behind_links(path)).filter(|real| !paths.contains(real));
    paths.iter().cloned().chain(behind_links.collect::<Vec<_>>()).collect()
}

/// A path with links resolved, even if it or a link's target does not exist.
pub(crate) fn behind_links(path: &Path) -> PathBuf {
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let found = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
        let Some((real, above)) = found else { return path };
        let mut rest = path.strip_prefix(above).unwrap_or(Path::new("")).components();
        let Some(next) = rest.next() else { return real };
        let next = real.join(next);
        match next.read_link() {
            Ok(leads) => path = real.join(leads).join(rest.as_path()),
            Err(_) if rest.as_path().as_os_str().is_empty() => return next,
            Err(_) => return next.join(rest.as_path()),
        }
    }
    path
}

/// The default names, and no paths.
impl Default for Guarded {
    fn default() -> Self {
        Self::new(&[], None, []).expect("BUG: the default is an item")
    }
}

/// Parses an item: `default`, a path that begins with `/` or `~/`, a pattern of names, or `ask` before a pattern.
fn item(text: &str) -> Result<Item<'_>, BadItem> {
    let bad = |why: &str| Err(BadItem(format!("`{}` {why}", text.escape_debug())));
    if text == DEFAULT {
        return Ok(Item::Default);
    }
    let pattern = |name: &str| name.contains(['*', '?', '[', '{']);
    if let Some(below) = text.strip_prefix("~/").filter(|below| !below.is_empty()) {
        return if pattern(below) { bad("is a path, which takes no pattern") } else { Ok(Item::Home(below)) };
    }
    if text.starts_with('/') {
        return if pattern(text) || text == "/" {
            bad("is not a file or folder")
        } else {
            Ok(Item::Path(text))
        };
    }
    let (name, guard) = text.strip_prefix("ask ").map_or((text, Guard::Refused), |name| (name, Guard::Asked));
    if name.is_empty() || name.contains('/') || name == "*" || Glob::new(name).is_err() {
        return bad("is neither a path that begins with `/` or `~/` nor a pattern of names without a slash");
    }
    Ok(Item::Name(name, guard))
}

/// The error of the first invalid item.
pub fn check_guarded(items: &[String]) -> Result<(), BadItem> {
    Guarded::new(items, None, []).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(items: &[&str]) -> Guarded {
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        Guarded::new(&items, Some(Path::new("/home/ada")), [PathBuf::from("/data")]).expect("items")
    }

    #[test]
    fn trial_23_files_that_are_guarded_by_default() {
        let all = guarded(&[]);
        let refused = [
            "/home/ada/.ssh",
            "/home/ada/.ssh/id_ed25519",
            "/home/ada/.ssh/known_hosts",
            "/home/ada/.aws/credentials",
            "/home/ada/.config/gcloud/x",
            "/home/ada/.kube/config",
            "/home/ada/.docker/config.json",
            "/home/ada/.netrc",
            "/home/ada/.git-credentials",
            "/home/ada/.config/gh/hosts.yml",
            "/home/ada/.npmrc",
            "/home/ada/.pypirc",
            "/home/ada/.cargo/credentials.toml",
            "/home/ada/.mozilla/firefox/a/key4.db",
            "/home/ada/.password-store/mail.gpg",
            "/home/ada/.bash_history",
            "/home/ada/.zsh_history",
            "/home/ada/.local/share/fish/fish_history",
            "/home/ada/.config/sops/age/keys.txt",
            "/home/ada/.m2/settings.xml",
            "/home/ada/.gradle/gradle.properties",
            "/home/ada/.databrickscfg",
            "/home/ada/.config/containers/auth.json",
            "/home/ada/.local/share/gopass/stores/root/a.gpg",
            "/home/ada/.config/rbw/config.json",
            "/home/ada/snap/firefox/common/.mozilla/a/key4.db",
            "/home/ada/.var/app/org.mozilla.firefox/.mozilla/a",
            "/home/ada/.var/app/com.google.Chrome/config/a",
            "/home/ada/.config/vivaldi/Default/Cookies",
            "/home/ada/.Xauthority",
            "/home/ada/.local/share/retake/token",
            "/home/ada/.config/retake/config.toml",
            "/home/ada/work/id_rsa",
            "/home/ada/work/server.PEM",
            "/home/ada/work/server.key",
            "/home/ada/work/cert.p12",
            "/data/retake.db",
        ];
        for path in refused {
            assert_eq!(all.guard(Path::new(path)), Some(Guard::Refused), "{path}");
        }
        for path in ["/home/ada/work/.env", "/home/ada/work/.env.local"] {
            assert_eq!(all.guard(Path::new(path)), Some(Guard::Asked), "{path}");
        }
        let free = [
            "/home/ada/work/.env.example",
            "/home/ada/work/id_rsa.pub",
            "/home/ada/.sshd",
            "/home/ada/.docker/daemon.json",
            "/home/ada/.m2/repository/a.jar",
            "/home/ada/.gradle/caches/a",
            "/home/ada/.cargo/bin/cargo",
            "/home/ada/.cargo/config.toml",
            "/home/ada/.gitconfig",
            "/home/ada/.bashrc",
            "/home/ada/.local/share/applications",
            "/home/ada/.config/retake/themes/a.toml",
            "/home/ada/.cache/huggingface/hub",
            "/home/ada/snap",
            "/home/ada/work/key.rs",
            "/home/ada/work/.npmrc",
            "/home/ada",
            "/",
        ];
        for path in free {
            assert_eq!(all.guard(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn trial_23_the_setting_adds_and_removes_hidden_files() {
        let own =
            guarded(&["~/vault", "/etc/keys", "*.secret", "ask *.conf", "!~/.npmrc", "!*.pem", "!.env"]);
        let is = |path: &str| own.guard(Path::new(path));
        assert_eq!(is("/home/ada/vault/a"), Some(Guard::Refused));
        assert_eq!(is("/etc/keys"), Some(Guard::Refused));
        assert_eq!((is("/w/a.secret"), is("/w/a.conf")), (Some(Guard::Refused), Some(Guard::Asked)));
        assert_eq!((is("/home/ada/.npmrc"), is("/w/a.pem"), is("/w/.env")), (None, None, None));
        assert_eq!(is("/home/ada/.ssh/a"), Some(Guard::Refused));
        let none = guarded(&["!default"]);
        assert_eq!(none.guard(Path::new("/home/ada/.ssh/a")), None);
        assert_eq!(none.guard(Path::new("/data/a")), Some(Guard::Refused), "our own stays");
    }

    #[test]
    fn trial_23_an_invalid_item_of_the_setting_is_named() {
        for text in ["", "a/b", "~/", "/", "~/a*", "/a/*", "*", "ask ", "ask ~/a", "[", "!"] {
            let refused = check_guarded(&[text.to_owned()]).expect_err(text);
            assert!(refused.to_string().contains(text.trim_start_matches('!')), "{refused}");
        }
    }

    #[test]
    fn trial_23_a_guarded_folder_that_is_a_link_is_guarded_where_it_leads() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("real");
        std::fs::create_dir(home.join("keys")).expect("made");
        std::os::unix::fs::symlink("keys", home.join(".ssh")).expect("linked");
        let all = Guarded::new(&[], Some(&home), []).expect("items");
        assert_eq!(all.guard(&home.join("keys/id")), Some(Guard::Refused));
        // Somebody moves them elsewhere.
        std::fs::create_dir(home.join("vault")).expect("made");
        std::fs::remove_file(home.join(".ssh")).expect("removed");
        std::os::unix::fs::symlink("vault", home.join(".ssh")).expect("linked");
        all.look_again();
        assert_eq!(all.guard(&home.join("vault/id")), Some(Guard::Refused));
    }
}
