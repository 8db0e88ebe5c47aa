//! Which models there are, and which one to use when a request names none.
//!
//! A requested model is used or refused, never replaced by another one. Only servers on this computer are searched for.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::future::{Either, join_all, select};
use retake_core::{Hint, Remedy};

use super::demo::Demo;
use super::genai::Provided;
use super::{Model, ModelError, ModelErrorKind, Retrying, probe};
use crate::clock::Clock;
use crate::ids::Random;
use crate::secret::{Environment, KeyError, KeySource};
use crate::settings::{Endpoint, Settings, is_loopback, most_alike};

/// The providers whose key in the environment is enough, best first.
const BY_KEY: [&str; 3] = ["anthropic", "openai", "gemini"];

/// The servers that are looked for on this computer, best first, as people call them.
const LOCAL: [(&str, &str); 3] = [("ollama", "Ollama"), ("llamacpp", "llama.cpp"), ("lmstudio", "LM Studio")];

/// How similar the name of a provider must be to be named as the nearest. There are few, so that the limit is lower than for settings.
const ALIKE: f64 = 0.75;

/// What to say of a name of a model that is none, and where names are to be found.
fn named(wrong: String) -> Hint {
    Hint::new("{} lists what there is", [Remedy::Models]).after(wrong)
}

/// A model that was chosen, and why.
#[derive(Clone)]
pub struct Choice {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Why this one.
    pub why: ChosenBy,
}

/// Why a model was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// A request names it.
    Request,
    /// The settings name it.
    Settings,
    /// The key of its provider is there.
    Key(KeySource),
    /// The server of that name runs on this computer.
    LocalServer(String),
    /// There is neither a key nor a server.
    Demo,
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choice").field("model", &self.model.name()).field("why", &self.why).finish()
    }
}

/// A model, or a provider, that could be used.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What to ask for: `provider/model`. Where it is not available, the model may be an example or missing.
    pub name: String,
    /// Why it cannot be used now, as far as can be known without asking it; absent where it can.
    pub unavailable: Option<Unavailable>,
}

/// Why a model cannot be used.
#[derive(Clone, Debug)]
pub enum Unavailable {
    /// The key of its provider cannot be had.
    Key(Arc<KeyError>),
    /// Its provider is on this computer, and the settings say not to look for it.
    NotSearched,
    /// Its provider can be used, but no model of it is known.
    NotNamed(KeySource),
    /// The server of that name runs, but has no model.
    NoModels(String),
    /// Nothing answers at this address.
    NoAnswer(String),
    /// Nothing answers at this address in the time that the settings allow.
    Late(String),
    /// What answers at this address is no model server.
    NoModelServer(String),
    /// The server at this address answers with this HTTP status.
    Status(String, u16),
}

/// Where a run's model comes from.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// The model to use: the one asked for, or the one that is best when nobody says.
    async fn choose(&self, asked: Option<&str>) -> Result<Choice, ModelError>;

    /// Everything that can be used, and what else could be and why it cannot.
    async fn list(&self) -> Vec<Offer>;
}

#[async_trait]
impl Catalogue for Models {
    async fn choose(&self, asked: Option<&str>) -> Result<Choice, ModelError> {
        Models::choose(self, asked).await
    }

    async fn list(&self) -> Vec<Offer> {
        Models::list(self).await
    }
}

