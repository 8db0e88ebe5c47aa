//! `retake serve`: the owner without a face.

use std::net::SocketAddr;

use clap::Args;
use retake_wire::Reply;

use crate::context::document;
use crate::error::Result;
use crate::owner::{Owner, Places};
use crate::run::notice_to;
use crate::term::safe;
use crate::ui::Ui;

/// Own the conversations until told to stop, and let other commands and programs work on them
///
/// Every other command reaches this one by the socket of the data directory, which only you can open. `--listen` answers HTTP
/// besides. Each request carries the token in the file `token` of the data directory; commands send it by themselves. GET
/// /openapi.json says what there is. Ctrl-C or `retake stop` ends it: what runs may end first, for ten seconds, and is kept as far as it came.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen here, too; a loopback address, such as 127.0.0.1:4117. Port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl Serve {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let standing = owner.serve(places, self.listen).await?;
        for notice in &standing.notices {
            notice_to(ui, notice)?;
        }
        let status = standing.status;
        if json {
            ui.print(&document(&Reply::Status(status)))?;
        } else {
            let dir = safe::line(&status.data_dir);
            ui.print(&format!("serving {dir} (process {})\n", status.pid))?;
            if let Some(address) = &status.address {
                ui.print(&format!("listening at http://{address}; the token is in {dir}/token\n"))?;
            }
            ui.print("Ctrl-C or `retake stop` ends it\n")?;
        }
        standing.over.await?;
        if !json {
            ui.print("stopped\n")?;
        }
        Ok(())
    }
}
