//! Actions on a message, selected or named; each shows its plan first. Must never act on another message than the one that is
//! marked on the screen.

use retake_wire::request::{Log, Projection};
use retake_wire::{Action, Mark, MarkVerb, Part, Request, Role};

use super::tab::{InputFor, InputLine};
use super::{App, RequestPurpose, Requester};
use crate::ui::fork::ForkPane;
use crate::ui::keymap::Command;
use crate::ui::msg::{Act, PaneInstruction, TabId};
use crate::ui::plan::PlanPane;

/// The tool that starts subagents.
const SUBAGENT: &str = "subagent";

impl App {
    /// The commands of the selection.
    pub(super) fn of_selection(&mut self, command: Command) -> bool {
        match command {
            Command::Select => {
                let tab = self.tab_mut();
                // A message that is already marked is the target.
                match tab.view.selected().map(str::to_owned) {
                    Some(entry) => tab.view.show(&entry, &tab.talk),
                    None => drop(tab.view.command(Command::Select, &tab.talk)),
                }
                tab.selecting = tab.view.selected().is_some();
                if !tab.selecting {
                    self.refuse("there is no message to select yet");
                }
            }
            Command::SelectLeave => {
                let tab = self.tab_mut();
                let left = std::mem::take(&mut tab.panes.left);
                tab.select(false);
                tab.panes.left = left;
            }
            Command::SelectUp
            | Command::SelectDown
            | Command::SelectPageUp
            | Command::SelectPageDown
            | Command::SelectFirst
            | Command::SelectLast
            | Command::SelectOpen => {
                let tab = self.tab_mut();
                tab.view.command(command, &tab.talk);
                if command == Command::SelectOpen {
                    let shows = self.tab().view.shows_all();
                    self.say(if shows {
                        "all of this message is shown"
                    } else {
                        "long parts of it are folded"
                    });
                }
            }
            Command::SelectCopy => self.copy_selected(),
            Command::SelectQuote => {
                let selected = self.tab().view.selected().map(str::to_owned);
                if let Some(words) = selected.and_then(|entry| self.words_of(&entry)) {
                    self.quote(self.tab().id, &words);
                }
            }
            Command::SelectRewind
            | Command::SelectEdit
            | Command::SelectRetry
            | Command::SelectHide
            | Command::SelectExclude
            | Command::SelectDrop
            | Command::SelectFork
            | Command::SelectCompactTo
            | Command::SelectCompactFrom
            | Command::SelectLabel
            | Command::SelectAlternatives
            | Command::SelectPrevious
            | Command::SelectSubagent
            | Command::SelectNext => {
                if let Some(entry) = self.tab().view.selected().map(str::to_owned) {
                    self.do_to(command, entry);
                }
            }
            _ => return false,
        }
        true
    }

    fn do_to(&mut self, command: Command, entry: String) {
        let is_excluded = self.tab().talk.entry(&entry).is_some_and(|known| known.mark == Mark::Excluded);
        match command {
            Command::SelectRewind => self.rewind_to(&entry),
            Command::SelectEdit => self.edit(entry),
            Command::SelectRetry => {
                let pane = PlanPane::retry(&entry).about(self.words_of(&entry).as_deref());
                self.open(pane);
            }
            Command::SelectHide => self.mark("Hide", MarkVerb::Hide, entry),
            Command::SelectExclude if is_excluded => self.mark("Include", MarkVerb::Include, entry),
            Command::SelectExclude => self.mark("Exclude", MarkVerb::Exclude, entry),
            Command::SelectDrop => self.mark("Drop", MarkVerb::Drop, entry),
            Command::SelectFork => self.fork(Some(entry)),
            Command::SelectCompactTo => self.summarise("", None, Some(entry)),
            Command::SelectCompactFrom => self.summarise("", Some(entry), None),
            Command::SelectAlternatives => self.alternatives(&entry),
            Command::SelectSubagent => self.open_subagent(&entry),
            Command::SelectLabel => {
                let named = self.tab().talk.entry(&entry);
                let text = named.and_then(|known| known.label.clone()).unwrap_or_default();
                self.tab_mut().line = Some(InputLine { what: InputFor::Label(entry), text });
            }
            _ => self.other_alternative(&entry, command == Command::SelectNext),
        }
    }

    /// Opens the subagent that an answer started; the tree if it started several.
    fn open_subagent(&mut self, entry: &str) {
        let known = self.tab().talk.entry(entry);
        let calls = known.into_iter().flat_map(|known| &known.parts);
        let calls = calls.filter_map(|part| match part {
            Part::ToolCall { name, .. } => Some(name),
            _ => None,
        });
        let mut own = (1..).zip(calls).filter(|(_, name)| *name == SUBAGENT).map(|(number, _)| number);
        match (own.next(), own.next()) {
            (None, _) => self.refuse("it has started no subagent"),
            (Some(number), None) => {
                let (id, conversation) = (self.tab().id, format!("{entry}-{number}"));
                self.want(id, PaneInstruction::ShowBeside { conversation, entry: None });
            }
            (Some(_), Some(_)) => self.open(crate::ui::tree::Tree::new()),
        }
    }