/// Makes models by name.
pub struct Models {
    settings: Settings,
    endpoints: BTreeMap<String, Endpoint>,
    environment: Environment,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Models {
    /// The models that settings and environment describe.
    pub fn new(
        settings: Settings,
        environment: Environment,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let endpoints = settings.endpoints();
        Self { settings, endpoints, environment, clock, random }
    }

    /// The model of a name: `provider/model`, a provider that has a usual model, or `demo`. Asks nobody.
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
            return Err(error.hinting(named(format!("name it as {provider}/MODEL;"))));
        };
        let info = self.settings.model_info(&format!("{provider}/{model}"));
        let timeouts = (&self.settings.network).into();
        let (clock, random) = (Arc::clone(&self.clock), Arc::clone(&self.random));
        let environment = self.environment.clone();
        let world = (Arc::clone(&clock), Arc::clone(&random));
        let provided = Provided::new(endpoint.clone(), model, info, timeouts, environment, world);
        Ok(Arc::new(Retrying::new(Arc::new(provided), (&self.settings.retry).into(), clock, random)))
    }

    fn unknown(&self, name: &str, provider: &str) -> ModelError {
        let error = ModelError::new(ModelErrorKind::UnknownModel, format!("“{name}”"));
        let error = error.detail(format!("no provider is called “{provider}”"));
        let known = self.endpoints.keys().map(String::as_str).chain([Demo::NAME]);
        let nearest = most_alike(provider, ALIKE, known.map(|name| (name, name)));
        let wrong = nearest.map_or_else(
            || "a model is named as provider/model;".to_owned(),
            |nearest| format!("did you mean {nearest}?"),
        );
        error.hinting(named(wrong))
    }

    /// The model to use: the one asked for, else the settings', else one whose key is there, else one of a server on
    /// this computer, else the demo. Takes at most the time that the settings allow for looking.
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

    /// Whether the endpoint's key is there. A key file that cannot be used is an error rather than a reason to take
    /// another provider in silence.
    fn has_key(&self, endpoint: &Endpoint) -> Result<bool, ModelError> {
        match endpoint.key.read(&self.environment) {
            Ok(_) => Ok(true),
            Err(KeyError::NotSet(_)) => Ok(false),
            Err(error) => {
                let target = format!("{} at {}", endpoint.name, endpoint.base_url);
                let hint = error.hint();
                Err(ModelError::new(ModelErrorKind::NoKey, target).because(&error.to_string()).hinting(hint))
            }
        }
    }

    /// Everything that can be used, and what else could be and why it cannot.
    pub async fn list(&self) -> Vec<Offer> {
        let local = self.local().await;
        let mut offers = Vec::new();
        for (name, endpoint) in &self.endpoints {
            match local.iter().find(|(local, ..)| local == name) {
                Some((_, title, found)) => offers.extend(local_offers(name, title, found)),
                None => offers.extend(self.configured(name, endpoint)),
            }
        }
        // What can be used comes first; within both, the order of names.
        offers.sort_by_key(|offer| offer.unavailable.is_some());
        let end = offers.iter().position(|offer| offer.unavailable.is_some()).unwrap_or(offers.len());
        offers.insert(end, Offer { name: Demo::NAME.into(), unavailable: None });
        offers
    }

    /// What the settings say of an endpoint's models, and whether its key is there.
    fn configured(&self, name: &str, endpoint: &Endpoint) -> Vec<Offer> {
        let key = endpoint.key.read(&self.environment);
        let mut unavailable = key.err().map(|error| Unavailable::Key(Arc::new(error)));
        let prefix = format!("{name}/");
        let usual = self.settings.usual_model(name).map(|model| format!("{prefix}{model}"));
        let mut names: Vec<String> =
            self.settings.models.keys().filter(|name| name.starts_with(&prefix)).cloned().collect();
        names.extend(usual.filter(|usual| !names.contains(usual)));
        if names.is_empty() {
            // Nobody knows a model of it, so that none can be called usable.
            unavailable.get_or_insert_with(|| match is_loopback(&endpoint.base_url) {
                true => Unavailable::NotSearched,
                false => Unavailable::NotNamed(endpoint.key.clone()),
            });
            names.push(format!("{prefix}MODEL"));
        }
        names.into_iter().map(|name| Offer { name, unavailable: unavailable.clone() }).collect()
    }

    /// What the endpoints on this computer answer: name, title, models or what is wrong. All are asked at once.
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

/// The first model that can talk. Embedding models stand in the same lists.
fn usable(models: &[String]) -> Option<&String> {
    models.iter().find(|name| !name.to_lowercase().contains("embed"))
}

fn local_offers(name: &str, title: &str, found: &Result<Vec<String>, Unavailable>) -> Vec<Offer> {
    let offer = |model: &str, unavailable| Offer { name: format!("{name}/{model}"), unavailable };
    match found {
        Ok(models) if models.is_empty() => {
            vec![offer("MODEL", Some(Unavailable::NoModels(title.to_owned())))]
        }
        Ok(models) => models.iter().map(|model| offer(model, None)).collect(),
        Err(why) => vec![offer("MODEL", Some(why.clone()))],
    }
}
