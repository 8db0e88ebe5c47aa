//! Permissions as a table, and rules for all of them.

use std::path::PathBuf;

use super::*;
use crate::effect::CallTarget;

mod guarded;
mod offers;
mod random;

const ROOT: &str = "/home/ada/p";

fn roots() -> Vec<PathBuf> {
    vec![ROOT.into(), "/srv/other".into()]
}

/// A call in the table's form: `read PATH`, `write PATH…`, `$ COMMAND`, `get URL`, `mcp`, `todo`.
fn call(text: &str) -> (String, Intent) {
    let (tool, rest) = text.split_once(' ').unwrap_or((text, ""));
    let paths = || rest.split(' ').map(|path| PathBuf::from(ROOT).join(path));
    let (tool, class, touches) = match tool {
        "read" => (tool, EffectClass::None, paths().map(CallTarget::Read).collect()),
        "write" | "edit" => (tool, EffectClass::Workspace, paths().map(CallTarget::Write).collect()),
        "$" => ("shell", EffectClass::External, vec![CallTarget::Command(rest.to_owned())]),
        "net" => {
            let touches = vec![CallTarget::Command(rest.to_owned()), CallTarget::Network];
            ("shell", EffectClass::External, touches)
        }
        // From another folder than the root.
        "away" => (
            "shell",
            EffectClass::External,
            vec![CallTarget::Command(rest.to_owned()), CallTarget::Elsewhere],
        ),
        // A command that its tool classifies as reading only.
        "%" => ("shell", EffectClass::None, vec![CallTarget::Command(rest.to_owned())]),
        "get" => ("fetch", EffectClass::None, vec![CallTarget::Url(rest.to_owned())]),
        "mcp" => ("notes__add", EffectClass::External, vec![CallTarget::Other]),
        "stop" => ("job_stop", EffectClass::External, Vec::new()),
        _ => (tool, EffectClass::None, Vec::new()),
    };
    (tool.to_owned(), Intent { class, touches, line: text.to_owned(), detail: None })
}

fn permission(mode: &str, rules: &[&str]) -> Permission {
    let rules = rules.iter().map(|rule| rule.parse().unwrap_or_else(|bad| panic!("{bad}")));
    Permission { mode: Mode::from_name(mode).expect("a mode"), rules: rules.collect() }
}

fn settled(mode: &str, rules: &[&str], text: &str) -> &'static str {
    let (tool, intent) = call(text);
    permission(mode, rules).settle(&tool, &intent, &roots()).ruling().name()
}

fn check(rows: &[(&str, &[&str], &str, &str)]) {
    for (mode, rules, text, expected) in rows {
        assert_eq!(settled(mode, rules, text), *expected, "{mode} {rules:?} {text:?}");
    }
}

#[test]
fn trial_19_a_program_named_by_a_relative_path_is_another_one_in_another_folder() {
    let rules: &[&str] = &["allow shell(./run.sh)", "allow shell(cargo test)"];
    check(&[
        ("ask", rules, "$ ./run.sh", "allow"),
        ("ask", rules, "away ./run.sh", "ask"),
        ("ask", rules, "away cargo test", "allow"),
    ]);
}

#[test]
fn rules_for_reading_a_path_do_not_depend_on_the_mode() {
    let rules = ["deny *(**/.env)", "ask read(own/**)", "allow read(own)"];
    for mode in Mode::ALL {
        let permission = permission(mode.name(), &rules);
        let reading = |tool: &str, path: &str| {
            permission.reading(tool, &PathBuf::from(ROOT).join(path), &roots()).map(Ruling::name)
        };
        for (tool, path, expected) in [
            ("read", "a/.env", Some("deny")),
            ("grep", ".env", Some("deny")),
            ("read", "own/deep/a", Some("ask")),
            ("read", "own", Some("ask")),
            ("grep", "own/deep/a", None),
            ("read", "a", None),
        ] {
            assert_eq!(reading(tool, path), expected, "{mode:?} {tool} {path}");
        }
    }
}

