//! The UI without a terminal: the same app, drawn into memory, for tests and measurements. Must never do anything that the app
//! should do.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use retake_wire::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::app::App;
use super::driver::{Launch, World, app, for_owner, message};
use super::keymap::Key;
use super::msg::{Act, Msg, TabId};

/// The UI without a terminal.
pub struct Headless {
    app: App,
    client: Arc<dyn Client>,
    terminal: Terminal<TestBackend>,
    world: Box<dyn World>,
    tell: mpsc::Sender<Msg>,
    heard: mpsc::Receiver<Msg>,
    follows: HashMap<Option<TabId>, JoinHandle<()>>,
    copied: Vec<String>,
    notified: Vec<String>,
    is_over: bool,
    waits: usize,
}

impl Headless {
    /// A UI of this size with this client. Nothing is drawn yet.
    #[must_use]
    pub fn new(
        client: Arc<dyn Client>,
        world: Box<dyn World>,
        beginning: Launch,
        columns: u16,
        rows: u16,
    ) -> Self {
        let app = app(beginning, world.now_ms());
        let terminal = Terminal::new(TestBackend::new(columns, rows)).expect("BUG: memory can be drawn to");
        let (tell, heard) = mpsc::channel(1_024);
        let mut stage = Self {
            app,
            client,
            terminal,
            world,
            tell,
            heard,
            follows: HashMap::new(),
            copied: Vec::new(),
            notified: Vec::new(),
            is_over: false,
            waits: 0,
        };
        let acts = stage.app.begin();
        stage.carry_out(acts);
        stage
    }

    /// Presses a key, written as in the settings.
    ///
    /// # Panics
    ///
    /// If that is no key.
    pub fn press(&mut self, key: &str) {
        let key: Key = key.parse().expect("a key");
        self.event(Event::Key(key.event()));
    }

    /// Types a text, letter by letter.
    pub fn write(&mut self, text: &str) {
        for letter in text.chars() {
            let code = if letter == '\n' { KeyCode::Enter } else { KeyCode::Char(letter) };
            let held = if letter == '\n' { KeyModifiers::ALT } else { KeyModifiers::NONE };
            self.event(Event::Key(KeyEvent::new(code, held)));
        }
    }

    /// Pastes a text.
    pub fn paste(&mut self, text: &str) {
        self.event(Event::Paste(text.to_owned()));
    }

    /// A mouse event.
    pub fn mouse(&mut self, event: MouseEvent) {
        self.event(Event::Mouse(event));
    }

    /// The terminal gains or loses the focus.
    pub fn focus(&mut self, has: bool) {
        self.event(if has { Event::FocusGained } else { Event::FocusLost });
    }

    /// Changes the size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.backend_mut().resize(columns, rows);
        self.event(Event::Resize(columns, rows));
    }

    /// Time passes.
    pub fn tick(&mut self) {
        self.take_in(Msg::Tick);
    }

    fn event(&mut self, event: Event) {
        self.take_in(message(event));
    }

    fn take_in(&mut self, msg: Msg) {
        let acts = self.app.on(msg, self.world.now_ms());
        self.carry_out(acts);
    }

    fn carry_out(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Ask(..) | Act::Run(..) => {
                    self.waits += usize::from(matches!(act, Act::Ask(..)));
                    drop(for_owner(&self.client, &self.tell, act));
                }
                Act::Follow(tab, follow) => {
                    let task = for_owner(&self.client, &self.tell, Act::Follow(tab, follow));
                    if let Some(before) = self.follows.insert(tab, task) {
                        before.abort();
                    }
                }
                Act::Unfollow(tab) => {
                    if let Some(task) = self.follows.remove(&tab) {
                        task.abort();
                    }
                }
                // Its reply comes, and nothing waits for it.
                Act::Cancel(_) => {}
                Act::Copy(text) => self.copied.push(text),
                Act::Notify(text) => self.notified.push(text),
                Act::Edit(text) => {
                    let edited = self.world.edit(&text);
                    self.take_in(Msg::Edited(edited));
                }
                Act::Keep(theme) => {
                    let kept = self.world.keep_theme(&theme);
                    self.take_in(Msg::Kept(theme, kept));
                }
                Act::Suspend | Act::Redraw => {}
                Act::Quit => self.is_over = true,
            }
        }
    }

    /// Draws, and returns the screen line by line, without trailing spaces.
    pub fn screen(&mut self) -> String {
        let buffer = self.draw().clone();
        let width = usize::from(buffer.area.width).max(1);
        let mut text = String::new();
        for row in buffer.content.chunks(width) {
            let mut line = String::new();
            let mut skip = 0;
            for cell in row {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                line.push_str(cell.symbol());
                skip = crate::text::width::columns(cell.symbol()).saturating_sub(1);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Draws, and returns the cells.
    ///
    /// # Panics
    ///
    /// Never: drawing to memory can't fail.
    pub fn draw(&mut self) -> &Buffer {
        let app = &mut self.app;
        self.terminal.draw(|frame| app.draw(frame)).expect("BUG: memory can be drawn to");
        let acts = self.app.drawn();
        self.carry_out(acts);
        self.terminal.backend().buffer()
    }

    /// Handles messages and draws until the screen matches. Returns the screen; after a timeout, the last one.
    pub async fn until(
        &mut self,
        patience: Duration,
        shows: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let seeking = async {
            loop {
                let screen = self.screen();
                if shows(&screen) {
                    return screen;
                }
                tokio::select! {
                    Some(msg) = self.heard.recv() => self.hear(msg),
                    () = tokio::time::sleep(Duration::from_millis(20)) => self.tick(),
                }
                self.catch_up();
            }
        };
        let found = tokio::time::timeout(patience, seeking).await;
        found.map_err(|_| self.screen())
    }

    /// Handles the messages that have arrived.
    pub fn catch_up(&mut self) {
        while let Ok(msg) = self.heard.try_recv() {
            self.hear(msg);
        }
    }

    /// Handles messages until every request is answered.
    pub async fn settled(&mut self) {
        while self.waits > 0 {
            let Some(msg) = self.heard.recv().await else { return };
            self.hear(msg);
            self.draw();
        }
    }

    fn hear(&mut self, msg: Msg) {
        if matches!(msg, Msg::Replied(..)) {
            self.waits -= 1;
        }
        self.take_in(msg);
    }

    /// The copied texts.
    #[must_use]
    pub fn copied(&self) -> &[String] {
        &self.copied
    }

    /// The notifications for a person who was looking elsewhere.
    #[must_use]
    pub fn notified(&self) -> &[String] {
        &self.notified
    }

    /// Whether the person has quit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Drop for Headless {
    fn drop(&mut self) {
        for task in self.follows.values() {
            task.abort();
        }
    }
}
