//! The examples of the verbs, for the help and the manual page. Must never show one that its verb does not accept.

use clap::Command;

use crate::verbs::{Examples, Verb};

/// All examples, in the order of the verbs.
fn all() -> impl Iterator<Item = &'static str> {
    <Verb as Examples>::EXAMPLES.iter().flat_map(|of_verb| of_verb.iter().copied())
}

/// The examples of a verb, such as `files log`; for a verb with subcommands, all of theirs. Empty if there is no such verb.
pub(crate) fn of(verb: &str) -> Vec<&'static str> {
    among(&split(), verb).collect()
}

/// An example, and its words.
type Split = (&'static str, Vec<String>);

/// All examples. Every command starts with this, so each is split once, not once for each verb.
fn split() -> Vec<Split> {
    all().map(|line| (line, words(line))).collect()
}

fn among<'a>(all: &'a [Split], verb: &str) -> impl Iterator<Item = &'static str> + use<'a> {
    let verb: Vec<String> = verb.split(' ').map(str::to_owned).collect();
    let begins = move |words: &[String]| words.get(1..=verb.len()).is_some_and(|begins| begins == verb);
    all.iter().filter(move |(_, words)| begins(words)).map(|(line, _)| *line)
}

/// The words of each example as a shell splits them, without pipes and redirections.
pub fn examples() -> Vec<Vec<String>> {
    all().map(words).collect()
}

fn words(line: &str) -> Vec<String> {
    let line = line.rsplit_once("| ").map_or(line, |(_, last)| last);
    let line = line.split_once(['<', '>']).map_or(line, |(command, _)| command);
    let mut words = Vec::new();
    for (at, piece) in line.split('\'').enumerate() {
        // Quoted text is one word.
        if at % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Adds the examples to the help of each verb.
pub(crate) fn behind(command: Command) -> Command {
    below(command, "", &split())
}

fn below(mut command: Command, above: &str, examples: &[Split]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{above} {name}").trim_start().to_owned();
        command = command.mut_subcommand(name, |verb| {
            let mut help = "For example:".to_owned();
            for line in among(examples, &path) {
                help.extend(["\n  ", line]);
            }
            below(verb, &path, examples).after_help(help)
        });
    }
    command
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    /// The verbs that can be run, as typed.
    fn verbs(command: &Command, above: &str) -> Vec<String> {
        let below = |verb: &Command| {
            let path = format!("{above} {}", verb.get_name()).trim_start().to_owned();
            let all = verbs(verb, &path);
            let runs = all.is_empty() || verb.get_positionals().next().is_some();
            all.into_iter().chain(runs.then_some(path)).collect::<Vec<_>>()
        };
        command.get_subcommands().flat_map(below).collect()
    }

    #[test]
    fn every_verb_has_an_example_and_every_example_a_verb() {
        let verbs = verbs(&Cli::command(), "");
        for verb in &verbs {
            assert!(!of(verb).is_empty(), "{verb} has no example");
        }
        let shown: BTreeSet<&str> = verbs.iter().flat_map(|verb| of(verb)).collect();
        // Each once, and no other one.
        assert_eq!(all().count(), shown.len());
        for line in all() {
            assert!(shown.contains(line), "{line}");
        }
    }

    #[test]
    fn every_example_is_valid_and_fits_a_narrow_terminal() {
        for line in all() {
            Cli::try_parse_from(words(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(line.len() <= 78, "a narrow terminal would wrap it: {line}");
        }
    }
}
