//! What no record has (owner, setuid and the like, extended attributes): it stays on what is reverted and comes back with
//! what is made anew.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::Yard;

const NAME: &str = "user.note";

fn set_note(path: &Path, note: &str) {
    match rustix::fs::setxattr(path, NAME, note.as_bytes(), XattrFlags::empty()) {
        Ok(()) => {}
        Err(Errno::NOTSUP) => panic!(
            "the file system of {} keeps no user attributes: set TMPDIR to a folder on one that does (ext4, XFS, Btrfs)",
            path.display()
        ),
        Err(errno) => panic!("{}: {errno}", path.display()),
    }
}

/// All bits of the mode, and the note, of what is there.
fn has(yard: &Yard, name: &str) -> (u32, Option<String>) {
    let path = yard.path(name);
    let mut value = [0; 64];
    let note = match rustix::fs::getxattr(&path, NAME, value.as_mut_slice()) {
        Ok(length) => Some(String::from_utf8_lossy(&value[..length]).into_owned()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{}: {errno}", path.display()),
    };
    (fs::metadata(&path).expect("it is there").mode() & 0o7777, note)
}

fn mark(yard: &Yard, name: &str, mode: u32, note: &str) {
    fs::set_permissions(yard.path(name), fs::Permissions::from_mode(mode)).expect("set");
    set_note(&yard.path(name), note);
}

fn noted(mode: u32, note: &str) -> (u32, Option<String>) {
    (mode, Some(note.to_owned()))
}

#[tokio::test]
async fn trial_08_a_file_that_is_reverted_keeps_what_no_record_has() {
    let yard = Yard::with(&[("a", "old\n"), ("bits", "x\n")]).await;
    mark(&yard, "a", 0o4755, "keep");
    mark(&yard, "bits", 0o3755, "keep");
    yard.run("echo more >> a; chmod 4700 a; chmod 3700 bits").await;
    mark(&yard, "a", 0o4700, "keep");
    assert_eq!(has(&yard, "a"), noted(0o4700, "keep"));
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("old\n"));
    assert_eq!((has(&yard, "a"), has(&yard, "bits")), (noted(0o4755, "keep"), noted(0o3755, "keep")));
}

#[tokio::test]
async fn trial_08_what_is_made_anew_gets_back_what_the_last_capture_saw() {
    let yard = Yard::with(&[("a", "old\n"), ("d/x", "x\n"), ("plain", "x\n"), ("moved", "y\n")]).await;
    mark(&yard, "a", 0o4755, "of a");
    mark(&yard, "d/x", 0o644, "of x");
    mark(&yard, "d", 0o3755, "of d");
    mark(&yard, "moved", 0o600, "of moved");
    yard.run("echo more >> plain").await;
    yard.run("rm -r a d plain; mv moved there").await;
    let yard = yard.restarted().await;
    yard.back("t2").await;
    let all = |yard: &Yard| ["a", "d/x", "d", "moved", "plain"].map(|name| has(yard, name));
    let whole = [
        noted(0o4755, "of a"),
        noted(0o644, "of x"),
        noted(0o3755, "of d"),
        noted(0o600, "of moved"),
        (0o644, None),
    ];
    assert_eq!(all(&yard), whole);
    yard.undo().await;
    assert_eq!(yard.names(), ["there"]);
    assert_eq!(has(&yard, "there"), noted(0o600, "of moved"), "also what an apply had removed");
    yard.redo().await;
    assert_eq!(all(&yard), whole);
}

#[tokio::test]
async fn trial_08_an_earlier_version_gets_back_what_it_had() {
    let yard = Yard::with(&[("a", "old\n")]).await;
    mark(&yard, "a", 0o644, "early");
    yard.run("echo more >> a").await;
    set_note(&yard.path("a"), "late");
    yard.run("rm a").await;
    yard.run("echo other > a; rm a").await;
    yard.back("t2").await;
    assert_eq!((yard.read("a").as_deref(), has(&yard, "a")), (Some("old\nmore\n"), noted(0o644, "late")));
    yard.undo().await;
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), has(&yard, "a")), (Some("old\n"), noted(0o644, "early")));
}
