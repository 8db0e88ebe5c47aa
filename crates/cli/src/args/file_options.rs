//! What a step applies to, as typed: messages, files or both. Must never read a file.

use std::ffi::OsStr;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use retake_wire::{Action, Choice, Choose, FileName, FileOptions, Scope};

use crate::error::Result;
use crate::verbs::change::ActionArgs;

// The options for files.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// What to change: messages and files, or only one of them
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = ScopeArg::Both)]
    scope: ScopeArg,
    #[command(flatten)]
    choosing: FileChoiceArgs,
    /// First stop the run of this conversation, and the processes that the commands of the removed turns left running
    #[arg(long)]
    stop: bool,
}

// Choices for files.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FileChoiceArgs {
    /// Choose the content of a file: disk, yours, checkpoint, merge, skip or hunks:1,3. `disk` keeps it as it is. `yours` is the last
    /// version that the agent did not write, `checkpoint` the old version. `skip` asks again the next time. `hunks:1,3` takes only these
    /// hunks, as `plan --diff` numbers them, and skips the others. Can be repeated. Use an absolute path for a file outside of this folder
    #[arg(long, value_name = "PATH=CHOICE", value_parser = OsStringValueParser::new().try_map(|text| typed(&text)))]
    choose: Vec<Choose>,
    /// Restore all other files exactly, even if you or other programs changed them since; with `drop`, as they would be without the turn
    #[arg(long)]
    exact: bool,
}

/// The scopes, as typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ScopeArg {
    /// Messages and files
    #[default]
    Both,
    /// Messages only; files stay as they are
    Conversation,
    /// Files only; messages stay
    Files,
}

impl FileArgs {
    /// The options for the request.
    pub(crate) fn options(&self) -> FileOptions {
        let scope = match self.scope {
            ScopeArg::Both => Scope::Both,
            ScopeArg::Conversation => Scope::Conversation,
            ScopeArg::Files => Scope::Files,
        };
        FileOptions { scope, stop: self.stop, ..self.choosing.options() }
    }
}

impl FileChoiceArgs {
    /// The options for the request.
    pub(crate) fn options(&self) -> FileOptions {
        FileOptions { choose: self.choose.clone(), exact: self.exact, ..FileOptions::default() }
    }
}

/// `PATH=CHOICE`. A path may contain `=`, too, and need not be UTF-8.
fn typed(text: &OsStr) -> std::result::Result<Choose, String> {
    let bytes = text.as_encoded_bytes();
    let sign = bytes.iter().rposition(|byte| *byte == b'=').ok_or("write PATH=CHOICE")?;
    let choice = choice(&String::from_utf8_lossy(&bytes[sign + 1..]))?;
    Ok(Choose { name: FileName::from_bytes(&bytes[..sign]), choice })
}

/// A choice as typed.
pub(crate) fn choice(text: &str) -> std::result::Result<Choice, String> {
    Ok(match text {
        "disk" => Choice::Disk,
        "yours" => Choice::Yours,
        "checkpoint" => Choice::Checkpoint,
        "merge" => Choice::Merge,
        "skip" => Choice::Skip,
        _ => match text.strip_prefix("hunks:") {
            Some(numbers) => Choice::Hunks(hunks(numbers)?),
            None => {
                return Err("the choices are disk, yours, checkpoint, merge, skip and hunks:1,3".to_owned());
            }
        },
    })
}

fn hunks(numbers: &str) -> std::result::Result<Vec<u32>, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
    let numbers: Option<Vec<u32>> = numbers.split(',').map(number).collect();
    numbers.ok_or_else(|| "hunks are numbers from 1, as in hunks:1,3".to_owned())
}

// An action with options for files.
#[derive(Clone, Debug, Args)]
pub(crate) struct WithFiles<A: Args> {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    act: A,
}

impl<A: Args + ActionArgs> ActionArgs for WithFiles<A> {
    const EXAMPLES: &'static [&'static str] = A::EXAMPLES;
    const QUESTION: &'static str = A::QUESTION;

    fn action(&self) -> Result<Action> {
        self.act.action()
    }

    fn files(&self) -> FileOptions {
        self.files.options()
    }

    fn hides(&self) -> bool {
        self.act.hides()
    }
}

// The same, for a plan.
pub(crate) type PlannedFiles<A> = Diffed<WithFiles<A>>;

// The arguments of a plan, with or without diffs.
#[derive(Clone, Debug, Args)]
pub(crate) struct Diffed<A: Args> {
    /// Show how each file would change
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    act: A,
}

impl<A: Args + ActionArgs> ActionArgs for Diffed<A> {
    fn action(&self) -> Result<Action> {
        self.act.action()
    }

    fn files(&self) -> FileOptions {
        self.act.files()
    }

    fn diff(&self) -> bool {
        self.diff
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_choice_follows_the_last_equals_sign() {
        let chosen = typed(OsStr::new("a=b/c=disk")).expect("a choice");
        assert_eq!((chosen.name.path.as_str(), chosen.choice), ("a=b/c", Choice::Disk));
        let chosen = typed(OsStr::new("a=hunks:3, 1")).expect("a choice");
        assert_eq!((chosen.name.path.as_str(), chosen.choice), ("a", Choice::Hunks(vec![3, 1])));
        for bad in ["a", "a=", "a=mine", "a=hunks", "a=hunks:", "a=hunks:1,", "a=hunks:0", "a=hunks:x"] {
            typed(OsStr::new(bad)).expect_err("no choice");
        }
    }

    #[test]
    fn a_path_need_not_be_utf_8() {
        let chosen = typed(OsStr::from_bytes(b"\xff\xfe=skip")).expect("a choice");
        let name = FileName { path: r"\xff\xfe".to_owned(), path_base64: Some("//4=".to_owned()) };
        assert_eq!(chosen, Choose { name, choice: Choice::Skip });
    }
}
