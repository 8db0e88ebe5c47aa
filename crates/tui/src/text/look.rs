//! The place and the time for which something is rendered. Must never be read from the world by a renderer: it is a parameter.

/// The place and the time of a rendering.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How many columns there are.
    pub columns: usize,
    /// The time now, Unix milliseconds.
    pub now_ms: i64,
    /// Whether ids are shown: only where somebody types them.
    pub ids: bool,
}
