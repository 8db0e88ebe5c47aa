//! Finding objects with some bytes, and predicting what a collection would free.

use std::collections::HashSet;

use retake_core::ContentHash;
use retake_worktree::Objects;

use super::{noise, open, put_all};

#[test]
fn objects_with_given_bytes_are_found_in_every_segment() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    put_all(&pack, 0..60);
    let mut holding: Vec<ContentHash> = [(100, 5), (101, 30_000)]
        .map(|(number, len)| {
            let bytes = [noise(number, len), b"hunter2zebra".to_vec(), noise(number + 50, len)].concat();
            pack.put(&bytes).unwrap()
        })
        .to_vec();
    holding.sort();
    assert_eq!(pack.find(b"hunter2zebra", &mut |_, _| ()).unwrap(), holding);
    assert!(pack.find(b"hunter3zebra", &mut |_, _| ()).unwrap().is_empty());
    assert!(pack.find(b"", &mut |_, _| ()).unwrap().is_empty(), "nothing is in everything");
}

#[test]
fn a_survey_reports_the_space_that_a_collection_would_free() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..200);
    let all = pack.survey(&|_| true).unwrap();
    assert_eq!(all.objects, 0);
    assert!(all.unneeded * 20 < all.size, "heads only: {all:?}");
    let live: HashSet<ContentHash> = names.iter().copied().step_by(5).collect();
    let survey = pack.survey(&|name| live.contains(name)).unwrap();
    assert_eq!(survey.objects, 160);
    let guard = pack.guard();
    pack.collect(&guard, &|name| live.contains(name), &mut |_, _| ()).unwrap();
    let freed = survey.size - pack.size().unwrap();
    assert!(survey.unneeded.abs_diff(freed) * 10 < freed, "{survey:?}, freed {freed}");
    assert!(pack.has(&names[0]) && !pack.has(&names[1]));
}
