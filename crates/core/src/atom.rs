//! Atoms: an answer with tool calls and the results of all its calls belong together. No step ends between them: a rewind to one
//! of them goes to before the answer, and a step that ends at one includes the results. Otherwise the prompt would report an
//! ended call as interrupted.

use crate::conversation::Conversation;
use crate::id::Pos;
use crate::path::Span;
use crate::records::Records;

impl Conversation {
    /// The tip for a move back to `tip` that leaves no call on the path without its result: `tip`, or the entry before such a
    /// call.
    pub(crate) fn back_to<R: Records>(
        &self,
        records: &R,
        mut tip: Option<Pos>,
    ) -> Result<Option<Pos>, R::Error> {
        while let Some(at) = tip
            && let Some(call) = self.call_at(records, at)?
        {
            let results = self.results_of(records, call)?;
            if !results.iter().any(|result| *result > at && self.is_on_path(*result)) {
                break;
            }
            tip = self.tree.after(call);
        }
        Ok(tip)
    }

    /// The end of a fork, a checkout or a restore to an entry: the last result of the call that the entry is or belongs to.
    /// Results on the path come before those on another branch.
    pub fn end_at<R: Records>(&self, records: &R, entry: Pos) -> Result<Pos, R::Error> {
        let mut end = entry;
        while let Some(call) = self.call_at(records, end)? {
            let is_said = |pos: Pos| pos.depth < self.tree.depth() || pos.seq <= self.head.seq.0;
            let follows = |pos: &Pos| {
                // A hidden or dropped result was marked with its call: after a show both are there.
                *pos > end && is_said(*pos) && self.tree.knows(*pos) && self.tree.is_on_path(end, Some(*pos))
            };
            let results = self.results_of(records, call)?.into_iter().filter(follows);
            match results.max_by_key(|pos| (self.is_on_path(*pos), *pos)) {
                Some(last) => end = last,
                None => break,
            }
        }
        Ok(end)
    }

    /// The nearest entry with calls at or before this one in its turn. Results are found only within their turn, so no other call
    /// can wait for a result here.
    fn call_at<R: Records>(&self, records: &R, pos: Pos) -> Result<Option<Pos>, R::Error> {
        let mut walk = self.walk_back(records, Some(pos));
        while let Some(meta) = walk.step()? {
            if meta.calls > 0 {
                return Ok(Some(meta.pos));
            }
            if meta.opens_turn() {
                break;
            }
        }
        Ok(None)
    }

    /// The results of the calls of an entry, on any branch.
    fn results_of<R: Records>(&self, records: &R, call: Pos) -> Result<Vec<Pos>, R::Error> {
        let atoms = records.atoms(Span::one(call))?;
        Ok(atoms.into_iter().filter(|(of, _)| *of == call).map(|(_, result)| result).collect())
    }
}
