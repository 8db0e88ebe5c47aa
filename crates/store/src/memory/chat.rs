//! Rows of chats, in memory.

use retake_core::{
    ArrivalOutcome, ChatAccount, ChatBinding, ChatMessageRow, ChatPerson, ChatPlace, OpNo, Post, PostKey,
    PostNo, Seq, Time,
};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use crate::error::Result;
use crate::rows::{ChatRows, ConversationRow, Key, LogNo};

/// Two names.
type Pair = (String, String);

/// All rows of chats.
#[derive(Clone, Debug, Default)]
pub(super) struct Chats {
    accounts: RedBlackTreeMapSync<String, ChatAccount>,
    bindings: RedBlackTreeMapSync<ChatPlace, ChatBinding>,
    events: RedBlackTreeMapSync<Pair, (ArrivalOutcome, Time)>,
    holds: RedBlackTreeMapSync<Pair, Time>,
    people: RedBlackTreeMapSync<Pair, ChatPerson>,
    messages: RedBlackTreeMapSync<(LogNo, String, String, String), ChatMessageRow>,
    posts: RedBlackTreeMapSync<PostKey, Post>,
    ids: RedBlackTreeMapSync<(String, String, String), PostKey>,
}

impl Chats {
    /// Overwrites the digests of the messages of an erased entry.
    pub(super) fn erased(&mut self, key: Key) {
        let entry = Some(Seq(key.seq));
        let of = self.messages.iter().filter(|((log, ..), row)| *log == key.log && row.entry == entry);
        let names: Vec<_> = of.map(|(name, _)| name.clone()).collect();
        for name in names {
            let Some(row) = self.messages.get(&name).cloned() else { continue };
            self.messages.insert_mut(name, ChatMessageRow { content: [0; 16], ..row });
        }
    }
}

fn pair(one: &str, other: &str) -> Pair {
    (one.to_owned(), other.to_owned())
}

fn triple(one: &str, two: &str, three: &str) -> (String, String, String) {
    (one.to_owned(), two.to_owned(), three.to_owned())
}

impl MemoryRows {
    fn posts_in(&self, log: LogNo) -> impl Iterator<Item = &Post> {
        let key = |no| PostKey { log, no: PostNo(no) };
        self.data.chats.posts.range(key(0)..=key(u64::MAX)).map(|(_, post)| post)
    }
}

impl ChatRows for MemoryRows {
    fn chat_account(&self, name: &str) -> Result<Option<ChatAccount>> {
        Ok(self.data.chats.accounts.get(name).cloned())
    }

    fn chat_accounts(&self) -> Result<Vec<ChatAccount>> {
        Ok(self.data.chats.accounts.values().cloned().collect())
    }

    fn set_chat_account(&mut self, account: &ChatAccount) -> Result<()> {
        self.data.chats.accounts.insert_mut(account.name.clone(), account.clone());
        Ok(())
    }

    fn chat_binding(&self, place: &ChatPlace) -> Result<Option<ChatBinding>> {
        Ok(self.data.chats.bindings.get(place).cloned())
    }

    fn set_chat_binding(&mut self, binding: &ChatBinding) -> Result<()> {
        self.data.chats.bindings.insert_mut(binding.place.clone(), binding.clone());
        Ok(())
    }

    fn remove_chat_binding(&mut self, place: &ChatPlace) -> Result<bool> {
        Ok(self.data.chats.bindings.remove_mut(place))
    }

    fn chat_bindings(&self, account: &str) -> Result<Vec<ChatBinding>> {
        let all = self.data.chats.bindings.values();
        Ok(all.filter(|binding| binding.place.account == account).cloned().collect())
    }

    fn all_chat_bindings(&self) -> Result<Vec<ChatBinding>> {
        Ok(self.data.chats.bindings.values().cloned().collect())
    }

    fn chat_event(&self, account: &str, key: &str) -> Result<Option<ArrivalOutcome>> {
        Ok(self.data.chats.events.get(&pair(account, key)).map(|(outcome, _)| outcome.clone()))
    }

    fn insert_chat_event(
        &mut self,
        account: &str,
        key: &str,
        outcome: &ArrivalOutcome,
        now: Time,
    ) -> Result<()> {
        let key = pair(account, key);
        if !self.data.chats.events.contains_key(&key) {
            self.data.chats.events.insert_mut(key, (outcome.clone(), now));
        }
        Ok(())
    }

    fn has_chat_events(&self, before: Time) -> Result<bool> {
        Ok(self.data.chats.events.values().any(|(_, time)| *time < before))
    }

    fn forget_chat_events(&mut self, before: Time, limit: usize) -> Result<()> {
        let events = self.data.chats.events.iter().map(|(key, (_, time))| (*time, key.clone()));
        let mut old: Vec<_> = events.filter(|(time, _)| *time < before).collect();
        old.sort_unstable();
        for (_, key) in old.into_iter().take(limit) {
            self.data.chats.events.remove_mut(&key);
        }
        Ok(())
    }

