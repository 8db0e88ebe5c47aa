//! Whose changes conflict with a path's wanted version, and the version of a file after each choice, as typed
//! values. Must never name an unknown author if a turn of this conversation is the author.

use std::collections::{BTreeSet, HashMap};

use retake_core::{
    Against, Becomes, Choice, Clash, ConversationId, DeltaId, FilePlan, Layer, PathPlan, Uncertain, Verdict,
};
use retake_engine::DeltaOrigin;
use retake_wire::{PathCause, PathChange, Problem, UncertainWhen, english};

use crate::InProcess;
use crate::convert::{problem, uncovered_cause};

/// The calls that plans must name.
#[derive(Debug, Default)]
pub(in crate::dispatch) struct Whose(HashMap<DeltaId, DeltaOrigin>);

impl InProcess {
    /// The calls that these plans must name; nothing is read if they name none.
    pub(in crate::dispatch) async fn whose<'a>(
        &self,
        of: ConversationId,
        plans: impl Iterator<Item = &'a FilePlan>,
    ) -> Result<Whose, Problem> {
        self.whose_paths(of, plans.flat_map(|plan| &plan.paths)).await
    }

    /// The same for single paths.
    pub(in crate::dispatch) async fn whose_paths<'a>(
        &self,
        of: ConversationId,
        paths: impl Iterator<Item = &'a PathPlan>,
    ) -> Result<Whose, Problem> {
        let named = paths.filter(|path| path.against.is_some()).flat_map(|path| {
            let layers = path.step.stack_before.layers().iter().map(|layer| layer.delta);
            let outcomes = path.outcomes.iter().filter_map(|(_, becomes)| becomes.delta());
            path.against.and_then(Against::delta).into_iter().chain(layers).chain(outcomes)
        });
        self.engine.delta_origins(of, &named.collect()).await.map(Whose).map_err(problem)
    }
}

impl Whose {
    fn same_turn(&self, one: DeltaId, other: DeltaId) -> bool {
        let turn = |no| self.0.get(&no).and_then(|of: &DeltaOrigin| of.turn);
        one == other || (turn(one).is_some() && turn(one) == turn(other))
    }

    /// Why a path is left alone: the same in its plan and its receipt.
    pub(in crate::dispatch) fn cause(&self, path: &PathPlan) -> Option<PathCause> {
        let by = path.against.map(|against| self.author(against));
        let others = || self.author(Against::Others);
        Some(match &path.verdict {
            Verdict::Conflict(Clash::Sealed) => PathCause::FolderInTheWay,
            Verdict::Conflict(Clash::Parent) => {
                let is_turn = path.against.and_then(Against::delta).is_some();
                PathCause::NoParent { by: by.filter(|_| is_turn) }
            }
            Verdict::Conflict(clash) => {
                let (change, uncertain) = change(path, *clash);
                PathCause::Clash { by: by.unwrap_or_else(others), change, uncertain }
            }
            Verdict::NotEmpty => match by {
                None => PathCause::Needed,
                by => PathCause::NotEmpty { by },
            },
            Verdict::Foreign => PathCause::MadeSince { by: by.unwrap_or_else(others) },
            Verdict::Kept => PathCause::Uncertain { when: when(&path.uncertain()) },
            Verdict::GitHas if path.against == Some(Against::Git) => PathCause::MovedWithGit,
            Verdict::GitHas => PathCause::GitHead,
            Verdict::NotCovered(why) => PathCause::NotCovered { cause: uncovered_cause(*why) },
            Verdict::Unchanged if path.choice == Some(Choice::Skip) => PathCause::Undecided,
            Verdict::Unchanged if path.choice == Some(Choice::Disk) => PathCause::ChosenDisk,
            Verdict::Unchanged
            | Verdict::Revert
            | Verdict::Delete
            | Verdict::Recreate
            | Verdict::Merge
            | Verdict::Part => {
                let when = when(&path.uncertain());
                return (!when.is_empty()).then_some(PathCause::KeepsUncertain { when });
            }
        })
    }

    /// Whose changes conflict with a path's wanted version, if authors are the reason.
    pub(super) fn against(&self, path: &PathPlan) -> Option<retake_wire::Against> {
        let is_told = matches!(path.verdict, Verdict::Conflict(_) | Verdict::NotEmpty | Verdict::Foreign);
        path.against.filter(|_| is_told).map(|against| self.author(against))
    }

