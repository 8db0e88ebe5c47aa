//! Posts: sending, editing and finding them again, and what only one person sees. A post never notifies anybody by its text. Must
//! never send a post twice in one call.

use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use retake_wire::chat::Place;
use serde_json::{Value, json};

use super::channels::channel_of;
use super::rest::{Rest, called};
use super::snowflake::{self, checked};
use super::{Discord, markdown};
use crate::adapter::{Button, Found, Marker, Outgoing, Sent};
use crate::failure::{Failure, Refused};

/// No previews of links \[D\].
const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// Only one person sees it \[D\].
const EPHEMERAL: u64 = 1 << 6;

/// Nobody is notified \[D\].
const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;

/// The most rows of buttons, and buttons of a row \[D\].
const ROW: usize = 5;

/// The longest label \[D\].
const LABEL: usize = 80;

/// The most messages of one page of the history \[D\].
pub(super) const PAGE: usize = 100;

/// The most pages that are read to find a post.
const PAGES: usize = 10;

/// How far our clock may be ahead of the platform's.
const SKEW_MS: i64 = 5_000;

/// The answer to a press that shows a message of its own; and the one that shows nothing yet \[D\].
const SHOW: u64 = 4;
const DEFER: u64 = 6;

impl Discord {
    pub(super) async fn send_post(
        &self,
        place: &Place,
        post: &Outgoing,
        marker: &Marker,
    ) -> Result<Sent, Failure> {
        let mut body = body(post)?;
        // The platform returns the first message to a request with the same nonce, for some minutes [D].
        body["nonce"] = json!(marker.key);
        body["enforce_nonce"] = json!(true);
        if post.is_silent {
            body["flags"] = json!(SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS);
        }
        if let Some(to) = &post.reply_to {
            body["message_reference"] = json!({"message_id": checked(to)?, "fail_if_not_exists": false});
        }
        let mut created = self.create(place, body.clone(), post).await;
        let is_reply = body["message_reference"].take().is_object();
        if is_reply && created == Err(Failure::Refused(Refused::NotPermitted)) {
            // A reply needs the permission to read the history [D], the text does not. The refused request had no effect.
            body.as_object_mut().map(|body| body.remove("message_reference"));
            created = self.create(place, body, post).await;
        }
        let message = match created {
            // The channel is not there any more.
            Err(Failure::NotFound) => return Err(Failure::Refused(Refused::NotPermitted)),
            created => created?,
        };
        // It succeeded, so the post is there: it must be found.
        sent(&message).ok_or(Failure::Unknown)
    }

    async fn create(&self, place: &Place, body: Value, post: &Outgoing) -> Result<Value, Failure> {
        let path = format!("channels/{}/messages", checked(channel_of(place))?);
        called(filled(self.rest.request(Method::POST, &path)?, body, post)?, &path).await
    }

    pub(super) async fn edit_post(&self, place: &Place, id: &str, post: &Outgoing) -> Result<Sent, Failure> {
        let path = format!("channels/{}/messages/{}", checked(channel_of(place))?, checked(id)?);
        let request = filled(self.rest.request(Method::PATCH, &path)?, body(post)?, post)?;
        // An edit has no id of its own. The same edit again is no error [U].
        called(request, &path).await.map(|_| Sent::default())
    }

    pub(super) async fn find_post(
        &self,
        place: &Place,
        marker: &Marker,
        since_ms: i64,
    ) -> Result<Found, Failure> {
        let channel = checked(channel_of(place))?;
        let me = self.me().await?.id;
        // Without the permission the history is empty [D], so it would say nothing.
        if self.channel(channel).await?.guild.is_some()
            && !self.permissions(channel, &me).await?.reads_history()
        {
            return Ok(Found::CannotTell);
        }
        let mut after = snowflake::before(since_ms.saturating_sub(SKEW_MS));
        for _ in 0..PAGES {
            let page = page(&self.rest, channel, &after).await?;
            let is_it = |message: &&Value| {
                let content = message["content"].as_str().unwrap_or_default();
                message["author"]["id"].as_str() == Some(&me) && digest(content) == marker.digest
            };
            if let Some(found) = page.iter().find(is_it).and_then(sent) {
                return Ok(Found::Found(found));
            }
            match page.last().and_then(|last| last["id"].as_str()) {
                Some(last) if page.len() >= PAGE => last.clone_into(&mut after),
                _ => return Ok(Found::Absent),
            }
        }
        Ok(Found::CannotTell)
    }

    /// Takes a press over, so that the client shows no failure: within 3 s, for which the platform waits \[D\]. Nothing is shown yet.
    pub(super) async fn defer(&self, answer_to: &str) -> Result<(), Failure> {
        self.call_back(answer_to, &json!({"type": DEFER})).await
    }

    pub(super) async fn show_to_one(&self, text: &str, answer_to: Option<&str>) -> Result<(), Failure> {
        // Only an answer to an interaction can be shown to one person [D].
        let answer_to = answer_to.ok_or(Failure::Refused(Refused::Other))?;
        let text = crate::adapter::StyledText { text: text.to_owned(), styles: Vec::new() };
        let message = json!({
            "content": markdown::content(&text)?,
            "flags": EPHEMERAL | SUPPRESS_EMBEDS,
            "allowed_mentions": {"parse": []},
        });
        let (_, token) = interaction(answer_to)?;
        let path = format!("webhooks/{}/{token}", checked(&self.me().await?.application)?);
        let shown = called(self.rest.bare(Method::POST, &path).json(&message), &path).await;
        match shown {
            // The press was not taken over yet, so this is the first answer to it.
            Err(Failure::NotFound) => {
                self.call_back(answer_to, &json!({"type": SHOW, "data": message})).await
            }
            shown => shown.map(drop),
        }
    }

