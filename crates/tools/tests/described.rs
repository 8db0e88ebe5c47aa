//! What a model reads about our tools, and about arguments that do not fit them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use retake_tools::{
    FetchConfig, Network, ShellConfig, Tool, ask_tool, fetch_tool, file_tools, shell_tools, todo_tool,
};
use serde_json::{Value, json};

fn tools(network: Network) -> Vec<Arc<dyn Tool>> {
    let shell = shell_tools(ShellConfig { network, ..ShellConfig::default() });
    let others = [todo_tool(), ask_tool(), fetch_tool(FetchConfig::default())];
    file_tools().into_iter().chain(shell).chain(others).collect()
}

/// Every schema in a schema, each with its path.
fn schemas(path: &str, schema: &Value, all: &mut Vec<(String, Value)>) {
    all.push((path.to_owned(), schema.clone()));
    for (name, its) in schema["properties"].as_object().into_iter().flatten() {
        schemas(&format!("{path}.{name}"), its, all);
    }
    if schema.get("items").is_some() {
        schemas(&format!("{path}[]"), &schema["items"], all);
    }
}

#[test]
fn every_parameter_is_described_in_plain_json_schema() {
    for tool in tools(Network::Ask) {
        let mut all = Vec::new();
        schemas(tool.name(), &tool.schema(), &mut all);
        for (path, schema) in all {
            let fields = schema.as_object().unwrap();
            let known =
                ["type", "description", "properties", "required", "additionalProperties", "items", "enum"];
            let known = [&known[..], &["default", "minimum", "minItems"]].concat();
            let odd: Vec<_> = fields.keys().filter(|key| !known.contains(&key.as_str())).collect();
            assert!(odd.is_empty(), "{path}: {odd:?}");
            assert!(schema["type"].is_string(), "{path} has one type: {schema}");
            assert!(schema["type"] != "object" || schema["additionalProperties"] == false, "{path}");
            let is_parameter =
                path.rsplit('.').next().is_some_and(|last| path.contains('.') && !last.ends_with(']'));
            assert!(!is_parameter || schema["description"].is_string(), "{path} is described");
        }
    }
}

#[test]
fn texts_about_tools_are_as_recorded() {
    let mut texts = String::new();
    for tool in tools(Network::Ask) {
        let mut all = Vec::new();
        schemas(tool.name(), &tool.schema(), &mut all);
        writeln!(texts, "# {}\n{}", tool.name(), tool.about()).unwrap();
        for (path, schema) in all.iter().filter(|(_, schema)| schema["description"].is_string()) {
            writeln!(texts, "{path}: {}", schema["description"].as_str().unwrap()).unwrap();
        }
        texts.push('\n');
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn network_is_a_parameter_only_where_a_command_can_request_it() {
    for (network, is_there) in [(Network::Ask, true), (Network::On, false), (Network::Off, false)] {
        let tools = tools(network);
        let shell = tools.iter().find(|tool| tool.name() == "shell").unwrap();
        assert_eq!(shell.schema()["properties"].get("network").is_some(), is_there, "{network:?}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_reported_in_the_words_of_the_schema() {
    let tools = tools(Network::Ask);
    for (name, arguments, why) in [
        ("read", json!({}), "`path` is missing"),
        ("read", json!([]), "they must be an object, not a list"),
        ("read", json!({ "path": 1 }), "`path` must be a string, not a number"),
        ("read", json!({ "path": null }), "`path` must be a string, not null"),
        ("read", json!({ "limit": null, "path": 1 }), "`path` must be a string, not a number"),
        ("read", json!({ "path": "a", "limit": "x" }), "`limit` must be a whole number, not a string"),
        ("read", json!({ "path": "a", "limit": 0 }), "`limit` must be at least 1"),
        (
            "read",
            json!({ "path": "a", "limit": 1.5 }),
            "`limit` must be a whole number, not a number with a fraction",
        ),
        ("grep", json!({ "pattern": "a", "show": "all" }), "`show` must be one of `lines`, `files`, `count`"),
        ("edit", json!({ "path": "a", "edits": "x" }), "`edits` must be a list, not a string"),
        ("edit", json!({ "path": "a", "edits": ["x"] }), "`edits[0]` must be an object, not a string"),
        ("edit", json!({ "path": "a", "edits": [{ "old": "b" }] }), "`new` of `edits[0]` is missing"),
        (
            "edit",
            json!({ "path": "a", "edits": [{ "old": "b", "new": "c", "all": 1 }] }),
            "`edits[0].all` must be true or false, not a number",
        ),
        ("fetch", json!({ "url": "a", "x\u{1b}": 1 }), "there is no parameter `x\\u{1b}`; there are `url`"),
        ("ask", json!({ "question": "a", "choices": null }), "`choices` must be a list, not null"),
    ] {
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let told = tool.intent(&arguments, Path::new("/"), &["/".into()]).unwrap_err();
        assert_eq!(told, format!("the arguments are not valid: {why}"), "{name} {arguments}");
    }
}
