//! The conversations: open one in this tab or a new one, rename it, archive it, and search all messages. Must never open one that
//! is not selected. Must never show hits for other words than the typed ones.

mod item;
mod search;
#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::{Conversation, Conversations};
use retake_wire::request::{List as Listing, SetArchived};
use retake_wire::{Action, Event, Hits, NumberedEvent, Problem, Reply, Request, Search, english};

use super::keymap::{Command, Context};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::{NameInput, PaneFrame, told};
use super::preview::{Preview, last_of};
use super::rows::{InputEffect, Order, Rows};
use crate::hint::Audience;
use crate::render::words;
use item::Item;
use search::{SearchState, begins_with};

/// Conversations per request.
const PAGE: usize = 200;
/// The most hits shown.
const HITS: usize = 30;
/// The most messages of a conversation in its preview.
const LAST: usize = 6;

/// The list of conversations.
#[derive(Debug)]
pub(crate) struct List {
    folder: String,
    /// The initial search text.
    words: String,
    rows: Rows<Item>,
    /// Whether there are older conversations than the loaded ones.
    more: bool,
    /// Whether some belong to another folder.
    folders: bool,
    page: Page,
    search: SearchState,
    naming: Option<NameInput>,
    /// The requested change.
    doing: Option<(Ticket, ListChange)>,
    archive: Archive,
    /// The program begins with this list: there is nothing to return to.
    is_first: bool,
    preview: Preview,
}

/// The archived conversations.
#[derive(Debug, Default)]
struct Archive {
    /// They are shown instead of the others.
    is_shown: bool,
    /// Whether there are any, once that matters.
    exists: Option<bool>,
    asked: Option<Ticket>,
}

/// A requested change of a conversation.
#[derive(Debug)]
enum ListChange {
    /// Another title.
    Rename,
    /// Into the archive or out of it: this one leaves the shown list.
    Move(String),
}

/// The state of loading.
#[derive(Debug)]
enum Page {
    /// A page is on its way.
    Loading(Ticket),
    /// The requested page is there.
    There,
    /// It failed.
    Wrong(Box<Problem>),
}

