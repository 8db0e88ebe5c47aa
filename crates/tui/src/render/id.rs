//! Ids as people read and type them: shortened as far as they stay distinct. Must never be used in output for programs.

use std::collections::BTreeSet;

/// The fewest bytes of an id that are shown.
const LEAST: usize = 13;

/// The short form of a single id.
pub fn short(id: &str) -> &str {
    cut(id, LEAST)
}

/// Ids that are shown together.
#[derive(Debug, Default)]
pub struct Ids<'a> {
    sorted: BTreeSet<&'a str>,
}

impl<'a> FromIterator<&'a str> for Ids<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> Self {
        Self { sorted: ids.into_iter().collect() }
    }
}

impl Ids<'_> {
    /// The shortest beginning of this id that no other of them shares.
    pub fn short<'b>(&self, id: &'b str) -> &'b str {
        let before = self.sorted.range(..id).next_back();
        let after = self.sorted.range(id..).find(|other| **other != id);
        let shared = [before, after].into_iter().flatten().map(|other| common(id, other)).max().unwrap_or(0);
        cut(id, LEAST.max(shared + 1))
    }
}

/// The number of bytes that two ids have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

fn cut(id: &str, length: usize) -> &str {
    // A dash at the end carries no information.
    id.get(..length).unwrap_or(id).trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_short_as_possible() {
        let ids = [
            "0199a000-0001-7000-8000-000000000001",
            "0199a000-0001-7000-8000-000000000012",
            "0199a000-0002-7000-8000-000000000001",
        ];
        let shown: Ids = ids.into_iter().collect();
        assert_eq!(shown.short(ids[0]), "0199a000-0001-7000-8000-00000000000");
        assert_eq!(shown.short(ids[2]), "0199a000-0002");
        assert_eq!(shown.short("x"), "x");
        assert_eq!(short(ids[0]), "0199a000-0001");
    }

    #[test]
    fn ids_shown_together_stay_different() {
        let ids = [
            "0199a000-0001-7000-8000-000000000001",
            "0199a000-0001-7000-8000-000000000012",
            "0199a000-0001-7100-8000-000000000012",
        ];
        let shown: Ids = ids.into_iter().collect();
        let short: BTreeSet<&str> = ids.iter().map(|id| shown.short(id)).collect();
        assert_eq!(short.len(), ids.len());
    }
}
