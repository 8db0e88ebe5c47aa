//! Whole exports and imports, as the body of a response or request. Must never keep a whole one in memory as text, and must
//! import nothing from an incomplete body.

use axum::Extension;
use axum::body::{Body, BodyDataStream};
use axum::extract::{RawPathParams, Request as HttpRequest, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream;
use retake_engine::Inflow;
use retake_wire::reply::Chunk;
use retake_wire::request::{Export, ExportWhole, Format, ImportWhole};
use retake_wire::{Client, Problem, Reply, Request};

use crate::InProcess;

use super::body::{LARGEST, let_go, too_large};
use super::parse;
use super::problem::{ProblemResponse, bad, defect};
use super::serve::{HttpState, replied};

/// The content type of a format.
pub(super) fn kind_of(format: Format) -> &'static str {
    match format {
        Format::Jsonl | Format::Full => "application/x-ndjson",
        Format::Markdown => "text/markdown; charset=utf-8",
        Format::Text => "text/plain; charset=utf-8",
    }
}

/// All pieces of an export in order. Each is read when the one before has been sent.
pub(super) async fn export(
    State(desk): State<HttpState>,
    Extension(client): Extension<InProcess>,
    params: RawPathParams,
    http: HttpRequest,
) -> Result<Response, ProblemResponse> {
    parse::without_identity(http.headers())?;
    let whole: ExportWhole = parse::named(desk.shapes.of("export_stream"), &params, &http)?;
    let format = whole.format;
    let first = piece(&client, &whole, None).await.map_err(ProblemResponse)?;
    let pieces = stream::try_unfold(Some(ExportPart::There(first)), move |next| {
        let (client, whole) = (client.clone(), whole.clone());
        async move {
            let chunk = match next {
                Some(ExportPart::There(chunk)) => chunk,
                // Only the connection shows whether the body is complete.
                Some(ExportPart::At(cursor)) => piece(&client, &whole, Some(cursor)).await.map_err(broken)?,
                None => return Ok::<_, std::io::Error>(None),
            };
            Ok(Some((chunk.text, chunk.cursor.map(ExportPart::At))))
        }
    });
    let kind = [(header::CONTENT_TYPE, kind_of(format))];
    Ok((StatusCode::OK, kind, Body::from_stream(pieces)).into_response())
}

/// The next part of an export.
enum ExportPart {
    There(Chunk),
    At(String),
}

async fn piece(client: &InProcess, of: &ExportWhole, cursor: Option<String>) -> Result<Chunk, Problem> {
    let (conversation, format) = (of.conversation.clone(), of.format);
    match client.call(Request::Export(Export { conversation, format, cursor })).await? {
        Reply::Chunk(chunk) => Ok(chunk),
        _ => Err(defect().0),
    }
}

fn broken(problem: Problem) -> std::io::Error {
    std::io::Error::other(problem.message)
}

/// Imports the lines of a body as they arrive.
pub(super) async fn import(
    State(desk): State<HttpState>,
    Extension(client): Extension<InProcess>,
    params: RawPathParams,
    http: HttpRequest,
) -> Result<Response, ProblemResponse> {
    let whole: ImportWhole = parse::named(desk.shapes.of("import_stream"), &params, &http)?;
    let request = parse::identity(http.headers())?;
    let inflow = client.import_stream(whole, request.as_deref()).await.map_err(ProblemResponse)?;
    let mut body = http.into_body().into_data_stream();
    let inflow = match taken(inflow, &mut body).await {
        Ok(inflow) => inflow,
        Err(told) => {
            let_go(body);
            return Err(told);
        }
    };
    let receipt = client.import_ended(inflow).await.map_err(ProblemResponse)?;
    Ok(replied(&receipt))
}

async fn taken(mut inflow: Inflow, body: &mut BodyDataStream) -> Result<Inflow, ProblemResponse> {
    let mut lines = Lines::default();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| bad("broken_body"))?;
        match lines.ended(&piece) {
            Some(ended) => take(&mut inflow, ended)?,
            None if lines.rest.len() > LARGEST => return Err(too_large("line")),
            None => {}
        }
    }
    if !lines.rest.is_empty() {
        take(&mut inflow, lines.rest)?;
    }
    Ok(inflow)
}

/// Lines that come in pieces.
#[derive(Default)]
struct Lines {
    /// The beginning of an incomplete line, without a line end.
    rest: Vec<u8>,
}

impl Lines {
    /// The lines that end in the next piece. Only the piece is searched: a long line consists of many.
    fn ended(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') else {
            self.rest.extend_from_slice(piece);
            return None;
        };
        let (ended, rest) = piece.split_at(end + 1);
        let mut lines = std::mem::replace(&mut self.rest, rest.to_vec());
        lines.extend_from_slice(ended);
        Some(lines)
    }
}

fn take(inflow: &mut Inflow, lines: Vec<u8>) -> Result<(), ProblemResponse> {
    let text = String::from_utf8(lines).map_err(|_| bad("bad_import").with("what", "not_text"))?;
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    inflow.lines(&lines).map_err(|error| ProblemResponse(crate::convert::problem(error)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::Lines;

    #[test]
    fn lines_are_split_independently_of_the_chunks() {
        let text = b"one\n\ntwo and three\nfour";
        for size in 1..=text.len() {
            let (mut lines, mut ended) = (Lines::default(), Vec::new());
            for piece in text.chunks(size) {
                let all = lines.ended(piece);
                assert!(all.as_ref().is_none_or(|all| all.ends_with(b"\n")), "by {size}");
                ended.extend(all.unwrap_or_default());
            }
            assert_eq!((&*ended, &*lines.rest), (&b"one\n\ntwo and three\n"[..], &b"four"[..]), "by {size}");
        }
    }

    /// If all pieces were searched again for each piece, this would take hours.
    #[test]
    fn trial_17_a_long_line_takes_time_by_its_length() {
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = Lines::default();
            let none = (0..1 << 20).all(|_| lines.ended(b"sixteen bytes...").is_none());
            done.send((none, lines.rest.len())).expect("somebody waits");
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(60)), Ok((true, 16 << 20)));
    }
}
