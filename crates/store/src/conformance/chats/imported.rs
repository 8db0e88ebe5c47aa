//! Chats in full exports: an imported conversation says where its turns were said, and gives no gateway anything to do.

use std::sync::Arc;

use retake_core::{Action, ChatBinding, PostKind, PostResult, StayCause, Time};

use super::scene::{ACCOUNT, Scene, place};
use crate::conformance::tool_turns::{copied, copy_of};
use crate::{FullImport, FullLine, Store, StoreError, decode_full};

/// A conversation whose posts are in every state that a gateway may leave behind, with a notice.
async fn exported(store: Arc<Store>) -> Scene {
    let mut scene = Scene::answered(store, &["sent", "kept", "deleting"]).await;
    let kept = scene.posts().await[1].0;
    scene.rewind("kept").await;
    scene.settle(kept, PostResult::Deleting { untouched: false }).await;
    scene.settle(kept, PostResult::Stays(StayCause::TooOld)).await;
    for text in ["planned", "sending", "lost"] {
        scene.turn(text).await;
    }
    scene.compare().await;
    let named: Vec<_> = scene.posts().await.into_iter().map(|(key, _)| key).collect();
    let answers = scene.posts().await;
    let answers: Vec<_> = answers
        .iter()
        .filter(|(_, post)| matches!(post.kind, PostKind::Answer(_)))
        .map(|(key, _)| *key)
        .collect();
    scene.begin(answers[4], 1).await;
    scene.begin(answers[5], 1).await;
    scene.settle(answers[5], PostResult::Lost).await;
    assert_eq!(named.len(), 7, "six answers and a notice");
    let states = ["Sent", "Stays(TooOld)", "Deleting", "Planned", "Sending", "Lost"];
    assert_eq!(scene.states().await, states);
    scene
}

