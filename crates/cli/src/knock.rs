//! Asks an owner how it is, with the token of its data directory.

use std::path::Path;

use retake_server::token_of;
use retake_wire::{Problem, Reply, UNAUTHORIZED};

use crate::watched::Watched;

/// A client of the owner behind a socket, and how that owner is.
pub(crate) async fn knock(
    socket: &Path,
    data_dir: &Path,
) -> Result<(Watched, Result<Reply, Problem>), Problem> {
    let token = token_of(data_dir);
    let (client, answer) = asked(socket, token.clone()).await?;
    if answer.as_ref().is_err_and(|problem| problem.code == UNAUTHORIZED) {
        // An owner whose token was deleted has just written it again.
        let now = token_of(data_dir);
        if now != token {
            return asked(socket, now).await;
        }
    }
    Ok((client, answer))
}

async fn asked(socket: &Path, token: Option<String>) -> Result<(Watched, Result<Reply, Problem>), Problem> {
    let client = Watched::new(socket, token).await?;
    let answer = client.status().await;
    Ok((client, answer))
}
