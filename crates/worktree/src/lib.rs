//! The user's files: seen by captures, kept aside in an object store, put back by plans. The only crate that may write
//! to a workspace, and only below the root that it was given; it follows no link, starts no process, knows no net.

mod capture;
mod error;
mod objects;

pub use capture::{
    Capture, CoverageChange, Findings, Known, Manifest, Mark, Noting, Permission, Progress, Rules, Stats,
    Sweep, Tree, Uncovered, WhyNot,
};
pub use error::{Result, WorktreeError};
pub use objects::{MemoryObjects, Objects, hash};
