//! The tools there are, by name, each with its schema and its class. It must never run one by itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::call::{Call, Output};

/// JSON Schema of a tool's arguments.
pub type Schema = Value;

/// Something that a model can do.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name, as the model says it: ASCII letters, digits, `_` and `-`.
    fn name(&self) -> &str;
    /// What it does and when to use it, for the model.
    fn about(&self) -> &str;
    /// What its arguments are.
    fn schema(&self) -> Schema;
    /// What a call does to the world at most.
    fn class(&self) -> EffectClass;
    /// Whether calls of it may run beside other such calls.
    fn is_parallel(&self) -> bool {
        self.class() == EffectClass::None
    }
    /// Whether it makes sense only where the conversation works in a folder.
    fn needs_folder(&self) -> bool {
        true
    }
    /// Whether a call that has an effect may change files of the folder: it is looked at before and after.
    fn may_write(&self) -> bool {
        true
    }
    /// What this call would do: what an approval shows, and what rules are compared with. `folder` is where relative
    /// names begin. An error is reported to the model; the call does not run.
    fn intent(
        &self,
        arguments: &Value,
        folder: &Path,
        roots: &[std::path::PathBuf],
    ) -> Result<Intent, String>;
    /// What of this very call stays when the files of the folder go back, as the ledger has it. It is what its intent says, or
    /// less, where it is known that it reaches nothing else.
    fn leaves(&self, _: &Value, _: &[std::path::PathBuf], intent: &Intent) -> EffectClass {
        intent.class
    }
    /// Does it.
    async fn call(&self, call: Call) -> Output;
}

/// The tools there are.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Toolbox {
    /// Adds one; of two with one name the first stays. Whether it was new.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> bool {
        let name = tool.name().to_owned();
        if self.tools.contains_key(&name) {
            return false;
        }
        self.tools.insert(name, tool);
        true
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All of them, in the order of their names: the prompt's beginning never changes with their order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }
}

/// The schema of a Rust type, without references, so that every provider takes it.
pub fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(fields) = &mut schema {
        fields.remove("$schema");
        fields.remove("title");
    }
    schema
}
