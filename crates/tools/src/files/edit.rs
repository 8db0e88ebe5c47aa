//! The tool `edit`: texts of a file are replaced by others, all of them or none. It must never guess which place is
//! meant, and never change a file whose current version the agent has not read.

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{self, Change, Plan};
use super::matching::{self, Inexact, Mismatch, Replacement};
use super::place::PathBase;
use super::text::{self, LineEnds};
use super::{disk, nearest};
use crate::call::{Call, Output};
use crate::own::OwnTool;

/// Replaces texts of a file.
pub(super) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file: an absolute path, or one relative to the conversation's folder.
    path: String,
    /// The replacements, made in this order: each one sees the result of those before it. Either all are made, or none.
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text to replace, copied exactly, with its white space and without line numbers. It must occur exactly once: add
    /// lines around it until it does.
    old: String,
    /// The new text.
    new: String,
    /// Replace every occurrence. Only exact ones count.
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl OwnTool for EditFile {
    type Arguments = Arguments;
    const NAME: &'static str = "edit";
    const ABOUT: &'static str = "Replaces text in a file, in one place or several. Read the file with `read` first; if it has changed since, read it \
         again. Write line feeds only: a file with CRLF line endings keeps them. Example: {\"path\": \"src/main.rs\", \
         \"edits\": [{\"old\": \"let limit = 5;\", \"new\": \"let limit = 10;\"}]}";
    const CLASS: EffectClass = EffectClass::Workspace;

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        change::intent(plan, &arguments, ground)
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        change::carry_out(plan, &call, arguments).await
    }
}

fn plan(Arguments { path, edits }: &Arguments, ground: &PathBase) -> Result<Plan, String> {
    let place = ground.place_to_write(path)?;
    let name = text::escaped(path);
    let was = disk::whole(&place).map_err(|why| format!("cannot edit `{name}`: {why}"))?;
    let Some(was) = was else {
        return Err(format!("cannot edit `{name}`: nothing is there; make it with `write`"));
    };
    if edits.is_empty() {
        return Err(format!("cannot edit `{name}`: no edits were given"));
    }
    let edited =
        edited(&was.bytes, edits).map_err(|why| format!("nothing was changed in `{name}`: {why}"))?;
    let places = text::count(edited.places, "place");
    let hunks = change::hunks(&was.bytes, &edited.bytes);
    let inexact: String = edited.inexact.iter().map(|remark| format!("\n[{remark}]")).collect();
    Ok(Plan {
        line: format!("edit {} ({places})", ground.line(&place.path)),
        said: format!("edited {}: {places}{inexact}{hunks}", ground.shown(&place.path)),
        changes: vec![Change::content(place, Some(was), edited.bytes)],
    })
}

/// A file after all edits.
struct Edited {
    bytes: Vec<u8>,
    /// The number of different places.
    places: usize,
    /// For the model: which edits did not match exactly, and how they differed.
    inexact: Vec<String>,
}

fn edited(bytes: &[u8], edits: &[Edit]) -> Result<Edited, String> {
    let breaks = LineEnds::of(bytes);
    let mut now = Edited { bytes: bytes.to_vec(), places: 0, inexact: Vec::new() };
    for (index, edit) in edits.iter().enumerate() {
        let which = match edits.len() {
            1 => "the edit".to_owned(),
            many => format!("edit {} of {many}", index + 1),
        };
        let (old, new) = (breaks.fit(&edit.old), breaks.fit(&edit.new));
        if old.is_empty() {
            return Err(format!("{which} has an empty `old`; to write a whole file, use `write`"));
        }
        if old == new {
            return Err(format!("{which} changes nothing: `old` and `new` are the same"));
        }
        let found = match edit.all {
            true => everywhere(&now.bytes, &old, &new),
            false => matching::find(&now.bytes, &old, &new, breaks).map(|found| vec![found]),
        };
        let found = found.map_err(|why| match why {
            Mismatch::Missing => {
                let missing = format!("{which} does not fit: its `old` is not in the file");
                nearest::why(&missing, &now.bytes, &old)
            }
            Mismatch::Many(found, how) => {
                let (many, lines) = (found.len(), lines(&now.bytes, &found));
                let more = "give more of the lines around it";
                match how {
                    None => format!("{which} fits in {many} places ({lines}): {more}, or set `all`"),
                    Some(how) => {
                        format!("{which} fits nowhere exactly, and in {many} places ({lines}) if {how}: {more}, exactly")
                    }
                }
            }
        })?;
        let differs = |how: Inexact| format!("{which} did not match exactly: {how}");
        now.inexact.extend(found.iter().filter_map(|found| found.inexact).map(differs));
        now.places += found.len();
        now.bytes = replaced(&now.bytes, &found);
    }
    Ok(now)
}

/// Every place of a text, exactly.
fn everywhere(bytes: &[u8], old: &str, new: &str) -> Result<Vec<Replacement>, Mismatch> {
    let found = matching::exact(bytes, old.as_bytes(), true);
    if found.is_empty() {
        return Err(Mismatch::Missing);
    }
    let replacement =
        |at| Replacement { range: at..at + old.len(), new: new.as_bytes().to_owned(), inexact: None };
    Ok(found.into_iter().map(replacement).collect())
}

fn replaced(bytes: &[u8], found: &[Replacement]) -> Vec<u8> {
    let mut after = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for Replacement { range, new, .. } in found {
        after.extend_from_slice(&bytes[from..range.start]);
        after.extend_from_slice(new);
        from = range.end;
    }
    after.extend_from_slice(&bytes[from..]);
    after
}

/// The numbers of the first lines with a match.
fn lines(bytes: &[u8], found: &[usize]) -> String {
    const MOST: usize = 8;
    let number = |at: &usize| 1 + memchr::memchr_iter(b'\n', &bytes[..*at]).count();
    let mut numbers: Vec<String> = found.iter().take(MOST).map(|at| number(at).to_string()).collect();
    if found.len() > MOST {
        numbers.push("…".to_owned());
    }
    format!("lines {}", numbers.join(", "))
}
