//! The parts of the UI together, without a terminal: a test's own owner, keys, the mouse, the focus, sizes. Must never wait for
//! real time to pass.

use std::sync::Mutex;

use crossterm::event::{MouseButton, MouseEventKind};
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::stream::BoxStream;
use retake_wire::reply::{Entries, Permissions};
use retake_wire::{
    Ended, Event as Said, Follow, NumberedEvent, Outcome, Problem, Reply, Request, Role, Run, RunEvent,
    Snapshot,
};

use super::*;
use crate::ui::settings::Settings;
use crate::ui::testing::{NOW_MS, conversation, entries, problem};
use crate::ui::theme::{Background, Colours, Theme, Themes};
use crate::ui::{Keymap, Start};

const ID: &str = "0199a000-c";

const PATIENCE: Duration = Duration::from_secs(20);

/// An owner with one conversation, whose events the test sends.
struct Owner(Mutex<Option<UnboundedReceiver<NumberedEvent>>>);

#[async_trait::async_trait]
impl Client for Owner {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        match request {
            Request::Info(_) => {
                Ok(Reply::Conversation(conversation(ID, Some("Sums"), "what is 6 times 7?", 1)))
            }
            _ => Err(problem("it is not known here")),
        }
    }

    async fn run(&self, _: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        Err(problem("nothing runs here"))
    }

    async fn follow(&self, _: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        let told = self.0.lock().expect("no panic").take();
        told.map(|told| told.boxed()).ok_or_else(|| problem("it is followed already"))
    }
}

/// A clock that the test sets, and no editor.
struct Here(Arc<Mutex<i64>>);

impl World for Here {
    fn now_ms(&self) -> i64 {
        *self.0.lock().expect("no panic")
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        Ok(format!("{text}, edited"))
    }

