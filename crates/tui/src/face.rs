//! The full-screen face. Everything that can happen is a `Msg`; the app decides in memory what becomes of it and
//! asks the world by `Act`s; the driver carries these out. Must never block on what it draws, and must never act on
//! anything that the person did not do.

mod app;
mod burst;
mod choose;
mod clusters;
mod composer;
mod doc;
mod driver;
mod fork;
mod help;
mod jobs;
mod keymap;
mod list;
mod msg;
mod ops;
mod page;
mod pane;
mod plan;
mod preview;
mod rewind;
mod rows;
mod scroll;
mod settings;
mod sheet;
mod stage;
mod talk;
#[cfg(test)]
pub(crate) mod testing;
mod theme;
mod tree;
mod view;
mod words;

pub use app::AtWork;
pub use app::Start;
pub use driver::{
    Beginning, FaceError, Found, Left, World, goes_on, leave, restore, restore_after_panic, stop, talk,
};
pub use keymap::{Command, Context, Key, KeyError, Keymap};
pub use settings::{Configured, Settings};
pub use stage::Stage;
pub use theme::{Background, Colours, Named, PAINTS, Paint, Paints, Theme, Themes};
