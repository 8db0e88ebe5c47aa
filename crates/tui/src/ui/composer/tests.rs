//! Tests of the composer.

mod commands;
mod looks;
mod random;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::ui::keymap::{Context, Key, Keymap};
use crate::ui::testing::{brush, screen};
use crate::ui::theme::Theme;

/// A composer and the keymap, with keys handled as in the app.
struct Desk {
    composer: Composer,
    keys: Keymap,
}

impl Desk {
    fn new() -> Self {
        Self { composer: Composer::new(), keys: Keymap::default() }
    }

    /// Presses keys: words in angle brackets are keys by name, everything else is typed.
    fn press(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let event = match named {
                Some((name, behind)) => {
                    rest = behind;
                    name.parse::<Key>().expect("a key").event()
                }
                None => {
                    rest = &rest[c.len_utf8()..];
                    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
                }
            };
            self.event(event);
        }
        self
    }

    fn event(&mut self, event: KeyEvent) {
        if self.composer.is_popup_open() && self.composer.key(event) {
            return;
        }
        match self.keys.find(Context::Talk, Key::of(event)) {
            Some(command) => drop(self.composer.command(command)),
            None => drop(self.composer.key(event)),
        }
    }

    /// The text, with `▏` in front of the cursor.
    fn shown(&self) -> String {
        let (before, after) = self.composer.buffer.text().split_at(self.composer.buffer.cursor());
        let folds = &self.composer.folds;
        format!("{}▏{}", folds.expand(before), folds.expand(after))
    }

    /// The visible part at the lower edge of a screen, with `▏` in front of the cursor.
    fn screen(&mut self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| self.draw(frame, Theme::default())).expect("drawn");
        let at = terminal.get_cursor_position().expect("a cursor");
        assert!(at.x < width && at.y < height, "the cursor is on the screen");
        let shown = screen(width, height, |frame| self.draw(frame, Theme::default()));
        let mut rows: Vec<String> = shown.lines().map(str::to_owned).collect();
        let row = &mut rows[usize::from(at.y)];
        let mut column = 0;
        let place = row.graphemes(true).take_while(|grapheme| {
            column += grapheme.width();
            column <= usize::from(at.x)
        });
        let place = place.map(str::len).sum();
        let missing = usize::from(at.x).saturating_sub(row.width());
        row.extend(std::iter::repeat_n(' ', missing));
        row.insert(if missing > 0 { row.len() } else { place }, '▏');
        rows.join("\n")
    }

    fn draw(&mut self, frame: &mut Frame<'_>, theme: Theme) {
        let area = frame.area();
        let most = (area.height / 3).max(1);
        let rows = self.composer.height(area.width).clamp(1, most);
        let area = Rect { y: area.bottom() - rows, height: rows, ..area };
        let rule = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
        frame.render_widget("─".repeat(area.width.into()), rule);
        self.composer.draw(frame, area, &brush(theme, &self.keys), Keys::Here, "Say something");
    }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

fn image() -> Part {
    Part::Image { media_type: "image/png".to_owned(), data: Some(String::new()), url: None }
}

fn file(name: &str) -> Part {
    Part::File { name: name.to_owned(), media_type: None, data: None, url: None }
}

