//! Tests: accepted lines, and everything that is refused.

use super::*;

fn shown(line: &str) -> Option<String> {
    let word = |word: PlainWord| {
        let sign = match word.kind {
            WordKind::Fixed => "",
            WordKind::Pattern => "*",
            WordKind::Unknown => "?",
        };
        format!("{}{sign}", word.text.replace(UNKNOWN, "…"))
    };
    let command = |command: PlainCommand| command.words.into_iter().map(word).collect::<Vec<_>>().join("·");
    let line = plain_line(line)?;
    let background = if line.has_background { " &" } else { "" };
    Some(line.commands.into_iter().map(command).collect::<Vec<_>>().join(" / ") + background)
}

#[test]
fn plain_lines_are_read_as_a_shell_reads_them() {
    for (line, expected) in [
        ("", ""),
        ("git push origin", "git·push·origin"),
        ("  git   'push' \"or\"igin ", "git·push·origin"),
        ("a && b || c; d | e & f", "a / b / c / d / e / f &"),
        ("a\nb", "a / b"),
        ("a &&\n\n b", "a / b"),
        ("a \\\n  b", "a·b"),
        ("a b # it's\nc", "a·b / c"),
        ("# first\na", "a"),
        ("a#b c#d", ""),
        ("a c#d", "a·c#d"),
        ("a 'b; c' \"d && e\"", "a·b; c·d && e"),
        ("a \"$(b c)\"", "b·c / a·…?"),
        ("a \"x$(b \"$(c)\")y\"", "c / b·…? / a·x…y?"),
        ("a $HOME \"${HOME}/x\" $?", "a·…?·…/x?·…?"),
        ("a 2>&1 >/dev/null </dev/null", "a"),
        ("a &> /dev/null", "a"),
        ("a 2> /dev/null | b", "a / b"),
        ("a HEAD~1 b=~ c:~d", "a·HEAD~1·b=~*·c:~d*"),
        ("a *.rs {b,c} ~/d [e]", "a·*.rs*·{b,c}*·~/d*·[e]*"),
        ("a -exec b {} \\;", "a·-exec·b·{}*·;"),
        ("a 'foo$' \"foo$\" \"a\\\"b\\c\"", "a·foo$·foo$·a\"b\\c"),
        ("cd x && make", "cd·x / make"),
        ("cd x && ./make", ""),
        ("test -f a && [ -d b ]", "test·-f·a / [·-d·b·]"),
        ("printf '%s\\n' \"$x\"", "printf·%s\\n·…?"),
        ("printf '%-5s %05.2f' x 1", "printf·%-5s %05.2f·x·1"),
        ("exit 1", "exit·1"),
        ("exit $x", ""),
        ("type a; kill 42", "type·a / kill·42"),
        ("a $ b", "a·$·b"),
        ("a \"\\ b\"", "a·\\ b"),
        ("a \"\\é\"", ""),
        ("a \"x\u{1b}y\"", ""),
        ("a >>/dev/null", "a"),
        ("a >>&1", ""),
        ("a &>&1", ""),
        ("a &>>/dev/null", ""),
        ("a <>/dev/null", ""),
        ("a $(# x\nb)", ""),
        ("a \"$(b # x\n)\"", ""),
    ] {
        let expected = (!expected.is_empty() || line.is_empty()).then(|| expected.to_owned());
        assert_eq!(shown(line), expected, "{line}");
    }
}

