//! Typed commands: by their beginnings, and what they name.

use retake_wire::Action;

use super::*;

/// Types a line and sends it, with the list of completions closed.
fn types(app: &mut App, line: &str) -> Vec<Act> {
    drop(app.on(Msg::Paste(line.to_owned()), NOW_MS));
    app.tab_mut().composer.escape();
    press(app, "enter", NOW_MS)
}

#[test]
fn a_command_is_done_by_a_beginning_that_only_it_has() {
    for (line, context) in
        [("/perm", Context::Pane), ("/op", Context::Ops), (":tre", Context::Tree), ("/re", Context::Talk)]
    {
        let mut app = talking(Theme::default());
        drop(types(&mut app, line));
        assert_eq!(app.context(), context, "{line}");
    }
    let mut app = talking(Theme::default());
    drop(types(&mut app, "/perm plan"));
    assert!(looks(&mut app).contains("the agent may now"), "{}", looks(&mut app));
    let mut app = talking(Theme::default());
    drop(types(&mut app, "/hid"));
    assert!(looks(&mut app).contains("/hid may be /hide or /hidden"), "{}", looks(&mut app));
    assert_eq!(app.tab().composer.text(), "/hid", "it can be gone on with");
    drop(types(&mut app, "e"));
    assert!(looks(&mut app).contains("name a message"), "its own name is no beginning: {}", looks(&mut app));
}

#[test]
fn an_operation_is_named_by_the_number_that_the_list_shows() {
    for (line, head) in
        [("/restore 2", Some("2.2")), ("/restore before 2", Some("1.2")), ("/restore 1.4", Some("1.4"))]
    {
        let mut app = talking(Theme::default());
        let acts = types(&mut app, line);
        let planned = std::cell::RefCell::new(None);
        answer(&mut app, acts, &|request| {
            if let Request::Plan(of) = request {
                *planned.borrow_mut() = Some(of.action.clone());
            }
            if let Request::Ops(page) = request {
                assert_eq!((page.before, page.limit), (Some(3), Some(1)));
                let operations = vec![operation(2)];
                return Some(Reply::Operations(Operations { head: "3.2".into(), operations, more: true }));
            }
            owner(request)
        });
        let restore = head.map(|head| Action::Restore { head: head.to_owned() });
        assert_eq!(planned.into_inner(), restore, "{line}");
    }
    for (line, says) in
        [("/restore 9", "there is no operation 9"), ("/restore it", "name an operation by its number")]
    {
        let mut app = talking(Theme::default());
        let acts = types(&mut app, line);
        answer(&mut app, acts, &owner);
        assert!(looks(&mut app).contains(says), "{}", looks(&mut app));
    }
}
