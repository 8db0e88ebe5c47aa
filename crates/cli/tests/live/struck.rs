//! The owner killed repeatedly while clients work: everything acknowledged is there, once, and subscribers have the current
//! state.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use futures::StreamExt as _;
use retake_wire::reply::{Entry, Receipt};
use retake_wire::request::{Apply, ConversationTarget, Create, Doctor, LARGEST_PAGE, Log, Projection, Say};
use retake_wire::{
    Action, Client as _, Ended, Event, Follow, HttpClient, Outcome, Part, Permit, Problem, Reply, Request,
    Role, Run, RunEvent, RunStart,
};
use rustix::process::Signal;
use tokio::time::{sleep, timeout};

use super::harness::World;
use super::owned::Serving;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of kills.
const BLOWS: usize = 5;

const SETTINGS: &str = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 5\n";

fn client(world: &World) -> HttpClient {
    HttpClient::new(world.reach()).expect("a client")
}

fn is_gone(problem: &Problem) -> bool {
    problem.code == "owner_away" || problem.code == "owner_lost"
}

/// Repeats a request until there is a reply.
async fn insists<T, F: Future<Output = Result<T, Problem>>>(ask: impl Fn() -> F) -> Result<T, Problem> {
    let asking = async {
        loop {
            match ask().await {
                Err(problem) if is_gone(&problem) => sleep(Duration::from_millis(10)).await,
                answered => return answered,
            }
        }
    };
    timeout(PATIENCE, asking).await.expect("an owner comes back")
}

async fn done(client: &HttpClient, request: &Request) -> Result<Receipt, Problem> {
    match insists(|| client.call(request.clone())).await? {
        Reply::Receipt(receipt) => Ok(receipt),
        other => panic!("{other:?}"),
    }
}

async fn entries(client: &HttpClient, of: &str) -> (u64, Vec<Entry>) {
    let mut log = Log {
        conversation: of.to_owned(),
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(LARGEST_PAGE),
        before: None,
        after: None,
    };
    let mut all: Option<(u64, Vec<Entry>)> = None;
    loop {
        let page = match insists(|| client.call(Request::Log(log.clone()))).await {
            Ok(Reply::Entries(page)) => page,
            other => panic!("{other:?}"),
        };
        let (_, entries) = all.get_or_insert_with(|| (page.revision, Vec::new()));
        // Earlier pages have the same head, whatever is added meanwhile.
        log.at = Some(page.head);
        entries.splice(0..0, page.entries);
        log.before = entries.first().map(|entry| entry.id.clone());
        if !page.earlier {
            return all.expect("a page");
        }
    }
}

/// Adds and reverts messages until it is over; returns the acknowledged ones.
async fn works(
    client: HttpClient,
    of: String,
    name: u64,
    seed: u64,
    over: Arc<AtomicBool>,
) -> Vec<(Request, Receipt)> {
    let mut random = Rng::with_seed(seed.wrapping_add(name));
    let (mut acknowledged, mut own) = (Vec::new(), Vec::new());
    for step in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let request_id = Some(format!("{name}-{step}"));
        let action = match (random.u8(..8), own.last()) {
            (0, Some(entry)) => Some(Action::Rewind { entry: String::clone(entry) }),
            (1, _) => Some(Action::Undo { count: 1 }),
            _ => None,
        };
        let request = match action {
            Some(action) => Request::Apply(Apply {
                conversation: of.clone(),
                action,
                head: None,
                since: false,
                files: Default::default(),
                request_id,
            }),
            None => Request::Say(said(&of, &format!("{name} says {step}"), request_id)),
        };
        if let Ok(receipt) = done(&client, &request).await {
            own.extend(receipt.entries.clone());
            acknowledged.push((request, receipt));
        }
    }
    acknowledged
}

fn said(of: &str, text: &str, request_id: Option<String>) -> Say {
    Say {
        conversation: of.to_owned(),
        role: Role::User,
        parts: vec![Part::text(text)],
        author: String::new(),
        synthetic: false,
        observed: false,
        time_ms: None,
        platform_id: None,
        seen: None,
        request_id,
    }
}

/// Sends prompts to the model until it is over; returns how each was answered.
async fn asks(client: HttpClient, of: String, over: Arc<AtomicBool>) -> Vec<(String, Ended)> {
    let mut answered = Vec::new();
    for step in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let text = format!("question-{step}");
        let run = Run {
            conversation: of.clone(),
            folder: None,
            start: RunStart::Say {
                parts: vec![Part::text(text.as_str())],
                seen: None,
                steer: None,
                piped: false,
            },
            model: None,
            permit: Permit::default(),
            files: Default::default(),
            head: None,
            request_id: Some(text.clone()),
        };
        let asked = insists(|| async {
            let events = client.run(run.clone()).await?.collect::<Vec<_>>().await;
            let Some(RunEvent::Ended(ended)) = events.into_iter().next_back() else {
                panic!("a run that does not end")
            };
            match ended.problem {
                Some(problem) if is_gone(&problem) => Err(problem),
                _ => Ok(*ended),
            }
        });
        answered.push((text, asked.await.expect("it is answered")));
    }
    answered
}

/// A subscriber's copy.
#[derive(Default)]
struct Copy {
    revision: u64,
    entries: BTreeMap<(u32, u64), Entry>,
}

