//! From our prompt to the library's request.
//!
//! Nothing that a provider understands is left out or changed. What it cannot take is put into words in its place,
//! so that the model knows that something is there.

use std::collections::BTreeMap;

use ::genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ContentPart, CustomPart, MessageContent, ToolCall, ToolResponse,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retake_core::{Part, Role, Source, ToolOutcome};
use serde_json::Value;

use super::super::{Message, Prompt};
use crate::settings::{Endpoint, EndpointKind};

/// The request for a prompt at an endpoint.
pub(super) fn request(prompt: Prompt, endpoint: &Endpoint) -> ChatRequest {
    let names = tool_names(&prompt.messages);
    let mut messages = Vec::new();
    for message in prompt.messages {
        messages.extend(converted(message, endpoint, &names));
    }
    if endpoint.kind == EndpointKind::Anthropic {
        cache_up_to_here(&mut messages);
    }
    let request = ChatRequest::from_messages(messages);
    match prompt.system {
        Some(system) if !system.is_empty() => request.with_system(system),
        _ => request,
    }
}

/// Anthropic caches a prompt only up to a mark. The last message carries it, so that the next turn, or one after a
/// rewind, finds its beginning in the cache.
fn cache_up_to_here(messages: &mut [ChatMessage]) {
    if let Some(last) = messages.last_mut() {
        *last = last.clone().with_options(CacheControl::Ephemeral);
    }
}

/// The tool names by call id, because some providers want them with the result too.
fn tool_names(messages: &[Message]) -> BTreeMap<String, String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
            _ => None,
        })
        .collect()
}

fn converted(message: Message, endpoint: &Endpoint, names: &BTreeMap<String, String>) -> Vec<ChatMessage> {
    let own = message.model.as_deref().and_then(|model| model.split_once('/'));
    let own = own.is_some_and(|(provider, _)| provider == endpoint.name);
    let calls_tools = message.parts.iter().any(|part| part.call_id().is_some());
    // OpenAI's format has no signatures: its servers want open reasoning back only beside the calls it led to.
    let own = own && (endpoint.kind != EndpointKind::OpenAi || calls_tools);
    let mut content: Vec<ContentPart> = Vec::new();
    for part in message.parts {
        match part {
            Part::Reasoning { text, signature } if own => {
                content.extend(reasoning(text, signature, endpoint.kind));
            }
            Part::Reasoning { .. } => {}
            part => content.extend(plain(part, names)),
        }
    }
    if content.is_empty() {
        return Vec::new();
    }
    match message.role {
        Role::User => vec![ChatMessage::user(MessageContent::from_parts(content))],
        Role::Assistant => vec![ChatMessage::assistant(MessageContent::from_parts(content))],
        Role::System => vec![ChatMessage::system(MessageContent::from_parts(content))],
        Role::Tool if endpoint.kind == EndpointKind::Ollama => {
            // Its format has room for one result in a message.
            content
                .into_iter()
                .map(|part| ChatMessage::tool(MessageContent::from_parts(vec![part])))
                .collect()
        }
        Role::Tool => vec![ChatMessage::tool(MessageContent::from_parts(content))],
    }
}

fn plain(part: Part, names: &BTreeMap<String, String>) -> Option<ContentPart> {
    Some(match part {
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => ContentPart::from_text(text),
        Part::Image { media_type, source } => binary(media_type, source, None),
        Part::File { name, media_type, source } => file(name, media_type, source),
        Part::ToolCall { id, name, arguments } => ContentPart::ToolCall(ToolCall {
            call_id: id,
            fn_name: name,
            fn_arguments: arguments_value(&arguments),
            thought_signatures: None,
        }),
        Part::ToolResult { call, content, outcome } => {
            let content = match outcome {
                ToolOutcome::Ok => content,
                // The library has no field for it, and the model must not take a failure for a result.
                ToolOutcome::Failed => format!("The tool failed: {content}"),
            };
            let response = ToolResponse::new(call.clone(), content);
            ContentPart::ToolResponse(match names.get(&call) {
                Some(name) => response.with_fn_name(name),
                None => response,
            })
        }
        Part::Erased => ContentPart::from_text("[erased]"),
        Part::Reasoning { .. } | Part::Facts(_) => return None,
    })
}

fn binary(media_type: String, source: Source, name: Option<String>) -> ContentPart {
    match source {
        Source::Inline(bytes) => ContentPart::from_binary_base64(media_type, STANDARD.encode(bytes), name),
        Source::Link(link) => ContentPart::from_binary_url(media_type, link, name),
    }
}

/// Text files are sent as text, which every model reads; others as they are.
fn file(name: String, media_type: Option<String>, source: Source) -> ContentPart {
    let media_type = media_type.unwrap_or_else(|| "application/octet-stream".into());
    match source {
        Source::Inline(bytes) if media_type != "application/pdf" => match String::from_utf8(bytes) {
            Ok(text) => ContentPart::from_text(format!("File {name}:\n{text}")),
            Err(error) => binary(media_type, Source::Inline(error.into_bytes()), Some(name)),
        },
        Source::Link(link) if media_type != "application/pdf" => {
            ContentPart::from_text(format!("File {name}: {link}"))
        }
        source => binary(media_type, source, Some(name)),
    }
}

/// The reasoning that this provider made, in the shape in which it wants it back.
fn reasoning(text: String, signature: Option<String>, kind: EndpointKind) -> Vec<ContentPart> {
    match (signature, kind) {
        (Some(block), EndpointKind::Anthropic) if text.is_empty() => {
            match serde_json::from_str::<Value>(&block) {
                Ok(data) if data.is_object() => {
                    vec![ContentPart::Custom(CustomPart { model_iden: None, data })]
                }
                _ => Vec::new(),
            }
        }
        (Some(signature), EndpointKind::Anthropic) => {
            vec![ContentPart::ThoughtSignature(signature), ContentPart::ReasoningContent(text)]
        }
        // Anthropic takes no reasoning without a signature.
        (None, EndpointKind::Anthropic) => Vec::new(),
        (Some(signature), EndpointKind::Gemini) => vec![ContentPart::ThoughtSignature(signature)],
        (_, _) if text.is_empty() => Vec::new(),
        (_, _) => vec![ContentPart::ReasoningContent(text)],
    }
}

/// The arguments as JSON. What is not JSON goes back as the text that the model wrote.
fn arguments_value(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
