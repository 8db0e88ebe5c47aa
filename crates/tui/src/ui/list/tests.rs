//! Tests of the list of conversations, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{Line, Parent, Receipt};
use retake_wire::{Hit, ProblemKind, ReadOnlyCause, Role};

use super::*;
use crate::ui::testing::{NOW_MS, World, conversation, entries, every_key, problem, sizes, themes};

fn few() -> Vec<Conversation> {
    let mut running = conversation("c1", Some("Rewind of files"), "make the rewind atomic", 0);
    running.running = true;
    let mut elsewhere = conversation("c2", None, "なぜテストが失敗する? 🤔", 90);
    elsewhere.folder = Some("/srv/projects/web/shop".to_owned());
    let mut fork = conversation("c3", Some("Rewind, another way"), "make the rewind atomic", 60 * 24 * 3);
    fork.parent =
        Some(Parent { conversation: "c1".to_owned(), head: "3.9".to_owned(), title: None, own: None });
    let mut locked = conversation("c4", None, "\x1b]0;owned\x07 שלום עולם", 60 * 24 * 400);
    locked.access.read_only_cause = Some(ReadOnlyCause::Damaged { detail: "row 7".to_owned() });
    vec![running, elsewhere, fork, locked]
}

fn page(conversations: Vec<Conversation>, more: bool) -> Reply {
    Reply::Conversations(Conversations { conversations, more, ..Default::default() })
}

fn hits() -> Reply {
    let snippet = "… so that the undo of a rewind is a rewind …";
    let at = snippet.find("rewind").expect("there");
    let line = |id: &str, text: &str| Line {
        id: id.to_owned(),
        role: Role::Assistant,
        time_ms: NOW_MS - 3_600_000,
        preview: text.to_owned(),
        ran_by: None,
        synthetic: false,
    };
    let hit = |id: &str, marks| Hit {
        conversation: "c2".to_owned(),
        title: "Why do the tests fail?".to_owned(),
        line: line(id, "…"),
        snippet: snippet.to_owned(),
        marks,
        standing: None,
        before: Some(line("b", "what came before")),
        after: None,
    };
    Reply::Hits(Hits {
        hits: vec![hit("h1", vec![(at, at + 6)]), hit("h2", vec![(3, 1)])],
        more: true,
        understood: None,
    })
}

fn owner(request: &Request) -> Option<Result<Reply, Problem>> {
    Some(Ok(match request {
        Request::List(list) if list.before.is_none() => page(few(), false),
        Request::List(_) => page(Vec::new(), false),
        Request::Log(log) => {
            entries(&log.conversation, &[(Role::User, "how is it?"), (Role::Assistant, "All of it holds.")])
        }
        Request::Search(_) => hits(),
        Request::Apply(_) => Reply::Receipt(Receipt::default()),
        _ => return None,
    }))
}

fn opened(words: &str) -> (List, World) {
    let mut list = List::new("/home/ann/work/retake", words);
    let mut world = World::default();
    list.opened(&mut world.cx());
    (list, world)
}

fn filled() -> (List, World) {
    let (mut list, mut world) = opened("");
    world.answer(&mut list, owner);
    (list, world)
}

/// Time passes; then the following requests are answered.
fn rest(list: &mut List, world: &mut World) {
    world.passed_ms += 1_000;
    list.tick(&mut world.cx());
    world.answer(list, owner);
}

#[test]
fn a_list_in_every_size() {
    let (mut list, _) = filled();
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn a_list_in_every_theme() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "r e w i n d");
    rest(&mut list, &mut world);
    insta::assert_snapshot!(themes(&mut list, 70, 12));
}

