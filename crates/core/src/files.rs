//! Files of a workspace as data: names, records, changes. Nothing here touches a disk.

mod change;
mod file_path;
mod record;

pub use change::{FileChange, Grade};
pub use file_path::{BadFilePath, FilePath};
pub use record::{ContentHash, Record};
