//! What a platform can do, as data. Each row is in the adapter, and each cell names its source. Code above the adapters decides by
//! these rows only.

use std::time::Duration;

/// What a platform can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// The name in settings and verbs, such as `matrix`.
    pub platform: &'static str,
    /// The name that people know.
    pub title: &'static str,
    /// How people write commands.
    pub commands: CommandPrefix,
    /// The longest text of one post, in `unit`. We stay 5 % below.
    pub longest: usize,
    /// What `longest` counts.
    pub unit: LengthUnit,
    /// How long our own posts can be deleted.
    pub deletes: DeletionWindow,
    /// Whether several posts can be deleted at once.
    pub bulk: Option<BulkDeletion>,
    /// What people still see of a deleted post.
    pub remains: Remains,
    /// Whether edits of a post are messages that must be deleted, too.
    pub edits_are_messages: bool,
    /// Whether our own posts can be edited.
    pub edits: bool,
    /// What to do with a request whose answer was lost, in this order.
    pub resend: &'static [Resend],
    /// Whether an answer is shown while it is written, by edits of its first post: in private and in shared places.
    pub previews: [bool; 2],
    /// Whether posts can have buttons.
    pub buttons: bool,
    /// Whether a notice can be shown to one person only.
    pub ephemeral: bool,
    /// The usual rates: the least time between calls in one place, and of the whole account.
    pub spacing: [Duration; 2],
}

/// How people write commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandPrefix {
    /// `/rewind`.
    Slash,
    /// `!rewind`.
    Bang,
    /// `@bot rewind`: the mention is removed, the first word is the command.
    Mention,
}

/// What a length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// UTF-16 code units.
    Utf16,
    /// Characters (Unicode scalar values).
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

/// How long our own posts can be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionWindow {
    /// At any age.
    Always,
    /// So long after the platform's time of sending; later, no call is made.
    Hard(Duration),
    /// A policy of the server decides: one attempt.
    Policy,
    /// There is no way.
    Never,
}

/// How several posts are deleted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkDeletion {
    /// The fewest posts of a batch.
    pub least: usize,
    /// The most posts of a batch.
    pub most: usize,
    /// The oldest post of a batch.
    pub oldest: Duration,
}

/// What people still see of a deleted post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Nothing.
    Nothing,
    /// An empty message.
    Stub,
    /// A stub only where replies hang on it.
    StubWithReplies,
    /// Clients decide.
    Asked,
}

/// What to do with a request whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// Send it again with the same marker, so long after the first attempt: the platform recognises it.
    Again(Duration),
    /// Look for the post in the place's history.
    Find,
    /// Send it again. Where this comes first, the post may be there twice, so it is reported as unknown.
    Send,
}
