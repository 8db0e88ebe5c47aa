//! A conversation with one running language server: which files it has open, in which versions, and what it found in them.
//! Must never leave it with another content of an open file than that on disk at the time of an edit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Initialized,
};
use lsp_types::request::{DocumentDiagnosticRequest, Initialize};
use lsp_types::{
    ClientCapabilities, ClientInfo, DiagnosticClientCapabilities, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, DocumentDiagnosticParams, FileChangeType, FileEvent, InitializeParams,
    InitializedParams, PublishDiagnosticsClientCapabilities, TextDocumentClientCapabilities,
    TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    TextDocumentSyncClientCapabilities, Uri, VersionedTextDocumentIdentifier, WorkspaceClientCapabilities,
    WorkspaceFolder,
};

use super::board::{Problem, uri_of};
use super::link::Link;
use super::{ChangedFile, LanguageServer, language_of};
use crate::after_edit::current_text;
use crate::call::Call;

/// The most files that a server has open; the one that was edited longest ago is closed.
const MOST_OPEN: usize = 32;

/// After so many edits without an answer, it is ended.
const MOST_SILENT: u32 = 3;

/// The time between two requests for diagnostics that the server could not compute yet.
const AGAIN: Duration = Duration::from_millis(200);

/// An open file.
struct OpenFile {
    version: i32,
    /// The digest of its content.
    digest: blake3::Hash,
    /// The edit that changed it last.
    edit: u64,
}

/// The problems of files.
pub(super) type Problems = BTreeMap<PathBuf, Vec<Problem>>;

/// A conversation with a server.
pub(super) struct Session {
    link: Link,
    /// Whether this client requests diagnostics; otherwise the server sends them.
    is_asked: bool,
    language: Option<String>,
    open: BTreeMap<PathBuf, OpenFile>,
    edits: u64,
    /// Edits in a row without an answer.
    silent: u32,
    /// The number of versions of all files: a file that is opened again has a new one.
    versions: i32,
    /// The problems of each file that are not new.
    known: HashMap<PathBuf, HashSet<String>>,
}

impl Session {
    /// Makes the handshake.
    pub(super) async fn begin(mut link: Link, server: &LanguageServer, root: &Path) -> Result<Self, String> {
        let params = InitializeParams {
            process_id: None,
            initialization_options: server.options.clone(),
            capabilities: capabilities(),
            workspace_folders: Some(vec![WorkspaceFolder { uri: uri(root)?, name: "workspace".to_owned() }]),
            client_info: Some(ClientInfo { name: "retake".to_owned(), version: None }),
            ..InitializeParams::default()
        };
        let id = link.request::<Initialize>(params).await?;
        let answer = link.answer(id).await?;
        let answer = answer.map_err(|_| "it refused the first request (`initialize`)".to_owned())?;
        link.notify::<Initialized>(InitializedParams {}).await?;
        let (is_asked, language) = (answer.is_asked, server.language.clone());
        let (open, known) = (BTreeMap::new(), HashMap::new());
        Ok(Self { link, is_asked, language, open, edits: 0, silent: 0, versions: 0, known })
    }

    /// Why it is over, if it is.
    pub(super) fn over(&self) -> Option<String> {
        self.link.board(|board| board.over.clone())
    }

    /// What it finds in the files of an edit, and what is new in others.
    pub(super) async fn check(&mut self, call: &Call, files: &[ChangedFile]) -> Result<Problems, String> {
        if self.silent == MOST_SILENT {
            return Err(format!("it gave no answer after {MOST_SILENT} edits"));
        }
        self.silent += 1;
        self.edits += 1;
        self.link.begin();
        self.link.forget_requests();
        let since = self.link.board(|board| board.number);
        if self.edits == 2 {
            self.know_others();
        }
        self.refresh(call, files).await?;
        for file in files {
            self.show(file).await?;
        }
        self.saved(files).await?;
        let found = match self.is_asked {
            true => self.ask(call).await?,
            false => self.receive(files, since).await?,
        };
        self.silent = 0;
        Ok(self.new_ones(found, files))
    }

