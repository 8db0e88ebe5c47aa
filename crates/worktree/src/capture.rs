//! Captures: the content of a workspace, and its changes since the last capture. A capture reads the folder and
//! trusts no report. It must write only the index in the data folder, follow no link, and never leave the root.

mod asked;
mod below;
mod bytes;
mod coverage;
mod descend;
mod extras;
mod fetch;
mod findings;
mod gone;
mod index;
mod index_file;
mod manifest;
mod named;
mod note;
mod read;
mod refuse;
mod rules;
mod settle;
mod start;
mod sweep;
mod visit;
mod watch;
mod workspace_tree;

pub use asked::{CaptureScope, Permission, Progress, Stats};
pub use coverage::CoverageChange;
pub use findings::Findings;
pub use index::{KnownPath, Mark};
pub use manifest::Manifest;
pub use named::FoundFiles;
pub use note::WriteSource;
pub use refuse::{refuse, refuse_known};
pub use rules::Rules;
pub use workspace_tree::{Capture, Tree};
