//! The parts of one gateway, in a process of its own or in that of the owner.

use std::path::Path;
use std::sync::Arc;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::{Random as _, SystemRandom};
use retake_gateway::{Adapter, Clock, Failure, Health, Limits, Options, RuntimeError, platforms};
use retake_server::socket_of;
use retake_wire::chat::GatewayConnect;
use retake_wire::reply::{GatewayState, GatewayTrouble};
use retake_wire::{Client, OwnerAddress, Request};

use crate::accounts::Account;

/// The adapter of an account.
pub(crate) fn adapter(name: &str, account: &Account) -> Result<Arc<dyn Adapter>, Failure> {
    platforms::adapter(name, &account.platform, &account.values)
}

/// How the gateway reaches the owner: with its own token, which permits its account only.
pub(crate) fn address(data_dir: &Path, account: &Account) -> OwnerAddress {
    OwnerAddress::Socket { path: socket_of(data_dir), token: Some(account.owner_token.clone()) }
}

/// How a gateway of this process runs.
pub(crate) fn options(name: &str, health: Health) -> Options {
    Options {
        account: name.to_owned(),
        holder: holder(),
        clock: Arc::new(WallClock),
        seed: SystemRandom::default().uuid_v7(1).as_u64_pair().1,
        limits: Limits::default(),
        health,
    }
}

/// Takes the account from a gateway of this machine whose process has ended: its lease would last for a minute.
pub(crate) async fn take_over(client: &dyn Client, options: &Options) {
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

/// Forgets the gateways of processes that are known to have ended: their leases last for a minute.
pub(crate) fn forget_ended(gateways: &mut Vec<GatewayState>) {
    let own = holder();
    gateways.retain_mut(|gateway| {
        gateway.holder = gateway.holder.take().filter(|holder| !has_ended(holder, &own));
        gateway.is_here || gateway.holder.is_some()
    });
}

/// The name of a gateway in this process.
fn holder() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("process {} on {}", std::process::id(), host.trim())
}

/// Whether the process of a holder, `process PID on HOST`, was one of this machine and has ended.
fn has_ended(holder: &str, own: &str) -> bool {
    let of = |text: &str| {
        let (pid, host) = text.strip_prefix("process ")?.split_once(" on ")?;
        Some((pid.parse::<u32>().ok()?, host.to_owned()))
    };
    match (of(holder), of(own)) {
        (Some((pid, host)), Some((_, here))) => {
            host == here && !Path::new("/proc").join(pid.to_string()).exists()
        }
        _ => false,
    }
}

/// Why a gateway has ended.
pub(crate) fn trouble(error: &RuntimeError) -> GatewayTrouble {
    match error {
        RuntimeError::BadToken => GatewayTrouble::BadToken,
        RuntimeError::Occupied => GatewayTrouble::Occupied,
        RuntimeError::Held { holder } => GatewayTrouble::Held { holder: holder.clone() },
        RuntimeError::Owner(code) => GatewayTrouble::NotPermitted { problem: code.as_str().to_owned() },
    }
}

/// What a failure is that the gateway tries to get over. `None` if it is no trouble.
pub(crate) fn trouble_of(failure: &Failure) -> Option<GatewayTrouble> {
    match failure {
        Failure::Unreachable | Failure::Unknown => Some(GatewayTrouble::Unreachable),
        Failure::Occupied => Some(GatewayTrouble::Occupied),
        Failure::BadToken => Some(GatewayTrouble::BadToken),
        Failure::Refused(_) | Failure::Unreadable | Failure::NotFound => Some(GatewayTrouble::Refused),
        Failure::Wait { .. } | Failure::Closed => None,
    }
}

struct WallClock;

impl Clock for WallClock {
    fn now_ms(&self) -> i64 {
        SystemClock.now_ms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_of_this_machine_can_be_known_to_have_ended() {
        let own = format!("process {} on here", std::process::id());
        assert!(!has_ended(&own, &own), "it lives");
        // No process has such an id.
        assert!(has_ended("process 4294967294 on here", &own));
        assert!(!has_ended("process 4294967294 on there", &own));
        assert!(!has_ended("a gateway in a container", &own));
    }
}
