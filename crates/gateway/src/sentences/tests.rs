//! The sentences, and that their counts are the plan's.

use std::time::Duration;

use proptest::prelude::*;
use retake_wire::chat::ChatVerb;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn step(step: Step, by: Option<&str>, posts: Posts) -> Sentence {
    Sentence::Step { step, by: by.map(str::to_owned), posts }
}

fn counts(fates: &[(Fate, u32)]) -> Posts {
    let mut counts = Counts::default();
    for (fate, posts) in fates {
        counts.add(fate.clone(), *posts);
    }
    Posts::Counts(counts)
}

#[test]
fn results_of_steps_say_what_is_in_the_chat() {
    let old = || Fate::Stays(Stays::TooOld(Some(48 * HOUR)));
    let rows = [
        (Step::Rewind(2), None, Posts::Removing(6), "Took back 2 turns. Removing 6 posts."),
        (
            Step::Rewind(2),
            None,
            counts(&[(Fate::Gone, 5), (old(), 1)]),
            "Took back 2 turns. 5 posts are gone; 1 stays: older than 48 h.",
        ),
        (Step::Drop(1), Some("Ben"), counts(&[(Fate::Gone, 1)]), "Ben dropped 1 turn. 1 post is gone."),
        (Step::Undo(1), None, Posts::Removing(0), "Undid 1 step."),
        (Step::Redo(2), None, counts(&[]), "Did 2 steps again."),
        (
            Step::Retry,
            None,
            Posts::Removing(1),
            "Took back the last answer, to make it again. Removing 1 post.",
        ),
        (
            Step::Edit,
            Some("Anna"),
            Posts::Removing(2),
            "Anna replaced the message by its new wording. Removing 2 posts.",
        ),
        (
            Step::Rewind(1),
            None,
            counts(&[(Fate::Stays(Stays::NoWay("WhatsApp".into())), 4)]),
            "Took back 1 turn. 4 posts stay: WhatsApp has no way.",
        ),
        (Step::Rewind(1), None, counts(&[(Fate::Asked, 2)]), "Took back 1 turn. Asked to delete 2 posts."),
        (
            Step::Rewind(1),
            None,
            counts(&[
                (Fate::Unknown, 1),
                (Fate::Tried, 2),
                (Fate::Stays(Stays::NotPermitted), 2),
                (Fate::Stays(Stays::ClosedThread), 1),
                (Fate::Emptied, 1),
                (Fate::Gone, 3),
            ]),
            "Took back 1 turn. 3 posts are gone; 1 emptied; 2 stay: no permission here; 1 stays: the thread is closed; \
             2 being tried; 1 more may be there: the platform's answer was lost.",
        ),
        (
            Step::Rewind(1),
            None,
            counts(&[(Fate::Unknown, 2)]),
            "Took back 1 turn. 2 more may be there: the platform's answers were lost.",
        ),
    ];
    for (it, by, posts, expected) in rows {
        assert_eq!(step(it, by, posts).text(), expected);
    }
}

