//! The rules of each format for the messages of a request, under any hidden, excluded, dropped or folded messages. Random
//! conversations with random marks are sent to each kind of provider, and the requests are checked against the format's rules.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, Mark, NewConversation, PageRequest, Part,
    Projection, Reading, Reason, Role, SayRequest, SeenState, Source, Time, ToolOutcome,
};
use retake_engine::model::{Message, Prompt};
use retake_store::{Memory, Store};
use serde_json::Value;

use super::{Connection, gather};
use crate::raw::Raw;

/// A step in a conversation. A number names an existing entry, modulo their count.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A message that is not from the model: 0 is a person's, 1 an instruction, 2 a person's blank one.
    Says(u8),
    /// The model answers, with calls of these ids; this many of them get their results at once.
    Answers {
        words: bool,
        thinks: bool,
        own: bool,
        calls: Vec<u8>,
        results: usize,
    },
    /// A result for the call with this id, wherever that is.
    Result(u8),
    Mark(Reason, usize),
    Fold(usize, usize),
    Rewind(usize),
}

/// Call ids of other programs. Two of them are equal in the letters that Anthropic accepts.
const IDS: [&str; 4] = ["call_a", "x:y", "x_y", ""];

const VERBS: [Reason; 5] = [Reason::Hide, Reason::Show, Reason::Exclude, Reason::Include, Reason::Drop];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Step::Says),
        6 => (any::<bool>(), any::<bool>(), any::<bool>(), vec(0..4_u8, 0..3), 0..3_usize).prop_map(
            |(words, thinks, own, calls, results)| Step::Answers { words, thinks, own, calls, results }
        ),
        1 => (0..4_u8).prop_map(Step::Result),
        4 => (proptest::sample::select(&VERBS), 0..12_usize).prop_map(|(verb, at)| Step::Mark(verb, at)),
        1 => (0..12_usize, 0..12_usize).prop_map(|(from, to)| Step::Fold(from, to)),
        1 => (0..12_usize).prop_map(Step::Rewind),
    ]
}

/// A conversation in memory. Every message in it has a word of its own.
pub(super) struct Talk {
    pub(super) store: Store,
    pub(super) id: ConversationId,
    pub(super) said: Vec<EntryId>,
    next: u64,
}

impl Talk {
    pub(super) async fn of(steps: &[Step]) -> Self {
        let memory = Memory::default();
        let store = Store::start(memory.clone(), memory.writer()).expect("started");
        let mut talk = Self { store, id: ConversationId::new(uuid(0)), said: Vec::new(), next: 1 };
        let new = NewConversation { id: talk.id, folder: None, title: None, by: talk.by("ann") };
        talk.store.create(new).await.expect("created");
        for step in steps {
            talk.take(step).await;
        }
        talk
    }

    fn by(&self, author: &str) -> ChangeOrigin {
        ChangeOrigin {
            author: author.into(),
            time: Time(1_700_000_000_000 + self.next.cast_signed()),
            ..ChangeOrigin::default()
        }
    }

    /// A new word.
    pub(super) fn word(&mut self) -> String {
        self.next += 1;
        format!("w{}w", self.next)
    }

    pub(super) async fn say(&mut self, role: Role, author: &str, parts: Vec<Part>) {
        self.next += 1;
        let (id, by) = (EntryId::new(uuid(self.next)), self.by(author));
        let say = SayRequest::new(id, role, parts, by);
        self.store.say(self.id, say).await.expect("said");
        self.said.push(id);
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Says(kind) => {
                let text = if *kind == 2 { " ".to_owned() } else { self.word() };
                let role = if *kind == 1 { Role::System } else { Role::User };
                self.say(role, "ann", vec![Part::text(text), Part::Erased]).await;
            }
            Step::Answers { words, thinks, own, calls, results } => {
                let mut parts = Vec::new();
                if *thinks {
                    parts.push(Part::Reasoning { text: "hm".into(), signature: Some("sig".into()) });
                }
                if *words {
                    parts.push(Part::text(self.word()));
                    parts.push(picture());
                }
                for id in calls {
                    let arguments = format!("{{\"of\": \"{}\"}}", self.word());
                    parts.push(Part::ToolCall { id: id_of(*id), name: "look".into(), arguments });
                }
                let author = if *own { "here/m" } else { "there/m" };
                self.say(Role::Assistant, author, parts).await;
                // In reverse order, like the results of concurrent calls.
                for id in calls.iter().take(*results).rev() {
                    self.result(*id).await;
                }
            }
            Step::Result(id) => self.result(*id).await,
            Step::Mark(verb, at) => {
                if let Some(entry) = self.at(*at) {
                    self.act(Action::Mark { verb: *verb, entries: vec![entry], range: false, seen: None })
                        .await;
                }
            }
            Step::Fold(from, to) => {
                if let (Some(from), Some(to)) = (self.at(*from), self.at(*to)) {
                    let summary = self.word();
                    let fold = Action::Fold { verb: Reason::Fold, from, to, summary, covers: None };
                    self.act(fold).await;
                }
            }
            Step::Rewind(at) => {
                if let Some(entry) = self.at(*at) {
                    self.act(Action::Rewind(entry)).await;
                }
            }
        }
    }

    async fn result(&mut self, id: u8) {
        let content = self.word();
        let result = Part::ToolResult { call: id_of(id), content, outcome: ToolOutcome::Ok };
        self.say(Role::Tool, "look", vec![result, picture()]).await;
    }

    fn at(&self, number: usize) -> Option<EntryId> {
        self.said.get(number % self.said.len().max(1)).copied()
    }

    /// An impossible action is refused, and changes nothing.
    pub(super) async fn act(&self, action: Action) {
        drop(
            self.store.apply(self.id, Apply { action, seen: SeenState::Anything, by: self.by("ann") }).await,
        );
    }

    /// The words that the prompt must contain, and those that it must not. A result belongs to its call.
    async fn words(&self) -> (Vec<String>, Vec<String>) {
        let page = PageRequest { limit: 1_000, ..PageRequest::default() };
        let shown = self.store.page(self.id, Reading::now(Projection::Timeline), page).await.expect("a page");
        let (mut told, mut kept) = (Vec::new(), Vec::new());
        for shown in shown.entries {
            let parts = shown.entry.expect("sound").parts;
            let words = parts.iter().filter_map(|part| match part {
                Part::Text(text) if text != " " => Some(text.clone()),
                Part::ToolCall { arguments, .. } => {
                    Some(arguments.split('"').nth(3).expect("a word").to_owned())
                }
                _ => None,
            });
            let to = if shown.mark == Mark::Normal && shown.fold.is_none() { &mut told } else { &mut kept };
            to.extend(words);
        }
        (told, kept)
    }
}

