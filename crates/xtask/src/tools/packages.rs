//! System packages for the tests: which are missing, and how to install them. Only root may install them here; any other
//! user gets the complete list, with the command.

use std::env;
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::bail;

/// A package of Debian and its derivatives.
pub(super) struct Package {
    name: &'static str,
    /// A command line that succeeds only if the package is installed; without one, a command has the package's name.
    probe: Option<&'static [&'static str]>,
    why: &'static str,
}

/// A real terminal.
pub(super) const TMUX: Package = Package {
    name: "tmux",
    probe: None,
    why: "the tests and the README's picture type into `retake` in a real terminal",
};

/// The packages for the tests.
pub(super) const FOR_TESTS: &[Package] = &[
    TMUX,
    Package { name: "strace", probe: None, why: "the tests count what reaches the disk" },
    Package {
        name: "git",
        probe: None,
        why: "the tests compare merges with its own, and show that a repository stays as it is",
    },
    Package {
        name: "python3-venv",
        probe: Some(&["python3", "-c", "import venv, ensurepip"]),
        why: "the tests' MCP server and the programs that read the API's document are written in Python",
    },
    Package { name: "gopls", probe: None, why: "the tests get diagnostics from it, a language server" },
    Package { name: "golang-go", probe: Some(&["go", "version"]), why: "gopls needs it" },
];

impl Package {
    fn is_installed(&self) -> bool {
        let Some([program, arguments @ ..]) = self.probe else { return in_path(self.name) };
        let probe =
            Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    }
}

/// Installs missing packages if root runs it.
///
/// # Errors
/// Some are missing: the error lists all of them, their purpose, and the command.
pub(super) fn ensure(packages: &[Package], asked: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let missing = || packages.iter().filter(|package| !package.is_installed()).collect::<Vec<_>>();
    let found = missing();
    if found.is_empty() {
        return Ok(());
    }
    if is_root() && in_path("apt-get") {
        writeln!(out, "tools: installing the packages {}", names(&found))?;
        let mut install = vec!["install", "-y", "--no-install-recommends"];
        install.extend(found.iter().map(|package| package.name));
        if !apt(&install) && apt(&["update"]) {
            apt(&install);
        }
    }
    match missing().as_slice() {
        [] => Ok(()),
        missing => bail!("{}", to_do(missing, asked)?),
    }
}

/// The missing packages, their purpose, and the command.
fn to_do(missing: &[&Package], asked: &str) -> Result<String, std::fmt::Error> {
    let mut text = format!("these packages are missing: {}\n", names(missing));
    for Package { name, why, .. } in missing {
        writeln!(text, "  {name}: {why}")?;
    }
    writeln!(text, "install them, on Debian and Ubuntu with: sudo apt-get install -y {}", names(missing))?;
    write!(text, "then run again: {asked}")?;
    Ok(text)
}

fn names(packages: &[&Package]) -> String {
    packages.iter().map(|package| package.name).collect::<Vec<_>>().join(" ")
}

fn apt(arguments: &[&str]) -> bool {
    let status = Command::new("apt-get").args(arguments).stdin(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

pub(super) fn in_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::in_path;

    #[test]
    fn commands_are_looked_up_in_the_path() {
        assert!(in_path("sh"));
        assert!(!in_path("no-such-command-of-retake"));
    }
}
