//! Questions with buttons: who may press them, what they do, and when they are void.

use retake_wire::chat::{
    Arrival, Bind, ButtonLabel, ChatNotice, ChatRefusal, ChatStep, ChatVerb, Inbound, InboundMessage,
    PostCounts,
};
use retake_wire::{Action, Request};

use super::super::world::{Desk, apply};
use super::platform::{Gateway, conversation, in_group, paired, pairs, rewound, says, texts};

/// Three turns of Ann in her private chat.
async fn three_turns() -> (Desk, Gateway, String) {
    let (desk, mut gateway) = paired(true).await;
    for (id, text) in [("1", "one"), ("2", "two"), ("3", "three")] {
        gateway.says(says(id, text)).await;
        gateway.works(1).await;
    }
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

fn turn(text: &str) -> ButtonLabel {
    ButtonLabel::Turn { text: text.to_owned() }
}

fn refused(refusal: ChatRefusal) -> Option<ChatNotice> {
    Some(ChatNotice::Refused(refusal))
}

fn confirm(turns: u32, posts: u32) -> ChatNotice {
    ChatNotice::Confirm { turns, files: 0, posts, others: Vec::new() }
}

fn gone(posts: u32) -> PostCounts {
    PostCounts { gone: posts, ..PostCounts::default() }
}

/// The button below an answer goes back to before its turn, with the question and the rights of the command.
#[tokio::test]
async fn button_below_an_answer_takes_its_turn_back() {
    let (desk, mut gateway, of) = three_turns().await;
    let answers: Vec<(String, String)> =
        gateway.below.iter().map(|(post, buttons)| (post.clone(), buttons[0].data.clone())).collect();
    let [_, second, third] = &answers[..] else { panic!("{answers:?}") };
    let told = gateway.presses(&says("", ""), second.clone()).await;
    assert_eq!(told, Some(confirm(2, 2)));
    gateway.works(1).await;
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (3, 6), "nothing is done yet");
    let told = gateway.presses(&says("", ""), third.clone()).await;
    let Some(ChatNotice::Step { step: ChatStep::Rewind, count: 1, .. }) = told else { panic!("{told:?}") };
    let notices = gateway.works(1).await;
    assert_eq!(notices.last(), Some(&rewound(1, gone(1))), "{notices:?}");
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (2, 4));
    // It was taken back already.
    let nothing = refused(ChatRefusal::Nothing { verb: ChatVerb::Rewind });
    assert_eq!(gateway.presses(&says("", ""), third.clone()).await, nothing);
    // In another chat, and by somebody whom nobody has paired.
    assert_eq!(gateway.presses(&in_group("", "Ann", ""), second.clone()).await, refused(ChatRefusal::Stale));
    assert_eq!(gateway.presses(&in_group("", "Eve", ""), second.clone()).await, None);
    assert_eq!((gateway.works(1).await, gateway.answers()), (Vec::new(), 2));
}

#[tokio::test]
async fn button_below_an_answer_to_somebody_else_changes_nothing() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g1", "Ann", "one")).await;
    gateway.works(1).await;
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") };
    pairs(&desk, &gateway, ben, false).await;
    let (post, buttons) = gateway.below.first_key_value().expect("an answer");
    let button = (post.clone(), buttons[0].data.clone());
    let of_ann = refused(ChatRefusal::TurnsOf { names: vec!["Ann".to_owned()] });
    assert_eq!(gateway.presses(&in_group("", "Ben", ""), button).await, of_ann);
    assert_eq!((gateway.works(1).await, gateway.answers()), (Vec::new(), 1), "only Ben is told");
}

#[tokio::test]
async fn rewind_of_one_turn_is_made_and_one_of_more_turns_is_asked_about_first() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    assert_eq!(gateway.works(1).await, [confirm(2, 2)]);
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (3, 6), "nothing is done yet");
    let button = gateway.button(&ButtonLabel::Confirm);
    let told = gateway.presses(&says("", ""), button.clone()).await;
    let Some(ChatNotice::Step { step: ChatStep::Rewind, count: 2, .. }) = told else { panic!("{told:?}") };
    let notices = gateway.works(1).await;
    assert_eq!(notices.last(), Some(&rewound(2, gone(2))), "{notices:?}");
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (1, 2));
    // The question has become the answer, without buttons, and there is no second notice.
    assert_eq!(gateway.there.len(), 2, "{:?}", gateway.there);
    assert!(gateway.buttons.values().all(Vec::is_empty), "{:?}", gateway.buttons);
    assert_eq!(gateway.presses(&says("", ""), button).await, refused(ChatRefusal::Stale), "a second time");
    assert_eq!(texts(&desk, &of).await, 2);
}