#[test]
fn every_key_of_editing() {
    for (keys, shown) in [
        ("hello", "hello▏"),
        ("ab<left>c", "ac▏b"),
        ("ab<left><left><right>c", "ac▏b"),
        ("ab<ctrl+b>c", "ac▏b"),
        ("one two<ctrl+a>x", "x▏one two"),
        ("one two<ctrl+a><ctrl+e>x", "one twox▏"),
        ("one two<home>x<end>y", "xone twoy▏"),
        ("one two<alt+b>x", "one x▏two"),
        ("one two<alt+left><alt+left>x", "x▏one two"),
        ("one two<home><ctrl+right>x", "onex▏ two"),
        ("one two<home><alt+f>x", "onex▏ two"),
        ("one two<home><alt+right>x", "onex▏ two"),
        ("one two<backspace>", "one tw▏"),
        ("one two<ctrl+h>", "one tw▏"),
        ("one two<alt+backspace>", "one ▏"),
        ("one two<ctrl+backspace>", "one ▏"),
        ("one-two<ctrl+w>", "▏"),
        ("one two <ctrl+w>x", "one x▏"),
        ("one two<home><delete>", "▏ne two"),
        ("one two<home><ctrl+d>", "▏ne two"),
        ("one two<home><alt+delete>", "▏ two"),
        ("one two<home><ctrl+delete>", "▏ two"),
        ("one two<alt+b><ctrl+k>", "one ▏"),
        ("one two<alt+b><ctrl+u>", "▏two"),
        ("one two<alt+b><ctrl+u><end> <ctrl+y>", "two one ▏"),
        ("one<ctrl+j>two", "one\ntwo▏"),
        ("one<alt+enter>two<home>x", "one\nx▏two"),
        ("one<shift+enter>two<up>x", "onex▏\ntwo"),
        ("one<ctrl+j>two<alt+<>x", "x▏one\ntwo"),
        ("one two<alt+z>", "one ▏"),
        ("one two<ctrl+_><ctrl+_>", "▏"),
        ("one two<alt+z><alt+shift+z>", "one two▏"),
        ("aé漢<left><left>x", "ax▏é漢"),
        ("a👩‍👩‍👧<backspace>", "a▏"),
    ] {
        assert_eq!(Desk::new().press(keys).shown(), shown, "{keys}");
    }
}

#[test]
fn every_command_of_the_composer_has_a_key_that_does_it() {
    for (command, keys, shown) in [
        (Command::NewLine, "a", "a\n▏"),
        (Command::HistoryUp, "", "second▏"),
        (Command::HistoryDown, "<up>", "▏"),
        (Command::TypingUndo, "word", "▏"),
        (Command::TypingRedo, "word<alt+z>", "word▏"),
        (Command::Complete, "/rewi", "/rewind ▏"),
    ] {
        for key in Keymap::default().keys(command) {
            let mut desk = Desk::new();
            desk.composer.remember(vec!["second".to_owned(), "first".to_owned()]);
            desk.press(keys).event(key.event());
            assert_eq!(desk.shown(), shown, "{key} for {command:?}");
        }
    }
}

#[test]
fn lines_come_before_prompts() {
    let mut desk = Desk::new();
    desk.composer.remember(vec!["newest".to_owned(), "two\nlines".to_owned(), "oldest".to_owned()]);
    desk.press("mine<ctrl+j>and more<up>");
    assert_eq!(desk.shown(), "mine▏\nand more", "the line above is shorter");
    assert_eq!(desk.press("<down>").shown(), "mine\nand more▏", "the column is kept");
    assert_eq!(desk.press("<up><up>").shown(), "newest▏");
    assert_eq!(desk.press("<up>").shown(), "two\nlines▏");
    assert_eq!(desk.press("<up><up>").shown(), "oldest▏");
    assert_eq!(desk.press("<up>").shown(), "oldest▏", "there is none before");
    assert_eq!(desk.press("<down>").shown(), "two\nlines▏");
    assert_eq!(desk.press("<down><down>").shown(), "mine\nand more▏", "what was being written comes back");
}

#[test]
fn an_earlier_prompt_that_was_changed_is_not_lost() {
    let mut desk = Desk::new();
    desk.composer.remember(vec!["newest".to_owned(), "oldest".to_owned()]);
    desk.press("mine<up>, changed<up>");
    assert_eq!(desk.shown(), "oldest▏");
    assert_eq!(desk.press("<down><down>").shown(), "newest, changed▏");
    assert_eq!(desk.press("<alt+d>").shown(), "mine▏");
}

