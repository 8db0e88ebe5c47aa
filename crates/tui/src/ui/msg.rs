//! Everything that can wake the UI, and everything that it can ask of the world. Closed on purpose: who reads these two types knows
//! all of it.

use crossterm::event::{KeyEvent, MouseEvent};
use retake_wire::reply::Receipt;
use retake_wire::{Action, Follow, Problem, Reply, Request, Run, RunEvent, Told};

use super::theme::Background;

/// Names something that was asked, so that its answer finds who waits for it. An answer that nobody waits for any more is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// Names a tab for as long as the UI lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TabId(pub(crate) u64);

/// What can happen.
#[derive(Debug)]
pub(crate) enum Msg {
    /// A key.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal has another size, or must be drawn again.
    Resized,
    /// The terminal got or lost the focus.
    Focus(bool),
    /// The terminal is gone, or the process was asked to end.
    Closed,
    /// Time has passed: what shows a time may look different.
    Tick,
    /// The owner answered.
    Replied(Ticket, Box<Result<Reply, Problem>>),
    /// A run that this client started says something.
    Ran(Ticket, Box<RunEvent>),
    /// A run that was asked for was not begun.
    NotRun(Ticket, Box<Problem>),
    /// What a tab follows was told. `None` for the list.
    Told(Option<TabId>, Box<Told>),
    /// What a tab follows was lost, and is being sought again; why it is not found, where there is a problem.
    Lost(Option<TabId>, Option<Box<Problem>>),
    /// The terminal says what its background is.
    Background(Background),
    /// A theme was kept for the next starts of the program, or why it could not be.
    Kept(String, Result<(), String>),
    /// An external editor gave back a text, or why it could not.
    Edited(Result<String, String>),
}

/// What the UI asks of the world.
#[derive(Debug)]
pub(crate) enum Act {
    /// Ask the owner.
    Ask(Ticket, Box<Request>),
    /// Start a run.
    Run(Ticket, Box<Run>),
    /// Follow this for a tab, instead of what it followed; the list, without a tab.
    Follow(Option<TabId>, Follow),
    /// Follow nothing for a tab any more, or the list no more.
    Unfollow(Option<TabId>),
    /// Put a text into the clipboard.
    Copy(String),
    /// Tell the person, who may be looking elsewhere.
    Notify(String),
    /// Let the person edit a text in their own editor.
    Edit(String),
    /// Make a theme that of the next starts of the program.
    Keep(String),
    /// Stop the process until the shell wakes it.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// Leave.
    Quit,
}

/// How long something is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// As long as it is being looked at.
    Shown,
    /// From here on.
    Kept,
}

/// What a pane has done or wants done, beside asking the owner. The app carries it out in the tab that the pane belongs to.
#[derive(Debug)]
pub(crate) enum Want {
    /// The pane is finished: the conversation takes its place again.
    Close,
    /// Nothing was picked of what the UI began with: it is left.
    Leave,
    /// The plan of an action takes the pane's place, and the action is done if the person agrees.
    Plan(&'static str, Box<Action>),
    /// What a new conversation with what leads to this entry would begin with takes the pane's place; it is made if the person agrees.
    Fork(String),
    /// An action was done: say so, and take up the words that return.
    Applied(Box<Action>, Box<Receipt>),
    /// Words that waited are back: they are for the composer.
    Returned(Vec<retake_wire::Part>),
    /// A sentence for the person.
    Say(String),
    /// What went wrong, for the person.
    Complain(Box<Problem>),
    /// Show another conversation in this tab, and there an entry.
    Show {
        /// The conversation.
        conversation: String,
        /// The entry to show.
        entry: Option<String>,
    },
    /// Show another conversation in a new tab, and there an entry.
    ShowBeside {
        /// The conversation.
        conversation: String,
        /// The entry to show.
        entry: Option<String>,
    },
    /// The next message replaces this entry, as of this head.
    Rewrite {
        /// The entry.
        entry: String,
        /// The head that was seen.
        head: String,
        /// Its words.
        parts: Vec<retake_wire::Part>,
        /// The options for files: they go back with what is taken back.
        files: retake_wire::FileOptions,
        /// What sending them takes back, in words.
        takes_back: String,
    },
    /// Words said elsewhere are quoted in the composer, behind what is written there.
    Quote(String),
    /// Start a run in the tab's conversation.
    Run(Box<Run>),
    /// The UI looks like this theme: for good, or as long as it is being chosen.
    Theme(String, Lasts),
    /// The next runs use this model.
    Model(Option<String>),
    /// The agent may do so much from here on.
    Mode(retake_wire::Mode),
}
