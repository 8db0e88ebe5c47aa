//! The tool `patch`: a unified diff over several files, or the format `*** Begin Patch`, all or nothing. It must never apply
//! a hunk whose lines are not there, or that matches in more than one place.

mod apply;
mod envelope;
mod parse;

use std::collections::HashSet;
use std::path::PathBuf;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{self, Change, NewVersion, Plan};
use super::disk;
use super::disk::Version;
use super::place::{PathBase, Place};
use super::text::{self, LineEnds};
use crate::call::{Call, Output};
use crate::own::OwnTool;
use parse::FilePatch;

/// The most file names in a line for people.
const MOST_NAMES: usize = 3;

/// Applies a unified diff.
pub(super) struct PatchFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A unified diff, as `git diff` prints it, with paths relative to the conversation's folder. `--- /dev/null` creates a
    /// file, `+++ /dev/null` deletes one, and two different names move one.
    patch: String,
}

#[async_trait]
impl OwnTool for PatchFiles {
    type Arguments = Arguments;
    const NAME: &'static str = "patch";
    const ABOUT: &'static str = "Applies a unified diff that changes, creates, deletes or moves files. Either the whole patch is applied, or \
         nothing. Context lines must match; line numbers may be wrong. Read existing files with `read` first. For a change in \
         one file, `edit` is simpler.";
    const CLASS: EffectClass = EffectClass::Workspace;

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        change::intent(plan, &arguments, ground)
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        change::carry_out(plan, &call, arguments).await
    }
}

fn plan(Arguments { patch }: &Arguments, ground: &PathBase) -> Result<Plan, String> {
    let plain;
    // A patch that uses CRLF throughout says nothing about the files' own line breaks.
    let patch = if LineEnds::of(patch.as_bytes()) == LineEnds::CrLf {
        plain = patch.replace("\r\n", "\n");
        &plain
    } else {
        patch
    };
    let files = envelope::parse(patch)
        .unwrap_or_else(|| parse::parse(patch))
        .map_err(|why| format!("the patch cannot be read: {why}"))?;
    let (mut changes, mut said, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut places = HashSet::new();
    for file in &files {
        let (change, done, place) =
            planned(file, ground, &mut places).map_err(|why| format!("nothing was changed: {why}"))?;
        names.push(ground.line(&place.path));
        said.push(done);
        changes.push(change);
    }
    let rest = if names.len() > MOST_NAMES { ", …" } else { "" };
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let line = format!("patch {} ({shown}{rest})", text::count(names.len(), "file"));
    Ok(Plan { changes, line, said: said.join("\n") })
}

/// The planned change of a file, with its description; `places` are those of earlier files.
fn planned(
    file: &FilePatch<'_>,
    ground: &PathBase,
    places: &mut HashSet<PathBuf>,
) -> Result<(Change, String, Place), String> {
    let from = file.old.as_deref().map(|name| there(name, ground)).transpose()?;
    let to = file.new.as_deref().map(|name| ground.place_to_write(name)).transpose()?;
    let shown = |place: &Place| ground.shown(&place.path);
    let (from_path, to_path) = (from.as_ref().map(|(place, _)| &place.path), to.as_ref().map(|to| &to.path));
    let moves = from_path != to_path;
    for path in from_path.into_iter().chain(to_path.filter(|_| moves)) {
        if !places.insert(path.clone()) {
            return Err(format!("the patch names `{}` twice; put its hunks together", ground.shown(path)));
        }
    }
    if let (true, Some((place, _))) = (moves, &from)
        && place.link
    {
        return Err(format!("`{}` is a link: delete or move it with a command", text::path(&place.named)));
    }
    if let (true, Some(to)) = (moves, &to) {
        match disk::open(&to.path) {
            Err(disk::OpenError::Missing) => {}
            _ => return Err(format!("`{}` is there already, and would be replaced", shown(to))),
        }
    }
    let bytes = from.as_ref().map_or(&[][..], |(_, was)| &was.bytes);
    let name = from.as_ref().map(|(place, _)| place).or(to.as_ref()).map(shown).unwrap_or_default();
    let apply::Patched { bytes: after, inexact } = apply::apply(&name, bytes, &file.hunks)?;
    let (mut said, place) = match (&from, &to) {
        (Some((from, _)), Some(to)) if moves => {
            (format!("moved {} to {}", shown(from), shown(to)), to.clone())
        }
        (_, Some(to)) => {
            let done = if from.is_some() { "changed" } else { "made" };
            (format!("{done} {}", shown(to)), to.clone())
        }
        (Some((from, _)), None) => {
            if !file.hunks.is_empty() && !after.is_empty() {
                return Err(format!(
                    "the patch deletes `{}` but does not take all of its lines",
                    shown(from)
                ));
            }
            (format!("deleted {}", shown(from)), from.clone())
        }
        (None, None) => return Err("the patch names no file".to_owned()),
    };
    said.extend(inexact.iter().map(|remark| format!("\n[{remark}]")));
    let to = to.map(|place| (place, NewVersion { bytes: after, runs: file.runs }));
    Ok((Change { from, to }, said, place))
}

fn there(name: &str, ground: &PathBase) -> Result<(Place, Version), String> {
    let place = ground.place_to_write(name)?;
    let failed = |why: &str| format!("cannot patch `{}`: {why}", text::escaped(name));
    match disk::whole(&place) {
        Ok(Some(was)) => Ok((place, was)),
        Ok(None) => Err(failed("nothing is there; a file to be made has `--- /dev/null`")),
        Err(why) => Err(failed(&why)),
    }
}
