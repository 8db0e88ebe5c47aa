//! Connects conversations to chat platforms. It knows `wire` and the platforms, and holds no truth: it may be killed at any moment,
//! and nothing is lost. Must never name a platform outside of the adapters.

mod adapter;
mod capabilities;
pub mod commands;
mod deletion;
mod discord;
mod failure;
mod http;
pub mod matrix;
#[cfg(test)]
mod odd;
pub mod platforms;
pub mod rate;
mod receipt;
mod runtime;
pub mod sentences;
mod slack;
mod telegram;
pub mod text;

pub use adapter::{
    Adapter, Button, Deleted, Found, Identity, Inbox, Marker, Outgoing, Probe, Sent, SentFile, SetupStep,
    Style, Styled, StyledText,
};
pub use capabilities::{
    BulkDeletion, Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains, Resend,
};
pub use deletion::{OwnPost, batches};
pub use discord::{Discord, DiscordConfig};
pub use failure::{Failure, Refused};
pub use receipt::{InboxClosed, Receipt};
pub use runtime::{Clock, Condition, Health, Limits, Options, RuntimeError, run};
pub use slack::{Slack, SlackConfig};
pub use telegram::{Telegram, TelegramConfig};
