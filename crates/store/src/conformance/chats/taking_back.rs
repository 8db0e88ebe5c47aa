//! Posts of turns that are taken back, as sections 4 and 5 of `docs/spec/gateways.md` say.

use std::sync::Arc;

use retake_core::{
    Action, ChatButton, ChatNotice, ChatNoticeKind, ChatQuestion, Deletion, Head, PostKind, PostResult,
    PostState, PostTask, Reason, StayCause,
};

use super::scene::{ACCOUNT, Scene, after, place};
use crate::Store;

/// A lease of work, in milliseconds.
const LEASE: i64 = 60_000;

fn deleted() -> PostResult {
    PostResult::Deleted(Deletion::Gone)
}

/// Carries out all deletions that are due, and sends and edits the notices. Returns the number of deletions.
async fn delete_all(scene: &Scene) -> usize {
    let mut count = 0;
    for work in scene.take().await {
        match work.task {
            PostTask::Delete => {
                scene.settle(work.key, deleted()).await;
                count += 1;
            }
            PostTask::Edit => {
                scene.settle(work.key, PostResult::Edited { ids: Vec::new(), is_preview: false }).await;
            }
            PostTask::Send | PostTask::Resend => {
                scene.begin(work.key, 1).await;
                scene.arrive(work.key).await;
            }
        }
    }
    count
}

async fn mark(scene: &Scene, verb: Reason, names: &[&str]) {
    let entries = names.iter().map(|name| scene.stage.named(name)).collect();
    scene.act(Action::Mark { verb, entries, range: false, seen: None }).await;
}

/// Posts that were not sent are cancelled, and an undo plans them again (case 45).
pub async fn post_that_was_not_sent_is_cancelled_by_a_rewind(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let leased = scene.take().await[0].key;
    scene.rewind("one").await;
    assert_eq!(scene.states().await, ["Cancelled"]);
    assert!(!scene.begin(leased, 1).await, "a gateway that has leased it asks first");
    assert_eq!(scene.states().await, ["Cancelled"]);
    scene.wait(LEASE);
    assert_eq!(scene.work().await, [""; 0], "nothing was in the chat, and no notice is needed");
    scene.act(Action::Undo(1)).await;
    assert_eq!(scene.work().await, ["Send one! 0"]);
}

/// Exactly the posts of the turns that are taken back are deleted, and the notice counts them (case 42).
pub async fn rewind_deletes_the_posts_of_its_turns_and_tells_their_number(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one"]).await;
    scene.turn("two").await;
    let first = scene.take().await[0].key;
    scene.begin(first, 3).await;
    scene.arrive(first).await;
    scene.send_all().await;
    scene.send_all().await;
    scene.rewind("two").await;
    assert_eq!(scene.states().await, ["Sent", "Deleting", "Deleting", "Deleting"]);
    let work = scene.take().await;
    let deletions: Vec<_> = work.iter().filter(|work| work.task == PostTask::Delete).collect();
    let notices: Vec<_> = work.iter().filter(|work| work.task == PostTask::Send).collect();
    assert_eq!((deletions.len(), notices.len()), (3, 1), "{work:?}");
    assert!(deletions.iter().all(|work| work.text.is_none()));
    assert_eq!(deletions[0].post.ids, [deletions[0].key.to_string()]);
    let PostKind::Notice(notice) = &notices[0].post.kind else { panic!("a notice: {work:?}") };
    assert_eq!((notice.kind, notice.count), (ChatNoticeKind::Rewound, 1));
    assert_eq!((notices[0].counts.trying, notices[0].counts.sum()), (3, 3));
    scene.begin(notices[0].key, 1).await;
    scene.arrive(notices[0].key).await;
    scene.settle(deletions[0].key, deleted()).await;
    scene.settle(deletions[1].key, PostResult::Deleted(Deletion::Emptied)).await;
    assert_eq!(scene.work().await, [""; 0], "one is still being deleted");
    scene.settle(deletions[2].key, PostResult::Stays(StayCause::HasReplies)).await;
    let work = scene.take().await;
    let [edit] = work.as_slice() else { panic!("the notice gets its last words: {work:?}") };
    assert_eq!((edit.task, edit.counts.gone, edit.counts.emptied), (PostTask::Edit, 1, 1));
    assert_eq!((edit.counts.stays.as_slice(), edit.counts.sum()), (&[(StayCause::HasReplies, 1)][..], 3));
    scene.settle(edit.key, PostResult::Edited { ids: Vec::new(), is_preview: false }).await;
    scene.wait(LEASE);
    assert_eq!(scene.work().await, [""; 0], "it is edited once");
    assert_eq!(scene.states().await, ["Sent", "Gone(Gone)", "Gone(Emptied)", "Stays(HasReplies)"]);
}

