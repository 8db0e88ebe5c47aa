//! Hooks that a folder brings in its file `.retake/hooks.toml`. One gets events only after a person approved its entry, and only
//! while the file has exactly this entry. Must never trust the file, and never follow a link out of the folder.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use retake_core::{Attempt, Delivery, OutboxFailure, Remedy, shell_word};
use retake_store::Destination as StoredDestination;
use retake_tools::mcp::{Allowed, ConfigError, entry_digest};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::hook::destination;
use super::{Destination, HookGround};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::files::blocking;
use crate::log::LogFailure as _;
use crate::settings::{HOOKS_FILE as FILE, HookEntry, HookTarget, Settings, folder_hooks};

/// The longest file that is read.
const MOST_BYTES: u64 = 64 << 10;

/// What hooks of folders need: the file of approvals, the hooks of the settings, and what every hook needs.
pub struct FolderHooks {
    approvals: Allowed,
    path: PathBuf,
    own: Vec<HookEntry>,
    ground: Arc<HookGround>,
}

/// The hooks that a person sees for a folder.
#[derive(Clone, Debug)]
pub struct HooksShown {
    /// The hooks of the settings, then those of the folder, each by name.
    pub hooks: Vec<HookShown>,
    /// Why the file of the approvals and that of the folder cannot be used.
    pub problems: Vec<EngineError>,
}

/// A hook.
#[derive(Clone, Debug)]
pub struct HookShown {
    /// Its name.
    pub name: String,
    /// Whether the folder brings it; the settings have the others.
    pub is_of_folder: bool,
    /// Its state.
    pub state: HookState,
    /// The events that it gets.
    pub events: Vec<String>,
    /// Its command, quoted for a shell.
    pub command: Option<String>,
    /// The address that gets its events. Of a hook of the settings only the beginning: the rest may be a secret.
    pub address: Option<String>,
    /// Whether events carry texts.
    pub texts: bool,
    /// Whether its command reaches the network.
    pub network: bool,
    /// Where its command may write, quoted for a shell.
    pub write: Vec<String>,
    /// The variable whose value signs its requests.
    pub variable: Option<String>,
    /// How long an event may take.
    pub limit: Duration,
    /// How long an event is tried again.
    pub keep_trying: Duration,
    /// The digest of its entry, which an approval is for.
    pub digest: Option<String>,
}

/// The state of a hook.
#[derive(Clone, Debug)]
pub enum HookState {
    /// It gets events.
    Set,
    /// Nobody has approved it.
    NeedsApproval,
    /// Its entry is another one than the approved one.
    Changed,
    /// It was approved, and the file has no such entry any more.
    Missing,
    /// It cannot get events, for this reason.
    Incomplete(EngineError),
}

/// An approval.
struct Approval {
    folder: PathBuf,
    entry: HookEntry,
    digest: String,
}

impl Approval {
    fn new(folder: &Path, entry: HookEntry) -> Self {
        let digest = digest(folder, &entry);
        Self { folder: folder.to_owned(), entry, digest }
    }

    /// An approval of the file; `None` if this program cannot read it, or its digest is not that of its entry.
    fn read(item: &Value) -> Option<Self> {
        let text = |field: &str| item.get(field)?.as_str();
        let entry = HookEntry::read(text("name")?, item.get("entry")?.clone())?;
        let read = Self::new(Path::new(text("folder")?), entry);
        (text("digest") == Some(&read.digest) && read.entry.folder_defect().is_none()).then_some(read)
    }

    fn written(&self) -> Value {
        let folder = self.folder.to_string_lossy();
        json!({ "folder": folder, "name": self.entry.name, "digest": self.digest, "entry": self.entry.given() })
    }

    /// The name of its destination. No hook of the settings has such a name.
    fn name(&self) -> String {
        destination_name(&self.folder, &self.entry.name)
    }
}

fn digest(folder: &Path, entry: &HookEntry) -> String {
    entry_digest("retake hook approval 1", folder, &entry.name, &entry.given())
}

fn destination_name(folder: &Path, name: &str) -> String {
    let folder = entry_digest("retake hook folder 1", folder, "", &Value::Null);
    format!("{name}@{}", &folder[..8])
}

/// What a destination of a folder looks at before each delivery.
pub(super) struct Approved {
    folder: PathBuf,
    name: String,
    digest: String,
}

