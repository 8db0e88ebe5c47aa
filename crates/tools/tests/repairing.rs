//! Calls that are almost right.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use proptest::prelude::*;
use retake_core::Intent;
use retake_tools::{
    Call, FetchConfig, Output, Repair, Schema, ShellConfig, Tool, Toolbox, ask_tool, fetch_tool, file_tools,
    repair, shell_tools, todo_tool,
};
use serde_json::{Value, json};

/// A tool of an MCP server.
struct Foreign(&'static str);

#[async_trait]
impl Tool for Foreign {
    fn name(&self) -> &str {
        self.0
    }
    fn about(&self) -> &str {
        "does something"
    }
    fn schema(&self) -> Schema {
        json!({ "type": "object", "properties": { "count": { "type": "integer" } } })
    }
    fn class(&self) -> retake_core::EffectClass {
        retake_core::EffectClass::External
    }
    fn intent(&self, _: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        Err("not in this test".to_owned())
    }
    async fn call(&self, _: Call) -> Output {
        Output::failed("not in this test")
    }
}

fn tools() -> Toolbox {
    let foreign = ["mcp__box__Look_up", "mcp__two__a", "mcp__two__A", "mcp__box__edit_file"]
        .map(|name| Arc::new(Foreign(name)) as Arc<dyn Tool>);
    let own = [ask_tool(), todo_tool(), fetch_tool(FetchConfig::default())];
    let mut tools = Toolbox::default();
    let all = file_tools().into_iter().chain(shell_tools(ShellConfig::default())).chain(own).chain(foreign);
    all.for_each(|tool| assert!(tools.add(tool), "two tools have one name"));
    tools
}

/// The repaired name and arguments; `None` if the call stays as it is.
fn repaired(name: &str, arguments: &str) -> Option<(String, Value)> {
    repair(&tools(), name, arguments).map(|repaired| (repaired.name, repaired.arguments))
}

/// A call as it is sent, and as it is meant.
type Row = (&'static str, Value, &'static str, Value);

#[track_caller]
fn check(rows: impl IntoIterator<Item = Row>) {
    for (name, arguments, meant, right) in rows {
        let text = arguments.to_string();
        assert_eq!(repaired(name, &text), Some((meant.to_owned(), right.clone())), "{name} {text}");
        // In a string as a whole.
        if arguments.is_object() && !meant.starts_with("mcp") {
            assert_eq!(
                repaired(name, &json!(text).to_string()),
                Some((meant.to_owned(), right)),
                "{name} {text}"
            );
        }
    }
}

/// What models write who learned the tools of Claude Code, Codex, Crush, Gemini CLI, pi and aider.
#[test]
fn calls_of_other_agents_that_read_and_edit_are_repaired() {
    let edit = json!({ "path": "a", "edits": [{ "old": "x", "new": "y" }] });
    let all = json!({ "path": "a", "edits": [{ "old": "x", "new": "y", "all": true }] });
    check([
        (
            "Read",
            json!({ "file_path": "/a", "offset": 0, "limit": "20" }),
            "read",
            json!({ "path": "/a", "offset": 1, "limit": 20 }),
        ),
        ("read", json!({ "filePath": "a", "limit": null }), "read", json!({ "path": "a" })),
        ("read_file", json!({ "absolute_path": "/a" }), "read", json!({ "path": "/a" })),
        ("view", json!({ "file_path": "a", "offset": 5.0 }), "read", json!({ "path": "a", "offset": 5 })),
        ("read", json!({ "path": "a", "file_path": null }), "read", json!({ "path": "a" })),
        ("read", json!({ "path": null, "file_path": "a" }), "read", json!({ "path": "a" })),
        ("read", json!({ "path": "a", "offset": "0" }), "read", json!({ "path": "a", "offset": 1 })),
        ("Edit", json!({ "file_path": "a", "old_string": "x", "new_string": "y" }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "oldText": "x", "newText": "y" }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "edits": { "old": "x", "new": "y" } }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "edits": r#"[{"oldText":"x","newText":"y"}]"# }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "edits": r#"{"old":"x","new":"y"}"# }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "edits": [r#"{"old":"x","new":"y"}"#] }), "edit", edit.clone()),
        ("edit", json!({ "path": "a", "file_path": "a", "old": "x", "new": "y" }), "edit", edit.clone()),
        ("replace", json!({ "file_path": "a", "old_string": "x", "new_string": "y" }), "edit", edit),
        (
            "MultiEdit",
            json!({ "file_path": "a", "edits": [{ "old_string": "x", "new_string": "y", "replace_all": "true" }] }),
            "edit",
            all.clone(),
        ),
        (
            "str_replace",
            json!({ "path": "a", "old_str": "x", "new_str": "y", "replaceAll": true }),
            "edit",
            all,
        ),
    ]);
}

/// The same for other tools.
#[test]
fn calls_of_other_agents_with_other_tools_are_repaired() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let command = json!({ "command": "ls -l" });
    check([
        (
            "Write",
            json!({ "file_path": "a", "content": "[1]" }),
            "write",
            json!({ "path": "a", "content": "[1]" }),
        ),
        (
            "write_file",
            json!({ "filename": "a", "contents": "x" }),
            "write",
            json!({ "path": "a", "content": "x" }),
        ),
        ("Bash", command.clone(), "shell", command.clone()),
        ("SHELL", json!({ "cmd": "ls -l" }), "shell", command.clone()),
        ("shell", json!({ "command": ["bash", "-lc", "ls -l"] }), "shell", command.clone()),
        ("run_shell_command", json!({ "command": "ls -l", "background": null }), "shell", command.clone()),
        ("shell", json!("ls -l"), "shell", command),
        (
            "Bash",
            json!({ "command": "x", "run_in_background": "true" }),
            "shell",
            json!({ "command": "x", "background": true }),
        ),
        (
            "Grep",
            json!({ "regex": "x", "-i": true, "include": "*.rs" }),
            "grep",
            json!({ "pattern": "x", "ignore_case": true, "glob": "*.rs" }),
        ),
        (
            "search_file_content",
            json!({ "pattern": "x", "directory": "src" }),
            "grep",
            json!({ "pattern": "x", "path": "src" }),
        ),
        (
            "Glob",
            json!({ "pattern": "*.rs", "dir": "src" }),
            "glob",
            json!({ "pattern": "*.rs", "path": "src" }),
        ),
        ("LS", json!({ "path": "src", "depth": "2" }), "list", json!({ "path": "src", "depth": 2 })),
        ("list_directory", json!({ "dir_path": "src" }), "list", json!({ "path": "src" })),
        ("apply_patch", json!({ "input": patch }), "patch", json!({ "patch": patch })),
        ("apply_patch", json!(patch), "patch", json!({ "patch": patch })),
        ("job-output", json!({ "bash_id": "1" }), "job_output", json!({ "id": "1" })),
        ("WebFetch", json!({ "url": "http://a" }), "fetch", json!({ "url": "http://a" })),
        ("mcp__box__look_up", json!({ "count": "1" }), "mcp__box__Look_up", json!({ "count": "1" })),
    ]);
}

