//! What is shown beside another branch: what was said there, and nothing that both have.

use retake_wire::reply::Branch;
use retake_wire::request::Log;

use super::LAST;
use super::drawn::said;
use crate::ui::preview::last_of;
use crate::ui::scroll::Manner;

/// So many messages, from where it leaves what is the conversation now.
pub(super) const THERE: usize = 40;

/// What was said on another branch, from where it leaves what is the conversation now; and a line of that.
pub(super) fn there(conversation: &str, branch: &Branch) -> (String, Manner, Log) {
    let log = last_of(conversation, if branch.shared.is_some() { THERE } else { LAST });
    let after = branch.shared.as_ref().map(|shared| shared.id.clone());
    let log = Log { branch: Some(branch.leaf.clone()), after, ..log };
    match &branch.shared {
        Some(shared) => {
            (format!("leaves what is here after {}; said there:", said(shared)), Manner::FromTop, log)
        }
        None => ("has nothing in common with what is here; its end:".to_owned(), Manner::Plain, log),
    }
}
