//! Checks whether a history is a possible order of events. The revisions in the receipts give the order. It must have no gaps,
//! agree with the clock, and get the same replies from a model. Must never ask the owner.

use std::collections::BTreeMap;

use retake_wire::reply::Receipt;

use super::model::{Act, Answer, Line, Model};

/// A request, and its reply.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A change of the conversation, and its receipt if it was not refused.
    Done { act: Act, answer: Answer, receipt: Option<Box<Receipt>> },
    /// The whole timeline at a revision.
    Read { revision: u64, head: String, timeline: Vec<Line> },
    /// A plan.
    Planned { act: Act, answer: Answer },
}

/// A request of a client: the time of its first attempt, and of this reply.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The id of the request; unchanged if it was repeated.
    pub(super) request: String,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) what: What,
}

/// A change that was made, with all replies to its request.
struct MadeChange<'a> {
    act: &'a Act,
    answer: &'a Answer,
    receipt: &'a Receipt,
    from: u64,
    /// When a client first knew of it.
    known: u64,
}

/// A new conversation has revision 1.
const MADE: u64 = 1;

/// Checks a history of a conversation that began empty.
pub(super) fn check(history: &[Event]) -> Result<Model, String> {
    let made = made(history)?;
    agrees_with_the_clock(&made)?;
    let mut states = vec![Model::default()];
    for (revision, it) in &made {
        let mut next = states.last().expect("BUG: there is a first").clone();
        let id = it.receipt.entries.first().map_or("", String::as_str);
        let answer = next.does(it.act, id);
        if answer != *it.answer {
            return Err(format!("revision {revision}: {:?} gave {:?}, not {answer:?}", it.act, it.answer));
        }
        states.push(next);
    }
    for event in history {
        fits(event, &made, &states)?;
    }
    Ok(states.pop().expect("BUG: there is a first"))
}

/// The changes by revision: each once, and none is missing.
fn made(history: &[Event]) -> Result<BTreeMap<u64, MadeChange<'_>>, String> {
    let mut made = BTreeMap::<u64, MadeChange<'_>>::new();
    let mut revisions = BTreeMap::new();
    for event in history {
        let What::Done { act, answer: answer @ Answer::Done { .. }, receipt: Some(receipt) } = &event.what
        else {
            continue;
        };
        let revision = receipt.revision;
        if *revisions.entry(&event.request).or_insert(revision) != revision {
            return Err(format!("{act:?} was done twice: at {} and {revision}", revisions[&event.request]));
        }
        let it = MadeChange { act, answer, receipt, from: event.from, known: event.to };
        match made.get_mut(&revision) {
            None => drop(made.insert(revision, it)),
            Some(same) if same.receipt == it.receipt && revisions[&event.request] == revision => {
                same.known = same.known.min(it.known);
            }
            Some(other) => return Err(format!("two receipts of revision {revision}: {other:?} {it:?}")),
        }
    }
    match made.keys().zip(MADE + 1..).find(|(revision, expected)| *revision != expected) {
        Some((_, missing)) => Err(format!("nobody has the receipt of revision {missing}")),
        None => Ok(made),
    }
}

/// A change known before another request began comes before that one.
fn agrees_with_the_clock(made: &BTreeMap<u64, MadeChange<'_>>) -> Result<(), String> {
    let mut latest = 0;
    for (revision, it) in made {
        if it.known < latest {
            return Err(format!("{:?} is revision {revision}, and was known before an earlier one", it.act));
        }
        latest = latest.max(it.from);
    }
    Ok(())
}

/// Whether a reply without a change fits a revision during its request.
fn fits(event: &Event, made: &BTreeMap<u64, MadeChange<'_>>, states: &[Model]) -> Result<(), String> {
    let known = made.iter().filter(|(_, it)| it.known < event.from).map(|(revision, _)| *revision).max();
    let later = made.iter().filter(|(_, it)| it.from > event.to).map(|(revision, _)| *revision).min();
    let until = later.unwrap_or(MADE + made.len() as u64 + 1);
    let mut while_asked = (known.unwrap_or(MADE)..until).map(|at| (at, &states[(at - MADE) as usize]));
    let fits = match &event.what {
        What::Done { answer: Answer::Done { .. }, .. } => true,
        What::Done { act, answer, .. } => while_asked.any(|(_, state)| suits(state, act, answer)),
        What::Planned { act, answer } => {
            // A plan belongs to its head, before the change.
            while_asked.any(|(_, state)| planned(state, act) == *answer)
        }
        What::Read { revision, head, timeline } => while_asked
            .any(|(at, state)| at == *revision && state.head() == *head && state.timeline() == *timeline),
    };
    if fits { Ok(()) } else { Err(format!("at no revision from {known:?} until {until}: {event:?}")) }
}

/// Whether a reply without a change fits this state. If there are two reasons, either is right; but a client with a stale head
/// gets the current one.
fn suits(state: &Model, act: &Act, answer: &Answer) -> bool {
    let Answer::Refused { code, head } = answer else {
        return state.clone().does(act, "") == *answer;
    };
    let is_late = act.head().is_some_and(|seen| *seen != state.head());
    if is_late && code == "stale_head" {
        return *head == Some(state.head());
    }
    let blind = state.clone().does(&act.blind(), "");
    (!is_late || head.is_some()) && matches!(blind, Answer::Refused { code: reason, .. } if reason == *code)
}

/// The content of a plan: its head, and the rest as it would be done.
fn planned(state: &Model, act: &Act) -> Answer {
    match state.clone().does(act, "") {
        Answer::Done { gone, came, composer, .. } => {
            Answer::Done { head: state.head(), gone, came, composer }
        }
        other => other,
    }
}

impl std::fmt::Debug for MadeChange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.act, self.receipt)
    }
}
