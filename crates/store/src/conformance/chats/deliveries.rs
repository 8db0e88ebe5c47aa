//! Posts until they are in the chat, as section 4 of `docs/spec/gateways.md` says: planned, leased, sent, lost, failed.

use std::sync::Arc;

use retake_core::{
    Action, ChatNotice, ChatNoticeKind, Deletion, Fence, Flags, Part, PostFailure, PostKey, PostKind, PostNo,
    PostResult, PostState, PostTask, Role, SayRequest, Time,
};

use super::scene::{ACCOUNT, Scene, after, place};
use crate::Store;

/// A lease of work, in milliseconds.
const LEASE: i64 = 60_000;

/// The transaction of an answer plans its post. In a shared place the post replies to the message.
pub async fn answer_to_a_chat_is_planned_in_its_transaction(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.ask("here", "one").await;
    assert_eq!(scene.posts().await.len(), 0, "a message of a person is no post");
    let answer = scene.answer("one!").await;
    let posts = store.posts(scene.stage.id).await.expect("read");
    let [(key, post, Some(entry))] = posts.as_slice() else { panic!("one post: {posts:?}") };
    assert_eq!((*entry, &post.state, &post.place), (answer, &PostState::Planned, &place("here")));
    assert_eq!((key.no, post.due, &post.reply_to), (PostNo(1), Some(scene.now()), &None));
    assert!(store.posts_next(ACCOUNT.to_owned(), after(-1)).await.expect("read").is_some());
    let mut shared = Scene::shared(Arc::clone(&store)).await;
    shared.turn("two").await;
    let posts = shared.posts().await;
    assert_eq!(posts[0].1.reply_to.as_deref(), Some("two"));
    // A refused answer leaves no post.
    let say = scene.saying(Role::Assistant, "late!", None);
    let say = SayRequest { fence: Some(Fence(9)), ..say };
    scene.stage.send(say).await.expect_err("no run has this fence");
    assert_eq!(scene.posts().await.len(), 1);
}

/// Only text of an answer to a turn of a chat is posted: no call, no empty text, no detached result, no turn of the terminal.
pub async fn only_answers_to_turns_of_a_chat_are_posted(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    scene.ask("here", "two").await;
    let call = Part::ToolCall { id: "c1".to_owned(), name: "read".to_owned(), arguments: "{}".to_owned() };
    for parts in [vec![call], vec![Part::text(" \n")]] {
        let say = SayRequest { parts, ..scene.saying(Role::Assistant, "", None) };
        scene.stage.send(say).await.expect("stored");
    }
    let say = scene.saying(Role::User, "terminal", None);
    scene.stage.send(say).await.expect("stored");
    scene.answer("terminal!").await;
    assert_eq!(scene.states().await, ["Planned"]);
    // A late result of a turn that was taken back is stored and not posted (case 48).
    scene.ask("here", "three").await;
    let answering = scene.stage.store.answering(scene.stage.id).await.expect("answering");
    scene.rewind("three").await;
    let say = SayRequest { answering: Some(answering), ..scene.saying(Role::Assistant, "three!", None) };
    scene.stage.send(say).await.expect("stored");
    assert_eq!(scene.states().await, ["Planned"]);
}

/// An answer goes to the place of its own turn (case 17).
pub async fn answer_goes_to_the_place_of_its_turn(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.ask("here", "one").await;
    let answering = scene.stage.store.answering(scene.stage.id).await.expect("answering");
    let seen = Flags { observed: true, ..Flags::default() };
    let arrival = scene.arrival("elsewhere", "aside");
    scene.ask_as(&arrival, "aside", seen).await;
    let say = SayRequest { answering: Some(answering), ..scene.saying(Role::Assistant, "one!", None) };
    scene.stage.send(say).await.expect("stored");
    scene.ask("elsewhere", "two").await;
    scene.answer("two!").await;
    let places: Vec<_> = scene.posts().await.into_iter().map(|(_, post)| post.place.chat).collect();
    assert_eq!(places, ["here", "elsewhere"]);
}

