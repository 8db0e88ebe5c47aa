//! Flipped bits, truncated blocks, missing index files: wrong content is never returned.

use std::fs;

use retake_worktree::{Objects, PackObjects, WorktreeError, hash};

use super::{files, noise, open, put_all};

#[test]
fn a_damaged_object_is_named_and_healed_by_putting_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..20);
    pack.close().unwrap();
    let path = &files(dir.path(), "pack")[0];
    let mut bytes = fs::read(path).unwrap();
    let wanted = noise(4, 700);
    let at = bytes.windows(700).position(|window| window == wanted).unwrap();
    bytes[at + 600] ^= 1;
    fs::write(path, bytes).unwrap();

    let pack = open(dir.path());
    assert!(matches!(pack.get(&names[4]), Err(WorktreeError::Damaged(name)) if name == names[4]));
    assert!(!pack.contains(&names[4]), "so that a capture puts it again");
    assert_eq!(pack.get(&names[3]).unwrap(), noise(3, 700), "its neighbour in the block is sound");
    let mut steps = Vec::new();
    let checked = pack.check(&mut |done, total| steps.push((done, total))).unwrap();
    assert_eq!((checked.sound, checked.damaged), (19, vec![names[4]]));
    assert!(steps.is_sorted() && steps.len() > 2 && steps.last().is_some_and(|(done, total)| done == total));

    pack.put(&wanted).unwrap();
    assert_eq!(pack.get(&names[4]).unwrap(), wanted);
    pack.close().unwrap();
    let pack = open(dir.path());
    assert_eq!(pack.get(&names[4]).unwrap(), wanted);
    assert!(pack.check(&mut |_, _| {}).unwrap().damaged.is_empty());
}

#[test]
fn a_damaged_block_header_damages_only_its_block() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..20);
    pack.close().unwrap();
    let path = &files(dir.path(), "pack")[0];
    let mut bytes = fs::read(path).unwrap();
    bytes[20] ^= 1;
    fs::write(path, bytes).unwrap();
    for index in files(dir.path(), "index") {
        fs::remove_file(index).unwrap();
    }
    let pack = open(dir.path());
    let lost = names.iter().filter(|name| !pack.contains(name)).count();
    assert_eq!(lost, 3, "those of one block");
    let again = put_all(&pack, 0..20);
    for (number, name) in again.iter().enumerate() {
        assert_eq!(pack.get(name).unwrap(), noise(number as u64, 700));
    }
}

#[test]
fn index_files_of_segments_are_rebuilt_and_never_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..100);
    pack.close().unwrap();
    let whole: Vec<_> = files(dir.path(), "index").iter().map(|path| fs::read(path).unwrap()).collect();
    let turned: fn(&[u8]) -> Vec<u8> = |bytes| bytes.iter().rev().copied().collect();
    let wrong = [|_: &[u8]| Vec::new(), |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec(), turned];
    for wrong in wrong.map(Some).into_iter().chain([None]) {
        for (path, bytes) in files(dir.path(), "index").iter().zip(&whole) {
            match wrong {
                Some(wrong) => fs::write(path, wrong(bytes)).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
        }
        let pack = open(dir.path());
        assert_eq!(pack.check(&mut |_, _| {}).unwrap().sound, names.len());
        drop(pack);
        let again: Vec<_> = files(dir.path(), "index").iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(again, whole);
    }
}

#[test]
fn a_truncated_tail_is_no_object() {
    let dir = tempfile::tempdir().unwrap();
    let names = put_all(&open(dir.path()), 0..3);
    let path = files(dir.path(), "pack").pop().unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in [0, 1, 15, 16, 17, 40, 60, whole.len() / 2, whole.len() - 1] {
        for tail in [0, 1, 5000] {
            let half: Vec<u8> = whole[..cut].iter().copied().chain(vec![0; tail]).collect();
            fs::write(&path, half).unwrap();
            for index in files(dir.path(), "index") {
                fs::remove_file(index).unwrap();
            }
            let pack = open(dir.path());
            assert_eq!(pack.count(), 0, "{cut} bytes and {tail} zeros");
            assert!(!pack.contains(&names[0]));
            let name = pack.put(&noise(9, 700)).unwrap();
            pack.close().unwrap();
            let pack = open(dir.path());
            assert_eq!(pack.get(&name).unwrap(), noise(9, 700));
            drop(pack);
            for path in files(dir.path(), "pack") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn a_pack_that_lost_synced_bytes_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    put_all(&pack, 0..20);
    pack.sync().unwrap();
    fs::write(files(dir.path(), "pack").pop().unwrap(), b"").unwrap();
    let name = hash(&noise(19, 700));
    assert!(matches!(pack.get(&name), Err(WorktreeError::Damaged(_))));
}

#[test]
fn a_newer_format_is_refused_clearly() {
    let dir = tempfile::tempdir().unwrap();
    put_all(&open(dir.path()), 0..3);
    let path = files(dir.path(), "pack").pop().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 3;
    let check = blake3::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&check.as_bytes()[..4]);
    fs::write(&path, &bytes).unwrap();
    let refused = PackObjects::open(dir.path()).unwrap_err();
    assert!(matches!(&refused, WorktreeError::OtherFormat { version: 3, .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "and left alone");
}
