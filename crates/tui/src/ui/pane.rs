//! Panes replace the conversation for a while: the rewind picker, the tree, lists, help. A pane knows only its own state and
//! reports what it wants done. Must never apply anything that it has not shown.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::Conversation;
use retake_wire::request::Apply;
use retake_wire::{Action, FileOptions, NumberedEvent, Problem, Reply, Request};

use super::keymap::{Command, Context, Keymap};
use super::msg::{Act, PaneInstruction, Ticket};
use super::theme::Theme;

/// The parameters and the requests of a pane.
pub(crate) struct Cx<'a> {
    /// The current time, in Unix milliseconds.
    pub(crate) now_ms: i64,
    /// The tab's conversation, if any.
    pub(crate) conversation: Option<&'a Conversation>,
    /// Acts for the driver.
    pub(crate) acts: &'a mut Vec<Act>,
    /// What the pane wants from the app.
    pub(crate) wants: &'a mut Vec<PaneInstruction>,
    /// The next ticket.
    pub(crate) tickets: &'a mut u64,
}

impl Cx<'_> {
    /// Sends a request to the owner. The reply comes to [`Pane::replied`] of this pane while it is open.
    pub(crate) fn ask(&mut self, request: Request) -> Ticket {
        *self.tickets += 1;
        let ticket = Ticket(*self.tickets);
        self.acts.push(Act::Ask(ticket, Box::new(request)));
        ticket
    }

    /// Gives up a request that only reads: its reply never comes.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        self.acts.push(Act::Cancel(ticket));
    }

    /// Sends an action that needs no plan to the owner.
    pub(crate) fn apply(&mut self, conversation: String, action: Action) -> Ticket {
        let files = FileOptions::default();
        let apply = Apply { conversation, action, head: None, since: false, files, request_id: None };
        self.ask(Request::Apply(apply))
    }

    /// Wants something of the app.
    pub(crate) fn want(&mut self, want: PaneInstruction) {
        self.wants.push(want);
    }

    /// The conversation's id; empty if there is none yet.
    pub(crate) fn id(&self) -> String {
        self.conversation.map(|conversation| conversation.id.clone()).unwrap_or_default()
    }
}

/// What a pane draws with.
pub(crate) struct PaneContext<'a> {
    /// Colours.
    pub(crate) theme: Theme,
    /// The keymap, for names of keys.
    pub(crate) keys: &'a Keymap,
    /// The current time, in Unix milliseconds.
    pub(crate) now_ms: i64,
    /// The tab's conversation, if any.
    pub(crate) conversation: Option<&'a Conversation>,
}

/// A pane in place of the conversation.
pub(crate) trait Pane: std::fmt::Debug + Send + 'static {
    /// Its kind: only one of each kind is open.
    fn kind(&self) -> std::any::TypeId {
        std::any::TypeId::of::<Self>()
    }

    /// The keys that are valid in it.
    fn context(&self) -> Context;

    /// It was just opened: it requests what it shows.
    fn opened(&mut self, cx: &mut Cx<'_>);

    /// A command of its keys.
    fn command(&mut self, command: Command, cx: &mut Cx<'_>);

    /// The same for a letter key: it may be part of words that are meant for another place.
    fn letter(&mut self, _letter: char, command: Command, cx: &mut Cx<'_>) {
        self.command(command, cx);
    }

    /// Typed or pasted text that is no key of a command; most panes filter by it.
    fn typed(&mut self, text: &str, cx: &mut Cx<'_>);

    /// A reply to a request of the pane.
    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>);

    /// The conversation has changed, through any client.
    fn changed(&mut self, cx: &mut Cx<'_>);

    /// Time has passed.
    fn tick(&mut self, _cx: &mut Cx<'_>) {}

    /// Whether it waits for something, so that it needs frequent ticks.
    fn is_lively(&self) -> bool {
        false
    }

    /// Whether closing it quits the program.
    fn leaves(&self) -> bool {
        false
    }

    /// An event of the list of conversations.
    fn listed(&mut self, _told: &NumberedEvent, _cx: &mut Cx<'_>) {}

    /// A click on the screen, in the area of the last drawing.
    fn clicked(&mut self, _at: Position, _cx: &mut Cx<'_>) {}

    /// Draws it. It keeps what it needs of the size later, such as the rows of a page.
    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>);
}
