//! The list of models, and the choice for a request without a model.
//!
//! A requested model is used or refused, never replaced by another one. Only servers on this computer are searched for.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::future::{Either, join_all, select};

use super::demo::Demo;
use super::genai::ProviderModel;
use super::{Model, ModelError, ModelErrorKind, Retrying, facts, probe};
use crate::clock::Clock;
use crate::ids::Random;
use crate::secret::{Environment, KeyError, KeySource};
use crate::settings::{Endpoint, EndpointKind, Settings, is_loopback, most_alike};

/// The providers that need only a key in the environment, best first.
const BY_KEY: [&str; 3] = ["anthropic", "openai", "gemini"];

/// The servers that are searched for on this computer, best first, with their display names.
const LOCAL: [(&str, &str); 3] = [("ollama", "Ollama"), ("llamacpp", "llama.cpp"), ("lmstudio", "LM Studio")];

/// How similar a provider's name must be to be suggested. There are few providers, so the limit is lower than for settings.
const ALIKE: f64 = 0.75;

/// A chosen model, with the reason.
#[derive(Clone)]
pub struct Choice {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The reason.
    pub why: ChosenBy,
}

/// Why a model was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// The request names it.
    Request,
    /// The settings name it.
    Settings,
    /// The key of its provider exists.
    Key(KeySource),
    /// The server with this name runs on this computer.
    LocalServer(String),
    /// There is no key and no server.
    Demo,
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choice").field("model", &self.model.name()).field("why", &self.why).finish()
    }
}

/// A model or provider that can be offered.
#[derive(Clone, Debug)]
pub struct OfferedModel {
    /// The name to request: `provider/model`. If it is not available, the model may be an example or missing.
    pub name: String,
    /// Why it cannot be used now, as far as is known without calling it; `None` if it can.
    pub unavailable: Option<Unavailable>,
}

/// Why a model cannot be used.
#[derive(Clone, Debug)]
pub enum Unavailable {
    /// The key of its provider is missing or cannot be read.
    Key(Arc<KeyError>),
    /// Its provider is on this computer, and the settings disable the search for it.
    NotSearched,
    /// Its provider can be used, but none of its models is known.
    NotNamed(KeySource),
    /// The server with this name runs, but has no model.
    NoModels(String),
    /// Nothing answers at this address.
    NoAnswer(String),
    /// Nothing answers at this address within the time in the settings.
    Late(String),
    /// The program at this address is no model server.
    NoModelServer(String),
    /// The server at this address answers with this HTTP status.
    Status(String, u16),
}

/// The source of a run's model.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// The requested model, or the best one for a request without a model.
    async fn choose(&self, asked: Option<&str>) -> Result<Choice, ModelError>;

    /// All models that can be used, and those that cannot, with the reason.
    async fn list(&self) -> Vec<OfferedModel>;
}

#[async_trait]
impl Catalogue for Models {
    async fn choose(&self, asked: Option<&str>) -> Result<Choice, ModelError> {
        Models::choose(self, asked).await
    }

    async fn list(&self) -> Vec<OfferedModel> {
        Models::list(self).await
    }
}

/// Creates models by name.
pub struct Models {
    settings: Settings,
    endpoints: BTreeMap<String, Endpoint>,
    environment: Environment,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Models {
    /// The models of these settings and this environment.
    pub fn new(
        settings: Settings,
        environment: Environment,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let endpoints = settings.endpoints();
        Self { settings, endpoints, environment, clock, random }
    }

    /// The model with this name: `provider/model`, a provider with a usual model, or `demo`. Sends no request.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        let name = name.trim();
        if name == Demo::NAME {
            let (clock, random) = (Arc::clone(&self.clock), Arc::clone(&self.random));
            return Ok(Arc::new(Demo::new(clock, random, self.settings.demo.word_delay_ms.0)));
        }
        let (provider, model) = match name.split_once('/') {
            Some((provider, model)) => (provider, Some(model)),
            None => (name, self.settings.usual_model(name)),
        };
        let endpoint = self.endpoints.get(provider).ok_or_else(|| self.unknown(name, provider))?;
        let Some(model) = model.filter(|model| !model.is_empty()) else {
            let error = ModelError::new(ModelErrorKind::UnknownModel, name)
                .detail("the name of the model is missing");
            return Err(error.with("provider", provider));
        };
        let mut endpoint = endpoint.clone();
        if !self.settings.sets_kind(provider) && facts::needs_responses(&endpoint, model) {
            endpoint.kind = EndpointKind::OpenAiResponses;
        }
        let info = self.settings.model_info(&format!("{provider}/{model}"));
        let timeouts = (&self.settings.network).into();
        let (clock, random) = (Arc::clone(&self.clock), Arc::clone(&self.random));
        let environment = self.environment.clone();
        let world = (Arc::clone(&clock), Arc::clone(&random));
        let provided = ProviderModel::new(endpoint, model, info, timeouts, environment, world);
        Ok(Arc::new(Retrying::new(Arc::new(provided), (&self.settings.retry).into(), clock, random)))
    }

    fn unknown(&self, name: &str, provider: &str) -> ModelError {
        let error = ModelError::new(ModelErrorKind::UnknownModel, format!("“{name}”"));
        let error =
            error.detail(format!("no provider is called “{provider}”")).with("unknown_provider", provider);
        let known = self.endpoints.keys().map(String::as_str).chain([Demo::NAME]);
        let nearest = most_alike(provider, ALIKE, known.map(|name| (name, name)));
        nearest.into_iter().fold(error, |error, nearest| error.with("nearest", nearest))
    }

