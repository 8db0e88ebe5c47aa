//! Tests of suggested rules.

use super::*;

#[test]
fn offers_go_from_narrow_to_wide_and_each_allows() {
    let offers = |rules: &[&str], text: &str| {
        let (tool, intent) = call(text);
        let offers = permission("ask", rules).offers(&tool, &intent, &roots());
        offers.iter().map(Rule::short).collect::<Vec<_>>().join(", ")
    };
    for (rules, text, expected) in [
        (&[][..], "$ git push origin", "shell(git push), shell"),
        (&[], "$ make", "shell(make), shell"),
        (&[], "$ cd a && cargo test", "shell"),
        (&["allow shell(cd)"], "$ cd a && cargo test", "shell(cargo test), shell(cargo), shell"),
        (&[], "$ cargo test | cargo test x", "shell(cargo test), shell(cargo), shell"),
        (&[], "$ echo x > y", "shell"),
        (&[], "$ rm *", "shell(rm), shell"),
        (&["ask shell(git push)"], "$ git push", ""),
        (&[], "write src/a/b.rs", "write(src/a/**), write"),
        (&[], "write a", "write(**), write"),
        (&[], "write src/a/b src/c/d", "write(src/**), write"),
        (&[], "write src/a /etc/hosts", "write"),
        (&[], "write */a", "write"),
        (&[], "write s?c/b/a", "write"),
        (&[], "read /etc/**/hosts", "read"),
        (&[], "read /etc/hosts", "read(/etc/**), read"),
        (&[], "read ../q/a", "read"),
        (&[], "get https://example.org/a", "fetch(example.org), fetch"),
        (&[], "get https://evil.net\\@example.org/", "fetch"),
        (&[], "mcp", "notes__add"),
        (&[], "net git push", "network(git push), network"),
        (&["allow shell"], "net git push > x", "network"),
    ] {
        assert_eq!(offers(rules, text), expected, "{rules:?} {text}");
    }
    let (tool, intent) = call("write a");
    assert!(permission("plan", &[]).offers(&tool, &intent, &roots()).is_empty());
}

/// A suggested rule for a command says what it allows: never a program that runs its arguments.
#[test]
fn trial_19_no_rule_is_offered_that_allows_anything() {
    let offers = |text: &str| {
        let (tool, intent) = call(text);
        let offers = permission("ask", &[]).offers(&tool, &intent, &roots());
        assert_eq!(offers.last().map(|rule| rule.what.is_none()), Some(true), "{text}");
        assert!(offers.iter().all(|rule| !rule.allows_anything()), "{text}: {offers:?}");
        let named = offers.iter().filter(|rule| rule.what.is_some());
        named.map(Rule::short).collect::<Vec<_>>().join(", ")
    };
    for (line, expected) in [
        ("$ sh -c 'rm x'", ""),
        ("$ bash -lc ls", ""),
        ("$ /bin/bash -c ls", ""),
        ("$ bash ./x.sh a", "shell(bash ./x.sh)"),
        ("$ echo x | bash", ""),
        ("$ python3 -c 'import os'", ""),
        ("$ python3.12 -c 'import os'", ""),
        ("$ venv/bin/python -m pytest -q", "shell(venv/bin/python -m pytest)"),
        ("$ python3 - x", ""),
        ("$ python3 /dev/stdin", ""),
        ("$ python3 x.py a", "shell(python3 x.py)"),
        ("$ node -e 1", ""),
        ("$ perl -pi -e s/a/b/ x", ""),
        ("$ awk 'BEGIN{system(1)}'", ""),
        ("$ sed -i s/a/b/ x", ""),
        ("$ git -c x=y push", "shell(git -c x=y push)"),
        ("$ git -C web --no-pager push", "shell(git -C web --no-pager push)"),
        ("net git -C web push", "network(git -C web push)"),
        ("$ git -c 'a b' push", ""),
        ("$ git --version", ""),
        ("$ git submodule update", "shell(git submodule update)"),
        ("$ git submodule foreach ls", ""),
        ("$ timeout 5 cargo test", "shell(timeout 5 cargo test)"),
        ("$ timeout -k 5 9 cargo test", ""),
        ("$ timeout 5 sh -c ls", ""),
        ("$ timeout 5", ""),
        ("$ env X=1 ls -a", "shell(env X=1 ls)"),
        ("$ env -S 'sh -c x'", ""),
        ("$ env", ""),
        ("$ nice make", "shell(nice make)"),
        ("$ nice -n 5 make", ""),
        ("$ nohup sudo make install", "shell(nohup sudo make install)"),
        ("$ xargs rm", ""),
        ("$ find . -exec rm {} +", ""),
        ("$ ssh host ls", ""),
        ("$ npm --prefix web test", ""),
        ("$ npm run test", "shell(npm run test)"),
        ("$ npx eslint x", "shell(npx eslint x)"),
        ("$ uv run python -c 1", ""),
        ("$ docker exec web ls", ""),
        ("$ docker container exec web ls", ""),
        ("$ docker-compose run web ls", ""),
        ("$ docker-compose up", "shell(docker-compose up)"),
        ("$ uv tool run ruff x", "shell(uv tool run ruff x)"),
        ("$ npm init vite x", "shell(npm init vite x)"),
        ("$ runuser -u ada ls", ""),
        ("$ bash5 -c ls", ""),
        ("$ zsh-5.9 -c ls", ""),
        ("$ node22 -e 1", ""),
        ("$ /usr/bin/nodejs18 x.js", "shell(/usr/bin/nodejs18 x.js)"),
        ("$ pwsh-preview -c ls", ""),
        ("$ tmux new ls", ""),
        ("$ watchexec ls", ""),
        ("$ fdfind x -x rm", ""),
        ("$ vimdiff a b", ""),
        ("$ g++-12 x.cc", "shell(g++-12 x.cc), shell(g++-12)"),
        ("$ docker compose up", "shell(docker compose up)"),
        ("$ docker -H x run y", ""),
        ("$ cargo +nightly --color=always test", "shell(cargo +nightly --color=always test), shell(cargo)"),
        ("$ mkdir -p x", "shell(mkdir)"),
    ] {
        assert_eq!(offers(line), expected, "{line}");
    }
}

