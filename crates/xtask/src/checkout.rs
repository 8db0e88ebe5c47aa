//! The checkout for the checks: Rust files, manifests and documents, read once. It must never write.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::manifest::Manifest;
use crate::source::Source;

/// Everything that the checks read.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    pub(crate) sources: Vec<Source>,
    pub(crate) manifests: Vec<Manifest>,
}

impl Checkout {
    /// Reads the checkout at `root`.
    ///
    /// # Errors
    /// A file that can't be read or a manifest that can't be parsed, by name.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self { root: root.to_path_buf(), sources: Vec::new(), manifests: Vec::new() };
        for folder in list(&root.join("crates"))?.iter().filter(|path| path.is_dir()) {
            let krate = file_name(folder);
            let manifest = tree.text(&format!("crates/{krate}/Cargo.toml"))?;
            tree.manifests.push(Manifest::parse(&krate, &manifest)?);
            tree.read_sources(folder)?;
        }
        Ok(tree)
    }

    /// The text of a file, by its path relative to the root.
    pub(crate) fn text(&self, path: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("reading {path}"))
    }

    /// Whether a file exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }

    /// The Markdown files in a folder, by their paths relative to the root; empty if the folder does not
    /// exist.
    pub(crate) fn documents(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let folder = self.root.join(folder);
        let all = if folder.is_dir() { list(&folder)? } else { Vec::new() };
        let documents = all.iter().filter(|path| path.extension().is_some_and(|ext| ext == "md"));
        Ok(documents.map(|path| relative(&self.root, path)).collect())
    }

    fn read_sources(&mut self, folder: &Path) -> anyhow::Result<()> {
        for path in list(folder)? {
            if path.is_dir() {
                self.read_sources(&path)?;
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let relative = relative(&self.root, &path);
                let text = self.text(&relative)?;
                self.sources.push(Source::new(&relative, &text));
            }
        }
        Ok(())
    }
}

fn list(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let context = || format!("listing {}", folder.display());
    let mut paths = Vec::new();
    for item in fs::read_dir(folder).with_context(context)? {
        let path = item.with_context(context)?.path();
        let name = file_name(&path);
        if !name.starts_with('.') && name != "target" {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
