//! Links equal functions once, where the linker can do that: they are a fourteenth of the program, because each unoptimised package
//! has copies of its own. Must never fail a build that would succeed without it.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The linker's option. Only code is compared, never data.
const OPTION: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = value("TARGET").to_uppercase().replace(['-', '.'], "_");
    for name in ["RUSTFLAGS", &format!("CARGO_TARGET_{target}_LINKER")] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // Also `dist`, which inherits from it. A debug build links often, and its size does not matter.
    let counts = value("PROFILE") == "release" && value("CARGO_CFG_TARGET_OS") == "linux";
    if counts && accepts_option() {
        println!("cargo::rustc-link-arg-bins={OPTION}");
    }
}

/// Whether a program can be linked with the option.
fn accepts_option() -> bool {
    let folder = PathBuf::from(value("OUT_DIR"));
    let (source, program) = (folder.join("probe.rs"), folder.join("probe"));
    if fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let linker = Some(value("RUSTC_LINKER")).filter(|linker| !linker.is_empty());
    let mut rustc = Command::new(value("RUSTC"));
    rustc.arg(&source).arg("-o").arg(&program).args(["--target", &value("TARGET")]);
    rustc.arg(format!("-Clink-arg={OPTION}"));
    rustc.args(linker.map(|linker| format!("-Clinker={linker}")));
    rustc.args(value("CARGO_ENCODED_RUSTFLAGS").split('\u{1f}').filter(|flag| !flag.is_empty()));
    rustc.output().is_ok_and(|said| said.status.success())
}

fn value(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
