//! All fixed sentences that people read in chats, made from values, so that they can be translated. Must never name a platform, and
//! never say that a post is gone when it is not.

mod counts;
mod english;
mod labels;
#[cfg(test)]
mod tests;

use std::time::Duration;

use retake_wire::chat::ChatVerb;

pub use self::counts::{Counts, Fate, Stays};
pub use self::labels::Label;

use crate::adapter::StyledText;
use crate::capabilities::CommandPrefix;

/// A sentence for people in a chat. Names are untrusted: they are shown on one line, and shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// The result of a step that takes something back.
    Step {
        /// What was done.
        step: Step,
        /// Who asked, where others read it.
        by: Option<String>,
        /// What became of the posts.
        posts: Posts,
    },
    /// Asks whether to go on with a step that takes back more than one turn, files, or posts of other people.
    Confirm {
        /// The turns.
        turns: u32,
        /// The files.
        files: u32,
        /// The posts.
        posts: u32,
        /// The people whose turns they are, too.
        others: Vec<String>,
    },
    /// The step takes back posts in other places, with their number.
    Elsewhere(Vec<(String, u32)>),
    /// The list of turns to choose from.
    Choose,
    /// The list or the button is older than the conversation.
    Stale,
    /// There is nothing that a command could do.
    NothingTo(ChatVerb),
    /// The posts that were removed can be posted again.
    PostAgain(u32),
    /// So many posts are made again.
    PostedAgain(u32),
    /// A person decided against a step.
    Cancelled,
    /// How to answer a question where there are no buttons.
    HowToAnswer(Asked, CommandPrefix),
    /// The commands.
    Help(CommandPrefix),
    /// Somebody may not do that.
    Refusal(Refusal),
    /// To a stranger: the pairing code, and how long it is valid.
    Pairing(String, Duration),
    /// A file that was not read.
    File(String, FileProblem),
    /// The room is encrypted.
    Encrypted,
    /// A part of an answer could not be sent.
    PartNotSent {
        /// Which part.
        part: u32,
        /// Of how many.
        of: u32,
    },
    /// The answer was interrupted.
    Interrupted,
    /// So many messages came while the gateway was away, and were not answered.
    Missed(u32),
    /// So many answers wait for more than a day.
    AnswersWait(u32),
    /// So many answers that waited are sent.
    AnswersSent(u32),
    /// A message was edited by its author. What it takes back follows.
    Edited,
    /// A message was deleted by its author: the name, where others read it. What it takes back follows.
    Recalled(Option<String>),
    /// A new wording is a new message.
    SaidAnew,
    /// A run was stopped.
    Stopped,
    /// A new conversation begins.
    NewConversation,
    /// A tool waits for an approval: its name, and what it would do, on one line.
    ApprovalNeeded(String, String),
    /// What became of an approval.
    Approval(Approval),
    /// So many files were changed.
    Files(u32),
    /// The next one of several steps was refused: the code of the problem.
    NoFurtherStep(String),
    /// A request failed: the code of the problem.
    NotDone(String),
    /// A run failed: the code of the problem.
    RunFailed(String),
    /// What is going on.
    Status(Status),
    /// The posts that stay.
    PostsThatStay(Counts),
}

impl Sentence {
    /// The sentence in English.
    pub fn text(&self) -> String {
        english::text(self)
    }

    /// The sentence as a text to send: without styles, so that nothing in it is markup.
    pub fn styled(&self) -> StyledText {
        StyledText { text: self.text(), styles: Vec::new() }
    }
}

/// A text of a person in one line, without invisible characters, and shortened. For labels and names.
pub(crate) fn one_line(text: &str) -> String {
    english::shown(text)
}

/// A step that takes something back, or brings it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many turns were taken back.
    Rewind(u32),
    /// So many turns were dropped.
    Drop(u32),
    /// So many steps were undone.
    Undo(u32),
    /// So many steps were done again.
    Redo(u32),
    /// The last answer was taken back, and is made again.
    Retry,
    /// A message was replaced by its new wording.
    Edit,
}

/// What becomes of the posts of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posts {
    /// So many are being removed.
    Removing(u32),
    /// What is in the chat now.
    Counts(Counts),
}

/// How a question can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// With a turn of a list.
    Turn,
    /// By doing the only thing that it offers.
    OneThing,
    /// With yes or no.
    YesOrNo,
}

/// Why somebody may not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Turns of these people come after it.
    TurnsOf(Vec<String>),
    /// The last step was somebody else's.
    LastStepOf(String),
    /// The button belongs to the person who asked.
    NotYourButton,
    /// Only an owner may decide that.
    OwnersOnly,
    /// The message is of another conversation, or of none.
    NotOfThisConversation,
    /// An edit of a message that is not the last one.
    EditOfOlder,
    /// It needs a reply to a message.
    NeedsReply(ChatVerb, CommandPrefix),
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileProblem {
    /// It is larger than so many bytes.
    TooLarge(u64),
    /// It is no longer there.
    Expired,
    /// It could not be fetched.
    NotFetched,
}

/// What became of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Approved by this person.
    Approved(String),
    /// Denied by this person.
    Denied(String),
    /// Denied, as nobody answered for so long.
    NoAnswer(Duration),
    /// Decided elsewhere before, or its turn was taken back.
    Over,
}

/// What is going on in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether an answer is being written.
    pub is_running: bool,
    /// The posts that wait to be sent.
    pub to_send: u32,
    /// The posts that wait to be deleted.
    pub to_delete: u32,
}
