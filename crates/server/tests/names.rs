//! Names of conversations and messages, and errors for unknown names.

use retake_wire::request::{ConversationTarget, Create, Export, Fork, Format, ImportStart, Log};
use retake_wire::{Action, ProblemKind, Request, Role};

use super::world::{Desk, apply, get, label, log, plan, rewind, shows, told};

/// The number of digits that make the first of these ids unique.
fn unique(ids: &[String]) -> usize {
    let same = |other: &&String| ids[0].chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    ids[1..].iter().map(|other| same(&other)).max().unwrap_or(0) + 1
}

#[tokio::test]
async fn message_can_be_named_by_turn_label_and_id() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    desk.apply(&id, label(&entries[2], "draft")).await;
    desk.apply(&id, label(&entries[3], "tea")).await;
    desk.apply(&id, label(&entries[1], "ümlaut 中文")).await;
    let prefix = &entries[0][..unique(&entries).max(8)];
    let rows = [
        (entries[0].clone(), 0),
        (entries[0].to_uppercase(), 0),
        (entries[0].replace('-', ""), 0),
        (prefix.to_owned(), 0),
        ("draft".into(), 2),
        ("ümlaut 中文".into(), 1),
        ("tea".into(), 3),
        ("t1".into(), 0),
        ("t2".into(), 2),
        ("@".into(), 3),
    ];
    for (name, expected) in rows {
        let planned = get!(desk, Plan, plan(&id, rewind(&name)));
        assert_eq!(planned.timeline.gone[0].id, entries[expected], "{name}");
    }
}

/// An id names its message: no label can take its place.
#[tokio::test]
async fn trial_12_a_label_is_not_spelled_like_the_id_of_another_message() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let prefix = entries[0][..unique(&entries).max(8)].to_owned();
    let names = [entries[0].clone(), entries[0].to_uppercase(), entries[0].replace('-', ""), prefix];
    for name in &names {
        for request in [apply(&id, label(&entries[2], name)), plan(&id, label(&entries[2], name))] {
            let refused = desk.refused(request).await;
            assert!(
                refused.message.contains("the id of another message begins with it"),
                "{name}: {refused:?}"
            );
        }
        let planned = get!(desk, Plan, plan(&id, rewind(name)));
        assert_eq!(planned.timeline.gone[0].id, entries[0], "{name}");
    }
    for word in ["face", "deadbeef", &entries[2]] {
        desk.apply(&id, label(&entries[2], word)).await;
        let planned = get!(desk, Plan, plan(&id, rewind(word)));
        assert_eq!(planned.timeline.gone[0].id, entries[2], "{word}");
    }
}

/// No label or title may hold control characters or hidden parts, or look empty.
#[tokio::test]
async fn trial_15_a_label_or_title_shows_all_that_it_holds() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let title = |text: &str| Action::Title { title: Some(text.into()) };
    for unfit in [
        "a\u{1b}[2Jb",
        "a\nb",
        "a\tb",
        "a\u{9b}b",
        "a\0b",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{200f}b",
        "a\u{200b}b",
        "a\u{feff}b",
        "a\u{ad}b",
        "a\u{3164}b",
    ] {
        let create = Create { title: Some(unfit.into()), ..Create::default() };
        let fork =
            Fork { conversation: id.clone(), entry: None, title: Some(unfit.into()), request_id: None };
        let import = ImportStart { title: Some(unfit.into()), ..ImportStart::default() };
        for request in [
            apply(&id, label(&entries[0], unfit)),
            plan(&id, label(&entries[0], unfit)),
            apply(&id, title(unfit)),
            Request::Create(create),
            Request::Fork(fork),
            Request::ImportStart(import),
        ] {
            let name = format!("{request:?}");
            let refused = desk.refused(request).await;
            assert_eq!((refused.code.as_str(), refused.kind), ("bad_name", ProblemKind::Usage), "{name}");
            let sign = unfit.chars().nth(1).map(u32::from).expect("a sign");
            assert!(refused.message.contains(&format!("U+{sign:04X}")), "{refused:?}");
            assert!(refused.hint.is_some(), "{refused:?}");
        }
    }
    for blank in [" ", "\u{a0}", "\u{200d}\u{fe0f}"] {
        assert_eq!(
            desk.refused(apply(&id, label(&entries[0], blank))).await.code,
            "empty_label",
            "{blank:?}"
        );
        assert_eq!(desk.refused(apply(&id, title(blank))).await.code, "empty_label", "{blank:?}");
    }
    for fit in ["ｔｅａ，お茶", "👩\u{200d}💻 ❤\u{fe0f}", "می\u{200c}خواهم", "“quoted” – ½"]
    {
        desk.apply(&id, title(fit)).await;
        assert_eq!(desk.info(&id).await.title.as_deref(), Some(fit), "a title stays as it was typed");
    }
}

/// A label is found in any Unicode form, and no two labels look alike.
#[tokio::test]
async fn trial_15_labels_that_look_alike_are_the_same_label() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    for (given, kept, as_well) in [
        ("ｄｒａｆｔ１", "draft1", "draft1"),
        ("caf\u{e9}", "caf\u{e9}", "cafe\u{301}"),
        ("a\u{a0}b", "a b", "a b"),
        ("ﬁrst", "first", "ｆirst"),
        ("me\u{200d}al", "me\u{200d}al", "meal"),
    ] {
        desk.apply(&id, label(&entries[0], given)).await;
        let page = get!(desk, Entries, Request::Log(log(&id)));
        assert_eq!(page.entries[0].label.as_deref(), Some(kept));
        for name in [given, kept, as_well] {
            let planned = get!(desk, Plan, plan(&id, rewind(name)));
            assert_eq!(planned.timeline.gone[0].id, entries[0], "{name}");
            let refused = desk.refused(apply(&id, label(&entries[1], name))).await;
            assert_eq!(refused.code, "label_taken", "{name}");
        }
    }
}

