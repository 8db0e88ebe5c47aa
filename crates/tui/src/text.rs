//! Text for a terminal: made safe, measured, dated, coloured. Must never print, and must never read the clock.

pub mod fold;
pub mod look;
pub mod safe;
pub mod style;
pub mod styled;
pub mod time;
pub mod width;

pub use look::Look;
pub use styled::Text;
