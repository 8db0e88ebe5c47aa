//! The tools by name, each with its schema and its class. It must never run one by itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{CallTarget, EffectClass, Intent};
use schemars::{JsonSchema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use crate::call::{Call, Output};

/// JSON Schema of a tool's arguments.
pub type Schema = Value;

/// A tool for a model.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name for the model: ASCII letters, digits, `_` and `-`.
    fn name(&self) -> &str;
    /// What it does and when to use it, for the model.
    fn about(&self) -> &str;
    /// The schema of its arguments.
    fn schema(&self) -> Schema;
    /// The most that a call does to the world.
    fn class(&self) -> EffectClass;
    /// Whether its calls may run in parallel with others of this kind.
    fn is_parallel(&self) -> bool {
        self.class() == EffectClass::None
    }
    /// Whether the same call may be made again and again, although its result stays the same: it looks at something that goes on.
    fn may_repeat(&self) -> bool {
        false
    }
    /// Whether it needs a conversation with a folder.
    fn needs_folder(&self) -> bool {
        true
    }
    /// Whether a call with an effect may change files of the folder: captures surround it.
    fn may_write(&self) -> bool {
        true
    }
    /// Whether the arguments have the types of the schema, as far as that is checked.
    fn accepts(&self, _: &Value) -> bool {
        true
    }
    /// The intent of this call: shown in an approval request, and compared with rules. `folder` is the base of relative names.
    /// An error is reported to the model; the call does not run.
    fn intent(
        &self,
        arguments: &Value,
        folder: &Path,
        roots: &[std::path::PathBuf],
    ) -> Result<Intent, String>;
    /// The effect of this call that stays when the files of the folder are reverted, for the ledger. It is the class of its
    /// intent, or less if it certainly reaches nothing else.
    fn leaves(&self, _: &Value, _: &[std::path::PathBuf], intent: &Intent) -> EffectClass {
        intent.class
    }
    /// Whether a call with this intent starts programs. Files with secrets are hidden from them.
    fn starts_programs(&self, intent: &Intent) -> bool {
        intent.touches.iter().any(|touch| matches!(touch, CallTarget::Command(_)))
    }
    /// Runs it.
    async fn call(&self, call: Call) -> Output;
}

/// The tools there are.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Toolbox {
    /// Adds one; of two with one name the first stays. Returns whether it was new.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> bool {
        let name = tool.name().to_owned();
        if self.tools.contains_key(&name) {
            return false;
        }
        self.tools.insert(name, tool);
        true
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All of them, sorted by name, so that the beginning of the prompt never changes.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }
}

/// The schema of a Rust type for a model, without references, so that every provider accepts it.
pub fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let settings = settings.with_transform(RecursiveTransform(plain));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The tool has a description of its own.
    schema.remove("$schema");
    schema.remove("description");
    schema.to_value()
}

/// Removes what says how Rust stores a value: names and formats of types, and the null of an optional value. A description is one
/// line.
fn plain(schema: &mut schemars::Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
}
