//! The terminal client: how everything looks that the owner says ([`render`], [`text`]), and the full-screen program that people talk
//! in ([`ui`]). It knows the wire only, holds no truth, and can be killed at any moment: nothing is lost.

pub mod hint;
pub mod models;
pub mod render;
pub mod text;
pub mod ui;
