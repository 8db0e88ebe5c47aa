//! The content of a chat message: a text, or a list of typed blocks of either style.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{Part, Source, ToolOutcome};
use serde_json::{Map, Value};

use super::about::{lost, lost_in};
use super::{Read, text_of};

/// The content of a message: its own parts, and the tool results among them.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) own: Vec<Part>,
    /// Each with its parts.
    pub(super) results: Vec<Vec<Part>>,
    /// The fields of its parts that could not be kept.
    pub(super) lost: Vec<String>,
}

/// The fields that are read in a kind of part, and in an object within it.
fn known(kind: &str) -> (&'static [&'static str], &'static [(&'static str, &'static [&'static str])]) {
    const SOURCE: &[(&str, &[&str])] = &[("source", &["type", "media_type", "data", "url"])];
    match kind {
        "text" | "input_text" | "output_text" => (&["text"], &[]),
        "refusal" => (&["refusal"], &[]),
        "image_url" | "input_image" => (&["image_url"], &[("image_url", &["url"])]),
        "image" => (&["source"], SOURCE),
        "file" | "input_file" => {
            let fields = &["file", "filename", "file_data", "file_url"];
            (fields, &[("file", &["filename", "file_data", "file_url"])])
        }
        "document" => (&["source", "title"], SOURCE),
        "tool_use" => (&["id", "name", "input"], &[]),
        "thinking" => (&["thinking", "signature"], &[]),
        "tool_result" => (&["tool_use_id", "content", "is_error"], &[]),
        _ => (&[], &[]),
    }
}

/// The content of a message.
pub(super) fn content(value: Option<&Value>) -> Read<Content> {
    let mut content = Content::default();
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => content.own.push(Part::Text(text.clone())),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                add(&mut content, block)?;
            }
        }
        Some(_) => return Err("“content” is neither a text nor a list".into()),
    }
    Ok(content)
}

fn add(content: &mut Content, block: &Value) -> Read<()> {
    let object = match block {
        Value::String(text) => {
            content.own.push(Part::Text(text.clone()));
            return Ok(());
        }
        Value::Object(object) => object,
        _ => return Err("a part of “content” is neither a text nor an object".into()),
    };
    let kind = text_of(object, "type")?.ok_or("a part of “content” has no “type”")?;
    let (fields, inner) = known(&kind);
    content.lost.extend(lost(object, fields));
    for (name, fields) in inner {
        if let Some(Value::Object(inner)) = object.get(*name) {
            content.lost.extend(lost_in(name, inner, fields));
        }
    }
    let part = match kind.as_str() {
        "text" | "input_text" | "output_text" => Part::Text(needed(object, "text")?),
        "refusal" => Part::Text(needed(object, "refusal")?),
        "image_url" | "input_image" => image_url(object)?,
        "image" => {
            let (media_type, source) = anthropic_source(object)?;
            Part::Image { media_type: media_type.unwrap_or_else(|| ANY_IMAGE.into()), source }
        }
        "file" | "input_file" => file(object)?,
        "document" => {
            let (media_type, source) = anthropic_source(object)?;
            let name = text_of(object, "title")?.unwrap_or_else(|| "document".into());
            Part::File { name, media_type, source }
        }
        "tool_use" => tool_use(object)?,
        "thinking" => Part::Reasoning {
            text: needed(object, "thinking")?,
            signature: text_of(object, "signature")?.filter(|signature| !signature.is_empty()),
        },
        "tool_result" => {
            content.results.push(tool_result(object, &mut content.lost)?);
            return Ok(());
        }
        other => return Err(format!("a part of type “{other}” can't be imported")),
    };
    content.own.push(part);
    Ok(())
}

/// The type of an image whose link names none.
const ANY_IMAGE: &str = "image/*";

fn needed(object: &Map<String, Value>, name: &str) -> Read<String> {
    text_of(object, name)?.ok_or_else(|| format!("a part of “content” has no “{name}”"))
}

/// `{"image_url": {"url": …}}`, or the address as a text.
fn image_url(object: &Map<String, Value>) -> Read<Part> {
    let url = match object.get("image_url") {
        Some(Value::Object(inner)) => needed(inner, "url")?,
        _ => needed(object, "image_url")?,
    };
    let (media_type, source) = address(&url)?;
    Ok(Part::Image { media_type: media_type.unwrap_or_else(|| ANY_IMAGE.into()), source })
}

/// `{"file": {"filename": …, "file_data": …}}`, or the same without the inner object.
fn file(object: &Map<String, Value>) -> Read<Part> {
    let inner = object.get("file").and_then(Value::as_object).unwrap_or(object);
    let name = text_of(inner, "filename")?.unwrap_or_else(|| "file".into());
    let data = text_of(inner, "file_data")?.or(text_of(inner, "file_url")?);
    let data = data.ok_or("a file is named only by an id that means nothing here: it has no “file_data”")?;
    let (media_type, source) = address(&data)?;
    Ok(Part::File { name, media_type, source })
}

