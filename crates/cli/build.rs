//! Links equal functions once, where the linker can do that: they are a fourteenth of the program, and each unoptimised crate has
//! copies of them. Must never fail a build that would succeed without it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The target whose own linker is lld. Other linkers may not have the option.
const WITH_LLD: &str = "x86_64-unknown-linux-gnu";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if value("PROFILE") == "release" && is_linked_by_lld() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

fn is_linked_by_lld() -> bool {
    let flags = value("CARGO_ENCODED_RUSTFLAGS");
    let names_linker =
        !value("RUSTC_LINKER").is_empty() || ["linker", "fuse-ld"].iter().any(|it| flags.contains(it));
    let is_usual = value("TARGET") == WITH_LLD && value("HOST") == WITH_LLD && !names_linker;
    is_usual
        && sysroot().is_some_and(|at| at.join("lib/rustlib").join(WITH_LLD).join("bin/rust-lld").exists())
}

/// Where the compiler is installed. One that came without lld does not link with it.
fn sysroot() -> Option<PathBuf> {
    let said = Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]).output().ok()?;
    Some(String::from_utf8(said.stdout).ok()?.trim_end().into())
}

fn value(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
