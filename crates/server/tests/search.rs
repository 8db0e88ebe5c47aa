//! Search with each of its filters, each order, and pages.

use retake_wire::request::{Fork, Say};
use retake_wire::{Action, HitState, MarkVerb, ProblemKind, Request, Role, Search, Sort};

use super::http::Asking;
use super::world::{Desk, LARGEST, called, get, mark, rewind, said};

/// Two conversations about tea; returns both ids.
async fn teas(desk: &Desk) -> [String; 2] {
    let (one, two) = (desk.create(Some("one"), None).await, desk.create(Some("two"), None).await);
    let rows = [
        (&one, Role::User, "ann", 1000, "green tea"),
        (&one, Role::Assistant, "demo", 2000, "black tea tea tea"),
        (&two, Role::User, "bob", 3000, "tea with milk"),
        (&two, Role::User, "bob", 4000, "teapot 中文"),
        (
            &two,
            Role::Assistant,
            "demo",
            4500,
            "a long answer about quite another thing than what was asked for",
        ),
        (&one, Role::User, "ann", 5000, "hidden tea"),
        (&one, Role::User, "ann", 6000, "rewound tea"),
    ];
    for (of, role, author, time, text) in rows {
        let say = Say { author: author.into(), time_ms: Some(time), ..said(of, role, text) };
        desk.does(Request::Say(say)).await;
    }
    desk.apply(&one, rewind("@")).await;
    desk.apply(&one, mark(MarkVerb::Hide, "@")).await;
    [one, two]
}

async fn check(desk: &Desk, search: Search, expected: &[&str]) {
    let hits = get!(desk, Hits, Request::Search(search.clone())).hits;
    let found: Vec<&str> = hits.iter().map(|hit| &*hit.line.preview).collect();
    assert_eq!(found, expected, "{search:?}");
    for hit in &hits {
        for (from, to) in &hit.marks {
            assert!(hit.snippet.get(*from..*to).is_some_and(|word| !word.is_empty()), "{hit:?}");
        }
    }
}

#[tokio::test]
async fn each_filter_excludes_what_it_names() {
    let desk = Desk::new().await;
    let [one, two] = teas(&desk).await;
    let tea = || Search { query: "tea".into(), sort: Sort::Oldest, ..Search::default() };
    let words = |query: &str| Search { query: query.into(), ..tea() };
    let all = ["green tea", "black tea tea tea", "tea with milk"];
    let rows: Vec<(Search, &[&str])> = vec![
        (tea(), &all),
        (Search { sort: Sort::Newest, ..tea() }, &["tea with milk", "black tea tea tea", "green tea"]),
        (Search { conversation: Some(one.clone()), ..tea() }, &all[..2]),
        (Search { conversation: Some(two.clone()), ..tea() }, &all[2..]),
        (Search { role: Some(Role::Assistant), ..tea() }, &all[1..2]),
        (Search { role: Some(Role::Tool), ..tea() }, &[]),
        (Search { source: Some("bob".into()), ..tea() }, &all[2..]),
        (Search { source: Some("bo".into()), ..tea() }, &[]),
        (Search { not_source: Some("bob".into()), ..tea() }, &all[..2]),
        (Search { from_ms: Some(2000), ..tea() }, &all[1..]),
        (Search { to_ms: Some(2000), ..tea() }, &all[..1]),
        (Search { from_ms: Some(2000), to_ms: Some(3000), ..tea() }, &all[1..2]),
        (Search { from_ms: Some(i64::MAX), ..tea() }, &[]),
        (Search { limit: Some(2), ..tea() }, &all[..2]),
        (Search { limit: Some(2), offset: 2, ..tea() }, &all[2..]),
        (Search { offset: LARGEST, ..tea() }, &[]),
        (Search { rewound: true, from_ms: Some(4000), ..tea() }, &["rewound tea"]),
        (Search { hidden: true, from_ms: Some(4000), ..tea() }, &["hidden tea"]),
        (words("tea*"), &["green tea", "black tea tea tea", "tea with milk", "teapot 中文"]),
        (words("\"tea with\""), &all[2..]),
        (words("tea NOT milk"), &all[..2]),
        (words("green OR milk"), &["green tea", "tea with milk"]),
        (words("green AND milk"), &[]),
        (words("中文"), &["teapot 中文"]),
        (words("中"), &["teapot 中文"]),
        (words("coffee"), &[]),
    ];
    for (search, expected) in rows {
        check(&desk, search, expected).await;
    }
    let best = Search { query: "tea".into(), limit: Some(1), ..Search::default() };
    check(&desk, best, &["black tea tea tea"]).await;
}

