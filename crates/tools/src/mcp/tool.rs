//! A server's tool as a tool like all others. Must never believe what the server says of its effects so far that a call goes
//! unseen. Each is asked about and written down before it runs, and the folder is captured around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent, Touch};
use serde_json::{Map, Value};

use super::listed::Listed;
use super::server::Server;
use super::text::line;
use crate::call::{Call, Output};
use crate::set::{Schema, Tool};

/// Longest line about a call.
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
        // Whoever only reads does nothing outside; what it does to files all the same is seen, and goes back.
        if self.listed.reads { EffectClass::Workspace } else { EffectClass::External }
    }

    fn intent(&self, arguments: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        let said = Value::Object(object(arguments)?).to_string();
        let words = format!("{}: {} {said}", self.server.name(), self.listed.tool);
        // Whole, however long: somebody is asked about all of it.
        let detail = (words.len() > LINE).then(|| format!("{arguments:#}"));
        Ok(Intent { class: self.class(), touches: vec![Touch::Other], line: line(&words, LINE), detail })
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
