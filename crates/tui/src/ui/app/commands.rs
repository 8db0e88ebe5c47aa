//! What each command does, given by a key or a typed line. Must never ask the person about anything itself: a pane does that.

use retake_wire::reply::Operations;
use retake_wire::request::{self, ContextQuery, ConversationTarget, FilesDiff, SetPermissions};
use retake_wire::{Action, CommandsOf, McpOf, Mode, Request};

use super::notices::Kind;
use super::runs::is_command;
use super::tab::{InputFor, InputLine};
use super::{App, RequestPurpose, Requester};
use crate::render::words;
use crate::text::safe;
use crate::ui::choose::{alternatives, models, permissions};
use crate::ui::help::Help;
use crate::ui::jobs::Jobs;
use crate::ui::keymap::{Command, Context};
use crate::ui::list::List;
use crate::ui::msg::{Act, TabId};
use crate::ui::ops::Ops;
use crate::ui::page::Page;
use crate::ui::plan::PlanPane;
use crate::ui::rewind::Rewind;
use crate::ui::slash::{self, Meant};
use crate::ui::tree::Tree;

/// The number of conversations on the first screen.
const RECENT: usize = 3;

impl Command {
    /// Whether the app handles it even while a pane has the focus.
    pub(super) fn is_of_app(self) -> bool {
        self.row().context == Context::Everywhere
    }
}

impl App {
    /// Does a command; the text is what was typed after its name.
    pub(super) fn command(&mut self, command: Command, words: &str) {
        let done = self.of_program(command, words)
            || self.of_composer(command)
            || self.of_view(command, words)
            || self.of_selection(command)
            || self.of_asked(command)
            || self.of_history(command, words)
            || self.of_messages(command, words)
            || self.of_agent(command, words);
        debug_assert!(done, "BUG: {command:?} is done by nobody");
    }

    /// Commands that work everywhere.
    fn of_program(&mut self, command: Command, words: &str) -> bool {
        match command {
            Command::Help => {
                let from = self.context();
                self.open(Help::new(self.keys.clone(), from));
            }
            Command::Quit => self.leave(),
            Command::Stop => self.stop(),
            Command::Suspend => self.requests.acts.push(Act::Suspend),
            Command::Redraw => self.requests.acts.push(Act::Redraw),
            Command::NewTab => {
                self.keep_draft(self.tabs.current);
                self.open_tab();
                self.wants_unbegun();
                self.wants_recent();
            }
            Command::GoOn => self.go_on(),
            Command::CloseTab => self.close_tab(),
            Command::NextTab | Command::PreviousTab if self.tabs.len() == 1 => {
                let new = self.keys.named(Command::NewTab);
                self.refuse(format!("there is only this tab: {new} opens another one"));
            }
            Command::NextTab => self.go_to_tab((self.tabs.current + 1) % self.tabs.len()),
            Command::PreviousTab => {
                self.go_to_tab((self.tabs.current + self.tabs.len() - 1) % self.tabs.len());
            }
            Command::Theme => self.choose_theme(words),
            // The list as it was when the person opened a hit.
            Command::List if words.is_empty() && self.tab_mut().panes.come_back() => {}
            Command::List | Command::Search => self.open_list(self.tab().id, words),
            _ => return false,
        }
        true
    }

    /// The first screen shows the last conversations.
    pub(super) fn wants_recent(&mut self) {
        let list = request::List {
            folder: Some(self.known.folder.clone()),
            limit: Some(RECENT),
            ..request::List::default()
        };
        self.ask(Requester::All(RequestPurpose::Recent), Request::List(list));
    }

    /// Continues the last conversation of the folder in this tab.
    fn go_on(&mut self) {
        if self.tab().conversation().is_some() {
            let list = self.keys.named(Command::List);
            return self.refuse(format!("this tab has a conversation: {list} opens others"));
        }
        let Some(last) = self.beginning.recent.first().map(|last| last.id.clone()) else {
            return self.refuse("there is no earlier conversation in this folder");
        };
        self.show(self.tab().id, &last, None);
    }

