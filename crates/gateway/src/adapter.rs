//! The trait of a platform's adapter. An adapter talks to one account of its platform. It decides nothing about conversations, and
//! keeps nothing that must survive it.

use async_trait::async_trait;
use retake_wire::chat::{Inbound, InboundFile, Person, Place};

use crate::capabilities::Capabilities;
use crate::failure::Failure;
use crate::receipt::{InboxClosed, Receipt};

/// An account of a chat platform.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// What the platform can do.
    fn capabilities(&self) -> &'static Capabilities;

    /// The length of a text as this adapter sends it, in the unit of its capabilities. Answers are split by it. An adapter whose
    /// rendering is longer than the text (HTML, escapes) overrides it.
    fn length(&self, text: &StyledText) -> usize {
        crate::text::length(&text.text, self.capabilities().unit)
    }

    /// Checks the token, and says who we are there and what is not switched on yet.
    async fn identify(&self) -> Result<Identity, Failure>;

    /// Receives events until it fails. Each event is put into the inbox, and acknowledged to the platform only when it is durable. An
    /// adapter goes on to receive while events wait for that: the inbox joins albums and messages in parts. Events of our own account
    /// are left out. `cursor` is where the last connection ended.
    ///
    /// The result is always a failure: also [`Failure::Closed`], when the inbox takes no more.
    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure;

    /// Sends a post. The marker makes the platform recognise a repeated request, or us find the post again, as far as the
    /// capabilities say. Returns all ids that the platform gave.
    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure>;

    /// Replaces the text of a post. A platform that answers *not modified* has succeeded. Returns further ids, if the edit is a
    /// message of its own.
    async fn edit(&self, place: &Place, id: &str, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure>;

    /// Deletes a post, or a message of a person where we may. An edit that is a message is deleted like a post.
    async fn delete(&self, place: &Place, id: &str) -> Result<Deleted, Failure>;

    /// Deletes several posts of one chat at once. Only called with as many ids as the capabilities allow, each once.
    async fn delete_many(&self, place: &Place, ids: &[String]) -> Result<(), Failure>;

    /// The digest of a post's text as it stands on the platform, for [`Marker::digest`]. Adapters that send the text in another form
    /// take that form, so that `find` recognises it.
    fn digest(&self, post: &Outgoing) -> String {
        crate::text::digest(&post.text.text)
    }

    /// Looks for a post of ours that was sent at about this time (Unix milliseconds).
    async fn find(&self, place: &Place, marker: &Marker, since_ms: i64) -> Result<Found, Failure>;

    /// Whether our own posts can be deleted in this chat.
    async fn probe(&self, place: &Place) -> Result<Probe, Failure>;

    /// Whether this person moderates the place.
    async fn moderates(&self, place: &Place, person: &str) -> Result<bool, Failure>;

    /// The bytes of an attached file, at most `most` of them: a larger file is `Failure::Refused(TooLong)`.
    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure>;

    /// Shows a text to one person only: as an answer to a press, or as a message that only they see. Says `Refused(Other)` where
    /// the platform has no way.
    async fn whisper(
        &self,
        place: &Place,
        person: &Person,
        text: &str,
        answer_to: Option<&str>,
    ) -> Result<(), Failure>;

    /// Shows that an answer is being written. Nothing that must arrive.
    async fn typing(&self, place: &Place) -> Result<(), Failure>;
}

/// Where received events go.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Takes an event over, as soon as there is room for it. The receipt says when it is durable: that may take seconds, because the
    /// event may be one message with those after it. `transport_key` is unique in the account, and the same when the platform delivers
    /// the event again.
    async fn arrived(&self, transport_key: &str, event: Inbound) -> Result<Receipt, InboxClosed>;

    /// Takes a cursor over. It is recorded when everything is durable that was handed over before it; the receipt says when.
    async fn advance(&self, cursor: &str) -> Result<Receipt, InboxClosed>;

    /// The places that are bound to a conversation, each with the platform id of the last message that arrived from it. For
    /// platforms that do not redeliver.
    async fn places(&self) -> Vec<(Place, Option<String>)>;
}

/// Our account on the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Our platform id.
    pub id: String,
    /// The name by which people mention us.
    pub name: String,
    /// What a person still has to do at the platform.
    pub missing: Vec<SetupStep>,
}

/// What a person still has to do at the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupStep {
    /// Invite the bot to a room or channel, or write to it.
    Invite,
    /// Let the bot read messages that do not mention it (privacy mode, message content intent).
    ReadMessages,
    /// Grant a scope or a permission.
    Scope(&'static str),
    /// Switch on the way by which events reach us (socket mode).
    Events,
}

/// A post to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    /// The text in the platform's form.
    pub text: StyledText,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// Rows of buttons.
    pub buttons: Vec<Vec<Button>>,
    /// A file in place of the text, with the text as its caption.
    pub file: Option<SentFile>,
    /// Whether the platform should not notify people.
    pub is_silent: bool,
}

/// A text with styles: what every platform can be told in its own form. Ranges are in bytes of `text`, sorted, and may nest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledText {
    /// The plain text: what is shown where no style can be.
    pub text: String,
    /// The styles.
    pub styles: Vec<Styled>,
}

/// A style of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Styled {
    /// The part, in bytes.
    pub range: std::ops::Range<usize>,
    /// Its style.
    pub style: Style,
}

/// A style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Struck out.
    Strike,
    /// Code within a line.
    Code,
    /// A block of code, with its language.
    Block(Option<String>),
    /// A quotation.
    Quote,
    /// A link to `http` or `https`, or `mailto`.
    Link(String),
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// Its label.
    pub label: String,
    /// What comes back when it is pressed: at most 64 characters of `[A-Za-z0-9_-]`.
    pub data: String,
}

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFile {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Our own mark of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// At most 25 characters of `[A-Za-z0-9]`, unique for each attempt's content, the same when it is repeated.
    pub key: String,
    /// A digest of the text that was sent.
    pub digest: String,
}

/// What was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// All ids that the platform gave, in order.
    pub ids: Vec<String>,
    /// When, by the platform's clock, in Unix milliseconds.
    pub sent_ms: Option<i64>,
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Gone,
    /// It was not there any more.
    AlreadyGone,
    /// An empty message remains.
    Emptied,
    /// The clients were asked.
    Asked,
}

/// Whether a post was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Here it is.
    Found(Sent),
    /// It is certainly not there.
    Absent,
    /// The platform cannot tell.
    CannotTell,
}

/// Whether our own posts can be deleted in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Yes. Whether several at once can be, too.
    Yes {
        /// Whether bulk deletion is permitted.
        bulk: bool,
    },
    /// No: we lack the permission.
    NotPermitted,
    /// The platform does not say.
    Unknown,
}
