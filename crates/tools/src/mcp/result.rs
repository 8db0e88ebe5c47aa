//! Converts a server's answer to an output: limited for the model, complete on disk. Must never treat it as anything other than
//! text and bytes.

use std::io::Write as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::text::{cut, line};
use crate::call::{Attached, Call, Output};

/// The most bytes of text for the model: from the beginning, and from the end.
const HEAD: usize = 24 << 10;
const TAIL: usize = 8 << 10;

/// The largest picture or file that is attached, and the most of them.
const LARGEST: usize = 5 << 20;
const MOST: usize = 8;

/// The output for this answer.
pub(super) async fn output(server: &str, answer: &Value, call: &Call) -> Output {
    let Some(Value::Array(blocks)) = answer.get("content") else {
        return structured(answer).map_or_else(
            || {
                Output::failed(format!(
                    "the MCP server “{server}” answered with something that is not a tool result"
                ))
            },
            Output::ok,
        );
    };
    let mut read = Read { server, texts: Vec::new(), attached: Vec::new() };
    blocks.iter().for_each(|block| read.block(block));
    if read.texts.is_empty() {
        read.texts.extend(structured(answer));
    }
    let text = match (read.texts.is_empty(), read.attached.len()) {
        (false, _) => read.texts.join("\n"),
        (true, 0) => "(it answered nothing)".to_owned(),
        (true, _) => "(it answered with what is attached)".to_owned(),
    };
    let content = bounded(text, call).await;
    let failed = answer.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let output = if failed { Output::failed(content) } else { Output::ok(content) };
    Output { attached: read.attached, ..output }
}

fn structured(answer: &Value) -> Option<String> {
    answer.get("structuredContent").map(|value| format!("{value:#}"))
}

struct Read<'a> {
    server: &'a str,
    texts: Vec<String>,
    attached: Vec<Attached>,
}

impl Read<'_> {
    fn block(&mut self, block: &Value) {
        let field = |key| text_of(block, key);
        match field("type") {
            Some("text") => self.texts.extend(field("text").map(str::to_owned)),
            Some("image" | "audio") => {
                let extension =
                    field("mimeType").and_then(|kind| kind.split_once('/')).map_or("bin", |kind| kind.1);
                let name = format!("{}-{}.{extension}", self.server, self.attached.len() + 1);
                self.attach(&name, field("mimeType"), field("data"));
            }
            Some("resource") => self.resource(&block["resource"]),
            Some("resource_link") => {
                let words = ["name", "uri", "mimeType", "description"].into_iter().filter_map(field);
                let words: Vec<_> = words.map(|word| line(word, 500)).collect();
                self.texts.push(format!("[resource: {}]", words.join(", ")));
            }
            other => {
                let kind = line(other.unwrap_or("nothing"), 40);
                self.texts.push(format!("[content of the kind “{kind}”, which is not supported]"));
            }
        }
    }

    fn resource(&mut self, resource: &Value) {
        let uri = line(text_of(resource, "uri").unwrap_or_default(), 500);
        match (text_of(resource, "text"), text_of(resource, "blob")) {
            (Some(text), _) => self.texts.push(format!("[resource: {uri}]\n{text}")),
            (None, blob) => self.attach(&uri, text_of(resource, "mimeType"), blob),
        }
    }

    fn attach(&mut self, name: &str, media_type: Option<&str>, data: Option<&str>) {
        let name = line(name, 200);
        let data = data.unwrap_or_default();
        let too_much = self.attached.len() == MOST || data.len() / 4 * 3 > LARGEST;
        let bytes =
            if too_much { None } else { STANDARD.decode(data).ok().filter(|bytes| !bytes.is_empty()) };
        let media_type = media_type.filter(|kind| is_media_type(kind)).unwrap_or("application/octet-stream");
        match bytes {
            Some(bytes) => self.attached.push(Attached { name, media_type: media_type.to_owned(), bytes }),
            None if too_much => self.texts.push(format!("[{name}: left out, it is too much to attach]")),
            None => self.texts.push(format!("[{name}: left out, its bytes can't be read]")),
        }
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn is_media_type(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    text.len() <= 100 && text.split_once('/').is_some_and(|(kind, of)| plain(kind) && plain(of))
}

/// The text for the model. A text that is too long is stored completely in a file, and the model gets its path.
async fn bounded(text: String, call: &Call) -> String {
    if text.len() <= HEAD + TAIL {
        return text;
    }
    let (head, _) = cut(&text, HEAD);
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let left_out = text.len() - head.len() - tail.len();
    let whole = keep(call, text.clone()).await;
    let whole = whole.map_or_else(String::new, |path| format!("; the whole is in {}", path.display()));
    format!("{head}\n[… {left_out} bytes are left out here{whole} …]\n{tail}")
}

async fn keep(call: &Call, text: String) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = call.id.chars().map(plain).take(100).collect();
    let path = call.spool.join(format!("{name}.txt"));
    let kept = path.clone();
    let written = crate::blocking(move || {
        crate::kept::folder(kept.parent().unwrap_or(&kept))?;
        crate::kept::file(&kept)?.write_all(text.as_bytes())
    });
    // If the file cannot be stored, the model gets at least both ends.
    written.await.ok()?.ok().map(|()| path)
}