impl Approved {
    /// Why this delivery is not made; `None` if the approval holds for it.
    pub(super) async fn refuses(&self, delivery: &Delivery) -> Option<Attempt> {
        let own = Some(self.folder.to_string_lossy().into_owned());
        let own = StoredDestination { name: String::new(), folder: own };
        let of = delivery.folder.as_deref();
        let leads_up = |of: &str| Path::new(of).components().any(|part| part == Component::ParentDir);
        if !own.covers(of) || of.is_some_and(leads_up) {
            let why = "the conversation is not in its folder".to_owned();
            return Some(Attempt::Never(OutboxFailure::NotPermitted, why));
        }
        let (folder, name) = (self.folder.clone(), self.name.clone());
        let now = move || {
            let entry = entries(&folder).ok()?.into_iter().find(|entry| entry.name == name)?;
            Some(digest(&folder, &entry))
        };
        let now = blocking(now).await.ok().flatten();
        (now.as_ref() != Some(&self.digest))
            .then(|| Attempt::Later("its file has changed since its approval".to_owned(), None))
    }
}

impl FolderHooks {
    /// With approvals in this file, which may be missing.
    pub fn new(approvals: PathBuf, settings: &Settings, ground: HookGround) -> Self {
        let own = settings.hook_entries();
        Self { approvals: Allowed::at(&approvals), path: approvals, own, ground: Arc::new(ground) }
    }

    fn approvals(&self) -> Result<Vec<Approval>> {
        let items = self.approvals.read().map_err(|error| self.unusable(&error))?;
        Ok(items.iter().filter_map(Approval::read).collect())
    }

    /// Where its events go after an approval.
    fn destination(&self, approval: &Approval) -> Arc<dyn Destination> {
        let folder = approval.folder.to_string_lossy().into_owned();
        let hook = approval.entry.of_folder(approval.name(), folder);
        let approved = Approved {
            folder: approval.folder.clone(),
            name: approval.entry.name.clone(),
            digest: approval.digest.clone(),
        };
        destination(hook, Some(approved), &self.ground)
    }

    fn shown(&self, folder: &Path) -> HooksShown {
        let own = self.own.iter().map(|entry| shown(entry, None, own_state(entry)));
        let (mut problems, mut hooks) = (Vec::new(), own.collect::<Vec<_>>());
        let approvals = self.approvals().map_err(|error| problems.push(error)).unwrap_or_default();
        let mut approved: Vec<_> = approvals.into_iter().filter(|it| it.folder == folder).collect();
        let is_read = match entries(folder) {
            Ok(entries) => {
                for entry in entries {
                    let digest = digest(folder, &entry);
                    let at = approved.iter().position(|it| it.entry.name == entry.name);
                    let approved = at.map(|at| approved.swap_remove(at));
                    let state = match (entry.folder_defect(), approved) {
                        (Some(defect), _) => HookState::Incomplete(incomplete(&entry.name, defect)),
                        (None, None) => HookState::NeedsApproval,
                        (None, Some(approved)) if approved.digest == digest => HookState::Set,
                        (None, Some(_)) => HookState::Changed,
                    };
                    hooks.push(shown(&entry, Some(digest), state));
                }
                true
            }
            Err(error) => {
                problems.push(error);
                false
            }
        };
        let state = || if is_read { HookState::Missing } else { HookState::Changed };
        hooks.extend(approved.into_iter().map(|it| shown(&it.entry, Some(it.digest), state())));
        hooks.sort_by(|a, b| (a.is_of_folder, &a.name).cmp(&(b.is_of_folder, &b.name)));
        HooksShown { hooks, problems }
    }

    /// Approves the entry that a person saw.
    fn approve(&self, folder: &Path, name: &str, seen: &str) -> Result<Approval> {
        let Some(entry) = entries(folder)?.into_iter().find(|entry| entry.name == name) else {
            return Err(self.missing(folder, name));
        };
        if let Some(defect) = entry.folder_defect() {
            return Err(incomplete(name, defect));
        }
        let approval = Approval::new(folder, entry);
        if approval.digest != seen {
            let message = format!("the entry of the hook {name} has changed since you saw it");
            return Err(error(Kind::Refused, "changed", message)
                .with("hook", name)
                .remedies([Remedy::Hooks]));
        }
        self.keep(folder, name, Some(approval.written()))?;
        Ok(approval)
    }

