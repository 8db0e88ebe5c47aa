//! The UI in memory: tabs, what has the keys, what was asked. It takes in a [`Msg`] and says by [`Act`]s what is to be done; it
//! does nothing itself. Must never say that something was done before the owner has said so.

mod asked;
mod bars;
mod commands;
mod drafts;
mod draw;
mod keys;
mod looks;
mod model;
mod mouse;
mod replies;
mod running;
mod runs;
mod select;
mod stack;
mod tab;
#[cfg(test)]
mod tests;
mod wants;

use std::collections::HashMap;

use retake_wire::request::{History, List};
use retake_wire::{Follow, Permit, Request};

use super::keymap::{Context, Keymap};
use super::msg::{Act, Msg, TabId, Ticket};
use super::pane::Cx;
use super::settings::Settings;
use super::theme::{Theme, Themes};

pub use running::RunningRun;
use tab::Tab;

/// So many earlier prompts are remembered.
const PROMPTS: usize = 500;

/// What the UI starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A new conversation.
    #[default]
    New,
    /// The last conversation of the folder; a new one, where there is none.
    GoOn,
    /// A conversation that the person picks.
    Pick,
    /// This conversation.
    In(String),
}

/// What is known of the world when the UI begins.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The folder that new conversations work in.
    pub(crate) folder: String,
    /// The version of the program.
    pub(crate) version: String,
    /// The model that was asked for.
    pub(crate) model: Option<String>,
}

/// Who waits for an answer.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The pane of a tab with this number.
    Pane(TabId, u64),
    /// A tab, for this.
    Tab(TabId, For),
    /// Everybody.
    All(For),
}

/// What an answer is for.
#[derive(Clone, Debug)]
pub(crate) enum For {
    /// Earlier prompts, for composers.
    History,
    /// The model that answers.
    Models,
    /// The conversation to begin with.
    GoOn,
    /// A conversation that is to be shown, and an entry of it.
    Show(Option<String>),
    /// Earlier entries.
    Earlier,
    /// Entries up to one that is to be shown.
    Until(String),
    /// An action, done at once.
    Applied(Box<retake_wire::Action>),
    /// Whether there is the model that was chosen by its name, and which one was it before.
    Model(String, Option<String>),
    /// The draft that was kept.
    Draft,
    /// With what a conversation was about to begin in the folder.
    Unbegun,
    /// Words that waited.
    Unqueued,
    /// Another answer, of this entry, with what is wished for files.
    Retry(String, retake_wire::FilesWish),
    /// What other words in the place of this entry take back, planned anew.
    Rewritten(String),
    /// An operation of this number, for how it was after it or before it.
    Operation(u64, bool),
    /// An approval or an answer.
    Decided,
    /// What a composer may complete with.
    Paths(String),
    /// A draft that is to be kept.
    Kept,
    /// Who the owner is, of one who has just come.
    Owner,
    /// Nothing but whether it failed.
    Nothing,
}

/// So long at least a line stands at the edge, and longer where it takes longer to read.
const SHORT_MS: i64 = 4_000;

/// A line at the edge for a while.
#[derive(Clone, Debug)]
struct Flash {
    text: String,
    is_wrong: bool,
    /// It says what a key does next: any key that comes ends it.
    is_hint: bool,
    until_ms: i64,
    /// Where it was said, once that is known: elsewhere it is not true.
    place: Option<Place>,
}

/// A tab, and the pane in front of it.
type Place = (TabId, Option<u64>);

/// The UI in memory.
#[derive(Debug)]
pub(crate) struct App {
    known: Known,
    settings: Settings,
    keys: Keymap,
    theme: Theme,
    /// The themes that can be chosen, and the look to return to while one is tried.
    themes: Themes,
    tried: Option<Theme>,
    tabs: Vec<Tab>,
    current: usize,
    next_tab: u64,
    next_pane: u64,
    tickets: u64,
    asked: HashMap<Ticket, Asked>,
    /// Earlier prompts, newest first.
    prompts: Vec<String>,
    /// The model that answers unless another one is chosen, and why.
    model: Option<(String, String)>,
    /// The models that are known.
    models: Option<retake_wire::reply::Models>,
    /// How far the agent may go in conversations that begin.
    mode: Option<retake_wire::Mode>,
    flash: Option<Flash>,
    /// With what conversations are about to begin here.
    unbegun: drafts::Unbegun,
    /// What is on its way to be kept.
    keeping: drafts::Keeping,
    now_ms: i64,
    has_focus: bool,
    /// What runs may do that have no conversation yet.
    permit: Permit,
    /// A list of conversations is open, and told what changes in it.
    follows_list: bool,
    /// Since when one is leaving.
    leaving_ms: Option<i64>,
    mouse: mouse::Mouse,
    acts: Vec<Act>,
}

