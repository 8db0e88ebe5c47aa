//! A subscriber has the current state of its conversation, even after any number of reconnects.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_wire::reply::{Conversation, Draft, Entry};
use retake_wire::request::{
    ConversationTarget, Decide, DraftOf, ImportLines, ImportStart, Say, SetDraft, SetPermissions,
};
use retake_wire::{
    Client, Decision, Event, Follow, MarkVerb, Mode, NumberedEvent, Outcome, Part, PendingApproval, Permit,
    ProblemKind, Request, Role, Run, RunEvent, RunNow, RunStart,
};

use super::world::{Desk, apply, called, get, label, log, mark, rewind, said, text};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A subscriber of a conversation, and its copy.
pub(super) struct Copy {
    client: Arc<dyn Client>,
    follow: Follow,
    stream: BoxStream<'static, NumberedEvent>,
    pub(super) entries: Vec<Entry>,
    conversation: Option<Conversation>,
    pub(super) running: bool,
    mode: Mode,
    now: RunNow,
    pub(super) drafts: Vec<Draft>,
    /// The output of runs since the subscription.
    pub(super) said: Vec<RunEvent>,
    /// All events.
    pub(super) heard: Vec<String>,
}

impl Copy {
    async fn new(desk: &Desk, of: &str) -> Self {
        Self::by(Arc::clone(&desk.client), of).await
    }

    pub(super) async fn by(client: Arc<dyn Client>, of: &str) -> Self {
        let follow = Follow { conversation: Some(of.to_owned()), since: None };
        let stream = client.follow(follow.clone()).await.expect("followed");
        Self {
            client,
            follow,
            stream,
            entries: Vec::new(),
            conversation: None,
            running: false,
            mode: Mode::Ask,
            now: RunNow::default(),
            drafts: Vec::new(),
            said: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// Disconnects, and subscribes again.
    async fn again(&mut self) {
        self.stream = self.client.follow(self.follow.clone()).await.expect("followed");
    }

    pub(super) async fn hears(&mut self) {
        let told = tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("it is told something");
        self.takes(told.expect("the stream goes on"));
    }

    fn takes(&mut self, NumberedEvent { id, event }: NumberedEvent) {
        assert!(!format!("{event:?}").contains("composer: Some"), "{event:?}");
        self.heard.push(format!("{event:?}"));
        match event {
            Event::Snapshot(all) => {
                (self.entries, self.drafts) = (all.entries, all.drafts);
                (self.running, self.mode) = (all.running, all.permissions.mode);
                self.conversation = Some(all.conversation);
            }
            Event::Changed(changed) => {
                let changes = changed.changes;
                assert_eq!(id, Some(changes.revision.to_string()));
                let known = |entries: &[Entry], id: &str| entries.iter().position(|entry| entry.id == id);
                for gone in &changes.gone {
                    let at = known(&self.entries, gone).unwrap_or_else(|| panic!("{gone} is gone twice"));
                    self.entries.remove(at);
                }
                for entry in changes.changed {
                    let at = known(&self.entries, &entry.id).expect("what looks different was there");
                    self.entries[at] = entry;
                }
                for entry in changes.came {
                    assert_eq!(known(&self.entries, &entry.id), None, "{} came twice", entry.id);
                    self.entries.push(entry);
                }
                self.entries.sort_by_key(|entry| entry.place.position());
                (self.running, self.mode) = (changes.running, changes.permissions.mode);
                self.conversation = Some(changed.conversation);
            }
            Event::Now(now) => self.now = *now,
            Event::Run { said } => self.said.push(said),
            Event::Drafts { drafts } => self.drafts = drafts,
            Event::List(_) | Event::Listed(_) => panic!("this is no list"),
        }
        self.follow.since = id.or(self.follow.since.take());
    }

    fn revision(&self) -> u64 {
        self.conversation.as_ref().map_or(0, |conversation| conversation.revision)
    }

    /// Receives events until the copy is current.
    pub(super) async fn catches_up(&mut self, desk: &Desk, of: &str) {
        let (revision, entries) = desk.timeline(of).await;
        while self.revision() < revision {
            self.hears().await;
        }
        if self.revision() == revision {
            assert!(self.entries == entries, "{:?}\n{:?}", shown(&self.entries), shown(&entries));
        }
    }

    /// Receives events until a run's event matches.
    async fn until<T>(&mut self, mut like: impl FnMut(&RunEvent) -> Option<T>) -> T {
        let mut at = 0;
        loop {
            if let Some(found) = self.said[at..].iter().find_map(&mut like) {
                return found;
            }
            at = self.said.len();
            self.hears().await;
        }
    }
}

fn shown(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|it| format!("{} {} {:?}", it.place.seq, it.mark.name(), it.label)).collect()
}

pub(super) fn saying(of: &str, text: &str) -> Run {
    Run {
        conversation: of.to_owned(),
        folder: None,
        start: RunStart::Say { parts: vec![Part::text(text)], seen: None, steer: None, piped: false },
        model: None,
        permit: Permit::default(),
        files: Default::default(),
        head: None,
        request_id: None,
    }
}

fn asks(event: &RunEvent) -> Option<PendingApproval> {
    match event {
        RunEvent::Asks(asks) => Some((**asks).clone()),
        _ => None,
    }
}

fn outcome(event: &RunEvent) -> Option<Outcome> {
    match event {
        RunEvent::Ended(ended) => Some(ended.outcome),
        _ => None,
    }
}

/// The other clients see a client's rewind; the returned text is only for its own composer.
#[tokio::test]
async fn subscriber_sees_a_rewind_without_the_content_for_the_composer() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.catches_up(&desk, &id).await;
    let receipt = desk.apply(&id, rewind(&entries[2])).await;
    assert_eq!(receipt.composer.map(|composer| composer.text), Some("three".to_owned()));
    copy.catches_up(&desk, &id).await;
    assert_eq!(copy.entries.iter().map(text).collect::<Vec<_>>(), ["one", "two"]);
    assert!(copy.conversation.as_ref().is_some_and(|conversation| conversation.steps.undo.is_some()));
    desk.apply(&id, retake_wire::Action::Undo { count: 1 }).await;
    copy.catches_up(&desk, &id).await;
    assert_eq!(copy.entries.len(), 4);
}