/// Work belongs to one gateway until its lease ends. A request that may have left is looked for, and never simply repeated.
pub async fn leased_work_is_given_again_when_its_lease_ends(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.turn("one").await;
    scene.turn("two").await;
    assert_eq!(store.take_posts("other".to_owned(), scene.now(), 100).await.expect("leased"), []);
    let first = store.take_posts(ACCOUNT.to_owned(), scene.now(), 1).await.expect("leased");
    assert_eq!(first.len(), 1, "no more than requested");
    assert_eq!(scene.work().await, ["Send two! 0"]);
    assert_eq!(scene.work().await, [""; 0]);
    let next = store.posts_next(ACCOUNT.to_owned(), scene.now()).await.expect("read");
    assert_eq!(next, Some(after(LEASE)));
    scene.wait(LEASE);
    assert_eq!(scene.work().await, ["Send one! 0", "Send two! 0"]);
    assert!(scene.begin(first[0].key, 1).await);
    assert_eq!(scene.states().await, ["Sending", "Planned"], "durable before the request leaves");
    scene.wait(LEASE);
    assert_eq!(scene.work().await, ["Resend one! 0", "Send two! 0"]);
}

/// Parts of an answer are rows of their own, and each waits for the one before it (case 18).
pub async fn parts_of_an_answer_are_sent_in_order(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let first = scene.take().await[0].key;
    assert!(scene.begin(first, 3).await);
    assert_eq!(scene.states().await, ["Sending", "Planned", "Planned"]);
    assert_eq!(scene.work().await, [""; 0], "the second part waits");
    scene.arrive(first).await;
    for part in 1..3 {
        let work = scene.take().await;
        let [only] = work.as_slice() else { panic!("one part is due: {work:?}") };
        assert_eq!((only.task, only.post.part), (PostTask::Send, (part, 3)));
        assert!(scene.begin(only.key, 3).await);
        assert_eq!(scene.work().await, [""; 0]);
        scene.arrive(only.key).await;
    }
    assert_eq!(scene.states().await, ["Sent"; 3]);
    assert_eq!(scene.work().await, [""; 0]);
    for (key, post) in scene.posts().await {
        assert_eq!(post.ids, [key.to_string()]);
        let found = scene.entry(&key.to_string()).await.expect("known by its id");
        assert_eq!((found.entry, found.post), (Some(scene.stage.named("one!")), Some(key)));
        assert_eq!(found.origin.map(|origin| origin.message).as_deref(), Some("one"));
    }
}

/// A part that is refused for good is reported, and the rest is sent (case 30). Where nothing may be posted, nobody is told (case 39).
pub async fn refused_part_is_reported_and_the_rest_is_sent(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let first = scene.take().await[0].key;
    scene.begin(first, 3).await;
    scene.arrive(first).await;
    let second = scene.take().await[0].key;
    scene.begin(second, 3).await;
    scene.settle(second, PostResult::Failed(PostFailure::Refused)).await;
    assert_eq!(scene.states().await, ["Sent", "Failed(Refused)", "Planned"]);
    let mut work = scene.work().await;
    work.sort_unstable();
    assert_eq!(work, ["Send PartNotSent 2 of 0", "Send one! 2"]);
    let notice = scene.posts().await.into_iter().find_map(|(_, post)| match post.kind {
        PostKind::Notice(notice) => Some(notice),
        PostKind::Answer(_) | PostKind::Preview(_) => None,
    });
    let told = ChatNotice { kind: ChatNoticeKind::PartNotSent, count: 2, files: 3, ..ChatNotice::default() };
    assert_eq!(notice, Some(told));
    scene.turn("two").await;
    let other = scene.take().await[0].key;
    scene.begin(other, 2).await;
    scene.settle(other, PostResult::Failed(PostFailure::NotPermitted)).await;
    assert!(!scene.work().await.iter().any(|work| work.contains("PartNotSent")));
}

