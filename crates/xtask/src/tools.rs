//! Tools that tests and checks run but that are not linked: which ones, whether they are installed, how to install
//! them. It must install nothing outside `target/tools`, except system packages when root runs it, and a component of the Rust
//! toolchain.

mod language_servers;
mod npm;
mod packages;

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// A tool that cargo builds, pinned.
pub(crate) struct CargoTool {
    name: &'static str,
    version: &'static str,
    /// Further arguments of `cargo install`. `--debug` builds several times as fast.
    arguments: &'static [&'static str],
    why: &'static str,
}

/// A real model server for the engine's tests.
pub(crate) const LLMPOSTER: CargoTool = CargoTool {
    name: "llmposter",
    version: "0.5.0",
    arguments: &["--no-default-features", "--debug"],
    why: "the tests talk to it as to a provider of models",
};

/// Checks licences, bans and sources of dependencies.
pub(crate) const CARGO_DENY: CargoTool = CargoTool {
    name: "cargo-deny",
    version: "0.20.2",
    arguments: &["--debug"],
    why: "it checks what we depend on",
};

/// Changes core, to test its tests.
pub(crate) const CARGO_MUTANTS: CargoTool = CargoTool {
    name: "cargo-mutants",
    version: "27.1.0",
    arguments: &["--debug"],
    why: "it changes core, to see whether its tests notice",
};

/// Makes a web site of the guide.
pub(crate) const MDBOOK: CargoTool = CargoTool {
    name: "mdbook",
    version: "0.5.4",
    arguments: &["--no-default-features"],
    why: "it builds the guide",
};

/// A tool that pip installs into a folder of its own, pinned.
struct PythonTool {
    name: &'static str,
    version: &'static str,
    /// Its command.
    command: &'static str,
    why: &'static str,
}

/// A real MCP server.
const MCP_SERVER: PythonTool = PythonTool {
    name: "mcp-server-time",
    version: "2026.10.19",
    command: "mcp-server-time",
    why: "the tests call its tools",
};

/// Sends an API every request that its document describes.
const API_TESTER: PythonTool = PythonTool {
    name: "schemathesis",
    version: "4.32.5",
    command: "schemathesis",
    why: "it tests the owner by its own document",
};

/// Generates a client from an API's document.
const CLIENT_GENERATOR: PythonTool = PythonTool {
    name: "openapi-python-client",
    version: "0.29.1",
    command: "openapi-python-client",
    why: "the tests rewind with a client that it makes",
};

/// A real Matrix server. Its licence (AGPL) forbids nothing of that, but it must never be linked.
const MATRIX_SERVER: PythonTool = PythonTool {
    name: "matrix-synapse",
    version: "1.163.2",
    command: "synapse_homeserver",
    why: "the tests of the chat gateway talk to it",
};

/// A common client of Discord, as a library of an interpreter.
const DISCORD_CLIENT: PythonTool = PythonTool {
    name: "discord.py",
    version: "2.7.1",
    command: "python3",
    why: "the tests check with it that the fake Discord is one",
};

/// The system's packages for the tests. `asked` is the command to repeat after an installation.
///
/// # Errors
/// One is missing and can't be installed; the error says what to do.
pub(crate) fn packages_for_tests(asked: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    packages::ensure(packages::FOR_TESTS, asked, out)
}

/// All other tools of the tests.
///
/// # Errors
/// A tool is missing and can't be installed; the error says what to do.
pub(crate) fn for_tests(out: &mut dyn Write) -> anyhow::Result<()> {
    for tool in [&MCP_SERVER, &API_TESTER, &CLIENT_GENERATOR, &MATRIX_SERVER, &DISCORD_CLIENT] {
        ensure_python_tool(tool, out)?;
    }
    language_servers::ensure(&root()?, out)?;
    npm::ensure_for_gateway(&root()?, out)?;
    ensure_tool(&LLMPOSTER, out).map(drop)
}

/// The terminal for the README's picture.
///
/// # Errors
/// It is missing and can't be installed; the error says what to do.
pub(crate) fn ensure_terminal(out: &mut dyn Write) -> anyhow::Result<()> {
    packages::ensure(&[packages::TMUX], "cargo xtask picture", out)
}

/// The path of a cargo tool, installed now if it is missing or has another version.
///
/// # Errors
/// The build of the tool failed.
pub(crate) fn ensure_tool(tool: &CargoTool, out: &mut dyn Write) -> anyhow::Result<PathBuf> {
    let root = root()?;
    let path = root.join("bin").join(tool.name);
    if is_installed(&root, tool) {
        return Ok(path);
    }
    let CargoTool { name, version, why, .. } = tool;
    writeln!(out, "tools: building {name} {version} into {}, once, some minutes: {why}", root.display())?;
    let mut install = cargo();
    install.args(["install", "--locked", "--root"]).arg(&root).args(tool.arguments);
    // Common dependencies of two tools are built once.
    install.arg("--target-dir").arg(root.join("build"));
    install.arg(format!("{name}@{version}"));
    if !install.status().with_context(|| format!("starting {install:?}"))?.success() {
        bail!(
            "{name} {version} could not be built (cargo says why above): {why}; with a network, run the same `cargo xtask` \
             command again"
        );
    }
    writeln!(out, "tools: {name} {version} is ready")?;
    Ok(path)
}

