//! Converts our prompt to the library's request.
//!
//! Nothing that a provider understands is left out or changed. Content that it does not accept is replaced by a text, so that
//! the model knows of it. Earlier content is sent again in the same order and wording, so that a provider finds the beginning
//! of the prompt in its cache.
//!
//! Every request follows the rules of its format, for every state of a conversation; `tests/providers/rules.rs` checks them.

use std::collections::BTreeMap;

use ::genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ChatRole, ContentPart, CustomPart, MessageContent, Tool,
};
use retake_core::{Part, Role, ToolOutcome};
use serde_json::{Value, json};

use super::super::{Message, Prompt, ToolSpec};
use super::block::block;
use super::calls;
use super::content::{self, Names};
use crate::settings::{Endpoint, EndpointKind};

/// The text before an instruction inside the conversation. It is sent in its place as a user's message, because most formats
/// have only one instruction, at the top. Adding it there would change the beginning of the prompt.
const INSTRUCTIONS: &str = "[Instructions]";

/// The origin of a text of the system's role.
const NOTE: &str = "an instruction file, a system message or a note of the program";

/// The text before pictures and files of a result, if the format's results cannot contain them.
const BESIDE_RESULTS: &str = "[Beside the results of the tools]";

/// The last message after the model's own: not every model continues its own text.
const GO_ON: &str = "[Continue]";

/// The request for a prompt at an endpoint. `images`: whether the model takes pictures, if that is known.
pub(super) fn request(mut prompt: Prompt, endpoint: &Endpoint, images: Option<bool>) -> ChatRequest {
    if images == Some(false) {
        let parts = prompt.messages.iter_mut().flat_map(|message| &mut message.parts);
        parts.for_each(content::without_picture);
    }
    calls::make_ids_unique(&mut prompt.messages, |id| content::id_for(endpoint.kind, id));
    let names = content::tool_names(&prompt.messages);
    let mut messages = Vec::new();
    for message in prompt.messages {
        for message in converted(message, endpoint, &names) {
            append(&mut messages, message);
        }
    }
    if messages.last().is_none_or(|last| last.role == ChatRole::Assistant) {
        messages.push(ChatMessage::user(GO_ON));
    }
    if endpoint.kind == EndpointKind::Ollama {
        messages.iter_mut().for_each(join_texts);
    }
    let marks = endpoint.kind == EndpointKind::Anthropic;
    let system = prompt.system.filter(|system| !system.trim().is_empty());
    let mut request = match system {
        Some(system) if marks => {
            mark_cache(&mut messages);
            messages.insert(0, ChatMessage::system(system).with_options(CacheControl::Ephemeral));
            ChatRequest::from_messages(messages)
        }
        Some(system) => ChatRequest::from_messages(messages).with_system(system),
        None => {
            if marks {
                mark_cache(&mut messages);
            }
            ChatRequest::from_messages(messages)
        }
    };
    let tools = tools(prompt.tools, marks, endpoint.kind);
    if !tools.is_empty() {
        request = request.with_tools(tools);
    }
    request
}

/// The tools, sorted by name: they come before everything else in the prompt.
fn tools(mut specs: Vec<ToolSpec>, marks: bool, kind: EndpointKind) -> Vec<Tool> {
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tools: Vec<Tool> = specs.into_iter().map(tool).collect();
    if kind == EndpointKind::OpenAiResponses {
        // Otherwise every optional argument would have to be given.
        tools = tools.into_iter().map(|tool| tool.with_strict(false)).collect();
    }
    if marks && let Some(last) = tools.pop() {
        tools.push(last.with_cache_control(CacheControl::Ephemeral));
    }
    tools
}

