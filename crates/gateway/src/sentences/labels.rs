//! The labels of buttons. Must never be longer than a phone shows.

/// A button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Takes back a turn.
    TakeBack,
    /// Goes on with a step.
    Confirm,
    /// Does nothing.
    Cancel,
    /// A turn that was not written here.
    WrittenElsewhere,
    /// Shows older turns.
    Older,
    /// Takes back the posts in other places, too.
    ThereToo,
    /// Leaves the posts in other places.
    LeaveThem,
    /// Takes back only the own turns.
    OnlyMine,
    /// Posts again what was removed.
    PostAgain,
    /// Sends answers that wait.
    SendNow,
    /// Makes an edit a new message.
    AsNewMessage,
    /// Approves.
    Approve,
    /// Denies.
    Deny,
}

impl Label {
    /// All labels.
    pub const ALL: &[Self] = &[
        Self::TakeBack,
        Self::Confirm,
        Self::Cancel,
        Self::WrittenElsewhere,
        Self::Older,
        Self::ThereToo,
        Self::LeaveThem,
        Self::OnlyMine,
        Self::PostAgain,
        Self::SendNow,
        Self::AsNewMessage,
        Self::Approve,
        Self::Deny,
    ];

    /// The label in English.
    pub fn text(self) -> &'static str {
        match self {
            Self::TakeBack => "Take back",
            Self::Confirm => "Do it",
            Self::Cancel => "Cancel",
            Self::WrittenElsewhere => "(written elsewhere)",
            Self::Older => "Older",
            Self::ThereToo => "There too",
            Self::LeaveThem => "Leave them",
            Self::OnlyMine => "Drop only mine",
            Self::PostAgain => "Post again",
            Self::SendNow => "Send now",
            Self::AsNewMessage => "Say it as a new message",
            Self::Approve => "Approve",
            Self::Deny => "Deny",
        }
    }
}
