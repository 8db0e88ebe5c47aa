//! `retake serve`: runs the owner in the foreground, for other programs.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use clap::Args;
use retake_tui::render;
use retake_wire::Reply;
use retake_wire::reply::{GatewayState, GatewayTrouble};

use super::{RunVerb, gateway};
use crate::accounts;
use crate::context::{Context, document, notice_to};
use crate::error::{Result, file};
use crate::owner::{ServedAccounts, Serving};
use crate::term::safe;

/// Own the conversations until you stop it, and let other commands and programs work on them
///
/// Every other command reaches this process through the socket of the data directory, which only you can open. With --listen it also
/// answers HTTP. Each request must carry the token from the file `token` of the data directory; commands of retake send it
/// themselves. GET /openapi.json describes the API. Ctrl-C or `retake stop` ends it: runs have ten seconds to finish, and what they did
/// until then is kept.
///
/// The gateways of all accounts of chats run in it, too (`retake gateway add` adds one). An account that is added or removed later is
/// noticed.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Also listen on this loopback address, such as 127.0.0.1:4117; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Run the gateway of this account only; can be given several times. Default: those of all accounts
    #[arg(long, value_name = "ACCOUNT", conflicts_with = "no_gateways")]
    gateway: Vec<String>,
    /// Run no gateways
    #[arg(long)]
    no_gateways: bool,
}

impl RunVerb for Serve {
    const EXAMPLES: &'static [&'static str] =
        &["retake serve", "retake serve --listen 127.0.0.1:4117", "retake serve --no-gateways"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let (names, wanted) = self.accounts(cx)?;
        let Serving { status, notices, mut gateways, mut over } =
            cx.owner.serve(cx.paths, self.listen, wanted).await?;
        for notice in &notices {
            notice_to(cx.ui, notice)?;
        }
        if cx.json {
            cx.print(&document(&Reply::Status(status)))?;
        } else {
            let dir = safe::line(&status.data_dir);
            cx.print(&format!("serving {dir} (process {})\n", status.pid))?;
            if let Some(address) = &status.address {
                cx.print(&format!("listening at http://{address}; the token is in {dir}/token\n"))?;
            }
            if !names.is_empty() {
                cx.print(&format!("gateways run here: {}\n", safe::line(&names.join(", "))))?;
            }
            cx.print("Ctrl-C or `retake stop` ends it\n")?;
        }
        let mut known = Troubles::new();
        loop {
            tokio::select! {
                ended = &mut over => break ended?,
                Ok(()) = gateways.changed() => {
                    let now = gateways.borrow_and_update().clone();
                    for line in news(&mut known, &now) {
                        // Without a reader of its output, the owner goes on.
                        drop(cx.aside(&line));
                    }
                }
            }
        }
        if cx.json { Ok(()) } else { cx.print("stopped\n") }
    }
}

impl Serve {
    /// The accounts that are there now, and which ones have their gateways here.
    fn accounts(&self, cx: &Context<'_>) -> Result<(Vec<String>, ServedAccounts)> {
        if self.no_gateways {
            return Ok((Vec::new(), ServedAccounts::Named(Vec::new())));
        }
        if self.gateway.is_empty() {
            let names = accounts::names(&cx.paths.config_file);
            let names = names.map_err(|error| file("can't list the accounts", &error))?;
            return Ok((names, ServedAccounts::All));
        }
        for name in &self.gateway {
            gateway::is_there(cx, name)?;
        }
        Ok((self.gateway.clone(), ServedAccounts::Named(self.gateway.clone())))
    }
}

/// What keeps gateways from their work, by their accounts.
type Troubles = BTreeMap<String, GatewayTrouble>;

/// What is new about gateways, a line each: every trouble once, and its end. A gateway that is just tried again is no news.
fn news(known: &mut Troubles, now: &BTreeMap<String, GatewayState>) -> Vec<String> {
    let troubles: Troubles =
        now.iter().filter_map(|(account, state)| Some((account.clone(), state.trouble.clone()?))).collect();
    let mut lines = Vec::new();
    for (account, trouble) in &troubles {
        if known.get(account) != Some(trouble) {
            lines.push(format!("gateway of {}: {}", safe::line(account), render::owner::trouble(trouble)));
        }
    }
    for account in known.keys().filter(|account| !troubles.contains_key(*account)) {
        // One whose account was removed is no news.
        if now.contains_key(account) {
            lines.push(format!("gateway of {}: works again", safe::line(account)));
        }
    }
    *known = troubles;
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_of_a_gateway_is_told_once_and_so_is_its_end() {
        let state = |trouble: Option<GatewayTrouble>, again_ms| {
            let state = GatewayState { is_here: true, trouble, again_ms, ..GatewayState::default() };
            BTreeMap::from([("matrix".to_owned(), state)])
        };
        let mut known = Troubles::new();
        let mut told = |now: &BTreeMap<String, GatewayState>| news(&mut known, now).concat();
        assert_eq!(told(&state(None, None)), "", "a gateway that works is no news");
        let away = Some(GatewayTrouble::Unreachable);
        assert_eq!(told(&state(away.clone(), None)), "gateway of matrix: the platform can't be reached");
        assert_eq!(told(&state(away, Some(7))), "", "it is tried again");
        let bad = told(&state(Some(GatewayTrouble::BadToken), None));
        assert!(bad.contains("does not accept the token: remove the account"), "{bad}");
        assert_eq!(told(&state(None, None)), "gateway of matrix: works again");
        assert_eq!(told(&state(None, None)), "");
        assert_eq!(told(&state(Some(GatewayTrouble::Refused), None)).lines().count(), 1);
        assert_eq!(told(&BTreeMap::new()), "", "the account was removed");
    }
}