impl List {
    /// The list, as seen from a folder, with an initial search text.
    pub(crate) fn new(folder: &str, words: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            words: words.trim().to_owned(),
            rows: Rows::new(Order::Best),
            more: false,
            folders: false,
            page: Page::There,
            search: SearchState::default(),
            naming: None,
            doing: None,
            archive: Archive::default(),
            is_first: false,
            preview: Preview::default(),
        }
    }

    /// The same, as the start of the UI.
    pub(crate) fn first(folder: &str) -> Self {
        Self { is_first: true, ..Self::new(folder, "") }
    }

    fn load(&mut self, before: Option<String>, cx: &mut Cx<'_>) {
        let list = Listing { limit: Some(PAGE), before, archived: self.archive.is_shown, folder: None };
        self.page = Page::Loading(cx.ask(Request::List(list)));
    }

    /// Loads the next page if a person may want to see it: at the end of the list, or while a filter is typed.
    fn load_more(&mut self, cx: &mut Cx<'_>) {
        if !self.more || !self.rows.at_end() || !matches!(self.page, Page::There) {
            return;
        }
        let last = self.rows.items().rfind(|item| matches!(item, Item::Talk(..)));
        if let Some(before) = last.and_then(Item::conversation).map(str::to_owned) {
            self.load(Some(before), cx);
        }
    }

    /// Replaces all known conversations.
    fn replace(&mut self, page: Conversations) {
        let mut others: Vec<Item> =
            self.rows.items().filter(|item| !matches!(item, Item::Talk(..))).cloned().collect();
        let mut items: Vec<Item> =
            page.conversations.into_iter().map(|it| Item::talk(it, &self.folder)).collect();
        items.append(&mut others);
        self.folders = items.iter().any(Item::is_elsewhere);
        self.rows.set(items);
        self.more = page.more;
    }

    /// Adds conversations older than all known ones.
    fn older(&mut self, page: Conversations) {
        let folder = &self.folder;
        let known: std::collections::HashSet<String> =
            self.rows.items().filter_map(|item| item.conversation().map(str::to_owned)).collect();
        let new = page.conversations.into_iter().filter(|it| !known.contains(&it.id));
        let new: Vec<_> = new.map(|it| Item::talk(it, folder)).collect();
        self.folders |= new.iter().any(Item::is_elsewhere);
        self.rows.insert(new, |item| !matches!(item, Item::Talk(..)));
        self.more = page.more;
    }

    /// A conversation is new or has changed.
    fn put(&mut self, conversation: Conversation) {
        if conversation.archived != self.archive.is_shown {
            return self.leave(&conversation.id);
        }
        let changed_ms = conversation.changed_ms;
        let item = Item::talk(conversation, &self.folder);
        self.folders |= item.is_elsewhere();
        self.rows.put(item, |other| match other {
            Item::Talk(other, _) => other.changed_ms <= changed_ms,
            Item::Heading(_) | Item::Hit(_) => true,
        });
    }

    /// A conversation leaves the shown list.
    fn leave(&mut self, id: &str) {
        self.rows.retain(|item| !matches!(item, Item::Talk(it, _) if it.id == id));
    }

    /// If the list is empty, finds out whether all conversations are archived.
    fn seek_put_away(&mut self, cx: &mut Cx<'_>) {
        let is_empty = matches!(self.page, Page::There) && !self.archive.is_shown && self.rows.is_empty();
        if is_empty && self.archive.exists.is_none() && self.archive.asked.is_none() {
            let list = Listing { limit: Some(1), archived: true, ..Listing::default() };
            self.archive.asked = Some(cx.ask(Request::List(list)));
        }
    }

    /// The selection, the visible rows or the typed text may have changed.
    fn moved(&mut self, cx: &mut Cx<'_>) {
        self.seek_put_away(cx);
        self.load_more(cx);
        self.search(cx);
        self.look(cx);
    }

    /// Searches for the typed text after a pause; one search at a time.
    fn search(&mut self, cx: &mut Cx<'_>) {
        let words = self.rows.filter().trim();
        if words == self.search.words
            && self.search.on_its_way.is_none()
            && std::mem::take(&mut self.search.promises)
        {
            return self.found(None);
        }
        if words != self.search.words
            && words.chars().count() > 1
            && self.rows.fitting() == 0
            && !self.search.promises
        {
            // “No hits” is certain only after the whole search.
            self.search.promises = true;
            self.rows.extend([Item::Heading("── searching all messages…".to_owned())]);
        }
        let words = self.rows.filter().trim();
        if !self.search.is_due(words, cx.now_ms) {
            return;
        }
        self.search.words = words.to_owned();
        if words.chars().count() < 2 {
            return self.found(None);
        }
        let query = begins_with(words);
        let search = Search { query, limit: Some(HITS), ..Search::default() };
        self.search.on_its_way = Some(cx.ask(Request::Search(search)));
    }

    /// Shows the hits below the conversations.
    fn found(&mut self, hits: Option<Hits>) {
        self.search.promises = false;
        self.rows.retain(|item| matches!(item, Item::Talk(..)));
        let Some(hits) = hits.filter(|hits| !hits.hits.is_empty()) else { return };
        let more = if hits.more { ", and more" } else { "" };
        let heading = format!("── found in messages: {}{more}", hits.hits.len());
        let hits = hits.hits.into_iter().map(|hit| Item::Hit(Box::new(hit)));
        self.rows.extend(std::iter::once(Item::Heading(heading)).chain(hits));
    }

    /// Shows the selected conversation beside the list.
    fn look(&mut self, cx: &mut Cx<'_>) {
        match self.rows.selected() {
            None | Some(Item::Heading(_)) => self.preview.say(""),
            Some(Item::Hit(hit)) => self.preview.tell(&hit.line.id, || {
                Reply::Hits(Hits { hits: vec![(**hit).clone()], more: false, understood: None })
            }),
            Some(Item::Talk(it, _)) => {
                self.preview.look(&it.id, it.revision, || Request::Log(last_of(&it.id, LAST)), cx);
            }
        }
    }

    fn accept(&mut self, beside: bool, cx: &mut Cx<'_>) {
        let Some(item) = self.rows.selected() else { return };
        let Some(conversation) = item.conversation().map(str::to_owned) else { return };
        let entry = match item {
            Item::Hit(hit) => Some(hit.line.id.clone()),
            Item::Talk(..) | Item::Heading(_) => None,
        };
        self.is_first = false;
        cx.want(match beside {
            true => PaneInstruction::ShowBeside { conversation, entry },
            false => PaneInstruction::Show { conversation, entry },
        });
    }

    fn rename(&mut self) {
        if let Some(Item::Talk(it, _)) = self.rows.selected() {
            self.naming = Some(NameInput { what: it.id.clone(), text: words::named(it) });
        }
    }

    /// A command while a name is typed.
    fn name(&mut self, command: Command, cx: &mut Cx<'_>) {
        if let Some((conversation, title)) = NameInput::command(&mut self.naming, command) {
            let ticket = cx.apply(conversation, Action::Title { title });
            self.doing = Some((ticket, ListChange::Rename));
        }
    }

    /// Archives the selected conversation, or unarchives it.
    fn archive(&mut self, cx: &mut Cx<'_>) {
        let Some(Item::Talk(it, _)) = self.rows.selected() else {
            return cx.want(PaneInstruction::Say("select a conversation, not a message".to_owned()));
        };
        let set = SetArchived { conversation: it.id.clone(), archived: !self.archive.is_shown };
        let moves = ListChange::Move(it.id.clone());
        self.doing = Some((cx.ask(Request::SetArchived(set)), moves));
    }

    /// Switches between archived conversations and the others.
    fn turn(&mut self, cx: &mut Cx<'_>) {
        self.archive.is_shown = !self.archive.is_shown;
        self.rows.retain(|item| !matches!(item, Item::Talk(..)));
        self.more = false;
        self.load(None, cx);
    }

    fn done(&mut self, doing: ListChange, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        match (reply, doing) {
            (Err(problem), _) => cx.want(PaneInstruction::Complain(Box::new(problem))),
            (Ok(_), ListChange::Rename) => cx.want(PaneInstruction::Say("named".to_owned())),
            (Ok(_), ListChange::Move(id)) => {
                self.leave(&id);
                self.archive.exists = if self.archive.is_shown { None } else { Some(true) };
                let did =
                    if self.archive.is_shown { "brought back" } else { "archived: nothing of it is lost" };
                cx.want(PaneInstruction::Say(did.to_owned()));
            }
        }
    }

    fn draw_list(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let wrong = match &self.page {
            Page::Wrong(problem) => Some(&**problem),
            Page::Loading(_) | Page::There => None,
        };
        let nothing = match self.archive.is_shown {
            false if self.archive.exists == Some(true) => {
                let archived = brush.keys.named(Command::Archived);
                format!(
                    "all conversations are archived: {archived} shows them, and what you say begins another one"
                )
            }
            false => "there is no conversation yet: go back, and what you say begins one".to_owned(),
            true => {
                let others = brush.keys.named(Command::Archived);
                format!("nothing is archived: {others} shows the others again")
            }
        };
        let empty = told(wrong, matches!(self.page, Page::Loading(_)), &nothing);
        let current = brush.conversation.map(|it| it.id.as_str());
        let seen = item::ListContext { current, folders: self.folders };
        self.rows.draw(frame, area, brush, &empty, |item, ink| {
            item::draw(item, ink, brush.now_ms, seen, brush.theme);
        });
    }

    fn about(&self) -> String {
        let known = self.rows.len();
        match (&self.page, known) {
            (_, 0) => String::new(),
            (Page::Wrong(_), _) => format!("{known}; older ones could not be loaded"),
            _ if self.more => format!("{known} and more, newest first"),
            _ => format!("{known}, newest first"),
        }
    }
}

