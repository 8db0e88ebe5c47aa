//! Runs all checks over the tree. The tables here say which check applies where; each check has its own
//! module.

use crate::checkout::Checkout;
use crate::checks::{
    cycles, depends, documents, edges, errors, fields, language, layout, logs, marks, profiles, prose,
    purity, shape, values, walls,
};
use crate::finding::Finding;
use crate::source::Source;

/// Checks of one file at a time.
const PER_FILE: &[fn(&Source) -> Vec<Finding>] = &[
    shape::header,
    shape::budget,
    shape::name,
    marks::check,
    purity::core,
    purity::clock,
    edges::serialisation,
    edges::append_only,
    errors::check,
    logs::check,
    fields::check,
    values::check,
];

/// All findings, sorted by place; empty if the tree is tidy.
///
/// # Errors
/// A document that is there and cannot be read.
pub fn tidy(tree: &Checkout) -> anyhow::Result<Vec<Finding>> {
    let mut found = Vec::new();
    for source in &tree.sources {
        found.extend(PER_FILE.iter().flat_map(|check| check(source)));
    }
    for manifest in &tree.manifests {
        found.extend(depends::check(manifest));
        found.extend(layout::check(manifest, &tree.sources));
        found.extend(cycles::check(manifest.krate(), &tree.sources));
        found.extend(prose::check(manifest.krate(), &tree.sources));
    }
    found.extend(walls::check(&tree.sources));
    found.extend(language::sources(&tree.sources, None));
    found.extend(papers(tree)?);
    found.sort();
    Ok(found)
}

fn papers(tree: &Checkout) -> anyhow::Result<Vec<Finding>> {
    let missing: Vec<_> = documents::REQUIRED
        .iter()
        .chain(&[".ci/run"])
        .filter(|path| !tree.has(path))
        .map(|path| Finding::new(path, 0, "missing"))
        .collect();
    if !missing.is_empty() {
        return Ok(missing);
    }
    let crates: Vec<_> = tree.manifests.iter().map(|m| m.krate()).collect();
    let architecture = tree.text("ARCHITECTURE.md")?;
    let mut found = documents::architecture(&architecture, &crates);
    for path in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/security.md"] {
        let text = if tree.has(path) { tree.text(path)? } else { String::new() };
        found.extend(documents::tests(path, &text, &tree.sources));
        found.extend(documents::files(path, &text, &tree.sources));
    }
    if tree.has("Cargo.toml") {
        found.extend(profiles::check("Cargo.toml", &tree.text("Cargo.toml")?)?);
    }
    let readme = tree.text("README.md")?;
    found.extend(documents::commands(&readme, &tree.text(".ci/run")?));
    found.extend(language::readme(&readme));
    let is_plain = |path: &&&str| path.ends_with(".md");
    let documents = documents::REQUIRED.iter().filter(is_plain);
    let in_folders = [tree.documents("docs")?, tree.documents("docs/guide")?].concat();
    for path in documents.copied().chain(in_folders.iter().map(String::as_str)) {
        found.extend(language::check(path, &tree.text(path)?));
    }
    Ok(found)
}

/// Cycles of modules, of a crate or of all, one per line.
#[must_use]
pub fn cycles(tree: &Checkout, krate: Option<&str>) -> Vec<String> {
    let crates = tree.manifests.iter().map(|manifest| manifest.krate());
    let crates = crates.filter(|name| krate.is_none_or(|krate| krate == *name));
    crates.flat_map(|krate| cycles::list(krate, &tree.sources)).collect()
}

/// Places in the source code of a crate, or of all, whose language is not plain.
#[must_use]
pub fn language(tree: &Checkout, krate: Option<&str>) -> Vec<Finding> {
    language::sources(&tree.sources, krate)
}