/// A notice does not wait for ever: after ten seconds it tells what is still being tried.
pub async fn notice_of_a_step_is_edited_after_ten_seconds(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one"]).await;
    scene.rewind("one").await;
    let work = scene.take().await;
    let notice = work.iter().find(|work| work.task == PostTask::Send).expect("a notice");
    scene.begin(notice.key, 1).await;
    scene.arrive(notice.key).await;
    scene.wait(9_999);
    assert_eq!(scene.work().await, [""; 0]);
    scene.wait(1);
    assert_eq!(scene.work().await, ["Edit Rewound 1 of 1"]);
}

/// A step that a chat requested has one notice in its place: the one of the request.
pub async fn step_has_one_notice_in_each_place(store: Arc<Store>) {
    let mut scene = Scene::answered(Arc::clone(&store), &["one"]).await;
    scene.ask("elsewhere", "two").await;
    scene.answer("two!").await;
    scene.send_all().await;
    let receipt = scene.act(Action::Rewind(scene.stage.named("one"))).await;
    scene.compare().await;
    let names = vec!["Anna".to_owned()];
    let told = ChatNotice { kind: ChatNoticeKind::Rewound, count: 2, names, ..ChatNotice::default() };
    let op = receipt.ops.first().copied();
    let request = Some("command".to_owned());
    let planned =
        store.plan_notice(scene.stage.id, place("here"), told.clone(), request.clone(), op, scene.now());
    planned.await.expect("planned");
    let work = scene.take().await;
    let notices = work.iter().filter_map(|work| match &work.post.kind {
        PostKind::Notice(notice) => Some((work.post.place.chat.as_str(), notice, &work.post.reply_to)),
        PostKind::Answer(_) | PostKind::Preview(_) => None,
    });
    let mut notices: Vec<_> = notices.collect();
    notices.sort_by_key(|(place, ..)| *place);
    let [elsewhere, here] = notices.as_slice() else { panic!("two notices: {notices:?}") };
    assert_eq!(*here, ("here", &told, &request));
    assert_eq!((elsewhere.0, elsewhere.1.kind, elsewhere.1.count), ("elsewhere", ChatNoticeKind::Rewound, 2));
    assert_eq!(elsewhere.2, &None);
}

/// A post that is on its way is deleted as soon as its id is known, and does not count as gone before (case 46).
pub async fn post_on_its_way_is_deleted_when_its_id_is_known(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one"]).await;
    scene.turn("two").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.rewind("one").await;
    assert_eq!(scene.states().await, ["Deleting", "Sending"]);
    let work = scene.take().await;
    let notice = work.iter().find(|work| work.task == PostTask::Send).expect("a notice");
    assert_eq!((notice.counts.trying, notice.counts.unknown, notice.counts.gone), (1, 1, 0));
    scene.settle(key, PostResult::Lost).await;
    scene.wait(LEASE);
    let work = scene.take().await;
    assert!(work.iter().any(|work| work.key == key && work.task == PostTask::Resend), "{work:?}");
    assert!(!scene.begin(key, 1).await, "it is looked for, and not sent again");
    scene.arrive(key).await;
    assert_eq!(scene.states().await, ["Deleting", "Deleting"]);
    assert_eq!(delete_all(&scene).await, 1);
    scene.wait(LEASE);
    assert_eq!(delete_all(&scene).await, 1);
    assert_eq!(scene.states().await, ["Gone(Gone)", "Gone(Gone)"]);
}

/// A request that was taken back and did not leave is cancelled; an undo sends it.
pub async fn refused_request_of_a_rewound_turn_is_cancelled(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.rewind("one").await;
    assert_eq!(scene.states().await, ["Sending"]);
    scene.settle(key, PostResult::Later(after(10_000))).await;
    assert_eq!(scene.states().await, ["Cancelled"]);
    scene.wait(LEASE);
    assert_eq!(scene.work().await, [""; 0]);
    scene.act(Action::Undo(1)).await;
    assert_eq!(scene.work().await, ["Send one! 0"]);
    assert!(scene.begin(key, 1).await, "it is wanted again");
}

