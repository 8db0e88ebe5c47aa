//! The built-in facts about well-known models: context, prices, pictures, effort. They are a table in `facts.toml`, which says of when
//! they are. What the table does not say is unknown, and is never guessed from a similar name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::ModelInfo;
use crate::settings::{Endpoint, EndpointKind, is_loopback};

/// The provider for models of servers on this computer.
const LOCAL: &str = "local";

/// The providers by the host of their address.
const HOSTS: [(&str, &str); 10] = [
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("api.mistral.ai", "mistral"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "xai"),
    ("api.groq.com", "groq"),
    ("dashscope-intl.aliyuncs.com", "qwen"),
    ("dashscope-us.aliyuncs.com", "qwen"),
    ("dashscope.aliyuncs.com", "qwen"),
];

/// The facts about each model, by provider and name.
static TABLE: LazyLock<BTreeMap<String, BTreeMap<String, Row>>> =
    LazyLock::new(|| toml::from_str(include_str!("facts.toml")).expect("BUG: the table is valid"));

/// A line of the table.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    context: Option<u64>,
    output: Option<u64>,
    price: Option<Price>,
    images: Option<bool>,
    effort: Option<bool>,
    responses: bool,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

/// The line of a model at an endpoint.
fn row(endpoint: &Endpoint, model: &str) -> Option<&'static Row> {
    let provider = provider(endpoint)?;
    // Servers on this computer put the makers of their models before the names.
    let model = if provider == LOCAL { model.rsplit('/').next().unwrap_or(model) } else { model };
    let rows = TABLE.get(provider)?.iter();
    let matching = rows.filter(|(name, _)| is_version(model, name, provider == LOCAL));
    matching.max_by_key(|(name, _)| name.len()).map(|(_, row)| row)
}

/// The built-in facts about a model at an endpoint; `None` for one that is not in the table.
pub(crate) fn built_in(endpoint: &Endpoint, model: &str) -> Option<ModelInfo> {
    let row = row(endpoint, model)?;
    Some(ModelInfo {
        context_tokens: row.context,
        output_tokens: row.output,
        input_price: row.price.map(|price| price.input),
        cached_input_price: row.price.and_then(|price| price.cached),
        output_price: row.price.map(|price| price.output),
        images: row.images,
        takes_effort: row.effort,
        effort: None,
    })
}

/// Whether a model calls tools only in OpenAI's format of responses. Other servers with its models may not have that format.
pub(crate) fn needs_responses(endpoint: &Endpoint, model: &str) -> bool {
    let url = reqwest::Url::parse(&endpoint.base_url).ok();
    let is_openai = url.is_some_and(|url| url.host_str() == Some("api.openai.com"));
    is_openai
        && endpoint.kind == EndpointKind::OpenAi
        && row(endpoint, model).is_some_and(|row| row.responses)
}

/// The provider of an endpoint, by its address, else by its name.
fn provider(endpoint: &Endpoint) -> Option<&str> {
    let url = reqwest::Url::parse(&endpoint.base_url).ok()?;
    let host = url.host_str().unwrap_or_default();
    let by_host = HOSTS.iter().find_map(|(known, provider)| (*known == host).then_some(*provider));
    let by_name = || Some(endpoint.name.as_str()).filter(|name| TABLE.contains_key(*name));
    by_host.or_else(by_name).or_else(|| is_loopback(&endpoint.base_url).then_some(LOCAL))
}

