//! The outbox: destinations are told what holds, in order, and nothing that was taken back before it was sent.

use std::sync::Arc;

use retake_core::{
    Action, Attempt, Delivery, DeliveryEvent, DeliveryOrder, DeliveryTerms, OutboxFailure, Reason, Role,
    RunEnding, RunInput, RunState, Steer, Time, joined_text,
};

use super::stage::Stage;
use crate::Store;
use crate::outbox::{Destination, OwedDelivery, Wants};
use crate::rows::OutboxKey;

/// A day.
const DEADLINE: i64 = 24 * 60 * 60 * 1000;

fn terms(deadline_ms: i64, order: DeliveryOrder) -> DeliveryTerms {
    DeliveryTerms { deadline_ms, order }
}

/// After every time of these tests.
const LATE: Time = Time(1 << 50);

fn wants() -> Wants {
    Wants { events: DeliveryEvent::ALL.to_vec(), texts: true }
}

async fn set(store: &Store, names: &[&str]) {
    let destinations =
        names.iter().map(|name| Destination { name: (*name).to_owned(), folder: None }).collect();
    store.set_destinations(destinations, Time(1)).await.expect("set");
}

/// The names of all destinations in these tests.
const NAMES: [&str; 6] = ["hook", "a", "b", "c", "d", "e"];

async fn due(store: &Store) -> Option<OutboxKey> {
    due_at(store, LATE).await
}

async fn due_at(store: &Store, now: Time) -> Option<OutboxKey> {
    for name in NAMES {
        let due = store.due(name.to_owned(), now, 10).await.expect("read");
        if let Some(key) = due.into_iter().next() {
            return Some(key);
        }
    }
    None
}

async fn next_due(store: &Store) -> Option<Time> {
    store.next_due(Time(0)).await.expect("read")
}

/// The next delivery of the first row that is due, claimed.
async fn claim(store: &Store) -> Option<OwedDelivery> {
    while let Some(key) = due(store).await {
        let Some(owed) = store.owed_delivery(key, wants()).await.expect("read") else { continue };
        assert!(store.claim_delivery(owed.clone(), LATE, LATE).await.expect("claimed"));
        return Some(owed);
    }
    None
}

async fn settle(store: &Store, key: &OutboxKey, attempt: Attempt) {
    store
        .settle_delivery(key.clone(), attempt, LATE, terms(DEADLINE, DeliveryOrder::Strict))
        .await
        .expect("settled");
}

/// A delivery in words: the event, and texts or numbers of entries.
fn words(delivery: &Delivery) -> String {
    let texts = delivery.came.iter().map(|entry| entry.text.clone().unwrap_or_else(|| "-".to_owned()));
    let texts: Vec<_> = texts.collect();
    format!("{} -{} +[{}]", delivery.event.name(), delivery.gone.len(), texts.join(" "))
}

/// Delivers everything that is owed.
async fn told(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(owed) = claim(store).await {
        settle(store, &owed.key, Attempt::Done).await;
        all.push(words(&owed.delivery));
    }
    all
}

/// Each change is told once, in order, also when its text is no longer visible; then nothing is due.
pub async fn deliveries_follow_the_changes(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one", "two"]).await;
    assert_eq!(told(&store).await, ["said -0 +[one one! two two!]"]);
    assert_eq!(next_due(&store).await, None);
    stage.rewind("two").await;
    assert_eq!(told(&store).await, ["rewound -2 +[]"]);
    stage.act(Action::Undo(1)).await.expect("undone");
    assert_eq!(told(&store).await, ["restored -0 +[two two!]"]);
    stage.turn("three").await;
    stage.rewind("two").await;
    // It is named, because the rewind took it back, but its text is not sent.
    assert_eq!(told(&store).await, ["said -0 +[- -]", "rewound -4 +[]"]);
    assert_eq!(told(&store).await, Vec::<String>::new());
}

