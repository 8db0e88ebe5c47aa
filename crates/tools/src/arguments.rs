//! Parses the arguments of a call as the type of its tool's schema. Arguments that do not fit are reported to the
//! model.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::files::text::escaped;

/// The arguments, or their error.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments are not valid: {error}"))
}

/// A line for people: the first line of a text, with terminal control characters escaped.
pub(crate) fn line(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    let more = if first.len() < text.len() { " …" } else { "" };
    format!("{}{more}", escaped(first))
}