/// `t1`, `#3` or `3.12` look like the program's own names.
#[tokio::test]
async fn trial_15_a_label_does_not_look_like_an_address() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    for address in ["t1", "T1", "ｔ１", "t99", "@", "＠", "#3", "＃３", "3.12", "before 4"] {
        for request in [apply(&id, label(&entries[1], address)), plan(&id, label(&entries[1], address))] {
            let refused = desk.refused(request).await;
            assert_eq!(refused.kind, ProblemKind::Usage, "{address}: {refused:?}");
            assert!(refused.message.contains("can't be a label"), "{address}: {refused:?}");
        }
    }
    for word in ["tea", "t", "t1a", "#", "#tea", "3.x", "v3.12", "before"] {
        desk.apply(&id, label(&entries[1], word)).await;
        let planned = get!(desk, Plan, plan(&id, rewind(word)));
        assert_eq!(planned.timeline.gone[0].id, entries[1], "{word}");
    }
}

#[tokio::test]
async fn a_conversation_is_named_by_the_beginning_of_its_id() {
    let desk = Desk::new().await;
    let ids = [desk.create(Some("a"), None).await, desk.create(Some("b"), None).await];
    let digits = unique(&ids).max(8);
    for name in [&ids[0], &ids[0].to_uppercase(), &ids[0][..digits], &ids[0].replace('-', "")] {
        assert_eq!(desk.info(name).await.title.as_deref(), Some("a"), "{name}");
    }
}

#[tokio::test]
async fn unknown_name_is_reported_with_the_nearest_one() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three"]).await;
    let empty = desk.create(None, None).await;
    desk.apply(&id, label(&entries[0], "draft")).await;
    let hidden = desk.say(&id, Role::User, "gone").await;
    desk.apply(&id, rewind(&hidden)).await;
    let other = desk.say(&empty, Role::User, "elsewhere").await;
    desk.apply(&empty, rewind(&other)).await;
    let mut near = entries[1].clone();
    near.replace_range(35.., if near.ends_with('0') { "1" } else { "0" });
    let mut far = id.clone();
    far.replace_range(35.., if far.ends_with('0') { "1" } else { "0" });
    let info = |name: &str| Request::Info(ConversationTarget { conversation: name.into() });
    let rows = [
        ("a label, nearly", apply(&id, rewind("darft"))),
        ("an id, nearly", apply(&id, rewind(&near))),
        ("nothing like it", apply(&id, rewind("nonsense"))),
        ("no name at all", apply(&id, rewind(""))),
        ("a turn that is not there", apply(&id, rewind("t7"))),
        ("no turn", apply(&id, rewind("t0"))),
        ("three digits", apply(&id, rewind("019"))),
        ("the beginning of them all", apply(&id, rewind(&entries[0][..4]))),
        ("taken back", apply(&id, rewind(&hidden))),
        ("of another conversation", apply(&id, rewind(&other))),
        ("the last of none", apply(&empty, rewind("@"))),
        ("a turn of none", apply(&empty, rewind("t1"))),
        ("a conversation, nearly", info(&far)),
        ("no conversation", info("nonsense")),
        ("an empty name", info("")),
        ("the beginning of two", info(&id[..4])),
        ("no head", apply(&id, Action::Restore { head: "9.9".into() })),
        ("not even a head", apply(&id, Action::Restore { head: "nine".into() })),
        ("a page at no head", Request::Log(Log { at: Some("0.99".into()), ..log(&id) })),
        ("a page before what is taken back", Request::Log(Log { before: Some(hidden.clone()), ..log(&id) })),
        ("no fold", apply(&id, Action::Unfold { fold: "7".into() })),
        ("no alternative", apply(&id, Action::Choose { entry: entries[1].clone(), number: 2 })),
        ("not an answer", apply(&id, Action::Choose { entry: entries[0].clone(), number: 1 })),
        ("undo nothing", apply(&id, Action::Undo { count: 0 })),
        ("a label twice", apply(&id, label(&entries[1], "draft"))),
        ("an empty label", apply(&id, label(&entries[1], " "))),
        ("marks of nothing", apply(&id, Action::Erase { entries: vec![], matching: None })),
        (
            "an export from nowhere",
            Request::Export(Export {
                conversation: id.clone(),
                format: Format::Jsonl,
                cursor: Some("x".into()),
            }),
        ),
        (
            "a full export from nowhere",
            Request::Export(Export {
                conversation: id.clone(),
                format: Format::Full,
                cursor: Some("x".into()),
            }),
        ),
    ];
    let before = desk.info(&id).await;
    let mut text = String::new();
    for (what, request) in rows {
        text.push_str(&format!("{what}\n{}", told(&desk.refused(request).await)));
    }
    assert_eq!(desk.info(&id).await, before, "a refusal changes nothing");
    shows!(text.replace(&format!("“{}”", &id[..4]), "“0192”"));
}

/// A message of another conversation gets its own error, not that of an unknown message.
#[tokio::test]
async fn trial_15_a_message_of_another_conversation_is_told_from_an_unknown_one() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let (other, theirs) = desk.talk(&["three"]).await;
    for name in [&*theirs[0], &theirs[0][..23]] {
        let problem = desk.refused(apply(&id, rewind(name))).await;
        assert_eq!(problem.code, "foreign_entry", "{problem:?}");
        assert!(problem.message.contains(&other), "{problem:?}");
    }
    let unknown = theirs[0].replace(|c: char| c.is_ascii_digit(), "f");
    assert_eq!(desk.refused(apply(&id, rewind(&unknown))).await.code, "unknown_entry");
}