    fn author(&self, against: Against) -> retake_wire::Against {
        let whose = match against {
            Against::Later(_) => retake_wire::Whose::Later,
            Against::There(_) => retake_wire::Whose::There,
            Against::Missing(_) => retake_wire::Whose::Missing,
            Against::Hand => retake_wire::Whose::Hand,
            Against::Git => retake_wire::Whose::Git,
            Against::Uncovered => retake_wire::Whose::Uncovered,
            Against::Others => retake_wire::Whose::Others,
        };
        let of = against.delta().and_then(|no| self.0.get(&no));
        retake_wire::Against {
            whose,
            turn: of.and_then(|of| of.turn),
            call: of.map(|of| of.entry.to_string()),
        }
    }

    /// The version of the file after each choice, if there is a conflict.
    pub(super) fn outcomes(&self, path: &PathPlan) -> Vec<retake_wire::AfterChoice> {
        let waits = match path.verdict {
            Verdict::Conflict(_) => true,
            Verdict::NotEmpty | Verdict::Foreign | Verdict::NotCovered(_) => false,
            // A choice was made for it.
            _ => path.against.is_some(),
        };
        if !waits {
            return Vec::new();
        }
        let told = path.choices.iter().filter_map(|choice| Some((choice, path.becomes(choice)?)));
        let outcome = |(choice, becomes): (&Choice, Becomes)| {
            let of = becomes.delta().and_then(|no| self.0.get(&no));
            let told = retake_wire::AfterChoice {
                choice: super::words::choice(choice.clone()),
                becomes: match becomes {
                    Becomes::Stays(_) => retake_wire::Becomes::Stays,
                    Becomes::Gone => retake_wire::Becomes::Gone,
                    Becomes::Left(_) => retake_wire::Becomes::Left,
                    Becomes::Before(_) => retake_wire::Becomes::Before,
                    Becomes::Yours => retake_wire::Becomes::Yours,
                    Becomes::Merged => retake_wire::Becomes::Merged,
                    Becomes::Other => retake_wire::Becomes::Other,
                },
                turn: of.and_then(|of| of.turn),
                call: of.map(|of| of.entry.to_string()),
                partly: self.is_partly(path.step.stack_before.layers(), becomes),
                words: String::new(),
            };
            retake_wire::AfterChoice { words: english::after_choice(&told), ..told }
        };
        told.map(outcome).collect()
    }

    /// Whether the named turn changed the file by several calls, and only one of them is meant.
    fn is_partly(&self, layers: &[Layer], becomes: Becomes) -> bool {
        let Some(no) = becomes.delta() else { return false };
        let place = layers.iter().position(|layer| layer.delta == no).unwrap_or(layers.len());
        let same = |layer: &Layer| layer.delta != no && self.same_turn(layer.delta, no);
        match becomes {
            Becomes::Before(_) => layers[..place].iter().any(same),
            _ => layers[place..].iter().any(same),
        }
    }
}

/// The conflicting change of a path, and whether it is uncertain.
fn change(path: &PathPlan, clash: Clash) -> (PathChange, bool) {
    let by_clash = match clash {
        Clash::Bytes => PathChange::SamePlace,
        Clash::Mode => PathChange::Permissions,
        Clash::Kind => PathChange::Kind,
        Clash::Removed => PathChange::Removed,
        Clash::Made => PathChange::Made,
        Clash::Parent | Clash::Sealed => PathChange::Folder,
    };
    match path.against {
        Some(Against::Later(no)) => {
            let layers = path.step.stack_before.layers();
            let layer = layers.iter().rev().find(|layer| layer.delta == no);
            let change = match layer.map(|layer| (&layer.before, &layer.after)) {
                Some((_, None)) => PathChange::Removed,
                Some((None, _)) => PathChange::Made,
                _ if clash == Clash::Removed => PathChange::File,
                _ => by_clash,
            };
            (change, layer.is_some_and(|layer| layer.grade.is_ambiguous()))
        }
        Some(Against::There(_)) if path.step.change.before.is_none() => (PathChange::Removed, false),
        _ => (by_clash, false),
    }
}

/// When a path changed, if its author is not known.
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
