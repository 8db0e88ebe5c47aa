//! The UI in memory: tabs, focus, open requests. It takes a [`Msg`] and returns [`Act`]s; it has no side effects itself. Must
//! never report something as done before the owner has confirmed it.

mod answers;
mod bars;
mod commands;
mod compact;
mod context;
mod drafts;
mod draw;
mod elsewhere;
mod keys;
mod local_draft;
mod looks;
mod memory;
mod model;
mod mouse;
mod notices;
mod outgoing;
mod panes;
mod presses;
mod replies;
mod requests;
mod running;
mod runs;
mod select;
mod tab;
mod tabs;
#[cfg(test)]
mod tests;
mod wants;

use retake_wire::request::{History, List};
use retake_wire::{Follow, Permit, Request};

use super::keymap::{Context, Keymap};
use super::msg::{Act, Msg, TabId, Ticket};
use super::pane::Cx;
use super::settings::Settings;
use super::theme::Theme;

use looks::ThemeChoice;
use notices::{Kind, Notices};
use requests::{RequestPurpose, Requester, Requests};
pub use running::RunningRun;
use tab::Tab;
use tabs::Tabs;

/// The most earlier prompts that are remembered.
const PROMPTS: usize = 500;

/// What the UI starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A new conversation.
    #[default]
    New,
    /// The last conversation of the folder; a new one if there is none.
    GoOn,
    /// A conversation that the person picks.
    Pick,
    /// This conversation.
    In(String),
}

/// What is known when the UI starts.
#[derive(Clone, Debug)]
pub(crate) struct StartInfo {
    /// The folder for new conversations.
    pub(crate) folder: String,
    /// The version of the program.
    pub(crate) version: String,
    /// The model from the command line.
    pub(crate) model: Option<String>,
}

/// The settings that new conversations begin with.
#[derive(Debug, Default)]
struct StartSettings {
    /// What the person has already allowed their runs.
    permit: Permit,
    /// The mode of the settings, once the owner has sent it.
    usual_mode: Option<retake_wire::Mode>,
    /// The last conversations of the folder, newest first.
    recent: Vec<retake_wire::reply::Conversation>,
    /// Why the folder is never captured, if so.
    never_captured: Option<retake_wire::NoticeCause>,
}

/// The UI in memory.
#[derive(Debug)]
pub(crate) struct App {
    known: StartInfo,
    settings: Settings,
    keys: Keymap,
    looks: ThemeChoice,
    tabs: Tabs,
    requests: Requests,
    /// Earlier prompts, newest first.
    prompts: Vec<String>,
    /// The known models, and the default one.
    models: Option<retake_wire::reply::Models>,
    beginning: StartSettings,
    notices: Notices,
    drafts: drafts::Drafts,
    mouse: mouse::Mouse,
    now_ms: i64,
    has_focus: bool,
}

impl App {
    /// A UI with one empty tab; its first requests are in its acts.
    pub(crate) fn new(
        known: StartInfo,
        start: Start,
        settings: Settings,
        keys: Keymap,
        theme: Theme,
        now_ms: i64,
    ) -> Self {
        let mut app = Self {
            known,
            settings,
            keys,
            looks: ThemeChoice::new(theme),
            tabs: Tabs::default(),
            requests: Requests::default(),
            prompts: Vec::new(),
            models: None,
            beginning: StartSettings::default(),
            notices: Notices::default(),
            drafts: drafts::Drafts::default(),
            mouse: mouse::Mouse::default(),
            now_ms,
            has_focus: true,
        };
        let tab = app.open_tab();
        match start {
            Start::New => {
                app.wants_unbegun();
                app.wants_recent();
            }
            Start::In(conversation) => app.show(tab, &conversation, None),
            Start::GoOn => {
                app.tabs[0].opens(Vec::new());
                let folder = Some(app.known.folder.clone());
                let list = List { folder, limit: Some(1), ..List::default() };
                app.ask(Requester::Tab(tab, RequestPurpose::GoOn), Request::List(list));
            }
            Start::Pick => {
                app.begin_with_list(tab);
                app.wants_unbegun();
            }
        }
        let history = History { folder: None, limit: Some(PROMPTS), before: None };
        app.ask(Requester::All(RequestPurpose::History), Request::History(history));
        app.ask(Requester::All(RequestPurpose::Models), Request::Models);
        app.ask(Requester::All(RequestPurpose::Owner), Request::Status);
        app
    }

