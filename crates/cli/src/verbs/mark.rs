//! `retake hide`, `show`, `exclude` and `include`: who sees a message. Four names for one action.

use clap::{Args, ValueEnum};
use retake_wire::{Action, MarkVerb};

use super::change::Act;
use crate::error::Result;

/// How what is hidden comes back.
pub(super) const LATER: &str = "`retake undo` takes this back, `retake hidden` lists it later";

// Which entries.
#[derive(Debug, Args)]
struct Marked {
    /// The two entries are the ends of a range
    #[arg(long)]
    range: bool,
    /// Refuse unless all of them are marked like this now
    #[arg(long, value_name = "MARK", value_enum)]
    seen: Option<Mark>,
    /// The messages, as ids, labels, tN or @; to `show` and `include`, tN is all that is hidden or excluded of turn N
    #[arg(value_name = "ENTRY", required = true)]
    entries: Vec<String>,
}

/// The marks, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mark {
    Normal,
    Excluded,
    Hidden,
}

impl Marked {
    fn action(&self, verb: MarkVerb) -> Action {
        let seen = self.seen.map(|mark| match mark {
            Mark::Normal => "normal",
            Mark::Excluded => "excluded",
            Mark::Hidden => "hidden",
        });
        Action::Mark { verb, entries: self.entries.clone(), range: self.range, seen: seen.map(str::to_owned) }
    }
}

/// Hide messages, as if they were deleted; `hidden` lists them, `show` brings them back
#[derive(Debug, Args)]
pub(crate) struct Hide {
    #[command(flatten)]
    marked: Marked,
}

impl Act for Hide {
    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Hide))
    }

    fn later(&self) -> Option<&'static str> {
        Some(LATER)
    }
}

/// Bring hidden or dropped messages back, dropped ones with the files that they changed
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    marked: Marked,
}

impl Act for Show {
    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Show))
    }
}

/// Keep messages from the model; you still see them
#[derive(Debug, Args)]
pub(crate) struct Exclude {
    #[command(flatten)]
    marked: Marked,
}

impl Act for Exclude {
    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Exclude))
    }

    fn later(&self) -> Option<&'static str> {
        Some(LATER)
    }
}

/// Let the model see excluded messages again
#[derive(Debug, Args)]
pub(crate) struct Include {
    #[command(flatten)]
    marked: Marked,
}

impl Act for Include {
    fn action(&self) -> Result<Action> {
        Ok(self.marked.action(MarkVerb::Include))
    }
}
