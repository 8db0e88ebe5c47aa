//! Large objects: a small change of one costs little, common parts are stored once, and it is as safe as any other object.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use retake_core::ContentHash;
use retake_testkit::again::{again, this_program};
use retake_worktree::{Objects, PackObjects, WorktreeError, hash};

use super::{files, noise, open};

/// Distinct lines, five megabytes in total.
fn lines() -> Vec<String> {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut word = || std::iter::repeat_with(|| rng.alphanumeric()).take(8).collect::<String>();
    (0..100_000).map(|number| format!("{number:06} {} {} {} {}", word(), word(), word(), word())).collect()
}

#[test]
fn trial_11_one_line_changes_of_a_large_file_cost_little() {
    let dir = tempfile::tempdir().unwrap();
    let pack = PackObjects::open(dir.path()).unwrap();
    let mut lines = lines();
    let mut versions = vec![lines.join("\n").into_bytes()];
    for (step, at) in [0, 20_000, 40_000, 60_000, 80_000, 99_999].into_iter().enumerate() {
        lines[at] = format!("changed in step {step}");
        versions.push(lines.join("\n").into_bytes());
    }
    let mut sizes = Vec::new();
    for version in &versions {
        pack.put(version).unwrap();
        pack.sync().unwrap();
        sizes.push(pack.size().unwrap());
    }
    let (first, all) = (sizes[0], sizes[6]);
    assert!(all < 7 << 20, "{all} bytes for {} bytes and six changes", versions[0].len());
    assert!(all - first < 6 * (64 << 10), "{} bytes for six changes", all - first);
    for version in &versions {
        assert_eq!(&pack.get(&hash(version)).unwrap(), version);
    }
}

/// Versions of a large object that differ at one place each.
fn version(number: usize) -> Vec<u8> {
    let mut bytes = noise(99, 12_000);
    bytes.splice(number * 2_000..number * 2_000, format!("hunter{number}zebra").into_bytes());
    bytes
}

fn put_versions(pack: &PackObjects, numbers: impl Iterator<Item = usize>) -> Vec<ContentHash> {
    numbers.map(|number| pack.put(&version(number)).expect("put")).collect()
}

fn nothing(_: u64, _: u64) {}

/// All content of a folder's files, including compressed content.
fn said(dir: &Path) -> Vec<u8> {
    let mut said = Vec::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("read");
        for at in bytes.windows(4).enumerate().filter(|(_, four)| *four == [0x28, 0xb5, 0x2f, 0xfd]) {
            if let Ok(frame) = zstd::stream::Decoder::new(&bytes[at.0..]) {
                // Bytes that only look like a frame end with an error.
                drop(frame.single_frame().read_to_end(&mut said));
            }
        }
        said.extend(bytes);
    }
    said
}

fn says(dir: &Path, token: &[u8]) -> bool {
    said(dir).windows(token.len()).any(|window| window == token)
}

#[test]
fn versions_share_equal_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_versions(&pack, 0..6);
    pack.sync().unwrap();
    let size = pack.size().unwrap();
    assert!(size < 12_000 + 6 * 4_000, "{size}");
    assert_eq!((pack.count(), pack.check(&mut nothing).unwrap().sound), (6, 6), "a chunk is no object");
    put_versions(&pack, 0..6);
    pack.sync().unwrap();
    assert_eq!(pack.size().unwrap(), size, "what is there is not written again");
    drop(pack);
    for index in files(dir.path(), "index") {
        fs::remove_file(index).unwrap();
    }
    let pack = open(dir.path());
    for (number, name) in names.iter().enumerate() {
        assert!(pack.contains(name) && pack.has(name));
        assert_eq!(pack.get(name).unwrap(), version(number));
    }
}

#[test]
fn a_damaged_chunk_damages_every_object_that_shares_it_and_putting_one_again_heals_all() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    // These are not needed, so that a collection works on the segment.
    for number in [5, 6] {
        pack.put(&noise(number, 3_000)).unwrap();
    }
    let names = put_versions(&pack, 0..3);
    pack.sync().unwrap();
    for path in files(dir.path(), "pack") {
        let mut bytes = fs::read(&path).unwrap();
        let shared = &version(0)[11_000..11_100];
        let Some(at) = bytes.windows(100).position(|window| window == shared) else { continue };
        bytes[at + 50] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    assert!(matches!(pack.get(&names[0]), Err(WorktreeError::Damaged(name)) if name == names[0]));
    assert!(names.iter().all(|name| !pack.contains(name)), "so that a capture puts one again");
    let checked = pack.check(&mut nothing).unwrap();
    let (mut damaged, mut all) = (checked.damaged, names.clone());
    damaged.sort();
    all.sort();
    assert_eq!((checked.sound, damaged), (2, all));
    let collected = pack.collect(&pack.guard(), &|name| *name == names[1], &mut nothing).unwrap();
    assert_eq!(collected.damaged, [names[1]], "the object is named, not its chunk");

    pack.put(&version(1)).unwrap();
    assert_eq!(pack.get(&names[1]).unwrap(), version(1));
    assert!(pack.check(&mut nothing).unwrap().damaged.is_empty());
}

