//! Causes of core and of the engine, converted to those of the wire.

use std::path::Path;

use retake_core::{AskCause as Ask, Caller, ReadOnly, UncoveredReason};
use retake_engine::model::{ChosenBy, Unavailable};
use retake_engine::secret::{KeyError, KeySource};
use retake_wire::{AskCause, Effort, FactsFrom, ModelCause, ReadOnlyCause, UnavailableCause, UncoveredCause};

use crate::agent::rule;

pub(super) fn read_only_cause(of: ReadOnly) -> ReadOnlyCause {
    match of {
        ReadOnly::NewerOperation(op, kind) => ReadOnlyCause::NewerOperation { operation: op.0, kind },
        ReadOnly::Damaged(detail) => ReadOnlyCause::Damaged { detail },
        ReadOnly::Subagent(Caller { conversation, entry, call }) => {
            ReadOnlyCause::Subagent { conversation: conversation.to_string(), entry: entry.to_string(), call }
        }
    }
}

/// Why this model is used if the request names none.
pub(crate) fn model_cause(of: ChosenBy) -> ModelCause {
    match of {
        ChosenBy::Request => ModelCause::Requested,
        ChosenBy::Settings => ModelCause::Settings,
        ChosenBy::Key(key) => key_cause(key),
        ChosenBy::LocalServer(server) => ModelCause::LocalServer { server },
        ChosenBy::Demo => ModelCause::Demo,
    }
}

/// The effort of a model's reasoning.
pub(crate) fn effort(of: retake_engine::model::Effort) -> Effort {
    use retake_engine::model::Effort as Of;
    match of {
        Of::Low => Effort::Low,
        Of::Medium => Effort::Medium,
        Of::High => Effort::High,
    }
}

/// Where the facts about a model come from.
pub(crate) fn facts_from(of: retake_engine::settings::FactsFrom) -> FactsFrom {
    use retake_engine::settings::FactsFrom as Of;
    match of {
        Of::BuiltIn => FactsFrom::BuiltIn,
        Of::Settings => FactsFrom::Settings,
        Of::Both => FactsFrom::Both,
    }
}

fn key_cause(of: KeySource) -> ModelCause {
    match of {
        KeySource::None => ModelCause::NoKeyNeeded,
        KeySource::Env(variable) => ModelCause::KeyVariable { variable },
        KeySource::File(path) => ModelCause::KeyFile { path: path.display().to_string() },
    }
}

/// Why a model cannot be used.
pub(crate) fn unavailable_cause(of: Unavailable) -> UnavailableCause {
    let at = |path: &Path| path.display().to_string();
    match of {
        Unavailable::Key(error) => match &*error {
            KeyError::NotSet(variable) => UnavailableCause::KeyNotSet { variable: variable.clone() },
            KeyError::Unreadable { path, source } => {
                UnavailableCause::KeyFileUnreadable { path: at(path), detail: source.to_string() }
            }
            KeyError::Open { path, mode } => UnavailableCause::KeyFileOpen { path: at(path), mode: *mode },
            KeyError::Foreign { path } => UnavailableCause::KeyFileForeign { path: at(path) },
            KeyError::NoKey { path } => UnavailableCause::KeyFileInvalid { path: at(path) },
        },
        Unavailable::NotSearched => UnavailableCause::NotSearched,
        Unavailable::NotNamed(key) => UnavailableCause::NotNamed { key: key_cause(key) },
        Unavailable::NoModels(server) => UnavailableCause::NoModels { server },
        Unavailable::NoAnswer(address) => UnavailableCause::NoAnswer { address, late: false },
        Unavailable::Late(address) => UnavailableCause::NoAnswer { address, late: true },
        Unavailable::NoModelServer(address) => UnavailableCause::NoModelServer { address },
        Unavailable::Status(address, status) => UnavailableCause::Status { address, status },
    }
}

/// Why this tool's call needs an approval.
pub(crate) fn ask_cause(of: Ask, tool: &str) -> AskCause {
    match of {
        Ask::Rule(of) => AskCause::Rule { rule: rule(of) },
        Ask::MayChange => AskCause::MayChange,
        Ask::ServerKnows => AskCause::ServerKnows,
        Ask::MayChangeRead => AskCause::MayChangeRead,
        Ask::ReadsOutside => AskCause::ReadsOutside,
        Ask::Writes => AskCause::Writes,
        Ask::WritesOutside => AskCause::WritesOutside,
        Ask::Command => AskCause::Command,
        Ask::NetworkCommand => AskCause::NetworkCommand,
        Ask::Network => AskCause::Network,
        Ask::Secrets(path) => AskCause::Secrets { path: path.display().to_string(), tool: tool.to_owned() },
        Ask::Plan => AskCause::Plan,
        Ask::RanBefore => AskCause::RanBefore,
    }
}

/// Why a path is not covered.
pub(crate) fn uncovered_cause(of: UncoveredReason) -> UncoveredCause {
    match of {
        UncoveredReason::Ignored => UncoveredCause::Ignored,
        UncoveredReason::NodeModules => UncoveredCause::NodeModules,
        UncoveredReason::CacheFolder => UncoveredCause::CacheFolder,
        UncoveredReason::VirtualEnvironment => UncoveredCause::VirtualEnvironment,
        UncoveredReason::Repository => UncoveredCause::Repository,
        UncoveredReason::DataFolder => UncoveredCause::DataFolder,
        UncoveredReason::OtherFileSystem => UncoveredCause::OtherFileSystem,
        UncoveredReason::TooLarge => UncoveredCause::TooLarge,
        UncoveredReason::IgnoredAndLarge => UncoveredCause::IgnoredAndLarge,
        UncoveredReason::TooDeep => UncoveredCause::TooDeep,
        UncoveredReason::Special => UncoveredCause::Special,
        UncoveredReason::Unstable => UncoveredCause::Unstable,
        UncoveredReason::Unreadable => UncoveredCause::Unreadable,
        UncoveredReason::NotKept => UncoveredCause::NotKept,
    }
}
