//! The most that a command line does to the world. A line that is not certainly read-only may do anything. Read-only lines run
//! in a sandbox that enforces it: here it is only decided which lines run that way, without an approval. It must never read
//! the file system.

use std::path::{Component, Path, PathBuf};

use retake_core::{EffectClass, PlainCommand, PlainWord, WordKind, plain_line};

/// The class of a command line that begins in a folder below one of these roots. `confined` is whether it runs in a sandbox
/// with a closed network, so that it cannot have an effect outside of the workspace and the temporary folders.
pub fn class_of(command: &str, roots: &[PathBuf], confined: Confined) -> EffectClass {
    match plain_line(command) {
        Some(line) if !line.commands.is_empty() && !line.has_background && reads(&line.commands, roots) => {
            EffectClass::None
        }
        _ => confined.class(),
    }
}

impl Confined {
    /// The most that such a command does.
    pub(super) fn class(self) -> EffectClass {
        match self {
            Self::Yes => EffectClass::Workspace,
            Self::No => EffectClass::External,
        }
    }
}

/// Whether a sandbox confines a command, its network included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confined {
    /// Yes.
    Yes,
    /// No.
    No,
}

fn reads(commands: &[PlainCommand], roots: &[PathBuf]) -> bool {
    commands.iter().all(|command| reads_only(command, roots))
}

/// Whether a command is known to only read, and names nothing outside of the roots. The kernel prevents its other effects,
/// also those of settings that it reads.
fn reads_only(command: &PlainCommand, roots: &[PathBuf]) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let prints = matches!(program.text.as_str(), ":" | "echo" | "false" | "printf" | "pwd" | "true");
    if prints {
        // Values of variables may be secrets of the person, but these are already withheld.
        return rest.iter().all(is_known);
    }
    let words: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let starts =
        |prefixes: &[&str]| words.iter().any(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    let fits = match program.text.as_str() {
        "[" | "basename" | "cat" | "cmp" | "cut" | "diff" | "dirname" | "grep" | "head" | "ls" | "nl"
        | "realpath" | "rev" | "stat" | "tac" | "tail" | "test" | "tr" => true,
        // A file in the folder may name others anywhere.
        "du" | "wc" => !starts(&["--f"]),
        "file" => !starts(&["--f"]) && !has_short(&words, 'f'),
        // Without a folder it goes home, and with `-` to the previous one.
        "cd" => matches!(words[..], [folder] if !folder.is_empty() && !folder.starts_with('-')),
        "rg" => !starts(&["--pre", "--hostname", "--search-zip"]) && !has_short(&words, 'z'),
        "find" => !starts(&["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0"]),
        "sort" => !starts(&["--o", "--c", "-T", "--t", "--f"]) && !has_short(&words, 'o'),
        // A second name is an output file.
        "uniq" => words.iter().filter(|word| !word.starts_with('-')).count() <= 1,
        "sed" => prints_lines(&words),
        "git" => git_reads(&words),
        _ => false,
    };
    fits && rest.iter().all(|word| is_known(word) && stays_inside(&word.text, roots))
}

/// Whether the expansion of a word is known: its text, or names of files in the named folder.
fn is_known(word: &PlainWord) -> bool {
    match word.kind {
        WordKind::Fixed => true,
        WordKind::Pattern => !word.text.contains(['~', '{']),
        WordKind::Unknown => false,
    }
}

/// `sed -n '1,20p' file`: prints line numbers, and nothing else.
fn prints_lines(words: &[&str]) -> bool {
    let is_script = |script: &str| {
        script.ends_with('p') && script.chars().all(|c| c.is_ascii_digit() || ",$p;".contains(c))
    };
    matches!(words, ["-n", script, files @ ..] if is_script(script) && !files.iter().any(|file| file.starts_with('-')))
}

