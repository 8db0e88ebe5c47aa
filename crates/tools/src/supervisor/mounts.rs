//! What a call sees of the file system, in a mount namespace of its own. It sees its own processes and terminals, no hidden
//! files, no sockets of other programs, and git's hooks and settings as read-only. Must never change what other programs see. The
//! one exception is an empty folder or file to mount on. It is removed with the call, unless the call is killed or its sandbox
//! fails. The folder of a terminal multiplexer stays.

mod git;
mod remount;
mod sockets;

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs::{DirBuilder, File, Permissions};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use super::inner::at;
use crate::sandbox::{Confinement, Net, Sandbox};

/// The place of the call's terminals; until then, of the covers for other files.
const PTS: &str = "/dev/pts";

/// Options for terminals: everybody may create one, and some are reserved for others.
const OWN_TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=0620,max=256";

/// The options for a folder that shows only what is put into it.
const SMALL: &CStr = c"size=64k,mode=0711";

/// How often a file is looked up again while a program of the person replaces it.
const TRIES: usize = 10;

/// How often it is checked if the kernel reports no new names or sockets.
const OFTEN: Duration = Duration::from_millis(100);

/// A program gains no privileges from these mounts.
const INERT: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// The mounts of a call.
#[derive(Default)]
pub(super) struct Mounts {
    /// Empty files and folders that were created as mount points.
    made: Vec<CreatedMountPoint>,
    /// Locks on those that another call may have created.
    shared: Vec<File>,
    /// Folders that are mounts of their own.
    pinned: HashSet<PathBuf>,
    /// All mounts, in order.
    places: Vec<Place>,
    covers: Option<Covers>,
    remounter: Option<remount::Remounter>,
    later: Option<sockets::LaterSockets>,
}

/// An empty file or folder that was created as a mount point.
struct CreatedMountPoint {
    /// The file, with a lock that other calls share.
    held: File,
    /// Its parent folder, even if that was moved.
    folder: OwnedFd,
    path: PathBuf,
}

/// A mount point.
struct Place {
    path: PathBuf,
    kind: Kind,
}

/// The kind of mount.
#[derive(Clone, Copy)]
enum Kind {
    /// The folder itself, so that it keeps its name.
    Pinned,
    /// The file or folder itself, read-only.
    Held,
    /// A cover that shows nothing.
    Covered,
}

impl Mounts {
    /// Creates the mounts in this process's own namespace.
    pub(super) fn set_up(confined: Option<&Confinement>) -> Result<Self, String> {
        let mut mounts = Self::default();
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change("/", private).map_err(at(Path::new("/")))?;
        if let Some(confined) = confined {
            let covers = Covers::prepare()?;
            mounts.confine(confined, &covers)?;
            mounts.covers = Some(covers);
        }
        let mount = |what: &str, place: &str, options| {
            rustix::mount::mount(what, place, what, MountFlags::NOSUID | MountFlags::NOEXEC, options)
        };
        mount("devpts", PTS, Some(OWN_TERMINALS)).map_err(at(Path::new(PTS)))?;
        // Last: the old one knows this process's descriptors.
        mount("proc", "/proc", None).map_err(at(Path::new("/proc")))?;
        Ok(mounts)
    }

