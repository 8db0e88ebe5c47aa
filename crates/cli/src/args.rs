//! The command line as it is typed: options for all verbs, the verbs themselves, and what several of them take. Must never look at
//! the world; what a verb means is in its own file.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Command, CommandFactory as _, Parser, Subcommand, ValueEnum};
use retake_wire::request::LARGEST_PAGE;
use retake_wire::{Mode, Permit};

use crate::context::Context;
use crate::error::{INTERRUPTED, Result};
use crate::verbs::{
    archive, ask, backup, change, checkpoint, choose, completions, config, doctor, drop, edit, erase, exec,
    export, files as folders, fold, fork, hidden, import, label, list, log, man, mark, mcp, models, new, ops,
    plan, redo, restore, retry, rewind, say, search, serve, status, stop, targets, title, tree, undo, unfold,
    workspace,
};

pub(crate) mod date;
pub(crate) mod examples;
pub(crate) mod files;

use files::WithFiles;

/// The exit code of a command that ran and did not succeed.
pub(crate) const COMMAND_FAILED: u8 = 8;

/// The exit code of a turn that ended, of which a call would have been asked about where nobody could be.
pub(crate) const CALL_NOT_ALLOWED: u8 = 9;

/// The exit code of an import of several conversations of which only the first ones are there.
pub(crate) const IMPORTED_IN_PART: u8 = 10;

/// The exit code of a process that a signal or a closed terminal has ended, as shells count it.
pub(crate) const TERMINATED: u8 = 143;

/// What the long help, the manual page and the guide say besides.
pub(crate) const EXIT_CODES: &[(u8, &str)] = &[
    (0, "It is done. Also when the reader of the output goes away early."),
    (1, "A defect of retake."),
    (2, "The command makes no sense as it is, or `config check` or `doctor` finds the settings wrong."),
    (3, "Something named in it is not there."),
    (
        4,
        "It does not fit the state of things now; nothing has changed, but for the steps that `undo N` or `redo N` tells as done.",
    ),
    (5, "The head is another one than --head says; nothing has changed."),
    (6, "The model or its provider failed; what was said is kept."),
    (7, "The store or the machine failed, or `doctor` finds the store wrong."),
    (COMMAND_FAILED, "The command that `exec` ran did not succeed; what it did is kept."),
    (
        CALL_NOT_ALLOWED,
        "The turn of `ask`, `retry` or `edit` ended, but a call of it was not allowed, as nobody could be asked: not all may be done.",
    ),
    (
        IMPORTED_IN_PART,
        "Of several conversations in a file, `import` has stored the first ones; it says which one failed, and from where to go on.",
    ),
    (INTERRUPTED, "Ctrl-C stopped it, or the answer to its question was no."),
    (TERMINATED, "The system or a closed terminal has ended it."),
];

/// An AI agent in which nothing is final: go back to any message, see first what that takes back, and take the step back too
///
/// Without a verb, retake begins a new conversation in the terminal; if standard input is no terminal, it is the prompt, and the
/// answer goes to standard output.
///
/// Entries are named by the beginning of their id, by a label, by tN (the turn with that number) or by @ (the last one).
/// Conversations are named by the beginning of their id, 8 characters or more.
#[derive(Debug, Parser)]
#[command(name = "retake", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) start: Start,
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

// Options that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for all verbs")]
pub(crate) struct Global {
    /// The data directory [default: $RETAKE_DATA_DIR, or retake below $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The settings file [default: $RETAKE_CONFIG, or retake/config.toml below $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print replies as JSON, one document per line; problems too, on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours: auto, always or never; NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Color,
    /// Never start a pager for long output
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// The program's arguments, each verb with examples.
pub(crate) fn command() -> Command {
    examples::behind(Cli::command())
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where a terminal shows them.
    #[default]
    Auto,
    /// Also into a pipe.
    Always,
    /// Nowhere.
    Never,
}

// How a conversation in the terminal begins.
#[derive(Debug, Args, PartialEq, Eq)]
pub(crate) struct Start {
    /// Go on with the last conversation of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Go on with a conversation that you pick, or with this one
    #[arg(short, long, value_name = "ID", num_args = 0..=1, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resume: Option<Option<String>>,
    /// The model to talk to, as provider/model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Talk line by line instead of in the full screen: for screen readers, and terminals that can do no more
    ///
    /// Words that are piped in are one prompt, also lines that begin with / or !: only a person at a terminal gives commands so.
    #[arg(long)]
    pub(crate) plain: bool,
}

impl Start {
    /// Whether nothing was said about it.
    pub(crate) fn is_plain(&self) -> bool {
        !self.go_on && self.resume.is_none() && self.model.is_none() && !self.plain
    }
}

// Which conversation.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Place {
    /// The conversation [default: the last one of this folder]
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) conversation: Option<String>,
}