/// Random changes by several clients, while subscribers disconnect and return: each equals a fresh read.
#[tokio::test]
async fn reconnected_subscriber_equals_a_fresh_read() {
    let mut random = Rng::with_seed(7);
    let desk = Desk::new().await;
    let (id, mut entries) = desk.talk(&["one", "two"]).await;
    let mut copies = Vec::new();
    for _ in 0..4 {
        copies.push(Copy::new(&desk, &id).await);
    }
    for step in 0..300 {
        let some = random.choice(&entries).expect("there are").clone();
        match random.u8(..12) {
            0 => drop(desk.client.call(apply(&id, rewind(&some))).await),
            1 => drop(desk.client.call(apply(&id, retake_wire::Action::Undo { count: 1 })).await),
            2 => drop(desk.client.call(apply(&id, retake_wire::Action::Redo { count: 1 })).await),
            3 => drop(desk.client.call(apply(&id, mark(MarkVerb::Hide, &some))).await),
            4 => drop(desk.client.call(apply(&id, mark(MarkVerb::Exclude, &some))).await),
            5 => drop(desk.client.call(apply(&id, label(&some, &format!("l{step}")))).await),
            _ => entries.push(desk.say(&id, Role::User, &format!("said {step}")).await),
        }
        let copy = &mut copies[random.usize(..4)];
        match random.u8(..4) {
            0 => copy.again().await,
            1 => copy.catches_up(&desk, &id).await,
            _ => {}
        }
    }
    for copy in &mut copies {
        copy.catches_up(&desk, &id).await;
        let fresh = desk.timeline(&id).await.1;
        assert!(copy.entries == fresh, "{:?}\n{:?}", shown(&copy.entries), shown(&fresh));
    }
}

