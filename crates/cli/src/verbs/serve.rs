//! `retake serve`: runs the owner in the foreground, for other programs.

use std::net::SocketAddr;

use clap::Args;
use retake_wire::Reply;

use super::RunVerb;
use crate::context::{Context, document, notice_to};
use crate::error::Result;
use crate::term::safe;

/// Own the conversations until you stop it, and let other commands and programs work on them
///
/// Every other command reaches this process through the socket of the data directory, which only you can open. With --listen it also
/// answers HTTP. Each request must carry the token from the file `token` of the data directory; commands of retake send it
/// themselves. GET /openapi.json describes the API. Ctrl-C or `retake stop` ends it: runs have ten seconds to finish, and what they did
/// until then is kept.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Also listen on this loopback address, such as 127.0.0.1:4117; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl RunVerb for Serve {
    const EXAMPLES: &'static [&'static str] = &["retake serve", "retake serve --listen 127.0.0.1:4117"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let serving = cx.owner.serve(cx.paths, self.listen).await?;
        for notice in &serving.notices {
            notice_to(cx.ui, notice)?;
        }
        let status = serving.status;
        if cx.json {
            cx.print(&document(&Reply::Status(status)))?;
        } else {
            let dir = safe::line(&status.data_dir);
            cx.print(&format!("serving {dir} (process {})\n", status.pid))?;
            if let Some(address) = &status.address {
                cx.print(&format!("listening at http://{address}; the token is in {dir}/token\n"))?;
            }
            cx.print("Ctrl-C or `retake stop` ends it\n")?;
        }
        serving.over.await?;
        if cx.json { Ok(()) } else { cx.print("stopped\n") }
    }
}
