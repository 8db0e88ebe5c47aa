//! A search goes back beyond the loaded part, a piece at a time, and shows its progress.

use super::*;

/// Some turns, with earlier ones before them.
fn late() -> LoadedConversation {
    LoadedConversation { earlier: true, ..long(200) }
}

fn earlier(count: u64, more: bool, talk: &mut LoadedConversation) {
    let mut entries = long(count).entries;
    entries.iter_mut().for_each(|entry| entry.id.insert_str(0, if more { "b" } else { "a" }));
    talk.loaded(entries, more);
}

#[test]
fn search_loads_earlier_messages() {
    let (mut view, mut talk) = (View::default(), late());
    let draw = |view: &mut View, talk: &LoadedConversation| drawn(view, talk, (60, 12));
    draw(&mut view, &talk);
    assert!(!view.needs_earlier());
    view.find("question 1", &talk);
    draw(&mut view, &talk);
    assert_eq!(view.found().as_deref(), Some("1 of 11+, looking further back"));
    assert!(view.needs_earlier() && view.is_finding());
    for _ in 0..10 {
        view.command(Command::FindNext, &talk);
    }
    assert_eq!(view.found().as_deref(), Some("11 of 11+, looking further back"));
    view.command(Command::FindNext, &talk);
    earlier(50, false, &mut talk);
    let screen = draw(&mut view, &talk);
    assert_eq!(view.found().as_deref(), Some("12 of 22"), "what was wanted is shown as soon as it is there");
    assert!(screen.contains("question 19") && !view.needs_earlier() && !view.is_finding(), "{screen}");
    view.command(Command::FindPrevious, &talk);
    assert_eq!(view.found().as_deref(), Some("11 of 22"), "what came does not move the others");
}

#[test]
fn search_without_hits_says_so_at_its_end_and_esc_ends_it() {
    let (mut view, mut talk) = (View::default(), late());
    view.find("nowhere", &talk);
    drawn(&mut view, &talk, (60, 12));
    assert_eq!(view.found().as_deref(), Some("nothing in the last 200 messages, looking further back"));
    earlier(100, true, &mut talk);
    drawn(&mut view, &talk, (60, 12));
    assert_eq!(view.found().as_deref(), Some("nothing in the last 300 messages, looking further back"));
    view.command(Command::FindLeave, &talk);
    drawn(&mut view, &talk, (60, 12));
    assert!(!view.needs_earlier() && !view.is_finding(), "no page is asked for after that");
    view.find("nowhere", &talk);
    talk.earlier = false;
    drawn(&mut view, &talk, (60, 12));
    assert_eq!(view.found().as_deref(), Some("nothing found"));
}

#[test]
fn result_of_a_call_is_counted_with_it_once_loaded() {
    let output = result(3, "c1", "needle\nneedle\n", false);
    let mut view = View::default();
    let mut talk =
        LoadedConversation { entries: vec![output], earlier: true, ..LoadedConversation::default() };
    view.find("needle", &talk);
    assert_eq!(view.found().as_deref(), Some("1 of 2+, looking further back"));
    talk.loaded(vec![entry(2, Role::Assistant, vec![call("c1", "shell", r#"{"command":"needle"}"#)])], false);
    drawn(&mut view, &talk, (60, 12));
    assert!(view.found().is_some_and(|told| told.ends_with("of 3")), "{:?}", view.found());
}

#[test]
fn search_stops_at_enough_hits_until_older_ones_are_wanted() {
    let (mut view, talk) = (View::default(), late());
    view.find("question", &talk);
    drawn(&mut view, &talk, (60, 12));
    assert_eq!(view.found().as_deref(), Some("1 of 100+"));
    assert!(!view.needs_earlier(), "nobody has asked for what is that old");
}

#[test]
fn a_key_searches_a_piece_only() {
    let big = "x".repeat(100_000);
    let talk = LoadedConversation {
        entries: (0..40).map(|at| answer(at, &big)).collect(),
        ..LoadedConversation::default()
    };
    let mut view = View::default();
    view.find("needle", &talk);
    let told = view.found().unwrap_or_default();
    assert!(told.starts_with("nothing in the last 3 messages, looking"), "{told}");
    let mut draws = 0;
    while view.is_finding() {
        drawn(&mut view, &talk, (60, 3));
        draws += 1;
    }
    assert!((10..40).contains(&draws), "{draws}");
    assert_eq!(view.found().as_deref(), Some("nothing found"));
}

#[test]
fn new_messages_are_found_and_the_shown_hit_stays() {
    let (mut view, mut talk) = (View::default(), long(200));
    view.find("question 1", &talk);
    view.command(Command::FindNext, &talk);
    assert_eq!(view.found().as_deref(), Some("2 of 11"));
    talk.entries.push(user(9_000, "question 1 again"));
    drawn(&mut view, &talk, (60, 12));
    assert_eq!(view.found().as_deref(), Some("3 of 12"));
}
