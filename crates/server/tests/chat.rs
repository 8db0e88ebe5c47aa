//! Chats, as a gateway sees them: what arrives is answered once, posts are in the ledger before they are sent, and a step takes them
//! back and says truthfully what became of them. The platform here is a map in the test.

mod approvals;
mod buttons;
mod edits;
mod ending;
mod joined;
mod moved;
mod plans;
mod platform;
mod recalls;
mod settings;
mod steps;
mod waits;

use std::time::Duration;

use retake_wire::chat::{
    Addressed, Arrival, Arrived, Bind, ButtonLabel, ChatNotice, ChatRefusal, ChatStep, ChatVerb, Deletion,
    GatewayConnect, GatewayCursor, GatewayHold, GatewaySettle, GatewayTake, Inbound, InboundMessage, Pair,
    Person, Place, PostAction, PostCounts, PostOutcome, PostStatus, Posts, PostsOf, StayCause, StayCount,
    Unpair,
};
use retake_wire::reply::Entries;
use retake_wire::request::List;
use retake_wire::{Action, Client, Part, Problem, Request, request};

use super::world::{Desk, apply, get, log, variant};

use platform::{Gateway, conversation, in_group, in_private, paired, pairs, rewound, says, texts};

#[tokio::test]
async fn gateways_case_01_and_02_event_that_is_delivered_again_is_done_once() {
    let (desk, mut gateway) = paired(false).await;
    let first = gateway.says(says("1", "what is 2 times 3")).await;
    let Arrival::Said { conversation } = &first.outcome else { panic!("{first:?}") };
    assert!(!first.again);
    for _ in 0..2 {
        let again = gateway.says(says("1", "what is 2 times 3")).await;
        assert_eq!((again.outcome, again.again), (first.outcome.clone(), true));
    }
    // The same message under another name of its event.
    let again = gateway.arrives("other", Inbound::Message(says("1", "what is 2 times 3")), None).await;
    assert!(again.again, "{again:?}");
    gateway.works(1).await;
    assert_eq!((texts(&desk, conversation).await, gateway.answers()), (2, 1));
}

#[tokio::test]
async fn gateways_case_03_message_that_was_taken_back_and_arrives_again_stays_taken_back() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    assert!(gateway.says(says("1", "one")).await.again);
    assert!(gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await.again);
    assert!(gateway.works(1).await.is_empty());
    assert_eq!((texts(&desk, &conversation(&desk).await).await, gateway.answers()), (0, 0));
}

#[tokio::test]
async fn gateways_case_18_parts_of_an_answer_are_sent_in_order() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(3).await;
    let shown: Vec<&str> = gateway.there.values().map(|shown| &shown[..2]).collect();
    assert_eq!(shown, ["0:", "1:", "2:"]);
    let posts = PostsOf { conversation: conversation(&desk).await, ..PostsOf::default() };
    let Posts { posts, .. } = get!(desk, Posts, Request::Posts(posts));
    assert!(posts.iter().all(|post| post.state == PostStatus::Sent), "{posts:?}");
    assert_eq!(posts.iter().map(|post| post.part).collect::<Vec<_>>(), [3, 2, 1]);
}

