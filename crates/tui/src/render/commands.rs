//! Commands and skills. Must never show a text of a folder's file unescaped, nor leave out where it comes from.

use retake_wire::{CommandFile, CommandFiles, CommandKind, CommandOrigin};

use super::table::{cell, table};
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// Commands and skills with their origin, those that another one hides, and files that can't be used.
pub fn commands(look: &Look, it: &CommandFiles) -> Text {
    let mut text = Text::new();
    if it.files.is_empty() {
        text.push("no commands or skills: a file .retake/commands/NAME.md makes /NAME\n");
    }
    let counts: Vec<_> = it.files.iter().filter(|file| file.hidden_by.is_none()).collect();
    let rows: Vec<_> = counts
        .iter()
        .map(|file| {
            vec![
                cell(safe::line(&usage(file)).into_owned()).style(Style::Accent),
                cell(origin(file)).style(Style::Dim),
                cell(safe::line(&file.description).into_owned()),
            ]
        })
        .collect();
    text.push(table(look, &rows));
    let line = |sign: Style, line: &str| text![(sign, "!"), " ", safe::line(line).into_owned(), "\n"];
    for file in &it.files {
        if let Some(by) = &file.hidden_by {
            text.push(line(Style::Dim, &format!("{} is hidden by {by}, which has the same name", file.path)));
        }
    }
    for file in counts {
        if !file.tools.is_empty() {
            let tools = file.tools.join(", ");
            text.push(line(
                Style::Dim,
                &format!("/{} names tools, which grants nothing: {tools}", file.name),
            ));
        }
        if let Some(model) = &file.model {
            text.push(line(Style::Dim, &format!("/{} names a model, which is not used: {model}", file.name)));
        }
    }
    for problem in &it.problems {
        text.push(line(Style::Warn, &Audience::Shell.problem(problem)));
    }
    text
}

/// The line to type.
pub fn usage(file: &CommandFile) -> String {
    let hint = file.argument_hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
    format!("/{}{hint}", file.name)
}

/// What it is and where it comes from, in a few words.
pub fn origin(file: &CommandFile) -> &'static str {
    match (file.kind, file.origin) {
        (CommandKind::Skill, CommandOrigin::Folder) => "this folder's skill",
        (CommandKind::Skill, _) => "your skill",
        (_, CommandOrigin::Folder) => "this folder's",
        (_, CommandOrigin::Settings) => "yours",
        (_, CommandOrigin::Unknown) => "",
    }
}