    /// Gives it the current content of other open files: a rewind or a command may have changed them.
    async fn refresh(&mut self, call: &Call, files: &[ChangedFile]) -> Result<(), String> {
        let is_other = |path: &&PathBuf| !files.iter().any(|file| file.path == **path);
        let others: Vec<PathBuf> = self.open.keys().filter(is_other).cloned().collect();
        let roots = call.writable.clone();
        let read = move || others.into_iter().map(|path| (current_text(&path, &roots), path)).collect();
        let texts: Vec<(Option<String>, PathBuf)> =
            crate::blocking(read).await.map_err(|_| "its files cannot be read".to_owned())?;
        for (text, path) in texts {
            let file = ChangedFile { path, text, is_new: false };
            self.show(&file).await?;
        }
        Ok(())
    }

    /// Opens, changes or closes a file.
    async fn show(&mut self, file: &ChangedFile) -> Result<(), String> {
        let path = &file.path;
        let Some(text) = &file.text else { return self.close(path).await };
        let (digest, edit) = (blake3::hash(text.as_bytes()), self.edits);
        let uri = uri(path)?;
        let version = self.versions + 1;
        let Some(open) = self.open.get(path) else {
            let language_id = self.language.clone().unwrap_or_else(|| language_of(path));
            let text_document = TextDocumentItem { uri, language_id, version, text: text.clone() };
            self.link.notify::<DidOpenTextDocument>(DidOpenTextDocumentParams { text_document }).await?;
            self.open.insert(path.clone(), OpenFile { version, digest, edit });
            self.versions = version;
            return self.close_oldest().await;
        };
        if open.digest == digest {
            return Ok(());
        }
        let change = TextDocumentContentChangeEvent { range: None, range_length: None, text: text.clone() };
        let params = DidChangeTextDocumentParams {
            text_document: VersionedTextDocumentIdentifier { uri, version },
            content_changes: vec![change],
        };
        self.link.notify::<DidChangeTextDocument>(params).await?;
        self.open.insert(path.clone(), OpenFile { version, digest, edit });
        self.versions = version;
        Ok(())
    }

    async fn close(&mut self, path: &Path) -> Result<(), String> {
        if self.open.contains_key(path) {
            let text_document = TextDocumentIdentifier { uri: uri(path)? };
            self.link.notify::<DidCloseTextDocument>(DidCloseTextDocumentParams { text_document }).await?;
            // Not before: a wait that is given up must not leave it open there.
            self.open.remove(path);
        }
        Ok(())
    }

    async fn close_oldest(&mut self) -> Result<(), String> {
        if self.open.len() <= MOST_OPEN {
            return Ok(());
        }
        let oldest = self.open.iter().min_by_key(|(_, open)| open.edit).map(|(path, _)| path.clone());
        self.close(&oldest.expect("BUG: some files are open")).await
    }

