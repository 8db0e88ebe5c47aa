//! Random texts for the tests of merges and hunks: small ones of few different lines, so that edits
//! overlap.

use proptest::prelude::*;
use proptest::strategy::Union;

/// Frequent lines, and some unique ones; one with a carriage return, one that is not UTF-8.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let common = ["a\n", "b\n", "}\n", "\n", "a\r\n"].map(|line| Just(line.as_bytes().to_vec()).boxed());
    let rare = (0..1000u32).prop_map(|number| format!("line {number}\n").into_bytes()).boxed();
    let bytes = Just(b"\xb0\xa1\xff\n".to_vec()).boxed();
    Union::new(common.into_iter().chain([rare.clone(), rare, bytes]))
}

/// A text of up to this many lines, with or without a final line end.
pub(crate) fn text(lines: usize) -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(line(), 0..lines), any::<bool>()).prop_map(|(lines, ended)| joined(&lines, ended))
}

/// A text of up to this many lines, and this many edits of it.
pub(crate) fn edited<const N: usize>(lines: usize) -> impl Strategy<Value = (Vec<u8>, [Vec<u8>; N])> {
    let edit = (0.0..1.0f64, 0..4usize, prop::collection::vec(line(), 0..3));
    let edits = (prop::collection::vec(edit, 0..4), prop::bool::weighted(0.9));
    (prop::collection::vec(line(), 0..lines), prop::collection::vec(edits, N)).prop_map(|(lines, edits)| {
        let edited = |number: usize| {
            let (edits, ended) = &edits[number];
            let mut lines = lines.clone();
            for (at, removed, added) in edits {
                let start = (at * (lines.len() + 1) as f64) as usize;
                let end = (start + removed).min(lines.len());
                lines.splice(start..end, added.iter().cloned());
            }
            joined(&lines, *ended)
        };
        (joined(&lines, true), std::array::from_fn(edited))
    })
}

fn joined(lines: &[Vec<u8>], ended: bool) -> Vec<u8> {
    let mut text = lines.concat();
    if !ended && text.ends_with(b"\n") {
        text.pop();
    }
    text
}
