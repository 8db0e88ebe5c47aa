//! Commands of files in the composer.

use retake_wire::{CommandFile, CommandKind, CommandOrigin, Part};

use super::Desk;

fn file(name: &str) -> CommandFile {
    CommandFile {
        name: name.to_owned(),
        kind: CommandKind::Command,
        origin: CommandOrigin::Folder,
        description: "ships \u{1b}[2J it".to_owned(),
        argument_hint: Some("[where]".to_owned()),
        ..CommandFile::default()
    }
}

fn knowing() -> Desk {
    let mut desk = Desk::new();
    let hidden = CommandFile { hidden_by: Some("/x".to_owned()), ..file("hidden") };
    desk.composer.know_commands(vec![file("ship"), file("git:commit"), file("undo"), hidden]);
    desk
}

#[test]
fn command_of_a_file_is_completed_with_its_origin() {
    let mut desk = knowing();
    desk.press("/shi");
    let screen = desk.screen(70, 8);
    assert!(screen.contains("/ship [where]") && screen.contains("(this folder's)"), "{screen}");
    assert!(!screen.contains('\u{1b}'), "{screen}");
    desk.press("<tab>");
    assert_eq!(desk.shown(), "/ship ▏");
    let mut desk = knowing();
    desk.press("/git:c<tab>");
    assert_eq!(desk.shown(), "/git:commit ▏");
}

#[test]
fn only_a_known_name_that_the_program_does_not_have_is_a_command_of_a_file() {
    let sends = |text: &str| {
        let mut desk = knowing();
        desk.composer.set(&[Part::Text { text: text.to_owned() }]);
        desk.composer.file_command()
    };
    let of = |name: &str, arguments: &str| Some((name.to_owned(), arguments.to_owned()));
    assert_eq!(sends("/ship"), of("ship", ""));
    assert_eq!(sends(" /ship to the\nmoon "), of("ship", "to the\nmoon"));
    for text in ["/undo", "/hidden", "/shi", "//ship", "ship", "/ship/x"] {
        assert_eq!(sends(text), None, "{text}");
    }
}

#[test]
fn commands_are_requested_once_for_each_line() {
    let mut desk = Desk::new();
    assert!(!desk.press("a").composer.wants_commands());
    assert!(desk.press("<backspace>/").composer.wants_commands());
    assert!(!desk.press("s").composer.wants_commands());
    assert!(!desk.press("<backspace><backspace>").composer.wants_commands());
    assert!(desk.press("/").composer.wants_commands());
}

#[test]
fn returned_command_has_no_text_of_its_file() {
    let mut desk = Desk::new();
    let text = Part::Text { text: "/ship now".to_owned() };
    let file = Part::File {
        name: ".retake/commands/ship.md".to_owned(),
        media_type: Some(Part::COMMAND_PROMPT.to_owned()),
        data: Some("aGk=".to_owned()),
        url: None,
    };
    desk.composer.set(&[text.clone(), file]);
    assert_eq!(desk.composer.parts(), [text]);
}
