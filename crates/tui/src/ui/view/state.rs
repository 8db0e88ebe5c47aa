//! What the view remembers between drawings. Must never hold anything of the conversation itself.

use std::collections::HashSet;

use ratatui::layout::Rect;
use retake_wire::reply::Todo;

use super::entry::Open;
use super::find::Hit;
use super::live;
use super::place::Anchor;
use crate::ui::talk::Talk;
use crate::ui::theme::Paint;

/// What an empty conversation shows.
#[derive(Debug, Default)]
pub(crate) struct Greeting {
    /// The model that answers, where it is known.
    pub(crate) model: Option<String>,
    /// The folder of a conversation that begins, and what the agent may do in it.
    pub(crate) place: Option<String>,
    /// The version of the program.
    pub(crate) version: String,
}

/// Where the screen is, and where it moves with the next drawing.
#[derive(Debug, Default)]
pub(super) struct Scrolling {
    pub(super) anchor: Anchor,
    /// Lines to move by.
    pub(super) shift: isize,
    /// What is to be on the screen.
    pub(super) reveal: Option<Reveal>,
}

impl Scrolling {
    /// Moves to an end of the conversation, and stays there.
    pub(super) fn to(&mut self, anchor: Anchor) {
        *self = Self { anchor, ..Self::default() };
    }
}

/// Which parts of messages are folded.
#[derive(Debug, Default)]
pub(super) struct Folding {
    /// The reasoning of the model is shown.
    pub(super) reasoning: bool,
    /// All output of tools is shown.
    pub(super) output: bool,
    /// Entries that are shown whole.
    pub(super) opened: HashSet<String>,
}

impl Folding {
    /// What is shown of an entry.
    pub(super) fn of(&self, id: &str) -> Open {
        Open { reasoning: self.reasoning, output: self.output, all: self.opened.contains(id) }
    }

    /// Shows an entry whole, or folds it again.
    pub(super) fn toggle(&mut self, id: &str) {
        if !self.opened.remove(id) {
            self.opened.insert(id.to_owned());
        }
    }
}

/// The agent's list of what is to do.
#[derive(Debug, Default)]
pub(super) struct TodoList {
    /// The list, and whether it is of the last turn.
    pub(super) found: Option<(Todo, bool)>,
    /// The number of entries when it was searched for, and the last of them.
    of: Option<(usize, String)>,
}

impl TodoList {
    /// Searches for it again if there are other entries.
    pub(super) fn update(&mut self, talk: &Talk) {
        let of = talk.entries.last().map(|last| (talk.entries.len(), last.id.clone()));
        if self.of != of {
            (self.of, self.found) = (of, live::todo(&talk.entries));
        }
    }
}

/// What the last drawing found out.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// Where the view was drawn.
    pub(super) area: Rect,
    /// The entry that each row shows.
    pub(super) rows: Vec<Option<String>>,
    /// What the rule below says: that there is more below.
    pub(super) below: Option<(String, Paint)>,
    /// Something of an approval request was folded.
    pub(super) hides_asked: bool,
    /// Earlier entries are needed.
    pub(super) needs_earlier: bool,
    /// The languages that could be highlighted.
    pub(super) languages: u64,
}

impl Drawn {
    /// How many messages are on the screen.
    pub(super) fn messages(&self) -> usize {
        let mut shown: Vec<_> = self.rows.iter().flatten().collect();
        shown.dedup();
        shown.len().max(1)
    }
}

/// What is to be on the screen.
#[derive(Clone, Debug)]
pub(super) enum Reveal {
    Selected,
    Hit(Hit),
}
