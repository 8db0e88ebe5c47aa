//! Subscribers get the event of a rewind with files when the files are there, and no other client waits for that.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use retake_wire::reply::Entry;
use retake_wire::{Client as _, Event, Follow, NumberedEvent, Permit, Problem, Reply, Role, Run};
use retake_worktree::failpoint;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::events::saying;
use super::world::{Desk, apply, rewind};

const PATIENCE: Duration = Duration::from_secs(30);

/// Stops the thread that applies files at a point, until it is released.
struct Gate {
    at: &'static str,
    armed: AtomicBool,
    reached: tokio::sync::Notify,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn new(at: &'static str) -> Self {
        let (armed, reached) = (AtomicBool::new(false), tokio::sync::Notify::new());
        Self { at, armed, reached, open: Mutex::new(false), opened: Condvar::new() }
    }

    fn pass(&self, name: &str) {
        if name != self.at || !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        self.reached.notify_one();
        let open = self.open.lock().expect("it is whole");
        drop(self.opened.wait_timeout_while(open, PATIENCE, |open| !*open).expect("it is whole"));
    }

    fn open(&self) {
        *self.open.lock().expect("it is whole") = true;
        self.opened.notify_all();
    }
}

/// A runtime whose threads all pass the gate.
fn gated(at: &'static str) -> (Runtime, Arc<Gate>) {
    let gate = Arc::new(Gate::new(at));
    let passing = Arc::clone(&gate);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().on_thread_start(move || {
        let gate = Arc::clone(&passing);
        // For the lifetime of the thread.
        Box::leak(Box::new(failpoint::watch(move |name| {
            gate.pass(name);
            Ok(())
        })));
    });
    (builder.build().expect("a runtime"), gate)
}

type Stream = futures::stream::BoxStream<'static, NumberedEvent>;

async fn next(stream: &mut Stream) -> Event {
    let told = tokio::time::timeout(PATIENCE, stream.next()).await.expect("in time");
    told.expect("it goes on").event
}

async fn follow(desk: &Desk, conversation: Option<&str>) -> Stream {
    let conversation = conversation.map(str::to_owned);
    let mut stream = desk.owner.follow(Follow { conversation, since: None }).await.expect("followed");
    next(&mut stream).await;
    stream
}

async fn say_and_hear(desk: &Desk, of: &str, stream: &mut Stream) {
    let said = desk.say(of, Role::User, "meanwhile").await;
    loop {
        match next(stream).await {
            Event::Changed(changed) if changed.changes.came.iter().any(|entry| entry.id == said) => return,
            _ => {}
        }
    }
}

/// A rewind that is decided and whose files are not settled: other work continues, and no event is sent.
struct Held {
    desk: Desk,
    id: String,
    other: String,
    /// The revision before it.
    revision: u64,
    made: PathBuf,
    here: Stream,
    there: Stream,
    list: Stream,
    /// A subscriber that joined after the decision.
    late: JoinHandle<Event>,
    back: JoinHandle<Result<Reply, Problem>>,
}

impl Held {
    async fn begin(gate: &Gate) -> Self {
        let desk = Desk::fast().await;
        let folder = desk.file("work");
        std::fs::create_dir(&folder).expect("made");
        let (id, other) = (desk.create(None, folder.to_str()).await, desk.create(None, None).await);
        let permit = Permit { mode: None, allow: vec!["shell(touch)".into()] };
        let run = Run { permit, ..saying(&id, "run `touch made`") };
        drop(desk.client.run(run).await.expect("started").collect::<Vec<_>>().await);
        let made = folder.join("made");
        assert!(made.exists());
        let (mut here, there) = (follow(&desk, Some(&id)).await, follow(&desk, Some(&other)).await);
        let list = follow(&desk, None).await;
        let revision = desk.info(&id).await.revision;
        while here.next().now_or_never().is_some() {}
        gate.armed.store(true, Ordering::SeqCst);
        let (client, back) = (Arc::clone(&desk.client), apply(&id, rewind("t1")));
        let back = tokio::spawn(async move { client.call(back).await });
        tokio::time::timeout(PATIENCE, gate.reached.notified()).await.expect("it is decided");
        assert!(desk.texts(&id).await.is_empty(), "it is decided");
        let (owner, whole) = (desk.owner.clone(), Follow { conversation: Some(id.clone()), since: None });
        let late = tokio::spawn(async move { next(&mut owner.follow(whole).await.expect("followed")).await });
        Self { desk, id, other, revision, made, here, there, list, late, back }
    }

    /// Other changes happen meanwhile, and are sent.
    async fn nobody_is_told(&mut self) {
        for _ in 0..20 {
            say_and_hear(&self.desk, &self.other, &mut self.there).await;
        }
        let revision = self.desk.info(&self.other).await.revision;
        loop {
            match next(&mut self.list).await {
                Event::Listed(of) if of.id == self.id => {
                    assert_eq!(of.revision, self.revision, "its files are not settled");
                }
                Event::Listed(of) if of.id == self.other && of.revision == revision => break,
                _ => {}
            }
        }
        assert!(self.here.next().now_or_never().is_none(), "its files are not settled");
        assert!(!self.late.is_finished(), "who comes now is told when it is done");
    }

    /// The final events: an earlier subscriber gets the removed entries, a later one all entries, and the list changes.
    async fn told(&mut self) -> (Vec<String>, Vec<Entry>) {
        let gone = loop {
            match next(&mut self.here).await {
                Event::Changed(changed) => break changed.changes.gone,
                _ => continue,
            }
        };
        let late = tokio::time::timeout(PATIENCE, &mut self.late).await.expect("in time").expect("joined");
        let Event::Snapshot(all) = late else { panic!("{late:?}") };
        let now = self.desk.info(&self.id).await;
        while !matches!(next(&mut self.list).await, Event::Listed(of) if *of == now) {}
        (gone, all.entries)
    }
}

#[test]
fn rewind_is_an_event_only_after_its_files_are_applied() {
    let (runtime, gate) = gated("apply.carried");
    runtime.block_on(async {
        let mut held = Held::begin(&gate).await;
        held.nobody_is_told().await;
        gate.open();
        let (gone, entries) = held.told().await;
        assert!(!gone.is_empty() && entries.is_empty(), "{gone:?} {entries:?}");
        assert!(!held.made.exists());
        held.back.await.expect("it ran").expect("it is taken back");
    });
}

/// Another program writes in between, so that it is reverted: it never happened.
#[test]
fn reverted_rewind_is_no_event() {
    let (runtime, gate) = gated("apply.take");
    runtime.block_on(async {
        let mut held = Held::begin(&gate).await;
        held.nobody_is_told().await;
        std::fs::write(&held.made, "mine").expect("written");
        gate.open();
        let (gone, entries) = held.told().await;
        let (_, now) = held.desk.timeline(&held.id).await;
        assert!(gone.is_empty() && entries == now && !now.is_empty(), "{gone:?} {entries:?}");
        assert_eq!(std::fs::read_to_string(&held.made).expect("it is there"), "mine");
        let refused = held.back.await.expect("it ran").expect_err("it is taken back");
        assert_eq!(refused.code, "interrupted");
    });
}
