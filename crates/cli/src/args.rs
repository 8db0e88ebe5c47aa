//! The command line as typed: global options, the verbs, and arguments that several verbs share. Must never read files, data or
//! the environment; each verb has its own file.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Command, CommandFactory as _, Parser};
use retake_wire::request::LARGEST_PAGE;
use retake_wire::{Mode, Permit};

use crate::error::INTERRUPTED;
use crate::ui::Color;
use crate::verbs::Verb;

pub(crate) mod date;
pub(crate) mod examples;
pub(crate) mod file_options;

pub use examples::examples;

/// The exit code of a command that `exec` ran and that failed.
pub(crate) const COMMAND_FAILED: u8 = 8;

/// The exit code of a turn with a call that needed an approval when no person could give it.
pub(crate) const CALL_NOT_ALLOWED: u8 = 9;

/// The exit code of an import that stored only the first of several conversations.
pub(crate) const IMPORTED_IN_PART: u8 = 10;

/// The exit code of a process that a signal or a closed terminal ended, as in shells.
pub(crate) const TERMINATED: u8 = 143;

/// The exit codes, for the long help, the manual page and the guide.
pub(crate) const EXIT_CODES: &[(u8, &str)] = &[
    (0, "Success. Also if the reader of the output closes it early."),
    (1, "An internal error of retake."),
    (2, "The command line is invalid, or `config check` or `doctor` found errors in the settings."),
    (3, "Something that the command names does not exist."),
    (
        4,
        "Not possible in the current state. Nothing has changed, except the steps that `undo N` or `redo N` reports as done.",
    ),
    (5, "The head is not the one that --head names. Nothing has changed."),
    (6, "The model or its provider failed. Your message is stored."),
    (7, "The store or the system failed, or `doctor` found errors in the store."),
    (COMMAND_FAILED, "The command that `exec` ran failed. What it did is kept."),
    (
        CALL_NOT_ALLOWED,
        "The turn of `ask`, `retry` or `edit` ended, but a call needed an approval and no person could give it. The task may be incomplete.",
    ),
    (
        IMPORTED_IN_PART,
        "`import` stored only the first of several conversations in a file. It reports which one failed, and where to continue.",
    ),
    (INTERRUPTED, "Ctrl-C stopped the command, or you answered no to its question."),
    (TERMINATED, "A signal or a closed terminal ended the process."),
];

/// An AI agent in which nothing is final: rewind to any message, see first what that takes back, and undo the rewind too
///
/// Without a verb, retake begins a new conversation in the terminal. If standard input is not a terminal, it is the prompt, and the answer
/// goes to standard output.
///
/// Name an entry by the beginning of its id, by a label, by tN (the turn with that number) or by @ (the last entry).
/// Name a conversation by the beginning of its id, at least 8 characters.
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

// Options for every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for all verbs")]
pub(crate) struct Global {
    /// The data directory [default: $RETAKE_DATA_DIR, or retake below $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The settings file [default: $RETAKE_CONFIG, or retake/config.toml below $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print replies and errors as JSON on standard output, one document per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours: auto, always or never; auto obeys NO_COLOR
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

/// Whether a verb has this name.
pub(crate) fn is_verb(name: &str) -> bool {
    Cli::command().get_subcommands().any(|verb| verb.get_name() == name && !verb.is_hide_set())
}

// How a conversation in the terminal begins.
#[derive(Debug, Args, PartialEq, Eq)]
pub(crate) struct Start {
    /// Continue the last conversation of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Continue the conversation with this id, or one that you pick from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resume: Option<Option<String>>,
    /// The model to talk to, as provider/model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Use lines instead of the full screen: for screen readers and simple terminals
    ///
    /// Text from a pipe is one prompt, even lines that begin with /. Only a person at a terminal can type commands.
    #[arg(long)]
    pub(crate) plain: bool,
}

impl Start {
    /// Whether no option is given.
    pub(crate) fn is_plain(&self) -> bool {
        !self.go_on && self.resume.is_none() && self.model.is_none() && !self.plain
    }
}

// The conversation to use.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConversationArg {
    /// The conversation [default: the last one of this folder]
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) conversation: Option<String>,
}

// Arguments of every verb that changes something.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) place: ConversationArg,
    /// Refuse if this is not the head, as OP.SEQ
    #[arg(long, value_name = "HEAD")]
    pub(crate) head: Option<String>,
    #[command(flatten)]
    pub(crate) repeat: RequestIdArg,
}

// The id of a request.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RequestIdArg {
    /// Apply the request only once, even if it is sent several times with this id; name messages by their ids then, because other names
    /// can change their meaning
    #[arg(long, value_name = "ID", value_parser = request_id)]
    pub(crate) request_id: Option<String>,
}

// The permissions of the model in one run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PermissionArgs {
    /// What the model may do without approval in this run: ask (only read), allow-edits, allow-all or plan (only read, and no approvals)
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Allow this in this run, for example `edit`, `write(src/**)`, `shell(git push)` or `fetch(example.org)`; can be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
}

impl PermissionArgs {
    /// The permissions for the owner.
    pub(crate) fn permit(self) -> Permit {
        Permit { mode: self.mode, allow: self.allow }
    }
}

/// The mode with this name.
pub(crate) fn mode(text: &str) -> std::result::Result<Mode, String> {
    let named = Mode::ALL.into_iter().find(|mode| mode.name() == text);
    named.ok_or_else(|| format!("a mode is one of {}", Mode::ALL.map(Mode::name).join(", ")))
}

/// A valid request id.
pub(crate) fn request_id(text: &str) -> std::result::Result<String, &'static str> {
    match (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("an id has 1 to 128 ASCII letters, digits or signs, without spaces"),
    }
}

/// A count, at least 1.
pub(crate) fn how_many(text: &str) -> std::result::Result<usize, &'static str> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number from 1"),
        Ok(count) => Ok(count),
    }
}

/// A number from 0 that JSON can hold exactly.
pub(crate) fn number<T: TryFrom<u64>>(text: &str) -> std::result::Result<T, &'static str> {
    let most = |number: &u64| *number < 1 << 53;
    let number = text.parse().ok().filter(most).and_then(|number| T::try_from(number).ok());
    number.ok_or("give a whole number from 0 to 9007199254740991")
}

/// The size of a page.
pub(crate) fn limit(text: &str) -> std::result::Result<usize, String> {
    let limit = number(text).ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
    limit.ok_or_else(|| format!("give a whole number from 1 to {LARGEST_PAGE}"))
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
