//! The information about an owner for clients: its start, its addresses, whether it can be told to stop.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;

use retake_engine::settings::Settings;
use retake_wire::reply::GatewayState;
use tokio::sync::{Notify, watch};

/// The information about an owner for clients.
pub(crate) struct OwnerInfo {
    pub(crate) data_dir: PathBuf,
    pub(crate) config_file: PathBuf,
    pub(crate) since_ms: i64,
    pub(crate) address: OnceLock<SocketAddr>,
    /// Notified when the data directory is not in its place.
    pub(crate) displaced: Notify,
    /// The content of the settings file when the owner began.
    settings: Option<Vec<u8>>,
    stop: watch::Sender<bool>,
    /// Changes when a token is revoked.
    pub(crate) revocations: watch::Sender<()>,
    /// The gateways in this process, by their accounts.
    pub(crate) gateways: watch::Sender<BTreeMap<String, GatewayState>>,
}

impl OwnerInfo {
    pub(crate) fn new(data_dir: PathBuf, config_file: PathBuf, since_ms: i64) -> Self {
        let (displaced, stop) = (Notify::new(), watch::Sender::new(false));
        let revocations = watch::Sender::new(());
        let settings = std::fs::read(&config_file).ok();
        Self {
            data_dir,
            config_file,
            since_ms,
            address: OnceLock::new(),
            displaced,
            settings,
            stop,
            revocations,
            gateways: watch::Sender::default(),
        }
    }

    /// Whether the settings file has other content now.
    pub(crate) fn reads_others(&self) -> bool {
        std::fs::read(&self.config_file).ok() != self.settings
    }

    /// Whether settings have changed that an owner reads only at its start. A file that cannot be read counts as
    /// unchanged.
    pub(crate) fn keeps_older(&self) -> bool {
        let read =
            |bytes: Option<&[u8]>| Settings::parse(std::str::from_utf8(bytes.unwrap_or_default()).ok()?).ok();
        let now = std::fs::read(&self.config_file).ok();
        if now == self.settings {
            return false;
        }
        let (Some(then), Some(now)) = (read(self.settings.as_deref()), read(now.as_deref())) else {
            return false;
        };
        then.needs_restart_for(&now)
    }

    /// Whether somebody waits for the stop request.
    pub(crate) fn serves(&self) -> bool {
        self.stop.receiver_count() > 0
    }

    /// Tells the owner to stop. Returns whether it can be told.
    pub(crate) fn tell_to_stop(&self) -> bool {
        self.stop.send(true).is_ok()
    }

    /// Waits for the stop request. A request between this call and the wait counts.
    pub(crate) fn told_to_stop(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stop = self.stop.subscribe();
        // When the sender is gone, the owner is over, too.
        async move { drop(stop.wait_for(|stop| *stop).await) }
    }
}
