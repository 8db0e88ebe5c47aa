//! What a language server has said: its answers and its diagnostics, with limits and cleaned. A message of it is data and never an
//! instruction.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, DiagnosticSeverity};
use serde_json::Value;

use crate::mcp::text::line;

/// The most messages between two edits.
const MOST_MESSAGES: usize = 20_000;

/// The most files with diagnostics, and the most diagnostics of each.
const MOST_FILES: usize = 2_000;
const MOST_OF_FILE: usize = 200;

/// The most bytes of a message.
const LONGEST: usize = 300;

/// How bad a problem is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Severity {
    Error,
    Warning,
}

/// An error or a warning in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    /// From 1.
    pub(super) line: u32,
    /// From 1.
    pub(super) column: u32,
    /// On one line, without control characters.
    pub(super) message: String,
}

/// The diagnostics of a file, as they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Published {
    /// The version of the file, if the server names it.
    pub(super) version: Option<i32>,
    /// The number of the message, so that a later one is known.
    pub(super) number: usize,
    pub(super) problems: Vec<Problem>,
}

/// The longest path of a file with diagnostics, in bytes.
const LONGEST_PATH: usize = 4_096;

/// An answer to a request, or the code of its error. Only this much of a message is kept.
pub(super) type Answer = Result<Answered, Option<i64>>;

/// What counts of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    /// Whether the server expects requests for diagnostics.
    pub(super) is_asked: bool,
    /// The diagnostics in it.
    pub(super) problems: Vec<Problem>,
}

impl Answered {
    fn of(result: &Value) -> Self {
        let is_asked = result["capabilities"]["diagnosticProvider"].is_object();
        Self { is_asked, problems: problems(&result["items"]) }
    }
}

/// What a server has said.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Why its connection is over.
    pub(super) over: Option<String>,
    /// The number of messages with diagnostics.
    pub(super) number: usize,
    pub(super) published: BTreeMap<PathBuf, Published>,
    /// The requests that wait for an answer, and the answers.
    pub(super) answers: HashMap<u64, Option<Answer>>,
    /// The messages since the last edit.
    pub(super) heard: usize,
}

/// What to do after a message.
#[derive(Debug, PartialEq)]
pub(super) enum Reaction {
    Nothing,
    /// This reply goes back.
    Reply(Value),
}

impl Board {
    /// Takes a message.
    ///
    /// # Errors
    /// Why the connection must end.
    pub(super) fn take(&mut self, message: &[u8]) -> Result<Reaction, &'static str> {
        self.heard += 1;
        if self.heard > MOST_MESSAGES {
            return Err("it sent thousands of messages that nobody asked for");
        }
        let message: Value =
            serde_json::from_slice(message).map_err(|_| "it sent a message that is not JSON")?;
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => return Ok(Reaction::Reply(reply(method, id, &message["params"]))),
            (Some("textDocument/publishDiagnostics"), None) => self.publish(&message["params"]),
            (Some(_), None) => {}
            (None, id) => {
                let waits = id.and_then(Value::as_u64).and_then(|id| self.answers.get_mut(&id));
                if let Some(answer) = waits {
                    *answer = Some(match message.get("error") {
                        Some(error) => Err(error["code"].as_i64()),
                        None => Ok(Answered::of(&message["result"])),
                    });
                }
            }
        }
        Ok(Reaction::Nothing)
    }

    fn publish(&mut self, params: &Value) {
        let Some(path) = params["uri"].as_str().and_then(path_of) else { return };
        if self.published.len() >= MOST_FILES && !self.published.contains_key(&path) {
            let oldest = self.published.iter().min_by_key(|(_, it)| it.number).map(|(path, _)| path.clone());
            oldest.map(|path| self.published.remove(&path));
        }
        self.number += 1;
        let version = params["version"].as_i64().and_then(|version| version.try_into().ok());
        let problems = problems(&params["diagnostics"]);
        self.published.insert(path, Published { version, number: self.number, problems });
    }
}

/// The errors and warnings in a list of diagnostics; others are left out.
pub(super) fn problems(list: &Value) -> Vec<Problem> {
    let items = list.as_array().into_iter().flatten();
    let read = |item: &Value| serde_json::from_value::<Diagnostic>(item.clone()).ok();
    let problem = |item: Diagnostic| {
        let severity = match item.severity {
            // Without a severity, the client decides.
            Some(DiagnosticSeverity::ERROR) | None => Severity::Error,
            Some(DiagnosticSeverity::WARNING) => Severity::Warning,
            Some(_) => return None,
        };
        let from = item.range.start;
        let (row, column) = (from.line.saturating_add(1), from.character.saturating_add(1));
        Some(Problem { severity, line: row, column, message: line(&item.message, LONGEST) })
    };
    items.take(MOST_OF_FILE).filter_map(read).filter_map(problem).collect()
}

