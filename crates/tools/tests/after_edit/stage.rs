//! Edits in a workspace whose settings name programs.

use std::sync::Arc;

use retake_core::ToolOutcome;
use retake_tools::{AfterEdit, FileNames, Formatter, Output, ShellConfig, Tool, file_tools, with_programs};
use serde_json::json;

use crate::stage::{Stage, bare, config, tool};

/// A workspace, and the tools that edit it.
pub(super) struct Editing {
    pub(super) stage: Stage,
    pub(super) tools: Vec<Arc<dyn Tool>>,
}

/// Programs run in the sandbox.
pub(super) fn confined() -> ShellConfig {
    ShellConfig { sandbox: Some(bare()), ..config() }
}

pub(super) fn names(pattern: &str) -> FileNames {
    FileNames::new(&[pattern.to_owned()]).expect("a pattern")
}

/// A formatter for files with this ending.
pub(super) fn formatter(pattern: &str, command: &[&str]) -> Formatter {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    Formatter { name: "tidy".to_owned(), files: names(pattern), command }
}

impl Editing {
    pub(super) fn new(stage: Stage, after: AfterEdit) -> Self {
        Self { stage, tools: with_programs(file_tools(), after) }
    }

    /// With one formatter in the sandbox.
    pub(super) fn formatted(stage: Stage, formatter: Formatter) -> Self {
        Self::new(stage, AfterEdit { formatters: vec![formatter], shell: confined(), ..AfterEdit::default() })
    }

    /// Writes a file; that succeeds.
    pub(super) async fn write(&self, name: &str, content: &str) -> Output {
        let written = json!({ "path": name, "content": content });
        self.done("write", written).await
    }

    /// Replaces a text of a file; that succeeds.
    pub(super) async fn edit(&self, name: &str, old: &str, new: &str) -> Output {
        self.done("edit", json!({ "path": name, "edits": [{ "old": old, "new": new }] })).await
    }

    pub(super) async fn done(&self, name: &str, arguments: serde_json::Value) -> Output {
        let output = self.stage.call(&tool(&self.tools, name), arguments).await;
        assert_eq!(output.outcome, ToolOutcome::Ok, "{}", output.content);
        output
    }

    /// A file's content.
    pub(super) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.stage.root().join(name)).expect("a text")
    }
}

/// The last line of a result.
pub(super) fn last(output: &Output) -> &str {
    output.content.lines().last().expect("a line")
}
