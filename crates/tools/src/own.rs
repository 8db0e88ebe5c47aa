//! The common part of our own tools: typed arguments, and a schema from their type. It must never know what one of them does.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use retake_core::{CallTarget, EffectClass, Intent};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments;
use crate::call::{Call, Output};
use crate::files::PathBase;
use crate::set::{Schema, Tool, schema_of};

/// A tool of our own. Arguments that do not fit its type are reported to the model.
#[async_trait]
pub(crate) trait OwnTool: Send + Sync + 'static {
    /// The arguments. Doc comments of the fields describe them to the model.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// See [`Tool::name`].
    const NAME: &'static str;
    /// See [`Tool::about`].
    const ABOUT: &'static str;
    /// See [`Tool::class`].
    const CLASS: EffectClass = EffectClass::None;
    /// See [`Tool::is_parallel`].
    const IS_PARALLEL: bool = matches!(Self::CLASS, EffectClass::None);
    /// See [`Tool::may_repeat`].
    const MAY_REPEAT: bool = false;
    /// See [`Tool::needs_folder`].
    const NEEDS_FOLDER: bool = true;
    /// See [`Tool::may_write`].
    const MAY_WRITE: bool = true;

    /// See [`Tool::intent`].
    fn intent(&self, arguments: Self::Arguments, ground: &PathBase) -> Result<Intent, String>;
    /// See [`Tool::call`]. An error is reported to the model as a failed call.
    async fn call(&self, call: Call, arguments: Self::Arguments) -> Result<Output, String>;
}

#[async_trait]
impl<T: OwnTool> Tool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn about(&self) -> &str {
        T::ABOUT
    }

    fn schema(&self) -> Schema {
        schema_of::<T::Arguments>()
    }

    fn class(&self) -> EffectClass {
        T::CLASS
    }

    fn is_parallel(&self) -> bool {
        T::IS_PARALLEL
    }

    fn may_repeat(&self) -> bool {
        T::MAY_REPEAT
    }

    fn needs_folder(&self) -> bool {
        T::NEEDS_FOLDER
    }

    fn may_write(&self) -> bool {
        T::MAY_WRITE
    }

    fn accepts(&self, arguments: &Value) -> bool {
        arguments::read::<T::Arguments>(arguments).is_ok()
    }

    fn intent(&self, arguments: &Value, folder: &Path, roots: &[PathBuf]) -> Result<Intent, String> {
        OwnTool::intent(self, arguments::read(arguments)?, &PathBase::new(folder, roots))
    }

    async fn call(&self, call: Call) -> Output {
        let done = match arguments::read(&call.arguments) {
            Ok(arguments) => OwnTool::call(self, call, arguments).await,
            Err(why) => Err(why),
        };
        done.unwrap_or_else(Output::failed)
    }
}

/// The intent of a call that changes nothing.
pub(crate) fn read_only_intent(line: String, touches: Vec<CallTarget>) -> Intent {
    Intent { class: EffectClass::None, touches, line, detail: None }
}
