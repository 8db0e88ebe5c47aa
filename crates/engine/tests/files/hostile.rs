//! A hostile folder delays nobody: special files and endless links instead of git's files and ignore files (number 24).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use super::Yard;

/// Far longer than a call and two steps take.
const SOON: Duration = Duration::from_secs(60);

/// Files that git reads of a repository, and files that say where it is.
const READ_BY_GIT: [&str; 9] = [
    ".git/HEAD",
    ".git/index",
    ".git/config",
    ".git/packed-refs",
    ".git/commondir",
    ".git/refs/heads/evil",
    ".git/refs/deep/evil",
    ".git/worktrees/evil/HEAD",
    ".git/objects/pack/evil.idx",
];

fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .expect("a pipe");
}

impl Yard {
    /// A call, a step back over it and its undo, each with its effect.
    async fn goes_on(&self, what: &str) {
        let all = async {
            self.run("echo made > made").await;
            assert!(self.read("made").is_some());
            self.back("t1").await;
            assert_eq!(self.read("made"), None, "{what}");
            self.undo().await;
            assert!(self.read("made").is_some(), "{what}");
        };
        timeout(SOON, all).await.unwrap_or_else(|_| panic!("{what} holds it up"));
    }
}

#[tokio::test]
async fn trial_24_pipes_and_endless_links_in_gits_folder_do_not_block() {
    for name in READ_BY_GIT {
        for kind in ["a pipe", "an endless link"] {
            let yard = Yard::with(&[("kept", "")]).await;
            yard.git("git init -qb main .; git add .; git commit -qm one");
            let path = yard.path(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            let _ = fs::remove_file(&path);
            match kind {
                "a pipe" => fifo(&path),
                _ => symlink("/dev/zero", &path).expect("a link"),
            }
            yard.goes_on(&format!("{kind} as {name}")).await;
        }
    }
}

#[tokio::test]
async fn trial_24_a_pipe_in_the_place_of_gits_folder_or_of_an_ignore_file_does_not_block() {
    for name in [".git", ".gitignore", ".ignore", ".retakeignore", "HEAD"] {
        let yard = Yard::with(&[("kept", "")]).await;
        fifo(&yard.path(name));
        yard.goes_on(&format!("a pipe as {name}")).await;
    }
}

#[tokio::test]
async fn trial_24_a_repository_whose_git_file_leads_to_a_pipe_does_not_block() {
    let yard = Yard::with(&[("kept", "")]).await;
    fs::create_dir_all(yard.path("evil/refs")).expect("made");
    fs::create_dir_all(yard.path("evil/objects")).expect("made");
    fifo(&yard.path("evil/HEAD"));
    yard.write(".git", "gitdir: evil\n");
    yard.goes_on("a git file").await;
}
