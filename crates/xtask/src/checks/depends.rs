//! The dependency table: a crate is a permission (`ARCHITECTURE.md`). This file is the table's only copy in code.

use crate::finding::Finding;
use crate::manifest::Manifest;

/// The permitted dependencies of one crate.
struct Permission {
    krate: &'static str,
    /// Crates of this workspace.
    workspace: &'static [&'static str],
    /// External crates that it must not depend on.
    forbidden: &'static [&'static str],
}

/// Libraries emit events. Only the binary decides where they go.
const LOG: &str = "tracing-subscriber";

const TERMINAL: &[&str] = &["clap", "crossterm", "ratatui", "reedline", "rusqlite", LOG];
const CLIENT: &[&str] = &["genai", "reqwest", "rusqlite"];

const TABLE: &[Permission] = &[
    Permission {
        krate: "core",
        workspace: &[],
        forbidden: &[
            "async-trait",
            "chrono",
            "fs4",
            "futures",
            "genai",
            "getrandom",
            "jiff",
            "log",
            "rand",
            "reqwest",
            "rusqlite",
            "rustix",
            "serde",
            "serde_json",
            "tempfile",
            "tokio",
            "tracing",
            LOG,
        ],
    },
    Permission {
        krate: "store",
        workspace: &["core"],
        forbidden: &["clap", "crossterm", "genai", "ratatui", "reedline", "reqwest", LOG],
    },
    Permission { krate: "worktree", workspace: &["core"], forbidden: &["genai", "reqwest", "rusqlite", LOG] },
    Permission {
        krate: "wire",
        workspace: &[],
        forbidden: &["fs4", "genai", "reqwest", "rusqlite", "rustix", "tempfile", LOG],
    },
    // The model's effects on the world: processes, files and the network; neither the log nor the snapshots.
    Permission {
        krate: "tools",
        workspace: &["core"],
        forbidden: &["clap", "crossterm", "genai", "ratatui", "reedline", "rusqlite", LOG],
    },
    Permission { krate: "engine", workspace: &["core", "store", "tools", "worktree"], forbidden: TERMINAL },
    Permission {
        krate: "server",
        workspace: &["core", "engine", "wire"],
        forbidden: &["clap", "crossterm", "genai", "ratatui", "reedline", "rusqlite", LOG],
    },
    Permission { krate: "tui", workspace: &["wire"], forbidden: CLIENT },
    Permission {
        krate: "gateway",
        workspace: &["wire"],
        forbidden: &["clap", "crossterm", "genai", "ratatui", "reedline", "rusqlite", LOG],
    },
    Permission {
        krate: "cli",
        workspace: &["wire", "engine", "gateway", "server", "tui"],
        forbidden: CLIENT,
    },
    Permission {
        krate: "testkit",
        workspace: &["core", "store", "tools", "worktree", "wire", "engine", "server"],
        forbidden: &[],
    },
    Permission {
        krate: "bench",
        workspace: &["core", "store", "tools", "worktree", "wire", "engine", "server", "tui"],
        forbidden: &[],
    },
    Permission { krate: "fakes", workspace: &[], forbidden: &[] },
    Permission { krate: "xtask", workspace: &[], forbidden: &[] },
];

/// Dependencies that a crate may have only behind a feature, so that other crates are built without them: `wire`'s
/// sockets.
const BEHIND_A_FEATURE: &[(&str, &str)] = &[("wire", "reqwest")];

/// Crates that no other crate may depend on; tests may use `testkit`.
const ROOTS: &[&str] = &["cli", "bench", "xtask"];

/// A crate depends only on what the table permits.
pub(crate) fn check(manifest: &Manifest) -> Vec<Finding> {
    let path = manifest.path();
    let Some(permission) = TABLE.iter().find(|row| row.krate == manifest.krate()) else {
        let what = "not in the dependency table; add it to ARCHITECTURE.md and xtask's `depends.rs`";
        return vec![Finding::new(&path, 0, what)];
    };
    let mut found = Vec::new();
    for name in manifest.dependencies() {
        let allowed = match name.strip_prefix("retake-") {
            Some(ours) => permission.workspace.contains(&ours),
            None => !permission.forbidden.contains(&name.as_str()) || is_behind(manifest, &name),
        };
        if !allowed {
            found.push(Finding::new(&path, 0, format!("{} may not depend on {name}", manifest.krate())));
        }
    }
    for name in manifest.dev_dependencies() {
        // A crate may name itself, to enable a feature for its own tests.
        let other = name.strip_prefix("retake-").filter(|ours| *ours != manifest.krate());
        if other.is_some_and(|ours| ROOTS.contains(&ours)) {
            found.push(Finding::new(&path, 0, format!("no test may depend on {name}")));
        }
    }
    found
}

fn is_behind(manifest: &Manifest, name: &str) -> bool {
    BEHIND_A_FEATURE.contains(&(manifest.krate(), name)) && manifest.is_optional(name)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::manifest::Manifest;

    #[test]
    fn the_table_holds() {
        let rows = [
            ("core", "[dependencies]\nthiserror='2'\nuuid='1'", 0),
            ("core", "[dependencies]\ntokio='1'\nserde='1'", 2),
            ("core", "[dependencies]\nretake-store={path='x'}", 1),
            ("core", "[dev-dependencies]\nretake-testkit={path='x'}\nproptest='1'", 0),
            ("core", "[dev-dependencies]\nretake-cli={path='x'}", 1),
            ("store", "[dependencies]\nretake-core={path='x'}\nrusqlite='0'", 0),
            ("engine", "[dependencies]\ntracing='0'\ntracing-subscriber='0'", 1),
            ("store", "[dependencies]\nretake-engine={path='x'}", 1),
            ("store", "[dependencies]\nretake-testkit={path='x'}", 1),
            ("wire", "[dependencies]\nrusqlite='0'", 1),
            ("wire", "[dependencies]\nreqwest='0'", 1),
            ("wire", "[dependencies]\nreqwest={version='0',optional=true}", 0),
            ("engine", "[dependencies]\nretake-wire={path='x'}", 1),
            ("server", "[dependencies]\nretake-store={path='x'}", 1),
            ("tui", "[dependencies]\nretake-engine={path='x'}", 1),
            ("cli", "[target.'cfg(unix)'.dependencies]\nrusqlite='0'", 1),
            ("novel", "", 1),
        ];
        for (krate, text, count) in rows {
            let found = check(&Manifest::parse(krate, text).unwrap());
            assert_eq!(found.len(), count, "{krate} with {text}: {found:?}");
        }
    }
}