// What every verb takes that changes something.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Changing {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Refuse if this is not the head, as OP.SEQ
    #[arg(long, value_name = "HEAD")]
    pub(crate) head: Option<String>,
    #[command(flatten)]
    pub(crate) repeat: Repeat,
}

// The id of a request.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Repeat {
    /// Do it once, however often it is sent with this id; name messages by ids then, other names come to mean others
    #[arg(long, value_name = "ID", value_parser = request_id)]
    pub(crate) request_id: Option<String>,
}

// What the model may do in one run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct May {
    /// What the model may do unasked in this run: ask (read), allow-edits, allow-all or plan (read, and nothing else)
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Allow this in this run, such as `edit`, `write(src/**)`, `shell(git push)` or `fetch(example.org)`; can be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
}

impl May {
    /// As the owner needs it.
    pub(crate) fn permit(self) -> Permit {
        Permit { mode: self.mode, allow: self.allow }
    }
}

/// The mode of that name.
pub(crate) fn mode(text: &str) -> std::result::Result<Mode, String> {
    let named = Mode::ALL.into_iter().find(|mode| mode.name() == text);
    named.ok_or_else(|| format!("a mode is one of {}", Mode::ALL.map(Mode::name).join(", ")))
}

/// An id that a request can have.
fn request_id(text: &str) -> std::result::Result<String, &'static str> {
    match (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("an id is 1 to 128 letters, digits or signs of ASCII, without blanks"),
    }
}

/// How many things, at least one.
pub(crate) fn how_many(text: &str) -> std::result::Result<usize, &'static str> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number from 1"),
        Ok(count) => Ok(count),
    }
}

/// A number that may be none, as the API takes it.
pub(crate) fn number<T: TryFrom<u64>>(text: &str) -> std::result::Result<T, &'static str> {
    let most = |number: &u64| *number < 1 << 53;
    let number = text.parse().ok().filter(most).and_then(|number| T::try_from(number).ok());
    number.ok_or("give a whole number from 0 to 9007199254740991")
}

/// How many things a page has at most, as the API takes it.
pub(crate) fn limit(text: &str) -> std::result::Result<usize, String> {
    let limit = number(text).ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
    limit.ok_or_else(|| format!("give a whole number from 1 to {LARGEST_PAGE}"))
}

