//! The process around the full-screen face: its clock, the person's editor, the shell. Must never keep what was written in the editor.

use std::env;
use std::io::{self, Write as _};
use std::process::Command;

use retake_tui::face::World;
use rustix::process::{Signal, kill_current_process_group};

use crate::owner::{Owner, Places, Setting};

/// What is used where neither `VISUAL` nor `EDITOR` says which.
const EDITOR: &str = "vi";

/// The process around the face.
pub(crate) struct Process {
    /// The clock.
    pub(crate) now_ms: fn() -> i64,
}

impl World for Process {
    fn now_ms(&self) -> i64 {
        (self.now_ms)()
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        let given = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| env::var(name).ok());
        let editor = given.map(|editor| editor.trim().to_owned()).find(|editor| !editor.is_empty());
        edit(&editor.unwrap_or_else(|| EDITOR.to_owned()), text)
    }

    fn keep_theme(&mut self, _name: &str) -> Result<(), String> {
        Err("there is no settings file here".to_owned())
    }

    fn suspend(&mut self) -> io::Result<()> {
        // As the terminal does it: whoever started us is stopped with us.
        Ok(kill_current_process_group(Signal::TSTP)?)
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

/// Lets a person edit a text in a file that only they can read, and that is gone afterwards.
fn edit(editor: &str, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("can't write what is to be edited: {error}");
    let mut file = tempfile::Builder::new().prefix("retake-").suffix(".md").tempfile().map_err(failed)?;
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
        assert_eq!(edit("sed -i s/one/two/", "one\n"), Ok("two\n".to_owned()));
    }

    #[test]
    fn an_editor_that_fails_says_so() {
        for editor in ["false", "no-such-editor"] {
            assert!(edit(editor, "one").is_err_and(|why| why.contains(editor) && why.contains("EDITOR")));
        }
    }
}