/// A request whose answer was lost is looked for later, and is never planned again. One that nobody finds stays unknown (case 25).
pub async fn lost_answer_is_looked_for_and_never_planned_again(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.settle(key, PostResult::Lost).await;
    assert_eq!(scene.states().await, ["Lost"]);
    assert_eq!(scene.work().await, [""; 0], "not at once");
    let next = store.posts_next(ACCOUNT.to_owned(), scene.now()).await.expect("read").expect("it is due");
    scene.wait(next.0 - scene.now().0);
    assert_eq!(scene.work().await, ["Resend one! 0"]);
    scene.settle(key, PostResult::Lost).await;
    let later = store.posts_next(ACCOUNT.to_owned(), scene.now()).await.expect("read").expect("it is due");
    assert!(later.0 - scene.now().0 > next.0 - after(0).0, "each attempt waits longer");
    scene.wait(LEASE);
    assert_eq!(scene.work().await, ["Resend one! 0"]);
    scene.arrive(key).await;
    assert_eq!((scene.states().await, scene.work().await), (vec!["Sent".to_owned()], Vec::new()));
    scene.turn("two").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.settle(key, PostResult::Lost).await;
    scene.settle(key, PostResult::Failed(PostFailure::GaveUp)).await;
    scene.wait(48 * 60 * LEASE);
    assert_eq!((scene.states().await[1].as_str(), scene.work().await), ("Lost", Vec::new()));
}

/// Nothing is sent before the time that a platform stated, and nothing else waits for it (case 27).
pub async fn post_is_not_sent_before_the_stated_time(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.settle(key, PostResult::Later(after(40_000))).await;
    assert_eq!(scene.states().await, ["Planned"], "the request did not leave");
    scene.ask("elsewhere", "two").await;
    scene.answer("two!").await;
    assert_eq!(scene.send_all().await.len(), 1);
    assert_eq!(store.posts_next(ACCOUNT.to_owned(), scene.now()).await.expect("read"), Some(after(40_000)));
    scene.wait(39_999);
    assert_eq!(scene.work().await, [""; 0]);
    scene.wait(1);
    assert_eq!(scene.work().await, ["Send one! 0"]);
    // It is not tried for ever.
    scene.settle(key, PostResult::Later(Time(scene.now().0 + 25 * 60 * LEASE))).await;
    assert_eq!(scene.states().await, ["Failed(GaveUp)", "Sent"]);
}

/// A report about a post of another account, or one that is not there, changes nothing.
pub async fn report_changes_only_posts_of_its_account(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    let report = async |account: &str, key: PostKey, result: PostResult| {
        store.settle_post(account.to_owned(), key, result, scene.now()).await.expect("settled")
    };
    let sending = PostResult::Sending { parts: 1, digest: "d".to_owned(), is_preview: false };
    assert_eq!(report("other", key, sending.clone()).await, None);
    assert_eq!(report(ACCOUNT, PostKey { no: PostNo(9), ..key }, sending.clone()).await, None);
    assert_eq!(scene.states().await, ["Planned"]);
    // A report that does not fit the state changes nothing either.
    let deleted = PostResult::Deleted(Deletion::Gone);
    assert_eq!(report(ACCOUNT, key, deleted.clone()).await, Some(true));
    assert_eq!(scene.states().await, ["Planned"]);
    scene.begin(key, 1).await;
    scene.arrive(key).await;
    assert_eq!(report(ACCOUNT, key, sending).await, Some(false), "it must not be sent again");
    assert_eq!(scene.states().await, ["Sent"]);
    // Somebody else deleted it: it counts as gone and is not sent again (case 85).
    report(ACCOUNT, key, deleted).await;
    assert_eq!((scene.states().await, scene.work().await), (vec!["Gone(Gone)".to_owned()], Vec::new()));
}

