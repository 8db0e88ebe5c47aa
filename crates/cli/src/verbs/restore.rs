//! `retake restore`: the state at an earlier head, or the end of a branch.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::error::Result;

/// Return to an earlier head, or switch to a branch of the tree
///
/// Brings back all messages up to that head, with their file changes. Marks and folds stay as they are now: `retake show` or `retake undo`
/// bring back messages that were hidden or dropped since.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The head, as OP.SEQ (`retake ops` lists them), or an entry, usually the end of a branch (`retake tree`)
    #[arg(value_name = "HEAD|ENTRY")]
    to: String,
}

impl ActionArgs for Restore {
    const EXAMPLES: &'static [&'static str] = &["retake restore 3.14"];
    const QUESTION: &'static str = "Return to it";

    fn action(&self) -> Result<Action> {
        Ok(to(&self.to))
    }
}

/// A head if it is written as one; else an entry.
pub(crate) fn to(name: &str) -> Action {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match name.split_once('.') {
        Some((operation, seq)) if digits(operation) && digits(seq) => {
            Action::Restore { head: name.to_owned() }
        }
        _ => Action::Checkout { entry: Some(name.to_owned()) },
    }
}
