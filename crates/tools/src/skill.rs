//! Skills: instructions for a kind of task, which a model reads when it needs them. They are texts, and grant nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::call::{Call, Output};
use crate::listed::listed;
use crate::own::read_only_intent;
use crate::set::{Schema, Tool, schema_of};

const ABOUT: &str = "Returns the text of a skill: instructions for a kind of task. Read a skill before you do a task that it is for.";

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// Its name.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// What the model gets.
    pub text: String,
}

/// The tool that returns these skills.
pub fn skill_tool(skills: Vec<SkillText>) -> Arc<dyn Tool> {
    let names: Vec<_> = skills.iter().map(|skill| (&*skill.name, &*skill.description)).collect();
    let about = listed(ABOUT, "Skills:", &names);
    Arc::new(Skill { about, skills })
}

/// A skill to read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The name of the skill.
    name: String,
}

struct Skill {
    about: String,
    skills: Vec<SkillText>,
}

impl Skill {
    fn named(&self, arguments: &Value) -> Result<&SkillText, String> {
        let Arguments { name } = arguments::read(arguments)?;
        let name = name.trim().trim_start_matches('/');
        self.skills.iter().find(|skill| skill.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
            format!("there is no skill “{}”; known skills: {}", arguments::line(name), names.join(", "))
        })
    }
}

#[async_trait]
impl Tool for Skill {
    fn name(&self) -> &str {
        "skill"
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn schema(&self) -> Schema {
        schema_of::<Arguments>()
    }

    fn class(&self) -> EffectClass {
        EffectClass::None
    }

    fn accepts(&self, arguments: &Value) -> bool {
        arguments::read::<Arguments>(arguments).is_ok()
    }

    fn intent(&self, arguments: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        Ok(read_only_intent(format!("read the skill {}", self.named(arguments)?.name), Vec::new()))
    }

    async fn call(&self, call: Call) -> Output {
        match self.named(&call.arguments) {
            Ok(skill) => Output::ok(skill.text.clone()),
            Err(why) => Output::failed(why),
        }
    }
}
