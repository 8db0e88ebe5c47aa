//! The gateways of `retake serve`: a task for each account whose file is there, each a client with the gateway's own token. Must never end
//! the owner, whatever becomes of a gateway.

mod keep;
pub(crate) mod one;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use retake_wire::reply::GatewayState;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::accounts;
use crate::owner::ServedAccounts;

/// How often to look which accounts there are. A command that adds or removes one changes only files.
const LOOK: Duration = Duration::from_secs(2);

/// How long gateways may take to end. Each one allows calls that have begun five seconds.
const END: Duration = Duration::from_secs(8);

/// How the gateways are, by their accounts.
pub(crate) type States = watch::Sender<BTreeMap<String, GatewayState>>;

/// What all gateways of the process need.
#[derive(Clone)]
pub(crate) struct Around {
    /// The settings file: the files of the accounts are beside it.
    pub(crate) config_file: PathBuf,
    /// The data directory, with the socket of the owner.
    pub(crate) data_dir: PathBuf,
    /// Where each gateway says how it is.
    pub(crate) states: States,
}

/// The gateways in this process. When this is dropped, they end.
pub(crate) struct Gateways {
    stop: watch::Sender<bool>,
    all: JoinHandle<()>,
}

impl Gateways {
    /// Starts those that are wanted. Accounts that are added, changed or removed later are noticed.
    pub(crate) fn start(wanted: ServedAccounts, around: Around) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, all: tokio::spawn(keep_all(wanted, around, stopped)) }
    }

    /// Ends them. What the platforms have acknowledged by then is stored.
    pub(crate) async fn stop(running: Option<Self>) {
        let Some(mut running) = running else { return };
        running.stop.send_replace(true);
        if timeout(END, &mut running.all).await.is_err() {
            // Who does not end in time counts as killed.
            running.all.abort();
        }
    }
}

/// What tells whether the file of an account was changed: its identity, times and size.
type Version = (u64, i64, i64, u64);

/// A gateway at work.
struct Kept {
    version: Option<Version>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Kept {
    fn start(name: String, version: Option<Version>, around: &Around) -> Self {
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(keep::keep(name, around.clone(), stopped));
        Self { version, stop, task }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        // A panic is logged by its hook.
        drop(self.task.await);
    }
}

async fn keep_all(wanted: ServedAccounts, around: Around, mut stopped: watch::Receiver<bool>) {
    let mut kept: BTreeMap<String, Kept> = BTreeMap::new();
    loop {
        // A folder that cannot be read now changes nothing.
        if let Ok(names) = accounts::names(&around.config_file) {
            let version_of = |name: &String| match version(&accounts::path(&around.config_file, name)) {
                Ok(version) => version,
                // The disk does not say: it is taken for what it was.
                Err(_) => kept.get(name).and_then(|it| it.version),
            };
            let there: BTreeMap<String, Option<Version>> = names
                .into_iter()
                .filter(|name| wanted.covers(name))
                .map(|name| (name.clone(), version_of(&name)))
                .collect();
            let is_old = |(name, it): &(&String, &Kept)| there.get(*name) != Some(&it.version);
            let old: Vec<String> = kept.iter().filter(is_old).map(|(name, _)| name.clone()).collect();
            for name in old {
                if let Some(gateway) = kept.remove(&name) {
                    gateway.end().await;
                }
                around.states.send_modify(|all| drop(all.remove(&name)));
            }
            for (name, version) in there {
                kept.entry(name.clone()).or_insert_with(|| Kept::start(name, version, &around));
            }
        }
        tokio::select! {
            () = sleep(LOOK) => {}
            // The sender is gone with its owner.
            _ = stopped.wait_for(|it| *it) => break,
        }
    }
    futures::future::join_all(kept.into_values().map(Kept::end)).await;
}

/// The version of a file; none if there is no file.
fn version(path: &Path) -> io::Result<Option<Version>> {
    match fs::metadata(path) {
        Ok(meta) => Ok(Some((meta.ino(), meta.ctime(), meta.ctime_nsec(), meta.size()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
