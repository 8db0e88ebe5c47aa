//! Tests: what no rule allows, though one seems to.

use std::collections::BTreeSet;

use super::*;

#[test]
fn only_deny_rules_of_an_unknown_folder_count() {
    let rules =
        ["allow shell(make)", "ask fetch", "deny write(/etc/**)"].map(|rule| rule.parse().expect("a rule"));
    for (mode, left) in [(Mode::Plan, Mode::Plan), (Mode::AllowAll, Mode::Ask), (Mode::Ask, Mode::Ask)] {
        let forbidding = Permission { mode, rules: rules.to_vec() }.forbidding();
        assert_eq!(forbidding, Permission { mode: left, rules: rules[1..].to_vec() });
    }
}

#[test]
fn a_guarded_path_is_allowed_by_a_rule_that_names_paths_and_by_no_other() {
    for (rule, allows) in [
        ("allow write(.env)", true),
        ("allow write(src/**)", false),
        ("allow write", false),
        ("ask write(.env)", false),
        ("deny write(.env)", false),
        ("allow edit(.env)", false),
    ] {
        let permission = Permission { mode: Mode::AllowAll, rules: vec![rule.parse().expect("a rule")] };
        let found = permission.allows_by_name("write", Path::new("/work/.env"), &["/work".into()]);
        assert_eq!(found, allows, "{rule}");
    }
}

#[test]
fn a_bad_rule_says_why() {
    let why = |text: &str| text.parse::<Rule>().expect_err(text).why();
    let wrong = ["shell", "allow", "allow shell(", "allow shell()", "allow sh/ell", "allow a\nb"];
    let reasons =
        ["no_ruling", "no_tool", "open_bracket", "empty_brackets", "tool_name", "control_character"];
    assert_eq!(wrong.map(|text| why(text).name()), reasons);
    let texts: BTreeSet<_> = wrong.iter().map(|text| why(text).text()).collect();
    assert_eq!(texts.len(), wrong.len(), "{texts:?}");
}

#[test]
fn a_host_that_readers_may_take_for_another_is_allowed_by_no_rule() {
    let rules: &[&str] = &["allow fetch(example.org)"];
    check(&[
        ("ask", rules, "get https://example.org/x", "allow"),
        ("ask", rules, "get https:///example.org/x", "ask"),
        ("ask", rules, "get https://exam\tple.org/x", "ask"),
        ("ask", rules, "get https://example.org\\@evil.test/", "ask"),
        ("ask", &["deny fetch(example.org)"], "get https:///example.org/x", "deny"),
    ]);
}

#[test]
fn plan_mode_refuses_what_writes_also_where_its_class_says_that_nothing_stays() {
    for (touch, ruling) in [
        (CallTarget::Write(PathBuf::from(ROOT).join("a")), Ruling::Deny),
        (CallTarget::Read(PathBuf::from(ROOT).join("a")), Ruling::Allow),
    ] {
        let intent =
            Intent { class: EffectClass::None, touches: vec![touch], line: String::new(), detail: None };
        assert_eq!(permission("plan", &[]).settle("tool", &intent, &roots()).ruling(), ruling);
    }
}
