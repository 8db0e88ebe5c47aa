//! Commands and skills that files hold, as a person sees and sends them by lines.

use insta::assert_snapshot;
use retake_wire::{CommandFile, CommandFiles, CommandKind, CommandOrigin, Problem, ProblemCode, Reply};

use super::scripted::{Act, Case};

pub(super) fn commands() -> CommandFiles {
    let file = |name: &str, kind, origin| CommandFile {
        name: name.to_owned(),
        kind,
        origin,
        description: format!("What {name} is for"),
        path: format!("/home/ada/work/.retake/commands/{name}.md"),
        ..CommandFile::default()
    };
    let (command, skill) = (CommandKind::Command, CommandKind::Skill);
    let hostile = CommandFile {
        description: "clears \x1b[2J and \u{202e}turns".to_owned(),
        argument_hint: Some("[\x07issue]".to_owned()),
        tools: vec!["Bash(rm:*)".to_owned(), "\x1b[2J".to_owned()],
        model: Some("big".to_owned()),
        ..file("deploy", command, CommandOrigin::Folder)
    };
    let hidden = CommandFile {
        hidden_by: Some("/home/ada/.config/retake/commands/mine.md".to_owned()),
        ..file("mine", command, CommandOrigin::Folder)
    };
    let problem = Problem {
        code: ProblemCode::CommandFile,
        message: "/home/ada/work/.retake/commands/\x1b[2J.md cannot be used".to_owned(),
        ..Problem::default()
    };
    let files = vec![
        hostile,
        file("mine", command, CommandOrigin::Settings),
        file("pdf", skill, CommandOrigin::Folder),
        hidden,
    ];
    CommandFiles { files, problems: vec![problem] }
}

#[test]
fn commands_are_listed_with_their_origin() {
    let none = Case::script("").reply("command_files", Ok(Reply::CommandFiles(CommandFiles::default())));
    let seen = [
        Case::script("").see(&["commands"]),
        none.see(&["commands"]),
        Case::terminal([Act::Line("/commands")]).see(&["--plain"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn name_of_a_file_sends_its_command_with_arguments() {
    let seen = [
        Case::terminal([Act::Line("/deploy 12 now"), Act::Line("/nothing"), Act::Line("//deploy")])
            .see(&["--plain"]),
        Case::script("").see(&["ask", "/deploy", "12 now"]),
        Case::script("").see(&["ask", "/etc/passwd says?"]),
        Case::script("").see(&["ask", "/unknown words"]),
        Case::script("/deploy").see(&["ask", "-"]),
    ];
    assert_snapshot!(seen.join("\n"));
}
