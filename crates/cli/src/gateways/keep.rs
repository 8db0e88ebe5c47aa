//! Keeps the gateway of one account going: it is tried again where that may help. Must never report the same trouble twice in a row, and
//! never end the process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_gateway::{Condition, Health};
use retake_wire::OwnerAddress;
use retake_wire::reply::{GatewayState, GatewayTrouble};
use retake_wire::{Client, HttpClient};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::Instrument as _;

use super::{Around, one};
use crate::accounts;

/// The first pause before a gateway is tried again; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// The longest pause.
const MOST: Duration = Duration::from_mins(5);

/// After so much work, the pauses begin with the first one again.
const GOOD: Duration = Duration::from_mins(1);

/// Runs the gateway of an account until it is stopped.
pub(super) async fn keep(name: String, around: Around, stopped: watch::Receiver<bool>) {
    let span = tracing::info_span!("gateway", account = name);
    let kept = Keeper { name, around, stopped };
    kept.run().instrument(span).await;
}

#[derive(Clone)]
struct Keeper {
    name: String,
    around: Around,
    stopped: watch::Receiver<bool>,
}

impl Keeper {
    async fn run(self) {
        let (mut pause, mut told) = (FIRST, None);
        self.says(None, None);
        loop {
            let began_ms = SystemClock.now_ms();
            let trouble = match self.try_once().await {
                Ok(()) => break,
                Err(trouble) => trouble,
            };
            if SystemClock.now_ms().saturating_sub(began_ms) >= millis(GOOD) {
                (pause, told) = (FIRST, None);
            }
            if told.as_ref() != Some(&trouble) {
                tracing::error!(cause = code(&trouble), "the gateway does not run");
            }
            let again = may_pass(&trouble).then_some(pause);
            let again_ms = again.map(|pause| SystemClock.now_ms().saturating_add(millis(pause)));
            self.says(Some(trouble.clone()), again_ms);
            told = Some(trouble);
            pause = (pause * 2).min(MOST);
            let waits = async {
                match again {
                    Some(pause) => sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = waits => {}
                () = self.is_stopped() => break,
            }
        }
        self.around.states.send_modify(|all| drop(all.remove(&self.name)));
    }

    /// One life of the gateway, in a task of its own: a panic ends only that.
    async fn try_once(&self) -> Result<(), GatewayTrouble> {
        let life = tokio::spawn(self.clone().live().in_current_span());
        // The hook has logged a panic.
        life.await.unwrap_or(Err(GatewayTrouble::Failed))
    }

    async fn live(self) -> Result<(), GatewayTrouble> {
        let account =
            accounts::read(&self.around.config_file, &self.name).map_err(|error| not_read(&error))?;
        let adapter = one::adapter(&self.name, &account).map_err(|_| GatewayTrouble::BadAccount)?;
        let address = one::address(&self.around.data_dir, &account);
        let client = client(address)?;
        let health = Health::default();
        let mut seen = health.watch();
        let options = one::options(&self.name, health);
        one::take_over(&*client, &options).await;
        let mut gateway = Box::pin(retake_gateway::run(adapter, client, options, self.is_stopped()));
        loop {
            tokio::select! {
                ended = &mut gateway => return ended.map_err(|error| one::trouble(&error)),
                Ok(()) = seen.changed() => {
                    let condition = seen.borrow_and_update().clone();
                    match condition {
                        // What was said of an earlier life still holds.
                        Condition::Starting => {}
                        Condition::Works => self.says(None, None),
                        Condition::Fails(failure) => self.says(one::trouble_of(&failure), None),
                    }
                }
            }
        }
    }

    async fn is_stopped(&self) {
        // A sender that is gone means the same.
        drop(self.stopped.clone().wait_for(|it| *it).await);
    }

    /// Says how the gateway is.
    fn says(&self, trouble: Option<GatewayTrouble>, again_ms: Option<i64>) {
        let (account, is_here) = (self.name.clone(), true);
        let state = GatewayState { account, is_here, trouble, again_ms, holder: None };
        self.around.states.send_if_modified(|all| {
            all.insert(self.name.clone(), state.clone()).is_none_or(|before| before != state)
        });
    }
}

fn client(address: OwnerAddress) -> Result<Arc<dyn Client>, GatewayTrouble> {
    let client = HttpClient::new(address).map_err(|_| GatewayTrouble::Failed)?;
    Ok(Arc::new(client))
}

/// Why the file of an account was not read. One that is not there, or has the wrong content, lasts until it is changed. What the system
/// reports of the disk may pass.
fn not_read(error: &io::Error) -> GatewayTrouble {
    match error.raw_os_error() {
        Some(_) if error.kind() != io::ErrorKind::NotFound => GatewayTrouble::UnreadableAccount,
        _ => GatewayTrouble::BadAccount,
    }
}

/// Whether a trouble may pass by itself. The others last until the file of the account is changed.
fn may_pass(trouble: &GatewayTrouble) -> bool {
    match trouble {
        GatewayTrouble::BadToken | GatewayTrouble::BadAccount => false,
        GatewayTrouble::NotPermitted { problem } => {
            !["unauthorized", "not_permitted", "owner_version"].contains(&problem.as_str())
        }
        GatewayTrouble::Occupied
        | GatewayTrouble::Held { .. }
        | GatewayTrouble::UnreadableAccount
        | GatewayTrouble::Unreachable
        | GatewayTrouble::Refused
        | GatewayTrouble::Failed
        | GatewayTrouble::Unknown => true,
    }
}

/// The name of a trouble in the log. It never holds a name or an address.
fn code(trouble: &GatewayTrouble) -> &'static str {
    match trouble {
        GatewayTrouble::BadToken => "the platform does not accept the token",
        GatewayTrouble::Occupied => "another program uses the account",
        GatewayTrouble::Held { .. } => "another gateway has the account",
        GatewayTrouble::NotPermitted { .. } => "the owner refuses the gateway",
        GatewayTrouble::BadAccount => "the file of the account cannot be used",
        GatewayTrouble::UnreadableAccount => "the file of the account cannot be read now",
        GatewayTrouble::Unreachable => "the platform cannot be reached",
        GatewayTrouble::Refused => "the platform refuses",
        GatewayTrouble::Failed => "an error in the gateway",
        GatewayTrouble::Unknown => "unknown",
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
