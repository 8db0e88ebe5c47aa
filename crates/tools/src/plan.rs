//! The end of plan mode: the model hands over its plan. It must never end plan mode itself: the engine does, after a person has
//! approved the plan.

use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Fact, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Call, Output};
use crate::files::PathBase;
use crate::own::OwnTool;
use crate::set::Tool;

/// The name of the tool.
pub const PLAN_TOOL: &str = "present_plan";

/// The key of the fact that the model knows of plan mode.
pub const MODE_FACT: &str = "mode";

/// The tool that hands over a plan.
pub fn plan_tool() -> Arc<dyn Tool> {
    Arc::new(Plan)
}

/// A plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The whole plan, in Markdown: what you will change, where, in which order, and how you will check it.
    plan: String,
}

struct Plan;

#[async_trait]
impl OwnTool for Plan {
    type Arguments = Arguments;
    const NAME: &'static str = PLAN_TOOL;
    const ABOUT: &'static str = "In plan mode only: hands your plan over to the person, who approves it or says what to change. Once it is \
         approved, plan mode is over, and you carry the plan out.";
    /// What comes after the plan depends on the answer.
    const IS_PARALLEL: bool = false;

    fn intent(&self, Arguments { plan }: Arguments, _: &PathBase) -> Result<Intent, String> {
        if plan.trim().is_empty() {
            return Err("there is no plan in `plan`".to_owned());
        }
        let (class, touches) = (EffectClass::None, Vec::new());
        Ok(Intent { class, touches, line: "hand over the plan".to_owned(), detail: Some(plan) })
    }

    async fn call(&self, _: Call, _: Arguments) -> Result<Output, String> {
        let content =
            "Plan mode is over. Carry the plan out now, step by step. Calls may still need approvals.";
        Ok(Output { facts: vec![Fact::new(MODE_FACT, "")], ..Output::ok(content.to_owned()) })
    }
}