#[test]
fn a_damaged_list_is_healed_by_putting_its_object_again() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = [noise(1, 12_000), noise(2, 12_000)].map(|bytes| pack.put(&bytes).unwrap());
    pack.sync().unwrap();
    for path in files(dir.path(), "pack") {
        let mut bytes = fs::read(&path).unwrap();
        // A block of lists: its kind is the sixth byte. It comes last, and ends with a chunk's name.
        if bytes.windows(6).any(|window| window == *b"RtBk\0\x02") {
            let end = bytes.len() - 1;
            bytes[end] ^= 1;
        }
        fs::write(&path, bytes).unwrap();
    }
    assert!(matches!(pack.get(&names[1]), Err(WorktreeError::Damaged(name)) if name == names[1]));
    assert_eq!(pack.get(&names[0]).unwrap(), noise(1, 12_000));
    assert_eq!(pack.check(&mut nothing).unwrap().damaged, [names[1]]);
    assert!(!pack.contains(&names[1]), "so that a capture puts it again");
    pack.put(&noise(2, 12_000)).unwrap();
    assert_eq!(pack.get(&names[1]).unwrap(), noise(2, 12_000));
    assert!(pack.check(&mut nothing).unwrap().damaged.is_empty());
}

#[test]
fn a_chunk_lives_as_long_as_an_object_that_is_needed_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_versions(&pack, 0..6);
    pack.sync().unwrap();
    let survey = pack.survey(&|name| *name == names[2]).unwrap();
    assert_eq!(survey.objects, 5);
    pack.collect(&pack.guard(), &|name| *name == names[2], &mut nothing).unwrap();
    assert_eq!(pack.get(&names[2]).unwrap(), version(2));
    assert!(pack.size().unwrap() < 20_000, "{}", pack.size().unwrap());
    // An incomplete object does not count, and a put stores it completely.
    for (number, name) in names.iter().enumerate() {
        let got = pack.get(name);
        assert_eq!(pack.contains(name), got.is_ok(), "{number}");
        assert!(got.is_ok() || matches!(got, Err(WorktreeError::Missing(missing)) if missing == *name));
    }
    assert!(pack.check(&mut nothing).unwrap().damaged.is_empty());
    put_versions(&pack, 0..6);
    assert_eq!(pack.get(&names[5]).unwrap(), version(5));
    pack.collect(&pack.guard(), &|_| false, &mut nothing).unwrap();
    assert_eq!(files(dir.path(), "pack"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_collection_removes_no_chunk_that_a_capture_puts_or_finds() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_versions(&pack, 0..6);
    pack.sync().unwrap();
    // Whenever a segment is about to be removed, a capture finds one object, and puts one that shares chunks with the rest.
    let mut kept = Vec::new();
    let mut step = 0;
    let mut capture = |_: u64, _: u64| {
        kept.extend(names.iter().skip(step).find(|name| pack.contains(name)).map(|name| (*name, None)));
        let bytes = [version(step % 6), vec![7]].concat();
        kept.push((pack.put(&bytes).unwrap(), Some(bytes)));
        step += 1;
    };
    pack.collect(&pack.guard(), &|_| false, &mut capture).unwrap();
    assert!(step > 3, "{step}");
    for (name, bytes) in kept {
        let got = pack.get(&name).unwrap();
        assert_eq!(hash(&got), name);
        assert!(bytes.is_none_or(|bytes| bytes == got));
    }
}

#[test]
fn trial_28_only_shared_chunks_of_an_erased_object_are_left() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let text = |number: usize| {
        let lines =
            (0..2_000).map(|line| format!("line {line} of {}\n", if line == 999 { number } else { 0 }));
        [lines.collect::<String>(), format!("hunter{number}zebra")].concat().into_bytes()
    };
    let texts: Vec<_> = (1..4).map(|number| pack.put(&text(number)).unwrap()).collect();
    let names = put_versions(&pack, 0..6);
    pack.sync().unwrap();
    // A second copy of everything, as after a crash.
    for (number, path) in files(dir.path(), "pack").iter().enumerate() {
        fs::copy(path, dir.path().join(format!("{:08}.pack", 900 + number))).unwrap();
    }
    drop(pack);
    let pack = open(dir.path());
    // An object of which a collection left some chunks.
    let gone = pack.put(&noise(7, 12_000)).unwrap();
    pack.sync().unwrap();
    assert!(says(dir.path(), b"hunter3zebra") && says(dir.path(), b"hunter2zebra"));
    let erased = pack.erase(&[names[3], texts[1]], &mut nothing).unwrap();
    assert!(erased.segments > 3 && erased.lost.is_empty(), "{erased:?}");
    let left = said(dir.path());
    for token in [b"line 999 of 2".as_slice(), &names[3].0, &texts[1].0] {
        assert!(!left.windows(token.len()).any(|window| window == token), "{}", token.escape_ascii());
    }
    let own = version(3)[5_990..6_010].to_vec();
    assert!(!left.windows(own.len()).any(|window| window == own));
    for (number, name) in names.iter().enumerate().filter(|(number, _)| *number != 3) {
        assert_eq!(pack.get(name).unwrap(), version(number), "{number}");
    }
    assert_eq!((pack.get(&texts[0]).unwrap(), pack.get(&texts[2]).unwrap()), (text(1), text(3)));
    assert!(pack.get(&gone).is_ok());
    assert!(!pack.contains(&names[3]) && matches!(pack.get(&names[3]), Err(WorktreeError::Missing(_))));
    // Without any object all of it goes.
    let all: Vec<_> = names.iter().chain(&texts).chain([&gone]).copied().collect();
    pack.erase(&all, &mut nothing).unwrap();
    assert!(!says(dir.path(), b"zebra") && !says(dir.path(), &noise(99, 64)));
    put_versions(&pack, 0..6);
    assert_eq!(pack.get(&names[3]).unwrap(), version(3));
}

