//! Writes, and the receipts of requests. Each function is one request to the writer or one reading.

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, NewConversation, NewFork, NewSubagent, Planned, Receipt,
    ReceiptDetails, Records as _, RequestId, SayRequest,
};

use super::{Store, read};
use crate::error::Result;
use crate::stream::StreamRow;

impl Store {
    /// Creates a conversation.
    pub async fn create(&self, new: NewConversation) -> Result<Receipt> {
        self.write(|context| context.create(new)).await
    }

    /// Creates a fork of the current conversation. Nothing is copied.
    pub async fn fork(&self, fork: NewFork) -> Result<Receipt> {
        self.write(|context| context.fork(fork)).await
    }

    /// Creates a subagent's conversation.
    pub async fn create_subagent(&self, new: NewSubagent) -> Result<Receipt> {
        self.write(|context| context.create_subagent(new)).await
    }

    /// Appends a message.
    pub async fn say(&self, conversation: ConversationId, say: SayRequest) -> Result<Receipt> {
        self.write(move |context| context.say(conversation, say)).await
    }

    /// Moves back and appends a message there, as one step: an edit. Returns both receipts; the request id belongs to the
    /// message.
    pub async fn say_at(
        &self,
        conversation: ConversationId,
        apply: Apply,
        say: SayRequest,
    ) -> Result<(Receipt, Receipt)> {
        self.write(move |context| context.say_at(conversation, apply, say)).await
    }

    /// Changes the state.
    pub async fn apply(&self, conversation: ConversationId, apply: Apply) -> Result<Receipt> {
        self.write(move |context| context.apply(conversation, apply)).await
    }

    /// Plans `apply`.
    pub async fn plan(&self, conversation: ConversationId, action: Action) -> Result<Planned> {
        self.with(conversation, |rows, loaded| read::plan(rows, loaded, action)).await
    }

    /// The receipt of an earlier request with this id and digest in this conversation, if there was one. Look it up before the
    /// names in a request: they may mean something else by now.
    pub async fn receipt(&self, conversation: ConversationId, by: ChangeOrigin) -> Result<Option<Receipt>> {
        self.write(move |context| context.receipt(conversation, &by)).await
    }

    /// The receipt of the conversation that an earlier request with this id and digest created, if there was one.
    pub async fn created(&self, by: ChangeOrigin) -> Result<Option<Receipt>> {
        self.write(move |context| context.created_before(&by, Some(by.wording.unwrap_or_default()))).await
    }

    /// The receipt of the request with this id in a conversation, whatever its digest; without a conversation, of the request
    /// that created one.
    pub async fn receipt_of(
        &self,
        of: Option<ConversationId>,
        request: RequestId,
    ) -> Result<Option<Receipt>> {
        self.write(move |context| context.receipt_of(of, request)).await
    }

    /// The details for a receipt of this conversation.
    pub async fn receipt_details(&self, receipt: &Receipt) -> Result<ReceiptDetails> {
        let (ops, composer) = (receipt.ops.clone(), receipt.composer);
        if ops.is_empty() && composer.is_none() {
            return Ok(ReceiptDetails::default());
        }
        self.with(receipt.conversation, move |rows, loaded| {
            let moved = ops.iter().map(|op| rows.moved(loaded.row.log, *op));
            let moved = moved.collect::<Result<Vec<_>>>()?.concat();
            let composer = composer.map(|id| read::composed(rows, loaded, id)).transpose()?.flatten();
            let made = ops.iter().map(|op| loaded.records(rows).op(*op)).collect::<Result<Vec<_>, _>>()?;
            let steps = super::marked::steps(rows, loaded, &made)?;
            Ok(ReceiptDetails { moved, composer, steps })
        })
        .await
    }

    /// Saves a stream in progress, outside the log; `None` removes it.
    pub async fn save_stream(&self, conversation: ConversationId, stream: Option<StreamRow>) -> Result<()> {
        self.write(move |context| {
            let log = context.load(conversation)?.row.log;
            context.rows.set_stream(log, stream.as_ref())
        })
        .await
    }

    /// Streams that a crash left.
    pub async fn streams(&self) -> Result<Vec<StreamRow>> {
        self.read(|rows| rows.streams()).await
    }
}
