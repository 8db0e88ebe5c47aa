//! The full-screen client in a real terminal: a tmux server of its own, with a shell in which `retake` is typed. Must never leave
//! a server behind, nor touch one of the person who runs the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use unicode_width::UnicodeWidthStr as _;

use super::harness::{World, runs};
use crate::term::pty::now;

/// How often the screen is read, and how long it may take to show the expected text.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(30);

/// The shell's prompt.
const PROMPT: &str = "here$";

/// A window with a shell.
pub(super) struct Tmux {
    /// The folder of the socket: its path must be short.
    home: TempDir,
}

impl Tmux {
    /// A shell in the folder of this world.
    pub(super) fn shell(world: &World, columns: u16, rows: u16) -> Self {
        let terminal = Self { home: tempfile::tempdir().expect("a folder") };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut start = terminal.command();
        // Some shells remove the prompt from the environment of their children.
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

    /// The client in a conversation of this world: the newest one, or a new one.
    pub(super) fn client(world: &World, arguments: &str) -> Self {
        let terminal = Self::shell(world, 100, 30);
        terminal.runs(&format!("\"$RETAKE\" {arguments}"));
        terminal
    }

    /// Types a command line.
    pub(super) fn runs(&self, line: &str) {
        self.types(line);
        self.press("Enter");
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

    /// Presses a key, by tmux's names. A key after an Escape waits until that is visible: read together, the two are one key, as
    /// in any terminal.
    pub(super) fn press(&self, key: &str) {
        self.does(&["send-keys", key]);
    }

    /// Sends bytes, like the terminal's keys, mouse or focus.
    pub(super) fn sends(&self, bytes: &str) {
        let bytes: Vec<String> = bytes.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut command = vec!["send-keys", "-H"];
        command.extend(bytes.iter().map(String::as_str));
        self.does(&command);
    }

    /// Turns the wheel, or presses and releases a button, at a position of the screen, counted from 0.
    pub(super) fn mouse(&self, button: u8, column: usize, row: usize) {
        let (column, row) = (column + 1, row + 1);
        self.sends(&format!("\x1b[<{button};{column};{row}M"));
        if button < 64 {
            self.sends(&format!("\x1b[<{button};{column};{row}m"));
        }
    }

    /// The position of a text on the screen: column and row.
    pub(super) fn place_of(&self, text: &str) -> (usize, usize) {
        let screen = self.shows(text);
        let found =
            screen.lines().enumerate().find_map(|(row, line)| Some((width(&line[..line.find(text)?]), row)));
        found.expect("it is shown")
    }

    /// Sets the window's background, which tmux reports to programs that query it.
    pub(super) fn is_behind(&self, colour: &str) {
        self.does(&["select-pane", "-P", &format!("bg={colour}")]);
    }

    /// Writes the program's raw output to a file.
    pub(super) fn records(&self, file: &Path) {
        self.does(&["pipe-pane", "-o", &format!("cat > '{}'", file.display())]);
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

    /// The screen with its colours, as escape sequences.
    pub(super) fn coloured(&self) -> String {
        self.does(&["capture-pane", "-p", "-e"])
    }

    /// Column and row of the cursor, and whether it is shown.
    pub(super) fn cursor(&self) -> (usize, usize, bool) {
        let said = self.does(&["display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}"]);
        let mut numbers = said.split_whitespace().map(|number| number.parse::<usize>().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        (next(), next(), next() == 1)
    }

    /// Whether a program has the alternate screen, which hides the shell's output.
    pub(super) fn is_full_screen(&self) -> bool {
        self.does(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    /// Whether a program has captured the mouse.
    pub(super) fn has_mouse(&self) -> bool {
        self.does(&["display-message", "-p", "#{mouse_any_flag}"]).trim() == "1"
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

    /// From now on, copied text can be pasted here.
    pub(super) fn accepts_copies(&self) {
        self.does(&["set-option", "-s", "set-clipboard", "on"]);
    }

    /// What was copied last.
    pub(super) fn copied(&self) -> String {
        self.does(&["show-buffer"])
    }

    /// Waits until the shell has the terminal again, restored: lines are read and echoed, the cursor is visible.
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
        assert!(!self.has_mouse(), "the mouse is free");
        // Pastes and focus changes arrive only as a shell expects.
        self.types("cat -v");
        self.press("Enter");
        self.pastes("pasted");
        self.sends("\n\x04");
        let screen = self.until("what cat has read", |screen| {
            screen.trim_end().lines().last().is_some_and(|line| line.trim() == PROMPT)
                && screen.matches("pasted").count() == 2
        });
        assert!(!screen.contains("^[["), "{screen}");
    }

    /// Quits the client with its key, and waits until the shell has the terminal again.
    pub(super) fn leaves(&self) {
        self.press("C-q");
        self.is_given_back();
    }

    /// Closes the window, like a person.
    pub(super) fn closes(self) {
        drop(self);
    }

    /// The child processes of the window's shell; none if it has ended.
    fn children(&self) -> String {
        let shown = self.command().args(["display-message", "-p", "#{pane_pid}"]).output();
        let shell = String::from_utf8_lossy(&shown.expect("tmux is installed").stdout).trim().to_owned();
        std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap_or_default()
    }

    /// The process of the program in the window.
    pub(super) fn pid_of(&self, program: &Path) -> String {
        let children = self.children();
        let is_it = |pid: &&str| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|exe| exe.file_name() == program.file_name())
        };
        children.split_whitespace().find(is_it).expect("it runs").to_owned()
    }
}

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

impl Drop for Tmux {
    /// Closes the window. A client whose terminal was closed stores its draft, and starts an owner for that if there is none. So
    /// this waits for its end: after that no owner starts.
    fn drop(&mut self) {
        let children = self.children();
        // The shell may have ended by itself, and the server with it.
        drop(self.command().arg("kill-server").output());
        let end = now() + PATIENCE;
        while now() < end && children.split_whitespace().any(runs) {
            std::thread::sleep(LOOK);
        }
    }
}