/// A lost post of a rewound turn that is certainly not there counts as gone.
pub async fn lost_post_that_is_not_there_is_gone(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    scene.begin(key, 1).await;
    scene.settle(key, PostResult::Lost).await;
    scene.rewind("one").await;
    scene.settle(key, deleted()).await;
    assert_eq!(scene.states().await, ["Gone(Gone)"]);
}

/// An undo before the deletions ran keeps the posts; afterwards, nothing comes back by itself (case 67).
pub async fn undo_cancels_only_deletions_that_did_not_run(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one", "two"]).await;
    scene.rewind("two").await;
    scene.act(Action::Undo(1)).await;
    assert_eq!((scene.states().await, scene.work().await), (vec!["Sent".to_owned(); 2], Vec::new()));
    scene.wait(1);
    scene.rewind("two").await;
    scene.compare().await;
    scene.act(Action::Undo(1)).await;
    assert_eq!(scene.states().await, ["Sent", "Sent"]);
    assert!(!scene.work().await.iter().any(|work| work.starts_with("Delete")));
    scene.wait(1);
    scene.act(Action::Redo(1)).await;
    assert_eq!(delete_all(&scene).await, 1);
    scene.act(Action::Undo(1)).await;
    assert_eq!(scene.states().await, ["Sent", "Gone(Gone)"]);
    scene.wait(LEASE);
    assert!(!scene.work().await.iter().any(|work| work.contains('!')));
}

/// The second of two rewinds deletes only the posts of the second turn (case 68).
pub async fn second_rewind_deletes_only_its_own_posts(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one"]).await;
    scene.rewind("one").await;
    assert_eq!(delete_all(&scene).await, 1);
    scene.wait(LEASE);
    delete_all(&scene).await;
    scene.turn("two").await;
    scene.send_all().await;
    scene.wait(1);
    scene.rewind("two").await;
    let work = scene.take().await;
    let notice = work.iter().find(|work| work.task == PostTask::Send).expect("a notice");
    assert_eq!((notice.counts.trying, notice.counts.sum()), (1, 1));
    assert_eq!(work.iter().filter(|work| work.task == PostTask::Delete).count(), 1);
}

/// Drop, hide and show concern exactly the posts of their messages; an excluded answer stays (case 76).
pub async fn dropped_and_hidden_answers_leave_the_chat(store: Arc<Store>) {
    let scene = Scene::answered(store, &["one", "two", "three"]).await;
    mark(&scene, Reason::Drop, &["two", "two!"]).await;
    assert_eq!(scene.states().await, ["Sent", "Deleting", "Sent"]);
    let work = scene.work().await;
    assert!(work.iter().any(|work| work.starts_with("Send Dropped 1 of 1")), "{work:?}");
    mark(&scene, Reason::Exclude, &["one!"]).await;
    assert_eq!(scene.states().await, ["Sent", "Deleting", "Sent"]);
    mark(&scene, Reason::Hide, &["three!"]).await;
    assert_eq!(scene.states().await, ["Sent", "Deleting", "Deleting"]);
    mark(&scene, Reason::Show, &["three!"]).await;
    assert_eq!(scene.states().await, ["Sent", "Deleting", "Sent"]);
}

/// Another answer takes the place of the first one, in the chat, too.
pub async fn retried_answer_is_deleted_and_the_new_one_is_sent(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one"]).await;
    scene.act(Action::Retry(scene.stage.named("one!"))).await;
    scene.answer("again!").await;
    assert_eq!(scene.states().await, ["Deleting", "Planned"]);
    let work = scene.work().await;
    assert!(
        work.contains(&"Send again! 0".to_owned()) && work.contains(&"Delete - 0".to_owned()),
        "{work:?}"
    );
}

/// A fork answers nobody in its parent's place, and touches none of its parent's posts (case 70).
pub async fn fork_answers_nobody_in_its_parents_place(store: Arc<Store>) {
    let mut scene = Scene::answered(Arc::clone(&store), &["one"]).await;
    scene.ask("here", "two").await;
    let mut fork = scene.fork().await;
    fork.answer("of the fork!").await;
    assert_eq!(fork.posts().await, []);
    let origin = store.turn_origin(fork.stage.id, fork.stage.named("two")).await.expect("read");
    assert_eq!(fork.entry("two").await, None, "the message is one of its parent's place");
    fork.rewind("one").await;
    fork.compare().await;
    assert_eq!((scene.states().await, origin.is_some()), (vec!["Sent".to_owned()], true));
    scene.answer("two!").await;
    assert_eq!(scene.work().await, ["Send two! 0"]);
    // A place of its own is answered.
    fork.ask("fork's", "three").await;
    fork.answer("three!").await;
    let places: Vec<_> = fork.posts().await.into_iter().map(|(_, post)| post.place.chat).collect();
    assert_eq!(places, ["fork's"]);
}

