//! What a call sees of the file system, in a mount namespace of its own. It sees its own processes and terminals,
//! nothing that is hidden from it, no sockets of other programs, and what git would run later as read-only. Must never
//! change what other programs see. The one exception is an empty folder or file to mount on, which is removed with the
//! call, except for the folder of a terminal multiplexer.

mod again;
mod git;
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

/// Where the terminals of the call will be; until then what covers other things is kept there.
const PTS: &str = "/dev/pts";

/// Options of terminals: everybody may make one, as everywhere, and some are left for others.
const OWN_TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=0620,max=256";

/// The options of a folder that shows nothing but what is put into it.
const SMALL: &CStr = c"size=64k,mode=0711";

/// So often a file is looked up that a program of the person replaces just then.
const TRIES: usize = 10;

/// Where the kernel does not tell of what is new, it is looked so often.
const OFTEN: Duration = Duration::from_millis(100);

/// A program that a call starts gains nothing by what is mounted here.
const INERT: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// The mounts of a call.
#[derive(Default)]
pub(super) struct Mounts {
    /// Empty files and folders that were made to be mounted on.
    made: Vec<Made>,
    /// Locks on what another call may have made.
    shared: Vec<File>,
    /// Folders that are mounts of their own.
    pinned: HashSet<PathBuf>,
    /// All that was mounted, in its order.
    places: Vec<Place>,
    covers: Option<Covers>,
    keeper: Option<again::Keeper>,
    later: Option<sockets::Later>,
}

/// An empty file or folder that was made to be mounted on.
struct Made {
    /// It, held by a lock that other calls share.
    held: File,
    /// The folder that it was made in, wherever that is by now.
    folder: OwnedFd,
    path: PathBuf,
}

/// A place where something is mounted.
struct Place {
    path: PathBuf,
    kind: Kind,
}

/// What is mounted there.
#[derive(Clone, Copy)]
enum Kind {
    /// The folder itself, so that it keeps its name.
    Pinned,
    /// The file or folder itself, read only.
    Held,
    /// Something else that shows nothing.
    Covered,
}

