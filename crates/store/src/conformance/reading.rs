//! Projections, search and pages: cases 16 to 20, 27, 28, and erased text.

use std::sync::Arc;

use retake_core::{
    Action, ArchiveState, ChangeEvent, ChangeKind, EntryId, Head, Include, ListRequest, PageRequest, Part,
    Projection, Reading, Reason, Revision, Role, SayRequest, SearchRequest, Sort, Source, Time, joined_text,
};

use super::stage::Stage;
use super::tool_turns::copied;
use crate::{Store, StoreError};

const TIMELINE: Reading = Reading::now(Projection::Timeline);

/// Words of one and two characters are found, in Chinese, Japanese and Korean; rewound ones are not.
pub async fn store_case_16_chinese_words(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    for text in ["我喜欢北京烤鸭", "東京タワーへ行く", "서울에서 만나요", "plain"] {
        stage.say(Role::User, text).await;
    }
    let plain = Include::default();
    for (word, found) in [
        ("北京", "我喜欢北京烤鸭"),
        ("鸭", "我喜欢北京烤鸭"),
        ("京", "我喜欢北京烤鸭 東京タワーへ行く"),
        ("東京", "東京タワーへ行く"),
        ("서울", "서울에서 만나요"),
        ("京北", ""),
        ("lain", ""),
    ] {
        assert_eq!(stage.search(word, plain).await, found, "{word}");
    }
    stage.rewind("東京タワーへ行く").await;
    assert_eq!(stage.search("東京", plain).await, "");
    assert_eq!(
        stage.search("東京", Include { rewound: true, hidden: false }).await,
        "東京タワーへ行く(rewound)"
    );
}

/// The context of a hit, and the preview in a list, come from the same projection.
pub async fn store_case_17_context_and_previews_show_nothing_rewound(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["secret"]).await;
    stage.rewind("secret").await;
    for text in ["first", "hidden", "needle", "later"] {
        stage.say(Role::User, text).await;
    }
    stage.mark(Reason::Hide, &["hidden"]).await.expect("hidden");
    stage.rewind("later").await;
    let request = SearchRequest { query: "needle".into(), limit: 9, ..SearchRequest::default() };
    let hits = stage.store.search(request).await.expect("hits").hits;
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].before.as_ref().map(|line| line.preview.as_str()), Some("first"));
    assert_eq!(hits[0].after, None);
    assert_eq!((hits[0].title.as_str(), hits[0].snippet.as_str()), ("first", "needle"));
    let list = stage.store.list(ListRequest { limit: 9, ..ListRequest::default() }).await.expect("a list");
    assert_eq!(list[0].preview, "first");
}

/// The target's image comes back whole for the composer.
pub async fn store_case_18_an_image_comes_back_whole(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let image = Part::Image { media_type: "image/png".into(), source: Source::Inline(bytes) };
    let parts = vec![Part::text("look at"), image, Part::text("this")];
    let said = stage.send(stage.saying(Role::User, parts.clone())).await.expect("said");
    let plan = stage.store.plan(stage.id, Action::Rewind(said.entries[0])).await.expect("a plan");
    assert_eq!(plan.composer, Some((said.entries[0], parts.clone())));
    assert_eq!(plan.gone[0].preview, "look at this");
    let receipt = stage.act(Action::Rewind(said.entries[0])).await.expect("rewound");
    let back = receipt.composer.expect("words for the composer");
    assert_eq!(stage.store.content(stage.id, back).await.expect("content"), parts);
}

/// The order of entries does not depend on their times. An implausible imported time becomes the current time.
pub async fn store_case_19_order_is_by_path(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    for (text, time) in [("a", 3_000), ("b", 2_000), ("c", 1_000), ("d", i64::MAX), ("e", -5)] {
        let say = SayRequest { time: Some(Time(time)), ..stage.saying(Role::User, vec![Part::text(text)]) };
        stage.send(say).await.expect("said");
    }
    assert_eq!(stage.read(Projection::Timeline).await, "a b c d e");
    let page = PageRequest { limit: 9, ..PageRequest::default() };
    let page = stage.store.page(stage.id, TIMELINE, page).await.expect("a page");
    let times: Vec<i64> =
        page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound").meta.time.0).collect();
    assert_eq!(times[..3], [3_000, 2_000, 1_000]);
    assert!(times[3..].iter().all(|time| (1_700_000_000_000..1_800_000_000_000).contains(time)), "{times:?}");
    let dirty = Part::text("nul\0inside");
    stage.send(stage.saying(Role::User, vec![dirty])).await.expect("said");
    assert!(stage.read(Projection::Timeline).await.ends_with("nulinside"));
}

