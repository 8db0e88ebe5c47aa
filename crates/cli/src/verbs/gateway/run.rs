//! The gateway of an account as a process. It talks to the owner with its own token, which permits that account only. If the owner ends,
//! it is started again: a gateway is a client, too.

use std::sync::Arc;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::{Random as _, SystemRandom};
use retake_gateway::{Clock, Limits, Options, RuntimeError};
use retake_server::socket_of;
use retake_wire::chat::GatewayConnect;
use retake_wire::{Client, HttpClient, OwnerAddress, ProblemCode, ProblemKind, Request};

use super::connect;
use crate::accounts::Account;
use crate::context::Context;
use crate::error::{Failure, Result, hinted};

/// Runs until Ctrl-C.
pub(super) async fn run(cx: &mut Context<'_>, name: &str, account: &Account) -> Result {
    let adapter = connect(name, account)?;
    let address = OwnerAddress::Socket {
        path: socket_of(&cx.paths.data_dir),
        token: Some(account.owner_token.clone()),
    };
    let client: Arc<dyn Client> = Arc::new(HttpClient::new(address)?);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let options = Options {
        account: name.to_owned(),
        holder: format!("process {} on {}", std::process::id(), host.trim()),
        clock: Arc::new(WallClock),
        seed: SystemRandom::default().uuid_v7(1).as_u64_pair().1,
        limits: Limits::default(),
    };
    // The first request starts the owner if there is none, and this client keeps it.
    cx.call(Request::Status).await?;
    take_over(&*client, &options).await;
    cx.aside(&format!("the gateway of {name} runs; Ctrl-C ends it"))?;
    cx.ui.listen()?;
    let keeps = async {
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            // Starts another owner, if this one has ended.
            drop(cx.client.call(Request::Work).await);
        }
    };
    let stop = async {
        tokio::select! {
            () = cx.ui.interrupted() => {}
            never = keeps => never,
        }
    };
    match retake_gateway::run(adapter, client, options, stop).await {
        Ok(()) => Ok(()),
        Err(error) => Err(ended(&error)),
    }
}

/// Takes the account from a gateway of this machine whose process has ended: its lease would last for a minute.
async fn take_over(client: &dyn Client, options: &Options) {
    let connect = |replaces| {
        let (account, holder) = (options.account.clone(), options.holder.clone());
        Request::GatewayConnect(GatewayConnect { account, holder, replaces })
    };
    if let Err(problem) = client.call(connect(None)).await
        && let Some(holder) = problem.fields.get("holder").and_then(|holder| holder.as_str())
        && has_ended(holder, &options.holder)
    {
        // If this fails, the gateway says why.
        drop(client.call(connect(Some(holder.to_owned()))).await);
    }
}

/// Whether the process of a holder, `process PID on HOST`, was one of this machine and has ended.
fn has_ended(holder: &str, own: &str) -> bool {
    let of = |text: &str| {
        let (pid, host) = text.strip_prefix("process ")?.split_once(" on ")?;
        Some((pid.parse::<u32>().ok()?, host.to_owned()))
    };
    match (of(holder), of(own)) {
        (Some((pid, host)), Some((_, here))) => {
            host == here && !std::path::Path::new("/proc").join(pid.to_string()).exists()
        }
        _ => false,
    }
}

fn ended(error: &RuntimeError) -> Failure {
    let hint = match error {
        RuntimeError::BadToken => "remove the account, and add it with a new token",
        RuntimeError::Occupied => "stop the other program that uses this account, and run the gateway again",
        RuntimeError::Held { .. } => "stop the other gateway, or wait a minute if it has ended",
        RuntimeError::Owner(ProblemCode::OwnerVersion) => {
            "start the agent and the gateway with the same version of retake: `retake stop`, then run it again"
        }
        RuntimeError::Owner(_) => "remove the account, and add it again: its token may be revoked",
    };
    let what = match error {
        RuntimeError::Held { holder } => {
            format!("another gateway has the account: {}", crate::term::safe::line(holder))
        }
        other => other.to_string(),
    };
    hinted(ProblemKind::Refused, "gateway", what, hint).into()
}

struct WallClock;

impl Clock for WallClock {
    fn now_ms(&self) -> i64 {
        SystemClock.now_ms()
    }
}
