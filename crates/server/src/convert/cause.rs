//! Causes of core and of the engine as causes of the wire.

use retake_core::{AskCause as Ask, ReadOnly, WhyNot};
use retake_engine::model::ChosenBy;
use retake_engine::secret::KeySource;
use retake_wire::{AskCause, ModelCause, ReadOnlyCause, UncoveredCause};

use crate::agent::rule;

pub(super) fn read_only_cause(of: ReadOnly) -> ReadOnlyCause {
    match of {
        ReadOnly::NewerOperation(op, kind) => ReadOnlyCause::NewerOperation { operation: op.0, kind },
        ReadOnly::Damaged(detail) => ReadOnlyCause::Damaged { detail },
    }
}

/// Why a model is used when none is named.
pub(crate) fn model_cause(of: ChosenBy) -> ModelCause {
    match of {
        ChosenBy::Request => ModelCause::Requested,
        ChosenBy::Settings => ModelCause::Settings,
        ChosenBy::Key(KeySource::None) => ModelCause::NoKeyNeeded,
        ChosenBy::Key(KeySource::Env(variable)) => ModelCause::KeyVariable { variable },
        ChosenBy::Key(KeySource::File(path)) => ModelCause::KeyFile { path: path.display().to_string() },
        ChosenBy::LocalServer(server) => ModelCause::LocalServer { server },
        ChosenBy::Demo => ModelCause::Demo,
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
        Ask::RanBefore => AskCause::RanBefore,
    }
}

/// Why a path is not covered.
pub(crate) fn uncovered_cause(of: WhyNot) -> UncoveredCause {
    match of {
        WhyNot::Ignored => UncoveredCause::Ignored,
        WhyNot::NodeModules => UncoveredCause::NodeModules,
        WhyNot::CacheFolder => UncoveredCause::CacheFolder,
        WhyNot::VirtualEnvironment => UncoveredCause::VirtualEnvironment,
        WhyNot::Repository => UncoveredCause::Repository,
        WhyNot::DataFolder => UncoveredCause::DataFolder,
        WhyNot::OtherFileSystem => UncoveredCause::OtherFileSystem,
        WhyNot::TooLarge => UncoveredCause::TooLarge,
        WhyNot::IgnoredAndLarge => UncoveredCause::IgnoredAndLarge,
        WhyNot::TooDeep => UncoveredCause::TooDeep,
        WhyNot::Special => UncoveredCause::Special,
        WhyNot::Unstable => UncoveredCause::Unstable,
        WhyNot::Unreadable => UncoveredCause::Unreadable,
        WhyNot::NotKept => UncoveredCause::NotKept,
    }
}
