//! `retake config`: the settings file. Must never open the data.

use std::path::Path;

use clap::{Args, Subcommand};
use retake_wire::reply::Status;
use retake_wire::{ProblemKind, Reply, Request};

use crate::attach::is_busy;
use crate::config::{ReadBy, read_by};
use crate::error::{Failure, Result};
use crate::owner::{Owner, Places, Setting};
use crate::run::notice_to;
use crate::term::safe;
use crate::ui::Ui;
use crate::verbs::stop::Stop;

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
    /// Say all that is wrong in the file and in the files of themes beside it; exit code 2 where something is
    Check,
    /// Where the file is
    Path,
}

impl Config {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let what = self.what.unwrap_or(What::List);
        let lists = matches!(what, What::List);
        let read_by = match &what {
            What::Set { key, .. } | What::Unset { key } => read_by(key),
            _ => None,
        };
        let is_of_face = read_by == Some(ReadBy::Face);
        let (name, text) = match what {
            What::Check => {
                let default =
                    owner.settings(places, &Setting::Get("model.default".to_owned())).unwrap_or_default();
                return check(&owner.wrong(places)?, &default, places, ui, json);
            }
            What::Path => ("path", places.config_file.display().to_string()),
            What::List => ("settings", owner.settings(places, &Setting::List)?),
            What::Get { key } => ("value", owner.settings(places, &Setting::Get(key))?),
            What::Set { key, value } => ("set", owner.settings(places, &Setting::Set(key, value))?),
            What::Unset { key } => ("unset", owner.settings(places, &Setting::Unset(key))?),
        };
        // The setting is written. Where no owner answers, none has to be told of.
        let concerns = match read_by {
            Some(read_by) if !is_of_face => running(owner, places).await.map(|status| (read_by, status)),
            _ => None,
        };
        if json {
            let mut document = serde_json::json!({ name: text });
            if is_of_face {
                document["restart"] = "faces".into();
            }
            if let Some((ReadBy::StartingOwner, status)) =
                concerns.filter(|(_, status)| reads(status, places) && !makes_way(status))
            {
                document["restart"] = serde_json::json!({ "pid": status.pid, "serves": status.serves });
            }
            return Ok(ui.print(&format!("{document}\n"))?);
        }
        let text = safe::block(text.trim_end_matches('\n'));
        if !text.is_empty() {
            ui.page(&format!("{text}\n"))?;
        }
        if lists {
            for wrong in owner.wrong(places)? {
                notice_to(ui, &wrong)?;
            }
        }
        if is_of_face {
            let keeps = "A `retake` that is open in a terminal keeps the settings that it began with.";
            return notice_to(ui, &format!("{keeps} The next one that starts uses it."));
        }
        match concerns {
            Some((_, status)) if !reads(&status, places) => {
                let file = status.config_file.unwrap_or_default();
                let what = format!("The running owner (process {}) reads another settings file", status.pid);
                notice_to(ui, &format!("{what}: {file}"))
            }
            Some((ReadBy::RunningOwner, status)) => {
                notice_to(ui, &format!("The running owner (process {}) uses it from now on.", status.pid))
            }
            Some((_, status)) => restart(&status, owner, places, ui).await,
            None => Ok(()),
        }
    }
}

/// The owner that runs.
async fn running(owner: &dyn Owner, places: &Places) -> Option<Status> {
    let found = owner.find(places).await.ok()??;
    match found.client.call(Request::Status).await {
        Ok(Reply::Status(status)) => Some(status),
        _ => None,
    }
}

/// Whether an owner reads this settings file. One that does not say which one it reads is taken to.
fn reads(status: &Status, places: &Places) -> bool {
    let Some(own) = status.config_file.as_deref().map(Path::new) else { return true };
    let there = |file: &Path| file.canonicalize().ok();
    own == places.config_file || there(own).is_some_and(|own| Some(own) == there(&places.config_file))
}

/// Whether the next command, which finds an owner with other settings than the file's, takes its place.
fn makes_way(status: &Status) -> bool {
    status.idle_s.is_some() && !is_busy(status)
}

/// Says that a running owner keeps the settings that it began with, and offers to stop it; one with nothing to do makes way by itself.
async fn restart(status: &Status, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui) -> Result {
    let keeps = format!("The running owner (process {}) keeps the settings that it began with.", status.pid);
    if makes_way(status) {
        let what = format!("The running owner (process {}) has nothing to do", status.pid);
        return notice_to(ui, &format!("{what}: the next command starts another one, which uses it."));
    }
    notice_to(ui, &format!("{keeps} Stop it with `retake stop`; whatever starts next reads the new ones."))?;
    if ui.input_is_terminal() && ui.confirm("Stop it now?")? {
        return Stop {}.run(owner, places, ui, false).await;
    }
    Ok(())
}

/// Says all that is wrong.
fn check(wrong: &[String], default: &str, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
    let file = places.config_file.display().to_string();
    // Only the endpoint knows which models it has, and a check asks nobody.
    let unchecked = default.split_once('/').map(|(endpoint, model)| {
        format!("not checked: whether {endpoint} has the model {model}, which only {endpoint} can say")
    });
    let text = match wrong {
        _ if json => {
            let mut document = serde_json::json!({ "wrong": wrong });
            if let Some(unchecked) = &unchecked {
                document["unchecked"] = serde_json::json!([unchecked]);
            }
            format!("{document}\n")
        }
        [] => {
            let unchecked = unchecked.map(|line| format!("{}\n", safe::line(&line))).unwrap_or_default();
            format!("nothing is wrong in {}\n{unchecked}", safe::line(&file))
        }
        wrong => wrong.iter().map(|wrong| format!("{}\n", safe::line(wrong))).collect(),
    };
    ui.print(&text)?;
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::Said(ProblemKind::Usage.exit_code()))
}
