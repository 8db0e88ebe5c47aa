//! What comes free while a call lives. A program of the person that writes a file anew under another name and renames it (git, many
//! editors) takes away what was mounted on the old one. It is mounted again as soon as the kernel tells of the new one. Must never
//! take anything away.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::{Covers, Kind, Mounts, Place, hold};

/// Most calls have ended by then. What came free before is found then.
const SOON: Duration = Duration::from_millis(200);

/// What is done to the places of a call until its supervisor ends.
struct Keeper {
    places: Vec<Place>,
    covers: Covers,
    /// The folders that are watched, by their number.
    watched: HashMap<i32, PathBuf>,
}

impl Mounts {
    /// Mounts again what comes free from now on, in a thread of its own.
    pub(in crate::supervisor) fn keep(&mut self) {
        let Some(covers) = self.covers.take() else { return };
        let keeper = Keeper { places: std::mem::take(&mut self.places), covers, watched: HashMap::new() };
        let keep = move || {
            let _ = crate::sandbox::keep_mounting();
            std::thread::sleep(SOON);
            // Where there can be no more watches on this machine, it is as it would be without.
            let _ = keeper.watch();
        };
        let _ = std::thread::Builder::new().name("mounts".into()).spawn(keep);
    }
}

impl Keeper {
    fn watch(mut self) -> rustix::io::Result<()> {
        let notes = inotify::init(CreateFlags::CLOEXEC)?;
        let all = Path::new("/");
        self.look(&notes, all);
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut told = Reader::new(&notes, &mut buffer);
        loop {
            let event = match told.next() {
                Err(Errno::INTR) => continue,
                event => event?,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                self.look(&notes, all);
                continue;
            }
            let name = event.file_name().map(|name| name.to_bytes());
            if let (Some(folder), Some(name)) = (self.watched.get(&event.wd()), name) {
                use std::os::unix::ffi::OsStrExt as _;
                let path = folder.join(std::ffi::OsStr::from_bytes(name));
                self.look(&notes, &path);
            }
        }
    }

    /// Mounts again what is free at a path or below it, and watches the folders that it lies in.
    fn look(&mut self, notes: &rustix::fd::OwnedFd, from: &Path) {
        for place in self.places.iter().filter(|place| place.path.starts_with(from)) {
            let Some(folder) = place.path.parent() else { continue };
            // First the watch: what comes after the look is told.
            let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
            if let Ok(number) = inotify::add_watch(notes, folder, flags) {
                self.watched.insert(number, folder.to_owned());
            }
            // A kernel that can't tell has told that something new is there.
            if !is_mounted(&place.path).unwrap_or(place.path != from) {
                let _ = self.covers.mount_again(place);
            }
        }
    }
}

impl Covers {
    fn mount_again(&self, place: &Place) -> Result<(), String> {
        match place.kind {
            Kind::Pinned => {
                rustix::mount::mount_bind_recursive(&place.path, &place.path).map_err(super::at(&place.path))
            }
            Kind::Held => hold(&place.path),
            Kind::Covered => self.over(&place.path),
        }
    }
}

/// Whether something is mounted at a path, or nothing is there; nothing where the kernel can't tell.
fn is_mounted(path: &Path) -> Option<bool> {
    match rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE) {
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            Some(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        Ok(_) => None,
        Err(_) => Some(true),
    }
}