/// The source at an address: the bytes themselves for a `data:` address.
fn address(url: &str) -> Read<(Option<String>, Source)> {
    let Some((head, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) else {
        return Ok((None, Source::Link(url.to_owned())));
    };
    let Some(media_type) = head.strip_suffix(";base64") else {
        return Err("a “data:” address that is not base64 can't be imported".into());
    };
    let media_type = media_type.split(';').next().filter(|media_type| !media_type.is_empty());
    Ok((media_type.map(str::to_owned), Source::Inline(decoded(data)?)))
}

fn decoded(data: &str) -> Read<Vec<u8>> {
    BASE64.decode(data.trim()).map_err(|error| format!("its data is not base64: {error}"))
}

/// `{"source": {"type": "base64" | "url" | "text", …}}`
fn anthropic_source(object: &Map<String, Value>) -> Read<(Option<String>, Source)> {
    let Some(Value::Object(source)) = object.get("source") else {
        return Err("an image or a document has no “source”".into());
    };
    let media_type = text_of(source, "media_type")?;
    match text_of(source, "type")?.as_deref() {
        Some("base64") => Ok((media_type, Source::Inline(decoded(&needed(source, "data")?)?))),
        Some("text") => Ok((media_type, Source::Inline(needed(source, "data")?.into_bytes()))),
        Some("url") => Ok((media_type, Source::Link(needed(source, "url")?))),
        other => Err(format!("a source of type “{}” can't be imported", other.unwrap_or_default())),
    }
}

fn tool_use(object: &Map<String, Value>) -> Read<Part> {
    Ok(Part::ToolCall {
        id: needed(object, "id")?,
        name: needed(object, "name")?,
        arguments: arguments(object.get("input")),
    })
}

fn tool_result(object: &Map<String, Value>, lost: &mut Vec<String>) -> Read<Vec<Part>> {
    let mut inner = content(object.get("content"))?;
    lost.append(&mut inner.lost);
    let (mut text, mut others) = (Vec::new(), Vec::new());
    for part in inner.own {
        match part {
            Part::Text(own) => text.push(own),
            other => others.push(other),
        }
    }
    let failed = object.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Ok };
    let result = Part::ToolResult { call: needed(object, "tool_use_id")?, content: text.join("\n"), outcome };
    Ok(std::iter::once(result).chain(others).collect())
}

/// `{"id": …, "function": {"name": …, "arguments": …}}`
pub(super) fn call(value: &Value, lost: &mut Vec<String>) -> Read<Part> {
    if let Value::Object(call) = value {
        lost.extend(lost_in("tool_calls", call, &["id", "function"]));
    }
    let id = value.get("id").and_then(Value::as_str).ok_or("a tool call has no “id”")?;
    let inner = value.get("function").ok_or("a tool call has no “function”")?;
    function(inner, Some(id.to_owned()), lost)
}

/// `{"name": …, "arguments": …}`
pub(super) fn function(value: &Value, id: Option<String>, lost: &mut Vec<String>) -> Read<Part> {
    if let Value::Object(function) = value {
        lost.extend(lost_in("function", function, &["name", "arguments"]));
    }
    let name = value.get("name").and_then(Value::as_str).ok_or("a tool call has no “name”")?.to_owned();
    let arguments = arguments(value.get("arguments"));
    Ok(Part::ToolCall { id: id.unwrap_or_else(|| name.clone()), name, arguments })
}

/// Arguments as JSON text; a text of the model is unchanged.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_files_of_both_styles() {
        let png = |source| Part::Image { media_type: "image/png".into(), source };
        let bytes = || Source::Inline(vec![1, 2, 3]);
        let link = || Source::Link("https://example.org/a".into());
        let rows = [
            (r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}"#, png(bytes())),
            (
                r#"{"type":"image_url","image_url":"https://example.org/a"}"#,
                Part::Image { media_type: "image/*".into(), source: link() },
            ),
            (
                r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}"#,
                png(bytes()),
            ),
            (
                r#"{"type":"file","file":{"filename":"a","file_data":"data:text/plain;base64,AQID"}}"#,
                Part::File { name: "a".into(), media_type: Some("text/plain".into()), source: bytes() },
            ),
            (
                r#"{"type":"document","title":"b","source":{"type":"url","url":"https://example.org/a"}}"#,
                Part::File { name: "b".into(), media_type: None, source: link() },
            ),
        ];
        for (json, part) in rows {
            let list = Value::Array(vec![serde_json::from_str(json).unwrap()]);
            assert_eq!(content(Some(&list)).map(|content| content.own), Ok(vec![part]), "{json}");
        }
    }
}
