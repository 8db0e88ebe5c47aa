//! The scenario language: messages are identified by their text, and projections are short texts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, Head, Include, NewConversation, NewFork,
    PageRequest, Part, Projection, Reading, Reason, Receipt, Role, SayRequest, SearchRequest, SeenState,
    Time, Visibility, joined_text,
};

use crate::{Result, Store};

/// Ids and times count up, so that no test depends on a clock or on randomness.
static NEXT: AtomicU64 = AtomicU64::new(1);

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A new id.
pub(super) fn new_id() -> uuid::Uuid {
    uuid::Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(next()))
}

/// The author in tests.
pub(super) fn by() -> ChangeOrigin {
    ChangeOrigin {
        author: "ann".into(),
        time: Time(1_700_000_000_000 + i64::try_from(next()).unwrap_or(0)),
        ..ChangeOrigin::default()
    }
}

/// The author with a request.
pub(super) fn by_request(request: &str) -> ChangeOrigin {
    ChangeOrigin { request: Some(request.parse().expect("a request id")), ..by() }
}

/// A conversation in a test.
pub struct Stage {
    /// The store.
    pub store: Arc<Store>,
    /// The conversation.
    pub id: ConversationId,
    said: HashMap<String, EntryId>,
}

impl Stage {
    /// A new conversation.
    pub async fn new(store: Arc<Store>) -> Self {
        let id = ConversationId::new(new_id());
        let new = NewConversation { id, folder: Some("/work".into()), title: None, by: by() };
        store.create(new).await.expect("created");
        Self { store, id, said: HashMap::new() }
    }

    /// A conversation with these turns.
    pub async fn with_turns(store: Arc<Store>, turns: &[&str]) -> Self {
        let mut stage = Self::new(store).await;
        for turn in turns {
            stage.turn(turn).await;
        }
        stage
    }

    /// A fork after the named entry (without one, after the tip).
    pub async fn fork(&self, entry: Option<&str>) -> Self {
        let id = ConversationId::new(new_id());
        let entry = entry.map(|name| self.named(name));
        let fork = NewFork { parent: self.id, id, entry, title: None, by: by() };
        self.store.fork(fork).await.expect("forked");
        Self { store: Arc::clone(&self.store), id, said: self.said.clone() }
    }

    /// Another conversation of this store that contains the same entries.
    pub(super) fn elsewhere(&self, id: ConversationId) -> Self {
        Self { store: Arc::clone(&self.store), id, said: self.said.clone() }
    }

    /// The entry with exactly this text.
    pub fn named(&self, name: &str) -> EntryId {
        *self.said.get(name).unwrap_or_else(|| panic!("nobody said {name:?}"))
    }

    /// A message that is not sent yet.
    pub fn saying(&self, role: Role, parts: Vec<Part>) -> SayRequest {
        SayRequest::new(EntryId::new(new_id()), role, parts, by())
    }

    /// Sends a message and remembers its entry by its text.
    pub async fn send(&mut self, say: SayRequest) -> Result<Receipt> {
        let text = joined_text(&say.parts);
        let receipt = self.store.say(self.id, say).await?;
        self.said.insert(text, receipt.entries[0]);
        Ok(receipt)
    }

    /// Appends a text.
    pub async fn say(&mut self, role: Role, text: &str) -> EntryId {
        let say = self.saying(role, vec![Part::text(text)]);
        self.send(say).await.expect("said").entries[0]
    }

    /// A person's turn with its answer: `T` and `T!`.
    pub async fn turn(&mut self, text: &str) -> EntryId {
        let opener = self.say(Role::User, text).await;
        self.say(Role::Assistant, &format!("{text}!")).await;
        opener
    }

    /// Applies an action.
    pub async fn act(&self, action: Action) -> Result<Receipt> {
        self.store.apply(self.id, Apply { action, seen: SeenState::Anything, by: by() }).await
    }

    /// Rewinds to before the entry with this text.
    pub async fn rewind(&self, name: &str) -> Receipt {
        self.act(Action::Rewind(self.named(name))).await.expect("rewound")
    }

