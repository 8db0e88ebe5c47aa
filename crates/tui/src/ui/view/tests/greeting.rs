//! The first screen of a conversation.

use super::*;

#[test]
fn nothing_said_yet() {
    let mut view = View::default();
    view.greeting.model = Some("acme/large".to_owned());
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (80, 14)));
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (24, 8)));
}

#[test]
fn nothing_said_yet_where_there_are_conversations() {
    let hour = 3_600_000;
    let recent = [
        ("fix the \x1b[31mparser", hour / 2),
        ("", hour),
        ("a very long name of a conversation about it", 30 * hour),
    ];
    let mut view = View::default();
    view.greeting.recent = recent.iter().map(|(name, ago)| ((*name).to_owned(), NOW_MS - ago)).collect();
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (80, 14)));
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (40, 9)));
}

#[test]
fn nothing_said_yet_in_a_folder_that_is_never_captured() {
    let mut view = View::default();
    view.greeting.limits = Some(retake_wire::english::never_captured(&home_folder()));
    view.greeting.place = Some("in /home/ada · ask".to_owned());
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (80, 16)));
    insta::assert_snapshot!(drawn(&mut view, &LoadedConversation::default(), (40, 12)));
}

fn home_folder() -> retake_wire::NoticeCause {
    let fields = [("path", "/home/ada"), ("detail", "it is the home folder, or holds it")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.into()));
    retake_wire::NoticeCause { code: "no_workspace".into(), fields: fields.into(), ..Default::default() }
}
