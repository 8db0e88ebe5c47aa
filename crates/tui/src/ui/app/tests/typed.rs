//! Typed commands: by their beginnings, and what they name.

use retake_wire::{Action, Mode};

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
    assert!(looks(&mut app).contains("mode plan: reads, and does nothing else"), "{}", looks(&mut app));
    let mut app = talking(Theme::default());
    drop(types(&mut app, "/hid"));
    assert!(looks(&mut app).contains("/hid may be /hide or /hidden"), "{}", looks(&mut app));
    assert_eq!(app.tab().composer.text(), "");
    drop(press(&mut app, "up", NOW_MS));
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

#[test]
fn a_refused_command_says_what_was_meant_and_up_brings_it_back() {
    for (line, says) in [
        ("/clear", "there is no command /clear: did you mean /new?"),
        ("/exit", "there is no command /exit: did you mean /quit?"),
        ("/resume", "there is no command /resume: did you mean /list?"),
        ("/hlep", "there is no command /hlep: did you mean /help?"),
        ("/history", "there is no command /history here; in a shell: `retake log`"),
        ("/fold t1", "there is no command /fold here; in a shell: `retake fold`"),
        ("/config", "there is no command /config here; in a shell: `retake config`"),
    ] {
        let mut app = talking(Theme::default());
        drop(types(&mut app, line));
        assert!(looks(&mut app).contains(says), "{}", looks(&mut app));
        assert_eq!(app.tab().composer.text(), "", "what is typed next is not added to it");
        drop(press(&mut app, "up", NOW_MS));
        assert_eq!(app.tab().composer.text(), line);
    }
    let mut app = talking(Theme::default());
    drop(types(&mut app, "/clear"));
    drop(types(&mut app, "hello"));
    assert!(!looks(&mut app).contains("there is no command"), "it is about the line before");
    let mut app = talking(Theme::default());
    drop(types(&mut app, "/alternatives"));
    assert!(!looks(&mut app).contains("there is no command"), "an earlier name still works");
}

/// The modes that are requested by pressing the key in each mode.
fn next_modes(app: &mut App) -> Vec<Mode> {
    let mode = |act: Act| match act {
        Act::Ask(_, request) => match *request {
            Request::SetPermissions(set) => set.mode,
            _ => None,
        },
        _ => None,
    };
    let next = |now: Mode| {
        app.tab_mut().talk.permissions.mode = now;
        press(app, "shift+tab", NOW_MS).into_iter().find_map(mode).expect("a request")
    };
    Mode::ALL.into_iter().map(next).collect()
}

#[test]
fn a_key_goes_to_the_next_permission_mode_and_never_to_the_one_that_allows_all() {
    let mut app = talking(Theme::default());
    assert_eq!(next_modes(&mut app), [Mode::AllowEdits, Mode::Plan, Mode::Ask, Mode::Ask]);
    assert!(looks(&mut app).contains("mode ask: reads in the workspace"), "{}", looks(&mut app));
}

#[test]
fn a_mode_chosen_while_a_call_waits_is_for_the_next_call() {
    let mut app = asked(Theme::default());
    drop(press(&mut app, "shift+tab", NOW_MS + LATER));
    let screen = looks(&mut app);
    assert!(screen.contains("mode allow-edits, from the next call on: reads and writes files"), "{screen}");
}

#[test]
fn command_chosen_in_the_help_runs_and_one_that_needs_words_goes_into_the_composer() {
    let choose = |filter: &str| {
        let mut app = talking(Theme::default());
        drop(app.on(Msg::Paste("half a message".to_owned()), NOW_MS));
        drop(press(&mut app, "f1", NOW_MS));
        drop(looks(&mut app));
        drop(app.on(Msg::Paste(filter.to_owned()), NOW_MS));
        drop(looks(&mut app));
        drop(press(&mut app, "enter", NOW_MS));
        app
    };
    assert_eq!(choose("branches").context(), Context::Tree);
    let mut app = choose("as if it were deleted");
    assert_eq!((app.context(), app.tab().composer.text()), (Context::Talk, "/hide ".to_owned()));
    app.tab_mut().composer.escape();
    drop(press(&mut app, "alt+d", NOW_MS));
    assert_eq!(app.tab().composer.text(), "half a message", "it was moved aside");
}

#[test]
fn memory_is_changed_in_the_conversation_and_other_words_look_facts_up() {
    let rows = [
        ("/memory add the port is 80", "Remember, the port is 80"),
        ("/memory edit 4f1c the port is 81", "EditMemory 4f1c, the port is 81"),
        ("/memory forget 4f1c", "Forget 4f1c"),
        ("/memory port", "ListMemory port"),
        ("/memory", "ListMemory "),
        ("/memory add", ""),
    ];
    for (typed, expected) in rows {
        let mut app = talking(Theme::default());
        let acts = types(&mut app, typed);
        let sent = std::cell::RefCell::new(String::new());
        answer(&mut app, acts, &|request| {
            *sent.borrow_mut() = match request {
                Request::Remember(it) => format!("Remember, {}", it.text),
                Request::EditMemory(it) => format!("EditMemory {}, {}", it.fact, it.text),
                Request::Forget(it) => format!("Forget {}", it.fact),
                Request::ListMemory(it) => format!("ListMemory {}", it.query.clone().unwrap_or_default()),
                other => return owner(other),
            };
            None
        });
        assert_eq!(*sent.borrow(), expected, "{typed}");
    }
}

#[test]
fn fact_before_the_first_message_is_refused_and_its_words_return() {
    let mut app = app(Theme::default());
    drop(types(&mut app, "/memory add the port is 80"));
    assert!(looks(&mut app).contains("a fact belongs to a conversation: say something first"));
    assert_eq!(app.tab().composer.text(), "/memory add the port is 80");
}

#[test]
fn checkpoint_is_reported_when_it_is_saved() {
    let mut app = talking(Theme::default());
    let acts = types(&mut app, "/checkpoint before lunch");
    answer(&mut app, acts, &|request| match request {
        Request::Checkpoint(checkpoint) => {
            assert_eq!(checkpoint.name, "before lunch");
            Some(Reply::Captures(retake_wire::reply::Captures { captures: Vec::new(), more: false }))
        }
        other => owner(other),
    });
    assert!(
        looks(&mut app).contains("the state of the folder is saved as “before lunch”"),
        "{}",
        looks(&mut app)
    );
}
