//! Marks, folds, labels and erasure: operations that leave the tip where it is.

use crate::conversation::{ChangeOrigin, Commit, Conversation};
use crate::fold::{Fold, FoldId, Normal};
use crate::id::Pos;
use crate::mark::Mark;
use crate::op::{Change, LabelTarget, Reason};
use crate::path::{Path, Span};
use crate::records::Records;
use crate::refusal::Refusal;

/// The targets of a request, all on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// These.
    Entries(Vec<Pos>),
    /// Everything on the path between these two, both included.
    Range(Pos, Pos),
}

/// A request for marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkRequest {
    /// `Hide`, `Show`, `Exclude`, `Include` or `Drop`.
    pub verb: Reason,
    /// The entries to mark.
    pub targets: Targets,
    /// The mark that the author saw on all of them, if it must be checked.
    pub seen: Option<Mark>,
}

/// A request for a fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldRequest {
    /// `Fold` or `AutoFold`.
    pub verb: Reason,
    /// The Normal entries between these two, both included.
    pub from: Pos,
    /// See `from`.
    pub to: Pos,
    /// Its replacement in the prompt.
    pub summary: String,
    /// The exact entries of an earlier summary: they must still be together.
    pub covers: Option<Path>,
}

/// The mark that a verb sets, and the marks that it changes.
fn effect(verb: Reason) -> (Mark, &'static [Mark]) {
    match verb {
        Reason::Hide => (Mark::Hidden, &[Mark::Normal, Mark::Excluded]),
        Reason::Show => (Mark::Normal, &[Mark::Hidden, Mark::Dropped]),
        Reason::Exclude => (Mark::Excluded, &[Mark::Normal]),
        Reason::Include => (Mark::Normal, &[Mark::Excluded]),
        Reason::Drop => (Mark::Dropped, &[Mark::Normal, Mark::Excluded]),
        _ => (Mark::Normal, &[]),
    }
}

impl Reason {
    /// The marks that this verb takes away; none of a verb that sets one.
    pub fn removes(self) -> &'static [Mark] {
        match effect(self) {
            (Mark::Normal, marks) => marks,
            _ => &[],
        }
    }
}

