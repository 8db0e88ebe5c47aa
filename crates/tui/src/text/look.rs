//! The place and time of a rendering. A renderer must never read them itself: they are a parameter.

/// The place and time of a rendering.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Number of columns.
    pub columns: usize,
    /// The current time, in Unix milliseconds.
    pub now_ms: i64,
    /// Whether ids are shown: only where people type them.
    pub ids: bool,
}
