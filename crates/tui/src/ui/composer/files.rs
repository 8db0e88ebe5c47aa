//! Commands and skills that files hold: their completion in the composer, and whether its text sends one. Must never hide a
//! command of the program.

use retake_wire::CommandFile;

use super::list::{Item, Value};
use super::{Composer, complete};
use crate::render::commands::{origin, usage};
use crate::text::safe;
use crate::ui::keymap::Command;

/// The known commands of files.
#[derive(Debug, Default)]
pub(super) struct FileCommands {
    files: Vec<CommandFile>,
    /// They were requested since the last time that no command was typed.
    is_asked: bool,
}

impl FileCommands {
    /// The rows for these, those that begin with the typed text first.
    pub(super) fn items(&self, typed: &str) -> Vec<Item> {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let mut found = complete::rank(typed, &names);
        found.sort_by_key(|at| !names[*at].starts_with(typed));
        let item = |at: usize| {
            let file = &self.files[at];
            let help = format!("{} ({})", safe::line(&file.description), origin(file));
            Item { name: usage(file), help, value: Value::File(file.name.clone()) }
        };
        found.into_iter().map(item).collect()
    }
}

impl Composer {
    /// Whether to request the commands of files: once a command begins to be typed.
    pub(crate) fn wants_commands(&mut self) -> bool {
        let is_typed = complete::command_at(self.buffer.text(), self.buffer.cursor()).is_some();
        let was_asked = std::mem::replace(&mut self.commands.is_asked, is_typed);
        is_typed && !was_asked
    }

    /// The commands of files; those with the name of a command of the program can't be typed.
    pub(crate) fn know_commands(&mut self, mut files: Vec<CommandFile>) {
        files.retain(|file| file.hidden_by.is_none() && Command::typed(&file.name).is_none());
        self.commands.files = files;
        self.refresh();
    }

    /// The command of a file that the text sends, and its arguments.
    pub(crate) fn file_command(&self) -> Option<(String, String)> {
        let text = self.text();
        let line = text.trim().strip_prefix('/')?;
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_known = self.commands.files.iter().any(|file| file.name == name);
        is_known.then(|| (name.to_owned(), arguments.trim().to_owned()))
    }
}
