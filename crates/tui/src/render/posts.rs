//! What a step does to posts in chats: before it is made, and what is in the chats afterwards. Must never say that a post goes that
//! may stay.

use retake_wire::chat::{PostCounts, StayCause};
use retake_wire::reply::{PostChanges, StepPosts};

use super::chat::place;
use super::content::sentence;
use super::plan::dim_rest;
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text};

/// Whether the step is still to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is planned.
    Planned,
    /// It was made.
    Done,
}

/// The posts that a step concerns, place by place.
pub fn posts(look: &Look, posts: &StepPosts, step: Step) -> Text {
    let lines = posts.places.iter().map(|it| {
        let style = stays(&it.changes).then_some(Style::Warn);
        let line =
            format!("{}posts in {}: {}", sign(&it.changes), place(&it.place), changes(&it.changes, step));
        sentence(look, &line, 0, style)
    });
    lines.collect::<Text>() + dim_rest(posts.place_count, posts.places.len())
}

/// The same in one line for all places, for a question.
pub fn brief(posts: &StepPosts, step: Step) -> Option<String> {
    let places = match posts.place_count {
        1 => String::new(),
        count => format!(" in {count} places"),
    };
    let what = || format!("{}posts in chats: {}{places}", sign(&posts.all), changes(&posts.all, step));
    (!posts.is_empty()).then(what)
}

/// Whether something remains that the step does not take back, or does not bring back.
pub fn stays(changes: &PostChanges) -> bool {
    let PostCounts { gone: _, emptied, asked, trying: _, unknown, stays } = &changes.taken_back;
    emptied + asked + unknown + changes.lost > 0 || !stays.is_empty()
}

fn sign(changes: &PostChanges) -> &'static str {
    if stays(changes) { "! " } else { "" }
}

fn changes(changes: &PostChanges, step: Step) -> String {
    let PostChanges { taken_back, unsent, kept, lost, to_send } = changes;
    let PostCounts { gone, emptied, asked, trying, unknown, stays } = taken_back;
    let number = |count: u32| words::number(count.into());
    let mut all = Vec::new();
    let mut tell = |count: u32, what: &str| {
        if count > 0 {
            all.push(format!("{} {what}", number(count)));
        }
    };
    match step {
        Step::Planned => tell(*trying, "to be deleted"),
        Step::Done => {
            tell(*gone, "gone");
            tell(*emptied, "emptied; the empty message stays");
            tell(*trying, "being deleted");
        }
    }
    tell(*asked, "that the clients were asked to remove");
    tell(*unknown, "may stay: sent, but the platform's answer was lost");
    for it in stays {
        tell(it.count, stay(it.why, it.count));
    }
    match step {
        Step::Planned => tell(*unsent, "not to be sent any more"),
        Step::Done => tell(*unsent, "never sent"),
    }
    tell(*kept, "still in the chat");
    tell(*lost, "gone and not posted again");
    tell(*to_send, "to be sent");
    all.join(", ")
}

fn stay(why: StayCause, count: u32) -> &'static str {
    let one = count == 1;
    match (why, one) {
        (StayCause::TooOld, true) => "stays: too old",
        (StayCause::TooOld, false) => "stay: too old",
        (StayCause::NotPermitted, true) => "stays: no permission",
        (StayCause::NotPermitted, false) => "stay: no permission",
        (StayCause::NoWay, true) => "stays: the platform has no way to delete it",
        (StayCause::NoWay, false) => "stay: the platform has no way to delete them",
        (StayCause::HasReplies, true) => "stays: messages of other people depend on it",
        (StayCause::HasReplies, false) => "stay: messages of other people depend on them",
        (StayCause::ClosedThread, true) => "stays: the thread is closed",
        (StayCause::ClosedThread, false) => "stay: the thread is closed",
        (StayCause::Kept, true) => "stays by choice",
        (StayCause::Kept, false) => "stay by choice",
        (StayCause::GaveUp, true) => "stays: all attempts failed",
        (StayCause::GaveUp, false) => "stay: all attempts failed",
    }
}

#[cfg(test)]
mod tests;
