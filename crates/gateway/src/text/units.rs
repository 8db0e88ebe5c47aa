//! Lengths in the units of platforms, and ranges in UTF-16 code units. Must never assume that a range of a style is possible.

use std::ops::Range;

use super::walk::in_order;
use crate::adapter::{Style, StyledText};
use crate::capabilities::LengthUnit;

/// The length of a text in a unit.
pub fn length(text: &str, unit: LengthUnit) -> usize {
    match unit {
        LengthUnit::Utf16 => text.chars().map(char::len_utf16).sum(),
        LengthUnit::Chars => text.chars().count(),
        LengthUnit::Bytes => text.len(),
    }
}

/// The length that we use of the longest permitted one: 5 % less, as platforms count some characters differently.
pub fn stay_below(longest: usize) -> usize {
    longest - longest.div_ceil(20)
}

/// The styles with their ranges in UTF-16 code units, in order: the entities of Telegram. Styles with impossible ranges are left
/// out.
pub fn utf16_ranges(text: &StyledText) -> Vec<(Range<usize>, &Style)> {
    let styles = in_order(text);
    let mut edges: Vec<usize> = styles.iter().flat_map(|it| [it.range.start, it.range.end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let (mut at, mut units) = (0, 0);
    let counted = edges.iter().map(|edge| {
        units += length(&text.text[at..*edge], LengthUnit::Utf16);
        at = *edge;
        units
    });
    let counted: Vec<usize> = counted.collect();
    let of = |edge: usize| counted[edges.partition_point(|it| *it < edge)];
    styles.iter().map(|it| (of(it.range.start)..of(it.range.end), &it.style)).collect()
}
