//! What a small window shows first.

use super::*;
use crate::face::testing::screen;

fn shown_in(app: &mut App, width: u16, height: u16) -> String {
    screen(width, height, |frame| app.draw(frame))
}

#[test]
fn a_question_for_leave_stands_in_a_small_window_with_a_yes_and_a_no() {
    let long = format!("shell rm -rf {} && echo x", "some/folder/or/other ".repeat(20));
    for (line, end) in [("write", "write notes.md"), (&*long, "echo x notes.md")] {
        let mut app = talking(Theme::default());
        let model = "demo".to_owned();
        tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
        let rule = |what: &str| Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some(what.into()) };
        ask_with(&mut app, "a1", line, vec![rule("docs/**"), rule("**")]);
        for (width, height) in [(40, 12), (40, 8), (24, 10), (20, 6)] {
            let seen = shown_in(&mut app, width, height);
            let words = seen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("? may it run?"), "{seen}");
            assert!(words.replace(' ', "").contains(&end.replace(' ', "")), "{seen}");
            for keys in [["y allow it, this once", "y allow ·"], ["n refuse, and say why", "n no"]] {
                assert!(keys.iter().any(|key| words.contains(key)), "{keys:?}: {seen}");
            }
            let foot = seen.lines().last().unwrap_or_default();
            assert!(!foot.contains("always") || foot.contains("n no"), "{foot}");
        }
        insta::assert_snapshot!(format!("small_question_{}", line.len() > 10), shown_in(&mut app, 40, 12));
    }
}
