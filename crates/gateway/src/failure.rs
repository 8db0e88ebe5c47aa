//! Why a call to a platform failed, for the code above the adapters. Must never hold a text of the platform, an address or a token:
//! they are untrusted or secret.

use std::time::Duration;

use crate::receipt::InboxClosed;

/// Why a call failed. Adapters decide by status and error codes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The platform said when to try again (429).
    #[error("the platform wants us to wait")]
    Wait {
        /// How long, as the platform said.
        wait: Duration,
        /// The bucket that it holds for. `None` is that of the call.
        bucket: Option<String>,
    },
    /// The message is not there. For a deletion that is success.
    #[error("the message is not there")]
    NotFound,
    /// The platform refused, and will refuse again.
    #[error("the platform refused")]
    Refused(Refused),
    /// The token is wrong or was revoked.
    #[error("the platform does not accept the token")]
    BadToken,
    /// Another program receives the events of this account.
    #[error("another program uses this account")]
    Occupied,
    /// The request may have taken effect: the answer was lost.
    #[error("the answer of the platform was lost")]
    Unknown,
    /// The request did not take effect: no connection, or an error of the platform that says so. It can be repeated.
    #[error("the platform cannot be reached")]
    Unreachable,
    /// The answer does not have the form that the adapter knows.
    #[error("the platform answered in an unknown form")]
    Unreadable,
    /// The inbox took no more events: the gateway stops, or lost its lease.
    #[error("the inbox is closed")]
    Closed,
}

/// Why a platform refused a call for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// We may not do that here, or not any more: no permission, blocked, removed.
    NotPermitted,
    /// The message is too old for that.
    TooOld,
    /// The text is too long.
    TooLong,
    /// The formatting cannot be read.
    BadFormat,
    /// The thread is closed.
    ClosedThread,
    /// A batch was refused because of one of its members.
    Batch,
    /// Anything else: the request makes no sense to the platform.
    Other,
}

impl From<InboxClosed> for Failure {
    fn from(_: InboxClosed) -> Self {
        Self::Closed
    }
}
