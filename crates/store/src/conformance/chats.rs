//! Chats: accounts, events, bindings, people and messages, as `docs/spec/gateways.md` says in sections 2 and 3. Must never expect what
//! only the code says.

mod deliveries;
mod erased;
mod imported;
mod scene;
mod taking_back;

use std::sync::Arc;

use retake_core::{
    Action, ArrivalOutcome, ChatArrival, ChatBinding, ChatPerson, ChatRole, ConversationId, Flags, NewRun,
    Part, Role, RunInput, SayRequest, Steer, Time, Words,
};

pub use deliveries::*;
pub use erased::*;
pub use imported::*;
use scene::{ACCOUNT, Scene, after, place};
pub use taking_back::*;

use super::stage::new_id;
use crate::Store;

async fn lease(store: &Store, holder: &str, replaces: Option<&str>, now: Time) -> Option<String> {
    let replaces = replaces.map(str::to_owned);
    store.lease_account(ACCOUNT.to_owned(), holder.to_owned(), replaces, now).await.expect("leased")
}

/// A second gateway gets the account when the lease of the first has ended, or when the first is known to have ended.
pub async fn account_belongs_to_one_gateway_until_its_lease_ends(store: Arc<Store>) {
    assert_eq!(lease(&store, "one", None, after(0)).await, None);
    assert_eq!(lease(&store, "two", None, after(59_999)).await, Some("one".to_owned()));
    assert_eq!(lease(&store, "one", None, after(30_000)).await, None, "it renews its lease");
    assert_eq!(lease(&store, "two", None, after(60_000)).await, Some("one".to_owned()));
    assert_eq!(lease(&store, "two", None, after(90_000)).await, None, "the lease has ended");
    assert_eq!(lease(&store, "one", None, after(90_001)).await, Some("two".to_owned()));
    assert_eq!(lease(&store, "three", Some("one"), after(90_001)).await, Some("two".to_owned()));
    assert_eq!(lease(&store, "three", Some("two"), after(90_001)).await, None, "two is known to have ended");
    let other = store.lease_account("other".to_owned(), "one".to_owned(), None, after(90_001)).await;
    assert_eq!(other.expect("leased"), None, "accounts are independent");
    let account = store.chat_account(ACCOUNT.to_owned()).await.expect("read");
    assert_eq!(account.lease, Some(("three".to_owned(), after(150_001))));
    let all = store.chat_accounts().await.expect("read").into_iter();
    let held: Vec<_> = all.map(|account| (account.name, account.lease.map(|(holder, _)| holder))).collect();
    let pair = |name: &str, holder: &str| (name.to_owned(), Some(holder.to_owned()));
    assert_eq!(held, [pair(ACCOUNT, "three"), pair("other", "one")]);
}

/// The cursor and the count of wrong codes belong to the account, not to its gateway.
pub async fn cursor_and_wrong_codes_survive_a_change_of_the_gateway(store: Arc<Store>) {
    let empty = store.chat_account(ACCOUNT.to_owned()).await.expect("read");
    assert_eq!((empty.name.as_str(), empty.cursor, empty.wrong_codes), (ACCOUNT, None, 0));
    for cursor in ["41", "42"] {
        store.set_chat_cursor(ACCOUNT.to_owned(), cursor.to_owned()).await.expect("kept");
    }
    for count in 1..=3 {
        assert_eq!(store.count_codes(ACCOUNT.to_owned(), false).await.expect("counted"), count);
    }
    assert_eq!(lease(&store, "one", None, after(0)).await, None);
    assert_eq!(lease(&store, "two", Some("one"), after(1)).await, None);
    let account = store.chat_account(ACCOUNT.to_owned()).await.expect("read");
    assert_eq!((account.cursor.as_deref(), account.wrong_codes), (Some("42"), 3));
    assert_eq!(store.count_codes(ACCOUNT.to_owned(), true).await.expect("reset"), 0);
    assert_eq!(store.chat_account("other".to_owned()).await.expect("read").cursor, None);
}