#[test]
fn each_mode_allows_asks_or_denies_by_effect() {
    check(&[
        ("ask", &[], "read src/a", "allow"),
        ("ask", &[], "read /srv/other/a", "allow"),
        ("ask", &[], "read .", "allow"),
        ("ask", &[], "read /etc/passwd", "ask"),
        ("ask", &[], "read ../q", "ask"),
        ("ask", &[], "read src/../../p/a", "ask"),
        ("ask", &[], "read src/a /etc/passwd", "ask"),
        ("ask", &[], "write src/a", "ask"),
        ("ask", &[], "$ ls", "ask"),
        ("ask", &[], "$ ", "ask"),
        ("ask", &[], "% ls", "allow"),
        ("ask", &["ask shell(ls)"], "% ls", "ask"),
        ("plan", &[], "% ls", "allow"),
        ("plan", &["deny shell"], "% ls", "deny"),
        ("ask", &[], "get https://example.org", "ask"),
        ("ask", &[], "mcp", "ask"),
        ("ask", &[], "todo", "allow"),
        ("ask", &[], "stop", "ask"),
        ("allow-edits", &[], "write src/a", "allow"),
        ("allow-edits", &[], "write src/a /srv/other/b", "allow"),
        ("allow-edits", &[], "write /etc/hosts", "ask"),
        ("allow-edits", &[], "write src/a /etc/hosts", "ask"),
        ("allow-edits", &[], "write ../p2/a", "ask"),
        ("allow-edits", &[], "read /etc/hosts", "ask"),
        ("allow-edits", &[], "$ ls", "ask"),
        ("allow-edits", &[], "get https://example.org", "ask"),
        ("allow-edits", &[], "mcp", "ask"),
        ("allow-all", &[], "write /etc/hosts", "allow"),
        ("allow-all", &[], "$ rm -rf /", "allow"),
        ("allow-all", &[], "get https://example.org", "allow"),
        ("allow-all", &[], "mcp", "allow"),
        ("plan", &[], "read src/a", "allow"),
        ("plan", &[], "todo", "allow"),
        ("plan", &[], "read /etc/hosts", "ask"),
        ("plan", &[], "get https://example.org", "ask"),
        ("plan", &[], "write src/a", "deny"),
        ("plan", &[], "$ ls", "deny"),
        ("plan", &[], "mcp", "deny"),
        ("plan", &["allow *"], "write src/a", "deny"),
        ("plan", &["allow read(/etc/**)"], "read /etc/hosts", "allow"),
        ("plan", &["deny read(secret)"], "read secret", "deny"),
    ]);
}

#[test]
fn rules_for_tools_and_paths() {
    check(&[
        ("ask", &["allow write"], "write src/a", "allow"),
        ("ask", &["allow wri*"], "write src/a", "allow"),
        ("ask", &["allow edit"], "write src/a", "ask"),
        ("ask", &["allow write(src/**)"], "write src/a/b", "allow"),
        ("ask", &["allow write(src/**)"], "write docs/a", "ask"),
        ("ask", &["allow write(src/**)"], "write src/a docs/a", "ask"),
        ("ask", &["allow write(src/**)", "allow write(docs/*)"], "write src/a docs/a", "allow"),
        ("ask", &["allow write(src/**)"], "write src/../docs/a", "ask"),
        ("ask", &["allow write(src/**)"], "write /srv/other/src/a", "ask"),
        ("ask", &["allow write(/srv/other/src/**)"], "write /srv/other/src/a", "allow"),
        ("ask", &["allow write(src)"], "write src/a", "ask"),
        ("ask", &["allow *(*.md)"], "write a.md", "allow"),
        ("ask", &["allow notes__*"], "mcp", "allow"),
        ("ask", &["allow notes__add(x)"], "mcp", "ask"),
        ("ask", &["deny read(.env)"], "read .env", "deny"),
        ("ask", &["deny read(**/.env*)"], "read a/.env.local", "deny"),
        ("ask", &["deny read(secrets)"], "read secrets/a/b", "deny"),
        ("ask", &["deny read(secrets)"], "read src/../secrets/a", "deny"),
        ("ask", &["ask read(secrets)"], "read secrets/a", "ask"),
        ("ask", &["deny read(secrets)"], "read src/a secrets/a", "deny"),
        ("allow-edits", &["deny write(/etc/**)"], "write src/../../../../etc/hosts", "deny"),
        ("allow-edits", &["ask write(*.toml)"], "write Cargo.toml", "ask"),
        ("allow-all", &["deny write(/etc/**)"], "write /etc/hosts", "deny"),
        ("allow-all", &["ask *"], "todo", "ask"),
        ("ask", &["allow write(src/**)", "deny write(src/gen)"], "write src/gen/a", "deny"),
        ("ask", &["allow write", "ask write(src/**)"], "write src/a", "ask"),
        ("ask", &["ask write", "deny write", "allow write"], "write src/a", "deny"),
    ]);
}

