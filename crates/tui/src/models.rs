//! Whether a model name is known, and which model a conversation continues with. Must never call a model gone because it is not
//! listed: remote providers are not asked for their models.

use retake_wire::reply::{Entry, Models};
use retake_wire::{Role, UnavailableCause, english};

use crate::text::safe;

/// What is known about a model name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelAvailability {
    /// It is listed, and can be used.
    Listed,
    /// It may exist: its provider is known. The text says what else is known.
    Unlisted(String),
    /// It is listed, but can't be used, for this reason.
    Unusable(String),
    /// There is no such model. The text says what to do.
    Nowhere(String),
}

/// Looks up a name among the known models.
pub fn known(models: &Models, name: &str) -> ModelAvailability {
    let name = name.trim();
    let listed = models.models.iter().find(|model| model.name == name);
    match listed.map(|model| &model.unavailable_cause) {
        Some(None) => return ModelAvailability::Listed,
        Some(Some(why)) => return ModelAvailability::Unusable(worded(why)),
        None if models.default == name => return ModelAvailability::Listed,
        None => {}
    }
    let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
    let of_it = |listed: &str| listed.split_once('/').is_some_and(|(known, _)| known == provider);
    let others: Vec<_> = models.models.iter().filter(|model| of_it(&model.name)).collect();
    let is_named = name.split_once('/').is_some_and(|(_, model)| !model.is_empty());
    match others.first() {
        Some(_) if is_named => {
            let usable: Vec<_> = others.iter().filter(|model| model.unavailable_cause.is_none()).collect();
            let names: Vec<_> = usable.iter().take(5).map(|model| safe::line(&model.name)).collect();
            ModelAvailability::Unlisted(match (names.as_slice(), others.first()) {
                ([], Some(it)) => it.unavailable_cause.as_ref().map(worded).unwrap_or_default(),
                _ => format!("it is not listed; what is: {}", names.join(", ")),
            })
        }
        // A provider alone stands for its usual model.
        Some(_) if !name.contains('/') => ModelAvailability::Listed,
        _ => {
            let mut providers: Vec<_> = Vec::new();
            for model in &models.models {
                let provider = model.name.split_once('/').map_or(&*model.name, |(provider, _)| provider);
                if !providers.contains(&provider) {
                    providers.push(provider);
                }
            }
            let all = safe::line(&providers.join(", ")).into_owned();
            ModelAvailability::Nowhere(format!(
                "providers are {all}; [endpoint.NAME] in the settings adds one, and Retake knows it after a restart"
            ))
        }
    }
}

/// The reason why a model can't be used, in words.
fn worded(cause: &UnavailableCause) -> String {
    safe::line(&english::unavailable_cause(cause)).into_owned()
}

/// The model of a conversation in which nobody has chosen one since it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContinuedModel {
    /// The default model of the settings.
    Usual,
    /// The model that answered last.
    With(String),
    /// The last model is no longer available, so the default one is used; the text says so.
    Gone(String),
}

/// The model that a conversation continues with: the one that answered last, if it is available. The demo model is never kept: it
/// answers only until there is a real one.
pub fn goes_on(models: &Models, entries: &[Entry]) -> ContinuedModel {
    let answer = entries.iter().rev().find(|entry| entry.role == Role::Assistant && !entry.flags.synthetic);
    let last = answer.map(|entry| entry.author.as_str()).unwrap_or_default();
    // Imported messages have other authors than a model.
    if last == models.default || !last.contains('/') {
        return ContinuedModel::Usual;
    }
    let why = match known(models, last) {
        ModelAvailability::Listed | ModelAvailability::Unlisted(_) => {
            return ContinuedModel::With(last.to_owned());
        }
        ModelAvailability::Unusable(why) => why,
        ModelAvailability::Nowhere(_) => "its provider is not in the settings".to_owned(),
    };
    let (last, usual) = (safe::line(last), safe::line(&models.default));
    ContinuedModel::Gone(format!(
        "{last} answered here before and can't be used now ({why}): {usual} answers"
    ))
}

#[cfg(test)]
mod tests {
    use retake_wire::Reply;
    use retake_wire::reply::Model;

    use super::*;

    fn models() -> Models {
        let model = |(name, unavailable_cause): (&str, Option<UnavailableCause>)| Model {
            name: name.to_owned(),
            unavailable_cause,
            ..Model::default()
        };
        let no_key = UnavailableCause::KeyNotSet { variable: "KEY".to_owned() };
        let no_models = UnavailableCause::NoModels { server: "far".to_owned() };
        let all = [
            ("fake/m1", None),
            ("demo", None),
            ("openai/large", Some(no_key)),
            ("far/MODEL", Some(no_models)),
        ];
        Models { default: "demo".into(), models: all.map(model).into(), ..Models::default() }
    }

    #[test]
    fn a_name_is_looked_up_before_anything_is_sent() {
        for (name, holds) in [
            ("fake/m1", ModelAvailability::Listed),
            ("demo", ModelAvailability::Listed),
            ("fake", ModelAvailability::Listed),
            ("fake/m9", ModelAvailability::Unlisted("it is not listed; what is: fake/m1".into())),
            ("openai/large", ModelAvailability::Unusable("KEY is not set".into())),
            ("far/any", ModelAvailability::Unlisted("far runs, but has no model".into())),
        ] {
            assert_eq!(known(&models(), name), holds, "{name}");
        }
        for name in ["nowhere/x", "nothing", "fake/", "/"] {
            let ModelAvailability::Nowhere(hint) = known(&models(), name) else { panic!("{name}") };
            assert!(hint.contains("providers are fake, demo, openai, far;"), "{hint}");
        }
    }

    #[test]
    fn a_conversation_goes_on_with_the_model_that_answered_last() {
        let said = [(Role::User, "one"), (Role::Assistant, "two"), (Role::User, "three")];
        let Reply::Entries(page) = crate::ui::testing::entries("c1", &said) else { panic!("entries") };
        let by = |author: &str| {
            let mut entries = page.entries.clone();
            entries[1].author = author.to_owned();
            goes_on(&models(), &entries)
        };
        assert_eq!(by("fake/m1"), ContinuedModel::With("fake/m1".into()));
        assert_eq!(
            (by("demo"), by(""), by("Ann")),
            (ContinuedModel::Usual, ContinuedModel::Usual, ContinuedModel::Usual)
        );
        for gone in ["openai/large", "nowhere/x"] {
            let ContinuedModel::Gone(says) = by(gone) else { panic!("{gone}") };
            assert!(says.starts_with(gone) && says.ends_with("demo answers"), "{says}");
        }
        assert_eq!(goes_on(&models(), &[]), ContinuedModel::Usual);
    }
}