async fn event(store: &Store, account: &str, key: &str) -> Option<ArrivalOutcome> {
    store.chat_event(account.to_owned(), key.to_owned()).await.expect("read")
}

/// An event has one outcome in its account, whatever is recorded later and wherever its place is bound (case 1 and section 3).
pub async fn first_record_of_an_event_counts(store: Arc<Store>) {
    let (first, second) = (ConversationId::new(new_id()), ConversationId::new(new_id()));
    let note = async |account: &str, keys: &[&str], outcome: ArrivalOutcome| {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        store.note_chat_event(account.to_owned(), keys, outcome, after(0)).await.expect("recorded");
    };
    note(ACCOUNT, &["a", "b"], ArrivalOutcome::Said(first)).await;
    note(ACCOUNT, &["b", "c"], ArrivalOutcome::Said(second)).await;
    note(ACCOUNT, &["d"], ArrivalOutcome::Observed).await;
    note(ACCOUNT, &["e"], ArrivalOutcome::Done).await;
    note(ACCOUNT, &["f"], ArrivalOutcome::Ignored).await;
    let expected = [
        ("a", Some(ArrivalOutcome::Said(first))),
        ("b", Some(ArrivalOutcome::Said(first))),
        ("c", Some(ArrivalOutcome::Said(second))),
        ("d", Some(ArrivalOutcome::Observed)),
        ("e", Some(ArrivalOutcome::Done)),
        ("f", Some(ArrivalOutcome::Ignored)),
        ("g", None),
    ];
    for (key, outcome) in expected {
        assert_eq!(event(&store, ACCOUNT, key).await, outcome, "{key}");
        assert_eq!(event(&store, "other", key).await, None, "{key}");
    }
}

/// Events are forgotten by their age; those that are young enough stay known. A second record does not make one younger.
pub async fn old_events_are_forgotten_by_age(store: Arc<Store>) {
    let note = async |key: String, at: i64| {
        let (account, keys) = (ACCOUNT.to_owned(), vec![key]);
        store.note_chat_event(account, keys, ArrivalOutcome::Done, after(at)).await.expect("recorded");
    };
    for number in 0..1_500 {
        note(format!("old-{number}"), number).await;
    }
    note("old-0".to_owned(), 9_000).await;
    note("young".to_owned(), 2_000).await;
    assert!(!store.forget_chat_events(after(0)).await.expect("done"), "none is old enough");
    assert!(event(&store, ACCOUNT, "old-0").await.is_some());
    assert!(store.forget_chat_events(after(2_000)).await.expect("done"), "one transaction is bounded");
    assert_eq!(event(&store, ACCOUNT, "old-0").await, None, "the oldest go first");
    assert!(event(&store, ACCOUNT, "old-1499").await.is_some());
    assert!(!store.forget_chat_events(after(2_000)).await.expect("done"));
    for number in [0, 999, 1_000, 1_499] {
        assert_eq!(event(&store, ACCOUNT, &format!("old-{number}")).await, None, "{number}");
    }
    assert_eq!(event(&store, ACCOUNT, "young").await, Some(ArrivalOutcome::Done));
}

/// The path does not decide what is a redelivery: a message stays known after a rewind and after a new binding (case 3).
pub async fn event_stays_known_after_a_rewind_and_after_rebinding(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    scene.act(Action::Rewind(scene.stage.named("one"))).await;
    let said = Some(ArrivalOutcome::Said(scene.stage.id));
    assert_eq!(event(&scene.stage.store, ACCOUNT, "event-one").await, said);
    assert!(scene.entry("one").await.is_some(), "its message key is known, too");
    let other = Scene::private(Arc::clone(&scene.stage.store)).await;
    let bound = other.stage.store.chat_binding(place("here")).await.expect("read").expect("bound");
    assert_eq!(bound.conversation, other.stage.id);
    assert_eq!(event(&other.stage.store, ACCOUNT, "event-one").await, said);
    assert_eq!(other.entry("one").await, None, "the other conversation has no such message");
}

