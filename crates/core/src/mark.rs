//! Marks: ranges of entries that are excluded, hidden or dropped. A component of the state.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ranges::{RangeChange, Ranges};

/// What people and models see of an entry. Unmarked is `Normal`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Mark {
    /// Visible to people and the model.
    #[default]
    Normal,
    /// Visible to people, not to the model.
    Excluded,
    /// Hidden from both; `show` reverts it.
    Hidden,
    /// A turn in the middle taken out together with its files.
    Dropped,
}

impl Mark {
    /// Every mark, in a fixed order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The lower-case name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The mark with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether people see entries with this mark (timeline, scheduling, search, export).
    pub fn is_visible(self) -> bool {
        matches!(self, Self::Normal | Self::Excluded)
    }
}

/// One range whose mark an operation changes.
pub type MarkChange = RangeChange<Mark>;

/// All marks of a state.
pub type Marks = Ranges<Mark>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Pos;
    use crate::path::{Path, Span};
    use proptest::prelude::*;

    fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![Just(Mark::Normal), Just(Mark::Excluded), Just(Mark::Hidden), Just(Mark::Dropped)]
    }

    /// Whether the entries of each change have the mark that it expects.
    fn admits(marks: &Marks, changes: &[MarkChange]) -> bool {
        let fits =
            |change: &MarkChange| marks.pieces(change.span).iter().all(|(_, mark)| *mark == change.before);
        changes.iter().all(fits)
    }

    proptest! {
        /// Compared with an array with a mark for each entry.
        #[test]
        fn ranges_agree_with_an_array_of_values(sets in prop::collection::vec((0u32..2, 1u64..30, 0u64..8, mark()), 0..40)) {
            let mut marks = Marks::default();
            let mut model = vec![vec![Mark::Normal; 41]; 2];
            for (depth, from, more, mark) in sets {
                let span = Span::new(depth, from, from + more);
                let changes = marks.changes(&Path::from_spans([span]), mark);
                let before = marks.clone();
                prop_assert!(admits(&marks, &changes));
                marks.apply(&changes);
                for seq in from..=from + more {
                    model[depth as usize][seq as usize] = mark;
                }
                let mut back = marks.clone();
                let inverse: Vec<_> = changes.iter().map(|change| change.inverse()).collect();
                prop_assert!(admits(&back, &inverse));
                back.apply(&inverse);
                prop_assert_eq!(&back, &before);
            }
            for depth in 0..2u32 {
                for seq in 1..41 {
                    prop_assert_eq!(marks.get(Pos::new(depth, seq)), model[depth as usize][seq as usize]);
                }
                let pieces = marks.pieces(Span::new(depth, 1, 40));
                prop_assert_eq!(pieces.iter().map(|(span, _)| span.len()).sum::<u64>(), 40);
            }
            for pair in marks.ranges().windows(2) {
                let ((a, x), (b, y)) = (pair[0], pair[1]);
                prop_assert!(a.last() < b.first());
                prop_assert!(a.depth != b.depth || a.to + 1 < b.from || x != y, "not merged: {:?}", marks);
            }
        }
    }

    #[test]
    fn the_names_of_marks_are_those_that_are_stored() {
        let rows = [("normal", true), ("excluded", true), ("hidden", false), ("dropped", false)];
        for (&mark, (name, visible)) in Mark::ALL.iter().zip(rows) {
            assert_eq!((mark.name(), Mark::from_name(name), mark.is_visible()), (name, Some(mark), visible));
        }
        assert_eq!(Mark::ALL.len(), rows.len());
    }
}