#[test]
fn sent_message_is_the_newest_prompt() {
    let mut desk = Desk::new();
    desk.composer.remember(vec!["earlier".to_owned(), "again".to_owned()]);
    assert_eq!(desk.press("again").composer.take(), [text("again")]);
    assert!(desk.composer.is_empty() && desk.composer.parts().is_empty());
    assert_eq!(desk.press("<up>").shown(), "again▏");
    assert_eq!(desk.press("<up>").shown(), "earlier▏");
    assert_eq!(desk.press("<up>").shown(), "earlier▏", "each is there once");
}

#[test]
fn a_backslash_before_enter_is_a_new_line() {
    let mut desk = Desk::new();
    desk.press("one\\");
    assert!(desk.composer.command(Command::Send), "it is not sent");
    assert_eq!(desk.press("two").shown(), "one\ntwo▏");
    assert!(!desk.composer.command(Command::Send));
}

#[test]
fn paste_is_one_step_and_runs_no_command() {
    let mut desk = Desk::new();
    desk.press("see ").composer.paste("a\r\nb\x1b[2J\tc\rd");
    assert_eq!(desk.composer.text(), "see a\nb\x1b[2J\tc\nd");
    let shown = desk.screen(40, 12);
    assert!(shown.contains("[control U+001B]") && !shown.contains('\x1b'), "{shown}");
    assert_eq!(desk.press("<alt+z>").shown(), "see ▏");
}

#[test]
fn a_big_paste_is_stepped_over_and_sent_whole() {
    let mut desk = Desk::new();
    let big = "line of a log\n".repeat(1_000);
    desk.press("explain ").composer.paste(&big);
    desk.press(" please");
    let shown = desk.screen(60, 12);
    assert!(shown.contains("explain [pasted 14.0 kB, 1,000 lines] please▏"), "{shown}");
    desk.press("<ctrl+left><left><left>x");
    assert_eq!(desk.composer.text(), format!("explain x{big} please"));
    desk.press("<backspace><right><backspace>");
    assert_eq!(desk.composer.text(), "explain  please", "it is deleted whole");
    desk.press("<alt+z>");
    assert_eq!(desk.composer.take(), [text(&format!("explain {big} please"))]);
    let shown = desk.press("<up>").screen(60, 12);
    assert!(shown.contains("explain [pasted 14.0 kB, 1,000 lines] please▏"), "it folds again: {shown}");
}

#[test]
fn quote_is_appended_to_the_draft() {
    let mut desk = Desk::new();
    desk.composer.quote("one\n\ntwo");
    assert_eq!(desk.shown(), "> one\n>\n> two\n\n▏");
    let mut desk = Desk::new();
    desk.press("so:<left>");
    desk.composer.quote("one");
    assert_eq!(desk.shown(), "so:\n\n> one\n\n▏");
    assert_eq!(desk.press("then<alt+z><alt+z>").shown(), "so▏:", "it is one step");
    desk.composer.quote(&"long\n".repeat(500));
    assert_eq!(desk.composer.text(), format!("so:\n\n{}\n\n", ["> long"; 500].join("\n")));
    assert!(desk.screen(60, 12).contains("[pasted"), "a long one is folded");
}

#[test]
fn words_that_come_back_move_a_draft_aside() {
    let mut desk = Desk::new();
    desk.press("my draft").composer.returned(&[text("sent words"), image()]);
    assert_eq!(desk.composer.parts(), [text("sent words"), image()]);
    assert_eq!(desk.shown(), "sent words▏");
    assert_eq!(desk.press("<alt+d>").shown(), "my draft▏");
    assert_eq!(desk.composer.parts(), [text("my draft")]);
    desk.press("<alt+d>");
    assert_eq!(desk.composer.parts(), [text("sent words"), image()], "they change places");
    desk.composer.returned(&[text("third")]);
    let mut seen = vec![desk.composer.text()];
    for _ in 0..3 {
        seen.push(desk.press("<alt+d>").composer.text());
    }
    assert_eq!(seen, ["third", "sent words", "my draft", "third"], "all of them come round");
}