/// A place has one binding; threads of a chat are places of their own.
pub async fn place_is_bound_to_one_conversation(store: Arc<Store>) {
    let scene = Scene::private(Arc::clone(&store)).await;
    let other = Scene::private(Arc::clone(&store)).await;
    let mut thread = place("here");
    thread.thread = Some("7".to_owned());
    assert_eq!(store.chat_binding(thread.clone()).await.expect("read"), None);
    let of_thread = ChatBinding {
        place: thread.clone(),
        conversation: scene.stage.id,
        is_shared: true,
        person: None,
        last: Some("12".to_owned()),
    };
    store.bind_chat(of_thread.clone()).await.expect("bound");
    assert_eq!(store.chat_binding(thread.clone()).await.expect("read"), Some(of_thread.clone()));
    let bound = store.chat_bindings(ACCOUNT.to_owned()).await.expect("read");
    assert_eq!(bound.iter().map(|it| it.conversation).collect::<Vec<_>>(), [other.stage.id, scene.stage.id]);
    assert_eq!(store.chat_bindings("other".to_owned()).await.expect("read"), []);
    let unknown = ChatBinding { conversation: ConversationId::new(new_id()), ..of_thread.clone() };
    store.bind_chat(unknown).await.expect_err("there is no such conversation");
    assert_eq!(store.chat_binding(thread.clone()).await.expect("read"), Some(of_thread));
    assert!(store.unbind_chat(thread.clone()).await.expect("unbound"));
    assert!(!store.unbind_chat(thread.clone()).await.expect("done"), "a second time");
    assert_eq!(store.chat_binding(thread).await.expect("read"), None);
    assert!(store.chat_binding(place("here")).await.expect("read").is_some());
}

