//! From Markdown to posts: parsing, splitting, and what adapters need to render a text in their platform's form. Must never escape
//! or render for a platform, and never drop a part of an answer.

mod cells;
mod deliver;
mod fitted;
mod links;
mod markdown;
mod split;
mod table;
#[cfg(test)]
mod tests;
mod units;
mod walk;

pub(crate) use deliver::beginning;
pub use deliver::{Delivery, delivery, digest, plain};
pub use markdown::parse;
pub use split::split;
pub use units::{length, stay_below, utf16_ranges};
pub use walk::{Part, walk};
