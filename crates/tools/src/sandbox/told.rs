//! The state of the sandbox on this machine, as facts. Must name each mechanism that does not work.

use retake_core::SandboxFact;

use super::{Sandbox, rules};

impl Sandbox {
    /// What confines commands on this machine, and what does not.
    pub fn told(&self) -> Vec<SandboxFact> {
        if let Err(why) = rules::files() {
            return vec![SandboxFact::Unconfined(why)];
        }
        let (seccomp, namespaces) = (rules::has_filter(), self.namespaces().is_ok());
        let memory = self.places().map_or_else(SandboxFact::MemoryUnlimited, |_| SandboxFact::MemoryLimited);
        let by = SandboxFact::Confined { seccomp, namespaces };
        std::iter::once(by).chain(self.weaker()).chain([memory]).collect()
    }

    /// What commands can do here although a machine with all mechanisms prevents it.
    pub fn weaker(&self) -> Vec<SandboxFact> {
        if rules::files().is_err() {
            return Vec::new();
        }
        let mut weaker = Vec::new();
        if !rules::has_filter() {
            weaker.push(SandboxFact::NoSeccomp);
        }
        let has_scopes = rules::scopes().is_ok();
        if let Err(why) = self.namespaces() {
            let without = [SandboxFact::NoTerminals, SandboxFact::PatternsNotHidden];
            weaker.push(SandboxFact::NoNamespaces(why));
            weaker.extend(without.into_iter().chain((!has_scopes).then_some(SandboxFact::SignalsOpen)));
        } else if !has_scopes {
            weaker.push(SandboxFact::UnixSocketsClosed);
        }
        weaker
    }
}
