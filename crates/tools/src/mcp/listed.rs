//! The tools that a server lists, checked one by one. One bad tool must never affect the others, and a list must never exceed
//! the limits.

use std::collections::BTreeMap;

use retake_core::mcp::{LeftOut, MOST, Note};
use serde_json::Value;

use super::text;

/// The most pages that are read.
const PAGES: usize = 50;

/// The largest schema, as text.
const LARGEST_SCHEMA: usize = 64 << 10;

/// The longest description of a tool.
const ABOUT: usize = 4 << 10;

/// The longest name of a tool from a server.
const LONGEST_NAME: usize = 128;

/// The most left-out tools that are named.
const NAMED: usize = 8;

/// A tool in its server's list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    /// Its name on the server.
    pub(super) tool: String,
    pub(super) about: String,
    pub(super) schema: Value,
    /// Whether the server declares it as read-only.
    pub(super) reads: bool,
}

/// A list in progress.
#[derive(Default)]
pub(super) struct Listing {
    tools: BTreeMap<String, Listed>,
    notes: Vec<Note>,
    offered: usize,
    pages: usize,
    cursors: Vec<String>,
}

impl Listing {
    /// Adds a page. Returns the next page's cursor, if it must be read; an error for an invalid page.
    pub(super) fn page(&mut self, mut page: Value) -> Result<Option<String>, String> {
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err("its list of tools is not valid".to_owned());
        };
        self.offered += tools.len();
        for tool in tools {
            if self.tools.len() == MOST {
                break;
            }
            self.tool(&tool);
        }
        self.pages += 1;
        let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        Ok(next.filter(|next| self.goes_on(next)))
    }

    fn goes_on(&mut self, next: &str) -> bool {
        let goes =
            self.tools.len() < MOST && self.pages < PAGES && !self.cursors.iter().any(|old| old == next);
        self.cursors.push(next.to_owned());
        goes
    }

    fn tool(&mut self, tool: &Value) {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = self.refused(name, tool) {
            self.notes.push(Note::ToolLeftOut(text::line(name, 60), why));
            return;
        }
        let field = |key| tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let hints = tool.get("annotations");
        let title = || hints.and_then(|hints| hints.get("title")).and_then(Value::as_str);
        let about = field("description").or_else(|| field("title")).or_else(title).unwrap_or(name);
        let reads = hints.and_then(|hints| hints.get("readOnlyHint")).and_then(Value::as_bool);
        let mut schema = tool.get("inputSchema").cloned().unwrap_or_default();
        if let Value::Object(fields) = &mut schema {
            fields.shift_remove("$schema");
            fields.entry("type").or_insert_with(|| "object".into());
        }
        let (about, reads) = (text::lines(about, ABOUT), reads.unwrap_or(false));
        self.tools.insert(name.to_owned(), Listed { tool: name.to_owned(), about, schema, reads });
    }

    fn refused(&self, name: &str, tool: &Value) -> Option<LeftOut> {
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Some(LeftOut::BadName);
        }
        if self.tools.contains_key(name) {
            return Some(LeftOut::SameName);
        }
        let Some(Value::Object(schema)) = tool.get("inputSchema") else {
            return Some(LeftOut::NoSchema);
        };
        let is = |key: &str, fits: fn(&Value) -> bool| schema.get(key).is_none_or(fits);
        if !is("type", |kind| kind == "object")
            || !is("properties", Value::is_object)
            || !is("required", Value::is_array)
        {
            return Some(LeftOut::BadSchema);
        }
        (tool["inputSchema"].to_string().len() > LARGEST_SCHEMA).then_some(LeftOut::LongSchema)
    }

    /// The tools, sorted by name, and the notices about them.
    pub(super) fn done(mut self) -> (Vec<Listed>, Vec<Note>) {
        let more = self.notes.len().saturating_sub(NAMED);
        self.notes.truncate(NAMED);
        if more > 0 {
            self.notes.push(Note::MoreLeftOut(more));
        }
        if self.tools.len() == MOST && self.offered > MOST {
            self.notes.push(Note::TooMany(self.offered));
        }
        (self.tools.into_values().collect(), self.notes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(tools: Vec<Value>) -> (Vec<String>, Vec<Note>) {
        let mut listing = Listing::default();
        assert_eq!(listing.page(json!({ "tools": tools })), Ok(None));
        let (tools, notes) = listing.done();
        (tools.into_iter().map(|tool| tool.tool).collect(), notes)
    }

    #[test]
    fn invalid_tools_are_left_out_and_reported() {
        let good = json!({"name": "b", "inputSchema": {}});
        let large = json!({"type": "object", "description": "x".repeat(LARGEST_SCHEMA)});
        let rows = [
            (json!({"name": "a"}), LeftOut::NoSchema),
            (json!({"name": "a", "inputSchema": "text"}), LeftOut::NoSchema),
            (json!({"name": "a", "inputSchema": {"type": "array"}}), LeftOut::BadSchema),
            (json!({"name": "a", "inputSchema": {"properties": 1}}), LeftOut::BadSchema),
            (json!({"name": "a", "inputSchema": large}), LeftOut::LongSchema),
            (json!({"name": "b", "inputSchema": {}}), LeftOut::SameName),
            (json!({"inputSchema": {}}), LeftOut::BadName),
            (json!(7), LeftOut::BadName),
        ];
        for (bad, why) in rows {
            let (tools, notes) = listed(vec![good.clone(), bad]);
            assert_eq!(tools, ["b"]);
            let is_left_out = matches!(&notes[..], [Note::ToolLeftOut(_, it)] if *it == why);
            assert!(is_left_out, "{notes:?}");
        }
    }

    #[test]
    fn a_list_is_bounded_and_ordered() {
        let many = (0..100_000).rev().map(|n| json!({"name": format!("{n:06}"), "inputSchema": {}}));
        let (tools, notes) = listed(many.collect());
        assert_eq!((tools.len(), tools.is_sorted()), (MOST, true));
        assert_eq!(notes, [Note::TooMany(100_000)]);
        let (tools, notes) = listed((0..50).map(|_| json!(null)).collect());
        assert_eq!((tools.len(), notes.len()), (0, NAMED + 1));
    }

    #[test]
    fn the_pages_of_a_list_of_tools_end() {
        let mut listing = Listing::default();
        let page = |cursor: &str| json!({"tools": [], "nextCursor": cursor});
        assert_eq!(listing.page(page("a")), Ok(Some("a".into())));
        assert_eq!(listing.page(page("a")), Ok(None), "the same page again");
        let pages = (0..).take_while(|n| listing.page(page(&n.to_string())) != Ok(None)).count();
        assert!(pages < PAGES);
        assert!(Listing::default().page(json!({"tools": 1})).is_err());
    }

    #[test]
    fn the_description_of_a_tool_is_cleaned() {
        let mut listing = Listing::default();
        let tool = json!({"name": "a", "description": "does\x1b[2J it", "annotations": {"readOnlyHint": true},
            "inputSchema": {"$schema": "x", "properties": {"b": {}}}});
        listing.page(json!({ "tools": [tool] })).expect("a page");
        let schema = json!({"properties": {"b": {}}, "type": "object"});
        let expected = Listed { tool: "a".into(), about: "does[2J it".into(), schema, reads: true };
        assert_eq!(listing.done().0, [expected]);
    }
}