#[tokio::test]
async fn gateways_case_42_and_68_rewind_deletes_the_posts_of_its_turns_and_no_others() {
    let (_desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(2).await;
    gateway.says(says("2", "two")).await;
    gateway.works(3).await;
    assert_eq!(gateway.answers(), 5);
    gateway.commands(says("3", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    let notices = gateway.works(1).await;
    let gone = PostCounts { gone: 3, ..PostCounts::default() };
    assert_eq!(notices.last(), Some(&rewound(1, gone)), "{notices:?}");
    assert_eq!(gateway.answers(), 2);
    gateway.says(says("4", "three")).await;
    gateway.works(1).await;
    gateway.commands(says("5", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    let notices = gateway.works(1).await;
    let gone = PostCounts { gone: 1, ..PostCounts::default() };
    assert_eq!((notices.last(), gateway.answers()), (Some(&rewound(1, gone)), 2), "{notices:?}");
}

#[tokio::test]
async fn gateways_case_45_and_46_post_that_is_not_wanted_any_more_is_never_sent_or_deleted_when_its_id_is_known()
 {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    let work = gateway.takes(5000).await;
    let [work] = work.as_slice() else { panic!("{work:?}") };
    let sending = || PostOutcome::Sending { parts: 1, digest: "d".to_owned(), is_preview: false };
    let id = conversation(&desk).await;
    // Taken back before the request leaves.
    desk.does(apply(&id, Action::Rewind { entry: "t1".to_owned() })).await;
    assert!(!gateway.settles(&work.post, sending()).await, "it must not leave");
    assert!(gateway.works(1).await.is_empty() && gateway.there.is_empty());
    desk.does(apply(&id, Action::Undo { count: 1 })).await;
    let work = gateway.takes(5000).await;
    let [work] = work.as_slice() else { panic!("an undo brings it back: {work:?}") };
    // Taken back while it is being sent.
    assert!(gateway.settles(&work.post, sending()).await);
    desk.does(apply(&id, Action::Rewind { entry: "t1".to_owned() })).await;
    let posts = PostsOf { conversation: id.clone(), ..PostsOf::default() };
    let state = async || get!(desk, Posts, Request::Posts(posts.clone())).posts.last().expect("it").state;
    assert_eq!(state().await, PostStatus::Sending, "it does not count as gone");
    gateway.there.insert("9".to_owned(), "0: late".to_owned());
    let sent =
        PostOutcome::Sent { ids: vec!["9".to_owned()], sent_ms: 1, deadline_ms: None, deletable: true };
    gateway.settles(&work.post, sent).await;
    gateway.works(1).await;
    assert_eq!((state().await, gateway.answers()), (PostStatus::Gone { how: Deletion::Gone }, 0));
}

#[tokio::test]
async fn posts_command_counts_the_posts_that_stay() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.commands(says("2", "/posts"), ChatVerb::Posts, None).await;
    let stay = |stays| ChatNotice::PostsThatStay { posts: PostCounts { stays, ..PostCounts::default() } };
    assert_eq!(gateway.works(1).await, [stay(Vec::new())]);
    let id = conversation(&desk).await;
    desk.does(apply(&id, Action::Rewind { entry: "t1".to_owned() })).await;
    let why = StayCause::NotPermitted;
    for work in gateway.takes(5000).await {
        if matches!(work.action, PostAction::Delete { .. }) {
            gateway.settles(&work.post, PostOutcome::Stays { why }).await;
        }
    }
    gateway.commands(says("3", "/posts"), ChatVerb::Posts, None).await;
    let notices = gateway.works(1).await;
    let asked: Vec<_> = notices.iter().filter(|it| matches!(it, ChatNotice::PostsThatStay { .. })).collect();
    assert_eq!(asked, [&stay(vec![StayCount { why, count: 1 }])], "{notices:?}");
}

#[tokio::test]
async fn post_that_stays_and_that_somebody_deletes_is_gone() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    let id = conversation(&desk).await;
    desk.does(apply(&id, Action::Rewind { entry: "t1".to_owned() })).await;
    for work in gateway.takes(5000).await {
        if let PostAction::Delete { ids, .. } = work.action {
            gateway.settles(&work.post, PostOutcome::Stays { why: StayCause::NotPermitted }).await;
            let recalled = Inbound::Recalled { place: work.place, message: ids[0].clone(), by: None };
            gateway.arrives("r", recalled, None).await;
        }
    }
    let posts = get!(desk, Posts, Request::Posts(PostsOf { conversation: id, ..PostsOf::default() })).posts;
    let answer = posts.iter().find(|post| post.entry.is_some()).expect("it");
    assert_eq!(answer.state, PostStatus::Gone { how: Deletion::Gone });
}

#[tokio::test]
async fn gateways_case_67_undo_before_the_deletions_keeps_the_posts() {
    let (_desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(2).await;
    gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.commands(says("3", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 2);
}

#[tokio::test]
async fn gateways_case_78_member_takes_back_only_their_own_turns() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    pairs(
        &desk,
        &gateway,
        InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") },
        false,
    )
    .await;
    gateway.says(in_group("g1", "Ben", "mine")).await;
    gateway.works(1).await;
    gateway.says(in_group("g2", "Ann", "after")).await;
    gateway.works(1).await;
    let back = InboundMessage { reply_to: Some("g1".to_owned()), ..in_group("g3", "Ben", "/rewind") };
    gateway.commands(back, ChatVerb::Rewind, None).await;
    let refusal = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        ChatNotice::Refused(ChatRefusal::TurnsOf { names })
    };
    assert_eq!(gateway.works(1).await, [refusal(&["Ann"])]);
    let theirs = InboundMessage { reply_to: Some("g2".to_owned()), ..in_group("g3a", "Ben", "/drop") };
    gateway.commands(theirs, ChatVerb::Drop, None).await;
    assert_eq!(gateway.works(1).await, [refusal(&["Ann"])]);
    gateway.commands(in_group("g3b", "Ben", "/retry"), ChatVerb::Retry, None).await;
    assert_eq!(gateway.works(1).await, [refusal(&["Ann"])]);
    gateway.commands(in_group("g4", "Ben", "/undo"), ChatVerb::Undo, None).await;
    let last = ChatNotice::Refused(ChatRefusal::LastStepOf { name: "Ann".to_owned() });
    assert_eq!(gateway.works(1).await, [last]);
    let drop = InboundMessage { reply_to: Some("g1".to_owned()), ..in_group("g5", "Ben", "/drop") };
    gateway.commands(drop, ChatVerb::Drop, None).await;
    let notices = gateway.works(1).await;
    let Some(ChatNotice::Step { step: ChatStep::Drop, posts, by, .. }) = notices.last() else {
        panic!("{notices:?}")
    };
    assert_eq!((posts.gone, by.as_deref(), gateway.answers()), (1, Some("Ben"), 2));
    // The owner may take back everything.
    gateway.commands(in_group("g6", "Ann", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    gateway.presses(&in_group("", "Ann", ""), gateway.button(&ButtonLabel::Confirm)).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 0);
}

/// Their own step is the last one, and those before it are not: neither a count nor a repetition reaches them.
#[tokio::test]
async fn gateways_case_78_member_undoes_no_step_of_others() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("b0", "hi") };
    pairs(&desk, &gateway, ben, false).await;
    gateway.says(in_group("g1", "Ben", "mine")).await;
    gateway.works(1).await;
    let of_ann = [ChatNotice::Refused(ChatRefusal::LastStepOf { name: "Ann".to_owned() })];
    gateway.commands(in_group("g2", "Ben", "/undo 2"), ChatVerb::Undo, Some(2)).await;
    assert_eq!((gateway.works(1).await.as_slice(), gateway.answers()), (&of_ann[..], 2));
    gateway.commands(in_group("g3", "Ben", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 1);
    gateway.commands(in_group("g4", "Ben", "/undo"), ChatVerb::Undo, None).await;
    assert_eq!((gateway.works(1).await.as_slice(), gateway.answers()), (&of_ann[..], 1));
    // What an owner has undone, an owner does again.
    gateway.commands(in_group("g5", "Ann", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    gateway.commands(in_group("g6", "Ben", "/redo"), ChatVerb::Redo, None).await;
    assert_eq!(gateway.works(1).await, of_ann);
}

#[tokio::test]
async fn gateways_case_80_and_82_stranger_reaches_nothing_and_a_group_needs_an_owner_and_a_mention() {
    let desk = Desk::fast().await;
    let mut gateway = Gateway::new(&desk, "one").await;
    assert!(matches!(gateway.says(says("1", "hunter2")).await.outcome, Arrival::Stranger { code: Some(_) }));
    let again = gateway.says(says("2", "hunter2")).await;
    assert_eq!(again.outcome, Arrival::Stranger { code: None }, "once in an hour");
    let edited = gateway.arrives("e", Inbound::Edited(says("1", "hunter2!")), None).await;
    assert_eq!(edited.outcome, Arrival::Ignored);
    assert_eq!(gateway.says(in_group("3", "Ann", "hunter2")).await.outcome, Arrival::Ignored);
    let list = get!(desk, Conversations, Request::List(List::default()));
    assert!(list.conversations.is_empty() && gateway.works(1).await.is_empty());
    for file in ["data/retake.db", "data/retake.db-wal"] {
        let bytes = std::fs::read(desk.file(file)).unwrap_or_default();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{file}");
    }
    let bot = InboundMessage { person: Person { is_bot: true, ..says("", "").person }, ..says("4", "hi") };
    assert_eq!(gateway.says(bot).await.outcome, Arrival::Ignored);
    // A member does not open a group; an owner does, and then it answers who addresses it.
    pairs(
        &desk,
        &gateway,
        InboundMessage { person: in_group("", "Ben", "").person, ..says("5", "hi") },
        false,
    )
    .await;
    assert_eq!(gateway.says(in_group("6", "Ben", "hi")).await.outcome, Arrival::Ignored);
    pairs(
        &desk,
        &gateway,
        InboundMessage { person: in_group("", "Eve", "").person, ..says("7", "hi") },
        true,
    )
    .await;
    assert!(matches!(gateway.says(in_group("8", "Eve", "hi")).await.outcome, Arrival::Said { .. }));
    assert!(matches!(gateway.says(in_group("9", "Ben", "hi")).await.outcome, Arrival::Said { .. }));
    let talk = InboundMessage { addressed: Addressed::No, ..in_group("10", "Ben", "to the others") };
    assert_eq!(gateway.says(talk).await.outcome, Arrival::Ignored);
}

#[tokio::test]
async fn gateways_case_81_five_wrong_codes_close_all_codes() {
    let desk = Desk::fast().await;
    let gateway = Gateway::new(&desk, "one").await;
    let Arrival::Stranger { code: Some(code) } = gateway.says(says("1", "hi")).await.outcome else {
        panic!("a code")
    };
    let pair = async |code: &str| {
        desk.client.call(Request::Pair(Pair { code: code.to_owned(), as_owner: false })).await
    };
    for _ in 0..5 {
        let Err(Problem { code, .. }) = pair("AAAAAAAA").await else { panic!("it is wrong") };
        assert_eq!(code, "no_code");
    }
    assert!(pair(&code).await.is_err(), "it was closed");
    assert!(matches!(gateway.says(says("2", "hi")).await.outcome, Arrival::Stranger { code: None }));
}

#[tokio::test]
async fn gateways_case_10_messages_that_come_too_late_are_stored_as_written_and_a_notice_counts_them() {
    let (desk, mut gateway) = paired(false).await;
    for (key, id, again) in [("k", "1", false), ("k", "1", true), ("l", "2", false)] {
        let arrived = gateway.says_late(key, says(id, "one")).await;
        assert_eq!(arrived, Arrived { outcome: Arrival::Observed, again });
    }
    // One notice gives their number, and goes on counting.
    assert_eq!(gateway.works(1).await, [ChatNotice::Missed { count: 2 }]);
    gateway.says_late("m", says("3", "three")).await;
    assert_eq!(gateway.works(1).await, [ChatNotice::Missed { count: 3 }]);
    assert_eq!(gateway.there.len(), 1);
    let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(&conversation(&desk).await)));
    let [entry, _, _] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((&entry.parts[..], gateway.answers()), (&[Part::Text { text: "one".to_owned() }][..], 0));
}

#[tokio::test]
async fn gateways_case_85_post_that_somebody_else_deleted_is_gone() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    let id = gateway.there.pop_first().expect("a post").0;
    let place = says("", "").place;
    gateway.arrives("r", Inbound::Recalled { place, message: id, by: None }, None).await;
    gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    let posts = get!(desk, Posts, Request::Posts(PostsOf { conversation: of, ..PostsOf::default() })).posts;
    assert_eq!(posts.last().expect("it").state, PostStatus::Gone { how: Deletion::Gone });
}

/// The news of a deletion may be faster than the answer to the request that sent the post, and than a lost answer that is looked for.
#[tokio::test]
async fn gateways_case_85_post_that_is_deleted_before_its_id_is_known_is_gone() {
    for lost in [false, true] {
        let (desk, mut gateway) = paired(false).await;
        gateway.says(says("1", "one")).await;
        let work = gateway.takes(5000).await.remove(0);
        let (place, digest) = (work.place.clone(), "d".to_owned());
        gateway.settles(&work.post, PostOutcome::Sending { parts: 1, digest, is_preview: false }).await;
        if lost {
            gateway.settles(&work.post, PostOutcome::Lost).await;
        }
        let recalled =
            |message: &str| Inbound::Recalled { place: place.clone(), message: message.to_owned(), by: None };
        gateway.arrives("r1", recalled("p1"), None).await;
        gateway.arrives("r2", recalled("p2"), None).await;
        let sent =
            PostOutcome::Sent { ids: vec!["p1".to_owned()], sent_ms: 1, deadline_ms: None, deletable: true };
        gateway.settles(&work.post, sent).await;
        let of = conversation(&desk).await;
        let posts =
            get!(desk, Posts, Request::Posts(PostsOf { conversation: of, ..PostsOf::default() })).posts;
        let states: Vec<_> = posts.iter().map(|post| post.state).collect();
        assert_eq!(states, [PostStatus::Gone { how: Deletion::Gone }], "lost: {lost}");
        // Neither is it sent again, nor deleted by a rewind.
        gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
        gateway.works(1).await;
        assert_eq!(gateway.answers(), 0);
    }
}

/// A gateway that was killed leaves a request for work behind. It must not take what the next gateway could do.
#[tokio::test]
async fn later_request_for_work_ends_an_earlier_one() {
    let (_desk, gateway) = paired(false).await;
    let left_behind = async {
        let work = gateway.takes(30_000).await;
        assert!(work.is_empty(), "{work:?}");
    };
    let later = async {
        // The earlier one may not have arrived yet.
        loop {
            assert!(gateway.takes(20).await.is_empty());
        }
    };
    let both = async {
        tokio::select! {
            () = left_behind => {}
            () = later => {}
        }
    };
    tokio::time::timeout(Duration::from_secs(10), both).await.expect("it ends early");
}

/// Two gateways for one account: the second one is told who has it.
#[tokio::test]
async fn gateways_case_13_account_belongs_to_one_gateway_at_a_time() {
    let (desk, first) = paired(false).await;
    let second = Gateway::new(&desk, "two").await;
    let connect = |gateway: &Gateway| {
        Request::GatewayConnect(GatewayConnect {
            account: "chat".into(),
            holder: gateway.holder.clone(),
            replaces: None,
        })
    };
    assert!(first.client.call(connect(&first)).await.is_ok());
    let problem = second.client.call(connect(&second)).await.expect_err("it is taken");
    assert_eq!((&*problem.code, problem.fields["holder"].as_str()), ("account_held", Some("one")));
}

/// A gateway's token permits the requests of its account, and nothing else.
#[tokio::test]
async fn token_of_a_gateway_permits_nothing_but_its_account() {
    let (desk, gateway) = paired(true).await;
    gateway.says(says("1", "one")).await;
    let id = conversation(&desk).await;
    let code = async |request: Request| match gateway.client.call(request).await {
        Ok(_) => "done".to_owned(),
        Err(problem) => problem.code.to_string(),
    };
    let other =
        GatewayTake { account: "other".into(), holder: "one".into(), wait_ms: 0, most: None, previews: None };
    assert_eq!(code(Request::GatewayTake(other)).await, "not_permitted");
    assert_eq!(code(Request::Log(log(&id))).await, "unknown_conversation");
    assert_eq!(code(apply(&id, Action::Undo { count: 1 })).await, "unknown_conversation");
    assert_eq!(code(Request::List(List::default())).await, "not_permitted");
    assert_eq!(code(Request::Create(request::Create::default())).await, "not_permitted");
    let elsewhere = InboundMessage {
        place: Place { account: "other".into(), chat: "1".into(), thread: None },
        ..says("2", "two")
    };
    let arrive = gateway.arrive("k", Inbound::Message(elsewhere), None);
    assert_eq!(code(Request::Arrive(arrive)).await, "usage");
}

/// The requests of gateways and about people, with their replies.
pub(super) async fn answered() -> Vec<(String, String)> {
    let (desk, gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    let work = gateway.takes(5000).await;
    let (account, holder) = ("chat".to_owned(), gateway.holder.clone());
    let result = PostOutcome::Sending { parts: 1, digest: "d".to_owned(), is_preview: false };
    let cursor = GatewayCursor { account: account.clone(), holder: holder.clone(), cursor: "7".to_owned() };
    let hold =
        GatewayHold { account: account.clone(), holder: holder.clone(), bucket: "b".into(), until_ms: 1 };
    let rows = [
        Request::GatewayConnect(GatewayConnect {
            account: account.clone(),
            holder: holder.clone(),
            replaces: None,
        }),
        Request::GatewayCursor(cursor),
        Request::GatewayHold(hold),
        Request::GatewaySettle(GatewaySettle {
            account: account.clone(),
            holder: holder.clone(),
            post: work[0].post.clone(),
            result,
        }),
        Request::GatewayTake(GatewayTake {
            account: account.clone(),
            holder: holder.clone(),
            wait_ms: 0,
            most: None,
            previews: None,
        }),
        Request::Arrive(gateway.arrive("k", Inbound::Message(says("2", "two")), None)),
    ];
    let mut answered = Vec::new();
    for request in rows {
        let reply = gateway.client.call(request.clone()).await.expect("a reply");
        answered.push((variant(&request), variant(&reply)));
    }
    let Arrival::Stranger { code: Some(code) } = gateway.says(in_private("3", "Ben")).await.outcome else {
        panic!("a code")
    };
    let posts = PostsOf { conversation: conversation(&desk).await, ..PostsOf::default() };
    for request in [
        Request::Pair(Pair { code, as_owner: false }),
        Request::PeopleList,
        Request::PlaceList,
        Request::Bind(Bind { place: says("", "").place, conversation: None }),
        Request::Posts(posts),
        Request::Unpair(Unpair { account, person: "ben".to_owned() }),
    ] {
        answered.push((variant(&request), variant(&desk.does(request).await)));
    }
    answered
}
