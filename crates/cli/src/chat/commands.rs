//! The commands, in one table: help, completion and dispatch are made from it. Must never hold what a command does.

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::{Chat, agent, edit, files, marks, moves, rewind, switch, turn, views};
use crate::error::Result;
use crate::term::style::Style;
use retake_tui::render::content;
use retake_tui::render::table::{cell, table};

/// What a command does with the words that follow it.
type Do = for<'c, 'a> fn(&'c mut Chat<'a>, &'c str) -> LocalBoxFuture<'c, Result>;

/// A command.
pub(super) struct Command {
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// What may follow.
    takes: &'static str,
    /// What it does, in a line.
    help: &'static str,
    /// What else is to be known.
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
        more: "Without ENTRY (tN, a label, or the beginning of an id) you pick one. What it takes back is shown first, and you are \
               asked. Where files go along, you say whether both go back, the conversation only, or files only, or choose for single files first: each has a number, and a line such as 2=disk or 3=hunks:1,2 chooses. The old words return to the line for you to edit; nothing runs by itself. What you left stays as a branch, \
               and /undo takes the step back.",
        run: |chat, words| rewind::rewind(chat, words).boxed_local(),
    },
    Command {
        name: "undo",
        takes: "[N]",
        help: "take back the last thing said or done",
        more: "A turn's words return to the line. /redo comes forward again. Where files are in conflict, you choose for them as with /rewind.",
        run: |chat, words| moves::undo(chat, words).boxed_local(),
    },
    Command {
        name: "redo",
        takes: "[N]",
        help: "bring back what was undone",
        more: "Saying or doing something new ends the line of redo; what was undone is then still a branch: /tree.",
        run: |chat, words| moves::redo(chat, words).boxed_local(),
    },
    Command {
        name: "edit",
        takes: "[ENTRY]",
        help: "say something else in the place of a message",
        more: "Its words come into the line; when you submit, they are said in its place and answered. An empty line leaves the \
               edit. Images and files of the message are kept; /detach leaves them out.",
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
        more: "ENTRY is the answer, or any message of its turn; without it, the last one.",
        run: |chat, words| moves::choose(chat, words).boxed_local(),
    },
    Command {
        name: "tree",
        takes: "",
        help: "show the branches and switch to one",
        more: "",
        run: |chat, _| moves::tree(chat).boxed_local(),
    },
    Command {
        name: "fork",
        takes: "[TITLE]",
        help: "go on in a new conversation that begins like this one",
        more: "This one stays as it is.",
        run: |chat, words| switch::fork(chat, words).boxed_local(),
    },
    Command {
        name: "restore",
        takes: "HEAD|ENTRY|PATH…",
        help: "return to an earlier head or the end of a branch, or put files back",
        more: "/ops lists the heads. PATH… to NAME makes the files what they were at a checkpoint, a turn or a head; without a name, \
               before the last turn. What it changes is shown first, and you are asked; for files in conflict you choose.",
        run: |chat, words| moves::restore(chat, words).boxed_local(),
    },
    Command {
        name: "hide",
        takes: "[ENTRY]",
        help: "hide a message, as if it were deleted",
        more: "/undo takes that back; /hidden lists what is hidden, /show brings it back.",
        run: |chat, words| marks::hide(chat, words).boxed_local(),
    },
    Command {
        name: "show",
        takes: "[ENTRY]",
        help: "bring a hidden message back, or all that is hidden of a turn",
        more: "tN is all that is hidden or dropped of turn N; without ENTRY you pick. /search --hidden WORDS finds hidden messages.",
        run: |chat, words| marks::show(chat, words).boxed_local(),
    },
    Command {
        name: "hidden",
        takes: "",
        help: "list what is hidden, dropped or kept from the model",
        more: "Newest first; /show and /include bring it back.",
        run: |chat, _| marks::hidden(chat).boxed_local(),
    },
    Command {
        name: "exclude",
        takes: "[ENTRY]",
        help: "keep a message from the model; you still see it",
        more: "",
        run: |chat, words| marks::exclude(chat, words).boxed_local(),
    },
    Command {
        name: "include",
        takes: "[ENTRY]",
        help: "let the model see an excluded message again",
        more: "tN is all that is excluded of turn N; without ENTRY you pick.",
        run: |chat, words| marks::include(chat, words).boxed_local(),
    },
    Command {
        name: "label",
        takes: "[ENTRY] NAME",
        help: "give a message a name; the last one, without ENTRY",
        more: "/label ENTRY --remove takes the name away.",
        run: |chat, words| marks::label(chat, words).boxed_local(),
    },
    Command {
        name: "title",
        takes: "TEXT",
        help: "give the conversation a title",
        more: "/title --remove takes it away.",
        run: |chat, words| marks::title(chat, words).boxed_local(),
    },
    Command {
        name: "search",
        takes: "WORDS",
        help: "search this conversation",
        more: "Words, \"phrases\", prefix*, AND, OR, NOT, (parentheses); a hyphen is no operator. Before the words: --all searches \
               all conversations, --hidden and --rewound also what is not shown.",
        run: |chat, words| views::search(chat, words).boxed_local(),
    },
    Command {
        name: "log",
        takes: "[N]",
        help: "show the last messages",
        more: "20 of them, or N.",
        run: |chat, words| views::log(chat, words).boxed_local(),
    },
    Command {
        name: "ops",
        takes: "",
        help: "show what was done, with the heads to restore",
        more: "",
        run: |chat, _| views::ops(chat).boxed_local(),
    },
    Command {
        name: "drop",
        takes: "TURN",
        help: "take a turn out of the middle, with its files",
        more: "What came later stays. /undo takes it back. Where files are in conflict, you choose for them as with /rewind.",
        run: |chat, words| files::drop_turn(chat, words).boxed_local(),
    },
    Command {
        name: "diff",
        takes: "[TURN]",
        help: "show how files would change by going back",
        more: "Back to before TURN, or to the beginning. Nothing is changed.",
        run: |chat, words| files::diff(chat, words).boxed_local(),
    },
    Command {
        name: "checkpoint",
        takes: "[NAME]",
        help: "look at the folder, and keep what is seen under a name",
        more: "",
        run: |chat, words| files::checkpoint(chat, words).boxed_local(),
    },
    Command {
        name: "permissions",
        takes: "[CHANGE]",
        help: "show or change what the model may do unasked",
        more: "CHANGE: mode ask, allow-edits, allow-all or plan; allow, ask and deny take a rule: a tool, or a tool with a path, the first words of \
               a command, or a host: edit, write(src/**), shell(git push), fetch(*.example.org); forget N takes rule N away. It holds for \
               this conversation; rules for all stand in the settings.",
        run: |chat, words| agent::permissions(chat, words).boxed_local(),
    },
    Command {
        name: "todo",
        takes: "",
        help: "show the model's to-do list",
        more: "It is as old as the conversation is now: going back takes it along.",
        run: |chat, _| agent::todo(chat).boxed_local(),
    },
    Command {
        name: "jobs",
        takes: "[output|stop ID]",
        help: "show the commands that run in the background, what one printed, or stop one",
        more: "ID is the end of its id, as the list shows it.",
        run: |chat, words| agent::jobs(chat, words).boxed_local(),
    },
    Command {
        name: "unqueue",
        takes: "",
        help: "take back what you said while the model works and what waits still",
        more: "Your words return to the line.",
        run: |chat, _| agent::unqueue(chat).boxed_local(),
    },
    Command {
        name: "tools",
        takes: "",
        help: "show what the model can do, and what of that it may",
        more: "",
        run: |chat, _| agent::tools(chat).boxed_local(),
    },
    Command {
        name: "mcp",
        takes: "",
        help: "show the MCP servers, and whether they can be reached",
        more: "`retake mcp` adds, removes and allows them.",
        run: |chat, _| agent::mcp(chat).boxed_local(),
    },
    Command {
        name: "cost",
        takes: "",
        help: "show how many tokens the answers took, and what they cost",
        more: "Prices stand in the settings: models.\"provider/model\".input_price and so on.",
        run: |chat, _| agent::cost(chat).boxed_local(),
    },
    Command {
        name: "model",
        takes: "[NAME]",
        help: "choose the model that answers",
        more: "It holds until you leave; `retake config set` chooses for good.",
        run: |chat, words| views::model(chat, words).boxed_local(),
    },
    Command {
        name: "list",
        takes: "",
        help: "go on with another conversation",
        more: "",
        run: |chat, _| switch::list(chat).boxed_local(),
    },
    Command {
        name: "new",
        takes: "",
        help: "begin a new conversation",
        more: "This one stays; /list finds it.",
        run: |chat, _| switch::new(chat).boxed_local(),
    },
    Command {
        name: "detach",
        takes: "",
        help: "leave out the images and files that wait",
        more: "",
        run: |chat, _| edit::detach(chat).boxed_local(),
    },
    Command {
        name: "export",
        takes: "FILE",
        help: "write the conversation to a file",
        more: ".md is Markdown, .txt is text, anything else JSON Lines.",
        run: |chat, words| views::export(chat, words).boxed_local(),
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
        help: "leave; what was said is kept",
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

/// What the line completes.
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
        let ends = "anything else is said to the model; // begins a message with a slash; \
                    ENTRY is tN, a label, the beginning of an id, or @ for the last one";
        let text = table(&look, &rows) + &content::block(&look, ends, 0, Some(Style::Dim));
        return Ok(chat.cx.ui.page(&text)?);
    }
    let name = words.trim_start_matches('/');
    let Some(command) = find(name) else {
        return chat.unknown(name, &format!("/help {name}"));
    };
    let usage = format!("/{} {}", command.name, command.takes);
    let usage = look.palette.paint(Style::Accent, usage.trim_end().to_owned());
    let mut text = format!("{usage}\n{}\n", command.help);
    if !command.more.is_empty() {
        text.push_str(&content::block(&look, command.more, 0, None));
    }
    chat.print(&text)
}

async fn quit(chat: &mut Chat<'_>) -> Result {
    chat.leaving = true;
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