impl Mounts {
    /// Sets them up in this process's namespace, which nobody else is in.
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
        // The last one: the old one knows this process's descriptors.
        mount("proc", "/proc", None).map_err(at(Path::new("/proc")))?;
        Ok(mounts)
    }

    fn confine(&mut self, confined: &Confinement, covers: &Covers) -> Result<(), String> {
        // Also where it can't connect to them: a later call could, by another name that this one gives them. Who writes nothing can't.
        let can_move = !confined.reads_only;
        let (folders, absent) = match can_move {
            true => sockets::folders(confined.multiplexer.as_deref()),
            false => Default::default(),
        };
        // What may be moved or was bound by another name lies in one of them; a call without network can't connect anyway.
        let open = match confined.net {
            Net::Open => [&confined.write[..], &Sandbox::temporary()].concat(),
            Net::Closed => Vec::new(),
        };
        let sockets = if can_move { sockets::of_others(&confined.sockets, &open) } else { Vec::new() };
        // Before anything is covered: a folder that is mounted takes along what is mounted below it, once more.
        for root in &confined.roots {
            self.pin(root, &confined.write)?;
        }
        if can_move {
            // What is found by its path must be there in the next call, too.
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
        // Nothing can be mounted yet; the keeper does it.
        let absent = confined.absent.iter().cloned().chain(absent);
        self.places.extend(absent.map(|path| Place { path, kind: Kind::Covered }));
        if confined.net == Net::Open {
            let later = sockets::Later::new(covers, &confined.sockets);
            self.later = Some(later.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Makes a folder a mount of its own, and those above it within folders that may be written: nothing can then take its place.
    fn pin(&mut self, folder: &Path, writable: &[PathBuf]) -> Result<(), String> {
        let mut folders: Vec<&Path> =
            folder.ancestors().take_while(|above| is_below(above, writable)).collect();
        if !folders.contains(&folder) {
            folders.push(folder);
        }
        for folder in folders.into_iter().rev() {
            // Each one once: a mount takes along those below it.
            if !self.pinned.insert(folder.to_owned()) {
                continue;
            }
            match open(folder).and_then(|found| upon_itself(&found)) {
                Err(error) if !is_out_of_reach(folder, error) => return Err(unreached(folder)(error)),
                _ => self.places.push(Place { path: folder.to_owned(), kind: Kind::Pinned }),
            }
        }
        Ok(())
    }

    /// Lets a file or folder be read only.
    fn hold(&mut self, path: &Path) -> Result<(), String> {
        hold(path)?;
        self.places.push(Place { path: path.to_owned(), kind: Kind::Held });
        Ok(())
    }

    /// Pins the folders above a path, within folders that may be written: it can't be given another name together with one of them.
    fn stay(&mut self, path: &Path, writable: &[PathBuf]) -> Result<(), String> {
        match path.parent() {
            Some(above) if is_below(above, writable) && path.symlink_metadata().is_ok() => {
                self.pin(above, writable)
            }
            _ => Ok(()),
        }
    }

    /// Makes what the command is not to make itself, so that it can be covered.
    fn keep_out_own(&mut self, confined: &Confinement) -> Result<(), String> {
        let folders = confined.own_folders.iter().map(|path| (path, true));
        for (own, is_folder) in folders.chain(confined.own_files.iter().map(|path| (path, false))) {
            let missing: Vec<&Path> =
                own.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
            for path in missing.into_iter().rev() {
                let is_folder = is_folder || path != own;
                self.make(path.to_owned(), is_folder, if is_folder { 0o700 } else { 0o600 });
            }
            self.share(own);
            self.stay(own, &confined.write)?;
        }
        Ok(())
    }

    /// Whether something is left to be done at the end.
    pub(super) fn are_lasting(&self) -> bool {
        !self.made.is_empty()
    }

    /// Removes what was made, where no other call needs it.
    pub(super) fn take_down(self) {
        // It holds its own locks on what it has made itself, too.
        drop(self.shared);
        for Made { held, folder, path } in self.made.into_iter().rev() {
            let _ = rustix::mount::unmount(&path, UnmountFlags::DETACH);
            let Some(name) = path.file_name() else { continue };
            if rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            // Another one may be there by now, which is somebody else's.
            let there = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let Ok(own) = held.metadata() else { continue };
            if there.map(|there| (there.st_dev, there.st_ino)) != Some((own.dev(), own.ino())) {
                continue;
            }
            // Something is in it only where somebody else has put it there.
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

/// Whether the command can't reach a path either, which this process can't reach. This process looks into folders of its user that are
/// closed by their mode, but not into those of a further group: the command could open such a folder again.
fn is_out_of_reach(path: &Path, error: Errno) -> bool {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => true,
        Errno::ACCESS => !is_closed_by_us(path),
        _ => false,
    }
}

/// Whether the folder that can't be looked into on the way to a path is one of this user.
fn is_closed_by_us(path: &Path) -> bool {
    let closed = path.ancestors().skip(1).find_map(|folder| open(folder).ok());
    let owner = closed.and_then(|folder| rustix::fs::fstat(&folder).ok()).map(|stat| stat.st_uid);
    owner == Some(rustix::process::geteuid().as_raw())
}

/// Why a path that must be held or hidden was not reached, and what to do.
fn unreached(path: &Path) -> impl Fn(Errno) -> String + use<'_> {
    move |error| match error {
        Errno::ACCESS => format!(
            "{}: a folder above it can't be looked into; open that folder with `chmod u+rwx`",
            path.display()
        ),
        error => at(path)(error),
    }
}

/// Refuses a path whose folder this user has closed so that nobody can say what is in it.
fn check_reach(path: &Path) -> Result<(), String> {
    match open(path) {
        Err(Errno::ACCESS) if is_closed_by_us(path) => Err(unreached(path)(Errno::ACCESS)),
        _ => Ok(()),
    }
}

/// Mounts a file or folder on itself. It is looked up once. Another call may put a link in its place at any time, and what is
/// mounted is never another one than what it is mounted on.
fn upon_itself(found: &OwnedFd) -> rustix::io::Result<()> {
    rustix::mount::mount_bind_recursive(by_number(found), by_number(found))
}

fn hold(path: &Path) -> Result<(), String> {
    for _ in 0..TRIES {
        let found = open(path).map_err(unreached(path))?;
        upon_itself(&found).map_err(at(path))?;
        let mounted = open(path).map_err(at(path))?;
        if id(&mounted).map_err(at(path))? == id(&found).map_err(at(path))? {
            return read_only(&mounted).map_err(at(path));
        }
    }
    Err(replaced(path))
}

fn replaced(path: &Path) -> String {
    format!("{}: it is replaced all the time", path.display())
}

/// The file system and the number in it.
fn id(file: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Lets what is mounted be read only.
fn read_only(mounted: &OwnedFd) -> rustix::io::Result<()> {
    let now = rustix::fs::fstatvfs(mounted)?.f_flag;
    // What holds for it already can't be taken away.
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let kept = kept.into_iter().filter(|(flag, _)| now.contains(*flag)).map(|(_, flag)| flag);
    let flags = kept.fold(MountFlags::BIND | MountFlags::RDONLY, MountFlags::union);
    rustix::mount::mount_remount(by_number(mounted), flags, c"")
}

/// What covers other files and folders.
struct Covers {
    file: OwnedFd,
    folder: OwnedFd,
}

impl Covers {
    fn prepare() -> Result<Self, String> {
        let place = Path::new(PTS);
        rustix::mount::mount("tmpfs", place, "tmpfs", INERT, Some(SMALL)).map_err(at(place))?;
        let (file, folder) = (place.join("file"), place.join("folder"));
        // A device where no devices are: also root, who reads every file, can't open it, and git passes over it.
        let device = rustix::fs::mknodat(CWD, &file, FileType::CharacterDevice, Mode::empty(), 0);
        let made = device.map_err(std::io::Error::from).or_else(|_| {
            // Before Linux 5.8 not everybody can make one.
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

    /// Covers a file or folder; of a folder all but what the command is to have. Whether nothing of it is to be had.
    fn cover(&self, hidden: &Path, confined: &Confinement) -> Result<bool, String> {
        let needed = [&confined.roots, &confined.write, &confined.files, &confined.sockets];
        let mut needed: Vec<&Path> = needed.into_iter().flatten().map(PathBuf::as_path).collect();
        needed.retain(|path| path.starts_with(hidden));
        if needed.is_empty() || hidden.symlink_metadata().is_err() {
            return self.over(hidden).map(|()| true);
        }
        if !needed.contains(&hidden) {
            needed.sort();
            // What is below another one comes with it.
            needed.dedup_by(|below, above| below.starts_with(above));
            cover_but(hidden, &needed)?;
        }
        Ok(false)
    }

    /// Covers all of a file or folder, if it is there.
    fn over(&self, hidden: &Path) -> Result<(), String> {
        for _ in 0..TRIES {
            let found = match open(hidden) {
                Err(error) if is_out_of_reach(hidden, error) => return Ok(()),
                found => found.map_err(unreached(hidden))?,
            };
            let kind = rustix::fs::fstat(&found).map_err(at(hidden))?.st_mode;
            let cover = if FileType::from_raw_mode(kind).is_dir() { &self.folder } else { &self.file };
            match rustix::mount::mount_bind(by_number(cover), by_number(&found)) {
                // It was removed meanwhile, as sockets are when their program ends. What is there now is covered instead.
                Err(Errno::NOENT) => {}
                covered => return covered.map_err(at(hidden)),
            }
        }
        Err(replaced(hidden))
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// A path that leads to what was opened, whatever covers it by now.
fn by_number(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Covers a folder all but these below it. What covers it is made where nobody else makes anything, and mounted as it is then.
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