/// Each of these lines starts a program, or writes a file, in a way that is easy to miss.
const TRICKS: &[&str] = &[
    "cargo test `echo \\`touch x\\``",
    "cargo test \"`touch x`\"",
    "cargo test <<x\n$(touch y)\nx",
    "cargo test <<'a\nb'\ntouch y\na\nb",
    "cargo test <<\\x\nx\ntouch y",
    "cargo test <<-x\n\tx\ntouch y",
    "cargo test <<< \"$(touch y)\"",
    "cargo test >&1file",
    "cargo test >&1'file'",
    "cargo test >&1\"\"",
    "cargo test >&file",
    "cargo test &>>file",
    "cargo test >|file",
    "cargo test <>file",
    "cargo test 2>/dev/nullx",
    "cargo test >/dev/null'x'",
    "cargo test {fd}>file",
    "cargo test>file",
    "cargo test 12>file",
    "cargo test >&3",
    "printf -v 'a[$(touch x)]' y",
    "printf '%n' PATH",
    "printf '%*n' 1 PATH",
    "printf $x y",
    "printf * y",
    "test -v 'a[$(touch x)]'",
    "test -R 'a[$(touch x)]'",
    "[ -v 'a[$(touch x)]' ]",
    "test $x",
    "test *",
    "[[ a -eq 'a[$(touch x)]' ]]",
    "(( a[$(touch x)] ))",
    "let 'a[$(touch x)]'",
    "read 'a[$(touch x)]'",
    "unset 'a[$(touch x)]'",
    "wait -p 'a[$(touch x)]'",
    "declare 'a[$(touch x)]=1'",
    "export A=1",
    "echo $((a[$(touch x)]))",
    "echo $[a[$(touch x)]]",
    "echo ${x:=$(touch y)}",
    "echo ${x@P}",
    "echo ${!x}",
    "echo ${x[$(touch y)]}",
    "echo \"${x:-`touch y`}\"",
    "echo $'\\'; touch x #'",
    "echo $\"a\"",
    "echo $(<file)",
    "echo $( (touch x) )",
    "echo $(touch x # )",
    "echo <(touch x)",
    "echo >(touch x)",
    "A=1 cargo test",
    "A=$(touch x)",
    "PATH=. cargo test",
    "A=1",
    "(cargo test)",
    "{ cargo test; }",
    "if true; then touch x; fi",
    "for a in b; do touch x; done",
    "while true; do touch x; done",
    "case a in a) touch x;; esac",
    "select a in b; do touch x; done",
    "function cargo { touch x; }",
    "cargo() { touch x; }; cargo test",
    "cargo () (touch x)",
    "coproc touch x",
    "time touch x",
    "! touch x",
    "eval 'touch x'",
    ". ./x",
    "source x",
    "exec touch x",
    "command touch x",
    "builtin eval x",
    "trap 'touch x' EXIT",
    "alias cargo=touch",
    "enable -f x y",
    "hash -p /bin/touch cargo",
    "mapfile -C 'touch x' a",
    "set -o x",
    "shopt -s extglob",
    "$x",
    "\"cargo\" test",
    "\\cargo test",
    "ca'rgo' test",
    "*/x",
    "~/x",
    "{touch,x}",
    "a[0]=x",
    ">/dev/null",
    "2>/dev/null cargo test",
    "cargo test; ; touch x",
    "cargo test ;; touch x",
    "cargo test ;& touch x",
    "cargo test && && x",
    "cargo test &&",
    "cargo test |& touch x",
    "&& cargo test",
    "cargo test )",
    "cargo test 'open",
    "cargo test \"open",
    "cargo test $(open",
    "cargo test a\\",
    "cargo te\\\nst",
    "cargo\\\n test",
    "cargo\\x test",
    "cargo test a\\\nb",
    "cargo test $\\\n(touch x)",
    "cargo test \"$\\\n(touch x)\"",
    "cargo test <\\\n<x",
    "cargo test \u{a0}touch",
    "cargo test a\rb",
    "cargo test 'a\u{1}b'",
    "cargo test \u{7f}",
    "cargo test \"é\\\" ; touch x\"",
    "c\u{e4}rgo test",
    "cargo @(a|b)",
    "echo !(x)",
    "cd x; ./y",
    "a {1..3}\"$(b)\"",
    "a {x,$(b)}",
    "a $x{b,c}",
    "a \"$$(b)\"",
    "a \"$?(b)\"",
    "a \"$$(b\"",
    "a \"$?(b\"",
];

#[test]
fn trial_19_what_is_not_proven_plain_is_refused() {
    for line in TRICKS {
        assert_eq!(shown(line), None, "{line}");
    }
}

#[test]
fn deep_nesting_is_read_in_bounded_time() {
    for piece in ["(", "$(", "a $(", "`$(", "\"$(", "a;", "a\n"] {
        let line = piece.repeat(10_000);
        assert!(plain_line(&line).is_none_or(|line| line.commands.len() == 10_000), "{piece}");
    }
}
