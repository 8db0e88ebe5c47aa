//! Chats: what arrived, in the transaction of its effect; and the ledger of posts. A change of the state makes one row of the outbox
//! due, however many posts there are. Which posts are wanted follows from the path, when the row is looked at. Must never store a text
//! of a platform.

mod compare;
mod ledger;
mod moved;
mod previews;
mod questions;
mod waiting;

pub(super) use compare::posts_in;
pub use previews::PlannedPreview;

use retake_core::{
    Action, ArrivalOutcome, ChangeOrigin, ChatAccount, ChatArrival, ChatBinding, ChatEntry, ChatMessageRow,
    ChatOrigin, ChatPerson, ChatPlace, Commit, ConversationId, Entry, EntryId, Head, Principal, Reason,
    Records as _, Refusal, Role, SeenState, Seq, Step, Time, Told,
};

use super::load::Loaded;
use super::{Context, Store};
use crate::error::{Result, StoreError};
use crate::rows::{Key, Rows};

/// The destination of the outbox for posts. No hook can have this name.
pub(super) const POSTS: &str = "@posts";

/// A person of a chat: the account, and the platform's id.
type ChatMember = (String, String);

/// How long an account belongs to a gateway without a sign of it.
const LEASE_MS: i64 = 60_000;

/// How long a lease is not renewed.
const RENEW_MS: i64 = 10_000;

/// The most events that are removed in one transaction.
const EVENTS_AT_ONCE: usize = 1000;

impl Store {
    /// Gives an account to a gateway, or renews its lease. Returns the gateway that has it, if another one does. `replaces` is one that
    /// is known to have ended.
    pub async fn lease_account(
        &self,
        name: String,
        holder: String,
        replaces: Option<String>,
        now: Time,
    ) -> Result<Option<String>> {
        self.write(move |context| {
            let account = context.rows.chat_account(&name)?;
            let account = account.unwrap_or_else(|| ChatAccount { name, ..ChatAccount::default() });
            match &account.lease {
                Some((other, until))
                    if *other != holder && Some(other) != replaces.as_ref() && *until > now =>
                {
                    Ok(Some(other.clone()))
                }
                // Each request of a gateway renews it; one write in a while is enough.
                Some((same, until))
                    if *same == holder && until.0.saturating_sub(now.0) > LEASE_MS - RENEW_MS =>
                {
                    Ok(None)
                }
                _ => {
                    let lease = Some((holder, Time(now.0.saturating_add(LEASE_MS))));
                    context.rows.set_chat_account(&ChatAccount { lease, ..account }).map(|()| None)
                }
            }
        })
        .await
    }

    /// An account; empty if nothing is known of it.
    pub async fn chat_account(&self, name: String) -> Result<ChatAccount> {
        let found = self.read({
            let name = name.clone();
            move |rows| rows.chat_account(&name)
        });
        Ok(found.await?.unwrap_or_else(|| ChatAccount { name, ..ChatAccount::default() }))
    }

    /// All accounts of which something is known, by name.
    pub async fn chat_accounts(&self) -> Result<Vec<ChatAccount>> {
        self.read(|rows| rows.chat_accounts()).await
    }

    /// Records where the events of an account end.
    pub async fn set_chat_cursor(&self, name: String, cursor: String) -> Result<()> {
        self.write(move |context| {
            let account = context.rows.chat_account(&name)?;
            let account = account.unwrap_or_else(|| ChatAccount { name, ..ChatAccount::default() });
            context.rows.set_chat_account(&ChatAccount { cursor: Some(cursor), ..account })
        })
        .await
    }

    /// Counts a wrong pairing code; `right` resets the count. Returns the new count.
    pub async fn count_codes(&self, name: String, right: bool) -> Result<u32> {
        self.write(move |context| {
            let account = context.rows.chat_account(&name)?;
            let account = account.unwrap_or_else(|| ChatAccount { name, ..ChatAccount::default() });
            let wrong_codes = if right { 0 } else { account.wrong_codes.saturating_add(1) };
            context.rows.set_chat_account(&ChatAccount { wrong_codes, ..account })?;
            Ok(wrong_codes)
        })
        .await
    }

    /// What became of an event, if it has arrived before.
    pub async fn chat_event(&self, account: String, key: String) -> Result<Option<ArrivalOutcome>> {
        self.read(move |rows| rows.chat_event(&account, &key)).await
    }

    /// Records what became of an event that changes no conversation.
    pub async fn note_chat_event(
        &self,
        account: String,
        keys: Vec<String>,
        outcome: ArrivalOutcome,
        now: Time,
    ) -> Result<()> {
        self.write(move |context| {
            keys.iter().try_for_each(|key| context.rows.insert_chat_event(&account, key, &outcome, now))
        })
        .await
    }

    /// Removes events that were recorded before this time: the oldest, as many as one transaction may. Returns whether there are more.
    pub async fn forget_chat_events(&self, before: Time) -> Result<bool> {
        // Usually there is none, and nothing is written.
        if !self.read(move |rows| rows.has_chat_events(before)).await? {
            return Ok(false);
        }
        self.write(move |context| {
            context.rows.forget_chat_events(before, EVENTS_AT_ONCE)?;
            context.rows.has_chat_events(before)
        })
        .await
    }