/// A notice belongs to no turn: no rewind takes it back.
pub async fn notice_is_sent_and_no_rewind_takes_it_back(store: Arc<Store>) {
    let mut scene = Scene::answered(Arc::clone(&store), &["one"]).await;
    let notice = ChatNotice { kind: ChatNoticeKind::Help, ..ChatNotice::default() };
    let reply_to = Some("one".to_owned());
    let planned =
        store.plan_notice(scene.stage.id, place("here"), notice, reply_to.clone(), None, scene.now());
    planned.await.expect("planned");
    let work = scene.take().await;
    assert_eq!((work.len(), work[0].task, &work[0].text), (1, PostTask::Send, &None));
    assert_eq!(work[0].post.reply_to, reply_to);
    scene.begin(work[0].key, 1).await;
    scene.arrive(work[0].key).await;
    let known = scene.entry(&work[0].key.to_string()).await.expect("known");
    assert_eq!((known.entry, known.post), (None, Some(work[0].key)));
    scene.wait(LEASE);
    scene.rewind("one").await;
    let work = scene.work().await;
    assert_eq!(work.iter().filter(|work| work.starts_with("Delete")).count(), 1, "{work:?}");
    assert!(work.iter().any(|work| work == "Delete - 0"), "{work:?}");
}

/// Answers that wait for more than a day are held back: one question in the chat counts them, and is for the person who asked.
pub async fn gateways_case_38_answers_that_wait_for_a_day_are_sent_only_when_a_person_says_so(
    store: Arc<Store>,
) {
    for sends in [true, false] {
        let mut scene = Scene::private(Arc::clone(&store)).await;
        scene.turn("one").await;
        scene.turn("two").await;
        scene.wait(24 * 60 * 60 * 1000 + 1);
        scene.turn("three").await;
        // The answer of today, and the question about those of yesterday.
        assert_eq!(scene.work().await, ["Send three! 0"]);
        assert_eq!(scene.work().await, ["Send AnswersWait 2 of 0"]);
        assert_eq!(scene.work().await, Vec::<String>::new());
        let notice = scene.posts().await.into_iter().find_map(|(_, post)| match post.kind {
            PostKind::Notice(notice) => Some(notice),
            PostKind::Answer(_) | PostKind::Preview(_) => None,
        });
        let asks = notice.and_then(|notice| notice.asks).expect("a question");
        assert_eq!(asks.person.as_deref(), Some("one's"));
        let (of, here) = (scene.stage.id, place("here"));
        assert_eq!(store.settle_waiting(of, place("there"), sends, scene.now()).await.expect("settled"), 0);
        assert_eq!(store.settle_waiting(of, here, sends, scene.now()).await.expect("settled"), 2);
        match sends {
            true => assert_eq!(scene.work().await, ["Send one! 0", "Send two! 0"]),
            false => {
                assert_eq!(scene.states().await, ["Cancelled", "Cancelled", "Planned"]);
                // No step undoes the decision.
                scene.rewind("two").await;
                scene.compare().await;
                scene.act(Action::Undo(1)).await;
                scene.compare().await;
                assert_eq!(scene.states().await[..2], ["Cancelled", "Cancelled"]);
            }
        }
        scene.wait(120_000);
        let due = scene.work().await;
        assert_eq!(due.iter().any(|work| work.starts_with("Send one!")), sends, "{due:?}");
        scene.stage.store.unbind_chat(place("here")).await.expect("unbound");
    }
}

/// The question about answers that wait could not be posted: it is asked again when somebody writes in its place.
pub async fn gateways_case_38_question_that_could_not_be_posted_is_asked_again(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    scene.wait(24 * 60 * 60 * 1000 + 1);
    let mut work = scene.take().await;
    while work.is_empty() {
        work = scene.take().await;
    }
    scene.settle(work[0].key, PostResult::Failed(PostFailure::NotPermitted)).await;
    scene.ask("elsewhere", "two").await;
    assert_eq!(scene.work().await, Vec::<String>::new(), "another place");
    scene.ask("here", "three").await;
    assert_eq!(scene.work().await, ["Send AnswersWait 1 of 0"]);
    scene.ask("here", "four").await;
    assert_eq!(scene.work().await, Vec::<String>::new(), "it is asked once");
}
