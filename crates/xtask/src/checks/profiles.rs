//! The profile for packages optimises everything. Cargo lets it inherit the levels of single packages from `release`, where
//! some are left as they are, so each must be set back.

use toml::{Table, Value};

use crate::finding::Finding;

/// Checks the workspace's `Cargo.toml`.
///
/// # Errors
/// The text is no TOML.
pub(crate) fn check(path: &str, text: &str) -> anyhow::Result<Vec<Finding>> {
    let table: Table = text.parse()?;
    let packages = |profile: &str| table.get("profile")?.get(profile)?.get("package")?.as_table();
    let is_set_back = |name: &str| {
        let level = packages("dist").and_then(|dist| dist.get(name)?.get("opt-level"));
        level == Some(&Value::Integer(3))
    };
    let names = packages("release").into_iter().flatten().map(|(name, _)| name);
    let missing = names.filter(|name| !is_set_back(name));
    Ok(missing
        .map(|name| Finding::new(path, 0, format!("profile.dist.package.{name} needs `opt-level = 3`")))
        .collect())
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
}
