//! For tests: JSON in which some values are others than a platform sends.

use proptest::prelude::*;
use serde_json::{Value, json};

/// What stands where something else is expected: which place of all, and which odd value.
pub(crate) type Picks = Vec<(prop::sample::Index, usize)>;

/// Up to three places.
pub(crate) fn picks() -> impl Strategy<Value = Picks> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..7_usize), 0..4)
}

/// The value with an odd one at each of these places.
pub(crate) fn with(mut value: Value, picks: Picks) -> Value {
    let odd = [json!(null), json!(-1), json!(1e300), json!("é"), json!([]), json!({}), json!(true)];
    for (pick, kind) in picks {
        let mut found = Vec::new();
        places(&value, "", &mut found);
        if let Some(place) = value.pointer_mut(pick.get(&found).as_str()) {
            *place = odd[kind].clone();
        }
    }
    value
}

/// Pointers to all places of a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), found));
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(n, value)| places(value, &format!("{at}/{n}"), found));
        }
        _ => {}
    }
}
