//! Committed conversations in memory. The writer publishes each one after its commit; a reader adds a conversation that it
//! loaded, unless a newer one was published meanwhile. Must never contain uncommitted state, nor an older state than the last
//! published one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use retake_core::ConversationId;

use super::load::Loaded;

/// The most conversations in memory; beyond that, the least recently used ones are dropped and loaded again as needed.
const MOST: usize = 4096;

/// Conversations as the writer stages them; `None` must be loaded again.
pub(super) type Staged = HashMap<ConversationId, Option<Arc<Loaded>>>;

#[derive(Debug)]
pub(crate) struct Cache {
    most: usize,
    inner: RwLock<Inner>,
    /// Counts uses: an order, not a time.
    uses: AtomicU64,
    loads: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    kept: HashMap<ConversationId, Kept>,
    /// Conversations that readers load at the moment.
    loading: HashMap<ConversationId, Loading>,
}

#[derive(Debug)]
struct Kept {
    loaded: Arc<Loaded>,
    last_use: AtomicU64,
}

#[derive(Debug, Default)]
struct Loading {
    readers: usize,
    /// Whether the writer has published the conversation since the first of them began: the loaded state may be older.
    outdated: bool,
}

impl Default for Cache {
    fn default() -> Self {
        Self::with_room_for(MOST)
    }
}

impl Cache {
    pub(super) fn with_room_for(most: usize) -> Self {
        Self { most, inner: RwLock::default(), uses: AtomicU64::new(0), loads: AtomicU64::new(0) }
    }

    /// A conversation, if it is in memory. It counts as used.
    pub(super) fn get(&self, id: ConversationId) -> Option<Arc<Loaded>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let kept = inner.kept.get(&id)?;
        kept.last_use.store(self.next_use(), Ordering::Relaxed);
        Some(Arc::clone(&kept.loaded))
    }

    /// Publishes what a commit has made durable.
    pub(super) fn publish(&self, staged: &mut Staged) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        for (id, conversation) in staged.drain() {
            if let Some(loading) = inner.loading.get_mut(&id) {
                loading.outdated = true;
            }
            match conversation {
                Some(loaded) => self.keep(&mut inner, id, loaded),
                None => drop(inner.kept.remove(&id)),
            }
        }
        self.drop_oldest(&mut inner);
    }

    /// Begins loading a conversation for a reader. Called before its transaction begins; [`Cache::end_loading`] must follow.
    pub(super) fn begin_loading(&self, id: ConversationId) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.loading.entry(id).or_default().readers += 1;
    }

    /// Ends loading. The loaded conversation is stored, unless a newer one was published meanwhile.
    pub(super) fn end_loading(&self, id: ConversationId, loaded: Option<&Arc<Loaded>>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let Some(loading) = inner.loading.get_mut(&id) else { return };
        loading.readers -= 1;
        let outdated = loading.outdated;
        if loading.readers == 0 {
            inner.loading.remove(&id);
        }
        if let Some(loaded) = loaded.filter(|_| !outdated) {
            self.loads.fetch_add(1, Ordering::Relaxed);
            self.keep(&mut inner, id, Arc::clone(loaded));
            self.drop_oldest(&mut inner);
        }
    }

    fn keep(&self, inner: &mut Inner, id: ConversationId, loaded: Arc<Loaded>) {
        inner.kept.insert(id, Kept { loaded, last_use: AtomicU64::new(self.next_use()) });
    }

    /// Drops the least recently used ones beyond the limit. Scans all: cheaper than loading one.
    fn drop_oldest(&self, inner: &mut Inner) {
        while inner.kept.len() > self.most {
            let oldest = inner.kept.iter().min_by_key(|(_, kept)| kept.last_use.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(id, _)| *id) else { return };
            inner.kept.remove(&oldest);
        }
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of conversations that readers have added.
    #[cfg(test)]
    pub(super) fn loads(&self) -> u64 {
        self.loads.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use retake_core::{Action, Apply, ChangeOrigin, ConversationId, NewConversation, SeenState};
    use uuid::Uuid;

    use super::{Cache, Staged};
    use crate::{Memory, Store};

    fn id(number: u128) -> ConversationId {
        ConversationId::new(Uuid::from_u128(number))
    }

    fn new(number: u128) -> NewConversation {
        NewConversation { id: id(number), folder: None, title: None, by: ChangeOrigin::default() }
    }

    async fn with_conversations(memory: &Memory, many: u128) -> Store {
        let store = Store::start(memory.clone(), memory.writer()).expect("started");
        for number in 0..many {
            store.create(new(number)).await.expect("created");
        }
        store
    }

    #[tokio::test]
    async fn full_cache_drops_the_least_recently_used_conversation_only() {
        let memory = Memory::new();
        let store = with_conversations(&memory, 4).await;
        let cache = Cache::with_room_for(3);
        for number in 0..3 {
            let loaded = store.now(id(number)).await.expect("loaded");
            cache.publish(&mut Staged::from([(id(number), Some(loaded))]));
        }
        cache.get(id(0)).expect("kept");
        let fourth = store.now(id(3)).await.expect("loaded");
        cache.begin_loading(id(3));
        cache.end_loading(id(3), Some(&fourth));
        let kept: Vec<u128> = (0..4).filter(|number| cache.get(id(*number)).is_some()).collect();
        assert_eq!(kept, [0, 2, 3]);
    }

    #[tokio::test]
    async fn outdated_load_never_replaces_what_was_published_meanwhile() {
        let memory = Memory::new();
        let store = with_conversations(&memory, 1).await;
        let old = store.now(id(0)).await.expect("loaded");
        let label = Action::Label(None, Some("a title".into()));
        store
            .apply(id(0), Apply { action: label, seen: SeenState::Anything, by: ChangeOrigin::default() })
            .await
            .expect("done");
        let new = store.now(id(0)).await.expect("loaded");
        let cache = Cache::default();
        cache.begin_loading(id(0));
        cache.publish(&mut Staged::from([(id(0), Some(Arc::clone(&new)))]));
        cache.end_loading(id(0), Some(&old));
        assert_eq!(cache.get(id(0)).expect("kept").conversation.head, new.conversation.head);
        cache.begin_loading(id(0));
        cache.publish(&mut Staged::from([(id(0), None)]));
        cache.end_loading(id(0), Some(&old));
        assert!(cache.get(id(0)).is_none(), "what has to be loaded again is not kept");
    }

    /// The writer is busy until the test ends: a reader that needed it would never return.
    #[tokio::test(flavor = "multi_thread")]
    async fn cold_conversation_is_read_while_the_writer_is_busy() {
        let memory = Memory::new();
        drop(with_conversations(&memory, 2).await);
        let store = Arc::new(Store::start(memory.clone(), memory.writer()).expect("started"));
        let (entered, is_entered) = channel();
        let (release, is_released) = channel::<()>();
        let busy = Arc::clone(&store);
        let writing = tokio::spawn(async move {
            busy.write(move |_| {
                entered.send(()).expect("the test waits");
                // The sender is dropped after the test's reading.
                let _ = is_released.recv();
                Ok(())
            })
            .await
        });
        is_entered.recv().expect("the writer is busy");
        for number in [0, 1, 0] {
            let read = tokio::time::timeout(Duration::from_secs(10), store.summary(id(number))).await;
            assert_eq!(read.expect("in time").expect("read").id, id(number));
        }
        assert_eq!(store.cache.loads(), 2, "each is loaded once");
        drop(release);
        writing.await.expect("no panic").expect("written");
    }
}
