//! The process around the full-screen program: its clock, the person's editor, the shell. Must never keep the text of the editor, nor
//! suspend itself without a shell that can resume it.

use std::env;
use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use retake_tui::ui::{self, World};
use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
use tokio::signal::unix::signal;
use tokio::time::timeout;

use crate::owner::{Owner, Paths, Setting};
use crate::term::interrupt::kind;

/// The editor if neither `VISUAL` nor `EDITOR` names one.
const EDITOR: &str = "vi";

/// The longest wait for a signal sent to this process.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The process around the full-screen program.
pub(crate) struct Process {
    now_ms: fn() -> i64,
    /// A folder that no other user and no command of the agent can read.
    private: PathBuf,
    /// Reports that the process was suspended and continues.
    goes_on: Option<Receiver<()>>,
}

impl Process {
    /// Takes a clock, and a folder for the file of the editor. From now on the full-screen program learns when the process is suspended and
    /// continues. Requires a runtime with its drivers enabled.
    pub(crate) fn new(now_ms: fn() -> i64, private: &Path) -> Self {
        let (tell, goes_on) = sync_channel(1);
        let is_listening = listen(tell).is_ok();
        Self { now_ms, private: private.to_owned(), goes_on: is_listening.then_some(goes_on) }
    }
}

/// Listens for the signals that suspend and resume the process. The full-screen program restores the terminal first.
fn listen(tell: SyncSender<()>) -> io::Result<()> {
    let (mut stops, mut wakes) = (signal(kind(Signal::TSTP))?, signal(kind(Signal::CONT))?);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(()) = stops.recv() => if !ui::suspend() {
                    if can_be_woken() && kill_process(getpid(), Signal::STOP).is_ok() {
                        // The signal that resumed it is expected.
                        drop(timeout(AT_ONCE, wakes.recv()).await);
                    }
                    // A full channel holds a report already.
                    let _ = tell.try_send(());
                },
                Some(()) = wakes.recv() => ui::resume(),
                else => return,
            }
        }
    });
    Ok(())
}

/// Whether a shell can resume the process. The first process of a session has none: it would stay suspended, and the system
/// ignores Ctrl+Z there, too.
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
        Err("there is no settings file".to_owned())
    }

    fn suspend(&mut self) -> io::Result<()> {
        if let Some(goes_on) = &self.goes_on {
            let _ = goes_on.try_recv();
        }
        // Like the terminal does: the whole process group is suspended.
        kill_current_process_group(Signal::TSTP)?;
        if let Some(goes_on) = &self.goes_on {
            // A task receives the signal and suspends the process: wait for it.
            let _ = goes_on.recv_timeout(AT_ONCE);
        }
        Ok(())
    }
}

/// The host of the full-screen program, with the settings file.
pub(crate) struct HostWithSettings<'a> {
    /// The host without it.
    pub(crate) world: &'a mut dyn World,
    /// The owner, which writes the file.
    pub(crate) owner: &'a dyn Owner,
    /// The path of the file.
    pub(crate) paths: &'a Paths,
}

impl World for HostWithSettings<'_> {
    fn now_ms(&self) -> i64 {
        self.world.now_ms()
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        self.world.edit(text)
    }

    fn keep_theme(&mut self, name: &str) -> Result<(), String> {
        let set = Setting::Set("face.theme".to_owned(), name.to_owned());
        self.owner.settings(self.paths, &set).map(drop).map_err(|problem| problem.to_string())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.world.suspend()
    }
}

/// Lets the person edit a text in a private temporary file of this folder.
fn edit(editor: &str, folder: &Path, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot write the text for the editor: {error}");
    // The first owner may still be about to create the folder.
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut file =
        tempfile::Builder::new().prefix("draft-").suffix(".md").tempfile_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    // The variable may contain options, so a shell splits it; the path is passed as an argument.
    let status =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path()).status();
    match status {
        Ok(status) if status.success() => std::fs::read_to_string(file.path())
            .map_err(|error| format!("cannot read the edited text: {error}")),
        Ok(_) => Err(format!(
            "the editor `{editor}` failed: your text has not changed (the variable EDITOR names another editor)"
        )),
        Err(error) => Err(format!(
            "cannot start the editor `{editor}`: {error} (the variable EDITOR names another editor)"
        )),
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
    fn an_editor_opens_before_the_data_directory_exists() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(edit("true", &dir.path().join("share/retake"), "one"), Ok("one".to_owned()));
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