    /// Revokes an approval.
    fn revoke(&self, folder: &Path, name: &str) -> Result<()> {
        let items = self.approvals.read().map_err(|error| self.unusable(&error))?;
        let (of, named) = (json!(folder.to_string_lossy()), json!(name));
        if !items.iter().any(|item| item.get("folder") == Some(&of) && item.get("name") == Some(&named)) {
            let message = format!("no hook {} of {} is approved", name.escape_debug(), folder.display());
            return Err(error(Kind::NotFound, "not_approved", message)
                .with("hook", name)
                .with("folder", folder)
                .remedies([Remedy::Hooks]));
        }
        self.keep(folder, name, None)
    }

    fn keep(&self, folder: &Path, name: &str, item: Option<Value>) -> Result<()> {
        let kept = self.approvals.replace(folder, name, item);
        kept.map(drop).map_err(|error| self.unusable(&error))
    }

    fn missing(&self, folder: &Path, name: &str) -> EngineError {
        if self.own.iter().any(|entry| entry.name == name) {
            let message = format!("the hook {name} is your own and needs no approval");
            return error(Kind::Refused, "own", message).with("hook", name);
        }
        let message = format!("{} has no hook {}", folder.display(), name.escape_debug());
        error(Kind::NotFound, "missing", message)
            .with("hook", name)
            .with("folder", folder)
            .remedies([Remedy::Hooks])
    }

    /// The error of the file of approvals.
    fn unusable(&self, fault: &ConfigError) -> EngineError {
        let (kind, what) = match fault {
            ConfigError::Unwritable { .. } => (Kind::Storage, "not_kept"),
            _ => (Kind::Storage, "approvals"),
        };
        let cause = std::error::Error::source(fault).map_or_else(|| fault.to_string(), ToString::to_string);
        let message = format!("the approvals in {} cannot be used: {cause}", self.path.display());
        error(kind, what, message).with("path", &*self.path).with("problem", cause)
    }
}

fn error(kind: Kind, what: &'static str, message: impl Into<String>) -> EngineError {
    EngineError::new(kind, "hooks", message).with("what", what)
}

fn own_state(entry: &HookEntry) -> HookState {
    entry.defect().map_or(HookState::Set, |defect| HookState::Incomplete(incomplete(&entry.name, defect)))
}

fn incomplete(name: &str, (key, problem): (&'static str, &'static str)) -> EngineError {
    let key = format!("hook.{name}.{key}");
    error(Kind::Refused, "incomplete", format!("the setting {key} {problem}"))
        .with("hook", name)
        .with("key", key)
        .with("problem", problem)
}

/// A hook for people. With a digest it is that of a folder, and nothing of its entry is left out.
fn shown(entry: &HookEntry, digest: Option<String>, state: HookState) -> HookShown {
    let hook = entry.own();
    let (network, write) = match &hook.target {
        HookTarget::Command { network, write, .. } => (*network, write.clone()),
        HookTarget::Url(..) => (false, Vec::new()),
    };
    let beginning = |address: &str| {
        let url = reqwest::Url::parse(address).ok()?;
        Some(format!("{}://{}/…", url.scheme(), url.host_str()?))
    };
    let address = entry.address().and_then(|it| match digest {
        Some(_) => Some(it.to_owned()),
        None => beginning(it),
    });
    HookShown {
        name: entry.name.clone(),
        is_of_folder: digest.is_some(),
        state,
        events: entry.events().to_vec(),
        command: entry.command(),
        address,
        texts: hook.texts,
        network,
        write: write.iter().map(|folder| shell_word(&folder.to_string_lossy())).collect(),
        variable: entry.variable().map(str::to_owned),
        limit: hook.limit,
        keep_trying: hook.keep_trying,
        digest,
    }
}

/// The hooks in the file of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<HookEntry>> {
    let path = folder.join(FILE);
    let Some(text) = text(folder).map_err(|problem| {
        let message = format!("cannot read the hooks in {}: {problem}", path.display());
        error(Kind::Usage, "unreadable", message).with("path", &*path).with("problem", problem)
    })?
    else {
        return Ok(Vec::new());
    };
    folder_hooks(&text).map_err(|wrong| {
        let message = format!("{}: {wrong}", path.display());
        let error = EngineError { fields: wrong.fields(), ..EngineError::new(Kind::Usage, "hooks", message) };
        error.with("path", &*path)
    })
}

