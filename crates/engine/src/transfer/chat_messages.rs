//! Plain lists of chat messages, as the OpenAI and the Anthropic interfaces write them.
//!
//! Differences between them are accepted; anything that would lose text is refused: an unknown role or part is an error that
//! names it. Other fields of a message are kept if we have a place for them. A note at the end of the conversation, which the
//! model does not see, lists for each line what was not kept.

mod about;
mod parts;

use retake_core::{EntryId, Flags, Mark, Part, Role, Time, ToolOutcome};
use retake_store::{ImportEntry, ImportMessage};
use serde_json::{Map, Value};

use about::{About, about, is_kept, lost_beside_times, when};

/// The content of one message: several entries if it contains tool results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    said: Vec<(Role, Vec<Part>)>,
    about: About,
    /// Its place in the file.
    place: String,
}

/// A list of messages, with its own fields.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) messages: Vec<Message>,
    pub(super) title: Option<String>,
    pub(super) created: Option<Time>,
}

impl List {
    /// Removes times that the store would not keep, and records this.
    pub(super) fn note_odd_times(&mut self, now: Time) {
        for message in &mut self.messages {
            message.about.note_odd_time(now);
        }
        if self.created.is_some_and(|created| !is_kept(created, now)) {
            self.created = None;
            // The document's own fields come first.
            if let Some(document) = self.messages.first_mut() {
                document.about.lost.extend(document.about.odd_time.take());
            }
        }
    }
}

/// The most places in the note.
const MOST_LOST: usize = 200;

/// The fields of a message with its text, by role.
fn words(role: &str) -> &'static [&'static str] {
    match role {
        "assistant" | "model" | "ai" => {
            &["role", "content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content"]
        }
        "tool" | "function" => &["role", "content", "tool_call_id", "tool_name", "name"],
        _ => &["role", "content"],
    }
}

/// The result of parsing, with the error's text.
type Read<T> = Result<T, String>;

/// The message of a line; its number counts from 1.
pub(super) fn message(line: &str, number: u64) -> Read<Message> {
    let value = serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
    read(&value, format!("line {number}"))
}

/// The messages of a whole document. An error has its line in the text, from 1, if known.
pub(super) fn document(text: &str) -> Result<List, (Option<u64>, String)> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| (Some(error.line().max(1) as u64), format!("it is not JSON: {error}")))?;
    let mut found = List::default();
    let list = match &value {
        Value::Object(object) => {
            found = whole(object).map_err(|why| (None, why))?;
            object.get("messages")
        }
        Value::Array(list) if list.is_empty() => return Err((None, "there is nothing in it".into())),
        list => Some(list),
    };
    let list = match list {
        Some(Value::Array(list)) => list,
        Some(_) if value.is_object() => {
            return Err((None, "its “messages” is not a list: [{\"role\": …, \"content\": …}, …]".into()));
        }
        _ => return Err((None, "it has no list of messages".into())),
    };
    for (number, value) in (1..).zip(list) {
        let read = read(value, format!("message {number}")).map_err(|why| {
            let line = line_of(text, number);
            (line, format!("message {number} of the list: {why}"))
        })?;
        found.messages.push(read);
    }
    Ok(found)
}

/// The fields of an object around a list.
fn whole(object: &Map<String, Value>) -> Read<List> {
    let mut list = List { title: text_of(object, "title")?, ..List::default() };
    let mut about = when(object);
    about.lost.extend(lost_beside_times(object, &["messages", "system", "title"]));
    list.created = about.time.take();
    let system = match object.get("system").filter(|system| !system.is_null()) {
        Some(system) => {
            let content = parts::content(Some(system)).map_err(|why| format!("“system”: {why}"))?;
            about.lost.extend(content.lost);
            vec![(Role::System, content.own)]
        }
        None => Vec::new(),
    };
    let about = About { lost: about.lost, odd_time: about.odd_time, ..About::default() };
    list.messages.push(Message { said: system, about, place: "the document".into() });
    Ok(list)
}

