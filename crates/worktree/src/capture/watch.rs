//! Watches the covered folders: in which of them something may have happened since the last stored capture. Only a
//! hint: a whole sweep finds what it misses. It must never read a file or report a path as changed.
//!
//! The system's own queue is read when a capture begins: by then it contains everything that a call did before it
//! ended. A thread that reads it continuously could be late.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::index::{Index, Place};
use crate::apply::StagingName;
use crate::root::{Root, identity, is_local};

/// The most watched folders: other programs need watches too.
const MOST_WATCHED: usize = 1 << 16;
/// Beyond this number of folders the whole tree is captured.
const MOST_NAMED: usize = 1 << 10;

const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Whether a tree is watched.
#[derive(Debug, Default)]
pub(crate) enum Watching {
    #[default]
    No,
    Yes(Box<Watch>),
    /// The system does not permit it, or it failed.
    Never,
}

#[derive(Debug)]
pub(crate) struct Watch {
    queue: OwnedFd,
    /// The folder of each watch.
    places: HashMap<i32, Place>,
    /// The watch of each folder, and the folder's inode when it was set.
    watched: HashMap<Place, (i32, u64)>,
    /// Folders in which something may have happened since the last stored capture.
    dirty: BTreeSet<Place>,
    /// Folders with files that have other hard links: a write through another link is not reported here.
    linked: BTreeSet<Place>,
    /// Those files.
    inodes: Arc<BTreeSet<u64>>,
    /// Names that appeared since the last stored capture, each with the watch of its folder.
    came: HashSet<(i32, Box<[u8]>)>,
    /// Whether something may have happened anywhere.
    unknown: bool,
}

/// The folders for a capture that begins now.
#[derive(Debug)]
pub(crate) struct WatchHint {
    pub folders: Vec<Place>,
    /// The inodes of files with several hard links whose folders are all among those. Any other file with several links
    /// may have been written through a link elsewhere.
    pub links: Arc<BTreeSet<u64>>,
}

impl Watching {
    /// Begins to watch. The next capture must read the whole tree.
    pub(crate) fn begin(&mut self, root: &Root, index: &Index) {
        if matches!(self, Self::No) {
            *self = Watch::begin(root, index).map(Box::new).map_or(Self::Never, Self::Yes);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        matches!(self, Self::Yes(_))
    }

    /// The folders that a capture must read now; `None` if they are not known.
    pub(crate) fn named(&mut self) -> Option<WatchHint> {
        let Self::Yes(watch) = self else { return None };
        match watch.read() {
            Ok(()) => watch.named(),
            Err(error) => {
                tracing::warn!(cause = error.raw_os_error(), "a folder is no longer watched");
                *self = Self::Never;
                None
            }
        }
    }

    /// A capture was stored: its folders are watched from now on. `answered` is whether it used `named`.
    pub(crate) fn kept(&mut self, root: &Root, index: &Index, answered: bool) {
        let Self::Yes(watch) = self else { return };
        if answered {
            watch.dirty.clear();
            watch.came.clear();
            watch.unknown = false;
        }
        if watch.follow(root, index).is_none() {
            tracing::info!("a folder is no longer watched");
            *self = Self::Never;
        }
    }
}

impl Watch {
    fn begin(root: &Root, index: &Index) -> Option<Self> {
        // On other file systems, other computers change files without an event, or with another clock.
        if !is_local(root).ok()? {
            return None;
        }
        let mut watch = Self {
            queue: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?,
            places: HashMap::new(),
            watched: HashMap::new(),
            dirty: BTreeSet::new(),
            linked: BTreeSet::new(),
            inodes: Arc::default(),
            came: HashSet::new(),
            unknown: true,
        };
        watch.follow(root, index)?;
        Some(watch)
    }

