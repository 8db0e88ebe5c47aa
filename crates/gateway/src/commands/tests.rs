//! What is a command, and what is text.

use proptest::prelude::*;
use retake_wire::chat::{Addressed, Audience, ChatVerb, Inbound, InboundFile, InboundMessage, Person, Place};

use super::{Command, TABLE, parse, row_of, spelled};
use crate::capabilities::CommandPrefix::{self, Bang, Mention, Slash};

fn message(text: &str) -> InboundMessage {
    InboundMessage {
        place: Place { account: "a".into(), chat: "c".into(), thread: None },
        audience: Audience::Shared,
        message: "1".into(),
        person: Person { id: "p".into(), name: "Anna".into(), is_bot: false },
        sent_ms: 0,
        text: text.to_owned(),
        addressed: Addressed::Mention,
        reply_to: None,
        album: None,
        is_forward: false,
        attached: Vec::new(),
    }
}

fn read(text: &str, prefix: CommandPrefix) -> Option<Command> {
    parse(&Inbound::Message(message(text)), prefix, "@RetakeBot")
}

#[test]
fn commands_are_read_in_the_form_of_the_platform() {
    let rows = [
        ("/rewind", Slash, Some(Command::Run(ChatVerb::Rewind, None))),
        ("  /Rewind  2 ", Slash, Some(Command::Run(ChatVerb::Rewind, Some(2)))),
        ("/rewind@retakebot 2", Slash, Some(Command::Run(ChatVerb::Rewind, Some(2)))),
        ("/rewind@otherbot 2", Slash, None),
        ("/rewind@", Slash, None),
        ("!rewind", Slash, None),
        ("rewind", Slash, None),
        ("see /rewind", Slash, None),
        ("> /rewind", Slash, None),
        ("/rewind2", Slash, None),
        ("/start", Slash, None),
        ("/", Slash, None),
        ("", Slash, None),
        ("/undo 0", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/undo +1", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/undo -1", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/undo 99999999999", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/undo ١", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/undo 1\nand more", Slash, Some(Command::Misused(ChatVerb::Undo))),
        ("/stop 2", Slash, Some(Command::Misused(ChatVerb::Stop))),
        ("!redo 3", Bang, Some(Command::Run(ChatVerb::Redo, Some(3)))),
        ("!redo@retakebot", Bang, None),
        ("!stop it", Bang, Some(Command::Misused(ChatVerb::Stop))),
        ("/redo", Bang, None),
        ("posts", Mention, Some(Command::Run(ChatVerb::Posts, None))),
        ("undo 2", Mention, Some(Command::Run(ChatVerb::Undo, Some(2)))),
        ("drop the table", Mention, None),
        ("drop 2", Mention, None),
        ("/undo", Mention, None),
    ];
    for (text, prefix, expected) in rows {
        assert_eq!(read(text, prefix), expected, "{text} {prefix:?}");
    }
}

#[test]
fn every_command_is_read_in_every_form() {
    for row in TABLE {
        for prefix in [Slash, Bang, Mention] {
            assert_eq!(read(&spelled(row.verb, prefix), prefix), Some(Command::Run(row.verb, None)));
        }
        assert_eq!(row_of(row.verb).name, row.name);
    }
}

#[test]
fn edits_forwards_files_and_bots_give_no_command() {
    let undo = || message("/undo");
    let file = InboundFile { handle: "f".into(), name: None, media_type: None, size: None, is_voice: false };
    let events = [
        Inbound::Edited(undo()),
        Inbound::Message(InboundMessage { is_forward: true, ..undo() }),
        Inbound::Message(InboundMessage { attached: vec![file], ..undo() }),
        Inbound::Message(InboundMessage { person: Person { is_bot: true, ..undo().person }, ..undo() }),
        Inbound::Recalled { place: undo().place, message: "1".into(), by: None },
    ];
    for event in events {
        assert_eq!(parse(&event, Slash, "retakebot"), None, "{event:?}");
    }
}

#[test]
fn word_without_a_mention_is_no_command_where_commands_need_one() {
    for addressed in [Addressed::No, Addressed::Reply] {
        let event = Inbound::Message(InboundMessage { addressed, ..message("undo") });
        assert_eq!(parse(&event, Mention, "retakebot"), None);
    }
}

proptest! {
    #[test]
    fn only_the_names_of_the_table_are_commands(text in "[/!@a-z0-9 \n]{0,20}|\\PC{0,30}") {
        for prefix in [Slash, Bang, Mention] {
            if read(&text, prefix).is_some() {
                let first = text.split_whitespace().next().unwrap_or_default();
                prop_assert!(TABLE.iter().any(|row| first.to_ascii_lowercase().contains(row.name)));
            }
        }
    }
}
