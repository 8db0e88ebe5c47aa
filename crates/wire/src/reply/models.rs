//! The reply with the known models. Only types.

use serde::{Deserialize, Serialize};

use crate::condition::{ModelCause, UnavailableCause};
use crate::model_facts::{Effort, FactsFrom};
use crate::problem::Problem;

/// The known models and the default model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Models {
    /// The default model: the one used if a request names none.
    pub default: String,
    /// Why this model is the default.
    #[serde(default)]
    pub cause: ModelCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// Why the default model can't be used, as far as that is known without calling it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub warning: Option<String>,
    /// The known models: all of them, bounded by the endpoints and the models that each endpoint lists.
    pub models: Vec<Model>,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// The name of the model: `provider/model`.
    pub name: String,
    /// Why the model can't be used. Absent if it can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_cause: Option<UnavailableCause>,
    /// Deprecated, the next version leaves it out: `unavailable_cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub unavailable: Option<String>,
    /// The size of the context in tokens, if known.
    pub context_tokens: Option<u64>,
    /// The price in US dollars per million input tokens, if known.
    pub input_price: Option<f64>,
    /// The price in US dollars per million input tokens that the provider reads from its cache, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_price: Option<f64>,
    /// The price in US dollars per million output tokens, if known.
    pub output_price: Option<f64>,
    /// The largest number of tokens of an answer, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Whether the model takes pictures, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Whether the effort of the model's reasoning can be set, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_effort: Option<bool>,
    /// The effort of its reasoning that is sent to the model. Absent if none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Where these facts come from. Absent if nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts_from: Option<FactsFrom>,
}