    fn keep_theme(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn suspend(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A UI in a conversation of two turns, its owner, and the clock.
struct Play {
    stage: Headless,
    tells: UnboundedSender<NumberedEvent>,
    clock: Arc<Mutex<i64>>,
}

impl Play {
    async fn begin() -> Self {
        let (tells, told) = unbounded();
        let clock = Arc::new(Mutex::new(NOW_MS));
        let beginning = Launch {
            start: Start::In(ID.to_owned()),
            folder: "/work".to_owned(),
            version: "1.2.3".to_owned(),
            model: Some("demo".to_owned()),
            settings: Settings::default(),
            keys: Keymap::default(),
            theme: Theme::usual(Colours::True, Background::Dark),
            themes: Themes::default(),
            notices: Vec::new(),
        };
        let owner = Arc::new(Owner(Mutex::new(Some(told))));
        let stage = Headless::new(owner, Box::new(Here(Arc::clone(&clock))), beginning, 80, 16);
        let mut play = Self { stage, tells, clock };
        // The subscriptions are known only after the first requests are answered.
        play.stage.settled().await;
        play.tells(Said::Snapshot(Box::new(snapshot())));
        play.shows("The same.").await;
        play
    }

    fn tells(&self, event: Said) {
        self.tells.unbounded_send(NumberedEvent { id: None, event }).expect("somebody follows");
    }

    fn says(&self, said: RunEvent) {
        self.tells(Said::Run { said });
    }

    async fn shows(&mut self, text: &str) -> String {
        let shown = self.stage.until(PATIENCE, |screen| screen.contains(text)).await;
        shown.unwrap_or_else(|screen| panic!("waited for {text}, and the screen is\n{screen}"))
    }

    async fn hides(&mut self, text: &str) -> String {
        let shown = self.stage.until(PATIENCE, |screen| !screen.contains(text)).await;
        shown.unwrap_or_else(|screen| panic!("waited for no {text}, and the screen is\n{screen}"))
    }

    /// A run of this duration.
    async fn runs(&mut self, seconds: i64) {
        self.says(RunEvent::Started { receipt: None, model: "demo".to_owned() });
        self.shows("stops").await;
        *self.clock.lock().expect("no panic") += seconds * 1_000;
        let (outcome, receipt) = (Outcome::Succeeded, None);
        self.says(RunEvent::Ended(Box::new(Ended { outcome, receipt, entry: None, problem: None })));
        self.hides("stops").await;
    }

    fn mouse(&mut self, kind: MouseEventKind, row: u16) {
        self.mouse_at(kind, 4, row);
    }

    fn mouse_at(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.stage.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        // Like the driver: each key is drawn at once.
        drop(self.stage.screen());
    }

    fn click(&mut self, column: u16, row: u16) {
        self.mouse_at(MouseEventKind::Down(MouseButton::Left), column, row);
        self.mouse_at(MouseEventKind::Up(MouseButton::Left), column, row);
    }

    /// Drags between two positions, by column and row.
    fn drag(&mut self, from: (u16, u16), to: (u16, u16)) {
        self.mouse_at(MouseEventKind::Down(MouseButton::Left), from.0, from.1);
        self.mouse_at(MouseEventKind::Drag(MouseButton::Left), to.0, to.1);
        self.mouse_at(MouseEventKind::Up(MouseButton::Left), to.0, to.1);
    }
}

fn snapshot() -> Snapshot {
    let said = [
        (Role::User, "what is 6 times 7?"),
        (Role::Assistant, "**42**, as everybody knows."),
        (Role::User, "and the other way round?"),
        (Role::Assistant, "The same."),
    ];
    let Reply::Entries(Entries { entries, .. }) = entries(ID, &said) else { panic!("entries") };
    Snapshot {
        conversation: conversation(ID, Some("Sums"), "what is 6 times 7?", 1),
        entries,
        earlier: false,
        running: false,
        waiting: Vec::new(),
        permissions: Permissions::default(),
        unbegun: Vec::new(),
        cut_off: Vec::new(),
        drafts: Vec::new(),
    }
}

fn row(screen: &str, text: &str) -> u16 {
    let row = screen.lines().position(|line| line.contains(text)).expect("it is shown");
    u16::try_from(row).expect("a small screen")
}

#[tokio::test]
async fn notification_is_for_long_runs_in_other_tabs_only() {
    let mut play = Play::begin().await;
    play.runs(60).await;
    assert_eq!(play.stage.notified(), [] as [&str; 0], "whoever sees it is not told");
    play.stage.focus(false);
    play.runs(5).await;
    assert_eq!(play.stage.notified(), [] as [&str; 0], "that was a moment");
    play.runs(60).await;
    assert_eq!(play.stage.notified(), ["Sums is done"]);
    play.stage.focus(true);
    play.runs(60).await;
    assert_eq!(play.stage.notified().len(), 1);
}

#[tokio::test]
async fn a_click_selects_a_message_which_is_copied() {
    let mut play = Play::begin().await;
    let screen = play.stage.screen();
    play.click(4, row(&screen, "as everybody knows"));
    play.shows("y copy").await;
    play.stage.press("y");
    play.shows("sent to the terminal's clipboard").await;
    assert_eq!(play.stage.copied(), ["**42**, as everybody knows."], "as it was written");
}

#[tokio::test]
async fn a_click_into_the_composer_gives_it_the_keys() {
    let mut play = Play::begin().await;
    play.stage.write("half thought");
    let screen = play.stage.screen();
    play.click(4, row(&screen, "as everybody knows"));
    play.shows("y copy").await;
    let screen = play.stage.screen();
    play.click(7, row(&screen, "half thought"));
    play.hides("y copy").await;
    play.stage.write("a ");
    play.shows("half a thought").await;
}

#[tokio::test]
async fn dragged_text_is_copied_as_shown() {
    let mut play = Play::begin().await;
    let screen = play.stage.screen();
    let [first, last] = ["as everybody knows", "the other way round"].map(|text| row(&screen, text));
    play.drag((6, first), (200, first));
    play.shows("sent 1 line to").await;
    assert_eq!(play.stage.copied(), ["as everybody knows."]);
    assert!(!play.stage.screen().contains('▌'), "no message is selected");
    // Upwards is the same, and the text between is included.
    play.stage.press("esc");
    play.drag((8, last), (6, first));
    play.shows("sent 3 lines to").await;
    assert_eq!(play.stage.copied().last().expect("it is"), "as everybody knows.\n\nand the");
    // The number of the turn is beside the message, and no part of it.
    let numbered = screen.lines().nth(usize::from(last)).is_some_and(|line| line.ends_with("t2"));
    assert!(numbered, "{screen}");
    play.stage.press("esc");
    play.drag((0, last), (200, last));
    play.shows("sent 1 line to").await;
    let copied = play.stage.copied().last().cloned().unwrap_or_default();
    assert!(copied.starts_with("and the other way round") && !copied.contains("t2"), "{copied}");
    // A click removes the highlight, and does nothing else.
    play.click(6, first);
    assert!(!play.stage.screen().contains('▌'));
    play.click(6, first);
    play.shows("▌").await;
}

#[tokio::test]
async fn the_wheel_scrolls_and_another_size_loses_nothing() {
    let mut play = Play::begin().await;
    play.stage.write("half a thought");
    play.stage.resize(80, 7);
    let screen = play.stage.screen();
    assert!(
        screen.contains("The same.") && !screen.contains("6 times 7"),
        "the end stays in sight: {screen}"
    );
    for _ in 0..5 {
        play.mouse(MouseEventKind::ScrollUp, 2);
    }
    play.shows("6 times 7").await;
    for (columns, rows) in [(20, 6), (1, 1), (200, 60)] {
        play.stage.resize(columns, rows);
        let screen = play.stage.screen();
        assert!(
            screen.lines().all(|line| crate::text::width::columns(line) <= usize::from(columns)),
            "{screen}"
        );
    }
    let screen = play.stage.screen();
    for text in ["6 times 7", "The same.", "half a thought"] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
}

#[tokio::test]
async fn own_editor_returns_the_text_and_quitting_is_cancelled() {
    let mut play = Play::begin().await;
    play.stage.write("words");
    play.stage.press("ctrl+g");
    play.shows("words, edited").await;
    assert!(!play.stage.is_over());
    play.stage.press("ctrl+q");
    play.stage.settled().await;
    assert!(play.stage.is_over());
}
