//! Files that are replaced or made while a call runs. A program of the person that writes a file under another name and
//! renames it (git, many editors) removes the mount on the old one. It is mounted again as soon as the kernel reports
//! the new file. The same holds for a file that did not exist when the call began. Must never take anything away, nor
//! mount one thing over another that a path leads to by then.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::{Covers, Kind, Mounts, OFTEN, Place, hold, is_out_of_reach, open, upon_itself};

/// What is done to the places of a call until its supervisor ends.
pub(super) struct Keeper {
    places: Vec<Place>,
    covers: Covers,
    /// What tells of new names; nothing where this user has none left.
    notes: Option<OwnedFd>,
    /// The folders that are watched, by their number.
    watched: HashMap<i32, PathBuf>,
    /// A folder could not be watched.
    is_blind: bool,
}

impl Mounts {
    /// Watches where something could come free. Before the command begins: it could take all watches that there are.
    pub(in crate::supervisor) fn watch(&mut self) {
        let Some(covers) = self.covers.take() else { return };
        let notes = inotify::init(CreateFlags::CLOEXEC).ok();
        let places = std::mem::take(&mut self.places);
        let is_blind = notes.is_none();
        let mut keeper = Keeper { places, covers, notes, watched: HashMap::new(), is_blind };
        keeper.look(Path::new("/"));
        self.keeper = Some(keeper);
    }

    /// Mounts again what comes free from now on, and covers sockets that others bind, in threads of its own.
    pub(in crate::supervisor) fn keep(&mut self) -> std::io::Result<()> {
        if let Some(later) = self.later.take() {
            later.keep()?;
        }
        let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
        let keep = move || {
            let _ = crate::sandbox::keep_mounting();
            while keeper.is_told().is_ok() {}
            // There is nothing to wait for: the kernel tells of no new names without a watch.
            loop {
                std::thread::sleep(OFTEN);
                keeper.look(Path::new("/"));
            }
        };
        std::thread::Builder::new().name("mounts".into()).spawn(keep).map(drop)
    }
}

impl Keeper {
    /// Waits until there are new names, and looks at them; an error where the kernel does not tell all.
    fn is_told(&mut self) -> rustix::io::Result<()> {
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
        for path in new {
            self.look(&path);
        }
        Ok(())
    }

    /// Mounts again what is free at a path or below it, and watches the folders that it lies in, or will.
    fn look(&mut self, from: &Path) {
        for place in self.places.iter().filter(|place| place.path.starts_with(from)) {
            // First the watch: what comes after the look is told. A folder that is not there yet is told by the one above it.
            for folder in place.path.ancestors().skip(1) {
                let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
                let Some(notes) = &self.notes else { break };
                match inotify::add_watch(notes, folder, flags) {
                    Ok(number) => drop(self.watched.insert(number, folder.to_owned())),
                    Err(Errno::NOENT) => continue,
                    Err(error) => self.is_blind |= !is_out_of_reach(folder, error),
                }
                break;
            }
            let _ = self.covers.mount_again(place, place.path != from);
        }
    }
}

impl Covers {
    /// Mounts what is to be at a place, where nothing is; `otherwise` says whether something is where the kernel can't tell.
    fn mount_again(&self, place: &Place, otherwise: bool) -> Result<(), String> {
        let Ok(found) = open(&place.path) else { return Ok(()) };
        if is_mounted(&found).unwrap_or(otherwise) {
            return Ok(());
        }
        match place.kind {
            Kind::Pinned => upon_itself(&found).map_err(super::at(&place.path)),
            Kind::Held => hold(&place.path),
            Kind::Covered => self.over(&place.path),
        }
    }
}

/// Whether this is what something mounted shows; nothing where the kernel can't tell.
fn is_mounted(found: &OwnedFd) -> Option<bool> {
    let told = rustix::fs::statx(found, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE).ok()?;
    let can_tell = told.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    can_tell.then(|| told.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
