//! Rewinds with the whole program: one `retake` command has changed files, another one reverts that, timed over the whole
//! process. Warm: an owner is running. Cold: none is, and no page of files or stores is in memory. git restores the same
//! edit for comparison, and syncs it, too. Ends the owner that it starts.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use super::git::{Durable, Git};
use super::keeps::SnapshotProgram as _;
use super::{disk, progress};
use crate::report::Report;
use crate::samples::{median, timed};

/// A rewind of so many files, and the names of its measurements: warm and cold.
struct Size {
    files: usize,
    ours: [&'static str; 2],
    git: [&'static str; 2],
}

const SIZES: [Size; 2] = [
    Size {
        files: 5_000,
        ours: ["rewind_5000_ms", "rewind_5000_cold_ms"],
        git: ["git_checkout_5000_ms", "git_checkout_5000_cold_ms"],
    },
    Size {
        files: 20_000,
        ours: ["rewind_20000_ms", "rewind_20000_cold_ms"],
        git: ["git_checkout_20000_ms", "git_checkout_20000_cold_ms"],
    },
];

/// Appended to each file that a command edits.
const EDIT: &str = "// edited";

/// Whether the measured program has been running, so that files are in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Warm,
    Cold,
}

const STARTS: [Start; 2] = [Start::Warm, Start::Cold];

/// Measures the program at `retake` on a copy of a tree with these files; returns what could not be measured.
pub(super) fn measure(
    retake: Option<&Path>,
    (tree, files): (&Path, &[PathBuf]),
    folder: &Path,
    (runs, git): (u64, bool),
    report: &mut Report,
) -> anyhow::Result<Vec<String>> {
    let Some(retake) = retake else {
        SIZES.iter().flat_map(names).for_each(|name| report.missing(name));
        return Ok(vec![
            "`retake` is not beside this program, so no rewind was measured: build it, too".to_owned(),
        ]);
    };
    let mut missing = Vec::new();
    for size in SIZES {
        if size.files > files.len() {
            names(&size).for_each(|name| report.missing(name));
            missing.push(format!("the tree is too small for a rewind of {} files", size.files));
            continue;
        }
        let home = folder.join(format!("rewind-{}", size.files));
        fs::create_dir(&home)?;
        disk::copy(tree, &home.join("work"))?;
        let program = Program { retake, home: &home };
        program.prepare(&files[..size.files])?;
        for (start, name) in STARTS.into_iter().zip(size.ours) {
            progress(name);
            report.measure(name, program.rewinds(start, runs)?);
        }
        for (start, name) in STARTS.into_iter().zip(size.git) {
            match git {
                true => {
                    progress(name);
                    report.measure(name, program.checkouts(start, runs)?);
                }
                false => report.missing(name),
            }
        }
        fs::remove_dir_all(&home)?;
    }
    Ok(missing)
}

fn names(size: &Size) -> impl Iterator<Item = &'static str> {
    size.ours.into_iter().chain(size.git)
}

/// All names of these measurements.
#[cfg(test)]
pub(super) fn all_names() -> impl Iterator<Item = &'static str> {
    SIZES.iter().flat_map(|size| names(size).collect::<Vec<_>>())
}

/// The program, and the folder with its configuration, its data, and its tree.
struct Program<'a> {
    retake: &'a Path,
    home: &'a Path,
}

impl Program<'_> {
    /// Writes the list of files that commands edit.
    fn prepare(&self, files: &[PathBuf]) -> anyhow::Result<()> {
        fs::write(self.home.join("config.toml"), "")?;
        let lines: Vec<u8> =
            files.iter().flat_map(|file| [file.as_os_str().as_bytes(), b"\n"].concat()).collect();
        Ok(fs::write(self.home.join("list"), lines)?)
    }

    fn work(&self) -> PathBuf {
        self.home.join("work")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.retake);
        for (name, below) in [("--data-dir", "data"), ("--config", "config.toml")] {
            command.arg(name).arg(self.home.join(below));
        }
        command.args(arguments).env("HOME", self.home).current_dir(self.work());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let output = self.command(arguments).output().with_context(|| self.failed())?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{}: retake {}: {said}", self.failed(), arguments.join(" "));
        Ok(())
    }

    fn failed(&self) -> String {
        format!("cannot measure {}", self.retake.display())
    }

    /// An owner that runs until this value is dropped.
    fn serve(&self) -> anyhow::Result<Owner> {
        let mut child = self.command(&["serve"]).spawn().with_context(|| self.failed())?;
        let mut line = String::new();
        let said = child.stdout.take().context("it has no output")?;
        let owner = Owner(child);
        // Its first line is printed once it accepts requests.
        BufReader::new(said).read_line(&mut line)?;
        anyhow::ensure!(line.starts_with("serving"), "{}: `retake serve` said {line:?}", self.failed());
        Ok(owner)
    }

    /// The script that edits the files.
    fn script(&self) -> String {
        let list = self.home.join("list");
        format!("while IFS= read -r file; do echo '{EDIT}' >> \"$file\"; done < '{}'", list.display())
    }

    /// The time of a rewind, in milliseconds.
    fn rewinds(&self, start: Start, runs: u64) -> anyhow::Result<f64> {
        let mut times = Vec::new();
        for _ in 0..runs {
            let owner = self.serve()?;
            self.run(&["exec", "--say", "edit", "--", "sh", "-c", &self.script()])?;
            let _owner = (start == Start::Warm).then_some(owner);
            self.settle(start)?;
            times.push(timed(|| self.run(&["rewind", "--yes", "t1"]))?.0 / 1e3);
            self.check_undone()?;
        }
        Ok(median(times))
    }

    /// The time of the same with git.
    fn checkouts(&self, start: Start, runs: u64) -> anyhow::Result<f64> {
        let mut git = Git::new(&self.work(), &self.home.join("git"), Durable::Yes);
        git.fresh()?;
        git.snapshot()?;
        let mut times = Vec::new();
        for _ in 0..runs {
            let edited = Command::new("sh").args(["-c", &self.script()]).current_dir(self.work()).status()?;
            anyhow::ensure!(edited.success(), "the edit failed");
            self.settle(start)?;
            times.push(timed(|| git.checkout())?.0 / 1e3);
            self.check_undone()?;
        }
        Ok(median(times))
    }

    /// Syncs earlier writes; for a cold start, also drops all pages from memory.
    fn settle(&self, start: Start) -> anyhow::Result<()> {
        disk::sync(self.home)?;
        if start == Start::Cold {
            for file in disk::files(self.home)? {
                rustix::fs::fadvise(
                    File::open(self.home.join(file))?,
                    0,
                    None,
                    rustix::fs::Advice::DontNeed,
                )?;
            }
        }
        Ok(())
    }

    fn check_undone(&self) -> anyhow::Result<()> {
        let list = BufReader::new(File::open(self.home.join("list"))?);
        for file in list.split(b'\n') {
            let file = PathBuf::from(OsString::from_vec(file?));
            let bytes = fs::read(self.work().join(&file))?;
            let edited = bytes.ends_with(format!("{EDIT}\n").as_bytes());
            anyhow::ensure!(!edited, "{} was not put back", file.display());
        }
        Ok(())
    }
}

/// A child process of this program.
struct Owner(Child);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id().cast_signed()) {
            // Like Ctrl-C; if that fails, it has ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
        let _: io::Result<_> = self.0.wait();
    }
}