    /// Commands of the composer.
    fn of_composer(&mut self, command: Command) -> bool {
        match command {
            Command::Send => self.send(),
            Command::Escape => self.escape(),
            Command::Editor => {
                // If the program is ended while the external editor has the terminal, it can't store anything any more.
                self.keep_draft(self.tabs.current);
                self.requests.acts.push(Act::Edit(self.tab().composer.text()));
            }
            Command::Detach => self.tab_mut().composer.detach(),
            Command::NewLine
            | Command::Complete
            | Command::HistoryUp
            | Command::HistoryDown
            | Command::HistorySearch
            | Command::TypingUndo
            | Command::TypingRedo
            | Command::DraftBack
            | Command::DraftDrop => {
                let done = self.tab_mut().composer.command(command);
                match command {
                    _ if done => {}
                    Command::Complete => self.say("nothing to complete: / begins a command, @ a path"),
                    Command::TypingUndo => self.say("there is no typing to undo"),
                    Command::TypingRedo => self.say("there is no typing to redo"),
                    Command::DraftBack | Command::DraftDrop => self.say("no draft was moved aside"),
                    _ => {}
                }
                self.typed();
            }
            _ => return false,
        }
        true
    }

    /// Commands of the view.
    fn of_view(&mut self, command: Command, words: &str) -> bool {
        match command {
            Command::ScrollUp
            | Command::ScrollDown
            | Command::ScrollTop
            | Command::ScrollEnd
            | Command::Reasoning
            | Command::Output => {
                let tab = self.tab_mut();
                tab.view.command(command, &tab.talk);
                let shows = |is: bool| if is { "is shown" } else { "is folded" };
                match command {
                    Command::Reasoning => {
                        let is = shows(self.tab().view.shows_reasoning());
                        self.say(format!("the model's reasoning {is}"));
                    }
                    Command::Output => {
                        let is = shows(self.tab().view.shows_output());
                        self.say(format!("what tools print {is}"));
                    }
                    _ => {}
                }
            }
            Command::Find => self.find(words),
            Command::FindNext | Command::FindPrevious => {
                let tab = self.tab_mut();
                if tab.line.as_ref().is_some_and(|line| line.what != InputFor::Find) {
                    self.line_done();
                } else {
                    tab.view.command(command, &tab.talk);
                }
            }
            Command::FindLeave => {
                let tab = self.tab_mut();
                tab.line = None;
                tab.view.find("", &tab.talk);
            }
            _ => return false,
        }
        true
    }

    /// Commands that go back and forth, and those that show the history.
    fn of_history(&mut self, command: Command, words: &str) -> bool {
        if !matches!(
            command,
            Command::Rewind | Command::Undo | Command::Redo | Command::Tree | Command::Ops | Command::Restore
        ) {
            return false;
        }
        if self.tab().conversation().is_none() {
            self.refuse("nothing has been said here yet");
            return true;
        }
        match command {
            Command::Rewind if words.is_empty() => self.open(Rewind::new()),
            Command::Rewind => self.rewind_to(words),
            Command::Undo | Command::Redo => match count(words) {
                Some(count) if command == Command::Undo => self.plan("Undo", Action::Undo { count }),
                Some(count) => self.plan("Redo", Action::Redo { count }),
                None => self
                    .refuse(format!("{words:?} is not a number of steps: give a number, or nothing for 1")),
            },
            Command::Tree => self.open(Tree::new()),
            Command::Restore if !words.is_empty() => {
                self.restore(words);
            }
            _ => self.open(Ops::new()),
        }
        true
    }

    /// Restores the state after an operation, or before it. Heads contain a dot.
    fn restore(&mut self, words: &str) {
        if words.contains('.') {
            return self.plan("Restore", Action::Restore { head: words.to_owned() });
        }
        let (number, is_before) = match words.strip_prefix("before ") {
            Some(number) => (number.trim(), true),
            None => (words, false),
        };
        let Some(number) = number.parse::<u64>().ok().filter(|number| (1..u64::MAX).contains(number)) else {
            let ops = self.keys.named(Command::Ops);
            return self.refuse(format!("name an operation by its number, as {ops} lists them"));
        };
        let Some(conversation) = self.here() else { return };
        let page = request::Page { conversation, limit: Some(1), before: Some(number + 1) };
        self.ask(
            Requester::Tab(self.tab().id, RequestPurpose::Operation(number, is_before)),
            Request::Ops(page),
        );
    }

    /// The operation with a number.
    pub(super) fn named_operation(&mut self, id: TabId, number: u64, is_before: bool, found: Operations) {
        let Some(op) = found.operations.into_iter().find(|op| op.number == number) else {
            let ops = self.keys.named(Command::Ops);
            return self.refuse(format!("there is no operation {number}: {ops} lists them"));
        };
        let head = if is_before { op.before } else { op.head };
        self.open_pane(id, Box::new(PlanPane::new("Restore", Action::Restore { head })));
    }

