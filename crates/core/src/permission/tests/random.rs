//! Properties of all permissions and calls.

use proptest::prelude::*;

use super::*;

fn calls() -> impl Strategy<Value = (String, Intent)> {
    let path = prop_oneof![
        "[ab]{1,2}(/[ab.]{1,2}){0,2}",
        "/(etc|srv/other|home/ada/p)/[ab]",
        Just("../x".to_owned())
    ];
    let word = prop_oneof![
        "[ab]{1,2}",
        "[$`;|&<>()'\"#\\\\ \n]{1,2}",
        Just("sudo".to_owned()),
        Just("sh -c".to_owned())
    ];
    let text = prop_oneof![
        path.clone().prop_map(|path| format!("read {path}")),
        (path.clone(), path).prop_map(|(one, other)| format!("write {one} {other}")),
        proptest::collection::vec(word, 1..6).prop_map(|words| format!("$ {}", words.join(" "))),
        "get https://[ab.@/\\\\]{1,8}",
        Just("mcp".to_owned()),
        Just("todo".to_owned()),
        Just("stop".to_owned()),
    ];
    text.prop_map(|text| call(&text))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let ruling = prop_oneof![Just(Ruling::Allow), Just(Ruling::Ask), Just(Ruling::Deny)];
    let tool = prop_oneof![Just("*"), Just("shell"), Just("write"), Just("read"), Just("fetch"), Just("no*")];
    let what =
        prop_oneof!["[ab*]{1,2}(/[ab*]{1,2}){0,2}", "/(etc|srv)/\\*\\*", "[ab] [ab]", Just("**".to_owned())];
    let rule = (ruling, tool, proptest::option::of(what));
    let rule = rule.prop_map(|(ruling, tool, what)| Rule { ruling, tool: tool.to_owned(), what });
    proptest::collection::vec(rule, 0..5)
}

fn modes_there_are() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Ask), Just(Mode::AllowEdits), Just(Mode::AllowAll), Just(Mode::Plan)]
}

proptest! {
    #[test]
    fn what_holds_of_all_permissions((tool, intent) in calls(), rules in rules(), more in rules(), mode in modes_there_are()) {
        let permission = Permission { mode, rules };
        let settle = |permission: &Permission| permission.settle(&tool, &intent, &roots()).ruling();
        let before = settle(&permission);
        for rule in more {
            let after = settle(&permission.with(&rule));
            if rule.ruling == Ruling::Allow {
                prop_assert!(after <= before, "an allowing rule makes nothing stricter");
                prop_assert_eq!(after == Ruling::Deny, before == Ruling::Deny);
            } else {
                prop_assert!(after >= before, "a strict rule makes nothing looser");
            }
            if rule.ruling == Ruling::Deny && rule.what.is_none() && glob::word(&rule.tool, &tool) {
                prop_assert_eq!(after, Ruling::Deny);
            }
        }
        if mode == Mode::Plan && intent.class != EffectClass::None {
            prop_assert_eq!(before, Ruling::Deny);
        }
        let offers = permission.offers(&tool, &intent, &roots());
        prop_assert!(before == Ruling::Ask || offers.is_empty());
        for offer in offers {
            prop_assert_eq!(settle(&permission.with(&offer)), Ruling::Allow);
            prop_assert_eq!(offer.to_string().parse::<Rule>(), Ok(offer));
        }
    }
}
