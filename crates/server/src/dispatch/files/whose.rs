//! Whose work keeps a path from what is wanted, and what a file is after each choice, in words and as data. Must never say
//! “somebody else” of what a turn of this conversation did.

use std::collections::{BTreeSet, HashMap};

use retake_core::{
    Against, Becomes, Choice, Clash, ConversationId, DeltaId, FilePlan, Layer, PathPlan, Uncertain, Verdict,
};
use retake_engine::DeltaOrigin;
use retake_wire::Problem;

use crate::InProcess;
use crate::convert::problem;

/// The calls that plans have to name.
#[derive(Debug, Default)]
pub(in crate::dispatch) struct Whose(HashMap<DeltaId, DeltaOrigin>);

impl InProcess {
    /// The calls that these plans have to name; nothing is read where they name none.
    pub(in crate::dispatch) async fn whose<'a>(
        &self,
        of: ConversationId,
        plans: impl Iterator<Item = &'a FilePlan>,
    ) -> Result<Whose, Problem> {
        self.whose_paths(of, plans.flat_map(|plan| &plan.paths)).await
    }

    /// The same of single paths.
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
    /// A delta by its turn.
    fn turn(&self, no: DeltaId) -> String {
        match self.0.get(&no).and_then(|of| of.turn) {
            Some(turn) => format!("t{turn}"),
            None => "a turn of another branch".to_owned(),
        }
    }

    fn same_turn(&self, one: DeltaId, other: DeltaId) -> bool {
        let turn = |no| self.0.get(&no).and_then(|of: &DeltaOrigin| of.turn);
        one == other || (turn(one).is_some() && turn(one) == turn(other))
    }

    /// Why a path is left alone: the same in its plan and its receipt.
    pub(in crate::dispatch) fn why(&self, path: &PathPlan) -> Option<String> {
        let why = match (&path.verdict, path.against) {
            (Verdict::Conflict(Clash::Sealed), _) => {
                "a folder is in its place, and not all in it can be taken away: move it elsewhere".to_owned()
            }
            (Verdict::Conflict(Clash::Parent), against) => {
                let by =
                    against.and_then(Against::delta).map(|no| format!(": {} changed that", self.turn(no)));
                format!("the folder that it belongs in is none any more{}", by.unwrap_or_default())
            }
            (Verdict::Conflict(clash), against) => self.clash(path, *clash, against),
            (Verdict::NotEmpty, None) => "what comes back belongs into it".to_owned(),
            (Verdict::NotEmpty, Some(Against::Git)) => "git keeps something in it".to_owned(),
            (Verdict::NotEmpty, Some(Against::Uncovered)) => "what is in it is not covered".to_owned(),
            (Verdict::NotEmpty, Some(against)) => format!("{} put something into it", self.somebody(against)),
            (Verdict::Foreign, against) => {
                format!("{} made it since", self.somebody(against.unwrap_or(Against::Others)))
            }
            (Verdict::Kept, _) => changed(&path.uncertain()),
            (Verdict::GitHas, Some(Against::Git)) => {
                "it was moved with what git keeps there: the folder moves back as a whole".to_owned()
            }
            (Verdict::GitHas, _) => {
                "it is what git's HEAD has, which a command moved: only git goes back there".to_owned()
            }
            (Verdict::NotCovered(why), _) => format!("not covered: {why}"),
            (Verdict::Unchanged, _) => match path.choice {
                Some(Choice::Skip) => "stays as it is, undecided: a later step asks again".to_owned(),
                Some(Choice::Disk) => "stays as it is and counts as yours: not asked again".to_owned(),
                _ => return stays(path),
            },
            (Verdict::Revert | Verdict::Delete | Verdict::Recreate | Verdict::Merge | Verdict::Part, _) => {
                return stays(path);
            }
        };
        Some(why)
    }

    /// Who it is, as the beginning of a sentence about the past.
    fn somebody(&self, against: Against) -> String {
        match against {
            Against::Later(no) | Against::There(no) | Against::Missing(no) => self.turn(no),
            Against::Hand => "you or another program".to_owned(),
            Against::Git => "git".to_owned(),
            Against::Uncovered => "somebody".to_owned(),
            Against::Others => "somebody else".to_owned(),
        }
    }

    fn clash(&self, path: &PathPlan, clash: Clash, against: Option<Against>) -> String {
        let against = against.unwrap_or(Against::Others);
        let who = self.somebody(against);
        match against {
            Against::Later(no) => {
                let layers = path.step.stack_before.layers();
                let layer = layers.iter().rev().find(|layer| layer.delta == no);
                let may = layer.is_some_and(|layer| layer.grade.is_ambiguous());
                let may = if may { "may have " } else { "" };
                format!("{who} {may}{} later", what(clash, layer))
            }
            Against::There(_) => match (clash, &path.step.change.before) {
                (Clash::Removed, _) | (_, None) => format!("{who} removed it"),
                (Clash::Made, _) => format!("{who} made it, too"),
                _ => format!("it is as {who} left it, which changed the same place"),
            },
            Against::Git => "the folder in its place holds what git keeps for itself".to_owned(),
            Against::Uncovered => "the folder in its place holds what is not covered".to_owned(),
            Against::Missing(_) => format!("it goes on from what {who} did, and that is not there"),
            Against::Hand | Against::Others => {
                let what = match clash {
                    Clash::Bytes => "changed the same place",
                    Clash::Mode => "changed its permissions, too",
                    Clash::Kind => "made another kind of thing of it",
                    Clash::Removed => "removed it",
                    Clash::Made => "made something there",
                    Clash::Parent | Clash::Sealed => "changed the folder that it is in",
                };
                format!("{who} {what}")
            }
        }
    }

    /// The same as data.
    pub(super) fn against(&self, path: &PathPlan) -> Option<retake_wire::Against> {
        let said = matches!(path.verdict, Verdict::Conflict(_) | Verdict::NotEmpty | Verdict::Foreign);
        let against = path.against.filter(|_| said)?;
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
        Some(retake_wire::Against {
            whose,
            turn: of.and_then(|of| of.turn),
            call: of.map(|of| of.entry.to_string()),
        })
    }

    /// What the file is after each choice, where something stands in the way.
    pub(super) fn outcomes(&self, path: &PathPlan) -> Vec<retake_wire::AfterChoice> {
        let waits = match path.verdict {
            Verdict::Conflict(_) => true,
            Verdict::NotEmpty | Verdict::Foreign | Verdict::NotCovered(_) => false,
            // Something was chosen for it.
            _ => path.against.is_some(),
        };
        if !waits {
            return Vec::new();
        }
        let told = path.choices.iter().filter_map(|choice| Some((choice, path.becomes(choice)?)));
        let outcome = |(choice, becomes): (&Choice, Becomes)| {
            let of = becomes.delta().and_then(|no| self.0.get(&no));
            retake_wire::AfterChoice {
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
                words: self.becomes(path.step.stack_before.layers(), choice, becomes),
            }
        };
        told.map(outcome).collect()
    }

    fn becomes(&self, layers: &[Layer], choice: &Choice, becomes: Becomes) -> String {
        let same = |no: DeltaId| move |layer: &&Layer| layer.delta != no && self.same_turn(layer.delta, no);
        let place = |no: DeltaId| layers.iter().position(|layer| layer.delta == no).unwrap_or(layers.len());
        // A turn may have changed it by several calls.
        let left = |no: DeltaId| match layers.iter().skip(place(no)).find(same(no)) {
            Some(_) => format!("as a call of {} left it", self.turn(no)),
            None => format!("as {} left it", self.turn(no)),
        };
        let before = |no: DeltaId| match layers.iter().take(place(no)).find(same(no)) {
            Some(_) => format!("as it was before a call of {}", self.turn(no)),
            None => format!("as it was before {}", self.turn(no)),
        };
        let file = match becomes {
            Becomes::Stays(Some(no)) => format!("stays {}", left(no)),
            Becomes::Stays(None) => "stays as it is now".to_owned(),
            Becomes::Gone => "is removed".to_owned(),
            Becomes::Left(no) => left(no),
            Becomes::Before(no) => before(no),
            Becomes::Yours => "as you or another program left it last".to_owned(),
            Becomes::Merged => "holds what both sides did".to_owned(),
            Becomes::Other => "becomes an earlier version".to_owned(),
        };
        match (choice, becomes) {
            (Choice::Skip, _) => format!("{file}, undecided: a later step asks again"),
            // The last version of somebody else may be what is there: then it comes to the same.
            (Choice::Disk, _) | (Choice::Yours, Becomes::Stays(_)) => {
                format!("{file} and counts as yours: not asked again")
            }
            // Turns that stay wrote between or after those that go: it is no version that ever was.
            (Choice::Checkpoint, Becomes::Other) => {
                "loses what goes and all edits since the last turn that changed it; undo brings back what it is now"
                    .to_owned()
            }
            (Choice::Checkpoint, Becomes::Left(_) | Becomes::Before(_) | Becomes::Gone) => {
                format!("{file}; undo brings back what it is now")
            }
            (Choice::Yours, _) => format!("{file}; undo brings back what it is now"),
            _ => file,
        }
    }
}

