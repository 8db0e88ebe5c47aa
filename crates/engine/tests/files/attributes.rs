//! Attributes that no record has (owner, setuid and the like, extended attributes): they stay on reverted files and
//! return with created ones.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use retake_core::Choice;
use retake_engine::{FileOptions, FolderRemark, Note};
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

/// All mode bits, and the extended attribute.
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
async fn trial_08_recreated_file_gets_the_attributes_of_the_last_capture() {
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

#[tokio::test]
async fn trial_08_setuid_that_a_command_took_away_comes_back() {
    for script in ["chmod 0644 f", "chmod 0644 f; echo more >> f", "chmod 0644 f; chmod 0600 f"] {
        let yard = Yard::with(&[("f", "old\n")]).await;
        mark(&yard, "f", 0o6755, "keep");
        yard.run("true").await;
        yard.run(script).await;
        let left = has(&yard, "f");
        assert_eq!(left.0 & 0o7000, 0, "{script}");
        let yard = yard.restarted().await;
        for _ in 0..2 {
            yard.back("t2").await;
            assert_eq!(
                (yard.read("f").as_deref(), has(&yard, "f")),
                (Some("old\n"), noted(0o6755, "keep")),
                "{script}"
            );
            yard.undo().await;
            assert_eq!(has(&yard, "f"), left, "{script}");
        }
    }
}

#[tokio::test]
async fn trial_08_setgid_and_sticky_that_a_command_took_from_a_folder_come_back() {
    let yard = Yard::with(&[("d/x", "x\n")]).await;
    fs::set_permissions(yard.path("d"), fs::Permissions::from_mode(0o3775)).expect("set");
    yard.run("chmod 00700 d").await;
    assert_eq!(fs::metadata(yard.path("d")).expect("it").mode() & 0o7777, 0o700);
    yard.back("t1").await;
    assert_eq!(fs::metadata(yard.path("d")).expect("it").mode() & 0o7777, 0o3775);
    yard.undo().await;
    assert_eq!(fs::metadata(yard.path("d")).expect("it").mode() & 0o7777, 0o700);
}

#[tokio::test]
async fn trial_08_attributes_that_another_file_brought_go_with_it() {
    let owner = |yard: &Yard| {
        let found = fs::metadata(yard.path("f")).expect("it");
        (found.uid(), found.gid())
    };
    for script in ["rm f; echo two > f", "mv other f", "cp f new; mv new f; chmod 0600 f"] {
        let yard = Yard::with(&[("f", "one\n"), ("other", "two\n")]).await;
        mark(&yard, "f", 0o644, "of f");
        mark(&yard, "other", 0o644, "of other");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(yard.path("f"), Some(12_345), Some(12_346)).expect("given");
        }
        let before = (owner(&yard), has(&yard, "f"));
        yard.run("echo more >> f").await;
        yard.run(script).await;
        yard.run("echo last >> f").await;
        let after = (owner(&yard), has(&yard, "f"));
        assert_ne!(before, after, "{script}");
        let yard = yard.restarted().await;
        yard.back("t1").await;
        assert_eq!(yard.read("f").as_deref(), Some("one\n"), "{script}");
        assert_eq!((owner(&yard), has(&yard, "f")), before, "{script}");
        yard.undo().await;
        assert_eq!((owner(&yard), has(&yard, "f")), after, "{script}");
        yard.back("t2").await;
        assert_eq!((owner(&yard), has(&yard, "f")), before, "{script}");
    }
}

#[tokio::test]
async fn trial_08_a_version_without_attributes_gets_nothing_of_an_earlier_one() {
    let yard = Yard::with(&[("f", "one\n")]).await;
    mark(&yard, "f", 0o644, "of f");
    yard.run("rm f; echo two > f").await;
    yard.run("chmod 0600 f").await;
    yard.back("t2").await;
    assert_eq!((yard.read("f").as_deref(), has(&yard, "f")), (Some("two\n"), (0o644, None)));
    yard.undo().await;
    yard.back("t1").await;
    assert_eq!((yard.read("f").as_deref(), has(&yard, "f")), (Some("one\n"), noted(0o644, "of f")));
}

