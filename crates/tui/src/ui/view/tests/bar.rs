//! The scroll bar.

use super::*;

#[test]
fn scroll_bar_has_a_constant_length_and_follows_the_text() {
    let mut talk = rich();
    let words: String = (1..=120).map(|line| format!("line {line}\n\n")).collect();
    talk.entries.insert(0, user(0, &words));
    talk.entries.push(answer(20, &words));
    let mut view = View::default();
    // The length and position of the bar.
    let bar = |view: &mut View| {
        let screen = drawn(view, &talk, (60, 20));
        let rows = screen.lines().enumerate().filter(|(_, line)| line.ends_with('▐'));
        rows.map(|(row, _)| row).collect::<Vec<_>>()
    };
    drop(bar(&mut view));
    view.command(Command::ScrollTop, &talk);
    let mut before = bar(&mut view);
    assert_eq!(before.first(), Some(&0));
    let long = before.len();
    for _ in 0..100 {
        view.scroll(3);
        let now = bar(&mut view);
        assert!(now.len() == long && now >= before, "{before:?} {now:?}");
        before = now;
    }
    assert_eq!(before.last(), Some(&19));
}