#[test]
fn nothing_moves_aside_where_nothing_is_lost() {
    let mut desk = Desk::new();
    desk.composer.returned(&[text("words")]);
    desk.composer.returned(&[text("words")]);
    assert!(!desk.composer.command(Command::DraftBack));
    desk.composer.set_aside();
    assert!(desk.composer.is_empty());
    assert_eq!(desk.press("<alt+d>").shown(), "words▏");
}

#[test]
fn draft_is_shown_as_moved_aside_only_while_it_is() {
    let aside = |desk: &mut Desk| desk.screen(60, 9).contains("draft moved aside");
    let mut desk = Desk::new();
    desk.press("mine").composer.returned(&[text("came back")]);
    assert!(aside(&mut desk));
    desk.composer.left();
    assert_eq!((desk.shown().as_str(), aside(&mut desk)), ("mine▏", false), "it is back by itself");
    desk.composer.returned(&[text("came back")]);
    desk.composer.returned(&[text("mine")]);
    desk.composer.take();
    assert!(aside(&mut desk), "other words wait");
    desk.press("<alt+d>");
    assert!(!aside(&mut desk), "what was sent does not come back as a draft");
}

#[test]
fn attachment_is_shown_sent_and_removed() {
    let mut desk = Desk::new();
    desk.composer.set(&[text("look"), image(), file("docs/report.pdf"), image(), text("at these")]);
    let shown = desk.screen(60, 9);
    assert!(shown.contains("[2 images] [report.pdf]"), "{shown}");
    assert_eq!(desk.shown(), "look\n\nat these▏");
    assert!(!desk.composer.is_empty());
    desk.composer.detach();
    assert_eq!(desk.composer.parts(), [text("look\n\nat these")]);
    desk.press("<alt+d>");
    assert_eq!(desk.composer.parts().len(), 4, "it can be called back");
}

#[test]
fn commands_are_completed() {
    for (keys, shown) in [
        ("/und<tab>", "/undo ▏"),
        ("/diff<tab>", "/diff▏"),
        ("/<down><up><tab>", "/help▏"),
        ("/hid<enter>", "/hide ▏"),
        ("/pem<enter>", "/permissions ▏"),
        (":tre<tab>", "/tree▏"),
    ] {
        assert_eq!(Desk::new().press(keys).shown(), shown, "{keys}");
    }
}

#[test]
fn enter_sends_a_command_that_needs_nothing_more() {
    let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
    for (typed, is_sent, text) in [
        ("/tree", true, "/tree"),
        ("/tre", true, "/tree"),
        ("/undo", true, "/undo"),
        ("/hide", false, "/hide "),
        ("/tmp", false, "/tmp"),
        // A command that only resembles the text is not done at once.
        ("/prmissions", false, "/permissions "),
    ] {
        let mut desk = Desk::new();
        desk.press(typed);
        if desk.composer.is_popup_open() {
            assert_eq!(!desk.composer.key(enter), is_sent, "{typed}");
        }
        assert_eq!(desk.composer.text(), text, "{typed}");
    }
}

#[test]
fn a_path_at_the_beginning_is_no_command() {
    for typed in ["/etc/hosts", "/Users", "/help me", "a /help", "/zzz"] {
        assert!(!Desk::new().press(typed).composer.is_popup_open(), "{typed}");
    }
}

#[test]
fn esc_closes_what_is_open_until_something_else_is_begun() {
    let mut desk = Desk::new();
    desk.press("/re");
    assert!(desk.composer.escape());
    assert!(!desk.composer.escape(), "nothing is open any more");
    assert!(!desk.press("d").composer.is_popup_open(), "it stays closed");
    assert!(desk.press("<tab>").composer.is_popup_open());
    assert_eq!(desk.press("<esc>").shown(), "/red▏");
    assert!(desk.press("<ctrl+u>/").composer.is_popup_open());
}

