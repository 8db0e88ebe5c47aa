//! The authors and reasons of a plan's paths as the wire names them: an author by the turn and the call. It only translates.

use std::collections::{BTreeSet, HashMap};

use retake_core::{
    BlockingAuthor, Choice, ChoiceOutcome, ConversationId, DeltaId, FilePlan, PathPlan, PathReason, Uncertain,
};
use retake_engine::DeltaOrigin;
use retake_wire::{PathCause, PathChange, Problem, UncertainWhen, english};

use crate::InProcess;
use crate::convert::{self, problem, uncovered_cause};

/// Where the deltas come from that plans name.
#[derive(Debug, Default)]
pub(in crate::dispatch) struct Origins(HashMap<DeltaId, DeltaOrigin>);

impl InProcess {
    /// Where the deltas come from that these plans name. Reads nothing if they name none.
    pub(in crate::dispatch) async fn origins<'a>(
        &self,
        of: ConversationId,
        plans: impl Iterator<Item = &'a FilePlan>,
    ) -> Result<Origins, Problem> {
        self.origins_of_paths(of, plans.flat_map(|plan| &plan.paths)).await
    }

    /// The same of single paths.
    pub(in crate::dispatch) async fn origins_of_paths<'a>(
        &self,
        of: ConversationId,
        paths: impl Iterator<Item = &'a PathPlan>,
    ) -> Result<Origins, Problem> {
        let named = paths.flat_map(PathPlan::named_deltas).collect();
        self.engine.delta_origins(of, &named).await.map(Origins).map_err(problem)
    }
}

impl Origins {
    fn same_turn(&self, one: DeltaId, other: DeltaId) -> bool {
        let turn = |no| self.0.get(&no).and_then(|of: &DeltaOrigin| of.turn);
        one == other || (turn(one).is_some() && turn(one) == turn(other))
    }

    /// Why a path is left alone.
    pub(in crate::dispatch) fn cause(&self, path: &PathPlan) -> Option<PathCause> {
        let author = |by| self.author(by);
        Some(match path.reason()? {
            PathReason::FolderInTheWay => PathCause::FolderInTheWay,
            PathReason::NoParent { by } => PathCause::NoParent { by: by.map(author) },
            PathReason::Clash { by, change, uncertain } => {
                PathCause::Clash { by: author(by), change: self::change(change), uncertain }
            }
            PathReason::Needed => PathCause::Needed,
            PathReason::NotEmpty { by } => PathCause::NotEmpty { by: Some(author(by)) },
            PathReason::MadeSince { by } => PathCause::MadeSince { by: author(by) },
            PathReason::Uncertain { when } => PathCause::Uncertain { when: self::when(&when) },
            PathReason::MovedWithGit => PathCause::MovedWithGit,
            PathReason::GitHead => PathCause::GitHead,
            PathReason::NotCovered(why) => PathCause::NotCovered { cause: uncovered_cause(why) },
            PathReason::Undecided => PathCause::Undecided,
            PathReason::ChosenDisk => PathCause::ChosenDisk,
            PathReason::KeepsUncertain { when } => PathCause::KeepsUncertain { when: self::when(&when) },
        })
    }

    /// The author of what stands in the way.
    pub(super) fn author(&self, against: BlockingAuthor) -> retake_wire::BlockingAuthor {
        let whose = match against {
            BlockingAuthor::Later(_) => retake_wire::AuthorKind::Later,
            BlockingAuthor::There(_) => retake_wire::AuthorKind::There,
            BlockingAuthor::Missing(_) => retake_wire::AuthorKind::Missing,
            BlockingAuthor::Hand => retake_wire::AuthorKind::Hand,
            BlockingAuthor::Git => retake_wire::AuthorKind::Git,
            BlockingAuthor::Uncovered => retake_wire::AuthorKind::Uncovered,
            BlockingAuthor::Others => retake_wire::AuthorKind::Others,
        };
        let of = against.delta().and_then(|no| self.0.get(&no));
        retake_wire::BlockingAuthor {
            whose,
            turn: of.and_then(|of| of.turn),
            call: of.map(|of| of.entry.to_string()),
        }
    }

    /// What the file is after each choice.
    pub(super) fn outcomes(&self, path: &PathPlan) -> Vec<retake_wire::AfterChoice> {
        let outcome = |(choice, becomes): (&Choice, ChoiceOutcome)| {
            let of = becomes.delta().and_then(|no| self.0.get(&no));
            let after = retake_wire::AfterChoice {
                choice: convert::choice(choice.clone()),
                becomes: match becomes {
                    ChoiceOutcome::Stays(_) => retake_wire::ChoiceOutcome::Stays,
                    ChoiceOutcome::Gone => retake_wire::ChoiceOutcome::Gone,
                    ChoiceOutcome::Left(_) => retake_wire::ChoiceOutcome::Left,
                    ChoiceOutcome::Before(_) => retake_wire::ChoiceOutcome::Before,
                    ChoiceOutcome::Yours => retake_wire::ChoiceOutcome::Yours,
                    ChoiceOutcome::Merged => retake_wire::ChoiceOutcome::Merged,
                    ChoiceOutcome::Other => retake_wire::ChoiceOutcome::Other,
                },
                turn: of.and_then(|of| of.turn),
                call: of.map(|of| of.entry.to_string()),
                partly: path.is_partly(becomes, |one, other| self.same_turn(one, other)),
                words: String::new(),
            };
            retake_wire::AfterChoice { words: english::after_choice(&after), ..after }
        };
        path.explained().map(outcome).collect()
    }
}

fn change(change: retake_core::PathChange) -> PathChange {
    match change {
        retake_core::PathChange::SamePlace => PathChange::SamePlace,
        retake_core::PathChange::Permissions => PathChange::Permissions,
        retake_core::PathChange::Kind => PathChange::Kind,
        retake_core::PathChange::Removed => PathChange::Removed,
        retake_core::PathChange::Made => PathChange::Made,
        retake_core::PathChange::Folder => PathChange::Folder,
        retake_core::PathChange::File => PathChange::File,
    }
}

/// When a path changed, so that nobody knows whose the change is.
fn when(why: &BTreeSet<Uncertain>) -> Vec<UncertainWhen> {
    let when = |why: &Uncertain| match why {
        Uncertain::Unrecorded => UncertainWhen::Unrecorded,
        Uncertain::Late => UncertainWhen::Late,
        Uncertain::Job => UncertainWhen::Job,
        Uncertain::CutOff => UncertainWhen::CutOff,
        Uncertain::Several => UncertainWhen::Several,
    };
    why.iter().map(when).collect()
}
