//! `retake files put-back`: reverts a command's changes to git's hooks and settings. Must never ask the owner: it is the person's
//! own action.

use std::path::PathBuf;

use clap::Args;
use retake_engine::put_back;

use crate::context::Context;
use crate::error::{Result, file};
use crate::verbs::RunVerb;

/// Restore a hook or a setting of git that a command changed; the card of the call shows the command line
///
/// It follows no link, because a later command may have made one.
#[derive(Debug, Args)]
pub(crate) struct PutBack {
    /// The hook or setting
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Remove it, with its content if it is a folder: it did not exist before the command
    #[arg(long, conflicts_with = "from", required_unless_present = "from")]
    remove: bool,
    /// The file in which Retake stored the old content
    #[arg(long, value_name = "FILE", requires = "mode")]
    from: Option<PathBuf>,
    /// The old permission bits, such as 755
    #[arg(long, value_name = "BITS", requires = "from", value_parser = bits)]
    mode: Option<u32>,
}

impl RunVerb for PutBack {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let path = PathBuf::from(cx.absolute(&self.path)?);
        let kept = self.from.as_deref().zip(self.mode);
        let what = self.path.display();
        put_back(&path, kept).map_err(|error| file(format!("cannot restore {what}"), &error))?;
        let done = if kept.is_some() { "is restored" } else { "is removed" };
        cx.aside(&format!("{what} {done}"))
    }
}

fn bits(text: &str) -> std::result::Result<u32, String> {
    let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o777);
    bits.ok_or_else(|| "permission bits are three digits from 0 to 7".to_owned())
}