    fn confine(&mut self, confined: &Confinement, covers: &Covers) -> Result<(), String> {
        // First: a socket that is bound from now on is a later one, or is found below.
        if confined.net == Net::Open {
            self.later = Some(sockets::LaterSockets::new(covers, &confined.sockets)?);
        }
        // Even if it cannot connect to them: a later call could, through another link that this one creates. A read-only command
        // cannot.
        let can_move = !confined.reads_only;
        let (folders, absent) = match can_move {
            true => sockets::folders(confined.multiplexer.as_deref())?,
            false => Default::default(),
        };
        // A socket that can be moved, or was bound by another name, is in one of them; a call without network cannot connect
        // anyway.
        let open = match confined.net {
            Net::Open => [&confined.write[..], &Sandbox::temporary()].concat(),
            Net::Closed => Vec::new(),
        };
        let sockets = if can_move { sockets::of_others(&confined.sockets, &open)? } else { Vec::new() };
        // Before anything is covered: mounting a folder copies the mounts below it.
        for root in &confined.roots {
            self.pin(root, &confined.write)?;
        }
        if can_move {
            // A path must still lead to the same file in the next call.
            for path in confined.hide.iter().chain(&folders).chain(&sockets) {
                self.stay(path, &confined.write)?;
            }
            self.keep_git(confined)?;
            self.keep_out_own(confined)?;
        }
        let own = [&confined.own_folders[..], &confined.own_files].concat();
        let is_within = |hidden: &PathBuf| confined.roots.iter().any(|root| hidden.starts_with(root));
        let (mut inside, outside): (Vec<_>, Vec<_>) = confined.hide.iter().partition(|path| is_within(path));
        let mut outside: Vec<&PathBuf> = outside.into_iter().chain(&folders).collect();
        outside.sort();
        inside.sort();
        for hidden in outside.into_iter().chain(inside).chain(&sockets).chain(&own) {
            if covers.cover(hidden, confined)? {
                self.places.push(Place { path: hidden.clone(), kind: Kind::Covered });
            }
        }
        // Nothing can be mounted yet; the remounter does it.
        let absent = confined.absent.iter().cloned().chain(absent);
        self.places.extend(absent.map(|path| Place { path, kind: Kind::Covered }));
        Ok(())
    }

    /// Makes a folder a mount of its own, with its parents in writable folders: then nothing can take its place.
    fn pin(&mut self, folder: &Path, writable: &[PathBuf]) -> Result<(), String> {
        let mut folders: Vec<&Path> =
            folder.ancestors().take_while(|above| is_below(above, writable)).collect();
        if !folders.contains(&folder) {
            folders.push(folder);
        }
        for folder in folders.into_iter().rev() {
            // Each one once: a mount copies those below it.
            if !self.pinned.insert(folder.to_owned()) {
                continue;
            }
            mount_at(folder, upon_itself)?;
            self.places.push(Place { path: folder.to_owned(), kind: Kind::Pinned });
        }
        Ok(())
    }

    /// Makes a file or folder read-only.
    fn hold(&mut self, path: &Path) -> Result<(), String> {
        if !hold(path)? {
            return Err(at(path)(Errno::NOENT));
        }
        self.places.push(Place { path: path.to_owned(), kind: Kind::Held });
        Ok(())
    }

    /// Pins the parents of a path in writable folders: it cannot be renamed together with one of them.
    fn stay(&mut self, path: &Path, writable: &[PathBuf]) -> Result<(), String> {
        match path.parent() {
            Some(above) if is_below(above, writable) && path.symlink_metadata().is_ok() => {
                self.pin(above, writable)
            }
            _ => Ok(()),
        }
    }

    /// Creates the files that the command must not create, so that they can be covered.
    fn keep_out_own(&mut self, confined: &Confinement) -> Result<(), String> {
        let folders = confined.own_folders.iter().map(|path| (path, true));
        for (own, is_folder) in folders.chain(confined.own_files.iter().map(|path| (path, false))) {
            let missing: Vec<&Path> =
                own.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
            for path in missing.into_iter().rev() {
                let is_folder = is_folder || path != own;
                self.make(path.to_owned(), is_folder, if is_folder { 0o700 } else { 0o600 })?;
            }
            self.share(own);
            self.stay(own, &confined.write)?;
        }
        Ok(())
    }

    /// Whether something must be removed at the end.
    pub(super) fn are_lasting(&self) -> bool {
        !self.made.is_empty()
    }
}

impl Drop for Mounts {
    /// Removes what was created, unless another call needs it.
    fn drop(&mut self) {
        // They include its own locks on what it created itself.
        self.shared.clear();
        for CreatedMountPoint { held, folder, path } in self.made.drain(..).rev() {
            let _ = rustix::mount::unmount(&path, UnmountFlags::DETACH);
            let Some(name) = path.file_name() else { continue };
            if rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            // Another one may be there by now, which belongs to somebody else.
            let there = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let Ok(own) = held.metadata() else { continue };
            if there.map(|there| (there.st_dev, there.st_ino)) != Some((own.dev(), own.ino())) {
                continue;
            }
            // It has content only if somebody else put it there.
            if own.is_dir() {
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR);
            } else if own.len() == 0 {
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
            }
        }
    }
}

