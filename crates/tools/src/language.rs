//! Language servers: programs of the settings that find errors in the files of an edit. They are untrusted: a server must never
//! delay an edit by more than a few seconds, use unlimited memory, or turn an edit into a failure.

mod board;
mod frames;
mod link;
mod report;
mod server;
mod session;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::join_all;
use serde_json::Value;

use self::server::{Checked, Server};
use crate::after_edit::FileNames;
use crate::call::Call;
use crate::shell::ShellConfig;

/// A language server of the settings.
#[derive(Clone, Debug)]
pub struct LanguageServer {
    /// Its name in the settings.
    pub name: String,
    /// The files that it checks.
    pub files: FileNames,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What the protocol calls their language; without it, the end of a file's name decides.
    pub language: Option<String>,
    /// Its own options.
    pub options: Option<Value>,
    /// Absolute paths of folders that it may write, beside temporary ones.
    pub write: Vec<PathBuf>,
}

/// The most servers that run at once; the one that was used longest ago is ended.
const MOST_SERVERS: usize = 8;

/// A file that an edit has changed.
#[derive(Clone, Debug)]
pub(crate) struct ChangedFile {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// Its content; `None` if it is not there, or is no text of a usual size.
    pub(crate) text: Option<String>,
    /// Whether the edit has made it.
    pub(crate) is_new: bool,
}

/// The language servers of all workspaces, each started at the first edit that it is for. Dropping this ends them.
#[derive(Default)]
pub(crate) struct LanguageServers {
    known: Vec<Arc<LanguageServer>>,
    shell: Arc<ShellConfig>,
    /// The one that was used last is the last.
    started: Mutex<Vec<Started>>,
}

/// A server of a workspace.
struct Started {
    /// The position in the settings.
    at: usize,
    root: PathBuf,
    server: Arc<Server>,
}

impl LanguageServers {
    pub(crate) fn new(known: Vec<LanguageServer>, shell: ShellConfig) -> Self {
        let known = known.into_iter().map(Arc::new).collect();
        Self { known, shell: Arc::new(shell), started: Mutex::default() }
    }

    /// Whether one of them checks a file with this path.
    pub(crate) fn concern(&self, path: &Path) -> bool {
        self.known.iter().any(|server| server.files.fit(path))
    }

    /// What they find after an edit of these files of a workspace: a remark for each server that has something to report. `shown`
    /// is how a path is shown to the model, or whether it is left out.
    pub(crate) async fn check(
        &self,
        call: &Call,
        root: &Path,
        files: &[ChangedFile],
        shown: impl Fn(&Path) -> Option<String>,
    ) -> Vec<String> {
        let fitting = self.known.iter().enumerate().filter_map(|(at, config)| {
            let files: Vec<ChangedFile> =
                files.iter().filter(|file| config.files.fit(&file.path)).cloned().collect();
            (!files.is_empty()).then(|| (self.server(at, root), files))
        });
        let checks = fitting.map(|(server, files)| async move {
            let checked = server.check(call, &files).await;
            (server, checked)
        });
        let remark = |(server, checked): (Arc<Server>, Checked)| match checked {
            Checked::Found(found) => report::report(server.name(), &found, &shown),
            Checked::Nothing => String::new(),
            Checked::Failed(why) => {
                format!("[no diagnostics of the language server {}: {why}]", server.name())
            }
        };
        let all: Vec<String> = join_all(checks).await.into_iter().map(remark).collect();
        all.into_iter().filter(|remark| !remark.is_empty()).collect()
    }

    fn server(&self, at: usize, root: &Path) -> Arc<Server> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let same = started.iter().position(|known| known.at == at && known.root == root);
        let server = match same {
            Some(place) => started.remove(place).server,
            None => Arc::new(Server::new(&self.known[at], root, &self.shell)),
        };
        if started.len() == MOST_SERVERS {
            started.remove(0);
        }
        started.push(Started { at, root: root.to_owned(), server: Arc::clone(&server) });
        server
    }
}

/// What the protocol calls the language of a file, by the end of its name.
fn language_of(path: &Path) -> String {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "typescriptreact",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "javascriptreact",
        "h" => "c",
        "cc" | "cxx" | "hpp" | "hh" => "cpp",
        "cs" => "csharp",
        "rb" => "ruby",
        "sh" | "bash" => "shellscript",
        "md" => "markdown",
        "yml" => "yaml",
        "kt" => "kotlin",
        "hs" => "haskell",
        "ex" | "exs" => "elixir",
        end => end,
    }
    .to_owned()
}
