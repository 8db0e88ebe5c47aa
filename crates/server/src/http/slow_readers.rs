//! Connections on which somebody follows and does not read: a write that waits for too long ends them. Must never end any other:
//! who started a run or takes an export may take their time. What HTTP itself refuses gets its words here.

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

/// What a connection, and who answers on it, know of each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Arc<Use>);

#[derive(Debug, Default)]
struct Use {
    is_followed: AtomicBool,
    /// How many pieces of events were taken to be written.
    taken: AtomicU64,
    /// The process at the other end.
    pid: Option<u32>,
    /// Only the owner's user can be there.
    is_private: bool,
}

impl Line {
    /// The process at the other end, where it is known.
    pub(super) fn pid(&self) -> Option<u32> {
        self.0.pid
    }

    /// Whether only the owner's user can be at the other end.
    pub(super) fn is_private(&self) -> bool {
        self.0.is_private
    }

    /// Somebody follows here, for as long as what comes back lives.
    pub(super) fn followed(self) -> Followed {
        self.0.is_followed.store(true, Ordering::Relaxed);
        Followed(self)
    }
}

/// A connection that may tell which process is at its other end.
pub(super) trait Peer {
    /// Its number, as this process sees it.
    fn pid(&self) -> Option<u32>;

    /// Whether only the owner's user can be there.
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

/// Somebody follows.
#[must_use = "nobody follows when it is dropped"]
pub(super) struct Followed(Line);

impl Followed {
    /// A piece was taken to be written: those before it are on their way.
    pub(super) fn takes(&self) {
        self.0.0.taken.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.0.is_followed.store(false, Ordering::Relaxed);
    }
}

/// A listener whose connections end if their subscriber does not read for so long.
pub(super) struct Patient<L> {
    pub(super) listener: L,
    pub(super) patience: Duration,
}

impl<L: Listener> Listener for Patient<L>
where
    L::Io: Peer,
{
    type Io = Timed<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (io, address) = self.listener.accept().await;
        let line = Line(Arc::new(Use { pid: io.pid(), is_private: io.is_private(), ..Use::default() }));
        (Timed { io, line, patience: self.patience, waits: None, words: Vec::new() }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// One of its connections.
pub(super) struct Timed<T> {
    io: T,
    line: Line,
    patience: Duration,
    /// What had been taken when a write began to wait, and until when it may.
    waits: Option<(u64, Pin<Box<Sleep>>)>,
    /// Words instead of what HTTP itself wrote, as far as they are not written yet.
    words: Vec<u8>,
}

impl<T> Timed<T> {
    /// What who answers on it knows of it.
    pub(super) fn line(&self) -> Line {
        self.line.clone()
    }

    /// What became of a write, or that it has waited for too long.
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
    /// Writes the replacement text.
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
        // Hyper answers what it can't read with a head alone.
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
