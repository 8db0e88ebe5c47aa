//! The kernel's rules for files and sockets in a sandbox. They must never be set on a thread that does anything else than
//! start the command.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, make_bitflags,
    path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets};

use retake_core::NoSandbox;

use super::{Confinement, Net, filter, reading};
use crate::regular;

/// Before this version, files outside could be truncated or moved.
const LEAST: ABI = ABI::V3;

/// Device files that everybody writes to.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Terminals: a command only has its own, if it gets one.
const TERMINALS: [&str; 3] = ["/dev/tty", "/dev/ptmx", "/dev/pts"];

/// Whether the kernel can confine files, or why not.
pub(super) fn files() -> Result<(), NoSandbox> {
    confined_files().and_then(Ruleset::create).map(drop).map_err(|_| NoSandbox::NoLandlock)
}

/// Whether the kernel and this build can refuse sockets.
pub(super) fn has_filter() -> bool {
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    actions.split_whitespace().any(|action| action == "errno") && filter::common(Net::Closed, false).is_ok()
}

/// Whether this build can confine a command to reading.
pub(super) fn has_reading_filter() -> bool {
    reading::filter().is_ok()
}

/// The longest file that points to a repository.
const LONGEST: u64 = 8 << 10;

/// The repository of a worktree, outside of its folder. The worktree's own file is not enough, because a command may have
/// written it: the repository must point back.
pub(super) fn repository_of(root: &Path) -> Vec<PathBuf> {
    let read = |path: PathBuf| regular::text(&path, LONGEST).map(|text| text.trim_end().to_owned());
    let link = root.join(".git");
    let found = || {
        let folder = root.join(read(link.clone())?.strip_prefix("gitdir: ")?).canonicalize().ok()?;
        let back = folder.join(read(folder.join("gitdir"))?);
        let is_ours = back.canonicalize().ok()? == link.canonicalize().ok()?;
        let common = folder.join(read(folder.join("commondir"))?).canonicalize().ok()?;
        // Commands can write all three files. In git's own places they cannot, unless they may write the repository anyway.
        let is_within = folder.parent() == Some(&*common.join("worktrees"));
        (is_ours && is_within).then(|| vec![folder, common])
    };
    found().unwrap_or_default()
}

impl Confinement {
    /// Confines the calling thread permanently, with everything that it starts.
    pub(crate) fn close(&self) -> Result<(), String> {
        let fail = |error: &dyn std::fmt::Display| format!("can't confine the command: {error}");
        self.rules().and_then(RulesetCreated::restrict_self).map_err(|error| fail(&error))?;
        drop_capabilities().map_err(|error| fail(&error))?;
        if self.reads_only {
            let filter = reading::filter().map_err(|error| fail(&error))?;
            return seccompiler::apply_filter(&filter).map_err(|error| fail(&error));
        }
        if has_filter() {
            // With namespaces, and a kernel that blocks abstract sockets, a command may create sockets of its own.
            let is_apart = self.namespaces && scopes().is_ok();
            let filter = filter::common(self.net, is_apart).map_err(|error| fail(&error))?;
            seccompiler::apply_filter(&filter).map_err(|error| fail(&error))?;
        }
        Ok(())
    }

    fn rules(&self) -> Result<RulesetCreated, RulesetError> {
        // Device files would be a way around it, for example to a disk.
        let write = AccessFs::from_all(LEAST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock});
        let device =
            make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev}) | AccessFs::ReadDir;
        let own = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
        let mut rules = confined_files()?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V5))?
            .scope(Scope::from_all(ABI::V6))?;
        if self.net == Net::Closed {
            rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        let mut seen = Vec::new();
        // In a namespace, mounts hide the rest.
        let hidden = if self.namespaces { &[][..] } else { &self.hide };
        let hide: Vec<PathBuf> = hidden.iter().cloned().chain(["/dev".into()]).collect();
        readable(Path::new("/"), &hide, &mut seen);
        seen.extend(reading::SOURCES.map(PathBuf::from));
        let devices: Vec<&str> = match (self.reads_only, self.namespaces) {
            (true, _) => reading::SINKS.to_vec(),
            (false, true) => DEVICES.into_iter().chain(TERMINALS).collect(),
            (false, false) => DEVICES.to_vec(),
        };
        let names = PathFd::new("/").map(|root| PathBeneath::new(root, AccessFs::ReadDir));
        rules
            .create()?
            .add_rules(names.into_iter().map(Ok::<_, RulesetError>))?
            .add_rules(path_beneath_rules(seen, AccessFs::ReadFile | AccessFs::Execute))?
            .add_rules(path_beneath_rules(&self.write, write))?
            .add_rules(path_beneath_rules(&self.files, own))?
            .add_rules(path_beneath_rules(devices, device))
    }
}

/// Removes capabilities with which root could leave its sandbox: access to memory, the kernel, devices. A confined thread
/// cannot gain privileges again.
pub(crate) fn drop_capabilities() -> rustix::io::Result<()> {
    // An ordinary user's command has none of its supervisor's.
    let of_root = if rustix::process::geteuid().is_root() {
        CapabilitySet::DAC_OVERRIDE
    } else {
        CapabilitySet::empty()
    };
    let kept = CapabilitySet::CHOWN
        | of_root
        | CapabilitySet::FOWNER
        | CapabilitySet::KILL
        | CapabilitySet::NET_BIND_SERVICE
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID;
    keep_only(kept)
}

/// Drops all capabilities of the thread except those for mounting, also in folders of other users if it is root, and for
/// reading the open files of processes.
pub(crate) fn keep_mounting() -> rustix::io::Result<()> {
    keep_only(CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::SYS_PTRACE)
}

fn keep_only(kept: CapabilitySet) -> rustix::io::Result<()> {
    let own = rustix::thread::capabilities(None)?;
    let sets = CapabilitySets {
        effective: own.effective & kept,
        permitted: own.permitted & kept,
        inheritable: own.inheritable & kept,
    };
    rustix::thread::set_capabilities(None, sets)
}

/// Whether the kernel keeps signals and abstract sockets within a sandbox.
pub(super) fn scopes() -> Result<RulesetCreated, RulesetError> {
    confined_files()?.scope(Scope::from_all(ABI::V6))?.create()
}

/// The minimal confinement of files.
fn confined_files() -> Result<Ruleset, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
}

/// Everything below a folder except hidden paths, in as few paths as possible. A link counts as its target.
fn readable(folder: &Path, hidden: &[PathBuf], seen: &mut Vec<PathBuf>) {
    if hidden.iter().any(|hidden| hidden == folder) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(folder)) {
        return seen.push(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())) {
        readable(&entry.path(), hidden, seen);
    }
}