/// The text of the file of a folder, or why it cannot be read; `None` if there is none.
fn text(folder: &Path) -> Result<Option<String>, String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let flags_of_file = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let below = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let opened = openat(CWD, folder, flags, Mode::empty())
        .and_then(|folder| openat2(folder, FILE, flags_of_file, Mode::empty(), below));
    let file = match opened {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::XDEV | Errno::LOOP) => return Err("it is a link that leads out of the folder".to_owned()),
        Err(errno) => return Err(errno.to_string()),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("it has more than 64 kB".to_owned());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not text in UTF-8".to_owned())
}

/// A folder without links, as approvals name it.
fn real(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

impl Engine {
    fn folder_hooks(&self) -> Result<Arc<FolderHooks>> {
        let none = || error(Kind::Refused, "no_place", "there is no place for approvals of hooks here");
        self.parts().hooks.clone().ok_or_else(none)
    }

    /// Sets the approved hooks of all folders, at the start of an owner. Approvals that cannot be read keep nobody from work.
    pub(crate) async fn set_approved_hooks(&self) {
        let Ok(hooks) = self.folder_hooks() else { return };
        let reader = Arc::clone(&hooks);
        let read = blocking(move || reader.approvals()).await.and_then(|read| read);
        for approval in read.or_log("no hook of a folder is set").unwrap_or_default() {
            self.outbox.put(&approval.name(), Some(hooks.destination(&approval)));
        }
    }

    /// The hooks of the settings, and those of a folder.
    pub async fn hooks(&self, folder: PathBuf) -> Result<HooksShown> {
        let hooks = self.folder_hooks()?;
        blocking(move || hooks.shown(&real(&folder))).await
    }

    /// Approves the entry of a folder's hook that a person saw, by its digest. The hook gets what happens from now on.
    pub fn approve_hook(
        self: &Arc<Self>,
        folder: PathBuf,
        name: String,
        seen: String,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let hooks = self.folder_hooks()?;
            let _changing = self.outbox.changing.lock().await;
            let keeper = Arc::clone(&hooks);
            let approval = blocking(move || keeper.approve(&real(&folder), &name, &seen)).await??;
            self.outbox.put(&approval.name(), Some(hooks.destination(&approval)));
            self.set_destinations().await?;
            self.deliver_in_background();
            self.outbox.wake.notify_one();
            Ok(())
        })
    }

    /// Revokes the approval of a folder's hook, at once. What it was owed stays listed.
    pub fn revoke_hook(&self, folder: PathBuf, name: String) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let hooks = self.folder_hooks()?;
            let _changing = self.outbox.changing.lock().await;
            let revoked = move || {
                let folder = real(&folder);
                hooks.revoke(&folder, &name).map(|()| destination_name(&folder, &name))
            };
            let destination = blocking(revoked).await??;
            self.outbox.put(&destination, None);
            self.set_destinations().await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another digest would revoke every approval, and another name would lose what is owed.
    #[test]
    fn stored_digest_and_name_of_an_approved_hook_do_not_change() {
        let text = "[hook.web]\non = [\"said\", \"rewound\"]\nurl = \"https://example.org/in\"\ntext = true";
        let entry = folder_hooks(text).expect("valid").remove(0);
        let approval = Approval::new(Path::new("/home/ada/project"), entry);
        let written = json!({
            "folder": "/home/ada/project",
            "name": "web",
            "digest": "6ac0a900967cb17f4f757625705432432f71ccbcb9a03e45a92d423ecf5d7f60",
            "entry": { "on": ["said", "rewound"], "text": true, "url": "https://example.org/in" },
        });
        assert_eq!(approval.written(), written);
        assert_eq!(approval.name(), "web@c6bc3793");
        let read = |written: &Value| Approval::read(written).map(|it| it.written());
        assert_eq!(read(&written), Some(written.clone()));
        for (field, other) in [("folder", "/home/ada"), ("name", "other"), ("digest", "0")] {
            let mut changed = written.clone();
            changed[field] = other.into();
            assert_eq!(read(&changed), None, "{field}");
        }
    }
}