fn git_reads(words: &[&str]) -> bool {
    let (verb, rest) = match words {
        ["--no-pager" | "-P", "-C", _, verb, rest @ ..] | ["-C", _, verb, rest @ ..] => (verb, rest),
        ["--no-pager" | "-P", verb, rest @ ..] | [verb, rest @ ..] => (verb, rest),
        [] => return false,
    };
    let starts =
        |prefixes: &[&str]| rest.iter().any(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    match *verb {
        "blame" | "cat-file" | "describe" | "diff" | "grep" | "log" | "ls-files" | "ls-tree"
        | "merge-base" | "rev-list" | "rev-parse" | "shortlog" | "show" | "status" => {
            // Git accepts each unambiguous prefix of an option, and `grep` combined letters.
            let opens = *verb == "grep" && has_short(rest, 'O');
            !opens && !starts(&["--ou", "--ext", "--op", "-O", "--no-index"])
        }
        "branch" => rest.iter().all(|word| {
            matches!(*word, "-a" | "-r" | "-v" | "-vv" | "--all" | "--list" | "--remotes" | "--show-current")
        }),
        "remote" => matches!(rest, [] | ["-v"]),
        "stash" => matches!(rest, ["list"]),
        "tag" => matches!(rest, [] | ["-l" | "--list"]),
        _ => false,
    }
}

/// Whether a one-letter option is among the arguments, alone or combined.
fn has_short(arguments: &[&str], letter: char) -> bool {
    arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
}

/// Whether a word, as a path, names nothing outside of the roots. An option that contains a path counts as outside.
fn stays_inside(word: &str, roots: &[PathBuf]) -> bool {
    let path = Path::new(word);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let is_outside = path.is_absolute() && !roots.iter().any(|root| path.starts_with(root));
    let hides = word.starts_with('-') && word.contains('/');
    !climbs && !is_outside && !hides
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use retake_core::EffectClass;

    use super::{Confined, class_of};

    #[test]
    fn reading_commands_are_recognised() {
        let rows = [
            "ls",
            "  ls -la src ",
            "cat 'a file' b.txt",
            "pwd",
            "echo hello world",
            "echo 'a > b; c | d $(e)'",
            "git status --short",
            "git log --oneline -5",
            "git show HEAD^:src/lib.rs",
            "rg 'fn (a|b)' src",
            "grep -rn \"a b\" .",
            "find . -name '*.rs' -type f",
            "head -c 10 /work/x/a",
            "ls *.rs",
            "ls a\\ b # all",
            "git diff HEAD~1 *.rs",
            "git --no-pager -C sub log",
            "git grep -in --or -e 'To Do' --only-matching",
            "du -sh src && wc -l a && file -b a",
            "git log | head",
            "cat x 2>&1",
            "pwd; ls",
            "cd src && ls -la 2>/dev/null || echo none",
            "grep -rn a . | sort | uniq -c | sort -rn | head -5",
            "sed -n '10,20p;$p' src/lib.rs",
            "find . -name '*.rs' | wc -l",
            "git branch -a && git status --short",
        ];
        for row in rows {
            assert_eq!(class(row), EffectClass::None, "{row}");
        }
    }

    #[test]
    fn an_uncertain_command_is_classified_as_unlimited() {
        let rows = [
            "",
            "make",
            "ls; rm -r x",
            "ls && rm x",
            "ls & rm x",
            "cat a | sh",
            "cat a > b",
            "cat < a",
            "echo $(rm x)",
            "echo \"$(rm x)\"",
            "echo `rm x`",
            "echo \"a`rm x`\"",
            "ls\nrm x",
            "ls\rrm x",
            "ls 'never closed",
            "cat ~/.ssh/id_rsa",
            "cat /etc/passwd",
            "cat ../../secret",
            "cat src/../../secret",
            "cat /work/x/../secret",
            "cat /work/xy",
            "cat {/etc/passwd,a}",
            "cat $HOME/.netrc",
            "grep -f/etc/shadow a",
            "grep --file=/etc/shadow a",
            "A=1 ls",
            "./ls",
            "/bin/ls",
            "\\ls",
            "git push",
            "git -c core.pager=x log",
            "git --exec-path=x log",
            "git diff --output=a",
            "git diff --outpu a",
            "git log --ext-diff",
            "git stash",
            "git branch x",
            "git -c core.fsmonitor=x status",
            "git diff --no-index a b",
            "git stash drop",
            "git log | sh",
            "git log & ls",
            "ls | tee a",
            "ls | xargs rm",
            "cat a > /dev/null/x",
            "echo $SECRET",
            "sort a -o b",
            "sort --output=b a",
            "uniq a b",
            "sed -i 's/a/b/' c",
            "sed -n 'w b' a",
            "cd ~ && ls",
            "cat {a,b}",
            "cat ~/x",
            "cd .. && ls",
            "cd; cat .netrc",
            "cd - && ls",
            "cd -- && ls",
            "cd '' && ls",
            "cd sub && ./ls",
            "find . -delete",
            "find . -exec rm a +",
            "find . -fprintf a b",
            "rg --pre sh x",
            "rg -nz x",
            "! ls",
        ];
        for row in rows {
            assert_eq!(class(row), EffectClass::External, "{row}");
            assert_eq!(class_of(row, &roots(), Confined::Yes), EffectClass::Workspace, "{row}");
        }
    }

    #[test]
    fn trial_22_options_that_name_a_program_or_a_list_of_files_are_in_doubt() {
        for row in [
            "git grep '--ope=cd; cat notes; id #' pat",
            "git grep --op=id pat",
            "git grep -iOid pat",
            "git grep -nO pat",
            "find -files0-from list",
            "du -a --files0-from=list",
            "wc --files0=list",
            "file -bf list",
            "file --files-from list",
        ] {
            assert_eq!(class(row), EffectClass::External, "{row}");
        }
    }

    fn class(command: &str) -> EffectClass {
        class_of(command, &roots(), Confined::No)
    }

    fn roots() -> Vec<PathBuf> {
        vec![PathBuf::from("/work/x")]
    }
}
