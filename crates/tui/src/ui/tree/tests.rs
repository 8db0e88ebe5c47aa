//! Tests of the tree and its graph, driven by keys and answers of a script. Must never ask a real owner.

use std::fmt::Write;

use retake_wire::Role;
use retake_wire::reply::{Counts, Plan as Planned, Receipt, TimelinePlan};

use super::*;
use crate::ui::testing::{NOW_MS, World, conversation, entries, every_key, problem, sizes, themes};

fn line(id: &str, minutes: i64, preview: &str) -> Line {
    let role = if preview.ends_with('.') { Role::Assistant } else { Role::User };
    Line {
        id: id.to_owned(),
        role,
        time_ms: NOW_MS - minutes * 60_000,
        preview: preview.to_owned(),
        ran_by: None,
        synthetic: false,
    }
}

/// A branch with so many own messages, from one time to another in minutes ago; it leaves another branch after an
/// entry.
fn branch(leaf: &str, own: (i64, i64, u64), from: Option<(&str, i64, u64)>, words: (&str, &str)) -> Branch {
    let (first, last, count) = own;
    Branch {
        leaf: leaf.to_owned(),
        current: false,
        from: from.map(|(id, minutes, _)| line(id, minutes, &format!("said {id}."))),
        onto: None,
        shared: None,
        first: Some(line(&format!("{leaf}-first"), first, words.0)),
        called: match count {
            0 => None,
            1 => Some(line(leaf, last, words.1)),
            _ => Some(line(&format!("{leaf}-first"), first, words.0)),
        },
        last: line(leaf, last, words.1),
        messages: count + from.map_or(0, |(_, _, shared)| shared),
        own: count,
        label: None,
    }
}

/// Three branches of a first one, two of which part at the same entry, and one branch of such a branch.
fn few() -> Vec<Branch> {
    let words = ("make it atomic", "Done, all tests pass.");
    let mut all = vec![
        branch("a", (600, 400, 20), None, ("how do I begin?", "Like this.")),
        branch("b", (380, 300, 6), Some(("x", 500, 8)), ("try another way", "That fails.")),
        branch("c", (280, 200, 9), Some(("x", 500, 8)), ("and 漢字 🙂 with \x1b[2J?", "שלום עולם.")),
        branch("d", (180, 100, 4), Some(("y", 250, 12)), ("no, smaller", "Smaller now.")),
        branch("e", (90, 5, 12), Some(("z", 450, 16)), words),
    ];
    for (at, onto, shared) in [(1, "a", Some("x")), (2, "a", Some("x")), (3, "c", Some("x")), (4, "a", None)]
    {
        all[at].onto = Some(onto.to_owned());
        all[at].shared = shared.map(|id| line(id, 500, &format!("said {id}.")));
    }
    all[0].shared = Some(line("z", 450, "said z."));
    all[1].label = Some("the old way".to_owned());
    all[4].current = true;
    all
}

fn shape(branches: Vec<Branch>, forks: bool) -> Reply {
    let fork = ForkLine {
        conversation: "c7".to_owned(),
        title: "The same with less".to_owned(),
        from: Some("x".to_owned()),
    };
    Reply::Tree(Shape {
        subagents: Vec::new(),
        head: "3.40".to_owned(),
        branches,
        forks: forks.then_some(fork).into_iter().collect(),
        more: false,
    })
}

fn drawn(branches: &[Branch]) -> String {
    let mut text = String::new();
    for row in graph::graph(branches) {
        let what = match row.what {
            GraphRowKind::Tip(at) => branches[at].leaf.clone(),
            GraphRowKind::Parting(line) => format!("after {}", line.id),
            GraphRowKind::Beginning => "the beginning".to_owned(),
        };
        writeln!(text, "{:<12}{what}", row.lanes).expect("written");
    }
    text
}

fn opened() -> (Tree, World) {
    let mut world = World { conversation: Some(conversation("c1", None, "a talk", 3)), ..World::default() };
    let mut tree = Tree::new();
    tree.opened(&mut world.cx());
    (tree, world)
}

fn owner(request: &Request) -> Option<Result<Reply, Problem>> {
    Some(Ok(match request {
        Request::Tree(_) => shape(few(), true),
        Request::Log(log) => {
            entries(&log.conversation, &[(Role::User, "and now?"), (Role::Assistant, "Done.")])
        }
        Request::Plan(_) => {
            let timeline = TimelinePlan {
                brought_back: Counts { messages: 2, calls: 0, turns: 1 },
                came: vec![line("d", 100, "no, smaller")],
                ..TimelinePlan::default()
            };
            Reply::Plan(Planned { timeline, ..Planned::default() })
        }
        Request::Fork(_) => Reply::Receipt(Receipt { conversation: "c8".to_owned(), ..Receipt::default() }),
        Request::Apply(_) => Reply::Receipt(Receipt::default()),
        _ => return None,
    }))
}

