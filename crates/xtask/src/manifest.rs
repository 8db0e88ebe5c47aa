//! A crate's `Cargo.toml`, as far as the checks need it: names of dependencies and of test targets.

use anyhow::Context as _;
use toml::{Table, Value};

/// The manifest of the crate in `crates/NAME`.
#[derive(Debug)]
pub(crate) struct Manifest {
    krate: String,
    table: Table,
}

impl Manifest {
    /// Reads a manifest's text; `krate` is the folder below `crates/`.
    pub(crate) fn parse(krate: &str, text: &str) -> anyhow::Result<Self> {
        let table = text.parse::<Table>().with_context(|| format!("reading crates/{krate}/Cargo.toml"))?;
        Ok(Self { krate: krate.to_owned(), table })
    }

    /// The folder below `crates/`.
    pub(crate) fn krate(&self) -> &str {
        &self.krate
    }

    /// Path of the manifest, relative to the root.
    pub(crate) fn path(&self) -> String {
        format!("crates/{}/Cargo.toml", self.krate)
    }

    /// Its normal and build dependencies, for every target.
    pub(crate) fn dependencies(&self) -> Vec<String> {
        self.tables()
            .into_iter()
            .flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| names(table, kind)))
            .flatten()
            .collect()
    }

    /// Whether a dependency is present only with a feature.
    pub(crate) fn is_optional(&self, name: &str) -> bool {
        let found = self.tables().into_iter().filter_map(|table| table.get("dependencies")?.get(name));
        let mut found = found.map(|value| value.get("optional") == Some(&Value::Boolean(true))).peekable();
        found.peek().is_some() && found.all(|optional| optional)
    }

    /// The dependencies of its tests.
    pub(crate) fn dev_dependencies(&self) -> Vec<String> {
        self.tables().into_iter().flat_map(|table| names(table, "dev-dependencies")).collect()
    }

    /// Whether cargo makes no test binary of each file in `tests/`.
    pub(crate) fn autotests_off(&self) -> bool {
        self.table.get("package").and_then(|p| p.get("autotests")) == Some(&Value::Boolean(false))
    }

    /// Names of the `[[test]]` targets.
    pub(crate) fn test_targets(&self) -> Vec<&str> {
        let targets = self.table.get("test").and_then(Value::as_array);
        targets.into_iter().flatten().filter_map(|target| target.get("name")?.as_str()).collect()
    }

    /// Paths of the `[[bin]]` targets that name one, inside the crate.
    pub(crate) fn bin_paths(&self) -> Vec<&str> {
        let targets = self.table.get("bin").and_then(Value::as_array);
        targets.into_iter().flatten().filter_map(|target| target.get("path")?.as_str()).collect()
    }

    fn tables(&self) -> Vec<&Table> {
        let targets = self.table.get("target").and_then(Value::as_table);
        let per_target = targets.into_iter().flatten().filter_map(|(_, t)| t.as_table());
        std::iter::once(&self.table).chain(per_target).collect()
    }
}

/// Package names, also of renamed dependencies.
fn names(table: &Table, kind: &str) -> Vec<String> {
    let dependencies = table.get(kind).and_then(Value::as_table);
    dependencies
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let package = value.get("package").and_then(Value::as_str);
            package.unwrap_or(name).to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Manifest;

    #[test]
    fn reads_dependencies_of_every_kind() {
        let text = "[package]\nname='x'\nautotests=false\n[dependencies]\na='1'\nb={package='c',version='1'}\n\
                    [target.'cfg(unix)'.dependencies]\nd='1'\n[dev-dependencies]\ne='1'\n[[test]]\nname='runner'\n";
        let manifest = Manifest::parse("x", text).unwrap();
        assert_eq!(manifest.dependencies(), ["a", "c", "d"]);
        assert_eq!(manifest.dev_dependencies(), ["e"]);
        assert!(manifest.autotests_off());
        assert_eq!(manifest.test_targets(), ["runner"]);
    }
}
