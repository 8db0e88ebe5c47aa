//! Changes of what is kept, against a map with a value for each entry.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn keep() -> impl Strategy<Value = Keep> {
    prop_oneof![Just(Keep::ByPath), Just(Keep::Adopted), Just(Keep::TakenOut)]
}

fn path(number: u64) -> KeptPath {
    let name = FilePath::new(format!("f{number}").as_bytes()).expect("a path");
    KeptPath { entry: Pos::new(0, number), workspace: WorkspaceNo(1), path: name }
}

/// What an operation does: ranges that get a value, and a path that is kept or given back.
type Step = (Vec<(u64, u64, Keep)>, u64);

fn change(kept: &Kept, (sets, number): &Step) -> KeptChange {
    let mut now = kept.entries.clone();
    let mut entries = Vec::new();
    for (from, more, value) in sets {
        let changes = now.changes(&Path::from_spans([Span::new(0, *from, from + more)]), *value);
        now.apply(&changes);
        entries.extend(changes);
    }
    let (adopted, returned) = match kept.paths.contains(&path(*number)) {
        true => (Vec::new(), vec![path(*number)]),
        false => (vec![path(*number)], Vec::new()),
    };
    KeptChange { entries, adopted, returned, before: kept.last }
}

proptest! {
    #[test]
    fn taking_changes_back_and_differences_lead_to_each_recorded_state(
        steps in prop::collection::vec((prop::collection::vec((1u64..20, 0u64..8, keep()), 0..4), 1u64..4), 1..12),
        to in 0usize..12,
    ) {
        let (mut kept, mut states, mut changes) = (Kept::default(), vec![Kept::default()], Vec::new());
        let mut model: BTreeMap<u64, Keep> = BTreeMap::new();
        for (no, step) in (1..).zip(&steps) {
            let change = change(&kept, step);
            kept.apply(&change, OpNo(no));
            for (from, more, value) in &step.0 {
                model.extend((*from..=from + more).map(|seq| (seq, *value)));
            }
            for seq in 1..40 {
                let expected = model.get(&seq).copied().unwrap_or_default();
                prop_assert_eq!(kept.entries.get(Pos::new(0, seq)), expected);
            }
            changes.push(change);
            states.push(kept.clone());
        }
        let to = to.min(states.len() - 1);
        let mut led = kept.clone();
        led.apply(&kept.difference(&states[to]), OpNo(99));
        prop_assert_eq!((&led.entries, &led.paths), (&states[to].entries, &states[to].paths));
        for (change, before) in changes.iter().zip(&states).rev() {
            kept.take_back(change);
            prop_assert_eq!(&kept, before);
        }
    }
}

#[test]
fn what_follows_a_change_in_the_same_operation_can_take_it_back() {
    let kept = Kept::default();
    let first = change(&kept, &(vec![(1, 3, Keep::Adopted)], 1));
    let both = first.clone().then(first.inverse());
    let mut after = kept.clone();
    after.apply(&both, OpNo(1));
    assert_eq!((after.entries, after.paths), (kept.entries, kept.paths));
}
