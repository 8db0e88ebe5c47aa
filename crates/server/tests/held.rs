//! Who follows a conversation is told of a rewind with files when the files are there, and nobody else waits for that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use retake_wire::{Client as _, Event, Follow, Permit, Role, Run, Told};
use retake_worktree::failpoint;
use tokio::runtime::Runtime;

use super::events::saying;
use super::world::{Desk, apply, rewind};

const PATIENCE: Duration = Duration::from_secs(30);

/// Stops the thread that carries files out, until it is let go.
#[derive(Default)]
struct Gate {
    armed: AtomicBool,
    reached: tokio::sync::Notify,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self, name: &str) {
        if name != "apply.carried" || !self.armed.swap(false, Ordering::SeqCst) {
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

/// A runtime all of whose threads pass the gate.
fn gated() -> (Runtime, Arc<Gate>) {
    let gate = Arc::<Gate>::default();
    let passing = Arc::clone(&gate);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().on_thread_start(move || {
        let gate = Arc::clone(&passing);
        // For as long as the thread lives.
        Box::leak(Box::new(failpoint::watch(move |name| {
            gate.pass(name);
            Ok(())
        })));
    });
    (builder.build().expect("a runtime"), gate)
}

type Stream = futures::stream::BoxStream<'static, Told>;

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

/// The next change of a conversation that something was taken back in.
async fn taken_back(stream: &mut Stream) -> Vec<String> {
    loop {
        match next(stream).await {
            Event::Changed(changed) if !changed.changes.gone.is_empty() => return changed.changes.gone,
            _ => {}
        }
    }
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

#[test]
fn a_rewind_is_told_when_its_files_are_there() {
    let (runtime, gate) = gated();
    runtime.block_on(async {
        let desk = Desk::fast().await;
        let folder = desk.file("work");
        std::fs::create_dir(&folder).expect("made");
        let id = desk.create(None, folder.to_str()).await;
        let other = desk.create(None, None).await;
        let permit = Permit { mode: None, allow: vec!["shell(touch)".into()] };
        let run = Run { permit, ..saying(&id, "run `touch made`") };
        drop(desk.client.run(run).await.expect("started").collect::<Vec<_>>().await);
        assert!(folder.join("made").exists());
        let mut here = follow(&desk, Some(&id)).await;
        let mut there = follow(&desk, Some(&other)).await;
        while here.next().now_or_never().is_some() {}
        gate.armed.store(true, Ordering::SeqCst);
        let (client, back) = (Arc::clone(&desk.client), apply(&id, rewind("t1")));
        let back = tokio::spawn(async move { client.call(back).await });
        tokio::time::timeout(PATIENCE, gate.reached.notified()).await.expect("it is decided");
        for _ in 0..20 {
            say_and_hear(&desk, &other, &mut there).await;
        }
        assert!(desk.texts(&id).await.is_empty(), "it is decided");
        assert!(here.next().now_or_never().is_none(), "its files are not settled");
        let late = desk.owner.follow(Follow { conversation: Some(id.clone()), since: None });
        let mut late = Box::pin(late);
        assert!((&mut late).now_or_never().is_none(), "who comes now is told when it is done");
        gate.open();
        assert!(!taken_back(&mut here).await.is_empty());
        assert!(!folder.join("made").exists());
        let first = late.await.expect("followed").next().await.expect("a first event");
        assert!(matches!(first.event, Event::Snapshot(all) if all.entries.is_empty()));
        back.await.expect("it ran").expect("it is taken back");
    });
}
