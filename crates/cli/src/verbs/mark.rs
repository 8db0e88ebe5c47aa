//! `retake hide`, `show`, `exclude` and `include`: whether people and the model see a message. Four names for one action.

use clap::{Args, ValueEnum};
use retake_wire::{Action, MarkVerb};

use super::change::ActionArgs;
use crate::error::Result;

// The entries.
#[derive(Debug, Args)]
struct Marked {
    /// The two entries are the first and the last one of a range
    #[arg(long)]
    range: bool,
    /// Fail unless all of them have this mark now
    #[arg(long, value_name = "MARK", value_enum)]
    seen: Option<Mark>,
    /// The messages, as ids, labels, tN or @; for `show` and `include`, tN means all hidden or excluded messages of turn N
    #[arg(value_name = "ENTRY", required = true)]
    entries: Vec<String>,
}

/// The marks, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mark {
    Normal,
    Excluded,
    Hidden,
    Dropped,
}

impl Marked {
    fn action(&self, verb: MarkVerb) -> Action {
        let seen = self.seen.map(|mark| {
            let named = mark.to_possible_value().expect("BUG: each mark can be given");
            named.get_name().to_owned()
        });
        Action::Mark { verb, entries: self.entries.clone(), range: self.range, seen }
    }
}

/// Hide messages, as if they were deleted; `hidden` lists them, `show` brings them back
#[derive(Debug, Args)]
pub(crate) struct Hide {
    #[command(flatten)]
    marked: Marked,
}

impl ActionArgs for Hide {
    const EXAMPLES: &'static [&'static str] = &["retake hide t2", "retake hide t2 t4 --range"];

    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Hide))
    }

    fn hides(&self) -> bool {
        true
    }
}

/// Bring back hidden or dropped messages, dropped ones with their file changes
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    marked: Marked,
}

impl ActionArgs for Show {
    const EXAMPLES: &'static [&'static str] = &["retake show t2"];

    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Show))
    }
}

/// Exclude messages from what the model sees; you still see them
#[derive(Debug, Args)]
pub(crate) struct Exclude {
    #[command(flatten)]
    marked: Marked,
}

impl ActionArgs for Exclude {
    const EXAMPLES: &'static [&'static str] = &["retake exclude t1"];

    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Exclude))
    }

    fn hides(&self) -> bool {
        true
    }
}

/// Let the model see excluded messages again
#[derive(Debug, Args)]
pub(crate) struct Include {
    #[command(flatten)]
    marked: Marked,
}

impl ActionArgs for Include {
    const EXAMPLES: &'static [&'static str] = &["retake include t1"];

    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Include))
    }
}
