//! Bodies of requests: JSON, or parts with files (RFC 7578). Must never read more than a request has.

use axum::http::HeaderMap;
use serde_json::Value;

/// A sent file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The object and the files of a body. Nothing, if it is not readable.
pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Option<(Value, Vec<File>)> {
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let Some(boundary) =
        kind.strip_prefix("multipart/form-data").and_then(|rest| rest.split("boundary=").nth(1))
    else {
        let value = if body.is_empty() { Some(Value::Null) } else { serde_json::from_slice(body).ok() };
        return value.map(|value| (value, Vec::new()));
    };
    let (mut object, mut files) = (Value::Null, Vec::new());
    let mark = format!("--{}", boundary.trim_matches('"'));
    let mut rest = body;
    while let Some(start) = find(rest, mark.as_bytes()) {
        rest = &rest[start + mark.len()..];
        let Some(end) = find(rest, mark.as_bytes()) else { break };
        let Some(head) = find(&rest[..end], b"\r\n\r\n") else { continue };
        let (lines, bytes) = (String::from_utf8_lossy(&rest[..head]).into_owned(), &rest[head + 4..end]);
        let bytes = bytes.strip_suffix(b"\r\n").unwrap_or(bytes).to_vec();
        match value(&lines, "name") {
            Some("payload_json") => object = serde_json::from_slice(&bytes).ok()?,
            Some(_) => files.push(File {
                name: value(&lines, "filename").unwrap_or("unnamed").to_owned(),
                media_type: media_type(&lines).to_owned(),
                bytes,
            }),
            None => return None,
        }
    }
    Some((object, files))
}

/// A value such as `name="x"`.
fn value<'a>(lines: &'a str, name: &str) -> Option<&'a str> {
    let start = lines.find(&format!(" {name}=\""))? + name.len() + 3;
    lines[start..].split('"').next()
}

fn media_type(lines: &str) -> &str {
    let mut lines = lines.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    found.map_or("application/octet-stream", |(_, value)| value.trim())
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