/// What was taken back before it was claimed owes nothing; after the claim, the opposite is owed.
pub async fn undo_before_the_claim_cancels_and_after_it_owes_the_opposite(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let stage = Stage::with_turns(Arc::clone(&store), &["one", "two"]).await;
    told(&store).await;
    stage.rewind("two").await;
    stage.act(Action::Undo(1)).await.expect("undone");
    assert_eq!(told(&store).await, Vec::<String>::new());
    stage.rewind("two").await;
    let owed = claim(&store).await.expect("the rewind");
    stage.act(Action::Undo(1)).await.expect("undone");
    settle(&store, &owed.key, Attempt::Done).await;
    assert_eq!(words(&owed.delivery), "rewound -2 +[]");
    assert_eq!(told(&store).await, ["restored -0 +[two two!]"]);
}

/// A delivery that was read before a step is not claimed after it: what it says may not hold any more.
pub async fn delivery_that_was_read_before_a_step_is_not_claimed_after_it(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one", "two"]).await;
    told(&store).await;
    stage.rewind("two").await;
    let key = due(&store).await.expect("it is due");
    let owed = store.owed_delivery(key.clone(), wants()).await.expect("read").expect("a delivery");
    stage.act(Action::Undo(1)).await.expect("undone");
    assert!(!store.claim_delivery(owed, LATE, LATE).await.expect("tried"));
    assert_eq!(told(&store).await, Vec::<String>::new());
    // A message in between comes later, so it does no harm.
    stage.turn("three").await;
    let owed = store.owed_delivery(key, wants()).await.expect("read").expect("a delivery");
    stage.turn("four").await;
    assert!(store.claim_delivery(owed.clone(), LATE, LATE).await.expect("claimed"));
    settle(&store, &owed.key, Attempt::Done).await;
    assert_eq!(words(&owed.delivery), "said -0 +[three three!]");
    assert_eq!(told(&store).await, ["said -0 +[four four!]"]);
}

/// A claim whose outcome is not known is delivered again, with the same id and the same entries.
pub async fn claimed_delivery_is_delivered_again_with_its_id(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one"]).await;
    let first = claim(&store).await.expect("a message");
    stage.turn("two").await;
    stage.mark(Reason::Hide, &["one!"]).await.expect("hidden");
    // The claim keeps other workers away for its time.
    assert_eq!(due_at(&store, Time(LATE.0 - 1)).await, None);
    // The next owner need not wait; a delay after a failure stays.
    set(&store, &["hook"]).await;
    assert_eq!(next_due(&store).await, Some(Time(1)));
    let again = claim(&store).await.expect("it is delivered again");
    assert_eq!(again.delivery.id, first.delivery.id);
    assert_eq!(words(&again.delivery), "said -0 +[one -]");
    settle(&store, &again.key, Attempt::Done).await;
    settle(&store, &again.key, Attempt::Done).await;
    assert_eq!(told(&store).await, ["said -0 +[two two!]", "marked -1 +[]"]);
}

