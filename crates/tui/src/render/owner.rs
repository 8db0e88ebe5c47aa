//! How the owner is, for people.

use retake_wire::reply::Status;

use super::words;
use crate::text::Look;
use crate::text::{safe, time};

/// The owner of a data directory.
pub fn status(look: &Look, status: &Status) -> String {
    let Status { version, pid, data_dir, address, since_ms, serves, running, following, .. } = status;
    let what = if *serves { "serves" } else { "owns, as long as its command runs," };
    let mut text =
        format!("process {pid} (retake {}) {what} {}\n", safe::line(version), safe::line(data_dir));
    text.push_str(&format!("since {}\n", time::relative(look.now_ms, *since_ms)));
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
    text.push_str(&format!("followed by {}\n", words::count(*following, "client")));
    text
}