/// A subscriber that returns after a thousand events gets the difference, or a snapshot, but never a part.
#[tokio::test]
async fn subscriber_that_was_away_for_long_misses_nothing() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.catches_up(&desk, &id).await;
    copy.stream = futures::stream::empty().boxed();
    for number in 0..1_000 {
        desk.say(&id, Role::User, &format!("said {number}")).await;
    }
    copy.again().await;
    copy.hears().await;
    assert_eq!(copy.revision(), desk.info(&id).await.revision);
    let (_, entries) = desk.timeline(&id).await;
    assert!(entries.ends_with(&copy.entries) && copy.entries.len() >= 100, "{}", copy.entries.len());
}

/// A subscriber that stays and one that was away get a snapshot if the difference is as large as a conversation.
#[tokio::test]
async fn large_difference_is_sent_as_a_snapshot() {
    let desk = Desk::new().await;
    let id = long_talk(&desk, 600).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.hears().await;
    let since = copy.follow.since.clone();
    for action in [rewind("t1"), retake_wire::Action::Undo { count: 1 }] {
        desk.apply(&id, action).await;
        let told = tokio::time::timeout(PATIENCE, copy.stream.next()).await.expect("in time");
        let told = told.expect("it goes on");
        assert!(matches!(told.event, Event::Snapshot(_)), "{told:?}");
        copy.takes(told);
        let (revision, entries) = desk.timeline(&id).await;
        assert!(copy.revision() == revision && entries.ends_with(&copy.entries));
    }
    assert_eq!(copy.entries.len(), 100);
    desk.apply(&id, rewind("t1")).await;
    let follow = Follow { conversation: Some(id.clone()), since };
    let first = desk.client.follow(follow).await.expect("followed").next().await.expect("a first event");
    assert!(matches!(&first.event, Event::Snapshot(all) if all.entries.is_empty()), "{first:?}");
}

