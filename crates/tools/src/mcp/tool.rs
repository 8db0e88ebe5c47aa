//! A server's tool as an ordinary tool. Must never trust the server's declarations so far that a call goes unrecorded. Each
//! call gets a ruling, is recorded before it runs, and is surrounded by captures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{CallTarget, EffectClass, Intent};
use serde_json::{Map, Value};

use super::listed::Listed;
use super::server::Server;
use super::text::line;
use crate::call::{Call, Output};
use crate::set::{Schema, Tool};

/// The longest line about a call.
const LINE: usize = 160;

/// A tool of a server.
pub(super) struct McpTool {
    pub(super) name: String,
    pub(super) listed: Listed,
    pub(super) server: Arc<Server>,
}

#[async_trait]
impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &str {
        &self.listed.about
    }

    fn schema(&self) -> Schema {
        self.listed.schema.clone()
    }

    fn class(&self) -> EffectClass {
        // A read-only tool does nothing outside; captures find and revert its file changes, if there are any.
        if self.listed.reads { EffectClass::Workspace } else { EffectClass::External }
    }

    fn intent(&self, arguments: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        let said = Value::Object(object(arguments)?).to_string();
        let words = format!("{}: {} {said}", self.server.name(), self.listed.tool);
        // Complete, however long: a person approves all of it.
        let detail = (words.len() > LINE).then(|| format!("{arguments:#}"));
        Ok(Intent { class: self.class(), touches: vec![CallTarget::Other], line: line(&words, LINE), detail })
    }

    async fn call(&self, call: Call) -> Output {
        match object(&call.arguments) {
            Ok(arguments) => self.server.call(&self.listed.tool, arguments, &call).await,
            Err(why) => Output::failed(why),
        }
    }
}

fn object(arguments: &Value) -> Result<Map<String, Value>, String> {
    match arguments {
        Value::Object(fields) => Ok(fields.clone()),
        Value::Null => Ok(Map::new()),
        _ => Err("the arguments of an MCP tool are an object".to_owned()),
    }
}