/// An imported conversation has the origins and the posts of its export. Whatever happens to it, no gateway sends, edits or deletes one
/// of these posts, also if its places are bound here. A message that arrives here is answered, and its posts are taken back.
pub async fn gateways_case_89_imported_chat_is_history(store: Arc<Store>) {
    let scene = exported(Arc::clone(&store)).await;
    let copy = copied(&scene.stage).await;
    let (of, id) = (scene.stage.id, copy.id);
    assert_ne!(of, id);
    // What the original has to do stays its own.
    let before = scene.posts().await;
    let mut copy = scene.of(copy);
    let states = ["Sent", "Stays(TooOld)", "Lost", "Cancelled", "Lost", "Lost"];
    assert_eq!(copy.states().await, states);
    let posts = copy.posts().await;
    assert!(posts.iter().all(|(_, post)| post.is_imported() && post.due.is_none() && post.attempt.is_none()));
    let known = |posts: &[(_, retake_core::Post)]| -> Vec<_> {
        posts.iter().map(|(_, post)| (post.place.clone(), post.ids.clone(), post.sent, post.part)).collect()
    };
    assert_eq!(known(&posts), known(&before));
    let targets = store.targets(id, None, 10).await.expect("listed");
    assert_eq!(
        targets.iter().map(|line| line.did.posts).collect::<Vec<_>>(),
        [1, 1, 0, 1],
        "lost, sending, planned, sent"
    );
    let origins = async |id| {
        let text = store.export_full(id, None).await.expect("exported").text;
        let origin = |line: &str| {
            line.split_once(r#""origin":"#).map(|(_, origin)| origin.split(',').take(5).collect::<String>())
        };
        text.lines().filter_map(origin).collect::<Vec<_>>()
    };
    assert_eq!((origins(id).await, origins(id).await.len()), (origins(of).await, 6));
    assert_eq!(
        store.turn_origin(id, copy.stage.named("sent")).await.expect("read"),
        None,
        "nobody asks there"
    );
    // The place belongs to the copy now.
    let binding =
        ChatBinding { place: place("here"), conversation: id, is_shared: false, person: None, last: None };
    store.bind_chat(binding).await.expect("bound");
    assert_eq!(copy.entry("sent").await, None, "the message has not arrived here");
    let first = posts[0].0;
    assert_eq!(copy.entry(&before[0].0.to_string()).await, None, "nor was the post made here");
    let told = PostResult::Deleted(retake_core::Deletion::Gone);
    assert_eq!(store.settle_post(ACCOUNT.to_owned(), first, told, Time(0)).await.expect("no report"), None);
    copy.act(Action::Retry(copy.stage.named("lost!"))).await;
    copy.answer("again!").await;
    let rewound = copy.act(Action::Rewind(copy.stage.named("sent"))).await;
    let changed = store.posts_changed(id, rewound.ops[0], rewound.head, copy.now());
    assert_eq!(changed.await.expect("read"), [], "no receipt tells of them");
    copy.act(Action::Undo(1)).await;
    let erase =
        Action::Erase { entries: vec![copy.stage.named("sent!")], matching: None, objects: Vec::new() };
    copy.act(erase).await;
    assert_eq!(copy.states().await, states, "no step changes them");
    copy.wait(120_000);
    let own = |work: &retake_core::PostWork| work.conversation == id;
    assert!(!copy.take().await.iter().any(own));
    copy.turn("new").await;
    let work: Vec<_> = copy.take().await.into_iter().filter(own).collect();
    assert_eq!(work.iter().map(|work| work.post.place.chat.as_str()).collect::<Vec<_>>(), ["here"]);
}

/// A change of an export, with a long text.
type Change = fn(&mut FullImport, &str);

/// Posts and origins that make no sense are refused, and nothing is stored.
pub async fn gateways_case_90_chat_of_a_bad_export_is_refused(store: Arc<Store>) {
    let scene = exported(Arc::clone(&store)).await;
    let long = "x".repeat(2000);
    let changes: [(&str, Change); 5] = [
        ("shows no answer", |all, _| {
            all.conversations[0].beside.posts[0].kind = PostKind::Answer(retake_core::Seq(99));
        }),
        ("shows no answer", |all, _| {
            all.conversations[0].beside.posts[0].kind = PostKind::Answer(retake_core::Seq(1));
        }),
        ("is in no place", |all, long| all.conversations[0].beside.posts[0].place.chat = long.to_owned()),
        ("is in no place", |all, _| all.conversations[0].beside.posts[0].ids = vec![String::new()]),
        ("is no place of a chat", |all, long| {
            all.conversations[0].entries[0].0.origin.as_mut().expect("it has one").person = long.to_owned();
        }),
    ];
    for (why, change) in changes {
        let mut import = copy_of(&scene.stage).await;
        change(&mut import, &long);
        let id = import.conversations[0].id;
        let refused = store.restore_full(import, None).await;
        assert!(
            matches!(&refused, Err(StoreError::BadExport(text)) if text.contains(why)),
            "{why}: {refused:?}"
        );
        assert!(store.posts(id).await.is_err(), "{why}: nothing is stored");
    }
    let piece = store.export_full(scene.stage.id, None).await.expect("exported");
    let line = piece.text.lines().find(|line| line.starts_with(r#"{"post""#)).expect("a post");
    for (from, to) in
        [("sent", "sending-soon"), (r#""seq":2,"#, ""), (r#""part""#, r#""colour":"red","part""#)]
    {
        let bad = line.replacen(from, to, 1);
        assert!(bad != line && decode_full(&bad).is_err(), "{bad}");
    }
    let texts = ["sent!", "lost!", "digest"];
    let posts: Vec<&str> = piece.text.lines().filter(|line| line.starts_with(r#"{"post""#)).collect();
    assert!(
        posts.len() == 7 && posts.iter().all(|line| texts.iter().all(|text| !line.contains(text))),
        "{posts:?}"
    );
}

/// A long ledger is exported in pieces that fit, each post once.
pub async fn export_has_the_posts_of_a_long_chat_in_pieces(store: Arc<Store>) {
    let mut scene = Scene::private(Arc::clone(&store)).await;
    let long = "x".repeat(300_000);
    for turn in 0..4 {
        scene.ask("here", &format!("{turn}")).await;
        scene.answer(&format!("{turn}{long}")).await;
    }
    for _ in 0..40 {
        scene.answer("more").await;
    }
    let (mut text, mut cursor, mut pieces) = (String::new(), None, 0);
    loop {
        let piece = store.export_full(scene.stage.id, cursor).await.expect("a piece");
        text.push_str(&piece.text);
        pieces += 1;
        cursor = piece.cursor;
        if cursor.is_none() {
            assert_eq!(piece.progress.0, piece.progress.1);
            break;
        }
    }
    let posts = text.lines().filter(|line| matches!(decode_full(line), Ok(FullLine::Post(..)))).count();
    assert!(pieces > 1 && posts == 44, "{pieces} pieces, {posts} posts");
}
