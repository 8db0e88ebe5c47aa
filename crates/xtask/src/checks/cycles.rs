//! No long cycle of modules: modules in a cycle can only be read and changed together.
//!
//! The rule is applied on each level of a crate. The nodes are the modules of one parent, each with all its descendants. An edge
//! leads from a node to the one that one of its paths names (`crate::modules`). So a parent and its children are one node, and
//! paths between them are no edges. A group of nodes that all lead to each other has at most five.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::modules::{Modules, Path};
use crate::source::Source;

/// The most modules in a cycle.
const MOST: usize = 5;

/// All cycles of one crate as lines for people: their parent, and the modules.
pub(crate) fn list(krate: &str, sources: &[Source]) -> Vec<String> {
    let line = |(level, cycle): (Path, BTreeSet<String>)| {
        let names: Vec<&str> = cycle.iter().map(String::as_str).collect();
        format!(
            "{}: {} {}",
            [&[krate.to_owned()], level.as_slice()].concat().join("::"),
            cycle.len(),
            names.join(", ")
        )
    };
    cycles(&Modules::of(krate, sources).edges()).into_iter().map(line).collect()
}

/// The cycles of one crate.
pub(crate) fn check(krate: &str, sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (level, cycle) in cycles(&Modules::of(krate, sources).edges()) {
        let level = [&[krate.to_owned()], level.as_slice()].concat().join("::");
        if cycle.len() > MOST {
            let names = cycle.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let what = format!(
                "{} modules of `{level}` use each other in a cycle, at most {MOST} may: {names}",
                cycle.len()
            );
            found.push(Finding::new(&format!("crates/{krate}/src"), 0, what));
        }
    }
    found
}

/// Groups of modules that all lead to each other, by their parent.
fn cycles(edges: &BTreeSet<(Path, Path)>) -> Vec<(Path, BTreeSet<String>)> {
    let mut levels: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (from, to) in edges {
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
            let level = levels.entry(from[..shared].to_vec()).or_default();
            level.entry(one.clone()).or_default().insert(other.clone());
        }
    }
    let mut found = Vec::new();
    for (level, graph) in levels {
        let mut done = BTreeSet::new();
        for node in graph.keys() {
            if done.contains(node) {
                continue;
            }
            let ahead = reached(&graph, node);
            let group: BTreeSet<_> =
                ahead.iter().filter(|other| reached(&graph, other).contains(node)).cloned().collect();
            done.extend(group.iter().cloned());
            if group.len() > 1 {
                found.push((level.clone(), group));
            }
        }
    }
    found
}

fn reached(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    /// A crate whose modules each use the next one, and the last one the first.
    fn ring(modules: &[&str]) -> Vec<Source> {
        let next = modules.iter().cycle().skip(1);
        let source = |(module, next): (&&str, &&str)| {
            let next = next.replace('/', "::");
            Source::new(&format!("crates/x/src/{module}.rs"), &format!("fn f() {{ crate::{next}::y(); }}"))
        };
        modules.iter().zip(next).map(source).collect()
    }

    #[test]
    fn a_cycle_of_more_than_five_modules_is_found() {
        assert_eq!(check("x", &ring(&["a", "b", "c", "d", "e"])), []);
        let found = check("x", &ring(&["a", "b", "c", "d", "e", "f"]));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "crates/x/src: 6 modules of `x` use each other in a cycle, at most 5 may: a, b, c, d, e, f"
        );
        let mut below = ring(&["m/a", "m/b", "m/c", "m/d", "m/e", "m/f"]);
        below.push(Source::new("crates/x/src/m.rs", "mod a;"));
        assert!(check("x", &below)[0].to_string().contains("of `x::m` use each other"));
    }

    #[test]
    fn a_parent_and_its_children_are_one() {
        assert_eq!(check("x", &ring(&["a", "a/b", "a/c", "b", "c", "d", "e"])), []);
        assert_eq!(check("x", &ring(&["a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "a/b/c/d/e/f"])), []);
    }
}
