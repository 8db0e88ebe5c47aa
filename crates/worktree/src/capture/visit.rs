//! One folder of the sweep: opened, listed, and merged with its entry in the index. Unchanged entries are kept by their number,
//! so that they allocate nothing.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use retake_core::UncoveredReason;
use rustix::fs::{self, FileType};
use rustix::io::Errno;

use super::below::{self, Listing, Signature};
use super::coverage::CoverageChange;
use super::index::{self, Folder, NameState};
use super::read::{self, Reading, Refusal, Request};
use super::rules::{self, CACHE_TAG, Chain, IGNORE_FILES, LONGEST_IGNORE_FILE};
use super::sweep::{ChangedFolder, Context, Counts, Coverage, Draft, InForce, Job, Outcome, Side, State};
use crate::apply::StagingName;
use crate::attributes::Attributes;
use crate::error::{Result, WorktreeError};
use crate::failpoint::{self, failpoint};
use crate::root::open_file;

/// A thread of the sweep.
pub(crate) struct Visitor<'a> {
    pub context: &'a Context<'a>,
    /// Folders found in the last one.
    pub jobs: Vec<Job>,
    pub counts: Counts,
    listing: Listing,
    buffer: Vec<u8>,
    /// The path of the current entry.
    pub path: Vec<u8>,
}

/// Ignore files that had to be read, by name.
type IgnoreFiles = Vec<(&'static [u8], NameState)>;

/// The current folder.
pub(crate) struct VisitedFolder<'a> {
    fd: BorrowedFd<'a>,
    pub job: &'a Job,
    pub coverage: Coverage,
    pub in_force: InForce,
    /// Whether limits and ignore files equal those of the last capture.
    pub same_rules: bool,
    /// Its ignore files, if they had to be read.
    ignore_files: IgnoreFiles,
}

impl VisitedFolder<'_> {
    pub(crate) fn old(&self, at: Option<usize>) -> Option<&NameState> {
        Some(&self.job.old.as_ref()?.entries[at?].what)
    }
}

