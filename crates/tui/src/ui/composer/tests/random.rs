//! Random actions: the composer against naive models of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::super::buffer::{Buffer, CursorMotion};
use super::super::layout::Layout;
use super::Desk;
use crate::text::fold::Folds;
use crate::ui::keymap::Key;

/// An action of a person.
#[derive(Clone, Debug)]
enum Does {
    Types(String),
    Pastes(String),
    Presses(&'static str),
}

fn doing() -> impl Strategy<Value = Does> {
    let keys = [
        "left",
        "right",
        "up",
        "down",
        "home",
        "end",
        "backspace",
        "delete",
        "ctrl+w",
        "ctrl+k",
        "ctrl+u",
        "ctrl+y",
        "alt+b",
        "alt+f",
        "alt+backspace",
        "alt+delete",
        "ctrl+j",
        "alt+z",
        "alt+shift+z",
        "alt+<",
        "alt+>",
        "alt+d",
        "tab",
        "esc",
        "alt+h",
        "enter",
        "ctrl+d",
        "ctrl+h",
    ];
    prop_oneof![
        "[ a-z漢é👩\u{200d}👧\u{301}/@\"]{1,6}".prop_map(Does::Types),
        "\\PC{0,12}".prop_map(Does::Pastes),
        Just(Does::Pastes("long\n".repeat(60))),
        Just(Does::Pastes("\x1b[2J\u{202e}\r\n\t\u{9b}x".to_owned())),
        proptest::sample::select(keys.to_vec()).prop_map(Does::Presses),
    ]
}

impl Desk {
    fn does(&mut self, does: &Does) {
        match does {
            Does::Types(text) => {
                for c in text.chars() {
                    self.event(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
                }
            }
            Does::Pastes(text) => self.composer.paste(text),
            Does::Presses(key) => self.event(key.parse::<Key>().expect("a key").event()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_sequence_of_keys_can_be_drawn(doing in proptest::collection::vec(doing(), 0..25), width in 1u16..50, height in 1u16..12) {
        let mut desk = Desk::new();
        desk.composer.remember(vec!["earlier".to_owned(), "two\nlines".to_owned()]);
        for does in &doing {
            desk.does(does);
            let shown = desk.screen(width, height);
            prop_assert!(!shown.contains(|c: char| c != '\n' && crate::text::safe::acts_on_terminal(c)));
            for row in desk.composer.layout.rows() {
                for glyph in &row.glyphs {
                    prop_assert!(glyph.column + glyph.width <= width.saturating_sub(2).max(2), "{row:?}");
                }
            }
        }
    }

    #[test]
    fn rows_hold_all_of_the_text(text in "[ a-z漢é👩\u{200d}👧\t\n]{0,60}", width in 1u16..20) {
        let layout = Layout::new(&text, &Folds::default(), width);
        let mut at = 0;
        for row in layout.rows() {
            prop_assert!(row.start == at || text.as_bytes().get(at) == Some(&b'\n') && row.start == at + 1);
            at = row.start;
            for glyph in &row.glyphs {
                prop_assert_eq!(glyph.at, at);
                at += glyph.len;
            }
            prop_assert_eq!(at, row.end);
        }
        prop_assert_eq!(at, text.len());
        for (at, _) in text.grapheme_indices(true) {
            let (row, column) = layout.find(at);
            prop_assert!(column < width.max(2));
            let is_seen = layout.rows()[row].glyphs.iter().any(|glyph| glyph.at == at && glyph.width > 0);
            if is_seen {
                prop_assert_eq!(layout.at(row, column), at);
            }
        }
    }

    #[test]
    fn a_buffer_is_a_text_with_a_cursor(doing in proptest::collection::vec((0usize..7, "[ a漢\u{301}👩\u{200d}\n]{1,3}"), 0..40)) {
        let mut buffer = Buffer::default();
        // The naive model: all earlier states.
        let mut states = vec![String::new()];
        for (what, text) in doing {
            let at = buffer.cursor();
            let mut expected = buffer.text().to_owned();
            match what {
                0 | 1 => {
                    expected.insert_str(at, &text);
                    buffer.insert(&text);
                }
                2 => {
                    let last = expected[..at].grapheme_indices(true).next_back().map_or(at, |(last, _)| last);
                    // The graphemes before the cursor are the same with and without the text after it: it is at a
                    // boundary.
                    expected.replace_range(last..at, "");
                    buffer.delete(CursorMotion::Left);
                }
                3 => {
                    let next = expected[at..].graphemes(true).next().map_or(0, str::len);
                    expected.replace_range(at..at + next, "");
                    buffer.delete(CursorMotion::Right);
                }
                4 => drop(buffer.go(CursorMotion::Left)),
                5 => drop(buffer.go(CursorMotion::WordRight)),
                _ => {
                    expected.truncate(at);
                    buffer.delete(CursorMotion::End);
                }
            }
            prop_assert_eq!(buffer.text(), &expected);
            prop_assert!(buffer.text().grapheme_indices(true).any(|(edge, _)| edge == buffer.cursor()) || buffer.cursor() == buffer.text().len());
            states.push(expected);
        }
        let last = buffer.text().to_owned();
        let mut back = states.iter().rev();
        let mut steps = 0;
        while buffer.undo() {
            steps += 1;
            prop_assert!(back.any(|state| state == buffer.text()), "undo leads to a state there was");
        }
        prop_assert_eq!(buffer.text(), "");
        for _ in 0..steps {
            prop_assert!(buffer.redo());
        }
        prop_assert!(!buffer.redo());
        prop_assert_eq!(buffer.text(), last);
    }
}
