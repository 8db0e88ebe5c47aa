//! `retake gateway`: accounts of chat platforms, and the gateway that connects one with the conversations. Must never print a token.

mod run;
mod setup;

use clap::{Args, Subcommand};
use retake_gateway::platforms::PLATFORMS;
use retake_wire::reply::GatewayState;
use retake_wire::{ProblemKind, Reply, Request, TokenTarget};

use super::RunVerb;
use crate::accounts::{self, Account};
use crate::context::Context;
use crate::error::{Failure, Result, file, hinted};
use crate::gateways::one;
use crate::owner::FoundOwner;
use crate::term::safe;
use retake_tui::render;

/// Connect the agent with chats: Matrix, Telegram, Discord, Slack
///
/// `add` asks for what a platform needs, and tests it. `retake serve` runs the gateways of all accounts; `run` runs one as a process of
/// its own, until you stop it. A rewind, in the chat or here, takes the agent's posts back as well.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    what: GatewayCommand,
}

/// What to do with accounts.
#[derive(Debug, Subcommand)]
enum GatewayCommand {
    Add(Add),
    /// List the accounts: which ones have a gateway, and where it runs
    List,
    /// Test an account: is the token accepted, and what is not switched on yet
    Test(Named),
    /// Remove an account: its file here, and its token of the agent
    Remove(Named),
    /// Run the gateway of an account, until Ctrl-C
    Run(Named),
}

/// Set an account up: asks for what the platform needs, and tests it
///
/// Without a terminal, the answers are the lines of standard input.
#[derive(Debug, Args)]
struct Add {
    /// The platform: matrix, telegram, discord or slack
    #[arg(value_name = "PLATFORM", value_parser = clap::builder::PossibleValuesParser::new(PLATFORMS.iter().map(|it| it.name)))]
    platform: String,
    /// The name of the account here. Default: that of the platform
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

// An account by its name. No doc comment: the help shows those of the commands.
#[derive(Debug, Args)]
struct Named {
    /// The name of the account
    #[arg(value_name = "ACCOUNT")]
    account: String,
}

impl RunVerb for Gateway {
    const EXAMPLES: &'static [&'static str] = &[
        "retake gateway add matrix",
        "retake gateway list",
        "retake gateway test matrix",
        "retake gateway remove matrix",
        "retake gateway run matrix",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            GatewayCommand::Add(Add { platform, name }) => {
                let name = name.unwrap_or_else(|| platform.clone());
                setup::add(cx, &platform, &name).await
            }
            GatewayCommand::List => list(cx).await,
            GatewayCommand::Test(Named { account }) => {
                let known = read(cx, &account)?;
                setup::test(cx, &account, &known).await
            }
            GatewayCommand::Remove(Named { account }) => remove(cx, &account).await,
            GatewayCommand::Run(Named { account }) => {
                let known = read(cx, &account)?;
                run::run(cx, &account, &known).await
            }
        }
    }
}

/// Checks that there is an account with this name.
pub(super) fn is_there(cx: &Context<'_>, name: &str) -> Result {
    match accounts::path(&cx.paths.config_file, name).exists() {
        true => Ok(()),
        false => read(cx, name).map(drop),
    }
}

/// The account with this name.
fn read(cx: &Context<'_>, name: &str) -> Result<Account> {
    accounts::read(&cx.paths.config_file, name).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let what = format!("there is no account {name:?}");
            let hint = "`retake gateway list` lists the accounts, `retake gateway add` sets one up";
            hinted(ProblemKind::NotFound, "no_account", what, hint).into()
        }
        _ => file(format!("can't read {}", accounts::path(&cx.paths.config_file, name).display()), &error),
    })
}

async fn list(cx: &mut Context<'_>) -> Result {
    let folder = cx.paths.config_file.clone();
    let names = accounts::names(&folder).map_err(|error| file("can't list the accounts", &error))?;
    let running = if names.is_empty() { Vec::new() } else { running(cx).await? };
    let state = |name: &str| running.iter().find(|state| state.account == name);
    if cx.json {
        let all: Vec<_> = names
            .iter()
            .map(|name| {
                let platform =
                    accounts::read(&folder, name).map(|account| account.platform).unwrap_or_default();
                serde_json::json!({ "account": name, "platform": platform, "gateway": state(name) })
            })
            .collect();
        return cx.print(&crate::context::document(&serde_json::json!({ "accounts": all })));
    }
    if names.is_empty() {
        return cx.print("there are no accounts; `retake gateway add matrix` sets one up\n");
    }
    for name in names {
        let what = match accounts::read(&folder, &name) {
            Ok(account) => account.platform,
            Err(error) => format!("can't be used: {error}"),
        };
        let none = GatewayState::default();
        let state = render::owner::state(&cx.ui.look(), state(&name).unwrap_or(&none));
        cx.print(&format!("{}  {}  {state}\n", safe::line(&name), safe::line(&what)))?;
    }
    Ok(())
}

/// The gateways that the owner knows. Without an owner there is none: a gateway is a client, and keeps it.
async fn running(cx: &Context<'_>) -> Result<Vec<GatewayState>> {
    let Some(FoundOwner { client, .. }) = cx.owner.find(cx.paths).await? else { return Ok(Vec::new()) };
    match client.call(Request::Status).await {
        Ok(Reply::Status(mut status)) => {
            one::forget_ended(&mut status.beside.gateways);
            Ok(status.beside.gateways)
        }
        // It has just ended.
        _ => Ok(Vec::new()),
    }
}

async fn remove(cx: &mut Context<'_>, name: &str) -> Result {
    // A file that can't be read can be removed, too.
    is_there(cx, name)?;
    // Its gateway ends with its token. The file goes last: until then, the command can be repeated.
    let tokens = cx.call(Request::TokenList).await?;
    if let retake_wire::Reply::Tokens(tokens) = tokens {
        for token in tokens.tokens {
            if token.is_valid && token.gateway.as_deref() == Some(name) {
                cx.call(Request::TokenRevoke(TokenTarget { name: token.name })).await?;
            }
        }
    }
    accounts::remove(&cx.paths.config_file, name)
        .map_err(|error| file("can't remove the account", &error))?;
    if cx.json {
        return cx.print(&crate::context::document(&serde_json::json!({ "removed": name })));
    }
    cx.print(&format!("removed {name}; what it has posted stays in the chats\n"))
}

/// The adapter of an account.
fn connect(name: &str, account: &Account) -> Result<std::sync::Arc<dyn retake_gateway::Adapter>> {
    one::adapter(name, account).map_err(|_| -> Failure {
        let what = format!("the file of the account {name:?} lacks something");
        hinted(ProblemKind::Usage, "bad_account", what, "remove the account, and add it again").into()
    })
}
