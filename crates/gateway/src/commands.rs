//! The commands that people write in a chat: one table, and how they are read from a message. Must never find a command in an edit, a
//! forward or a file, or in the words of a bot.

#[cfg(test)]
mod tests;

use retake_wire::chat::{Addressed, ChatVerb, Inbound, InboundMessage};

use crate::capabilities::CommandPrefix;

/// A row of the table of commands.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it does.
    pub verb: ChatVerb,
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
        ChatVerb::Rewind,
        "rewind",
        true,
        "choose the turn to go back to; with N, take back the last N; in a reply, go back to before that message",
    ),
    row(ChatVerb::Undo, "undo", true, "undo the last N steps"),
    row(ChatVerb::Redo, "redo", true, "do N undone steps again"),
    row(ChatVerb::Retry, "retry", false, "answer the last message again"),
    row(ChatVerb::Drop, "drop", false, "in a reply: take back only that turn"),
    row(ChatVerb::Stop, "stop", false, "stop the answer that is being written"),
    row(ChatVerb::New, "new", false, "begin a new conversation here"),
    row(ChatVerb::Status, "status", false, "show what is going on"),
    row(ChatVerb::Posts, "posts", false, "count the posts that could not be taken back"),
    row(ChatVerb::Confirm, "confirm", false, "do what I asked about"),
    row(ChatVerb::Cancel, "cancel", false, "leave what I asked about"),
    row(ChatVerb::Help, "help", false, "list the commands"),
];

const fn row(verb: ChatVerb, name: &'static str, takes_number: bool, help: &'static str) -> Row {
    Row { verb, name, takes_number, help }
}

/// A command that somebody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A command, with its number: at least 1.
    Run(ChatVerb, Option<u32>),
    /// A command with a number where none is, or with other words after it. The answer is its line of the help.
    Misused(ChatVerb),
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
pub fn spelled(verb: ChatVerb, prefix: CommandPrefix) -> String {
    let sign = match prefix {
        CommandPrefix::Slash => "/",
        CommandPrefix::Bang => "!",
        CommandPrefix::Mention => "",
    };
    format!("{sign}{}", row_of(verb).name)
}

/// The row of a command.
pub fn row_of(verb: ChatVerb) -> &'static Row {
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