/// A redelivered message is the same one while it is live or hidden, and a new one if it was rewound.
pub async fn store_case_20_platform_ids(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let deliver = |stage: &Stage| SayRequest {
        platform_id: Some("msg-7".into()),
        ..stage.saying(Role::User, vec![Part::text("hello")])
    };
    let first = stage.send(deliver(&stage)).await.expect("stored");
    let again = stage.store.say(stage.id, deliver(&stage)).await.expect("recognised");
    assert_eq!((again.entries.clone(), again.unchanged), (first.entries.clone(), true));
    stage.mark(Reason::Hide, &["hello"]).await.expect("hidden");
    let hidden = stage.store.say(stage.id, deliver(&stage)).await.expect("recognised");
    assert_eq!(hidden.entries, first.entries);
    stage.mark(Reason::Show, &["hello"]).await.expect("shown");
    stage.rewind("hello").await;
    let new = stage.store.say(stage.id, deliver(&stage)).await.expect("stored");
    assert_ne!(new.entries, first.entries);
    assert_eq!(stage.shows().await, "T1 hello");
}

/// Pages of 50 back to the beginning over a path of 40 stretches: each entry once, in order.
pub async fn store_case_27_pages(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    let mut expected = Vec::new();
    for run in 0..40 {
        for entry in 0..7 {
            let text = format!("{run}.{entry}");
            stage.say(Role::User, &text).await;
            expected.push(text);
        }
        stage.say(Role::User, &format!("gone{run}")).await;
        stage.undo().await;
    }
    let mut before: Option<EntryId> = None;
    let mut read: Vec<String> = Vec::new();
    loop {
        let page = PageRequest { before, after: None, limit: 50 };
        let page = stage.store.page(stage.id, TIMELINE, page).await.expect("a page");
        let entries: Vec<_> = page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound")).collect();
        assert_eq!(page.later, before.is_some());
        before = entries.first().map(|entry| entry.meta.id);
        let texts: Vec<String> = entries.iter().map(|entry| joined_text(&entry.parts)).collect();
        read.splice(0..0, texts);
        if !page.earlier {
            break;
        }
    }
    assert_eq!(read, expected);
    let after = PageRequest { before: None, after: Some(stage.named("3.0")), limit: 3 };
    let page = stage.store.page(stage.id, TIMELINE, after).await.expect("a page");
    assert_eq!(joined_text(&page.entries[0].entry.as_ref().expect("sound").parts), "3.1");
    let hidden = PageRequest { before: Some(stage.named("gone3")), after: None, limit: 3 };
    let error = stage.store.page(stage.id, TIMELINE, hidden).await.expect_err("refused");
    assert!(matches!(error, StoreError::BadCursor(_)), "{error}");
}