#[tokio::test]
async fn only_hits_outside_of_the_timeline_are_marked() {
    let desk = Desk::new().await;
    let [one, _] = teas(&desk).await;
    let search =
        Search { query: "tea".into(), sort: Sort::Oldest, rewound: true, hidden: true, ..Search::default() };
    let hits = get!(desk, Hits, Request::Search(search));
    let standing: Vec<Option<&str>> = hits.hits.iter().map(|hit| hit.standing.map(HitState::name)).collect();
    assert_eq!(standing, [None, None, None, Some("hidden"), Some("rewound")]);
    let search = Search {
        query: "tea".into(),
        conversation: Some(one),
        limit: Some(1),
        sort: Sort::Newest,
        ..Search::default()
    };
    let hits = get!(desk, Hits, Request::Search(search));
    assert!(hits.more);
    let hit = &hits.hits[0];
    assert_eq!(hit.before.as_ref().map(|line| &*line.preview), Some("green tea"));
    assert_eq!((&hit.after, &*hit.title), (&None, "one"), "what is hidden is no context");
}

/// An empty search is refused with a remedy, whatever its filters.
#[tokio::test]
async fn trial_14_a_search_for_nothing_is_refused_and_says_what_to_do() {
    let desk = Desk::new().await;
    teas(&desk).await;
    let bob = || Some("bob".to_owned());
    for (query, source, says) in [
        ("", None, "has no word"),
        (" \t", None, "has no word"),
        ("\" * ( -", None, "has no word"),
        ("", bob(), "has no word"),
        ("NOT tea", None, "only says what to leave out"),
        ("NOT tea NOT milk", None, "only says what to leave out"),
        ("NOT (tea OR milk)", bob(), "only says what to leave out"),
    ] {
        let search = Search { query: query.into(), source, ..Search::default() };
        let refused = desk.refused(Request::Search(search)).await;
        assert_eq!((refused.code.as_str(), refused.kind), ("empty_query", ProblemKind::Usage), "{query:?}");
        let hint = format!("{:?}", refused.hint);
        assert!(
            refused.message.contains(says) && hint.contains("word"),
            "{query:?}: {} {hint}",
            refused.message
        );
    }
    let asking = Asking::new(&desk);
    let told = asking.refused(asking.request(reqwest::Method::GET, "/v1/search?source=bob")).await;
    assert!(told.starts_with("422 \"empty_query\""), "{told}");
    check(&desk, Search { query: "\"NOT tea\"".into(), ..Search::default() }, &[]).await;
    check(&desk, Search { query: "NOT teapot milk".into(), ..Search::default() }, &["tea with milk"]).await;
}

#[tokio::test]
async fn odd_queries_find_what_they_can() {
    let desk = Desk::new().await;
    teas(&desk).await;
    for query in ["\"tea", "tea\"", "tea (", "NOT", "AND OR", "tea:milk", "a'b", "\0tea"] {
        let search = Search { query: query.into(), ..Search::default() };
        let hits = get!(desk, Hits, Request::Search(search)).hits;
        let forbidden = ["hidden tea", "rewound tea"];
        assert!(hits.iter().all(|hit| !forbidden.contains(&&*hit.line.preview)), "{query:?}");
    }
}

#[tokio::test]
async fn hit_in_a_call_is_shown_in_words() {
    let desk = Desk::new().await;
    let id = desk.create(None, None).await;
    let arguments = r#"{"path":"src/lib.rs","edits":[{"old":"a fox","new":"a lazy dog"}]}"#;
    let call = called("c1", "edit", arguments);
    desk.does(Request::Say(Say { parts: vec![call], ..said(&id, Role::Assistant, "") })).await;
    for (query, snippet) in
        [("lib", "edit src/lib.rs"), ("lazy", "edit src/lib.rs: a lazy dog a fox src/lib.rs")]
    {
        let search = Search { query: query.into(), ..Search::default() };
        let hits = get!(desk, Hits, Request::Search(search)).hits;
        assert_eq!(hits[0].snippet, snippet);
        let (from, to) = hits[0].marks[0];
        assert_eq!(&hits[0].snippet[from..to], query);
    }
}

#[tokio::test]
async fn forks_are_named_by_their_messages_and_name_their_parent() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["fix the parser", "done"]).await;
    desk.apply(&id, Action::Title { title: Some("Parser".into()) }).await;
    let fork = Fork { conversation: id.clone(), entry: None, title: None, request_id: None };
    let fork = get!(desk, Receipt, Request::Fork(fork)).conversation;
    let parent = desk.info(&fork).await.parent.expect("a fork");
    assert_eq!((parent.title.as_deref(), parent.own), (Some("Parser"), None));
    desk.say(&fork, Role::User, "try it by hand").await;
    assert_eq!(desk.info(&fork).await.parent.expect("a fork").own.as_deref(), Some("try it by hand"));
    let search = Search { query: "hand".into(), ..Search::default() };
    assert_eq!(get!(desk, Hits, Request::Search(search)).hits[0].title, "try it by hand");
}