    /// Reads all waiting events of the system.
    fn read(&mut self) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = Reader::new(&self.queue, &mut buffer);
        // Names that appeared and were then moved away, by the cookie that both events of a move share.
        let mut moved = HashSet::new();
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            let (watch, what) = (event.wd(), event.events());
            if what.contains(ReadFlags::UNMOUNT) {
                return Err(Errno::STALE);
            }
            self.unknown |= what.contains(ReadFlags::QUEUE_OVERFLOW);
            let Some(place) = self.places.get(&watch) else { continue };
            self.dirty.insert(place.clone());
            self.unknown |= passes(&mut self.came, &mut moved, &event);
            if what.contains(ReadFlags::IGNORED)
                && let Some(place) = self.places.remove(&watch)
                && self.watched.get(&place).is_some_and(|(current, _)| *current == watch)
            {
                self.watched.remove(&place);
            }
        }
        // Moved to a folder without a watch.
        self.unknown |= !moved.is_empty();
        Ok(())
    }

    fn named(&mut self) -> Option<WatchHint> {
        self.unknown |= self.dirty.len() + self.linked.len() > MOST_NAMED;
        if self.unknown {
            self.dirty.clear();
            return None;
        }
        let folders = self.dirty.union(&self.linked).cloned().collect();
        Some(WatchHint { folders, links: Arc::clone(&self.inodes) })
    }

    /// Watches the folders of the index, and no others. Folders without a watch until now must be captured again:
    /// events between their capture and the watch are lost. `None` if the system gives no more watches.
    fn follow(&mut self, root: &Root, index: &Index) -> Option<()> {
        if index.folders.len() > MOST_WATCHED {
            return None;
        }
        for (place, folder) in &index.folders {
            if self.watched.get(place).is_none_or(|(_, inode)| *inode != folder.inode) {
                self.dirty.insert(place.clone());
                self.add(root, place)?;
            }
        }
        let gone: Vec<Place> =
            self.watched.keys().filter(|place| !index.folders.contains_key(place)).cloned().collect();
        for place in gone {
            self.remove(&place);
        }
        self.follow_links(index);
        Some(())
    }

    /// A new hard link in another folder is not reported in a file's own folder.
    fn follow_links(&mut self, index: &Index) {
        let mut inodes = BTreeSet::new();
        self.linked.clear();
        for (place, folder) in &index.folders {
            let mut linked = folder.entries.iter().filter_map(|entry| entry.what.linked()).peekable();
            if linked.peek().is_some() {
                self.linked.insert(place.clone());
                inodes.extend(linked);
            }
        }
        self.unknown |= !inodes.is_subset(&self.inodes);
        self.inodes = Arc::new(inodes);
    }

    fn add(&mut self, root: &Root, place: &Place) -> Option<()> {
        // Removed or replaced meanwhile: its parent reports that.
        let Ok(folder) = root.folder(place.as_ref()) else { return Some(()) };
        let inode = identity(&folder).ok()?.ino;
        // By the opened folder, so that no link is followed.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let watch = match inotify::add_watch(&self.queue, path, EVENTS) {
            Ok(watch) => watch,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if place.is_some() => return Some(()),
            Err(error) => {
                tracing::info!(cause = error.raw_os_error(), "a folder cannot be watched");
                return None;
            }
        };
        // A moved folder keeps its watch.
        if let Some(before) = self.places.insert(watch, place.clone())
            && before != *place
            && self.watched.get(&before).is_some_and(|(current, _)| *current == watch)
        {
            self.watched.remove(&before);
        }
        if let Some((before, _)) = self.watched.insert(place.clone(), (watch, inode))
            && before != watch
            && self.places.get(&before) == Some(place)
        {
            self.places.remove(&before);
            self.let_go(before);
        }
        Some(())
    }

    fn remove(&mut self, place: &Place) {
        if let Some((watch, _)) = self.watched.remove(place) {
            self.places.remove(&watch);
            self.let_go(watch);
        }
    }

    /// This fails for a watch that ended with its folder.
    fn let_go(&self, watch: i32) {
        let _gone = inotify::remove_watch(&self.queue, watch);
    }
}

/// Records names that appear, and returns whether one of them was removed again. It may have been another hard link of
/// any file, and a write through it is reported nowhere else. A name that is moved within the watched folders is still
/// visible.
fn passes(came: &mut HashSet<(i32, Box<[u8]>)>, moved: &mut HashSet<u32>, event: &Event<'_>) -> bool {
    let Some(name) = event.file_name().map(std::ffi::CStr::to_bytes) else { return false };
    if StagingName::is_staging(name) {
        return false;
    }
    let (what, named) = (event.events(), (event.wd(), Box::from(name)));
    if what.contains(ReadFlags::MOVED_TO) {
        moved.remove(&event.cookie());
    }
    if what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
        came.insert(named);
        return false;
    }
    let went = what.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) && came.remove(&named);
    if went && what.contains(ReadFlags::MOVED_FROM) {
        moved.insert(event.cookie());
        return false;
    }
    went
}
