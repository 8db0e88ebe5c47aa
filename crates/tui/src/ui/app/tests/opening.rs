//! Text typed while a conversation is being opened, and drafts of other terminals: everything is stored where it belongs.

use retake_wire::reply::Draft;
use retake_wire::request::{SetDraft, SetDraftIn};
use retake_wire::{Part, Problem, ProblemKind};

use super::*;
use crate::ui::msg::Ticket;

/// The UI after opening, and its first requests.
fn started(start: Start) -> (App, Vec<Act>) {
    let known = StartInfo { folder: "/work".into(), version: "1.2.3".into(), model: Some("demo".into()) };
    let mut app = App::new(known, start, Settings::default(), Keymap::default(), Theme::default(), NOW_MS);
    let acts = app.begin();
    (app, acts)
}

fn ticket(acts: &[Act], is_it: impl Fn(&Request) -> bool) -> Option<Ticket> {
    acts.iter().find_map(|act| match act {
        Act::Ask(ticket, request) if is_it(request) => Some(*ticket),
        _ => None,
    })
}

fn draft(words: &str, edits: Option<&str>) -> Reply {
    let parts = vec![Part::text(words)];
    Reply::Draft(Draft {
        author: "ada".to_owned(),
        parts,
        edits: edits.map(str::to_owned),
        ..Draft::default()
    })
}

/// A conversation arrives, with this draft; returns the next acts.
fn told(app: &mut App, reply: Reply) -> Vec<Act> {
    let Reply::Entries(Entries { entries, .. }) = entries("0199a000-c", &[(Role::User, "hello")]) else {
        panic!("entries")
    };
    let snapshot =
        Snapshot { conversation: conversation("0199a000-c", None, "hello", 1), entries, ..snapshot() };
    let told = NumberedEvent { id: Some("3".into()), event: Event::Snapshot(Box::new(snapshot)) };
    let acts = app.on(Msg::Told(Some(TabId(1)), Box::new(told)), NOW_MS);
    let asked = ticket(&acts, |request| matches!(request, Request::ClaimDraft(_))).expect("it asks");
    drop(app.on(Msg::Replied(asked, Box::new(Ok(reply))), NOW_MS));
    app.on(Msg::Tick, NOW_MS + LATER)
}

fn kept_in_folder(acts: &[Act]) -> Option<SetDraftIn> {
    acts.iter().rev().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::SetDraftIn(set) => Some(set.clone()),
            _ => None,
        },
        _ => None,
    })
}

fn kept(acts: &[Act]) -> Option<SetDraft> {
    acts.iter().rev().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::SetDraft(set) => Some(set.clone()),
            _ => None,
        },
        _ => None,
    })
}

fn paste(app: &mut App, text: &str) -> Vec<Act> {
    let mut acts = app.on(Msg::Paste(text.to_owned()), NOW_MS);
    acts.extend(app.on(Msg::Tick, NOW_MS + LATER));
    acts
}

fn text(app: &App) -> String {
    app.tab().composer.text()
}

#[test]
fn text_typed_while_a_conversation_opens_belongs_to_it() {
    for start in [Start::GoOn, Start::In("0199a000-c".into())] {
        let (mut app, acts) = started(start.clone());
        assert_eq!(kept_in_folder(&paste(&mut app, "and more")), None, "{start:?}");
        let sent = press(&mut app, "enter", NOW_MS + LATER);
        assert!(!sent.iter().any(|act| matches!(act, Act::Run(..))), "it begins no conversation: {sent:?}");
        answer(&mut app, acts, &|request| match request {
            Request::List(_) => Some(Reply::Conversations(retake_wire::reply::Conversations {
                conversations: vec![conversation("0199a000-c", None, "hello", 1)],
                more: false,
                ..Default::default()
            })),
            Request::Info(_) => Some(Reply::Conversation(conversation("0199a000-c", None, "hello", 1))),
            _ => None,
        });
        assert_eq!(text(&app), "and more", "{start:?}");
        let acts = told(&mut app, draft("half a thought", None));
        assert_eq!(text(&app), "half a thought\n\nand more", "{start:?}");
        let set = kept(&acts).expect("it is kept");
        assert_eq!(set.parts, [Part::text("half a thought\n\nand more")]);
        assert_eq!(set.instead_of, Some(vec![Part::text("half a thought")]));
        assert_eq!(kept_in_folder(&acts), None, "{start:?}");
    }
}