/// Installs a Python tool if it is missing or has another version.
fn ensure_python_tool(tool: &PythonTool, out: &mut dyn Write) -> anyhow::Result<()> {
    let PythonTool { name, version, why, .. } = tool;
    let home = root()?.join(name);
    if is_python_installed(&home, tool) {
        return Ok(());
    }
    writeln!(out, "tools: installing {name} {version} into {}: {why}", home.display())?;
    let pip = home.join("bin/pip");
    let steps: [(&Path, Vec<String>); 2] = [
        (Path::new("python3"), vec!["-m".into(), "venv".into(), home.display().to_string()]),
        (&pip, vec!["install".into(), "--quiet".into(), format!("{name}=={version}")]),
    ];
    for (program, arguments) in steps {
        let status = Command::new(program).args(&arguments).status();
        if !status.is_ok_and(|status| status.success()) {
            let command = format!("{} {}", program.display(), arguments.join(" "));
            bail!(
                "{name} {version} could not be installed: {why}; `{command}` failed and says why above; with a network, \
                 run the same `cargo xtask` command again"
            );
        }
    }
    Ok(())
}

/// Whether the command is there, and pip's record of this version.
fn is_python_installed(home: &Path, tool: &PythonTool) -> bool {
    let record = format!("site-packages/{}-{}.dist-info", tool.name.replace(['-', '.'], "_"), tool.version);
    let pythons = std::fs::read_dir(home.join("lib")).into_iter().flatten().flatten();
    home.join("bin").join(tool.command).is_file()
        && pythons.into_iter().any(|python| python.path().join(&record).is_dir())
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Command {
    starting(&env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from))
}

/// A command that is not told about this package.
///
/// Cargo described this package to us in our environment. Build scripts of dependencies read the same variables: passed on, they
/// would make cargo build those again, each time that a person and this program take turns.
pub(crate) fn starting(program: &Path) -> Command {
    let mut command = Command::new(program);
    let is_ours = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_ours)) {
        command.env_remove(name);
    }
    command
}

/// Where cargo installs tools. `.cargo/config.toml` tells the tests where their commands are.
fn root() -> anyhow::Result<PathBuf> {
    let commands = env::var_os("RETAKE_TEST_TOOLS").map(PathBuf::from);
    let root = commands.as_deref().and_then(Path::parent);
    Ok(root.context("RETAKE_TEST_TOOLS names no folder; start this as `cargo xtask`")?.to_path_buf())
}

/// Whether the command exists, and cargo's record of the folder has this version.
fn is_installed(root: &Path, tool: &CargoTool) -> bool {
    let record = std::fs::read_to_string(root.join(".crates.toml")).unwrap_or_default();
    let entry = format!("\"{} {} (", tool.name, tool.version);
    root.join("bin").join(tool.name).is_file() && record.contains(&entry)
}

#[cfg(test)]
mod tests {
    use super::{CARGO_DENY, DISCORD_CLIENT, LLMPOSTER, MCP_SERVER, is_installed, is_python_installed};

    #[test]
    fn another_version_is_not_the_tool() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/llmposter"), "").unwrap();
        std::fs::write(root.join("bin/cargo-deny"), "").unwrap();
        let record =
            format!("[v1]\n\"llmposter {} (x)\" = []\n\"cargo-deny 0.0.1 (x)\" = []\n", LLMPOSTER.version);
        std::fs::write(root.join(".crates.toml"), record).unwrap();
        assert!(is_installed(root, &LLMPOSTER));
        assert!(!is_installed(root, &CARGO_DENY));
        std::fs::remove_file(root.join("bin/llmposter")).unwrap();
        assert!(!is_installed(root, &LLMPOSTER));
    }

    #[test]
    fn another_version_is_not_the_python_tool() {
        let home = tempfile::tempdir().unwrap();
        let packages = home.path().join("lib/python3.0/site-packages");
        std::fs::create_dir_all(home.path().join("bin")).unwrap();
        std::fs::write(home.path().join("bin/mcp-server-time"), "").unwrap();
        std::fs::create_dir_all(packages.join("mcp_server_time-0.1.dist-info")).unwrap();
        assert!(!is_python_installed(home.path(), &MCP_SERVER));
        let record = format!("mcp_server_time-{}.dist-info", MCP_SERVER.version);
        std::fs::create_dir_all(packages.join(record)).unwrap();
        assert!(is_python_installed(home.path(), &MCP_SERVER));
        std::fs::write(home.path().join("bin/python3"), "").unwrap();
        assert!(!is_python_installed(home.path(), &DISCORD_CLIENT));
        let record = format!("discord_py-{}.dist-info", DISCORD_CLIENT.version);
        std::fs::create_dir_all(packages.join(record)).unwrap();
        assert!(is_python_installed(home.path(), &DISCORD_CLIENT));
    }
}
