//! A rewind in small windows.

use super::*;

/// Agreement is possible in a small window, too; if even the essential part does not fit, it is
/// not.
#[test]
fn a_small_window_shows_what_matters_or_nothing_is_agreed_to() {
    for (name, plan) in [("small", with_files()), ("small_words", plan())] {
        for (width, height) in [(40, 7), (30, 6), (12, 4)] {
            let mut stage = stage(3, plan.clone());
            stage.owner.applies.push_back(Ok(Receipt::default()));
            stage.screen(width, height);
            stage.keys("enter");
            let seen = stage.screen(width, height);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), seen);
            stage.keys("enter");
            let is_shown = !seen.contains("too small");
            assert_eq!(stage.applied().len(), usize::from(is_shown), "{seen}");
            assert_eq!(is_shown, width > 12, "{seen}");
        }
    }
}
