//! Keys and pastes, and which part gets them. Must never let a key of a list reach the composer, nor the reverse.

use std::borrow::Cow;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::App;
use super::notices::Kind;
use crate::render::words;
use crate::ui::keymap::{Command, Context, Key};

impl App {
    /// The keys that are valid now.
    pub(super) fn context(&self) -> Context {
        let tab = self.tab();
        if let Some(pane) = &tab.panes.front {
            return pane.context();
        }
        if tab.line.is_some() {
            return Context::Find;
        }
        if tab.selecting {
            return Context::Select;
        }
        match self.is_asked() {
            true if tab.answers.armed.is_some() => Context::Grant,
            true => Context::Asked,
            false => Context::Talk,
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        if event.code == KeyCode::Esc && event.modifiers.contains(KeyModifiers::ALT) {
            // Two quick presses arrive as one key.
            let once = KeyEvent::new(KeyCode::Esc, event.modifiers - KeyModifiers::ALT);
            self.key(once);
            return self.key(once);
        }
        self.notices.remove(Kind::Hint);
        self.tab_mut().composer.key_was_pressed();
        if self.no_longer_dragged() && event.code == KeyCode::Esc {
            return;
        }
        let key = Key::of(event);
        if self.is_leaving() && self.keys.find(Context::Everywhere, key) != Some(Command::Quit) {
            return;
        }
        if self.gives_up(event) {
            return;
        }
        let context = self.context();
        let found = if ends(event) { Some(Command::Stop) } else { self.keys.find(context, key) };
        self.tab_mut().presses.pressed(found, context == Context::Talk);
        if self.tab().panes.front.is_some() {
            return self.key_in_pane(context, key, event);
        }
        if self.tab().line.is_some() {
            return self.key_in_line(key, event);
        }
        if matches!(context, Context::Talk | Context::Asked) {
            if self.tab().composer.is_popup_open() && self.tab_mut().composer.key(event) {
                return self.typed();
            }
            if self.letter_answers(event) {
                return;
            }
        }
        // A letter that answers nothing is written.
        let context =
            if context == Context::Asked && typed(event).is_some() { Context::Talk } else { context };
        match self.keys.find(context, key) {
            Some(command) => self.command(command, ""),
            None if context == Context::Select => {
                if key.letter() == Some('?') {
                    return self.command(Command::Help, "");
                }
                let (help, back) = (self.keys.named(Command::Help), self.keys.named(Command::SelectLeave));
                self.refuse(format!(
                    "{key} does nothing here: {help} shows the keys, {back} goes back to the composer"
                ));
            }
            None => self.key_in_composer(event),
        }
    }

    fn key_in_pane(&mut self, context: Context, key: Key, event: KeyEvent) {
        match self.keys.find(context, key) {
            Some(command) if command.is_of_app() => self.command(command, ""),
            Some(command) => self.with_pane(self.tabs.current, |pane, cx| match typed(event) {
                Some(letter) => pane.letter(letter, command, cx),
                None => pane.command(command, cx),
            }),
            None => {
                if let Some(letter) = typed(event) {
                    self.with_pane(self.tabs.current, |pane, cx| {
                        pane.typed(letter.encode_utf8(&mut [0; 4]), cx);
                    });
                }
            }
        }
    }

    fn key_in_composer(&mut self, event: KeyEvent) {
        if ends(event) && self.tab().composer.is_empty() {
            return self.end();
        }
        if self.tab_mut().composer.key(event) {
            self.typed();
        }
    }

    /// The end-of-input key of shells: pressed twice in an empty composer, it quits.
    fn end(&mut self) {
        if self.is_once_more(Command::Stop) {
            return self.leave();
        }
        self.hint("Ctrl+D again quits; everything is kept");
    }

    /// The person typed: the draft is stored soon.
    pub(super) fn typed(&mut self) {
        self.is_writing();
        let now_ms = self.now_ms;
        let tab = self.tab_mut();
        if tab.composer.is_empty() {
            tab.answers.forget_late();
        }
        tab.draft.typed(now_ms);
        tab.presses.typed();
        tab.panes.left.clear();
        if !tab.selecting {
            tab.view.deselect();
        }
        self.wants_paths();
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.notices.remove(Kind::Hint);
        self.tab_mut().composer.key_was_pressed();
        let text = &*self.without_nul(text);
        if self.tab().panes.front.is_some() {
            return self.with_pane(self.tabs.current, |pane, cx| pane.typed(text, cx));
        }
        if let Some(line) = &mut self.tab_mut().line {
            line.text.push_str(&crate::text::safe::line(text));
            return self.line_typed();
        }
        self.tab_mut().select(false);
        self.tab_mut().answers.armed = None;
        self.tab_mut().composer.paste(text);
        self.typed();
    }

    /// No message can hold a NUL: it is removed, with a notice.
    pub(super) fn without_nul<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        match text.matches('\0').count() {
            0 => Cow::Borrowed(text),
            nuls => {
                let nuls = words::count(nuls as u64, "NUL character");
                self.refuse(format!("left out: {nuls}, which no message can hold"));
                Cow::Owned(text.replace('\0', ""))
            }
        }
    }

    /// Esc cancels what is in progress; pressed twice with nothing to cancel, it opens the rewind.
    pub(super) fn escape(&mut self) {
        let now_ms = self.now_ms;
        let rewinds = self.settings.escape_rewinds;
        let tab = self.tab_mut();
        if tab.composer.escape() {
            return;
        }
        if tab.outgoing.rewriting.take().is_some() {
            tab.draft.typed(now_ms);
            if tab.outgoing.is_unchanged(&tab.composer) {
                tab.composer.clear();
                return self.say("not edited: nothing has changed");
            }
            tab.composer.set_aside();
            let back = self.keys.named(Command::DraftBack);
            return self.say(format!("not edited: nothing has changed; {back} brings your words back"));
        }
        if tab.view.selected().is_some() {
            return tab.view.deselect();
        }
        if !tab.composer.is_empty() {
            return;
        }
        let running = tab.talk.is_running();
        if let Some(waits) = self.what_waits() {
            return self.hint(waits);
        }
        match (self.is_once_more(Command::Escape), running) {
            (true, false) if rewinds => self.command(Command::Rewind, ""),
            (true, true) if rewinds => {
                let stop = self.keys.named(Command::Stop);
                self.refuse(format!("the agent is at work: {stop} stops it, then go back"));
            }
            (false, false) if rewinds => {
                let escape = self.keys.named(Command::Escape);
                self.hint(format!("{escape} again: back to an earlier message"));
            }
            (_, false) => {}
            (_, true) => {
                let stop = self.keys.named(Command::Stop);
                self.hint(format!("{stop} stops the answer"));
            }
        }
    }

    /// Whether this is the second of two presses, while the notice about the first one is shown.
    pub(super) fn is_once_more(&mut self, command: Command) -> bool {
        let now_ms = self.now_ms;
        self.tab_mut().presses.is_second(command, now_ms)
    }
}

/// Whether it is the end-of-input key.
fn ends(event: KeyEvent) -> bool {
    (event.code, event.modifiers) == (KeyCode::Char('d'), KeyModifiers::CONTROL)
}

/// The letter that a key types.
pub(super) fn typed(event: KeyEvent) -> Option<char> {
    let held = event.modifiers - KeyModifiers::SHIFT;
    match event.code {
        KeyCode::Char(c) if held.is_empty() => Some(c),
        _ => None,
    }
}
