//! The outbox: what destinations outside of the store (hooks, memory) are owed, decided from the log and the operations.
//!
//! A row for each destination and conversation says what the destination knows: a place in the log. What it is owed follows from
//! the states there and now. So a change that was taken back before it was sent is never sent, and a rewind costs the same however
//! much is owed. The row becomes due in the transaction of the change. A delivery is claimed before it is sent, and then
//! its extent is fixed: a repeated delivery has the same id.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::id::{ConversationId, EntryId, Head, OpNo, Pos, Seq, Time};
use crate::op::{Operation, Reason};
use crate::path::{Path, Span};
use crate::run::{RunNo, RunState};

/// The most messages in one delivery.
pub const DELIVERY_MAX: usize = 100;

/// The longest delay between two attempts: an hour.
const DELAY_MAX_MS: i64 = 60 * 60 * 1000;

/// What happened, as destinations name it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum DeliveryEvent {
    /// Messages were added.
    Said,
    /// A rewind, an edit or a retry took messages back; or a message whose answer failed was taken back.
    Rewound,
    /// An undo, a redo or a return to an earlier state.
    Restored,
    /// Another branch or alternative was chosen.
    Switched,
    /// Messages were hidden, dropped or shown.
    Marked,
    /// Content was erased.
    Erased,
    /// A turn ended.
    TurnEnded,
    /// A call waits for an approval.
    ApprovalWaiting,
}

impl DeliveryEvent {
    /// Every event.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The event with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The event of an operation; `None` if destinations are not told of it.
    pub fn of(reason: Reason) -> Option<Self> {
        match reason {
            Reason::Rewind | Reason::Edit | Reason::Retry | Reason::Compensate(_) => Some(Self::Rewound),
            Reason::Undo(_) | Reason::Redo(_) | Reason::Restore(_) => Some(Self::Restored),
            Reason::Checkout | Reason::Choose => Some(Self::Switched),
            Reason::Hide | Reason::Show | Reason::Exclude | Reason::Include | Reason::Drop => {
                Some(Self::Marked)
            }
            Reason::Erase => Some(Self::Erased),
            Reason::Files
            | Reason::Fold
            | Reason::AutoFold
            | Reason::Unfold
            | Reason::Label
            | Reason::Title => None,
        }
    }
}

/// What a destination knows of a conversation: the visible entries at `head`, without those of its own log behind `said`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    /// The state.
    pub head: Head,
    /// The last entry of the conversation's own log that it knows. Not behind the head.
    pub said: Seq,
    /// The last run whose end it knows.
    pub run: RunNo,
}

impl Told {
    /// The part of a state's visible entries that is known.
    pub fn known(self, depth: u32, visible: &Path) -> Path {
        visible.without([Span::new(depth, self.said.0 + 1, u64::MAX)])
    }

    /// The same after the entries up to `said`.
    fn with_said(self, said: u64) -> Self {
        let head = Head { seq: Seq(self.head.seq.0.max(said)), ..self.head };
        Self { head, said: Seq(said), ..self }
    }

    /// The same after an operation.
    fn after(self, op: &PendingOp) -> Self {
        Self { head: op.head(), said: Seq(self.said.0.max(op.at.0)), ..self }
    }
}

/// An operation that a destination does not know yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingOp {
    /// Its number.
    pub no: OpNo,
    /// The last entry before it.
    pub at: Seq,
    /// The visible entries before it.
    pub before: Path,
    /// The visible entries after it.
    pub visible: Path,
    /// Entries whose content it erased.
    pub erased: Path,
}

impl PendingOp {
    /// The head that it made.
    pub fn head(&self) -> Head {
        Head { op: self.no, seq: self.at }
    }

    /// An operation, with the visible entries before and after it.
    pub fn new(op: &Operation, before: Path, visible: Path) -> Self {
        let erased = match &op.change {
            crate::op::Change::Erase(entries) => Path::from_spans(entries.iter().map(|pos| Span::one(*pos))),
            _ => Path::default(),
        };
        Self { no: op.no, at: op.at, before, visible, erased }
    }
}

/// What is pending for a destination, from one state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The depth of the conversation's own log.
    pub depth: u32,
    /// The visible entries at [`Told::head`].
    pub then: Path,
    /// The visible entries now.
    pub now: Path,
    /// The last entry of the own log.
    pub last: Seq,
    /// The next operations, oldest first, without a gap.
    pub ops: Vec<PendingOp>,
    /// The last operation, if it is not among them.
    pub newest: Option<PendingOp>,
    /// Runs that ended, each with the head at its end, in the order of their numbers.
    pub ended: Vec<(RunNo, Head)>,
}

