//! The table of commands: help, completion and dispatch are made from it. Most are verbs of the command line: a row says how the
//! text of the line becomes arguments, or which list the person picks them from.

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use retake_wire::request::ConversationTarget;
use retake_wire::{Mark, Request};

use super::handlers::{self, label, line, memory, named, option, or_default_words, title};
use super::pickers::{self, PickedArguments};
use super::{Chat, agent, edit};
use crate::error::Result;
use crate::term::style::Style;
use crate::ui::Text;
use retake_tui::render::content;
use retake_tui::render::table::{cell, table};

/// A handler of the text after a command.
pub(super) type Handler<T> = for<'c, 'a> fn(&'c mut Chat<'a>, &'c str) -> LocalBoxFuture<'c, Result<T>>;

/// The effect of a command on the text after it.
pub(super) enum CommandEffect {
    /// Runs a verb with these arguments.
    Verb(fn(&str) -> Vec<String>),
    /// Runs this verb with the text; without text, the person picks its arguments.
    Pick(&'static str, Handler<PickedArguments>),
    /// Shows the reply to a request about the conversation.
    Show(fn(ConversationTarget) -> Request),
    /// Does something that only the line client can do.
    Own(Handler<()>),
}

impl CommandEffect {
    /// Runs it.
    pub(super) fn run<'c>(&self, chat: &'c mut Chat<'_>, words: &'c str) -> LocalBoxFuture<'c, Result> {
        match *self {
            Self::Verb(arguments) => chat.verb(arguments(words)).boxed_local(),
            Self::Pick(verb, pick) => handlers::pick(chat, verb, words, pick).boxed_local(),
            Self::Show(request) => agent::show(chat, request).boxed_local(),
            Self::Own(handler) => handler(chat, words),
        }
    }
}

/// A command.
pub(super) struct Command {
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// The possible arguments.
    pub(super) takes: &'static str,
    /// Its effect, in one line.
    help: &'static str,
    /// More about it, for `/help NAME`.
    more: &'static str,
    /// Its implementation.
    pub(super) does: CommandEffect,
}