    /// Commands for the agent at work.
    fn of_agent(&mut self, command: Command, words: &str) -> bool {
        match command {
            Command::Model if words.is_empty() => self.open(models(self.tab().model.name.clone())),
            Command::Model => self.choose_model(words),
            Command::Permissions => self.permissions(words),
            Command::PlanMode => self.set_mode(Mode::Plan, self.tab().conversation()),
            Command::NextMode => self.next_mode(),
            Command::Files => self.page("Files", Request::FilesStatus),
            Command::Diff => {
                self.page("Differences since the last turn began", |ConversationTarget { conversation }| {
                    Request::FilesDiff(FilesDiff { conversation, ..FilesDiff::default() })
                });
            }
            Command::Todo => self.page("To do", Request::Todo),
            Command::Jobs => {
                if self.here().is_some() {
                    self.open(Jobs::new());
                }
            }
            Command::Checkpoint => self.checkpoint(words),
            Command::Tools => self.page("Tools", Request::Tools),
            Command::Compact => self.compact(words),
            Command::Commands => {
                let of = CommandsOf { folder: self.folder_here() };
                self.open(Page::new("Commands and skills", Request::CommandFiles(of)));
            }
            Command::Memory => self.memory(words),
            Command::Mcp => {
                let of = McpOf { folder: self.known.folder.clone(), server: None };
                self.open(Page::new("MCP servers", Request::McpList(of)));
            }
            Command::Context => {
                let model = self.tab().model.name.clone();
                self.page("Context", |ConversationTarget { conversation }| {
                    Request::Context(ContextQuery { conversation, model, parts: Vec::new() })
                });
            }
            Command::Cost => self.page("Cost", Request::Cost),
            Command::Unqueue => {
                if let Some(conversation) = self.here() {
                    let id = self.tab().id;
                    self.ask(
                        Requester::Tab(id, RequestPurpose::Unqueued),
                        Request::Unqueue(ConversationTarget { conversation }),
                    );
                }
            }
            _ => return false,
        }
        true
    }

