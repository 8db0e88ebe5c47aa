//! `retake mcp`: the MCP servers that offer tools to the agent. Must never print the value of a variable or a header.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use retake_wire::reply::Written;
use retake_wire::{McpAdd, McpAllow, McpOf, McpRemove, McpState, McpWay, Reply, Request};

use super::RunVerb;
use super::agreement::{confirm, needs_person};
use crate::context::Context;
use crate::error::{Result, expect_reply, usage};
use crate::term::safe;
use retake_tui::render;

/// Add, list and remove MCP servers, which offer more tools
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    what: McpCommand,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum McpCommand {
    Add(Add),
    /// List the servers of this folder with their state; this starts them
    List,
    /// List the tools of the servers; this starts them
    Tools(Tools),
    /// Remove a server from your file
    Remove(Remove),
    Allow(Allow),
}

/// Add a server to your file: a command to start, or an address
///
/// ${VAR} means an environment variable, in every value, so that the file does not have to contain keys.
#[derive(Debug, Args)]
struct Add {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
    /// An additional environment variable for the command
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,
    /// The address of a server with streamable HTTP
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A header for every request to the address
    #[arg(long, value_name = "NAME: VALUE", conflicts_with = "command")]
    header: Vec<String>,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "url")]
    command: Vec<String>,
}

// Whose tools.
#[derive(Debug, Args)]
struct Tools {
    /// Only the tools of this server
    #[arg(value_name = "NAME")]
    server: Option<String>,
}

// The server to remove.
#[derive(Debug, Args)]
struct Remove {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
}

/// Allow a server of the file .mcp.json in this folder to start
///
/// Retake starts no server of a folder without this. The permission is valid until the entry of the server changes.
#[derive(Debug, Args)]
struct Allow {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
    /// Do not ask; required if there is no terminal
    #[arg(short, long)]
    yes: bool,
}

impl RunVerb for Mcp {
    const EXAMPLES: &'static [&'static str] = &[
        "retake mcp add time -- uvx mcp-server-time",
        "retake mcp list",
        "retake mcp tools time",
        "retake mcp remove time",
        "retake mcp allow time --yes",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            McpCommand::Add(add) => {
                let name = add.name.clone();
                let request = Request::McpAdd(McpAdd { name: name.clone(), way: add.way()? });
                written(cx, request, &format!("added {name} to")).await
            }
            McpCommand::List => cx.show(Request::McpList(of(cx, None))).await,
            McpCommand::Tools(tools) => cx.show(Request::McpTools(of(cx, tools.server))).await,
            McpCommand::Remove(Remove { name }) => {
                let said = format!("removed {name} from");
                written(cx, Request::McpRemove(McpRemove { name }), &said).await
            }
            McpCommand::Allow(allow) => allow.run(cx).await,
        }
    }
}

/// Sends a request that changes the file, and prints the result.
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
                "the server needs a command or an address",
                "put a command after `--`, or give an address with --url",
            )),
        }
    }
}

/// Parses names and values. An error never repeats the text, because it may be a secret.
fn pairs(texts: &[String], between: char, option: &str, form: &str) -> Result<BTreeMap<String, String>> {
    // Blanks belong to the value of a variable, not of a header.
    let own = |value: &str| if between == ':' { value.trim().to_owned() } else { value.to_owned() };
    let pair = |text: &String| match text.split_once(between) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), own(value))),
        _ => Err(usage(format!("the value of {option} is invalid"), format!("write it as {form}"))),
    };
    texts.iter().map(pair).collect()
}

impl Allow {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let mut entry = None;
        if !self.yes {
            let why = "the server of a project can run a program or receive data of the agent";
            needs_person(cx, why, "mcp list")?;
            let list = Request::McpList(of(cx, Some(self.name.clone())));
            let servers = expect_reply!(cx.call(list).await?, McpServers);
            // The permission is only for the entry that was shown.
            entry = servers.servers.first().map(|server| server.entry.clone());
            if servers.servers.iter().any(|server| server.state == McpState::NeedsApproval) {
                cx.ui.print_text(&render::mcp::servers(&cx.ui.look(), &servers))?;
                cx.aside(
                    "a program runs in the sandbox for commands, with network, if this system has one; the permission is valid until the entry changes",
                )?;
                confirm(cx, "Allow it to start?")?;
            }
        }
        let folder = cx.folder.to_owned();
        cx.show(Request::McpAllow(McpAllow { folder, name: self.name, entry })).await
    }
}