fn filled() -> (Tree, World) {
    let (mut tree, mut world) = opened();
    world.answer(&mut tree, owner);
    (tree, world)
}

fn key(tree: &Tree) -> &str {
    tree.rows.selected().map_or("", Node::key)
}

/// A graph shows all branches, however many pages they need.
#[test]
fn trial_17_a_tree_of_several_pages_is_shown_as_a_whole() {
    let (mut tree, mut world) = opened();
    world.answer(&mut tree, |request| match request {
        Request::Tree(page) => {
            let all = few();
            let from = all.iter().position(|it| Some(&it.leaf) == page.after.as_ref()).map_or(0, |at| at + 1);
            let page: Vec<_> = all[from..].iter().take(2).cloned().collect();
            let more = from + page.len() < all.len();
            let Reply::Tree(page) = shape(page, !more) else { unreachable!() };
            Some(Ok(Reply::Tree(Shape { more, ..page })))
        }
        _ => owner(request),
    });
    let (mut whole, _) = filled();
    assert_eq!(sizes(&mut tree), sizes(&mut whole));
}

#[test]
fn lanes_of_branches_join_where_they_part() {
    insta::assert_snapshot!(drawn(&few()));
}

#[test]
fn one_branch_is_one_lane() {
    let mut one = few();
    one.truncate(1);
    insta::assert_snapshot!(drawn(&one));
    insta::assert_snapshot!(drawn(&[]));
}

#[test]
fn a_conversation_that_is_no_leaf_has_a_row() {
    let mut all = few();
    all[4].current = false;
    let mut place = branch("z", (600, 450, 0), Some(("z", 450, 16)), ("how do I begin?", "said z."));
    (place.from, place.current, place.onto) = (None, true, Some("a".to_owned()));
    all.push(place);
    insta::assert_snapshot!(drawn(&all));
}

#[test]
fn an_older_branch_may_have_ended_later() {
    let mut all = vec![
        branch("b", (300, 250, 3), Some(("x", 500, 8)), ("another way", "Fails.")),
        branch("c", (240, 200, 3), Some(("w", 270, 10)), ("smaller", "Fails, too.")),
        branch("a", (600, 100, 20), None, ("how do I begin?", "Like this.")),
    ];
    (all[0].onto, all[1].onto, all[2].current) = (Some("a".to_owned()), Some("b".to_owned()), true);
    insta::assert_snapshot!(drawn(&all));
    // Impossible input is drawn, too.
    all[2].onto = Some("c".to_owned());
    all[2].from = Some(line("v", 220, "said v."));
    assert_eq!(graph::graph(&all).len(), 7, "three leaves, three partings, the beginning");
}

#[test]
fn graph_that_cannot_be_drawn_correctly_is_not_drawn() {
    let words = ("one", "two.");
    let mut all = vec![
        branch("a", (600, 100, 20), None, words),
        branch("b", (550, 90, 20), None, words),
        branch("c", (80, 50, 4), Some(("x", 500, 8)), words),
        branch("d", (40, 30, 4), Some(("c", 50, 12)), words),
    ];
    all[1].current = true;
    all[3].onto = Some("c".to_owned());
    insta::assert_snapshot!(drawn(&all));
}

/// First and last minute, number of its own messages, and the branch and entry that it leaves.
type Made = (i64, i64, u64, Option<(usize, i64, u64)>);

proptest::proptest! {
    /// For any reply of the owner, even an invalid one: each branch is there once, and no lane is lost.
    #[test]
    fn every_branch_has_its_row(
        made in proptest::collection::vec((0_i64..50, 0_i64..50, 0_u64..9, proptest::option::of((0_usize..60, 0_i64..50, 0_u64..9))), 0..60),
        current in 0_usize..60,
    ) {
        let named = |(at, (first, last, own, from)): (usize, Made)| {
            let id = from.map(|(id, ..)| format!("b{id}"));
            let from = from.zip(id.as_ref()).map(|((_, at, shared), id)| (id.as_str(), at, shared));
            let mut branch = branch(&format!("b{at}"), (first, last, own), from, ("one", "two"));
            branch.current = at == current;
            branch.onto = id;
            branch
        };
        let branches: Vec<Branch> = made.into_iter().enumerate().map(named).collect();
        let rows = graph::graph(&branches);
        let mut tips: Vec<usize> = rows.iter().filter_map(|row| match row.what {
            GraphRowKind::Tip(at) => Some(at),
            _ => None,
        }).collect();
        tips.sort_unstable();
        proptest::prop_assert_eq!(tips, (0..branches.len()).collect::<Vec<_>>());
        for row in &rows {
            proptest::prop_assert!(row.lanes.chars().count() <= 47, "{:?}", row);
            let heads = row.lanes.chars().filter(|c| "●○".contains(*c)).count();
            let is_tip = matches!(row.what, GraphRowKind::Tip(_));
            proptest::prop_assert_eq!(heads, usize::from(is_tip), "{:?}", row);
        }
    }
}

