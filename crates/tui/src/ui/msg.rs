//! All inputs of the UI and all its side effects. Closed on purpose: these two types are the whole interface.

use crossterm::event::{KeyEvent, MouseEvent};
use retake_wire::reply::Receipt;
use retake_wire::{Action, Follow, NumberedEvent, Problem, Reply, Request, Run, RunEvent};

use super::theme::Background;

/// Identifies a request, so that its reply reaches the part that waits for it. A reply that nothing waits for is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// Identifies a tab for as long as the UI lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TabId(pub(crate) u64);

/// An input of the UI.
#[derive(Debug)]
pub(crate) enum Msg {
    /// A key.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal has another size, or must be redrawn.
    Resized,
    /// The terminal got or lost the focus.
    Focus(bool),
    /// The terminal is gone, or the process was asked to quit.
    Closed,
    /// Time has passed: displayed times may change.
    Tick,
    /// The owner answered.
    Replied(Ticket, Box<Result<Reply, Problem>>),
    /// An event of a run that this client started.
    Ran(Ticket, Box<RunEvent>),
    /// A run was not started.
    NotRun(Ticket, Box<Problem>),
    /// An event of a tab's subscription. `None` for the list.
    Told(Option<TabId>, Box<NumberedEvent>),
    /// A tab's subscription was lost, and the client reconnects; the problem says why that fails.
    Lost(Option<TabId>, Option<Box<Problem>>),
    /// The terminal reports its background.
    Background(Background),
    /// A theme was stored for later starts of the program, or why not.
    Kept(String, Result<(), String>),
    /// An external editor returned a text, or why not.
    Edited(Result<String, String>),
}

/// A side effect that the UI requests.
#[derive(Debug)]
pub(crate) enum Act {
    /// Send a request to the owner.
    Ask(Ticket, Box<Request>),
    /// Nobody waits for this reply any more: give up the request, which only reads.
    Cancel(Ticket),
    /// Start a run.
    Run(Ticket, Box<Run>),
    /// Subscribe a tab to this, instead of its previous subscription; without a tab, for the list.
    Follow(Option<TabId>, Follow),
    /// End the subscription of a tab, or of the list.
    Unfollow(Option<TabId>),
    /// Put a text into the clipboard.
    Copy(String),
    /// Notify the person, who may be looking elsewhere.
    Notify(String),
    /// Let the person edit a text in their own editor.
    Edit(String),
    /// Store a theme for later starts of the program.
    Keep(String),
    /// Stop the process until the shell resumes it.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// Quit.
    Quit,
}

/// How long a choice lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChoiceDuration {
    /// While it is being looked at.
    Shown,
    /// From here on.
    Kept,
}

/// What a pane has done or wants done, other than requests to the owner. The app carries it out in the pane's tab.
#[derive(Debug)]
pub(crate) enum PaneInstruction {
    /// The pane is finished: the conversation is shown again.
    Close,
    /// Nothing was picked in the first pane of the UI: quit.
    Leave,
    /// Show the plan of an action in place of the pane; do the action if the person agrees.
    Plan(&'static str, Box<Action>),
    /// Show the plan of a fork at this entry in place of the pane; create it if the person agrees.
    Fork(String),
    /// An action was done: report it, and put returned text into the composer.
    Applied(Box<Action>, Box<Receipt>),
    /// Waiting messages are back: they go to the composer.
    Returned(Vec<retake_wire::Part>),
    /// A sentence for the person.
    Say(String),
    /// An error for the person.
    Complain(Box<Problem>),
    /// Show another conversation in this tab, and an entry of it.
    Show {
        /// The conversation.
        conversation: String,
        /// The entry to show.
        entry: Option<String>,
    },
    /// Show another conversation in a new tab, and an entry of it.
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
        /// The head of the plan.
        head: String,
        /// The text and attachments.
        parts: Vec<retake_wire::Part>,
        /// The options for files: they are sent with the move.
        files: retake_wire::FileOptions,
        /// What sending takes back, in words.
        takes_back: String,
    },
    /// Quote a text in the composer, after its content.
    Quote(String),
    /// Start a run in the tab's conversation.
    Run(Box<Run>),
    /// Use this theme: permanently, or while it is being chosen.
    Theme(String, ChoiceDuration),
    /// The next runs use this model.
    Model(Option<String>),
    /// Use this permission mode from here on.
    Mode(retake_wire::Mode),
    /// Close the pane and run this command, or put it into the composer if it needs words.
    Command(super::keymap::Command),
}
