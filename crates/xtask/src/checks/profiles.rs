//! What the profiles must repeat for single packages, because of how cargo combines them:
//!
//! - The `dist` profile inherits the levels of single packages from `release`, where some are low, so each is set back.
//! - Cargo ignores the profile's `strip` for a package that has a level of its own. If that package holds the binary, all symbols
//!   stay in it.

use toml::{Table, Value};

use crate::finding::Finding;

/// The package whose binary is built.
const BINARY: &str = "retake-cli";

/// Checks the workspace's `Cargo.toml`.
///
/// # Errors
/// The text is no TOML.
pub(crate) fn check(path: &str, text: &str) -> anyhow::Result<Vec<Finding>> {
    let table: Table = text.parse()?;
    let profile = |name: &str| table.get("profile")?.get(name)?.as_table();
    let package = |name: &str, package: &str| profile(name)?.get("package")?.get(package);
    let release = profile("release").and_then(|release| release.get("package")?.as_table());
    let names = release.into_iter().flatten().map(|(name, _)| name);
    let is_set_back = |name: &str| {
        let level = package("dist", name).and_then(|package| package.get("opt-level"));
        level == Some(&Value::Integer(3))
    };
    let levels = names
        .filter(|name| !is_set_back(name))
        .map(|name| format!("profile.dist.package.{name} needs `opt-level = 3`"));
    let keeps_strip = |name: &str| {
        let strip = |name| profile(name)?.get("strip");
        // What `dist` does not set, it inherits.
        package(name, BINARY).is_none_or(|own| own.get("strip") == strip(name).or_else(|| strip("release")))
    };
    let symbols = ["release", "dist"]
        .into_iter()
        .filter(|name| !keeps_strip(name))
        .map(|name| format!("profile.{name}.package.{BINARY} needs the `strip` of profile.{name}"));
    Ok(levels.chain(symbols).map(|message| Finding::new(path, 0, message)).collect())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_level_that_release_lowers_and_packages_would_inherit_is_found() {
        let release = "[profile.release.package]\na = { opt-level = 0 }\nb = { opt-level = 1 }\n";
        let dist =
            |level: u8| format!("{release}[profile.dist.package]\na.opt-level = {level}\nb.opt-level = 3\n");
        let found = |text: &str| -> Vec<String> {
            check("Cargo.toml", text).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(found(&dist(3)), [""; 0]);
        assert_eq!(found(&dist(2)), ["Cargo.toml: profile.dist.package.a needs `opt-level = 3`"]);
        assert_eq!(found(release).len(), 2);
        assert_eq!(found(""), [""; 0]);
    }

    #[test]
    fn package_of_the_binary_that_loses_strip_is_found() {
        let text = |own: &str| {
            format!(
                "[profile.dist]\nstrip = \"symbols\"\n[profile.dist.package]\nretake-cli = {{ opt-level = 3{own} }}\n"
            )
        };
        assert!(check("Cargo.toml", &text(", strip = \"symbols\"")).unwrap().is_empty());
        let found = check("Cargo.toml", &text("")).unwrap();
        let message = "Cargo.toml: profile.dist.package.retake-cli needs the `strip` of profile.dist";
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
        let inherits = "[profile.release]\nstrip = true\n[profile.dist.package]\nretake-cli.opt-level = 3\n";
        assert_eq!(check("Cargo.toml", inherits).unwrap().len(), 1);
    }
}
