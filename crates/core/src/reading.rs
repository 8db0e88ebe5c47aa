//! The five projections of a state. A list of entries comes from one of them; code that asks about one entry uses its mark.
//!
//! Each returns spans, in path order, in O(stretches + marks + folds); a reader that needs contents fetches
//! them. `ARCHITECTURE.md` lists them (*Projections*).

use crate::conversation::Conversation;
use crate::fold::{FoldId, Normal};
use crate::id::Pos;
use crate::mark::{Mark, MarkChange};
use crate::path::{Path, Span};

/// The projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Projection {
    /// For people.
    Timeline,
    /// For the model.
    Prompt,
    /// For turn taking.
    Scheduling,
    /// For searches.
    Search,
    /// For exports and forks.
    Export,
}

/// Consecutive entries of a projection with the same mark and fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The entries.
    pub span: Span,
    /// Their mark.
    pub mark: Mark,
    /// The fold in force that covers them.
    pub fold: Option<FoldId>,
}

/// A piece of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPiece {
    /// Entries, verbatim.
    Entries(Span),
    /// The summary of a fold in force, in place of its entries.
    Summary(FoldId),
}

/// What an audit includes beyond a projection; each hit is labelled accordingly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include {
    /// Entries off the path.
    pub rewound: bool,
    /// Hidden and dropped entries on the path.
    pub hidden: bool,
}

/// The visibility of an entry in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// On the path, with this mark.
    OnPath(Mark),
    /// On another branch.
    Rewound,
}

impl Conversation {
    /// The entries for people, in pieces: Normal and Excluded, including covered ones.
    pub fn timeline(&self) -> Vec<Piece> {
        let path = self.path();
        let normal = Normal::of(&path, &self.state.marks);
        let mut covered: Vec<(Span, FoldId)> = Vec::new();
        for fold in self.state.folds.in_force(&normal) {
            covered.extend(fold.covers.spans().iter().map(|span| (*span, fold.id)));
        }
        let mut pieces = Vec::new();
        let mut next = covered.into_iter().peekable();
        for (span, mark) in self.state.marks.along(&path) {
            if !mark.is_visible() {
                continue;
            }
            let mut from = span.from;
            while from <= span.to {
                while next.peek().is_some_and(|(cover, _)| cover.last() < Pos::new(span.depth, from)) {
                    next.next();
                }
                let rest = Span::new(span.depth, from, span.to);
                let piece = match next.peek() {
                    Some((cover, id)) if cover.intersect(rest).is_some_and(|common| common.from == from) => {
                        let common = cover.intersect(rest).unwrap_or(rest);
                        Piece { span: common, mark, fold: Some(*id) }
                    }
                    Some((cover, _)) if cover.intersect(rest).is_some() => {
                        Piece { span: Span::new(span.depth, from, cover.from - 1), mark, fold: None }
                    }
                    _ => Piece { span: rest, mark, fold: None },
                };
                pieces.push(piece);
                from = piece.span.to + 1;
            }
        }
        pieces
    }

    /// The entries for the model, with summaries in place of the entries that folds in force cover.
    pub fn prompt(&self) -> Vec<PromptPiece> {
        let mut prompt = Vec::new();
        for piece in self.timeline() {
            match (piece.mark, piece.fold) {
                (Mark::Normal, Some(fold)) if prompt.last() == Some(&PromptPiece::Summary(fold)) => {}
                (Mark::Normal, Some(fold)) => prompt.push(PromptPiece::Summary(fold)),
                (Mark::Normal, None) => prompt.push(PromptPiece::Entries(piece.span)),
                _ => {}
            }
        }
        prompt
    }

    /// The entries for turn taking: Normal and Excluded.
    pub fn scheduling(&self) -> Path {
        self.visible(&self.path())
    }

    /// The entries of an export, in pieces, like the timeline.
    pub fn export(&self) -> Vec<Piece> {
        self.timeline()
    }

    /// The current visibility of an entry, for a search of everything.
    pub fn visibility(&self, pos: Pos) -> Visibility {
        if self.is_on_path(pos) { Visibility::OnPath(self.mark(pos)) } else { Visibility::Rewound }
    }

    /// Whether a search may show an entry with this visibility.
    pub fn searchable(visibility: Visibility, include: Include) -> bool {
        match visibility {
            Visibility::OnPath(mark) => mark.is_visible() || include.hidden,
            Visibility::Rewound => include.rewound,
        }
    }

    /// The visible entries of a part of the path.
    pub fn visible(&self, part: &Path) -> Path {
        let pieces = self.state.marks.along(part).into_iter();
        Path::from_spans(pieces.filter(|(_, mark)| mark.is_visible()).map(|(span, _)| span))
    }

    /// The folds in force now, by their place on the path.
    pub fn folds_in_force(&self) -> Vec<FoldId> {
        if self.state.folds.all().is_empty() {
            return Vec::new();
        }
        let normal = Normal::of(&self.path(), &self.state.marks);
        self.state.folds.in_force(&normal).into_iter().map(|fold| fold.id).collect()
    }
}

impl Conversation {
    /// The folds that only marks put out of force, with the first and the last entry of what is left of each.
    pub fn folds_lifted_by_marks(&self) -> Vec<(FoldId, Pos, Pos)> {
        if self.state.folds.all().is_empty() {
            return Vec::new();
        }
        let path = self.path();
        self.state.folds.lifted_by_marks(&path, &Normal::of(&path, &self.state.marks))
    }
}

/// The difference for a reader between two states of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Entries of the timeline that are no longer there.
    pub gone: Path,
    /// Entries that are there now.
    pub came: Path,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
    /// Folds in force now that were not.
    pub in_force: Vec<FoldId>,
}

/// The difference that marks make on an unchanged path. It equals the result of [`difference`], in O(changes
/// + folds) instead of O(marks), which helps when a person hides one message after the other.
pub(crate) fn marked(before: &Conversation, after: &Conversation, changes: &[MarkChange]) -> Difference {
    let path = before.path();
    let part = |visible: bool| {
        let turned = |change: &&MarkChange| {
            change.before.is_visible() == visible && change.after.is_visible() != visible
        };
        let mut spans: Vec<Span> = changes.iter().filter(turned).map(|change| change.span).collect();
        spans.sort_unstable();
        Path::from_spans(spans.into_iter().flat_map(|span| path.within(span).spans().to_vec()))
    };
    fold_changes(before, after, Difference { gone: part(true), came: part(false), ..Difference::default() })
}

/// Adds the difference between the folds of two states.
fn fold_changes(before: &Conversation, after: &Conversation, difference: Difference) -> Difference {
    let (old, new) = (before.folds_in_force(), after.folds_in_force());
    Difference {
        lifted: old.iter().filter(|fold| !new.contains(fold)).copied().collect(),
        in_force: new.iter().filter(|fold| !old.contains(fold)).copied().collect(),
        ..difference
    }
}

/// The difference between the timelines of two states: entries that were appended and rewound in between are
/// in neither.
pub fn difference(before: &Conversation, after: &Conversation) -> Difference {
    let (old, new) = (before.scheduling(), after.scheduling());
    let gone = old.without(new.spans().iter().copied());
    let came = new.without(old.spans().iter().copied());
    fold_changes(before, after, Difference { gone, came, ..Difference::default() })
}

#[cfg(test)]
mod tests;
