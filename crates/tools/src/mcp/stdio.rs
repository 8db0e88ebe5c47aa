//! The pipes of a server, with limits. A message that is too long, or a flood while it does not read, ends the connection instead
//! of filling the memory. After the end of input nothing is sent. Must never hold back messages within the limits.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest message. `rmcp` would silently drop a longer one.
const LONGEST: usize = 16 << 20;

/// The most messages that are accepted while the server does not read ours.
const MOST_UNHEARD: usize = 2_000;

/// The shared state of both pipes.
#[derive(Default)]
pub(super) struct PipeState {
    stuck: AtomicBool,
    /// Whether the input has ended. `rmcp` would wait for ever until the last message is sent.
    over: AtomicBool,
    writer: AtomicWaker,
    why: Mutex<Option<&'static str>>,
}

impl PipeState {
    /// Why the connection was ended, if it was ended here.
    pub(super) fn why(&self) -> Option<&'static str> {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, why: &'static str) -> std::io::Error {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        self.over();
        std::io::Error::other(why)
    }

    fn over(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.writer.wake();
    }
}

/// The output of a server.
pub(super) struct Incoming<R> {
    pub(super) pipe: R,
    pub(super) flow: Arc<PipeState>,
    line: usize,
    unheard: usize,
}

impl<R> Incoming<R> {
    pub(super) fn new(pipe: R, flow: Arc<PipeState>) -> Self {
        Self { pipe, flow, line: 0, unheard: 0 }
    }

    fn count(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.unheard = if self.flow.stuck.load(Ordering::Relaxed) { self.unheard + lines } else { 0 };
        if self.unheard > MOST_UNHEARD {
            return Err(self.flow.end("it sent thousands of messages and read none"));
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line += piece.len();
            if self.line > LONGEST {
                return Err(self.flow.end("it sent a message of more than 16 MB"));
            }
            if piece.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Incoming<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = std::task::ready!(Pin::new(&mut self.pipe).poll_read(cx, buffer));
        let new = &buffer.filled()[before..];
        if read.is_err() || new.is_empty() {
            self.flow.over();
        }
        Poll::Ready(read.and_then(|()| self.count(new)))
    }
}

/// The input of a server.
pub(super) struct Outgoing<W> {
    pub(super) pipe: W,
    pub(super) flow: Arc<PipeState>,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Outgoing<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.flow.writer.register(cx.waker());
        if self.flow.over.load(Ordering::SeqCst) {
            return Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()));
        }
        let written = Pin::new(&mut self.pipe).poll_write(cx, bytes);
        self.flow.stuck.store(written.is_pending(), Ordering::Relaxed);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_message_without_an_end_ends_the_connection() {
        let flow = Arc::new(PipeState::default());
        let mut incoming = Incoming::new(tokio::io::repeat(b'x'), Arc::clone(&flow));
        let mut all = tokio::io::sink();
        tokio::io::copy(&mut incoming, &mut all).await.expect_err("too long");
        assert_eq!(flow.why(), Some("it sent a message of more than 16 MB"));
    }

    #[tokio::test]
    async fn a_flood_of_messages_ends_the_connection_only_without_a_reader() {
        for stuck in [false, true] {
            let flow = Arc::new(PipeState::default());
            flow.stuck.store(stuck, Ordering::Relaxed);
            let mut incoming = Incoming::new(tokio::io::repeat(b'\n'), Arc::clone(&flow));
            let mut some = vec![0; 2 * MOST_UNHEARD];
            assert_eq!(incoming.read_exact(&mut some).await.is_err(), stuck);
            assert_eq!(flow.why().is_some(), stuck);
        }
    }
}
