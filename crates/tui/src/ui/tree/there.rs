//! The preview of another branch: its own messages, not the common ones.

use retake_wire::reply::Branch;
use retake_wire::request::Log;

use super::LAST;
use super::drawn::said;
use crate::ui::preview::last_of;
use crate::ui::scroll::ReplyDisplay;

/// Messages from where it leaves the current branch.
pub(super) const THERE: usize = 40;

/// A request for the messages of another branch from where it leaves the current one, and a line about
/// them.
pub(super) fn there(conversation: &str, branch: &Branch) -> (String, ReplyDisplay, Log) {
    let log = last_of(conversation, if branch.shared.is_some() { THERE } else { LAST });
    let after = branch.shared.as_ref().map(|shared| shared.id.clone());
    let log = Log { branch: Some(branch.leaf.clone()), after, ..log };
    match &branch.shared {
        Some(shared) => {
            (format!("branches off after {}; messages there:", said(shared)), ReplyDisplay::FromTop, log)
        }
        None => ("has no message in common with this branch; its end:".to_owned(), ReplyDisplay::Plain, log),
    }
}
