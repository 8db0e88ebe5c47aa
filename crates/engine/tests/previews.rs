//! Answers that a chat shows while they are written, with a model and a clock that move only when a test says so. The test is the gateway
//! and its platform.

mod failing;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::channel::mpsc::UnboundedSender;
use retake_core::{
    ChatPerson, ChatPlace, ChatRole, Deletion, Part, PostFailure, PostKind, PostResult, PostState, PostTask,
    PostWork, Time,
};
use retake_engine::{Arrived, ChatEvent, ChatMessage, ChatPreviews, ChatVerb, Engine, GatewayEvent};
use retake_testkit::{ModelOutput, Table, done, failure, start, text};

const CAN: ChatPreviews = ChatPreviews { private: true, shared: true, begin_empty: false };

/// A chat of one person.
struct Chat {
    table: Table,
    can: ChatPreviews,
    next: AtomicU64,
    /// Work that was taken.
    taken: Mutex<VecDeque<PostWork>>,
}

fn place() -> ChatPlace {
    ChatPlace { account: "chat".into(), chat: "1".into(), thread: None }
}

fn edited(is_preview: bool) -> PostResult {
    PostResult::Edited { ids: Vec::new(), is_preview }
}

impl Chat {
    async fn new() -> Self {
        let table = Table::new().await;
        let ann = ChatPerson {
            account: "chat".into(),
            person: "ann".into(),
            name: "Ann".into(),
            role: ChatRole::Owner,
        };
        table.store.set_chat_person(ann).await.expect("stored");
        table.engine.chat_connect("chat".into(), "one".into(), None).await.expect("connected");
        let chat = Self { table, can: CAN, next: AtomicU64::new(1), taken: Mutex::default() };
        // The gateway says what it can do.
        assert!(chat.takes().await.is_empty());
        chat
    }

    fn engine(&self) -> &Arc<Engine> {
        &self.table.engine
    }

    async fn arrives(&self, said: &str, command: Option<ChatVerb>) -> Arrived {
        let message = format!("m{}", self.next.fetch_add(1, Ordering::Relaxed));
        let event = ChatEvent::Message(ChatMessage {
            place: place(),
            is_shared: false,
            message: message.clone(),
            person: "ann".into(),
            name: "Ann".into(),
            is_bot: false,
            sent: Time(0),
            parts: vec![Part::text(said)],
            is_addressed: true,
            reply_to: None,
            joined: Vec::new(),
        });
        let event = GatewayEvent {
            account: "chat".into(),
            keys: vec![format!("event-{message}")],
            event,
            command: command.map(|verb| (verb, Some(1))),
            moderates: false,
            is_late: false,
        };
        self.engine().chat_arrive("one".into(), event).await.expect("arrived")
    }

    /// A person asks; returns the model.
    async fn asks(&self) -> UnboundedSender<ModelOutput> {
        self.arrives("hi", None).await;
        self.table.puppet.until_called().await;
        self.table.puppet.call().1
    }

    /// The work that there is now.
    async fn takes(&self) -> Vec<PostWork> {
        let (account, holder) = ("chat".into(), "one".into());
        self.engine().chat_take(account, holder, (Duration::ZERO, 20), self.can).await.expect("taken")
    }

    /// The next piece of work.
    async fn work(&self) -> PostWork {
        let work = async {
            loop {
                let more = self.takes().await;
                let next = {
                    let mut taken = self.taken.lock().expect("not poisoned");
                    taken.extend(more);
                    taken.pop_front()
                };
                if let Some(work) = next {
                    return work;
                }
                tokio::task::yield_now().await;
            }
        };
        match tokio::time::timeout(Duration::from_secs(10), work).await {
            Ok(work) => work,
            Err(_) => panic!("there is no work: {:?}", self.states().await),
        }
    }

    async fn settles(&self, work: &PostWork, result: PostResult) -> bool {
        self.engine().chat_settle("chat".into(), "one".into(), work.key, result).await.expect("settled")
    }

    async fn begins(&self, work: &PostWork, parts: u32) -> bool {
        let is_preview = matches!(work.post.kind, PostKind::Preview(_));
        self.settles(work, PostResult::Sending { parts, digest: "d".into(), is_preview }).await
    }

    /// The platform has it.
    async fn sends(&self, work: &PostWork, parts: u32) {
        assert!(matches!(work.task, PostTask::Send | PostTask::Resend), "{work:?}");
        assert!(self.begins(work, parts).await);
        let ids = vec![format!("p{}", self.next.fetch_add(1, Ordering::Relaxed))];
        let sent = PostResult::Sent { ids, at: Time(0), deadline: None, deletable: true };
        self.settles(work, sent).await;
    }