    /// Reports that files on disk have changed.
    async fn saved(&self, files: &[ChangedFile]) -> Result<(), String> {
        let mut changes = Vec::new();
        for file in files {
            let typ = match (&file.text, file.is_new) {
                (None, _) => FileChangeType::DELETED,
                (Some(_), true) => FileChangeType::CREATED,
                (Some(_), false) => FileChangeType::CHANGED,
            };
            changes.push(FileEvent { uri: uri(&file.path)?, typ });
        }
        self.link.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes }).await?;
        for file in files.iter().filter(|file| file.text.is_some()) {
            let text_document = TextDocumentIdentifier { uri: uri(&file.path)? };
            let params = DidSaveTextDocumentParams { text_document, text: None };
            self.link.notify::<DidSaveTextDocument>(params).await?;
        }
        Ok(())
    }

    /// Waits for the diagnostics that it sends for these versions.
    async fn receive(&self, files: &[ChangedFile], since: usize) -> Result<Problems, String> {
        let wanted: Vec<(&PathBuf, i32)> =
            files.iter().filter_map(|file| Some((&file.path, self.open.get(&file.path)?.version))).collect();
        let is_there = |path: &PathBuf, wanted: i32, board: &super::board::Board| {
            board.published.get(path).is_some_and(|published| match published.version {
                Some(version) => version >= wanted,
                None => published.number > since,
            })
        };
        self.link.until(|board| wanted.iter().all(|(path, version)| is_there(path, *version, board))).await?;
        let published = |board: &super::board::Board| {
            board.published.iter().map(|(path, it)| (path.clone(), it.problems.clone())).collect()
        };
        Ok(self.link.board(published))
    }

    /// Asks for the diagnostics of all open files.
    async fn ask(&mut self, call: &Call) -> Result<Problems, String> {
        let mut found = Problems::new();
        let mut paths: Vec<PathBuf> = self.open.keys().cloned().collect();
        while !paths.is_empty() {
            let mut asked = Vec::new();
            for path in paths.drain(..) {
                let params = DocumentDiagnosticParams {
                    text_document: TextDocumentIdentifier { uri: uri(&path)? },
                    identifier: None,
                    previous_result_id: None,
                    work_done_progress_params: Default::default(),
                    partial_result_params: Default::default(),
                };
                asked.push((self.link.request::<DocumentDiagnosticRequest>(params).await?, path));
            }
            for (id, path) in asked {
                match self.link.answer(id).await? {
                    Ok(report) => drop(found.insert(path, report.problems)),
                    Err(code) if comes_later(code) => paths.push(path),
                    Err(_) => {}
                }
            }
            if !paths.is_empty() {
                call.host.sleep(AGAIN).await;
            }
        }
        Ok(found)
    }

    /// What it has published about other files after the first edit was there before it. It may come late, when the server has
    /// read the whole workspace.
    fn know_others(&mut self) {
        let (open, known) = (&self.open, &mut self.known);
        self.link.board(|board| {
            known.retain(|path, _| open.contains_key(path) || board.published.contains_key(path));
            let others = board.published.iter().filter(|(path, _)| !open.contains_key(*path));
            for (path, it) in others {
                known.entry(path.clone()).or_default().extend(messages(&it.problems));
            }
        });
    }

    /// The problems of edited files, and new ones of other files. Before the first edit nothing is known of these.
    fn new_ones(&mut self, found: Problems, files: &[ChangedFile]) -> Problems {
        let mut new = Problems::new();
        for (path, problems) in found {
            let is_edited = files.iter().any(|file| file.path == path);
            let known = self.known.entry(path.clone()).or_default();
            let is_new = |problem: &Problem| !known.contains(&problem.message);
            let shown: Vec<Problem> = problems
                .iter()
                .filter(|problem| is_edited || self.edits > 1 && is_new(problem))
                .cloned()
                .collect();
            *known = messages(&problems).collect();
            if !shown.is_empty() {
                new.insert(path, shown);
            }
        }
        new
    }
}

fn messages(problems: &[Problem]) -> impl Iterator<Item = String> {
    problems.iter().map(|problem| problem.message.clone())
}

fn uri(path: &Path) -> Result<Uri, String> {
    let uri = uri_of(path).and_then(|uri| Uri::from_str(&uri).ok());
    uri.ok_or_else(|| "a path has no address".to_owned())
}

/// Whether a server says that it cannot answer yet: the content has changed, or it has cancelled the request.
fn comes_later(code: Option<i64>) -> bool {
    const CONTENT_MODIFIED: i64 = -32801;
    const SERVER_CANCELLED: i64 = -32802;
    matches!(code, Some(CONTENT_MODIFIED | SERVER_CANCELLED))
}

/// What this client can do.
fn capabilities() -> ClientCapabilities {
    let text_document = TextDocumentClientCapabilities {
        synchronization: Some(TextDocumentSyncClientCapabilities {
            did_save: Some(true),
            ..TextDocumentSyncClientCapabilities::default()
        }),
        publish_diagnostics: Some(PublishDiagnosticsClientCapabilities {
            version_support: Some(true),
            ..PublishDiagnosticsClientCapabilities::default()
        }),
        diagnostic: Some(DiagnosticClientCapabilities::default()),
        ..TextDocumentClientCapabilities::default()
    };
    let workspace = WorkspaceClientCapabilities {
        configuration: Some(true),
        workspace_folders: Some(true),
        ..WorkspaceClientCapabilities::default()
    };
    ClientCapabilities {
        text_document: Some(text_document),
        workspace: Some(workspace),
        ..ClientCapabilities::default()
    }
}
