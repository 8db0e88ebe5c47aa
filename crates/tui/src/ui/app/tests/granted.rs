//! Rules that a request offers: which one, what it allows, and that only a second key grants it.

use retake_wire::Decision;

use super::asked::{alone, answers, decided, text, types};
use super::*;
use crate::render::agent::{self, RuleExtent};

#[test]
fn wider_rule_is_chosen_and_described() {
    let mut app = talking(Theme::default());
    let rule = |what: Option<&str>| Rule {
        ruling: Ruling::Allow,
        tool: "shell".into(),
        what: what.map(str::to_owned),
    };
    let offers = vec![rule(Some("git push")), rule(Some("git")), rule(None)];
    ask_with(&mut app, "a1", "shell", offers.clone());
    let seen = screen(100, 30, |frame| app.draw(frame));
    for said in [
        "c Enter  allow every command that begins with “git push”, for this conversation",
        "a Enter  allow the same in every conversation, for good",
        "w Enter  wider: every command that begins with “git”",
    ] {
        assert!(seen.contains(said), "{said}: {seen}");
    }
    let mut at = NOW_MS + LATER;
    let mut wider = |app: &mut App| {
        at += LATER;
        assert_eq!(answers(app, "w", at), None);
        screen(100, 30, |frame| app.draw(frame))
    };
    assert!(
        wider(&mut app)
            .contains("c Enter  allow every command that begins with “git”, for this conversation")
    );
    let seen = wider(&mut app);
    assert!(seen.contains("c Enter  allow every command, for this conversation"), "{seen}");
    assert!(seen.contains("w Enter  narrower again: every command that begins with “git push”"), "{seen}");
    assert_eq!(decided(&press(&mut app, "c", NOW_MS + 9 * LATER)), None, "the widest one is asked about");
    let seen = screen(100, 30, |frame| app.draw(frame));
    assert!(seen.contains("grant this rule? It allows every command, for this conversation"), "{seen}");
    let said = decided(&press(&mut app, "enter", NOW_MS + 9 * LATER + 1_100));
    assert_eq!(said, Some(Decision::InConversation { rule: offers[2].clone() }));
}

/// The same key gives a narrow rule for one command and must not give the widest one for the next.
#[test]
fn the_widest_rule_is_never_the_first_that_is_offered() {
    let widest = Rule { ruling: Ruling::Allow, tool: "shell".into(), what: None };
    for (key, decision) in [
        ("c", Decision::InConversation { rule: widest.clone() }),
        ("a", Decision::Always { rule: widest.clone() }),
    ] {
        let mut app = talking(Theme::default());
        ask_with(&mut app, "a1", "shell", vec![widest.clone()]);
        let mut at = NOW_MS;
        let mut answer = |app: &mut App, key: &str| {
            at += LATER;
            answers(app, key, at)
        };
        let seen = screen(100, 30, |frame| app.draw(frame));
        assert!(!seen.contains("c Enter  allow") && !seen.contains("a Enter  allow"), "{seen}");
        assert!(seen.contains("w Enter  wider: every command\n"), "{seen}");
        for _ in 0..2 {
            assert_eq!(answer(&mut app, key), None, "{key}");
        }
        assert_eq!(answer(&mut app, "w"), None);
        let seen = screen(100, 30, |frame| app.draw(frame));
        assert!(seen.contains("c Enter  allow every command, for this conversation"), "{seen}");
        assert!(seen.contains("w Enter  narrower again: this call alone"), "{seen}");
        assert_eq!(answer(&mut app, key), Some(decision), "{key}");
    }
}

