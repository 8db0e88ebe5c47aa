//! Which model answers: chosen by name, or the one that a conversation continues with. Must never ask a real owner.

use retake_wire::reply::{Model, Models};

use super::*;

fn models() -> Reply {
    let model = |name: &str| Model { name: name.to_owned(), ..Model::default() };
    let models = ["fake/m1", "demo"].map(model).into();
    Reply::Models(Models { default: "demo".into(), models, ..Models::default() })
}

/// Answers every request for models with these.
fn tells_models(app: &mut App, acts: Vec<Act>) {
    answer(app, acts, &|request| matches!(request, Request::Models).then(models));
}

/// A conversation whose last answer was by this model, opened without one on the command line.
fn answered_by(author: &str) -> App {
    let known = StartInfo { folder: "/work".into(), version: "1.2.3".into(), model: None };
    let mut app =
        App::new(known, Start::New, Settings::default(), Keymap::default(), Theme::default(), NOW_MS);
    let acts = app.begin();
    tells_models(&mut app, acts);
    let mut snapshot = snapshot();
    snapshot.entries.last_mut().expect("an answer").author = author.to_owned();
    tell(&mut app, Event::Snapshot(Box::new(snapshot)), Some("3"));
    app
}

#[test]
fn a_conversation_goes_on_with_the_model_that_answered_in_it() {
    for (author, model, says) in [
        ("fake/m1", Some("fake/m1"), "fake/m1 answers here, as before"),
        ("gone/m2", None, "gone/m2 answered here before and can't be used now"),
        ("demo", None, "demo"),
    ] {
        let mut app = answered_by(author);
        assert_eq!(app.tab().model.name.as_deref(), model);
        let shown = shown(&mut app);
        assert!(shown.contains(says), "{shown}");
    }
}

#[test]
fn named_model_is_looked_up_at_once() {
    for (name, model, says) in [
        ("fake/m1", Some("fake/m1"), "the next answers come from fake/m1"),
        ("fake/m9", Some("fake/m9"), "it is not listed; what is: fake/m1"),
        ("nowhere/x", Some("demo"), "there is no model “nowhere/x”"),
        ("nothing", Some("demo"), "there is no model “nothing”"),
    ] {
        let mut app = talking(Theme::default());
        app.command(Command::Model, name);
        assert_eq!(app.tab().model.name.as_deref(), Some(name), "what is sent at once is for it");
        let acts = app.on(Msg::Tick, NOW_MS);
        tells_models(&mut app, acts);
        assert_eq!(app.tab().model.name.as_deref(), model, "{name}");
        let shown = screen(120, 30, |frame| app.draw(frame));
        assert!(shown.contains(says), "{shown}");
    }
}
