//! The content of events that we send. Must never be too long for an event, mention anybody, or lose a part of the text. What is left
//! out of a long one is formatting, and the copy for clients that show no edits.

use retake_wire::chat::Place;
use serde_json::{Map, Value, json};

use super::html::{html, visible};
use crate::adapter::{Marker, Outgoing, SentFile};
use crate::failure::{Failure, Refused};

/// The key of our marker in the content. A redaction removes it with the content.
const MARKER: &str = "retake.marker";

/// The most bytes of a content. The whole event may have 65,536 bytes \[D\], and the server adds ids, hashes and signatures.
const LONGEST: usize = 60_000;

/// The length of the copy of an edit for clients that show no edits, where the whole text is too long for two copies.
const SHORT: usize = 300;

/// The marker in an event of ours.
pub(super) fn marker(event: &Value) -> Option<&str> {
    event["content"][MARKER].as_str()
}

/// A message.
///
/// # Errors
/// The text is too long.
pub(super) fn message(place: &Place, post: &Outgoing, marker: &Marker) -> Result<Value, Failure> {
    let text = Text::of(post);
    first_that_fits([true, false].map(|with_html| {
        let mut content = text.content(with_html);
        relate(&mut content, place, post);
        marked(content, marker)
    }))
}

/// A file with a caption, already uploaded.
///
/// # Errors
/// The text is too long.
pub(super) fn file(
    place: &Place,
    post: &Outgoing,
    file: &SentFile,
    address: &str,
    marker: &Marker,
) -> Result<Value, Failure> {
    let text = Text::of(post);
    let name: String = file.name.chars().filter_map(visible).take(200).collect();
    let kind = match file.media_type.split('/').next() {
        Some("image") => "m.image",
        Some("audio") => "m.audio",
        Some("video") => "m.video",
        _ => "m.file",
    };
    first_that_fits([true, false].map(|with_html| {
        let mut content = text.content(with_html);
        if text.body.is_empty() {
            // Without a caption, the body is the name [D].
            content.insert("body".into(), json!(name));
        }
        content.insert("filename".into(), json!(name));
        content.insert("msgtype".into(), json!(kind));
        content.insert("url".into(), json!(address));
        content.insert("info".into(), json!({ "mimetype": file.media_type, "size": file.bytes.len() }));
        relate(&mut content, place, post);
        marked(content, marker)
    }))
}

/// The edit of a message. It needs the text twice, and has it four times with formatting: the copies outside of `m.new_content` are for
/// clients that show no edits \[D\].
///
/// # Errors
/// The text is too long.
pub(super) fn edit(id: &str, post: &Outgoing, marker: &Marker) -> Result<Value, Failure> {
    let text = Text::of(post);
    // Formatting in the copy, the whole copy, formatting in the text: the first is the least.
    let forms = [(true, true, true), (false, true, true), (false, false, true), (false, false, false)];
    first_that_fits(forms.map(|(formatted_copy, whole_copy, formatted)| {
        let mut content = text.content(formatted_copy);
        let copy = if whole_copy { &text.body } else { &text.body[..text.body.floor_char_boundary(SHORT)] };
        content.insert("body".into(), json!(format!("* {copy}")));
        if let Some(Value::String(html)) = content.get_mut("formatted_body") {
            html.insert_str(0, "* ");
        }
        // The relations of the original stay as they are [D].
        content.insert("m.new_content".into(), Value::Object(text.content(formatted)));
        content.insert("m.relates_to".into(), json!({ "rel_type": "m.replace", "event_id": id }));
        marked(content, marker)
    }))
}

/// A message of ours that is no post.
pub(super) fn notice(text: &str) -> Value {
    json!({ "msgtype": "m.notice", "body": text, "m.mentions": {} })
}

struct Text {
    body: String,
    html: Option<String>,
    kind: &'static str,
}

impl Text {
    fn of(post: &Outgoing) -> Self {
        let body = post.text.text.chars().filter_map(visible).collect();
        // Notices do not notify under the default push rules [D].
        Self { body, html: html(&post.text), kind: if post.is_silent { "m.notice" } else { "m.text" } }
    }

    fn content(&self, with_html: bool) -> Map<String, Value> {
        let mut content = Map::new();
        content.insert("msgtype".into(), json!(self.kind));
        content.insert("body".into(), json!(self.body));
        // Without it, older servers and clients look for names and for everybody in the text [D].
        content.insert("m.mentions".into(), json!({}));
        if let Some(html) = self.html.as_ref().filter(|_| with_html) {
            content.insert("format".into(), json!("org.matrix.custom.html"));
            content.insert("formatted_body".into(), json!(html));
        }
        content
    }
}