#[test]
fn while_it_loads_it_says_so() {
    let (mut list, _) = opened("");
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn an_empty_list_says_what_to_do() {
    let (mut list, mut world) = opened("");
    world.answer(&mut list, |request| {
        matches!(request, Request::List(_)).then(|| Ok(page(Vec::new(), false)))
    });
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn list_with_archived_conversations_only_names_the_key_to_show_them() {
    let (mut list, mut world) = opened("");
    world.answer(&mut list, |request| match request {
        Request::List(of) if of.archived => Some(Ok(page(vec![conversation("c", None, "old", 1)], false))),
        Request::List(_) => Some(Ok(page(Vec::new(), false))),
        _ => None,
    });
    let seen = sizes(&mut list);
    assert!(seen.contains("all conversations are archived: Ctrl+A shows them"), "{seen}");
}

#[test]
fn failure_is_reported_with_a_hint() {
    let (mut list, mut world) = opened("");
    world.answer(&mut list, |_| Some(Err(problem("the conversations can't be read"))));
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn a_filter_searches_everything_that_was_said() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "r e w i n d");
    world.answer(&mut list, owner);
    assert!(list.search.words.is_empty(), "nothing is searched while somebody types");
    rest(&mut list, &mut world);
    insta::assert_snapshot!("searched", sizes(&mut list));
    world.press(&mut list, "end");
    world.answer(&mut list, owner);
    insta::assert_snapshot!("a_hit", sizes(&mut list));
    world.press(&mut list, "up enter");
    let Some(PaneInstruction::Show { conversation, entry }) = world.wants.pop() else { panic!("shown") };
    assert_eq!((conversation.as_str(), entry.as_deref()), ("c2", Some("h1")));
    world.press(&mut list, "alt+enter");
    let Some(PaneInstruction::ShowBeside { conversation, entry }) = world.wants.pop() else {
        panic!("shown beside")
    };
    assert_eq!((conversation.as_str(), entry.as_deref()), ("c2", Some("h1")), "a hit is shown there, too");
}

#[test]
fn a_filter_without_hits_says_so() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "q q x");
    world.passed_ms += 1_000;
    list.tick(&mut world.cx());
    world.answer(&mut list, |_| {
        Some(Ok(Reply::Hits(Hits { hits: Vec::new(), more: false, understood: None })))
    });
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn hits_of_other_words_than_those_typed_are_not_shown() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "r e w i n d");
    world.passed_ms += 1_000;
    list.tick(&mut world.cx());
    let asked = world.asked();
    let (ticket, request) = &asked[0];
    assert!(matches!(request, Request::Search(search) if search.query == "rewind*"), "{request:?}");
    world.press(&mut list, "s");
    list.replied(*ticket, Ok(hits()), &mut world.cx());
    assert_eq!(list.rows.items().count(), 4);
    world.passed_ms += 1_000;
    list.tick(&mut world.cx());
    assert_eq!(world.asked().len(), 1, "the words of now are searched");
}

#[test]
fn failed_search_is_reported() {
    let (mut list, mut world) = opened("zebra \"");
    world.passed_ms += 1_000;
    world.answer(&mut list, |request| match request {
        Request::Search(_) => Some(Err(problem("the quote is never closed"))),
        _ => owner(request),
    });
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn words_of_the_command_are_searched_at_once() {
    let (mut list, mut world) = opened(" rewind ");
    world.answer(&mut list, owner);
    assert_eq!(list.rows.filter(), "rewind");
    assert_eq!(list.rows.items().filter(|item| matches!(item, Item::Hit(_))).count(), 2);
}

#[test]
fn folders_have_a_column_only_where_one_is_another() {
    let title = "a title that needs nearly all of the room of a row";
    let (mut list, mut world) = opened("");
    let mut fork = conversation("c2", None, title, 2);
    fork.parent =
        Some(Parent { conversation: "c1".to_owned(), head: "3.9".to_owned(), title: None, own: None });
    list.replace(Conversations { conversations: vec![fork], more: false, ..Default::default() });
    let keys = crate::ui::keymap::Keymap::default();
    let shown = |list: &mut List| {
        let brush = crate::ui::testing::brush(crate::ui::testing::THEMES[0], &keys);
        crate::ui::testing::screen(100, 12, |frame| list.draw_list(frame, frame.area(), &brush))
    };
    assert!(shown(&mut list).contains(&format!("⑂ {title} (fork)")), "{}", shown(&mut list));
    let mut elsewhere = conversation("c3", None, "shop", 1);
    elsewhere.folder = Some("/srv/web/shop".to_owned());
    list.put(elsewhere);
    assert!(shown(&mut list).contains("web/shop"));
    list.moved(&mut world.cx());
}

#[test]
fn enter_opens_and_another_key_opens_beside() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "down enter");
    let Some(PaneInstruction::Show { conversation, entry: None }) = world.wants.pop() else {
        panic!("shown")
    };
    assert_eq!(conversation, "c2");
    for key in ["alt+enter", "ctrl+t"] {
        world.press(&mut list, key);
        let Some(PaneInstruction::ShowBeside { conversation, entry: None }) = world.wants.pop() else {
            panic!("shown beside")
        };
        assert_eq!(conversation, "c2");
    }
    world.press(&mut list, "esc");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
}

