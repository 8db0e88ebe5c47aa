//! The README's picture: `retake` in a tmux terminal, after some prompts and at a rewind, drawn as on the screen.
//! It must never show a path, a host or a time of the current machine, and never touch the data of the person who
//! runs it.

mod svg;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use crate::tools;

/// Where it is, from the root of the checkout.
const PICTURE: &str = "docs/rewind.svg";

/// The terminal's size: the whole plan fits, with the diff of the restored file.
const COLUMNS: usize = 100;
const ROWS: usize = 32;

/// The text of an empty composer, and the sign before typed text.
const EMPTY: &str = "Say something";
const TYPED: &str = "› ";

/// Each prompt, and the part of its answer that shows it is complete.
const STORY: [(&str, &str); 4] = [
    ("what is 6 times 7?", "You said \"what is 6 times 7?\""),
    ("write notes.md: buy milk", "made notes.md"),
    ("edit list.md: replace \"green\" with \"black\"", "edited list.md"),
    ("Tell me a story about a fox", "You said \"Tell me a story about a fox\""),
];

/// How often the screen is read, and how long it may take to show the expected text.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 600;

/// Builds `retake`, runs it and draws it.
///
/// # Errors
/// The build, the terminal or the program failed, or the screen does not become as expected.
pub(crate) fn remake(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    tools::ensure_terminal(out)?;
    let mut build = tools::cargo();
    build.args(["build", "--quiet", "--package", "retake-cli", "--bin", "retake"]).current_dir(root);
    ensure!(build.status().context("starting cargo")?.success(), "`retake` could not be built");
    let own = std::env::current_exe().context("finding the folder of what cargo built")?;
    let screen = rewinding(&own.with_file_name("retake"))?;
    let path = root.join(PICTURE);
    std::fs::create_dir_all(path.parent().unwrap_or(root))
        .and_then(|()| std::fs::write(&path, svg::draw(&screen, COLUMNS)?.as_bytes()))
        .with_context(|| format!("writing {PICTURE}"))?;
    writeln!(out, "{PICTURE} is drawn")?;
    Ok(())
}

/// The screen, with its escape sequences, when the picker shows the plan of a rewind to the third turn and its
/// file.
fn rewinding(program: &Path) -> anyhow::Result<String> {
    let home = tempfile::tempdir().context("making a folder for the conversation")?;
    let folder = home.path().join("tea");
    std::fs::create_dir(&folder)
        .and_then(|()| std::fs::write(folder.join("list.md"), "biscuits\ngreen tea\n"))
        .context("making the files of the conversation")?;
    let terminal = Terminal::start(program, home.path(), &folder)?;
    terminal.wait("an empty composer", is_idle)?;
    terminal.submit("/permissions allow-edits")?;
    terminal.wait("the permission", |screen| screen.contains("demo · allow-edits"))?;
    for (words, answer) in STORY {
        terminal.submit(words)?;
        terminal.wait("the answer", |screen| screen.contains(answer) && is_idle(screen))?;
    }
    terminal.tmux(&["send-keys", "C-r"])?;
    terminal.wait("the picker", |screen| {
        screen.contains("Rewind: go back to before a message") && screen.contains("takes back 2 messages")
    })?;
    terminal.tmux(&["send-keys", "Down"])?;
    terminal.wait("the plan of the third turn", |screen| screen.contains("reverts 1 file"))?;
    terminal.tmux(&["send-keys", "Right"])?;
    terminal.wait("the lines of the file", |screen| screen.contains("+green tea"))?;
    terminal.tmux(&["capture-pane", "-e", "-p"])
}

/// Whether nothing is typed, sent or running.
fn is_idle(screen: &str) -> bool {
    screen.contains(EMPTY) && !screen.contains("sending") && !screen.contains("Ctrl+C stops")
}

/// A tmux server of its own with one window; it ends with this value.
struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    fn start(program: &Path, home: &Path, folder: &Path) -> anyhow::Result<Self> {
        let terminal = Self { socket: home.join("terminal") };
        // No settings of the user.
        std::fs::write(home.join("config.toml"), "")?;
        let size = [COLUMNS, ROWS].map(|cells| cells.to_string());
        let mut start = terminal.command();
        start.args(["-f", "/dev/null", "new-session", "-d", "-x", &size[0], "-y", &size[1]]);
        start.arg(program).args(["--model", "demo"]);
        start.env("HOME", home).env("RETAKE_DATA_DIR", home.join("data"));
        start.env("RETAKE_CONFIG", home.join("config.toml")).env_remove("NO_COLOR").current_dir(folder);
        // All colours, on a dark background, in any terminal.
        start.env("COLORTERM", "truecolor").env("COLORFGBG", "15;0");
        output(start)?;
        Ok(terminal)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).env_remove("TMUX");
        command
    }

    fn tmux(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = self.command();
        command.args(arguments);
        output(command)
    }

    /// Types a line.
    fn submit(&self, line: &str) -> anyhow::Result<()> {
        self.tmux(&["send-keys", "-l", line])?;
        // Submits a line only once it is there in full.
        self.wait("the typed line", |screen| screen.contains(&format!("{TYPED}{line}")))?;
        self.tmux(&["send-keys", "Enter"]).map(drop)
    }

    fn wait(&self, what: &str, is_there: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let mut screen = String::new();
        for _ in 0..LOOKS {
            screen = self.tmux(&["capture-pane", "-p"])?;
            if is_there(&screen) {
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        bail!("waited for {what}, and the screen is\n{screen}")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program may have ended by itself, and the server with it.
        let _ = self.command().arg("kill-server").output();
    }
}

fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}", said.trim());
    String::from_utf8(output.stdout).context("reading the screen")
}
