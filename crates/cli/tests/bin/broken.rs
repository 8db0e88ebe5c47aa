//! The whole program, with an owner that panics during the full-screen client as soon as a file exists: on the main thread, on
//! another one, or in a task. Must never do anything else than the program does then.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use retake_cli::{
    Environment, FoundOwner, Opened, Owner, Paths, ServedAccounts, Serving, Setting, Terminal, run,
};
use retake_tui::ui::Configured;
use retake_wire::Problem;

/// How often to check for the file.
const LOOK: Duration = Duration::from_millis(10);

/// Serves requests until it panics.
pub(crate) fn client(place: &str, sign: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let paths = Paths {
        data_dir: PathBuf::new(),
        config_file: PathBuf::new(),
        log_file: PathBuf::new(),
        config_named_by: None,
    };
    let environment = Environment { folder: PathBuf::from("/"), paths };
    let broken = Broken { place: place.to_owned(), sign: sign.to_owned() };
    let arguments = vec!["retake".into()];
    let code = runtime.block_on(run(arguments, &environment, &broken, &mut Terminal::new(|| 0)));
    if code == 0 { Ok(()) } else { Err(io::Error::other(format!("exit code {code}"))) }
}

struct Broken {
    place: String,
    sign: String,
}

async fn break_at(sign: String) {
    while !std::fs::exists(&sign).unwrap_or(true) {
        tokio::time::sleep(LOOK).await;
    }
    panic!("a bug, as asked for");
}

#[async_trait]
impl Owner for Broken {
    async fn open(&self, _: &Paths) -> Result<Opened, Problem> {
        let sign = self.sign.clone();
        match self.place.as_str() {
            "thread" => {
                let here = tokio::runtime::Handle::current();
                std::thread::spawn(move || here.block_on(break_at(sign)));
            }
            "task" => drop(tokio::spawn(break_at(sign))),
            _ => break_at(sign).await,
        }
        std::future::pending().await
    }

    async fn find(&self, _: &Paths) -> Result<Option<FoundOwner>, Problem> {
        Ok(None)
    }

    async fn serve(&self, _: &Paths, _: Option<SocketAddr>, _: ServedAccounts) -> Result<Serving, Problem> {
        std::future::pending().await
    }

    fn ui_settings(&self, _: &Paths) -> Result<Configured, Problem> {
        Ok(Configured::default())
    }

    fn wrong(&self, _: &Paths) -> Result<Vec<String>, Box<Problem>> {
        Ok(Vec::new())
    }

    fn warnings(&self, _: &Paths) -> Result<Vec<String>, Box<Problem>> {
        Ok(Vec::new())
    }

    fn settings(&self, _: &Paths, _: &Setting) -> Result<String, Box<Problem>> {
        Ok(String::new())
    }
}
