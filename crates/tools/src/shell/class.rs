//! What a command line does to the world at most. Whatever is not known to read only is taken to do anything: a line is
//! parsed strictly, and when in doubt it is not one of those. It must never look at the file system.

use std::path::{Component, Path, PathBuf};

use retake_core::EffectClass;

/// The class of a command line, for commands that begin in a folder below one of these roots. `confined` says whether it
/// runs in a sandbox with the net closed, so that nothing it does can leave the workspace and the temporary folders.
pub fn class_of(command: &str, roots: &[PathBuf], confined: Confined) -> EffectClass {
    match words(command) {
        Some(line) if reads_only(&line, roots) => EffectClass::None,
        _ if confined == Confined::Yes => EffectClass::Workspace,
        _ => EffectClass::External,
    }
}

/// Whether a command is held in by a sandbox, its net included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confined {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// A simple command.
struct Line {
    words: Vec<String>,
    /// Words may stand for the names of files, which may look like options.
    matches: bool,
}

/// The words of a simple command; nothing, where the line holds anything that a shell would do more with than to split it at
/// spaces, take off quotes and match names.
fn words(command: &str) -> Option<Line> {
    let mut words = Vec::new();
    let mut matches = false;
    let mut word: Option<String> = None;
    let mut rest = command.trim().chars();
    while let Some(char) = rest.next() {
        match char {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        end if end == char => break,
                        '$' | '`' | '\\' | '!' if char == '"' => return None,
                        inner if inner.is_control() => return None,
                        inner => word.push(inner),
                    }
                }
            }
            _ if char.is_alphanumeric() || "_./:,@%+-*?^=".contains(char) => {
                matches |= "*?".contains(char);
                word.get_or_insert_default().push(char);
            }
            _ => return None,
        }
    }
    words.extend(word);
    (!words.is_empty()).then_some(Line { words, matches })
}

/// Whether it is for sure that a command only reads, and only below the roots.
fn reads_only(line: &Line, roots: &[PathBuf]) -> bool {
    let [program, arguments @ ..] = line.words.as_slice() else { return false };
    let starts = |prefixes: &[&str]| {
        arguments.iter().any(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
    };
    let harmless = match program.as_str() {
        "echo" | "pwd" => return true,
        "ls" | "cat" | "wc" | "head" | "tail" | "grep" => true,
        // Options of these can do harm.
        "rg" | "find" | "git" if line.matches => false,
        "rg" => !starts(&["--pre", "--hostname", "--search-zip"]) && !has_short(arguments, 'z'),
        "find" => !starts(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "git" => {
            let verb = arguments.first().map(String::as_str);
            matches!(verb, Some("status" | "diff" | "log" | "show")) && !starts(&["--ou", "--ext"])
        }
        _ => false,
    };
    harmless && arguments.iter().all(|word| stays_inside(word, roots))
}

/// Whether an option of one letter is among the arguments, alone or with others.
fn has_short(arguments: &[String], letter: char) -> bool {
    arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
}

/// Whether a word, taken for a path, names nothing outside of the roots. An option that holds a path is in doubt.
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
    fn what_only_reads_is_known() {
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
        ];
        for row in rows {
            assert_eq!(class(row), EffectClass::None, "{row}");
        }
    }

    #[test]
    fn whatever_is_in_doubt_may_do_anything() {
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
            "ls 'a\nb'",
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
            "git diff *",
            "find *",
            "find . -delete",
            "find . -exec rm a +",
            "find . -fprintf a b",
            "rg --pre sh x",
            "rg -nz x",
            "ls #",
            "! ls",
            "ls a\\ b",
        ];
        for row in rows {
            assert_eq!(class(row), EffectClass::External, "{row}");
            assert_eq!(class_of(row, &roots(), Confined::Yes), EffectClass::Workspace, "{row}");
        }
    }

    fn class(command: &str) -> EffectClass {
        class_of(command, &roots(), Confined::No)
    }

    fn roots() -> Vec<PathBuf> {
        vec![PathBuf::from("/work/x")]
    }
}