fn uuid(number: u64) -> uuid::Uuid {
    uuid::Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number))
}

fn id_of(number: u8) -> String {
    IDS[usize::from(number)].to_owned()
}

fn picture() -> Part {
    Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2, 3]) }
}

/// The body of the request for this prompt.
pub(super) async fn body(server: &Raw, kind: &str, path: &str, messages: Vec<Message>) -> Value {
    let model = Connection::new(kind, &format!("{}{path}", server.address()))
        .models()
        .open("here/m")
        .expect("a model");
    let system = Some("Be brief.".into());
    drop(gather(&*model, Prompt { system, messages, ..Prompt::default() }).await);
    let request = server.requests().pop().expect("a request");
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// The messages of a body without the system message.
fn list<'a>(body: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = body[name].as_array().expect("messages").iter();
    all.filter(|message| message["role"] != "system").collect()
}

/// The values with this name in blocks of a content.
fn each<'a>(blocks: &'a Value, pointer: &str) -> Vec<&'a Value> {
    blocks.as_array().into_iter().flatten().filter_map(|block| block.pointer(pointer)).collect()
}

/// Whether a content is not blank: a text that is not blank, or blocks none of which is.
fn says(content: &Value) -> bool {
    match content {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(blocks) => {
            let blank = |text: &&Value| text.as_str().is_some_and(|text| text.trim().is_empty());
            !blocks.is_empty() && !each(content, "/text").iter().any(blank)
        }
        _ => false,
    }
}

/// A user begins and the model does not end; the model never has two messages in a row.
fn orderly(messages: &[&Value], model: &str) -> bool {
    let of_model = |message: &&&Value| message["role"] == model;
    messages.first().is_some_and(|first| first["role"] == "user")
        && messages.last().is_some_and(|last| !of_model(&last))
        && !messages.windows(2).any(|two| two.iter().filter(of_model).count() == 2)
}

fn anthropic(body: &Value) -> Result<(), TestCaseError> {
    let messages = list(body, "messages");
    prop_assert!(orderly(&messages, "assistant"));
    prop_assert!(messages.windows(2).all(|two| two[0]["role"] != two[1]["role"]), "roles alternate");
    let mut ids = BTreeSet::new();
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        let content = &message["content"];
        prop_assert!(says(content), "{message}");
        let results = each(content, "/tool_use_id");
        prop_assert_eq!(&results, &open);
        let kinds = each(content, "/type");
        prop_assert!(kinds.iter().take(open.len()).all(|kind| *kind == "tool_result"), "results come first");
        prop_assert!(kinds.last().is_none_or(|kind| *kind != "thinking"), "{message}");
        open = each(content, "/id");
        for id in &open {
            let id = id.as_str().unwrap_or_default();
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            prop_assert!(!id.is_empty() && id.chars().all(plain), "{id}");
            prop_assert!(ids.insert(id.to_owned()), "two calls are {id}");
        }
    }
    prop_assert!(open.is_empty());
    Ok(())
}