/// This many messages in a row, by a person.
async fn long_talk(desk: &Desk, count: usize) -> String {
    let conversation = get!(desk, Receipt, Request::ImportStart(ImportStart::default())).conversation;
    let lines =
        (0..count).map(|number| format!(r#"{{"role": "user", "content": "said {number}"}}"#)).collect();
    let lines = ImportLines { conversation: conversation.clone(), first: 0, lines };
    desk.does(Request::ImportLines(lines)).await;
    desk.does(Request::ImportEnd(ConversationTarget { conversation: conversation.clone() })).await;
    conversation
}

/// A revision that was never reached gets a snapshot.
#[tokio::test]
async fn unknown_event_id_gets_a_snapshot() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    for since in ["99", "nonsense", ""] {
        let follow = Follow { conversation: Some(id.clone()), since: Some(since.to_owned()) };
        let first = desk.client.follow(follow).await.expect("followed").next().await.expect("an event");
        assert!(matches!(first.event, Event::Snapshot(_)), "{first:?}");
    }
    let nonsense = Follow { conversation: Some("nonsense".to_owned()), since: None };
    let problem = desk.client.follow(nonsense).await.err().expect("it is refused");
    assert_eq!(problem.code, "unknown_conversation");
}

/// A subscriber that joins during an answer gets the text so far and then the rest, each once.
#[tokio::test]
async fn subscriber_that_joins_during_an_answer_gets_all_of_it() {
    let desk = Desk::fast().await;
    let id = desk.create(None, None).await;
    let mut first = Copy::new(&desk, &id).await;
    let mut run = desk.client.run(saying(&id, "hello there, how are you?")).await.expect("started");
    first.until(|event| matches!(event, RunEvent::Text { .. }).then_some(())).await;
    let mut late = Copy::new(&desk, &id).await;
    let ended = first.until(outcome).await;
    assert_eq!(ended, Outcome::Succeeded);
    let own: Vec<RunEvent> = run.by_ref().collect().await;
    let is_text = |event: &RunEvent| match event {
        RunEvent::Text { text } => Some(text.clone()),
        _ => None,
    };
    let whole: String = own.iter().filter_map(is_text).collect();
    assert_eq!(first.said.iter().filter_map(is_text).collect::<String>(), whole);
    late.catches_up(&desk, &id).await;
    if late.now.model.is_some() {
        late.until(outcome).await;
        let rest: String = late.said.iter().filter_map(is_text).collect();
        assert_eq!(format!("{}{rest}", late.now.text), whole);
    }
    assert_eq!(late.entries.last().map(text), Some(whole));
    first.catches_up(&desk, &id).await;
    while first.running {
        first.hears().await;
    }
}

/// The first answer counts; the other client sees that it was given, and its own answer is refused.
#[tokio::test]
async fn first_of_two_answers_to_an_approval_counts() {
    let desk = Desk::fast().await;
    let folder = desk.file("work");
    std::fs::create_dir(&folder).expect("made");
    let id = desk.create(None, folder.to_str()).await;
    let mut other = Copy::new(&desk, &id).await;
    // The client that started it disconnects: the other one can still answer.
    drop(desk.client.run(saying(&id, "run `touch made`")).await.expect("started"));
    let asked = other.until(asks).await;
    let mut late = Copy::new(&desk, &id).await;
    while late.now.asks.is_empty() {
        late.hears().await;
    }
    assert_eq!(late.now.asks, std::slice::from_ref(&asked));
    let decide =
        |decision| Request::Decide(Decide { conversation: id.clone(), id: asked.id.clone(), decision });
    desk.does(decide(Decision::Once)).await;
    assert_eq!(desk.refused(decide(Decision::Deny { words: None })).await.code, "not_asked");
    for copy in [&mut other, &mut late] {
        let settled =
            |event: &RunEvent| matches!(event, RunEvent::Settled { id } if *id == asked.id).then_some(());
        copy.until(settled).await;
        assert_eq!(copy.until(outcome).await, Outcome::Succeeded);
    }
    assert!(folder.join("made").exists());
}

/// State outside of the log is sent, too.
#[tokio::test]
async fn permissions_and_waiting_messages_are_events() {
    let desk = Desk::new().await;
    let id = desk.create(None, None).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.hears().await;
    let (conversation, mode) = (id.clone(), Some(Mode::Plan));
    let set = SetPermissions { conversation, mode, ..SetPermissions::default() };
    desk.does(Request::SetPermissions(set)).await;
    while copy.mode != Mode::Plan {
        copy.hears().await;
    }
    let run = desk.client.run(saying(&id, "go on")).await.expect("started");
    while !copy.running {
        copy.hears().await;
    }
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    drop(run);
    while copy.running {
        copy.hears().await;
    }
    copy.catches_up(&desk, &id).await;
}

fn set_draft(id: &str, author: &str, parts: &[Part]) -> Request {
    let (conversation, author, parts) = (id.to_owned(), author.to_owned(), parts.to_vec());
    Request::SetDraft(SetDraft { conversation, author, parts, ..SetDraft::default() })
}

fn drafted(author: &str, parts: &[Part]) -> Draft {
    Draft { author: author.to_owned(), parts: parts.to_vec(), ..Draft::default() }
}

/// A second window has the draft of the first; a rewind, whose text goes to a composer, changes neither.
#[tokio::test]
async fn draft_is_an_event_for_other_clients() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one"]).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.hears().await;
    let set = |author: &str, parts: &[Part]| set_draft(&id, author, parts);
    let kept = async |author: &str| {
        let of = DraftOf { conversation: id.clone(), author: author.to_owned() };
        get!(desk, Draft, Request::Draft(of))
    };
    let draft = |author: &str, parts: &[Part]| drafted(author, parts);
    let picture = Part::Image { media_type: "image/png".into(), data: Some("AAE=".into()), url: None };
    let words = [Part::text("half a sent"), picture];
    let before = desk.info(&id).await;
    assert_eq!(kept("").await, draft("ada", &[]), "the owner's user is meant");
    desk.does(set("", &words)).await;
    desk.does(set("mia", &words[..1])).await;
    while copy.drafts.len() < 2 {
        copy.hears().await;
    }
    assert_eq!(copy.drafts, [draft("ada", &words), draft("mia", &words[..1])]);
    assert_eq!(desk.info(&id).await, before, "a draft is no change");
    desk.apply(&id, rewind(&entries[0])).await;
    assert_eq!(kept("ada").await, draft("ada", &words));
    desk.does(set("mia", &[Part::text("")])).await;
    while copy.drafts.len() > 1 {
        copy.hears().await;
    }
    let erase = retake_wire::Action::Erase { entries: Vec::new(), matching: Some("half a".to_owned()) };
    desk.apply(&id, erase).await;
    while !copy.drafts.is_empty() {
        copy.hears().await;
    }
    assert_eq!(kept("ada").await, draft("ada", &[]));
    assert_eq!(desk.refused(set("", &[Part::Erased])).await.kind, ProblemKind::Usage);
}

