//! Starts the owner of a data directory as a separate process, and waits until it is ready. Must report every failed start: the error of
//! the owner becomes the error of this command.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use retake_server::Options;
use retake_wire::{Problem, ProblemKind, Ready};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::process_end::is_stopped;

/// The first argument that makes a process the owner.
pub(crate) const OWNER: &str = "owner-process";

/// How often to check whether another client has started the owner.
const LOOK: Duration = Duration::from_millis(5);

/// The limit of these checks. Without it, a client suspended during a start would block the others for ever.
const LOOKS: u32 = 6000;

/// How long to wait for the end of a process that could not become the owner.
const END: Duration = Duration::from_secs(5);

/// How often to check whether a starting owner is suspended.
const PAUSE: Duration = Duration::from_millis(200);

/// After this many checks, starting a suspended owner has failed.
const STOPPED: u32 = 25;

/// While this exists, no other client starts an owner of the same data.
pub(crate) struct StartLock(#[expect(dead_code, reason = "held for its lock")] Option<File>);

impl StartLock {
    /// Waits for the lock. Without a data directory there is no lock yet; then the lock of the owner decides.
    pub(crate) async fn take(data_dir: &Path) -> Self {
        let Ok(folder) = File::open(data_dir) else { return Self(None) };
        for _ in 0..LOOKS {
            match folder.try_lock() {
                Ok(()) => return Self(Some(folder)),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK).await,
                Err(TryLockError::Error(_)) => break,
            }
        }
        Self(None)
    }
}

/// Starts an owner that waits this long for another one to end. Returns notices for the person.
pub(crate) async fn start(options: &Options, wait: Duration) -> Result<Vec<String>, Problem> {
    let mut child = Command::new("/proc/self/exe")
        .arg0("retake")
        .arg(OWNER)
        .arg(&options.data_dir)
        .arg(&options.config_file)
        .arg(wait.as_millis().to_string())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| unstarted(vec![error.to_string()]))?;
    let (mut said, mut trouble) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let hears = async {
        if let Some(mut stdout) = stdout {
            drop(stdout.read_to_end(&mut said).await);
        }
    };
    let fails = async {
        if let Some(mut stderr) = stderr {
            drop(stderr.read_to_end(&mut trouble).await);
        }
    };
    let pid = child.id();
    let ended = tokio::select! {
        biased;
        _ = async { tokio::join!(hears, fails) } => Ok(()),
        ended = over(&mut child, pid) => ended,
    };
    ended.map_err(|why| unstarted(vec![why]))?;
    let Ok(ready) = serde_json::from_slice::<Ready>(&said) else {
        let trouble = String::from_utf8_lossy(&trouble).trim().to_owned();
        let ended = child.wait().await.map(|status| format!("its process ended: {status}")).ok();
        return Err(unstarted(ended.into_iter().chain((!trouble.is_empty()).then_some(trouble)).collect()));
    };
    if let Some(problem) = ready.problem {
        drop(tokio::time::timeout(END, child.wait()).await);
        return Err(problem);
    }
    // It continues after this command. While this process exists, it reaps the ended owner.
    tokio::spawn(async move { child.wait().await });
    Ok(ready.notices)
}

/// Waits until a start has failed: its process has ended, or is suspended (the error).
async fn over(child: &mut Child, pid: Option<u32>) -> Result<(), String> {
    let stopped = async {
        let Some(pid) = pid else { return std::future::pending().await };
        let mut looks = 0;
        while looks < STOPPED {
            tokio::time::sleep(PAUSE).await;
            looks = if is_stopped(pid) { looks + 1 } else { 0 };
        }
        pid
    };
    tokio::select! {
        _ = child.wait() => {
            // Its last output is still arriving.
            tokio::time::sleep(PAUSE).await;
            Ok(())
        }
        pid = stopped => Err(format!("its process {pid} is suspended: `kill -CONT {pid}` resumes it")),
    }
}

fn unstarted(causes: Vec<String>) -> Problem {
    Problem {
        code: "owner_start".into(),
        kind: ProblemKind::Storage,
        message: "cannot start the owner of the conversations".to_owned(),
        hint: Some("run `retake serve` in another terminal: it is an owner too, and shows the error".into()),
        causes,
        ..Problem::default()
    }
}
