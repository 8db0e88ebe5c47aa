//! The options for the files of an action: its scope, and the choices for conflicts. Must never plan anything.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use retake_core::{Action, Apply, Choice, Chosen, FilePath, Scope};
use retake_store::digest::choice_value;
use serde_json::{Value, json};

use super::as_of::PointInTime;
use super::restore::Restore;
use crate::error::{EngineError, Kind, Result};

/// The options for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// The scope.
    pub scope: Scope,
    /// The choices for paths of the conversation's own folder, and the default for all others.
    pub chosen: Chosen,
    /// The choices for paths by their absolute names, in any folder.
    pub elsewhere: BTreeMap<PathBuf, Choice>,
    /// The digest of the plan that the author saw: another plan is refused.
    pub seen: Option<[u8; 16]>,
    /// Restores named files, and changes nothing else.
    pub restore: Option<Restore>,
    /// Whether a run at work and processes of reverted calls are ended first; else they cause a refusal.
    pub stop: bool,
    /// One of several steps: a choice for a name that is not in its plan belongs to another step.
    pub of_several: bool,
}

impl FileOptions {
    /// The options as a value for the digest of a request.
    pub(crate) fn digest_value(&self) -> Value {
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let paths = self
            .chosen
            .paths
            .iter()
            .map(|(path, choice)| json!([text(path.as_bytes()), choice_value(choice)]));
        let elsewhere = self.elsewhere.iter().map(|(path, choice)| json!([path, choice_value(choice)]));
        let restore = self.restore.as_ref().map(|restore| {
            let named = restore
                .paths
                .iter()
                .map(|named| json!([named.folder, named.path.as_ref().map(|path| text(path.as_bytes()))]));
            let to = match &restore.to {
                PointInTime::Before(id) => json!(["before", id.to_string()]),
                PointInTime::Head(head) => json!(["head", head.to_string()]),
                PointInTime::Checkpoint(captures) => {
                    captures.iter().map(|(folder, capture)| json!([folder.0, capture.no])).collect()
                }
            };
            json!([named.collect::<Value>(), to])
        });
        json!({
            "scope": self.scope.name(),
            "paths": paths.collect::<Value>(),
            "others": self.chosen.others.as_ref().map(choice_value),
            "elsewhere": elsewhere.collect::<Value>(),
            "restore": restore,
        })
    }

    /// The choices in a folder; `own` is whether it is the conversation's own.
    pub(super) fn chosen_in(&self, folder: &Path, own: bool) -> Chosen {
        let mut chosen = match own {
            true => self.chosen.clone(),
            false => Chosen { others: self.chosen.others.clone(), ..Chosen::default() },
        };
        for (path, choice) in &self.elsewhere {
            let below = path.strip_prefix(folder).ok();
            let below = below.and_then(|below| FilePath::new(below.as_os_str().as_bytes()).ok());
            chosen.paths.extend(below.map(|below| (below, choice.clone())));
        }
        chosen
    }

    /// Refuses a choice for a path in none of these folders, or for hunks without a plan.
    pub(super) fn fits<'a>(&self, folders: impl Iterator<Item = &'a Path> + Clone) -> Result<()> {
        let lost = |path: &&PathBuf| !folders.clone().any(|folder| path.starts_with(folder));
        match self.elsewhere.keys().find(lost) {
            Some(path) => {
                let what = format!("{} is in no folder of this plan", path.display());
                Err(EngineError::new(Kind::Usage, "bad_path", what)
                    .with("path", &**path)
                    .with("what", "outside"))
            }
            None => Ok(()),
        }
    }

    /// The action in its stored form: the half that is wanted.
    pub(crate) fn half(&self, apply: Apply) -> Apply {
        match (self.scope, &apply.action) {
            (Scope::Both, _) | (Scope::Files, Action::Files(_)) => apply,
            (scope, _) => Apply { action: Action::Half(scope, Box::new(apply.action)), ..apply },
        }
    }

    /// Refuses all choices if no file changes.
    pub(super) fn fits_nothing(&self) -> Result<()> {
        self.chosen.fits(|_| false)?;
        self.fits(std::iter::empty())
    }
}
