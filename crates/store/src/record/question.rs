//! Questions of notices as stored: ids and numbers only.

use retake_core::{AskedStep, ChatButton, ChatQuestion, EntryId, Head, OpNo};
use serde::{Deserialize, Serialize};

use super::Decoded;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    head: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<String>,
    #[serde(default)]
    round: u32,
    buttons: Vec<ButtonRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ButtonRecord {
    Rewind(String),
    /// The entry, and the platform's id of the message.
    Edit(String, String),
    Drop(Vec<String>),
    Undo(usize),
    Redo(usize),
    Cancel,
    Turn(String),
    Older(String),
    DropMine(Vec<String>),
    SayNew(String),
    /// The first operation, and the head after the last.
    PostAgain(u64, String),
    SendWaiting,
    Approve(String),
    Deny(String),
}

/// The record of a question.
pub(super) fn encode(question: &ChatQuestion) -> QuestionRecord {
    QuestionRecord {
        person: question.person.clone(),
        head: question.head.to_string(),
        files: question.files.map(|digest| format!("{:032x}", u128::from_be_bytes(digest))),
        round: question.round,
        buttons: question.buttons.iter().map(button).collect(),
    }
}

fn button(button: &ChatButton) -> ButtonRecord {
    let names = |ids: &[EntryId]| ids.iter().map(ToString::to_string).collect();
    match button {
        ChatButton::Confirm(AskedStep::Rewind(entry)) => ButtonRecord::Rewind(entry.to_string()),
        ChatButton::Confirm(AskedStep::Edit { entry, message }) => {
            ButtonRecord::Edit(entry.to_string(), message.clone())
        }
        ChatButton::SayNew(message) => ButtonRecord::SayNew(message.clone()),
        ChatButton::Confirm(AskedStep::Drop(entries)) => ButtonRecord::Drop(names(entries)),
        ChatButton::Confirm(AskedStep::Undo(count)) => ButtonRecord::Undo(*count),
        ChatButton::Confirm(AskedStep::Redo(count)) => ButtonRecord::Redo(*count),
        ChatButton::Cancel => ButtonRecord::Cancel,
        ChatButton::Turn(entry) => ButtonRecord::Turn(entry.to_string()),
        ChatButton::Older(entry) => ButtonRecord::Older(entry.to_string()),
        ChatButton::DropMine(entries) => ButtonRecord::DropMine(names(entries)),
        ChatButton::PostAgain { first, to } => ButtonRecord::PostAgain(first.0, to.to_string()),
        ChatButton::SendWaiting => ButtonRecord::SendWaiting,
        ChatButton::Approve(call) => ButtonRecord::Approve(call.clone()),
        ChatButton::Deny(call) => ButtonRecord::Deny(call.clone()),
    }
}

/// The question of a record.
pub(super) fn decode(record: QuestionRecord) -> Decoded<ChatQuestion> {
    let QuestionRecord { person, head: at, files, round, buttons } = record;
    let buttons = buttons.into_iter().map(button_of).collect::<Decoded<_>>()?;
    let files = files.as_deref().map(super::chat::digest).transpose()?;
    Ok(ChatQuestion { person, head: head(&at)?, files, round, buttons })
}

fn button_of(record: ButtonRecord) -> Decoded<ChatButton> {
    let all = |names: Vec<String>| names.iter().map(|name| entry(name)).collect::<Decoded<Vec<_>>>();
    Ok(match record {
        ButtonRecord::Rewind(name) => ChatButton::Confirm(AskedStep::Rewind(entry(&name)?)),
        ButtonRecord::Edit(name, message) => {
            ChatButton::Confirm(AskedStep::Edit { entry: entry(&name)?, message })
        }
        ButtonRecord::SayNew(message) => ChatButton::SayNew(message),
        ButtonRecord::Drop(names) => ChatButton::Confirm(AskedStep::Drop(all(names)?)),
        ButtonRecord::Undo(count) => ChatButton::Confirm(AskedStep::Undo(count)),
        ButtonRecord::Redo(count) => ChatButton::Confirm(AskedStep::Redo(count)),
        ButtonRecord::Cancel => ChatButton::Cancel,
        ButtonRecord::Turn(name) => ChatButton::Turn(entry(&name)?),
        ButtonRecord::Older(name) => ChatButton::Older(entry(&name)?),
        ButtonRecord::DropMine(names) => ChatButton::DropMine(all(names)?),
        ButtonRecord::PostAgain(first, to) => ChatButton::PostAgain { first: OpNo(first), to: head(&to)? },
        ButtonRecord::SendWaiting => ChatButton::SendWaiting,
        ButtonRecord::Approve(call) => ChatButton::Approve(call),
        ButtonRecord::Deny(call) => ChatButton::Deny(call),
    })
}

fn entry(name: &str) -> Decoded<EntryId> {
    name.parse().map_err(|_| format!("“{name}” is no entry"))
}

fn head(name: &str) -> Decoded<Head> {
    name.parse().map_err(|_| format!("“{name}” is no head"))
}
