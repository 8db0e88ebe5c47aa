//! Requests for exports and imports, and for the upkeep of the whole store.

use std::path::PathBuf;

use retake_core::{CheckMode, ConversationId};
use retake_engine::{EngineError, ExportFormat, Inflow};
use retake_wire::http::IMPORT_WHOLE;
use retake_wire::{Demand, Problem, Reply, english, reply, request};

use super::{request_id, works_in};
use crate::InProcess;
use crate::convert::{self, problem};

impl InProcess {
    pub(super) async fn export(&self, export: request::Export) -> Result<Reply, Problem> {
        let id = self.conversation(&export.conversation).await?;
        let format = match export.format {
            request::Format::Jsonl => ExportFormat::Jsonl,
            request::Format::Markdown => ExportFormat::Markdown,
            request::Format::Text => ExportFormat::Text,
            request::Format::Full => ExportFormat::Full,
        };
        let chunk = self.engine.export(id, format, export.cursor.as_deref()).await.map_err(problem)?;
        let retake_engine::ExportChunk { text, cursor, progress } = chunk;
        Ok(Reply::Chunk(reply::Chunk { text, cursor, progress }))
    }

    pub(super) async fn import_start(&self, start: request::ImportStart) -> Result<Reply, Problem> {
        let request = start.request_id.as_deref().map(request_id).transpose()?;
        let (title, folder) = (titled(start.title)?, works_in(start.folder)?);
        let receipt = self.engine.import_start(title, folder, start.lines_before, request);
        Ok(Reply::Receipt(convert::receipt(&receipt, None)))
    }

    /// Begins an import whose lines arrive as one stream.
    pub(crate) async fn import_stream(
        &self,
        whole: request::ImportWhole,
        request: Option<&str>,
    ) -> Result<Inflow, Problem> {
        self.authorize(Demand { need: IMPORT_WHOLE, named: None }).await?;
        Ok(self.engine.import_stream(
            titled(whole.title)?,
            works_in(whole.folder)?,
            request.map(request_id).transpose()?,
        ))
    }

    /// Ends it after all lines have arrived.
    pub(crate) async fn import_ended(&self, inflow: Inflow) -> Result<Reply, Problem> {
        let receipt = inflow.end().await.map_err(problem)?;
        Ok(Reply::Receipt(convert::receipt(&receipt, None)))
    }

    pub(super) async fn import_lines(&self, lines: request::ImportLines) -> Result<Reply, Problem> {
        let import = import(&lines.conversation)?;
        self.engine.import_lines(import, lines.first, &lines.lines).map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn import_end(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let receipt = self.engine.import_end(import(&of.conversation)?).await.map_err(problem)?;
        Ok(Reply::Receipt(convert::receipt(&receipt, None)))
    }

    pub(super) async fn backup(&self, backup: request::Backup) -> Result<Reply, Problem> {
        let copied = self.engine.backup(backup.to.map(PathBuf::from)).await.map_err(problem)?;
        Ok(Reply::Written(reply::Written { path: copied.path.display().to_string(), bytes: copied.bytes }))
    }

    pub(super) async fn doctor(&self, doctor: request::Doctor) -> Result<Reply, Problem> {
        let care = if doctor.mend { CheckMode::Mend } else { CheckMode::Look };
        let checked = self.engine.doctor(care).await.map_err(problem)?;
        let findings: Vec<_> = checked.problems.into_iter().map(convert::finding).collect();
        let repairs: Vec<_> = checked.mended.into_iter().map(convert::repair).collect();
        let confinement = self.confinement();
        Ok(Reply::Report(reply::Report {
            conversations: checked.conversations,
            entries: checked.entries,
            problems: findings.iter().map(english::finding).collect(),
            findings,
            details: checked.details,
            mended: repairs.iter().map(english::repair).collect(),
            repairs,
            sandbox: confinement.iter().map(english::sandbox_fact).collect(),
            confinement,
            // If it cannot be read, that is one of the findings.
            outbox: self.outbox_items().await.unwrap_or_default(),
        }))
    }
}

/// A title from a person, without invisible characters.
fn titled(title: Option<String>) -> Result<Option<String>, Problem> {
    let titled = title.as_deref().map(retake_core::name::title).transpose();
    titled.map_err(|refused| problem(EngineError::refused(&refused)))
}

/// An import is not a conversation yet: only its whole id names it.
fn import(name: &str) -> Result<ConversationId, Problem> {
    let none = |_: retake_core::BadId| problem(EngineError::unknown_conversation(name));
    name.parse().map_err(none)
}
