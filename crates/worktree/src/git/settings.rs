//! What git's settings name: included settings, programs that git runs, and files elsewhere that it reads. Must
//! never read anything itself.

use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};

/// The names in settings; whether git uses them depends on more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedBySettings {
    /// Included settings, whatever their condition is.
    pub settings: Vec<PathBuf>,
    /// Folders of hooks.
    pub hooks: Vec<PathBuf>,
    /// Files of attributes.
    pub attributes: Vec<PathBuf>,
}

impl NamedBySettings {
    /// The names in a settings file of a worktree. Empty if git could not read it either.
    pub fn of(file: &Path, text: &[u8], worktree: &Path, home: Option<&Path>) -> Self {
        let meta = gix::config::file::Metadata::api();
        let Ok(config) = gix::config::File::from_bytes_no_includes(text, meta, Default::default()) else {
            return Self::default();
        };
        let all = |section: &str, key: &str| -> Vec<BString> {
            let sections = config.sections_by_name(section).into_iter().flatten();
            sections.flat_map(|section| section.values(key)).collect()
        };
        let paths = |names: Vec<BString>, from: &Path| -> Vec<PathBuf> {
            let path = |name: BString| match name.strip_prefix(b"~/") {
                Some(below) => Some(home?.join(below.to_path().ok()?)),
                None => Some(from.join(name.to_path().ok()?)),
            };
            names.into_iter().filter(|name| !name.is_empty()).filter_map(path).collect()
        };
        let beside = file.parent().unwrap_or(worktree);
        Self {
            settings: paths([all("include", "path"), all("includeIf", "path")].concat(), beside),
            hooks: paths(all("core", "hooksPath"), worktree),
            attributes: paths(all("core", "attributesFile"), worktree),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_27_files_that_settings_name_are_resolved_as_git_does() {
        let text = b"[Include]\n path = \"a b\"\n[includeif \"gitdir:x\"]\npath=~/c # why\n\
            [core]\n\tHooksPath = .hooks\n attributesfile = /d\n[include]\n path = ../e\n# \xff\n";
        let named =
            NamedBySettings::of("/w/.git/config".as_ref(), text, "/w".as_ref(), Some("/home".as_ref()));
        let expected = NamedBySettings {
            settings: vec!["/w/.git/a b".into(), "/w/.git/../e".into(), "/home/c".into()],
            hooks: vec!["/w/.hooks".into()],
            attributes: vec!["/d".into()],
        };
        assert_eq!(named, expected);
        assert_eq!(NamedBySettings::of("/x".as_ref(), b"[", "/".as_ref(), None), NamedBySettings::default());
    }
}
