//! `retake mcp`: the MCP servers whose tools the agent has. Must never print the value of a variable or a header.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use retake_wire::reply::Written;
use retake_wire::{McpAdd, McpAllow, McpOf, McpRemove, McpState, McpWay, Reply, Request};

use crate::context::Context;
use crate::error::{Failure, INTERRUPTED, Result, unexpected, usage};
use crate::term::safe;
use retake_tui::render;

/// Add, list and remove MCP servers, which bring tools of their own
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    what: What,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum What {
    Add(Add),
    /// List the servers of this folder, and how they are; starts them
    List,
    /// List the tools that the servers offer; starts them
    Tools(Tools),
    /// Take a server out of your file
    Remove(Remove),
    Allow(Allow),
}

/// Add a server to your file: a command that is started, or an address
///
/// In every text, ${VAR} stands for a variable of the environment, so that a key need not stand in the file.
#[derive(Debug, Args)]
struct Add {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// A variable that the command is given besides
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,
    /// Its address, which speaks streamable HTTP
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A header of every request to the address
    #[arg(long, value_name = "NAME: VALUE", conflicts_with = "command")]
    header: Vec<String>,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "url")]
    command: Vec<String>,
}

// Whose tools.
#[derive(Debug, Args)]
struct Tools {
    /// Only those of this server
    #[arg(value_name = "NAME")]
    server: Option<String>,
}

// One that goes.
#[derive(Debug, Args)]
struct Remove {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
}

/// Let a server be started that the file .mcp.json of this folder names
///
/// Nothing that came with a folder is started without that. It holds until its entry changes.
#[derive(Debug, Args)]
struct Allow {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Do not ask; needed where nobody can be asked
    #[arg(short, long)]
    yes: bool,
}

impl Mcp {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            What::Add(add) => {
                let name = add.name.clone();
                let request = Request::McpAdd(McpAdd { name: name.clone(), way: add.way()? });
                written(cx, request, &format!("{name} is added to")).await
            }
            What::List => cx.show(Request::McpList(of(cx, None))).await,
            What::Tools(tools) => cx.show(Request::McpTools(of(cx, tools.server))).await,
            What::Remove(Remove { name }) => {
                let said = format!("{name} is taken out of");
                written(cx, Request::McpRemove(McpRemove { name }), &said).await
            }
            What::Allow(allow) => allow.run(cx).await,
        }
    }
}

/// Sends what changes the file, and says what came of it.
async fn written(cx: &mut Context<'_>, request: Request, what: &str) -> Result {
    match cx.call(request).await? {
        Reply::Written(Written { path, .. }) if !cx.json => {
            Ok(cx.ui.print(&format!("{} {}\n", safe::line(what), safe::line(&path)))?)
        }
        reply => cx.present(&reply),
    }
}

fn of(cx: &Context<'_>, server: Option<String>) -> McpOf {
    McpOf { folder: cx.folder.to_owned(), server }
}

impl Add {
    fn way(self) -> Result<McpWay> {
        let mut words = self.command.into_iter();
        match (self.url, words.next()) {
            (Some(url), _) => {
                Ok(McpWay::Url { url, headers: pairs(&self.header, ':', "--header", "NAME: VALUE")? })
            }
            (None, Some(command)) => {
                let env = pairs(&self.env, '=', "--env", "NAME=VALUE")?;
                Ok(McpWay::Command { command, args: words.collect(), env })
            }
            (None, None) => Err(usage(
                "there is neither a command nor an address",
                "put a command behind `--`, or name an address with --url",
            )),
        }
    }
}

/// Names and values. What was typed may be a secret, and is not repeated.
fn pairs(texts: &[String], between: char, option: &str, form: &str) -> Result<BTreeMap<String, String>> {
    // Blanks belong to a variable, not to a header.
    let own = |value: &str| if between == ':' { value.trim().to_owned() } else { value.to_owned() };
    let pair = |text: &String| match text.split_once(between) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), own(value))),
        _ => Err(usage(format!("what {option} is given makes no sense"), format!("give it as {form}"))),
    };
    texts.iter().map(pair).collect()
}

impl Allow {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let mut entry = None;
        if !self.yes {
            if !cx.can_ask() {
                return Err(usage(
                    "a project's server runs a program, or gets what the agent sends it, and nobody can be asked here",
                    "`retake mcp list` shows what would be started; then repeat this with --yes",
                ));
            }
            let reply = cx.call(Request::McpList(of(cx, Some(self.name.clone())))).await?;
            let Reply::McpServers(servers) = &reply else {
                return Err(unexpected(&reply));
            };
            // Whatever it was when it was looked at: leave is for nothing that nobody has seen.
            entry = servers.servers.first().map(|server| server.entry.clone());
            if servers.servers.iter().any(|server| server.state == McpState::NeedsLeave) {
                let text = render::mcp::servers(&cx.ui.look(), servers);
                cx.ui.print(&text)?;
                cx.aside(
                    "a program runs in the sandbox of commands with network, where this machine has one; leave holds until the entry changes",
                )?;
                if !cx.ui.confirm("Let it be started?")? {
                    cx.aside("nothing has changed")?;
                    return Err(Failure::Said(INTERRUPTED));
                }
            }
        }
        let folder = cx.folder.to_owned();
        cx.show(Request::McpAllow(McpAllow { folder, name: self.name, entry })).await
    }
}
