//! The body of a request, read whole, and what is mended in it before it is read as JSON. Must never hold more of it than a request
//! may have.

use std::borrow::Cow;

use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::http::{HeaderMap, header};
use futures::StreamExt as _;

use super::problem::{Told, bad};

/// The largest body: pictures of a message, lines of an import.
pub(super) const LARGEST: usize = 64 * 1024 * 1024;

/// Half of a pair of escapes is no letter: the mark that stands for what can't be read.
const REPLACEMENT: &[u8] = br"\ufffd";

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

/// JSON in which each escape of half a surrogate pair is replaced: programs that cut texts in the middle write them, and no reader of
/// Unicode takes them.
pub(super) fn mended(json: &[u8]) -> Cow<'_, [u8]> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < json.len() {
        let taken = match (json[at], json.get(at + 1)) {
            (b'\\', Some(b'u')) => match (unit(json, at), unit(json, at + 6)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
                (Some(0xd800..=0xdfff), _) => {
                    let mended = mended.get_or_insert_with(|| json[..at].to_vec());
                    mended.extend_from_slice(REPLACEMENT);
                    at += 6;
                    continue;
                }
                _ => 2,
            },
            (b'\\', Some(_)) => 2,
            _ => 1,
        };
        if let Some(mended) = &mut mended {
            mended.extend_from_slice(&json[at..at + taken]);
        }
        at += taken;
    }
    mended.map_or(Cow::Borrowed(json), Cow::Owned)
}

/// The code unit of the escape `\uXXXX` that begins here.
fn unit(json: &[u8], at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::mended;

    #[test]
    fn only_halves_of_pairs_are_replaced() {
        let rows: [(&str, &str); 9] = [
            (r#""a\ud800b""#, r#""a\ufffdb""#),
            (r#""\udc00""#, r#""\ufffd""#),
            (r#""\ud800\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\u00e4\n""#, r#""\u00e4\n""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\"#, r#""\"#),
        ];
        for (given, clean) in rows {
            let got = mended(given.as_bytes());
            assert_eq!(std::str::from_utf8(&got).expect("a text"), clean, "{given}");
            assert_eq!(matches!(got, Cow::Borrowed(_)), given == clean, "{given}");
        }
    }
}
