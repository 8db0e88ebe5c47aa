//! Language servers that the tests start: rust-analyzer of the Rust toolchain, and pyright with a Node.js. It must never replace
//! programs that are there already.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::bail;

use super::npm::{self, NpmTool};

/// Why the tests need them.
const WHY: &str = "the tests get diagnostics from it, a language server";

/// The package of pyright in npm's registry.
const PYRIGHT: NpmTool = NpmTool { name: "pyright", version: "1.1.414", why: WHY };

/// Installs those that are missing.
///
/// # Errors
/// One is missing and can't be installed; the error says what to do.
pub(super) fn ensure(root: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    ensure_rust_analyzer(out)?;
    npm::ensure(root, &PYRIGHT, out)
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

fn runs(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
