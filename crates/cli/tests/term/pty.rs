//! A pseudo-terminal with the demo program: keys go in, a screen comes out. It answers terminal queries. Must never wait without
//! a deadline, and kills what it started.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Generous, for a busy machine; the usual wait is milliseconds.
const DEADLINE: Duration = Duration::from_secs(30);

/// How often terminal modes are checked, since their changes are silent.
const LOOK: Duration = Duration::from_millis(20);

/// The time, for deadlines.
#[expect(clippy::disallowed_methods, reason = "the program under test runs in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) struct Pty {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// The modes of the terminal before the program began.
    modes: String,
    keys: Sender<Vec<u8>>,
    screen: Arc<(Mutex<vt100::Parser<Answers>>, Condvar)>,
}

/// Answers queries for the cursor and the kind of terminal, so that the program knows it supports no newer protocol.
#[derive(Default)]
struct Answers {
    pending: Vec<u8>,
    /// All output so far.
    transcript: Vec<u8>,
    /// Whether there will be no more: the program and all that it started have closed the terminal.
    is_closed: bool,
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        intermediate: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        let (row, column) = screen.cursor_position();
        match (intermediate, params.first().copied(), c) {
            (None, Some([6]), 'n') => {
                self.pending.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, _, 'c') => self.pending.extend(b"\x1b[?62c"),
            _ => {}
        }
    }
}

fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has modes"))
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has rows and columns")
}

/// The demo program.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_term_demo"))
}

impl Pty {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    pub(crate) fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::run(program(), arguments, variables)
    }

    /// Starts any program.
    pub(crate) fn run(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 24, cols: 80, ..PtySize::default() };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        command.env("NO_COLOR", "");
        // No test leaves an owner behind.
        command.env("RETAKE_IDLE_S", "0");
        for (name, value) in variables {
            command.env(name, value);
        }
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let screen = Arc::new((
            Mutex::new(vt100::Parser::new_with_callbacks(cells(24), cells(80), 0, Answers::default())),
            Condvar::new(),
        ));
        let keys = type_keys(pair.master.take_writer().expect("the writer"));
        show(pair.master.try_clone_reader().expect("a reader"), Arc::clone(&screen), keys.clone());
        Self { master: pair.master, child, modes, keys, screen }
    }

    pub(crate) fn send(&self, keys: impl AsRef<[u8]>) {
        self.keys.send(keys.as_ref().to_owned()).expect("the writer lives");
    }

    pub(crate) fn paste(&self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~"));
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.0.lock().expect("the screen").screen().contents()
    }

    /// Waits until a piece of the screen has this colour, written as in escape sequences.
    #[track_caller]
    pub(crate) fn formats(&self, colour: &str) {
        self.until_screen(colour, |screen| screen.contents_formatted().contains(colour));
    }

    /// Whether a text was printed at any time, even if it is gone.
    pub(crate) fn ever_printed(&self, text: &str) -> bool {
        let parser = self.screen.0.lock().expect("the screen");
        String::from_utf8_lossy(&parser.callbacks().transcript).contains(text)
    }

    pub(crate) fn cursor_hidden(&self) -> bool {
        self.screen.0.lock().expect("the screen").screen().hide_cursor()
    }

    /// Waits until the screen matches, and returns it. It checks after each output, and at intervals.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, expected: impl Fn(&str) -> bool) -> String {
        self.until_screen(what, |screen| expected(&screen.contents()))
    }

    #[track_caller]
    fn until_screen(&self, what: &str, expected: impl Fn(&vt100::Screen) -> bool) -> String {
        let deadline = now() + DEADLINE;
        let mut parser = self.screen.0.lock().expect("the screen");
        loop {
            let contents = parser.screen().contents();
            if expected(parser.screen()) {
                return contents;
            }
            let left = deadline.saturating_duration_since(now());
            assert!(!left.is_zero(), "waited for {what}; the screen is\n{contents}\n");
            parser = self.screen.1.wait_timeout(parser, left.min(LOOK)).expect("the screen").0;
        }
    }

    /// Waits until the screen contains a text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Whether the terminal has the modes from before the program began.
    pub(crate) fn is_restored(&self) -> bool {
        modes(&*self.master) == self.modes
    }

    /// Waits until the program reads keys.
    #[track_caller]
    pub(crate) fn reads_keys(&self) {
        self.until("raw mode", |_| !self.is_restored());
    }

    /// Answers an approval request: with a second Enter if the first one came before anybody could have read the request.
    #[track_caller]
    pub(crate) fn answers(&self, words: &str) {
        let line = format!("allow? {words}");
        let given = |screen: &str| screen.matches(&line).count();
        let before = given(&self.screen());
        self.send(format!("{words}\r"));
        let is_kept = |screen: &str| screen.contains("(Enter again sends this");
        let screen = self.until("the answer", |screen| {
            is_kept(screen) || (given(screen) > before && !screen.trim_end().ends_with(&line))
        });
        if is_kept(&screen) {
            self.send("\r");
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> String {
        self.child.process_id().expect("it runs").to_string()
    }

    /// Kills the program.
    pub(crate) fn kill_at_once(&mut self) {
        let pid = self.child.process_id().and_then(|pid| i32::try_from(pid).ok()).expect("it runs");
        let pid = rustix::process::Pid::from_raw(pid).expect("it has an id");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
        self.child.wait().expect("ended");
    }

    /// Waits until the program has ended and all of its output is on the screen. Returns whether it was successful.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> bool {
        let deadline = now() + DEADLINE;
        let mut parser = self.screen.0.lock().expect("the screen");
        loop {
            let status = self.child.try_wait().expect("the child");
            match status.filter(|_| parser.callbacks().is_closed) {
                Some(status) => return status.success(),
                None if now() < deadline => {}
                None => panic!("it does not end; the screen is\n{}", parser.screen().contents()),
            }
            parser = self.screen.1.wait_timeout(parser, LOOK).expect("the screen").0;
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A thread that types, since a terminal accepts keys only as fast as they are read.
fn type_keys(mut writer: Box<dyn Write + Send>) -> Sender<Vec<u8>> {
    let (keys, typed) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        while let Ok(keys) = typed.recv() {
            if writer.write_all(&keys).and_then(|()| writer.flush()).is_err() {
                return;
            }
        }
    });
    keys
}

/// A thread that draws the program's output, and answers its queries.
fn show(
    mut reader: Box<dyn Read + Send>,
    screen: Arc<(Mutex<vt100::Parser<Answers>>, Condvar)>,
    keys: Sender<Vec<u8>>,
) {
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            let mut parser = screen.0.lock().expect("the screen");
            parser.callbacks_mut().transcript.extend_from_slice(&buffer[..length]);
            parser.process(&buffer[..length]);
            let answers = std::mem::take(&mut parser.callbacks_mut().pending);
            screen.1.notify_all();
            drop(parser);
            if !answers.is_empty() && keys.send(answers).is_err() {
                return;
            }
        }
        screen.0.lock().expect("the screen").callbacks_mut().is_closed = true;
        screen.1.notify_all();
    });
}
