//! A command line as the commands that it runs, for rules: `a && b | c` is three. Rules that allow only match lines that are
//! proven plain ([`plain_line_in`]); for rules that deny or ask, all other lines are parsed too, as far as possible. Must never
//! run or expand anything.

mod caught;
mod loose;
mod runners;

use runners::RunnerKind;

use crate::shell_line::{PlainCommand, StartFolder, WordKind, plain_line_in};

/// One of the commands of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Its words without quotes.
    words: Vec<String>,
    /// The number of first words that the program certainly gets, whatever the shell does to the rest of the line. 0 if the line
    /// is not proven plain.
    fixed: usize,
}

/// Shell keywords before a command.
const KEYWORDS: &[&str] = &["!", "{", "do", "elif", "else", "if", "then", "until", "while"];

/// The deepest nesting of command lines that is parsed; deeper ones are not plain.
const DEPTH: usize = 4;

impl Part {
    fn plain(command: PlainCommand) -> Self {
        let fixed = command.words.iter().take_while(|word| word.kind == WordKind::Fixed).count();
        Self { words: command.words.into_iter().map(|word| word.text).collect(), fixed }
    }

    /// Whether the command certainly begins with these words; `*` in one of them matches any letters.
    pub(super) fn begins(&self, prefix: &str) -> bool {
        begins(&self.words[..self.fixed], prefix)
    }

    /// The same for a rule that denies or asks. It also looks behind `sudo`, `env` and similar, and accepts another path to the
    /// program, and options before a word of the rule.
    pub(super) fn is_caught(&self, prefix: &str) -> bool {
        let assigned = self.words.iter().take_while(|word| is_assignment(word)).count();
        let words = &self.words[assigned..];
        let wrapped = words.first().is_some_and(|first| KEYWORDS.contains(&first.as_str()))
            || runners::hides_another(&strs(words));
        let starts = if wrapped { words.len() } else { 1 };
        (0..starts.min(words.len())).any(|start| caught::catches(&words[start..], prefix))
    }

    /// Rules for it, from narrow to wide: the words that tell what it does and, unless it runs other programs, its name. None
    /// that a rule would interpret in another way.
    pub(super) fn rules(&self) -> Vec<String> {
        let words = strs(&self.words);
        let name = runners::says_itself(&words).then_some(1);
        let sayable = |word: &&str| {
            !word.is_empty()
                && !word.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '*' | '?'))
        };
        let rules = runners::telling(&words).into_iter().chain(name).map(|count| &words[..count]);
        rules.filter(|words| words.iter().all(sayable)).map(|words| words.join(" ")).collect()
    }
}

/// Whether these words of a rule name a program that runs other programs or code, without what it runs: then anything after
/// them is allowed.
pub(super) fn allows_anything(rule: &str) -> bool {
    let words: Vec<&str> = rule.split_whitespace().collect();
    !words.is_empty() && !runners::says_itself(&words) && runners::telling(&words).is_none()
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn begins(words: &[String], prefix: &str) -> bool {
    let mut words = words.iter();
    prefix.split_whitespace().all(|pattern| words.next().is_some_and(|word| super::glob::word(pattern, word)))
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The commands of a line.
pub(super) fn parts(line: &str, begins: StartFolder) -> Vec<Part> {
    let mut parts = Vec::new();
    read(line, begins, 0, &mut parts);
    parts
}

fn read(line: &str, begins: StartFolder, depth: usize, parts: &mut Vec<Part>) {
    let first = parts.len();
    match plain_line_in(line, begins).filter(|_| depth <= DEPTH) {
        Some(plain) => parts.extend(plain.commands.into_iter().map(Part::plain)),
        None => parts.append(&mut loose::parts(line)),
    }
    if depth > DEPTH {
        return;
    }
    for at in first..parts.len() {
        let words = &parts[at].words;
        let reads_lines =
            |word: &String| matches!(runners::runs(&[word]), Some(RunnerKind::Lines | RunnerKind::Shell));
        if words.iter().any(reads_lines) {
            let lines: Vec<String> =
                words.iter().filter(|word| word.contains(char::is_whitespace)).cloned().collect();
            for line in lines {
                read(&line, begins, depth + 1, parts);
            }
        }
    }
}

#[cfg(test)]
mod tests;
