//! The sentences in English. Must never show a name or a text of a person without cleaning it.

use std::time::Duration;

use retake_wire::ProblemCode;
use retake_wire::chat::ChatVerb;

use super::{Approval, Asked, Counts, Fate, FileProblem, Posts, Refusal, Sentence, Status, Stays, Step};
use crate::capabilities::{CommandPrefix, LengthUnit};
use crate::commands::{TABLE, row_of, spelled};
use crate::text::beginning;

/// The longest name that is shown.
const LONGEST_NAME: usize = 40;

/// The longest other text of a person or a model that is shown.
const LONGEST_LINE: usize = 300;

/// The most names of a list.
const MOST_NAMES: usize = 5;

pub(super) fn text(sentence: &Sentence) -> String {
    match sentence {
        Sentence::Step { step, by, posts } => format!("{}.{}", done(*step, by.as_deref()), of_posts(posts)),
        Sentence::Confirm { turns, files, posts, others } => confirm([*turns, *files, *posts], others),
        Sentence::Elsewhere(places) => elsewhere(places),
        Sentence::Choose => "Which turn should be the first one to go?".into(),
        Sentence::Stale => "The conversation has changed since then. Nothing was done.".into(),
        Sentence::NothingTo(verb) => nothing(*verb).into(),
        Sentence::PostAgain(posts) => {
            format!("{} no longer in the chat. I can post {} again.", are(*posts, "post"), them(*posts))
        }
        Sentence::PostedAgain(posts) => format!("Posting {} again.", counted(*posts, "post")),
        Sentence::Cancelled => "Nothing was done.".into(),
        Sentence::HowToAnswer(asked, prefix) => how_to_answer(*asked, *prefix),
        Sentence::Help(prefix) => {
            TABLE.iter().map(|row| line(row.verb, *prefix)).collect::<Vec<_>>().join("\n")
        }
        Sentence::Refusal(why) => refusal(why),
        Sentence::Pairing(code, valid) => format!(
            "I only answer people whom my owner has paired: give my owner the code {} within {}.",
            shown(code),
            time(*valid)
        ),
        Sentence::File(name, problem) => file(&shown(name), *problem),
        Sentence::Encrypted => "This room is encrypted. I can only read rooms without encryption.".into(),
        Sentence::PartNotSent { part, of } => {
            format!("Part {part} of {of} of this answer could not be sent: the platform refused it.")
        }
        Sentence::Interrupted => "(interrupted)".into(),
        Sentence::Missed(1) => {
            "While I was away, 1 older message arrived. I have read it, but not answered.".into()
        }
        Sentence::Missed(messages) => {
            format!(
                "While I was away, {messages} older messages arrived. I have read them, but not answered."
            )
        }
        Sentence::AnswersWait(1) => "1 answer has been waiting for more than a day. Send it now?".into(),
        Sentence::AnswersWait(answers) => {
            format!("{answers} answers have been waiting for more than a day. Send them now?")
        }
        Sentence::AnswersSent(answers) => format!("Sending {}.", counted(*answers, "answer")),
        Sentence::Edited => "You edited your message. I can answer it again in its new wording.".into(),
        Sentence::Recalled(None) => "You deleted your message.".into(),
        Sentence::Recalled(Some(name)) => format!("{} deleted a message.", shown(name)),
        Sentence::SaidAnew => "Your new wording is a new message.".into(),
        Sentence::Stopped => "Stopped.".into(),
        Sentence::NewConversation => "A new conversation begins here.".into(),
        Sentence::ApprovalNeeded(tool, what) => format!("May I use {}? {}", shown(tool), long_line(what)),
        Sentence::Approval(approval) => of_approval(approval),
        Sentence::Files(files) => format!("{} changed.", were(*files, "file")),
        Sentence::NoFurtherStep(code) => format!("No further step was made: {}.", problem(code)),
        Sentence::NotDone(code) => format!("Nothing was done: {}.", problem(code)),
        Sentence::RunFailed(code) => format!("The answer failed: {}.", problem(code)),
        Sentence::Status(status) => of_status(status),
        Sentence::PostsThatStay(counts) if counts.total() == 0 => "No post stays.".into(),
        Sentence::PostsThatStay(counts) => of_counts(counts),
    }
}

