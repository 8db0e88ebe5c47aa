//! Checks for tests that each code in the API document has a row with its sentence. Must never be part of a program.

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Compares the sentence of each row with the code, in its form on the wire. Fails if a code has no row, or if a code of a newer
/// owner cannot be read.
pub(super) fn check<T>(rows: &[(&str, &str)], sentence: impl Fn(&T) -> String)
where
    T: DeserializeOwned + JsonSchema + Serialize,
{
    let read =
        |json: &str| -> T { serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}")) };
    let code = |json: &str| serde_json::from_str::<Value>(json).expect("JSON")["code"].clone();
    for (json, expected) in rows {
        let it = read(json);
        assert_eq!(sentence(&it), *expected);
        assert_eq!(serde_json::to_string(&it).expect("written"), *json);
    }
    let schema = schema_for!(T).to_value();
    let listed = schema["oneOf"].as_array().expect("codes").iter();
    let listed = listed.map(|one| one["properties"]["code"]["const"].clone());
    let missing: Vec<Value> =
        listed.filter(|listed| rows.iter().all(|(json, _)| code(json) != *listed)).collect();
    assert_eq!(missing, Vec::<Value>::new(), "these codes have no row");
    assert_eq!(sentence(&read(r#"{"code":"not_known_yet","field":1}"#)), super::UNKNOWN);
}
