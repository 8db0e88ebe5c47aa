//! The same with git, in a git folder of its own, without any user's configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::disk;
use super::keeps::SnapshotProgram;

/// Whether git syncs its own files, and the restored ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Yes,
    No,
}

/// A git folder beside a work tree.
pub(super) struct Git {
    work: PathBuf,
    home: PathBuf,
    durable: Durable,
    /// The trees of the snapshots; consecutive ones differ.
    trees: Vec<String>,
}

/// The version of git; `None` without git.
pub(super) fn version() -> Option<String> {
    let output =
        Command::new("git").arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().trim_start_matches("git version ").to_owned())
}

impl Git {
    /// An empty git folder.
    pub(super) fn new(work: &Path, home: &Path, durable: Durable) -> Self {
        Self { work: work.into(), home: home.into(), durable, trees: Vec::new() }
    }

    fn run(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let fsync = if self.durable == Durable::Yes { "core.fsync=all" } else { "core.fsync=none" };
        let output = Command::new("git")
            .args(["-c", fsync, "-c", "gc.auto=0", "-c", "core.autocrlf=false"])
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_DIR", &self.home)
            .env("GIT_WORK_TREE", &self.work)
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_OBJECT_DIRECTORY")
            .current_dir(&self.work)
            .output()
            .context("cannot run git")?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "git {}: {}", arguments.join(" "), said.trim());
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Git {
    /// Commits everything, so that it is packed as git packs histories.
    pub(super) fn commit(&mut self) -> anyhow::Result<()> {
        self.run(&["add", "-A"])?;
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        self.run(&[&author[..], &["commit", "-q", "-m", "edit"]].concat()).map(drop)
    }

    /// Packs all commits into one file.
    pub(super) fn pack(&mut self) -> anyhow::Result<()> {
        self.run(&["repack", "-a", "-d", "-q"]).map(drop)
    }

    /// Restores the files that differ from the last snapshot, and syncs them.
    pub(super) fn checkout(&mut self) -> anyhow::Result<()> {
        self.run(&["checkout", "-q", "--", "."])?;
        Ok(disk::sync(&self.work)?)
    }
}

impl SnapshotProgram for Git {
    fn fresh(&mut self) -> anyhow::Result<()> {
        if self.home.exists() {
            fs::remove_dir_all(&self.home)?;
        }
        self.trees.clear();
        self.run(&["init", "-q"]).map(drop)
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        self.run(&["add", "-A"])?;
        let tree = self.run(&["write-tree"])?;
        if self.trees.last() != Some(&tree) {
            self.trees.push(tree);
        }
        Ok(())
    }

    fn before_restore(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.trees.pop();
        let tree = self.trees.last().context("there is no snapshot to go back to")?;
        self.run(&["read-tree", "--reset", "-u", tree])?;
        if self.durable == Durable::Yes {
            // git syncs its index, never the files that it writes.
            disk::sync(&self.work)?;
        }
        Ok(())
    }

    fn usage(&self) -> anyhow::Result<u64> {
        Ok(disk::usage(&self.home)?)
    }
}