/// The kinds of what a destination is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum OwedKind {
    /// Messages that were said.
    Said,
    /// The last operation of what it knows then.
    Operation,
    /// The end of the last run that it knows then.
    TurnEnded,
}

impl OwedKind {
    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// What a delivery takes a destination to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its kind.
    pub kind: OwedKind,
    /// What the destination knows after it.
    pub until: Told,
}

/// Decides what a destination is owed next; `Err`: nothing more, it knows everything up to there.
///
/// Operations that leave in place what it knows, apart from new messages, are passed over together. So an undo of what was not
/// sent owes nothing, and a message that came and went in between is not sent.
pub fn owed(told: Told, pending: &Pending) -> Result<Claim, Told> {
    let (told, rest) = without_undone(told, pending);
    let next = rest.first();
    let limit = next.map_or(pending.last.0, |op| op.at.0);
    let ended = pending.ended.first().filter(|(_, head)| next.is_none_or(|op| head.op < op.no));
    let limit = ended.map_or(limit, |(_, head)| head.seq.0.min(limit));
    // Also those that a later operation took away: its delivery follows. Their texts are read when they are sent.
    let before = next.map_or(&pending.now, |op| &op.before);
    let said = said(told, limit, pending.depth, before);
    if let Some(last) = said.positions().take(DELIVERY_MAX).last() {
        return Ok(Claim { kind: OwedKind::Said, until: told.with_said(last.seq) });
    }
    if let Some((run, _)) = ended {
        return Ok(Claim { kind: OwedKind::TurnEnded, until: Told { run: *run, ..told } });
    }
    match next {
        Some(op) => Ok(Claim { kind: OwedKind::Operation, until: told.after(op) }),
        None => Err(told.with_said(pending.last.0)),
    }
}

/// The visible entries of the own log behind those that a destination knows.
fn said(told: Told, to: u64, depth: u32, visible: &Path) -> Path {
    let new = (told.said.0 < to).then(|| Span::new(depth, told.said.0 + 1, to));
    new.map(|new| visible.within(new)).unwrap_or_default()
}

/// The entries that are gone and that came for a destination with a delivery, from the visible entries in the states before and
/// after it.
pub fn delivery_extent(told: Told, claim: Claim, depth: u32, (then, after): (&Path, &Path)) -> (Path, Path) {
    match claim.kind {
        OwedKind::Said => (Path::default(), said(told, claim.until.said.0, depth, after)),
        OwedKind::TurnEnded => (Path::default(), Path::default()),
        OwedKind::Operation => {
            let (known, now) = (told.known(depth, then), claim.until.known(depth, after));
            (known.without(now.spans().iter().copied()), now.without(known.spans().iter().copied()))
        }
    }
}

/// Passes over the operations behind which everything that the destination knows is in place again. An erasure has a delivery in its
/// place.
fn without_undone(told: Told, pending: &Pending) -> (Told, &[PendingOp]) {
    let known = told.known(pending.depth, &pending.then);
    let keeps = |op: &PendingOp| keeps(&known, told, pending.depth, op);
    let erased = pending.ops.iter().position(|op| !op.erased.is_empty());
    if let (Some(newest), None) = (&pending.newest, erased)
        && keeps(newest)
    {
        return (Told { head: newest.head(), ..told }, &[]);
    }
    // The next operation stays among them, so that none is missed.
    let whole = pending.ops.len() - usize::from(pending.newest.is_some());
    let passed = &pending.ops[..erased.unwrap_or(whole).min(whole)];
    match passed.iter().rposition(keeps) {
        Some(at) => (Told { head: passed[at].head(), ..told }, &pending.ops[at + 1..]),
        None => (told, &pending.ops[..]),
    }
}

/// Whether everything that a destination knows is in place after an operation, and nothing else but new messages.
fn keeps(known: &Path, told: Told, depth: u32, op: &PendingOp) -> bool {
    let gone = known.without(op.visible.spans().iter().copied());
    let came = op.visible.without(known.spans().iter().copied());
    gone.is_empty() && came.first().is_none_or(|first| first > Pos::new(depth, told.said.0))
}

/// Why a delivery is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum OutboxFailure {
    /// The destination no longer has what the delivery is about, or is gone itself.
    AlreadyGone,
    /// The destination does not permit it.
    NotPermitted,
    /// Its deadline has passed.
    TooOld,
    /// The destination refused it.
    Refused,
}

impl OutboxFailure {
    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The failure with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// In which order a destination gets the deliveries of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// One after the other: one that must be tried again holds up those after it.
    #[default]
    Strict,
    /// Each as soon as it can be delivered: one that must be tried again is set aside.
    Scheduled,
}

/// How a destination's deliveries are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryTerms {
    /// Milliseconds from the first attempt until a delivery is passed over.
    pub deadline_ms: i64,
    /// The order.
    pub order: DeliveryOrder,
}

