//! A conversation in a chat, and a gateway of its account, for tests. Its clock moves only when a test says so.

use std::sync::Arc;

use retake_core::{
    Action, Apply, ChangeOrigin, ChatArrival, ChatBinding, ChatEntry, ChatOrigin, ChatPlace, EntryId, Flags,
    Part, Post, PostKey, PostKind, PostResult, PostTask, PostWork, Receipt, Role, SayRequest, SeenState,
    Time,
};

use crate::Store;
use crate::conformance::stage::{Stage, by, new_id};

/// The account of the tests.
pub(super) const ACCOUNT: &str = "chat-1";

/// A time, in milliseconds after the beginning of each test.
pub(super) fn after(ms: i64) -> Time {
    Time(1_700_000_000_000 + ms)
}

/// A chat without threads.
pub(super) fn place(chat: &str) -> ChatPlace {
    ChatPlace { account: ACCOUNT.to_owned(), chat: chat.to_owned(), thread: None }
}

/// A conversation that is bound to the chat `here`.
pub(super) struct Scene {
    pub(super) stage: Stage,
    ms: i64,
}

impl Scene {
    /// One person's chat.
    pub(super) async fn private(store: Arc<Store>) -> Self {
        Self::bound(store, false).await
    }

    /// A chat of several people.
    pub(super) async fn shared(store: Arc<Store>) -> Self {
        Self::bound(store, true).await
    }

    async fn bound(store: Arc<Store>, is_shared: bool) -> Self {
        let scene = Self { stage: Stage::new(store).await, ms: 0 };
        let binding = ChatBinding {
            place: place("here"),
            conversation: scene.stage.id,
            is_shared,
            person: None,
            last: None,
        };
        scene.stage.store.bind_chat(binding).await.expect("bound");
        scene
    }

    /// A private chat in which these turns are asked and answered, and every answer is sent.
    pub(super) async fn answered(store: Arc<Store>, turns: &[&str]) -> Self {
        let mut scene = Self::private(store).await;
        for turn in turns {
            scene.turn(turn).await;
            scene.send_all().await;
        }
        scene
    }

    /// A fork with all entries. No place is bound to it.
    pub(super) async fn fork(&self) -> Self {
        Self { stage: self.stage.fork(None).await, ms: self.ms }
    }

    /// The same clock, for another conversation.
    pub(super) fn of(&self, stage: Stage) -> Self {
        Self { stage, ms: self.ms }
    }

    pub(super) fn now(&self) -> Time {
        after(self.ms)
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, ms: i64) {
        self.ms += ms;
    }

    fn by(&self) -> ChangeOrigin {
        ChangeOrigin { time: self.now(), ..by() }
    }

    /// How a message with this text arrives in a chat.
    pub(super) fn arrival(&self, chat: &str, text: &str) -> ChatArrival {
        let origin = ChatOrigin {
            place: place(chat),
            message: text.to_owned(),
            person: format!("{text}'s"),
            joined: Vec::new(),
        };
        ChatArrival { origin, keys: vec![format!("event-{text}")], also: Vec::new(), content: [7; 16] }
    }

    pub(super) fn saying(&self, role: Role, text: &str, chat: Option<ChatArrival>) -> SayRequest {
        let by = ChangeOrigin { chat: chat.map(Arc::new), ..self.by() };
        SayRequest::new(EntryId::new(new_id()), role, vec![Part::text(text)], by)
    }

    /// A person writes.
    pub(super) async fn ask_as(&mut self, arrival: &ChatArrival, text: &str, flags: Flags) -> EntryId {
        let say = SayRequest { flags, ..self.saying(Role::User, text, Some(arrival.clone())) };
        self.stage.send(say).await.expect("asked").entries[0]
    }

    /// A person writes in a chat.
    pub(super) async fn ask(&mut self, chat: &str, text: &str) -> EntryId {
        self.ask_as(&self.arrival(chat, text), text, Flags::default()).await
    }

    /// The model answers.
    pub(super) async fn answer(&mut self, text: &str) -> EntryId {
        let say = self.saying(Role::Assistant, text, None);
        self.stage.send(say).await.expect("answered").entries[0]
    }

