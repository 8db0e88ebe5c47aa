//! The look of the composer in every state, size and theme.

use super::{Desk, file, image, text};
use crate::ui::testing::{THEMES, styled};

/// All states that look different.
fn states() -> Vec<(&'static str, Desk)> {
    let state = |keys: &str| {
        let mut desk = Desk::new();
        desk.composer
            .remember(["fix the parser", "write docs\nfor it", "\x1b[31mred"].map(str::to_owned).to_vec());
        desk.press(keys);
        desk
    };
    let mut full = state("a draft");
    full.composer.returned(&[
        text("words that came back, more than a row is wide"),
        image(),
        file("a/漢字.pdf"),
    ]);
    let mut pasted = state("explain ");
    pasted.composer.paste(&"x\n".repeat(50));
    let mut paths = state("see @s");
    let found = [("src", true), ("src/main.rs", false), ("docs/漢字.md", false)];
    paths.composer.paths("s", found.map(|(path, is_folder)| (path.to_owned(), is_folder)).to_vec());
    vec![
        ("empty", state("")),
        ("wide", state("漢字漢字漢字漢字漢字漢字 👩‍👩‍👧 שלום עולם e\u{301}")),
        ("full", full),
        ("pasted", pasted),
        ("commands", state("/re")),
        ("all commands", state("/<up>")),
        ("hint", state("/label ")),
        ("paths", paths),
        ("search", state("<alt+h>d")),
        ("found nothing", state("<alt+h>zzz")),
    ]
}

#[test]
fn how_it_looks() {
    let mut seen = String::new();
    for (width, height) in [(20, 6), (40, 12), (80, 24)] {
        for (name, mut desk) in states() {
            let screen = desk.screen(width, height);
            let screen = screen.trim_start_matches('\n');
            seen.push_str(&format!("--- {name}, {width}x{height}\n{screen}\n"));
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn how_it_looks_in_colours() {
    let mut seen = String::new();
    for theme in THEMES {
        for (name, mut desk) in states() {
            let shown = styled(60, 9, |frame| desk.draw(frame, theme));
            seen.push_str(&format!("--- {name}, {theme:?}\n{}\n", shown.trim_start_matches('\n')));
        }
    }
    insta::assert_snapshot!(seen);
}
