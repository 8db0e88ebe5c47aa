//! From the typed notices of the owner to sentences and labels. Must never make words of its own.

use std::time::Duration;

use retake_wire::chat::{ButtonLabel, ChatNotice, ChatRefusal, ChatStep, PostCounts, StayCause};

use crate::capabilities::{Capabilities, DeletionWindow};
use crate::sentences::{Approval, Counts, Fate, Label, Posts, Refusal, Sentence, Status, Stays, Step};

/// The text of a notice.
pub(super) fn text(notice: &ChatNotice, capabilities: &Capabilities) -> String {
    let first = sentence(notice, capabilities).text();
    match notice {
        ChatNotice::Step { files, lost, stopped, .. } => {
            let files = Some(Sentence::Files(*files)).filter(|_| *files > 0);
            let lost = Some(Sentence::PostAgain(*lost)).filter(|_| *lost > 0);
            let stopped = stopped.clone().map(Sentence::NoFurtherStep);
            files
                .into_iter()
                .chain(stopped)
                .chain(lost)
                .fold(first, |text, more| format!("{text} {}", more.text()))
        }
        ChatNotice::ConfirmEdit { .. } => format!("{} {first}", Sentence::Edited.text()),
        ChatNotice::ConfirmRecall { by, .. } => format!("{} {first}", Sentence::Recalled(by.clone()).text()),
        _ => first,
    }
}

/// The label of a button.
pub(super) fn label(label: &ButtonLabel) -> String {
    let label = match label {
        ButtonLabel::Confirm => Label::Confirm,
        ButtonLabel::Cancel => Label::Cancel,
        ButtonLabel::Approve => Label::Approve,
        ButtonLabel::Deny => Label::Deny,
        ButtonLabel::PostAgain => Label::PostAgain,
        ButtonLabel::Turn { text } if text.trim().is_empty() => Label::WrittenElsewhere,
        ButtonLabel::Turn { text } => return crate::sentences::one_line(text),
        ButtonLabel::Older => Label::Older,
        ButtonLabel::DropMine => Label::OnlyMine,
        ButtonLabel::SendWaiting => Label::SendNow,
        ButtonLabel::TakeBack => Label::TakeBack,
        ButtonLabel::SayNew => Label::AsNewMessage,
    };
    label.text().to_owned()
}

fn sentence(notice: &ChatNotice, capabilities: &Capabilities) -> Sentence {
    let prefix = capabilities.commands;
    match notice {
        ChatNotice::Step { step, count, by, posts, .. } => {
            let posts = match posts.sum() {
                sum if sum == posts.trying => Posts::Removing(sum),
                _ => Posts::Counts(counts(posts, capabilities)),
            };
            Sentence::Step { step: of_step(*step, *count), by: by.clone(), posts }
        }
        ChatNotice::Confirm { turns, files, posts, others } => {
            Sentence::Confirm { turns: *turns, files: *files, posts: *posts, others: others.clone() }
        }
        ChatNotice::ConfirmEdit { turns, files, posts, others }
        | ChatNotice::ConfirmRecall { turns, files, posts, others, .. } => {
            Sentence::Confirm { turns: *turns, files: *files, posts: *posts, others: others.clone() }
        }
        ChatNotice::SaidAnew => Sentence::SaidAnew,
        ChatNotice::Choose => Sentence::Choose,
        ChatNotice::Refused(refusal) => of_refusal(refusal, capabilities),
        ChatNotice::Help => Sentence::Help(prefix),
        ChatNotice::NewConversation => Sentence::NewConversation,
        ChatNotice::Stopped => Sentence::Stopped,
        ChatNotice::Status { running, to_send, to_delete } => {
            Sentence::Status(Status { is_running: *running, to_send: *to_send, to_delete: *to_delete })
        }
        ChatNotice::PostsThatStay { posts } => Sentence::PostsThatStay(counts(posts, capabilities)),
        ChatNotice::PartNotSent { part, of } => Sentence::PartNotSent { part: *part, of: *of },
        ChatNotice::Missed { count } => Sentence::Missed(*count),
        ChatNotice::RunFailed { code } => Sentence::RunFailed(code.clone()),
        ChatNotice::ApprovalNeeded { tool, what } => Sentence::ApprovalNeeded(tool.clone(), what.clone()),
        ChatNotice::ApprovalDecided { approved, by } => Sentence::Approval(match approved {
            true => Approval::Approved(by.clone()),
            false => Approval::Denied(by.clone()),
        }),
        ChatNotice::ApprovalUnanswered { waited_s } => {
            Sentence::Approval(Approval::NoAnswer(Duration::from_secs((*waited_s).into())))
        }
        ChatNotice::ApprovalOver => Sentence::Approval(Approval::Over),
        ChatNotice::Cancelled => Sentence::Cancelled,
        ChatNotice::AnswersWait { count } => Sentence::AnswersWait(*count),
        ChatNotice::AnswersSent { count } => Sentence::AnswersSent(*count),
        ChatNotice::PostedAgain { posts } => Sentence::PostedAgain(*posts),
    }
}

fn of_step(step: ChatStep, count: u32) -> Step {
    match step {
        ChatStep::Rewind => Step::Rewind(count),
        ChatStep::Drop => Step::Drop(count),
        ChatStep::Undo => Step::Undo(count),
        ChatStep::Redo => Step::Redo(count),
        ChatStep::Retry => Step::Retry,
        ChatStep::Edit => Step::Edit,
    }
}

fn of_refusal(refusal: &ChatRefusal, capabilities: &Capabilities) -> Sentence {
    Sentence::Refusal(match refusal {
        ChatRefusal::TurnsOf { names } => Refusal::TurnsOf(names.clone()),
        ChatRefusal::LastStepOf { name } => Refusal::LastStepOf(name.clone()),
        ChatRefusal::OwnersOnly => Refusal::OwnersOnly,
        ChatRefusal::NotYourButton => Refusal::NotYourButton,
        ChatRefusal::EditOfOlder => Refusal::EditOfOlder,
        ChatRefusal::NotOfThisConversation => Refusal::NotOfThisConversation,
        ChatRefusal::NeedsReply { verb } => Refusal::NeedsReply(*verb, capabilities.commands),
        ChatRefusal::Nothing { verb } => return Sentence::NothingTo(*verb),
        ChatRefusal::Stale => return Sentence::Stale,
        ChatRefusal::Problem { code } => return Sentence::NotDone(code.clone()),
    })
}

fn counts(posts: &PostCounts, capabilities: &Capabilities) -> Counts {
    let mut counts = Counts::default();
    counts.add(Fate::Gone, posts.gone);
    counts.add(Fate::Emptied, posts.emptied);
    counts.add(Fate::Asked, posts.asked);
    counts.add(Fate::Tried, posts.trying);
    counts.add(Fate::Unknown, posts.unknown);
    for stays in &posts.stays {
        let why = match stays.why {
            StayCause::TooOld => Stays::TooOld(match capabilities.deletes {
                DeletionWindow::Hard(window) => Some(window),
                _ => None,
            }),
            StayCause::NotPermitted => Stays::NotPermitted,
            StayCause::NoWay => Stays::NoWay(capabilities.title.to_owned()),
            StayCause::HasReplies => Stays::Dependents,
            StayCause::ClosedThread => Stays::ClosedThread,
            StayCause::Kept => Stays::Chosen,
            StayCause::GaveUp => Stays::Failed,
        };
        counts.add(Fate::Stays(why), stays.count);
    }
    counts
}