/// All of them, in the order of the help.
const COMMANDS: &[Command] = &[
    Command {
        name: "rewind",
        takes: "[ENTRY]",
        help: "go back to before a message",
        more: "ENTRY is tN, a label, or the beginning of an id; without it you pick a message. The plan shows what this \
               takes back, and then you are asked. If files are involved, you choose: both, the conversation only, or \
               files only. You can also choose for single files first: each has a number, and a line such as 2=disk or \
               3=hunks:1,2 chooses. The old words return to the line, so that you can edit them; nothing runs without \
               your Enter. The messages stay on a branch, and /undo takes the rewind back.",
        does: CommandEffect::Own(|chat, words| handlers::rewind(chat, words).boxed_local()),
    },
    Command {
        name: "undo",
        takes: "[N]",
        help: "take back the last message or step",
        more: "The words of a message return to the line. /redo brings them back. If files are in conflict, you choose \
               as with /rewind.",
        does: CommandEffect::Verb(|words| line("undo", words)),
    },
    Command {
        name: "redo",
        takes: "[N]",
        help: "bring back what you took back",
        more: "A new message or step empties the list of redo. What you took back is then still a branch: /tree.",
        does: CommandEffect::Verb(|words| line("redo", words)),
    },
    Command {
        name: "edit",
        takes: "[ENTRY]",
        help: "replace a message and get a new answer",
        more: "The words of the message come into the line. Enter sends them in place of the old ones, an empty line \
               cancels. Images and files of the message are kept; /detach removes them.",
        does: CommandEffect::Own(|chat, words| edit::edit(chat, words).boxed_local()),
    },
    Command {
        name: "retry",
        takes: "[ENTRY]",
        help: "ask for another answer",
        more: "The old answer stays as an alternative: /choose.",
        does: CommandEffect::Verb(|words| line("retry", words)),
    },
    Command {
        name: "compact",
        takes: "[INSTRUCTIONS]",
        help: "let the model summarise earlier messages",
        more: "You still see them, the model gets the summary. /undo takes it back.",
        does: CommandEffect::Verb(|words| line("compact", words)),
    },
    Command {
        name: "choose",
        takes: "[ENTRY]",
        help: "choose between the answers to a message",
        more: "ENTRY is the answer or any message of its turn; without it, the last one.",
        does: CommandEffect::Own(|chat, words| {
            handlers::picked(chat, "choose", words, |chat, words| {
                pickers::alternative(chat, or_default_words(words, "@")).boxed_local()
            })
            .boxed_local()
        }),
    },
    Command {
        name: "tree",
        takes: "",
        help: "show the branches and switch to one",
        more: "",
        does: CommandEffect::Own(|chat, words| {
            handlers::picked(chat, "restore", words, |chat, _| pickers::branch(chat).boxed_local())
                .boxed_local()
        }),
    },
    Command {
        name: "fork",
        takes: "[TITLE]",
        help: "continue in a new conversation that begins like this one",
        more: "This one stays as it is.",
        does: CommandEffect::Verb(|words| option("fork", "--title", words)),
    },
    Command {
        name: "restore",
        takes: "HEAD|ENTRY|PATH…",
        help: "return to an earlier head or another branch, or put files back",
        more: "/ops lists the heads. PATH… to NAME puts files back as they were at a checkpoint, before a turn or at a \
               head; without a name, before the last turn. The plan is shown first, and you are asked. You choose for \
               files in conflict.",
        does: CommandEffect::Own(|chat, words| handlers::restore(chat, words).boxed_local()),
    },
    Command {
        name: "hide",
        takes: "[ENTRY]",
        help: "hide a message, as if it were deleted",
        more: "/undo takes that back. /hidden lists hidden messages, /show brings one back.",
        does: CommandEffect::Pick("hide", |chat, _| pickers::message(chat, "Hide", |_| true).boxed_local()),
    },
    Command {
        name: "show",
        takes: "[ENTRY]",
        help: "bring back a hidden message, or all hidden ones of a turn",
        more: "tN means all hidden or dropped messages of turn N; without ENTRY you pick one. /search --hidden WORDS \
               finds hidden messages.",
        does: CommandEffect::Pick("show", |chat, _| {
            pickers::marked(chat, "Bring back", |mark| mark != Mark::Excluded).boxed_local()
        }),
    },
    Command {
        name: "hidden",
        takes: "",
        help: "list hidden, dropped and excluded messages",
        more: "The newest first. /show and /include bring them back.",
        does: CommandEffect::Verb(|_| line("hidden --limit 100", "")),
    },
    Command {
        name: "exclude",
        takes: "[ENTRY]",
        help: "exclude a message from what the model sees; you still see it",
        more: "",
        does: CommandEffect::Pick("exclude", |chat, _| {
            pickers::message(chat, "Keep from the model", |mark| mark == Mark::Normal).boxed_local()
        }),
    },
    Command {
        name: "include",
        takes: "[ENTRY]",
        help: "let the model see an excluded message again",
        more: "tN means all excluded messages of turn N; without ENTRY you pick one.",
        does: CommandEffect::Pick("include", |chat, _| {
            pickers::marked(chat, "Let the model see", |mark| mark == Mark::Excluded).boxed_local()
        }),
    },
    Command {
        name: "label",
        takes: "[ENTRY] NAME",
        help: "give a message a name; without ENTRY, the last one",
        more: "/label ENTRY --remove removes the name.",
        does: CommandEffect::Verb(label),
    },
    Command {
        name: "title",
        takes: "TEXT",
        help: "give the conversation a title",
        more: "/title --remove removes it.",
        does: CommandEffect::Verb(title),
    },
    Command {
        name: "search",
        takes: "WORDS",
        help: "search this conversation",
        more: "Words, \"phrases\", prefix*, AND, OR, NOT and (parentheses). A hyphen is not an operator. Options before the \
               words: --all searches all conversations; --hidden and --rewound also search messages that are not shown.",
        does: CommandEffect::Own(|chat, words| handlers::search(chat, words).boxed_local()),
    },
    Command {
        name: "log",
        takes: "[N]",
        help: "show the last messages",
        more: "20 messages, or N.",
        does: CommandEffect::Verb(|words| line("log --limit", or_default_words(words, "20"))),
    },
    Command {
        name: "ops",
        takes: "",
        help: "show the operations, with the heads to restore",
        more: "",
        does: CommandEffect::Verb(|words| line("ops", words)),
    },
    Command {
        name: "drop",
        takes: "TURN",
        help: "remove a turn from the middle, with its file changes",
        more: "Later turns stay. /undo takes it back. If files are in conflict, you choose as with /rewind.",
        does: CommandEffect::Verb(|words| line("drop", words)),
    },
    Command {
        name: "diff",
        takes: "[TURN]",
        help: "show how a rewind would change files",
        more: "A rewind to before TURN, or to the beginning. Nothing changes.",
        does: CommandEffect::Verb(|words| {
            line("plan rewind --scope files --diff", or_default_words(words, "t1"))
        }),
    },
    Command {
        name: "files",
        takes: "",
        help: "show what differs in the folder now",
        more: "",
        does: CommandEffect::Show(Request::FilesStatus),
    },
    Command {
        name: "checkpoint",
        takes: "[NAME]",
        help: "save the state of the folder under a name",
        more: "",
        does: CommandEffect::Verb(|words| named(&["checkpoint"], words)),
    },
    Command {
        name: "permissions",
        takes: "[CHANGE]",
        help: "show or change what the model may do without asking",
        more: "CHANGE is: mode ask, mode allow-edits, mode allow-all or mode plan; allow, ask or deny with a rule; \
               forget N, which removes rule N. A rule is a tool, or a tool with a path, the first words of a command, or \
               a host: edit, write(src/**), shell(git push), fetch(*.example.org). This applies to this conversation; \
               the settings have rules for all.",
        does: CommandEffect::Own(|chat, words| agent::permissions(chat, words).boxed_local()),
    },
    Command {
        name: "plan",
        takes: "",
        help: "plan mode: the model only reads, and hands over a plan",
        more: "It ends when you approve the plan, or with /permissions mode ask.",
        does: CommandEffect::Own(|chat, _| agent::permissions(chat, "mode plan").boxed_local()),
    },
    Command {
        name: "todo",
        takes: "",
        help: "show the model's to-do list",
        more: "It belongs to this point of the conversation: a rewind restores the older list.",
        does: CommandEffect::Show(Request::Todo),
    },
    Command {
        name: "jobs",
        takes: "[output|stop ID]",
        help: "show background commands, the output of one, or stop one",
        more: "ID is the end of its id, as the list shows it.",
        does: CommandEffect::Own(|chat, words| agent::jobs(chat, words).boxed_local()),
    },
    Command {
        name: "unqueue",
        takes: "",
        help: "take back messages that still wait for the model",
        more: "Your words return to the line.",
        does: CommandEffect::Own(|chat, _| agent::unqueue(chat).boxed_local()),
    },
    Command {
        name: "tools",
        takes: "",
        help: "show the tools of the model, and its permissions for them",
        more: "",
        does: CommandEffect::Show(Request::Tools),
    },
    Command {
        name: "memory",
        takes: "[WORDS]",
        help: "show or change what is remembered for later conversations",
        more: "WORDS look facts up. Instead of them: add TEXT, edit ID TEXT or forget ID changes memory. A change is an entry of this conversation: a rewind takes it back. `retake memory add --everywhere` remembers \
               a fact for all folders.",
        does: CommandEffect::Verb(memory),
    },
    Command {
        name: "commands",
        takes: "",
        help: "list the commands and skills of this folder and your settings",
        more: "/NAME sends one: the model gets the prompt in its file.",
        does: CommandEffect::Verb(|words| line("commands", words)),
    },
    Command {
        name: "mcp",
        takes: "",
        help: "show the MCP servers, and whether they answer",
        more: "`retake mcp` adds, removes and allows them.",
        does: CommandEffect::Verb(|_| line("mcp list", "")),
    },
    Command {
        name: "context",
        takes: "",
        help: "show how much of the model's context is used, and by what",
        more: "Earlier messages are summarised when they nearly fill it: /compact does it now.",
        does: CommandEffect::Own(|chat, _| agent::context(chat).boxed_local()),
    },
    Command {
        name: "cost",
        takes: "",
        help: "show how many tokens the answers used, and their cost",
        more: "Prices that are not known can be set: models.\"provider/model\".input_price and so on.",
        does: CommandEffect::Show(Request::Cost),
    },
    Command {
        name: "model",
        takes: "[NAME]",
        help: "choose the model that answers",
        more: "It applies until you quit; `retake config set` changes the default.",
        does: CommandEffect::Own(|chat, words| handlers::model(chat, words).boxed_local()),
    },
    Command {
        name: "list",
        takes: "",
        help: "continue with another conversation",
        more: "",
        does: CommandEffect::Own(|chat, _| handlers::list(chat).boxed_local()),
    },
    Command {
        name: "continue",
        takes: "",
        help: "continue the last conversation of this folder",
        more: "",
        does: CommandEffect::Own(|chat, _| handlers::go_on(chat).boxed_local()),
    },
    Command {
        name: "new",
        takes: "",
        help: "begin a new conversation",
        more: "This one stays; /list finds it.",
        does: CommandEffect::Own(|chat, _| handlers::new(chat).boxed_local()),
    },
    Command {
        name: "detach",
        takes: "",
        help: "remove the images and files that wait for the next message",
        more: "",
        does: CommandEffect::Own(|chat, _| edit::detach(chat).boxed_local()),
    },
    Command {
        name: "export",
        takes: "FILE",
        help: "write the conversation to a file",
        more: ".md is Markdown, .txt is text, any other name JSON Lines.",
        does: CommandEffect::Own(|chat, words| handlers::export(chat, words).boxed_local()),
    },
    Command {
        name: "help",
        takes: "[COMMAND]",
        help: "show the commands, or more about one",
        more: "",
        does: CommandEffect::Own(|chat, words| help(chat, words).boxed_local()),
    },
    Command {
        name: "quit",
        takes: "",
        help: "quit; everything is stored",
        more: "Ctrl-D does the same.",
        does: CommandEffect::Own(|chat, _| quit(chat).boxed_local()),
    },
];

