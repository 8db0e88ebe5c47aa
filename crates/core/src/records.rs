//! The rows that core reads: its input as data, limited to what is stored.

use crate::content::Part;
use crate::entry::Meta;
use crate::fold::FoldId;
use crate::id::{OpNo, Pos};
use crate::op::Operation;
use crate::path::Span;
use crate::refusal::Refusal;

/// The rows that a decision reads. All of them exist when a decision is made, so an error means damage or
/// a failing disk, never an answer.
pub trait Records {
    /// The error of reading a row.
    type Error: From<Refusal>;

    /// An entry without its content.
    fn meta(&self, pos: Pos) -> Result<Meta, Self::Error>;
    /// Neighbouring entries without their content, oldest first. Walks along a path read in such batches.
    fn metas(&self, span: Span) -> Result<Vec<Meta>, Self::Error> {
        (span.from..=span.to).map(|seq| self.meta(Pos::new(span.depth, seq))).collect()
    }
    /// An entry's content.
    fn parts(&self, pos: Pos) -> Result<Vec<Part>, Self::Error>;
    /// An operation of the conversation's own log.
    fn op(&self, no: OpNo) -> Result<Operation, Self::Error>;
    /// The summary of a fold, which is in an operation of any log of the lineage.
    fn summary(&self, fold: FoldId) -> Result<Option<String>, Self::Error>;
    /// The last entry of the span that opened a turn.
    fn last_opener(&self, span: Span) -> Result<Option<Pos>, Self::Error>;
    /// Pairs (call, result) of which at least one is in the span.
    fn atoms(&self, span: Span) -> Result<Vec<(Pos, Pos)>, Self::Error>;
}