impl<'a> Visitor<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            jobs: Vec::new(),
            counts: Counts::default(),
            listing: Listing::default(),
            buffer: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Captures a folder; `None` if it is unchanged.
    pub(crate) fn visit(&mut self, job: Job) -> Result<Option<ChangedFolder>> {
        self.counts.folders += 1;
        let mut listing = std::mem::take(&mut self.listing);
        let looked = self.look(&job, &mut listing);
        self.listing = listing;
        let outcome = match looked {
            Ok(outcome) => outcome,
            Err(VisitFailure::Fatal(error)) => return Err(error),
            Err(VisitFailure::Errno(errno)) => match &job.place {
                None => return Err(self.context.root.failed(errno)),
                Some(path) => match read::refused(errno, path.as_bytes())? {
                    Refusal::Unknown(why) => Some(Outcome::Unknown(why)),
                    Refusal::Special => Some(Outcome::Uncovered(UncoveredReason::Special)),
                    Refusal::Gone => Some(Outcome::Gone),
                },
            },
        };
        if !matches!(outcome, None | Some(Outcome::Seen { .. })) {
            // Jobs from before the error do not count.
            self.jobs.clear();
        }
        Ok(outcome.map(|outcome| ChangedFolder { job, outcome }))
    }

    fn look(&mut self, job: &Job, listing: &mut Listing) -> Result<Option<Outcome>, VisitFailure> {
        let root = self.context.root;
        let fd = root.listed(job.place.as_ref())?;
        let stat = fs::fstat(&fd)?;
        if stat.st_dev != root.id().dev {
            return Err(Errno::XDEV.into());
        }
        if job.place.is_some() && self.context.own.contains(&(stat.st_dev, stat.st_ino)) {
            return Ok(Some(Outcome::Uncovered(UncoveredReason::DataFolder)));
        }
        listing.read(fd.as_fd())?;
        failpoint!("capture.listed").map_err(failpoint::errno)?;
        self.note_git(job, listing);
        let mut coverage = job.coverage;
        let mut line = job.line;
        if job.place.is_some()
            && let Some(why) = rules::marked(listing, || self.is_tag(fd.as_fd()))
        {
            if job.alone {
                self.context.not_enough.store(true, Ordering::Relaxed);
            }
            let leaves = coverage == Coverage::Both && job.old.is_some() && !job.late;
            match coverage {
                _ if why == UncoveredReason::Repository => return Ok(Some(Outcome::Uncovered(why))),
                Coverage::Leaving(_) if job.old.is_some() => {}
                Coverage::Both if leaves => {
                    coverage = Coverage::Leaving(why);
                    line = Some(CoverageChange::Lost(why));
                }
                _ => return Ok(Some(Outcome::Uncovered(why))),
            }
        }
        let (in_force, ignore_files) = self.rules(job, coverage, fd.as_fd(), listing)?;
        let same_rules = in_force.is_unchanged() && self.context.index.limits == self.context.limits();
        if job.alone && !same_rules {
            self.context.not_enough.store(true, Ordering::Relaxed);
        }
        let here = VisitedFolder { fd: fd.as_fd(), job, coverage, in_force, same_rules, ignore_files };
        let drafts = self.merge(&here, listing)?;
        let mode = (stat.st_mode & 0o777) as u16;
        let (inode, ctime) = (stat.st_ino, Signature::of(&stat).ctime);
        // The root itself is never created again.
        let attributes = job.place.as_ref().and_then(|_| Attributes::of(&fd, &stat));
        let now = Folder { mode, inode, attributes: attributes.clone(), entries: Vec::new() };
        Ok(self.changed(job, &now, coverage, line, &drafts).then_some(Outcome::Seen {
            mode,
            inode,
            ctime,
            attributes,
            coverage,
            line,
            drafts,
        }))
    }

    /// Records a folder that contains a repository or is a bare one: captures skip git's files.
    fn note_git(&self, job: &Job, listing: &Listing) {
        let Some(place) = &job.place else { return };
        let is_bare = || rules::marked(listing, || false) == Some(UncoveredReason::Repository);
        if listing.kind_of(b".git").is_some() || is_bare() {
            self.context.git.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone());
        }
    }

    fn changed(
        &self,
        job: &Job,
        now: &Folder,
        coverage: Coverage,
        line: Option<CoverageChange>,
        drafts: &[Draft],
    ) -> bool {
        let Some(old) = &job.old else {
            return true;
        };
        let same = coverage == Coverage::Both
            && line.is_none()
            && (old.mode, old.inode, &old.attributes) == (now.mode, now.inode, &now.attributes)
            && old.entries.len() == drafts.len()
            && drafts.iter().all(|draft| matches!(draft, Draft::Keep(_)));
        !same
    }

    fn is_tag(&mut self, folder: BorrowedFd<'_>) -> bool {
        let Ok(file) = open_file(folder, b"CACHEDIR.TAG") else {
            return false;
        };
        let mut start = [0_u8; CACHE_TAG.len()];
        let len = rustix::io::read(&file, &mut start[..]);
        len.is_ok_and(|len| len == start.len()) && start == CACHE_TAG
    }

    /// The ignore files in force in a folder: the known ones and the current ones.
    fn rules(
        &mut self,
        job: &Job,
        coverage: Coverage,
        fd: BorrowedFd<'_>,
        listing: &Listing,
    ) -> Result<(InForce, IgnoreFiles), VisitFailure> {
        let mut old_files = [const { None }; 3];
        let mut new_files = [const { None }; 3];
        let mut read = Vec::new();
        let mut same = true;
        let leaving = matches!(coverage, Coverage::Leaving(_));
        // The folder was unknown: files that its own ignore files exclude were never covered.
        let is_new = job.old.is_none();
        for (which, name) in IGNORE_FILES.into_iter().enumerate() {
            let old = job.old.as_ref().and_then(|folder| folder.find(name));
            let old_hash = ignore_file(old);
            if let Some(hash) = old_hash {
                old_files[which] = self.context.parsed.get_or_load(&hash, self.context.objects);
            }
            if leaving && !is_new {
                continue;
            }
            let there = listing.kind_of(name);
            let now = match there {
                Some(FileType::RegularFile | FileType::Unknown) => self.ignore_file_now(fd, name, old)?,
                _ => None,
            };
            let new_hash = match &now {
                Some(Reread::AsBefore) => old_hash,
                // Its content cannot be known; the last one still counts.
                Some(Reread::Now(NameState::Unknown(..))) => old_hash,
                Some(Reread::Now(what)) => ignore_file(Some(what)),
                None => None,
            };
            if let Some(hash) = new_hash {
                new_files[which] = self.context.parsed.get_or_load(&hash, self.context.objects);
            }
            same &= new_hash == old_hash;
            if let Some(Reread::Now(what)) = now {
                read.push((name, what));
            }
        }
        let outer = &job.in_force;
        let place = job.place.as_ref();
        if is_new {
            old_files.clone_from(&new_files);
        }
        let in_force = if leaving {
            InForce::unchanged(Chain::inner(&outer.old, place, old_files))
        } else if outer.is_unchanged() && (same || is_new) {
            InForce::unchanged(Chain::inner(&outer.new, place, new_files))
        } else {
            InForce {
                old: Chain::inner(&outer.old, place, old_files),
                new: Chain::inner(&outer.new, place, new_files),
            }
        };
        Ok((in_force, read))
    }

    /// Reads an ignore file at once, because it decides what to capture next.
    fn ignore_file_now(
        &mut self,
        fd: BorrowedFd<'_>,
        name: &'static [u8],
        old: Option<&NameState>,
    ) -> Result<Option<Reread>, VisitFailure> {
        let with_zero = [name, b"\0"].concat();
        let name_c =
            CStr::from_bytes_with_nul(&with_zero).expect("BUG: the names of ignore files hold no zero");
        let stat = match below::stat(fd, name_c) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        let signature = Signature::of(&stat);
        if below::kind(&stat) != FileType::RegularFile || signature.size > LONGEST_IGNORE_FILE {
            return Ok(None);
        }
        self.context.met(&signature);
        let known = match old {
            // Bytes that are missing in the object store are read and stored again.
            Some(NameState::File(old)) if self.context.parsed.get(&old.hash).is_none() => None,
            Some(NameState::File(old))
                if old.signature == signature && !self.must_read(old.signature.ctime, old.read_at) =>
            {
                return Ok(Some(Reread::AsBefore));
            }
            Some(NameState::File(old)) => old.put(),
            _ => None,
        };
        let request = Request { folder: fd, name, signature, known, limit: LONGEST_IGNORE_FILE };
        let objects = self.context.objects;
        let reading =
            read::read(request, &mut self.buffer, &read::into(objects)).map_err(VisitFailure::Fatal)?;
        if let Reading::Read(file) = &reading {
            self.context.parsed.parse(file.hash, &self.buffer);
        }
        Ok(reading.what().map(Reread::Now))
    }

    /// Whether an equal stamp does not mean equal bytes.
    fn must_read(&self, ctime: i64, read_at: i64) -> bool {
        index::is_young(ctime, read_at)
            || (ctime >= self.context.warm_since && index::is_warm(ctime, read_at))
    }

    fn merge(&mut self, here: &VisitedFolder<'_>, listing: &Listing) -> Result<Vec<Draft>, VisitFailure> {
        self.path.clear();
        if let Some(place) = &here.job.place {
            self.path.extend_from_slice(place.as_bytes());
            self.path.push(b'/');
        }
        let start = self.path.len();
        let nothing = Folder::default();
        let old = here.job.old.as_deref().unwrap_or(&nothing);
        let mut drafts = Vec::with_capacity(old.entries.len());
        let mut at = 0;
        for (name, kind, inode) in listing.iter() {
            let bare = name.to_bytes();
            // A staging folder is nobody's change either.
            let staged = here.job.place.is_none() && StagingName::is_staging(bare);
            if rules::is_git(bare) || staged {
                continue;
            }
            self.counts.names += 1;
            while at < old.entries.len() && *old.entries[at].name < *bare {
                at += 1;
            }
            let before = (at < old.entries.len() && *old.entries[at].name == *bare).then_some(at);
            self.path.truncate(start);
            self.path.extend_from_slice(bare);
            drafts.extend(self.entry(here, name, (kind, inode), before)?);
        }
        Ok(drafts)
    }

    fn entry(
        &mut self,
        here: &VisitedFolder<'_>,
        name: &CStr,
        (kind, inode): (FileType, u64),
        before: Option<usize>,
    ) -> Result<Option<Draft>, VisitFailure> {
        let old = here.old(before);
        let bare = name.to_bytes();
        if let Some((_, what)) = here.ignore_files.iter().find(|(file, _)| *file == bare) {
            let side = if here.coverage == Coverage::Arriving { Side::Arriving } else { Side::Both };
            return Ok(Some(ready(bare, side, what.clone())));
        }
        let depth = self.path.iter().filter(|byte| **byte == b'/').count();
        if self.path.len() > LONGEST_PATH || depth > DEEPEST {
            return Ok(Some(self.uncovered(here, bare, before, UncoveredReason::TooDeep)));
        }
        if kind == FileType::Directory {
            return Ok(Some(self.folder(here, bare, before, inode)));
        }
        let stat = match below::stat(here.fd, name) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        let signature = Signature::of(&stat);
        match below::kind(&stat) {
            FileType::Directory => Ok(Some(self.folder(here, bare, before, signature.inode))),
            FileType::RegularFile => {
                self.context.met(&signature);
                Ok(Some(self.file(here, bare, before, signature)))
            }
            FileType::Symlink => match old {
                Some(NameState::Link(link))
                    if link.signature == signature && !index::is_young(signature.ctime, link.read_at) =>
                {
                    Ok(before.map(Draft::Keep))
                }
                _ => {
                    let side = if here.coverage == Coverage::Arriving { Side::Arriving } else { Side::Both };
                    let what = read::link(here.fd, bare, signature).map_err(VisitFailure::Fatal)?;
                    Ok(what.map(|what| ready(bare, side, what)))
                }
            },
            _ => Ok(Some(self.uncovered(here, bare, before, UncoveredReason::Special))),
        }
    }

    pub(crate) fn uncovered(
        &self,
        here: &VisitedFolder<'_>,
        name: &[u8],
        before: Option<usize>,
        why: UncoveredReason,
    ) -> Draft {
        match before {
            Some(at) if here.old(before) == Some(&NameState::Uncovered(why)) => Draft::Keep(at),
            _ => ready(name, Side::Both, NameState::Uncovered(why)),
        }
    }

    fn file(
        &mut self,
        here: &VisitedFolder<'_>,
        name: &[u8],
        before: Option<usize>,
        signature: Signature,
    ) -> Draft {
        let old = here.old(before);
        let unread = match old {
            Some(NameState::File(old)) => {
                old.signature == signature && !self.must_read(signature.ctime, old.read_at)
            }
            _ => false,
        };
        let small = signature.size <= self.context.rules.max_ignored.min(self.context.rules.max_file);
        if let (true, true, Some(at)) = (unread, here.same_rules || small, before) {
            return Draft::Keep(at);
        }
        let side = match self.side(here, signature.size) {
            Ok(side) => side,
            Err(why) => return self.uncovered(here, name, before, why),
        };
        match (old, before) {
            (Some(NameState::File(_)), Some(at)) if unread && side == Side::Both => Draft::Keep(at),
            (Some(what @ NameState::File(_)), _) if unread => ready(name, side, what.clone()),
            _ => {
                let (known, doubt) = match old.and_then(NameState::known) {
                    Some(NameState::File(old)) => (old.put(), old.signature == signature),
                    _ => (None, false),
                };
                Draft::New { name: name.into(), side, state: State::Read { signature, known, doubt } }
            }
        }
    }

    /// Whether the earlier and the current rules cover a file of this size, or why not.
    fn side(&self, here: &VisitedFolder<'_>, size: u64) -> Result<Side, UncoveredReason> {
        let context = self.context;
        let always = |list: &std::collections::BTreeSet<retake_core::FilePath>| {
            !list.is_empty() && retake_core::FilePath::new(&self.path).is_ok_and(|path| list.contains(&path))
        };
        let excludes = |chain: &Chain, limits: super::rules::Limits, list| {
            let why = chain.excludes_file(&self.path, size, limits);
            why.filter(|why| *why == UncoveredReason::TooLarge || !always(list))
        };
        let old = || excludes(&here.in_force.old, context.index.limits, &context.index.always);
        let new = || excludes(&here.in_force.new, context.limits(), &context.rules.always);
        match here.coverage {
            Coverage::Arriving => new().map_or(Ok(Side::Arriving), Err),
            Coverage::Leaving(_) => old().map_or(Ok(Side::Both), Err),
            Coverage::Both => match (old(), new()) {
                (None, None) => Ok(Side::Both),
                (None, Some(why)) => Ok(Side::Leaving(why)),
                (Some(_), None) => Ok(Side::Arriving),
                (Some(_), Some(why)) => Err(why),
            },
        }
    }
}

/// The longest path that the system accepts, in bytes.
const LONGEST_PATH: usize = 4095;

/// The most folders above a covered path. The cost of a plan grows with more than the square of their number, and a command
/// creates thousands of them in a moment.
const DEEPEST: usize = 256;

pub(crate) fn ready(name: &[u8], side: Side, what: NameState) -> Draft {
    Draft::New { name: name.into(), side, state: State::Ready(what) }
}

/// The hash of an entry that counts as an ignore file.
pub(crate) fn ignore_file(what: Option<&NameState>) -> Option<retake_core::ContentHash> {
    match what?.known()? {
        NameState::File(file) if file.signature.size <= LONGEST_IGNORE_FILE => Some(file.hash),
        _ => None,
    }
}

/// An ignore file, captured again.
enum Reread {
    AsBefore,
    Now(NameState),
}

/// Why a folder could not be captured completely.
enum VisitFailure {
    Errno(Errno),
    Fatal(WorktreeError),
}

impl From<Errno> for VisitFailure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<WorktreeError> for VisitFailure {
    fn from(error: WorktreeError) -> Self {
        Self::Fatal(error)
    }
}
