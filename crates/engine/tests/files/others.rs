//! Changes by others stay, are merged, or conflict (spec `rewind.md`, cases 15 to 21).

use retake_core::Choice;
use retake_engine::FileOptions;

use super::{Yard, choose};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[tokio::test]
async fn rewind_case_15_another_file_stays() {
    let yard = Yard::with(&[("a", "one\n"), ("mine", "mine\n")]).await;
    yard.run("echo two > a").await;
    yard.write("mine", "changed\n");
    yard.write("new", "mine too\n");
    yard.back("t1").await;
    let read = |name| yard.read(name);
    assert_eq!(read("a").as_deref(), Some("one\n"));
    assert_eq!((read("mine").as_deref(), read("new").as_deref()), (Some("changed\n"), Some("mine too\n")));
}

#[tokio::test]
async fn rewind_case_16_another_part_of_the_same_file_is_merged() {
    let yard = Yard::with(&[("a", LINES)]).await;
    yard.run("sed -i s/2/two/ a").await;
    yard.write("a", &LINES.replace('2', "two").replace('8', "eight"));
    assert_eq!(yard.verdicts("t1").await, ["a Merge"]);
    yard.back("t1").await;
    assert_eq!(yard.read("a"), Some(LINES.replace('8', "eight")));
}

#[tokio::test]
async fn rewind_case_18_a_file_that_somebody_deleted_or_re_created_is_a_conflict_of_that_kind() {
    let yard = Yard::with(&[("changed", "one\n"), ("removed", "one\n")]).await;
    yard.run("echo two > changed; rm removed").await;
    std::fs::remove_file(yard.path("changed")).expect("removed");
    yard.write("removed", "mine\n");
    assert_eq!(yard.verdicts("t1").await, ["changed Conflict(Removed)", "removed Conflict(Made)"]);
    let refused = yard.apply(yard.rewind("t1").await, Default::default()).await.expect_err("refused");
    assert_eq!((refused.code, yard.read("removed").as_deref()), ("conflict", Some("mine\n")));
}

#[tokio::test]
async fn rewind_case_19_a_file_that_was_only_read_stays() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("cat a").await;
    yard.write("a", "mine\n");
    yard.run("cat a > /dev/null").await;
    assert!(yard.verdicts("t1").await.is_empty());
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn rewind_case_20_another_conversation_is_somebody_else() {
    let yard = Yard::with(&[("a", LINES), ("b", "one\n")]).await;
    let other = yard.another().await;
    yard.run("sed -i s/2/two/ a; echo two > b").await;
    other.run("sed -i s/8/eight/ a").await;
    yard.back("t1").await;
    assert_eq!(yard.read("a"), Some(LINES.replace('8', "eight")), "each takes back its own");
    other.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some(LINES));
    other.run("echo theirs > b").await;
    yard.run("echo ours > b").await;
    assert_eq!(other.verdicts("t1").await, ["b Conflict(Bytes)"]);
}

#[tokio::test]
async fn rewind_case_29_a_stored_path_that_leaves_the_folder_is_never_written() {
    for bad in ["../out", "/tmp/out", ".git/hooks/x", "b/../../out"] {
        let yard = Yard::with(&[("a", "one\n")]).await;
        yard.run("echo two > a").await;
        let Yard { engine: old, id, dir } = yard;
        drop(old);
        let db = rusqlite::Connection::open(dir.path().join("data/retake.db")).expect("a store");
        let name = serde_json::to_string(bad).expect("JSON");
        let changed = db.execute("UPDATE delta SET layers = replace(layers, '\"a\"', ?1)", [name]);
        assert_eq!(changed, Ok(1), "{bad}");
        drop(db);
        let yard = Yard { engine: super::engine(&dir).await, id, dir };
        let before = (yard.all(), yard.turns().await);
        let refused = yard.apply(yard.rewind("t1").await, Default::default()).await.expect_err("damaged");
        assert_eq!((refused.code, yard.all(), yard.turns().await), ("damaged", before.0, before.1), "{bad}");
        assert!(!yard.path("../out").exists() && !std::path::Path::new("/tmp/out").exists());
    }
}

/// A fork owns no change of its parent, on any branch: files stay unchanged, and its own changes are its own.
#[tokio::test]
async fn a_fork_of_another_branch_takes_no_file_along() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("echo two > a").await;
    let store = yard.engine.kept();
    let tip = store.answering(yard.id).await.expect("a tip").tip.expect("something was said");
    let leaf = store.entry_id(yard.id, tip).await.expect("an entry");
    yard.back("t1").await;
    yard.run("echo three > b").await;
    let fork = yard.engine.fork(yard.id, Some(leaf), None, yard.engine.by(None)).await.expect("forked");
    let child = Yard { id: fork.conversation, ..yard.another().await };
    assert_eq!((child.turns().await, child.read("a").as_deref()), (1, Some("one\n")));
    child.run("echo four > a").await;
    child.back("t2").await;
    assert_eq!(child.read("a").as_deref(), Some("one\n"), "its own change goes back");
    assert!(child.verdicts("t1").await.is_empty(), "the parent's is not its own");
    child.back("t1").await;
    assert_eq!((child.read("a").as_deref(), child.read("b").as_deref()), (Some("one\n"), Some("three\n")));
    yard.back("t1").await;
    assert_eq!(yard.read("b"), None, "the parent has its own still");
}

#[tokio::test]
async fn choice_for_an_unknown_name_is_refused_with_the_known_names() {
    let yard = Yard::with(&[("a", "one\n"), ("two\nlines", "one\n"), ("clean", "one\n")]).await;
    yard.run("for name in a clean 'two\nlines'; do echo two > \"$name\"; done").await;
    let said = async |options| {
        let refused = yard.apply(yard.rewind("t1").await, options).await.expect_err("refused");
        assert!(refused.fields.contains(&("what", "not_in_plan".into())), "{:?}", refused.fields);
        refused.message
    };
    let wrong = || choose("b\nc", Choice::Disk);
    let nothing = r"nothing in the plan is called b\nc; ";
    assert_eq!(said(wrong()).await, format!("{nothing}nothing in it is in conflict"), "clean would go back");
    yard.write("a", "mine\n");
    assert_eq!(said(wrong()).await, format!("{nothing}the conflict is a"));
    yard.write("two\nlines", "mine\n");
    assert_eq!(said(wrong()).await, format!(r"{nothing}the conflicts are a, two\nlines"));
    let elsewhere = [(yard.path("a\u{1b}"), Choice::Disk)].into();
    let told = said(FileOptions { elsewhere, ..FileOptions::default() }).await;
    assert!(told.ends_with(r"work/a\u{1b}; the conflicts are a, two\nlines"), "{told}");
    assert_eq!((yard.read("a").as_deref(), yard.read("clean").as_deref()), (Some("mine\n"), Some("two\n")));
    // Its absolute name is the same file, and a file without a conflict can be chosen for, too.
    let mut options = choose("two\nlines", Choice::Disk);
    options.chosen.paths.extend(choose("clean", Choice::Disk).chosen.paths);
    options.elsewhere = [(yard.path("a"), Choice::Disk)].into();
    yard.apply(yard.rewind("t1").await, options).await.expect("chosen");
    assert_eq!(yard.read("clean").as_deref(), Some("two\n"));
}