    async fn call_back(&self, answer_to: &str, answer: &Value) -> Result<(), Failure> {
        let (id, token) = interaction(answer_to)?;
        let path = format!("interactions/{id}/{token}/callback");
        called(self.rest.bare(Method::POST, &path).json(answer), &path).await.map(drop)
    }
}

/// The id and the token of an interaction, checked.
fn interaction(answer_to: &str) -> Result<(&str, &str), Failure> {
    let (id, token) = answer_to.split_once(' ').ok_or(Failure::Refused(Refused::Other))?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=~".contains(&byte);
    let is_token = !token.is_empty() && token.bytes().all(is_plain);
    Ok((checked(id)?, Some(token).filter(|_| is_token).ok_or(Failure::Refused(Refused::Other))?))
}

/// A page of the history after a message, oldest first.
pub(super) async fn page(rest: &Rest, channel: &str, after: &str) -> Result<Vec<Value>, Failure> {
    let path = format!("channels/{}/messages", checked(channel)?);
    let query = [("after", checked(after)?.to_owned()), ("limit", PAGE.to_string())];
    let answer = called(rest.request(Method::GET, &path)?.query(&query), &path).await?;
    let Value::Array(mut messages) = answer else { return Err(Failure::Unreadable) };
    // The platform sends the newest first [D].
    messages.retain(|message| message["id"].as_str().and_then(snowflake::number).is_some());
    messages.sort_by_key(|message| message["id"].as_str().and_then(snowflake::number));
    Ok(messages)
}

/// The digest of a content. Spaces are left out: the platform removes some of them \[U\].
pub(super) fn digest(content: &str) -> String {
    let content: String = content.chars().filter(|character| !character.is_whitespace()).collect();
    crate::text::digest(&content)
}

fn sent(message: &Value) -> Option<Sent> {
    let id = message["id"].as_str()?;
    Some(Sent { ids: vec![id.to_owned()], sent_ms: Some(snowflake::time_ms(id)?) })
}

/// What new posts and edits have in common.
fn body(post: &Outgoing) -> Result<Value, Failure> {
    let mut body = json!({
        "content": markdown::content(&post.text)?,
        "allowed_mentions": {"parse": []},
        "flags": SUPPRESS_EMBEDS,
        "components": rows(&post.buttons)?,
    });
    if let Some(file) = &post.file {
        body["attachments"] = json!([{"id": 0, "filename": file.name}]);
    }
    Ok(body)
}

/// Rows of buttons. A row that is too long is continued in the next one.
fn rows(buttons: &[Vec<Button>]) -> Result<Vec<Value>, Failure> {
    let rows: Vec<&[Button]> = buttons.iter().flat_map(|row| row.chunks(ROW)).collect();
    if rows.len() > ROW {
        return Err(Failure::Refused(Refused::TooLong));
    }
    let button = |button: &Button| {
        let label: String = button.label.chars().take(LABEL).collect();
        // A button of the second of four looks [D].
        json!({"type": 2, "style": 2, "label": label, "custom_id": button.data})
    };
    let row = |row: &[Button]| json!({"type": 1, "components": row.iter().map(button).collect::<Vec<_>>()});
    Ok(rows.into_iter().map(row).collect())
}

/// The request with its body: as JSON, or in parts if there is a file \[D\].
fn filled(request: RequestBuilder, body: Value, post: &Outgoing) -> Result<RequestBuilder, Failure> {
    let Some(file) = &post.file else { return Ok(request.json(&body)) };
    let part = |bytes: Vec<u8>, media_type: &str| {
        let part = Part::bytes(bytes.clone()).mime_str(media_type);
        part.or_else(|_| Part::bytes(bytes).mime_str("application/octet-stream"))
            .map_err(|_| Failure::Refused(Refused::Other))
    };
    let json = part(body.to_string().into_bytes(), "application/json")?;
    let bytes = part(file.bytes.clone(), &file.media_type)?.file_name(file.name.clone());
    Ok(request.multipart(Form::new().part("payload_json", json).part("files[0]", bytes)))
}

#[cfg(test)]
mod tests {
    use super::{digest, interaction, rows};
    use crate::adapter::Button;
    use crate::failure::{Failure, Refused};

    #[test]
    fn buttons_stand_in_at_most_five_rows_of_five() {
        let button = |label: &str| Button { label: label.to_owned(), data: "d".to_owned() };
        let long = rows(&[vec![button("x"); 7], vec![button(&"é".repeat(99))]]).unwrap();
        let counts: Vec<_> = long.iter().map(|row| row["components"].as_array().map(Vec::len)).collect();
        assert_eq!(counts, [Some(5), Some(2), Some(1)]);
        let label = long[2]["components"][0]["label"].as_str().unwrap();
        assert_eq!(label.chars().count(), 80);
        assert_eq!(rows(&vec![vec![button("x"); 6]; 3]), Err(Failure::Refused(Refused::TooLong)));
    }

    #[test]
    fn spaces_do_not_change_the_digest() {
        assert_eq!(digest(" a\nb "), digest("a b"));
        assert_ne!(digest("a c"), digest("a b"));
    }

    #[test]
    fn token_of_an_interaction_never_leaves_its_part_of_the_address() {
        assert_eq!(interaction("5 aW50_-="), Ok(("5", "aW50_-=")));
        for odd in ["", "5", "5 ", "x tok", "5 a/b", "5 a?b", "5 ..", "5 a b"] {
            assert!(interaction(odd).is_err(), "{odd}");
        }
    }
}
