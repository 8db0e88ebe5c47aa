//! placeholder
pub mod content;
pub use content::{Part, Role, Source, ToolOutcome, Usage, clean, joined_text};