    /// A question in `here`, and its answer: `T` and `T!`.
    pub(super) async fn turn(&mut self, text: &str) {
        self.ask("here", text).await;
        self.answer(&format!("{text}!")).await;
    }

    /// Carries out an action.
    pub(super) async fn act(&self, action: Action) -> Receipt {
        let apply = Apply { action, seen: SeenState::Anything, by: self.by() };
        self.stage.store.apply(self.stage.id, apply).await.expect("done")
    }

    /// Rewinds to before the entry with this text.
    pub(super) async fn rewind(&self, text: &str) {
        self.act(Action::Rewind(self.stage.named(text))).await;
    }

    /// What a message or post of the chat `here` is.
    pub(super) async fn entry(&self, message: &str) -> Option<ChatEntry> {
        let of = self.stage.id;
        self.stage.store.chat_entry(of, place("here"), message.to_owned()).await.expect("read")
    }

    /// Compares the posts with the path, as the owner does before it gives work away.
    pub(super) async fn compare(&self) {
        for _ in 0..1000 {
            if !self.stage.store.compare_posts(self.now()).await.expect("compared") {
                return;
            }
        }
        panic!("the comparison does not end");
    }

    /// Leases all work that is due.
    pub(super) async fn take(&self) -> Vec<PostWork> {
        self.compare().await;
        self.stage.store.take_posts(ACCOUNT.to_owned(), self.now(), 100).await.expect("leased")
    }

    /// Leases all work, in words: the task, and the text of an answer or the kind of a notice with the sum of its counts.
    pub(super) async fn work(&self) -> Vec<String> {
        let words = |work: &PostWork| match &work.post.kind {
            PostKind::Answer(_) | PostKind::Preview(_) => {
                let text = work.text.as_ref().map_or("-", |(text, _)| text.as_str());
                format!("{:?} {text} {}", work.task, work.post.part.0)
            }
            PostKind::Notice(notice) => {
                format!("{:?} {:?} {} of {}", work.task, notice.kind, notice.count, work.counts.sum())
            }
        };
        self.take().await.iter().map(words).collect()
    }

    /// Reports what became of a post. Returns whether it is wanted.
    pub(super) async fn settle(&self, key: PostKey, result: PostResult) -> bool {
        self.compare().await;
        let settled = self.stage.store.settle_post(ACCOUNT.to_owned(), key, result, self.now()).await;
        settled.expect("settled").expect("there is such a post")
    }

    /// The request of a post leaves.
    pub(super) async fn begin(&self, key: PostKey, parts: u32) -> bool {
        self.settle(key, PostResult::Sending { parts, digest: format!("digest of {key}"), is_preview: false })
            .await
    }

    /// A post is in the chat; its id is its name.
    pub(super) async fn arrive(&self, key: PostKey) {
        self.arrive_until(key, None, true).await;
    }

    /// A post is in the chat, and can be deleted until a time, or not at all.
    pub(super) async fn arrive_until(&self, key: PostKey, deadline: Option<Time>, deletable: bool) {
        let sent = PostResult::Sent { ids: vec![key.to_string()], at: self.now(), deadline, deletable };
        self.settle(key, sent).await;
    }

    /// Sends all posts that are due, each with one part. Returns their names.
    pub(super) async fn send_all(&self) -> Vec<PostKey> {
        let mut sent = Vec::new();
        for work in self.take().await {
            assert_eq!(work.task, PostTask::Send, "{work:?}");
            assert!(self.begin(work.key, 1).await);
            self.arrive(work.key).await;
            sent.push(work.key);
        }
        sent
    }

    /// All posts, the oldest first.
    pub(super) async fn posts(&self) -> Vec<(PostKey, Post)> {
        let posts = self.stage.store.posts(self.stage.id).await.expect("read");
        posts.into_iter().rev().map(|(key, post, _)| (key, post)).collect()
    }

    /// The states of the posts of answers, the oldest first.
    pub(super) async fn states(&self) -> Vec<String> {
        self.compare().await;
        let posts = self.posts().await.into_iter();
        let answers = posts.filter(|(_, post)| matches!(post.kind, PostKind::Answer(_)));
        answers.map(|(_, post)| format!("{:?}", post.state)).collect()
    }
}