impl App {
    /// A UI with one empty tab; what it asks for first is in its acts.
    pub(crate) fn new(
        known: Known,
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
            theme,
            themes: Themes::default(),
            tried: None,
            tabs: Vec::new(),
            current: 0,
            next_tab: 0,
            next_pane: 0,
            tickets: 0,
            asked: HashMap::new(),
            prompts: Vec::new(),
            model: None,
            models: None,
            mode: None,
            flash: None,
            unbegun: drafts::Unbegun::default(),
            now_ms,
            has_focus: true,
            permit: Permit::default(),
            follows_list: false,
            leaving_ms: None,
            mouse: mouse::Mouse::default(),
            keeping: drafts::Keeping::default(),
            acts: Vec::new(),
        };
        let tab = app.open_tab();
        match start {
            Start::New => app.wants_unbegun(),
            Start::In(conversation) => app.show(tab, &conversation, None),
            Start::GoOn => {
                app.tabs[0].opens(Vec::new());
                let folder = Some(app.known.folder.clone());
                let list = List { folder, limit: Some(1), ..List::default() };
                app.ask(Asked::Tab(tab, For::GoOn), Request::List(list));
            }
            Start::Pick => {
                app.begin_with_list(tab);
                app.wants_unbegun();
            }
        }
        let history = History { folder: None, limit: Some(PROMPTS), before: None };
        app.ask(Asked::All(For::History), Request::History(history));
        app.ask(Asked::All(For::Models), Request::Models);
        app.ask(Asked::All(For::Owner), Request::Status);
        app
    }

    /// Says something to know that belongs to no conversation.
    pub(crate) fn notice(&mut self, text: String) {
        let id = self.tab().id;
        self.note_in(id, crate::text::safe::line(&text).into_owned(), super::talk::Tone::Quiet);
    }

    /// Takes in what happened, and says what is to be done.
    pub(crate) fn on(&mut self, msg: Msg, now_ms: i64) -> Vec<Act> {
        self.now_ms = now_ms;
        match msg {
            Msg::Key(key) => self.key(key),
            Msg::Paste(text) => self.paste(&text),
            Msg::Mouse(mouse) => self.mouse(mouse),
            Msg::Resized => {
                self.no_longer_dragged();
                self.acts.push(Act::Redraw);
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
            Msg::Kept(theme, kept) => self.kept(&theme, kept),
        }
        self.no_longer_tried();
        self.leaves();
        self.flash_stays_here();
        self.tab_mut().is_unseen = false;
        std::mem::take(&mut self.acts)
    }

    /// What is to be done that was said before anything happened.
    pub(crate) fn begin(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    /// Whether something moves by itself, so that time passing is to be told often.
    pub(crate) fn is_lively(&self) -> bool {
        let waits = self.tab().pane.as_ref().is_some_and(|pane| pane.is_lively());
        self.tab().talk.is_running()
            || self.tab().is_busy()
            || self.tab().view.is_stale()
            || self.tab().view.is_finding()
            || self.tab().typed_ms.is_some()
            || self.is_leaving()
            || waits
    }

    /// The conversation that one would go on with.
    pub(crate) fn conversation(&self) -> Option<&str> {
        self.tab().talk.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    fn tab(&self) -> &Tab {
        &self.tabs[self.current]
    }

    fn tab_mut(&mut self) -> &mut Tab {
        &mut self.tabs[self.current]
    }

    fn find_tab(&mut self, id: TabId) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.id == id)
    }

    fn open_tab(&mut self) -> TabId {
        self.next_tab += 1;
        let id = TabId(self.next_tab);
        let mut tab = Tab::new(id, self.known.model.clone());
        tab.view.version.clone_from(&self.known.version);
        tab.composer.remember(self.prompts.clone());
        self.tabs.push(tab);
        self.current = self.tabs.len() - 1;
        id
    }

    fn close_tab(&mut self) {
        self.release_draft(self.current);
        self.leave_unbegun(self.current);
        let tab = self.tabs.remove(self.current);
        self.acts.push(Act::Unfollow(Some(tab.id)));
        self.asked
            .retain(|_, asked| !matches!(asked, Asked::Pane(id, _) | Asked::Tab(id, _) if *id == tab.id));
        if self.tabs.is_empty() {
            self.open_tab();
        }
        self.current = self.current.min(self.tabs.len() - 1);
    }

    fn ask(&mut self, asked: Asked, request: Request) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.asked.insert(ticket, asked);
        self.acts.push(Act::Ask(ticket, Box::new(request)));
        ticket
    }

    /// Lets the pane in front of a tab do something, and does what it wants.
    fn with_pane(&mut self, at: usize, does: impl FnOnce(&mut dyn super::pane::Pane, &mut Cx<'_>)) {
        let Some(tab) = self.tabs.get(at) else { return };
        self.with_pane_no(at, tab.pane_no, does);
    }

    /// The same, of all panes of a tab.
    fn with_panes(&mut self, at: usize, does: impl Fn(&mut dyn super::pane::Pane, &mut Cx<'_>)) {
        for no in self.tabs.get(at).map(Tab::panes).unwrap_or_default() {
            self.with_pane_no(at, no, &does);
        }
    }

    /// The same, of the pane with a number.
    fn with_pane_no(
        &mut self,
        at: usize,
        no: u64,
        does: impl FnOnce(&mut dyn super::pane::Pane, &mut Cx<'_>),
    ) {
        let Some(tab) = self.tabs.get_mut(at) else { return };
        let Some(mut pane) = tab.slot(no).and_then(Option::take) else { return };
        let (id, before) = (tab.id, self.acts.len());
        let mut wants = Vec::new();
        let mut cx = Cx {
            now_ms: self.now_ms,
            conversation: tab.talk.conversation.as_ref(),
            acts: &mut self.acts,
            wants: &mut wants,
            tickets: &mut self.tickets,
        };
        does(&mut *pane, &mut cx);
        if let Some(slot) = tab.slot(no) {
            *slot = Some(pane);
        }
        for act in &self.acts[before..] {
            if let Act::Ask(ticket, _) | Act::Run(ticket, _) = act {
                self.asked.insert(*ticket, Asked::Pane(id, no));
            }
        }
        for want in wants {
            self.want(id, want);
        }
        if self.follows_list && !self.tabs.iter().any(|tab| tab.holds(Context::List)) {
            self.follows_list = false;
            self.acts.push(Act::Unfollow(None));
        }
    }

    /// Puts a pane in the place of a tab's conversation, or in front of the one that is there.
    fn open_pane(&mut self, id: TabId, pane: Box<dyn super::pane::Pane>) {
        let Some(at) = self.tabs.iter().position(|tab| tab.id == id) else { return };
        self.next_pane += 1;
        self.tabs[at].open(self.next_pane, pane);
        self.forget_closed(id);
        self.with_pane(at, |pane, cx| pane.opened(cx));
    }

    /// Shows a conversation in a tab. What is typed from here on is for it.
    fn show(&mut self, id: TabId, conversation: &str, entry: Option<String>) {
        if let Some(at) = self.tabs.iter().position(|tab| tab.id == id)
            && self.tabs[at].conversation().as_deref() != Some(conversation)
        {
            self.keep_draft(at);
            self.tabs[at].opens(self.prompts.clone());
        }
        let of = retake_wire::request::Of { conversation: conversation.to_owned() };
        self.ask(Asked::Tab(id, For::Show(entry)), Request::Info(of));
    }

    /// Follows the conversation of a tab from here on.
    fn follow(&mut self, id: TabId, conversation: &str) {
        let follow = Follow { conversation: Some(conversation.to_owned()), since: None };
        self.acts.push(Act::Follow(Some(id), follow));
    }

    /// Says something at the edge, for a few seconds.
    fn say(&mut self, text: impl Into<String>) {
        self.flash_for(text.into(), false);
    }

    /// Says at the edge why something is not done.
    fn refuse(&mut self, text: impl Into<String>) {
        self.flash_for(text.into(), true);
    }

    /// Says at the edge what a key does next.
    fn hint(&mut self, text: impl Into<String>) {
        self.flash_for(text.into(), false);
        self.flash.iter_mut().for_each(|flash| flash.is_hint = true);
    }

    fn flash_for(&mut self, text: String, is_wrong: bool) {
        let long = i64::try_from(text.len()).unwrap_or(0) * 60;
        let until_ms = self.now_ms + SHORT_MS.max(long);
        self.flash = Some(Flash { text, is_wrong, is_hint: false, until_ms, place: None });
    }

    /// What was said in another place, before a pane was opened or closed, goes.
    fn flash_stays_here(&mut self) {
        let here = (self.tab().id, self.tab().pane.as_ref().map(|_| self.tab().pane_no));
        self.flash.take_if(|flash| *flash.place.get_or_insert(here) != here);
    }

    fn tick(&mut self) {
        if self.flash.as_ref().is_some_and(|flash| flash.until_ms <= self.now_ms) {
            self.flash = None;
        }
        for at in 0..self.tabs.len() {
            self.draft_rests(at);
        }
        self.with_pane(self.current, |pane, cx| pane.tick(cx));
        self.wants_paths();
        self.leave_rests();
    }
}