#[test]
fn a_call_without_one_meaning_stays_as_it_is() {
    let rows = [
        // Valid already.
        ("read", json!({ "path": "a", "offset": null })),
        ("write", json!({ "path": "a", "content": "{\"b\": 1}" })),
        ("mcp__box__Look_up", json!({ "count": "1" })),
        // Two values for one parameter.
        ("read", json!({ "path": "a", "file_path": "b" })),
        ("read", json!({ "filePath": "a", "file_path": "b" })),
        ("edit", json!({ "path": "a", "edits": [{ "old": "x", "new": "y" }], "old": "z", "new": "y" })),
        ("edit", json!({ "path": "a", "edits": [{ "old": "x", "oldText": "z", "new": "y" }] })),
        ("edit", json!({ "path": "a", "old_string": "x", "old": "z", "new": "y" })),
        ("edit", json!({ "path": "a", "old": "z", "old_string": "x", "new": "y" })),
        ("edit", json!({ "path": "a", "old": "x", "new": "y", "replace_all": true, "all": false })),
        // A server's tool may be meant.
        ("edit_file", json!({ "path": "a", "old": "x", "new": "y" })),
        // No single text is meant.
        ("shell", json!("{\"command\": \"ls\"}}")),
        ("shell", json!(" [\"ls\", \"-l\"]")),
        ("read", json!("\"a\"")),
        // Names that mean something else elsewhere.
        ("search_files", json!({ "path": ".", "pattern": "a" })),
        ("create_file", json!({ "path": "a", "content": "x" })),
        // Unknown parameters, also where another one can be repaired.
        ("Read", json!({ "file_path": "a", "encoding": "utf-8" })),
        ("Bash", json!({ "command": "x", "timeout": 1000 })),
        ("shell", json!({ "command": ["ls", "-l"] })),
        ("shell", json!({ "command": "x", "background": "yes" })),
        ("read", json!({ "path": "a", "limit": 0 })),
        ("read", json!({ "path": "a", "offset": 1.5 })),
        ("read", json!({ "path": "a", "offset": -1 })),
        ("write", json!({ "path": "a", "content": { "b": 1 } })),
        ("write", json!({ "path": "a" })),
        ("write", json!("a")),
        ("read", json!([1])),
        // No tool, or more than one.
        ("delete_file", json!({ "path": "a" })),
        ("mcp__two__a__", json!({})),
        ("mcp__box__look-up", json!({})),
        ("mcp__Two__a", json!({})),
        ("read_file_box", json!({})),
    ];
    for (name, arguments) in rows {
        assert_eq!(repaired(name, &arguments.to_string()), None, "{name} {arguments}");
    }
    assert_eq!(repaired("read", "{\"path\": "), None);
    assert_eq!(repaired("JobList", ""), Some(("job_list".to_owned(), json!({}))));
}

