//! The keys of the composer: the Emacs keys, and Retake's own before them. Must never put terminal control characters into the
//! buffer.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use reedline::{
    EditCommand, EditMode, Emacs, PromptEditMode, ReedlineEvent, ReedlineRawEvent, default_emacs_keybindings,
};

use super::{COMMANDS, INTERRUPT, Shared, lock};
use crate::term::pending_keys::more_follow;
use crate::term::safe;

pub(super) struct Keymap {
    emacs: Emacs,
    state: Shared,
    now_ms: fn() -> i64,
    /// The last key typed a backslash, so that Enter continues the text.
    continues: bool,
}

impl Keymap {
    pub(super) fn new(state: Shared, now_ms: fn() -> i64) -> Self {
        let mut bindings = default_emacs_keybindings();
        let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
        bindings.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
        bindings.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        Self { emacs: Emacs::new(bindings), state, now_ms, continues: false }
    }

    fn key(&mut self, key: KeyEvent) -> Option<ReedlineEvent> {
        let continues = std::mem::take(&mut self.continues);
        let settles = self.settles(key.code == KeyCode::Enter);
        match (key.modifiers, key.code) {
            (KeyModifiers::CONTROL, KeyCode::Char('c')) => return Some(self.interrupt()),
            (KeyModifiers::NONE, KeyCode::Enter) if continues => {
                return Some(ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]));
            }
            _ => {}
        }
        let mut state = lock(&self.state);
        (state.notice, state.leaving, state.told, state.kept) = ("", false, false, false);
        if (key.modifiers, key.code) == (KeyModifiers::NONE, KeyCode::Enter) {
            if settles {
                state.kept = true;
                return Some(ReedlineEvent::Repaint);
            }
            // The next read reports an error of the terminal.
            if more_follow().unwrap_or(false) {
                state.held = true;
                return Some(ReedlineEvent::Edit(vec![EditCommand::InsertNewline]));
            }
            if std::mem::take(&mut state.held) {
                (state.told, state.early) = (true, false);
                return Some(ReedlineEvent::Repaint);
            }
            if std::mem::take(&mut state.early) {
                state.kept = true;
                return Some(ReedlineEvent::Repaint);
            }
        }
        match (key.modifiers, key.code) {
            (KeyModifiers::NONE, KeyCode::Char('\\')) => self.continues = true,
            (KeyModifiers::NONE, KeyCode::Tab) if state.prose => return Some(ReedlineEvent::None),
            (KeyModifiers::NONE, KeyCode::Tab) => {
                return Some(ReedlineEvent::UntilFound(vec![
                    ReedlineEvent::Menu(COMMANDS.to_owned()),
                    ReedlineEvent::MenuNext,
                ]));
            }
            (KeyModifiers::NONE, KeyCode::Char(c)) if safe::acts_on_terminal(c) => {
                return Some(insert(state.folds.fold(c.encode_utf8(&mut [0; 4]))));
            }
            _ => {}
        }
        None
    }

    /// Notes a key, the first one or a later one. Returns whether it is an Enter that was meant for what returned the text.
    fn settles(&self, is_enter: bool) -> bool {
        let mut state = lock(&self.state);
        let now_ms = (self.now_ms)();
        let is_new = state.asked_until_ms.take().is_some_and(|until_ms| now_ms < until_ms);
        state.early |= is_new && !is_enter;
        let settles = state.settles_ms.take().is_some_and(|until_ms| now_ms < until_ms);
        is_enter && settles
    }

    /// Ctrl-C ends a search of the history; otherwise the composer decides by the text in the line.
    fn interrupt(&self) -> ReedlineEvent {
        if lock(&self.state).leaving {
            return ReedlineEvent::CtrlC;
        }
        let ask = ReedlineEvent::ExecuteHostCommand(INTERRUPT.to_owned());
        // `Multiple` does not apply in the search, which distinguishes the two.
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ask]),
            ReedlineEvent::Esc,
        ])
    }
}

fn insert(text: String) -> ReedlineEvent {
    ReedlineEvent::Edit(vec![EditCommand::InsertString(text)])
}

/// A terminal sends the newlines of a paste as carriage returns.
fn newlines(pasted: &str) -> String {
    pasted.replace("\r\n", "\n").replace('\r', "\n")
}

impl EditMode for Keymap {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = Event::from(event);
        let ours = match &event {
            Event::Key(key) => self.key(*key),
            Event::Paste(text) => {
                self.continues = false;
                self.settles(false);
                let mut state = lock(&self.state);
                (state.notice, state.leaving, state.told, state.kept) = ("", false, false, false);
                Some(insert(state.folds.fold(&newlines(text))))
            }
            _ => None,
        };
        ours.unwrap_or_else(|| match ReedlineRawEvent::try_from(event) {
            Ok(event) => self.emacs.parse_event(event),
            // Only the release of a key is refused, which does nothing.
            Err(()) => ReedlineEvent::None,
        })
    }

    fn edit_mode(&self) -> PromptEditMode {
        PromptEditMode::Emacs
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    static NOW_MS: AtomicI64 = AtomicI64::new(0);

    fn press(keymap: &mut Keymap, code: KeyCode, at_ms: i64) -> Option<ReedlineEvent> {
        NOW_MS.store(at_ms, Ordering::Relaxed);
        keymap.key(code.into())
    }

    #[test]
    fn words_begun_before_a_question_could_be_read_answer_with_the_second_enter() {
        for (first_ms, is_early) in [(499, true), (500, false)] {
            let state = Shared::default();
            let mut keymap = Keymap::new(Shared::clone(&state), || NOW_MS.load(Ordering::Relaxed));
            lock(&state).asked_until_ms = Some(500);
            assert_eq!(press(&mut keymap, KeyCode::Char('y'), first_ms), None);
            let enter = press(&mut keymap, KeyCode::Enter, 9_000);
            assert_eq!(enter, is_early.then_some(ReedlineEvent::Repaint), "{first_ms}");
            assert_eq!(lock(&state).kept, is_early);
            assert_eq!(press(&mut keymap, KeyCode::Enter, 9_100), None, "it submits the line");
        }
    }
}
