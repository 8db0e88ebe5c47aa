//! The terminal client: how each reply looks ([`render`], [`text`]), and the full-screen program for conversations ([`ui`]). It
//! knows the wire only and stores nothing: killing it at any moment loses nothing.

pub mod hint;
pub mod models;
pub mod render;
pub mod text;
pub mod ui;
