//! What a step takes along, as it is typed. Must never look at a file.

use clap::{Args, ValueEnum};
use retake_wire::{Action, Choice, Choose, FileName, FilesWish, Scope};

use crate::error::Result;
use crate::verbs::change::Act;

// What is wished for files.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// What goes along: messages and files, or one of them alone
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = Along::Both)]
    scope: Along,
    /// What becomes of a file: disk (keep what is there), yours (the last version that somebody else wrote), checkpoint (what was
    /// there then), merge, or skip (ask again the next time); can be given several times
    #[arg(long, value_name = "PATH=CHOICE", value_parser = choose)]
    choose: Vec<Choose>,
    /// Make all other files exactly what they were, whatever others wrote since
    #[arg(long)]
    exact: bool,
    /// First end the processes that commands taken back have left running
    #[arg(long)]
    stop: bool,
}

/// The scopes, as typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Along {
    /// Both
    #[default]
    Both,
    /// Messages
    Conversation,
    /// Files
    Files,
}

impl FileArgs {
    /// What is wished.
    pub(crate) fn wish(&self) -> FilesWish {
        let scope = match self.scope {
            Along::Both => Scope::Both,
            Along::Conversation => Scope::Conversation,
            Along::Files => Scope::Files,
        };
        FilesWish { scope, choose: self.choose.clone(), exact: self.exact, seen: None, stop: self.stop }
    }
}

/// `PATH=CHOICE`; a path may hold `=`, too.
fn choose(text: &str) -> std::result::Result<Choose, String> {
    let (path, choice) = text.rsplit_once('=').ok_or("write it as PATH=CHOICE")?;
    let choice = match choice {
        "disk" => Choice::Disk,
        "yours" => Choice::Yours,
        "checkpoint" => Choice::Checkpoint,
        "merge" => Choice::Merge,
        "skip" => Choice::Skip,
        _ => return Err("the choices are disk, yours, checkpoint, merge and skip".to_owned()),
    };
    Ok(Choose { name: FileName { path: path.to_owned(), path_base64: None }, choice })
}

// An action that takes files along.
#[derive(Clone, Debug, Args)]
pub(crate) struct WithFiles<A: Args> {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    act: A,
}

impl<A: Args + Act> Act for WithFiles<A> {
    fn action(&self) -> Result<Action> {
        self.act.action()
    }

    fn files(&self) -> FilesWish {
        self.files.wish()
    }
}

// The same, to be planned.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlannedFiles<A: Args> {
    /// Show how each file would change
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    act: WithFiles<A>,
}

impl<A: Args + Act> Act for PlannedFiles<A> {
    fn action(&self) -> Result<Action> {
        self.act.action()
    }

    fn files(&self) -> FilesWish {
        self.act.files()
    }

    fn diff(&self) -> bool {
        self.diff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_behind_the_last_sign() {
        let chosen = choose("a=b/c=disk").expect("a choice");
        assert_eq!((chosen.name.path.as_str(), chosen.choice), ("a=b/c", Choice::Disk));
        for bad in ["a", "a=", "a=mine"] {
            choose(bad).expect_err("no choice");
        }
    }
}
