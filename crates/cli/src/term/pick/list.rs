//! The content of a picker, and the effect of a key on it. Pure: must never draw or read.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Row, is_ctrl};

/// Rows under a filter, one of them marked, some of them visible.
#[derive(Debug)]
pub(super) struct List {
    /// The texts that the filter searches, in lower case.
    haystacks: Vec<String>,
    disabled: Vec<bool>,
    /// The keys that pick the rows; empty if letters filter.
    keys: Vec<char>,
    /// The filter; `None` while letters are still keys.
    filter: Option<String>,
    /// The rows that match the filter, in order.
    found: Vec<usize>,
    /// Positions in `found`.
    marked: usize,
    top: usize,
    height: usize,
    /// The last Enter was on this row, which is disabled.
    refusal: Option<usize>,
}

/// The result of a picker: a row, or `None` if cancelled.
type Outcome = Option<usize>;

impl List {
    pub(super) fn new(rows: &[Row]) -> Self {
        let haystack = |row: &Row| format!("{} {}", row.title, row.detail).to_lowercase();
        let mut list = Self {
            haystacks: rows.iter().map(haystack).collect(),
            disabled: rows.iter().map(|row| row.disabled.is_some()).collect(),
            keys: rows.iter().filter_map(|row| row.key).collect(),
            filter: None,
            found: Vec::new(),
            marked: 0,
            top: 0,
            height: 1,
            refusal: None,
        };
        list.search();
        if list.is_question() {
            // Even if it can't be picked: Enter never means another answer than the first one.
            list.mark(0);
        }
        list
    }

    /// Whether the rows are answers with keys of their own.
    pub(super) fn is_question(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether this key may answer a question.
    pub(super) fn is_answer(&self, key: Option<KeyEvent>) -> bool {
        let answers = |key: KeyEvent| {
            key.code == KeyCode::Enter || matches!(key.code, KeyCode::Char(_)) && is_typed(key)
        };
        self.is_question() && key.is_some_and(answers)
    }

    /// Handles a key; `Some` ends the picker.
    pub(super) fn handle(&mut self, key: Option<KeyEvent>) -> Option<Outcome> {
        let key = key?;
        self.refusal = None;
        let last = self.found.len().saturating_sub(1);
        match key.code {
            KeyCode::Esc => return Some(None),
            KeyCode::Char('c' | 'd') if key.modifiers == KeyModifiers::CONTROL => {
                return Some(None);
            }
            KeyCode::Enter => return self.pick(),
            KeyCode::Up => self.mark(self.marked.saturating_sub(1)),
            KeyCode::Down => self.mark(self.marked + 1),
            KeyCode::PageUp => self.mark(self.marked.saturating_sub(self.height)),
            KeyCode::PageDown => self.mark(self.marked + self.height),
            KeyCode::Home => self.mark(0),
            KeyCode::End => self.mark(last),
            _ if is_ctrl(key, 'p') => self.mark(self.marked.saturating_sub(1)),
            _ if is_ctrl(key, 'n') => self.mark(self.marked + 1),
            KeyCode::Backspace => self.shorten(),
            KeyCode::Char(c) if is_typed(key) => return self.typed(c),
            _ => {}
        }
        None
    }

    /// A character: a key of the list while there is no filter, else a part of the filter.
    fn typed(&mut self, c: char) -> Option<Outcome> {
        if self.is_question() {
            return self.answered(c);
        }
        match (&mut self.filter, c) {
            (None, 'j') => self.mark(self.marked + 1),
            (None, 'k') => self.mark(self.marked.saturating_sub(1)),
            (None, 'q') => return Some(None),
            (None, '/') => self.filter = Some(String::new()),
            (filter, c) => {
                filter.get_or_insert_default().push(c);
                self.search();
            }
        }
        None
    }

    /// A character as an answer to a question.
    fn answered(&mut self, c: char) -> Option<Outcome> {
        let c = c.to_ascii_lowercase();
        match self.keys.iter().position(|key| *key == c) {
            Some(row) => {
                self.mark(row);
                self.pick()
            }
            None => matches!(c, 'n' | 'q').then_some(None),
        }
    }

    fn shorten(&mut self) {
        if let Some(filter) = &mut self.filter {
            filter.pop();
            if filter.is_empty() {
                self.filter = None;
            }
            self.search();
        }
    }

    fn pick(&mut self) -> Option<Outcome> {
        let row = self.marked()?;
        if self.disabled[row] {
            self.refusal = Some(row);
            return None;
        }
        Some(Some(row))
    }

    /// Applies the filter and marks the first row that can be picked.
    fn search(&mut self) {
        let needle = self.filter.as_deref().unwrap_or_default().to_lowercase();
        self.found = (0..self.haystacks.len()).filter(|&row| self.haystacks[row].contains(&needle)).collect();
        self.top = 0;
        self.mark(self.found.iter().position(|&row| !self.disabled[row]).unwrap_or(0));
    }

    fn mark(&mut self, position: usize) {
        self.marked = position.min(self.found.len().saturating_sub(1));
        self.scroll();
    }

    fn scroll(&mut self) {
        let lowest = (self.marked + 1).saturating_sub(self.height);
        let highest = self.found.len().saturating_sub(self.height);
        self.top = self.top.clamp(lowest, self.marked).min(highest.max(lowest));
    }

    /// Sets the number of visible rows.
    pub(super) fn set_height(&mut self, height: usize) {
        self.height = height.max(1);
        self.scroll();
    }

    /// The visible rows, and whether each is marked.
    pub(super) fn visible(&self) -> Vec<(usize, bool)> {
        let visible: Range<usize> = self.top..self.found.len().min(self.top + self.height);
        visible.map(|position| (self.found[position], position == self.marked)).collect()
    }

    pub(super) fn marked(&self) -> Option<usize> {
        self.found.get(self.marked).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// The disabled row that Enter was pressed on.
    pub(super) fn refusal(&self) -> Option<usize> {
        self.refusal
    }

    /// The number of the marked row, from 1, and the number of rows.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.found.len().min(self.marked + 1), self.found.len())
    }
}

/// Text, not a shortcut; with Ctrl and Alt together some keyboards type text.
fn is_typed(key: KeyEvent) -> bool {
    let chord = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
    chord.is_empty() || chord == KeyModifiers::CONTROL | KeyModifiers::ALT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rows: &[(&str, bool)], height: usize) -> List {
        let row = |(title, enabled): &(&str, bool)| Row {
            title: (*title).to_owned(),
            detail: String::new(),
            disabled: (!enabled).then(|| "it is".to_owned()),
            key: None,
        };
        let mut list = List::new(&rows.iter().map(row).collect::<Vec<_>>());
        list.set_height(height);
        list
    }

