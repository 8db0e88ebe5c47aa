//! Names of tools for the model: `mcp__server__tool`. Two tools must never get the same name, nor a tool another name because of
//! its neighbours, unless names collide.

use std::collections::BTreeSet;

/// The longest name that all providers accept.
const LONGEST: usize = 64;

/// The names in use.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// The name of a tool.
    pub(super) fn give(&mut self, server: &str, tool: &str) -> String {
        let plain = beginning(server) + &clean(tool);
        if plain.len() <= LONGEST && self.0.insert(plain.clone()) {
            return plain;
        }
        let digest = blake3::hash(format!("{server}\0{tool}").as_bytes()).to_hex();
        // A longer part of the digest until it is unique; two tools never share all of it.
        for digits in 6..LONGEST - 1 {
            let name = format!("{}_{}", &plain[..plain.len().min(LONGEST - 1 - digits)], &digest[..digits]);
            if self.0.insert(name.clone()) {
                return name;
            }
        }
        plain
    }
}

/// The prefix of the names of a server's tools.
pub fn beginning(server: &str) -> String {
    format!("mcp__{}__", clean(server))
}

fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Names};

    #[test]
    fn names_are_clean_short_and_unique() {
        let mut names = Names::default();
        let long = "x".repeat(80);
        let tools =
            [("time", "now"), ("a b", "c/d"), ("a.b", "c\\d"), ("a", "b__c"), ("a__b", "c"), ("s", &long)];
        let given: Vec<_> = tools.iter().map(|(server, tool)| names.give(server, tool)).collect();
        assert_eq!(given[..2], ["mcp__time__now", "mcp__a_b__c_d"]);
        let fits = |name: &String| {
            name.len() <= LONGEST && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        };
        assert!(given.iter().all(fits), "{given:?}");
        let unique: std::collections::BTreeSet<_> = given.iter().collect();
        assert_eq!(unique.len(), tools.len(), "{given:?}");
        assert_eq!(Names::default().give("s", &long), given[5], "it hangs on nothing else");
    }
}
