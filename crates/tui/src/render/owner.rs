//! The state of the owner, for people.

use retake_wire::reply::Status;

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
    text.push_str(&stays(look, status));
    text
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
    if status.jobs > 0 {
        reasons.push(words::count(status.jobs, "background job"));
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