#[test]
fn text_for_a_missing_conversation_becomes_the_draft_of_the_folder() {
    let problem = || Problem {
        code: "x".into(),
        kind: ProblemKind::Refused,
        message: "there is no such conversation".to_owned(),
        ..Problem::default()
    };
    let (mut app, acts) = started(Start::In("nope".into()));
    drop(paste(&mut app, "words"));
    let asked = ticket(&acts, |request| matches!(request, Request::Info(_))).expect("it asks");
    let acts = app.on(Msg::Replied(asked, Box::new(Err(problem()))), NOW_MS);
    assert_eq!(text(&app), "words");
    let asked = ticket(&acts, |request| matches!(request, Request::ClaimDraftIn(_))).expect("it asks");
    let acts = app.on(Msg::Replied(asked, Box::new(Ok(draft("older", None)))), NOW_MS);
    let set = kept_in_folder(&acts).expect("it is kept");
    assert_eq!(set.parts, [Part::text("older"), Part::text("words")]);
}

#[test]
fn draft_stays_with_its_conversation_when_another_one_opens() {
    let mut app = talking(Theme::default());
    app.take_draft(TabId(1), Draft::default());
    drop(app.on(Msg::Paste("for the first".to_owned()), NOW_MS));
    app.want(TabId(1), PaneInstruction::Show { conversation: "0199a000-d".into(), entry: None });
    let acts = app.begin();
    let set = kept(&acts).expect("it is kept");
    assert_eq!(
        (set.conversation.as_str(), &set.parts[..]),
        ("0199a000-c", &[Part::text("for the first")][..])
    );
    assert_eq!(text(&app), "");
    drop(app.on(Msg::Paste("for the second".to_owned()), NOW_MS));
    assert_eq!(kept(&app.on(Msg::Tick, NOW_MS + LATER)), None);
    let other = conversation("0199a000-d", None, "other", 1);
    answer(&mut app, acts, &|request| match request {
        Request::Info(_) => Some(Reply::Conversation(other.clone())),
        _ => None,
    });
    assert_eq!(text(&app), "for the second");
    assert_eq!(app.conversation(), Some("0199a000-d"));
}

#[test]
fn draft_that_edits_a_message_is_stored_as_such() {
    let mut app = talking(Theme::default());
    app.take_draft(TabId(1), Draft::default());
    let entry = app.tab().talk.entries[0].id.clone();
    let parts = vec![Part::text("what is 6 times 7?")];
    let files = retake_wire::FileOptions::default();
    let (head, takes_back) = ("1.4".to_owned(), "2 turns, 1 file".to_owned());
    app.want(TabId(1), PaneInstruction::Rewrite { entry: entry.clone(), head, parts, files, takes_back });
    let acts = paste(&mut app, " Or 8?");
    let set = kept(&acts).expect("it is kept");
    assert_eq!(set.parts, [Part::text("what is 6 times 7? Or 8?")]);
    assert_eq!(set.edits.as_ref(), Some(&entry));
    // The next UI says what this text is.
    let mut next = talking(Theme::default());
    let draft = Draft { parts: set.parts.clone(), edits: set.edits.clone(), ..Draft::default() };
    next.take_draft(TabId(1), draft);
    let seen = screen(80, 24, |frame| next.draw(frame));
    assert!(seen.contains("written to replace t1") && seen.contains("/edit t1"), "{seen}");
    let set = kept(&paste(&mut next, "!")).expect("kept again");
    assert_eq!(set.edits, Some(entry), "as what they are");
    // Leaving them takes them back.
    drop(press(&mut app, "esc", NOW_MS));
    let own = ticket(&acts, |request| matches!(request, Request::SetDraft(_))).expect("asked");
    let acts = app.on(Msg::Replied(own, Box::new(Ok(Reply::Done))), NOW_MS);
    let acts = Iterator::chain(acts.into_iter(), app.on(Msg::Tick, NOW_MS + LATER)).collect::<Vec<_>>();
    let set = kept(&acts).expect("kept");
    assert_eq!((set.parts, set.edits), (Vec::new(), None));
}

