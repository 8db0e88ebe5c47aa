//! What the view remembers between drawings. Must never hold anything of the conversation itself.

use std::collections::HashSet;

use ratatui::layout::Rect;
use retake_wire::reply::Todo;

use super::entry::Open;
use super::find::Hit;
use super::live;
use super::place::Anchor;
use crate::ui::talk::LoadedConversation;
use crate::ui::theme::Paint;

/// The content of an empty conversation.
#[derive(Debug, Default)]
pub(crate) struct Greeting {
    /// The model, if known.
    pub(crate) model: Option<String>,
    /// The folder of a new conversation, and the permission mode.
    pub(crate) place: Option<String>,
    /// The version of the program.
    pub(crate) version: String,
    /// If nothing is captured in the folder: what works there, and what to do.
    pub(crate) limits: Option<[String; 2]>,
    /// The last conversations of the folder, newest first: their names, and when they changed.
    pub(crate) recent: Vec<(String, i64)>,
}

/// The position of the screen, and its move at the next drawing.
#[derive(Debug, Default)]
pub(super) struct Scrolling {
    pub(super) anchor: Anchor,
    /// Lines to move by.
    pub(super) shift: isize,
    /// What must be visible.
    pub(super) reveal: Option<Reveal>,
}

impl Scrolling {
    /// Moves to an end of the conversation, and stays there.
    pub(super) fn to(&mut self, anchor: Anchor) {
        *self = Self { anchor, ..Self::default() };
    }
}

/// The folding of messages.
#[derive(Debug, Default)]
pub(super) struct Folding {
    /// The reasoning of the model is shown.
    pub(super) reasoning: bool,
    /// All output of tools is shown.
    pub(super) output: bool,
    /// Entries and approval requests that are shown whole.
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

/// The agent's todo list.
#[derive(Debug, Default)]
pub(super) struct TodoList {
    /// The list, and whether it is from the last turn.
    pub(super) found: Option<(Todo, bool)>,
    /// The number of entries at the last search, and the last of them.
    of: Option<(usize, String)>,
}

impl TodoList {
    /// Searches for it again if the entries changed.
    pub(super) fn update(&mut self, talk: &LoadedConversation) {
        let of = talk.entries.last().map(|last| (talk.entries.len(), last.id.clone()));
        if self.of != of {
            (self.of, self.found) = (of, live::todo(&talk.entries));
        }
    }
}

/// Results of the last drawing.
#[derive(Debug, Default)]
pub(super) struct LastDrawing {
    /// The area of the view.
    pub(super) area: Rect,
    /// The entry that each row shows.
    pub(super) rows: Vec<Option<String>>,
    /// The text of the line below: that there is more.
    pub(super) below: Option<(String, Paint)>,
    /// So many lines of an approval request were folded.
    pub(super) hidden: usize,
    /// What the current run does is among the lines at the end.
    pub(super) shows_state: bool,
    /// Earlier entries are needed.
    pub(super) needs_earlier: bool,
    /// The version of the grammars.
    pub(super) languages: u64,
}

impl LastDrawing {
    /// Number of messages on the screen.
    pub(super) fn messages(&self) -> usize {
        let mut shown: Vec<_> = self.rows.iter().flatten().collect();
        shown.dedup();
        shown.len().max(1)
    }
}

/// What must be visible.
#[derive(Clone, Debug)]
pub(super) enum Reveal {
    Selected,
    Hit(Hit),
    /// The beginning of the first request.
    Asked,
}