    /// The platform has replaced its text.
    async fn edits(&self, work: &PostWork, parts: u32) {
        assert_eq!(work.task, PostTask::Edit, "{work:?}");
        assert!(self.begins(work, parts).await);
        self.settles(work, edited(matches!(work.post.kind, PostKind::Preview(_)))).await;
    }

    /// A preview of 100 characters that is in the chat; returns the model.
    async fn shown(&self) -> UnboundedSender<ModelOutput> {
        let model = self.asks().await;
        model.unbounded_send(text(&"a".repeat(100))).expect("heard");
        let work = self.shows_after(1500).await;
        assert_eq!((words(&work).len(), kind(&work)), (100, "preview"));
        self.sends(&work, 1).await;
        model
    }

    /// The work after this time, once what the model wrote was heard.
    async fn shows_after(&self, ms: u64) -> PostWork {
        self.is_heard().await;
        let early = self.takes().await;
        assert!(early.is_empty(), "too early: {early:?}");
        self.table.clock.advance(Duration::from_millis(ms));
        self.work().await
    }

    /// Lets every task do what it can.
    async fn is_heard(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    async fn states(&self) -> Vec<(&'static str, PostState)> {
        let binding = self.table.store.chat_binding(place()).await.expect("read").expect("bound");
        let posts = self.engine().chat_posts(binding.conversation).await.expect("read");
        let mut all: Vec<_> =
            posts.into_iter().map(|(_, post, _)| (kind_of(&post.kind), post.state)).collect();
        all.reverse();
        all
    }
}

fn kind_of(kind: &PostKind) -> &'static str {
    match kind {
        PostKind::Answer(_) => "answer",
        PostKind::Preview(_) => "preview",
        PostKind::Notice(_) => "notice",
    }
}

fn kind(work: &PostWork) -> &'static str {
    kind_of(&work.post.kind)
}

fn words(work: &PostWork) -> &str {
    work.text.as_ref().map_or("", |(text, _)| text)
}

const GONE: PostState = PostState::Gone(Deletion::Gone);

#[tokio::test]
async fn gateways_case_35_answer_takes_the_place_of_its_preview_and_the_rest_follows() {
    let chat = Chat::new().await;
    let model = chat.shown().await;
    model.unbounded_send(text(&"b".repeat(200))).expect("heard");
    let work = chat.shows_after(2000).await;
    assert_eq!((work.task, words(&work).len(), kind(&work)), (PostTask::Edit, 300, "preview"));
    chat.edits(&work, 1).await;
    model.unbounded_send(text("c")).expect("heard");
    model.unbounded_send(done()).expect("heard");
    let last = chat.work().await;
    assert_eq!((last.task, words(&last).len(), kind(&last)), (PostTask::Edit, 301, "answer"));
    assert_eq!((last.key, &last.post.ids), (work.key, &work.post.ids), "the same post");
    chat.edits(&last, 3).await;
    for part in 1..3 {
        let work = chat.work().await;
        assert_eq!((work.post.part, kind(&work)), ((part, 3), "answer"));
        chat.sends(&work, 3).await;
    }
    assert_eq!(chat.states().await, [("answer", PostState::Sent); 3]);
    assert!(chat.takes().await.is_empty());
}

#[tokio::test]
async fn gateways_case_36_answer_that_cannot_replace_its_preview_is_sent_and_the_preview_deleted() {
    for result in [PostResult::Failed(PostFailure::Refused), PostResult::Deleted(Deletion::Gone)] {
        let chat = Chat::new().await;
        let model = chat.shown().await;
        model.unbounded_send(done()).expect("heard");
        let edit = chat.work().await;
        assert!(chat.begins(&edit, 2).await);
        chat.settles(&edit, result.clone()).await;
        for part in 0..2 {
            let work = chat.work().await;
            assert_eq!((work.task, work.post.part, words(&work).len()), (PostTask::Send, (part, 2), 100));
            chat.sends(&work, 2).await;
        }
        if result == PostResult::Failed(PostFailure::Refused) {
            let work = chat.work().await;
            assert_eq!((work.task, &work.post.ids), (PostTask::Delete, &edit.post.ids));
            chat.settles(&work, PostResult::Deleted(Deletion::Gone)).await;
        }
        let mut states = chat.states().await;
        states.sort_by_key(|(kind, _)| *kind);
        let answer = ("answer", PostState::Sent);
        assert_eq!(states, [answer, answer, ("preview", GONE)], "{result:?}");
        assert!(chat.takes().await.is_empty());
    }
}

