//! The one test binary of the crate. It must name every file of this folder.

mod cases;
mod test;
mod tidy;
