//! The conclusion of a branch or a fork, to be quoted here: it is copied, the messages that led to it stay there (`wants.md`,
//! 15). Must never send it.

use retake_wire::reply::Entry;
use retake_wire::request::Log;
use retake_wire::{Part, Reply, Role, Run, RunStart};

use super::{Node, NodeKind};
use crate::ui::preview::last_of;

/// How far back from the end a conclusion is searched.
const BACK: usize = 40;

/// The request for the messages that may hold a row's conclusion. The error sentence says why there is none.
pub(super) fn reads(conversation: &str, node: &Node) -> Result<Log, &'static str> {
    match &node.is {
        NodeKind::Tip(branch) if branch.current => Err("you are here: there is nothing to carry over"),
        NodeKind::Tip(branch) => Ok(Log { branch: Some(branch.leaf.clone()), ..last_of(conversation, BACK) }),
        NodeKind::Fork(fork, _) => Ok(last_of(&fork.conversation, BACK)),
        NodeKind::Subagent(subagent) => Ok(last_of(&subagent.conversation, BACK)),
        NodeKind::Beginning(_) | NodeKind::Parting(_) | NodeKind::Heading(_) => {
            Err("only messages of a branch can be carried over")
        }
    }
}

/// The run in which the model summarises a row's branch. The error sentence says why there is none.
pub(super) fn summarises(conversation: String, node: &Node) -> Result<Run, &'static str> {
    let branch = match &node.is {
        NodeKind::Tip(branch) if branch.current => {
            return Err("you are here: there is nothing to carry over");
        }
        NodeKind::Tip(branch) => Some(branch.leaf.clone()),
        _ => return Err("only a branch can be summarised here"),
    };
    Ok(Run {
        conversation,
        folder: None,
        start: RunStart::Compact { instructions: None, from: None, to: None, branch },
        files: Default::default(),
        model: None,
        head: None,
        permit: Default::default(),
        request_id: None,
    })
}

/// The last answer among these messages; without one, the last text.
pub(super) fn conclusion(reply: &Reply) -> Option<String> {
    let Reply::Entries(page) = reply else { return None };
    let said = |is_meant: fn(&Entry) -> bool| {
        page.entries.iter().rev().filter(|entry| is_meant(entry)).find_map(words)
    };
    said(|entry| entry.role == Role::Assistant).or_else(|| said(|entry| entry.role == Role::User))
}

/// The text of a message, without its calls and its reasoning.
fn words(entry: &Entry) -> Option<String> {
    let texts = entry.parts.iter().filter_map(|part| match part {
        Part::Text { text } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