#[test]
fn a_tree_in_every_size() {
    let (mut tree, _) = filled();
    insta::assert_snapshot!(sizes(&mut tree));
}

#[test]
fn a_tree_in_every_theme() {
    let (mut tree, mut world) = filled();
    insta::assert_snapshot!("themes", themes(&mut tree, 90, 16));
    world.press(&mut tree, "s m a l l e r");
    insta::assert_snapshot!("filtered", themes(&mut tree, 90, 6));
}

#[test]
fn loading_empty_and_failed_lists_are_shown() {
    let (mut tree, mut world) = opened();
    insta::assert_snapshot!("loading", sizes(&mut tree));
    world.answer(&mut tree, |_| Some(Ok(shape(Vec::new(), false))));
    insta::assert_snapshot!("empty", sizes(&mut tree));
    let (mut tree, mut world) = opened();
    world.answer(&mut tree, |_| Some(Err(problem("the branches can't be read"))));
    insta::assert_snapshot!("wrong", sizes(&mut tree));
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "z z z");
    insta::assert_snapshot!("without_hits", sizes(&mut tree));
}

#[test]
fn keys_move_over_branches_only() {
    let (mut tree, mut world) = filled();
    assert!(key(&tree).starts_with('e'), "where one is");
    for (keys, expected) in [
        ("down", "d4"),
        ("down", "c9"),
        ("end", "c7"),
        ("up", "beginning"),
        ("home", "e12"),
        ("pagedown", "d4"),
    ] {
        world.press(&mut tree, keys);
        assert_eq!(key(&tree), expected, "{keys}");
    }
}

#[test]
fn a_switch_shows_its_plan_first() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))), "one is there already");
    for (keys, entry) in [("down enter", Some("d")), ("end up enter", None)] {
        world.press(&mut tree, keys);
        let Some(PaneInstruction::Plan("Switch", action)) = world.wants.pop() else {
            panic!("a plan is wanted")
        };
        assert_eq!(*action, Action::Checkout { entry: entry.map(str::to_owned) });
    }
    world.press(&mut tree, "end enter");
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::Show { conversation, .. }) if conversation == "c7")
    );
    world.press(&mut tree, "esc");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
}

#[test]
fn a_branch_shows_what_was_said_there() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "down");
    let asked = world.asked();
    let [(ticket, Request::Log(log))] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(
        (log.branch.as_deref(), log.after.as_deref(), log.limit),
        (Some("d"), Some("x"), Some(there::THERE))
    );
    // The selection moves on before the reply arrives: only the row selected then is requested and shown.
    world.press(&mut tree, "down down");
    assert!(world.asked().is_empty(), "one at a time");
    let said = |words: &str, later: bool| {
        let Reply::Entries(mut page) = entries("c1", &[(Role::User, words)]) else { panic!("entries") };
        page.later = later;
        Ok(Reply::Entries(page))
    };
    tree.replied(*ticket, said("of the first", false), &mut world.cx());
    let asked = world.asked();
    let [(ticket, Request::Log(log))] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(log.branch.as_deref(), Some("b"));
    assert!(!sizes(&mut tree).contains("of the first"), "that is another branch");
    tree.replied(*ticket, said("of the third", true), &mut world.cx());
    world.press(&mut tree, "tab");
    insta::assert_snapshot!(sizes(&mut tree));
    world.press(&mut tree, "up up");
    assert!(sizes(&mut tree).contains("of the first"), "what was read is kept");
    // It is read again as soon as anything changes.
    tree.loaded(Shape {
        head: "3.41".to_owned(),
        branches: few(),
        forks: Vec::new(),
        subagents: Vec::new(),
        more: false,
    });
    tree.look(&mut world.cx());
    assert!(matches!(world.asked().as_slice(), [_, (_, Request::Log(_))] | [(_, Request::Log(_))]));
}

#[test]
fn a_comparison_takes_files_along() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "down");
    world.answer(&mut tree, owner);
    world.press(&mut tree, "ctrl+d");
    let asked = world.asked();
    let [(_, Request::Plan(plan))] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(plan.diff && plan.files.scope == Scope::Both);
    tree.replied(asked[0].0, owner(&asked[0].1).expect("answered"), &mut world.cx());
    world.press(&mut tree, "tab");
    insta::assert_snapshot!(sizes(&mut tree));
    world.press(&mut tree, "esc");
    assert!(!sizes(&mut tree).contains("compared with where you are"), "the messages are back");
}

