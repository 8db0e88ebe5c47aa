//! Handles files that are replaced or created while a call runs. A program of the person that writes a file under another
//! name and renames it (git, many editors) removes the mount on the old one. It is mounted again as soon as the kernel
//! reports the new file. The same applies to a file that did not exist when the call began. Must never remove anything, nor
//! mount over a file that has appeared meanwhile.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::{
    Covers, Kind, Mounts, OFTEN, Place, hold, is_out_of_reach, mount_at, open, unreached, upon_itself,
};
use crate::supervisor::threads;

/// What is done to the places of a call until its supervisor ends.
pub(super) struct Remounter {
    places: Vec<Place>,
    covers: Covers,
    /// The source of events about new names; `None` if this user's limit is reached.
    notes: Option<OwnedFd>,
    /// The watched folders by their number.
    watched: HashMap<i32, PathBuf>,
    /// Whether a folder could not be watched.
    is_blind: bool,
}

impl Mounts {
    /// Watches the places that could become free. Before the command begins, because it could use up all watches.
    pub(in crate::supervisor) fn watch(&mut self) -> Result<(), String> {
        let Some(covers) = self.covers.take() else { return Ok(()) };
        let notes = inotify::init(CreateFlags::CLOEXEC).ok();
        let places = std::mem::take(&mut self.places);
        let is_blind = notes.is_none();
        let mut remounter = Remounter { places, covers, notes, watched: HashMap::new(), is_blind };
        remounter.look(Path::new("/"))?;
        self.remounter = Some(remounter);
        Ok(())
    }

    /// Restores removed mounts from now on, and covers sockets that others bind, in threads of its own. If one fails, the call
    /// ends.
    pub(in crate::supervisor) fn keep(&mut self) -> std::io::Result<()> {
        if let Some(later) = self.later.take() {
            later.keep()?;
        }
        let Some(mut remounter) = self.remounter.take() else { return Ok(()) };
        threads::guard("mounts", move || remounter.wait_and_look())
    }
}

impl Remounter {
    /// Waits until there are new names, and looks at them. Where the kernel does not report all, it looks everywhere after a
    /// moment.
    fn wait_and_look(&mut self) -> Result<(), String> {
        let new = self.new_names().unwrap_or_else(|_| {
            std::thread::sleep(OFTEN);
            vec![PathBuf::from("/")]
        });
        new.iter().try_for_each(|path| self.look(path))
    }

    /// Waits until there are new names; an error, from then on always, where the kernel does not report all.
    fn new_names(&mut self) -> rustix::io::Result<Vec<PathBuf>> {
        let Some(notes) = self.notes.take().filter(|_| !self.is_blind) else { return Err(Errno::NOSPC) };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut told = Reader::new(&notes, &mut buffer);
        let mut new = Vec::new();
        loop {
            let event = match told.next() {
                Err(Errno::INTR) => continue,
                event => event?,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                new.push(PathBuf::from("/"));
            }
            let name = event.file_name().map(|name| name.to_bytes());
            if let (Some(folder), Some(name)) = (self.watched.get(&event.wd()), name) {
                use std::os::unix::ffi::OsStrExt as _;
                new.push(folder.join(std::ffi::OsStr::from_bytes(name)));
            }
            if told.is_buffer_empty() {
                break;
            }
        }
        self.notes = Some(notes);
        Ok(new)
    }

    /// Restores free places at a path or below it, and watches their current or future parents.
    fn look(&mut self, from: &Path) -> Result<(), String> {
        for place in self.places.iter().filter(|place| place.path.starts_with(from)) {
            // The watch comes first, so later events are not missed. A missing folder is reported by its parent.
            for folder in place.path.ancestors().skip(1) {
                let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
                let Some(notes) = &self.notes else { break };
                match inotify::add_watch(notes, folder, flags) {
                    Ok(number) => drop(self.watched.insert(number, folder.to_owned())),
                    Err(Errno::NOENT | Errno::NOTDIR) => continue,
                    // A watch needs permission to read the folder. Its files are reached without that.
                    Err(Errno::ACCESS) if open(&folder.join(".")).is_ok() => self.is_blind = true,
                    Err(error) => self.is_blind |= !is_out_of_reach(folder, error),
                }
                break;
            }
            self.covers.mount_again(place, place.path != from)?;
        }
        Ok(())
    }
}

impl Covers {
    /// Mounts at a free place; `otherwise` is whether it is occupied if the kernel cannot tell.
    fn mount_again(&self, place: &Place, otherwise: bool) -> Result<(), String> {
        let path = &place.path;
        let found = match open(path) {
            Err(error) if is_out_of_reach(path, error) => return Ok(()),
            found => found.map_err(unreached(path))?,
        };
        if is_mounted(&found).unwrap_or(otherwise) {
            return Ok(());
        }
        // It may be gone again: then its next appearance is reported.
        let mounted = match place.kind {
            Kind::Pinned => mount_at(path, upon_itself),
            Kind::Held => hold(path),
            Kind::Covered => self.over(path),
        };
        mounted.map(drop)
    }
}

/// Whether this is a mount; `None` if the kernel cannot tell.
fn is_mounted(found: &OwnedFd) -> Option<bool> {
    let told = rustix::fs::statx(found, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE).ok()?;
    let can_tell = told.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    can_tell.then(|| told.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