#[test]
fn trial_28_an_erasure_removes_chunks_that_a_collection_left() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_versions(&pack, 0..6);
    pack.sync().unwrap();
    // Most of the rest is needed, so nothing is rewritten for the small unneeded part.
    pack.collect(&pack.guard(), &|name| *name != names[1], &mut nothing).unwrap();
    assert!(says(dir.path(), b"hunter1zebra"), "the collection has left nothing");
    pack.erase(&[names[1]], &mut nothing).unwrap();
    assert!(!says(dir.path(), b"hunter1zebra"));
    for (number, name) in names.iter().enumerate().filter(|(number, _)| *number != 1) {
        assert_eq!(pack.get(name).unwrap(), version(number), "{number}");
    }
}

#[test]
fn an_object_that_is_put_during_the_erasure_of_a_shared_chunk_stays() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_versions(&pack, 0..3);
    let mut late = Vec::new();
    let mut put = |_: u64, _: u64| late.extend(put_versions(&pack, 3..5));
    pack.erase(&names, &mut put).unwrap();
    assert!(names.iter().all(|name| !pack.contains(name)));
    assert_eq!((pack.get(&late[0]).unwrap(), pack.get(&late[1]).unwrap()), (version(3), version(4)));
    assert!(!says(dir.path(), b"hunter1zebra"));
}

#[test]
fn trial_28_a_text_across_two_chunks_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let mut holding: Vec<_> = (0..400)
        .map(|at| {
            let mut bytes = noise(50, 12_000);
            bytes[at * 29..at * 29 + 40].copy_from_slice(b"hunter2zebra is said in forty bytes here");
            pack.put(&bytes).unwrap()
        })
        .collect();
    pack.put(&noise(50, 12_000)).unwrap();
    holding.sort();
    let found = pack.find(b"hunter2zebra is said in forty bytes here", &mut nothing).unwrap();
    assert!(found == holding, "{} of {}", found.len(), holding.len());
    let long = noise(50, 12_000)[3_000..7_000].to_vec();
    assert!(pack.find(&long, &mut nothing).unwrap().contains(&hash(&noise(50, 12_000))));
    assert!(pack.find(b"hunter3zebra", &mut nothing).unwrap().is_empty());
}

/// The peak memory of this process, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") >> 10
}

#[test]
fn trial_11_a_large_object_is_not_copied_whole() {
    const AGAIN: &str = "RETAKE_TEST_LARGE_OBJECT";
    if std::env::var_os(AGAIN).is_none() {
        let mut command = Command::new(this_program());
        command.env(AGAIN, "1");
        return again(command, "objects::chunks::trial_11_a_large_object_is_not_copied_whole");
    }
    let dir = tempfile::tempdir().unwrap();
    let pack = PackObjects::open(dir.path()).unwrap();
    let bytes = noise(1, 64 << 20);
    let before = peak();
    let name = pack.put(&bytes).unwrap();
    pack.sync().unwrap();
    let put = peak();
    assert!(put - before < 16, "putting 64 MiB took {} MiB", put - before);
    assert_eq!(pack.find(&bytes[1 << 20..][..40], &mut nothing).unwrap(), [name]);
    assert!(peak() - put < 16, "looking through 64 MiB took {} MiB", peak() - put);
    drop(bytes);
    let read = pack.get(&name).unwrap();
    assert_eq!(hash(&read), name);
    assert!(peak() - put < 32, "reading 64 MiB took {} MiB beside its bytes", peak() - put);
}
