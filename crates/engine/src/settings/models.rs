//! What is known about a model: the built-in facts, and the settings above them.

use retake_core::Usage;

use super::values::EffortWord;
use super::{Endpoint, Settings, is_loopback};
use crate::model::{ModelInfo, facts};

/// Where the facts about a model come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactsFrom {
    /// All are built in.
    BuiltIn,
    /// All are in the settings.
    Settings,
    /// The settings have some, and override those that are built in.
    Both,
}

impl Settings {
    /// Known facts about a model: those of the settings, else those that are built in.
    pub fn model_info(&self, name: &str) -> ModelInfo {
        let known =
            ModelInfo { effort: self.model.effort.effort(), ..self.built_in_facts(name).unwrap_or_default() };
        let Some(set) = self.models.get(name) else {
            return known;
        };
        ModelInfo {
            context_tokens: set.context_tokens.map(|tokens| tokens.0).or(known.context_tokens),
            output_tokens: set.output_tokens.map(|tokens| tokens.0).or(known.output_tokens),
            input_price: set.input_price.or(known.input_price),
            // A discount on another price than the built-in one is not known.
            cached_input_price: set
                .cached_input_price
                .or(known.cached_input_price.filter(|_| set.input_price.is_none())),
            output_price: set.output_price.or(known.output_price),
            images: set.images.or(known.images),
            takes_effort: set.effort.and_then(EffortWord::effort).map_or(known.takes_effort, |_| Some(true)),
            effort: set.effort.map_or(known.effort, EffortWord::effort),
        }
    }

    /// Where the facts about a model come from; `None` if nothing is known.
    pub fn facts_from(&self, name: &str) -> Option<FactsFrom> {
        let set = self.models.get(name).is_some_and(|set| *set != super::ModelFacts::default());
        match (self.built_in_facts(name).is_some(), set) {
            (true, true) => Some(FactsFrom::Both),
            (true, false) => Some(FactsFrom::BuiltIn),
            (false, true) => Some(FactsFrom::Settings),
            (false, false) => None,
        }
    }

    fn built_in_facts(&self, name: &str) -> Option<ModelInfo> {
        let (provider, model) = name.split_once('/')?;
        facts::built_in(self.endpoints().get(provider)?, model)
    }

    /// The cost of a call of a model in US dollars; `None` if it is not known. A model without prices that is free costs 0.
    pub fn cost(&self, name: &str, usage: &Usage) -> Option<f64> {
        let priced = crate::model::cost(usage, &self.model_info(name));
        priced.or_else(|| self.is_free(name).then_some(0.0))
    }

    /// Whether a model costs nothing where no price is set for it: the demo, and those of servers on this computer.
    fn is_free(&self, name: &str) -> bool {
        let (provider, _) = name.split_once('/').unwrap_or((name, ""));
        let is_here = |it: &Endpoint| is_loopback(&it.base_url);
        name == "demo" || name.starts_with("demo:") || self.endpoints().get(provider).is_some_and(is_here)
    }
}
