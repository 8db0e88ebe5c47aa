//! The popups above the composer: completions, and the search of earlier prompts. Must never pick anything by itself.

use std::sync::Arc;

use super::list::{Item, List, Value};
use super::{Composer, complete};
use crate::text::{safe, width};

/// The most found prompts shown.
const FOUND: usize = 200;

/// How much of a prompt is searched, in bytes.
const SEARCHED: usize = 1_000;

/// The open popup.
#[derive(Debug)]
pub(super) enum Popup {
    /// Commands.
    Commands(List),
    /// Paths for a query.
    Paths {
        /// The position of the `@`.
        start: usize,
        /// The paths.
        list: List,
    },
    /// Earlier prompts.
    Search {
        /// The search text.
        query: String,
        /// The hits.
        list: List,
    },
}

impl Popup {
    /// The list in it.
    pub(super) fn list(&mut self) -> &mut List {
        match self {
            Self::Commands(list) | Self::Paths { list, .. } | Self::Search { list, .. } => list,
        }
    }

    /// Moves the selection.
    pub(super) fn step(&mut self, rows: isize) {
        self.list().step(rows);
    }
}

impl Composer {
    /// Whether a popup is open, so that it gets keys first.
    pub(crate) fn is_popup_open(&self) -> bool {
        self.popup.is_some()
    }

    /// Closes the popup. Returns whether there was one.
    pub(crate) fn escape(&mut self) -> bool {
        match self.popup.take() {
            None => return false,
            Some(Popup::Commands(_)) => self.dismissed = Some(0),
            Some(Popup::Paths { start, .. }) => self.dismissed = Some(start),
            Some(Popup::Search { .. }) => {}
        }
        true
    }

    /// The text after an `@` to request paths for, each query once.
    pub(crate) fn wants_paths(&mut self) -> Option<String> {
        let mention = complete::mention_at(self.buffer.text(), self.buffer.cursor());
        let Some(mention) = mention.filter(|mention| self.dismissed != Some(mention.start)) else {
            self.asked = None;
            return None;
        };
        if self.asked.as_ref() == Some(&mention.query) {
            return None;
        }
        self.asked = Some(mention.query.clone());
        Some(mention.query)
    }

    /// Paths that match a query, and whether each is a folder. Ignored if the query has changed.
    pub(crate) fn paths(&mut self, query: &str, found: Vec<(String, bool)>) {
        let mention = complete::mention_at(self.buffer.text(), self.buffer.cursor());
        let Some(mention) = mention.filter(|mention| mention.query == query) else { return };
        if self.dismissed == Some(mention.start) || matches!(self.popup, Some(Popup::Search { .. })) {
            return;
        }
        let items: Vec<Item> =
            found.into_iter().map(|(path, is_folder)| path_item(path, is_folder)).collect();
        self.popup =
            (!items.is_empty()).then(|| Popup::Paths { start: mention.start, list: List::new(items) });
    }

    /// Tab: picks the selected row, or opens a popup.
    pub(super) fn complete(&mut self) -> bool {
        if self.popup.is_some() {
            return self.accept(false);
        }
        self.dismissed = None;
        self.asked = None;
        self.refresh();
        self.popup.is_some() || complete::mention_at(self.buffer.text(), self.buffer.cursor()).is_some()
    }

    /// Picks the selected row. Returns whether that is all that the key does: a complete command may also be sent at once.
    pub(super) fn accept(&mut self, is_enter: bool) -> bool {
        let selected = self.popup.as_mut().and_then(|popup| popup.list().selected().cloned());
        let Some(Item { value, .. }) = selected else {
            // A search without hits picks nothing.
            return self.escape();
        };
        match value {
            Value::Command(name) => self.accept_command(name, is_enter),
            Value::File(name) => self.accept_file(&name, is_enter),
            Value::Path { path, is_folder } => {
                self.accept_path(&path, is_folder);
                true
            }
            Value::Prompt(text) => {
                self.popup = None;
                let now = self.text();
                let aside = self.prompts.show(&text, &now);
                self.show_prompt(&text, aside);
                true
            }
        }
    }

