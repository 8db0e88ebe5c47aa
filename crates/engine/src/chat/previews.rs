//! Answers shown in a chat while they are written. What is shown is not stored here: only that there is a post. Must never show an answer
//! that will not be posted.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use retake_core::{
    ChatPlace, ConversationId, PostKey, PostKind, PostResult, PostTask, PostWork, Preview, Time,
};
use retake_store::PlannedPreview;
use tokio::sync::Notify;

use crate::Engine;
use crate::clock::Clock;
use crate::error::Result;
use crate::log::LogFailure as _;
use crate::run::RunEvent;

/// A preview that nobody changes is looked at again after this time.
const REST_MS: i64 = 60_000;

/// A wait without an end.
const LONG: Duration = Duration::from_hours(1);

/// Where a platform shows an answer while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatPreviews {
    /// In private places.
    pub private: bool,
    /// In places that several people read.
    pub shared: bool,
    /// Whether the first post has no text: the platform does not recognise a request that it gets twice.
    pub begin_empty: bool,
}

/// The previews of answers that are being written now.
#[derive(Default)]
pub(super) struct ShownNow {
    /// What the gateway of each account can do.
    can: Mutex<BTreeMap<String, ChatPreviews>>,
    posts: Mutex<HashMap<PostKey, Arc<Mutex<Preview>>>>,
    /// Held while one is planned: it has a key a moment before it is found under it.
    planning: tokio::sync::Mutex<()>,
}

impl ShownNow {
    /// The gateway of an account says where it can show answers.
    pub(super) fn can(&self, account: &str, previews: ChatPreviews) {
        let mut can = self.can.lock().unwrap_or_else(PoisonError::into_inner);
        if can.get(account) != Some(&previews) {
            can.insert(account.to_owned(), previews);
        }
    }

    fn of_account(&self, account: &str) -> ChatPreviews {
        let can = self.can.lock().unwrap_or_else(PoisonError::into_inner);
        can.get(account).copied().unwrap_or_default()
    }

    fn begins(&self, key: PostKey, preview: &Arc<Mutex<Preview>>) {
        let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
        posts.insert(key, Arc::clone(preview));
    }

    fn ends(&self, key: PostKey) {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    fn get(&self, key: PostKey) -> Option<Arc<Mutex<Preview>>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    /// A gateway tells what became of a post.
    pub(super) fn settled(&self, key: PostKey, result: &PostResult, now: Time) {
        if let Some(preview) = self.get(key) {
            preview.lock().unwrap_or_else(PoisonError::into_inner).settled(result, now);
        }
    }
}

/// Shows the answers of a run in a chat, one after the other. It does not keep the owner alive.
pub(super) struct Shows {
    owner: Weak<Engine>,
    of: ConversationId,
    place: ChatPlace,
    can: Option<ChatPreviews>,
    preview: Arc<Mutex<Preview>>,
    key: Option<PostKey>,
    clock: Arc<dyn Clock>,
    changed: Arc<Notify>,
}

impl Shows {
    pub(super) fn new(engine: &Arc<Engine>, of: ConversationId, place: &ChatPlace) -> Self {
        let can = Some(engine.chats.shown.of_account(&place.account));
        let can = can.filter(|_| engine.chat_settings(&place.account).previews());
        Self {
            owner: Arc::downgrade(engine),
            of,
            place: place.clone(),
            can: can.filter(|can| can.private || can.shared),
            preview: Arc::default(),
            key: None,
            clock: Arc::clone(&engine.parts().clock),
            changed: Arc::clone(&engine.chats.changed),
        }
    }

    fn preview(&self) -> MutexGuard<'_, Preview> {
        self.preview.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened in the run.
    pub(super) async fn heard(&mut self, engine: &Engine, event: &RunEvent) {
        match event {
            RunEvent::Text(text) if self.can.is_some() => self.preview().wrote(text, engine.now()),
            // It is stored, and the next one begins.
            RunEvent::Answered(_) | RunEvent::Ended(_) => self.end(engine).await,
            _ => {}
        }
    }

