//! A retry and an edit, with the files of what they replace.

use retake_core::{Action, Mode, Part};
use retake_engine::{FileOptions, Outcome, RunRequest, Scope, Start};
use serde_json::json;

use super::{Desk, calls, words};

/// A desk with a turn that has written `text` into `a.txt`.
async fn written(text: &str) -> Desk {
    let desk = Desk::new(Mode::AllowAll).await;
    let write = calls(&[("write", json!({"path": "a.txt", "content": text}))]);
    desk.turn("write", vec![write, words("done")]).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some(text));
    desk
}

#[tokio::test]
async fn another_answer_takes_the_files_of_the_old_one_along() {
    let desk = written("old\n").await;
    let old = desk.engine.entry(desk.id, "@").await.expect("an answer");
    let write = calls(&[("write", json!({"path": "b.txt", "content": "new\n"}))]);
    desk.script.then(write);
    desk.script.then(words("new"));
    let events = desk.run(Start::Retry(old)).await;
    let (ended, told) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?} {:?}", ended.error);
    assert_eq!((desk.read("a.txt"), desk.read("b.txt").as_deref()), (None, Some("new\n")));
    desk.apply(Action::Undo(1)).await;
    assert_eq!((desk.read("a.txt").as_deref(), desk.read("b.txt")), (Some("old\n"), None), "one step");
    desk.apply(Action::Redo(1)).await;
    assert_eq!((desk.read("a.txt"), desk.read("b.txt").as_deref()), (None, Some("new\n")));
}

#[tokio::test]
async fn another_answer_that_comes_to_nothing_leaves_all_as_it_was() {
    let desk = written("old\n").await;
    let before = desk.shows().await;
    let old = desk.engine.entry(desk.id, "@").await.expect("an answer");
    desk.script.then(words(""));
    let events = desk.run(Start::Retry(old)).await;
    assert_eq!(desk.follow(events, &mut |_| None).await.0.outcome, Outcome::Failed);
    assert_eq!((desk.read("a.txt").as_deref(), desk.shows().await), (Some("old\n"), before.clone()));
    let events = desk.run(Start::Retry(old)).await;
    while desk.script.times() < 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.read("a.txt"), None, "it is gone while another answer is made");
    desk.engine.cancel(desk.id);
    assert_eq!(desk.follow(events, &mut |_| None).await.0.outcome, Outcome::RolledBack);
    assert_eq!((desk.read("a.txt").as_deref(), desk.shows().await), (Some("old\n"), before));
}

#[tokio::test]
async fn another_wording_takes_files_along_or_leaves_them() {
    let desk = written("old\n").await;
    let prompt = desk.engine.entry(desk.id, "t1").await.expect("a turn");
    desk.script.then(words("as you like"));
    let edit = || Start::Edit(prompt, vec![Part::text("do not write")]);
    let events = desk.run(edit()).await;
    let (ended, _) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
    assert_eq!(desk.read("a.txt"), None);
    assert_eq!(desk.shows().await, ["do not write", "as you like"]);
    assert!(desk.engine.waiting(desk.id).await.expect("read").is_empty());
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("old\n"));
    let files = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    desk.script.then(words("left"));
    let request = RunRequest { files, ..desk.request(edit()) };
    let events = desk.engine.run(desk.id, request).await.expect("started");
    desk.follow(events, &mut |_| None).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("old\n"), "files stay when asked to");
}

#[tokio::test]
async fn another_wording_is_refused_where_files_clash_and_nothing_is_lost() {
    let desk = written("old\n").await;
    desk.write("a.txt", "mine\n");
    let before = desk.shows().await;
    let prompt = desk.engine.entry(desk.id, "t1").await.expect("a turn");
    let edit = Start::Edit(prompt, vec![Part::text("again")]);
    let refused = desk.engine.run(desk.id, desk.request(edit)).await;
    let code = refused.map(drop).expect_err("somebody's words are in the file").code;
    assert_eq!(code, "conflict");
    assert_eq!((desk.read("a.txt").as_deref(), desk.shows().await), (Some("mine\n"), before));
    assert!(desk.engine.waiting(desk.id).await.expect("read").is_empty());
    assert!(!desk.engine.is_running(desk.id));
}