impl Copy {
    fn hears(&mut self, event: Event) {
        match event {
            Event::Snapshot(all) => {
                self.revision = all.conversation.revision;
                self.entries = all.entries.into_iter().map(|entry| (entry.place.position(), entry)).collect();
            }
            Event::Changed(changed) => {
                let changes = changed.changes;
                self.revision = changes.revision;
                self.entries.retain(|_, entry| !changes.gone.contains(&entry.id));
                let new = changes.changed.into_iter().chain(changes.came);
                self.entries.extend(new.map(|entry| (entry.place.position(), entry)));
            }
            _ => {}
        }
    }
}

/// Subscribes from owner to owner, until there are no more messages and the copy is current.
async fn follows(client: HttpClient, of: String, quiet: Arc<AtomicBool>) -> Copy {
    let (mut copy, mut since) = (Copy::default(), None);
    loop {
        let follow = Follow { conversation: Some(of.clone()), since: since.clone() };
        let mut stream = insists(|| client.follow(follow.clone())).await.expect("followed");
        loop {
            if quiet.load(Ordering::Relaxed) && copy.revision == entries(&client, &of).await.0 {
                return copy;
            }
            match timeout(Duration::from_millis(100), stream.next()).await {
                Ok(Some(told)) => {
                    since = told.id.or(since);
                    copy.hears(told.event);
                }
                Ok(None) => break,
                Err(_) => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_owner_that_is_killed_under_load_loses_no_acknowledged_request() {
    let seed = fastrand::u64(..);
    let world = World::new();
    world.settings(SETTINGS);
    let mut serving = Serving::start(&world, &[]);
    let (over, quiet) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let fresh = client(&world);
    let create =
        || async { done(&fresh, &Request::Create(Create::default())).await.expect("made").conversation };
    let (of, asked) = (create().await, create().await);
    let hands: Vec<_> = (0..3)
        .map(|name| tokio::spawn(works(client(&world), of.clone(), name, seed, Arc::clone(&over))))
        .collect();
    let asking = tokio::spawn(asks(client(&world), asked.clone(), Arc::clone(&over)));
    let following: Vec<_> = [&of, &of, &asked]
        .map(|of| tokio::spawn(follows(client(&world), of.clone(), Arc::clone(&quiet))))
        .into();
    let mut random = Rng::with_seed(seed);
    for _ in 0..BLOWS {
        sleep(Duration::from_millis(random.u64(200..700))).await;
        serving.signal(Signal::KILL);
        assert!(!serving.ended(), "it was struck dead");
        serving = Serving::start(&world, &[]);
    }
    over.store(true, Ordering::Relaxed);

    let mut revisions = Vec::new();
    for hand in hands {
        for (request, receipt) in hand.await.expect("no panic") {
            let again = done(&fresh, &request).await;
            assert_eq!(again.as_ref(), Ok(&receipt), "seed {seed}: {request:?}");
            revisions.push(receipt.revision);
        }
    }
    revisions.sort_unstable();
    let (last, _) = entries(&fresh, &of).await;
    assert_eq!(revisions, (2..=last).collect::<Vec<_>>(), "seed {seed}: each once, and nothing else");
    was_answered(asking.await.expect("no panic"), &entries(&fresh, &asked).await.1);
    quiet.store(true, Ordering::Relaxed);
    for (copy, of) in following.into_iter().zip([&of, &of, &asked]) {
        let copy = copy.await.expect("no panic");
        let there = entries(&fresh, of).await.1;
        // A subscriber of a long conversation has its end.
        let had: Vec<Entry> = copy.entries.into_values().collect();
        let told = || (lines(&had), lines(&there));
        assert!(there.ends_with(&had) && had.len() >= there.len().min(100), "seed {seed}: {:?}", told());
    }
    is_well(&fresh, &asked).await;
    serving.signal(Signal::KILL);
    assert!(!serving.ended());
    let list = world.json(&["list", "--all"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(2), "no socket is in the way: {list}");
}

fn lines(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| format!("{} {:?} {}", entry.place.seq, entry.parts, entry.flags.interrupted))
        .collect()
}

/// Each prompt is there once, with the reported answer.
fn was_answered(answered: Vec<(String, Ended)>, there: &[Entry]) {
    assert!(!answered.is_empty());
    for (text, ended) in answered {
        let with_text = there.iter().filter(|entry| entry.parts == [Part::text(text.as_str())]).count();
        assert_eq!(with_text, 1, "{text}: {ended:?}");
        let told = ended.entry.as_ref().map(|entry| &entry.id);
        let answer = there.iter().find(|entry| Some(&entry.id) == told);
        match ended.outcome {
            Outcome::Succeeded => {
                assert!(answer.is_some_and(|entry| !entry.flags.interrupted), "{text}: {ended:?}");
            }
            Outcome::Interrupted => {
                assert!(answer.is_some_and(|entry| entry.flags.interrupted), "{text}: {ended:?}");
            }
            _ => panic!("{text}: {ended:?}"),
        }
    }
}

/// Nothing runs, and the store is healthy.
async fn is_well(client: &HttpClient, of: &str) {
    let Ok(Reply::Conversation(info)) =
        client.call(Request::Info(ConversationTarget { conversation: of.to_owned() })).await
    else {
        panic!("{of} is there")
    };
    assert!(!info.running);
    let Ok(Reply::Report(report)) = client.call(Request::Doctor(Doctor::default())).await else {
        panic!("it is examined")
    };
    assert_eq!(report.findings, vec![]);
}
