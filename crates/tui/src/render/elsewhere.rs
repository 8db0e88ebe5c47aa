//! Operations of other clients, each told once. Must never tell an operation that this client requested.

use std::collections::BTreeSet;

use retake_wire::reply::Operation;
use retake_wire::{OpSummary, OperationReason, PlannedStep, UndoneStep, english};

use super::words;
use crate::text::safe;

/// The operations of a conversation that the person at this client knows of.
#[derive(Clone, Debug, Default)]
pub struct KnownOperations {
    /// The last one that was here from the beginning, requested here or told.
    last: Option<u64>,
    /// Later ones that this client requested.
    own: BTreeSet<u64>,
}

impl KnownOperations {
    /// The number of newest operations that [`KnownOperations::learn`] needs.
    pub const PAGE: usize = 20;

    /// The conversation is shown with this head: all its operations are known.
    pub fn begin(&mut self, head: &str) {
        if self.last.is_none() {
            self.last = number(head);
        }
    }

    /// This client requested these operations.
    pub fn made(&mut self, operations: &[u64]) {
        self.own.extend(operations);
    }

    /// Whether a conversation with this head has operations of other clients that were not told yet.
    pub fn lacks(&mut self, head: &str) -> bool {
        while let Some(next) = self.last.map(|last| last + 1).filter(|next| self.own.remove(next)) {
            self.last = Some(next);
        }
        self.last.zip(number(head)).is_some_and(|(last, now)| last < now)
    }

    /// Takes the newest operations, newest first. Returns a line for each operation of another client, oldest first.
    pub fn learn(&mut self, newest: &[Operation]) -> Vec<String> {
        let (Some(last), Some(first)) = (self.last, newest.first()) else { return Vec::new() };
        let news = newest.iter().take_while(|it| it.number > last);
        let oldest = news.clone().last().map_or(last, |it| it.number);
        let theirs = news.filter(|it| !self.own.contains(&it.number) && is_told(it.reason));
        let mut lines: Vec<String> = theirs.map(|it| line(it, newest)).collect();
        let own = self.own.range(last + 1..oldest.max(last + 1)).count() as u64;
        let earlier = oldest.saturating_sub(last + 1) - own;
        if earlier > 0 {
            // Some of them may be such that are never told.
            lines.push(format!("… and up to {}", words::count(earlier, "earlier operation")));
        }
        lines.reverse();
        self.last = Some(first.number.max(last));
        self.own.retain(|own| *own > first.number);
        lines
    }
}

/// The number of the last operation of a head.
fn number(head: &str) -> Option<u64> {
    head.split('.').next()?.parse().ok()
}

/// Whether people see what such an operation changed. The owner makes some by itself.
fn is_told(reason: OperationReason) -> bool {
    use OperationReason as R;
    !matches!(reason, R::Compensate | R::AutoFold | R::Label | R::Title)
}

fn line(it: &Operation, all: &[Operation]) -> String {
    let made = |it: &Operation| {
        english::step_made(&PlannedStep::Operation { reason: it.reason, summary: it.summary.clone() })
    };
    let undone = match &it.summary {
        OpSummary::TookBack { step: UndoneStep::Operation { number } } => Some(("undo", number)),
        OpSummary::BroughtBack { step: UndoneStep::Operation { number } } => Some(("redo", number)),
        _ => None,
    };
    let of = undone.and_then(|(what, number)| Some((what, all.iter().find(|of| of.number == *number)?)));
    let what = match of {
        Some((what, of)) => format!("the {what} of {}", made(of)),
        None if it.summary == OpSummary::Unknown => english::operation(it),
        None => made(it),
    };
    safe::line(&format!("changed in another client by {}: {what}", it.author)).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn operation(number: u64, author: &str, reason: &str, summary: &str) -> Operation {
        let json = format!(
            r#"{{"number":{number},"head":"{number}.4","kind":"move","reason":"{reason}","summary":{{{summary}}},
            "author":"{author}","time_ms":0,"before":"0.0","undo_next":false,"redo_next":false}}"#
        );
        serde_json::from_str(&json).expect("an operation")
    }

    fn rewind(number: u64) -> Operation {
        let to = r#""code":"moved","message":{"turn":3,"opens_turn":true,"words":"fix it"}"#;
        operation(number, "ada\\u001b", "rewind", to)
    }

    #[test]
    fn line_names_the_operation_and_its_author() {
        let mut known = KnownOperations::default();
        known.begin("7.9");
        assert!(!known.lacks("7.12") && known.lacks("9.4"));
        let undo =
            operation(9, "bob", "undo", r#""code":"took_back","step":{"code":"operation","number":8}"#);
        let lines = known.learn(&[undo, rewind(8), rewind(7)]);
        assert_eq!(
            lines,
            [
                "changed in another client by ada␛: the rewind to t3 “fix it”",
                "changed in another client by bob: the undo of the rewind to t3 “fix it”",
            ]
        );
        assert!(!known.lacks("9.4"), "it is told once");
        let many: Vec<_> = (20..23).rev().map(rewind).collect();
        assert_eq!(known.learn(&many).first().map(String::as_str), Some("… and up to 10 earlier operations"));
        assert!(
            known.learn(&[operation(23, "ada", "auto-fold", r#""code":"folded","messages":4"#)]).is_empty()
        );
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Own,
        Theirs,
        Look,
    }

    proptest! {
        #[test]
        fn each_operation_of_another_client_is_told_once_and_no_own_one(
            events in proptest::collection::vec(
                prop_oneof![Just(Event::Own), Just(Event::Theirs), Just(Event::Look)], 0..40),
            limit in 1_usize..12,
        ) {
            let mut known = KnownOperations::default();
            known.begin("3.1");
            let (mut all, mut untold, mut now) = (Vec::new(), Vec::new(), 3);
            for event in events.into_iter().chain([Event::Look]) {
                match event {
                    Event::Own | Event::Theirs => {
                        now += 1;
                        all.insert(0, rewind(now));
                        if matches!(event, Event::Own) { known.made(&[now]) } else { untold.push(now) }
                    }
                    Event::Look => {
                        let page = &all[..all.len().min(limit)];
                        let told = if known.lacks(&format!("{now}.1")) { known.learn(page) } else { Vec::new() };
                        let is_in_page = |number: &u64| page.iter().any(|it: &Operation| it.number == *number);
                        let (shown, earlier): (Vec<u64>, Vec<u64>) = untold.drain(..).partition(is_in_page);
                        let counted = match earlier.len() {
                            0 => None,
                            1 => Some("… and up to 1 earlier operation".to_owned()),
                            more => Some(format!("… and up to {more} earlier operations")),
                        };
                        prop_assert_eq!(told.len(), shown.len() + usize::from(counted.is_some()));
                        prop_assert!(counted.is_none() || told.first() == counted.as_ref(), "{:?}", told);
                    }
                }
            }
        }
    }
}