#[tokio::test]
async fn cancelled_question_goes_and_nothing_is_done() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Cancel)).await;
    assert_eq!(told, Some(ChatNotice::Cancelled));
    gateway.works(1).await;
    assert_eq!((gateway.there.len(), gateway.answers(), texts(&desk, &of).await), (3, 3, 6));
}

#[tokio::test]
async fn gateways_case_72_picker_shows_eight_turns_and_older_ones_and_a_new_list_when_it_is_stale() {
    let (desk, mut gateway) = paired(true).await;
    for number in 1..=10 {
        gateway.says(says(&number.to_string(), &format!("turn {number}"))).await;
        gateway.works(1).await;
    }
    let of = conversation(&desk).await;
    gateway.commands(says("20", "/rewind"), ChatVerb::Rewind, None).await;
    assert_eq!(gateway.works(1).await, [ChatNotice::Choose]);
    let labels = |gateway: &Gateway| -> Vec<ButtonLabel> {
        gateway.buttons.values().flatten().map(|button| button.label.clone()).collect()
    };
    let turns = |from: u32, to: u32| (to..=from).rev().map(|number| turn(&format!("turn {number}")));
    let page: Vec<_> = turns(10, 3).chain([ButtonLabel::Older, ButtonLabel::Cancel]).collect();
    assert_eq!(labels(&gateway), page);
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Older)).await;
    assert_eq!(told, Some(ChatNotice::Choose));
    gateway.works(1).await;
    let older: Vec<_> = turns(2, 1).chain([ButtonLabel::Cancel]).collect();
    assert_eq!(labels(&gateway), older);
    // Another client rewinds in the meantime.
    let button = gateway.button(&turn("turn 2"));
    desk.does(apply(&of, Action::Rewind { entry: "t10".to_owned() })).await;
    assert_eq!(gateway.presses(&says("", ""), button).await, Some(ChatNotice::Choose), "a new list");
    gateway.works(1).await;
    assert_eq!(texts(&desk, &of).await, 18, "nothing is done");
    let newest: Vec<_> = turns(9, 2).chain([ButtonLabel::Older, ButtonLabel::Cancel]).collect();
    assert_eq!(labels(&gateway), newest);
    // One turn needs no question.
    gateway.presses(&says("", ""), gateway.button(&turn("turn 9"))).await;
    let notices = gateway.works(1).await;
    assert_eq!(notices.last(), Some(&rewound(1, gone(1))), "{notices:?}");
    assert_eq!((texts(&desk, &of).await, gateway.answers()), (16, 8));
}