    fn permissions(&mut self, words: &str) {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == words);
        match (words.is_empty(), mode, self.tab().conversation()) {
            (true, _, _) => {
                let mode = self.begins_with();
                self.open(permissions(self.tab().talk.permissions.clone(), mode));
            }
            (false, None, _) => {
                let names: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
                self.refuse(format!("there is no mode {words:?}: {}", names.join(", ")));
            }
            (false, Some(mode), conversation) => self.set_mode(mode, conversation),
        }
    }

    /// The next permission mode. The one that allows everything is never reached by a single key.
    fn next_mode(&mut self) {
        let conversation = self.tab().conversation();
        let mode = match &conversation {
            Some(_) => self.tab().talk.permissions.mode,
            None => self.begins_with().unwrap_or_default(),
        };
        let next = match mode {
            Mode::Ask => Mode::AllowEdits,
            Mode::AllowEdits => Mode::Plan,
            Mode::Plan | Mode::AllowAll => Mode::Ask,
        };
        self.set_mode(next, conversation);
    }

    fn checkpoint(&mut self, words: &str) {
        let Some(conversation) = self.here() else { return };
        let name = if words.is_empty() { "checkpoint" } else { words }.to_owned();
        let tab = self.tab().id;
        self.ask(
            Requester::Tab(tab, RequestPurpose::Checkpoint(name.clone())),
            Request::Checkpoint(request::Checkpoint { conversation, name }),
        );
    }

    /// Changes the permission mode; before a conversation begins, the mode that it begins with.
    pub(super) fn set_mode(&mut self, mode: Mode, conversation: Option<String>) {
        match conversation {
            Some(conversation) => {
                let set = SetPermissions { conversation, mode: Some(mode), ..SetPermissions::default() };
                self.ask(
                    Requester::Tab(self.tab().id, RequestPurpose::Nothing),
                    Request::SetPermissions(set),
                );
            }
            None => self.beginning.permit.mode = Some(mode),
        }
        // A call that waits for approval still waits.
        let from = if self.tab().talk.is_running() { ", from the next call on" } else { "" };
        self.say(format!("mode {}{from}: {}", mode.name(), crate::render::agent::mode(mode)));
    }

    /// The alternatives of an answer.
    pub(super) fn alternatives(&mut self, entry: &str) {
        if let Some(conversation) = self.here() {
            let (entry, limit) = (entry.to_owned(), Some(request::LARGEST_PAGE));
            let entry = request::Alternatives { conversation, entry, limit, after: None };
            self.open(alternatives(entry));
        }
    }

    /// The id of the conversation. Without one, shows a notice.
    pub(super) fn here(&mut self) -> Option<String> {
        let conversation = self.tab().conversation();
        if conversation.is_none() {
            self.refuse("nothing has been said here yet");
        }
        conversation
    }

    pub(super) fn open(&mut self, pane: impl crate::ui::pane::Pane + 'static) {
        let id = self.tab().id;
        self.open_pane(id, Box::new(pane));
    }

    pub(super) fn open_list(&mut self, id: TabId, words: &str) {
        let list = List::new(&self.known.folder, words);
        self.open_list_as(id, list);
    }

    /// The same, if the UI begins with it.
    pub(super) fn begin_with_list(&mut self, id: TabId) {
        let list = List::first(&self.known.folder);
        self.open_list_as(id, list);
    }

    fn open_list_as(&mut self, id: TabId, list: List) {
        self.open_pane(id, Box::new(list));
        self.tabs.follows_list = true;
        self.requests.acts.push(Act::Follow(None, retake_wire::Follow::default()));
    }

    /// Shows the plan of an action, and does it if the person agrees.
    pub(super) fn plan(&mut self, title: &str, action: Action) {
        self.open(PlanPane::new(title, action));
    }

    fn page(&mut self, title: &str, request: impl FnOnce(ConversationTarget) -> Request) {
        if let Some(conversation) = self.here() {
            self.open(Page::new(title, request(ConversationTarget { conversation })));
        }
    }

    fn go_to_tab(&mut self, at: usize) {
        self.keep_draft(self.tabs.current);
        self.tabs.current = at;
    }

    /// Stops what runs; if nothing runs, clears the composer; if that is empty, quits.
    fn stop(&mut self) {
        let now_ms = self.now_ms;
        if self.tab().panes.front.is_some() {
            let close = Command::Close;
            return self.with_pane(self.tabs.current, |pane, cx| pane.command(close, cx));
        }
        let tab = self.tab_mut();
        if let (true, Some(conversation)) = (tab.talk.is_running(), tab.conversation()) {
            let id = tab.id;
            self.ask(
                Requester::Tab(id, RequestPurpose::Nothing),
                Request::Cancel(ConversationTarget { conversation }),
            );
            return self.notices.show(Kind::Stopping, "stopping".to_owned(), now_ms);
        }
        if !tab.composer.is_empty() {
            tab.composer.set_aside();
            tab.draft.typed(now_ms);
            let back = self.keys.named(Command::DraftBack);
            return self.hint(format!("the composer is empty now; {back} brings your words back"));
        }
        if self.is_once_more(Command::Stop) {
            return self.leave();
        }
        let stop = self.keys.named(Command::Stop);
        self.hint(format!("{stop} again quits; everything is kept"));
    }

    /// A line that begins with a slash or a colon.
    pub(super) fn typed_command(&mut self, line: &str) -> bool {
        let Some((name, words)) = is_command(line) else { return false };
        let command = match Command::begun(name).as_slice() {
            [one] => *one,
            several => {
                let names: Vec<_> = several.iter().map(|it| format!("/{}", it.row().typed_name())).collect();
                self.refuse(match names.is_empty() {
                    true => self.no_command(name),
                    false => format!("/{} may be {}", safe::line(name), words::either(&names)),
                });
                // What is typed next must not be added to it.
                let now_ms = self.now_ms;
                let tab = self.tab_mut();
                tab.composer.refused();
                tab.draft.typed(now_ms);
                return true;
            }
        };
        self.tab_mut().composer.clear();
        self.command(command, words);
        true
    }

    /// There is no such command: what has that function.
    fn no_command(&self, name: &str) -> String {
        let help = self.keys.named(Command::Help);
        let elsewhere = slash::BY_LINES_ONLY.iter().chain(slash::IN_A_SHELL).copied();
        let ours = slash::meant(name, &slash::of_full_screen(), elsewhere);
        let instead = match ours {
            Some(Meant::Here(ours)) => {
                format!(": did you mean /{ours}? {help} lists all; // begins a message with /")
            }
            Some(Meant::Elsewhere(verb)) => format!(" here; in a shell: `retake {verb}`"),
            None => format!(": {help} lists them; // begins a message with /"),
        };
        format!("there is no command /{}{instead}", safe::line(name))
    }

    fn find(&mut self, words: &str) {
        let tab = self.tab_mut();
        tab.line = Some(InputLine { what: InputFor::Find, text: words.to_owned() });
        tab.view.find(words, &tab.talk);
    }
}

fn count(words: &str) -> Option<usize> {
    if words.is_empty() { Some(1) } else { words.parse().ok().filter(|count| *count > 0) }
}
