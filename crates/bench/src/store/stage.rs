//! A store on disk with one conversation of the requested length. Ids and texts are the same on every run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, Head, NewConversation, NewFork, Part, RequestId,
    Role, SayRequest, SeenState, Time,
};
use retake_store::{Sqlite, Store};
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Runtime;
use uuid::{Builder, Uuid};

use super::bare::FILE;
use crate::text::Texts;

/// The first entry's time, in milliseconds since 1970.
const BEGIN: u64 = 1_700_000_000_000;
/// Entries loaded per transaction.
const BATCH: u64 = 2000;
/// The number of the conversation's id; forks have the following ones.
const CONVERSATION: u64 = 0;

/// The id of entry `number`, increasing with time as a clock's.
pub(super) fn entry_id(number: u64) -> EntryId {
    EntryId::new(uuid(number, 1))
}

fn uuid(number: u64, kind: u64) -> Uuid {
    let mut random = [0; 10];
    fastrand::Rng::with_seed((number << 8) | kind).fill(&mut random);
    Builder::from_unix_timestamp_millis(BEGIN + number, &random).into_uuid()
}

fn by(number: u64, kind: u64) -> anyhow::Result<ChangeOrigin> {
    Ok(ChangeOrigin {
        author: "ada".to_owned(),
        time: Time(i64::try_from(BEGIN + number)?),
        request: Some(uuid(number, kind).to_string().parse::<RequestId>()?),
        ..ChangeOrigin::default()
    })
}

/// A store with a conversation.
pub(super) struct Stage {
    store: Arc<Store>,
    runtime: Runtime,
    file: PathBuf,
    texts: Texts,
    entries: u64,
    head: Head,
    requests: AtomicU64,
    commits: Arc<AtomicU64>,
}

impl Stage {
    /// A fresh store with an empty conversation.
    pub(super) fn create(data: &Path) -> anyhow::Result<Self> {
        let stage = Self::start(data, 0)?;
        let new = NewConversation {
            id: stage.id(),
            folder: Some("/home/ada/project".to_owned()),
            title: None,
            by: by(0, 2)?,
        };
        stage.wait(stage.store.create(new))?;
        Ok(stage)
    }

    /// Opens the store again, with its conversation.
    pub(super) fn open(data: &Path, entries: u64) -> anyhow::Result<Self> {
        let mut stage = Self::start(data, entries)?;
        stage.head = stage.wait(stage.store.summary(stage.id()))?.head;
        Ok(stage)
    }

    fn start(data: &Path, entries: u64) -> anyhow::Result<Self> {
        let mut opened = Sqlite::open(data, Time(i64::try_from(BEGIN)?), Duration::from_secs(5))?;
        let commits = Arc::<AtomicU64>::default();
        opened.writer.count_commits(&commits)?;
        Ok(Self {
            store: Arc::new(Store::start(opened.readers, opened.writer)?),
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
            file: data.join(FILE),
            texts: Texts::new(entries),
            entries,
            head: Head::default(),
            requests: AtomicU64::new(entries),
            commits,
        })
    }

    /// Fills the conversation.
    pub(super) fn load(&mut self, entries: u64) -> anyhow::Result<()> {
        while self.entries < entries {
            let batch = BATCH.min(entries - self.entries);
            let says = (0..batch).map(|_| self.next_say()).collect::<anyhow::Result<_>>()?;
            self.wait(self.store.say_all(self.id(), says))?;
        }
        Ok(())
    }

    /// The next message, alternately by a person and a model.
    pub(super) fn next_say(&mut self) -> anyhow::Result<SayRequest> {
        self.entries += 1;
        let number = self.entries;
        let person = number % 2 == 1;
        let mut by = by(number, 3)?;
        if !person {
            by.author = "demo/model".to_owned();
        }
        Ok(SayRequest::new(
            entry_id(number),
            if person { Role::User } else { Role::Assistant },
            vec![Part::Text(self.texts.entry(number))],
            by,
        ))
    }

    /// Changes the state, from the head after the last change.
    pub(super) fn apply(&mut self, action: Action) -> anyhow::Result<()> {
        let apply = Apply { action, seen: SeenState::Exactly(self.head), by: by(self.request(), 4)? };
        let receipt = self.wait(self.store.apply(self.id(), apply))?;
        anyhow::ensure!(!receipt.unchanged, "an operation changed nothing");
        self.head = receipt.head;
        Ok(())
    }

    /// Forks the conversation in its current state.
    pub(super) fn fork(&self) -> anyhow::Result<()> {
        let number = self.request();
        let id = ConversationId::new(uuid(number, 5));
        let fork = NewFork { parent: self.id(), id, entry: None, title: None, by: by(number, 5)? };
        self.wait(self.store.fork(fork)).map(drop)
    }

    fn request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// The store.
    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The conversation.
    pub(super) fn id(&self) -> ConversationId {
        ConversationId::new(uuid(CONVERSATION, 0))
    }

    /// Transactions that the writer has made durable.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Waits for the store, as a client does.
    pub(super) fn wait<T, E: Into<anyhow::Error>>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> anyhow::Result<T> {
        self.runtime.block_on(answer).map_err(Into::into)
    }

    /// A connection that reads the same file.
    pub(super) fn reader(&self) -> rusqlite::Result<Connection> {
        Connection::open_with_flags(&self.file, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Used bytes of the file, including its write-ahead log.
    pub(super) fn file_bytes(&self) -> anyhow::Result<u64> {
        let db = self.reader()?;
        let number = |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, i64>(0));
        let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
        Ok(u64::try_from(pages * number("PRAGMA page_size")?)?)
    }
}