fn openai(body: &Value) -> Result<(), TestCaseError> {
    let messages = list(body, "messages");
    prop_assert!(orderly(&messages, "assistant"));
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            prop_assert!(!open.is_empty(), "no call for {message}");
            prop_assert_eq!(open.remove(0), &message["tool_call_id"]);
            continue;
        }
        prop_assert!(open.is_empty(), "{message} stands between a call and its result");
        open = each(&message["tool_calls"], "/id");
        let ids: BTreeSet<_> = open.iter().map(|id| id.as_str()).collect();
        prop_assert_eq!(ids.len(), open.len());
        prop_assert!(says(&message["content"]) || !open.is_empty(), "{message}");
    }
    prop_assert!(open.is_empty());
    Ok(())
}

/// Reasoning stands before an answer's text or call, and every call has one result after it.
fn responses(body: &Value) -> Result<(), TestCaseError> {
    let items = list(body, "input");
    prop_assert!(items.first().is_some_and(|first| first["role"] == "user"));
    prop_assert!(
        items.last().is_some_and(|last| last["role"] == "user" || last["type"] == "function_call_output")
    );
    let (mut open, mut thinks) = (BTreeSet::new(), false);
    for item in items {
        match item["type"].as_str() {
            Some("reasoning") => {
                prop_assert!(open.is_empty() && item["encrypted_content"] == "sig", "{item}");
                thinks = true;
                continue;
            }
            Some("function_call") => prop_assert!(open.insert(item["call_id"].to_string()), "{item}"),
            Some("function_call_output") => prop_assert!(open.remove(&item["call_id"].to_string()), "{item}"),
            _ => {
                prop_assert!(open.is_empty() && says(&item["content"]), "{item}");
                prop_assert!(!thinks || item["role"] == "assistant", "{item}");
            }
        }
        thinks = false;
    }
    prop_assert!(open.is_empty());
    Ok(())
}

fn gemini(body: &Value) -> Result<(), TestCaseError> {
    let messages = list(body, "contents");
    prop_assert!(orderly(&messages, "model"));
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        let parts = &message["parts"];
        prop_assert!(says(parts), "{message}");
        prop_assert_eq!(&each(parts, "/functionResponse/name"), &open);
        open = each(parts, "/functionCall/name");
        prop_assert!(open.is_empty() || message["role"] == "model");
    }
    prop_assert!(open.is_empty());
    Ok(())
}

fn ollama(body: &Value) -> Result<(), TestCaseError> {
    let messages = list(body, "messages");
    prop_assert!(orderly(&messages, "assistant"));
    let mut open = 0;
    for message in messages {
        if message["role"] == "tool" {
            prop_assert!(open > 0, "no call for {message}");
            open -= 1;
            continue;
        }
        prop_assert_eq!(open, 0, "{} stands between a call and its result", message);
        open = each(&message["tool_calls"], "/function").len();
        prop_assert!(says(&message["content"]) || message.get("images").is_some() || open > 0, "{message}");
    }
    prop_assert_eq!(open, 0);
    Ok(())
}

type Rule = fn(&Value) -> Result<(), TestCaseError>;

const FORMATS: [(&str, &str, Rule); 5] = [
    ("anthropic", "/v1", anthropic),
    ("openai-responses", "/v1", responses),
    ("openai", "/v1", openai),
    ("gemini", "/v1beta", gemini),
    ("ollama", "", ollama),
];

#[test]
fn trial_13_every_request_keeps_the_rules_of_its_format() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    // Each asks a server in every format: a quarter of the usual number of cases, or as many as PROPTEST_CASES says.
    let cases = ProptestConfig::with_cases(ProptestConfig::default().cases / 4);
    proptest!(cases, |(steps in vec(step(), 0..14))| {
        runtime.block_on(async {
            let talk = Talk::of(&steps).await;
            let prompt = talk.store.prompt(talk.id, None).await.expect("a prompt");
            let (told, kept) = talk.words().await;
            for (kind, path, rules) in FORMATS {
                let server = Raw::answering("400 Bad", "", "{}");
                let body = body(&server, kind, path, prompt.clone()).await;
                rules(&body).map_err(|error| TestCaseError::fail(format!("{kind}: {error}\n{body:#}")))?;
                let text = body.to_string();
                for word in &told {
                    prop_assert!(text.contains(word.as_str()), "{kind}: {word} is shown and not sent: {body:#}");
                }
                for word in &kept {
                    prop_assert!(!text.contains(word.as_str()), "{kind}: {word} is sent: {body:#}");
                }
            }
            Ok::<(), TestCaseError>(())
        })?;
    });
}

#[tokio::test]
async fn trial_13_a_result_that_is_shown_is_sent_with_its_call() {
    let steps = [
        Step::Says(0),
        Step::Answers { words: true, thinks: false, own: true, calls: vec![0], results: 0 },
        Step::Says(0),
        Step::Result(0),
    ];
    let talk = Talk::of(&steps).await;
    let prompt = talk.store.prompt(talk.id, None).await.expect("a prompt");
    let (result, server) = (format!("w{}w", talk.next - 1), Raw::answering("400 Bad", "", "{}"));
    let sent = body(&server, "openai", "/v1", prompt).await;
    assert_eq!(
        (&sent["messages"][3]["role"], &sent["messages"][3]["content"]),
        (&"tool".into(), &result.into())
    );
}
