//! The commands that people write in a chat: one table, and how they are read from a message. Must never find a command in an edit, a
//! forward or a file, or in the words of a bot.

#[cfg(test)]
mod tests;

use retake_wire::chat::{Addressed, Inbound, InboundMessage};

use crate::capabilities::CommandPrefix;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Takes back turns.
    Rewind,
    /// Undoes steps.
    Undo,
    /// Does undone steps again.
    Redo,
    /// Answers the last prompt again.
    Retry,
    /// Takes back one turn in the middle.
    Drop,
    /// Stops the run.
    Stop,
    /// Begins a new conversation in this place.
    New,
    /// Lists the commands.
    Help,
    /// Says what is going on.
    Status,
    /// Lists the posts that could not be taken back.
    Posts,
}

/// A row of the table of commands.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it does.
    pub verb: Verb,
    /// What people write.
    pub name: &'static str,
    /// Whether a number may follow.
    pub takes_number: bool,
    /// What it does, in one line.
    pub help: &'static str,
}

/// All commands, in the order of the help.
pub const TABLE: &[Row] = &[
    row(
        Verb::Rewind,
        "rewind",
        true,
        "take back the last N turns, or choose; in a reply, back to that message",
    ),
    row(Verb::Undo, "undo", true, "undo the last N steps"),
    row(Verb::Redo, "redo", true, "do N undone steps again"),
    row(Verb::Retry, "retry", false, "answer the last message again"),
    row(Verb::Drop, "drop", false, "in a reply: take back only that turn"),
    row(Verb::Stop, "stop", false, "stop the answer that is being written"),
    row(Verb::New, "new", false, "begin a new conversation here"),
    row(Verb::Status, "status", false, "show what is going on"),
    row(Verb::Posts, "posts", false, "list the posts that could not be taken back"),
    row(Verb::Help, "help", false, "list the commands"),
];

const fn row(verb: Verb, name: &'static str, takes_number: bool, help: &'static str) -> Row {
    Row { verb, name, takes_number, help }
}

/// A command that somebody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A command, with its number: at least 1.
    Run(Verb, Option<u32>),
    /// A command with a number where none is, or with other words after it. The answer is its line of the help.
    Misused(Verb),
}

/// The command of a message to us, or `None` if it is text. `name` is our name on the platform.
///
/// A command is the whole message. Where commands are written with a mention, words after it make it text: *drop the table* is none.
/// Whether the author may do that, and whether we are addressed, is for the caller to check.
pub fn parse(event: &Inbound, prefix: CommandPrefix, name: &str) -> Option<Command> {
    let Inbound::Message(message) = event else { return None };
    if message.is_forward || message.person.is_bot || !message.attached.is_empty() {
        return None;
    }
    let mut words = message.text.split_whitespace();
    let row = named(words.next()?, prefix, name, message)?;
    let number = words.next();
    let command = match number {
        None => Some(Command::Run(row.verb, None)),
        Some(_) if words.next().is_some() => None,
        Some(word) => {
            count(word).filter(|_| row.takes_number).map(|number| Command::Run(row.verb, Some(number)))
        }
    };
    match prefix {
        CommandPrefix::Slash | CommandPrefix::Bang => Some(command.unwrap_or(Command::Misused(row.verb))),
        CommandPrefix::Mention => command,
    }
}

/// How people write a command, such as `/rewind`.
pub fn spelled(verb: Verb, prefix: CommandPrefix) -> String {
    let sign = match prefix {
        CommandPrefix::Slash => "/",
        CommandPrefix::Bang => "!",
        CommandPrefix::Mention => "",
    };
    format!("{sign}{}", row_of(verb).name)
}

/// The row of a command.
pub fn row_of(verb: Verb) -> &'static Row {
    TABLE.iter().find(|row| row.verb == verb).expect("BUG: the table has a row for each verb")
}

/// The command that the first word of a message names.
fn named(word: &str, prefix: CommandPrefix, name: &str, message: &InboundMessage) -> Option<&'static Row> {
    let word = match prefix {
        CommandPrefix::Slash => {
            let (word, bot) = word.split_once('@').map_or((word, None), |(word, bot)| (word, Some(bot)));
            if bot.is_some_and(|bot| !bot.eq_ignore_ascii_case(name.trim_start_matches('@'))) {
                return None;
            }
            word.strip_prefix('/')?
        }
        CommandPrefix::Bang => word.strip_prefix('!')?,
        CommandPrefix::Mention => match message.addressed {
            Addressed::Mention | Addressed::Command => word,
            Addressed::No | Addressed::Reply => return None,
        },
    };
    TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(word))
}

fn count(word: &str) -> Option<u32> {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|number| is_number && *number > 0)
}