    /// The commands with a message as argument.
    pub(super) fn of_messages(&mut self, command: Command, words: &str) -> bool {
        let entry = if words.is_empty() { "@".to_owned() } else { words.to_owned() };
        let (verb, title) = match command {
            Command::Show | Command::Include if words.is_empty() => {
                return self.of_messages(Command::Hidden, "");
            }
            Command::Hide => (MarkVerb::Hide, "Hide"),
            Command::Show => (MarkVerb::Show, "Show"),
            Command::Exclude => (MarkVerb::Exclude, "Exclude"),
            Command::Include => (MarkVerb::Include, "Include"),
            Command::DropTurn => (MarkVerb::Drop, "Drop"),
            _ => return self.of_message(command, words, entry),
        };
        if words.is_empty() {
            let select = self.keys.named(Command::Select);
            self.refuse(format!("name a message, as t3, or select one with {select}"));
        } else if self.here().is_some() {
            self.mark(title, verb, entry);
        }
        true
    }

    /// Opens a pane about a message, or labels it. Returns whether the command does that.
    fn of_message(&mut self, command: Command, words: &str, entry: String) -> bool {
        match command {
            Command::Retry | Command::Hidden if self.here().is_none() => {}
            Command::Retry => self.open(PlanPane::retry(&entry)),
            Command::Hidden => self.open(crate::ui::choose::marked()),
            Command::Edit if !words.is_empty() => self.edit(entry),
            Command::Edit => match self.last_said() {
                Some(last) => self.edit(last),
                None => self.refuse("nothing has been said here yet"),
            },
            Command::Fork => self.fork((!words.is_empty()).then_some(entry)),
            Command::Alternatives => self.alternatives(&entry),
            Command::Title => self.title(words),
            Command::Label => self.label(words),
            _ => return false,
        }
        true
    }

    fn mark(&mut self, title: &str, verb: MarkVerb, entry: String) {
        let action = Action::Mark { verb, entries: vec![entry.clone()], range: false, seen: None };
        // Dropping takes a whole turn, whichever message of it was named.
        let turn = self.tab().talk.entry(&entry).map(|known| known.place.turn);
        let title = match turn.filter(|turn| verb == MarkVerb::Drop && *turn > 0) {
            Some(turn) => format!("{title} t{turn}"),
            None => title.to_owned(),
        };
        self.plan_of(&title, action, &entry);
    }

    /// Rewinds to before a message, selected or named as in `/rewind t3`: the title says which one.
    pub(super) fn rewind_to(&mut self, named: &str) {
        let known = |turn: u64, id: &str| id == named || format!("t{turn}") == named;
        let mut said = self.tab().talk.entries.iter();
        let said = said
            .find(|entry| entry.id == named || entry.place.opens_turn && known(entry.place.turn, &entry.id));
        let (title, quoted) =
            match said.map(|entry| (entry.place.opens_turn, entry.place.turn, entry.id.clone())) {
                Some((true, turn, id)) => (format!("Rewind t{turn}"), id),
                Some((false, _, id)) => ("Rewind".to_owned(), id),
                None => (format!("Rewind {}", crate::text::safe::line(named)), named.to_owned()),
            };
        self.plan_of(&title, Action::Rewind { entry: named.to_owned() }, &quoted);
    }

    fn plan_of(&mut self, title: &str, action: Action, entry: &str) {
        let pane = PlanPane::new(title, action).about(self.words_of(entry).as_deref());
        self.open(pane);
    }

    /// The text of a loaded message.
    fn words_of(&self, entry: &str) -> Option<String> {
        let tab = self.tab();
        Some(tab.view.text_of(entry, &tab.talk)).filter(|text| !text.is_empty())
    }

    /// Edits a message: the plan first, then its text comes into the composer.
    fn edit(&mut self, entry: String) {
        let named = self.tab().talk.entry(&entry);
        if named.is_some_and(|named| named.role != Role::User || named.flags.synthetic) {
            let retry = self.keys.named(Command::SelectRetry);
            return self
                .refuse(format!("only messages of a person can be edited: {retry} asks for another answer"));
        }
        if self.here().is_some() {
            let pane = PlanPane::edit(&entry).about(self.words_of(&entry).as_deref());
            self.open(pane);
        }
    }

    /// The last message of a person.
    fn last_said(&self) -> Option<String> {
        let said = self.tab().talk.entries.iter().rev().find(|entry| entry.place.opens_turn);
        said.map(|entry| entry.id.clone())
    }

    /// What a new conversation would begin with, before it is created.
    pub(super) fn fork(&mut self, entry: Option<String>) {
        if self.here().is_some() {
            self.open(ForkPane::new(entry));
        }
    }

