//! The confinement of commands, converted to the wire's types.

use retake_core::{NoSandbox, SandboxFact as Fact};
use retake_wire::{SandboxCause, SandboxFact};

pub(crate) fn sandbox_fact(of: Fact) -> SandboxFact {
    let cause = sandbox_cause;
    match of {
        Fact::Confined { seccomp, namespaces } => SandboxFact::Confined { seccomp, namespaces },
        Fact::Unconfined(why) => SandboxFact::Unconfined { cause: cause(why) },
        Fact::NoSeccomp => SandboxFact::NoSeccomp,
        Fact::NoNamespaces(why) => SandboxFact::NoNamespaces { cause: cause(why) },
        Fact::NoTerminals => SandboxFact::NoTerminals,
        Fact::PatternsNotHidden => SandboxFact::PatternsNotHidden,
        Fact::SignalsOpen => SandboxFact::SignalsOpen,
        Fact::UnixSocketsClosed => SandboxFact::UnixSocketsClosed,
        Fact::MemoryLimited => SandboxFact::MemoryLimited,
        Fact::MemoryUnlimited(why) => SandboxFact::MemoryUnlimited { cause: cause(why) },
    }
}

pub(crate) fn sandbox_cause(of: NoSandbox) -> SandboxCause {
    match of {
        NoSandbox::SwitchedOff => SandboxCause::SwitchedOff,
        NoSandbox::NoLandlock => SandboxCause::NoLandlock,
        NoSandbox::Exposed(path) => SandboxCause::Exposed { path: path.display().to_string() },
        NoSandbox::Unsupervised => SandboxCause::Unsupervised,
        NoSandbox::NoControlGroups => SandboxCause::NoControlGroups,
        NoSandbox::NotPermitted => SandboxCause::NotPermitted,
        NoSandbox::Failed(detail) => SandboxCause::Failed { detail },
    }
}
