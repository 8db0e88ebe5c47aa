//! What takes the place of the conversation for a while: the picker of the rewind, the tree, lists, help. A pane knows its own
//! business only; what it wants done it says. Must never apply anything that it has not shown.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::Conversation;
use retake_wire::request::Apply;
use retake_wire::{Action, FileOptions, Problem, Reply, Request, Told};

use super::keymap::{Command, Context, Keymap};
use super::msg::{Act, Ticket, Want};
use super::theme::Theme;

/// What a pane sees of the world, and how it asks.
pub(crate) struct Cx<'a> {
    /// The time now, Unix milliseconds.
    pub(crate) now_ms: i64,
    /// The conversation of the tab, as far as there is one.
    pub(crate) conversation: Option<&'a Conversation>,
    /// Acts for the driver.
    pub(crate) acts: &'a mut Vec<Act>,
    /// What is wanted of the app goes here.
    pub(crate) wants: &'a mut Vec<Want>,
    /// The next ticket.
    pub(crate) tickets: &'a mut u64,
}

impl Cx<'_> {
    /// Asks the owner. The answer comes to [`Pane::replied`] of the pane that asked, as long as it is there.
    pub(crate) fn ask(&mut self, request: Request) -> Ticket {
        *self.tickets += 1;
        let ticket = Ticket(*self.tickets);
        self.acts.push(Act::Ask(ticket, Box::new(request)));
        ticket
    }

    /// Asks the owner to do an action that needs no plan.
    pub(crate) fn apply(&mut self, conversation: String, action: Action) -> Ticket {
        let files = FileOptions::default();
        let apply = Apply { conversation, action, head: None, since: false, files, request_id: None };
        self.ask(Request::Apply(apply))
    }

    /// Wants something of the app.
    pub(crate) fn want(&mut self, want: Want) {
        self.wants.push(want);
    }

    /// The conversation's id; empty where there is none yet.
    pub(crate) fn id(&self) -> String {
        self.conversation.map(|conversation| conversation.id.clone()).unwrap_or_default()
    }
}

/// With what a pane draws.
pub(crate) struct Brush<'a> {
    /// Colours.
    pub(crate) theme: Theme,
    /// Which keys do what, to be named.
    pub(crate) keys: &'a Keymap,
    /// The time now, Unix milliseconds.
    pub(crate) now_ms: i64,
    /// The conversation of the tab, as far as there is one.
    pub(crate) conversation: Option<&'a Conversation>,
}

/// What takes the place of the conversation for a while.
pub(crate) trait Pane: std::fmt::Debug + Send + 'static {
    /// What it is: of each kind only one is open.
    fn kind(&self) -> std::any::TypeId {
        std::any::TypeId::of::<Self>()
    }

    /// Which keys hold in it.
    fn context(&self) -> Context;

    /// It has just been opened: it asks for what it shows.
    fn opened(&mut self, cx: &mut Cx<'_>);

    /// A command of its keys.
    fn command(&mut self, command: Command, cx: &mut Cx<'_>);

    /// The same, where the key is a letter: it may be one of words that are typed for another place.
    fn letter(&mut self, _letter: char, command: Command, cx: &mut Cx<'_>) {
        self.command(command, cx);
    }

    /// Text was typed or pasted that is no key of a command; most panes filter by it.
    fn typed(&mut self, text: &str, cx: &mut Cx<'_>);

    /// An answer to something that it asked.
    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>);

    /// The conversation has changed, through any client.
    fn changed(&mut self, cx: &mut Cx<'_>);

    /// Time has passed.
    fn tick(&mut self, _cx: &mut Cx<'_>) {}

    /// Whether it waits for something, so that time passing is to be told often.
    fn is_lively(&self) -> bool {
        false
    }

    /// Whether closing it leaves the program.
    fn leaves(&self) -> bool {
        false
    }

    /// Something was told of the list of conversations.
    fn listed(&mut self, _told: &Told, _cx: &mut Cx<'_>) {}

    /// A click at a place of the screen, in the area that it was drawn in last.
    fn clicked(&mut self, _at: Position, _cx: &mut Cx<'_>) {}

    /// Draws it. What it must know of the size later (rows of a page), it keeps.
    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &Brush<'_>);
}
