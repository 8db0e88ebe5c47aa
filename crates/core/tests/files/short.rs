//! Short names for steps, for written sequences.

use retake_core::Choice;
use retake_core::Scope::{self, Both};

use super::run;
use super::steps::Do::{self, Act, Call};
use super::steps::Edit::{self, Lines};
use super::steps::Fault::{self, Never};
use super::steps::{Aim, Name};

pub(super) const A: Name = Name(0);
pub(super) const B: Name = Name(1);
pub(super) const C: Name = Name(2);
pub(super) const DX: Name = Name(3);
pub(super) const DEX: Name = Name(4);
pub(super) const D: Name = Name(5);
pub(super) const DE: Name = Name(6);
pub(super) const G: Name = Name(7);

/// Does the steps in one conversation, with a text in `a`.
pub(super) fn check(steps: Vec<Do>) {
    run(&[Lines(A, 0, 1)], &steps.into_iter().map(|step| (0, step)).collect::<Vec<_>>());
}

/// A call in a turn of its own.
pub(super) fn turn(edits: &[Edit]) -> Do {
    Call(true, edits.to_vec())
}

/// A call that continues a turn.
pub(super) fn call(edits: &[Edit]) -> Do {
    Call(false, edits.to_vec())
}

pub(super) fn act(aim: Aim) -> Do {
    within(aim, Both)
}

pub(super) fn within(aim: Aim, scope: Scope) -> Do {
    Act(aim, scope, (Vec::new(), None), Never)
}

pub(super) fn choosing(aim: Aim, name: Name, choice: Choice) -> Do {
    Act(aim, Both, (vec![(name, choice)], None), Never)
}

pub(super) fn with_fault(aim: Aim, fault: Fault) -> Do {
    Act(aim, Both, (Vec::new(), None), fault)
}

/// The same choice for all paths.
pub(super) fn all(aim: Aim, choice: Choice) -> Do {
    Act(aim, Both, (Vec::new(), Some(choice)), Never)
}
