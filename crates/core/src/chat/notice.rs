//! Fixed sentences of chats, as values: a gateway makes the words. One form for all kinds, so that it is stored simply.

use strum::{EnumString, IntoStaticStr};

use super::ChatQuestion;

/// A sentence for people in a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatNotice {
    /// Which one.
    pub kind: ChatNoticeKind,
    /// How many turns, steps, messages. Of a status: the posts to send. Of a part: its number.
    pub count: u32,
    /// How many files. Of a status: the posts to delete. Of a part: how many parts there are.
    pub files: u32,
    /// Who asked, or the people that it names.
    pub names: Vec<String>,
    /// The code of a problem, or the command. Of a status: `running` during a run. Of an approval: the tool.
    pub code: Option<String>,
    /// How many posts.
    pub posts: u32,
    /// What it asks.
    pub asks: Option<ChatQuestion>,
}

/// The kinds of sentences. Their stored names do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ChatNoticeKind {
    /// Turns were taken back.
    Rewound,
    /// Turns were dropped.
    Dropped,
    /// Steps were undone.
    Undone,
    /// Undone steps were done again.
    Redone,
    /// The last answer is made again.
    Retried,
    /// A message got another wording.
    Edited,
    /// Turns of these people come after it.
    TurnsOfOthers,
    /// The last step was of this person.
    StepOfOther,
    /// Only an owner may do that.
    OwnersOnly,
    /// The message belongs to no turn of this conversation.
    NotOfThisConversation,
    /// An edit of a message that is not the last one.
    EditOfOlder,
    /// The command needs a reply to a message.
    NeedsReply,
    /// There is nothing to do.
    Nothing,
    /// Something failed: a problem with a code.
    #[default]
    Problem,
    /// The answer failed: a problem with a code.
    RunFailed,
    /// The commands.
    Help,
    /// A new conversation begins.
    NewConversation,
    /// The run was stopped.
    Stopped,
    /// What is going on.
    Status,
    /// The posts that stay.
    PostsThatStay,
    /// A part of an answer could not be sent.
    PartNotSent,
    /// So many messages were missed.
    Missed,
    /// Asks whether to make a step that takes back much.
    Confirm,
    /// Asks whether an edit should be answered, which takes back what follows the message.
    ConfirmEdit,
    /// Asks whether to take back the turn of a deleted message. The first name is that of its author, where others read it.
    ConfirmRecall,
    /// A new wording was said as a new message.
    SaidAnew,
    /// Asks for the turn to go back to.
    Choose,
    /// The question is older than the conversation.
    Stale,
    /// The question belongs to somebody else.
    NotYours,
    /// The person has decided against it.
    Cancelled,
    /// A call needs an approval.
    ApprovalNeeded,
    /// A call was allowed.
    Approved,
    /// A call was denied.
    Denied,
    /// Nobody has answered in time.
    NoAnswer,
    /// The call does not wait any more.
    ApprovalOver,
    /// Posts are made again.
    PostedAgain,
    /// So many answers wait for too long. Asks whether to send them.
    AnswersWait,
    /// Answers that waited are sent.
    AnswersSent,
}

impl ChatNoticeKind {
    /// Whether it tells of a step whose posts are counted.
    pub fn is_step(self) -> bool {
        matches!(
            self,
            Self::Rewound | Self::Dropped | Self::Undone | Self::Redone | Self::Retried | Self::Edited
        )
    }
}
