//! The connection to a running language server: requests, notifications, and a reader that takes everything it says. Must never
//! wait for the server without a limit: each caller can stop waiting at any moment.

use std::sync::Arc;
use std::time::Duration;

use lsp_types::notification::Notification;
use lsp_types::request::Request;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::board::{Answer, Board, Reaction};
use super::frames;
use crate::mcp::text::line;
use crate::piped_process::PipedProcess;

/// The most messages that wait to be written.
const MOST_WAITING: usize = 8;

/// How long to wait for the end of a process whose output has ended.
const LAST: Duration = Duration::from_secs(1);

/// The longest reason.
const REASON: usize = 200;

/// A connection. Dropping it ends the server.
pub(super) struct Link {
    board: Arc<watch::Sender<Board>>,
    out: mpsc::Sender<String>,
    tasks: [AbortHandle; 2],
    requests: u64,
}

impl Drop for Link {
    fn drop(&mut self) {
        // The tasks own the process and its pipes.
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Link {
    /// Talks to a started server.
    pub(super) fn new((process, input, output): (PipedProcess, ChildStdin, ChildStdout)) -> Self {
        let board = Arc::new(watch::Sender::new(Board::default()));
        let (out, waiting) = mpsc::channel(MOST_WAITING);
        let reader = tokio::spawn(listen(process, output, Arc::clone(&board), out.clone()));
        let writer = tokio::spawn(write(input, waiting));
        Self { board, out, tasks: [reader.abort_handle(), writer.abort_handle()], requests: 0 }
    }

    /// Reads what it has said.
    pub(super) fn board<T>(&self, read: impl FnOnce(&Board) -> T) -> T {
        read(&self.board.borrow())
    }

    /// Its messages are counted from here.
    pub(super) fn begin(&self) {
        self.board.send_if_modified(|board| {
            board.heard = 0;
            false
        });
    }

    /// Sends a notification.
    pub(super) async fn notify<N: Notification>(&self, params: N::Params) -> Result<(), String> {
        self.send(&json!({ "jsonrpc": "2.0", "method": N::METHOD, "params": params })).await
    }

    /// Sends a request, and returns its id.
    pub(super) async fn request<R: Request>(&mut self, params: R::Params) -> Result<u64, String> {
        self.requests += 1;
        let id = self.requests;
        self.board.send_modify(|board| drop(board.answers.insert(id, None)));
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": R::METHOD, "params": params })).await?;
        Ok(id)
    }

    /// Nobody waits for earlier requests any more.
    pub(super) fn forget_requests(&self) {
        self.board.send_modify(|board| board.answers.clear());
    }

    /// Waits for the answer to a request.
    pub(super) async fn answer(&self, id: u64) -> Result<Answer, String> {
        self.until(|board| board.answers.get(&id).is_some_and(Option::is_some)).await?;
        let mut answer = None;
        self.board.send_modify(|board| answer = board.answers.remove(&id).flatten());
        answer.ok_or_else(|| "its answer is lost".to_owned())
    }

    /// Waits until something has been said.
    pub(super) async fn until(&self, holds: impl Fn(&Board) -> bool) -> Result<(), String> {
        let mut board = self.board.subscribe();
        let board = board.wait_for(|board| board.over.is_some() || holds(board)).await;
        let board = board.map_err(|_| "its connection is over".to_owned())?;
        match &board.over {
            Some(why) if !holds(&board) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    async fn send(&self, message: &Value) -> Result<(), String> {
        let frame = frames::frame(&message.to_string());
        tokio::select! {
            over = self.until(|_| false) => over,
            sent = self.out.send(frame) => sent.map_err(|_| "it closed its input".to_owned()),
        }
    }
}

/// Takes everything that a server says, until it breaks a rule or ends; then it is ended.
async fn listen(
    process: PipedProcess,
    output: ChildStdout,
    board: Arc<watch::Sender<Board>>,
    out: mpsc::Sender<String>,
) {
    let mut output = BufReader::new(output);
    let why = loop {
        let message = match frames::read(&mut output).await {
            Ok(Some(message)) => message,
            Ok(None) => {
                let outcome = process.outcome(LAST).await;
                let last = process.last_words();
                break format!(
                    "{outcome}{}",
                    last.lines().last().map(|last| format!(": {last}")).unwrap_or_default()
                );
            }
            Err(error) => break error.to_string(),
        };
        let mut reaction = Ok(Reaction::Nothing);
        board.send_modify(|board| reaction = board.take(&message));
        match reaction {
            // Without room for a reply, the server gets none.
            Ok(Reaction::Reply(reply)) => drop(out.try_send(frames::frame(&reply.to_string()))),
            Ok(Reaction::Nothing) => {}
            Err(why) => break why.to_owned(),
        }
    };
    drop(output);
    board.send_modify(|board| board.over = Some(line(&why, REASON)));
    process.end().await;
}

/// Writes the messages to a server, one after the other.
async fn write(mut input: ChildStdin, mut waiting: mpsc::Receiver<String>) {
    while let Some(message) = waiting.recv().await {
        // A server that closed its input is about to end, which the reader notices.
        if input.write_all(message.as_bytes()).await.is_err() || input.flush().await.is_err() {
            break;
        }
    }
}
