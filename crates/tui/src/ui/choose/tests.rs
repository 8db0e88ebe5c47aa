//! Tests of the pickers, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{Alternative, Commands, Line, Model, ScopedRule};
use retake_wire::{ModelCause, Role, Ruling, SandboxCause, SandboxFact, UnavailableCause};

use super::*;
use crate::ui::testing::{NOW_MS, World, conversation, every_key, problem, sizes, themes};

fn model(name: &str, key: Option<&str>, priced: bool) -> Model {
    Model {
        name: name.to_owned(),
        unavailable_cause: key.map(|it| UnavailableCause::KeyNotSet { variable: it.to_owned() }),
        context_tokens: priced.then_some(200_000),
        input_price: priced.then_some(3.0),
        output_price: priced.then_some(15.0),
        ..Model::default()
    }
}

fn all_models() -> Reply {
    Reply::Models(Models {
        default: "anthropic/large".to_owned(),
        cause: ModelCause::Settings,
        models: vec![
            model("anthropic/large", None, true),
            model("local/小さい", None, false),
            model("openai/large", Some("OPENAI_API_KEY"), true),
        ],
        ..Models::default()
    })
}

fn may(mode: Mode) -> Permissions {
    let rule = |ruling, tool: &str, what: Option<&str>| Rule {
        ruling,
        tool: tool.to_owned(),
        what: what.map(str::to_owned),
    };
    Permissions {
        mode,
        rules: vec![
            ScopedRule { rule: rule(Ruling::Deny, "shell", Some("rm -rf \x1b[2J")), for_good: true },
            ScopedRule { rule: rule(Ruling::Allow, "shell", Some("cargo test")), for_good: false },
        ],
        commands: Commands::Asking,
        ..Permissions::default()
    }
}

fn answers() -> Reply {
    let one = |number: usize, current, preview: &str| Alternative {
        number,
        current,
        line: Line {
            id: format!("a{number}"),
            role: Role::Assistant,
            time_ms: NOW_MS - 600_000,
            preview: preview.to_owned(),
            ran_by: None,
            synthetic: false,
        },
    };
    let all =
        vec![one(1, false, "The tests fail because of 漢字."), one(2, true, "They fail because of time.")];
    Reply::Alternatives(Alternatives { head: "3.9".to_owned(), alternatives: all, more: false })
}

/// This many hidden messages, after this many earlier ones.
fn hidden(from: usize, to: usize, more: bool) -> Reply {
    let one = |number: usize| Marked {
        mark: [Mark::Hidden, Mark::Excluded, Mark::Dropped][number % 3],
        turn: (200 - number) as u64,
        counts: retake_wire::reply::Counts { messages: 1 + (number % 2) as u64, calls: 0, turns: 1 },
        line: Line {
            id: format!("m{number}"),
            role: if number.is_multiple_of(2) { Role::User } else { Role::Assistant },
            time_ms: NOW_MS - 60_000 * number as i64,
            preview: format!("words \x1b[2J漢字 {number}"),
            ran_by: None,
            synthetic: false,
        },
        last: if number.is_multiple_of(2) { format!("m{number}") } else { format!("m{number}-last") },
        marked_ms: (!number.is_multiple_of(3)).then_some(NOW_MS - 1_000 * number as i64),
    };
    let marked = (from..to).map(one).collect();
    Reply::Marked(retake_wire::reply::MarkedPage { head: "3.9".to_owned(), marked, more })
}

fn owner(request: &Request) -> Option<Result<Reply, Problem>> {
    Some(Ok(match request {
        Request::Models => all_models(),
        Request::Permissions(_) => Reply::Permissions(may(Mode::AllowEdits)),
        Request::SetPermissions(set) => {
            let mut left = may(Mode::AllowEdits);
            left.rules.retain(|settled| !set.remove.contains(&settled.rule));
            Reply::Permissions(left)
        }
        Request::Alternatives(_) => answers(),
        Request::Marked(_) => hidden(0, 3, false),
        _ => return None,
    }))
}

fn opened(mut choose: Choose) -> (Choose, World) {
    let mut world = World { conversation: Some(conversation("c1", None, "a talk", 3)), ..World::default() };
    choose.opened(&mut world.cx());
    (choose, world)
}

fn filled(choose: Choose) -> (Choose, World) {
    let (mut choose, mut world) = opened(choose);
    world.answer(&mut choose, owner);
    (choose, world)
}

fn answer() -> request::Alternatives {
    request::Alternatives {
        conversation: "c1".to_owned(),
        entry: "a2".to_owned(),
        limit: Some(request::LARGEST_PAGE),
        after: None,
    }
}

#[test]
fn choices_in_every_size() {
    insta::assert_snapshot!("models", sizes(&mut filled(models(Some("local/小さい".to_owned()))).0));
    insta::assert_snapshot!("permissions", sizes(&mut filled(permissions(may(Mode::Ask), None)).0));
    insta::assert_snapshot!("alternatives", sizes(&mut filled(alternatives(answer())).0));
}

