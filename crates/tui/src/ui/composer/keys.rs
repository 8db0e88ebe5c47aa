//! Keys of the composer that are no commands of the table: typing, and the keys of Emacs and of shells. Must never take a key
//! that means nothing here.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::Composer;
use super::buffer::CursorMotion;
use super::popup::Popup;
use crate::ui::keymap::Key;

/// The description of these keys in the help.
pub(crate) const EDITING: &[(&str, &str)] = &[
    ("\\ Enter", "Begin a new line, in every terminal"),
    ("Ctrl+A Ctrl+E", "To the beginning and to the end of the line; also Home and End"),
    ("Alt+B Alt+F", "A word back, a word on; also with Alt or Ctrl and the arrows"),
    ("Alt+< Alt+>", "To the beginning and to the end of all"),
    ("Ctrl+W", "Cut the word before; with Alt+Backspace only back to a sign"),
    ("Ctrl+D Alt+Delete", "Delete the letter behind, the word behind; Ctrl+D twice with nothing typed quits"),
    ("Ctrl+U Ctrl+K", "Cut to the beginning, to the end of the line"),
    ("Ctrl+Y", "Paste what was cut last"),
];

/// Rows of a page in a list.
const PAGE: isize = 8;

/// The effect of a key on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Go(CursorMotion),
    Delete(CursorMotion),
    Yank,
}

impl Composer {
    /// Handles a key. Returns whether it did something.
    pub(crate) fn key(&mut self, event: KeyEvent) -> bool {
        if event.kind == KeyEventKind::Release {
            return false;
        }
        if self.key_in_popup(event) {
            return true;
        }
        if let Some(letter) = Key::of(event).letter() {
            self.type_in(letter.encode_utf8(&mut [0; 4]));
            return true;
        }
        let Some(edit) = edit(event) else { return false };
        match edit {
            Edit::Go(reach) if self.buffer.go(reach) => self.moved(),
            Edit::Go(_) => {}
            Edit::Delete(reach) => {
                let before = self.buffer.text().len();
                self.buffer.delete(reach);
                if self.buffer.text().len() == before {
                    return false;
                }
                self.edited();
            }
            Edit::Yank => {
                self.buffer.yank();
                self.edited();
            }
        }
        true
    }

    fn key_in_popup(&mut self, event: KeyEvent) -> bool {
        let Some(popup) = &mut self.popup else { return false };
        let held = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (held, event.code) {
            (KeyModifiers::NONE, KeyCode::Up) => popup.step(-1),
            (KeyModifiers::NONE, KeyCode::Down) => popup.step(1),
            (KeyModifiers::CONTROL, KeyCode::Char('p')) => popup.step(-1),
            (KeyModifiers::CONTROL, KeyCode::Char('n')) => popup.step(1),
            (KeyModifiers::NONE, KeyCode::Esc) => return self.escape(),
            (KeyModifiers::NONE, KeyCode::BackTab) => popup.step(-1),
            (KeyModifiers::NONE, KeyCode::Tab) if event.modifiers.is_empty() => return self.accept(false),
            (KeyModifiers::NONE, KeyCode::Enter) if event.modifiers.is_empty() => return self.accept(true),
            _ => return self.key_in_search(event),
        }
        true
    }

    /// While earlier prompts are searched, typed text is the search.
    fn key_in_search(&mut self, event: KeyEvent) -> bool {
        let Some(Popup::Search { query, list }) = &mut self.popup else { return false };
        let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match (Key::of(event).letter(), event.code) {
            (Some(letter), _) => query.push(letter),
            (_, KeyCode::Backspace) => drop(query.pop()),
            (_, KeyCode::Char('h')) if is_ctrl => drop(query.pop()),
            (_, KeyCode::Char('u')) if is_ctrl => query.clear(),
            (_, KeyCode::Char('h')) => {
                list.step(1);
                return true;
            }
            (_, KeyCode::Char('c' | 'g')) if is_ctrl => return self.escape(),
            (_, KeyCode::PageUp) => {
                list.step(-PAGE);
                return true;
            }
            (_, KeyCode::PageDown) => {
                list.step(PAGE);
                return true;
            }
            // Motion keys have no effect on a text that is not visible; a command ends the search.
            (_, KeyCode::Char(_) | KeyCode::F(_)) => {
                self.escape();
                return false;
            }
            _ => return true,
        }
        self.search();
        true
    }
}

fn edit(event: KeyEvent) -> Option<Edit> {
    let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let is_alt = event.modifiers.contains(KeyModifiers::ALT);
    Some(match (event.code, is_ctrl, is_alt) {
        (KeyCode::Left, false, false) => Edit::Go(CursorMotion::Left),
        (KeyCode::Right, false, false) => Edit::Go(CursorMotion::Right),
        (KeyCode::Left, ..) => Edit::Go(CursorMotion::WordLeft),
        (KeyCode::Right, ..) => Edit::Go(CursorMotion::WordRight),
        (KeyCode::Home, false, false) => Edit::Go(CursorMotion::LineStart),
        (KeyCode::End, false, false) => Edit::Go(CursorMotion::LineEnd),
        (KeyCode::Backspace, false, false) => Edit::Delete(CursorMotion::Left),
        (KeyCode::Backspace, ..) => Edit::Delete(CursorMotion::WordLeft),
        (KeyCode::Delete, false, false) => Edit::Delete(CursorMotion::Right),
        (KeyCode::Delete, ..) => Edit::Delete(CursorMotion::WordRight),
        (KeyCode::Char(letter), true, false) => with_ctrl(letter.to_ascii_lowercase())?,
        (KeyCode::Char(letter), false, true) => with_alt(letter)?,
        _ => return None,
    })
}

fn with_ctrl(letter: char) -> Option<Edit> {
    Some(match letter {
        'a' => Edit::Go(CursorMotion::LineStart),
        'e' => Edit::Go(CursorMotion::LineEnd),
        'b' => Edit::Go(CursorMotion::Left),
        'd' => Edit::Delete(CursorMotion::Right),
        // Many terminals send this for Backspace.
        'h' => Edit::Delete(CursorMotion::Left),
        'k' => Edit::Delete(CursorMotion::LineEnd),
        'u' => Edit::Delete(CursorMotion::LineStart),
        'w' => Edit::Delete(CursorMotion::BlankLeft),
        'y' => Edit::Yank,
        _ => return None,
    })
}

fn with_alt(letter: char) -> Option<Edit> {
    Some(match letter {
        'b' => Edit::Go(CursorMotion::WordLeft),
        'f' => Edit::Go(CursorMotion::WordRight),
        '<' => Edit::Go(CursorMotion::Start),
        '>' => Edit::Go(CursorMotion::End),
        _ => return None,
    })
}