#[test]
fn a_branch_is_named() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "down ctrl+e o n e");
    insta::assert_snapshot!(sizes(&mut tree));
    world.press(&mut tree, "enter");
    let named = world.asked().into_iter().find_map(|(ticket, request)| match request {
        Request::Apply(apply) => Some((ticket, apply.action)),
        _ => None,
    });
    let (ticket, action) = named.expect("asked");
    assert_eq!(action, Action::Label { entry: "d".to_owned(), name: Some("one".to_owned()) });
    tree.replied(ticket, Ok(Reply::Receipt(Receipt::default())), &mut world.cx());
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))));
    assert!(world.asked().iter().any(|(_, request)| matches!(request, Request::Tree(_))), "it is read again");
    world.press(&mut tree, "end ctrl+e");
    assert_eq!(tree.naming, None, "only branches are named");
}

#[test]
fn a_fork_shows_its_plan_first() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "ctrl+b");
    let asked = world.asked();
    assert!(!asked.iter().any(|(_, request)| matches!(request, Request::Fork(_))), "its plan comes first");
    assert!(matches!(&world.wants[..], [PaneInstruction::Fork(entry)] if entry == "e"), "{:?}", world.wants);
}

#[test]
fn fork_has_no_comparison_and_says_so() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "ctrl+d end");
    world.answer(&mut tree, owner);
    let shown = sizes(&mut tree);
    assert!(shown.contains("it can't be compared with this one"), "{shown}");
}

#[test]
fn a_conclusion_is_carried_over() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "ctrl+y");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))), "one is there already");
    world.press(&mut tree, "down");
    world.answer(&mut tree, owner);
    world.press(&mut tree, "ctrl+y");
    let asked = world.asked();
    let [(ticket, Request::Log(log))] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((log.conversation.as_str(), log.branch.as_deref()), ("c1", Some("d")));
    let said = [
        (Role::User, "and now?"),
        (Role::Assistant, "It is the cache.\n\nMake it smaller."),
        (Role::User, "thanks"),
    ];
    tree.replied(*ticket, Ok(entries("c1", &said)), &mut world.cx());
    let Some(PaneInstruction::Quote(words)) = world.wants.pop() else { panic!("a quote is wanted") };
    assert_eq!(words, "It is the cache.\n\nMake it smaller.");
    world.press(&mut tree, "end ctrl+y");
    world.answer(&mut tree, |request| match request {
        Request::Log(log) if log.conversation == "c7" => Some(Ok(entries("c7", &[]))),
        _ => None,
    });
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::Say(why)) if why == "nothing was answered there")
    );
}

#[test]
fn a_change_by_anyone_is_seen_and_a_click_selects() {
    let (mut tree, mut world) = filled();
    world.press(&mut tree, "down");
    tree.changed(&mut world.cx());
    world.answer(&mut tree, |request| match request {
        Request::Tree(_) => Some(Ok(shape(few().into_iter().skip(1).collect(), false))),
        _ => owner(request),
    });
    assert_eq!(key(&tree), "d4", "what is selected stays so");
    let _ = sizes(&mut tree);
    tree.clicked((5, 2).into(), &mut world.cx());
    assert_eq!(key(&tree), "e12");
    tree.clicked((5, 2).into(), &mut world.cx());
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))));
}

#[test]
fn every_key_does_something() {
    let script = |request: &Request| match request {
        Request::Tree(_) => {
            let mut all = few();
            for number in 0..40 {
                all.push(branch(
                    &format!("s{number}"),
                    (80, 60, 3),
                    Some(("x", 500, 8)),
                    ("a small one", "Done."),
                ));
            }
            Some(Ok(shape(all, false)))
        }
        Request::Log(log) => Some(Ok(entries(&log.conversation, &[(Role::User, "one of many"); 20]))),
        Request::Plan(_) => {
            let line = |number: usize| line(&format!("l{number}"), 1, &format!("line {number}"));
            let timeline = TimelinePlan {
                brought_back: Counts { messages: 20, calls: 0, turns: 1 },
                came: (0..20).map(line).collect(),
                ..TimelinePlan::default()
            };
            Some(Ok(Reply::Plan(Planned { timeline, ..Planned::default() })))
        }
        _ => owner(request),
    };
    let make = || {
        let (mut tree, mut world) = opened();
        world.answer(&mut tree, script);
        world.press(&mut tree, "s down down down");
        world.answer(&mut tree, script);
        let _ = sizes(&mut tree);
        world.press(&mut tree, "shift+down shift+down");
        (tree, world)
    };
    every_key(make, &[]);
}
