//! The conversion of one part of a message for a provider.
//!
//! Names and ids from another provider or a confused model are reduced to characters that every format accepts: one
//! strange call must not make a conversation unusable.

use std::collections::BTreeMap;

use ::genai::chat::{ContentPart, CustomPart, ToolCall, ToolResponse};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retake_core::{Part, Source, ToolOutcome};
use serde_json::{Value, json};

use super::super::Message;
use super::block::block;
use super::calls;
use crate::settings::EndpointKind;

/// The type of a PDF file, which some formats accept unchanged.
const PDF: &str = "application/pdf";

/// The type of a file without one.
const ANY_BYTES: &str = "application/octet-stream";

/// The longest name of a tool that every format accepts.
const MAX_NAME: usize = 64;

/// The tool of each call, by the call's id: some formats need it with the result.
pub(super) type Names = BTreeMap<String, String>;

/// The tools of the calls in a conversation.
pub(super) fn tool_names(messages: &[Message]) -> Names {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
            _ => None,
        })
        .collect()
}

/// The signatures that belong to calls, by the call's id.
pub(super) fn call_signatures(parts: &[Part]) -> BTreeMap<String, String> {
    let signatures = parts.iter().filter_map(|part| match part {
        Part::Reasoning { signature: Some(signature), .. } => calls::signed_call(signature),
        _ => None,
    });
    signatures.collect()
}

/// The conversion of any part except reasoning.
pub(super) fn plain(
    part: Part,
    kind: EndpointKind,
    names: &Names,
    signatures: &BTreeMap<String, String>,
) -> Option<ContentPart> {
    Some(match part {
        Part::Text(text) if text.trim().is_empty() => return None,
        Part::Text(text) => ContentPart::from_text(text),
        Part::Image { media_type, source } => binary(kind, media_type, source, None),
        Part::File { name, media_type, source } => file(kind, name, media_type, source),
        Part::ToolCall { id, name, arguments } => ContentPart::ToolCall(ToolCall {
            thought_signatures: signatures.get(&id).map(|signature| vec![signature.clone()]),
            call_id: id_for(kind, &id),
            fn_name: plain_name(&name),
            fn_arguments: arguments_value(&arguments),
        }),
        Part::ToolResult { call, content, outcome } => {
            let content = match outcome {
                ToolOutcome::Ok => content,
                // The library has no field for it, and the model must not mistake a failure for a result.
                ToolOutcome::Failed => format!("The tool failed: {content}"),
            };
            let name = names.get(&call).map(|name| plain_name(name));
            let response = ToolResponse::new(id_for(kind, &call), content);
            ContentPart::ToolResponse(match name {
                Some(name) => response.with_fn_name(name),
                None => response,
            })
        }
        Part::Erased => ContentPart::from_text("[erased]"),
        Part::Reasoning { .. } | Part::Repaired { .. } | Part::Facts(_) | Part::Recalled(_) => return None,
    })
}

/// A picture as a block of Anthropic's format; `None` for any other part.
pub(super) fn anthropic_image(part: &Part) -> Option<Value> {
    let Part::Image { media_type, source } = part else {
        return None;
    };
    let source = match source {
        Source::Inline(bytes) => {
            json!({ "type": "base64", "media_type": media_type, "data": STANDARD.encode(bytes) })
        }
        Source::Link(url) => json!({ "type": "url", "url": url }),
    };
    Some(json!({ "type": "image", "source": source }))
}

/// Unchanged bytes if the format accepts them; else a text in their place.
fn binary(kind: EndpointKind, media_type: String, source: Source, name: Option<String>) -> ContentPart {
    if takes(kind, &media_type, &source) {
        if kind == EndpointKind::Anthropic && matches!(source, Source::Link(_)) && is_image(&media_type) {
            let image = anthropic_image(&Part::Image { media_type, source });
            let data = image.expect("BUG: an image was just made");
            return ContentPart::Custom(CustomPart { model_iden: None, data });
        }
        return match source {
            Source::Inline(bytes) => {
                ContentPart::from_binary_base64(media_type, STANDARD.encode(bytes), name)
            }
            Source::Link(link) => ContentPart::from_binary_url(media_type, link, name),
        };
    }
    ContentPart::from_text(in_words(&media_type, source, name.as_deref()))
}

/// The text in place of bytes that a format does not accept.
fn in_words(media_type: &str, source: Source, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    match source {
        Source::Inline(bytes) => {
            format!("[File{name}: {} bytes of {media_type}, which cannot be sent to you]", bytes.len())
        }
        Source::Link(link) => format!("File{name}: {link}"),
    }
}

/// Replaces a picture by a text, for a model that takes none.
pub(super) fn without_picture(part: &mut Part) {
    *part = match std::mem::replace(part, Part::Erased) {
        Part::Image { media_type, source } => Part::Text(in_words(&media_type, source, None)),
        Part::File { name, media_type: Some(media_type), source }
            if is_image(&media_type) && !is_text(Some(&media_type), &source) =>
        {
            Part::Text(in_words(&media_type, source, Some(&name)))
        }
        other => other,
    };
}

