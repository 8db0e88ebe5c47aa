//! The next delivery of a row: what `core` decides that it holds, with ids, and with texts that are visible now.

use retake_core::{
    Change, Claim, Delivery, DeliveryEntry, DeliveryEvent, Head, OpNo, Operation, OutboxItem, OwedKind, Part,
    Path, Pending, PendingOp, Records as _, RunState, Span, Time, Told, delivery_extent, owed,
};

use super::super::load::{Loaded, load, load_at};
use crate::error::{Result, StoreError};
use crate::outbox::{OwedDelivery, Wants};
use crate::rows::{OutboxKey, Rows};

/// How many operations are read at a time.
const WINDOW: u64 = 16;

/// How many ends of runs are read at a time.
const ENDS: usize = 16;

/// What a row owes.
pub(super) enum Next {
    /// A delivery.
    Delivery(Box<OwedDelivery>),
    /// Nothing that the destination wants: it counts as told.
    Nothing { seen: OutboxItem, ops: OpNo, told: Told },
    /// The row is no longer there.
    Gone,
}

/// What a row owes now. A claimed delivery has the same extent whenever it is read.
pub(super) fn next(rows: &dyn Rows, key: &OutboxKey, wants: &Wants) -> Result<Next> {
    let Some(seen) = rows.outbox_item(key)? else { return Ok(Next::Gone) };
    let now = load(rows, rows.log(key.log)?)?;
    let ops = now.conversation.head.op;
    let mut told = seen.told;
    loop {
        let claim = match seen.claim {
            Some(claim) => claim,
            None => match owed(told, &pending(rows, &now, told)?) {
                Ok(claim) => claim,
                Err(told) => return Ok(Next::Nothing { seen, ops, told }),
            },
        };
        let op = match claim.kind {
            OwedKind::Operation => Some(rows.op(key.log, claim.until.head.op)?),
            OwedKind::Said | OwedKind::TurnEnded => None,
        };
        let event = match (&op, claim.kind) {
            (Some(op), _) => DeliveryEvent::of(op.reason),
            (None, OwedKind::TurnEnded) => Some(DeliveryEvent::TurnEnded),
            (None, _) => Some(DeliveryEvent::Said),
        };
        if let Some(event) = event.filter(|event| seen.claim.is_some() || wants.events.contains(event)) {
            let writer = Writer { rows, now: &now, texts: wants.texts };
            let delivery = writer.delivery(key, event, (told, claim), op.as_ref())?;
            return Ok(Next::Delivery(Box::new(OwedDelivery {
                key: key.clone(),
                delivery,
                seen,
                ops,
                told,
                claim,
            })));
        }
        told = claim.until;
    }
}

/// What is pending between what a destination knows and now.
fn pending(rows: &dyn Rows, now: &Loaded, told: Told) -> Result<Pending> {
    let last = now.conversation.head.op;
    let end = OpNo(last.0.min(told.head.op.0 + WINDOW));
    let ops = rows.ops(now.row.log, told.head.op.next(), end)?;
    let newest = if end < last { Some(pending_op(rows, now, &rows.op(now.row.log, last)?)?) } else { None };
    Ok(Pending {
        depth: now.conversation.tree.depth(),
        then: visible(rows, now, told.head)?,
        now: now.conversation.scheduling(),
        last: now.conversation.head.seq,
        ops: ops.iter().map(|op| pending_op(rows, now, op)).collect::<Result<_>>()?,
        newest,
        ended: rows.run_ends(now.row.log, told.run, ENDS)?,
    })
}

fn pending_op(rows: &dyn Rows, now: &Loaded, op: &Operation) -> Result<PendingOp> {
    let before = visible(rows, now, Head { op: OpNo(op.no.0 - 1), seq: op.at })?;
    Ok(PendingOp::new(op, before, visible(rows, now, Head { op: op.no, seq: op.at })?))
}

/// The visible entries in a state.
fn visible(rows: &dyn Rows, now: &Loaded, head: Head) -> Result<Path> {
    match head == now.conversation.head {
        true => Ok(now.conversation.scheduling()),
        false => Ok(load_at(rows, now.row.clone(), head)?.conversation.scheduling()),
    }
}

