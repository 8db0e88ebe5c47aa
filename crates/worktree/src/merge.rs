//! Texts against each other: merged three ways, cut into hunks that can be done one by one, shown as unified diffs.
//! Pure functions of bytes, except for reading and keeping objects. The same texts always give the same answer, so
//! that a plan and its apply agree. There is no clock in it.
//!
//! Lines are compared by `gix-imara-diff`, which is git's own algorithm (Myers) with the bounds that git puts on its
//! effort. Not its histogram, which is quadratic where every other line was changed. The merge over it is ours, because
//! the kept one (`gix-merge`) brings the index, filters and processes of git with it; it decides as git does. What is no
//! text, or larger than the bounds here, is never merged.

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