#[test]
fn paths_are_requested_once_and_completed() {
    let mut desk = Desk::new();
    desk.press("read @sr");
    assert_eq!(desk.composer.wants_paths().as_deref(), Some("sr"));
    assert_eq!(Desk::new().press("/show @").composer.wants_paths(), None, "there it is the last message");
    assert_eq!(desk.composer.wants_paths(), None);
    desk.composer.paths("s", vec![("late".to_owned(), false)]);
    assert!(!desk.composer.is_popup_open(), "an answer that is too late");
    desk.composer.paths("sr", vec![("src".to_owned(), true), ("src/main.rs".to_owned(), false)]);
    desk.press("<tab>");
    assert_eq!(desk.shown(), "read @src/▏");
    assert_eq!(desk.composer.wants_paths().as_deref(), Some("src/"));
    desk.composer.paths("src/", vec![("src/a b.rs".to_owned(), false), ("src/\x1bc".to_owned(), false)]);
    assert!(desk.screen(40, 12).contains("src/␛c"));
    assert_eq!(desk.press("<enter>and").shown(), "read @\"src/a b.rs\" and▏");
    assert_eq!(desk.composer.wants_paths(), None);
}

#[test]
fn a_path_is_completed_only_where_one_is_expected() {
    for (typed, query) in [
        ("@", Some("")),
        ("see @a/b", Some("a/b")),
        ("(@a", Some("a")),
        ("one\n@a", Some("a")),
        ("@\"a b", Some("a b")),
        ("@\"a b\" c", None),
        ("me@example.org", None),
        ("@a b", None),
        ("a", None),
        ("漢 @é", Some("é")),
        ("漢\u{3000}@é", Some("é")),
    ] {
        let found = complete::mention_at(typed, typed.len()).map(|mention| mention.query);
        assert_eq!(found.as_deref(), query, "{typed}");
    }
}

#[test]
fn earlier_prompts_are_searched() {
    let mut desk = Desk::new();
    let prompts = ["fix the parser", "write docs\nfor the parser", "fix the lexer"];
    desk.composer.remember(prompts.map(str::to_owned).to_vec());
    desk.press("mine<alt+h>fix");
    assert_eq!(desk.composer.text(), "mine", "what is typed is searched");
    assert_eq!(desk.press("<alt+h><enter>").shown(), "fix the lexer▏");
    assert_eq!(desk.press("<down><down><down>").shown(), "mine▏");
    assert_eq!(desk.press("<alt+h>docs<esc>").shown(), "mine▏");
    assert_eq!(desk.press("<alt+h>nothing such<enter>").shown(), "mine▏");
    assert_eq!(
        desk.press("<alt+h>lex<ctrl+u>docs<backspace><ctrl+h><enter>").shown(),
        "write docs\nfor the parser▏"
    );
}

#[test]
fn a_command_leaves_the_search() {
    let mut desk = Desk::new();
    desk.composer.remember(vec!["a prompt".to_owned()]);
    desk.press("<alt+h>");
    assert!(!desk.composer.key("ctrl+r".parse::<Key>().expect("a key").event()));
    assert!(!desk.composer.is_popup_open());
}

#[test]
fn the_composer_grows_and_then_scrolls() {
    let mut desk = Desk::new();
    assert_eq!(desk.composer.height(40), 1);
    desk.composer.paste("1\n2\n3\n4\n5\n6\n7\n8");
    assert_eq!(desk.composer.height(40), 8);
    assert!(desk.screen(40, 12).ends_with("› 5\n  6\n  7\n  8▏"), "the end is seen");
    desk.press("<alt+<>");
    assert!(desk.screen(40, 12).ends_with("› ▏1\n  2\n  3\n  4"), "the beginning is seen");
    desk.press("<down><down><down><down>");
    assert!(desk.screen(40, 12).ends_with("› 2\n  3\n  4\n  ▏5"), "no more than needed is scrolled");
}

#[test]
fn an_editors_text_is_one_step() {
    let mut desk = Desk::new();
    desk.composer.set(&[text("before"), image()]);
    desk.composer.set_text("after\r\nit\n");
    assert_eq!(desk.composer.parts(), [text("after\nit\n"), image()]);
    assert_eq!(desk.press("<alt+z>").composer.text(), "before");
}