/// The reply to a request of the server: it gets no settings, and nothing is done for it.
fn reply(method: &str, id: &Value, params: &Value) -> Value {
    const NO_SUCH_METHOD: i32 = -32601;
    const MOST_ITEMS: usize = 100;
    let result = match method {
        "workspace/configuration" => {
            let asked = params["items"].as_array().map_or(0, Vec::len);
            Value::Array(vec![Value::Null; asked.min(MOST_ITEMS)])
        }
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "workspace/diagnostic/refresh"
        | "window/showMessageRequest" => Value::Null,
        _ => {
            let error = serde_json::json!({ "code": NO_SUCH_METHOD, "message": "not supported" });
            return serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The address of a file.
pub(super) fn uri_of(path: &Path) -> Option<String> {
    reqwest::Url::from_file_path(path).ok().map(String::from)
}

/// The file at an address; none if it is on no file system, or too long.
fn path_of(uri: &str) -> Option<PathBuf> {
    let path = reqwest::Url::parse(uri).ok()?.to_file_path().ok()?;
    (path.as_os_str().len() <= LONGEST_PATH).then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(board: &mut Board, message: &Value) -> Result<Reaction, &'static str> {
        board.take(message.to_string().as_bytes())
    }

    fn diagnostic(severity: u32, message: &str) -> Value {
        let range = json!({ "start": { "line": 2, "character": 4 }, "end": { "line": 2, "character": 5 } });
        json!({ "range": range, "severity": severity, "message": message })
    }

    #[test]
    fn diagnostics_are_bounded_and_cleaned() {
        let mut list: Vec<Value> = (0..500).map(|_| diagnostic(1, &"x".repeat(10_000))).collect();
        list[0] = diagnostic(2, "a\u{1b}[2J\nb\u{202e}c");
        list[1] = json!({ "message": 7 });
        list[2] = diagnostic(3, "a hint");
        let mut board = Board::default();
        let params = json!({ "uri": "file:///a%20b", "version": 3, "diagnostics": list });
        let message = json!({ "method": "textDocument/publishDiagnostics", "params": params });
        assert_eq!(said(&mut board, &message), Ok(Reaction::Nothing));
        let published = &board.published[Path::new("/a b")];
        assert_eq!((published.version, published.number, published.problems.len()), (Some(3), 1, 198));
        let first =
            Problem { severity: Severity::Warning, line: 3, column: 5, message: "a[2J bc".to_owned() };
        assert_eq!(published.problems[0], first);
        assert!(published.problems.iter().all(|problem| problem.message.len() <= LONGEST + "…".len()));
        let mut publish = |name: &str| {
            let params = json!({ "uri": format!("file:///{name}"), "diagnostics": [] });
            said(&mut board, &json!({ "method": "textDocument/publishDiagnostics", "params": params }))
                .expect("taken");
        };
        (0..3_000).for_each(|file| publish(&file.to_string()));
        publish(&"x".repeat(5_000));
        assert_eq!(board.published.len(), MOST_FILES);
        let is_there = |path: &str| board.published.contains_key(Path::new(path));
        assert!(is_there("/2999") && is_there("/1000") && !is_there("/999"), "the newest are kept");
    }

    #[test]
    fn only_awaited_answers_are_kept() {
        let mut board = Board::default();
        board.answers.insert(1, None);
        board.answers.insert(3, None);
        let report = json!({ "items": [diagnostic(1, "wrong")], "more": "x".repeat(1_000) });
        said(&mut board, &json!({ "id": 1, "result": report })).expect("taken");
        said(&mut board, &json!({ "id": 2, "result": 6 })).expect("taken");
        said(&mut board, &json!({ "id": 3, "error": { "code": -7, "data": "x" } })).expect("taken");
        said(&mut board, &json!({ "id": "x", "error": {} })).expect("taken");
        let problem = Problem { severity: Severity::Error, line: 3, column: 5, message: "wrong".to_owned() };
        let answered = Answered { is_asked: false, problems: vec![problem] };
        assert_eq!(board.answers, HashMap::from([(1, Some(Ok(answered))), (3, Some(Err(Some(-7))))]));
    }

    #[test]
    fn requests_of_a_server_are_answered_and_do_nothing() {
        let mut board = Board::default();
        let params = json!({ "items": [{}, {}] });
        let asked =
            said(&mut board, &json!({ "id": "a", "method": "workspace/configuration", "params": params }));
        assert_eq!(
            asked,
            Ok(Reaction::Reply(json!({ "jsonrpc": "2.0", "id": "a", "result": [null, null] })))
        );
        let asked = said(&mut board, &json!({ "id": 3, "method": "workspace/applyEdit", "params": {} }));
        assert!(matches!(asked, Ok(Reaction::Reply(reply)) if reply["error"]["code"] == -32601));
    }

    #[test]
    fn garbage_and_a_flood_end_the_connection() {
        let mut board = Board::default();
        assert_eq!(board.take(b"{").expect_err("no JSON"), "it sent a message that is not JSON");
        let noise = json!({ "method": "window/logMessage", "params": {} });
        let flood = (0..=MOST_MESSAGES).find_map(|_| said(&mut board, &noise).err());
        assert_eq!(flood, Some("it sent thousands of messages that nobody asked for"));
    }
}