#[test]
fn rules_for_commands() {
    check(&[
        ("ask", &["allow shell(git push)"], "$ git push", "allow"),
        ("ask", &["allow shell(git push)"], "$ git push origin main", "allow"),
        ("ask", &["allow shell(git push)"], "$ git pushx", "ask"),
        ("ask", &["allow shell(git push)"], "$ git", "ask"),
        ("ask", &["allow shell(git push)"], "$ git -C x push", "ask"),
        ("ask", &["allow shell(git push)"], "$ X=1 git push", "ask"),
        ("ask", &["allow shell(git push)"], "$ ./git push", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push; rm x", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push && rm x", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push | sh", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push & rm x", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push\nrm x", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push $(rm x)", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push `rm x`", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push \"`rm x`\"", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push > ~/.profile", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push # it's\nrm x", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push $'\\'; rm x #'", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push 'open", "ask"),
        ("ask", &["allow shell(git push)"], "$ git push '; rm x'", "allow"),
        ("ask", &["allow shell(git push)"], "$ git push 2>&1", "allow"),
        ("ask", &["allow shell(git push)", "allow shell(cd)"], "$ cd a && git push", "allow"),
        ("ask", &["allow shell(git)", "allow shell(echo)"], "$ echo \"$(git log)\"", "allow"),
        ("ask", &["allow shell(git)"], "$ git log | git x && (git y)", "ask"),
        ("ask", &["allow shell(git *)"], "$ git log", "allow"),
        ("ask", &["allow shell"], "$ anything > at; all", "allow"),
        ("allow-all", &["deny shell(git push)"], "$ cd x && git push", "deny"),
        ("allow-all", &["deny shell(git push)"], "$ echo $(git push)", "deny"),
        ("allow-all", &["deny shell(git push)"], "$ sudo git push", "deny"),
        ("allow-all", &["deny shell(git push)"], "$ sh -c 'git push'", "deny"),
        ("allow-all", &["deny shell(git push)"], "$ git pushx", "allow"),
        ("allow-all", &["ask shell(rm)"], "$ ls; rm x", "ask"),
        ("ask", &["allow shell(git)", "deny shell(git push)"], "$ git push", "deny"),
    ]);
}

/// The first command of each is allowed; other parts of the line are not.
#[test]
fn trial_19_a_rule_for_a_command_allows_nothing_else() {
    let rules = ["allow shell(cargo test)", "allow shell(echo)", "allow shell(printf)", "allow shell(test)"];
    for line in [
        "cargo test `echo \\`touch x\\``",
        "cargo test \"`echo \\`touch x\\``\"",
        "cargo test < /dev/null <<x\ncargo test $(touch y)\nx",
        "cargo test 0<< /dev/null\n$(touch x)\n/dev/null",
        "cargo test >&1file",
        "cargo test >&2.profile",
        "printf -v 'a[$(touch x)]' y",
        "printf %n PATH; cargo test",
        "test -v 'a[$(touch x)]'",
        "cargo test; test -R 'a[$(touch x)]'",
    ] {
        assert_eq!(settled("ask", &rules, &format!("$ {line}")), "ask", "{line}");
    }
    let rules = [
        "allow shell(unset)",
        "allow shell(read)",
        "allow shell(let)",
        "allow shell(cd)",
        "allow shell(./x)",
    ];
    for line in ["unset 'a[$(touch x)]'", "read 'a[$(touch x)]'", "let 'a[$(touch x)]'", "cd y; ./x"] {
        assert_eq!(settled("ask", &rules, &format!("$ {line}")), "ask", "{line}");
    }
    for line in
        ["cargo test 2>&1", "cargo test -- 'a b' && echo \"done: $?\"", "echo x; cargo test > /dev/null"]
    {
        let rules = ["allow shell(cargo test)", "allow shell(echo)"];
        assert_eq!(settled("ask", &rules, &format!("$ {line}")), "allow", "{line}");
    }
}

/// A word that is expanded at run time does not match a rule.
#[test]
fn trial_19_a_pattern_or_a_variable_is_no_word_of_a_rule() {
    check(&[
        ("ask", &["allow shell(cargo * --dry-run)"], "$ cargo {publish,x} --dry-run", "ask"),
        ("ask", &["allow shell(cargo * --dry-run)"], "$ cargo $x --dry-run", "ask"),
        ("ask", &["allow shell(cargo * --dry-run)"], "$ cargo publish --dry-run", "allow"),
        ("ask", &["allow shell(cargo)"], "$ cargo {test,x} $y *", "allow"),
    ]);
}

#[test]
fn trial_19_no_rule_for_a_command_grants_network() {
    check(&[
        ("ask", &["allow shell(cargo test)"], "net cargo test", "ask"),
        ("ask", &["allow shell"], "net cargo test", "ask"),
        ("allow-edits", &["allow shell"], "net cargo test", "ask"),
        ("ask", &["allow network(cargo fetch)"], "net cargo fetch", "allow"),
        ("ask", &["allow network(cargo fetch)"], "net cargo test", "ask"),
        ("ask", &["allow network(cargo fetch)"], "$ cargo fetch", "ask"),
        ("ask", &["allow network(cargo fetch)"], "net cargo fetch `x`", "ask"),
        ("ask", &["allow network(cargo fetch)", "allow shell(cargo)"], "net cargo fetch; cargo test", "ask"),
        ("ask", &["allow network"], "net anything > at; all", "allow"),
        ("ask", &["allow *"], "net cargo test", "allow"),
        ("allow-all", &[], "net cargo test", "allow"),
        ("allow-all", &["deny network"], "net cargo test", "deny"),
        ("allow-all", &["deny network"], "$ cargo test", "allow"),
        ("allow-all", &["deny network(git push)"], "net git -C . push", "deny"),
        ("ask", &["allow network", "deny shell(git push)"], "net git push", "deny"),
        ("plan", &["allow network"], "net cargo test", "deny"),
    ]);
}

#[test]
fn rules_for_addresses() {
    check(&[
        ("ask", &["allow fetch(example.org)"], "get https://example.org/a", "allow"),
        ("ask", &["allow fetch(example.org)"], "get http://EXAMPLE.org:80", "allow"),
        ("ask", &["allow fetch(example.org)"], "get https://docs.example.org/", "ask"),
        ("ask", &["allow fetch(*.example.org)"], "get https://docs.example.org/", "allow"),
        ("ask", &["allow fetch(example.org)"], "get https://evil.net/?example.org", "ask"),
        ("ask", &["allow fetch(example.org)"], "get https://example.org@evil.net/", "ask"),
        ("ask", &["allow fetch(example.org)"], "get https://evil.net\\@example.org/", "ask"),
        ("ask", &["allow fetch(example.org)"], "get ftp://example.org/", "ask"),
        ("allow-all", &["deny fetch(*.example.org)"], "get https://a.b.example.org", "deny"),
        ("allow-all", &["deny fetch(example.org)"], "get https://user@example.org:8443", "deny"),
        ("plan", &["allow fetch(example.org)"], "get https://example.org/", "allow"),
    ]);
}

#[test]
fn the_reason_names_the_rule_or_says_what_the_call_does() {
    let settled = |mode, rules: &[&str], text| {
        let (tool, intent) = call(text);
        permission(mode, rules).settle(&tool, &intent, &roots())
    };
    let rule = "deny shell(rm)".parse().expect("a rule");
    let denied = CallRuling::Deny(CallRefusal::Rule(rule));
    assert_eq!(settled("ask", &["deny shell(rm)", "deny shell"], "$ rm x"), denied);
    let rule = "ask todo".parse().expect("a rule");
    assert_eq!(settled("ask", &["ask todo"], "todo"), CallRuling::Ask(AskCause::Rule(rule)));
    assert_eq!(settled("ask", &[], "read /etc/passwd"), CallRuling::Ask(AskCause::ReadsOutside));
    assert_eq!(settled("ask", &[], "$ ls"), CallRuling::Ask(AskCause::Command));
    assert_eq!(settled("plan", &["allow *"], "write a"), CallRuling::Deny(CallRefusal::PlanMode));
}

#[test]
fn a_rule_for_all_calls_of_a_tool_is_known_without_a_call() {
    let always = |mode, rules: &[&str], class| {
        permission(mode, rules).always("shell", class).map(Ruling::name).unwrap_or_default()
    };
    use EffectClass::{External, None};
    for (mode, rules, class, expected) in [
        ("ask", &[][..], External, ""),
        ("ask", &["allow shell"], External, "allow"),
        ("ask", &["allow shell", "deny shell(rm)"], External, ""),
        ("ask", &["allow shell", "deny *"], External, "deny"),
        ("ask", &["allow write"], External, ""),
        ("allow-all", &[], External, "allow"),
        ("allow-all", &["ask shell(rm)"], External, ""),
        ("plan", &["allow shell"], External, "deny"),
        ("plan", &[], None, ""),
    ] {
        assert_eq!(always(mode, rules, class), expected, "{mode} {rules:?}");
    }
}

#[test]
fn rules_that_allow_something_to_tools_of_a_beginning_are_found() {
    let rules = [
        "allow mcp__github__*",
        "allow mcp__github__issues",
        "allow mcp__*",
        "allow *",
        "allow *__read",
        "deny mcp__github__*",
        "allow mcp__git__*",
        "allow mcp",
        "allow shell",
    ];
    let permission = permission("ask", &rules);
    let found: Vec<_> = permission.allowing("mcp__github__").map(ToString::to_string).collect();
    assert_eq!(found, rules[..5]);
}

#[test]
fn rules_are_read_and_printed() {
    for text in
        ["allow shell(git push)", "deny write(/etc/**)", "ask fetch(example.org)", "allow *", "deny x(a (b))"]
    {
        assert_eq!(text.parse::<Rule>().expect("a rule").to_string(), text);
    }
    assert_eq!(
        " allow  shell( git push ) ".parse::<Rule>().expect("a rule").to_string(),
        "allow shell(git push)"
    );
    for (text, why) in [
        ("shell(git push)", "it begins with allow, ask or deny"),
        ("allow", "it names no tool"),
        ("allow (x)", "it names no tool"),
        ("allow shell(git push", "the bracket that opens does not close at its end"),
        ("allow shell(git push) now", "the bracket that opens does not close at its end"),
        ("allow shell()", "there is nothing between the brackets; leave them out to mean everything"),
        ("allow git push", "the name of a tool has letters, digits, _, - and * for any of them"),
        ("allow shell(a\u{1b}[2J)", "it holds a line break or another control character"),
    ] {
        let bad = text.parse::<Rule>().expect_err("no rule").to_string();
        assert_eq!(bad, format!("{text:?} is not a valid rule: {why}"));
    }
}

#[test]
fn printed_names_of_modes_are_parsed_back() {
    assert!(Mode::ALL.iter().all(|mode| Mode::from_name(mode.name()) == Some(*mode)));
    assert!(Ruling::ALL.iter().all(|ruling| Ruling::from_name(ruling.name()) == Some(*ruling)));
}
