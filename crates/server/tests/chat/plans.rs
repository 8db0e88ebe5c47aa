//! Plans and receipts: which posts a step takes back, which stay, and which an undo does not bring back.

use retake_wire::chat::{ChatVerb, PostAction, PostCounts, PostOutcome, StayCause, StayCount};
use retake_wire::reply::{Outside, PostChanges, StepPosts, TargetPage, TurnActions};
use retake_wire::{Action, MarkVerb, Request, request};

use super::super::world::{Desk, apply, get, plan};
use super::platform::{Gateway, conversation, paired, says};

fn trying(trying: u32) -> PostCounts {
    PostCounts { trying, ..PostCounts::default() }
}

fn taken(taken_back: PostCounts) -> PostChanges {
    PostChanges { taken_back, ..PostChanges::default() }
}

async fn planned(desk: &Desk, of: &str, action: Action) -> PostChanges {
    counted(get!(desk, Plan, plan(of, action)).outside)
}

/// The numbers, which are those of the only place, too.
fn counted(outside: Outside) -> PostChanges {
    let StepPosts { all, place_count, places } = outside.posts;
    assert_eq!(place_count as usize, places.len());
    match places.as_slice() {
        [] => assert_eq!(all, PostChanges::default()),
        [one] => assert_eq!((&one.changes, &one.place), (&all, &says("", "").place)),
        more => panic!("{more:?}"),
    }
    all
}

fn back_to(turn: &str) -> Action {
    Action::Rewind { entry: turn.to_owned() }
}