/// The texts of an entry, and the results of calls. A call alone, a picture and a recalled fact have none.
fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::ToolResult { content, .. } => Some(content.as_str()),
        part => part.as_text(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Names a delivery by what it holds.
fn id(now: &Loaded, key: &OutboxKey, claim: Claim) -> String {
    let Told { head, said, run } = claim.until;
    let mut hasher = blake3::Hasher::new();
    hasher.update(now.row.id.uuid().as_bytes()).update(key.destination.as_bytes());
    hasher.update(claim.kind.name().as_bytes());
    for number in [head.op.0, head.seq.0, said.0, run.0] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Writes deliveries of a conversation.
struct Writer<'a> {
    rows: &'a dyn Rows,
    now: &'a Loaded,
    texts: bool,
}

impl Writer<'_> {
    fn delivery(
        &self,
        key: &OutboxKey,
        event: DeliveryEvent,
        (told, claim): (Told, Claim),
        op: Option<&Operation>,
    ) -> Result<Delivery> {
        let (rows, now) = (self.rows, self.now);
        let until = claim.until;
        let states = [visible(rows, now, told.head)?, visible(rows, now, until.head)?];
        let depth = now.conversation.tree.depth();
        let (mut gone, came) = delivery_extent(told, claim, depth, (&states[0], &states[1]));
        if let Some(Operation { change: Change::Erase(entries), .. }) = op {
            gone = Path::from_spans(entries.iter().map(|pos| Span::one(*pos)));
        }
        let came = self.entries(&came)?;
        let run = match claim.kind {
            OwedKind::TurnEnded => rows.runs_in(key.log, until.run, until.run)?.pop(),
            OwedKind::Said | OwedKind::Operation => None,
        };
        let (author, time) = match (op, &run) {
            (Some(op), _) => (op.author.clone(), op.time),
            (None, Some(run)) => (String::new(), run.ended.unwrap_or_default()),
            (None, None) => self.last_said(until.said.0)?,
        };
        let parent = now.row.parent.map(|parent| {
            let tip = parent.tip.map(|tip| rows.meta(now.key(tip)?).map(|meta| meta.id));
            Ok::<_, crate::StoreError>((rows.log(parent.log)?.id, tip.transpose()?))
        });
        Ok(Delivery {
            id: id(now, key, claim),
            event,
            reason: op.map(|op| op.reason),
            conversation: now.row.id,
            parent: parent.transpose()?,
            folder: now.row.folder.clone(),
            author,
            time,
            head: until.head,
            gone: self.ids(&gone)?.into_iter().map(|(_, entry)| entry).collect(),
            came,
            waits: None,
            ended: run.map(|run| (run.state, run.error)).filter(|(state, _)| *state != RunState::Queued),
        })
    }

    /// The author and the time of an entry of the own log.
    fn last_said(&self, seq: u64) -> Result<(String, Time)> {
        let entry = self.rows.entry(crate::rows::Key { log: self.now.row.log, seq })?;
        Ok((entry.author, entry.meta.time))
    }

    fn ids(&self, path: &Path) -> Result<Vec<(retake_core::Meta, DeliveryEntry)>> {
        let records = self.now.records(self.rows);
        let mut all = Vec::new();
        for span in path.spans() {
            for meta in records.metas(*span)? {
                let entry = DeliveryEntry { id: meta.id, role: meta.role, text: None };
                all.push((meta, entry));
            }
        }
        Ok(all)
    }

    /// Entries with their texts, if they are visible now.
    fn entries(&self, path: &Path) -> Result<Vec<DeliveryEntry>> {
        let (records, seen) = (self.now.records(self.rows), self.now.conversation.scheduling());
        let all = self.ids(path)?.into_iter();
        all.map(|(meta, mut entry)| {
            if self.texts && seen.contains(meta.pos) && !meta.flags.erased {
                let parts = match records.parts(meta.pos) {
                    // The entry is told without its text.
                    Err(StoreError::Damaged { .. }) => Vec::new(),
                    parts => parts?,
                };
                entry.text = Some(text(&parts)).filter(|text| !text.is_empty());
            }
            Ok(entry)
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use retake_core::{Part, ToolOutcome};

    use super::text;

    #[test]
    fn text_of_an_entry_has_the_results_of_calls() {
        let result = Part::ToolResult { call: "c".into(), content: "hi".into(), outcome: ToolOutcome::Ok };
        let call = Part::ToolCall { id: "c".into(), name: "shell".into(), arguments: "{}".into() };
        assert_eq!(text(&[Part::text("one"), call.clone(), result]), "one\nhi");
        assert_eq!(text(&[call]), "");
    }
}
