//! The UI in a real terminal: waits for events, passes them to the [`App`], draws, and carries out its acts. Must always give the
//! terminal back, however it ends. Must never wait for the owner before it answers a key.

mod answer;
mod partial;
mod requests;
mod screen;
mod signals;
mod world;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures::StreamExt as _;
use retake_wire::{Client, Problem};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use super::app::{App, RunningRun, Start, StartInfo};
use super::keymap::Keymap;
use super::msg::{Act, Msg, TabId, Ticket};
use super::settings::Settings;
use super::theme::{Theme, Themes};
use answer::Answer;
use partial::PartialKey;
use screen::Screen;

pub(super) use requests::for_owner;
pub use screen::{restore, restore_after_panic};
pub use signals::{quit, resume, suspend};
pub use world::World;

/// The least milliseconds between two drawings that nobody waits for.
const FRAME_MS: i64 = 16;

/// The milliseconds between two ticks during an animation, and otherwise.
const LIVELY_MS: i64 = 80;
const CALM_MS: i64 = 1_000;

/// The most messages in the queue.
const WAITING: usize = 1_024;

/// The parameters of the UI.
#[derive(Clone, Debug)]
pub struct Launch {
    /// How it starts.
    pub start: Start,
    /// The folder for new conversations.
    pub folder: String,
    /// The version of the program.
    pub version: String,
    /// The model from the command line.
    pub model: Option<String>,
    /// The settings.
    pub settings: Settings,
    /// The keymap.
    pub keys: Keymap,
    /// Colours.
    pub theme: Theme,
    /// The available themes.
    pub themes: Themes,
    /// Notices for the start, one sentence each.
    pub notices: Vec<String>,
}

/// A connection to the owner.
pub struct Connection {
    /// The client for requests.
    pub client: Arc<dyn Client>,
    /// Notices for the person, one sentence each.
    pub notices: Vec<String>,
}

/// The state when the UI ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The conversation to continue.
    pub conversation: Option<String>,
    /// Text that could not be stored in time.
    pub unsaved: Vec<String>,
    /// Runs that continue in the owner.
    pub running: Vec<RunningRun>,
}

/// Why the UI could not continue.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// The terminal can't be used.
    #[error("the terminal can't be used")]
    Terminal(#[source] std::io::Error),
    /// The owner can't be reached.
    #[error("the conversations can't be opened")]
    Owner(#[source] Problem),
    /// A part of the program panicked; its message was printed.
    #[error("a part of the program has failed; the conversation is kept")]
    Panicked,
}

/// Shows the UI until the person quits. The screen is drawn before the owner is there.
///
/// # Errors
///
/// See [`UiError`]. The terminal is given back in any case.
pub async fn run(
    opening: impl Future<Output = Result<Connection, Problem>>,
    world: &mut dyn World,
    beginning: Launch,
) -> Result<Exit, UiError> {
    let mouse = beginning.settings.mouse;
    let is_asked = beginning.settings.is_background_asked(beginning.theme);
    let mut screen = Screen::enter(mouse).map_err(UiError::Terminal)?;
    let mut app = app(beginning, world.now_ms());
    screen.draw(&mut app).map_err(UiError::Terminal)?;
    // Nothing waits for the answer: the screen is drawn again after it.
    let answer = if is_asked {
        screen.ask_background().map_err(UiError::Terminal)?;
        Answer::comes(world.now_ms())
    } else {
        Answer::default()
    };
    let (tell, heard) = mpsc::channel(WAITING);
    let mut driver = Driver {
        app,
        screen,
        world,
        client: None,
        waiting: Vec::new(),
        follows: HashMap::new(),
        asks: HashMap::new(),
        tell,
        heard,
        input: Input { keys: Some(EventStream::new()), partial: PartialKey::default(), answer },
        pace: Pace::default(),
        is_quitting: false,
        lost: None,
        is_over: false,
    };
    let presence = signals::RunningGuard::new();
    let acts = driver.app.begin();
    driver.carry_out(acts)?;
    let left = driver.run(opening).await;
    driver.answered().await;
    driver.screen.give_back();
    if driver.is_quitting {
        signals::has_quit().await;
    }
    drop(presence);
    left
}

/// The app at the start.
pub(super) fn app(beginning: Launch, now_ms: i64) -> App {
    let Launch { start, folder, version, model, settings, keys, theme, themes, notices } = beginning;
    let known = StartInfo { folder, version, model };
    let mut app = App::new(known, start, settings, keys, theme, now_ms);
    app.offer(themes);
    for notice in notices {
        app.notice(notice);
    }
    app
}

/// The message for a terminal's event.
pub(super) fn message(event: Event) -> Msg {
    match event {
        Event::Key(key) => Msg::Key(key),
        Event::Mouse(mouse) => Msg::Mouse(mouse),
        Event::Paste(text) => Msg::Paste(text),
        Event::Resize(..) => Msg::Resized,
        Event::FocusGained => Msg::Focus(true),
        Event::FocusLost => Msg::Focus(false),
    }
}

/// The state while the UI runs.
struct Driver<'a> {
    app: App,
    screen: Screen,
    world: &'a mut dyn World,
    /// The owner, once it is there.
    client: Option<Arc<dyn Client>>,
    /// The acts that wait for it.
    waiting: Vec<Act>,
    follows: HashMap<Option<TabId>, JoinHandle<()>>,
    /// The requests without a reply yet.
    asks: HashMap<Ticket, AbortHandle>,
    tell: mpsc::Sender<Msg>,
    heard: mpsc::Receiver<Msg>,
    input: Input,
    pace: Pace,
    /// The process was asked to quit.
    is_quitting: bool,
    /// Why the terminal can't be used any more.
    lost: Option<std::io::Error>,
    is_over: bool,
}