/// A client that was away gets the difference to the current state, never messages that were appended and rewound meanwhile.
pub async fn store_case_28_catching_up(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let since = stage.store.summary(stage.id).await.expect("a summary").revision;
    stage.turn("T3").await;
    stage.rewind("T2").await;
    stage.turn("T4").await;
    stage.turn("T5").await;
    stage.rewind("T5").await;
    stage.mark(Reason::Exclude, &["T1"]).await.expect("excluded");
    let changes = stage.store.changes(stage.id, since).await.expect("changes");
    assert_eq!(changes.gone, [stage.named("T2"), stage.named("T2!")]);
    let texts = |shown: &[retake_core::ShownEntry]| -> Vec<String> {
        shown.iter().map(|shown| joined_text(&shown.entry.as_ref().expect("sound").parts)).collect()
    };
    assert_eq!(texts(&changes.came), ["T4", "T4!"]);
    assert_eq!(texts(&changes.changed), ["T1"]);
    assert_eq!(changes.head, stage.head().await);
    for (most, expected) in [(5, Some(&changes)), (4, None)] {
        let few = stage.store.few_changes(stage.id, since, most).await.expect("changes");
        assert_eq!(few.as_ref(), expected, "no more than {most}");
    }
    let nothing = stage.store.changes(stage.id, changes.revision).await.expect("changes");
    assert!(nothing.gone.is_empty() && nothing.came.is_empty() && nothing.changed.is_empty());
    let all = stage.store.changes(stage.id, Revision(1)).await.expect("changes");
    assert_eq!(texts(&all.came), ["T1", "T1!", "T4", "T4!"]);
    let child = stage.fork(None).await;
    let all = stage.store.changes(child.id, Revision(0)).await.expect("changes");
    assert_eq!(
        texts(&all.came),
        ["T1", "T1!", "T4", "T4!"],
        "who saw nothing yet lacks the beginning of a fork, too"
    );
    let error = stage.store.changes(child.id, Revision(99)).await.expect_err("there is no such revision");
    assert!(matches!(error, StoreError::UnknownRevision { .. }), "{error}");
}

/// Erased text is in no projection of any fork; only a dated operation stays.
pub async fn erased_words_are_in_no_projection(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "password hunter2 here").await;
    stage.say(Role::Assistant, "noted").await;
    stage.fold("T1", "noted", "they said hunter2").await;
    stage
        .act(Action::Label(Some(stage.named("noted")), Some("hunter2 label".into())))
        .await
        .expect("labelled");
    stage.act(Action::Label(None, Some("about hunter2".into()))).await.expect("titled");
    let child = stage.fork(None).await;
    let head = stage.head().await;
    let receipt = stage
        .act(Action::Erase { entries: Vec::new(), matching: Some("hunter2".into()), objects: Vec::new() })
        .await;
    let receipt = receipt.expect("erased");
    assert_eq!(receipt.ops.len(), 1);
    let told = stage.store.changes(child.id, Revision(1)).await.expect("changes").changed;
    assert_eq!(told.len(), 2, "a fork's clients hear of it, of the name that is gone as well");
    assert!(told.iter().all(|shown| shown.label.is_none()), "nothing is named by what is left of a name");
    for stage in [&stage, &child] {
        let all = Include { rewound: true, hidden: true };
        assert_eq!(stage.search("hunter2", all).await, "");
        assert!(!stage.read(Projection::Timeline).await.contains("hunter2"));
        assert!(!stage.prompt().await.contains("hunter2"));
        let summary = stage.store.summary(stage.id).await.expect("a summary");
        assert!(!format!("{summary:?}").contains("hunter2"), "{summary:?}");
        let ops =
            stage.store.ops(stage.id, retake_core::OpRange { before: None, limit: 99 }).await.expect("ops");
        assert!(!format!("{ops:?}").contains("hunter2"), "{ops:?}");
    }
    assert!(!stage.read_at(Projection::Timeline, Some(head)).await.contains("hunter2"));
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary").counts.messages, 4);
}

