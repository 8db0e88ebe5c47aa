//! Tests of parsing lines for rules.

use crate::shell_line::StartFolder;

use super::*;
use crate::shell_line::UNKNOWN;

fn shown(line: &str) -> String {
    let part = |part: Part| {
        let words: Vec<_> = part.words.iter().map(|word| word.replace(UNKNOWN, "…")).collect();
        format!("{}{}", words.join("·"), if part.fixed > 0 { "" } else { "!" })
    };
    parts(line, StartFolder::AtRoot).into_iter().map(part).collect::<Vec<_>>().join(" / ")
}

#[test]
fn lines_are_read_as_a_shell_reads_them() {
    for (line, expected) in [
        ("git push origin", "git·push·origin"),
        ("a && b || c; d | e & f", "a / b / c / d / e / f"),
        ("echo 'a; b' \"c && d\"", "echo·a; b·c && d"),
        ("echo \"$(rm -rf x)\"", "rm·-rf·x / echo·…"),
        ("echo `rm x`", "rm·x! / echo·…!"),
        ("echo ${x:-$(rm y)}", "rm·y! / echo·…{x:-…}!"),
        ("(cd a; rm b)", "cd·a! / rm·b! / …!"),
        ("diff <(rm a) b", "rm·a! / diff·…·b!"),
        ("a > b", "a!"),
        ("a 2>&1 >/dev/null", "a"),
        ("a >& b", "a·b!"),
        ("a <<EOF\nrm x\nEOF", "a! / rm·x! / EOF!"),
        ("a # it's\nrm x", "a / rm·x"),
        ("echo 'open", "echo·open! / !"),
        ("echo $'a\\'; rm x'", "echo! / !"),
        ("a ) b", "a! / !"),
        ("sh -c 'rm -rf x; y'", "sh·-c·rm -rf x; y / rm·-rf·x / y"),
        ("sh -c 'rm -rf `x`'", "sh·-c·rm -rf `x` / x! / rm·-rf·…!"),
        ("eval \"git push\"", "eval·git push! / git·push"),
        ("", ""),
        (">x", "!"),
        ("a &>b", "a!"),
        ("a >|b", "a!"),
        ("a `b` >&- c", "b! / a·…·c!"),
        ("a `b` # rm x\nc", "b! / a·…! / c!"),
        ("a`b`#c d", "b! / a…#c·d!"),
        ("echo `b` \"c$\" d", "b! / echo·…·c…·d!"),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn a_forbidden_command_is_found_behind_other_commands() {
    let caught = |line: &str| parts(line, StartFolder::AtRoot).iter().any(|part| part.is_caught("git push"));
    for line in [
        "git push",
        "A=1 B=2 git push",
        "A_1=x git push",
        "_=x git push",
        "sudo -u me git push",
        "/usr/bin/git push",
        "env A=1 /usr/bin/git push",
        "if true; then git push; fi",
        "{ git push; }",
        "bash -c \"cd x && git push\"",
        "sudo sh -c 'git push'",
        "echo $(git push)",
        "eval git push",
        "ssh host git push",
    ] {
        assert!(caught(line), "{line}");
    }
    for line in ["git pushx", "echo git push", "git commit -m 'git push'", "git", "push"] {
        assert!(!caught(line), "{line}");
    }
}

#[test]
fn trial_30_options_before_the_words_of_a_rule_hide_nothing_from_it() {
    let caught =
        |rule: &str, line: &str| parts(line, StartFolder::AtRoot).iter().any(|part| part.is_caught(rule));
    for (rule, line) in [
        ("git push", "git -C . push"),
        ("git push", "git -c x=y push"),
        ("git push", "git -c x=y -C sub --no-pager -p push origin"),
        ("git push", "git --git-dir=.git --work-tree . push"),
        ("git push", "git --git-dir .git push"),
        ("git push", "sudo /usr/bin/git -C . push"),
        ("git push", "cd x && git -C . push > log"),
        ("git stash drop", "git -C . stash -q drop"),
        ("cargo publish", "cargo +nightly --locked publish"),
        ("npm publish", "npm --prefix web publish"),
        ("gh pr merge", "gh -R a/b pr --x=1 merge"),
        ("kubectl delete", "kubectl -n live delete pod x"),
        ("rm -rf", "rm -v -rf x"),
        ("git * --force", "git -C . push --force"),
        ("rm", "find . -name x -exec rm {} +"),
        ("rm", "docker exec web rm x"),
        ("cargo publish", "timeout 5 cargo publish"),
    ] {
        assert!(caught(rule, line), "{rule}: {line}");
    }
    for (rule, line) in [
        ("git push", "git -C push status"),
        ("git push", "git --no-pager log push"),
        ("git push", "git log -C push"),
        ("git push", "git -C"),
        ("cargo publish", "cargo test publish"),
        ("npm publish", "npm --x=1 run publish"),
    ] {
        assert!(!caught(rule, line), "{rule}: {line}");
    }
}

#[test]
fn deep_nesting_is_read_in_bounded_time() {
    assert!(parts(&"(".repeat(10_000), StartFolder::AtRoot).iter().all(|part| part.fixed == 0));
    assert!(parts(&"`$(".repeat(10_000), StartFolder::AtRoot).iter().all(|part| part.fixed == 0));
}

#[test]
fn many_lines_within_a_line_are_read_one_after_the_other() {
    let line = format!("{} git push", "`a`; ".repeat(120));
    assert!(parts(&line, StartFolder::AtRoot).iter().any(|part| part.is_caught("git push")));
}