#[test]
fn rules_say_what_they_allow_and_where() {
    let said = |tool: &str, what: Option<&str>, place| {
        agent::allows(
            &Rule { ruling: Ruling::Allow, tool: tool.into(), what: what.map(str::to_owned) },
            place,
        )
    };
    let here = |tool, what| said(tool, what, RuleExtent::Here);
    assert_eq!(here("write", Some("**")), "writing every file in this folder, for this conversation");
    assert_eq!(
        here("edit", Some("src/**")),
        "editing every file in src/ of this folder, for this conversation"
    );
    assert_eq!(here("read", Some("/etc/**")), "reading every file in /etc/, for this conversation");
    assert_eq!(here("edit", Some("*.md")), "editing what fits *.md of this folder, for this conversation");
    assert_eq!(
        here("patch", None),
        "patching every file, also outside of this folder, for this conversation"
    );
    assert_eq!(here("fetch", Some("a.org")), "fetching from a.org, for this conversation");
    assert_eq!(here("shell", None), "every command, for this conversation");
    assert_eq!(here("notes_add", None), "every call of notes_add, for this conversation");
    assert_eq!(
        said("write", Some("**"), RuleExtent::Everywhere),
        "writing every file in the folder it works in, in every conversation, for good"
    );
}

#[test]
fn a_rule_for_good_needs_another_key_which_is_not_one_of_a_word() {
    // Typed slowly, each letter stands alone.
    let mut app = asked(Theme::default());
    assert_eq!(types(&mut app, "always ask", 900, NOW_MS + LATER), None);
    assert_eq!(text(&app), "always ask");
    for other in ["esc", "alt+s", "up", "a", "x"] {
        let mut app = asked(Theme::default());
        assert_eq!(alone(&mut app, "a", NOW_MS + LATER), None);
        assert_eq!(app.context(), Context::Grant);
        assert_eq!(alone(&mut app, other, NOW_MS + 2 * LATER), None, "{other}");
        assert_eq!(app.context(), Context::Asked, "{other}");
        assert_eq!(
            decided(&press(&mut app, "enter", NOW_MS + 2 * LATER + 1_100))
                .filter(|said| !matches!(said, Decision::Deny { .. })),
            None
        );
    }
    // An Enter directly behind it answers nothing: nobody has read the rule.
    let mut app = asked(Theme::default());
    assert_eq!(alone(&mut app, "a", NOW_MS + LATER), None);
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + LATER + 450)), None);
    assert!(shown(&mut app).contains("the rule was just shown"), "{}", shown(&mut app));
    let rule = Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some("**".into()) };
    let said = decided(&press(&mut app, "enter", NOW_MS + LATER + 1_100));
    assert_eq!(said, Some(Decision::Always { rule }));
}

#[test]
fn pasted_text_leaves_a_rule_that_waits_to_be_granted() {
    let mut app = asked(Theme::default());
    assert_eq!(alone(&mut app, "alt+a", NOW_MS + LATER), None);
    assert_eq!(app.context(), Context::Grant);
    drop(app.on(Msg::Paste("not that one".to_owned()), NOW_MS + 2 * LATER));
    assert_eq!(app.context(), Context::Asked);
    let said = decided(&press(&mut app, "enter", NOW_MS + 3 * LATER));
    assert_eq!(said, Some(Decision::Deny { words: Some("not that one".into()) }));
}

#[test]
fn the_rule_to_be_granted_in_every_size() {
    let mut shots = String::new();
    for (key, width, height) in [("a", 80, 24), ("a", 40, 12), ("alt+a", 80, 24), ("a", 20, 6)] {
        let mut app = asked(Theme::default());
        if key == "alt+a" {
            drop(app.on(Msg::Paste("half a sentence".to_owned()), NOW_MS + LATER - 900));
        }
        drop(screen(width, height, |frame| app.draw(frame)));
        if app.tab().view.hides_asked() {
            drop(press(&mut app, "alt+s", NOW_MS + LATER - 600));
            drop(screen(width, height, |frame| app.draw(frame)));
        }
        drop(press(&mut app, key, NOW_MS + LATER));
        drop(screen(width, height, |frame| app.draw(frame)));
        let seen = screen(width, height, |frame| app.draw(frame));
        shots.push_str(&format!("══ {key} {width}x{height}\n{seen}"));
    }
    insta::assert_snapshot!("rule_to_be_granted", shots);
}