    /// Waits for something of the run, and shows its answer meanwhile.
    pub(super) async fn until<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        let changed = Arc::clone(&self.changed);
        loop {
            // Before looking when something is due.
            let changed = changed.notified();
            let due = self.preview().due();
            let wait = due.map(|due| due.0.saturating_sub(self.clock.now_ms()).max(0));
            let wait = wait.map_or(LONG, |wait| Duration::from_millis(wait.unsigned_abs()));
            tokio::select! {
                event = &mut event => return event,
                () = self.clock.sleep(wait) => {
                    if let Some(engine) = self.owner.upgrade() {
                        self.show(&engine).await;
                    }
                }
                () = changed => {}
            }
        }
    }

    /// Shows what is due.
    async fn show(&mut self, engine: &Engine) {
        let now = engine.now();
        if self.preview().due().is_none_or(|due| due > now) {
            return;
        }
        if let Err(error) = self.show_now(engine, now).await {
            crate::log::failed(&error, "an answer is not shown while it is written");
            self.preview().stop();
        }
    }

    async fn show_now(&mut self, engine: &Engine, now: Time) -> Result<()> {
        if let Some(key) = self.key {
            // Before it is due: a gateway may take it at once.
            self.preview().called();
            engine.store().preview_due(key, now).await?;
        } else {
            let binding = engine.store().chat_binding(self.place.clone()).await?;
            let is_shared = binding.is_some_and(|binding| binding.is_shared);
            let can = self.can.unwrap_or_default();
            if !(if is_shared { can.shared } else { can.private }) {
                self.preview().stop();
                return Ok(());
            }
            self.preview().begins(is_shared, can.begin_empty);
            let _planning = engine.chats.shown.planning.lock().await;
            match engine.store().plan_preview(self.of, self.place.clone(), now).await? {
                PlannedPreview::Planned(key) => {
                    self.preview().called();
                    engine.chats.shown.begins(key, &self.preview);
                    self.key = Some(key);
                }
                PlannedPreview::NotNow => self.preview().not_now(now),
                PlannedPreview::Never => self.preview().stop(),
            }
        }
        self.changed.notify_waiters();
        Ok(())
    }

    /// The answer is stored, or there is none.
    pub(super) async fn end(&mut self, engine: &Engine) {
        self.preview = Arc::default();
        let Some(key) = self.key.take() else { return };
        engine.chats.shown.ends(key);
        let ended = engine.store().end_preview(key, engine.now()).await;
        // If it stays, the next gateway that looks at it finds nobody who shows it.
        ended.or_log("the preview of an answer stays for a minute");
        self.changed.notify_waiters();
    }
}

impl Engine {
    /// Gives a preview the text that is to be shown now. Returns whether there is something to do for the gateway.
    pub(super) async fn text_of_preview(&self, work: &mut PostWork, now: Time) -> Result<bool> {
        let is_live = matches!(work.post.kind, PostKind::Preview(_)) && work.task != PostTask::Delete;
        if !is_live {
            return Ok(true);
        }
        if !work.post.is_shown_live() {
            // It is only looked for, to be deleted.
            work.text = Some((String::new(), false));
            return Ok(true);
        }
        let shown = match self.chats.shown.get(work.key) {
            Some(preview) => Some(preview),
            None => {
                drop(self.chats.shown.planning.lock().await);
                self.chats.shown.get(work.key)
            }
        };
        let Some(preview) = shown else {
            // Whoever showed it has ended, as in a crash.
            self.store().end_preview(work.key, now).await?;
            return Ok(false);
        };
        let text = {
            let mut preview = preview.lock().unwrap_or_else(PoisonError::into_inner);
            preview.text().map(str::to_owned)
        };
        match text {
            Some(text) => work.text = Some((text, false)),
            None => {
                let due = Time(now.0.saturating_add(REST_MS));
                self.store().preview_due(work.key, due).await?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}
