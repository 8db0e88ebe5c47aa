//! Commands and skills of files: their list, and what a client gets of a message that sent one.

use std::collections::BTreeMap;

use futures::StreamExt;
use retake_wire::request::Plan;
use retake_wire::{
    Action, CommandFiles, CommandKind, CommandOrigin, CommandsOf, Part, Request, Run, RunEvent, RunStart,
};

use super::world::{Desk, get, variant};

/// A folder with a command.
fn project(desk: &Desk) -> String {
    let folder = desk.file("project");
    std::fs::create_dir_all(folder.join(".retake/commands")).expect("made");
    std::fs::write(folder.join(".retake/commands/fix.md"), "---\ndescription: Fix it\n---\nFix $1.")
        .expect("written");
    folder.to_str().expect("a name in UTF-8").to_owned()
}

async fn list(desk: &Desk, folder: &str) -> CommandFiles {
    get!(desk, CommandFiles, Request::CommandFiles(CommandsOf { folder: folder.into() }))
}

/// Every request about commands, with its reply.
pub(super) async fn answered() -> BTreeMap<String, String> {
    let desk = Desk::new().await;
    let request = Request::CommandFiles(CommandsOf { folder: project(&desk) });
    BTreeMap::from([(variant(&request), variant(&desk.does(request.clone()).await))])
}

fn command(conversation: &str, folder: &str, name: &str, entry: Option<String>) -> Run {
    Run {
        conversation: conversation.to_owned(),
        folder: Some(folder.to_owned()),
        start: RunStart::Command {
            name: name.to_owned(),
            arguments: "12 now".to_owned(),
            attached: Vec::new(),
            entry,
            seen: None,
            steer: None,
        },
        files: Default::default(),
        model: None,
        head: None,
        permit: Default::default(),
        request_id: None,
    }
}

#[tokio::test]
async fn commands_and_skills_are_listed_with_origin_and_files_that_cannot_be_used_with_the_reason() {
    let desk = Desk::new().await;
    let folder = project(&desk);
    let write = |path: &str, text: &str| {
        let path = desk.file(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("project/.claude/skills/pdf/SKILL.md", "---\ndescription: Forms\n---\n");
    write("project/.retake/skills/fix/SKILL.md", "---\ndescription: Hidden\n---\n");
    write("project/.retake/commands/bad.md", "---\nno field\n---\n");
    write("commands/fix.md", "---\nallowed-tools: Read\n---\nMine.");
    let found = list(&desk, &folder).await;
    let shown: Vec<_> =
        found.files.iter().map(|it| (&*it.name, it.kind, it.origin, it.hidden_by.is_some())).collect();
    let (command, skill) = (CommandKind::Command, CommandKind::Skill);
    let expected = [
        ("fix", command, CommandOrigin::Settings, false),
        ("pdf", skill, CommandOrigin::Folder, false),
        ("fix", skill, CommandOrigin::Folder, true),
        ("fix", command, CommandOrigin::Folder, true),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found.files[0].tools, ["Read"]);
    let problems: Vec<_> = found.problems.iter().map(|it| (it.code.as_str(), it.message.clone())).collect();
    let why = format!(
        "{folder}/.retake/commands/bad.md can't be used: line 2 is not a field of the form key: value"
    );
    assert_eq!(problems, [("command_file", why)]);
    let relative = desk.refused(Request::CommandFiles(CommandsOf { folder: "x".into() })).await;
    assert_eq!(relative.code, "usage");
}

#[tokio::test]
async fn command_begins_a_conversation_and_returns_to_the_composer_as_it_was_typed() {
    let desk = Desk::fast().await;
    let folder = project(&desk);
    let mut run = desk.client.run(command("", &folder, "fix", None)).await.expect("started");
    let Some(RunEvent::Started { receipt: Some(receipt), .. }) = run.next().await else { panic!("no start") };
    while run.next().await.is_some() {}
    let id = receipt.conversation;
    let (_, entries) = desk.timeline(&id).await;
    let text = Part::Text { text: "/fix 12 now".into() };
    let said = entries.iter().find(|entry| entry.parts.contains(&text)).expect("the message");
    assert!(said.parts.iter().any(Part::is_command_prompt), "{said:?}");
    let rewind = Action::Rewind { entry: said.id.clone() };
    let plan = Plan { conversation: id.clone(), action: rewind, files: Default::default(), diff: false };
    let plan = get!(desk, Plan, Request::Plan(plan));
    assert!(format!("{plan:?}").contains("/fix 12 now"), "{plan:?}");
    // The same message with another command's text, in its place.
    let entry = Some(said.id.clone());
    let edit = desk.client.run(command(&id, &folder, "fix", entry)).await.expect("started");
    drop(edit.collect::<Vec<_>>().await);
    let (_, entries) = desk.timeline(&id).await;
    assert_eq!(entries.iter().filter(|entry| entry.parts.contains(&text)).count(), 1, "it is replaced");
    let unknown = desk.client.run(command(&id, &folder, "gone", None)).await.map(drop);
    let unknown = unknown.expect_err("there is no such command");
    assert_eq!((unknown.code.as_str(), unknown.hint.is_some()), ("command_file", true));
}