/// A part of the model's own answer: no format accepts a picture or a file in one.
pub(super) fn in_an_answer(part: Part) -> Part {
    match part {
        Part::Image { media_type, source } => Part::Text(in_words(&media_type, source, None)),
        Part::File { name, media_type, source } if !is_text(media_type.as_deref(), &source) => {
            let media_type = media_type.as_deref().unwrap_or(ANY_BYTES);
            Part::Text(in_words(media_type, source, Some(&name)))
        }
        other => other,
    }
}

/// Whether a file is sent as text.
fn is_text(media_type: Option<&str>, source: &Source) -> bool {
    let text = matches!(source, Source::Inline(bytes) if std::str::from_utf8(bytes).is_ok());
    text && media_type != Some(PDF)
}

fn takes(kind: EndpointKind, media_type: &str, source: &Source) -> bool {
    let image = is_image(media_type);
    let pdf = media_type == PDF;
    let heard = media_type.starts_with("audio/");
    match (kind, source) {
        (EndpointKind::Anthropic, _) => image || pdf,
        (EndpointKind::Gemini, _) => image || pdf || heard || media_type.starts_with("video/"),
        (EndpointKind::OpenAi, Source::Inline(_)) => image || pdf || heard,
        (EndpointKind::OpenAiResponses, _) => image || pdf,
        (EndpointKind::OpenAi, Source::Link(_)) | (EndpointKind::Ollama, Source::Inline(_)) => image,
        (EndpointKind::Ollama, Source::Link(_)) => false,
    }
}

fn is_image(media_type: &str) -> bool {
    media_type.starts_with("image/")
}

/// Text files are sent as text, which every model reads; others as bytes.
fn file(kind: EndpointKind, name: String, media_type: Option<String>, source: Source) -> ContentPart {
    let media_type = media_type.unwrap_or_else(|| ANY_BYTES.into());
    match source {
        Source::Inline(bytes) if media_type != PDF => match String::from_utf8(bytes) {
            // As JSON, so that no name can end the line.
            Ok(text) => ContentPart::from_text(block(&format!("file {}", Value::from(name)), &text)),
            Err(error) => binary(kind, media_type, Source::Inline(error.into_bytes()), Some(name)),
        },
        Source::Link(link) if media_type != PDF => ContentPart::from_text(format!("File {name}: {link}")),
        source => binary(kind, media_type, source, Some(name)),
    }
}

/// The reasoning of this provider, in the form in which it expects it back.
pub(super) fn reasoning(text: String, signature: Option<String>, kind: EndpointKind) -> Vec<ContentPart> {
    match (signature, kind) {
        (Some(block), EndpointKind::Anthropic) if text.is_empty() => {
            match serde_json::from_str::<Value>(&block) {
                Ok(data) if data.get("type").is_some() => {
                    vec![ContentPart::Custom(CustomPart { model_iden: None, data })]
                }
                _ => Vec::new(),
            }
        }
        (Some(signature), EndpointKind::Anthropic) => {
            vec![ContentPart::ThoughtSignature(signature), ContentPart::ReasoningContent(text)]
        }
        // Anthropic accepts no reasoning without a signature.
        (None, EndpointKind::Anthropic) => Vec::new(),
        // It is sent with its call.
        (Some(signature), EndpointKind::Gemini) if calls::signed_call(&signature).is_some() => Vec::new(),
        (Some(signature), EndpointKind::Gemini | EndpointKind::OpenAiResponses) => {
            vec![ContentPart::ThoughtSignature(signature)]
        }
        // It takes back encrypted reasoning only.
        (None, EndpointKind::OpenAiResponses) => Vec::new(),
        (_, _) if text.is_empty() => Vec::new(),
        (_, _) => vec![ContentPart::ReasoningContent(text)],
    }
}

/// The arguments as a JSON object, which every format needs. Other arguments are sent back as the text that the model
/// wrote, in a field, so that it sees its mistake.
pub(super) fn arguments_value(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        _ => json!({ "not_an_object": arguments }),
    }
}

/// A call's id as a format accepts it.
pub(super) fn id_for(kind: EndpointKind, id: &str) -> String {
    // The others accept any text, and some need their id unchanged.
    if kind == EndpointKind::Anthropic { plain_id(id) } else { id.to_owned() }
}

/// A call's id in the characters that Anthropic accepts.
pub(super) fn plain_id(id: &str) -> String {
    plainly(id, usize::MAX)
}

/// A tool's name in the characters that every format accepts.
pub(super) fn plain_name(name: &str) -> String {
    plainly(name, MAX_NAME)
}

fn plainly(text: &str, max: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let plain: String = text.chars().take(max).map(plain).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}