/// The result of an attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The destination has it.
    Done,
    /// It may work later: why, and after how many milliseconds the destination asked for.
    Later(String, Option<i64>),
    /// It never works.
    Never(OutboxFailure, String),
}

/// A row of the outbox: what a destination knows of a conversation, and the delivery at work; or a delivery that was set aside or
/// passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxItem {
    /// 0, or the number of a delivery that was set aside or passed over.
    pub no: u64,
    /// What the destination knows; of a delivery with a number, what it knew before it.
    pub told: Told,
    /// The claimed delivery.
    pub claim: Option<Claim>,
    /// When it is due; `None`: nothing is owed, or a delivery that was passed over. A claim moves it, so that no other worker
    /// makes the delivery meanwhile.
    pub due: Option<Time>,
    /// The attempts at the claimed delivery.
    pub attempts: u32,
    /// When the first of them began.
    pub since: Option<Time>,
    /// Why it was passed over.
    pub failure: Option<OutboxFailure>,
    /// The result of the last attempt: a status of the destination, without any content.
    pub why: Option<String>,
}

impl OutboxItem {
    /// Whether a worker has claimed it and its outcome is not known.
    pub fn is_at_work(&self) -> bool {
        self.claim.is_some() && self.why.is_none()
    }

    /// The row after a claim of a delivery. Without an outcome, it is due again after `lease`.
    #[must_use]
    pub fn claimed(self, claim: Claim, now: Time, lease: Time) -> Self {
        let since = Some(self.since.unwrap_or(now));
        Self { claim: Some(claim), due: Some(lease), attempts: self.attempts + 1, since, why: None, ..self }
    }

    /// The row after an attempt, and the delivery that is set aside or passed over with it. `more`: more than the claimed delivery is
    /// owed.
    pub fn after(
        self,
        attempt: Attempt,
        now: Time,
        terms: DeliveryTerms,
        more: bool,
    ) -> (Option<Self>, Option<Self>) {
        let open = match attempt {
            Attempt::Done => None,
            Attempt::Later(why, after) => {
                let due = now.0.saturating_add(delay_ms(self.attempts, after));
                let since = self.since.unwrap_or(now).0;
                if due.saturating_sub(since) > terms.deadline_ms {
                    Some((None, Some(OutboxFailure::TooOld), why))
                } else {
                    Some((Some(Time(due)), None, why))
                }
            }
            Attempt::Never(failure, why) => Some((None, Some(failure), why)),
        };
        let open = open.map(|(due, failure, why)| Self { due, failure, why: Some(why), ..self.clone() });
        let waits = open.as_ref().is_some_and(|open| open.failure.is_none());
        if self.no > 0 || (waits && terms.order == DeliveryOrder::Strict) {
            return (open, None);
        }
        let told = self.claim.map_or(self.told, |claim| claim.until);
        (Some(Self { told, due: more.then_some(now), ..Self::default() }), open)
    }
}

/// How long to wait after this many attempts: a second, doubled each time, at most an hour; or as long as the destination asked,
/// within an hour.
fn delay_ms(attempts: u32, asked: Option<i64>) -> i64 {
    let doubled = 1000_i64 << attempts.saturating_sub(1).min(12);
    asked.unwrap_or(doubled).max(doubled).min(DELAY_MAX_MS)
}

/// An entry in a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryEntry {
    /// Its id.
    pub id: EntryId,
    /// Its role.
    pub role: crate::content::Role,
    /// Its text, if the destination wants texts and it is visible now.
    pub text: Option<String>,
}

/// What a destination gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Names it for ever: a repeated delivery has the same id.
    pub id: String,
    /// What happened.
    pub event: DeliveryEvent,
    /// The verb of the operation.
    pub reason: Option<Reason>,
    /// The conversation.
    pub conversation: ConversationId,
    /// For a fork: the conversation that it was made from, and the last entry of its base.
    pub parent: Option<(ConversationId, Option<EntryId>)>,
    /// The folder that it works in.
    pub folder: Option<String>,
    /// The author of the operation, or of the last message.
    pub author: String,
    /// When it happened.
    pub time: Time,
    /// The head that it led to.
    pub head: Head,
    /// Entries that are no longer visible; of an erasure, the erased ones.
    pub gone: Vec<DeliveryEntry>,
    /// Entries that are visible now.
    pub came: Vec<DeliveryEntry>,
    /// Of a turn: how it ended, and the reason if it did not succeed.
    pub ended: Option<(RunState, Option<String>)>,
    /// Of a call that waits for an approval: its id and its tool.
    pub waits: Option<(String, String)>,
}

#[cfg(test)]
mod tests;
