//! No forgotten files: tests are one binary per crate, and `mod` lines lead from a root to every file.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::lex;
use crate::manifest::Manifest;
use crate::source::{Source, places};

/// The root file of a crate's `tests` folder.
const RUNNER: &str = "tests/runner.rs";

/// A crate's tests are one binary, and each of its files is part of a build.
pub(crate) fn check(manifest: &Manifest, sources: &[Source]) -> Vec<Finding> {
    let folder = format!("crates/{}/", manifest.krate());
    let own: Vec<&Source> = sources.iter().filter(|s| s.path().starts_with(&folder)).collect();
    let mut found = one_binary(manifest, &folder, &own);
    let reached = reached(&folder, &manifest.bin_paths(), &own);
    for source in own {
        if !reached.contains(source.path()) {
            let what = "no `mod` line leads here, so it is never built; name it or delete it";
            found.push(Finding::new(source.path(), 0, what));
        }
    }
    found
}

fn one_binary(manifest: &Manifest, folder: &str, own: &[&Source]) -> Vec<Finding> {
    let tests = format!("{folder}tests/");
    let has_tests = own.iter().any(|source| source.path().starts_with(&tests));
    let good = manifest.autotests_off() && manifest.test_targets() == ["runner"];
    if !has_tests || good {
        return Vec::new();
    }
    let what = "tests are one binary: `autotests = false` and one `[[test]]` with `name = \"runner\"`";
    vec![Finding::new(&manifest.path(), 0, what)]
}

/// Files that cargo itself builds.
fn is_root(inside: &str) -> bool {
    let target = ["src/bin/", "examples/", "benches/"]
        .iter()
        .any(|folder| inside.strip_prefix(folder).is_some_and(|rest| !rest.contains('/')));
    target || ["src/lib.rs", "src/main.rs", "build.rs", RUNNER].contains(&inside)
}

fn reached<'a>(folder: &str, bins: &[&str], own: &[&'a Source]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let is_root = |inside: &str| is_root(inside) || bins.contains(&inside);
    let mut open: Vec<&Source> =
        own.iter().copied().filter(|source| is_root(&source.path()[folder.len()..])).collect();
    while let Some(source) = open.pop() {
        if !reached.insert(source.path()) {
            continue;
        }
        let children = children(source, is_root(&source.path()[folder.len()..]));
        open.extend(own.iter().filter(|other| children.contains(other.path())));
    }
    reached
}

/// Paths that the `mod name;` lines of a file lead to.
fn children(source: &Source, root: bool) -> BTreeSet<String> {
    let path = source.path();
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let folder = if root { parent } else { path.trim_end_matches(".rs") };
    let code = &source.all().code;
    let named = places(code, "mod")
        .into_iter()
        .filter_map(|at| module_name(&code[at + "mod".len()..]))
        .map(|name| format!("{folder}/{name}.rs"));
    let pathed = source.all().literals.split("#[path = \"").skip(1);
    let pathed = pathed.filter_map(|rest| rest.split_once('"')).map(|(file, _)| format!("{parent}/{file}"));
    named.chain(pathed).collect()
}

/// The name in `mod name;`; a module with a body has no file.
fn module_name(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let end = rest.find(|c| !lex::is_word(c))?;
    rest[end..].trim_start().starts_with(';').then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::manifest::Manifest;
    use crate::source::Source;

    const ONE: &str = "[package]\nautotests=false\n[[test]]\nname='runner'";

    #[test]
    fn every_file_is_reached() {
        let rows: &[(&[(&str, &str)], usize)] = &[
            (&[("src/lib.rs", "mod a;"), ("src/a.rs", "mod b;"), ("src/a/b.rs", "")], 0),
            (&[("src/lib.rs", "// mod a;"), ("src/a.rs", "")], 1),
            (&[("src/lib.rs", "mod a { }"), ("src/a.rs", "")], 1),
            (&[("src/lib.rs", ""), ("src/bin/x.rs", ""), ("examples/y.rs", "")], 0),
            (&[("src/lib.rs", "#[path = \"a_tests.rs\"]\nmod tests;"), ("src/a_tests.rs", "")], 0),
            (&[("src/lib.rs", "// #[path = \"a.rs\"]"), ("src/a.rs", "")], 1),
            (&[("tests/runner.rs", "mod a;"), ("tests/a.rs", "pub(crate) mod b;"), ("tests/a/b.rs", "")], 0),
            (&[("tests/runner.rs", "mod a;"), ("tests/a.rs", ""), ("tests/b.rs", "")], 1),
        ];
        for (files, count) in rows {
            let sources: Vec<_> =
                files.iter().map(|(path, text)| Source::new(&format!("crates/x/{path}"), text)).collect();
            let found = check(&Manifest::parse("x", ONE).unwrap(), &sources);
            assert_eq!(found.len(), *count, "{files:?}: {found:?}");
        }
    }

    #[test]
    fn tests_are_one_binary() {
        let sources = [Source::new("crates/x/tests/runner.rs", "")];
        let found = |text| check(&Manifest::parse("x", text).unwrap(), &sources).len();
        assert_eq!(found(ONE), 0);
        assert_eq!(found("[package]\nname='x'"), 1);
        assert_eq!(found("[package]\nautotests=false"), 1);
        assert_eq!(found("[package]\nautotests=false\n[[test]]\nname='a'\n[[test]]\nname='b'"), 1);
    }
}
