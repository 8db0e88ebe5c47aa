//! Colours in a real terminal, according to its reports. Must never need one to be read.

use super::EMPTY;
use crate::live::harness::{World, until};
use crate::live::model::{Model, words};
use crate::live::tmux::Tmux;
use crate::term::pty::Pty;

/// A person's message, in the dark and in the light theme.
const DARK: &str = "38;2;121;192;255";
const LIGHT: &str = "38;2;9;80;174";

/// A client started like this, with some messages.
fn talking(model: &Model, world: &World, behind: Option<&str>, start: &str) -> Tmux {
    model.then(vec![words("A **bold answer** and a [link](https://example.org).")]);
    let client = Tmux::shell(world, 100, 30);
    if let Some(colour) = behind {
        client.is_behind(colour);
    }
    client.runs(start);
    client.shows(EMPTY);
    super::says(&client, "hello", "bold answer");
    client
}

/// The screen with its colours, apart from the terminal's own background, once it shows this one. A screen that is read while it
/// is drawn may lack moving parts.
fn colours(start: &str, expected: &str) -> String {
    let model = Model::start();
    let world = model.world(&[]);
    let client = talking(&model, &world, None, start);
    has(&client, expected)
}

/// Waits until the screen shows this colour, and returns the screen.
fn has(client: &Tmux, colour: &str) -> String {
    let mut seen = String::new();
    until("the colour", || {
        seen = client.coloured();
        seen.contains(colour)
    });
    seen
}

#[test]
fn a_terminal_shows_as_many_colours_as_it_has() {
    let sixteen = colours("COLORTERM= \"$RETAKE\"", "38;5;");
    assert!(!sixteen.contains("38;2;"), "{sixteen:?}");
    let beyond = (16..256).find(|number| sixteen.contains(&format!("8;5;{number}m")));
    assert_eq!(beyond, None, "{sixteen:?}");
    colours("COLORTERM=truecolor \"$RETAKE\"", DARK);
}

#[test]
fn without_colours_there_are_none() {
    let bold = "\x1b[1m";
    let none = colours("NO_COLOR=1 COLORTERM=truecolor \"$RETAKE\"", bold);
    for colour in ["38;", "48;", "[3", "[9"] {
        // `39` and `49` are the terminal's defaults.
        let none = none.replace("\x1b[39m", "").replace("\x1b[49m", "").replace("\x1b[3m", "");
        assert!(!none.contains(colour), "{colour}: {none:?}");
    }
}

#[test]
fn a_light_terminal_is_detected_and_gets_light_colours() {
    let model = Model::start();
    let world = model.world(&[]);
    let client = talking(&model, &world, Some("#ffffff"), "COLORTERM=truecolor \"$RETAKE\"");
    has(&client, LIGHT);
    assert!(!client.coloured().contains(DARK));
    assert!(!client.screen().contains("rgb"), "the answer is nobody's words");
    client.leaves();
    // If the settings say so, the terminal is not asked.
    let before = std::fs::read_to_string(world.config()).expect("settings");
    world.settings(&format!("{before}[face]\nbackground = \"dark\"\n"));
    let client = talking(&model, &world, Some("#ffffff"), "COLORTERM=truecolor \"$RETAKE\"");
    has(&client, DARK);
}

/// The client in a terminal simulated by the test.
fn played(world: &World) -> Pty {
    let path = |path: &std::path::Path| path.display().to_string();
    let (home, data, config) = (path(world.home()), path(world.data()), path(&world.config()));
    let variables = [
        ("HOME", home.as_str()),
        ("RETAKE_DATA_DIR", &data),
        ("RETAKE_CONFIG", &config),
        ("COLORTERM", "truecolor"),
        ("COLORFGBG", ""),
    ];
    Pty::run(std::path::Path::new(env!("CARGO_BIN_EXE_retake")), &[], &variables)
}

#[test]
fn an_answer_that_comes_late_and_in_pieces_is_never_typed() {
    let world = World::new();
    let mut client = played(&world);
    client.shows(EMPTY);
    until("it asks", || client.ever_printed("\x1b]11;?"));
    // The answer that it waits for is not needed to begin.
    client.send("half a");
    client.shows("half a");
    client.send("\x1b]11;rgb:ff");
    client.send("ff/ffff/ff");
    client.send("ff\x1b\\ thought");
    let screen = client.shows("half a thought");
    assert!(!screen.contains("rgb") && !screen.contains("11;"), "{screen}");
    client.send("\x1b[13~\x15/help\r");
    client.shows("Keys and commands");
    client.formats("38;2;8;111;131");
    client.send("\x11");
    assert!(client.ended());
    assert!(client.is_restored());
}

#[test]
fn a_terminal_that_answers_no_query_works() {
    let world = World::new();
    let mut client = played(&world);
    client.shows(EMPTY);
    // A key that begins like an answer, and no more.
    client.send("words \x1b]");
    client.send("11;");
    client.send(" and more");
    client.shows("and more");
    client.send("\x11");
    assert!(client.ended());
    assert!(client.is_restored());
}

#[test]
fn a_custom_theme_is_chosen_and_kept_and_its_mistakes_are_reported() {
    let model = Model::start();
    let world = model.world(&[]);
    let folder = world.home().join("themes");
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(
        folder.join("mine.toml"),
        "# all my own\nbase = \"dark\"\nuser = \"#010203\"\nacent = \"red\"\n",
    )
    .expect("written");
    let client = Tmux::shell(&world, 100, 30);
    client.runs("COLORTERM=truecolor \"$RETAKE\"");
    let screen = client.shows("nothing is called “acent”");
    let told: String = screen.split_whitespace().collect();
    assert!(told.contains("themes/mine.toml,line4:"), "{screen}");
    model.then(vec![words("Hello.")]);
    super::says(&client, "hello", "Hello.");
    client.types("/theme");
    client.press("Enter");
    client.shows("all my own");
    client.types("mine");
    client.until("only that", |screen| !screen.contains("paper"));
    client.press("Enter");
    client.shows("the theme is mine, here and in the settings");
    has(&client, "38;2;1;2;3");
    let settings = std::fs::read_to_string(world.config()).expect("settings");
    assert!(settings.contains("theme = \"mine\""), "{settings}");
    client.leaves();
    let client = talking(&model, &world, None, "COLORTERM=truecolor \"$RETAKE\"");
    has(&client, "38;2;1;2;3");
}