/// The verbs. What each does is said where it is written.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    New(new::New),
    List(list::List),
    Say(say::Say),
    Ask(ask::Ask),
    Exec(exec::Exec),
    Retry(retry::Retry),
    Edit(edit::Edit),
    Choose(choose::ChooseVerb),
    Log(log::Log),
    Targets(targets::Targets),
    Plan(plan::Plan),
    Rewind(rewind::RewindVerb),
    Undo(change::Change<WithFiles<undo::Undo>>),
    Redo(change::Change<WithFiles<redo::Redo>>),
    #[command(visible_alias = "checkout")]
    Restore(change::Change<WithFiles<restore::Restore>>),
    Ops(ops::Ops),
    Tree(tree::Tree),
    Fork(fork::Fork),
    Drop(change::Change<WithFiles<drop::Drop>>),
    Hide(change::Change<mark::Hide>),
    Show(change::Change<WithFiles<mark::Show>>),
    Hidden(hidden::Hidden),
    Exclude(change::Change<mark::Exclude>),
    Include(change::Change<mark::Include>),
    Fold(change::Change<fold::Fold>),
    Unfold(change::Change<unfold::Unfold>),
    Label(change::Change<label::Label>),
    Title(change::Change<title::Title>),
    Archive(archive::Archive),
    Erase(erase::EraseVerb),
    Checkpoint(checkpoint::Checkpoint),
    Files(folders::Files),
    Workspace(workspace::Workspace),
    Search(search::Search),
    Export(export::Export),
    Import(import::Import),
    Models(models::Models),
    Mcp(mcp::Mcp),
    Config(config::Config),
    Backup(backup::Backup),
    Doctor(doctor::Doctor),
    Serve(serve::Serve),
    Status(status::StatusVerb),
    Stop(stop::Stop),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Verb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        match self {
            Self::New(it) => it.run(cx).await,
            Self::List(it) => it.run(cx).await,
            Self::Say(it) => it.run(cx).await,
            Self::Ask(it) => it.run(cx).await,
            Self::Exec(it) => it.run(cx).await,
            Self::Retry(it) => it.run(cx).await,
            Self::Edit(it) => it.run(cx).await,
            Self::Choose(it) => it.run(cx).await,
            Self::Log(it) => it.run(cx).await,
            Self::Targets(it) => it.run(cx).await,
            Self::Plan(it) => it.run(cx).await,
            Self::Rewind(it) => it.run(cx).await,
            Self::Undo(it) => it.run(cx).await,
            Self::Redo(it) => it.run(cx).await,
            Self::Restore(it) => it.run(cx).await,
            Self::Ops(it) => it.run(cx).await,
            Self::Tree(it) => it.run(cx).await,
            Self::Fork(it) => it.run(cx).await,
            Self::Drop(it) => it.run(cx).await,
            Self::Hide(it) => it.run(cx).await,
            Self::Show(it) => it.run(cx).await,
            Self::Hidden(it) => it.run(cx).await,
            Self::Exclude(it) => it.run(cx).await,
            Self::Include(it) => it.run(cx).await,
            Self::Fold(it) => it.run(cx).await,
            Self::Unfold(it) => it.run(cx).await,
            Self::Label(it) => it.run(cx).await,
            Self::Title(it) => it.run(cx).await,
            Self::Archive(it) => it.run(cx).await,
            Self::Erase(it) => it.run(cx).await,
            Self::Checkpoint(it) => it.run(cx).await,
            Self::Files(it) => it.run(cx).await,
            Self::Workspace(it) => it.run(cx).await,
            Self::Search(it) => it.run(cx).await,
            Self::Export(it) => it.run(cx).await,
            Self::Import(it) => it.run(cx).await,
            Self::Models(it) => it.run(cx).await,
            Self::Mcp(it) => it.run(cx).await,
            Self::Backup(it) => it.run(cx).await,
            Self::Config(_)
            | Self::Doctor(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Serve(_)
            | Self::Status(_)
            | Self::Stop(_) => {
                unreachable!("BUG: `run` does what needs no client, or more than one")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use retake_wire::ProblemKind;

    use super::*;

    #[test]
    fn the_guide_has_the_exit_codes_that_the_help_has() {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/scripts.md");
        let page = std::fs::read_to_string(file).expect("the page");
        let rows = page.lines().skip_while(|line| *line != "| exit code | means |").skip(2);
        let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
        let codes: Vec<String> =
            EXIT_CODES.iter().map(|(code, meaning)| format!("| {code} | {meaning} |")).collect();
        assert_eq!(rows, codes);
    }

    #[test]
    fn every_kind_of_problem_has_an_exit_code_of_its_own() {
        use ProblemKind::{Internal, Model, NotFound, Refused, Stale, Storage, Usage};
        let kinds = [Internal, Usage, NotFound, Refused, Stale, Model, Storage].map(ProblemKind::exit_code);
        let besides = [0, COMMAND_FAILED, CALL_NOT_ALLOWED, IMPORTED_IN_PART, INTERRUPTED, TERMINATED];
        let mut all: Vec<u8> = kinds.into_iter().chain(besides).collect();
        all.sort_unstable();
        assert_eq!(all, EXIT_CODES.iter().map(|(code, _)| *code).collect::<Vec<u8>>());
    }
}