    fn title(&mut self, words: &str) {
        let Some(conversation) = &self.tab().talk.conversation else {
            return self.refuse("nothing has been said here yet");
        };
        if words.is_empty() {
            let text = conversation.title.clone().unwrap_or_default();
            self.tab_mut().line = Some(InputLine { what: InputFor::Title, text });
        } else {
            self.set_title(words);
        }
    }

    fn set_title(&mut self, title: &str) {
        let title = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        self.apply(Action::Title { title });
    }

    fn label(&mut self, words: &str) {
        let (entry, name) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        if entry.is_empty() {
            return self.refuse("name a message and what it is called: /label t3 NAME");
        }
        self.set_label(entry, name);
    }

    fn set_label(&mut self, entry: &str, name: &str) {
        let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.apply(Action::Label { entry: entry.to_owned(), name });
    }

    /// Does an action at once that takes nothing back.
    fn apply(&mut self, action: Action) {
        let Some(conversation) = self.here() else { return };
        let apply = retake_wire::request::Apply {
            conversation,
            action: action.clone(),
            head: None,
            since: false,
            files: Default::default(),
            request_id: None,
        };
        let id = self.tab().id;
        self.ask(Requester::Tab(id, RequestPurpose::Applied(Box::new(action))), Request::Apply(apply));
    }

    fn other_alternative(&mut self, id: &str, next: bool) {
        let entries = &self.tab().talk.entries;
        let selected = self.tab().talk.entry(id);
        // A turn can name its answer: its prompt does, and so does each later step.
        let of_turn = |turn| entries.iter().find(|it| it.place.turn == turn && it.alternative.is_some());
        let answer = selected.filter(|it| it.alternative.is_some()).or_else(|| of_turn(selected?.place.turn));
        let Some((number, all)) = answer.and_then(|entry| entry.alternative) else {
            return self.refuse("there is no other answer here: r asks for one");
        };
        let number = if next { number + 1 } else { number - 1 };
        if number < 1 || number > all {
            return self.refuse(if next {
                "this is the last alternative"
            } else {
                "this is the first alternative"
            });
        }
        self.plan("Choose", Action::Choose { entry: id.to_owned(), number });
    }

    fn copy_selected(&mut self) {
        let tab = self.tab();
        let text = tab.view.selected().map(|entry| tab.view.text_of(entry, &tab.talk));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.requests.acts.push(Act::Copy(text));
            self.say("sent to the terminal's clipboard");
        }
    }

    /// Quotes a text after the text in a tab's composer; sends nothing.
    pub(super) fn quote(&mut self, id: TabId, words: &str) {
        let Some(tab) = self.find_tab(id) else { return };
        tab.panes.come_back();
        tab.select(false);
        tab.composer.quote(words);
        self.say("quoted: add your words, and send them");
    }

    /// A key in the input line.
    pub(super) fn key_in_line(&mut self, key: crate::ui::keymap::Key, event: crossterm::event::KeyEvent) {
        use crate::ui::keymap::Context;
        if let Some(command) = self.keys.find(Context::Find, key)
            && (command.row().context == Context::Find || command.is_of_app())
        {
            return self.command(command, "");
        }
        let Some(line) = &mut self.tab_mut().line else { return };
        if event.code == crossterm::event::KeyCode::Backspace {
            line.text.pop();
        } else if let Some(letter) = super::keys::typed(event) {
            line.text.push(letter);
        }
        self.line_typed();
    }

    pub(super) fn line_typed(&mut self) {
        let tab = self.tab_mut();
        if let Some(InputLine { what: InputFor::Find, text }) = &tab.line {
            tab.view.find(text, &tab.talk);
        }
    }

    /// Enter in the input line.
    pub(super) fn line_done(&mut self) {
        let Some(InputLine { what, text }) = self.tab_mut().line.take() else { return };
        match what {
            InputFor::Find => {}
            InputFor::Title => self.set_title(&text),
            InputFor::Label(entry) => self.set_label(&entry, &text),
        }
    }

    /// Requests earlier entries when the view comes near the first loaded one.
    pub(super) fn want_earlier(&mut self) {
        /// The page size, and the one for a search.
        const PAGES: [usize; 2] = [200, 1_000];
        let tab = self.tab_mut();
        if tab.loading.is_loading || !tab.view.needs_earlier() {
            return;
        }
        let (Some(conversation), Some(first)) = (tab.conversation(), tab.talk.entries.first()) else {
            return;
        };
        tab.loading.is_loading = true;
        let finds = tab.view.is_finding();
        let before = Some(first.id.clone());
        let log = Log {
            conversation,
            at: None,
            branch: None,
            projection: Projection::Timeline,
            limit: Some(PAGES[usize::from(finds)]),
            before,
            after: None,
        };
        let id = self.tab().id;
        self.ask(Requester::Tab(id, RequestPurpose::Earlier), Request::Log(log));
    }
}
