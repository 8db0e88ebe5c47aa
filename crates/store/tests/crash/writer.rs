//! The process to be killed: several tasks that write to one store, and a line on standard output for each
//! acknowledged write. It must never print anything that the store does not have.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use retake_core::{
    Action, Apply, ConversationId, EntryId, ListRequest, NewConversation, NewFork, PageRequest, Part,
    Projection, Reading, Reason, Receipt, Role, SayRequest, SeenState,
};
use retake_store::{Result, Sqlite, Store, StoreError};
use uuid::Uuid;

use crate::kit::{NOW, by};

/// The number of conversations at the start, and with forks.
const CONVERSATIONS: (usize, usize) = (3, 8);

/// How long the lock of a killed process may stay.
const WAIT: Duration = Duration::from_secs(5);

/// The work of a writer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Distinguishes its words and ids from those of other rounds.
    pub(super) round: u64,
    pub(super) tasks: u64,
    /// Requests of each task.
    pub(super) requests: u64,
    /// Only says.
    pub(super) says_only: bool,
}

/// One task.
struct Task {
    store: Arc<Store>,
    talks: Arc<Mutex<Vec<ConversationId>>>,
    rng: Rng,
    name: String,
    said: u64,
}

/// Opens the store, does the work, and passes every acknowledgement to `tell`, one per line.
pub(super) async fn write(dir: &Path, work: Work, tell: fn(&str)) {
    let opened = Sqlite::open(dir, NOW, WAIT).expect("opened");
    let store = Arc::new(Store::start(opened.readers, opened.writer).expect("started"));
    let mut rng = Rng::with_seed(work.round);
    let list = store.list(ListRequest { limit: 100, ..ListRequest::default() }).await.expect("a list");
    let mut talks: Vec<ConversationId> = list.iter().map(|summary| summary.id).collect();
    while talks.len() < CONVERSATIONS.0 {
        let id = ConversationId::new(id(&mut rng));
        store.create(NewConversation { id, folder: None, title: None, by: by() }).await.expect("created");
        talks.push(id);
    }
    let talks = Arc::new(Mutex::new(talks));
    tell("ready");
    let tasks: Vec<_> = (0..work.tasks)
        .map(|number| {
            let name = format!("w{}x{number}", work.round);
            let rng = rng.fork();
            let mut task = Task { store: Arc::clone(&store), talks: Arc::clone(&talks), rng, name, said: 0 };
            tokio::spawn(async move {
                for _ in 0..work.requests {
                    match task.request(work.says_only).await {
                        Ok(line) => tell(&line),
                        Err(StoreError::Refused(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task");
    }
    tell("done");
}

/// Writes a line to standard output, in one piece, at once.
pub(super) fn to_stdout(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ack {line}").and_then(|()| out.flush()).expect("somebody listens");
}

fn id(rng: &mut Rng) -> Uuid {
    Uuid::from_u128(rng.u128(..))
}

impl Task {
    /// One request; returns the line for its acknowledgement.
    async fn request(&mut self, says_only: bool) -> Result<String> {
        let (talk, count) = {
            let talks = self.talks.lock().expect("no panic");
            (talks[self.rng.usize(..talks.len())], talks.len())
        };
        match if says_only { 0 } else { self.rng.u8(..20) } {
            0..=8 => self.say(talk).await,
            9..=10 => self.say_three(talk).await,
            11 => self.edit(talk).await,
            12..=13 => self.aimed(talk, Reason::Rewind).await,
            14 => self.aimed(talk, Reason::Hide).await,
            15 => self.aimed(talk, Reason::Fold).await,
            16..=17 => self.act(talk, Action::Undo(2)).await,
            18 => self.act(talk, Action::Redo(1)).await,
            _ if count < CONVERSATIONS.1 => self.fork(talk).await,
            _ => self.aimed(talk, Reason::Show).await,
        }
    }

    fn saying(&mut self, more: &str) -> (String, SayRequest) {
        self.said += 1;
        let word = format!("{}x{}", self.name, self.said);
        let role = if self.rng.bool() { Role::User } else { Role::Assistant };
        let say = SayRequest::new(
            EntryId::new(id(&mut self.rng)),
            role,
            vec![Part::text(format!("{word} all {more}"))],
            by(),
        );
        (word, say)
    }

    async fn say(&mut self, talk: ConversationId) -> Result<String> {
        let (word, say) = self.saying("plain");
        let receipt = self.store.say(talk, say).await?;
        Ok(said(&receipt, &[word]))
    }

    /// Three in one transaction: all or none.
    async fn say_three(&mut self, talk: ConversationId) -> Result<String> {
        let name = format!("b{}x{}", self.name, self.said);
        let (words, says): (Vec<_>, Vec<_>) = (0..3).map(|_| self.saying(&format!("batch {name}"))).unzip();
        let receipt = self.store.say_all(talk, says).await?;
        Ok(said(&receipt, &words))
    }

    /// A move and a say at its target, as one.
    async fn edit(&mut self, talk: ConversationId) -> Result<String> {
        let Some(target) = self.pick(talk).await? else { return self.say(talk).await };
        let (word, say) = self.saying("edited");
        let edit = Apply { action: Action::Edit(target), seen: SeenState::Anything, by: by() };
        let (moved, receipt) = self.store.say_at(talk, edit, say).await?;
        Ok(format!("{}\nack {}", done(&moved, "edit"), said(&receipt, &[word])))
    }

    async fn aimed(&mut self, talk: ConversationId, verb: Reason) -> Result<String> {
        let (Some(entry), Some(other)) = (self.pick(talk).await?, self.pick(talk).await?) else {
            return self.say(talk).await;
        };
        let action = match verb {
            Reason::Rewind => Action::Rewind(entry),
            Reason::Fold => {
                Action::Fold { verb, from: entry, to: other, summary: "summary".into(), covers: None }
            }
            verb => Action::Mark { verb, entries: vec![entry, other], range: false, seen: None },
        };
        self.act(talk, action).await
    }

    async fn act(&mut self, talk: ConversationId, action: Action) -> Result<String> {
        let verb = match &action {
            Action::Undo(_) => "undo",
            Action::Redo(_) => "redo",
            Action::Rewind(_) => "rewind",
            Action::Mark { verb, .. } | Action::Fold { verb, .. } => verb.name(),
            other => panic!("{other:?} is not among the requests"),
        };
        let receipt = self.store.apply(talk, Apply { action, seen: SeenState::Anything, by: by() }).await?;
        Ok(done(&receipt, verb))
    }

    async fn fork(&mut self, talk: ConversationId) -> Result<String> {
        let id = ConversationId::new(id(&mut self.rng));
        self.store.fork(NewFork { parent: talk, id, entry: None, title: None, by: by() }).await?;
        self.talks.lock().expect("no panic").push(id);
        Ok(format!("fork {id} {talk}"))
    }

    /// One of the last visible messages.
    async fn pick(&mut self, talk: ConversationId) -> Result<Option<EntryId>> {
        let page = PageRequest { limit: 12, ..PageRequest::default() };
        let reading = Reading::now(Projection::Timeline);
        let shown = self.store.page(talk, reading, page).await?.entries;
        let entry = shown.get(self.rng.usize(..shown.len().max(1)));
        Ok(entry.map(|shown| shown.entry.as_ref().expect("sound").meta.id))
    }
}

/// The line of a say: conversation, head, revision, and each entry with its word.
fn said(receipt: &Receipt, words: &[String]) -> String {
    let entries: Vec<String> =
        receipt.entries.iter().zip(words).map(|(id, word)| format!("{id}={word}")).collect();
    format!("say {} {} {} {}", receipt.conversation, receipt.head, receipt.revision.0, entries.join(","))
}

/// The line of operations: conversation, head, revision, verb, numbers.
fn done(receipt: &Receipt, verb: &str) -> String {
    let numbers: Vec<String> = receipt.ops.iter().map(ToString::to_string).collect();
    let (id, head, revision) = (receipt.conversation, receipt.head, receipt.revision.0);
    format!("op {id} {head} {revision} {verb} {}", numbers.join(","))
}
