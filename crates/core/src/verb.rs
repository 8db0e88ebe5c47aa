//! Kinds of actions, and the table of their traits. The only place for what other layers must know of an action before it is
//! decided: the compiler demands a row for each new action.

use crate::kept::Scope;
use crate::op::{Reason, Verb};
use crate::request::Action;

/// The traits of a kind of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// It may move the tip: during a run it is refused or stops the run.
    pub moves_tip: bool,
    /// Files can change with it.
    pub touches_files: bool,
    /// It is refused if its author saw another head than the current one.
    pub needs_exact_head: bool,
    /// Its plan is the difference that its operations make. (An erasure does not change the state; its plan counts the erased
    /// content.)
    pub is_planned: bool,
    /// Its operation is a step of the undo history.
    pub is_step: bool,
}

/// A move of the tip.
const MOVE: Traits =
    Traits { moves_tip: true, touches_files: true, needs_exact_head: true, is_planned: true, is_step: true };

/// A change of marks or folds.
const CHANGE: Traits = Traits {
    moves_tip: false,
    touches_files: false,
    needs_exact_head: false,
    is_planned: true,
    is_step: true,
};

impl Verb {
    fn traits(self) -> Traits {
        match self {
            Self::Rewind | Self::Edit | Self::Restore | Self::Checkout | Self::Choose => MOVE,
            Self::Retry => Traits { touches_files: false, ..MOVE },
            Self::Undo | Self::Redo => Traits { is_step: false, ..MOVE },
            Self::Compensate => {
                Traits { touches_files: false, needs_exact_head: false, is_step: false, ..MOVE }
            }
            Self::Hide | Self::Exclude | Self::Include | Self::Fold | Self::Unfold => CHANGE,
            Self::Show | Self::Drop => Traits { touches_files: true, ..CHANGE },
            Self::AutoFold | Self::Label | Self::Title => Traits { is_step: false, ..CHANGE },
            Self::Files => Traits { touches_files: true, needs_exact_head: true, ..CHANGE },
            Self::Erase => Traits { is_planned: false, is_step: false, ..CHANGE },
        }
    }
}

impl Reason {
    /// The traits of the action of an operation.
    pub fn traits(self) -> Traits {
        Verb::from(self).traits()
    }
}

impl Action {
    /// Its traits.
    pub fn traits(&self) -> Traits {
        let verb = match self {
            Self::Rewind(_) => Verb::Rewind,
            Self::Edit(_) => Verb::Edit,
            Self::Retry(_) => Verb::Retry,
            Self::Undo(_) => Verb::Undo,
            Self::Redo(_) => Verb::Redo,
            Self::Restore(_) => Verb::Restore,
            Self::Checkout(_) => Verb::Checkout,
            Self::Choose(..) => Verb::Choose,
            Self::Compensate(_) => Verb::Compensate,
            Self::Mark { verb, .. } | Self::Fold { verb, .. } => verb.into(),
            Self::Files(_) => Verb::Files,
            Self::Half(Scope::Files, whole) => return Traits { moves_tip: false, ..whole.traits() },
            Self::Half(Scope::Conversation, whole) => {
                return Traits { touches_files: false, ..whole.traits() };
            }
            Self::Half(Scope::Both, whole) => return whole.traits(),
            Self::Unfold(_) => Verb::Unfold,
            Self::Label(None, _) => Verb::Title,
            Self::Label(Some(_), _) => Verb::Label,
            Self::Erase { .. } => Verb::Erase,
        };
        verb.traits()
    }
}

#[cfg(test)]
mod tests;