/// The command with this name.
pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The names of all commands.
pub(super) fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|command| command.name).collect()
}

/// The completions of the line: names, each with its help.
pub(super) fn completions() -> Vec<(String, String)> {
    COMMANDS.iter().map(|command| (format!("/{}", command.name), command.help.to_owned())).collect()
}

async fn help(chat: &mut Chat<'_>, words: &str) -> Result {
    let look = chat.cx.ui.look();
    if words.is_empty() {
        let rows: Vec<_> = COMMANDS
            .iter()
            .map(|command| {
                let name = format!("/{} {}", command.name, command.takes);
                vec![cell(name.trim_end()).style(Style::Accent), cell(command.help)]
            })
            .collect();
        let ends = "anything else goes to the model; // begins a message with a slash; \
                    ENTRY is tN, a label, the beginning of an id, or @ for the last one";
        let text = table(&look, &rows) + content::block(&look, ends, 0, Some(Style::Dim));
        return Ok(chat.cx.ui.page_text(&text)?);
    }
    let name = words.trim_start_matches('/');
    let Some(command) = find(name) else { return chat.unknown(name) };
    let usage = format!("/{} {}", command.name, command.takes);
    let mut text = Text::styled(Style::Accent, usage.trim_end()) + format!("\n{}\n", command.help);
    if !command.more.is_empty() {
        text.push(content::block(&look, command.more, 0, None));
    }
    chat.cx.print_text(&text)
}

async fn quit(chat: &mut Chat<'_>) -> Result {
    chat.quits = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use retake_tui::ui::slash;

    use super::*;

    #[test]
    fn names_are_different() {
        for (at, command) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[..at].iter().all(|other| other.name != command.name), "{}", command.name);
        }
    }

    #[test]
    fn both_clients_in_the_terminal_have_the_same_commands() {
        let full_screen = slash::of_full_screen();
        let (only_here, common): (Vec<_>, Vec<_>) =
            names().into_iter().partition(|name| !full_screen.contains(name));
        let mut by_lines_only = only_here.clone();
        by_lines_only.sort_unstable();
        assert_eq!(by_lines_only, slash::BY_LINES_ONLY);
        // What is about the screen, or about typing while the agent works.
        let of_the_screen: Vec<_> = full_screen.into_iter().filter(|name| !common.contains(name)).collect();
        let expected =
            ["stop", "close", "theme", "find", "reasoning", "output", "editor", "draft", "draft-drop"];
        assert_eq!(of_the_screen, expected);
    }
}