/// No request is needed: the drafts come with the first event, and after each return.
#[tokio::test]
async fn subscriber_gets_the_drafts_and_after_a_reconnect_the_current_ones() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let set = |text: &str| set_draft(&id, "mia", &[Part::text(text)]);
    let draft = |text: &str| vec![drafted("mia", &[Part::text(text)])];
    desk.does(set("half")).await;
    let mut copy = Copy::new(&desk, &id).await;
    copy.hears().await;
    assert_eq!(copy.drafts, draft("half"));
    copy.stream = futures::stream::empty().boxed();
    desk.does(set("half a sentence")).await;
    copy.again().await;
    while copy.drafts != draft("half a sentence") {
        copy.hears().await;
    }
    copy.stream = futures::stream::empty().boxed();
    desk.does(set_draft(&id, "mia", &[])).await;
    desk.say(&id, Role::User, "two").await;
    copy.again().await;
    copy.catches_up(&desk, &id).await;
    while !copy.drafts.is_empty() {
        copy.hears().await;
    }
}

/// A requested call without a result and without a ledger row has changed nothing.
#[tokio::test]
async fn subscriber_is_told_which_calls_never_began() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["write it"]).await;
    let calls = vec![called("c1", "write", "{}"), called("c2", "write", "{}")];
    let asks = Say { parts: calls, ..said(&id, Role::Assistant, "") };
    let asked = get!(desk, Receipt, Request::Say(asks)).entries.remove(0);
    let over = Part::ToolResult { call: "c2".into(), content: "done".into(), failed: false };
    desk.does(Request::Say(Say { parts: vec![over], ..said(&id, Role::Tool, "") })).await;
    let unbegun = async || {
        let follow = Follow { conversation: Some(id.clone()), since: None };
        let first = desk.client.follow(follow).await.expect("followed").next().await.expect("a first event");
        let Event::Snapshot(all) = first.event else { panic!("{first:?}") };
        let page = get!(desk, Entries, Request::Log(log(&id)));
        assert_eq!(page.unbegun, all.unbegun, "who reads the log is told the same");
        all.unbegun
    };
    assert_eq!(unbegun().await, [format!("{asked}-1")]);
    desk.say(&id, Role::User, "never mind").await;
    assert_eq!(unbegun().await, [""; 0], "somebody has gone on");
}

/// A client that never reads is dropped when it is too far behind, delays nobody, and can catch up.
#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_catches_up() {
    let desk = Desk::fast().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let (mut slow, mut quick) = (Copy::new(&desk, &id).await, Copy::new(&desk, &id).await);
    drop(desk.client.run(saying(&id, "hello there")).await.expect("started"));
    quick.until(outcome).await;
    let (long, said) = ("long ".repeat(2_000), 1_200);
    for number in 0..said {
        let entry = desk.say(&id, Role::User, &format!("{number} {long}")).await;
        // Each is sent separately: an earlier message would be sent with it.
        while quick.entries.last().is_none_or(|last| last.id != entry) {
            quick.hears().await;
        }
    }
    quick.catches_up(&desk, &id).await;
    let mut heard = 0;
    while let Some(told) = tokio::time::timeout(PATIENCE, slow.stream.next()).await.expect("it ends") {
        slow.takes(told);
        heard += 1;
    }
    assert!(heard < said, "what it was told is not all: {heard}");
    slow.again().await;
    slow.hears().await;
    assert_eq!(slow.revision(), desk.info(&id).await.revision);
    let (_, entries) = desk.timeline(&id).await;
    assert!(quick.entries == entries && entries.ends_with(&slow.entries) && slow.entries.len() >= 100);
}