/// A delivery that fails for good is passed over and listed; it can be tried again or given up.
pub async fn delivery_that_fails_for_good_is_passed_over_and_listed(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one"]).await;
    let owed = claim(&store).await.expect("a message");
    let later = Attempt::Later("HTTP 503".to_owned(), None);
    settle(&store, &owed.key, later).await;
    let lines = store.outbox(10).await.expect("read");
    let [line] = &*lines else { panic!("{lines:?}") };
    assert_eq!((line.conversation, line.behind, line.item.why.as_deref()), (stage.id, 2, Some("HTTP 503")));
    set(&store, &["hook"]).await;
    assert_eq!(next_due(&store).await, Some(Time(LATE.0 + 1000)));
    store.retry_owed(Some(vec![owed.key.clone()]), LATE).await.expect("due");
    let owed = claim(&store).await.expect("again");
    let never = Attempt::Never(OutboxFailure::Refused, "HTTP 400".to_owned());
    settle(&store, &owed.key, never.clone()).await;
    stage.turn("two").await;
    assert_eq!(told(&store).await, ["said -0 +[two two!]"]);
    let lines = store.outbox(10).await.expect("read");
    let [line] = &*lines else { panic!("{lines:?}") };
    assert_eq!((line.key.no, line.item.failure, line.behind), (1, Some(OutboxFailure::Refused), 2));
    assert_eq!(store.retry_owed(Some(vec![line.key.clone()]), LATE).await.expect("due"), 1);
    let again = claim(&store).await.expect("again");
    assert_eq!(
        (words(&again.delivery), &again.delivery.id),
        ("said -0 +[one one!]".to_owned(), &owed.delivery.id)
    );
    settle(&store, &again.key, never.clone()).await;
    assert_eq!(told(&store).await, Vec::<String>::new());
    assert_eq!(store.drop_owed(Some(vec![line.key.clone()])).await.expect("dropped"), 1);
    assert_eq!(store.outbox(10).await.expect("read"), []);
    // What a row still owes is given up, too; a later change is told again.
    stage.turn("three").await;
    let key = due(&store).await.expect("it is due");
    assert_eq!(store.drop_owed(Some(Vec::new())).await.expect("nothing"), 0);
    assert_eq!(store.drop_owed(Some(vec![key.clone(), key])).await.expect("dropped"), 1);
    stage.turn("four").await;
    assert_eq!(told(&store).await, ["said -0 +[four four!]"]);
    stage.turn("five").await;
    let owed = claim(&store).await.expect("a message");
    store
        .settle_delivery(
            owed.key,
            Attempt::Later("refused".to_owned(), None),
            LATE,
            terms(10, DeliveryOrder::Strict),
        )
        .await
        .expect("settled");
    let lines = store.outbox(10).await.expect("read");
    assert_eq!(lines[0].item.failure, Some(OutboxFailure::TooOld), "{lines:?}");
}

/// Without an order, a delivery that must be tried again is set aside, and those after it are delivered. At most a few are: then the
/// next ones wait.
pub async fn delivery_that_is_set_aside_holds_up_nobody(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::new(Arc::clone(&store)).await;
    let scheduled = terms(DEADLINE, DeliveryOrder::Scheduled);
    let busy = || Attempt::Later("HTTP 503".to_owned(), None);
    stage.turn("one").await;
    let owed = claim(&store).await.expect("it is owed");
    store.settle_delivery(owed.key.clone(), busy(), LATE, scheduled).await.expect("settled");
    let aside = OutboxKey { no: 1, ..owed.key.clone() };
    stage.turn("two").await;
    assert_eq!(store.due("hook".to_owned(), LATE, 10).await.expect("read"), std::slice::from_ref(&owed.key));
    assert_eq!(told(&store).await, ["said -0 +[two two!]"]);
    let lines = store.outbox(10).await.expect("read");
    assert_eq!(lines.iter().map(|line| (&line.key, line.behind)).collect::<Vec<_>>(), [(&aside, 2)]);
    // It is delivered with the id that it had, and is gone.
    assert_eq!(store.retry_owed(None, LATE).await.expect("due"), 1);
    let again = claim(&store).await.expect("again");
    assert_eq!((&again.key, &again.delivery.id), (&aside, &owed.delivery.id));
    settle(&store, &aside, Attempt::Done).await;
    assert_eq!(store.outbox(10).await.expect("read"), []);
    for count in 0..20 {
        stage.turn(&format!("more{count}")).await;
        for key in store.due("hook".to_owned(), LATE, 10).await.expect("read") {
            let Some(owed) = store.owed_delivery(key, wants()).await.expect("read") else { continue };
            assert!(store.claim_delivery(owed.clone(), LATE, LATE).await.expect("claimed"));
            store.settle_delivery(owed.key, busy(), LATE, scheduled).await.expect("settled");
        }
    }
    let lines = store.outbox(100).await.expect("read");
    assert_eq!(lines.iter().filter(|line| line.key.no > 0).count(), 16);
    assert_eq!(lines.iter().filter(|line| line.key.no == 0).map(|line| line.behind).collect::<Vec<_>>(), [8]);
}

