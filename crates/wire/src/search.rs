//! Full-text search: the request and its hits.

use serde::{Deserialize, Serialize};

use crate::content::Role;
use crate::reply::Line;
#[cfg(feature = "schema")]
use crate::request::LARGEST_PAGE;

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Best first.
    #[default]
    Rank,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// Words, "phrases", prefix*, AND OR NOT, (parentheses). A hyphen is no operator. There has to be a word to look for: filters and
    /// NOT alone are refused.
    #[serde(default)]
    pub query: String,
    /// Only in this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Only by this role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Only by this author (a person, `provider/model`, a tool).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Nothing by this author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_source: Option<String>,
    /// Only at or after this time, Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Only before this time, Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<i64>,
    /// The order.
    #[serde(default)]
    pub sort: Sort,
    /// How many hits at most: 1 to 1000. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Leaves out so many hits first.
    #[serde(default)]
    pub offset: usize,
    /// For audit: also entries on other branches, marked so.
    #[serde(default)]
    pub rewound: bool,
    /// For audit: also hidden entries, marked so.
    #[serde(default)]
    pub hidden: bool,
}

/// Hits of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hits {
    /// In the order asked for.
    pub hits: Vec<Hit>,
    /// Whether there are more.
    pub more: bool,
    /// The query as it was understood, where that is not what was typed.
    pub understood: Option<String>,
}

/// A hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// The conversation.
    pub conversation: String,
    /// Its title or first message.
    pub title: String,
    /// The entry.
    #[serde(flatten)]
    pub line: Line,
    /// Text around the match; marks are the byte ranges of what matched.
    pub snippet: String,
    /// Byte ranges in `snippet`.
    pub marks: Vec<(usize, usize)>,
    /// For audit hits: `rewound`, `hidden` or `dropped`.
    pub standing: Option<String>,
    /// The entry before, in the same reading.
    pub before: Option<Line>,
    /// The entry after, in the same reading.
    pub after: Option<Line>,
}
