//! Full-text search: the request and its hits.

use serde::{Deserialize, Serialize};

use crate::content::Role;
use crate::reply::Line;
#[cfg(feature = "schema")]
use crate::request::LARGEST_PAGE;

/// The order of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Best match first.
    #[default]
    Rank,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// A full-text search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// The query: words, "phrases", prefix*, AND OR NOT, (parentheses). A hyphen is not an operator. The query needs a word to
    /// look for: only filters, or only NOT, are refused.
    #[serde(default)]
    pub query: String,
    /// Finds only entries in this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Finds only entries with this role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Finds only entries by this author: a person, `provider/model` or a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Leaves out entries by this author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_source: Option<String>,
    /// Finds only entries at or after this time, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Finds only entries before this time, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<i64>,
    /// The order of the hits.
    #[serde(default)]
    pub sort: Sort,
    /// The largest number of hits: 1 to 1000. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// The number of hits to skip.
    #[serde(default)]
    pub offset: usize,
    /// For an audit: also finds entries on other branches, and marks these hits.
    #[serde(default)]
    pub rewound: bool,
    /// For an audit: also finds hidden entries, and marks these hits.
    #[serde(default)]
    pub hidden: bool,
}

/// Hits of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hits {
    /// The hits, in the requested order.
    pub hits: Vec<Hit>,
    /// Whether there are more hits.
    pub more: bool,
    /// The query as it was understood, if that differs from the request.
    pub understood: Option<String>,
}

/// Why an entry is only found in an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HitState {
    /// It was taken back.
    Rewound,
    /// It is hidden.
    Hidden,
    /// Its turn is taken out of the middle.
    Dropped,
    /// A state that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl HitState {
    /// The name of the state in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// The id of the conversation.
    pub conversation: String,
    /// The title of the conversation, or its first message.
    pub title: String,
    /// The entry that was found.
    #[serde(flatten)]
    pub line: Line,
    /// Text around the match. `marks` contains the byte ranges of the matches in it.
    pub snippet: String,
    /// The byte ranges of the matches in `snippet`, each with its start and its end.
    pub marks: Vec<(usize, usize)>,
    /// The state of the entry, if it is only found in an audit.
    pub standing: Option<HitState>,
    /// The entry before it, in the same projection.
    pub before: Option<Line>,
    /// The entry after it, in the same projection.
    pub after: Option<Line>,
}