/// Whether a model has this name, or is a version of it: with a date, as in `-2024-08-06`, `-20250929` and `-0709`, or the latest.
/// A local one can also have a tag, as in `:8b-q4`, or a size, as in `-20b`. Another ending is another model, such as `gpt-5-mini`.
fn is_version(model: &str, name: &str, local: bool) -> bool {
    let Some(rest) = model.strip_prefix(name) else {
        return false;
    };
    if rest.is_empty() || local && rest.starts_with(':') {
        return true;
    }
    let Some(rest) = rest.strip_prefix(['-', '@']) else {
        return false;
    };
    let first = rest.split('-').next().unwrap_or_default();
    let date = first.len() >= 3 && rest.chars().all(|c| c.is_ascii_digit() || c == '-');
    let size = local && first.strip_suffix('b').is_some_and(|size| size.parse::<f64>().is_ok());
    date || size || rest == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::KeySource;

    fn endpoint(name: &str, base_url: &str) -> Endpoint {
        let (name, base_url) = (name.to_owned(), base_url.to_owned());
        Endpoint { name, kind: EndpointKind::OpenAi, base_url, key: KeySource::None }
    }

    #[test]
    fn every_line_of_the_table_is_read_and_makes_sense() {
        for (provider, rows) in &*TABLE {
            assert!(provider == LOCAL || HOSTS.iter().any(|(_, known)| known == provider), "{provider}");
            for (name, row) in rows {
                let tokens =
                    row.context.is_none_or(|context| row.output.is_none_or(|output| output <= context));
                let price = row.price.is_none_or(|price| {
                    price.input <= price.output && price.cached.is_none_or(|cached| cached < price.input)
                });
                assert!(tokens && price, "{provider}/{name}");
                assert!(provider != LOCAL || row.context.is_none() && row.price.is_none(), "{name}");
            }
        }
    }

    #[test]
    fn only_openais_own_address_gets_the_format_of_responses_for_models_that_need_it() {
        let own = endpoint("x", "https://api.openai.com/v1");
        for (model, needs) in [
            ("gpt-5.6", true),
            ("gpt-5.6-terra", true),
            ("gpt-5.5-2026-04-23", true),
            ("gpt-5-pro", true),
            ("gpt-5.1", false),
            ("gpt-4o", false),
            ("gpt-9", false),
        ] {
            assert_eq!(needs_responses(&own, model), needs, "{model}");
            assert!(!needs_responses(&endpoint("openai", "https://llm.example/v1"), model), "{model}");
        }
        assert!(!needs_responses(&Endpoint { kind: EndpointKind::OpenAiResponses, ..own }, "gpt-5.6"));
    }

    #[test]
    fn a_version_has_the_facts_of_its_model_and_a_similar_name_has_none() {
        let context = |model: &str, at: &Endpoint| built_in(at, model).and_then(|it| it.context_tokens);
        let openai = endpoint("x", "https://api.openai.com/v1");
        let anthropic = endpoint("anthropic", "https://gateway.example");
        for (endpoint, model, expected) in [
            (&openai, "gpt-4.1", Some(1_047_576)),
            (&openai, "gpt-4.1-2025-04-14", Some(1_047_576)),
            (&openai, "gpt-5.5", Some(1_050_000)),
            (&openai, "gpt-5-mini-2025-08-07", Some(400_000)),
            (&openai, "gpt-5-unheard-of", None),
            (&openai, "gpt-5.55", None),
            (&openai, "o1-preview", None),
            (&openai, "claude-sonnet-5", None),
            (&anthropic, "claude-sonnet-4-5-20250929", Some(200_000)),
            (&anthropic, "claude-3-7-sonnet-latest", Some(200_000)),
            (&anthropic, "claude-opus-4-9", None),
            (&anthropic, "gpt-5", None),
        ] {
            assert_eq!(context(model, endpoint), expected, "{model}");
        }
        assert!(built_in(&endpoint("other", "https://gateway.example"), "gpt-5").is_none());
        // The longest name counts.
        let price = built_in(&openai, "gpt-4o-2024-05-13").and_then(|it| it.input_price);
        assert_eq!(price, Some(5.0));
    }

    #[test]
    fn a_local_model_is_known_by_its_family_and_its_context_is_not() {
        let here = endpoint("lmstudio", "http://127.0.0.1:1234/v1");
        for (model, images, effort) in [
            ("gpt-oss:20b", Some(false), Some(true)),
            ("openai/gpt-oss-20b", Some(false), Some(true)),
            ("gemma3:12b-it-q4", Some(true), Some(false)),
            ("gemma3:1b", Some(false), Some(false)),
            ("llama3.2-vision:11b", Some(true), Some(false)),
            ("qwen/qwen3-30b-a3b", Some(false), None),
            ("qwen3.5:9b", None, None),
            ("qwen3-omni", None, None),
        ] {
            let known = built_in(&here, model).unwrap_or_default();
            assert_eq!((known.images, known.takes_effort), (images, effort), "{model}");
            assert_eq!((known.context_tokens, known.input_price), (None, None), "{model}");
        }
    }
}