    /// The requested model, else that of the settings, else one with a key, else one of a server on this computer, else the demo.
    /// The search takes at most the time in the settings.
    pub fn choose<'a>(&'a self, asked: Option<&'a str>) -> BoxFuture<'a, Result<Choice, ModelError>> {
        Box::pin(async move {
            let choice = |name: &str, why| Ok(Choice { model: self.open(name)?, why });
            if let Some(name) = asked {
                return choice(name, ChosenBy::Request);
            }
            if let Some(name) = &self.settings.model.default {
                return choice(name, ChosenBy::Settings);
            }
            for provider in BY_KEY {
                let Some(endpoint) = self.endpoints.get(provider) else {
                    continue;
                };
                if self.has_key(endpoint)? {
                    return choice(provider, ChosenBy::Key(endpoint.key.clone()));
                }
            }
            for (provider, title, found) in self.local().await {
                if let Some(model) = found.ok().as_deref().and_then(usable) {
                    return choice(&format!("{provider}/{model}"), ChosenBy::LocalServer(title));
                }
            }
            choice(Demo::NAME, ChosenBy::Demo)
        })
    }

    /// Whether the endpoint's key exists. A key file that cannot be used is an error: another provider must not be chosen
    /// silently.
    fn has_key(&self, endpoint: &Endpoint) -> Result<bool, ModelError> {
        match endpoint.key.read(&self.environment) {
            Ok(_) => Ok(true),
            Err(KeyError::NotSet(_)) => Ok(false),
            Err(error) => {
                let target = format!("{} at {}", endpoint.name, endpoint.base_url);
                Err(ModelError::no_key(target, &error).because(&error.to_string()))
            }
        }
    }

    /// All models that can be used, and those that cannot, with the reason.
    pub async fn list(&self) -> Vec<OfferedModel> {
        let local = self.local().await;
        let mut offers = Vec::new();
        for (name, endpoint) in &self.endpoints {
            match local.iter().find(|(local, ..)| local == name) {
                Some((_, title, found)) => offers.extend(local_offers(name, title, found)),
                None => offers.extend(self.configured(name, endpoint)),
            }
        }
        // Usable models first; each part sorted by name.
        offers.sort_by_key(|offer| offer.unavailable.is_some());
        let end = offers.iter().position(|offer| offer.unavailable.is_some()).unwrap_or(offers.len());
        offers.insert(end, OfferedModel { name: Demo::NAME.into(), unavailable: None });
        offers
    }

    /// The models of an endpoint in the settings, and whether its key exists.
    fn configured(&self, name: &str, endpoint: &Endpoint) -> Vec<OfferedModel> {
        let key = endpoint.key.read(&self.environment);
        let mut unavailable = key.err().map(|error| Unavailable::Key(Arc::new(error)));
        let prefix = format!("{name}/");
        let usual = self.settings.usual_model(name).map(|model| format!("{prefix}{model}"));
        let mut names: Vec<String> =
            self.settings.models.keys().filter(|name| name.starts_with(&prefix)).cloned().collect();
        names.extend(usual.filter(|usual| !names.contains(usual)));
        if names.is_empty() {
            // None of its models is known, so none can be called usable.
            unavailable.get_or_insert_with(|| match is_loopback(&endpoint.base_url) {
                true => Unavailable::NotSearched,
                false => Unavailable::NotNamed(endpoint.key.clone()),
            });
            names.push(format!("{prefix}MODEL"));
        }
        names.into_iter().map(|name| OfferedModel { name, unavailable: unavailable.clone() }).collect()
    }

    /// The replies of the endpoints on this computer: name, title, and models or the error. All are called at once.
    async fn local(&self) -> Vec<(String, String, Result<Vec<String>, Unavailable>)> {
        let title = |name: &str| {
            LOCAL.iter().find(|(known, _)| *known == name).map_or(name, |(_, title)| title).to_owned()
        };
        let rank = |name: &str| LOCAL.iter().position(|(known, _)| *known == name).unwrap_or(LOCAL.len());
        if !self.settings.local.find {
            return Vec::new();
        }
        let mut here: Vec<&Endpoint> =
            self.endpoints.values().filter(|endpoint| is_loopback(&endpoint.base_url)).collect();
        here.sort_by_key(|endpoint| rank(&endpoint.name));
        let asked = here.into_iter().map(|endpoint| async move {
            let key = endpoint.key.read(&self.environment).ok().flatten();
            let asking = Box::pin(probe::models(endpoint, key));
            let found = match select(asking, self.clock.sleep(self.settings.local.find_within_ms.0)).await {
                Either::Left((found, _)) => found,
                Either::Right(_) => Err(Unavailable::Late(endpoint.base_url.clone())),
            };
            (endpoint.name.clone(), title(&endpoint.name), found)
        });
        join_all(asked).await
    }
}

/// The first chat model. The same lists contain embedding models.
fn usable(models: &[String]) -> Option<&String> {
    models.iter().find(|name| !name.to_lowercase().contains("embed"))
}

fn local_offers(name: &str, title: &str, found: &Result<Vec<String>, Unavailable>) -> Vec<OfferedModel> {
    let offer = |model: &str, unavailable| OfferedModel { name: format!("{name}/{model}"), unavailable };
    match found {
        Ok(models) if models.is_empty() => {
            vec![offer("MODEL", Some(Unavailable::NoModels(title.to_owned())))]
        }
        Ok(models) => models.iter().map(|model| offer(model, None)).collect(),
        Err(why) => vec![offer("MODEL", Some(why.clone()))],
    }
}