impl Conversation {
    /// Hides, shows, excludes, includes or drops entries. Entries that the verb does not affect stay as they are.
    pub fn mark_entries<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        request: &MarkRequest,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        let path = self.path();
        let targets = self.resolve(records, &path, &request.targets)?;
        if let Some(seen) = request.seen
            && self.state.marks.along(&targets).iter().any(|(_, mark)| *mark != seen)
        {
            return Err(Refusal::StaleMark(seen).into());
        }
        let targets = self.widen(records, &path, targets)?;
        let (mark, on) = effect(request.verb);
        let mut changes = self.state.marks.changes(&targets, mark);
        changes.retain(|change| on.contains(&change.before));
        if changes.is_empty() {
            // An invisible entry does not have the requested mark and would not get it.
            let marks = self.state.marks.along(&targets);
            if let Some((_, there)) = marks.first().filter(|_| request.verb != Reason::Show)
                && marks.iter().all(|(_, there)| !there.is_visible() && *there != mark)
            {
                return Err(Refusal::NotVisible(*there).into());
            }
            return Ok(Commit::default());
        }
        Ok(Self::one(self.operation(by, request.verb, Change::Mark(changes))))
    }

    /// The targets, as a part of the path.
    fn resolve<R: Records>(&self, records: &R, path: &Path, targets: &Targets) -> Result<Path, R::Error> {
        let on_path = |pos: Pos| match path.contains(pos) {
            true => Ok(()),
            false => self.visible_on_path(records, pos),
        };
        match targets {
            Targets::Entries(entries) => {
                for pos in entries {
                    on_path(*pos)?;
                }
                Ok(sorted(entries.clone()))
            }
            Targets::Range(from, to) => {
                on_path(*from)?;
                on_path(*to)?;
                let (from, to) = (from.min(to), from.max(to));
                Ok(path.behind(path.before(*from)).up_to(Some(*to)))
            }
        }
    }

    /// Adds the other half of every tool call or result that would be separated: they are one atom.
    fn widen<R: Records>(&self, records: &R, path: &Path, targets: Path) -> Result<Path, R::Error> {
        let mut whole = targets;
        loop {
            let mut added = Vec::new();
            for span in whole.spans() {
                for (call, result) in records.atoms(*span)? {
                    let halves = [call, result].into_iter();
                    added.extend(halves.filter(|pos| path.contains(*pos) && !whole.contains(*pos)));
                }
            }
            if added.is_empty() {
                return Ok(whole);
            }
            let halves = sorted(added);
            let mut spans = [whole.spans(), halves.spans()].concat();
            spans.sort_unstable();
            whole = Path::from_spans(spans);
        }
    }

    /// Replaces the Normal entries of a range by a summary in the prompt. If a fold in force has the same summary and entries,
    /// nothing changes.
    pub fn fold<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        request: &FoldRequest,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        let summary = crate::content::clean(&request.summary).into_owned();
        if summary.trim().is_empty() {
            return Err(Refusal::EmptySummary.into());
        }
        let path = self.path();
        let range = self.resolve(records, &path, &Targets::Range(request.from, request.to))?;
        let normal = Normal::of(&path, &self.state.marks);
        let covers = match &request.covers {
            Some(covers) => covers.clone(),
            None => {
                let within =
                    range.spans().iter().flat_map(|span| normal.path().within(*span).spans().to_vec());
                self.widen(records, normal.path(), Path::from_spans(within))?
            }
        };
        if !normal.holds(&covers) {
            return Err(Refusal::NotFoldable.into());
        }
        let in_force = self.state.folds.in_force(&normal);
        if let Some(same) = in_force.into_iter().find(|fold| fold.covers == covers)
            && records.summary(same.id)?.as_ref() == Some(&summary)
        {
            return Ok(Commit::default());
        }
        let id = FoldId { depth: self.tree.depth(), op: self.head.op.next() };
        let mut op = self.operation(by, request.verb, Change::Fold(Fold { id, covers }));
        op.summary = Some(summary);
        Ok(Self::one(op))
    }

    /// Removes a fold: its entries are in the prompt again, verbatim.
    pub fn unfold(&self, by: &ChangeOrigin, fold: FoldId) -> Result<Commit, Refusal> {
        self.writable()?;
        let fold = self.state.folds.get(fold).ok_or(Refusal::UnknownFold)?;
        Ok(Self::one(self.operation(by, Reason::Unfold, Change::Unfold(fold.clone()))))
    }

    /// Sets or removes the label of an entry on any branch, or the conversation's title.
    pub fn label(
        &self,
        by: &ChangeOrigin,
        target: LabelTarget,
        name: Option<&str>,
    ) -> Result<Commit, Refusal> {
        self.writable()?;
        let name = match target {
            LabelTarget::Title => name.map(crate::name::title),
            LabelTarget::Entry(_) => name.map(crate::name::label),
        };
        let name = name.transpose()?;
        let reason = match target {
            LabelTarget::Title => Reason::Title,
            LabelTarget::Entry(pos) => {
                // On any branch: a label helps to find a rewound branch again.
                self.in_sight(pos)?;
                let taken =
                    name.as_deref().and_then(|name| self.state.labelled(name)).filter(|at| *at != pos);
                if taken.is_some() {
                    return Err(Refusal::LabelTaken(name.unwrap_or_default()));
                }
                Reason::Label
            }
        };
        let before = self.state.labels.get(&target).cloned();
        if before == name {
            return Ok(Commit::default());
        }
        Ok(Self::one(self.operation(by, reason, Change::Label { target, before, after: name })))
    }

    /// The row that records when content was erased, without the content. The store overwrites the content.
    pub fn erase(&self, by: &ChangeOrigin, entries: Vec<Pos>) -> Result<Commit, Refusal> {
        if entries.iter().any(|pos| !self.tree.knows(*pos)) {
            return Err(Refusal::UnknownEntry);
        }
        Ok(Self::one(self.operation(by, Reason::Erase, Change::Erase(entries))))
    }
}

/// These positions as a path, whatever their order.
fn sorted(mut positions: Vec<Pos>) -> Path {
    positions.sort_unstable();
    positions.dedup();
    Path::from_spans(positions.into_iter().map(Span::one))
}