#[test]
fn trial_19_a_rule_that_allows_anything_is_known() {
    for (rule, expected) in [
        ("allow shell(docker-compose)", true),
        ("allow shell(zsh-5.9)", true),
        ("allow shell(sh -c)", true),
        ("allow network(git -C)", true),
        ("allow shell(timeout 5)", true),
        ("allow shell(git)", true),
        ("allow shell(git log)", false),
        ("deny shell(sh)", false),
        ("allow shell", false),
        ("allow write(env)", false),
        ("allow shell(cargo)", false),
    ] {
        assert_eq!(rule.parse::<Rule>().expect("a rule").allows_anything(), expected, "{rule}");
    }
}

/// After accepting a suggestion, the same call needs no further approval.
#[test]
fn under_each_offer_the_very_same_command_runs_unasked() {
    let lines = [
        "touch zz",
        "ls -la && sleep 1",
        "for i in $(seq 30); do echo $i; done",
        "for f in *; do rm \"$f\"; done",
        "if test -f a; then rm a; fi",
        "while true; do make; done",
        "a=1 make test",
        "sudo make install",
        "sh -c 'rm -rf x; y'",
        "cat <<EOF\nrm x\nEOF",
        "echo $(date) > log",
        "( cd a; make )",
        "make 2>&1 | tee log",
        "git commit -m 'a b'",
        "echo *",
        "a\\\nb",
        "",
    ];
    for mode in Mode::ALL {
        for rules in [&[][..], &["allow shell(cd)"], &["ask shell(rm)"], &["deny shell(make)"]] {
            for line in lines {
                let (tool, intent) = call(&format!("$ {line}"));
                let permission = permission(mode.name(), rules);
                let settle = |permission: &Permission| permission.settle(&tool, &intent, &roots()).ruling();
                let offers = permission.offers(&tool, &intent, &roots());
                assert!(settle(&permission) == Ruling::Ask || offers.is_empty(), "{mode:?} {rules:?} {line}");
                for offer in offers {
                    assert_eq!(settle(&permission.with(&offer)), Ruling::Allow, "{mode:?} {offer} {line}");
                }
            }
        }
    }
}
