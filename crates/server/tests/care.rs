//! Backups and the check of the store, as requests of a client.

use std::path::Path;

use retake_wire::request::{Backup, Doctor};
use retake_wire::{ProblemKind, Request, Role};

use super::port::rich;
use super::world::{Desk, get, shows, told};

fn backup(to: &Path) -> Request {
    Request::Backup(Backup { to: Some(to.display().to_string()) })
}

#[tokio::test]
async fn backup_opens_and_has_the_same_content() {
    let desk = Desk::new().await;
    let id = rich(&desk).await;
    let seen = desk.timeline(&id).await;
    let folder = desk.file("copy");
    std::fs::create_dir(&folder).expect("made");
    let to = folder.join("retake.db");
    let written = get!(desk, Written, backup(&to));
    let length = std::fs::metadata(&to).expect("it is there").len();
    assert_eq!((written.path, written.bytes), (to.display().to_string(), length));
    desk.say(&id, Role::User, "said after it").await;
    let copy = desk.other("copy").await;
    assert_eq!(copy.timeline(&id).await, seen);
    copy.say(&id, Role::User, "said in the copy").await;
    let dated = get!(desk, Written, Request::Backup(Backup::default()));
    assert!(Path::new(&dated.path).starts_with(desk.file("data")), "{}", dated.path);
}

#[tokio::test]
async fn a_backup_to_a_bad_place_writes_nothing() {
    let desk = Desk::new().await;
    desk.talk(&["one"]).await;
    std::fs::write(desk.file("mine.db"), "mine").expect("written");
    let rows = [desk.file("mine.db"), desk.file("none/there.db"), desk.file(""), "here.db".into(), "".into()];
    let mut text = String::new();
    for to in rows {
        text.push_str(&told(&desk.refused(backup(&to)).await));
    }
    assert_eq!(std::fs::read_to_string(desk.file("mine.db")).expect("still there"), "mine");
    let mut left: Vec<_> =
        std::fs::read_dir(desk.file("")).expect("read").map(|file| file.expect("one").file_name()).collect();
    left.sort();
    assert_eq!(left, ["config.toml", "data", "mine.db"]);
    shows!(text);
}

#[tokio::test]
async fn a_healthy_store_has_no_problems() {
    let desk = Desk::new().await;
    let id = rich(&desk).await;
    let before = desk.info(&id).await;
    for mend in [false, true] {
        let report = get!(desk, Report, Request::Doctor(Doctor { mend }));
        assert_eq!((report.findings, report.repairs), (vec![], vec![]));
        assert_eq!((report.conversations, report.entries), (1, 8));
    }
    assert_eq!(desk.info(&id).await, before);
}

#[tokio::test]
async fn second_owner_of_a_data_directory_is_refused() {
    let desk = Desk::new().await;
    let options = retake_server::Options {
        data_dir: desk.file("data"),
        config_file: desk.file("config.toml"),
        user: "bob".into(),
        home: None,
        wait_for_owner: std::time::Duration::ZERO,
        stays: retake_server::OwnerLifetime::UntilTold,
    };
    let Err(problem) = retake_server::open(options).await else { panic!("it has an owner") };
    assert_eq!((problem.kind, &*problem.code), (ProblemKind::Storage, "held"));
}
