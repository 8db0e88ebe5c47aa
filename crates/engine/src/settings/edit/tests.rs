//! Tests of changes to a settings file: what they preserve, and what they refuse.

use super::super::WholeNumber;
use super::*;

#[test]
fn permanent_rule_is_added_once_and_can_be_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("settings.toml");
    let rule: Rule = "allow shell(git push)".parse().expect("a rule");
    let after = |text: Option<&str>, change: fn(&Path, &Rule) -> Result<(), SettingsError>| {
        text.into_iter().for_each(|text| std::fs::write(&file, text).expect("written"));
        change(&file, &rule).expect("changed");
        std::fs::read_to_string(&file).expect("there")
    };
    assert_eq!(after(None, add_rule), "[permissions]\nallow = [\"shell(git push)\"]\n");
    assert_eq!(after(None, add_rule), "[permissions]\nallow = [\"shell(git push)\"]\n");
    assert_eq!(Settings::parse(&after(None, remove_rule)).expect("valid"), Settings::default());
    let text = "# mine\n[permissions]\nallow = [\n  \"edit\", # edits\n]\n";
    let more = after(Some(text), add_rule);
    assert!(
        more.starts_with("# mine\n[permissions]\nallow = [\n  \"edit\",") && more.contains("# edits"),
        "{more}"
    );
    assert_eq!(Settings::parse(&more).expect("valid").permission().rules[1], rule);
    let less = Settings::parse(&after(None, remove_rule)).expect("valid");
    assert_eq!(less.permission(), Settings::parse(text).expect("valid").permission());
}

#[test]
fn a_rule_is_set_alone_or_with_others() {
    let one = set("", "permissions.deny", "shell(rm)").expect("set");
    assert_eq!(one, "[permissions]\ndeny = [\"shell(rm)\"]\n");
    assert_eq!(get(&one, "permissions.deny").expect("known").as_deref(), Some("[\"shell(rm)\"]"));
    let two = set("", "permissions.deny", "[\"edit\", \"write\"]").expect("set");
    assert_eq!(two, "[permissions]\ndeny = [\"edit\", \"write\"]\n");
    assert!(set("", "permissions.deny", "[\"shell(rm\"]").is_err());
}

#[test]
fn a_change_keeps_comments_and_other_lines() {
    let text = "# mine\n[retry]\n# why\ntries = 3 # three\n";
    let changed = set(text, "retry.tries", "5").expect("changed");
    assert_eq!(changed, "# mine\n[retry]\n# why\ntries = 5 # three\n");
    assert_eq!(get(&changed, "retry.tries").expect("known").as_deref(), Some("5"));
    let added = set(text, "models.openai/gpt-5.6.input_price", "2.5").expect("changed");
    assert!(
        added.starts_with(text) && added.contains("[models.\"openai/gpt-5.6\"]\ninput_price = 2.5"),
        "{added}"
    );
    assert_eq!(unset(&changed, "retry.tries").expect("changed"), "# mine\n[retry]\n# why\n");
}

/// What a person wrote stays where it is: above what is set, and when a setting goes.
#[test]
fn trial_16_comments_stay_where_they_are() {
    let rows = [
        ("# mine\n", "# mine\n\n[retry]\ntries = 9\n"),
        ("# mine\n\n", "# mine\n\n[retry]\ntries = 9\n"),
        ("# mine", "# mine\n\n[retry]\ntries = 9\n"),
        ("\n", "\n[retry]\ntries = 9\n"),
        ("", "[retry]\ntries = 9\n"),
        ("# mine\n[model]\n", "# mine\n[model]\n\n[retry]\ntries = 9\n"),
    ];
    for (before, after) in rows {
        assert_eq!(set(before, "retry.tries", "9").expect("set"), after, "{before:?}");
    }
    let all = set(&documented_defaults(), "retry.tries", "9").expect("set");
    assert!(all.starts_with(&documented_defaults()) && all.ends_with("\n\n[retry]\ntries = 9\n"), "{all}");
    let rule: Rule = "allow shell(ls)".parse().expect("a rule");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("config.toml");
    std::fs::write(&path, "# mine\n").expect("written");
    add_rule(&path, &rule).expect("remembered");
    let ruled = std::fs::read_to_string(&path).expect("read");
    assert_eq!(ruled, "# mine\n\n[permissions]\nallow = [\"shell(ls)\"]\n");
    let rows = [
        ("# mine\n[retry]\n# tries\ntries = 9 # many\n", "# mine\n[retry]\n# tries\n"),
        ("# mine\nretry.tries = 9\n# more\n", "# mine\n# more\n"),
        ("# mine\nretry.tries = 9", "# mine\n"),
        ("# mine\n\nretry = { tries = 9 } # all\n", "# mine\n\nretry = {} # all\n"),
        ("# mine\n[retry]\n", "# mine\n[retry]\n"),
    ];
    for (before, after) in rows {
        assert_eq!(unset(before, "retry.tries").expect("unset"), after, "{before:?}");
    }
}

