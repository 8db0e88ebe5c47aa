//! Ends connections of subscribers that do not read: a write that waits for too long. Must never end any other: a client with a
//! run or an export may be slow. Errors of the HTTP library get their bodies here.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::problem::worded;

/// Shared state of a connection and its request handlers.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionState(Arc<Use>);

#[derive(Debug, Default)]
struct Use {
    is_followed: AtomicBool,
    /// The number of event pieces that were taken for writing.
    taken: AtomicU64,
    /// The process at the other end.
    pid: Option<u32>,
    /// Whether only the owner's user can be at the other end.
    is_private: bool,
}

impl ConnectionState {
    /// The process at the other end, if known.
    pub(super) fn pid(&self) -> Option<u32> {
        self.0.pid
    }

    /// Whether only the owner's user can be at the other end.
    pub(super) fn is_private(&self) -> bool {
        self.0.is_private
    }

    /// Marks this connection as a subscriber's while the result lives.
    pub(super) fn followed(self) -> Followed {
        self.0.is_followed.store(true, Ordering::Relaxed);
        Followed(self)
    }
}

/// A connection that may know the process at its other end.
pub(super) trait Peer {
    /// Its pid in this process's namespace.
    fn pid(&self) -> Option<u32>;

    /// Whether only the owner's user can be at the other end.
    fn is_private(&self) -> bool {
        false
    }
}

impl Peer for tokio::net::UnixStream {
    fn pid(&self) -> Option<u32> {
        // A process of another pid namespace has none here.
        self.peer_cred().ok()?.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0)
    }

    fn is_private(&self) -> bool {
        true
    }
}

impl Peer for tokio::net::TcpStream {
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// Marks a subscriber's connection.
#[must_use = "nobody follows when it is dropped"]
pub(super) struct Followed(ConnectionState);

impl Followed {
    /// A piece was taken for writing: earlier ones are on their way.
    pub(super) fn takes(&self) {
        self.0.0.taken.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.0.is_followed.store(false, Ordering::Relaxed);
    }
}

/// A listener that ends connections whose subscriber does not read for this long.
pub(super) struct TimeLimitedListener<L> {
    pub(super) listener: L,
    pub(super) patience: Duration,
}

impl<L: Listener> Listener for TimeLimitedListener<L>
where
    L::Io: Peer,
{
    type Io = Timed<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (io, address) = self.listener.accept().await;
        let line =
            ConnectionState(Arc::new(Use { pid: io.pid(), is_private: io.is_private(), ..Use::default() }));
        (Timed { io, line, patience: self.patience, waits: None, words: Vec::new() }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// One of its connections.
pub(super) struct Timed<T> {
    io: T,
    line: ConnectionState,
    patience: Duration,
    /// The count when a write began to wait, and its deadline.
    waits: Option<(u64, Pin<Box<Sleep>>)>,
    /// The rest of the replacement for the HTTP library's own response.
    words: Vec<u8>,
}

impl<T> Timed<T> {
    /// The state for its request handlers.
    pub(super) fn line(&self) -> ConnectionState {
        self.line.clone()
    }

    /// The result of a write, or an error if it has waited for too long.
    fn in_time<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() || !self.line.0.is_followed.load(Ordering::Relaxed) {
            return written;
        }
        let taken = self.line.0.taken.load(Ordering::Relaxed);
        if self.waits.as_ref().is_none_or(|(since, _)| *since != taken) {
            self.waits = Some((taken, Box::pin(tokio::time::sleep(self.patience))));
        }
        let Some((_, over)) = &mut self.waits else { return written };
        ready!(over.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the subscriber does not read")))
    }
}

impl<T: AsyncWrite + Unpin> Timed<T> {
    /// Writes the replacement body.
    fn poll_words(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.words.is_empty() {
            let written = ready!(Pin::new(&mut self.io).poll_write(cx, &self.words))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.words.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Timed<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Timed<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_words(cx))?;
        // Hyper answers an unreadable request with a head alone.
        if let Some(words) = worded(bytes) {
            self.words = words;
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_words(cx))?;
        if let [only] = bytes {
            return self.poll_write(cx, only);
        }
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bytes);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_words(cx))?;
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.in_time(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_words(cx))?;
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
