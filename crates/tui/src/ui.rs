//! The full-screen program. Everything that can happen is a `Msg`; the app decides in memory what becomes of it and
//! asks the world by `Act`s; the driver carries these out. Must never block on what it draws, and must never act on
//! anything that the person did not do.

mod app;
mod choose;
mod clusters;
mod composer;
mod doc;
mod driver;
mod fork;
mod headless;
mod help;
mod jobs;
mod keymap;
mod letter_keys;
mod list;
mod msg;
mod ops;
mod page;
mod pane;
mod pane_frame;
mod plan;
mod preview;
mod rewind;
mod rows;
mod scroll;
mod settings;
mod talk;
#[cfg(test)]
pub(crate) mod testing;
mod theme;
mod tree;
mod view;
mod words;

pub use app::RunningRun;
pub use app::Start;
pub use driver::{
    Connection, Exit, Launch, UiError, World, quit, restore, restore_after_panic, resume, run, suspend,
};
pub use headless::Headless;
pub use keymap::{Command, Context, Key, KeyError, Keymap};
pub use settings::{Configured, Settings};
pub use theme::{Background, Colours, Named, PAINTS, Paint, Paints, Theme, Themes};