fn relate(content: &mut Map<String, Value>, place: &Place, post: &Outgoing) {
    let relation = match (&place.thread, &post.reply_to) {
        (None, None) => return,
        (None, Some(reply)) => json!({ "m.in_reply_to": { "event_id": reply } }),
        // With a reply for clients that show no threads [D].
        (Some(root), reply) => json!({
            "rel_type": "m.thread",
            "event_id": root,
            "is_falling_back": reply.is_none(),
            "m.in_reply_to": { "event_id": reply.as_ref().unwrap_or(root) },
        }),
    };
    content.insert("m.relates_to".into(), relation);
}

fn marked(mut content: Map<String, Value>, marker: &Marker) -> Value {
    content.insert(MARKER.into(), json!(marker.key));
    Value::Object(content)
}

fn first_that_fits(forms: impl IntoIterator<Item = Value>) -> Result<Value, Failure> {
    let fits = |content: &Value| content.to_string().len() <= LONGEST;
    forms.into_iter().find(fits).ok_or(Failure::Refused(Refused::TooLong))
}

#[cfg(test)]
mod tests {
    use retake_wire::chat::Place;
    use serde_json::{Value, json};

    use super::{edit, file, message};
    use crate::adapter::{Marker, Outgoing, SentFile, Style, Styled, StyledText};
    use crate::failure::{Failure, Refused};

    fn place(thread: Option<&str>) -> Place {
        Place { account: "m".into(), chat: "!r".into(), thread: thread.map(Into::into) }
    }

    fn marker() -> Marker {
        Marker { key: "k1".into(), digest: String::new() }
    }

    /// A post in which every second character is bold.
    fn post(text: &str) -> Outgoing {
        let bold = |(at, c): (usize, char)| Styled { range: at..at + c.len_utf8(), style: Style::Bold };
        let styles = text.char_indices().step_by(2).map(bold).collect();
        Outgoing { text: StyledText { text: text.into(), styles }, ..Outgoing::default() }
    }

    #[test]
    fn reply_and_thread_are_relations() {
        let reply = Outgoing { reply_to: Some("$a".into()), ..post("x") };
        for (place, post, expected) in [
            (place(None), post("x"), Value::Null),
            (place(None), reply.clone(), json!({ "m.in_reply_to": { "event_id": "$a" } })),
            (
                place(Some("$t")),
                reply,
                json!({ "rel_type": "m.thread", "event_id": "$t", "is_falling_back": false, "m.in_reply_to": { "event_id": "$a" } }),
            ),
            (
                place(Some("$t")),
                post("x"),
                json!({ "rel_type": "m.thread", "event_id": "$t", "is_falling_back": true, "m.in_reply_to": { "event_id": "$t" } }),
            ),
        ] {
            assert_eq!(message(&place, &post, &marker()).unwrap()["m.relates_to"], expected);
        }
    }

    #[test]
    fn no_content_mentions_anybody() {
        let post = post("@room hello");
        let edit = edit("$e", &post, &marker()).unwrap();
        assert_eq!(message(&place(None), &post, &marker()).unwrap()["m.mentions"], json!({}));
        assert_eq!(edit["m.mentions"], json!({}));
        assert_eq!(edit["m.new_content"]["m.mentions"], json!({}));
    }

    #[test]
    fn what_does_not_fit_loses_formatting_but_no_text() {
        for (text, has_html) in [
            ("short".to_owned(), true),
            ("&".repeat(12_000), false),
            ("\"".repeat(12_000), false),
            ("\u{1}".repeat(12_000), false),
            ("x".repeat(2_000), true),
        ] {
            let visible = text.replace('\u{1}', "\u{fffd}");
            let content = edit("$e", &post(&text), &marker()).unwrap();
            assert!(content.to_string().len() <= super::LONGEST);
            assert_eq!(content["m.new_content"]["body"], json!(visible));
            assert_eq!(content["m.new_content"]["formatted_body"].is_string(), has_html, "{}", &text[..1]);
            let content = message(&place(None), &post(&text), &marker()).unwrap();
            assert!(content.to_string().len() <= super::LONGEST);
            assert_eq!(content["body"], json!(visible));
        }
        let too_long = message(&place(None), &post(&"x".repeat(70_000)), &marker());
        assert_eq!(too_long, Err(Failure::Refused(Refused::TooLong)));
    }

    #[test]
    fn file_without_a_caption_has_its_name_as_the_body() {
        let sent = SentFile { name: "a\u{0}b.png".into(), media_type: "image/png".into(), bytes: vec![0; 3] };
        let plain = file(&place(None), &Outgoing::default(), &sent, "mxc://s/m", &marker()).unwrap();
        assert_eq!(plain["body"], "a\u{fffd}b.png");
        assert_eq!((&plain["msgtype"], &plain["info"]["size"]), (&json!("m.image"), &json!(3)));
        let captioned = file(&place(None), &post("see"), &sent, "mxc://s/m", &marker()).unwrap();
        assert_eq!((&captioned["body"], &captioned["filename"]), (&json!("see"), &json!("a\u{fffd}b.png")));
    }
}