#[test]
fn a_name_is_typed_in_the_list() {
    let (mut list, mut world) = filled();
    for key in ["f2", "ctrl+e"] {
        world.press(&mut list, key);
        assert!(list.naming.is_some());
        world.press(&mut list, "esc");
        assert_eq!(list.naming, None);
    }
    world.press(&mut list, "ctrl+e backspace backspace backspace backspace backspace x");
    insta::assert_snapshot!(sizes(&mut list));
    world.press(&mut list, "enter");
    let (ticket, request) = world.asked().pop().expect("asked");
    let Request::Apply(apply) = request else { panic!("{request:?}") };
    assert_eq!(
        (apply.conversation.as_str(), apply.action),
        ("c1", Action::Title { title: Some("Rewind of x".to_owned()) })
    );
    list.replied(ticket, Ok(Reply::Receipt(Receipt::default())), &mut world.cx());
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))));
    world.press(&mut list, "down ctrl+e ctrl+u enter");
    let none = world.asked().into_iter().find_map(|(ticket, request)| match request {
        Request::Apply(apply) => Some((ticket, apply.action)),
        _ => None,
    });
    let (ticket, action) = none.expect("asked");
    assert_eq!(action, Action::Title { title: None });
    list.replied(ticket, Err(problem("it can't be named")), &mut world.cx());
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::Complain(problem)) if problem.kind == ProblemKind::Storage)
    );
}

#[test]
fn archived_conversation_leaves_the_list_and_comes_back() {
    let (mut list, mut world) = filled();
    let shown = |list: &List| {
        let ids = list.rows.items().filter_map(Item::conversation);
        ids.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let script = |request: &Request| match request {
        Request::List(list) if list.archived => {
            let mut away = few().remove(1);
            away.archived = true;
            Some(Ok(page(vec![away], false)))
        }
        Request::SetArchived(_) => Some(Ok(Reply::Done)),
        _ => owner(request),
    };
    world.press(&mut list, "down ctrl+x");
    let asked = world.acts.iter().any(|act| {
        let set = SetArchived { conversation: "c2".to_owned(), archived: true };
        matches!(act, crate::ui::msg::Act::Ask(_, request) if **request == Request::SetArchived(set))
    });
    assert!(asked);
    world.answer(&mut list, script);
    assert_eq!(shown(&list), "c1 c3 c4");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))));
    world.press(&mut list, "ctrl+a");
    insta::assert_snapshot!("archived_loading", sizes(&mut list));
    world.answer(&mut list, script);
    assert_eq!(shown(&list), "c2");
    insta::assert_snapshot!("archived", sizes(&mut list));
    let told = |event| NumberedEvent { id: None, event };
    list.listed(&told(Event::Listed(Box::new(few().remove(0)))), &mut world.cx());
    list.listed(
        &told(Event::List(Conversations { conversations: few(), more: false, ..Default::default() })),
        &mut world.cx(),
    );
    assert_eq!(shown(&list), "c2", "the others are not shown here");
    world.press(&mut list, "ctrl+x");
    world.answer(&mut list, script);
    insta::assert_snapshot!("archived_empty", sizes(&mut list));
    world.press(&mut list, "ctrl+a");
    world.answer(&mut list, script);
    assert_eq!(shown(&list), "c1 c2 c3 c4");
    let mut away = few().remove(0);
    away.archived = true;
    list.listed(&told(Event::Listed(Box::new(away))), &mut world.cx());
    assert_eq!(shown(&list), "c2 c3 c4");
}

#[test]
fn the_list_is_live() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "down");
    let told = |event| NumberedEvent { id: None, event };
    let mut third = few().remove(2);
    third.changed_ms = NOW_MS + 5;
    list.listed(&told(Event::Listed(Box::new(third))), &mut world.cx());
    let order: Vec<_> = list.rows.items().filter_map(Item::conversation).collect();
    assert_eq!(order, ["c3", "c1", "c2", "c4"]);
    assert_eq!(list.rows.selected().and_then(Item::conversation), Some("c2"), "what is selected stays so");
    let page = Conversations {
        conversations: vec![conversation("c9", None, "new", 0)],
        more: false,
        ..Default::default()
    };
    list.listed(&told(Event::List(page)), &mut world.cx());
    let order: Vec<_> = list.rows.items().filter_map(Item::conversation).collect();
    assert_eq!(order, ["c9"]);
}

