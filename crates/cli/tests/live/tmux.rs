//! The full-screen face in a real terminal: a server of tmux of its own, with a shell in which `retake` is typed. Must never leave a server
//! behind, nor touch one of the person who runs the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::world::World;
use crate::term::pty::now;

/// How often the screen is looked at, and how long it may take to show what is waited for.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(30);

/// What the shell says when it waits for words.
const PROMPT: &str = "here$";

/// A window with a shell.
pub(super) struct Tmux {
    /// Where the server listens: a path of a socket is short.
    home: TempDir,
}

impl Tmux {
    /// A shell in the folder of this world.
    pub(super) fn shell(world: &World, columns: u16, rows: u16) -> Self {
        let terminal = Self { home: tempfile::tempdir().expect("a folder") };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut start = terminal.command();
        // Some shells take the prompt out of what they give on.
        let shell = format!("exec env PS1='{PROMPT} ' sh");
        start.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &shell]);
        let given = world.command(&[]);
        for (name, value) in given.get_envs() {
            match value {
                Some(value) => start.env(name, value),
                None => start.env_remove(name),
            };
        }
        start.env("RETAKE", env!("CARGO_BIN_EXE_retake")).env_remove("NO_COLOR");
        start.env_remove("ENV").current_dir(world.folder());
        let started = start.output().expect("tmux is installed");
        assert!(started.status.success(), "{started:?}");
        terminal.until("the shell", |screen| screen.contains(PROMPT));
        terminal
    }

    /// The face in a conversation of this world: the newest one, or a new one.
    pub(super) fn face(world: &World, arguments: &str) -> Self {
        let terminal = Self::shell(world, 100, 30);
        terminal.types(&format!("\"$RETAKE\" {arguments}"));
        terminal.press("Enter");
        terminal
    }

    fn socket(&self) -> PathBuf {
        self.home.path().join("t")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(self.socket()).env_remove("TMUX");
        command
    }

    fn does(&self, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().expect("tmux is installed");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types letters.
    pub(super) fn types(&self, text: &str) {
        self.does(&["send-keys", "-l", text]);
    }

    /// Presses keys, by tmux's names.
    pub(super) fn press(&self, key: &str) {
        self.does(&["send-keys", key]);
    }

    /// Pastes a text as terminals do.
    pub(super) fn pastes(&self, text: &str) {
        self.does(&["set-buffer", text]);
        self.does(&["paste-buffer", "-p"]);
    }

    pub(super) fn resize(&self, columns: u16, rows: u16) {
        self.does(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    pub(super) fn screen(&self) -> String {
        self.does(&["capture-pane", "-p"])
    }

    /// Column and row of the cursor, and whether it is shown.
    pub(super) fn cursor(&self) -> (usize, usize, bool) {
        let said = self.does(&["display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}"]);
        let mut numbers = said.split_whitespace().map(|number| number.parse::<usize>().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        (next(), next(), next() == 1)
    }

    /// Whether a program has the other screen, which hides what the shell has printed.
    pub(super) fn is_full_screen(&self) -> bool {
        self.does(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    /// Waits until the screen shows what is expected.
    pub(super) fn until(&self, what: &str, expected: impl Fn(&str) -> bool) -> String {
        let end = now() + PATIENCE;
        loop {
            let screen = self.screen();
            if expected(&screen) {
                return screen;
            }
            assert!(now() < end, "waited for {what}, and the screen is\n{screen}");
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the screen shows this.
    pub(super) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Whether the screen shows this within a second.
    pub(super) fn comes(&self, text: &str) -> bool {
        let end = now() + Duration::from_secs(1);
        while now() < end {
            if self.screen().contains(text) {
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }

    /// Waits until the screen no longer shows this.
    pub(super) fn hides(&self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    /// From now on what programs copy can be pasted here.
    pub(super) fn accepts_copies(&self) {
        self.does(&["set-option", "-s", "set-clipboard", "on"]);
    }

    /// What was copied last.
    pub(super) fn copied(&self) -> String {
        self.does(&["show-buffer"])
    }

    /// Waits until the shell has the terminal again, as it was: lines are read and echoed, the cursor is there.
    pub(super) fn is_given_back(&self) {
        self.until("the shell", |screen| {
            !self.is_full_screen()
                && screen.trim_end().lines().last().is_some_and(|line| line.trim() == PROMPT)
        });
        assert!(self.cursor().2, "the cursor is shown");
        self.types("stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo | tr '\\n' '+'");
        self.press("Enter");
        self.until("a terminal that reads lines", |screen| {
            screen.contains("icanon+echo+") || screen.contains("echo+icanon+")
        });
    }

    /// The process of the program that runs in the window.
    pub(super) fn pid_of(&self, program: &Path) -> String {
        let shell = self.does(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        let children =
            std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("Linux");
        let is_it = |pid: &&str| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|exe| exe.file_name() == program.file_name())
        };
        children.split_whitespace().find(is_it).expect("it runs").to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // The shell may have ended by itself, and the server with it.
        drop(self.command().arg("kill-server").output());
    }
}