/// Erased, hidden and rewound texts are not sent; an erasure is told.
pub async fn texts_are_read_when_they_are_sent(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let stage = Stage::with_turns(Arc::clone(&store), &["one", "two", "three"]).await;
    stage.mark(Reason::Hide, &["two!"]).await.expect("hidden");
    let erased = Action::Erase { entries: vec![stage.named("one")], matching: None, objects: Vec::new() };
    stage.act(erased).await.expect("erased");
    assert_eq!(told(&store).await, ["said -0 +[- one! two three three!]", "erased -1 +[]"]);
    let page = store.shown(stage.id, stage.named("two")).await.expect("read").expect("shown");
    assert_eq!(joined_text(&page.entry.expect("readable").parts), "two");
}

/// A destination is told what happens from its beginning on, in its folders; one that is not set waits.
pub async fn destination_is_told_from_its_beginning_on(store: Arc<Store>) {
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one"]).await;
    assert_eq!(due(&store).await, None);
    let here = |name: &str, folder: &str| Destination { name: name.into(), folder: Some(folder.into()) };
    let all = [here("a", "/work"), here("b", "/"), here("c", "/wor"), here("d", "/work/x")];
    store.set_destinations(all.to_vec(), Time(1)).await.expect("set");
    stage.turn("two").await;
    let lines = store.outbox(10).await.expect("read");
    let names: Vec<_> = lines.iter().map(|line| (&*line.key.destination, line.behind)).collect();
    assert_eq!(names, [("a", 2), ("b", 2)]);
    set(&store, &["b", "e"]).await;
    stage.turn("three").await;
    assert_eq!(told(&store).await, ["said -0 +[two two! three three!]", "said -0 +[three three!]"]);
    // A retry of what nobody delivers changes nothing.
    let waits = store.outbox(10).await.expect("read")[0].key.clone();
    assert_eq!(store.retry_owed(Some(vec![waits]), LATE).await.expect("read"), 0);
    // What is owed to the first one is still listed, and sent when it is there again.
    assert_eq!(store.outbox(10).await.expect("read").len(), 1);
    assert_eq!(next_due(&store).await, None);
    set(&store, &["a", "b", "e"]).await;
    assert_eq!(told(&store).await, ["said -0 +[two two! three three!]"]);
}

/// The end of a turn is told behind its messages, and how it ended.
pub async fn ends_of_turns_are_told(store: Arc<Store>) {
    set(&store, &["hook"]).await;
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one"]).await;
    let new = retake_core::NewRun { words: None, steer: Steer::Queue, seen: None, model: None };
    let begun = store
        .step_runs(stage.id, vec![RunInput::Enqueue(new, Time(5)), RunInput::Claim(Time(6))])
        .await
        .expect("begun");
    let fence = begun.runs.fence;
    stage.say(Role::Assistant, "done").await;
    let ended = RunEnding::Failed("no-answer".to_owned());
    store.step_runs(stage.id, vec![RunInput::End(fence, ended, Time(7))]).await.expect("ended");
    stage.turn("two").await;
    let mut all = Vec::new();
    while let Some(owed) = claim(&store).await {
        settle(&store, &owed.key, Attempt::Done).await;
        all.push((words(&owed.delivery), owed.delivery.ended.clone()));
    }
    let failed = Some((RunState::Failed, Some("no-answer".to_owned())));
    let expected = [
        ("said -0 +[one one! done]".to_owned(), None),
        ("turn-ended -0 +[]".to_owned(), failed),
        ("said -0 +[two two!]".to_owned(), None),
    ];
    assert_eq!(all, expected);
}
