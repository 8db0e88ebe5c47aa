//! `retake config`: the settings file. Must never open the data.

use std::path::Path;

use clap::{Args, Subcommand};
use retake_wire::reply::Status;
use retake_wire::{Problem, ProblemKind, Reply, Request};

use super::RunVerb;
use crate::connection::is_busy;
use crate::context::{Context, notice_to};
use crate::error::{Failure, Result};
use crate::owner::{Paths, Setting};
use crate::settings_file::{ReadBy, read_by};
use crate::term::safe;
use crate::verbs::stop::Stop;

/// List, read or change settings
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    what: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List every setting with its description; `retake config` alone does the same
    List,
    /// Print the value of a setting
    Get {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Change the value of a setting
    Set {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
        /// The value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Return a setting to its default
    Unset {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Report all errors in the settings file and in the theme files; exit code 2 if there are any
    Check,
    /// Print the path of the settings file
    Path,
}

impl RunVerb for Config {
    const EXAMPLES: &'static [&'static str] = &[
        "retake config list",
        "retake config get model.default",
        "retake config set model.default demo",
        "retake config unset model.default",
        "retake config check",
        "retake config path",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let what = self.what.unwrap_or(ConfigCommand::List);
        let lists = matches!(what, ConfigCommand::List);
        let read_by = match &what {
            ConfigCommand::Set { key, .. } | ConfigCommand::Unset { key } => read_by(key),
            _ => None,
        };
        let is_of_client = read_by == Some(ReadBy::Client);
        let (name, text) = match what {
            ConfigCommand::Check => {
                let default = cx
                    .owner
                    .settings(cx.paths, &Setting::Get("model.default".to_owned()))
                    .unwrap_or_default();
                return check(cx, &default);
            }
            ConfigCommand::Path => ("path", cx.paths.config_file.display().to_string()),
            ConfigCommand::List => ("settings", cx.owner.settings(cx.paths, &Setting::List)?),
            ConfigCommand::Get { key } => ("value", cx.owner.settings(cx.paths, &Setting::Get(key))?),
            ConfigCommand::Set { key, value } => {
                cx.owner.settings(cx.paths, &Setting::Set(key.clone(), value)).map_err(with_models)?;
                ("set", changed(cx, &key, false)?)
            }
            ConfigCommand::Unset { key } => {
                cx.owner.settings(cx.paths, &Setting::Unset(key.clone()))?;
                ("unset", changed(cx, &key, true)?)
            }
        };
        // The setting is written. Without an owner there is nothing to report.
        let concerns = match read_by {
            Some(read_by) if !is_of_client => running(cx).await.map(|status| (read_by, status)),
            _ => None,
        };
        if cx.json {
            let mut document = serde_json::json!({ name: text });
            if is_of_client {
                document["restart"] = "faces".into();
            }
            if let Some((ReadBy::StartingOwner, status)) =
                concerns.filter(|(_, status)| reads(status, cx.paths) && !will_be_replaced(status))
            {
                document["restart"] = serde_json::json!({ "pid": status.pid, "serves": status.serves });
            }
            return cx.print(&format!("{document}\n"));
        }
        let text = safe::block(text.trim_end_matches('\n'));
        if !text.is_empty() {
            cx.ui.page(&format!("{text}\n"))?;
        }
        if lists {
            for wrong in cx.owner.wrong(cx.paths)? {
                notice_to(cx.ui, &wrong)?;
            }
        }
        if is_of_client {
            let keeps = "A `retake` that is open in a terminal keeps its settings.";
            return notice_to(cx.ui, &format!("{keeps} The next one uses the new value."));
        }
        match concerns {
            Some((_, status)) if !reads(&status, cx.paths) => {
                let file = status.config_file.unwrap_or_default();
                let what = format!("The running owner (process {}) uses another settings file", status.pid);
                notice_to(cx.ui, &format!("{what}: {file}"))
            }
            Some((ReadBy::RunningOwner, status)) => notice_to(
                cx.ui,
                &format!("The running owner (process {}) uses the new value from now on.", status.pid),
            ),
            Some((_, status)) => restart(&status, cx).await,
            None => Ok(()),
        }
    }
}

/// A wrong default model: the form of a name, and where the names are.
fn with_models(mut problem: Box<Problem>) -> Box<Problem> {
    if problem.fields.get("key").is_some_and(|key| key == "model.default") {
        problem.hint = Some(
            "write PROVIDER/MODEL, such as anthropic/claude-sonnet-5; `retake models` lists them".into(),
        );
    }
    problem
}

/// A changed setting with its new value; for programs the value alone, as `config get` prints it.
fn changed(cx: &Context<'_>, key: &str, is_unset: bool) -> Result<String> {
    let value = cx.owner.settings(cx.paths, &Setting::Get(key.to_owned()))?;
    Ok(match (is_unset, value.is_empty()) {
        _ if cx.json => value,
        (false, _) => format!("{key} = {value}"),
        (true, false) => format!("{key} is unset; it is now {value}"),
        (true, true) => format!("{key} is unset; its built-in default is used"),
    })
}

/// The status of the running owner.
async fn running(cx: &Context<'_>) -> Option<Status> {
    let found = cx.owner.find(cx.paths).await.ok()??;
    match found.client.call(Request::Status).await {
        Ok(Reply::Status(status)) => Some(status),
        _ => None,
    }
}

/// Whether an owner reads this settings file. An owner of an older version does not report its file, and is assumed to.
fn reads(status: &Status, paths: &Paths) -> bool {
    let Some(own) = status.config_file.as_deref().map(Path::new) else { return true };
    let there = |file: &Path| file.canonicalize().ok();
    own == paths.config_file || there(own).is_some_and(|own| Some(own) == there(&paths.config_file))
}

/// Whether the next command replaces an owner whose settings differ from the file.
fn will_be_replaced(status: &Status) -> bool {
    status.idle.idle_s.is_some() && !is_busy(status)
}

/// Reports that a running owner keeps its settings, and offers to stop it. An idle owner is replaced by the next command.
async fn restart(status: &Status, cx: &mut Context<'_>) -> Result {
    let keeps = format!("The running owner (process {}) keeps its settings until it restarts.", status.pid);
    if will_be_replaced(status) {
        let what = format!("The running owner (process {}) has nothing to do", status.pid);
        return notice_to(
            cx.ui,
            &format!("{what}: the next command starts a new one with the new settings."),
        );
    }
    notice_to(
        cx.ui,
        &format!("{keeps} Stop it with `retake stop`; the next command starts one with the new settings."),
    )?;
    if cx.ui.input_is_terminal() && cx.ui.confirm("Stop it now?")? {
        return Stop {}.run(cx).await;
    }
    Ok(())
}

/// Reports all errors in the settings.
fn check(cx: &mut Context<'_>, default: &str) -> Result {
    let wrong = cx.owner.wrong(cx.paths)?;
    let file = cx.paths.config_file.display().to_string();
    // Only the endpoint knows its models, and a check sends no request.
    let unchecked = default
        .split_once('/')
        .map(|(endpoint, model)| format!("not checked: whether {endpoint} has the model {model}"));
    let text = match &*wrong {
        _ if cx.json => {
            let mut document = serde_json::json!({ "wrong": wrong });
            if let Some(unchecked) = &unchecked {
                document["unchecked"] = serde_json::json!([unchecked]);
            }
            format!("{document}\n")
        }
        [] => {
            let unchecked = unchecked.map(|line| format!("{}\n", safe::line(&line))).unwrap_or_default();
            format!("no errors in {}\n{unchecked}", safe::line(&file))
        }
        wrong => wrong.iter().map(|wrong| format!("{}\n", safe::line(wrong))).collect(),
    };
    cx.print(&text)?;
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::Reported(ProblemKind::Usage.exit_code()))
}