/// Words, phrases, prefixes, AND OR NOT, filters, order, paging; never a syntax error.
pub async fn search_matches_whole_words(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    for text in ["alpha beta", "beta gamma delta", "Gamma alphabet", "naïve café"] {
        stage.say(Role::User, text).await;
    }
    stage.say(Role::Assistant, "beta again").await;
    let find = |query: &str| {
        let query = query.to_owned();
        let stage = &stage;
        async move { stage.search(&query, Include::default()).await }
    };
    assert_eq!(find("beta").await, "alpha beta beta gamma delta beta again");
    assert_eq!(find("beta gamma").await, "beta gamma delta");
    assert_eq!(find("\"gamma delta\"").await, "beta gamma delta");
    assert_eq!(find("\"delta gamma\"").await, "");
    assert_eq!(find("alpha*").await, "alpha beta Gamma alphabet");
    assert_eq!(find("alpha OR delta").await, "alpha beta beta gamma delta");
    assert_eq!(find("beta NOT gamma").await, "alpha beta beta again");
    assert_eq!(find("cafe NAIVE").await, "naïve café");
    for odd in ["AND", "NOT", "OR OR", "NEAR(", "a:b", &"x ".repeat(5_000)] {
        find(odd).await;
    }
    for (nothing, excludes) in
        [("", false), ("\"", false), ("*", false), ("(((", false), ("\0", false), ("NOT beta", true)]
    {
        let request = SearchRequest { query: nothing.into(), ..SearchRequest::default() };
        let refused = stage.store.search(request).await;
        let as_it_is =
            matches!(refused, Err(StoreError::EmptyQuery { excludes: found }) if found == excludes);
        assert!(as_it_is, "{nothing:?}: {refused:?}");
    }
    let request = SearchRequest {
        query: "beta".into(),
        role: Some(Role::User),
        sort: Sort::Newest,
        limit: 1,
        ..SearchRequest::default()
    };
    let hits = stage.store.search(request.clone()).await.expect("hits");
    assert_eq!((hits.hits[0].line.preview.as_str(), hits.more), ("beta gamma delta", true));
    let next = SearchRequest { offset: 1, ..request };
    let hits = stage.store.search(next).await.expect("hits");
    assert_eq!((hits.hits[0].line.preview.as_str(), hits.more), ("alpha beta", false));
    let marks: Vec<&str> =
        hits.hits[0].marks.iter().map(|mark| &hits.hits[0].snippet[mark.clone()]).collect();
    assert_eq!(marks, ["beta"]);
    assert_eq!(stage.head().await, Head::new(0, 5));
}

/// An archived conversation is in the list of archived ones, and search finds it. It can be continued and stays archived until
/// a person changes that. Archiving changes nothing in it and has no undo.
pub async fn archived_conversation_is_only_left_out_of_the_list(store: Arc<Store>) {
    let mut stage = Stage::with_turns(Arc::clone(&store), &["one"]).await;
    let other = Stage::with_turns(Arc::clone(&store), &["other"]).await;
    let listed = async |shelf| {
        let list = ListRequest { limit: 9, shelf, ..ListRequest::default() };
        let page = store.list(list).await.expect("a list").into_iter();
        page.map(|row| (row.id, row.archived)).collect::<Vec<_>>()
    };
    let before = store.summary(stage.id).await.expect("a summary");
    let mut subscriber = store.subscribe(None);
    for _ in 0..2 {
        store.archive(stage.id, ArchiveState::Archived).await.expect("put away");
    }
    let Some(ChangeEvent::Changed(told)) = subscriber.next().await else { panic!("nothing was told") };
    assert_eq!((told.conversation, told.kinds), (stage.id, vec![ChangeKind::Archived]));
    let after = store.summary(stage.id).await.expect("a summary");
    assert_eq!(after.revision, before.revision.next(), "once");
    assert_eq!(after, retake_core::Summary { archived: true, revision: after.revision, ..before });
    assert_eq!(listed(Some(ArchiveState::AtHand)).await, [(other.id, false)]);
    assert_eq!(listed(Some(ArchiveState::Archived)).await, [(stage.id, true)]);
    assert_eq!(listed(None).await.len(), 2);
    assert_eq!(stage.search("one", Include::default()).await, "one one!");
    stage.turn("two").await;
    stage.undo().await;
    assert_eq!((stage.shows().await.as_str(), listed(Some(ArchiveState::Archived)).await.len()), ("one", 1));
    let copy = copied(&stage).await;
    assert!(store.summary(copy.id).await.expect("a summary").archived, "a full export says so");
    let child = stage.fork(None).await;
    assert!(!store.summary(child.id).await.expect("a summary").archived, "a fork is another one");
    store.archive(stage.id, ArchiveState::AtHand).await.expect("fetched back");
    assert_eq!(listed(Some(ArchiveState::Archived)).await, [(copy.id, true)]);
}
