//! Large trees: what a capture reads and stores, counted (spec `rewind.md`, cases 47 and 48). The benchmark
//! measures times.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use retake_worktree::{Capture, CaptureScope, Objects, PackObjects, Permission, Rules, Stats, Tree};

/// This many files, a hundred in each folder, each containing its number.
fn fill(root: &Path, files: usize) {
    for folder in 0..files.div_ceil(100) {
        fs::create_dir_all(root.join(folder.to_string())).unwrap();
    }
    (0..files).for_each(|number| put(root, number, ""));
}

fn put(root: &Path, number: usize, more: &str) {
    fs::write(root.join(format!("{}/{number}", number / 100)), format!("{number}{more}\n")).unwrap();
}

fn captured(tree: &mut Tree) -> (usize, Stats) {
    let capture: Capture = tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
    let stats = capture.stats;
    (tree.accept(capture).unwrap().changes.len(), stats)
}

fn opened(dir: &Path) -> (Tree, Arc<PackObjects>) {
    for name in ["root", "data"] {
        fs::create_dir(dir.join(name)).unwrap();
    }
    let objects = Arc::new(PackObjects::open(dir.join("pack")).unwrap());
    let kept = Arc::clone(&objects) as Arc<dyn Objects>;
    let tree = Tree::open(&dir.join("root"), &dir.join("data"), Rules::default(), kept, None).unwrap();
    (tree, objects)
}

#[test]
fn rewind_case_47_fifty_thousand_files_and_only_what_changed_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (mut tree, objects) = opened(dir.path());
    let root = dir.path().join("root");
    fill(&root, 50_000);
    let (found, first) = captured(&mut tree);
    assert_eq!((found, first.read, objects.count()), (0, 50_000, 50_000), "a first capture finds no changes");
    for changed in [0, 100, 5_000] {
        (0..changed).for_each(|at| put(&root, at * 10, &format!("changed {changed}")));
        let (found, stats) = captured(&mut tree);
        assert_eq!((found, stats.names, stats.read), (changed, first.names, changed as u64));
        assert!(stats.doubted <= 512, "{stats:?}");
    }
    assert_eq!(objects.count(), 55_100);
}

#[test]
fn rewind_case_48_a_thousand_checkpoints_grow_with_the_changes_not_with_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    let (mut tree, objects) = opened(dir.path());
    let root = dir.path().join("root");
    fill(&root, 2_000);
    captured(&mut tree);
    let (before, mut findings) = (objects.size().unwrap(), 0);
    for checkpoint in 0..1_000 {
        (0..3).for_each(|at| put(&root, at * 700, &format!(" {checkpoint}")));
        let capture = tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
        findings += capture.findings.encode().len();
        assert_eq!(tree.accept(capture).unwrap().changes.len(), 3);
    }
    // Three changes each: two hashes and a name, and the contents in a block.
    assert!(findings < 1_000 * 3 * 160, "{findings} bytes of findings");
    let grown = objects.size().unwrap() - before;
    assert!(grown < 1_000 * 3 * 300, "{grown} bytes in the pack");
    // Only the last index is stored.
    let kept = fs::read_dir(dir.path().join("data")).unwrap().count();
    assert!(kept <= 2, "{kept} files");
}
