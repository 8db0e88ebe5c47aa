//! Subagents: a selected answer opens the one that it started, and the tree lists them.

use retake_wire::Part;
use retake_wire::reply::SubagentLine;

use super::*;

/// In a conversation whose last answer has started so many subagents.
fn delegated(count: usize) -> App {
    let mut app = app(Theme::default());
    let mut snapshot = snapshot();
    let last = snapshot.entries.last_mut().expect("an answer");
    last.parts = (0..count)
        .map(|number| Part::ToolCall {
            id: format!("call_{number}"),
            name: "subagent".into(),
            arguments: r#"{"title": "look", "task": "look around"}"#.into(),
            sent: None,
        })
        .collect();
    tell(&mut app, Event::Snapshot(Box::new(snapshot)), Some("3"));
    drop(press(&mut app, "alt+up", NOW_MS));
    app
}

#[test]
fn key_on_an_answer_opens_the_subagent_that_it_started() {
    let mut app = delegated(1);
    let answer = app.tab().view.selected().expect("it is selected").to_owned();
    let acts = press(&mut app, "s", NOW_MS + LATER);
    let named = acts.iter().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::Info(of) => Some(of.conversation.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(named, Some(format!("{answer}-1")), "{acts:?}");
    assert_eq!(app.tabs.len(), 2, "beside this conversation");
}

#[test]
fn key_on_an_answer_with_several_subagents_opens_the_tree() {
    let mut app = delegated(2);
    let acts = press(&mut app, "s", NOW_MS + LATER);
    assert_eq!(app.context(), Context::Tree);
    let line = |title: &str, running| SubagentLine {
        conversation: format!("0199a000-{title}"),
        title: format!("subagent: {title}"),
        entry: "0199a000-e".into(),
        call: "0199a000-e-1".into(),
        running,
    };
    let subagents = vec![line("look around", true), line("count", false)];
    answer(&mut app, acts, &|request| match request {
        Request::Tree(_) => Some(Reply::Tree(Tree {
            head: "1.2".into(),
            branches: (0..1).map(branch).collect(),
            forks: Vec::new(),
            subagents: subagents.clone(),
            more: false,
        })),
        _ => owner(request),
    });
    insta::assert_snapshot!(looks(&mut app));
}

#[test]
fn key_on_an_answer_without_subagents_says_so() {
    let mut app = delegated(0);
    drop(press(&mut app, "s", NOW_MS + LATER));
    assert!(looks(&mut app).contains("it has started no subagent"));
}