#[tokio::test]
async fn gateways_case_79_button_belongs_to_the_person_who_asked_and_survives_a_restart() {
    let (desk, mut gateway) = paired(true).await;
    for (id, text) in [("g1", "one"), ("g2", "two")] {
        gateway.says(in_group(id, "Ann", text)).await;
        gateway.works(1).await;
    }
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") };
    pairs(&desk, &gateway, ben, false).await;
    gateway.commands(in_group("g3", "Ann", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let button = gateway.button(&ButtonLabel::Confirm);
    let told = gateway.presses(&in_group("", "Ben", ""), button.clone()).await;
    assert_eq!(told, refused(ChatRefusal::NotYourButton));
    let stranger = gateway.presses(&in_group("", "Eve", ""), button.clone()).await;
    assert_eq!((stranger, gateway.answers()), (None, 2));
    // A button of another chat, and data that nobody made.
    let told = gateway.presses(&says("", ""), button.clone()).await;
    assert_eq!(told, refused(ChatRefusal::Stale));
    // The conversation, the post, the round and the button.
    let numbers: Vec<u64> = button.1.split('-').map(|number| number.parse().expect("a number")).collect();
    let [log, post, round, number] = numbers[..] else { panic!("{button:?}") };
    let forged =
        [[log, post, round, 99], [log, post, round + 1, number], [log, 999, round, 0], [99, 1, 0, 0]];
    let forged = forged.map(|numbers| numbers.map(|number| number.to_string()).join("-"));
    for odd in forged.iter().map(String::as_str).chain(["", "1-1-99", "x", "1-1-1-1-1", "-1-1-0-0"]) {
        let told = gateway.presses(&in_group("", "Ann", ""), (button.0.clone(), odd.to_owned())).await;
        assert_eq!(told, refused(ChatRefusal::Stale), "{odd}");
    }
    assert_eq!(gateway.answers(), 2);
    let desk = desk.gives_way().await;
    let mut again = Gateway::new(&desk, "two").await;
    (again.there, again.buttons) = (gateway.there, gateway.buttons);
    again.takes_over("one").await;
    let mut gateway = again;
    let told = gateway.presses(&in_group("", "Ann", ""), button).await;
    let Some(ChatNotice::Step { step: ChatStep::Rewind, .. }) = told else { panic!("{told:?}") };
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 0);
}

#[tokio::test]
async fn question_is_void_when_another_turn_came_after_it() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let button = gateway.button(&ButtonLabel::Confirm);
    gateway.says(says("5", "four")).await;
    gateway.works(1).await;
    assert_eq!(gateway.presses(&says("", ""), button).await, refused(ChatRefusal::Stale));
    gateway.works(1).await;
    assert_eq!((texts(&desk, &of).await, gateway.answers()), (8, 4));
    assert!(gateway.buttons.values().all(Vec::is_empty), "it lost its buttons: {:?}", gateway.buttons);
}

#[tokio::test]
async fn gateways_case_78_member_may_drop_only_their_own_turns() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") };
    pairs(&desk, &gateway, ben, false).await;
    for (id, who) in [("g1", "Ben"), ("g2", "Ann"), ("g3", "Ben")] {
        gateway.says(in_group(id, who, "words")).await;
        gateway.works(1).await;
    }
    gateway.commands(in_group("g4", "Ben", "/rewind 3"), ChatVerb::Rewind, Some(3)).await;
    let refusal = ChatNotice::Refused(ChatRefusal::TurnsOf { names: vec!["Ann".to_owned()] });
    assert_eq!(gateway.works(1).await, [refusal]);
    let button = gateway.button(&ButtonLabel::DropMine);
    let told = gateway.presses(&in_group("", "Ben", ""), button).await;
    // Two turns: it asks.
    assert_eq!(told, Some(confirm(2, 2)));
    gateway.works(1).await;
    gateway.presses(&in_group("", "Ben", ""), gateway.button(&ButtonLabel::Confirm)).await;
    let notices = gateway.works(1).await;
    let Some(ChatNotice::Step { step: ChatStep::Drop, count: 2, posts, by, .. }) = notices.last() else {
        panic!("{notices:?}")
    };
    assert_eq!((posts.gone, by.as_deref(), gateway.answers()), (2, Some("Ben"), 2));
}

#[tokio::test]
async fn gateways_case_67_posts_that_are_gone_are_posted_again_once_and_a_redo_takes_them_back() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "one")).await;
    gateway.works(2).await;
    gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 0);
    gateway.commands(says("3", "/undo"), ChatVerb::Undo, None).await;
    let notices = gateway.works(1).await;
    let Some(ChatNotice::Step { step: ChatStep::Undo, lost: 2, .. }) = notices.last() else {
        panic!("{notices:?}")
    };
    let button = gateway.button(&ButtonLabel::PostAgain);
    let told = gateway.presses(&says("", ""), button.clone()).await;
    assert_eq!(told, Some(ChatNotice::PostedAgain { posts: 2 }));
    gateway.works(2).await;
    assert_eq!(gateway.answers(), 2);
    assert_eq!(gateway.presses(&says("", ""), button).await, refused(ChatRefusal::Stale), "once");
    gateway.works(2).await;
    assert_eq!(gateway.answers(), 2);
    gateway.commands(says("4", "/redo"), ChatVerb::Redo, None).await;
    let notices = gateway.works(1).await;
    let Some(ChatNotice::Step { step: ChatStep::Redo, posts, .. }) = notices.last() else {
        panic!("{notices:?}")
    };
    assert_eq!((posts.gone, posts.sum(), gateway.answers()), (2, 2, 0));
    assert_eq!(texts(&desk, &conversation(&desk).await).await, 0);
}