    /// The holds of an account that are in force.
    pub async fn chat_holds(&self, account: String, now: Time) -> Result<Vec<(String, Time)>> {
        self.read(move |rows| rows.chat_holds(&account, now)).await
    }

    /// Records a hold.
    pub async fn set_chat_hold(&self, account: String, bucket: String, until: Time) -> Result<()> {
        self.write(move |context| context.rows.set_chat_hold(&account, &bucket, until)).await
    }

    /// The binding of a place.
    pub async fn chat_binding(&self, place: ChatPlace) -> Result<Option<ChatBinding>> {
        self.read(move |rows| rows.chat_binding(&place)).await
    }

    /// All bindings of an account.
    pub async fn chat_bindings(&self, account: String) -> Result<Vec<ChatBinding>> {
        self.read(move |rows| rows.chat_bindings(&account)).await
    }

    /// All bindings.
    pub async fn all_chat_bindings(&self) -> Result<Vec<ChatBinding>> {
        self.read(|rows| rows.all_chat_bindings()).await
    }

    /// Binds a place to a conversation.
    pub async fn bind_chat(&self, binding: ChatBinding) -> Result<()> {
        self.write(move |context| {
            context.load(binding.conversation)?;
            context.rows.set_chat_binding(&binding)
        })
        .await
    }

    /// Removes the binding of a place. Returns whether there was one.
    pub async fn unbind_chat(&self, place: ChatPlace) -> Result<bool> {
        self.write(move |context| context.rows.remove_chat_binding(&place)).await
    }

    /// A person of a platform.
    pub async fn chat_person(&self, account: String, person: String) -> Result<Option<ChatPerson>> {
        self.read(move |rows| rows.chat_person(&account, &person)).await
    }

    /// All people of an account, or of all.
    pub async fn chat_people(&self, account: Option<String>) -> Result<Vec<ChatPerson>> {
        self.read(move |rows| rows.chat_people(account.as_deref())).await
    }

    /// Stores a person of a platform.
    pub async fn set_chat_person(&self, person: ChatPerson) -> Result<()> {
        self.write(move |context| context.rows.set_chat_person(&person)).await
    }