#[tokio::test]
async fn trial_08_bits_and_attributes_go_back_where_one_name_of_a_file_had_been_another_file() {
    let yard = Yard::with(&[("f", "one\n"), ("other", "one\n")]).await;
    mark(&yard, "f", 0o644, "of f");
    yard.run("chmod 0600 other; ln -f other f").await;
    assert_eq!((has(&yard, "f"), has(&yard, "other")), ((0o600, None), (0o600, None)));
    yard.back("t1").await;
    assert_eq!((has(&yard, "f"), has(&yard, "other")), (noted(0o644, "of f"), (0o644, None)));
    yard.undo().await;
    assert_eq!((has(&yard, "f"), has(&yard, "other")), ((0o600, None), (0o600, None)));
}

#[tokio::test]
async fn trial_08_file_attributes_that_a_person_set_since_stay() {
    let yard = Yard::with(&[("f", "one\n")]).await;
    mark(&yard, "f", 0o644, "first");
    yard.run("echo more >> f").await;
    yard.run("echo more >> f").await;
    mark(&yard, "f", 0o1644, "mine");
    yard.back("t1").await;
    assert_eq!((yard.read("f").as_deref(), has(&yard, "f")), (Some("one\n"), noted(0o1644, "mine")));
}

#[tokio::test]
async fn trial_08_setuid_is_given_to_exactly_the_bytes_that_had_it() {
    let yard = Yard::with(&[("f", "one\n")]).await;
    yard.run("echo two >> f").await;
    yard.run("echo three >> f").await;
    mark(&yard, "f", 0o4755, "of three");
    let refused = yard.apply(yard.rewind("t2").await, FileOptions::default()).await.expect_err("refused");

    assert_eq!(refused.code, "files_refused");
    assert!(refused.message.contains("f: its setuid or setgid bit"), "{}", refused.message);
    assert_eq!(
        (yard.read("f").as_deref(), has(&yard, "f")),
        (Some("one\ntwo\nthree\n"), noted(0o4755, "of three"))
    );
    let left_out = super::choose("f", Choice::Skip);
    yard.apply(yard.rewind("t2").await, left_out).await.expect("the rest is done");
    assert_eq!(has(&yard, "f"), noted(0o4755, "of three"));
}

/// What a rewind says about other names of files: plan and receipt are the same.
async fn noted_links(yard: &Yard) -> Vec<Note> {
    let of_links = |notes: Vec<Note>| -> Vec<Note> {
        notes
            .into_iter()
            .filter(|note| matches!(note, Note::InFolder { remark: FolderRemark::HardLink { .. }, .. }))
            .collect()
    };
    let planned = of_links(yard.plan(yard.rewind("t1").await, FileOptions::default()).await.notes);
    let done = yard.apply(yard.rewind("t1").await, FileOptions::default()).await.expect("done");
    assert_eq!(planned, of_links(done.notes), "plan and receipt");
    planned
}

#[tokio::test]
async fn trial_07_plan_and_receipt_say_the_same_of_other_names_of_files() {
    let link = |path: &str, all_change| Note::InFolder {
        folder: None,
        remark: FolderRemark::HardLink { path: path.to_owned(), all_change },
    };
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("ln a b; echo two >> a").await;
    assert_eq!(noted_links(&yard).await, [], "its only other name goes, too");
    assert_eq!((yard.read("a").as_deref(), yard.read("b")), (Some("one\n"), None));
    let yard = Yard::with(&[("a", "one\n")]).await;
    fs::hard_link(yard.path("a"), yard.path("b")).expect("linked");
    yard.run("echo two >> a").await;
    assert_eq!(noted_links(&yard).await, [link("a", true), link("b", true)], "both go back");
    assert_eq!((yard.read("a"), yard.read("b")), (Some("one\n".to_owned()), Some("one\n".to_owned())));
    let yard = Yard::with(&[("a", "one\n")]).await;
    fs::hard_link(yard.path("a"), yard.path("../outside")).expect("linked");
    yard.run("echo two >> a").await;
    assert_eq!(noted_links(&yard).await, [link("a", false)]);
    assert_eq!(yard.read("../outside").as_deref(), Some("one\ntwo\n"));
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("echo two >> a").await;
    fs::hard_link(yard.path("a"), yard.path("../outside")).expect("linked later");
    assert_eq!(noted_links(&yard).await, [link("a", false)]);
}
