//! Decisions: the commit of each verb, as pure functions of a conversation and its rows.

mod action;
mod marking;
mod moving;
mod undoing;

pub use marking::{FoldRequest, MarkRequest, Targets};

#[cfg(test)]
mod tests;
