//! How output looks. Must never be read from the world by who renders: it is given.

use super::style::Palette;

/// How output looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Colours, or none.
    pub palette: Palette,
    /// How many columns there are.
    pub columns: usize,
    /// The time now, Unix milliseconds.
    pub now_ms: i64,
    /// Whether ids are shown: only where somebody types them.
    pub ids: bool,
}
