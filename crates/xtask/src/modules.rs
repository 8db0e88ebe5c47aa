//! The uses between the modules of a crate, read from `use` lines and paths in code. It must never judge.
//!
//! An edge leads from a file's module to the module that a path ends in: `crate::a::b::C`, `super::C`, `self::C`, in a `use` or
//! in code, without tests. If a `use` imports a name of the path, the path is followed to its definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::count::test_files;
use crate::lex::{Token, tokens};
use crate::source::Source;

/// A module's path below the crate: `["files", "plan"]`; empty for the root.
pub(crate) type Path = Vec<String>;

/// The most `use` lines that a path is followed through.
const MOST_STEPS: usize = 8;

/// The modules of a crate that have files of their own, and the edges between them.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// The imports of each module: a name, and its full path.
    imports: BTreeMap<Path, BTreeMap<String, Path>>,
    /// Paths in the code of each module, from the crate's root.
    named: BTreeMap<Path, BTreeSet<Path>>,
}

impl Modules {
    /// Reads the files of one crate.
    pub(crate) fn of(krate: &str, sources: &[Source]) -> Self {
        let folder = format!("crates/{krate}/src/");
        let tests = test_files(sources);
        let mut modules = Self::default();
        let is_read = |source: &&Source| {
            source.path().starts_with(&folder)
                && !source.is_test()
                && !tests.iter().any(|file| source.path().starts_with(file.as_str()))
        };
        for source in sources.iter().filter(is_read) {
            let path = path_of(&source.path()[folder.len()..]);
            modules.read(&path, &source.production().code);
        }
        modules
    }

    /// Every edge between two modules.
    pub(crate) fn edges(&self) -> BTreeSet<(Path, Path)> {
        let mut edges = BTreeSet::new();
        for (from, named) in &self.named {
            for path in named {
                let to = self.resolve(path, MOST_STEPS);
                if to != *from {
                    edges.insert((from.clone(), to));
                }
            }
        }
        edges
    }

    fn read(&mut self, path: &Path, code: &str) {
        let tokens = tokens(code);
        let imports = self.imports.entry(path.clone()).or_default();
        let named = self.named.entry(path.clone()).or_default();
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at].text == "use" {
                let end = at + tokens[at..].iter().position(|token| token.text == ";").unwrap_or(1);
                for (words, name) in expand(&tokens[at + 1..end]) {
                    if let Some(whole) = absolute(path, &words) {
                        named.insert(whole.clone());
                        imports.insert(name, whole);
                    } else if words.len() > 1 {
                        // `use child::Name`, or another crate.
                        imports.insert(name, path.iter().cloned().chain(words).collect());
                    }
                }
                at = end;
            } else if ["crate", "super", "self"].contains(&tokens[at].text) {
                let mut words = vec![tokens[at].text.to_owned()];
                while let [sign, word, ..] = &tokens[at + 1..]
                    && sign.text == "::"
                    && word.is_word()
                {
                    words.push(word.text.to_owned());
                    at += 2;
                }
                named.extend(absolute(path, &words).filter(|_| words.len() > 1));
            }
            at += 1;
        }
    }

    /// The module in which a path ends.
    fn resolve(&self, path: &[String], steps: usize) -> Path {
        let mut module: Path = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let mut child = module.clone();
            child.push(name.clone());
            if self.imports.contains_key(&child) {
                module = child;
                continue;
            }
            let import = self.imports.get(&module).and_then(|imports| imports.get(name));
            if let Some(import) = import.filter(|_| steps > 0) {
                let whole: Path = import.iter().chain(&path[index + 1..]).cloned().collect();
                return self.resolve(&whole, steps - 1);
            }
            break;
        }
        module
    }
}

/// The module of a file below `src`.
fn path_of(file: &str) -> Path {
    let stem = file.trim_end_matches(".rs");
    if ["lib", "main"].contains(&stem) { Vec::new() } else { stem.split('/').map(str::to_owned).collect() }
}

/// A path from the crate's root, if it begins with `crate`, `self` or `super`.
fn absolute(module: &Path, words: &[String]) -> Option<Path> {
    let mut whole = module.clone();
    let mut rest = words;
    match rest.first()?.as_str() {
        "crate" => {
            whole.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                whole.pop()?;
                rest = &rest[1..];
            }
        }
        _ => return None,
    }
    whole.extend(rest.iter().cloned());
    Some(whole)
}

/// The paths of a `use` without its groups, each with the name that it brings in.
pub(crate) fn expand(tokens: &[Token<'_>]) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    let mut prefix: Path = Vec::new();
    // The length of the prefix at the start of each group.
    let mut groups = vec![0];
    let mut name: Option<String> = None;
    let mut at = 0;
    let mut finish = |prefix: &mut Path, name: Option<String>, begin: usize| {
        if prefix.len() > begin {
            let mut path = prefix.clone();
            if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                path.pop();
            }
            let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
            found.push((path, name));
        }
        prefix.truncate(begin);
    };
    while at < tokens.len() {
        match tokens[at].text {
            "{" => groups.push(prefix.len()),
            "}" => {
                finish(&mut prefix, name.take(), groups.pop().unwrap_or_default());
                // The prefix before the group is complete.
                prefix.truncate(*groups.last().unwrap_or(&0));
            }
            "," => finish(&mut prefix, name.take(), *groups.last().unwrap_or(&0)),
            "as" => {
                name = tokens.get(at + 1).map(|token| token.text.to_owned());
                at += 1;
            }
            "*" => prefix.push("*".to_owned()),
            word if tokens[at].is_word() => prefix.push(word.to_owned()),
            _ => {}
        }
        at += 1;
    }
    finish(&mut prefix, name, 0);
    found
}

#[cfg(test)]
mod tests {
    use super::{Modules, expand};
    use crate::lex::tokens;
    use crate::source::Source;

    #[test]
    fn a_use_is_expanded() {
        let rows = [
            ("crate::a::B", "crate::a::B=B"),
            ("crate::{a::{B, C as D}, e}", "crate::a::B=B crate::a::C=D crate::e=e"),
            ("super::a::{self, B}", "super::a=a super::a::B=B"),
            ("super::*", "super::*=*"),
        ];
        for (text, expected) in rows {
            let found =
                expand(&tokens(text)).into_iter().map(|(path, name)| format!("{}={name}", path.join("::")));
            assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn paths_lead_to_the_module_that_defines_the_name() {
        let sources = [
            Source::new("crates/x/src/lib.rs", "mod a;\nmod b;\npub use b::c::D;"),
            Source::new("crates/x/src/a.rs", "use crate::D;\nfn e() { crate::b::f(); }"),
            Source::new(
                "crates/x/src/b.rs",
                "mod c;\nuse std::fmt;\n#[cfg(test)]\nmod tests { use crate::a; }",
            ),
            Source::new("crates/x/src/b/c.rs", "use super::fmt;\nuse super::super::a::e;"),
        ];
        let edges = Modules::of("x", &sources).edges();
        let edges: Vec<_> =
            edges.iter().map(|(from, to)| format!("{}>{}", from.join("::"), to.join("::"))).collect();
        assert_eq!(edges, ["a>b", "a>b::c", "b::c>a", "b::c>b"]);
    }
}
