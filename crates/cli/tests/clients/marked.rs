//! The hidden messages of the sample world: one of two entries, an excluded one, and one with terminal control characters.

use retake_wire::reply::{Counts, Marked, MarkedPage};
use retake_wire::{Mark, Role};

use super::fixtures::{HOSTILE, id, line};

pub(super) fn marked() -> MarkedPage {
    let one = |mark, turn, number, last, preview: &str| Marked {
        mark,
        turn,
        counts: Counts { messages: u64::from(last - number + 1), calls: 0, turns: 1 },
        line: line(number, Role::User, preview),
        last: id(last),
        marked_ms: (turn != 1).then(|| super::fixtures::ago(5 * i64::from(number))),
    };
    let marked = vec![
        one(Mark::Excluded, 3, 9, 9, HOSTILE),
        one(Mark::Hidden, 2, 6, 7, "Hide these two"),
        one(Mark::Dropped, 1, 1, 4, "A whole turn"),
    ];
    MarkedPage { head: "12.6".to_owned(), marked, more: true }
}
