//! The frames of the language server protocol: a header with the length, and JSON. Must never hold more of a frame in memory than
//! the limit.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// The largest frame: diagnostics of a large file are far smaller.
const LARGEST: usize = 8 << 20;

/// The longest header.
const LONGEST_HEADER: u64 = 4 << 10;

/// Reads the next frame; `None` at the end of the output.
///
/// # Errors
/// Why the output is not a frame, or cannot be read.
pub(super) async fn read(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut header = from.take(LONGEST_HEADER);
    let (mut length, mut line) = (None, Vec::new());
    loop {
        line.clear();
        let read = header.read_until(b'\n', &mut line).await?;
        match (read, line.trim_ascii_end()) {
            (0, _) if length.is_none() && header.limit() == LONGEST_HEADER => return Ok(None),
            _ if !line.ends_with(b"\n") => {
                return Err(io::Error::other("it sent something that is no message"));
            }
            (_, b"") => break,
            (_, field) => length = length_of(field).or(length),
        }
    }
    let length = length.ok_or_else(|| io::Error::other("it sent a message without a length"))?;
    if length > LARGEST {
        return Err(io::Error::other("it sent a message of more than 8 MB"));
    }
    let mut body = Vec::new();
    from.take(length as u64).read_to_end(&mut body).await?;
    if body.len() < length {
        return Err(io::Error::other("it broke off in the middle of a message"));
    }
    Ok(Some(body))
}

/// The value of the header field `Content-Length`.
fn length_of(field: &[u8]) -> Option<usize> {
    let (name, value) = std::str::from_utf8(field).ok()?.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

/// A message as a frame.
pub(super) fn frame(message: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{message}", message.len())
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use tokio::io::BufReader;

    use super::*;

    async fn all(bytes: &[u8]) -> Vec<Result<String, String>> {
        read_in_pieces(bytes, 8 << 10).await
    }

    /// Reads frames from output that arrives in pieces of this size.
    async fn read_in_pieces(bytes: &[u8], size: usize) -> Vec<Result<String, String>> {
        let (mut frames, mut bytes) = (Vec::new(), BufReader::with_capacity(size, bytes));
        loop {
            match read(&mut bytes).await {
                Ok(Some(body)) => frames.push(Ok(String::from_utf8_lossy(&body).into_owned())),
                Ok(None) => return frames,
                Err(error) => {
                    frames.push(Err(error.to_string()));
                    return frames;
                }
            }
        }
    }

    #[tokio::test]
    async fn frames_arrive_as_they_were_sent() {
        let bytes = [frame("{}"), "content-length: 2\nContent-Type: x\n\nab".to_owned(), frame("ä")].concat();
        assert_eq!(all(bytes.as_bytes()).await, ["{}", "ab", "ä"].map(|text| Ok(text.to_owned())));
    }

    #[tokio::test]
    async fn what_is_no_frame_is_an_error_and_takes_little_memory() {
        let endless = "x".repeat(1 << 20);
        let rows = [
            ("hello\n\n", "it sent a message without a length"),
            ("hello", "it sent something that is no message"),
            (&endless, "it sent something that is no message"),
            ("Content-Length: 5\r\n\r\nab", "it broke off in the middle of a message"),
            ("Content-Length: 99999999999\r\n\r\n", "it sent a message of more than 8 MB"),
            ("Content-Length: -1\r\n\r\n", "it sent a message without a length"),
            ("Content-Length: 5\r\n", "it sent something that is no message"),
        ];
        for (bytes, why) in rows {
            assert_eq!(all(bytes.as_bytes()).await, [Err(why.to_owned())]);
        }
    }

    proptest! {
        #[test]
        fn messages_arrive_whatever_the_pieces(messages in vec(".{0,40}", 0..6), size in 1_usize..50) {
            let bytes: String = messages.iter().map(|message| frame(message)).collect();
            let sent: Vec<Result<String, String>> = messages.into_iter().map(Ok).collect();
            prop_assert_eq!(block_on(read_in_pieces(bytes.as_bytes(), size)), sent);
        }

        #[test]
        fn any_output_comes_to_an_end(bytes in vec(any::<u8>(), 0..200), size in 1_usize..50) {
            let frames = block_on(read_in_pieces(&bytes, size));
            prop_assert!(frames.iter().rev().skip(1).all(Result::is_ok));
        }
    }
}
