//! The effect of a call on the world: its class, its intent, and its row in the ledger. A call that may change something is
//! recorded before it runs; one of the class None never is.

use std::path::PathBuf;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::id::{ConversationId, EntryId, Time};

/// The most that a call does to the world.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum EffectClass {
    /// Nothing permanent.
    None,
    /// It changes files of the workspace: a rewind reverts them.
    Workspace,
    /// Another call can revert it.
    Compensable,
    /// It reaches outside: nothing reverts it.
    External,
}

impl EffectClass {
    /// Every class.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The class with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// What a call is about to touch: shown in an approval request, and compared with rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A file or a folder is read.
    Read(PathBuf),
    /// A file is written, created, moved or deleted.
    Write(PathBuf),
    /// A command line is run.
    Command(String),
    /// The commands of this call can reach the network. It needs a permission of its own: no rule for a command implies it.
    Network,
    /// The commands of this call start in another folder than the first root: a relative path of a program means another one
    /// there.
    Elsewhere,
    /// An address is fetched.
    Url(String),
    /// An unknown effect of a tool that only its server knows.
    Other,
}

/// What a call is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The most that it does to the world.
    pub class: EffectClass,
    /// What it touches, with absolute paths, in its order.
    pub touches: Vec<CallTarget>,
    /// Its description in a line for people: `write src/main.rs`, `$ make test`.
    pub line: String,
    /// Details for people, such as the diff.
    pub detail: Option<String>,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EffectState {
    /// It began; its end is not known (yet, or for ever after a crash).
    Begun,
    /// It succeeded.
    Done,
    /// It reported a failure; it may have had an effect anyway.
    Failed,
}

/// A ledger row for a call whose effect may stay: recorded before it runs, its result after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The call: unique in the store.
    pub call: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// The entry that requests it.
    pub entry: EntryId,
    /// The tool.
    pub tool: String,
    /// The most that it does to the world.
    pub class: EffectClass,
    /// A digest of tool and arguments: equal calls have equal digests.
    pub print: [u8; 16],
    /// When it began.
    pub began: Time,
    /// Its state.
    pub state: EffectState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_classes_are_those_that_are_stored() {
        for (&class, name) in EffectClass::ALL.iter().zip(["none", "workspace", "compensable", "external"]) {
            assert_eq!((class.name(), EffectClass::from_name(name)), (name, Some(class)));
        }
        assert_eq!(EffectClass::from_name("other"), None);
    }
}