fn is_below(folder: &Path, writable: &[PathBuf]) -> bool {
    writable.iter().any(|open| folder != open && folder.starts_with(open))
}

/// Whether the command cannot reach a path either. This process can look into its user's folders that are closed by their mode.
/// It cannot look into those of a further group, and the command could open such a folder again.
fn is_out_of_reach(path: &Path, error: Errno) -> bool {
    match error {
        // The last one is of a file system whose program has ended.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NOTCONN => true,
        Errno::ACCESS => !is_closed_by_us(path),
        _ => false,
    }
}

/// Whether the first folder of a path that cannot be read belongs to this user.
fn is_closed_by_us(path: &Path) -> bool {
    let closed = path.ancestors().skip(1).find_map(|folder| open(folder).ok());
    let owner = closed.and_then(|folder| rustix::fs::fstat(&folder).ok()).map(|stat| stat.st_uid);
    owner == Some(rustix::process::geteuid().as_raw())
}

/// Why a path that must be protected or hidden was not reached, with a hint.
fn unreached(path: &Path) -> impl Fn(Errno) -> String + use<'_> {
    move |error| match error {
        Errno::ACCESS => format!(
            "{}: a folder above it can't be looked into; open that folder with `chmod u+rwx`",
            path.display()
        ),
        error => at(path)(error),
    }
}

/// Refuses a path whose folder this user has closed, so that its content is not known.
fn check_reach(path: &Path) -> Result<(), String> {
    match open(path) {
        Err(Errno::ACCESS) if is_closed_by_us(path) => Err(unreached(path)(Errno::ACCESS)),
        _ => Ok(()),
    }
}

/// Whether a file or folder is there already, or the command cannot create it either.
fn cannot_be_made(path: &Path, error: Errno) -> bool {
    match error {
        Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::LOOP => true,
        Errno::PERM | Errno::ROFS | Errno::OPNOTSUPP => true,
        Errno::ACCESS => !is_closed_by_us(path),
        _ => false,
    }
}

/// Mounts something at a file or folder, again if that is replaced meanwhile. Returns whether it is there.
fn mount_at(path: &Path, mount: impl Fn(&OwnedFd) -> rustix::io::Result<()>) -> Result<bool, String> {
    let mut last = Errno::STALE;
    for _ in 0..TRIES {
        let found = match open(path) {
            Err(error) if is_out_of_reach(path, error) => return Ok(false),
            found => found.map_err(unreached(path))?,
        };
        match mount(&found) {
            // It was removed meanwhile, as sockets are when their program ends, or with its folder. A new file is next. Or it
            // was opened for writing through the new mount: the next mount has no writer yet.
            Err(error @ (Errno::NOENT | Errno::INVAL | Errno::STALE | Errno::BUSY)) => last = error,
            mounted => return mounted.map(|()| true).map_err(at(path)),
        }
    }
    Err(format!("{}: it is replaced all the time ({last})", path.display()))
}

/// Mounts a file or folder on itself. It is looked up once: another call may put a link in its place at any time, and the mounted
/// file must be the same as the mount point.
fn upon_itself(found: &OwnedFd) -> rustix::io::Result<()> {
    rustix::mount::mount_bind_recursive(by_number(found), by_number(found))
}

/// Makes a file or folder read-only. Returns whether it is there.
fn hold(path: &Path) -> Result<bool, String> {
    mount_at(path, |found| {
        upon_itself(found)?;
        let mounted = open(path).map_err(|_| Errno::STALE)?;
        match id(&mounted)? == id(found)? {
            true => read_only(&mounted),
            false => Err(Errno::STALE),
        }
    })
}

