//! The program as a person starts it: from the start of the process to its first drawing, in a pseudo-terminal. Kills what it
//! starts.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The text of the drawn composer.
const COMPOSER: &str = "/ for commands";

/// The program `retake` beside this one, if it exists.
pub(crate) fn beside() -> Option<PathBuf> {
    let path =
        std::env::current_exe().ok()?.with_file_name(format!("retake{}", std::env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

/// A program, and the folder of its data.
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    /// Its home folder, with `config.toml` and `data`.
    pub(crate) folder: &'a Path,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

/// The duration of a start, in milliseconds.
pub(crate) struct Started {
    /// Until the composer is drawn.
    pub(crate) paint: f64,
    /// Until the conversation is drawn.
    pub(crate) shown: f64,
}

impl Program<'_> {
    /// Starts it in a conversation, waits until `last` is visible, and ends it.
    pub(crate) fn start(&self, conversation: &str, last: &str) -> anyhow::Result<Started> {
        let size = PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).context("cannot open a pseudo-terminal")?;
        let mut command = CommandBuilder::new(self.path);
        command.env("HOME", self.folder);
        command.env("TERM", "xterm-256color");
        command.arg("--resume");
        command.arg(conversation);
        for (name, below) in [("--data-dir", "data"), ("--config", "config.toml")] {
            command.arg(name);
            command.arg(self.folder.join(below));
        }
        let work = self.folder.join("work");
        std::fs::create_dir_all(&work)?;
        command.cwd(work);
        let mut reader = pair.master.try_clone_reader()?;
        let (send, pieces) = channel();
        let start = Instant::now();
        let child = pair.slave.spawn_command(command).with_context(|| self.failed())?;
        drop(pair.slave);
        let reading = std::thread::spawn(move || {
            let mut piece = [0; 65_536];
            // Reading fails once the other end is closed.
            while let Ok(read @ 1..) = reader.read(&mut piece) {
                if send.send((Instant::now(), piece[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        let mut screen = Screen { pieces, printed: Vec::new() };
        let times = screen.until(COMPOSER).and_then(|paint| Ok((paint, screen.until(last)?)));
        end(child)?;
        drop(pair.master);
        reading.join().map_err(|_| anyhow!("reading the terminal failed"))?;
        let (paint, shown) = times.with_context(|| self.failed())?;
        let ms = |then: Instant| then.duration_since(start).as_secs_f64() * 1e3;
        Ok(Started { paint: ms(paint), shown: ms(shown) })
    }

    fn failed(&self) -> String {
        format!("cannot measure the start of {}", self.path.display())
    }
}

/// The output of a program.
struct Screen {
    pieces: Receiver<(Instant, Vec<u8>)>,
    printed: Vec<u8>,
}

impl Screen {
    /// The time at which this text had been printed.
    fn until(&mut self, words: &str) -> anyhow::Result<Instant> {
        let deadline = Instant::now() + PATIENCE;
        let mut then = Instant::now();
        while !self.printed.windows(words.len()).any(|window| window == words.as_bytes()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok((when, piece)) = self.pieces.recv_timeout(left) else {
                bail!(
                    "it never printed {words:?}, but: {}",
                    String::from_utf8_lossy(&self.printed).escape_debug()
                );
            };
            then = when;
            self.printed.extend(piece);
        }
        Ok(then)
    }
}

/// Asks a program to end, as a closed terminal does, and waits for it.
fn end(mut child: Box<dyn Child + Send + Sync>) -> anyhow::Result<()> {
    child.kill().context("cannot end the program")?;
    child.wait().context("cannot wait for the program")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Program;

    #[test]
    fn a_start_is_measured_by_what_is_printed() {
        let folder = tempfile::tempdir().unwrap();
        // It prints its arguments.
        let echo = Program { path: Path::new("/bin/echo"), folder: folder.path(), columns: 120, rows: 40 };
        let started = echo.start("/ for commands", "--config").unwrap();
        assert!(started.paint > 0.0 && started.shown >= started.paint);
        let failed = echo.start("something else", "--config").err().unwrap();
        let told = format!("{failed:#}");
        assert!(told.contains("/bin/echo") && told.contains("--resume something else"), "{told}");
    }
}