fn tool(spec: ToolSpec) -> Tool {
    // Every format needs the schema of an object, even for a tool without arguments.
    let mut schema = match spec.schema {
        Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Tool::new(content::plain_name(&spec.name)).with_description(spec.about).with_schema(schema.into())
}

/// Anthropic caches a prompt only up to a mark, and takes four: tools, system, and these two. The last message carries one, so
/// that the next step, or one after a rewind, finds its beginning in the cache. So does the message that carried it before,
/// because only a few blocks before a mark are searched.
fn mark_cache(messages: &mut [ChatMessage]) {
    let Some(last) = messages.len().checked_sub(1) else {
        return;
    };
    let answer = messages.iter().rposition(|message| message.role == ChatRole::Assistant);
    let before = answer.and_then(|at| at.checked_sub(1)).filter(|at| *at != last);
    for at in before.into_iter().chain([last]) {
        messages[at] = messages[at].clone().with_options(CacheControl::Ephemeral);
    }
}

/// Adds a message; two user messages in a row are merged, because not every format accepts two. For Anthropic, results are
/// user messages, too.
fn append(messages: &mut Vec<ChatMessage>, message: ChatMessage) {
    match messages.last_mut() {
        Some(last) if last.role == ChatRole::User && message.role == ChatRole::User => {
            last.content.extend(message.content);
        }
        _ => messages.push(message),
    }
}

/// The library joins texts for Ollama without a separator.
fn join_texts(message: &mut ChatMessage) {
    if message.content.texts().len() < 2 {
        return;
    }
    let content = std::mem::take(&mut message.content);
    let joined = content.joined_texts().map(ContentPart::from_text);
    let others = content.into_parts().into_iter().filter(|part| part.as_text().is_none());
    message.content = MessageContent::from_parts(joined.into_iter().chain(others).collect::<Vec<_>>());
}

fn converted(message: Message, endpoint: &Endpoint, names: &Names) -> Vec<ChatMessage> {
    let kind = endpoint.kind;
    if message.role == Role::Tool {
        return results(message.parts, kind, names);
    }
    let own = message.model.as_deref().and_then(|model| model.split_once('/'));
    let own = own.is_some_and(|(provider, _)| provider == endpoint.name);
    let calls_tools = message.parts.iter().any(|part| part.call_id().is_some());
    // OpenAI's format has no signatures: its servers expect plain reasoning only beside the calls that followed it.
    let own = own && (kind != EndpointKind::OpenAi || calls_tools);
    let signatures = if own { content::call_signatures(&message.parts) } else { BTreeMap::new() };
    let mut parts: Vec<ContentPart> = Vec::new();
    for part in message.parts {
        match part {
            Part::Reasoning { text, signature } if own => {
                parts.extend(content::reasoning(text, signature, kind));
            }
            // Neither a person's words nor a model's.
            Part::Text(text) if message.role == Role::System && !text.trim().is_empty() => {
                parts.push(ContentPart::from_text(block(NOTE, &text)));
            }
            part if message.role == Role::Assistant => {
                parts.extend(content::plain(content::in_an_answer(part), kind, names, &signatures));
            }
            part => parts.extend(content::plain(part, kind, names, &signatures)),
        }
    }
    // No format accepts an answer of reasoning alone.
    let says = |part: &ContentPart| matches!(part, ContentPart::Text(_) | ContentPart::ToolCall(_));
    if parts.is_empty() || message.role == Role::Assistant && !parts.iter().any(says) {
        return Vec::new();
    }
    vec![match message.role {
        Role::Assistant => ChatMessage::assistant(MessageContent::from_parts(parts)),
        Role::System => {
            parts.insert(0, ContentPart::from_text(INSTRUCTIONS));
            ChatMessage::user(MessageContent::from_parts(parts))
        }
        Role::User | Role::Tool => ChatMessage::user(MessageContent::from_parts(parts)),
    }]
}

/// Results, and the content beside them.
fn results(parts: Vec<Part>, kind: EndpointKind, names: &Names) -> Vec<ChatMessage> {
    let mut results: Vec<ContentPart> = Vec::new();
    let mut beside: Vec<ContentPart> = Vec::new();
    for part in parts {
        match part {
            Part::ToolResult { call, content, outcome } if kind == EndpointKind::Anthropic => {
                results.push(anthropic_result(&call, &content, outcome));
            }
            part @ Part::ToolResult { .. } => {
                results.extend(content::plain(part, kind, names, &BTreeMap::new()));
            }
            part => {
                let image = content::anthropic_image(&part).filter(|_| kind == EndpointKind::Anthropic);
                match (image, results.last_mut()) {
                    (Some(image), Some(ContentPart::Custom(result))) => put_in(&mut result.data, image),
                    _ => beside.extend(content::plain(part, kind, names, &BTreeMap::new())),
                }
            }
        }
    }
    let tool = |parts| ChatMessage::tool(MessageContent::from_parts(parts));
    let mut messages: Vec<ChatMessage> = match kind {
        _ if results.is_empty() => Vec::new(),
        // Its format allows one result in a message.
        EndpointKind::Ollama => results.into_iter().map(|part| tool(vec![part])).collect(),
        EndpointKind::Anthropic => vec![ChatMessage::user(MessageContent::from_parts(results))],
        _ => vec![tool(results)],
    };
    if !beside.is_empty() {
        beside.insert(0, ContentPart::from_text(BESIDE_RESULTS));
        messages.push(ChatMessage::user(MessageContent::from_parts(beside)));
    }
    messages
}

/// Anthropic's results have a failure flag and can contain pictures; the library has no fields for them.
fn anthropic_result(call: &str, content: &str, outcome: ToolOutcome) -> ContentPart {
    let mut data = json!({ "type": "tool_result", "tool_use_id": content::plain_id(call), "content": [] });
    if !content.trim().is_empty() {
        put_in(&mut data, json!({ "type": "text", "text": content }));
    }
    if outcome == ToolOutcome::Failed {
        data["is_error"] = Value::Bool(true);
    }
    ContentPart::Custom(CustomPart { model_iden: None, data })
}

fn put_in(result: &mut Value, block: Value) {
    if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
        content.push(block);
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