/// Two turns with two and three posts.
async fn two_turns() -> (Desk, Gateway, String) {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(2).await;
    gateway.says(says("2", "two")).await;
    gateway.works(3).await;
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

#[tokio::test]
async fn gateways_case_42_plan_and_receipt_name_the_posts_and_the_receipt_follows_what_becomes_of_them() {
    let (desk, mut gateway, of) = two_turns().await;
    assert_eq!(planned(&desk, &of, back_to("t2")).await, taken(trying(3)));
    assert_eq!(planned(&desk, &of, back_to("t1")).await, taken(trying(5)));
    let key = "0199c2d8-0000-7000-8000-000000000001".to_owned();
    let Request::Apply(step) = apply(&of, back_to("t2")) else { panic!("an action") };
    let step = request::Apply { request_id: Some(key.clone()), ..step };
    let receipt = get!(desk, Receipt, Request::Apply(step));
    assert_eq!(counted(receipt.outside), taken(trying(3)));
    gateway.works(1).await;
    let earlier = request::EarlierRequest { key, conversation: Some(of.clone()) };
    let receipt = get!(desk, Receipt, Request::EarlierRequest(earlier));
    let gone = PostCounts { gone: 3, ..PostCounts::default() };
    assert_eq!(counted(receipt.outside), taken(gone));
    // An undo brings the turn back, but not what is gone from the chat.
    let lost = PostChanges { lost: 3, ..PostChanges::default() };
    assert_eq!(planned(&desk, &of, Action::Undo { count: 1 }).await, lost);
    let undone = desk.apply(&of, Action::Undo { count: 1 }).await;
    assert_eq!(counted(undone.outside), lost);
}

#[tokio::test]
async fn gateways_case_67_plan_of_an_undo_before_the_deletions_keeps_the_posts() {
    let (desk, gateway, of) = two_turns().await;
    desk.does(apply(&of, back_to("t2"))).await;
    let kept = PostChanges { kept: 3, ..PostChanges::default() };
    assert_eq!(planned(&desk, &of, Action::Undo { count: 1 }).await, kept);
    // The deletions are known to the gateway, but not made.
    assert!(!gateway.takes(5000).await.is_empty());
    assert_eq!(planned(&desk, &of, Action::Undo { count: 1 }).await, kept);
    assert_eq!(counted(desk.apply(&of, Action::Undo { count: 1 }).await.outside), kept);
}

#[tokio::test]
async fn gateways_case_50_and_60_plan_names_the_posts_that_stay_with_the_reason() {
    let (desk, mut gateway) = paired(false).await;
    let of = {
        gateway.says(says("1", "one")).await;
        gateway.works(1).await;
        conversation(&desk).await
    };
    // No way to delete it; too old; the answer of the platform was lost; not sent yet.
    let sent = |deadline_ms, deletable| PostOutcome::Sent {
        ids: vec![format!("p{deadline_ms:?}")],
        sent_ms: 1,
        deadline_ms,
        deletable,
    };
    for (message, result) in [
        ("2", Some(sent(None, false))),
        ("3", Some(sent(Some(2), true))),
        ("4", Some(PostOutcome::Lost)),
        ("5", None),
    ] {
        gateway.says(says(message, "more")).await;
        let work = loop {
            let work = gateway.takes(5000).await;
            if let Some(work) =
                work.into_iter().find(|work| matches!(work.action, PostAction::Send { lost: None, .. }))
            {
                break work;
            }
        };
        if let Some(result) = result {
            let sending = PostOutcome::Sending { parts: 1, digest: "d".to_owned(), is_preview: false };
            assert!(gateway.settles(&work.post, sending).await);
            gateway.settles(&work.post, result).await;
        }
    }
    let stay = |why| StayCount { why, count: 1 };
    let stays = vec![stay(StayCause::TooOld), stay(StayCause::NoWay)];
    let taken_back = PostCounts { trying: 1, unknown: 1, stays, ..PostCounts::default() };
    let all = PostChanges { unsent: 1, ..taken(taken_back) };
    assert_eq!(planned(&desk, &of, back_to("t1")).await, all);
    assert_eq!(counted(desk.apply(&of, back_to("t1")).await.outside), all);
}

#[tokio::test]
async fn gateways_case_76_plan_of_a_dropped_turn_and_of_an_edit_names_exactly_its_posts() {
    let (desk, mut gateway, of) = two_turns().await;
    let drop = |entry: &str| Action::Mark {
        verb: MarkVerb::Drop,
        entries: vec![entry.to_owned()],
        range: false,
        seen: None,
    };
    assert_eq!(planned(&desk, &of, drop("t1")).await, taken(trying(2)));
    assert_eq!(planned(&desk, &of, Action::Edit { entry: "t1".to_owned() }).await, taken(trying(5)));
    assert_eq!(counted(desk.apply(&of, drop("t1")).await.outside), taken(trying(2)));
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 3);
    gateway.commands(says("9", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    assert_eq!(gateway.answers(), 3, "what is gone is not posted again");
}

#[tokio::test]
async fn step_without_posts_says_nothing_of_posts() {
    let desk = Desk::fast().await;
    let (of, _) = desk.talk(&["one"]).await;
    assert_eq!(planned(&desk, &of, back_to("t1")).await, PostChanges::default());
    let json = serde_json::to_value(get!(desk, Plan, plan(&of, back_to("t1")))).expect("JSON");
    assert_eq!(json.get("posts"), None);
}

#[tokio::test]
async fn message_and_its_turn_say_where_it_was_written_and_how_many_posts_answer_it() {
    let (desk, _gateway, of) = two_turns().await;
    let (_, entries) = desk.timeline(&of).await;
    let origins: Vec<_> = entries.iter().map(|entry| entry.origin.clone()).collect();
    let origin = origins[0].clone().expect("it came from a chat");
    assert_eq!((origin.place, origin.person.as_str()), (says("", "").place, "ann"));
    assert_eq!(origins.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, false]);
    let targets = request::Targets { conversation: of, limit: None, before: None };
    let TargetPage { targets, .. } = get!(desk, Targets, Request::Targets(targets));
    let posts: Vec<u64> = targets.iter().map(|target| target.did.posts).collect();
    assert_eq!(posts, [3, 2]);
    assert_eq!(TurnActions { posts: 0, ..targets[0].did }, TurnActions::default());
}
