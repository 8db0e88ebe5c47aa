//! The arguments of calls that make a post or change it. Link previews are off. Must never let a text mention anybody.

use serde_json::{Value, json};

use super::api::Form;
use super::mrkdwn;
use crate::adapter::{Button, Outgoing};
use crate::failure::{Failure, Refused};

/// The longest text of a section, in characters \[D\].
const SECTION: usize = 3000;

/// The longest label of a button, in characters \[D\].
const LABEL: usize = 75;

/// A longer text is truncated by Slack \[D\].
const LONGEST: usize = 40_000;

/// The text of a post, and its blocks: only a post with buttons needs any.
///
/// # Errors
/// The text is so long that Slack would truncate it.
pub(super) fn content(post: &Outgoing) -> Result<Form, Failure> {
    let text = mrkdwn::mrkdwn(&post.text);
    if text.chars().count() > LONGEST {
        return Err(Failure::Refused(Refused::TooLong));
    }
    // Without `blocks`, an edit would leave those that are there [D].
    Ok(vec![("text", text), ("blocks", Value::from(blocks(post)).to_string())])
}

fn blocks(post: &Outgoing) -> Vec<Value> {
    if post.buttons.is_empty() {
        return Vec::new();
    }
    let section = |text: String| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text, "verbatim": true } });
    let pieces = mrkdwn::pieces(&post.text, SECTION).into_iter();
    let sections = pieces.filter(|piece| !piece.trim().is_empty()).map(section);
    let rows = post.buttons.iter().enumerate().map(|(row, buttons)| {
        let elements = buttons.iter().enumerate().map(|(column, button)| element(row, column, button));
        json!({ "type": "actions", "elements": elements.collect::<Vec<_>>() })
    });
    sections.chain(rows).collect()
}

fn element(row: usize, column: usize, button: &Button) -> Value {
    let label: String = button.label.chars().take(LABEL).collect();
    json!({
        "type": "button",
        "text": { "type": "plain_text", "text": label, "emoji": false },
        "action_id": format!("b{row}-{column}"),
        "value": button.data,
    })
}
