//! The commands, in one table: help, completion and dispatch are made from it. Most are verbs of the command line, with the same
//! arguments; where one is missing, the person picks it from a list.

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use retake_wire::Request;

use super::handlers::{
    bring_back, choose, diff, exclude, export, fork, hidden, hide, label, line, list, log, model, named, new,
    restore, rewind, search, then, title, tree, verb,
};
use super::{Chat, agent, edit, turn};
use crate::error::Result;
use crate::term::style::Style;
use crate::ui::Text;
use retake_tui::render::content;
use retake_tui::render::table::{cell, table};

/// What a command does with the words that follow it.
type Do = for<'c, 'a> fn(&'c mut Chat<'a>, &'c str) -> LocalBoxFuture<'c, Result>;

/// A command.
pub(super) struct Command {
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// What may follow.
    pub(super) takes: &'static str,
    /// What it does, in one line.
    help: &'static str,
    /// More about it, for `/help NAME`.
    more: &'static str,
    /// What it does.
    pub(super) run: Do,
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
        run: |chat, words| rewind(chat, words).boxed_local(),
    },
    Command {
        name: "undo",
        takes: "[N]",
        help: "take back the last message or step",
        more: "The words of a message return to the line. /redo brings them back. If files are in conflict, you choose \
               as with /rewind.",
        run: |chat, words| then(chat, line("undo", words), "/redo brings it back").boxed_local(),
    },
    Command {
        name: "redo",
        takes: "[N]",
        help: "bring back what you took back",
        more: "A new message or step empties the list of redo. What you took back is then still a branch: /tree.",
        run: |chat, words| verb(chat, line("redo", words)).boxed_local(),
    },
    Command {
        name: "edit",
        takes: "[ENTRY]",
        help: "replace a message and get a new answer",
        more: "The words of the message come into the line. Enter sends them in place of the old ones, an empty line \
               cancels. Images and files of the message are kept; /detach removes them.",
        run: |chat, words| edit::edit(chat, words).boxed_local(),
    },
    Command {
        name: "retry",
        takes: "[ENTRY]",
        help: "ask for another answer",
        more: "The old answer stays as an alternative: /choose.",
        run: |chat, words| turn::retry(chat, words).boxed_local(),
    },
    Command {
        name: "choose",
        takes: "[ENTRY]",
        help: "choose between the answers to a message",
        more: "ENTRY is the answer or any message of its turn; without it, the last one.",
        run: |chat, words| choose(chat, words).boxed_local(),
    },
    Command {
        name: "tree",
        takes: "",
        help: "show the branches and switch to one",
        more: "",
        run: |chat, _| tree(chat).boxed_local(),
    },
    Command {
        name: "fork",
        takes: "[TITLE]",
        help: "continue in a new conversation that begins like this one",
        more: "This one stays as it is.",
        run: |chat, words| fork(chat, words).boxed_local(),
    },
    Command {
        name: "restore",
        takes: "HEAD|ENTRY|PATH…",
        help: "return to an earlier head or another branch, or put files back",
        more: "/ops lists the heads. PATH… to NAME puts files back as they were at a checkpoint, before a turn or at a \
               head; without a name, before the last turn. The plan is shown first, and you are asked. You choose for \
               files in conflict.",
        run: |chat, words| restore(chat, words).boxed_local(),
    },
    Command {
        name: "hide",
        takes: "[ENTRY]",
        help: "hide a message, as if it were deleted",
        more: "/undo takes that back. /hidden lists hidden messages, /show brings one back.",
        run: |chat, words| hide(chat, words).boxed_local(),
    },
    Command {
        name: "show",
        takes: "[ENTRY]",
        help: "bring back a hidden message, or all hidden ones of a turn",
        more: "tN means all hidden or dropped messages of turn N; without ENTRY you pick one. /search --hidden WORDS \
               finds hidden messages.",
        run: |chat, words| bring_back(chat, "show", words).boxed_local(),
    },
    Command {
        name: "hidden",
        takes: "",
        help: "list hidden, dropped and excluded messages",
        more: "The newest first. /show and /include bring them back.",
        run: |chat, _| hidden(chat).boxed_local(),
    },
    Command {
        name: "exclude",
        takes: "[ENTRY]",
        help: "exclude a message from what the model sees; you still see it",
        more: "",
        run: |chat, words| exclude(chat, words).boxed_local(),
    },
    Command {
        name: "include",
        takes: "[ENTRY]",
        help: "let the model see an excluded message again",
        more: "tN means all excluded messages of turn N; without ENTRY you pick one.",
        run: |chat, words| bring_back(chat, "include", words).boxed_local(),
    },
    Command {
        name: "label",
        takes: "[ENTRY] NAME",
        help: "give a message a name; without ENTRY, the last one",
        more: "/label ENTRY --remove removes the name.",
        run: |chat, words| verb(chat, label(words)).boxed_local(),
    },
    Command {
        name: "title",
        takes: "TEXT",
        help: "give the conversation a title",
        more: "/title --remove removes it.",
        run: |chat, words| verb(chat, title(words)).boxed_local(),
    },
    Command {
        name: "search",
        takes: "WORDS",
        help: "search this conversation",
        more: "Words, \"phrases\", prefix*, AND, OR, NOT and (parentheses). A hyphen is no operator. Options before the \
               words: --all searches all conversations; --hidden and --rewound also search messages that are not shown.",
        run: |chat, words| search(chat, words).boxed_local(),
    },
    Command {
        name: "log",
        takes: "[N]",
        help: "show the last messages",
        more: "20 messages, or N.",
        run: |chat, words| verb(chat, log(words)).boxed_local(),
    },
    Command {
        name: "ops",
        takes: "",
        help: "show the operations, with the heads to restore",
        more: "",
        run: |chat, words| verb(chat, line("ops", words)).boxed_local(),
    },
    Command {
        name: "drop",
        takes: "TURN",
        help: "remove a turn from the middle, with its file changes",
        more: "Later turns stay. /undo takes it back. If files are in conflict, you choose as with /rewind.",
        run: |chat, words| verb(chat, line("drop", words)).boxed_local(),
    },
    Command {
        name: "diff",
        takes: "[TURN]",
        help: "show how a rewind would change files",
        more: "A rewind to before TURN, or to the beginning. Nothing changes.",
        run: |chat, words| verb(chat, diff(words)).boxed_local(),
    },
    Command {
        name: "checkpoint",
        takes: "[NAME]",
        help: "save the state of the folder under a name",
        more: "",
        run: |chat, words| verb(chat, named(&["checkpoint"], words)).boxed_local(),
    },
    Command {
        name: "permissions",
        takes: "[CHANGE]",
        help: "show or change what the model may do without asking",
        more: "CHANGE is: mode ask, mode allow-edits, mode allow-all or mode plan; allow, ask or deny with a rule; \
               forget N, which removes rule N. A rule is a tool, or a tool with a path, the first words of a command, or \
               a host: edit, write(src/**), shell(git push), fetch(*.example.org). This applies to this conversation; \
               the settings have rules for all.",
        run: |chat, words| agent::permissions(chat, words).boxed_local(),
    },
    Command {
        name: "todo",
        takes: "",
        help: "show the model's to-do list",
        more: "It belongs to this point of the conversation: a rewind restores the older list.",
        run: |chat, _| agent::show(chat, Request::Todo).boxed_local(),
    },
    Command {
        name: "jobs",
        takes: "[output|stop ID]",
        help: "show background commands, the output of one, or stop one",
        more: "ID is the end of its id, as the list shows it.",
        run: |chat, words| agent::jobs(chat, words).boxed_local(),
    },
    Command {
        name: "unqueue",
        takes: "",
        help: "take back messages that still wait for the model",
        more: "Your words return to the line.",
        run: |chat, _| agent::unqueue(chat).boxed_local(),
    },
    Command {
        name: "tools",
        takes: "",
        help: "show the tools of the model, and its permissions for them",
        more: "",
        run: |chat, _| agent::show(chat, Request::Tools).boxed_local(),
    },
    Command {
        name: "mcp",
        takes: "",
        help: "show the MCP servers, and whether they answer",
        more: "`retake mcp` adds, removes and allows them.",
        run: |chat, _| verb(chat, line("mcp list", "")).boxed_local(),
    },
    Command {
        name: "cost",
        takes: "",
        help: "show how many tokens the answers used, and their cost",
        more: "The settings have the prices: models.\"provider/model\".input_price and so on.",
        run: |chat, _| agent::show(chat, Request::Cost).boxed_local(),
    },
    Command {
        name: "model",
        takes: "[NAME]",
        help: "choose the model that answers",
        more: "It applies until you quit; `retake config set` changes the default.",
        run: |chat, words| model(chat, words).boxed_local(),
    },
    Command {
        name: "list",
        takes: "",
        help: "continue with another conversation",
        more: "",
        run: |chat, _| list(chat).boxed_local(),
    },
    Command {
        name: "new",
        takes: "",
        help: "begin a new conversation",
        more: "This one stays; /list finds it.",
        run: |chat, _| new(chat).boxed_local(),
    },
    Command {
        name: "detach",
        takes: "",
        help: "remove the images and files that wait for the next message",
        more: "",
        run: |chat, _| edit::detach(chat).boxed_local(),
    },
    Command {
        name: "export",
        takes: "FILE",
        help: "write the conversation to a file",
        more: ".md is Markdown, .txt is text, any other name JSON Lines.",
        run: |chat, words| export(chat, words).boxed_local(),
    },
    Command {
        name: "help",
        takes: "[COMMAND]",
        help: "show the commands, or more about one",
        more: "",
        run: |chat, words| help(chat, words).boxed_local(),
    },
    Command {
        name: "quit",
        takes: "",
        help: "quit; everything is stored",
        more: "Ctrl-D does the same.",
        run: |chat, _| quit(chat).boxed_local(),
    },
];

/// The command of that name.
pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The command whose name is most like this one, if one is.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    COMMANDS
        .iter()
        .map(|command| (strsim::jaro_winkler(command.name, name), command.name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
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
    let Some(command) = find(name) else {
        return chat.unknown(name, &format!("/help {name}"));
    };
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
    use super::*;

    #[test]
    fn names_are_different_and_the_nearest_is_offered() {
        for (at, command) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[..at].iter().all(|other| other.name != command.name), "{}", command.name);
        }
        assert_eq!(nearest("rewnd"), Some("rewind"));
        assert_eq!(nearest("exprot"), Some("export"));
        assert_eq!(nearest("usr/bin/env"), None);
    }
}