#[tokio::test]
async fn question_is_answered_in_words_where_there_are_no_buttons() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/confirm"), ChatVerb::Confirm, None).await;
    let nothing = |verb| ChatNotice::Refused(ChatRefusal::Nothing { verb });
    assert_eq!(gateway.works(1).await, [nothing(ChatVerb::Confirm)]);
    gateway.commands(says("5", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    gateway.commands(says("6", "/cancel"), ChatVerb::Cancel, None).await;
    gateway.works(1).await;
    assert_eq!(texts(&desk, &of).await, 6);
    gateway.commands(says("7", "/confirm"), ChatVerb::Confirm, None).await;
    assert_eq!(gateway.works(1).await, [nothing(ChatVerb::Confirm)], "the question is gone");
    gateway.commands(says("8", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    gateway.commands(says("9", "/confirm"), ChatVerb::Confirm, None).await;
    let notices = gateway.works(1).await;
    assert_eq!(notices.last(), Some(&rewound(2, gone(2))), "{notices:?}");
    assert_eq!((texts(&desk, &of).await, gateway.answers()), (2, 1));
}

#[tokio::test]
async fn press_that_is_delivered_again_is_done_once() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let (post, button) = gateway.button(&ButtonLabel::Confirm);
    let ann = says("", "");
    let press = |post: &str| Inbound::Pressed {
        place: ann.place.clone(),
        post: post.to_owned(),
        person: ann.person.clone(),
        button: button.clone(),
        answer_to: "a".to_owned(),
    };
    let first = gateway.arrives("p", press(&post), None).await;
    assert!(matches!(first.outcome, Arrival::Pressed { .. }) && !first.again, "{first:?}");
    let again = gateway.arrives("p", press(&post), None).await;
    assert_eq!((again.outcome, again.again), (Arrival::Done, true));
    gateway.works(1).await;
    assert_eq!(texts(&desk, &of).await, 2);
}

/// A second tap on the same spot does not confirm a question that nobody has read.
#[tokio::test]
async fn button_of_an_earlier_question_of_the_same_post_is_void() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind"), ChatVerb::Rewind, None).await;
    gateway.works(1).await;
    let button = gateway.button(&turn("one"));
    assert_eq!(gateway.presses(&says("", ""), button.clone()).await, Some(confirm(3, 3)));
    assert_eq!(gateway.presses(&says("", ""), button.clone()).await, refused(ChatRefusal::Stale));
    gateway.works(1).await;
    assert_eq!(gateway.presses(&says("", ""), button).await, refused(ChatRefusal::Stale));
    assert_eq!(texts(&desk, &of).await, 6);
}

#[tokio::test]
async fn words_answer_only_what_was_asked() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") };
    pairs(&desk, &gateway, ben, false).await;
    for (id, who) in [("g1", "Ben"), ("g2", "Ann")] {
        gateway.says(in_group(id, who, "words")).await;
        gateway.works(1).await;
    }
    let answers = gateway.answers();
    // A list of turns is not answered with yes.
    gateway.commands(in_group("g3", "Ann", "/rewind"), ChatVerb::Rewind, None).await;
    gateway.works(1).await;
    gateway.commands(in_group("g4", "Ann", "/confirm"), ChatVerb::Confirm, None).await;
    let nothing = ChatNotice::Refused(ChatRefusal::Nothing { verb: ChatVerb::Confirm });
    assert_eq!((gateway.works(1).await, gateway.answers()), (vec![nothing], answers));
    // An offer that is cancelled is not taken.
    gateway.commands(in_group("g5", "Ben", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    gateway.button(&ButtonLabel::DropMine);
    gateway.commands(in_group("g6", "Ben", "/cancel"), ChatVerb::Cancel, None).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), answers);
    assert!(!gateway.buttons.values().flatten().any(|button| button.label == ButtonLabel::DropMine));
}

#[tokio::test]
async fn question_of_a_place_that_belongs_to_no_conversation_any_more_is_void() {
    let (desk, mut gateway, of) = three_turns().await;
    gateway.commands(says("4", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let button = gateway.button(&ButtonLabel::Confirm);
    desk.does(Request::Bind(Bind { place: says("", "").place, conversation: None })).await;
    assert_eq!(gateway.presses(&says("", ""), button).await, refused(ChatRefusal::Stale));
    assert_eq!(texts(&desk, &of).await, 6);
}
