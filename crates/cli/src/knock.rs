//! Asks an owner how it is, with the token of its data directory. Must never wait for one that stays silent.

use std::path::Path;
use std::time::Duration;

use retake_server::token_of;
use retake_wire::{Client as _, HttpClient, Problem, ProblemKind, Reach, Reply, Request, UNAUTHORIZED};

/// An owner says at once how it is. One that does not is stopped: by Ctrl-Z, for one.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// A client of the owner behind a socket, and how that owner is.
pub(crate) async fn knock(
    socket: &Path,
    data_dir: &Path,
) -> Result<(HttpClient, Result<Reply, Problem>), Problem> {
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

async fn asked(
    socket: &Path,
    token: Option<String>,
) -> Result<(HttpClient, Result<Reply, Problem>), Problem> {
    let client = HttpClient::new(Reach::Socket { path: socket.to_owned(), token })?;
    let answer = tokio::time::timeout(SILENCE, client.call(Request::Status)).await;
    Ok((client, answer.unwrap_or_else(|_| Err(silent(socket)))))
}

fn silent(path: &Path) -> Problem {
    Problem {
        code: "owner_silent".to_owned(),
        kind: ProblemKind::Refused,
        message: format!("the owner at {} does not answer", path.display()),
        hint: Some("where Ctrl-Z has stopped it, `fg` in its terminal lets it go on".into()),
        causes: Vec::new(),
        head: None,
    }
}