#[test]
fn draft_replaces_only_the_draft_that_was_stored_before() {
    let (mut app, acts) = started(Start::New);
    let asked = ticket(&acts, |request| matches!(request, Request::ClaimDraftIn(_))).expect("it asks");
    drop(app.on(Msg::Replied(asked, Box::new(Ok(draft("older", None)))), NOW_MS));
    let first = paste(&mut app, " one");
    let set = kept_in_folder(&first).expect("kept");
    assert_eq!((set.parts, set.instead_of), (vec![Part::text("older one")], Some(vec![Part::text("older")])));
    // Two more while that one is on its way: the owner never has the first of them.
    assert_eq!(kept_in_folder(&paste(&mut app, " two")), None);
    assert_eq!(kept_in_folder(&paste(&mut app, " three")), None);
    let on_its_way = ticket(&first, |request| matches!(request, Request::SetDraftIn(_))).expect("asked");
    let acts = app.on(Msg::Replied(on_its_way, Box::new(Ok(Reply::Done))), NOW_MS);
    let set = kept_in_folder(&acts).expect("kept");
    assert_eq!(set.parts, [Part::text("older one two three")]);
    assert_eq!(set.instead_of, Some(vec![Part::text("older one")]));
}

#[test]
fn last_conversation_of_the_folder_is_on_the_first_screen_and_a_key_continues_it() {
    let (mut app, acts) = started(Start::New);
    let list = ticket(&acts, |request| matches!(request, Request::List(_))).expect("it asks");
    let conversations = vec![conversation("0199a000-c", Some("the parser"), "hello", 1)];
    let page = retake_wire::reply::Conversations { conversations, more: false, ..Default::default() };
    drop(app.on(Msg::Replied(list, Box::new(Ok(Reply::Conversations(page)))), NOW_MS));
    let seen = looks(&mut app);
    assert!(seen.contains("Alt+L") && seen.contains("continue “the parser”"), "{seen}");
    let acts = press(&mut app, "alt+l", NOW_MS);
    assert!(
        ticket(&acts, |request| matches!(request, Request::Info(of) if of.conversation == "0199a000-c"))
            .is_some()
    );
    let (mut app, _) = started(Start::New);
    drop(press(&mut app, "alt+l", NOW_MS));
    assert!(
        looks(&mut app).contains("there is no earlier conversation in this folder"),
        "{}",
        looks(&mut app)
    );
}

#[test]
fn the_key_that_continues_replaces_no_conversation() {
    let mut app = talking(Theme::default());
    let acts = press(&mut app, "alt+l", NOW_MS);
    assert!(acts.iter().all(|act| !matches!(act, Act::Ask(..))), "{acts:?}");
    assert!(looks(&mut app).contains("this tab has a conversation"), "{}", looks(&mut app));
}

#[test]
fn a_folder_that_is_never_captured_is_named_on_the_first_screen() {
    let (mut app, acts) = started(Start::New);
    let list = ticket(&acts, |request| matches!(request, Request::List(_))).expect("it asks");
    let never_captured = Some(retake_wire::NoticeCause { code: "no_workspace".into(), ..Default::default() });
    let page = retake_wire::reply::Conversations { never_captured, ..Default::default() };
    drop(app.on(Msg::Replied(list, Box::new(Ok(Reply::Conversations(page)))), NOW_MS));
    let seen = screen(100, 20, |frame| app.draw(frame));
    assert!(seen.contains("files can't be changed or reverted here"), "{seen}");
}

#[test]
fn the_selection_ends_where_a_fork_opens_beside() {
    let mut app = talking(Theme::default());
    drop(press(&mut app, "alt+up", NOW_MS + LATER));
    assert_eq!(app.context(), Context::Select);
    let conversation = "0199a000-f".to_owned();
    app.want(TabId(1), PaneInstruction::ShowBeside { conversation, entry: None });
    app.command(Command::CloseTab, "");
    assert_eq!(app.context(), Context::Talk, "letters are written");
}
