//! The interface for rows of chats. Those of accounts are global; messages and posts belong to conversations.

use retake_core::{
    ArrivalOutcome, ChatAccount, ChatBinding, ChatMessageRow, ChatPerson, ChatPlace, OpNo, Post, PostKey,
    PostNo, Seq, Time,
};

use super::{ConversationRow, LogNo};
use crate::error::Result;

/// Rows of chats, within one transaction.
pub trait ChatRows {
    /// An account.
    fn chat_account(&self, name: &str) -> Result<Option<ChatAccount>>;
    /// All accounts, by name.
    fn chat_accounts(&self) -> Result<Vec<ChatAccount>>;
    /// Adds or overwrites an account.
    fn set_chat_account(&mut self, account: &ChatAccount) -> Result<()>;
    /// The binding of a place.
    fn chat_binding(&self, place: &ChatPlace) -> Result<Option<ChatBinding>>;
    /// Adds or overwrites a binding.
    fn set_chat_binding(&mut self, binding: &ChatBinding) -> Result<()>;
    /// Removes a binding. Returns whether there was one.
    fn remove_chat_binding(&mut self, place: &ChatPlace) -> Result<bool>;
    /// All bindings of an account.
    fn chat_bindings(&self, account: &str) -> Result<Vec<ChatBinding>>;
    /// All bindings of all accounts.
    fn all_chat_bindings(&self) -> Result<Vec<ChatBinding>>;
    /// What became of an event.
    fn chat_event(&self, account: &str, key: &str) -> Result<Option<ArrivalOutcome>>;
    /// Records what became of an event. The first record counts.
    fn insert_chat_event(
        &mut self,
        account: &str,
        key: &str,
        outcome: &ArrivalOutcome,
        now: Time,
    ) -> Result<()>;
    /// Whether there is an event that was recorded before this time.
    fn has_chat_events(&self, before: Time) -> Result<bool>;
    /// Removes events that were recorded before this time, the oldest first.
    fn forget_chat_events(&mut self, before: Time, limit: usize) -> Result<()>;
    /// The holds of an account that end after this time.
    fn chat_holds(&self, account: &str, now: Time) -> Result<Vec<(String, Time)>>;
    /// Adds or overwrites a hold.
    fn set_chat_hold(&mut self, account: &str, bucket: &str, until: Time) -> Result<()>;
    /// A person.
    fn chat_person(&self, account: &str, person: &str) -> Result<Option<ChatPerson>>;
    /// Adds or overwrites a person.
    fn set_chat_person(&mut self, person: &ChatPerson) -> Result<()>;
    /// All people of an account; of all accounts, if none is named.
    fn chat_people(&self, account: Option<&str>) -> Result<Vec<ChatPerson>>;
    /// A message of a person.
    fn chat_message(
        &self,
        log: LogNo,
        account: &str,
        chat: &str,
        message: &str,
    ) -> Result<Option<ChatMessageRow>>;
    /// Adds or overwrites a message of a person.
    fn set_chat_message(
        &mut self,
        home: &ConversationRow,
        account: &str,
        names: (&str, &str),
        row: ChatMessageRow,
    ) -> Result<()>;
    /// Adds a post, and numbers it.
    fn insert_post(&mut self, home: &ConversationRow, post: Post) -> Result<PostNo>;
    /// Overwrites a post.
    fn set_post(&mut self, home: &ConversationRow, post: &Post) -> Result<()>;
    /// A post.
    fn post(&self, key: PostKey) -> Result<Option<Post>>;
    /// All posts of a conversation, in order of their numbers.
    fn posts(&self, log: LogNo) -> Result<Vec<Post>>;
    /// The posts of a conversation from one number to another, in their order.
    fn posts_numbered(&self, log: LogNo, first: PostNo, last: PostNo) -> Result<Vec<Post>>;
    /// The newest posts of a conversation, the newest first.
    fn last_posts(&self, log: LogNo, limit: usize) -> Result<Vec<Post>>;
    /// The posts of the entries from the first to the last, in their order.
    fn posts_of_entries(&self, log: LogNo, first: Seq, last: Seq) -> Result<Vec<Post>>;
    /// The posts of an operation.
    fn posts_of_op(&self, log: LogNo, op: OpNo) -> Result<Vec<Post>>;
    /// The posts of an account that are due, the earliest first.
    fn posts_due(&self, account: &str, now: Time, limit: usize) -> Result<Vec<PostKey>>;
    /// When the next post of an account is due after this time.
    fn posts_next(&self, account: &str, after: Time) -> Result<Option<Time>>;
    /// The post with this platform id.
    fn post_by_id(&self, account: &str, chat: &str, id: &str) -> Result<Option<PostKey>>;
    /// Records the platform id of a post.
    fn set_post_id(&mut self, account: &str, chat: &str, id: &str, key: PostKey) -> Result<()>;
    /// Whether the conversation has a post.
    fn has_posts(&self, log: LogNo) -> Result<bool>;
}
