//! The options for files of an action: what is taken along, and what was chosen for which of them. Must never plan anything.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use retake_core::{Action, Apply, Choice, Chosen, FilePath, Scope};
use retake_store::digest::choice_value;
use serde_json::{Value, json};

use super::as_of::AsOf;
use super::restore::Restore;
use crate::error::{EngineError, Kind, Result};

/// The options for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// What is taken along.
    pub scope: Scope,
    /// What was chosen for paths of the conversation's own folder, and for all others.
    pub chosen: Chosen,
    /// What was chosen for paths by their absolute names, in whichever folder they are.
    pub elsewhere: BTreeMap<PathBuf, Choice>,
    /// The plan that its author saw, by its digest: another one is refused.
    pub seen: Option<[u8; 16]>,
    /// Named files are put back, and nothing else is done.
    pub restore: Option<Restore>,
    /// Whether a run at work, and processes that calls taken back have left running, are ended first; else they are a refusal.
    pub stop: bool,
    /// One of several steps: what was chosen for a name that its plan has not is for another one of them.
    pub of_several: bool,
}

impl FileOptions {
    /// What tells it from another one, for a digest of the request that it belongs to.
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
                AsOf::Before(id) => json!(["before", id.to_string()]),
                AsOf::Head(head) => json!(["head", head.to_string()]),
                AsOf::Checkpoint(captures) => {
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

    /// What is chosen in a folder; `own` is whether it is the conversation's own.
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

    /// Refuses what is chosen for a path that is in none of these folders, or for hunks where there is no plan at all.
    pub(super) fn fits<'a>(&self, folders: impl Iterator<Item = &'a Path> + Clone) -> Result<()> {
        let lost = |path: &&PathBuf| !folders.clone().any(|folder| path.starts_with(folder));
        match self.elsewhere.keys().find(lost) {
            Some(path) => {
                let what = format!("{} is in no folder of this plan", path.display());
                Err(EngineError::new(Kind::Usage, "bad_path", what).hint("name files as the plan does"))
            }
            None => Ok(()),
        }
    }

    /// The action as it is stored: the half of it that is wanted.
    pub(crate) fn half(&self, apply: Apply) -> Apply {
        match (self.scope, &apply.action) {
            (Scope::Both, _) | (Scope::Files, Action::Files(_)) => apply,
            (scope, _) => Apply { action: Action::Half(scope, Box::new(apply.action)), ..apply },
        }
    }

    /// Refuses what is chosen where no file comes or goes.
    pub(super) fn fits_nothing(&self) -> Result<()> {
        self.chosen.fits(|_| false)?;
        self.fits(std::iter::empty())
    }
}
