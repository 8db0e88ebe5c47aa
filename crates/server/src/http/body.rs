//! The body of a request, read whole. Must never hold more of it than a request may have.

use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::http::{HeaderMap, header};
use futures::StreamExt as _;

use super::problem::{Told, bad};

/// The largest body: pictures of a message, lines of an import.
pub(super) const LARGEST: usize = 64 * 1024 * 1024;

/// The whole body. One whose header says that it is too long is refused before it comes.
pub(super) async fn whole(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Told> {
    if body.size_hint().lower() > LARGEST as u64 {
        // A client that waits to be told to go on sends nothing. Others are sending already, and most hear no answer before they are
        // done: for them it is read, as far as its end is near.
        if !headers.contains_key(header::EXPECT) {
            let_go(body.into_data_stream());
        }
        return Err(too_large("the body"));
    }
    read(body).await
}

/// Reads what still comes of a body that is refused, as far as its end is near: most clients hear no answer before they are done.
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

/// All of a body. What is too long is read to its end, as far as that is near, and not kept.
async fn read(body: Body) -> Result<Vec<u8>, Told> {
    let (mut all, mut length) = (Vec::new(), 0_usize);
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece
            .map_err(|_| bad("bad_request", "the body broke off before its end", "send the request again"))?;
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
        true => Err(too_large("the body")),
        false => Ok(all),
    }
}

/// Something is longer than a request may be.
pub(super) fn too_large(what: &str) -> Told {
    let most = LARGEST >> 20;
    let message = format!("{what} is longer than {most} MiB ({LARGEST} bytes), the most that is taken");
    bad(
        "too_large",
        message,
        "send less at once: a large import in several pieces, a picture as a smaller one",
    )
}