    /// Shows a notice that belongs to no conversation.
    pub(crate) fn notice(&mut self, text: String) {
        let id = self.tab().id;
        self.note_in(id, crate::text::safe::line(&text).into_owned(), super::talk::Tone::Quiet);
    }

    /// Handles a message and returns the acts to carry out.
    pub(crate) fn on(&mut self, msg: Msg, now_ms: i64) -> Vec<Act> {
        self.now_ms = now_ms;
        self.cover();
        match msg {
            Msg::Key(key) => self.key(key),
            Msg::Paste(text) => self.paste(&text),
            Msg::Mouse(mouse) => self.mouse(mouse),
            Msg::Resized => {
                self.no_longer_dragged();
                self.requests.acts.push(Act::Redraw);
            }
            Msg::Focus(has) => self.has_focus = has,
            Msg::Closed => self.closed(),
            Msg::Tick => self.tick(),
            Msg::Replied(ticket, reply) => self.replied(ticket, *reply),
            Msg::Ran(ticket, event) => self.ran(ticket, *event),
            Msg::NotRun(ticket, problem) => self.not_run(ticket, &problem),
            Msg::Told(tab, told) => self.told(tab, *told),
            Msg::Lost(tab, why) => self.lost(tab, why.as_deref()),
            Msg::Edited(text) => self.edited(text),
            Msg::Background(background) => self.background(background),
            Msg::Kept(theme, stored) => self.theme_stored(&theme, stored),
        }
        self.end_trial();
        self.leaves();
        self.cover();
        let here = (self.tab().id, self.tab().panes.front.as_ref().map(|_| self.tab().panes.front_no));
        self.notices.stay_at(here);
        self.tab_mut().is_unseen = false;
        std::mem::take(&mut self.requests.acts)
    }

    /// Notes the requests that are not on the screen: before a message, which may uncover them, and after it, which may cover them.
    fn cover(&mut self) {
        let (now_ms, current) = (self.now_ms, self.tabs.current);
        for at in 0..self.tabs.len() {
            let tab = &mut self.tabs[at];
            if at != current || tab.panes.front.is_some() {
                tab.answers.cover(now_ms);
            }
        }
    }