#[test]
fn choices_in_every_theme() {
    let (mut choose, mut world) = filled(models(None));
    insta::assert_snapshot!("theme_models", themes(&mut choose, 80, 8));
    world.press(&mut choose, "l a r g e");
    insta::assert_snapshot!("theme_filtered", themes(&mut choose, 80, 8));
}

#[test]
fn loading_empty_and_failed_lists_are_shown() {
    let (mut choose, mut world) = opened(models(None));
    insta::assert_snapshot!("loading", sizes(&mut choose));
    world.answer(&mut choose, |_| Some(Err(problem("the models can't be listed"))));
    insta::assert_snapshot!("wrong", sizes(&mut choose));
    let (mut choose, mut world) = opened(alternatives(answer()));
    let none = || Alternatives { head: "3.9".to_owned(), alternatives: Vec::new(), more: false };
    world.answer(&mut choose, |_| Some(Ok(Reply::Alternatives(none()))));
    insta::assert_snapshot!("empty", sizes(&mut choose));
    let (mut choose, mut world) = filled(models(None));
    world.press(&mut choose, "z z z");
    insta::assert_snapshot!("without_hits", sizes(&mut choose));
}

#[test]
fn available_model_can_be_chosen() {
    let (mut choose, mut world) = filled(models(Some("local/小さい".to_owned())));
    world.press(&mut choose, "end enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(why)) if why.contains("OPENAI_API_KEY")));
    for (keys, name) in [("up enter", Some("local/小さい")), ("home enter", None)] {
        world.press(&mut choose, keys);
        assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
        let Some(PaneInstruction::Model(model)) = world.wants.pop() else { panic!("a model is wanted") };
        assert_eq!(model.as_deref(), name);
    }
}

#[test]
fn mode_can_be_chosen_before_the_conversation_begins() {
    let (mut choose, mut world) = filled(permissions(may(Mode::Ask), None));
    let now = |choose: &Choose| choose.rows.items().find(|it| it.now).map(|it| it.name.clone());
    assert_eq!(now(&choose).as_deref(), Some("allow-edits"), "what the owner says counts");
    world.press(&mut choose, "home down down enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Mode(Mode::AllowAll))));
    let mut world = World::default();
    let mut choose = permissions(may(Mode::Ask), Some(Mode::Plan));
    choose.opened(&mut world.cx());
    assert_eq!((now(&choose).as_deref(), world.asked().len()), (Some("plan"), 0));
    world.press(&mut choose, "end enter enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))), "there is no conversation to change");
}

#[test]
fn trial_30_rule_that_denies_a_command_says_what_it_cannot_stop_and_weak_sandboxes_are_reported() {
    let weaknesses = vec![SandboxFact::NoNamespaces { cause: SandboxCause::Unsupervised }];
    let weak = move |request: &Request| match request {
        Request::Permissions(_) => {
            Some(Ok(Reply::Permissions(Permissions { weaknesses: weaknesses.clone(), ..may(Mode::Ask) })))
        }
        other => owner(other),
    };
    let (mut choose, mut world) = opened(permissions(may(Mode::Ask), None));
    world.answer(&mut choose, weak);
    let told = |choose: &Choose| choose.below(300, 20).join(" ");
    world.press(&mut choose, "end up");
    assert!(told(&choose).contains("can't stop a script"), "{}", told(&choose));
    assert!(told(&choose).contains("no namespaces of their own"), "{}", told(&choose));
    world.press(&mut choose, "end");
    assert!(!told(&choose).contains("can't stop a script"), "an allowed one: {}", told(&choose));
}

#[test]
fn a_rule_goes_when_it_is_picked_twice() {
    let (mut choose, mut world) = filled(permissions(may(Mode::Ask), None));
    world.press(&mut choose, "end enter");
    insta::assert_snapshot!(sizes(&mut choose));
    world.press(&mut choose, "esc");
    assert!(world.wants.is_empty(), "it only thinks better of it");
    world.press(&mut choose, "enter up end enter x backspace");
    assert_eq!((world.asked().len(), choose.armed.as_ref()), (0, None), "any other key does, too");
    world.press(&mut choose, "end enter enter");
    world.answer(&mut choose, owner);
    assert_eq!(choose.rows.items().filter(|it| matches!(it.pick, Pick::Rule(_))).count(), 1);
    world.press(&mut choose, "end enter enter");
    world.answer(&mut choose, |_| Some(Err(problem("the settings can't be written"))));
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Complain(_))));
}

