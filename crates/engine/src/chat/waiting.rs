//! Edits that wait for further ones of the same message. The wording is kept in a draft until its time comes, so that no owner that is killed
//! loses it. Requests for work carry it out, and so does what happens next in its chat. Must never carry out an edit twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retake_core::{ChatPlace, ConversationId, Fact, Part, Time};

use super::edits::OF_CHATS;
use super::{ChatEvent, ChatMessage, GatewayEvent};
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// No edit waits longer, however often the message is edited.
const MOST: Duration = Duration::from_secs(10);

/// The place and the platform's id of a message.
type Edited = (ChatPlace, String);

/// The edits that wait. What counts is in the drafts: this only says when.
#[derive(Default)]
pub(crate) struct WaitingEdits {
    inside: Mutex<Inside>,
    /// Held while an edit is kept or carried out.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inside {
    /// The accounts whose drafts were read since the start of this owner.
    read: BTreeSet<String>,
    edits: BTreeMap<Edited, Waits>,
}

#[derive(Clone, Copy)]
struct Waits {
    of: ConversationId,
    opened: Time,
    due: Time,
}

impl WaitingEdits {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an edit of this message waits.
    pub(super) fn has(&self, place: &ChatPlace, message: &str) -> bool {
        self.inside().edits.contains_key(&(place.clone(), message.to_owned()))
    }

    /// Those of an account that are meant, the oldest first.
    fn those(&self, is_meant: impl Fn(&ChatPlace, &Waits) -> bool) -> Vec<Edited> {
        let inside = self.inside();
        let meant = inside.edits.iter().filter(|((place, _), waits)| is_meant(place, waits));
        let mut those: Vec<_> = meant.map(|(edited, waits)| (waits.opened, edited.clone())).collect();
        those.sort();
        those.into_iter().map(|(_, edited)| edited).collect()
    }
}

impl Engine {
    /// Keeps an edit until no further one follows for a while.
    pub(super) async fn edit_waits(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        moderates: bool,
        wait: Duration,
    ) -> Result<()> {
        // Not while an earlier wording is carried out: its end forgets what waits.
        let _turn = self.chats.edits.turn.lock().await;
        let (now, edited) = (self.now(), (message.place.clone(), message.message.clone()));
        let opened = self.chats.edits.inside().edits.get(&edited).map_or(now, |waits| waits.opened);
        self.store().set_draft(of, draft_of(&edited), stored(message, moderates, opened)).await?;
        let due = after(now, wait).min(after(opened, MOST));
        self.chats.edits.inside().edits.insert(edited, Waits { of, opened, due });
        Ok(())
    }

    /// Carries out the edits of an account whose time has come. Returns when the next one is due.
    pub(super) async fn edits_due(self: &Arc<Self>, account: &str) -> Result<Option<Time>> {
        self.find_edits(account).await?;
        let now = self.now();
        // All of them, if somebody set the clock back.
        let is_due = |place: &ChatPlace, waits: &Waits| {
            place.account == account && (waits.due <= now || now < waits.opened)
        };
        for edited in self.chats.edits.those(is_due) {
            let engine = Arc::clone(self);
            // The gateway that asked may be killed meanwhile.
            let done = tokio::spawn(async move { engine.carry_out_edit(edited).await });
            if done.await.is_err() {
                tracing::error!("an edit of a chat panicked");
            }
        }
        let inside = self.chats.edits.inside();
        let of_account = inside.edits.iter().filter(|((place, _), _)| place.account == account);
        Ok(of_account.map(|(_, waits)| waits.due).min())
    }

    /// Carries out the edits that wait in the chat of an event, which follows them. Talk that is not for us does not end their wait.
    pub(super) async fn end_edits_before(self: &Arc<Self>, event: &GatewayEvent) -> Result<()> {
        let chat = match &event.event {
            ChatEvent::Message(message) if message.is_addressed => &message.place.chat,
            ChatEvent::Recalled { place, .. } => &place.chat,
            ChatEvent::Pressed(press) => &press.place.chat,
            ChatEvent::Migrated { from, .. } => from,
            ChatEvent::Message(_) | ChatEvent::Edited(_) | ChatEvent::Other => return Ok(()),
        };
        self.find_edits(&event.account).await?;
        let is_here = |place: &ChatPlace, _: &Waits| place.account == event.account && place.chat == *chat;
        for edited in self.chats.edits.those(is_here) {
            self.carry_out_edit(edited).await;
        }
        Ok(())
    }

