//! Replies and events of the owner. Must never use a reply for another conversation than the one that the tab shows now.

use retake_wire::request::{ClaimDraft, FolderPaths, Log, Paths, Projection, Typed};
use retake_wire::{CommandsOf, Event, NumberedEvent, Problem, Reply, Request, english};

use super::notices::Kind;
use super::{App, RequestPurpose, Requester};
use crate::ui::keymap::Command;
use crate::ui::msg::{Act, TabId, Ticket};
use crate::ui::talk::{EventEffect, Tone, Until};

/// Entries loaded around one that is to be shown.
const AROUND: usize = 100;

impl App {
    pub(super) fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>) {
        let has_changed = self.requests.changed(ticket);
        if let (true, Ok(Reply::Receipt(receipt))) = (has_changed, &reply) {
            self.made(receipt);
        }
        self.gets(ticket, reply);
        if has_changed {
            self.look_elsewhere();
        }
    }

    fn gets(&mut self, ticket: Ticket, reply: Result<Reply, Problem>) {
        match self.requests.answered(ticket) {
            Some(Requester::Pane(id, no)) => {
                if let Some(at) = self.tabs.place(id) {
                    self.with_pane_no(at, no, |pane, cx| pane.replied(ticket, reply, cx));
                }
            }
            Some(Requester::Tab(id, what)) => match reply {
                Ok(reply) => self.answered(id, what, reply),
                Err(problem) => self.failed(id, &what, &problem),
            },
            Some(Requester::All(RequestPurpose::Kept)) => self.was_kept(ticket, reply.err()),
            // Failures of optional requests are not reported.
            Some(Requester::All(what)) => {
                if let Ok(reply) = reply {
                    self.answered_all(&what, reply);
                }
            }
            None => {}
        }
    }

    fn answered_all(&mut self, what: &RequestPurpose, reply: Reply) {
        match (what, reply) {
            (RequestPurpose::History, Reply::History(page)) => {
                self.prompts = page.prompts;
                for tab in self.tabs.iter_mut() {
                    tab.composer.remember(self.prompts.clone());
                }
            }
            (RequestPurpose::Owner, Reply::Status(status)) => {
                self.beginning.usual_mode = status.mode;
            }
            (RequestPurpose::Recent, Reply::Conversations(page)) => {
                self.beginning.recent = page.conversations;
                self.beginning.never_captured = page.never_captured;
            }
            (RequestPurpose::Elsewhere(id, of), Reply::Operations(found)) => self.learned(*id, of, &found),
            (RequestPurpose::FolderDraft, Reply::Draft(draft)) => self.take_unbegun(draft.parts, draft.aside),
            (RequestPurpose::Models, Reply::Models(models)) => {
                self.models_are(models);
            }
            _ => {}
        }
    }

    fn answered(&mut self, id: TabId, what: RequestPurpose, reply: Reply) {
        match (what, reply) {
            (RequestPurpose::GoOn, Reply::Conversations(page)) => match page.conversations.into_iter().next()
            {
                Some(last) => self.opened(id, last, None),
                None => self.not_opened(id),
            },
            (RequestPurpose::Show(entry), Reply::Conversation(conversation)) => {
                self.opened(id, conversation, entry);
            }
            (RequestPurpose::Earlier, Reply::Entries(page)) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.loading.is_loading = false;
                    tab.talk.cut_off.extend(page.cut_off);
                    tab.talk.loaded(page.entries, page.earlier);
                }
                self.show_wanted(id);
            }
            (RequestPurpose::Until(entry), Reply::Entries(page)) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.loading.is_loading = false;
                    tab.talk.cut_off.extend(page.cut_off);
                    tab.talk.loaded(page.entries, page.earlier);
                    tab.loading.show = Some(entry);
                }
                self.show_wanted(id);
            }
            (RequestPurpose::Applied(action), Reply::Receipt(receipt)) => self.applied(id, &action, &receipt),
            (RequestPurpose::Model(name, before), Reply::Models(models)) => {
                self.model_looked_up(id, &name, before, models);
            }
            (RequestPurpose::Rewritten(entry), Reply::Plan(plan)) => self.planned_again(id, &entry, &plan),
            (RequestPurpose::Operation(number, is_before), Reply::Operations(found)) => {
                self.named_operation(id, number, is_before, found);
            }
            (RequestPurpose::Draft, Reply::Draft(draft)) => self.take_draft(id, draft),
            (RequestPurpose::Checkpoint(name), Reply::Captures(_)) => {
                self.say(format!("the state of the folder is saved as “{name}”"));
            }
            (RequestPurpose::Unqueued, Reply::Waiting(waiting)) => {
                let parts: Vec<_> = waiting.words.into_iter().flat_map(|words| words.parts).collect();
                if parts.is_empty() {
                    self.say("no message is waiting");
                } else {
                    self.returned(id, &parts);
                    self.say("your words are back in the composer");
                }
            }
            (RequestPurpose::Commands, Reply::CommandFiles(found)) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.composer.know_commands(found.files);
                }
            }
            (RequestPurpose::Context, Reply::Context(context)) => {
                self.context_read(id, context);
            }
            (RequestPurpose::Fits, Reply::Context(context)) => self.told_whether_it_fits(id, Some(context)),
            (RequestPurpose::Paths(query), Reply::Paths(paths)) => {
                let paths = paths.paths.into_iter().map(|path| (path.path, path.is_dir)).collect();
                if let Some(tab) = self.find_tab(id) {
                    tab.composer.paths(&query, paths);
                }
            }
            _ => {}
        }
    }

    fn failed(&mut self, id: TabId, what: &RequestPurpose, problem: &Problem) {
        match what {
            RequestPurpose::Earlier | RequestPurpose::Until(_) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.loading.is_loading = false;
                    // It would request the same again.
                    tab.view.command(Command::FindLeave, &tab.talk);
                }
                self.complain_in(id, problem);
            }
            RequestPurpose::Draft => {
                if let Some(tab) = self.find_tab(id) {
                    tab.draft.is_refused = true;
                }
                self.complain_in(id, problem);
            }
            RequestPurpose::GoOn | RequestPurpose::Show(_) => {
                self.not_opened(id);
                self.complain_in(id, problem);
            }
            RequestPurpose::Rewritten(_) => {
                if let Some(rewriting) = self.find_tab(id).and_then(|tab| tab.outgoing.rewriting.as_mut()) {
                    rewriting.is_stale = false;
                }
                self.complain_in(id, problem);
            }
            RequestPurpose::Paths(_) | RequestPurpose::Commands | RequestPurpose::Context => {}
            RequestPurpose::Fits => self.told_whether_it_fits(id, None),
            // Another client was faster.
            RequestPurpose::Decided if problem.code == "not_asked" => {
                self.say("somebody has answered already");
            }
            _ => self.complain_in(id, problem),
        }
    }

    /// A tab shows another conversation from here on.
    fn opened(&mut self, id: TabId, conversation: retake_wire::reply::Conversation, entry: Option<String>) {
        let typed = self.find_tab(id).and_then(super::tab::Tab::opened);
        let other = self
            .tabs
            .iter()
            .position(|tab| tab.id != id && tab.conversation().as_deref() == Some(conversation.id.as_str()));
        if let Some(at) = other {
            // It is open in another tab: two tabs of one conversation would be two drafts.
            let left = self.find_tab(id).map(|tab| std::mem::take(&mut tab.panes.left)).unwrap_or_default();
            self.tabs[at].panes.left = left;
            self.tabs[at].loading.show = entry;
            self.type_on(at, typed);
            let other = self.tabs[at].id;
            self.tabs.current = at;
            return self.show_wanted(other);
        }
        let Some(at) = self.tabs.place(id) else { return };
        let same = self.tabs[at].conversation().as_deref() == Some(conversation.id.as_str());
        if same {
            self.keep_draft(at);
        } else {
            self.release_draft(at);
        }
        self.leave_unbegun(at);
        if !same {
            // A model chosen elsewhere applies there.
            let mut tab = super::tab::Tab::new(id, self.known.model.clone());
            tab.view.greeting.version.clone_from(&self.known.version);
            tab.composer.remember(self.prompts.clone());
            tab.panes.left = std::mem::take(&mut self.tabs[at].panes.left);
            tab.composer = typed.unwrap_or(tab.composer);
            self.tabs[at] = tab;
            self.follow(id, &conversation.id);
            self.tabs[at].talk.conversation = Some(conversation);
        } else {
            self.type_on(at, typed);
        }
        self.tabs[at].loading.show = entry;
        self.show_wanted(id);
    }

    /// Shows the requested entry once it is loaded.
    fn show_wanted(&mut self, id: TabId) {
        let Some(tab) = self.find_tab(id) else { return };
        let Some(entry) = tab.loading.show.take() else { return };
        if tab.talk.entries.iter().any(|loaded| loaded.id == entry) {
            // It is shown, but the composer keeps the focus: a key or a click selects it.
            tab.view.show(&entry, &tab.talk);
            return;
        }
        let (Some(conversation), Some(first), true, false) =
            (tab.conversation(), tab.talk.entries.first(), tab.talk.earlier, tab.loading.is_loading)
        else {
            // The event comes with the conversation, or the entry is not on the path now.
            if tab.talk.entries.is_empty() {
                tab.loading.show = Some(entry);
            } else {
                self.say("that message is not on the current branch: /tree shows the branches");
            }
            return;
        };
        tab.loading.is_loading = true;
        let log = Log {
            conversation,
            at: None,
            branch: None,
            projection: Projection::Timeline,
            limit: Some(AROUND * 10),
            before: Some(first.id.clone()),
            after: None,
        };
        self.ask(Requester::Tab(id, RequestPurpose::Until(entry)), Request::Log(log));
    }

    /// An event arrived.
    pub(super) fn told(&mut self, id: Option<TabId>, told: NumberedEvent) {
        let Some(id) = id else {
            for at in 0..self.tabs.len() {
                self.with_panes(at, |pane, cx| pane.listed(&told, cx));
            }
            return;
        };
        let Some(at) = self.tabs.place(id) else { return };
        if self.tabs[at].loading.lost.take().is_some() {
            // Another process may own the data now.
            self.ask(Requester::All(RequestPurpose::Owner), Request::Status);
        }
        let begins = matches!(told.event, Event::Snapshot(_)) && !self.tabs[at].draft.is_known;
        let waited = self.tabs[at].waits();
        let front = self.tabs[at].front().map(str::to_owned);
        let heard = self.tabs[at].talk.told(told, self.now_ms);
        if self.tabs[at].front() != front.as_deref() {
            let tab = &mut self.tabs[at];
            let now = tab.front().is_some();
            tab.answers.next_request(front.as_deref(), now, self.now_ms);
        }
        if at == self.tabs.current && waited != self.tabs[at].waits() {
            // Earlier refusals concern an earlier state.
            self.notices.remove(Kind::Refused);
        }
        if at == self.tabs.current && !self.tabs[at].talk.is_running() {
            self.notices.remove(Kind::Stopping);
        }
        if begins && let Some(conversation) = self.tabs[at].conversation() {
            let claim = ClaimDraft { conversation, ..ClaimDraft::default() };
            self.ask(Requester::Tab(id, RequestPurpose::Draft), Request::ClaimDraft(claim));
        }
        self.heard(at, heard);
        self.goes_on_with(at);
        self.show_wanted(id);
        self.look_elsewhere();
    }

    fn heard(&mut self, at: usize, heard: EventEffect) {
        if heard.changed {
            self.with_panes(at, |pane, cx| pane.changed(cx));
        }
        let least = i64::try_from(self.settings.notify_after_s).unwrap_or(i64::MAX).saturating_mul(1_000);
        let is_long = heard.ended.is_some_and(|lasted| lasted >= least);
        self.tabs[at].is_unseen |= heard.ended.is_some() && at != self.tabs.current;
        let elsewhere = !self.has_focus || at != self.tabs.current;
        if elsewhere && (is_long || heard.asked) {
            let title = self.tabs[at].title();
            let what = if heard.asked { "asks you something" } else { "is done" };
            self.requests.acts.push(Act::Notify(format!("{title} {what}")));
        }
    }

    /// The returned message is in the conversation again, and nobody has edited it since.
    fn is_said_again(&mut self, id: TabId) {
        if let Some(tab) = self.find_tab(id) {
            tab.outgoing.brought_back(&mut tab.composer);
        }
    }

    /// The stream of a tab is lost, and the client reconnects.
    pub(super) fn lost(&mut self, id: Option<TabId>, why: Option<&Problem>) {
        // The client reconnects because no owner is there: not worth a message.
        let why = why.filter(|why| !matches!(&*why.code, "owner_away" | "owner_lost"));
        let why = why.map(english::problem).unwrap_or_default();
        if let Some(tab) = id.and_then(|id| self.find_tab(id)) {
            tab.loading.lost = Some(why);
        }
    }

    /// The folder of the conversation, or that in which one would begin.
    pub(super) fn folder_here(&self) -> String {
        let here = self.tab().talk.conversation.as_ref().and_then(|it| it.folder.clone());
        here.unwrap_or_else(|| self.known.folder.clone())
    }

    /// Requests the commands or paths for completion in a composer.
    pub(super) fn wants_paths(&mut self) {
        if self.tab_mut().composer.wants_commands() {
            let of = CommandsOf { folder: self.folder_here() };
            self.ask(Requester::Tab(self.tab().id, RequestPurpose::Commands), Request::CommandFiles(of));
        }
        let tab = self.tab_mut();
        let Some(query) = tab.composer.wants_paths() else { return };
        let (id, conversation) = (tab.id, tab.conversation());
        let typed = Typed { prefix: query.clone(), limit: None };
        let request = match conversation {
            Some(conversation) => Request::Paths(Paths { conversation, typed }),
            None => Request::FolderPaths(FolderPaths { folder: self.known.folder.clone(), typed }),
        };
        self.ask(Requester::Tab(id, RequestPurpose::Paths(query)), request);
    }

    /// An action was done: shows its receipt, and puts returned text into the composer.
    pub(super) fn applied(
        &mut self,
        id: TabId,
        action: &retake_wire::Action,
        receipt: &retake_wire::reply::Receipt,
    ) {
        let look = crate::ui::words::whole(self.now_ms);
        let mut text = crate::render::receipt::in_line(&look, action, receipt).trim_end();
        if takes_back(action) {
            let undo = self.keys.named(Command::Undo);
            // Directly after sentences about files and calls it would seem to refer to those.
            let before = if text.contains('\n') { "\n" } else { " · " };
            text.push(format!("{before}{undo} or /undo takes this back"));
            if crate::render::about::is_hiding(action) {
                text.push(", /hidden lists it later");
            }
        }
        let now_ms = self.now_ms;
        if let Some(tab) = self.find_tab(id) {
            tab.outgoing.rewriting = None;
            tab.outgoing.context.operated();
            tab.talk.notes.retain(|note| note.until != Until::Step);
            tab.select(false);
            tab.view.to_end();
            tab.presses.stepped(now_ms);
        }
        self.note_in(id, text, Tone::Done);
        if receipt.composer.is_none() && receipt.timeline.brought_back.turns > 0 {
            self.is_said_again(id);
        }
        if let Some(composer) = &receipt.composer {
            self.returned(id, &composer.parts);
        } else if !receipt.waited.is_empty() {
            let parts: Vec<_> = receipt.waited.iter().flat_map(|words| words.parts.clone()).collect();
            self.returned(id, &parts);
        }
    }
}

/// Whether undo can revert the action.
fn takes_back(action: &retake_wire::Action) -> bool {
    use retake_wire::Action;
    !matches!(
        action,
        Action::Undo { .. }
            | Action::Redo { .. }
            | Action::Label { .. }
            | Action::Title { .. }
            | Action::Erase { .. }
    )
}