/// A hold is in force until its time, for its bucket only (case 29: it is stored).
pub async fn hold_is_in_force_until_its_time(store: Arc<Store>) {
    let hold = async |account: &str, bucket: &str, until: Time| {
        store.set_chat_hold(account.to_owned(), bucket.to_owned(), until).await.expect("kept");
    };
    hold(ACCOUNT, "chat", after(40_000)).await;
    hold(ACCOUNT, "all", after(10_000)).await;
    hold("other", "chat", after(90_000)).await;
    let in_force = async |now: i64| {
        let holds = store.chat_holds(ACCOUNT.to_owned(), after(now)).await.expect("read");
        let mut names: Vec<_> = holds.into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(in_force(9_999).await, ["all", "chat"]);
    assert_eq!(in_force(10_000).await, ["chat"]);
    assert_eq!(in_force(40_000).await, [""; 0]);
    hold(ACCOUNT, "all", after(60_000)).await;
    let holds = store.chat_holds(ACCOUNT.to_owned(), after(50_000)).await.expect("read");
    assert_eq!(holds, [("all".to_owned(), after(60_000))]);
}

/// People are known by the platform's id in their account.
pub async fn person_is_known_by_the_id_of_an_account(store: Arc<Store>) {
    let person = |account: &str, id: &str, role: ChatRole| ChatPerson {
        account: account.to_owned(),
        person: id.to_owned(),
        name: "Anna".to_owned(),
        role,
    };
    let code = Some((*b"ABCDEFGH", after(600_000)));
    let asks = person(ACCOUNT, "1", ChatRole::Stranger { code, asked: after(0) });
    let closed = person(ACCOUNT, "2", ChatRole::Stranger { code: None, asked: after(1) });
    let owner = person("other", "1", ChatRole::Owner);
    for person in [&asks, &closed, &owner] {
        store.set_chat_person(person.clone()).await.expect("kept");
    }
    let read = async |account: &str, id: &str| {
        store.chat_person(account.to_owned(), id.to_owned()).await.expect("read")
    };
    assert_eq!(read(ACCOUNT, "1").await, Some(asks.clone()));
    assert_eq!(read("other", "1").await, Some(owner.clone()));
    assert_eq!(read("other", "2").await, None);
    let member = person(ACCOUNT, "1", ChatRole::Member);
    store.set_chat_person(member.clone()).await.expect("kept");
    let here = store.chat_people(Some(ACCOUNT.to_owned())).await.expect("read");
    assert_eq!(here, [member.clone(), closed.clone()]);
    assert_eq!(store.chat_people(None).await.expect("read"), [member, closed, owner]);
}

/// A message is stored with its event, its further ids and its origin; the binding knows the last one.
pub async fn message_is_recorded_in_the_transaction_of_its_entry(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    let arrival = ChatArrival {
        keys: vec!["event-a".to_owned(), "event-b".to_owned()],
        also: vec![("photo".to_owned(), [7; 16])],
        ..scene.arrival("here", "one")
    };
    let asked = scene.ask_as(&arrival, "one", Flags::default()).await;
    for message in ["one", "photo"] {
        let found = scene.entry(message).await.expect("known");
        assert_eq!((found.entry, found.post), (Some(asked), None));
        assert_eq!((found.origin.as_ref(), found.content), (Some(&arrival.origin), Some([7; 16])));
    }
    let store = Arc::clone(&scene.stage.store);
    for key in ["event-a", "event-b"] {
        let said = Some(ArrivalOutcome::Said(scene.stage.id));
        assert_eq!(event(&store, ACCOUNT, key).await, said);
    }
    let bound = store.chat_binding(place("here")).await.expect("read").expect("bound");
    assert_eq!(bound.last.as_deref(), Some("one"));
    let known = store.chat_entry(scene.stage.id, place("elsewhere"), "one".to_owned()).await;
    assert_eq!(known.expect("read"), None, "ids are of a chat");
    // A message that is only observed opens no turn, and its event says so.
    let seen = Flags { observed: true, ..Flags::default() };
    scene.ask_as(&scene.arrival("here", "two"), "two", seen).await;
    assert_eq!(event(&store, ACCOUNT, "event-two").await, Some(ArrivalOutcome::Observed));
    // A message that is refused leaves no row.
    let say = scene.saying(Role::User, "three", Some(scene.arrival("here", "three")));
    let fence = Some(retake_core::Fence(9));
    scene.stage.send(SayRequest { fence, ..say }).await.expect_err("no run has this fence");
    assert_eq!(event(&store, ACCOUNT, "event-three").await, None);
    assert_eq!(scene.entry("three").await, None);
}

/// A message that waits for a run is known while it waits, and gets its entry with the run.
pub async fn waiting_message_is_known_before_it_has_an_entry(store: Arc<Store>) {
    let scene = Scene::private(store).await;
    let chat = Some(Arc::new(scene.arrival("here", "one")));
    let words = Words {
        parts: vec![Part::text("one")],
        author: "ann".to_owned(),
        request: None,
        wording: None,
        time: scene.now(),
        chat,
    };
    let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
    let step = async |input| scene.stage.store.step_runs(scene.stage.id, vec![input]).await.expect("stepped");
    step(RunInput::Enqueue(new, scene.now())).await;
    let said = Some(ArrivalOutcome::Said(scene.stage.id));
    assert_eq!(event(&scene.stage.store, ACCOUNT, "event-one").await, said);
    let waits = scene.entry("one").await.expect("known");
    assert_eq!((waits.entry, waits.content), (None, Some([7; 16])));
    let claimed = step(RunInput::Claim(scene.now())).await;
    let entry = claimed.said.first().expect("stored").entries[0];
    let known = scene.entry("one").await.expect("known");
    assert_eq!(known.entry, Some(entry));
    let origin = scene.stage.store.turn_origin(scene.stage.id, entry).await.expect("read");
    assert_eq!((origin.clone(), origin), (known.origin, Some(scene.arrival("here", "one").origin)));
}
