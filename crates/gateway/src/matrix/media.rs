//! Files: uploads and downloads. Must never hold more bytes than the caller allows, or send the token to another server.

use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response, Url};
use serde_json::Value;

use super::api::{Api, answer, checked, reading};
use crate::adapter::SentFile;
use crate::failure::{Failure, Refused};
use crate::http::{self, Answer};

/// How long a file may take.
const TRANSFER: Duration = Duration::from_secs(120);

/// Uploads a file, and returns its address.
///
/// # Errors
/// A file that is too large for the server is `Refused(TooLong)`. A lost answer is [`Failure::Unreachable`]: nobody sees a file that no
/// message names.
pub(super) async fn upload(api: &Api, file: &SentFile) -> Result<String, Failure> {
    let kind = HeaderValue::from_str(&file.media_type);
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let request = api.request(Method::POST, &["media", "v3", "upload"]).query(&[("filename", &file.name)]);
    let request = request.header(CONTENT_TYPE, kind).body(file.bytes.clone()).timeout(TRANSFER);
    let answer = reading(answer(request).await)?;
    answer["content_uri"].as_str().map(str::to_owned).ok_or(Failure::Unreadable)
}

/// The bytes of a file.
///
/// # Errors
/// A file that has more than `most` bytes is `Refused(TooLong)`.
pub(super) async fn download(api: &Api, address: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let (server, media) = parts(address).ok_or(Failure::Refused(Refused::Other))?;
    // Only the endpoints that ask for a token have new files [D].
    let path = ["client", "v1", "media", "download", server, media];
    let sent = api.request(Method::GET, &path).timeout(TRANSFER).send().await;
    let mut response = reading(sent.map_err(|error| http::failure(&error)))?;
    if let Some(elsewhere) = redirection(&response) {
        let sent = api.elsewhere(elsewhere).timeout(TRANSFER).send().await;
        response = reading(sent.map_err(|error| http::failure(&error)))?;
    }
    let status = response.status().as_u16();
    let length = |headers: &HeaderMap| headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse::<u64>().ok();
    let headers = response.headers().clone();
    if status != 200 {
        let body = reading(http::bytes(response, 64 * 1024).await).unwrap_or_default();
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        reading(checked(Answer { status, headers, json }))?;
        return Err(Failure::Unreadable);
    }
    if length(&headers).is_some_and(|length| length > most) {
        return Err(Failure::Refused(Refused::TooLong));
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    match http::bytes(response, most).await {
        Err(Failure::Unreadable) => Err(Failure::Refused(Refused::TooLong)),
        read => reading(read),
    }
}

/// Where the file is: a server may keep its files elsewhere \[D\]. That place does not get the token.
fn redirection(response: &Response) -> Option<Url> {
    if ![307, 308].contains(&response.status().as_u16()) {
        return None;
    }
    let target = response.headers().get(LOCATION)?.to_str().ok()?;
    let target = response.url().join(target).ok()?;
    let is_safe = target.scheme() == "https" || target.scheme() == response.url().scheme();
    is_safe.then_some(target)
}

/// The server and the id of a file. Both are from a stranger, and become parts of a path.
fn parts(address: &str) -> Option<(&str, &str)> {
    let (server, media) = address.strip_prefix("mxc://")?.split_once('/')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let is_server = |c: char| is_name(c) || ".:[]".contains(c);
    let good = !server.is_empty() && server.chars().all(is_server) && server.chars().any(is_name);
    (good && !media.is_empty() && media.chars().all(is_name)).then_some((server, media))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn only_addresses_of_files_are_fetched() {
        assert_eq!(parts("mxc://a.test:8448/AbC-_1"), Some(("a.test:8448", "AbC-_1")));
        for address in [
            "mxc://../x",
            "mxc://a.test/",
            "mxc://a.test/x/y",
            "mxc://a.test/..",
            "https://a.test/x",
            "mxc:///x",
            "",
        ] {
            assert_eq!(parts(address), None, "{address}");
        }
    }
}
