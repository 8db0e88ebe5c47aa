//! The tool `list`: the entries of a folder, with kinds and sizes. It must open no file.

use std::path::Path;

use async_trait::async_trait;
use ignore::DirEntry;
use retake_core::Intent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::place::PathBase;
use super::text;
use super::walk::{self, HiddenPaths, WalkScope};
use super::work::{Stop, look};
use crate::call::{Call, Output};
use crate::own::{OwnTool, read_only_intent};

/// The most entries that are shown.
const MOST_ENTRIES: usize = 1_000;
/// The most bytes that are shown.
const MOST_BYTES: usize = 50_000;
/// The deepest level of a list.
const MOST_DEPTH: usize = 20;

/// Lists a folder.
pub(super) struct ListFolder;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The folder. Default: the conversation's folder.
    path: Option<String>,
    /// The number of levels to show. Default: 1, the folder alone.
    depth: Option<usize>,
    /// Also show what `.gitignore` excludes.
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl OwnTool for ListFolder {
    type Arguments = Arguments;
    const NAME: &'static str = "list";
    const ABOUT: &'static str = "Lists the files and folders in a folder, with sizes. The names of folders end with `/`. Leaves out what \
         `.gitignore` excludes. To find files by name, use `glob`.";

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        let place = ground.place(arguments.path.as_deref().unwrap_or_default())?;
        Ok(read_only_intent(format!("list {}", ground.line(&place.path)), place.read()))
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        look(&call, &["list"], move |ground, veil, stop| list(&arguments, ground, veil, stop))
            .await
            .map(Output::ok)
    }
}

fn list(arguments: &Arguments, ground: &PathBase, veil: &HiddenPaths, stop: &Stop) -> Result<String, String> {
    let place = walk::folder(ground, arguments.path.as_deref())?;
    veil.agreed(&place)?;
    let base = place.path;
    let depth = arguments.depth.unwrap_or(1).clamp(1, MOST_DEPTH);
    let (mut shown, mut entries, mut full) = (String::new(), 0, false);
    let missed = walk::walk(&base, WalkScope::of(arguments.all), veil, Some(depth), stop, |entry| {
        let line = line(entry, &base);
        full = entries == MOST_ENTRIES || shown.len() + line.len() > MOST_BYTES;
        if !full {
            shown.push_str(&line);
            entries += 1;
        }
        !full
    });
    if full {
        shown.push_str("[There are more entries: list a folder below, less deep, or use `glob`.]\n");
    } else if entries == 0 && missed.unread + missed.left_out == 0 {
        shown.push_str(match arguments.all {
            true => "[The folder is empty.]\n",
            false => "[Nothing is here, or ignore rules leave it out: `all` shows it.]\n",
        });
    }
    shown.push_str(&missed.said());
    Ok(shown)
}

fn line(entry: &DirEntry, base: &Path) -> String {
    let name = text::path(entry.path().strip_prefix(base).unwrap_or(entry.path()));
    let Ok(found) = entry.metadata() else { return format!("{name}  (gone)\n") };
    let kind = found.file_type();
    if kind.is_dir() {
        return format!("{name}/\n");
    }
    if kind.is_file() {
        return format!("{name}  {}\n", text::size(found.len()));
    }
    match std::fs::read_link(entry.path()) {
        Ok(target) => format!("{name} -> {}\n", text::path(&target)),
        Err(_) => format!("{name}  (a pipe, a socket or a device)\n"),
    }
}
