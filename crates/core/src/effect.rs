//! What a call does to the world: its class, what it is about to do, and what the effects ledger says of it. A call is written down before it runs.

use std::path::PathBuf;

use crate::id::{ConversationId, EntryId, Time};

/// What a call does to the world at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectClass {
    /// Nothing that stays.
    None,
    /// It changes files of the workspace: a rewind brings them back.
    Workspace,
    /// It can be taken back by another call.
    Compensable,
    /// It reaches outside: nothing takes it back.
    External,
}

impl EffectClass {
    /// Every class.
    pub const ALL: [Self; 4] = [Self::None, Self::Workspace, Self::Compensable, Self::External];

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Workspace => "workspace",
            Self::Compensable => "compensable",
            Self::External => "external",
        }
    }

    /// The class of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// What a call is about to touch: what a person is asked about, and what rules are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A file or a folder is read.
    Read(PathBuf),
    /// A file is written, made, moved or deleted.
    Write(PathBuf),
    /// A command line is run.
    Command(String),
    /// The commands of this call can reach the network. A grant of its own: no rule for a command implies it.
    Network,
    /// The commands of this call begin in another folder than the first root: a program named by a relative path is another one there.
    Elsewhere,
    /// An address is fetched.
    Url(String),
    /// Something else, by a tool that only its server knows.
    Other,
}

/// What a call is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// What it does to the world at most.
    pub class: EffectClass,
    /// What it touches, absolute paths, in its order.
    pub touches: Vec<Touch>,
    /// What it does, in a line for people: `write src/main.rs`, `$ make test`.
    pub line: String,
    /// More for people, such as the diff that it would make.
    pub detail: Option<String>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It was begun; how it ended is not known (yet, or for ever after a crash).
    Begun,
    /// It did what was asked.
    Done,
    /// It says that it failed; something may have happened all the same.
    Failed,
}

/// A call of which something may stay, as the ledger has it: written before it runs, its result after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The call: unique in the store.
    pub call: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// The entry that asks for it.
    pub entry: EntryId,
    /// The tool.
    pub tool: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// A digest of tool and arguments: an equal call has an equal one.
    pub print: [u8; 16],
    /// When it began.
    pub began: Time,
    /// What came of it.
    pub state: EffectState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_classes_are_those_that_are_stored() {
        for (class, name) in
            EffectClass::ALL.into_iter().zip(["none", "workspace", "compensable", "external"])
        {
            assert_eq!((class.name(), EffectClass::from_name(name)), (name, Some(class)));
        }
        assert_eq!(EffectClass::from_name("other"), None);
    }
}
