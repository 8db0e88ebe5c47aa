//! Chats over a restart: every row that a gateway needs is there again, on each backend.

use std::sync::Arc;

use retake_core::{
    Action, Apply, ArrivalOutcome, ChangeOrigin, ChatAccount, ChatArrival, ChatBinding, ChatOrigin,
    ChatPerson, ChatPlace, ChatRole, ConversationId, EntryId, NewConversation, Part, Post, PostKey,
    PostResult, PostTask, Role, SayRequest, SeenState, Time,
};
use retake_store::{Memory, Store};

use crate::kit::{NOW, by, new_id};
use crate::model::Home;

const ACCOUNT: &str = "chat-1";

fn place() -> ChatPlace {
    ChatPlace { account: ACCOUNT.to_owned(), chat: "here".to_owned(), thread: Some("7".to_owned()) }
}

async fn say(store: &Store, of: ConversationId, role: Role, text: &str) -> EntryId {
    let origin = ChatOrigin {
        place: place(),
        message: text.to_owned(),
        person: "anna".to_owned(),
        joined: Vec::new(),
    };
    let keys = vec![format!("event-{text}")];
    let arrival = ChatArrival { origin, keys, also: Vec::new(), content: [7; 16] };
    let chat = (role == Role::User).then(|| Arc::new(arrival));
    let by = ChangeOrigin { chat, ..by() };
    let say = SayRequest::new(EntryId::new(new_id()), role, vec![Part::text(text)], by);
    store.say(of, say).await.expect("said").entries[0]
}

/// Everything that the store knows of chats.
type Known = (ChatAccount, Vec<ChatBinding>, Vec<(String, Time)>, Vec<ChatPerson>, Vec<(PostKey, Post)>);

async fn known(store: &Store, of: ConversationId) -> Known {
    let account = ACCOUNT.to_owned();
    let posts = store.posts(of).await.expect("read").into_iter().map(|(key, post, _)| (key, post));
    (
        store.chat_account(account.clone()).await.expect("read"),
        store.chat_bindings(account.clone()).await.expect("read"),
        store.chat_holds(account, NOW).await.expect("read"),
        store.chat_people(None).await.expect("read"),
        posts.collect(),
    )
}

async fn settle(store: &Store, key: PostKey, result: PostResult) {
    let settled = store.settle_post(ACCOUNT.to_owned(), key, result, NOW).await.expect("settled");
    assert!(settled.is_some());
}

async fn restart(home: Home) {
    let store = home.open();
    let id = ConversationId::new(new_id());
    store.create(NewConversation { id, folder: None, title: None, by: by() }).await.expect("created");
    let binding = ChatBinding { place: place(), conversation: id, is_shared: true, person: None, last: None };
    store.bind_chat(binding).await.expect("bound");
    store.lease_account(ACCOUNT.to_owned(), "one".to_owned(), None, NOW).await.expect("leased");
    store.set_chat_cursor(ACCOUNT.to_owned(), "41".to_owned()).await.expect("kept");
    store.set_chat_hold(ACCOUNT.to_owned(), "chat".to_owned(), Time(NOW.0 + 40_000)).await.expect("kept");
    let role = ChatRole::Stranger { code: Some((*b"ABCDEFGH", Time(NOW.0 + 5))), asked: NOW };
    let person = ChatPerson { account: ACCOUNT.to_owned(), person: "9".into(), name: "Ben".into(), role };
    store.set_chat_person(person).await.expect("kept");
    // A post in each state that a gateway may leave behind: sent, lost, sending, planned.
    let mut openers = Vec::new();
    for text in ["one", "two", "three", "four"] {
        openers.push(say(&store, id, Role::User, text).await);
        say(&store, id, Role::Assistant, &format!("{text}!")).await;
    }
    let work = store.take_posts(ACCOUNT.to_owned(), NOW, 3).await.expect("leased");
    for work in &work {
        settle(&store, work.key, PostResult::Sending { parts: 1, digest: "d".to_owned(), is_preview: false })
            .await;
    }
    let ids = vec!["m1".to_owned(), "m2".to_owned()];
    settle(&store, work[0].key, PostResult::Sent { ids, at: NOW, deadline: Some(Time(9)), deletable: true })
        .await;
    settle(&store, work[1].key, PostResult::Lost).await;
    let before = known(&store, id).await;
    drop(store);
    let store = home.open();
    assert_eq!(known(&store, id).await, before);
    let event = store.chat_event(ACCOUNT.to_owned(), "event-one".to_owned()).await.expect("read");
    assert_eq!(event, Some(ArrivalOutcome::Said(id)));
    for message in ["m1", "m2"] {
        let found = store.chat_entry(id, place(), message.to_owned()).await.expect("read").expect("known");
        assert_eq!(found.post, Some(work[0].key));
    }
    let origin = store.turn_origin(id, openers[0]).await.expect("read").expect("it came from a chat");
    assert_eq!((origin.place, origin.message.as_str()), (place(), "one"));
    // A rewind before the end of an owner is known to the next one: nothing planned is sent (case 45).
    let apply = Apply { action: Action::Rewind(openers[0]), seen: SeenState::Anything, by: by() };
    store.apply(id, apply).await.expect("rewound");
    drop(store);
    let store = home.open();
    while store.compare_posts(NOW).await.expect("compared") {}
    let later = Time(NOW.0 + 120_000);
    let work = store.take_posts(ACCOUNT.to_owned(), later, 10).await.expect("leased");
    let mut tasks: Vec<_> = work.iter().map(|work| (work.key.no.0, work.task)).collect();
    tasks.sort_by_key(|(no, _)| *no);
    // The first one is too old to be deleted. Those that may have left are looked for; nothing but the notice is sent.
    assert_eq!(tasks[..2], [(2, PostTask::Resend), (3, PostTask::Resend)]);
    assert_eq!(tasks.len(), 3, "{tasks:?}");
    assert_eq!((tasks[2].1, work.iter().any(|work| work.key.no.0 == 4)), (PostTask::Send, false));
}

#[tokio::test]
async fn chats_are_the_same_after_a_restart_in_memory() {
    restart(Home::Memory(Memory::new())).await;
}

#[tokio::test]
async fn chats_are_the_same_after_a_restart_with_sqlite() {
    restart(Home::sqlite()).await;
}
