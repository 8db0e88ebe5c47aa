//! The seam to whoever owns the data: how the program reaches it, without knowing what it is made of.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use retake_wire::{Client, Problem};

/// Where things are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The settings file.
    pub config_file: PathBuf,
}

/// What to do with the settings file. The answer is a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Every setting, with what it is for.
    List,
    /// The value of one.
    Get(String),
    /// Another value for one.
    Set(String, String),
    /// The default for one again.
    Unset(String),
}

/// Opens the data.
#[async_trait]
pub trait Owner: Send + Sync {
    /// The client of the data directory. Only called by what needs it.
    async fn open(&self, places: &Places) -> Result<Arc<dyn Client>, Problem>;

    /// Reads or changes the settings file.
    fn settings(&self, places: &Places, what: &Setting) -> Result<String, Box<Problem>>;
}