#[test]
fn retry_shows_its_plan_first() {
    let (mut choose, mut world) = filled(alternatives(answer()));
    world.press(&mut choose, "enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))), "it is shown already");
    world.press(&mut choose, "up enter");
    let Some(PaneInstruction::Plan("Choose", action)) = world.wants.pop() else { panic!("a plan is wanted") };
    assert_eq!(*action, Action::Choose { entry: "a2".to_owned(), number: 1 });
    choose.changed(&mut world.cx());
    assert_eq!(world.asked().len(), 1);
}

#[test]
fn hidden_messages_are_listed_and_shown_again_by_a_plan() {
    let (mut choose, mut world) = filled(marked());
    insta::assert_snapshot!("hidden", sizes(&mut choose));
    for (keys, title, verb, mark, range) in [
        ("enter", "Show", MarkVerb::Show, "hidden", &["m0"][..]),
        ("down enter", "Include", MarkVerb::Include, "excluded", &["m1", "m1-last"]),
        ("down enter", "Show", MarkVerb::Show, "dropped", &["m2"]),
    ] {
        world.press(&mut choose, keys);
        let Some(PaneInstruction::Plan(named, action)) = world.wants.pop() else {
            panic!("a plan is wanted")
        };
        let entries: Vec<_> = range.iter().map(|&id| id.to_owned()).collect();
        let wanted = Action::Mark { verb, range: range.len() > 1, entries, seen: Some(mark.to_owned()) };
        assert_eq!((named, *action), (title, wanted));
    }
    let (mut choose, mut world) = opened(marked());
    world.answer(&mut choose, |_| Some(Ok(hidden(0, 0, false))));
    insta::assert_snapshot!("nothing_hidden", sizes(&mut choose));
}

#[test]
fn message_with_a_mark_of_a_newer_owner_is_shown_again_whatever_its_mark_is() {
    let Reply::Marked(page) = hidden(0, 1, false) else { panic!("messages") };
    let newer = Marked { mark: Mark::Unknown, ..page.marked[0].clone() };
    let Pick::Marked(_, Action::Mark { seen, .. }) = super::hidden(newer, NOW_MS).pick else {
        panic!("a mark")
    };
    assert_eq!(seen, None);
}

#[test]
fn next_page_of_hidden_messages_loads_only_at_the_end() {
    let (mut choose, mut world) = opened(marked());
    world.answer(&mut choose, |_| Some(Ok(hidden(0, 100, true))));
    let _ = sizes(&mut choose);
    world.press(&mut choose, "down down up");
    assert!(world.acts.is_empty(), "no key costs a reading");
    world.press(&mut choose, "end home end");
    assert_eq!(world.acts.len(), 1, "one at a time");
    world.answer(&mut choose, |request| match request {
        Request::Marked(page) if page.before.as_deref() == Some("m99") => Some(Ok(hidden(100, 130, false))),
        _ => None,
    });
    assert_eq!(choose.rows.len(), 130);
    world.press(&mut choose, "end");
    assert!(world.acts.is_empty(), "there is no more");
    choose.changed(&mut world.cx());
    world.answer(&mut choose, |_| Some(Ok(hidden(1, 2, false))));
    assert_eq!(choose.rows.len(), 1, "what was brought back is gone from it");
}

#[test]
fn a_click_selects_and_a_second_one_takes() {
    let (mut choose, mut world) = filled(models(None));
    let _ = sizes(&mut choose);
    choose.clicked((5, 3).into(), &mut world.cx());
    choose.clicked((5, 3).into(), &mut world.cx());
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::Model(Some(name))) if name == "anthropic/large")
    );
}

#[test]
fn every_key_does_something() {
    let make = || {
        let (mut choose, mut world) = opened(models(None));
        let all = (0..60).map(|number| model(&format!("maker/model {number}"), None, false)).collect();
        let all = Models { default: "m".to_owned(), models: all, ..Models::default() };
        world.answer(&mut choose, |_| Some(Ok(Reply::Models(all.clone()))));
        let _ = sizes(&mut choose);
        world.press(&mut choose, "m down down down");
        (choose, world)
    };
    // There is no other part.
    every_key(make, &[Command::Other, Command::DetailUp, Command::DetailDown]);
}

#[test]
fn theme_is_shown_when_selected_and_stored_when_accepted() {
    let mut world = World::default();
    let mut pane = super::themes(&Themes::default(), Some("light"));
    pane.opened(&mut world.cx());
    insta::assert_snapshot!("themes_to_choose", sizes(&mut pane));
    world.press(&mut pane, "down");
    world.press(&mut pane, "enter");
    let wants: Vec<_> = world.wants.iter().map(|want| format!("{want:?}")).collect();
    assert_eq!(wants, [r#"Theme("ember", Shown)"#, r#"Theme("ember", Kept)"#, "Close"]);
    assert!(world.acts.is_empty(), "nobody is asked");
}

#[test]
fn the_theme_whose_name_is_typed_comes_first() {
    let mut world = World::default();
    let mut themes = Themes::default();
    assert!(themes.add(std::path::Path::new("mine.toml"), "# all my own").is_empty());
    let mut pane = super::themes(&themes, None);
    pane.opened(&mut world.cx());
    pane.typed("mine", &mut world.cx());
    world.wants.clear();
    world.press(&mut pane, "enter");
    assert_eq!(format!("{:?}", world.wants[0]), r#"Theme("mine", Kept)"#, "before what has its letters");
}
