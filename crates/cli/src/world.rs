//! The process around the full-screen face: its clock, the person's editor, the shell. Must never keep what was written in the editor, nor
//! be stopped where nobody could wake it.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use retake_tui::ui::{self, World};
use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
use tokio::signal::unix::signal;
use tokio::time::timeout;

use crate::owner::{Owner, Places, Setting};
use crate::term::interrupt::kind;

/// What is used where neither `VISUAL` nor `EDITOR` says which.
const EDITOR: &str = "vi";

/// A signal that a process sends to itself has come within this.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The process around the face.
pub(crate) struct Process {
    now_ms: fn() -> i64,
    /// Where nobody else reads what is written, nor any command of the agent.
    private: PathBuf,
    /// It was stopped, and goes on.
    goes_on: Option<Receiver<()>>,
}

impl Process {
    /// The process, with this clock, and a folder for the file that the editor opens. From now on the face is told when it is stopped, and
    /// when it goes on. To be called within a runtime that has its drivers enabled.
    pub(crate) fn new(now_ms: fn() -> i64, private: &Path) -> Self {
        let (tell, goes_on) = sync_channel(1);
        let is_listening = listen(tell).is_ok();
        Self { now_ms, private: private.to_owned(), goes_on: is_listening.then_some(goes_on) }
    }
}

/// Listens to what stops the process: the face gives the terminal back first, where it has it.
fn listen(tell: SyncSender<()>) -> io::Result<()> {
    let (mut stops, mut wakes) = (signal(kind(Signal::TSTP))?, signal(kind(Signal::CONT))?);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(()) = stops.recv() => if !ui::suspend() {
                    if can_be_woken() && kill_process(getpid(), Signal::STOP).is_ok() {
                        // What has woken it is no news.
                        drop(timeout(AT_ONCE, wakes.recv()).await);
                    }
                    // One that nobody waits for is there already.
                    let _ = tell.try_send(());
                },
                Some(()) = wakes.recv() => ui::resume(),
                else => return,
            }
        }
    });
    Ok(())
}

/// Whether a shell watches over the process. The first job of a session has none: it would be stopped for ever, and the system, too,
/// passes over Ctrl+Z there.
fn can_be_woken() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

impl World for Process {
    fn now_ms(&self) -> i64 {
        (self.now_ms)()
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        let given = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| env::var(name).ok());
        let editor = given.map(|editor| editor.trim().to_owned()).find(|editor| !editor.is_empty());
        edit(&editor.unwrap_or_else(|| EDITOR.to_owned()), &self.private, text)
    }

    fn keep_theme(&mut self, _name: &str) -> Result<(), String> {
        Err("there is no settings file here".to_owned())
    }

    fn suspend(&mut self) -> io::Result<()> {
        if let Some(goes_on) = &self.goes_on {
            let _ = goes_on.try_recv();
        }
        // As the terminal does it: whoever started us is stopped with us.
        kill_current_process_group(Signal::TSTP)?;
        if let Some(goes_on) = &self.goes_on {
            // Our own signal is heard by a task, which stops us: this waits for it.
            let _ = goes_on.recv_timeout(AT_ONCE);
        }
        Ok(())
    }
}

/// The world of the face, with the settings file of the owner.
pub(crate) struct Keeping<'a> {
    /// All but that.
    pub(crate) world: &'a mut dyn World,
    /// Whose settings file it is.
    pub(crate) owner: &'a dyn Owner,
    /// Where it is.
    pub(crate) places: &'a Places,
}

impl World for Keeping<'_> {
    fn now_ms(&self) -> i64 {
        self.world.now_ms()
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        self.world.edit(text)
    }

    fn keep_theme(&mut self, name: &str) -> Result<(), String> {
        let set = Setting::Set("face.theme".to_owned(), name.to_owned());
        self.owner.settings(self.places, &set).map(drop).map_err(|problem| problem.to_string())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.world.suspend()
    }
}

/// Lets a person edit a text in a file of this folder that only they can read, and that is gone afterwards.
fn edit(editor: &str, folder: &Path, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("can't write what is to be edited: {error}");
    let mut file =
        tempfile::Builder::new().prefix("draft-").suffix(".md").tempfile_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    // The variable may hold options, so a shell takes it apart; the path is no part of what it reads.
    let status =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path()).status();
    match status {
        Ok(status) if status.success() => std::fs::read_to_string(file.path())
            .map_err(|error| format!("can't read what was edited: {error}")),
        Ok(_) => Err(format!(
            "the editor `{editor}` did not end well: your words are as they were (EDITOR names another one)"
        )),
        Err(error) => Err(format!("can't start the editor `{editor}`: {error} (EDITOR names another one)")),
    }
}

#[cfg(test)]
mod tests {
    use super::edit;

    #[test]
    fn an_editor_gives_back_what_was_written() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(edit("sed -i s/one/two/", dir.path(), "one\n"), Ok("two\n".to_owned()));
    }

    #[test]
    fn an_editor_that_fails_says_so() {
        for editor in ["false", "no-such-editor"] {
            let dir = tempfile::tempdir().expect("a folder");
            assert!(
                edit(editor, dir.path(), "one")
                    .is_err_and(|why| why.contains(editor) && why.contains("EDITOR"))
            );
        }
    }
}
