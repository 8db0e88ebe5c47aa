//! What is done beside the posts of the ledger: it may be lost when the gateway ends. Must never hold anything that matters.

use retake_wire::chat::{Person, Place};

/// Something to do, or to know.
pub(super) enum Aside {
    /// Show that an answer is being written.
    Typing(Place),
    /// Tell a stranger the pairing code. The key is that of the event.
    Pairing { place: Place, code: String, key: String },
    /// Show a text to the person who pressed a button.
    Whisper { place: Place, person: Person, text: String, answer_to: String },
    /// We were added to a chat, or removed from it.
    Membership { place: Place, is_member: bool },
}
