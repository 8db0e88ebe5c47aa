//! The full-screen program. Every input is a `Msg`; the app decides in memory and requests side effects as `Act`s;
//! the driver carries them out. Must never block while drawing, and must never do anything that the person did not
//! request.

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
pub mod slash;
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
pub use theme::{Background, Colours, PAINTS, Paint, PaintRow, Paints, Theme, Themes};