    /// Finds the edits that waited when an earlier owner ended. They have waited enough.
    async fn find_edits(&self, account: &str) -> Result<()> {
        if self.chats.edits.inside().read.contains(account) {
            return Ok(());
        }
        let bindings = self.store().chat_bindings(account.to_owned()).await?;
        let conversations: BTreeSet<ConversationId> = bindings.iter().map(|it| it.conversation).collect();
        let mut found = Vec::new();
        for of in conversations {
            for (author, parts) in self.store().drafts(of).await? {
                if author.starts_with(WAITS)
                    && let Some((message, _, opened)) = read(parts)
                {
                    found.push(((message.place, message.message), Waits { of, opened, due: opened }));
                }
            }
        }
        let mut inside = self.chats.edits.inside();
        inside.read.insert(account.to_owned());
        for (edited, waits) in found {
            inside.edits.entry(edited).or_insert(waits);
        }
        Ok(())
    }

    async fn carry_out_edit(self: &Arc<Self>, edited: Edited) {
        let _turn = self.chats.edits.turn.lock().await;
        let Some(Waits { of, .. }) = self.chats.edits.inside().edits.get(&edited).copied() else { return };
        let done = async {
            let drafts = self.store().drafts(of).await?.into_iter();
            let kept = drafts.into_iter().find(|(author, _)| *author == draft_of(&edited));
            if let Some((message, moderates, opened)) = kept.and_then(|(_, parts)| read(parts)) {
                // The events were recorded when they arrived. This one is the edit as a whole.
                let event = GatewayEvent {
                    account: message.place.account.clone(),
                    keys: vec![format!("edit:{}:{}:{}", message.place.chat, message.message, opened.0)],
                    event: ChatEvent::Other,
                    command: None,
                    moderates,
                    is_late: false,
                };
                self.edit_now(&event, &message).await?;
            }
            self.store().set_draft(of, draft_of(&edited), Vec::new()).await?;
            Ok::<_, crate::error::EngineError>(())
        };
        // If it failed, the next owner tries it again.
        done.await.or_log("an edit of a chat is not carried out");
        self.chats.edits.inside().edits.remove(&edited);
    }
}

/// The beginning of the authors of drafts that keep an edit.
const WAITS: &str = "@chat waits ";

fn draft_of((place, message): &Edited) -> String {
    debug_assert!(WAITS.starts_with(OF_CHATS));
    format!("{WAITS}{} {} {message}", place.account, place.chat)
}

fn after(time: Time, wait: Duration) -> Time {
    Time(time.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

/// An edit as its draft keeps it.
fn stored(message: &ChatMessage, moderates: bool, opened: Time) -> Vec<Part> {
    let ChatMessage { place, is_shared, message: id, person, name, sent, .. } = message;
    let texts = [
        ("account", place.account.clone()),
        ("chat", place.chat.clone()),
        ("message", id.clone()),
        ("person", person.clone()),
        ("name", name.clone()),
        ("sent", sent.0.to_string()),
        ("opened", opened.0.to_string()),
    ];
    let thread = place.thread.clone().map(|thread| ("thread", thread));
    let flags = [("shared", *is_shared), ("moderates", moderates)];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| (key, "yes".to_owned()));
    let facts = texts.into_iter().chain(thread).chain(flags).map(|(key, value)| Fact::new(key, value));
    [Part::Facts(facts.collect())].into_iter().chain(message.parts.clone()).collect()
}

/// The edit of a draft, whether its author moderates the place, and when the first edit arrived.
fn read(parts: Vec<Part>) -> Option<(ChatMessage, bool, Time)> {
    let mut parts = parts.into_iter();
    let Some(Part::Facts(facts)) = parts.next() else { return None };
    let value = |key: &str| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
    let time = |key: &str| value(key)?.parse().ok().map(Time);
    let place = ChatPlace { account: value("account")?, chat: value("chat")?, thread: value("thread") };
    let message = ChatMessage {
        place,
        is_shared: value("shared").is_some(),
        message: value("message")?,
        person: value("person")?,
        name: value("name")?,
        is_bot: false,
        sent: time("sent")?,
        parts: parts.collect(),
        is_addressed: true,
        reply_to: None,
        joined: Vec::new(),
    };
    Some((message, value("moderates").is_some(), time("opened")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_is_kept_whole() {
        for thread in [None, Some("7".to_owned())] {
            let message = ChatMessage {
                place: ChatPlace { account: "a".into(), chat: "c 1".into(), thread },
                is_shared: true,
                message: "m".into(),
                person: "ann".into(),
                name: "Ann A.".into(),
                is_bot: false,
                sent: Time(5),
                parts: vec![Part::text("words")],
                is_addressed: true,
                reply_to: None,
                joined: Vec::new(),
            };
            let kept = stored(&message, true, Time(9));
            assert_eq!(read(kept), Some((message, true, Time(9))));
        }
        assert_eq!(read(vec![Part::text("words")]), None);
    }
}