/// What stays in a path of which something goes back: changes of which nobody knows whose they are.
fn stays(path: &PathPlan) -> Option<String> {
    let why = path.uncertain();
    (!why.is_empty()).then(|| format!("an uncertain change stays in it: {}", changed(&why)))
}

/// When a path changed, so that nobody knows whose the change is.
fn changed(why: &BTreeSet<Uncertain>) -> String {
    let when = |why: &Uncertain| match why {
        Uncertain::Unrecorded => {
            "while several calls or a background job ran, or around a call that was cut off"
        }
        Uncertain::Late => "at a time that is not known, as the change was found late",
        Uncertain::Job => "while a background job ran",
        Uncertain::CutOff => "around a call that was cut off",
        Uncertain::Several => "while several calls ran",
    };
    let when: Vec<&str> = why.iter().map(when).collect();
    format!("it changed {}: nobody knows whose change it is", when.join(", and "))
}

/// What a layer did to a path that clashes with what is wanted.
fn what(clash: Clash, layer: Option<&Layer>) -> &'static str {
    match (layer.map(|layer| (&layer.before, &layer.after)), clash) {
        (Some((_, None)), _) => "removed it",
        (Some((None, _)), _) | (_, Clash::Made) => "made it",
        (_, Clash::Mode) => "changed its permissions",
        (_, Clash::Kind) => "made another kind of thing of it",
        (_, Clash::Bytes) => "changed the same place",
        _ => "changed this file",
    }
}