#[test]
fn pages_load_while_scrolling() {
    let many = |from: usize| {
        let of = |number: usize| {
            let minutes = i64::try_from(number).expect("small");
            conversation(&format!("c{number:05}"), None, &format!("talk {number}"), minutes)
        };
        (from..from + 200).map(of).collect::<Vec<_>>()
    };
    let script = |request: &Request| match request {
        Request::List(list) => {
            let from = list.before.as_ref().map_or(0, |id| id[1..].parse::<usize>().expect("a number") + 1);
            Some(Ok(page(many(from), from + 200 < 1_000)))
        }
        Request::Search(_) => Some(Ok(Reply::Hits(Hits { hits: Vec::new(), more: false, understood: None }))),
        _ => owner(request),
    };
    let (mut list, mut world) = opened("");
    world.answer(&mut list, script);
    let _ = sizes(&mut list);
    assert_eq!(list.rows.len(), 200);
    world.press(&mut list, "end");
    world.answer(&mut list, script);
    assert_eq!(list.rows.len(), 400);
    world.press(&mut list, "9 9 9");
    world.answer(&mut list, script);
    assert_eq!((list.rows.len(), list.rows.fitting()), (1_000, 1), "a filter looks at all of them");
}

#[test]
fn the_other_half_takes_all_the_room() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "tab shift+up shift+down");
    insta::assert_snapshot!(sizes(&mut list));
}

#[test]
fn a_title_has_the_columns_that_nothing_else_takes() {
    let title = "write doc1.txt and then doc2.txt too";
    let (mut list, mut world) = opened("");
    world.answer(&mut list, |request| match request {
        Request::List(list) if list.before.is_none() => {
            let mut elsewhere = conversation("c2", Some(title), "", 0);
            elsewhere.folder = Some("/srv/projects/web/shop".to_owned());
            Some(Ok(page(vec![conversation("c1", Some(title), "", 0), elsewhere], false)))
        }
        _ => owner(request),
    });
    let keys = crate::ui::keymap::Keymap::default();
    let brush = crate::ui::testing::brush(Default::default(), &keys);
    let seen = crate::ui::testing::screen(60, 12, |frame| list.draw(frame, frame.area(), &brush));
    assert_eq!(seen.matches(title).count(), 1, "of this folder, not of the other one: {seen}");
    assert!(seen.contains("web/shop"), "{seen}");
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let (mut list, mut world) = filled();
    let _ = sizes(&mut list);
    list.clicked((5, 4).into(), &mut world.cx());
    assert_eq!(list.rows.selected().and_then(Item::conversation), Some("c3"));
    list.clicked((5, 4).into(), &mut world.cx());
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::Show { conversation, .. }) if conversation == "c3")
    );
}

#[test]
fn every_key_does_something() {
    let make = || {
        let (mut list, mut world) = filled();
        let script = |request: &Request| match request {
            Request::Log(log) => {
                let words: String = (0..40).map(|line| format!("line {line}\n")).collect();
                Some(Ok(entries(&log.conversation, &[(Role::User, &words)])))
            }
            _ => owner(request),
        };
        let mut many = few();
        many.extend(
            (0..60).map(|number| conversation(&format!("x{number}"), Some("Rewind it"), "", 999_999)),
        );
        let told = NumberedEvent {
            id: None,
            event: Event::List(Conversations { conversations: many, more: false, ..Default::default() }),
        };
        list.listed(&told, &mut world.cx());
        world.press(&mut list, "r down down down");
        world.answer(&mut list, script);
        world.answer(&mut list, script);
        let _ = sizes(&mut list);
        world.press(&mut list, "shift+up shift+up");
        (list, world)
    };
    every_key(make, &[]);
}

#[test]
fn nothing_fits_only_once_everything_was_searched() {
    let (mut list, mut world) = filled();
    world.press(&mut list, "q q z");
    let seen = sizes(&mut list);
    assert!(seen.contains("searching all messages…") && !seen.contains("nothing matches"), "{seen}");
    world.passed_ms += 1_000;
    list.tick(&mut world.cx());
    world.answer(&mut list, |request| match request {
        Request::Search(_) => Some(Ok(Reply::Hits(Hits { hits: Vec::new(), more: false, understood: None }))),
        _ => owner(request),
    });
    let seen = sizes(&mut list);
    assert!(seen.contains("nothing matches “qqz”") && !seen.contains("searching all"), "{seen}");
    world.press(&mut list, "q backspace");
    assert!(!sizes(&mut list).contains("searching all"), "that is searched already");
}
