//! The tool `write`: a whole file, new or replaced. It must never replace a file that the agent has
//! not read.

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{self, Change, Plan};
use super::disk;
use super::place::PathBase;
use super::text::{self, LineEnds};
use crate::call::{Call, Output};
use crate::own::OwnTool;

/// Writes a whole file.
pub(super) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file: an absolute path, or one relative to the conversation's folder. Missing folders are created.
    path: String,
    /// The whole content of the file.
    content: String,
}

#[async_trait]
impl OwnTool for WriteFile {
    type Arguments = Arguments;
    const NAME: &'static str = "write";
    const ABOUT: &'static str = "Writes a whole file. Read an existing file with `read` first. To change a part of a file, use `edit`. A file \
         with CRLF line endings keeps them.";
    const CLASS: EffectClass = EffectClass::Workspace;

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        change::intent(plan, &arguments, ground)
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        change::carry_out(plan, &call, arguments).await
    }
}

fn plan(Arguments { path, content }: &Arguments, ground: &PathBase) -> Result<Plan, String> {
    let place = ground.place_to_write(path)?;
    let name = text::escaped(path);
    let was = disk::whole(&place).map_err(|why| format!("cannot write `{name}`: {why}"))?;
    let breaks = was.as_ref().map_or(LineEnds::Lf, |was| LineEnds::of(&was.bytes));
    let bytes = breaks.fit(content).into_owned().into_bytes();
    let done = if was.is_some() { "replaced" } else { "made" };
    let lines = text::count(content.lines().count(), "line");
    let size = text::size(bytes.len() as u64);
    Ok(Plan {
        line: format!("write {}", ground.line(&place.path)),
        said: format!("{done} {}: {lines}, {size}", ground.shown(&place.path)),
        changes: vec![Change::content(place, was, bytes)],
    })
}