/// The line where the message number `wanted` of the outermost list begins. Only parsed for an error.
fn line_of(text: &str, wanted: usize) -> Option<u64> {
    let begin = if text.trim_start().starts_with('[') { 0 } else { text.find("\"messages\"")? };
    let (mut depth, mut list_at, mut number) = (0_usize, None, 0);
    let mut line = 1 + text[..begin].matches('\n').count() as u64;
    let (mut quoted, mut escaped) = (false, false);
    for c in text[begin..].chars() {
        match c {
            '\n' => line += 1,
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => {
                if c == '[' && list_at.is_none() {
                    list_at = Some(depth + 1);
                } else if list_at == Some(depth) {
                    number += 1;
                    if number == wanted {
                        return Some(line);
                    }
                }
                depth += 1;
            }
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The entries of these messages. A person without a name is the current user.
pub(super) fn entries(
    messages: Vec<Message>,
    mut new_id: impl FnMut() -> EntryId,
    user: &str,
) -> Vec<ImportEntry> {
    let mut entries = Vec::new();
    let mut lost = Vec::new();
    for Message { said, about, place } in messages {
        lost.extend((!about.lost.is_empty()).then(|| format!("{place}: {}", about.lost.join(", "))));
        let last = said.len().saturating_sub(1);
        for (number, (role, parts)) in said.into_iter().enumerate() {
            let author = match (&about.author, role) {
                (Some(name), _) => name.clone(),
                (None, Role::User) => user.to_owned(),
                (None, _) => String::new(),
            };
            let said = ImportMessage {
                id: new_id(),
                role,
                author,
                parts,
                flags: about.flags,
                time: about.time,
                usage: about.usage.filter(|_| role == Role::Assistant),
                // It names one message.
                platform_id: about.platform_id.clone().filter(|_| number == last),
            };
            entries.push(ImportEntry { said: vec![said], chosen: 0, mark: about.mark, label: None });
        }
    }
    entries.extend(note(lost, new_id));
    entries
}

/// The note at the end about what was not kept.
fn note(mut lost: Vec<String>, mut new_id: impl FnMut() -> EntryId) -> Option<ImportEntry> {
    if lost.is_empty() {
        return None;
    }
    let more = lost.len().saturating_sub(MOST_LOST);
    lost.truncate(MOST_LOST);
    lost.extend((more > 0).then(|| format!("and {more} more")));
    let said = ImportMessage {
        id: new_id(),
        role: Role::System,
        author: String::new(),
        parts: vec![Part::Text(format!("[Not kept by the import]\n{}", lost.join("\n")))],
        flags: Flags { synthetic: true, ..Flags::default() },
        time: None,
        usage: None,
        platform_id: None,
    };
    Some(ImportEntry { said: vec![said], chosen: 0, mark: Mark::Excluded, label: None })
}

fn read(value: &Value, place: String) -> Read<Message> {
    let Value::Object(message) = value else {
        return Err("a message is an object with “role” and “content”".into());
    };
    let role = text_of(message, "role")?.ok_or("the message has no “role”")?;
    let mut about = about(message, words(&role));
    let mut content = parts::content(message.get("content"))?;
    about.lost.append(&mut content.lost);
    // The other words for a role mean the same; these two are roles of their own.
    let kept = [("developer", "system"), ("function", "tool")].into_iter().find(|(said, _)| *said == role);
    about.lost.extend(kept.map(|(said, kept)| format!("the role “{said}”, which is kept as “{kept}”")));
    let said = match role.as_str() {
        "user" | "human" => with_results(Role::User, content),
        "system" | "developer" => vec![(Role::System, content.own)],
        "assistant" | "model" | "ai" => {
            vec![(Role::Assistant, asked(message, content.own, &mut about.lost)?)]
        }
        "tool" | "function" => {
            let name = text_of(message, "name")?.or(text_of(message, "tool_name")?);
            vec![(Role::Tool, answered(message, name.as_deref(), content)?)]
        }
        other => {
            return Err(format!(
                "the role “{other}” is not known: user, assistant, tool, function, system, developer"
            ));
        }
    };
    Ok(Message { said, about, place })
}

/// Tool results come before the person's text in the same message, each as an entry of its own.
fn with_results(role: Role, content: parts::Content) -> Vec<(Role, Vec<Part>)> {
    let mut said: Vec<_> = content.results.into_iter().map(|result| (Role::Tool, result)).collect();
    if said.is_empty() || !content.own.is_empty() {
        said.push((role, content.own));
    }
    said
}

/// A model's message with its tool calls.
fn asked(message: &Map<String, Value>, mut own: Vec<Part>, lost: &mut Vec<String>) -> Read<Vec<Part>> {
    let (reasoning, other) = (text_of(message, "reasoning_content")?, text_of(message, "reasoning")?);
    if let (Some(kept), Some(other)) = (&reasoning, &other)
        && !other.is_empty()
        && kept != other
    {
        lost.push("“reasoning”".into());
    }
    let reasoning = reasoning.or(other);
    if let Some(reasoning) = reasoning.filter(|text| !text.is_empty()) {
        own.insert(0, Part::Reasoning { text: reasoning, signature: None });
    }
    if let Some(refusal) = text_of(message, "refusal")?.filter(|text| !text.is_empty()) {
        own.push(Part::Text(refusal));
    }
    match message.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(calls)) => {
            for call in calls {
                own.push(parts::call(call, lost)?);
            }
        }
        Some(_) => return Err("“tool_calls” is not a list".into()),
    }
    // The older form of a single call has no id, so its name is used.
    if let Some(call) = message.get("function_call").filter(|call| !call.is_null()) {
        own.push(parts::function(call, None, lost)?);
    }
    Ok(own)
}

/// A tool's result as a message of its own.
fn answered(message: &Map<String, Value>, name: Option<&str>, content: parts::Content) -> Read<Vec<Part>> {
    let call = text_of(message, "tool_call_id")?.or_else(|| name.map(str::to_owned));
    let call = call.ok_or("a tool's message needs the “tool_call_id” that it answers")?;
    let (mut text, mut others) = (Vec::new(), Vec::new());
    for part in content.own {
        match part {
            Part::Text(own) => text.push(own),
            other => others.push(other),
        }
    }
    let result = Part::ToolResult { call, content: text.join("\n"), outcome: ToolOutcome::Ok };
    Ok(std::iter::once(result).chain(others).collect())
}

/// A text field of an object; `null` counts as missing.
fn text_of(object: &Map<String, Value>, name: &str) -> Read<Option<String>> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("“{name}” is not a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, said: &[(Role, Vec<Part>)]) {
        assert_eq!(message(json, 1).map(|message| message.said), Ok(said.to_vec()), "{json}");
    }

    fn result(call: &str, content: &str, outcome: ToolOutcome) -> Part {
        Part::ToolResult { call: call.into(), content: content.into(), outcome }
    }

    fn call(id: &str, arguments: &str) -> Part {
        Part::ToolCall { id: id.into(), name: "f".into(), arguments: arguments.into() }
    }

    #[test]
    fn plain_messages() {
        check(r#"{"role":"user","content":"a"}"#, &[(Role::User, vec![Part::text("a")])]);
        check(r#"{"role":"developer","content":"a"}"#, &[(Role::System, vec![Part::text("a")])]);
        check(r#"{"role":"assistant","content":null}"#, &[(Role::Assistant, vec![])]);
        check(
            r#"{"role":"user","content":[{"type":"text","text":"a"},"b"]}"#,
            &[(Role::User, vec![Part::text("a"), Part::text("b")])],
        );
    }

    #[test]
    fn tools_in_the_style_of_openai() {
        check(
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            &[(Role::Assistant, vec![call("1", "{}")])],
        );
        check(
            r#"{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"x"}]}"#,
            &[(Role::Tool, vec![result("1", "x", ToolOutcome::Ok)])],
        );
        check(
            r#"{"role":"assistant","content":"a","function_call":{"name":"f","arguments":"{}"}}"#,
            &[(Role::Assistant, vec![Part::text("a"), call("f", "{}")])],
        );
        check(
            r#"{"role":"function","name":"f","content":"x"}"#,
            &[(Role::Tool, vec![result("f", "x", ToolOutcome::Ok)])],
        );
    }

    #[test]
    fn tools_in_the_style_of_anthropic() {
        check(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}]}"#,
            &[(
                Role::Assistant,
                vec![
                    Part::Reasoning { text: "t".into(), signature: Some("s".into()) },
                    call("1", r#"{"a":1}"#),
                ],
            )],
        );
        check(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}],"is_error":true},{"type":"tool_result","tool_use_id":"2","content":"y"},{"type":"text","text":"go on"}]}"#,
            &[
                (Role::Tool, vec![result("1", "x", ToolOutcome::Failed)]),
                (Role::Tool, vec![result("2", "y", ToolOutcome::Ok)]),
                (Role::User, vec![Part::text("go on")]),
            ],
        );
    }

    #[test]
    fn unsupported_or_damaged_line_is_an_error() {
        let rows = [
            (r#"{"role":"narrator","content":"a"}"#, "narrator"),
            (r#"{"content":"a"}"#, "role"),
            (r#"{"role":"user","content":[{"type":"hologram"}]}"#, "hologram"),
            (r#"{"role":"user","content":7}"#, "content"),
            (r#"{"role":"tool","content":"a"}"#, "tool_call_id"),
            (r#"{"role":"user","content":"a""#, "JSON"),
            ("7", "object"),
        ];
        for (json, word) in rows {
            let why = message(json, 1).expect_err(json);
            assert!(why.contains(word), "{json}: {why}");
        }
    }

    #[test]
    fn a_document_names_the_line_of_what_is_wrong() {
        let list = "{\"model\": [\"[\"],\n \"messages\": [\n{\"role\":\"user\",\n\"content\":\"a\"},\n{\"role\":\"x\"}]}";
        let why = document(list).expect_err("a bad role");
        assert_eq!(why.0, Some(5), "{}", why.1);
        assert!(why.1.starts_with("message 2 of the list"), "{}", why.1);
        assert_eq!(document("[\n7x]").expect_err("no JSON").0, Some(2));
        assert_eq!(document("{\"a\":1}").expect_err("no list").0, None);
    }
}
