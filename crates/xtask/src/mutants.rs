//! Mutants of core: `cargo mutants` changes one thing in core at a time and runs core's own tests. A mutant that no test notices
//! must be in the list of `crates/core/mutants.md`. Must never change that list: a person writes why no test can notice it.

use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::root;
use crate::tools::{self, CARGO_MUTANTS};

/// The files of core, and the list.
const CORE: &str = "crates/core/src/";
const LIST: &str = "crates/core/mutants.md";

/// Where the tool writes the outcome of each mutant.
const OUTPUT: &str = "target/mutants";

/// Core's own tests must catch at least this percentage of the viable mutants.
const LEAST_CAUGHT: usize = 90;

/// Runs with fewer viable mutants are not compared with it.
const LEAST_COMPARED: usize = 200;

/// A mutant: its place, and its change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mutant {
    /// Relative to the sources of core.
    file: String,
    line: String,
    /// In the tool's words.
    change: String,
}

/// A permitted miss.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    file: String,
    /// Only in these functions; if empty, anywhere in the file.
    functions: Vec<String>,
}

/// The outcomes of the mutants.
#[derive(Debug)]
struct Outcomes {
    caught: usize,
    missed: Vec<Mutant>,
}

/// Runs the mutants that the options name, and returns whether all missed ones are in the list.
///
/// # Errors
/// An unknown option; the tool is unavailable or failed; the list can't be read.
pub(crate) fn run(options: &[&str], sequences: (&str, &str), out: &mut dyn Write) -> anyhow::Result<bool> {
    let chosen = chosen(options)?;
    let list = root().join(LIST);
    let text = std::fs::read_to_string(&list).with_context(|| format!("reading {}", list.display()))?;
    let listed = listed(&text);
    let tool = tools::ensure_tool(&CARGO_MUTANTS, out)?;
    let output = root().join(OUTPUT);
    std::fs::create_dir_all(&output).with_context(|| format!("making {}", output.display()))?;
    let mut command = std::process::Command::new(&tool);
    command.args(["mutants", "-p", "retake-core", "--baseline", "skip", "--timeout", "60", "--output"]);
    command.arg(&output).args(chosen).env(sequences.0, sequences.1).current_dir(root());
    out.flush()?;
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    // Two and three: some were missed, or timed out.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants failed, and says why above: {status}");
    }
    judge(&outcomes(&output.join("mutants.out"))?, &listed, out)
}

/// The options of the tool.
fn chosen(options: &[&str]) -> anyhow::Result<Vec<String>> {
    match options {
        [] => Ok(Vec::new()),
        ["--file", path, rest @ ..] => {
            let below = path.strip_prefix(CORE).unwrap_or(path);
            let file = format!("{CORE}{below}");
            if !root().join(&file).is_file() {
                bail!("there is no {file}");
            }
            Ok([vec!["--file".to_owned(), file], chosen(rest)?].concat())
        }
        ["--shard", shard, rest @ ..] => {
            Ok([vec!["--shard".to_owned(), (*shard).to_owned()], chosen(rest)?].concat())
        }
        _ => bail!("unknown option {}; there are --file PATH and --shard K/N", options[0]),
    }
}

/// Reports the outcomes, and whether the missed ones are listed.
fn judge(outcomes: &Outcomes, listed: &[Listed], out: &mut dyn Write) -> anyhow::Result<bool> {
    let (caught, missed) = (outcomes.caught, outcomes.missed.len());
    let unlisted: Vec<_> =
        outcomes.missed.iter().filter(|mutant| !listed.iter().any(|row| row.has(mutant))).collect();
    let viable = caught + missed;
    writeln!(out, "{viable} viable mutants: {caught} caught, {missed} missed")?;
    // For one file or a small part, only the list decides.
    let is_enough = viable < LEAST_COMPARED || caught * 100 >= viable * LEAST_CAUGHT;
    if !is_enough {
        writeln!(out, "core's own tests must catch at least {LEAST_CAUGHT} % of them")?;
    }
    if unlisted.is_empty() {
        return Ok(is_enough);
    }
    writeln!(out, "{} of the missed ones are not in {LIST}:", unlisted.len())?;
    unlisted.iter().try_for_each(|mutant| writeln!(out, "  {mutant}"))?;
    Ok(false)
}

/// The tool's results. A mutant whose tests never end counts as caught.
fn outcomes(folder: &Path) -> anyhow::Result<Outcomes> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let caught = read("caught.txt")?.lines().count() + read("timeout.txt")?.lines().count();
    let missed = read("missed.txt")?.lines().map(Mutant::read).collect::<anyhow::Result<_>>()?;
    Ok(Outcomes { caught, missed })
}

/// The rows of all tables whose first column is a file: `` | `file.rs` | `function`, `Type::method` | why | ``. A row without
/// functions is for the whole file.
fn listed(text: &str) -> Vec<Listed> {
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|');
        let names =
            |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let (files, functions) = (names(cells.next()?), names(cells.next()?));
        Some(files.into_iter().map(move |file| Listed { file, functions: functions.clone() }))
    });
    rows.flatten().collect()
}

impl Listed {
    fn has(&self, mutant: &Mutant) -> bool {
        let functions = &self.functions;
        self.file == mutant.file && (functions.is_empty() || functions.iter().any(|name| mutant.is_in(name)))
    }
}