#[test]
fn a_change_that_would_be_wrong_is_refused() {
    for (path, to) in
        [("retry.tries", "0"), ("retry.tries", "x"), ("retry.trise", "1"), ("endpoint.x.kind", "openai")]
    {
        assert!(set("", path, to).is_err(), "{path} = {to}");
    }
}

#[test]
fn get_falls_back_to_the_default_or_nothing() {
    assert_eq!(get("", "retry.tries").expect("known").as_deref(), Some("4"));
    assert_eq!(get("", "model.default").expect("known"), None);
    let text = "[model]\ndefault = \"a/b\"";
    assert_eq!(get(text, "model.default").expect("known").as_deref(), Some("a/b"));
    assert!(get("", "no.such").is_err());
}

#[test]
fn a_missing_file_means_the_defaults_and_a_saved_one_is_read_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("new/settings.toml");
    assert_eq!(Settings::load(&path).expect("defaults"), Settings::default());
    save(&path, "[retry]\ntries = 9\n").expect("saved");
    assert_eq!(Settings::load(&path).expect("read").retry.tries, WholeNumber(9));
}

#[test]
fn trial_16_a_link_to_the_settings_stays_a_link_also_before_there_is_a_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (link, file) = (dir.path().join("config.toml"), dir.path().join("dotfiles.toml"));
    std::os::unix::fs::symlink("dotfiles.toml", &link).expect("linked");
    let beside = dir.path().join("dotfiles.toml.new");
    std::fs::write(&beside, "somebody's").expect("written");
    for tries in [8, 9] {
        save(&link, &format!("[retry]\ntries = {tries}\n")).expect("saved");
        assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(Settings::load(&file).expect("read").retry.tries, WholeNumber(tries));
    }
    assert_eq!(std::fs::read_to_string(&beside).expect("there"), "somebody's");
}

#[test]
fn unset_repairs_a_file_in_which_only_that_setting_is_wrong() {
    let rows = [
        ("# mine\n[retry]\ntries = \"x\" # why\n", "retry.tries", "# mine\n[retry]\n"),
        ("retry = { tries = 0 }\n", "retry.tries", "retry = {}\n"),
        ("[retry.tries]\nx = 1\n", "retry.tries", ""),
        ("[permissions]\nallow = [\n  1,\n]\n", "permissions.allow", "[permissions]\n"),
        (
            "[endpoint.openai]\nkey_env = \"A\"\nkey_file = \"b\"\n",
            "endpoint.openai.key_file",
            "[endpoint.openai]\nkey_env = \"A\"\n",
        ),
    ];
    for (before, path, after) in rows {
        assert!(Settings::parse(before).is_err(), "{before:?}");
        assert_eq!(unset(before, path).expect("unset"), after, "{before:?}");
    }
}

#[test]
fn the_last_setting_of_an_endpoint_can_be_unset() {
    let text = "[endpoint.mine]\nbase_url = \"http://h\"\n";
    let path = "endpoint.mine.base_url";
    assert_eq!(unset(text, path).expect("unset"), "[endpoint.mine]\n");
    assert_eq!(unset(&set("", path, "http://h").expect("set"), path).expect("unset"), "[endpoint.mine]\n");
}

/// The line is one of the file on the disk, which stays as it is.
#[test]
fn a_refused_unset_names_only_lines_of_the_file() {
    let mine = "[endpoint.mine]\nbase_url = \"http://h\"\nkind = \"openai\"\n";
    let rows = [
        ("[retry]\ntries = 0\n\n[face]\nmouse = 1\n", "retry.tries", Some(5)),
        ("[retry]\ntries = 0\n\n[face]\nmice = 1\n", "retry.tries", Some(5)),
        ("retry = 5\n", "retry.tries", Some(1)),
        ("\n[retry]\n\ntries = = 1\n", "retry.tries", Some(4)),
        (mine, "endpoint.mine.base_url", None),
    ];
    for (text, path, line) in rows {
        let refused = unset(text, path).expect_err(text);
        assert_eq!(refused.in_line(), line, "{text:?}: {refused}");
    }
}