fn done(step: Step, by: Option<&str>) -> String {
    let done = match step {
        Step::Rewind(turns) => format!("took back {}", counted(turns, "turn")),
        Step::Drop(turns) => format!("dropped {}", counted(turns, "turn")),
        Step::Undo(steps) => format!("undid {}", counted(steps, "step")),
        Step::Redo(steps) => format!("did {} again", counted(steps, "step")),
        Step::Retry => "took back the last answer, to make it again".into(),
        Step::Edit => "replaced the message by its new wording".into(),
    };
    match by {
        Some(name) => format!("{} {done}", shown(name)),
        None => capital(&done),
    }
}

fn of_posts(posts: &Posts) -> String {
    match posts {
        Posts::Removing(0) => String::new(),
        Posts::Removing(posts) => format!(" Removing {}.", counted(*posts, "post")),
        Posts::Counts(counts) if counts.total() == 0 => String::new(),
        Posts::Counts(counts) => format!(" {}", of_counts(counts)),
    }
}

/// What is in the chat: one part for each fate, each with its number.
fn of_counts(counts: &Counts) -> String {
    let parts = counts.iter().enumerate().map(|(at, (fate, count))| {
        // Only the first part says what is counted.
        let posts = if at == 0 { counted(count, "post") } else { count.to_string() };
        let one = count == 1;
        match fate {
            Fate::Gone => format!("{posts} {} gone", if one { "is" } else { "are" }),
            Fate::Emptied => format!("{posts} emptied"),
            Fate::Asked => format!("asked to delete {posts}"),
            Fate::Stays(why) => {
                format!("{posts} {}: {}", if one { "stays" } else { "stay" }, stays(why, count))
            }
            Fate::Tried => format!("{posts} being tried"),
            Fate::Unknown if one => "1 more may be there: the platform's answer was lost".to_owned(),
            Fate::Unknown => {
                format!("{count} more may be there: the platform's answers were lost")
            }
        }
    });
    capital(&(parts.collect::<Vec<_>>().join("; ") + "."))
}

fn stays(why: &Stays, count: u32) -> String {
    match why {
        Stays::TooOld(Some(window)) => format!("older than {}", time(*window)),
        Stays::TooOld(None) => "too old".into(),
        Stays::NotPermitted => "no permission here".into(),
        Stays::NoWay(platform) => format!("{} has no way", shown(platform)),
        Stays::Dependents => format!("messages of other people depend on {}", them(count)),
        Stays::Chosen => "left by choice".into(),
        Stays::ClosedThread => "the thread is closed".into(),
        Stays::Failed => "every attempt failed".into(),
    }
}

fn confirm([turns, files, posts]: [u32; 3], others: &[String]) -> String {
    let counts = [(turns, "turn"), (files, "file"), (posts, "post")];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    let of = if others.is_empty() { String::new() } else { format!(", also of {}", names(others)) };
    format!("This takes back {}{of}. Do it?", list(&parts))
}

/// For platforms without buttons.
fn how_to_answer(asked: Asked, prefix: CommandPrefix) -> String {
    let [confirm, cancel, rewind] =
        [ChatVerb::Confirm, ChatVerb::Cancel, ChatVerb::Rewind].map(|verb| spelled(verb, prefix));
    match asked {
        Asked::Turn => format!("Write {rewind} with the number of the turn."),
        Asked::OneThing => format!("Write {confirm} to do it."),
        Asked::YesOrNo => format!("Write {confirm} or {cancel}."),
    }
}

fn elsewhere(places: &[(String, u32)]) -> String {
    let parts: Vec<String> = places
        .iter()
        .map(|(place, posts)| format!("{} in {}", counted(*posts, "post"), shown(place)))
        .collect();
    format!("This also takes back {}. There too, or leave them?", list(&parts))
}

fn nothing(verb: ChatVerb) -> &'static str {
    match verb {
        ChatVerb::Rewind => "There is no turn that could be taken back.",
        ChatVerb::Undo => "There is nothing to undo.",
        ChatVerb::Redo => "There is nothing to do again.",
        ChatVerb::Retry => "There is no message to answer again.",
        ChatVerb::Drop => "There is no turn that could be dropped.",
        ChatVerb::Stop => "Nothing is running.",
        ChatVerb::Confirm | ChatVerb::Cancel => "I did not ask you anything.",
        ChatVerb::New | ChatVerb::Help | ChatVerb::Status => "There is nothing to do.",
        ChatVerb::Posts => "There are no posts.",
    }
}

