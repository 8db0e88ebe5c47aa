//! Fixed sentences of chats, as typed values: the gateway makes the words. Names in them are untrusted.

use serde::{Deserialize, Serialize};

use super::ChatVerb;
use super::work::PostCounts;

/// A sentence for people in a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum ChatNotice {
    /// A step was done.
    Step {
        /// What it was.
        step: ChatStep,
        /// How many turns or steps.
        count: u32,
        /// Who asked, where others read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What became of its posts.
        posts: PostCounts,
        /// Files that it changed.
        #[serde(default)]
        files: u32,
        /// Why further steps were not made: the code of a problem.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped: Option<String>,
        /// Posts that it brought back but that are not in the chat any more: a button offers to post them again.
        #[serde(default, skip_serializing_if = "is_zero")]
        lost: u32,
    },
    /// Asks whether to go on with a step.
    Confirm {
        /// The turns that it takes back.
        turns: u32,
        /// The files that it changes.
        files: u32,
        /// The posts that it takes back.
        posts: u32,
        /// Other people whose turns it takes back: at most 8.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
    },
    /// Asks whether an edit should be answered.
    ConfirmEdit {
        /// The turns that it takes back, with that of the edited message.
        turns: u32,
        /// The files that it changes.
        files: u32,
        /// The posts that it takes back.
        posts: u32,
        /// Other people whose turns it takes back: at most 8.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
    },
    /// Asks whether to take back the turn of a message that its author has deleted.
    ConfirmRecall {
        /// The author, where others read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The turns that it takes back.
        turns: u32,
        /// The files that it changes.
        files: u32,
        /// The posts that it takes back.
        posts: u32,
        /// Other people whose turns it takes back: at most 8.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
    },
    /// The new wording of a message was said as a new message.
    SaidAnew,
    /// Asks for the turn to go back to: the buttons name the turns.
    Choose,
    /// Refused.
    Refused(ChatRefusal),
    /// The list of commands.
    Help,
    /// A new conversation begins in this place.
    NewConversation,
    /// The run was stopped.
    Stopped,
    /// What is going on.
    Status {
        /// Whether an answer is being written.
        running: bool,
        /// Posts that wait to be sent.
        to_send: u32,
        /// Posts that wait to be deleted.
        to_delete: u32,
    },
    /// The posts that stay.
    PostsThatStay {
        /// By the cause.
        posts: PostCounts,
    },
    /// A part of an answer could not be sent.
    PartNotSent {
        /// Which, from 1.
        part: u32,
        /// Of how many.
        of: u32,
    },
    /// So many messages were missed, and are not answered.
    Missed {
        /// How many.
        count: u32,
    },
    /// The run failed. The code is one of problems.
    RunFailed {
        /// The code.
        code: String,
    },
    /// An approval is needed.
    ApprovalNeeded {
        /// The name of the tool.
        tool: String,
        /// What it would do, on one line, shortened.
        what: String,
    },
    /// An approval was decided.
    ApprovalDecided {
        /// Whether it was given.
        approved: bool,
        /// By whom.
        by: String,
    },
    /// Nobody answered in time, so the call was denied.
    ApprovalUnanswered {
        /// How long was waited, in seconds.
        waited_s: u32,
    },
    /// The call does not wait any more: it was decided elsewhere, or its turn was taken back.
    ApprovalOver,
    /// The person has decided against it: nothing was done.
    Cancelled,
    /// So many answers wait for more than a day. Asks whether to send them.
    AnswersWait {
        /// How many.
        count: u32,
    },
    /// Answers that waited are sent.
    AnswersSent {
        /// How many.
        count: u32,
    },
    /// Posts are made again.
    PostedAgain {
        /// How many were gone.
        posts: u32,
    },
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A step, in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChatStep {
    /// Turns were taken back.
    Rewind,
    /// Turns were dropped.
    Drop,
    /// Steps were undone.
    Undo,
    /// Undone steps were done again.
    Redo,
    /// The last answer is made again.
    Retry,
    /// A message got another wording.
    Edit,
}

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum ChatRefusal {
    /// Turns of these people come after it: at most 8 names.
    TurnsOf {
        /// The names.
        names: Vec<String>,
    },
    /// The last step was somebody else's.
    LastStepOf {
        /// The name.
        name: String,
    },
    /// Only an owner may do that.
    OwnersOnly,
    /// The button belongs to the person who asked.
    NotYourButton,
    /// The message belongs to no turn of this conversation.
    NotOfThisConversation,
    /// An edit of a message that is not the last one of the conversation.
    EditOfOlder,
    /// The command needs a reply to a message.
    NeedsReply {
        /// The command.
        verb: ChatVerb,
    },
    /// There is nothing to do.
    Nothing {
        /// The command.
        verb: ChatVerb,
    },
    /// The list or the button is older than the conversation.
    Stale,
    /// Anything else: the code of the problem.
    Problem {
        /// The code.
        code: String,
    },
}