    /// What a message of a chat is in a conversation: that of a person, or a post of ours.
    pub async fn chat_entry(
        &self,
        of: ConversationId,
        place: ChatPlace,
        message: String,
    ) -> Result<Option<ChatEntry>> {
        self.with(of, move |rows, loaded| {
            let log = loaded.row.log;
            let found = rows.chat_message(log, &place.account, &place.chat, &message)?;
            let (seq, post, content) = match found {
                // An erasure has overwritten the digest.
                Some(row) => {
                    let content = Some(row.content).filter(|content| *content != [0; 16]);
                    (wording_on_path(rows, loaded, &row)?, None, content)
                }
                None => match rows.post_by_id(&place.account, &place.chat, &message)? {
                    Some(key) if key.log == log => match rows.post(key)?.map(|post| post.kind) {
                        Some(kind) => (kind.entry(), Some(key), None),
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                },
            };
            let Some(seq) = seq else {
                return Ok(Some(ChatEntry { entry: None, post, origin: None, content }));
            };
            let entry = rows.entry(Key { log, seq: seq.0 })?;
            let origin = origin_of(rows, loaded, &entry)?;
            Ok(Some(ChatEntry { entry: Some(entry.meta.id), post, origin, content }))
        })
        .await
    }

    /// Records the content of a message that changes nothing yet: the same content is not asked about again.
    pub async fn set_chat_content(
        &self,
        of: ConversationId,
        place: ChatPlace,
        message: String,
        content: [u8; 16],
    ) -> Result<()> {
        self.write(move |context| {
            let row = context.load(of)?.row.clone();
            match context.rows.chat_message(row.log, &place.account, &place.chat, &message)? {
                Some(known) => {
                    let known = ChatMessageRow { content, ..known };
                    context.rows.set_chat_message(&row, &place.account, (&place.chat, &message), known)
                }
                None => Ok(()),
            }
        })
        .await
    }

    /// Who made the steps that this undo or redo would change: the name, and the person if it was one of a chat. Empty if there is
    /// nothing to do.
    pub async fn authors_of_steps(
        &self,
        of: ConversationId,
        action: Action,
        by: ChangeOrigin,
    ) -> Result<Vec<(String, Option<ChatMember>)>> {
        self.with(of, move |rows, loaded| {
            let (records, seen) = (loaded.records(rows), SeenState::Anything);
            let conversation = &loaded.conversation;
            let commit = match action {
                Action::Undo(count) => conversation.undo(&records, &by, seen, count),
                Action::Redo(count) => conversation.redo(&records, &by, seen, count),
                _ => return Ok(Vec::new()),
            };
            let ops = match commit {
                Ok(commit) => commit.ops,
                Err(StoreError::Refused(Refusal::NothingToUndo | Refusal::NothingToRedo)) => Vec::new(),
                Err(error) => return Err(error),
            };
            let mut authors = Vec::new();
            for op in ops {
                let (Reason::Undo(step) | Reason::Redo(step)) = op.reason else { continue };
                authors.push(match step {
                    Step::Turn(opener) => {
                        let entry = rows.entry(loaded.key(opener)?)?;
                        let origin = origin_of(rows, loaded, &entry)?;
                        (entry.author, origin.map(|it| (it.place.account, it.person)))
                    }
                    Step::Op(no) => {
                        let op = records.op(no)?;
                        match op.principal {
                            Principal::Member { account, person } => (op.author, Some((account, person))),
                            _ => (op.author, None),
                        }
                    }
                });
            }
            Ok(authors)
        })
        .await
    }

    /// Where the turn of an entry came from, if it arrived here: an imported one belongs to nobody here.
    pub async fn turn_origin(&self, of: ConversationId, entry: EntryId) -> Result<Option<ChatOrigin>> {
        self.with(of, move |rows, loaded| {
            let pos = super::decide::locate(rows, loaded, entry)?;
            arrived(rows, loaded, &rows.entry(loaded.key(pos)?)?)
        })
        .await
    }
}

/// The entry of a message: of its wordings, the one on the path; if none is, the last one.
fn wording_on_path(rows: &dyn Rows, loaded: &Loaded, row: &ChatMessageRow) -> Result<Option<Seq>> {
    for seq in row.entries() {
        let entry = rows.entry(Key { log: loaded.row.log, seq: seq.0 })?;
        if loaded.conversation.is_on_path(entry.meta.pos) {
            return Ok(Some(seq));
        }
    }
    Ok(row.entry)
}

/// Where the turn of an entry came from; a fork answers nobody in its parent's place.
fn origin_of(rows: &dyn Rows, loaded: &Loaded, entry: &Entry) -> Result<Option<ChatOrigin>> {
    if entry.origin.is_some() {
        return Ok(entry.origin.clone());
    }
    match entry.meta.turn {
        Some(turn) if turn != entry.meta.pos => {
            let key = loaded.key(turn)?;
            Ok(if key.log == loaded.row.log { rows.entry(key)?.origin } else { None })
        }
        _ => Ok(None),
    }
}

/// Where the turn of an entry came from, if its message has arrived here. That of an imported conversation has not: it is history, and
/// nothing is posted there.
fn arrived(rows: &dyn crate::rows::Rows, loaded: &Loaded, entry: &Entry) -> Result<Option<ChatOrigin>> {
    let Some(origin) = origin_of(rows, loaded, entry)? else { return Ok(None) };
    let ChatPlace { account, chat, .. } = &origin.place;
    let log = if entry.origin.is_some() { loaded.key(entry.meta.pos)?.log } else { loaded.row.log };
    let known = rows.chat_message(log, account, chat, &origin.message)?;
    Ok(known.map(|_| origin))
}

impl Context {
    /// Records a message of a chat that is stored now, or that waits for a run.
    pub(super) fn note_arrival(
        &mut self,
        loaded: &Loaded,
        arrival: &ChatArrival,
        (entry, outcome): (Option<Seq>, ArrivalOutcome),
        now: Time,
    ) -> Result<()> {
        let ChatArrival { origin, keys, also, content } = arrival;
        let place = &origin.place;
        for key in keys {
            self.rows.insert_chat_event(&place.account, key, &outcome, now)?;
        }
        let further = also.iter().map(|(message, content)| (message, content));
        for (message, content) in std::iter::once((&origin.message, content)).chain(further) {
            let before = self.rows.chat_message(loaded.row.log, &place.account, &place.chat, message)?;
            let row = ChatMessageRow::arrived(before, entry, *content);
            self.rows.set_chat_message(&loaded.row, &place.account, (&place.chat, message), row)?;
        }
        self.asks_again(loaded, place, now)?;
        if let Some(binding) = self.rows.chat_binding(place)? {
            let last = Some(origin.message.clone());
            self.rows.set_chat_binding(&ChatBinding { last, ..binding })?;
        }
        Ok(())
    }

    /// Plans the posts of new answers to turns that came from a chat; and notes that a change of the state may concern posts.
    pub(super) fn posts_of(
        &mut self,
        before: Head,
        after: &Loaded,
        commit: &Commit,
        now: Time,
    ) -> Result<()> {
        for entry in &commit.entries {
            let is_answer = entry.meta.role == Role::Assistant && !entry.meta.flags.detached;
            if !is_answer
                || entry.parts.iter().all(|part| part.as_text().is_none_or(|text| text.trim().is_empty()))
            {
                continue;
            }
            self.plan_answer(after, entry, now)?;
        }
        if !commit.ops.is_empty() && self.rows.has_posts(after.row.log)? {
            self.rows.owe(&after.row, POSTS, Told { head: before, ..Told::default() }, now)?;
        }
        Ok(())
    }
}