#[tokio::test]
async fn gateways_case_37_stopped_answer_stays_as_far_as_it_was_written() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    chat.arrives("/stop", Some(ChatVerb::Stop)).await;
    let notice = chat.work().await;
    assert_eq!(kind(&notice), "notice", "nothing was written, so nothing is shown: {notice:?}");
    chat.sends(&notice, 1).await;
    drop(model);
    let model = chat.shown().await;
    model.unbounded_send(text("b")).expect("heard");
    chat.is_heard().await;
    chat.arrives("/stop", Some(ChatVerb::Stop)).await;
    let mut work = chat.work().await;
    if kind(&work) == "notice" {
        chat.sends(&work, 1).await;
        work = chat.work().await;
    }
    assert_eq!((work.task, kind(&work)), (PostTask::Edit, "answer"));
    assert_eq!(work.text, Some((format!("{}b", "a".repeat(100)), true)), "interrupted");
}

#[tokio::test]
async fn gateways_case_47_rewind_of_an_answer_that_is_shown_deletes_it() {
    let chat = Chat::new().await;
    let model = chat.shown().await;
    chat.arrives("/rewind 1", Some(ChatVerb::Rewind)).await;
    drop(model);
    let mut deleted = 0;
    loop {
        let work = chat.work().await;
        match work.task {
            PostTask::Delete => {
                chat.settles(&work, PostResult::Deleted(Deletion::Gone)).await;
                deleted += 1;
            }
            _ => {
                assert_eq!(kind(&work), "notice", "{work:?}");
                match work.task {
                    PostTask::Send => chat.sends(&work, 1).await,
                    _ => drop(chat.settles(&work, edited(false)).await),
                }
                if deleted == 1 {
                    break;
                }
            }
        }
    }
    let states = chat.states().await;
    assert_eq!(states.first().map(|(_, state)| *state), Some(GONE), "{states:?}");
    assert!(states.iter().skip(1).all(|(kind, _)| *kind == "notice"), "{states:?}");
}

#[tokio::test]
async fn gateways_case_28_preview_waits_for_a_hold_and_the_answer_arrives_whole() {
    let chat = Chat::new().await;
    let model = chat.shown().await;
    model.unbounded_send(text(&"b".repeat(200))).expect("heard");
    let work = chat.shows_after(2000).await;
    let now = chat.engine().now();
    assert!(chat.begins(&work, 1).await);
    chat.settles(&work, PostResult::Later(Time(now.0 + 40_000))).await;
    model.unbounded_send(text(&"c".repeat(500))).expect("heard");
    chat.table.clock.advance(Duration::from_secs(39));
    chat.is_heard().await;
    assert!(chat.takes().await.is_empty(), "the hold is in force");
    chat.table.clock.advance(Duration::from_secs(1));
    let work = chat.work().await;
    assert_eq!((kind(&work), words(&work).len()), ("preview", 800), "the newest text");
    chat.edits(&work, 1).await;
    model.unbounded_send(done()).expect("heard");
    let last = chat.work().await;
    assert_eq!((kind(&last), words(&last).len()), ("answer", 800));
}

#[tokio::test]
async fn edit_that_began_before_the_answer_was_stored_does_not_hide_the_answer() {
    let chat = Chat::new().await;
    let model = chat.shown().await;
    model.unbounded_send(text(&"b".repeat(200))).expect("heard");
    let early = chat.shows_after(2000).await;
    assert!(chat.begins(&early, 1).await);
    model.unbounded_send(text("c")).expect("heard");
    model.unbounded_send(done()).expect("heard");
    let last = chat.work().await;
    assert_eq!(kind(&last), "answer");
    chat.settles(&early, edited(true)).await;
    chat.edits(&last, 1).await;
    // The same, and the later edit is leased only after the early one is over.
    let model = chat.shown().await;
    model.unbounded_send(text(&"b".repeat(200))).expect("heard");
    let early = chat.shows_after(2000).await;
    model.unbounded_send(done()).expect("heard");
    while !chat.states().await.ends_with(&[("answer", PostState::Sent)]) {
        tokio::task::yield_now().await;
    }
    assert!(!chat.begins(&early, 3).await, "it would show less than the answer");
    chat.settles(&early, edited(true)).await;
    let last = chat.work().await;
    assert_eq!(kind(&last), "answer");
    chat.edits(&last, 2).await;
    let second = chat.work().await;
    assert_eq!(second.post.part, (1, 2), "the parts are those of the answer");
    chat.sends(&second, 2).await;
    assert!(chat.takes().await.is_empty());
}

