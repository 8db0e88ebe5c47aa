//! The result of a run for a repeated request: a lost reply must not cause a second call of the model.

use retake_core::{Change, ConversationId, OpNo, Pos, Receipt, Role, RunResult};

use super::Store;
use super::decide::locate;
use super::load::Loaded;
use super::write::said_before;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

impl Store {
    /// The result of the run that an earlier request began; `receipt` is that request's.
    pub async fn answered(&self, conversation: ConversationId, receipt: Receipt) -> Result<RunResult> {
        self.with(conversation, move |rows, loaded| answered(rows, loaded, &receipt)).await
    }
}

/// The result of the run that a request began: with a prompt, with a move to one, or with the answer or the tool's result itself.
pub(super) fn answered(rows: &dyn Rows, loaded: &Loaded, receipt: &Receipt) -> Result<RunResult> {
    let (prompt, since) = match (receipt.entries.first(), receipt.ops.last()) {
        (Some(id), _) => {
            let pos = locate(rows, loaded, *id)?;
            if matches!(rows.meta(loaded.key(pos)?)?.role, Role::Assistant | Role::Tool) {
                return by(rows, loaded, pos);
            }
            (Some(pos), pos.seq)
        }
        (None, Some(no)) => {
            let op = rows.op(loaded.row.log, *no)?;
            (op.tip, op.at.0)
        }
        (None, None) => return Ok(RunResult::Nothing),
    };
    let own = loaded.conversation.tree.depth();
    for pos in loaded.conversation.tree.children(prompt) {
        let later = pos.depth == own && pos.seq > since;
        if later && rows.meta(loaded.key(pos)?)?.role == Role::Assistant {
            let another = moved_between(rows, loaded, receipt.head.op, pos)?;
            return if another { Ok(RunResult::Nothing) } else { by(rows, loaded, pos) };
        }
    }
    let waits = loaded.conversation.state.tip == prompt;
    Ok(if waits { RunResult::Waiting } else { RunResult::Nothing })
}

/// Whether the tip moved between an operation and an answer: then the answer belongs to another run, because nothing moves while
/// a model answers.
fn moved_between(rows: &dyn Rows, loaded: &Loaded, op: OpNo, answer: Pos) -> Result<bool> {
    let last = loaded.conversation.last_op_at(&loaded.records(rows), answer.seq - 1)?;
    let between = last.map_or(Ok(Vec::new()), |last| rows.ops(loaded.row.log, op.next(), last.no))?;
    Ok(between.iter().any(|op| matches!(op.change, Change::Move { .. })))
}

/// The answer at a position.
fn by(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<RunResult> {
    let key = loaded.key(pos)?;
    let meta = retake_core::Meta { pos, ..rows.meta(key)? };
    let author = match rows.entry(key) {
        Ok(entry) => entry.author,
        Err(StoreError::Damaged { .. }) => String::new(),
        Err(error) => return Err(error),
    };
    let receipt = Box::new(said_before(rows, loaded, &meta)?);
    Ok(RunResult::By { receipt, author, interrupted: meta.flags.interrupted })
}