impl Pane for List {
    fn context(&self) -> Context {
        Context::List
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        let words = std::mem::take(&mut self.words);
        self.rows.typed(&words);
        self.load(None, cx);
        self.search(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        if self.naming.is_some() {
            return self.name(command, cx);
        }
        match command {
            Command::Close => {
                cx.want(if self.leaves() { PaneInstruction::Leave } else { PaneInstruction::Close });
            }
            Command::Accept => self.accept(false, cx),
            Command::Beside => self.accept(true, cx),
            Command::Rename => self.rename(),
            Command::Archive => self.archive(cx),
            Command::Archived => self.turn(cx),
            Command::Other | Command::DetailUp | Command::DetailDown => self.preview.command(command),
            _ => {
                if self.rows.command(command) == InputEffect::Filtered {
                    self.search.typed_ms = cx.now_ms;
                }
                self.moved(cx);
            }
        }
    }

    fn leaves(&self) -> bool {
        // With nothing to pick, the person can only begin.
        self.is_first && !(self.rows.is_empty() && matches!(self.page, Page::There))
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        if let Some(naming) = &mut self.naming {
            return naming.typed(text);
        }
        if self.rows.typed(text) == InputEffect::Filtered {
            self.search.typed_ms = cx.now_ms;
            self.moved(cx);
        }
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        let Some(reply) = self.preview.replied(ticket, reply) else { return self.look(cx) };
        if self.search.on_its_way == Some(ticket) {
            self.search.on_its_way = None;
            match reply {
                Ok(Reply::Hits(hits)) if self.search.words == self.rows.filter().trim() => {
                    self.found(Some(hits));
                }
                Err(problem) => {
                    self.found(None);
                    let hint = problem.hint.as_ref().filter(|_| problem.code == "empty_query");
                    let why = english::problem(&problem);
                    let failed = match hint.map(|hint| Audience::Screen.words(hint)) {
                        Some(hint) => format!("── {why}: {hint}"),
                        None => format!("── the search failed: {why}"),
                    };
                    self.rows.extend([Item::Heading(failed)]);
                }
                Ok(_) => self.found(None),
            }
        } else if let Some((_, doing)) = self.doing.take_if(|(asked, _)| *asked == ticket) {
            self.done(doing, reply, cx);
        } else if self.archive.asked.take_if(|asked| *asked == ticket).is_some() {
            let Ok(Reply::Conversations(page)) = reply else { return };
            self.archive.exists = Some(!page.conversations.is_empty());
            return;
        } else if matches!(self.page, Page::Loading(asked) if asked == ticket) {
            match reply {
                Ok(Reply::Conversations(page)) => {
                    self.page = Page::There;
                    if self.rows.is_empty() { self.replace(page) } else { self.older(page) }
                }
                Ok(_) => self.page = Page::There,
                Err(problem) => self.page = Page::Wrong(Box::new(problem)),
            }
        }
        self.moved(cx);
    }

    fn changed(&mut self, _cx: &mut Cx<'_>) {}

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.search(cx);
    }

    fn listed(&mut self, told: &NumberedEvent, cx: &mut Cx<'_>) {
        match &told.event {
            // The event is about conversations that are not archived.
            Event::List(_) if self.archive.is_shown => return,
            Event::List(page) => {
                self.page = Page::There;
                self.replace(page.clone());
            }
            Event::Listed(conversation) => self.put((**conversation).clone()),
            _ => return,
        }
        self.moved(cx);
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        match self.rows.clicked(at) {
            InputEffect::Taken => self.accept(false, cx),
            InputEffect::Moved => self.moved(cx),
            InputEffect::Nothing | InputEffect::Filtered => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [
            (Command::Accept, "open"),
            (Command::Beside, "in a new tab"),
            (Command::Rename, "name"),
            (Command::Archive, if self.archive.is_shown { "bring back" } else { "archive" }),
            (Command::Archived, if self.archive.is_shown { "the others" } else { "archived" }),
            (Command::Other, "preview"),
        ];
        let about = self.about();
        let title = if self.archive.is_shown { "Archived conversations" } else { "Conversations" };
        let around = PaneFrame { title, about: &about, keys: &keys };
        let body = around.closing(frame, area, brush, if self.leaves() { "quit" } else { "back" });
        if let Some(list) = self.preview.beside(frame, body, brush) {
            self.draw_list(frame, list, brush);
        }
        if let Some(naming) = &self.naming {
            naming.draw(frame, area, brush, "title");
        }
    }
}