impl Mutant {
    /// Parses a line of the tool: `crates/core/src/tree.rs:12:5: replace == with != in Tree::find`.
    fn read(line: &str) -> anyhow::Result<Self> {
        let read = || {
            let mut parts = line.strip_prefix(CORE)?.splitn(4, ':');
            let (file, line, _) = (parts.next()?, parts.next()?, parts.next()?);
            let (file, line, change) = (file.to_owned(), line.to_owned(), parts.next()?.trim().to_owned());
            Some(Self { file, line, change })
        };
        read().with_context(|| format!("this is no mutant of core: {line}"))
    }

    /// Whether it changes this function: `Tree::find`, `<impl Ord for FilePath>::cmp`.
    fn is_in(&self, function: &str) -> bool {
        let body = self.change.strip_prefix("replace ").and_then(|rest| rest.strip_prefix(function));
        let within = self.change.strip_suffix(function).is_some_and(|rest| rest.ends_with(" in "));
        within || body.is_some_and(|rest| rest.starts_with(' '))
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.file, self.line, self.change)
    }
}

#[cfg(test)]
mod tests {
    use super::{Listed, Mutant, chosen, judge, listed, outcomes};

    const LIST: &str = "\
# Mutants

| file | functions | what |
|---|---|---|
| `tree.rs` | `Tree::find`, `<impl Ord for Leaf>::cmp` | no `Leaf` is that |
| `walk.rs`, `turns.rs` | | the size of a batch |
";

    #[test]
    fn rows_of_the_list_name_files_and_functions() {
        let row = |file: &str, functions: &[&str]| Listed {
            file: file.to_owned(),
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        };
        let expected = [
            row("tree.rs", &["Tree::find", "<impl Ord for Leaf>::cmp"]),
            row("walk.rs", &[]),
            row("turns.rs", &[]),
        ];
        assert_eq!(listed(LIST), expected);
    }

    #[test]
    fn a_missed_mutant_is_listed_by_its_function_or_its_file() {
        let listed = listed(LIST);
        for (line, is_listed) in [
            ("tree.rs:1:2: replace Tree::find -> Option<Leaf> with None", true),
            ("tree.rs:1:2: replace == with != in Tree::find", true),
            ("tree.rs:1:2: delete match arm Some(_) in <impl Ord for Leaf>::cmp", true),
            ("tree.rs:1:2: replace Tree::find_all with ()", false),
            ("tree.rs:1:2: replace == with != in SubTree::find", false),
            ("tree.rs:1:2: replace == with != in Tree::found", false),
            ("walk.rs:7:2: replace + with * in more", true),
            ("files/walk.rs:7:2: replace + with * in more", false),
        ] {
            let mutant = Mutant::read(&format!("crates/core/src/{line}")).unwrap();
            assert_eq!(listed.iter().any(|row| row.has(&mutant)), is_listed, "{line}");
        }
        assert!(Mutant::read("crates/store/src/lib.rs:1:2: replace f with ()").is_err());
    }

    #[test]
    fn missed_mutants_that_are_not_listed_fail_and_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, lines: &[&str]| {
            let lines: String = lines.iter().map(|line| format!("crates/core/src/{line}\n")).collect();
            std::fs::write(folder.path().join(name), lines).unwrap();
        };
        let said = || {
            let mut out = Vec::new();
            let is_good = judge(&outcomes(folder.path()).unwrap(), &listed(LIST), &mut out).unwrap();
            (is_good, String::from_utf8(out).unwrap())
        };
        write("caught.txt", &["id.rs:1:1: replace a with ()", "id.rs:2:1: replace b with ()"]);
        write("timeout.txt", &["id.rs:3:1: replace c with ()"]);
        write("unviable.txt", &["id.rs:4:1: replace d with ()"]);
        write("missed.txt", &["walk.rs:5:1: replace e with ()"]);
        assert_eq!(said(), (true, "4 viable mutants: 3 caught, 1 missed\n".to_owned()));
        write("missed.txt", &["walk.rs:5:1: replace e with ()", "id.rs:6:1: replace - with + in f"]);
        let (is_good, text) = said();
        let named =
            "1 of the missed ones are not in crates/core/mutants.md:\n  id.rs:6 replace - with + in f\n";
        assert!(!is_good && text.ends_with(named), "{text}");
        write("missed.txt", &["walk.rs:5:1: replace e with ()"; 25]);
        write("caught.txt", &["id.rs:1:1: replace a with ()"; 224]);
        assert_eq!(said(), (true, "250 viable mutants: 225 caught, 25 missed\n".to_owned()));
        write("missed.txt", &["walk.rs:5:1: replace e with ()"; 26]);
        let (is_good, text) = said();
        assert!(!is_good && text.contains("at least 90 %"), "{text}");
        std::fs::remove_file(folder.path().join("missed.txt")).unwrap();
        assert!(outcomes(folder.path()).is_err());
    }

    #[test]
    fn options_name_a_file_and_a_shard() {
        let file = "crates/core/src/files/plan/goal.rs";
        for path in [file, "files/plan/goal.rs"] {
            let options = ["--shard", "1/8", "--file", path];
            assert_eq!(chosen(&options).unwrap(), ["--shard", "1/8", "--file", file]);
        }
        assert!(chosen(&["--file", "no.rs"]).is_err() && chosen(&["--file"]).is_err());
        assert!(chosen(&["--jobs", "2"]).is_err());
    }
}
