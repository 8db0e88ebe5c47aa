//! The files of accounts of chat platforms, beside the settings: one for each, which only the user can read. They hold the tokens of the
//! platform, and that of the gateway. Must never print one.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The largest file of an account.
const LARGEST: u64 = 64 * 1024;

/// The key of the platform's name.
const PLATFORM: &str = "platform";

/// The key of the gateway's token at the owner.
const OWNER_TOKEN: &str = "owner_token";

/// An account as its file has it.
#[derive(Clone, Default)]
pub(crate) struct Account {
    /// The platform.
    pub(crate) platform: String,
    /// The gateway's token at the owner.
    pub(crate) owner_token: String,
    /// The values that the platform needs.
    pub(crate) values: BTreeMap<String, String>,
}

/// The folder of the files.
fn folder(config_file: &Path) -> PathBuf {
    config_file.parent().unwrap_or(Path::new(".")).join("gateways")
}

/// The file of an account.
pub(crate) fn path(config_file: &Path, name: &str) -> PathBuf {
    folder(config_file).join(format!("{name}.json"))
}

/// The names of the accounts, sorted.
pub(crate) fn names(config_file: &Path) -> io::Result<Vec<String>> {
    let files = match fs::read_dir(folder(config_file)) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for file in files {
        let name = file?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Reads an account. A file that others could read is an error: its tokens are not secret any more.
pub(crate) fn read(config_file: &Path, name: &str) -> io::Result<Account> {
    let mut text = String::new();
    let file = File::open(path(config_file, name))?;
    if file.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other(
            "other users can read the file: make new tokens, and add the account again",
        ));
    }
    file.take(LARGEST).read_to_string(&mut text)?;
    let all: Map<String, Value> =
        serde_json::from_str(&text).map_err(|_| io::Error::other("it is not JSON"))?;
    let mut values: BTreeMap<String, String> =
        all.into_iter().filter_map(|(key, value)| Some((key, value.as_str()?.to_owned()))).collect();
    let platform = values.remove(PLATFORM).unwrap_or_default();
    let owner_token = values.remove(OWNER_TOKEN).unwrap_or_default();
    Ok(Account { platform, owner_token, values })
}

/// Writes a new account; an existing file stays as it is, and is an error.
pub(crate) fn write(config_file: &Path, name: &str, account: &Account) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder(config_file))?;
    let own = [(PLATFORM, &account.platform), (OWNER_TOKEN, &account.owner_token)];
    let own = own.map(|(key, value)| (key.to_owned(), Value::from(value.as_str())));
    let values = account.values.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    let all: Map<String, Value> = own.into_iter().chain(values).collect();
    let path = path(config_file, name);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(format!("{:#}\n", Value::Object(all)).as_bytes())?;
    file.sync_all()
}

/// Removes the file of an account.
pub(crate) fn remove(config_file: &Path, name: &str) -> io::Result<()> {
    fs::remove_file(path(config_file, name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn file_of_an_account_is_private_and_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        assert!(names(&config).expect("none").is_empty());
        let values = BTreeMap::from([("token".to_owned(), "secret".to_owned())]);
        let account = Account { platform: "matrix".to_owned(), owner_token: "rtk_1".to_owned(), values };
        write(&config, "home", &account).expect("written");
        assert!(write(&config, "home", &account).is_err(), "it exists");
        assert_eq!(names(&config).expect("one"), ["home"]);
        let back = read(&config, "home").expect("read");
        assert_eq!(
            (back.platform, back.owner_token, back.values),
            (account.platform, account.owner_token, account.values)
        );
        let path = path(&config, "home");
        assert_eq!(fs::metadata(&path).expect("it").mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("opened");
        assert!(read(&config, "home").is_err(), "others could read it");
        remove(&config, "home").expect("removed");
        assert!(names(&config).expect("none").is_empty());
    }
}