/// When what is due was done last.
#[derive(Default)]
struct Pace {
    drawn_ms: i64,
    ticked_ms: i64,
    /// Something is to be drawn.
    is_dirty: bool,
}

/// Input of the terminal.
struct Input {
    /// The keys; `None` while another program has the terminal.
    keys: Option<EventStream>,
    /// An incomplete key.
    partial: PartialKey,
    /// The terminal's answer about its background, which arrives among the keys.
    answer: Answer,
}

impl Input {
    /// The messages for an event. Parts of keys and of the terminal's answer are held back.
    fn take(&mut self, event: Event, now_ms: i64) -> Vec<Msg> {
        let whole = self.partial.take(event, now_ms);
        whole.into_iter().flat_map(|event| self.whole(event, now_ms)).collect()
    }

    fn whole(&mut self, event: Event, now_ms: i64) -> Vec<Msg> {
        let (events, background) = self.answer.take(event, now_ms);
        background.map(Msg::Background).into_iter().chain(events.into_iter().map(message)).collect()
    }

    /// Input that was held back because more could have followed.
    fn held(&mut self, now_ms: i64) -> Vec<Msg> {
        let partial = self.partial.rest(now_ms);
        let mut msgs: Vec<_> = partial.into_iter().flat_map(|event| self.whole(event, now_ms)).collect();
        msgs.extend(self.answer.rest(now_ms).into_iter().map(message));
        msgs
    }
}

/// What woke the loop.
enum WakeCause {
    QuitRequested,
    SuspendRequested,
    Resumed,
    Opened(Result<Connection, Problem>),
    Terminal(Option<std::io::Result<Event>>),
    Heard(Option<Msg>),
    Time,
}