    fn accept_command(&mut self, name: &'static str, is_enter: bool) -> bool {
        let typed = complete::command_at(self.buffer.text(), self.buffer.cursor()).unwrap_or_default();
        let is_begun = !typed.is_empty() && name.starts_with(typed);
        let takes = crate::ui::Command::typed(name).and_then(|command| command.row().takes);
        let needs_more = takes.is_some_and(|takes| !takes.is_empty() && !takes.starts_with('['));
        let is_sent = is_enter && is_begun && !needs_more;
        let text = if is_sent || takes == Some("") { format!("/{name}") } else { format!("/{name} ") };
        self.buffer.replace_all(&text);
        self.edited();
        self.dismissed = Some(0);
        self.popup = None;
        !is_sent
    }

    /// A file's command may have arguments, so that Enter sends it only if its whole name was typed.
    fn accept_file(&mut self, name: &str, is_enter: bool) -> bool {
        let typed = complete::command_at(self.buffer.text(), self.buffer.cursor()).unwrap_or_default();
        let is_sent = is_enter && typed == name;
        self.buffer.replace_all(&if is_sent { format!("/{name}") } else { format!("/{name} ") });
        self.edited();
        self.dismissed = Some(0);
        self.popup = None;
        !is_sent
    }

    fn accept_path(&mut self, path: &str, is_folder: bool) {
        let cursor = self.buffer.cursor();
        let Some(mention) = complete::mention_at(self.buffer.text(), cursor) else { return };
        let mut text = self.folds.fold(&complete::mention(path, is_folder));
        if text.ends_with(' ') && self.buffer.text()[cursor..].starts_with(' ') {
            text.pop();
        }
        self.popup = None;
        self.buffer.replace(mention.start..cursor, &text);
        self.edited();
    }

    /// Opens the search of earlier prompts; if it is open, moves to the next hit.
    pub(super) fn open_search(&mut self) {
        if let Some(Popup::Search { list, .. }) = &mut self.popup {
            return list.step(1);
        }
        self.popup = Some(Popup::Search { query: String::new(), list: List::default() });
        self.search();
    }

    /// Searches again.
    pub(super) fn search(&mut self) {
        let Some(Popup::Search { query, list }) = &mut self.popup else { return };
        let prompts = self.prompts.list();
        let texts: Vec<&str> = prompts.iter().map(|text| beginning(text)).collect();
        let found = complete::rank(query, &texts).into_iter().take(FOUND);
        list.renew(found.map(|at| prompt_item(&prompts[at])).collect());
    }

    /// Updates the popup for the typed text.
    pub(super) fn refresh(&mut self) {
        let (text, cursor) = (self.buffer.text(), self.buffer.cursor());
        let command = complete::command_at(text, cursor);
        let mention = complete::mention_at(text, cursor);
        let begins = if command.is_some() { Some(0) } else { mention.as_ref().map(|mention| mention.start) };
        if self.dismissed != begins {
            self.dismissed = None;
        }
        if let Some(Popup::Search { .. }) = self.popup {
            return;
        }
        let is_dismissed = self.dismissed.is_some();
        match (command.filter(|_| !is_dismissed), &mut self.popup, mention) {
            (Some(typed), popup, _) => {
                let items = [complete::commands(typed), self.commands.items(typed)].concat();
                match popup {
                    _ if items.is_empty() => *popup = None,
                    Some(Popup::Commands(list)) if !typed.is_empty() => *list = List::new(items),
                    Some(Popup::Commands(list)) => list.renew(items),
                    _ => *popup = Some(Popup::Commands(List::new(items))),
                }
            }
            // Its paths are on their way.
            (None, Some(Popup::Paths { start, .. }), Some(mention)) if mention.start == *start => {}
            (None, popup, _) => *popup = None,
        }
    }
}

fn path_item(path: String, is_folder: bool) -> Item {
    let name = if is_folder && !path.ends_with('/') { format!("{path}/") } else { path.clone() };
    Item { name, help: String::new(), value: Value::Path { path, is_folder } }
}

fn prompt_item(text: &Arc<str>) -> Item {
    let name = width::truncate(&safe::line(beginning(text).trim()), 400).into_owned();
    Item { name, help: String::new(), value: Value::Prompt(Arc::clone(text)) }
}

/// The beginning of a prompt: no more of it is searched or shown.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEARCHED)]
}
