//! Starts the owner of a data directory as a process of its own, and waits until it is there. Must never leave a start that failed
//! unsaid: what the owner says of it is this command's error.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use retake_server::Options;
use retake_wire::{Problem, ProblemKind, Ready};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use crate::gone::is_stopped;

/// The word that makes a process of this program the owner.
pub(crate) const OWNER: &str = "owner-process";

/// How often it is looked whether another client has started the owner.
const LOOK: Duration = Duration::from_millis(5);

/// So often at most: whoever is stopped in the middle of a start holds up nobody for ever.
const LOOKS: u32 = 6000;

/// How long one that can't be the owner is waited for.
const END: Duration = Duration::from_secs(5);

/// How often it is looked whether an owner that starts is stopped.
const PAUSE: Duration = Duration::from_millis(200);

/// One that was found stopped so often is not waited for.
const STOPPED: u32 = 25;

/// While this lives, no other client starts an owner of the same data.
pub(crate) struct Turn(#[expect(dead_code, reason = "held for its lock")] Option<File>);

impl Turn {
    /// Waits for it. Where the data directory is not there yet, nobody has to be waited for: the owner's own lock decides.
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

/// Starts an owner that waits so long for another one to end, and gives what the person should know.
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
    // It lives on; once it has ended, it is buried here as long as this process lives.
    tokio::spawn(async move { child.wait().await });
    Ok(ready.notices)
}

/// Waits until a start can't come to a good end any more: its process has ended, or is stopped. Why the latter.
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
            // What it said before is on its way.
            tokio::time::sleep(PAUSE).await;
            Ok(())
        }
        pid = stopped => Err(format!("its process {pid} is stopped: `kill -CONT {pid}` resumes it")),
    }
}

fn unstarted(causes: Vec<String>) -> Problem {
    Problem {
        code: "owner_start".into(),
        kind: ProblemKind::Storage,
        message: "can't start the owner of the conversations".to_owned(),
        hint: Some("`retake serve` in another terminal is one, too, and shows what is wrong".into()),
        causes,
        ..Problem::default()
    }
}