impl Driver<'_> {
    async fn run(
        &mut self,
        opening: impl Future<Output = Result<Connection, Problem>>,
    ) -> Result<Exit, UiError> {
        let mut opening = std::pin::pin!(opening);
        while !self.is_over {
            let pause = self.pause();
            let opened = self.client.is_some();
            let woken = tokio::select! {
                biased;
                () = screen::broke() => return Err(UiError::Panicked),
                () = signals::quit_requested(), if !self.is_quitting => WakeCause::QuitRequested,
                () = signals::suspend_requested() => WakeCause::SuspendRequested,
                () = signals::resumed() => WakeCause::Resumed,
                event = next(&mut self.input.keys) => WakeCause::Terminal(event),
                found = &mut opening, if !opened => WakeCause::Opened(found),
                msg = self.heard.recv() => WakeCause::Heard(msg),
                () = tokio::time::sleep(pause) => WakeCause::Time,
            };
            let is_key = matches!(woken, WakeCause::Terminal(_));
            match woken {
                WakeCause::Opened(found) => self.opened(found.map_err(UiError::Owner)?)?,
                WakeCause::QuitRequested => {
                    self.is_quitting = true;
                    self.take_in(Msg::Closed)?;
                }
                WakeCause::SuspendRequested => self.carry_out(vec![Act::Suspend])?,
                // The shell may have changed the terminal meanwhile, so all of it is set up again.
                WakeCause::Resumed => self.away(|_| ())?,
                WakeCause::Terminal(None) => self.closed(std::io::ErrorKind::UnexpectedEof.into())?,
                WakeCause::Terminal(Some(Err(error))) => self.closed(error)?,
                WakeCause::Terminal(Some(Ok(event))) => self.event(event)?,
                WakeCause::Heard(Some(msg)) => self.take_in(msg)?,
                WakeCause::Heard(None) => {}
                WakeCause::Time => {}
            }
            self.held()?;
            self.tick()?;
            // Messages that have arrived meanwhile are drawn together.
            for _ in 0..WAITING {
                let Ok(msg) = self.heard.try_recv() else { break };
                self.take_in(msg)?;
            }
            self.draw(is_key)?;
        }
        if let Some(error) = self.lost.take().filter(|_| !self.is_quitting) {
            return Err(UiError::Terminal(error));
        }
        Ok(Exit {
            conversation: self.app.conversation().map(str::to_owned),
            unsaved: self.app.unsaved(),
            running: self.app.running_runs(),
        })
    }

    /// The terminal is gone: nothing is drawn and no key arrives any more. The owner gets the unsent text.
    fn closed(&mut self, why: std::io::Error) -> Result<(), UiError> {
        self.input.keys = None;
        self.lost = Some(why);
        self.take_in(Msg::Closed)
    }

    /// The result of a write to the terminal, unless that is gone.
    fn shown(&mut self, done: std::io::Result<()>) -> Result<(), UiError> {
        match done {
            Err(error) if self.lost.is_none() => self.closed(error),
            _ => Ok(()),
        }
    }

    /// How long to sleep unless something happens.
    fn pause(&self) -> Duration {
        if self.input.partial.is_begun() {
            return Duration::from_millis(partial::AT_ONCE_MS.into());
        }
        if self.pace.is_dirty {
            let since = self.world.now_ms() - self.pace.drawn_ms;
            return Duration::from_millis(u64::try_from(FRAME_MS - since).unwrap_or(0));
        }
        Duration::from_millis(u64::try_from(self.next_tick_ms()).unwrap_or(0))
    }

    /// The milliseconds until the next tick.
    fn next_tick_ms(&self) -> i64 {
        let every = if self.app.is_lively() || self.input.answer.is_begun() { LIVELY_MS } else { CALM_MS };
        let since = self.world.now_ms() - self.pace.ticked_ms;
        // A clock that was set back does not put it off.
        if since < 0 { 0 } else { every - since }
    }

    fn event(&mut self, event: Event) -> Result<(), UiError> {
        let msgs = self.input.take(event, self.world.now_ms());
        msgs.into_iter().try_for_each(|msg| self.take_in(msg))
    }

    fn held(&mut self) -> Result<(), UiError> {
        let msgs = self.input.held(self.world.now_ms());
        msgs.into_iter().try_for_each(|msg| self.take_in(msg))
    }

    /// Waits a moment for an answer that is on its way: the shell would take it as input.
    async fn answered(&mut self) {
        while let (Some(wait), Some(keys)) =
            (self.input.answer.wait(self.world.now_ms()), self.input.keys.as_mut())
        {
            match tokio::time::timeout(wait, keys.next()).await {
                Ok(Some(Ok(event))) => drop(self.input.answer.take(event, self.world.now_ms())),
                Err(_) | Ok(Some(Err(_)) | None) => return,
            }
        }
    }

    fn opened(&mut self, found: Connection) -> Result<(), UiError> {
        self.client = Some(found.client);
        self.pace.is_dirty = true;
        for notice in found.notices {
            self.app.notice(notice);
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.carry_out(waiting)
    }

    /// Gives the app its tick when it is due: messages that arrive all the time must not put it off.
    fn tick(&mut self) -> Result<(), UiError> {
        if self.next_tick_ms() > 0 || self.input.partial.is_begun() {
            return Ok(());
        }
        self.pace.ticked_ms = self.world.now_ms();
        self.take_in(Msg::Tick)
    }

    fn take_in(&mut self, msg: Msg) -> Result<(), UiError> {
        self.pace.is_dirty = true;
        let acts = self.app.on(msg, self.world.now_ms());
        self.carry_out(acts)
    }

    /// Draws changes: at once if a person waits for them, else not more often than eyes can follow.
    fn draw(&mut self, at_once: bool) -> Result<(), UiError> {
        let now_ms = self.world.now_ms();
        if self.lost.is_some() {
            self.pace.is_dirty = false;
        }
        if !self.pace.is_dirty || self.is_over || (!at_once && now_ms - self.pace.drawn_ms < FRAME_MS) {
            return Ok(());
        }
        let drawn = self.screen.draw(&mut self.app);
        self.shown(drawn)?;
        self.pace.drawn_ms = now_ms;
        self.pace.is_dirty = false;
        let acts = self.app.drawn();
        self.carry_out(acts)
    }

    fn carry_out(&mut self, acts: Vec<Act>) -> Result<(), UiError> {
        for act in acts {
            match act {
                Act::Ask(..) | Act::Run(..) | Act::Follow(..) => self.with_owner(act),
                Act::Cancel(ticket) => {
                    self.waiting.retain(|act| !matches!(act, Act::Ask(asked, _) if *asked == ticket));
                    if let Some(task) = self.asks.remove(&ticket) {
                        task.abort();
                    }
                }
                Act::Unfollow(tab) => {
                    if let Some(task) = self.follows.remove(&tab) {
                        task.abort();
                    }
                }
                Act::Copy(text) => {
                    let done = self.screen.copy(&text);
                    self.shown(done)?;
                }
                Act::Notify(text) => {
                    let done = self.screen.notify(&text);
                    self.shown(done)?;
                }
                Act::Edit(text) => {
                    let edited = self.away(|world| world.edit(&text))?;
                    self.take_in(Msg::Edited(edited))?;
                }
                Act::Keep(theme) => {
                    let kept = self.world.keep_theme(&theme);
                    self.take_in(Msg::Kept(theme, kept))?;
                }
                Act::Suspend => {
                    let done = self.away(|world| world.suspend())?;
                    self.shown(done)?;
                }
                Act::Redraw => {
                    let done = self.screen.clear();
                    self.shown(done)?;
                }
                Act::Quit => self.is_over = true,
            }
        }
        Ok(())
    }

    /// Gives the terminal to another program for a while.
    fn away<T>(&mut self, does: impl FnOnce(&mut dyn World) -> T) -> Result<T, UiError> {
        self.input.keys = None;
        self.screen.pause();
        let done = does(self.world);
        // A closed terminal wakes the process, too: there is none to continue with, and the text must still be stored.
        let resumed = self.screen.resume();
        self.shown(resumed)?;
        if self.lost.is_none() {
            self.input.keys = Some(EventStream::new());
            self.pace.is_dirty = true;
        }
        Ok(done)
    }

    /// An act that needs the owner: carried out once it is there.
    fn with_owner(&mut self, act: Act) {
        let Some(client) = self.client.clone() else {
            self.waiting.push(act);
            return;
        };
        let (mut follows, mut asks) = (None, None);
        match &act {
            Act::Follow(tab, _) => follows = Some(*tab),
            Act::Ask(ticket, _) => asks = Some(*ticket),
            _ => {}
        }
        let task = for_owner(&client, &self.tell, act);
        if let Some(ticket) = asks {
            self.asks.retain(|_, task| !task.is_finished());
            self.asks.insert(ticket, task.abort_handle());
        }
        if let Some(before) = follows.and_then(|tab| self.follows.insert(tab, task)) {
            before.abort();
        }
    }
}

/// The next key, as long as there are keys.
async fn next(keys: &mut Option<EventStream>) -> Option<std::io::Result<Event>> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}