    fn chat_holds(&self, account: &str, now: Time) -> Result<Vec<(String, Time)>> {
        let all = self.data.chats.holds.iter().filter(|((of, _), until)| of == account && **until > now);
        Ok(all.map(|((_, bucket), until)| (bucket.clone(), *until)).collect())
    }

    fn set_chat_hold(&mut self, account: &str, bucket: &str, until: Time) -> Result<()> {
        self.data.chats.holds.insert_mut(pair(account, bucket), until);
        Ok(())
    }

    fn chat_person(&self, account: &str, person: &str) -> Result<Option<ChatPerson>> {
        Ok(self.data.chats.people.get(&pair(account, person)).cloned())
    }

    fn set_chat_person(&mut self, person: &ChatPerson) -> Result<()> {
        self.data.chats.people.insert_mut(pair(&person.account, &person.person), person.clone());
        Ok(())
    }

    fn chat_people(&self, account: Option<&str>) -> Result<Vec<ChatPerson>> {
        let all = self.data.chats.people.values();
        Ok(all.filter(|person| account.is_none_or(|account| person.account == account)).cloned().collect())
    }

    fn chat_message(
        &self,
        log: LogNo,
        account: &str,
        chat: &str,
        message: &str,
    ) -> Result<Option<ChatMessageRow>> {
        let (account, chat, message) = triple(account, chat, message);
        Ok(self.data.chats.messages.get(&(log, account, chat, message)).cloned())
    }

    fn set_chat_message(
        &mut self,
        home: &ConversationRow,
        account: &str,
        (chat, message): (&str, &str),
        row: ChatMessageRow,
    ) -> Result<()> {
        let (account, chat, message) = triple(account, chat, message);
        self.data.chats.messages.insert_mut((home.log, account, chat, message), row);
        Ok(())
    }

    fn insert_post(&mut self, home: &ConversationRow, post: Post) -> Result<PostNo> {
        let last = self.posts_in(home.log).last().map_or(0, |post| post.no.0);
        let no = PostNo(last + 1);
        self.data.chats.posts.insert_mut(PostKey { log: home.log, no }, Post { no, ..post });
        Ok(no)
    }

    fn set_post(&mut self, home: &ConversationRow, post: &Post) -> Result<()> {
        self.data.chats.posts.insert_mut(PostKey { log: home.log, no: post.no }, post.clone());
        Ok(())
    }

    fn post(&self, key: PostKey) -> Result<Option<Post>> {
        Ok(self.data.chats.posts.get(&key).cloned())
    }

    fn posts(&self, log: LogNo) -> Result<Vec<Post>> {
        Ok(self.posts_in(log).cloned().collect())
    }

    fn posts_numbered(&self, log: LogNo, first: PostNo, last: PostNo) -> Result<Vec<Post>> {
        Ok(self.posts_in(log).filter(|post| (first..=last).contains(&post.no)).cloned().collect())
    }

    fn last_posts(&self, log: LogNo, limit: usize) -> Result<Vec<Post>> {
        let mut posts: Vec<Post> = self.posts_in(log).cloned().collect();
        posts.reverse();
        posts.truncate(limit);
        Ok(posts)
    }

    fn posts_of_entries(&self, log: LogNo, first: Seq, last: Seq) -> Result<Vec<Post>> {
        let entry = |post: &Post| post.kind.entry().filter(|entry| (first..=last).contains(entry));
        let mut posts: Vec<Post> = self.posts_in(log).filter(|post| entry(post).is_some()).cloned().collect();
        posts.sort_by_key(|post| (entry(post), post.no));
        Ok(posts)
    }

    fn posts_of_op(&self, log: LogNo, op: OpNo) -> Result<Vec<Post>> {
        Ok(self.posts_in(log).filter(|post| post.op == Some(op)).cloned().collect())
    }

    fn posts_due(&self, account: &str, now: Time, limit: usize) -> Result<Vec<PostKey>> {
        let posts = self.data.chats.posts.iter().filter(|(_, post)| post.place.account == account);
        let mut due: Vec<_> = posts.filter_map(|(key, post)| Some((post.due?, *key))).collect();
        due.retain(|(due, _)| *due <= now);
        due.sort_unstable();
        Ok(due.into_iter().take(limit).map(|(_, key)| key).collect())
    }

    fn posts_next(&self, account: &str, after: Time) -> Result<Option<Time>> {
        let posts = self.data.chats.posts.values().filter(|post| post.place.account == account);
        Ok(posts.filter_map(|post| post.due).filter(|due| *due > after).min())
    }

    fn post_by_id(&self, account: &str, chat: &str, id: &str) -> Result<Option<PostKey>> {
        Ok(self.data.chats.ids.get(&triple(account, chat, id)).copied())
    }

    fn set_post_id(&mut self, account: &str, chat: &str, id: &str, key: PostKey) -> Result<()> {
        self.data.chats.ids.insert_mut(triple(account, chat, id), key);
        Ok(())
    }

    fn has_posts(&self, log: LogNo) -> Result<bool> {
        Ok(self.posts_in(log).next().is_some())
    }
}