/// The file system and the inode.
fn id(file: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Makes a mount read-only.
fn read_only(mounted: &OwnedFd) -> rustix::io::Result<()> {
    let now = rustix::fs::fstatvfs(mounted)?.f_flag;
    // Its existing restrictions cannot be removed.
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let kept = kept.into_iter().filter(|(flag, _)| now.contains(*flag)).map(|(_, flag)| flag);
    let flags = kept.fold(MountFlags::BIND | MountFlags::RDONLY, MountFlags::union);
    rustix::mount::mount_remount(by_number(mounted), flags, c"")
}

/// Covers for files and folders.
struct Covers {
    file: OwnedFd,
    folder: OwnedFd,
}

impl Covers {
    fn prepare() -> Result<Self, String> {
        let place = Path::new(PTS);
        rustix::mount::mount("tmpfs", place, "tmpfs", INERT, Some(SMALL)).map_err(at(place))?;
        let (file, folder) = (place.join("file"), place.join("folder"));
        // A device on a file system without devices: not even root, who can read every file, can open it, and git ignores it.
        let device = rustix::fs::mknodat(CWD, &file, FileType::CharacterDevice, Mode::empty(), 0);
        let made = device.map_err(std::io::Error::from).or_else(|_| {
            // Before Linux 5.8 not every user can create one.
            File::options().write(true).create_new(true).mode(0o000).open(&file).map(drop)
        });
        let made = made.and_then(|()| DirBuilder::new().mode(0o000).create(&folder));
        made.map_err(|error| format!("{}: {error}", place.display()))?;
        rustix::mount::mount_remount(place, INERT | MountFlags::RDONLY, c"").map_err(at(place))?;
        Ok(Self { file: open(&file).map_err(at(&file))?, folder: open(&folder).map_err(at(&folder))? })
    }

    /// The same for another thread.
    fn another(&self) -> std::io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, folder: self.folder.try_clone()? })
    }

    /// Covers a file or folder; for a folder everything except what the command needs. Returns whether all of it is covered.
    fn cover(&self, hidden: &Path, confined: &Confinement) -> Result<bool, String> {
        let needed = [&confined.roots, &confined.write, &confined.files, &confined.sockets];
        let mut needed: Vec<&Path> = needed.into_iter().flatten().map(PathBuf::as_path).collect();
        needed.retain(|path| path.starts_with(hidden));
        if needed.is_empty() || hidden.symlink_metadata().is_err() {
            return self.over(hidden).map(|_| true);
        }
        if !needed.contains(&hidden) {
            needed.sort();
            // A path below another one comes with it.
            needed.dedup_by(|below, above| below.starts_with(above));
            cover_but(hidden, &needed)?;
        }
        Ok(false)
    }

    /// Covers all of a file or folder. Returns whether it is there.
    fn over(&self, hidden: &Path) -> Result<bool, String> {
        mount_at(hidden, |found| {
            let kind = rustix::fs::fstat(found)?.st_mode;
            let cover = if FileType::from_raw_mode(kind).is_dir() { &self.folder } else { &self.file };
            rustix::mount::mount_bind(by_number(cover), by_number(found))
        })
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// A path to the opened file, whatever covers it by now.
fn by_number(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Covers a folder except these paths below it. The cover is created where nobody else can write, and mounted when it is
/// complete.
fn cover_but(hidden: &Path, needed: &[&Path]) -> Result<(), String> {
    let found = open(hidden).map_err(at(hidden))?;
    let place = Path::new(PTS);
    rustix::mount::mount("tmpfs", place, "tmpfs", INERT, Some(SMALL)).map_err(at(place))?;
    for path in needed {
        let (Ok(file), Ok(name)) = (open(path), path.strip_prefix(hidden)) else { continue };
        let (source, target) = (by_number(&file), place.join(name));
        let fail = |error: std::io::Error| format!("{}: {error}", path.display());
        if source.is_dir() {
            DirBuilder::new().recursive(true).mode(0o711).create(&target).map_err(fail)?;
        } else {
            let above = target.parent().unwrap_or(place);
            DirBuilder::new().recursive(true).mode(0o711).create(above).map_err(fail)?;
            File::create(&target)
                .and_then(|made| made.set_permissions(Permissions::from_mode(0o000)))
                .map_err(fail)?;
        }
        rustix::mount::mount_bind_recursive(&source, &target).map_err(at(path))?;
    }
    rustix::mount::mount_remount(place, INERT | MountFlags::RDONLY, c"").map_err(at(place))?;
    rustix::mount::mount_bind_recursive(place, by_number(&found)).map_err(at(hidden))?;
    rustix::mount::unmount(place, UnmountFlags::DETACH).map_err(at(place))
}