    /// Presses keys: characters, and `⏎`, `⎋`, `⌫`, `↑`, `↓`, `⇟`, `⇞`, `⇱`, `⇲` for the others.
    fn press(list: &mut List, keys: &str) -> Option<Outcome> {
        let code = |c| match c {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '⌫' => KeyCode::Backspace,
            '↑' => KeyCode::Up,
            '↓' => KeyCode::Down,
            '⇟' => KeyCode::PageDown,
            '⇞' => KeyCode::PageUp,
            '⇱' => KeyCode::Home,
            '⇲' => KeyCode::End,
            c => KeyCode::Char(c),
        };
        keys.chars().find_map(|c| list.handle(Some(KeyEvent::new(code(c), KeyModifiers::NONE))))
    }

    #[test]
    fn keys_lead_to_rows() {
        let rows = [
            ("gone", false),
            ("Alpha", true),
            ("beta", true),
            ("jackal", true),
            ("Quokka", true),
            ("last", true),
        ];
        for (keys, outcome) in [
            ("⏎", Some(Some(1))),
            ("j⏎", Some(Some(2))),
            ("↓↓k⏎", Some(Some(2))),
            ("⇲⏎", Some(Some(5))),
            ("⇲↓↓⏎", Some(Some(5))),
            ("⇟⏎", Some(Some(3))),
            ("⇲⇞⏎", Some(Some(3))),
            ("⇱⏎", None),
            ("⇱⏎↓⏎", Some(Some(1))),
            ("BETA⏎", Some(Some(2))),
            ("/quok⏎", Some(Some(4))),
            ("/j⏎", Some(Some(3))),
            ("last⌫⌫⌫⌫⏎", Some(Some(1))),
            ("zzz⏎", None),
            ("gone⏎", None),
            ("q", Some(None)),
            ("/q⏎", Some(Some(4))),
            ("alq", None),
            ("al⎋", Some(None)),
        ] {
            assert_eq!(press(&mut list(&rows, 2), keys), outcome, "{keys}");
        }
    }

    #[test]
    fn y_and_enter_mean_the_first_answer_and_never_another_one() {
        for (both, keys, outcome) in [
            (true, "⏎", Some(Some(0))),
            (true, "y", Some(Some(0))),
            (true, "Y", Some(Some(0))),
            (true, "n", Some(None)),
            (true, "q", Some(None)),
            (true, "c", Some(Some(1))),
            (true, "f", Some(Some(2))),
            (true, "↓⏎", Some(Some(1))),
            (true, "x/ol⏎", Some(Some(0))),
            (false, "⏎", None),
            (false, "y⏎", None),
            (false, "↓⏎", Some(Some(1))),
            (false, "⎋", Some(None)),
        ] {
            let row = |title: &str, key, enabled: bool| Row {
                title: title.to_owned(),
                detail: String::new(),
                disabled: (!enabled).then(|| "choose first".to_owned()),
                key: Some(key),
            };
            let rows =
                [row("both", 'y', both), row("conversation only", 'c', true), row("files only", 'f', true)];
            let mut list = List::new(&rows);
            list.set_height(5);
            assert_eq!(press(&mut list, keys), outcome, "{keys} {both}");
        }
    }

    #[test]
    fn the_marked_row_is_visible() {
        let rows: Vec<(&str, bool)> = vec![("row", true); 30];
        let mut list = list(&rows, 5);
        for keys in ["↓", "⇟", "⇟", "↑", "⇲", "⇞", "⇱", "↓"] {
            press(&mut list, keys);
            assert!(
                list.visible().iter().any(|(row, marked)| *marked && Some(*row) == list.marked()),
                "{keys}"
            );
            assert_eq!(list.visible().len(), 5);
        }
        list.set_height(50);
        assert_eq!(list.visible().len(), 30);
    }

    #[test]
    fn a_refusal_lasts_until_the_next_key() {
        let mut list = list(&[("gone", false)], 5);
        press(&mut list, "⏎");
        assert_eq!(list.refusal(), Some(0));
        press(&mut list, "↓");
        assert_eq!(list.refusal(), None);
    }

    #[test]
    fn no_rows_are_no_panic() {
        assert_eq!(press(&mut list(&[], 5), "↓↑⇟⇲⏎x⌫"), None);
    }
}