/// A line of the help.
fn line(verb: ChatVerb, prefix: CommandPrefix) -> String {
    let row = row_of(verb);
    let number = if row.takes_number { " [N]" } else { "" };
    format!("{}{number}: {}", spelled(verb, prefix), row.help)
}

fn refusal(why: &Refusal) -> String {
    match why {
        Refusal::TurnsOf(people) => {
            let who = names(people);
            format!(
                "Nothing was taken back: it concerns messages of {who}. A moderator or an owner can do it."
            )
        }
        Refusal::LastStepOf(name) => {
            format!("Nothing was undone: the last step is by {}.", shown(name))
        }
        Refusal::NotYourButton => "Only the person who asked can press this button.".into(),
        Refusal::OwnersOnly => "Only an owner can do that.".into(),
        Refusal::NotOfThisConversation => "That message does not belong to this conversation.".into(),
        Refusal::EditOfOlder => {
            "Only an edit of the last message is answered again. You can say it as a new message.".into()
        }
        Refusal::NeedsReply(verb, prefix) => {
            format!("Write {} in a reply to the message that you mean.", spelled(*verb, *prefix))
        }
    }
}

fn file(name: &str, problem: FileProblem) -> String {
    match problem {
        FileProblem::TooLarge(most) => {
            format!("I did not read {name}: it is larger than {} MB.", most.div_ceil(1024 * 1024))
        }
        FileProblem::Expired => {
            format!("I did not read {name}: it is no longer there. Please send it again.")
        }
        FileProblem::NotFetched => format!("I did not read {name}: the platform did not give it to me."),
    }
}

fn of_approval(approval: &Approval) -> String {
    match approval {
        Approval::Approved(name) => format!("Approved by {}.", shown(name)),
        Approval::Denied(name) => format!("Denied by {}.", shown(name)),
        Approval::NoAnswer(after) => format!("Denied: nobody answered within {}.", time(*after)),
        Approval::Over => {
            "This does not wait any more: it was decided elsewhere, or its turn is over.".into()
        }
    }
}

fn of_status(status: &Status) -> String {
    let mut parts = vec![match status.is_running {
        true => "I am writing an answer.".to_owned(),
        false => "Nothing is running.".to_owned(),
    }];
    if status.to_send > 0 {
        parts.push(format!("{} to be sent.", waits(status.to_send)));
    }
    if status.to_delete > 0 {
        parts.push(format!("{} to be deleted.", waits(status.to_delete)));
    }
    parts.join(" ")
}

fn waits(posts: u32) -> String {
    format!("{} {}", counted(posts, "post"), if posts == 1 { "waits" } else { "wait" })
}

fn are(count: u32, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}

fn were(count: u32, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "was" } else { "were" })
}

/// The title of a problem, within a sentence.
fn problem(code: &str) -> String {
    let title = ProblemCode::from(code.to_owned()).title().unwrap_or("Something went wrong");
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn them(count: u32) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

fn counted(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A duration in its largest fitting unit, rounded up.
fn time(duration: Duration) -> String {
    match duration.as_millis().div_ceil(1000) {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7200 => format!("{} min", seconds.div_ceil(60)),
        seconds if seconds <= 48 * 3600 => format!("{} h", seconds.div_ceil(3600)),
        seconds => format!("{} days", seconds.div_ceil(24 * 3600)),
    }
}

fn names(people: &[String]) -> String {
    let mut shown: Vec<String> = people.iter().take(MOST_NAMES).map(|name| self::shown(name)).collect();
    match people.len().saturating_sub(MOST_NAMES) {
        0 => {}
        1 => shown.push("1 other person".into()),
        more => shown.push(format!("{more} others")),
    }
    list(&shown)
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => "nothing".into(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A name in one line, without invisible characters that could turn the rest of the sentence around.
pub(super) fn shown(name: &str) -> String {
    in_one_line(name, LONGEST_NAME)
}

/// A longer text in one line.
fn long_line(text: &str) -> String {
    in_one_line(text, LONGEST_LINE)
}

fn in_one_line(name: &str, most: usize) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let clean: String =
        name.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    match beginning(&clean, most, LengthUnit::Chars) {
        "" => "?".into(),
        name if name.len() < clean.len() => format!("{}…", name.trim_end()),
        name => name.into(),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
