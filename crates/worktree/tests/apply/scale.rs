//! Many files at once, shared among the cores.

use retake_core::FileChange;

use super::kit::{Caller, Node, Tree, file, path, quick_dir};

fn many(word: &str) -> Tree {
    let folders = (0..50).map(|folder| (path(format!("d{folder}")), Node::Folder(0o755)));
    let name = |number: u32| path(format!("d{}/{number}", number % 50));
    let files = (0..5000).map(|number| (name(number), file(format!("{word} {number}"))));
    folders.chain(files).collect()
}

#[test]
fn five_thousand_files_are_applied_and_reverted() {
    let home = quick_dir();
    let (before, after) = (many("old"), many("new"));
    let mut caller = Caller::with(home.path(), &before, &after);
    for expected in [&after, &before] {
        assert_eq!(caller.apply().unwrap().applied().done, 5000);
        assert!(caller.read() == *expected);
        caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
    }
}

#[test]
fn one_of_five_thousand_that_changed_is_found() {
    let home = quick_dir();
    let caller = Caller::with(home.path(), &many("old"), &many("new"));
    std::fs::write(caller.root.join("d7/4007"), "theirs").unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert_eq!(refusals.iter().map(|refusal| refusal.path.to_string()).collect::<Vec<_>>(), ["d7/4007"]);
}