/// A post that cannot be deleted any more is not tried: it stays, with its cause (cases 50 and 60).
pub async fn post_that_cannot_be_deleted_stays_with_its_cause(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    for (text, deadline, deletable) in [
        ("one", Some(1_000), true),
        ("two", None, false),
        ("three", Some(90_000), true),
        ("four", None, true),
    ] {
        scene.turn(text).await;
        let key = scene.take().await[0].key;
        scene.begin(key, 1).await;
        scene.arrive_until(key, deadline.map(after), deletable).await;
    }
    scene.wait(LEASE);
    scene.rewind("one").await;
    assert_eq!(scene.states().await, ["Stays(TooOld)", "Stays(NoWay)", "Deleting", "Deleting"]);
    let work = scene.take().await;
    let notice = work.iter().find(|work| work.task == PostTask::Send).expect("a notice");
    assert_eq!((notice.counts.trying, notice.counts.sum()), (2, 4));
    assert_eq!(notice.counts.stays, [(StayCause::TooOld, 1), (StayCause::NoWay, 1)]);
    // A deletion is not tried behind its deadline, nor for ever (cases 49 and 65).
    let deletions = work.iter().filter(|work| work.task == PostTask::Delete).map(|work| work.key);
    let deletions: Vec<_> = deletions.collect();
    for key in &deletions {
        scene.settle(*key, PostResult::Later(after(95_000))).await;
    }
    assert_eq!(scene.states().await[2..], ["Stays(TooOld)", "Deleting"]);
    scene.wait(25 * 60 * LEASE);
    scene.settle(deletions[1], PostResult::Later(scene.now())).await;
    assert_eq!(scene.states().await[2..], ["Stays(TooOld)", "Stays(GaveUp)"]);
    // The list of what stays counts all of them.
    let list = ChatNotice { kind: ChatNoticeKind::PostsThatStay, ..ChatNotice::default() };
    let planned = store.plan_notice(scene.stage.id, place("here"), list, None, None, scene.now());
    planned.await.expect("planned");
    let work = scene.work().await;
    assert!(work.contains(&"Send PostsThatStay 0 of 4".to_owned()), "{work:?}");
}

/// The next time of work is that of the earliest post of the account.
pub async fn next_work_is_that_of_the_earliest_post(store: Arc<Store>) {
    let next = async |ms: i64| {
        store.posts_next(ACCOUNT.to_owned(), after(ms)).await.expect("read").map(|time| time.0 - after(0).0)
    };
    assert_eq!(next(-1).await, None);
    let mut scene = Scene::private(Arc::clone(&store)).await;
    scene.turn("one").await;
    scene.wait(500);
    scene.turn("two").await;
    assert_eq!((next(-1).await, next(0).await, next(500).await), (Some(0), Some(500), None));
    let keys: Vec<_> = scene.take().await.into_iter().map(|work| work.key).collect();
    scene.begin(keys[0], 1).await;
    scene.settle(keys[0], PostResult::Later(after(7_000))).await;
    assert_eq!((next(500).await, next(7_000).await), (Some(7_000), Some(LEASE + 500)));
    assert_eq!(store.posts_next("other".to_owned(), after(-1)).await.expect("read"), None);
}

/// A deletion whose gateway was killed is in doubt. If its post is wanted again, it is left alone, and the parts after it are sent.
pub async fn part_after_a_post_in_doubt_is_sent(store: Arc<Store>) {
    let mut scene = Scene::private(store).await;
    scene.turn("one").await;
    let first = scene.take().await[0].key;
    scene.begin(first, 2).await;
    scene.arrive(first).await;
    scene.rewind("one").await;
    scene.compare().await;
    assert_eq!(scene.take().await[0].key, first);
    scene.settle(first, PostResult::Deleting { untouched: false }).await;
    scene.act(Action::Undo(1)).await;
    scene.compare().await;
    scene.wait(60_001);
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let work =
            scene.take().await.into_iter().filter(|work| matches!(work.post.kind, PostKind::Answer(_)));
        tasks.extend(work.map(|work| (work.task, work.post.part.0)));
    }
    assert_eq!(tasks, [(PostTask::Send, 1)]);
}