type Rows = Vec<(Sentence, &'static str)>;

fn all() -> Rows {
    [of_steps(), of_refusals(), of_messages(), of_states()].concat()
}

fn of_steps() -> Rows {
    vec![
        (
            Sentence::Confirm { turns: 3, files: 0, posts: 6, others: vec!["Ben".into()] },
            "This takes back 3 turns and 6 posts, also of Ben. Do it?",
        ),
        (
            Sentence::Confirm { turns: 1, files: 2, posts: 1, others: vec![] },
            "This takes back 1 turn, 2 files and 1 post. Do it?",
        ),
        (
            Sentence::Elsewhere(vec![("#dev".into(), 2), ("ops".into(), 1)]),
            "This also takes back 2 posts in #dev and 1 post in ops. There too, or leave them?",
        ),
        (Sentence::Choose, "Which turn should be the first one to go?"),
        (Sentence::Stale, "The conversation has changed since then. Nothing was done."),
        (Sentence::NothingTo(ChatVerb::Undo), "There is nothing to undo."),
        (Sentence::PostAgain(3), "3 posts are no longer in the chat. I can post them again."),
    ]
}

fn of_refusals() -> Rows {
    vec![
        (
            Sentence::Refusal(Refusal::TurnsOf(vec!["Ben".into()])),
            "Nothing was taken back: it concerns messages of Ben. A moderator or an owner can do it.",
        ),
        (
            Sentence::Refusal(Refusal::LastStepOf("Ben".into())),
            "Nothing was undone: the last step is by Ben.",
        ),
        (Sentence::Refusal(Refusal::NotYourButton), "Only the person who asked can press this button."),
        (Sentence::Refusal(Refusal::OwnersOnly), "Only an owner can do that."),
        (
            Sentence::Refusal(Refusal::NotOfThisConversation),
            "That message does not belong to this conversation.",
        ),
        (
            Sentence::Refusal(Refusal::EditOfOlder),
            "Only an edit of the last message is answered again. You can say it as a new message.",
        ),
        (
            Sentence::Refusal(Refusal::NeedsReply(ChatVerb::Drop, CommandPrefix::Bang)),
            "Write !drop in a reply to the message that you mean.",
        ),
        (
            Sentence::Pairing("ABCD2345".into(), Duration::from_secs(600)),
            "I only answer people whom my owner has paired: give my owner the code ABCD2345 within 10 min.",
        ),
    ]
}

fn of_messages() -> Rows {
    vec![
        (
            Sentence::File("../a\n.png".into(), FileProblem::TooLarge(20 * 1024 * 1024)),
            "I did not read ../a .png: it is larger than 20 MB.",
        ),
        (
            Sentence::File("a".into(), FileProblem::Expired),
            "I did not read a: it is no longer there. Please send it again.",
        ),
        (Sentence::Encrypted, "This room is encrypted. I can only read rooms without encryption."),
        (
            Sentence::PartNotSent { part: 2, of: 3 },
            "Part 2 of 3 of this answer could not be sent: the platform refused it.",
        ),
        (Sentence::Interrupted, "(interrupted)"),
        (
            Sentence::Missed(120),
            "While I was away, 120 older messages arrived. I have read them, but not answered.",
        ),
        (Sentence::AnswersWait(1), "1 answer has been waiting for more than a day. Send it now?"),
        (Sentence::AnswersSent(2), "Sending 2 answers."),
        (Sentence::Edited, "You edited your message. I can answer it again in its new wording."),
        (Sentence::Recalled(None), "You deleted your message."),
        (Sentence::Recalled(Some("Ann".into())), "Ann deleted a message."),
        (Sentence::SaidAnew, "Your new wording is a new message."),
    ]
}

fn of_states() -> Rows {
    let status = Status { is_running: true, to_send: 1, to_delete: 4 };
    let mut stay = Counts::default();
    stay.add(Fate::Stays(Stays::Dependents), 2);
    vec![
        (Sentence::Stopped, "Stopped."),
        (Sentence::ApprovalNeeded("shell".into(), "make\nall".into()), "May I use shell? make all"),
        (Sentence::Files(1), "1 file was changed."),
        (Sentence::Files(2), "2 files were changed."),
        (Sentence::NoFurtherStep("run_active".into()), "No further step was made: a run is active."),
        (Sentence::NotDone("run_active".into()), "Nothing was done: a run is active."),
        (Sentence::RunFailed("new_in_2030".into()), "The answer failed: something went wrong."),
        (Sentence::NewConversation, "A new conversation begins here."),
        (Sentence::Approval(Approval::Approved("Anna".into())), "Approved by Anna."),
        (Sentence::Approval(Approval::Denied("Anna".into())), "Denied by Anna."),
        (
            Sentence::Approval(Approval::NoAnswer(Duration::from_secs(300))),
            "Denied: nobody answered within 5 min.",
        ),
        (
            Sentence::Approval(Approval::Over),
            "This does not wait any more: it was decided elsewhere, or its turn is over.",
        ),
        (Sentence::PostedAgain(1), "Posting 1 post again."),
        (Sentence::Cancelled, "Nothing was done."),
        (
            Sentence::HowToAnswer(Asked::Turn, CommandPrefix::Bang),
            "Write !rewind with the number of the turn.",
        ),
        (Sentence::HowToAnswer(Asked::OneThing, CommandPrefix::Slash), "Write /confirm to do it."),
        (Sentence::HowToAnswer(Asked::YesOrNo, CommandPrefix::Bang), "Write !confirm or !cancel."),
        (
            Sentence::Status(status),
            "I am writing an answer. 1 post waits to be sent. 4 posts wait to be deleted.",
        ),
        (Sentence::Status(Status::default()), "Nothing is running."),
        (Sentence::PostsThatStay(stay), "2 posts stay: messages of other people depend on them."),
        (Sentence::PostsThatStay(Counts::default()), "No post stays."),
    ]
}

#[test]
fn sentences_are_made_from_their_values() {
    for (sentence, expected) in all() {
        assert_eq!(sentence.text(), expected);
    }
}

#[test]
fn sentences_are_short_and_in_one_line() {
    for (sentence, _) in all() {
        let text = sentence.text();
        assert!(!text.contains('\n') && !text.contains("  ") && text.trim() == text, "{text}");
        let longest = text.split(['.', '?']).map(|it| it.split_whitespace().count()).max();
        assert!(longest <= Some(25), "{text}");
    }
    for label in Label::ALL {
        assert!(label.text().chars().count() <= 24);
    }
}

#[test]
fn help_has_a_line_for_each_command() {
    let help = Sentence::Help(CommandPrefix::Bang).text();
    assert_eq!(help.lines().count(), crate::commands::TABLE.len());
    assert!(help.contains("!rewind [N]: choose the turn"), "{help}");
}

#[test]
fn names_are_shown_on_one_line_and_shortened() {
    let rows = [
        ("Anna", "Approved by Anna."),
        ("An\nna\u{202e}\u{200b}  B", "Approved by An na B."),
        (" \u{200b}", "Approved by ?."),
        ("", "Approved by ?."),
    ];
    for (name, expected) in rows {
        assert_eq!(Sentence::Approval(Approval::Approved(name.into())).text(), expected);
    }
    let long = Sentence::Approval(Approval::Approved("a\u{301}".repeat(500))).text();
    assert_eq!(long, format!("Approved by {}….", "a\u{301}".repeat(20)));
    let many = Sentence::Refusal(Refusal::TurnsOf(vec!["A".into(); 50])).text();
    assert!(many.contains("messages of A, A, A, A, A and 45 others"), "{many}");
}

fn fate() -> impl Strategy<Value = Fate> {
    let why = prop::sample::select(vec![
        Stays::TooOld(Some(48 * HOUR)),
        Stays::TooOld(None),
        Stays::NotPermitted,
        Stays::NoWay("SMS".into()),
        Stays::Dependents,
        Stays::Chosen,
        Stays::ClosedThread,
        Stays::Failed,
    ]);
    prop_oneof![
        Just(Fate::Gone),
        Just(Fate::Emptied),
        Just(Fate::Asked),
        Just(Fate::Tried),
        Just(Fate::Unknown),
        why.prop_map(Fate::Stays),
    ]
}

proptest! {
    #[test]
    fn counts_of_the_notice_are_the_posts_of_the_plan(fates in prop::collection::vec(fate(), 1..60)) {
        let counts = Counts::of(fates.clone());
        prop_assert_eq!(counts.total() as usize, fates.len());
        let text = step(Step::Rewind(1), None, Posts::Counts(counts)).text();
        let (_, told) = text.split_once(". ").unwrap();
        // The first number of each part is that of its posts.
        let numbers = told.split("; ").map(|part| {
            let digits: String = part.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().unwrap()
        });
        prop_assert_eq!(numbers.sum::<usize>(), fates.len(), "{}", text);
        let gone = fates.iter().filter(|it| **it == Fate::Gone).count();
        prop_assert_eq!(told.contains("gone"), gone > 0);
    }
}
