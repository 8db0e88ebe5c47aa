//! What the settings file allows as it stands now: it is looked at before each decision, and read where it has changed. Must never
//! go on allowing what was taken out of it, nor allow anything by a file that can't be read. Which settings these are the
//! table of settings says, too (`settings::ReadBy`).

use std::error::Error as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use retake_core::Permission;

use crate::settings::{Settings, SettingsError};

/// The permissions of the settings file.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// What was read, and what the file was then.
    read: Option<(Option<Stamp>, Permission)>,
    /// Why the file is not as it was read, where nobody has been told yet.
    untold: Option<String>,
}

/// What changes when somebody writes a file: its inode, its size in bytes, when its content and its inode were changed, in seconds
/// and nanoseconds.
type Stamp = [i128; 6];

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = std::fs::metadata(path).ok()?;
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()].map(i128::from);
    let [modified, modified_ns, changed, changed_ns] = times;
    Some([meta.ino().into(), meta.size().into(), modified, modified_ns, changed, changed_ns])
}

impl Standing {
    /// What the file at this path says now. A file that is wrong allows nothing; what it has forbidden before stays forbidden.
    pub(super) fn look(&mut self, path: &Path, configured: &Permission) -> Permission {
        let now = stamp(path);
        if let Some((then, known)) = &self.read
            && *then == now
        {
            return known.clone();
        }
        let permission = match Settings::load(path) {
            Ok(settings) => {
                self.untold = None;
                settings.permission()
            }
            Err(error) => {
                self.untold = Some(wrong(&error));
                self.read.as_ref().map_or(configured, |(_, known)| known).forbidding()
            }
        };
        self.read = Some((now, permission.clone()));
        permission
    }

    /// That the file is wrong, once.
    pub(super) fn untold(&mut self) -> Option<String> {
        self.untold.take()
    }
}

fn wrong(error: &SettingsError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    format!("{text}; until that is mended, no rule of them allows anything")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use retake_core::{Mode, Rule};

    use super::*;

    fn rules(permission: &Permission) -> Vec<String> {
        permission.rules.iter().map(Rule::to_string).collect()
    }

    #[test]
    fn what_is_taken_out_of_the_file_is_allowed_no_more() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.toml");
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        let mut standing = Standing::default();
        let configured = Permission::default();
        let mut look = || standing.look(&path, &configured);
        assert_eq!(look(), Permission::default(), "there is no file");
        write("[permissions]\nmode = \"allow-edits\"\nallow = [\"shell(touch)\"]\ndeny = [\"shell(rm)\"]\n");
        assert_eq!(rules(&look()), ["allow shell(touch)", "deny shell(rm)"]);
        assert_eq!(look().mode, Mode::AllowEdits);
        write("[permissions]\nallow = []\ndeny = [\"shell(rm)\"]\n");
        assert_eq!((rules(&look()), look().mode), (vec!["deny shell(rm)".to_owned()], Mode::Ask));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(look(), Permission::default());
    }

    #[test]
    fn a_wrong_file_allows_nothing_and_that_is_said_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.toml");
        let configured = Permission::default();
        for spoilt in ["[permissions\n", "[permissions]\nallow = 7\n", "\0"] {
            let mut standing = Standing::default();
            std::fs::write(
                &path,
                "[permissions]\nmode = \"allow-all\"\nallow = [\"shell\"]\ndeny = [\"fetch\"]\n",
            )
            .expect("written");
            assert_eq!(standing.look(&path, &configured).mode, Mode::AllowAll);
            std::fs::write(&path, spoilt).expect("written");
            for time in 0..3 {
                let stays = standing.look(&path, &configured);
                assert_eq!((rules(&stays), stays.mode), (vec!["deny fetch".to_owned()], Mode::Ask));
                let told = standing.untold();
                assert_eq!(told.is_some(), time == 0, "{told:?}");
            }
        }
        let mut standing = Standing::default();
        std::fs::write(&path, "[permissions]\nallow = [\"shell\"]\n").expect("written");
        assert_eq!(rules(&standing.look(&path, &configured)), ["allow shell"]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("closed");
        if std::fs::read(&path).is_err() {
            assert!(rules(&standing.look(&path, &configured)).is_empty());
        }
    }
}