/// The news of a deletion may come before the report of the id (case 85). A message that is no post is nothing.
pub async fn post_that_was_deleted_before_its_id_was_known_is_gone(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    let recall = async |scene: &Scene, id: &str| {
        store.recall_post(place("here"), id.to_owned(), scene.now()).await.expect("recalled")
    };
    scene.turn("one").await;
    let key = scene.take().await[0].key;
    let id = key.to_string();
    assert!(!recall(&scene, &id).await, "nothing is under way: it is forgotten");
    scene.begin(key, 1).await;
    scene.arrive(key).await;
    assert_eq!(newest(&scene).await, PostState::Sent);
    scene.turn("two").await;
    let key = scene.take().await[0].key;
    let id = key.to_string();
    scene.begin(key, 1).await;
    assert!(!recall(&scene, &id).await, "its id is not known yet");
    scene.arrive(key).await;
    assert_eq!(newest(&scene).await, PostState::Gone(Deletion::Gone));
}

/// The state of the newest post.
async fn newest(scene: &Scene) -> PostState {
    scene.posts().await.pop().expect("a post").1.state
}

/// Where others read it, the notice of a step is deleted a minute after its last words (case 73). In a private place it stays.
pub async fn gateways_case_73_notice_of_a_step_goes_after_a_minute_where_others_read_it(store: Arc<Store>) {
    for is_shared in [true, false] {
        let mut scene = match is_shared {
            true => Scene::shared(Arc::clone(&store)).await,
            false => Scene::private(Arc::clone(&store)).await,
        };
        scene.turn("one").await;
        scene.send_all().await;
        scene.rewind("one").await;
        // The deletion and the notice; then its last words.
        assert_eq!(delete_all(&scene).await, 1);
        assert_eq!(delete_all(&scene).await, 0);
        scene.wait(59_000);
        assert_eq!(delete_all(&scene).await, 0, "not before a minute");
        scene.wait(1_000);
        assert_eq!(delete_all(&scene).await, usize::from(is_shared));
        let state = if is_shared { PostState::Gone(Deletion::Gone) } else { PostState::Sent };
        assert_eq!(newest(&scene).await, state);
        scene.wait(1_000_000);
        assert_eq!(scene.work().await, [""; 0]);
    }
}

/// A question is answered once. Its answer replaces it, and gets its last words like any notice of a step.
pub async fn question_becomes_its_answer_and_a_removed_one_asks_nothing(store: Arc<Store>) {
    let scene = Scene::answered(Arc::clone(&store), &["one"]).await;
    let asks = ChatQuestion {
        person: Some("ann".to_owned()),
        head: Head::default(),
        files: None,
        round: 0,
        buttons: vec![ChatButton::Turn(scene.stage.named("one")), ChatButton::Cancel],
    };
    let question = ChatNotice { kind: ChatNoticeKind::Choose, asks: Some(asks), ..ChatNotice::default() };
    let plan = async || {
        let planned =
            store.plan_notice(scene.stage.id, place("here"), question.clone(), None, None, scene.now());
        planned.await.expect("planned")
    };
    let last = async |person: &str, is_owner| {
        let found = store.last_question(scene.stage.id, place("here"), person.to_owned(), is_owner);
        found.await.expect("read")
    };
    let key = plan().await;
    let work = scene.take().await;
    assert_eq!(work[0].labels, ["one", ""], "the words are those of the entry");
    scene.begin(key, 1).await;
    scene.arrive(key).await;
    assert_eq!((last("ann", false).await, last("ben", true).await), (Some(key), None));
    scene.rewind("one").await;
    scene.compare().await;
    let op = store.snapshot(scene.stage.id).await.expect("read").conversation().head.op;
    let told = ChatNotice { kind: ChatNoticeKind::Rewound, count: 1, ..ChatNotice::default() };
    store.answer_question(key, told, Some(op), scene.now()).await.expect("answered");
    let work = scene.work().await;
    assert_eq!(work, ["Delete - 0", "Edit Rewound 1 of 1"], "one notice: the question");
    assert_eq!(last("ann", true).await, None, "it was answered");
    let removed = plan().await;
    store.remove_question(removed, scene.now()).await.expect("removed");
    assert_eq!(last("ann", true).await, None);
    assert_eq!(newest(&scene).await, PostState::Cancelled, "it was not sent");
}
