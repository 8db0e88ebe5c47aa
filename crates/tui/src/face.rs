//! The full-screen face. Everything that can happen is a [`msg::Msg`]; the app decides in memory what becomes of it and
//! asks the world by [`msg::Act`]s; the driver carries these out. Must never block on what it draws, and must never act on
//! anything that the person did not do.

mod keymap;
mod msg;
mod pane;
mod talk;
mod theme;
mod words;

pub use keymap::{Command, Context, Key, KeyError, Keymap};
pub use theme::{Background, Colours, Paint, Theme};
