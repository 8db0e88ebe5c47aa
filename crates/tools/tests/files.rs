//! The file tools on real folders: what they do, what they refuse, and what hostile names and files can't make them do.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test that called it")]

mod editing;
mod finding;
mod hostile;
mod models;
mod patching;
mod reading;
mod stage;
mod writing;

#[test]
fn every_argument_is_described_and_no_other_is_taken() {
    for tool in retake_tools::file_tools() {
        let (name, schema) = (tool.name().to_owned(), tool.schema());
        assert_eq!(schema["additionalProperties"], false, "{name}");
        let properties = schema["properties"].as_object().unwrap();
        for (property, its) in properties {
            assert!(its["description"].is_string(), "{name}: {property}");
        }
        assert!(!schema.to_string().contains("$ref"), "{name}");
    }
}
