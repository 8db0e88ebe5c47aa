//! The tool `edit`: exact texts of a file are replaced by others, all of them or none. It must never guess which place is
//! meant, and never change a file whose current version the agent has not read.

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{self, Change, Plan};
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
    /// The file. A relative path begins at the working folder.
    path: String,
    /// What to replace, one after the other: a later one sees what the earlier ones made. All are done, or none.
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text that is there, exactly, with its white space and without line numbers. It must be there exactly once: take
    /// as many lines around it as that needs.
    old: String,
    /// The text to stand there instead.
    new: String,
    /// Replace it wherever it is.
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl OwnTool for EditFile {
    type Arguments = Arguments;
    const NAME: &'static str = "edit";
    const ABOUT: &'static str = "Replaces exact texts in a file; several at once, all or nothing. You must have read the file, and it must not have \
         changed since. A file whose lines end with CRLF keeps that; write plain line feeds.";
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
    let (bytes, places) =
        edited(&was.bytes, edits).map_err(|why| format!("nothing was changed in `{name}`: {why}"))?;
    let places = text::count(places, "place");
    Ok(Plan {
        line: format!("edit {} ({places})", ground.line(&place.path)),
        said: format!("edited {}: {places}{}", ground.shown(&place.path), change::hunks(&was.bytes, &bytes)),
        changes: vec![Change::content(place, Some(was), bytes)],
    })
}

/// The content after all edits, and the number of different places.
fn edited(bytes: &[u8], edits: &[Edit]) -> Result<(Vec<u8>, usize), String> {
    let breaks = LineEnds::of(bytes);
    let mut now = bytes.to_vec();
    let mut places = 0;
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
        let found = found(&now, old.as_bytes(), edit.all);
        match found.len() {
            0 => {
                let missing = format!("{which} does not fit: its `old` is not in the file");
                return Err(nearest::why(&missing, &now, &old));
            }
            1 => {}
            _ if edit.all => {}
            many => {
                return Err(format!(
                    "{which} fits in {many} places ({}): give more of the lines around it, or set `all`",
                    lines(&now, &found),
                ));
            }
        }
        places += found.len();
        now = replaced(&now, &found, old.len(), new.as_bytes());
    }
    Ok((now, places))
}

/// The places of a text; also overlapping ones, unless all must be replaced.
fn found(bytes: &[u8], text: &[u8], apart: bool) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&bytes[from..]) {
        found.push(from + at);
        from += at + if apart { text.len() } else { 1 };
    }
    found
}

fn replaced(bytes: &[u8], found: &[usize], length: usize, new: &[u8]) -> Vec<u8> {
    let mut after = Vec::with_capacity(bytes.len() + found.len() * new.len());
    let mut from = 0;
    for at in found {
        after.extend_from_slice(&bytes[from..*at]);
        after.extend_from_slice(new);
        from = at + length;
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
