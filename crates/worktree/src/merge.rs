//! Comparisons of texts: three-way merges, hunks that can be applied one by one, and unified diffs. Pure functions of
//! bytes, except for reading and storing objects. Equal texts always give the same result, so that a plan and its apply
//! agree. No clock is used.
//!
//! Lines are compared by `gix-imara-diff`, which is git's own algorithm (Myers) with git's limits on its effort. Not its
//! histogram, which is quadratic if every other line was changed. The merge is ours, because `gix-merge` depends on the
//! index, filters and processes of git; it decides as git does. Binary data, and texts beyond the limits here, are never
//! merged.

mod hunks;
mod lines;
mod stored;
mod three;
mod unified;

pub use hunks::{Hunk, Hunks, Line};
pub use lines::MAX_TEXT;
pub use stored::{StoredMerges, diff};
pub use three::{merge_texts, merge_texts_over};
pub use unified::{Diff, LineCounts, MAX_SHOWN, Remark, Side, unified};