#[test]
fn every_repair_is_named() {
    let given =
        json!({ "file_path": "a", "path": "a", "old_string": "x", "new": "y", "all": null, "edits": null });
    assert_eq!(repaired("Edit", &given.to_string()), None);
    let given = json!({ "file_path": "a", "path": "a", "old_string": "x", "new": "y", "all": null });
    let repaired = repair(&tools(), "Edit", &given.to_string()).unwrap();
    let said: Vec<String> = repaired.repairs.iter().map(Repair::to_string).collect();
    let expected = [
        "the tool `Edit` is `edit`",
        "`file_path` was left out",
        "`old_string` is `old`",
        "edits go into the list `edits`",
        "`all` was left out",
    ];
    assert_eq!(said, expected);
    let given = json!({ "path": "a", "limit": "3" }).to_string();
    let repaired = repair(&tools(), "read", &json!(given).to_string()).unwrap();
    assert_eq!(repaired.repairs, [Repair::Arguments, Repair::Value("limit".to_owned())]);
}

fn value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop::sample::select(vec!["a", "0", "2", "true", "[]", "{\"old\":\"x\",\"new\":\"y\"}"])
            .prop_map(Value::from),
    ];
    plain.prop_recursive(2, 8, 3, |inner| {
        let keys = prop::sample::select(vec!["old", "new", "oldText", "all"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A repaired call is valid, needs no second repair, and has no text that the call did not have.
    #[test]
    fn a_repair_makes_a_valid_call_of_the_same_words(
        name in prop::sample::select(vec!["read", "Read", "edit", "Edit", "write", "Bash", "list", "LS", "grep", "x"]),
        pairs in prop::collection::vec(
            (prop::sample::select(vec!["path", "file_path", "offset", "limit", "edits", "old", "old_string", "new", "new_string", "content", "command", "cmd", "depth", "pattern", "other"]), value()),
            0..5,
        ),
    ) {
        let tools = tools();
        // In the order of the model.
        let fields: serde_json::Map<String, Value> =
            pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let text = json!(fields).to_string();
        if let Some(repaired) = repair(&tools, name, &text) {
            let tool = tools.get(&repaired.name).unwrap();
            prop_assert!(tool.accepts(&repaired.arguments), "{repaired:?}");
            prop_assert!(!repaired.repairs.is_empty());
            prop_assert!(!fields.contains_key("other"), "{repaired:?}");
            prop_assert_eq!(repair(&tools, &repaired.name, &repaired.arguments.to_string()), None);
            for word in words(&repaired.arguments) {
                prop_assert!(text.contains(&word), "{word} {text}");
            }
            // Of two values for one parameter, none is dropped.
            for (one, other) in [("path", "file_path"), ("old", "old_string"), ("new", "new_string"), ("command", "cmd")] {
                let both = fields.get(one).zip(fields.get(other)).filter(|(one, other)| !one.is_null() && !other.is_null());
                prop_assert!(both.is_none_or(|(one, other)| one == other), "{repaired:?}");
            }
        }
    }
}

/// All texts in a value.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![json!(text).to_string().trim_matches('"').to_owned()],
        Value::Array(items) => items.iter().flat_map(words).collect(),
        Value::Object(fields) => fields.values().flat_map(words).collect(),
        _ => Vec::new(),
    }
}
