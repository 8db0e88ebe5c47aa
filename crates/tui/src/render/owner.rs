//! The state of the owner, for people.

use retake_wire::english;
use retake_wire::reply::{GatewayState, GatewayTrouble, Status};

use super::words;
use crate::text::Look;
use crate::text::{safe, time};

/// The owner of a data directory.
pub fn status(look: &Look, status: &Status) -> String {
    let Status { version, pid, data_dir, address, since_ms, running, following, .. } = status;
    let mut text = format!("process {pid} (retake {}) owns {}\n", safe::line(version), safe::line(data_dir));
    text.push_str(&format!("started {}\n", time::relative(look.now_ms, *since_ms)));
    if let Some(address) = address {
        text.push_str(&format!("listening at http://{}\n", safe::line(address)));
    }
    match running.as_slice() {
        [] => text.push_str("nothing runs\n"),
        some => {
            let ids = some.iter().map(|id| safe::line(id)).collect::<Vec<_>>().join(", ");
            text.push_str(&format!(
                "something runs in {}: {ids}\n",
                words::count(some.len() as u64, "conversation")
            ));
        }
    }
    if *following > 0 {
        text.push_str(&format!("subscribers: {}\n", words::count(*following, "client")));
    }
    for gateway in &status.beside.gateways {
        text.push_str(&format!("gateway of {}: {}\n", safe::line(&gateway.account), state(look, gateway)));
    }
    text.push_str(&stays(look, status));
    text
}

/// Where the gateway of an account runs, or what keeps it from its work.
pub fn state(look: &Look, gateway: &GatewayState) -> String {
    let GatewayState { holder, is_here, trouble, again_ms, .. } = gateway;
    let Some(trouble) = trouble else {
        return match holder {
            _ if *is_here => "runs in the owner".to_owned(),
            Some(holder) => format!("runs in {}", safe::line(holder)),
            None => "does not run".to_owned(),
        };
    };
    let mut text = self::trouble(trouble);
    if let Some(again_ms) = again_ms {
        let left = again_ms.saturating_sub(look.now_ms).max(0) / 1000;
        text.push_str(&format!(" (tried again in {left} s)"));
    }
    text
}

/// What keeps a gateway from its work, and what to do.
pub fn trouble(trouble: &GatewayTrouble) -> String {
    let what = safe::line(&english::gateway_trouble(trouble)).to_string();
    match english::gateway_remedy(trouble) {
        Some(remedy) => format!("{what}: {remedy}"),
        None => what,
    }
}

/// Why it stays, and until when.
fn stays(look: &Look, status: &Status) -> String {
    let Some(idle_s) = status.idle.idle_s else { return "it stays until `retake stop` ends it\n".to_owned() };
    let mut reasons = Vec::new();
    if status.clients > 0 {
        reasons.push(words::count(status.clients, "client"));
    }
    if !status.running.is_empty() {
        reasons.push("what runs".to_owned());
    }
    if status.beside.jobs > 0 {
        reasons.push(words::count(status.beside.jobs, "background job"));
    }
    match (status.idle.ends_ms, reasons.is_empty()) {
        (Some(ends_ms), true) => {
            let left = ends_ms.saturating_sub(look.now_ms).max(0) / 1000;
            format!("nothing to do: it ends by itself in {left} s\n")
        }
        (_, true) => "nothing to do: it ends by itself\n".to_owned(),
        _ => format!("it stays for {}, and {idle_s} s longer\n", reasons.join(", ")),
    }
}
