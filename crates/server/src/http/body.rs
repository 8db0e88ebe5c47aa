//! Reads the whole body of a request. Must never keep more of it than the limit.

use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::http::{HeaderMap, header};
use futures::StreamExt as _;

use super::problem::{ProblemResponse, bad, bad_request};

/// The largest body: pictures of a message, lines of an import.
pub(super) const LARGEST: usize = 64 * 1024 * 1024;

/// The whole body. One whose header declares a too large size is refused before it arrives.
pub(super) async fn whole(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, ProblemResponse> {
    if body.size_hint().lower() > LARGEST as u64 {
        // A client that waits for a `100 Continue` sends nothing. Others are sending already, and most read no reply before they
        // are done: their body is read if its end is near.
        if !headers.contains_key(header::EXPECT) {
            let_go(body.into_data_stream());
        }
        return Err(too_large("body"));
    }
    read(body).await
}

/// Reads the rest of a refused body if its end is near: most clients read no reply before they are done.
pub(super) fn let_go(mut pieces: BodyDataStream) {
    tokio::spawn(async move {
        let mut length = 0_usize;
        while let Some(Ok(piece)) = pieces.next().await
            && length <= 2 * LARGEST
        {
            length = length.saturating_add(piece.len());
        }
    });
}

/// The whole body. A too large one is read to its end if that is near, and not kept.
async fn read(body: Body) -> Result<Vec<u8>, ProblemResponse> {
    let (mut all, mut length) = (Vec::new(), 0_usize);
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| bad_request("broken_body"))?;
        length = length.saturating_add(piece.len());
        if length > 2 * LARGEST {
            break;
        }
        if length <= LARGEST {
            all.extend_from_slice(&piece);
        } else {
            all = Vec::new();
        }
    }
    match length > LARGEST {
        true => Err(too_large("body")),
        false => Ok(all),
    }
}

/// The problem of a too large part of a request: `body` or `line`.
pub(super) fn too_large(what: &str) -> ProblemResponse {
    bad("too_large").with("what", what).with("most", LARGEST as u64)
}
