//! An example of every verb, behind its help and in the manual page. Must never hold one that its verb does not take.

use clap::Command;

/// The verbs, as they are typed, each with what it is for and a command line.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("new", &["retake new --title 'Release notes'"]),
    ("list", &["retake list --all --limit 10"]),
    ("say", &["retake say 'The tests are in tests/'", "git diff | retake say -"]),
    (
        "ask",
        &[
            "retake ask 'what does main.rs do?'",
            "git diff | retake ask --new - --mode plan",
            "retake ask 'fix the tests' --mode allow-edits --allow 'shell(cargo test)'",
        ],
    ),
    ("exec", &["retake exec -- cargo fmt", "retake exec --say 'tidy up' -- sh -c 'rm -f *.bak'"]),
    ("retry", &["retake retry", "retake retry t2 --model demo"]),
    ("edit", &["retake edit t2 'the same, but in French'"]),
    ("choose", &["retake choose @", "retake choose @ 2"]),
    ("log", &["retake log --limit 20", "retake log --as prompt"]),
    ("targets", &["retake targets"]),
    ("plan rewind", &["retake plan rewind t2 --diff"]),
    ("plan undo", &["retake plan undo 2"]),
    ("plan redo", &["retake plan redo"]),
    ("plan restore", &["retake plan restore 3.14"]),
    ("plan edit", &["retake plan edit t2"]),
    ("plan choose", &["retake plan choose @ 1"]),
    ("plan drop", &["retake plan drop t2"]),
    ("plan files restore", &["retake plan files restore src --to t2"]),
    ("plan hide", &["retake plan hide t2"]),
    ("plan show", &["retake plan show t2"]),
    ("plan exclude", &["retake plan exclude t1"]),
    ("plan include", &["retake plan include t1"]),
    ("plan fold", &["retake plan fold --from t1 --to t2 --summary 'what was decided'"]),
    ("plan unfold", &["retake plan unfold t1"]),
    ("plan label", &["retake plan label t2 draft"]),
    ("plan title", &["retake plan title 'Release notes'"]),
    ("plan erase", &["retake plan erase --matching 'my password'"]),
    ("rewind", &["retake rewind t2", "retake rewind t2 --yes --choose notes.txt=disk"]),
    ("undo", &["retake undo", "retake undo 2"]),
    ("redo", &["retake redo"]),
    ("restore", &["retake restore 3.14"]),
    ("ops", &["retake ops"]),
    ("tree", &["retake tree"]),
    ("fork", &["retake fork t2 --title 'Another way'"]),
    ("drop", &["retake drop t2"]),
    ("hide", &["retake hide t2", "retake hide t2 t4 --range"]),
    ("show", &["retake show t2"]),
    ("hidden", &["retake hidden"]),
    ("exclude", &["retake exclude t1"]),
    ("include", &["retake include t1"]),
    ("fold", &["retake fold --from t1 --to t2 --summary 'what was decided'"]),
    ("unfold", &["retake unfold t1"]),
    ("label", &["retake label t2 draft", "retake rewind draft"]),
    ("title", &["retake title 'Release notes'"]),
    ("archive", &["retake archive", "retake archive --undo --conversation 0192f3a1"]),
    ("erase", &["retake erase t2 --yes", "retake erase --matching 'my password' --yes"]),
    ("checkpoint", &["retake checkpoint before-lunch"]),
    ("files log", &["retake files log"]),
    ("files status", &["retake files status"]),
    ("files diff", &["retake files diff src --from t1"]),
    ("files restore", &["retake files restore src --to before-lunch --yes"]),
    ("files put-back", &["retake files put-back --remove .git/hooks/pre-commit"]),
    ("workspace list", &["retake workspace list"]),
    ("workspace show", &["retake workspace show ."]),
    ("workspace prune", &["retake workspace prune --dry-run"]),
    ("workspace forget", &["retake workspace forget 3 --yes"]),
    ("search", &["retake search 'release notes'", "retake search parser --since 2d --include rewound"]),
    ("export", &["retake export --format markdown", "retake export --full --output talk.jsonl"]),
    ("import", &["retake import talk.jsonl", "retake import - < talk.jsonl"]),
    ("models", &["retake models"]),
    ("mcp add", &["retake mcp add time -- uvx mcp-server-time"]),
    ("mcp list", &["retake mcp list"]),
    ("mcp tools", &["retake mcp tools time"]),
    ("mcp remove", &["retake mcp remove time"]),
    ("mcp allow", &["retake mcp allow time --yes"]),
    ("config list", &["retake config list"]),
    ("config get", &["retake config get model.default"]),
    ("config set", &["retake config set model.default demo"]),
    ("config unset", &["retake config unset model.default"]),
    ("config check", &["retake config check"]),
    ("config path", &["retake config path"]),
    ("backup", &["retake backup copy.db"]),
    ("doctor", &["retake doctor"]),
    ("serve", &["retake serve", "retake serve --listen 127.0.0.1:4117"]),
    ("status", &["retake status"]),
    ("stop", &["retake stop"]),
    ("completions", &["retake completions bash > ~/.local/share/bash-completion/completions/retake"]),
    ("man", &["retake man > ~/.local/share/man/man1/retake.1"]),
];

/// The examples of a verb, a command line each; of one with verbs below it, those of all of them. Nothing of what is no verb.
pub(crate) fn of(verb: &str) -> Vec<&'static str> {
    let is_below =
        |name: &str| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    EXAMPLES.iter().filter(|(name, _)| is_below(name)).flat_map(|(_, lines)| lines.iter().copied()).collect()
}

/// The words of each example, as a shell takes them apart: a redirection and a pipe are the shell's.
pub fn examples() -> Vec<Vec<String>> {
    EXAMPLES.iter().flat_map(|(_, lines)| lines.iter().map(|line| words(line))).collect()
}

fn words(line: &str) -> Vec<String> {
    let line = line.rsplit_once("| ").map_or(line, |(_, last)| last);
    let line = line.split_once(['<', '>']).map_or(line, |(command, _)| command);
    let mut words = Vec::new();
    for (at, piece) in line.split('\'').enumerate() {
        // What is quoted is one word.
        if at % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The examples behind the help of each verb.
pub(crate) fn behind(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, above: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{above} {name}").trim_start().to_owned();
        command = command.mut_subcommand(name, |verb| {
            let help =
                of(&path).iter().fold("For example:".to_owned(), |all, line| format!("{all}\n  {line}"));
            below(verb, &path).after_help(help)
        });
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    /// The verbs that something does, as they are typed.
    fn verbs(command: &Command, above: &str) -> Vec<String> {
        let below = |verb: &Command| {
            let path = format!("{above} {}", verb.get_name()).trim_start().to_owned();
            let all = verbs(verb, &path);
            if all.is_empty() { vec![path] } else { all }
        };
        command.get_subcommands().flat_map(below).collect()
    }

    #[test]
    fn every_verb_has_an_example_and_nothing_else_has() {
        let named: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(verbs(&Cli::command(), ""), named);
    }

    #[test]
    fn every_example_is_one_of_its_verb_or_leads_to_it() {
        for (verb, lines) in EXAMPLES {
            for line in *lines {
                let words = words(line);
                Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
                assert!(line.len() <= 78, "a narrow terminal would break it: {line}");
                let is_of_it = words[1..].join(" ").starts_with(verb);
                assert!(is_of_it || *line == "retake rewind draft", "{line}");
            }
        }
    }
}
