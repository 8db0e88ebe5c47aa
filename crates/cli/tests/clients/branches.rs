//! The branches of a conversation, one of them labelled, and a fork. Only data.

use retake_wire::Role;
use retake_wire::reply::{Branch, ForkLine, Tree};

use super::fixtures::{OTHER, id, line};

/// The tree as an owner sends it.
pub(super) fn tree() -> Tree {
    Tree {
        subagents: Vec::new(),
        head: "12.6".to_owned(),
        more: false,
        branches: vec![
            Branch {
                leaf: id(4),
                current: false,
                from: None,
                onto: None,
                shared: Some(line(2, Role::Assistant, "read_file")),
                first: Some(line(1, Role::User, "What is in the notes?")),
                called: Some(line(3, Role::Tool, "next line")),
                last: line(4, Role::Assistant, "A long answer"),
                messages: 4,
                own: 4,
                label: Some("start".to_owned()),
            },
            Branch {
                leaf: id(6),
                current: true,
                from: Some(line(2, Role::Assistant, "read_file")),
                onto: Some(id(4)),
                shared: None,
                first: Some(line(5, Role::User, "\x1b[2Jgone")),
                called: Some(line(5, Role::User, "\x1b[2Jgone")),
                last: line(6, Role::Assistant, "[erased]"),
                messages: 6,
                own: 2,
                label: None,
            },
        ],
        forks: vec![ForkLine {
            conversation: OTHER.to_owned(),
            title: "Plans".to_owned(),
            from: Some(id(2)),
        }],
    }
}
