//! Notices in chats and their buttons: core's values as those of the wire. Must never decide anything.

use retake_core::{ChatButton, ChatNotice, ChatNoticeKind, ChatQuestion, PostCounts, PostKey};
use retake_engine::{ChatVerb, button_data};
use retake_wire::chat as wire;

use super::posts::post_counts;

/// The buttons of a question in rows: each turn has a row of its own.
pub(crate) fn buttons(key: PostKey, asks: &ChatQuestion, labels: Vec<String>) -> Vec<Vec<wire::ChatButton>> {
    use wire::ButtonLabel as L;
    let (mut rows, mut last) = (Vec::new(), Vec::new());
    for (number, (button, text)) in asks.buttons.iter().zip(labels).enumerate() {
        let label = match button {
            ChatButton::Confirm(_) => L::Confirm,
            ChatButton::Cancel => L::Cancel,
            ChatButton::Turn(_) => L::Turn { text },
            ChatButton::Older(_) => L::Older,
            ChatButton::DropMine(_) => L::DropMine,
            ChatButton::SayNew(_) => L::SayNew,
            ChatButton::SendWaiting => L::SendWaiting,
            ChatButton::PostAgain { .. } => L::PostAgain,
            ChatButton::Approve(_) => L::Approve,
            ChatButton::Deny(_) => L::Deny,
        };
        let shown = wire::ChatButton { label, data: button_data(key, asks.round, number) };
        match button {
            ChatButton::Turn(_) => rows.push(vec![shown]),
            _ => last.push(shown),
        }
    }
    rows.extend(Some(last).filter(|last| !last.is_empty()));
    rows
}

/// A notice, with the counts of its posts and the text that it quotes.
pub(crate) fn notice_out(notice: ChatNotice, counts: PostCounts, text: Option<String>) -> wire::ChatNotice {
    use ChatNoticeKind as K;
    let ChatNotice { kind, count, files, mut names, code, posts, asks } = notice;
    let by = names.first().cloned().filter(|name| !name.is_empty());
    let step = |step| wire::ChatNotice::Step {
        step,
        count,
        by: by.clone(),
        posts: post_counts(counts.clone()),
        files,
        stopped: code.clone(),
        lost: if asks.is_some() { posts } else { 0 },
    };
    let refused = |refusal| wire::ChatNotice::Refused(refusal);
    match kind {
        K::Rewound => step(wire::ChatStep::Rewind),
        K::Dropped => step(wire::ChatStep::Drop),
        K::Undone => step(wire::ChatStep::Undo),
        K::Redone => step(wire::ChatStep::Redo),
        K::Retried => step(wire::ChatStep::Retry),
        K::Edited => step(wire::ChatStep::Edit),
        K::TurnsOfOthers => refused(wire::ChatRefusal::TurnsOf { names }),
        K::StepOfOther => refused(wire::ChatRefusal::LastStepOf { name: names.pop().unwrap_or_default() }),
        K::OwnersOnly => refused(wire::ChatRefusal::OwnersOnly),
        K::EditOfOlder => refused(wire::ChatRefusal::EditOfOlder),
        K::NotOfThisConversation => refused(wire::ChatRefusal::NotOfThisConversation),
        K::NeedsReply => refused(wire::ChatRefusal::NeedsReply { verb: verb_named(code.as_deref()) }),
        K::Nothing => refused(wire::ChatRefusal::Nothing { verb: verb_named(code.as_deref()) }),
        K::Problem => refused(wire::ChatRefusal::Problem { code: code.unwrap_or_default() }),
        K::RunFailed => wire::ChatNotice::RunFailed { code: code.unwrap_or_default() },
        K::Help => wire::ChatNotice::Help,
        K::NewConversation => wire::ChatNotice::NewConversation,
        K::Stopped => wire::ChatNotice::Stopped,
        K::Status => wire::ChatNotice::Status { running: code.is_some(), to_send: count, to_delete: files },
        K::PostsThatStay => wire::ChatNotice::PostsThatStay { posts: post_counts(counts) },
        K::PartNotSent => wire::ChatNotice::PartNotSent { part: count, of: files },
        K::Missed => wire::ChatNotice::Missed { count },
        K::Confirm => wire::ChatNotice::Confirm { turns: count, files, posts, others: names },
        K::ConfirmEdit => wire::ChatNotice::ConfirmEdit { turns: count, files, posts, others: names },
        K::ConfirmRecall => {
            let by = by.filter(|_| !names.is_empty());
            let others = names.into_iter().skip(1).collect();
            wire::ChatNotice::ConfirmRecall { by, turns: count, files, posts, others }
        }
        K::SaidAnew => wire::ChatNotice::SaidAnew,
        K::Choose => wire::ChatNotice::Choose,
        K::Stale => refused(wire::ChatRefusal::Stale),
        K::NotYours => refused(wire::ChatRefusal::NotYourButton),
        K::Cancelled => wire::ChatNotice::Cancelled,
        K::AnswersWait => wire::ChatNotice::AnswersWait { count },
        K::AnswersSent => wire::ChatNotice::AnswersSent { count },
        K::ApprovalNeeded => wire::ChatNotice::ApprovalNeeded {
            tool: code.unwrap_or_default(),
            what: text.unwrap_or_default(),
        },
        K::Approved | K::Denied => wire::ChatNotice::ApprovalDecided {
            approved: kind == K::Approved,
            by: names.pop().unwrap_or_default(),
        },
        K::NoAnswer => wire::ChatNotice::ApprovalUnanswered { waited_s: count },
        K::ApprovalOver => wire::ChatNotice::ApprovalOver,
        K::PostedAgain => wire::ChatNotice::PostedAgain { posts },
    }
}

/// The command that a notice names. All names are stored by the engine.
fn verb_named(code: Option<&str>) -> wire::ChatVerb {
    let verb = code.and_then(|code| code.parse().ok()).unwrap_or(ChatVerb::Help);
    match verb {
        ChatVerb::Rewind => wire::ChatVerb::Rewind,
        ChatVerb::Undo => wire::ChatVerb::Undo,
        ChatVerb::Redo => wire::ChatVerb::Redo,
        ChatVerb::Retry => wire::ChatVerb::Retry,
        ChatVerb::Drop => wire::ChatVerb::Drop,
        ChatVerb::Stop => wire::ChatVerb::Stop,
        ChatVerb::New => wire::ChatVerb::New,
        ChatVerb::Help => wire::ChatVerb::Help,
        ChatVerb::Status => wire::ChatVerb::Status,
        ChatVerb::Posts => wire::ChatVerb::Posts,
        ChatVerb::Confirm => wire::ChatVerb::Confirm,
        ChatVerb::Cancel => wire::ChatVerb::Cancel,
    }
}
