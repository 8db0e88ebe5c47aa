//! Where data changes its form. Serialisation is derived only at the edges (log record, wire, settings, model, arguments of
//! tools). Only erase overwrites entries.

use crate::finding::Finding;
use crate::source::{Source, closing, places};

/// Where `Serialize` and `Deserialize` may be derived.
const EDGES: &[&str] = &[
    "crates/store/src/record",
    "crates/wire/src/",
    "crates/engine/src/settings",
    // The full-screen program reads its part of the settings file.
    "crates/tui/src/ui/settings.rs",
    "crates/engine/src/model",
    "crates/tools/src/",
    "crates/bench/",
];

/// The one file that may overwrite entries and operations.
const ERASE: &str = "crates/store/src/sqlite/erase.rs";

/// SQL that would change or remove an entry or an operation.
const OVERWRITES: &[&str] = &[
    "DELETE FROM ENTRY",
    "UPDATE ENTRY",
    "REPLACE INTO ENTRY",
    "DELETE FROM OPERATION",
    "UPDATE OPERATION",
    "REPLACE INTO OPERATION",
];

/// A domain type is converted by hand; only an edge's own types derive serialisation.
pub(crate) fn serialisation(source: &Source) -> Vec<Finding> {
    if source.is_test() || EDGES.iter().any(|edge| source.path().starts_with(edge)) {
        return Vec::new();
    }
    let code = &source.production().code;
    let derives_it = |at: &usize| {
        let list = &code[*at..closing(code, at + "derive".len())];
        ["Serialize", "Deserialize"].iter().any(|name| !places(list, name).is_empty())
    };
    let what = "serialisation is derived only at an edge (store::record, wire, settings, model, tools); \
                convert by hand there";
    places(code, "derive(").into_iter().filter(derives_it).map(|at| source.finding(at, what)).collect()
}

/// Entries and operations are only ever inserted; erase is the one exception.
pub(crate) fn append_only(source: &Source) -> Vec<Finding> {
    let exempt = source.is_test() || source.path() == ERASE || source.krate() == "xtask";
    if exempt {
        return Vec::new();
    }
    let sql = source.production().literals.to_ascii_uppercase();
    let what = format!("entries and operations are append only; only {ERASE} may overwrite one");
    let find = |words: &&str| source.find(&sql, words, &what);
    OVERWRITES.iter().flat_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::{append_only, serialisation};
    use crate::source::Source;

    #[test]
    fn only_edges_derive_serialisation() {
        let found = |path, text| serialisation(&Source::new(path, text)).len();
        let derive = "#[derive(Debug, serde::Serialize)]\nstruct A;";
        assert_eq!(found("crates/core/src/entry.rs", derive), 1);
        assert_eq!(found("crates/store/src/sqlite.rs", "#[derive(Deserialize)]\nstruct A;"), 1);
        assert_eq!(found("crates/engine/src/turn.rs", derive), 1);
        assert_eq!(found("crates/store/src/record.rs", derive), 0);
        assert_eq!(found("crates/store/src/record/entry.rs", derive), 0);
        assert_eq!(found("crates/wire/src/request.rs", derive), 0);
        assert_eq!(found("crates/core/tests/a.rs", derive), 0);
        assert_eq!(found("crates/core/src/entry.rs", "#[derive(Debug, Clone)]\nstruct Serialize;"), 0);
    }

    #[test]
    fn only_erase_overwrites_entries() {
        let found = |path, text| append_only(&Source::new(path, text)).len();
        let delete = "const A: &str = \"delete from entry where seq = ?\";";
        assert_eq!(found("crates/store/src/sqlite/write.rs", delete), 1);
        assert_eq!(found("crates/store/src/sqlite/erase.rs", delete), 0);
        assert_eq!(found("crates/store/src/a.rs", "const A: &str = \"UPDATE entry SET x = 1\";"), 1);
        assert_eq!(found("crates/store/src/a.rs", "const A: &str = \"UPDATE entry_count SET x = 1\";"), 0);
        assert_eq!(found("crates/store/src/a.rs", "const A: &str = \"UPDATE operation SET x = 1\";"), 1);
        assert_eq!(found("crates/store/src/a.rs", "// DELETE FROM entry\n"), 0);
    }
}
