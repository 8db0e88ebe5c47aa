//! The arguments of a call, as the type that its tool's schema is made from. What does not fit is said to the model.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments, or what is wrong with them.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments don't fit: {error}"))
}

/// A line for people: the first one of a text, without anything that a terminal would take as an order.
pub(crate) fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let shown: String = first.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect();
    if first.len() < text.trim().len() { format!("{shown} …") } else { shown }
}
