//! The current permissions of the settings file, and its tables of chats: checked before each decision, and read again after a change. Must
//! never allow what was removed from the file, and nothing while the file cannot be read. The settings are those of
//! `settings::ReadBy::RunningOwner`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use retake_core::Permission;

use crate::error::EngineError;
use crate::settings::{ChatTable, Settings};

/// What the settings file says now.
#[derive(Debug, Default)]
pub(super) struct SettingsFile {
    /// What it says, with the stamp of the file when it was read.
    read: Option<(Option<FileStamp>, Live)>,
    /// The error of the current file, until it is reported.
    unreported: Option<EngineError>,
}

/// The settings that count at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    /// The permissions.
    pub(super) permission: Permission,
    /// The tables of chats, by the names of accounts.
    pub(super) chat: BTreeMap<String, ChatTable>,
}

/// The parts of a file's metadata that change with its content: inode, size in bytes, and the times of the last changes of
/// content and inode in seconds and nanoseconds.
type FileStamp = [i128; 6];

fn stamp(path: &Path) -> Option<FileStamp> {
    let meta = std::fs::metadata(path).ok()?;
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()].map(i128::from);
    let [modified, modified_ns, changed, changed_ns] = times;
    Some([meta.ino().into(), meta.size().into(), modified, modified_ns, changed, changed_ns])
}

impl SettingsFile {
    /// What the file says now. A wrong file allows nothing and admits nobody new; its earlier denials still hold.
    pub(super) fn look(&mut self, path: &Path, configured: &Permission) -> &Live {
        let now = stamp(path);
        if self.read.as_ref().is_none_or(|(then, _)| *then != now) {
            let known = self.read.take().map(|(_, known)| known);
            let live = match Settings::load(path) {
                Ok(settings) => {
                    self.unreported = None;
                    // A file that is away for a moment opens no chat.
                    let chat = match (now, known) {
                        (None, Some(known)) => closed(known.chat),
                        _ => settings.chat.clone(),
                    };
                    Live { permission: settings.permission(), chat }
                }
                Err(error) => {
                    self.unreported = Some(error.into());
                    let known = known
                        .unwrap_or_else(|| Live { permission: configured.clone(), chat: BTreeMap::new() });
                    Live { permission: known.permission.forbidding(), chat: closed(known.chat) }
                }
            };
            self.read = Some((now, live));
        }
        let (_, live) = self.read.as_ref().expect("BUG: it was read");
        live
    }

    /// The error of a wrong file, returned once.
    pub(super) fn unreported(&mut self) -> Option<EngineError> {
        self.unreported.take()
    }
}

fn closed(tables: BTreeMap<String, ChatTable>) -> BTreeMap<String, ChatTable> {
    tables.into_iter().map(|(name, table)| (name, table.closed())).collect()
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
    fn removed_rule_allows_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.toml");
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        let mut file = SettingsFile::default();
        let configured = Permission::default();
        let mut look = || file.look(&path, &configured).permission.clone();
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
    fn wrong_file_admits_nobody_to_chats_but_those_who_were_paired() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.toml");
        let mut file = SettingsFile::default();
        let mut admits = |text: &str| {
            match text.is_empty() {
                true => std::fs::remove_file(&path).expect("removed"),
                false => std::fs::write(&path, text).expect("written"),
            }
            let live = file.look(&path, &Permission::default());
            ["a", "b"].map(|name| {
                let table = &live.chat[name];
                (table.admits("eve", false), table.admits("ann", true))
            })
        };
        let right =
            "[chat.a]\npolicy = \"open\"\nlist = [\"*\"]\n[chat.b]\npolicy = \"list\"\nlist = [\"eve\"]\n";
        assert_eq!(admits(right), [(true, true), (true, false)]);
        assert_eq!(admits(&format!("{right}[chat\n")), [(false, true), (false, false)]);
        assert_eq!(admits(right), [(true, true), (true, false)]);
        assert_eq!(admits(""), [(false, true), (false, false)], "the file is away");
        assert_eq!(admits(right), [(true, true), (true, false)]);
    }

    #[test]
    fn wrong_file_allows_nothing_and_is_reported_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.toml");
        let configured = Permission::default();
        for spoilt in ["[permissions\n", "[permissions]\nallow = 7\n", "\0"] {
            let mut file = SettingsFile::default();
            std::fs::write(
                &path,
                "[permissions]\nmode = \"allow-all\"\nallow = [\"shell\"]\ndeny = [\"fetch\"]\n",
            )
            .expect("written");
            assert_eq!(file.look(&path, &configured).permission.mode, Mode::AllowAll);
            std::fs::write(&path, spoilt).expect("written");
            for time in 0..3 {
                let stays = file.look(&path, &configured).permission.clone();
                assert_eq!((rules(&stays), stays.mode), (vec!["deny fetch".to_owned()], Mode::Ask));
                let told = file.unreported();
                assert_eq!(told.is_some(), time == 0, "{told:?}");
            }
        }
        let mut file = SettingsFile::default();
        std::fs::write(&path, "[permissions]\nallow = [\"shell\"]\n").expect("written");
        assert_eq!(rules(&file.look(&path, &configured).permission), ["allow shell"]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("closed");
        if std::fs::read(&path).is_err() {
            assert!(rules(&file.look(&path, &configured).permission).is_empty());
        }
    }
}
