//! The arguments of calls that make a post or change it. Link previews are off. Must never name a `parse_mode`.

use reqwest::multipart::{Form, Part};
use retake_wire::chat::Place;
use serde_json::{Map, Value, json};

use super::entities::{entities, length};
use super::id;
use crate::adapter::{Outgoing, SentFile};
use crate::failure::{Failure, Refused};

/// The longest text, in UTF-16 code units \[D\].
const LONGEST: usize = 4096;

/// The longest caption of a file, in UTF-16 code units \[D\].
const LONGEST_CAPTION: usize = 1024;

/// Refuses a text that the platform would refuse, so that no request is spent on it.
///
/// # Errors
/// The text is too long.
pub(super) fn check(post: &Outgoing) -> Result<(), Failure> {
    let most = if post.file.is_some() { LONGEST_CAPTION } else { LONGEST };
    if length(&post.text.text) > most { Err(Failure::Refused(Refused::TooLong)) } else { Ok(()) }
}

/// The arguments of a new post.
pub(super) fn arguments(place: &Place, post: &Outgoing) -> Value {
    let mut arguments = text_arguments(place, post);
    arguments["disable_notification"] = post.is_silent.into();
    if let Some(thread) = &place.thread {
        arguments["message_thread_id"] = id(thread);
    }
    if let Some(reply) = &post.reply_to {
        // Without the permission, the post fails if the message was deleted [D].
        arguments["reply_parameters"] =
            json!({ "message_id": id(reply), "allow_sending_without_reply": true });
    }
    arguments
}

/// The arguments of an edit. Without a keyboard, the one that is there goes \[D\].
pub(super) fn edit_arguments(place: &Place, message: i64, post: &Outgoing) -> Value {
    let mut arguments = text_arguments(place, post);
    arguments["message_id"] = message.into();
    arguments
}

fn text_arguments(place: &Place, post: &Outgoing) -> Value {
    let mut arguments = json!({ "chat_id": id(&place.chat) });
    let entities = Value::from(entities(&post.text));
    if post.file.is_some() {
        arguments["caption"] = post.text.text.as_str().into();
        arguments["caption_entities"] = entities;
    } else {
        arguments["text"] = post.text.text.as_str().into();
        arguments["entities"] = entities;
        arguments["link_preview_options"] = json!({ "is_disabled": true });
    }
    if !post.buttons.is_empty() {
        let button =
            |button: &crate::adapter::Button| json!({ "text": button.label, "callback_data": button.data });
        let rows: Vec<Vec<Value>> = post.buttons.iter().map(|row| row.iter().map(button).collect()).collect();
        arguments["reply_markup"] = json!({ "inline_keyboard": rows });
    }
    arguments
}

/// The same arguments with a file, as a form: values that are no text are JSON \[D\].
///
/// # Errors
/// The file's media type has no form that HTTP knows.
pub(super) fn form(arguments: &Value, file: &SentFile) -> Result<Form, Failure> {
    let part = Part::bytes(file.bytes.clone()).file_name(file.name.clone());
    let part = part.mime_str(&file.media_type).map_err(|_| Failure::Refused(Refused::Other))?;
    let none = Map::new();
    let fields = arguments.as_object().unwrap_or(&none).iter();
    let form = fields.fold(Form::new(), |form, (name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        form.text(name.clone(), text)
    });
    Ok(form.part("document", part))
}