    /// The first acts, before any message.
    pub(crate) fn begin(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.requests.acts)
    }

    /// Whether something is animated, so that the app needs frequent ticks.
    pub(crate) fn is_lively(&self) -> bool {
        let waits = self.tab().panes.front.as_ref().is_some_and(|pane| pane.is_lively());
        self.tab().talk.is_running()
            || self.tab().is_busy()
            || self.tab().view.is_stale()
            || self.tab().view.is_finding()
            || self.tab().draft.typed_ms.is_some()
            || self.is_leaving()
            || waits
    }

    /// The conversation to continue.
    pub(crate) fn conversation(&self) -> Option<&str> {
        self.tab().talk.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    fn tab(&self) -> &Tab {
        self.tabs.shown()
    }

    fn tab_mut(&mut self) -> &mut Tab {
        self.tabs.shown_mut()
    }

    fn find_tab(&mut self, id: TabId) -> Option<&mut Tab> {
        self.tabs.find(id)
    }

    fn open_tab(&mut self) -> TabId {
        let id = self.tabs.new_id();
        let mut tab = Tab::new(id, self.known.model.clone());
        tab.view.greeting.version.clone_from(&self.known.version);
        tab.composer.remember(self.prompts.clone());
        self.tabs.push(tab);
        id
    }

    fn close_tab(&mut self) {
        self.release_draft(self.tabs.current);
        self.leave_unbegun(self.tabs.current);
        let tab = self.tabs.remove_current();
        self.requests.acts.push(Act::Unfollow(Some(tab.id)));
        self.requests.forget_tab(tab.id);
        if self.tabs.is_empty() {
            self.open_tab();
        }
    }

    fn ask(&mut self, asked: Requester, request: Request) -> Ticket {
        self.requests.ask(asked, request)
    }

    /// Calls the front pane of a tab, and does what it wants.
    fn with_pane(&mut self, at: usize, does: impl FnOnce(&mut dyn super::pane::Pane, &mut Cx<'_>)) {
        let Some(tab) = self.tabs.get(at) else { return };
        self.with_pane_no(at, tab.panes.front_no, does);
    }

    /// The same for all panes of a tab.
    fn with_panes(&mut self, at: usize, does: impl Fn(&mut dyn super::pane::Pane, &mut Cx<'_>)) {
        for no in self.tabs.get(at).map(|tab| tab.panes.numbers()).unwrap_or_default() {
            self.with_pane_no(at, no, &does);
        }
    }

    /// The same for the pane with a number.
    fn with_pane_no(
        &mut self,
        at: usize,
        no: u64,
        does: impl FnOnce(&mut dyn super::pane::Pane, &mut Cx<'_>),
    ) {
        let Some(tab) = self.tabs.get_mut(at) else { return };
        let Some(mut pane) = tab.panes.slot(no).and_then(Option::take) else { return };
        let (id, before) = (tab.id, self.requests.acts.len());
        let mut wants = Vec::new();
        let mut cx = Cx {
            now_ms: self.now_ms,
            conversation: tab.talk.conversation.as_ref(),
            acts: &mut self.requests.acts,
            wants: &mut wants,
            tickets: &mut self.requests.tickets,
        };
        does(&mut *pane, &mut cx);
        if let Some(slot) = tab.panes.slot(no) {
            *slot = Some(pane);
        }
        self.requests.sent_by_pane(id, no, before);
        for want in wants {
            self.want(id, want);
        }
        if self.tabs.follows_list && !self.tabs.iter().any(|tab| tab.panes.holds(Context::List)) {
            self.tabs.follows_list = false;
            self.requests.acts.push(Act::Unfollow(None));
        }
    }

    /// Shows a pane instead of a tab's conversation, or in front of the pane that is there.
    fn open_pane(&mut self, id: TabId, pane: Box<dyn super::pane::Pane>) {
        let Some(at) = self.tabs.place(id) else { return };
        let no = self.tabs.new_pane();
        self.tabs[at].panes.open(no, pane);
        self.forget_closed(id);
        self.with_pane(at, |pane, cx| pane.opened(cx));
    }

    /// Shows a conversation in a tab. Input from here on is for it.
    fn show(&mut self, id: TabId, conversation: &str, entry: Option<String>) {
        if let Some(at) = self.tabs.place(id)
            && self.tabs[at].conversation().as_deref() != Some(conversation)
        {
            self.keep_draft(at);
            self.tabs[at].opens(self.prompts.clone());
        }
        let of = retake_wire::request::ConversationTarget { conversation: conversation.to_owned() };
        self.ask(Requester::Tab(id, RequestPurpose::Show(entry)), Request::Info(of));
    }

    /// Subscribes a tab to its conversation from here on.
    fn follow(&mut self, id: TabId, conversation: &str) {
        let follow = Follow { conversation: Some(conversation.to_owned()), since: None };
        self.requests.acts.push(Act::Follow(Some(id), follow));
    }

    /// Shows for a few seconds what was done.
    fn say(&mut self, text: impl Into<String>) {
        self.notices.show(Kind::Done, text.into(), self.now_ms);
    }

    /// Shows for a few seconds why something is not done.
    fn refuse(&mut self, text: impl Into<String>) {
        self.notices.show(Kind::Refused, text.into(), self.now_ms);
    }

    /// Shows what a key does next.
    fn hint(&mut self, text: impl Into<String>) {
        self.notices.show(Kind::Hint, text.into(), self.now_ms);
    }

    fn tick(&mut self) {
        self.notices.tick(self.now_ms);
        for at in 0..self.tabs.len() {
            self.draft_rests(at);
        }
        self.with_pane(self.tabs.current, |pane, cx| pane.tick(cx));
        self.wants_paths();
    }
}