#[tokio::test]
async fn preview_whose_sending_was_lost_is_found_and_becomes_the_answer() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    model.unbounded_send(text(&"a".repeat(100))).expect("heard");
    let work = chat.shows_after(1500).await;
    assert!(chat.begins(&work, 1).await);
    chat.settles(&work, PostResult::Lost).await;
    model.unbounded_send(text(&"b".repeat(500))).expect("heard");
    chat.table.clock.advance(Duration::from_secs(30));
    chat.is_heard().await;
    assert!(chat.takes().await.is_empty(), "nobody looks for it while the answer is written");
    model.unbounded_send(done()).expect("heard");
    let again = chat.work().await;
    assert_eq!((again.task, kind(&again), again.key), (PostTask::Resend, "answer", work.key));
    // Found: what it shows is what the preview showed.
    let sent = PostResult::Sent { ids: vec!["9".into()], at: Time(0), deadline: None, deletable: true };
    chat.settles(&again, sent).await;
    let last = chat.work().await;
    assert_eq!((last.task, words(&last).len()), (PostTask::Edit, 600));
    chat.edits(&last, 1).await;
    assert_eq!(chat.states().await, [("answer", PostState::Sent)]);
}

#[tokio::test]
async fn gateways_case_26_first_post_is_empty_where_a_platform_may_get_it_twice() {
    let mut chat = Chat::new().await;
    chat.can = ChatPreviews { begin_empty: true, ..CAN };
    assert!(chat.takes().await.is_empty());
    let model = chat.asks().await;
    model.unbounded_send(text("a")).expect("heard");
    let work = chat.shows_after(1500).await;
    assert_eq!((words(&work), kind(&work)), ("", "preview"));
    chat.sends(&work, 1).await;
    let work = chat.shows_after(2000).await;
    assert_eq!((work.task, words(&work)), (PostTask::Edit, "a"));
    drop(model);
}

#[tokio::test]
async fn preview_of_an_owner_that_was_killed_is_deleted_or_becomes_what_was_saved() {
    for is_saved in [false, true] {
        let mut chat = Chat::new().await;
        let model = chat.shown().await;
        if is_saved {
            // The answer so far is saved each second.
            chat.table.clock.advance(Duration::from_secs(1));
            while chat.table.store.streams().await.expect("read").is_empty() {
                tokio::task::yield_now().await;
            }
        } else {
            chat.table.store.save_stream(chat.run_of().await, None).await.expect("forgotten");
        }
        // The engine of before never comes to its end.
        let next = start(&chat.table.store, &chat.table.clock, &chat.table.puppet, 2).await;
        chat.table.engine = next;
        chat.table.clock.advance(Duration::from_mins(2));
        let work = chat.work().await;
        match is_saved {
            false => assert_eq!((work.task, kind(&work)), (PostTask::Delete, "preview")),
            true => {
                assert_eq!((work.task, kind(&work)), (PostTask::Edit, "answer"));
                assert_eq!(work.text, Some(("a".repeat(100), true)), "interrupted");
            }
        }
        drop(model);
    }
}

impl Chat {
    async fn run_of(&self) -> retake_core::ConversationId {
        let binding = self.table.store.chat_binding(place()).await.expect("read");
        binding.expect("bound").conversation
    }
}

#[tokio::test]
async fn preview_waits_for_the_posts_before_it() {
    let chat = Chat::new().await;
    let model = chat.asks().await;
    model.unbounded_send(text("one")).expect("heard");
    model.unbounded_send(done()).expect("heard");
    let first = chat.work().await;
    let model = chat.asks().await;
    model.unbounded_send(text("two")).expect("heard");
    chat.is_heard().await;
    chat.table.clock.advance(Duration::from_millis(1500));
    chat.is_heard().await;
    assert!(chat.takes().await.is_empty(), "the first answer is not there yet");
    chat.sends(&first, 1).await;
    chat.table.clock.advance(Duration::from_secs(1));
    let work = chat.work().await;
    assert_eq!((kind(&work), words(&work)), ("preview", "two"));
}

#[tokio::test]
async fn nothing_is_shown_where_the_platform_cannot_or_the_answer_fails() {
    let mut chat = Chat::new().await;
    chat.can = ChatPreviews::default();
    assert!(chat.takes().await.is_empty());
    let model = chat.asks().await;
    model.unbounded_send(text("one")).expect("heard");
    chat.is_heard().await;
    chat.table.clock.advance(Duration::from_secs(10));
    chat.is_heard().await;
    assert!(chat.takes().await.is_empty());
    model.unbounded_send(done()).expect("heard");
    assert_eq!(kind(&chat.work().await), "answer");
    let chat = Chat::new().await;
    let model = chat.shown().await;
    model.unbounded_send(failure()).expect("heard");
    // What was written is stored, and says that it was interrupted.
    let mut work = chat.work().await;
    if kind(&work) == "notice" {
        chat.sends(&work, 1).await;
        work = chat.work().await;
    }
    assert_eq!((kind(&work), work.text), ("answer", Some(("a".repeat(100), true))));
}
