//! `retake config`: the settings file. Must never open the data.

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::owner::{Owner, Places, Setting};
use crate::term::safe;
use crate::ui::Ui;

/// List, read or change settings
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Every setting, with what it is for (this is what `retake config` alone does)
    List,
    /// The value of a setting
    Get {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Give a setting another value
    Set {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
        /// The value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Let the default hold again
    Unset {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Where the file is
    Path,
}

impl Config {
    /// Does it.
    pub(crate) fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let (name, text) = match self.what.unwrap_or(What::List) {
            What::Path => ("path", places.config_file.display().to_string()),
            What::List => ("settings", owner.settings(places, &Setting::List)?),
            What::Get { key } => ("value", owner.settings(places, &Setting::Get(key))?),
            What::Set { key, value } => ("set", owner.settings(places, &Setting::Set(key, value))?),
            What::Unset { key } => ("unset", owner.settings(places, &Setting::Unset(key))?),
        };
        if json {
            let document = serde_json::json!({ name: text });
            return Ok(ui.print(&format!("{document}\n"))?);
        }
        let text = safe::block(text.trim_end_matches('\n'));
        if text.is_empty() {
            return Ok(());
        }
        Ok(ui.page(&format!("{text}\n"))?)
    }
}