    /// Undoes the last step.
    pub async fn undo(&self) -> Receipt {
        self.act(Action::Undo(1)).await.expect("undone")
    }

    /// Redoes it.
    pub async fn redo(&self) -> Receipt {
        self.act(Action::Redo(1)).await.expect("redone")
    }

    /// Marks the entries with these texts.
    pub async fn mark(&self, verb: Reason, names: &[&str]) -> Result<Receipt> {
        let entries = names.iter().map(|name| self.named(name)).collect();
        self.act(Action::Mark { verb, entries, range: false, seen: None }).await
    }

    /// Folds a range.
    pub async fn fold(&self, from: &str, to: &str, summary: &str) -> Receipt {
        let (from, to, summary) = (self.named(from), self.named(to), summary.into());
        let fold = Action::Fold { verb: Reason::Fold, from, to, summary, covers: None };
        self.act(fold).await.expect("folded")
    }

    /// The current head.
    pub async fn head(&self) -> Head {
        self.store.summary(self.id).await.expect("a summary").head
    }

    /// The texts of a projection, joined by a space.
    pub async fn read(&self, projection: Projection) -> String {
        self.read_at(projection, None).await
    }

    /// The texts of a projection at a head.
    pub async fn read_at(&self, projection: Projection, at: Option<Head>) -> String {
        let page = PageRequest { limit: 10_000, ..PageRequest::default() };
        let page =
            self.store.page(self.id, Reading { at, ..Reading::now(projection) }, page).await.expect("a page");
        let texts = page.entries.iter().map(|shown| joined_text(&shown.entry.as_ref().expect("sound").parts));
        texts.collect::<Vec<_>>().join(" ")
    }

    /// The timeline without answers (`T!`), for brevity.
    pub async fn shows(&self) -> String {
        let all = self.read(Projection::Timeline).await;
        all.split(' ').filter(|word| !word.ends_with('!')).collect::<Vec<_>>().join(" ")
    }

    /// The prompt as `role:text` words.
    pub async fn prompt(&self) -> String {
        let messages = self.store.prompt(self.id, None).await.expect("a prompt");
        let texts = messages.iter().map(|message| {
            let words: Vec<String> = message.parts.iter().map(short).collect();
            words.join(" ")
        });
        texts.collect::<Vec<_>>().join(" | ")
    }

    /// The targets' texts, newest first.
    pub async fn targets(&self) -> String {
        let targets = self.store.targets(self.id, None, 100).await.expect("targets");
        targets.into_iter().map(|line| line.preview).collect::<Vec<_>>().join(" ")
    }

    /// The hits of a search in this conversation, as `text` or `text(rewound)`, oldest first.
    pub async fn search(&self, query: &str, include: Include) -> String {
        let request = SearchRequest {
            query: query.into(),
            conversation: Some(self.id),
            sort: retake_core::Sort::Oldest,
            limit: 100,
            include,
            ..SearchRequest::default()
        };
        let hits = self.store.search(request).await.expect("hits").hits;
        let words = hits.iter().map(|hit| match hit.visibility {
            Visibility::Rewound => format!("{}(rewound)", hit.line.preview),
            Visibility::OnPath(mark) if !mark.is_visible() => {
                format!("{}({})", hit.line.preview, mark.name())
            }
            Visibility::OnPath(_) => hit.line.preview.clone(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// A refusal's code.
    pub async fn refused(&self, action: Action) -> String {
        let before = self.head().await;
        let error = self.act(action).await.expect_err("refused");
        assert_eq!(self.head().await, before, "a refusal changes nothing");
        code(&error)
    }
}

/// A part of a prompt, shortened.
fn short(part: &Part) -> String {
    match part {
        Part::Text(text) => text.replace("[Summary of earlier messages]\n", "Σ"),
        Part::ToolCall { id, .. } => format!("call:{id}"),
        Part::ToolResult { call, .. } => format!("result:{call}"),
        other => format!("{other:?}"),
    }
}

/// A refusal's code, or the error's text.
pub(super) fn code(error: &crate::StoreError) -> String {
    match error {
        crate::StoreError::Refused(refusal) => refusal.code().to_owned(),
        other => other.to_string(),
    }
}
