//! Attached files: from the servers of the settings only, without our token. Must never follow an address elsewhere.

use reqwest::Url;
use retake_wire::chat::InboundFile;
use serde_json::Value;

use super::Discord;
use super::snowflake::checked;
use crate::failure::{Failure, Refused};
use crate::http;

impl Discord {
    pub(super) async fn fetch_file(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        if file.size.is_some_and(|size| size > most) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        let parts: Vec<&str> = file.handle.splitn(4, ' ').collect();
        let [channel, message, id, address] = parts[..] else { return Err(Failure::Refused(Refused::Other)) };
        match self.download(address, most).await {
            // Addresses expire [D]. The message has a new one.
            Err(Failure::NotFound) => {
                let path = format!("channels/{}/messages/{}", checked(channel)?, checked(message)?);
                let message = self.rest.get(&path).await?;
                let address = attached(&message, id);
                self.download(address.ok_or(Failure::NotFound)?, most).await
            }
            bytes => bytes,
        }
    }

    async fn download(&self, address: &str, most: u64) -> Result<Vec<u8>, Failure> {
        let address = Url::parse(address).map_err(|_| Failure::Refused(Refused::Other))?;
        let is_at =
            |server: &String| Url::parse(server).is_ok_and(|server| server.origin() == address.origin());
        if !self.files.iter().any(is_at) {
            return Err(Failure::Refused(Refused::Other));
        }
        let response = self.rest.elsewhere(address.as_str()).send().await;
        let response = response.map_err(|error| http::failure(&error))?;
        match response.status().as_u16() {
            200 => {}
            // What an expired address gives is not said [?].
            401 | 403 | 404 | 410 => return Err(Failure::NotFound),
            500..=599 => return Err(Failure::Unreachable),
            _ => return Err(Failure::Refused(Refused::Other)),
        }
        let too_long = Failure::Refused(Refused::TooLong);
        if response.content_length().is_some_and(|length| length > most) {
            return Err(too_long);
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        http::bytes(response, most).await.map_err(|failure| match failure {
            Failure::Unreadable => too_long,
            other => other,
        })
    }
}

/// The address of a file of a message, or of the message that it forwards.
fn attached<'a>(message: &'a Value, id: &str) -> Option<&'a str> {
    let forwarded = &message["message_snapshots"][0]["message"];
    let lists = [&message["attachments"], &forwarded["attachments"]];
    let mut files = lists.into_iter().filter_map(Value::as_array).flatten();
    files.find(|file| file["id"].as_str() == Some(id))?["url"].as_str()
}
