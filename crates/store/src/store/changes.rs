//! The changes since a client's last reading: the difference between two states, not a replay. Messages that were appended and
//! rewound meanwhile are in neither.

use retake_core::{
    Change, Changes, ConversationId, Head, OpNo, Path, Pos, Records as _, Revision, Seq, Span, difference,
};

use super::Store;
use super::load::{Loaded, load_at};
use super::read::shown;
use crate::error::{Result, StoreError};
use crate::rows::{Key, Rows};

impl Store {
    /// What changed since a revision.
    pub async fn changes(&self, conversation: ConversationId, since: Revision) -> Result<Changes> {
        let all = self.few_changes(conversation, since, u64::MAX).await?;
        Ok(all.expect("BUG: no path has more entries than that"))
    }

    /// The same, if at most `most` entries were added, removed or look different; otherwise nothing is read.
    pub async fn few_changes(
        &self,
        conversation: ConversationId,
        since: Revision,
        most: u64,
    ) -> Result<Option<Changes>> {
        self.with(conversation, move |rows, loaded| changes(rows, loaded, since, most)).await
    }
}

/// The difference between a revision and now. A client without a revision gets everything, a fork's base included. `None` if more
/// than `most` entries changed: then none of them is read.
pub(super) fn changes(rows: &dyn Rows, now: &Loaded, since: Revision, most: u64) -> Result<Option<Changes>> {
    let last = now.conversation.revision;
    if since > last {
        return Err(StoreError::UnknownRevision { wanted: since, last });
    }
    if since == Revision(0) {
        let all = now.conversation.scheduling();
        if all.len() > most {
            return Ok(None);
        }
        let came = shown(rows, now, &all)?;
        let head = now.conversation.head;
        return Ok(Some(Changes { head, revision: last, gone: Vec::new(), came, changed: Vec::new() }));
    }
    let head = head_at(rows, now, since)?;
    let then = load_at(rows, now.row.clone(), head)?;
    let between = difference(&then.conversation, &now.conversation);
    if between.gone.len() + between.came.len() > most {
        return Ok(None);
    }
    let both = now.conversation.scheduling().without(between.came.spans().iter().copied());
    let touched = union(touched(rows, now, &then, head)?);
    let changed = common(&both, &union([touched.spans().to_vec(), regrouped(now, head, &touched)].concat()));
    if between.gone.len() + between.came.len() + changed.len() > most {
        return Ok(None);
    }
    let records = now.records(rows);
    let mut gone = Vec::new();
    for span in between.gone.spans() {
        gone.extend(records.metas(*span)?.into_iter().map(|meta| meta.id));
    }
    Ok(Some(Changes {
        head: now.conversation.head,
        revision: now.conversation.revision,
        gone,
        came: shown(rows, now, &between.came)?,
        changed: shown(rows, now, &changed)?,
    }))
}

/// All entries of these spans, each once.
fn union(mut spans: Vec<Span>) -> Path {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.depth == span.depth && span.from <= last.to => last.to = last.to.max(span.to),
            _ => merged.push(span),
        }
    }
    Path::from_spans(merged)
}

/// The entries that are in both.
fn common(path: &Path, part: &Path) -> Path {
    Path::from_spans(part.spans().iter().flat_map(|span| path.within(*span).spans().to_vec()))
}

/// Alternatives whose numbers changed: another one was added since `head`, or one was touched.
fn regrouped(now: &Loaded, head: Head, touched: &Path) -> Vec<Span> {
    let tree = &now.conversation.tree;
    let is_new = |pos: &Pos| pos.depth == tree.depth() && pos.seq > head.seq.0;
    let groups = tree.siblings().into_iter();
    let counted_anew = groups.filter(|group| group.iter().any(|pos| is_new(pos) || touched.contains(*pos)));
    counted_anew.flatten().map(Span::one).collect()
}

/// Spans that look different because of an operation since `head`: marks, folds, labels, erasures.
fn touched(rows: &dyn Rows, now: &Loaded, then: &Loaded, head: Head) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    for op in rows.ops(now.row.log, head.op.next(), now.conversation.head.op)? {
        match op.change {
            Change::Mark(changes) => spans.extend(changes.iter().map(|change| change.span)),
            Change::Label { target: retake_core::LabelTarget::Entry(pos), .. } => spans.push(Span::one(pos)),
            Change::Erase(entries) => {
                spans.extend(entries.into_iter().map(Span::one));
                // An erasure may have removed any name, too.
                spans.extend(now.conversation.state.labels.keys().filter_map(|target| match target {
                    retake_core::LabelTarget::Entry(pos) => Some(Span::one(*pos)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    let folds = difference(&then.conversation, &now.conversation);
    for id in folds.lifted.iter().chain(&folds.in_force) {
        let fold = now.conversation.state.folds.get(*id).or_else(|| then.conversation.state.folds.get(*id));
        spans.extend(fold.iter().flat_map(|fold| fold.covers.spans().iter().copied()));
    }
    Ok(spans)
}

/// The head at a revision. O(log entries + log operations).
fn head_at(rows: &dyn Rows, now: &Loaded, revision: Revision) -> Result<Head> {
    let log = now.row.log;
    let last = now.conversation.head;
    let op = last_below(last.op.0, |no| Ok(rows.op(log, OpNo(no))?.revision <= revision))?;
    let seq = last_below(last.seq.0, |seq| Ok(rows.meta(Key { log, seq })?.revision <= revision))?;
    Ok(Head { op: OpNo(op), seq: Seq(seq) })
}

/// The greatest number up to `last` for which `holds` is true; it is true up to some number and false after it.
fn last_below(last: u64, mut holds: impl FnMut(u64) -> Result<bool>) -> Result<u64> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if holds(middle)? {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(low)
}
