//! The tool `glob`: files by a pattern of their names, the newest first. It must open no file.

use std::cmp::Reverse;
use std::time::SystemTime;

use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use retake_core::Intent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::place::PathBase;
use super::text;
use super::walk::{self, HiddenPaths, WalkScope};
use super::work::{Stop, look};
use crate::call::{Call, Output};
use crate::own::{OwnTool, read_only_intent};

/// The most files that are shown.
const MOST_FILES: usize = 200;

/// Finds files by their names.
pub(super) struct GlobFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The pattern: `*.rs` (at any depth), `src/**/*.{ts,tsx}`, `docs/*.md`. A pattern with a `/` is relative to `path`.
    pattern: String,
    /// The folder to search. Default: the conversation's folder.
    path: Option<String>,
    /// Also find files that `.gitignore` excludes.
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl OwnTool for GlobFiles {
    type Arguments = Arguments;
    const NAME: &'static str = "glob";
    const ABOUT: &'static str = "Finds files by name. Shows at most 200, the newest first, without those that `.gitignore` excludes. To search the \
         contents of files, use `grep`.";

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        matcher(&arguments.pattern)?;
        let place = ground.place(arguments.path.as_deref().unwrap_or_default())?;
        let line = format!("glob {} in {}", text::escaped(&arguments.pattern), ground.line(&place.path));
        Ok(read_only_intent(line, place.read()))
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        look(&call, &["glob"], move |ground, veil, stop| glob(&arguments, ground, veil, stop))
            .await
            .map(Output::ok)
    }
}

fn glob(arguments: &Arguments, ground: &PathBase, veil: &HiddenPaths, stop: &Stop) -> Result<String, String> {
    let matcher = matcher(&arguments.pattern)?;
    let place = walk::folder(ground, arguments.path.as_deref())?;
    veil.agreed(&place)?;
    let base = place.path;
    let mut found = Vec::new();
    let missed = walk::walk(&base, WalkScope::of(arguments.all), veil, None, stop, |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let below = entry.path().strip_prefix(&base).unwrap_or(entry.path());
        if !is_folder && matcher.is_match(below) {
            let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
            found.push((Reverse(changed.unwrap_or(SystemTime::UNIX_EPOCH)), entry.path().to_owned()));
        }
        true
    });
    found.sort();
    let mut shown: String =
        found.iter().take(MOST_FILES).map(|(_, path)| ground.shown(path) + "\n").collect();
    if found.is_empty() {
        shown.push_str("[No file has such a name.]\n");
    }
    if let Some(more) = found.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        shown.push_str(&format!(
            "[{} not shown: narrow the pattern or the folder.]\n",
            text::count(more, "older file")
        ));
    }
    shown.push_str(&missed.said());
    Ok(shown)
}

/// A matcher for a pattern on paths below the folder.
pub(crate) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let begin = pattern.strip_prefix("./").unwrap_or(pattern);
    if begin.starts_with('/') || begin.split('/').any(|part| part == "..") {
        let pattern = text::escaped(pattern);
        return Err(format!("the pattern `{pattern}` leaves the folder: name that folder in `path` instead"));
    }
    let anywhere = if begin.contains('/') { begin.to_owned() } else { format!("**/{begin}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the pattern `{}` cannot be read: {}", text::escaped(pattern), error.kind()))
}
