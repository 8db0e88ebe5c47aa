//! Drafts: stored beside the log, sent to subscribers, and erased with their text.

use std::sync::Arc;

use retake_core::{Action, ChangeEvent, Part, Source};

use super::stage::Stage;
use super::tool_turns::copied;
use crate::Store;

async fn set(stage: &Stage, author: &str, parts: &[Part]) {
    stage.store.set_draft(stage.id, author.to_owned(), parts.to_vec()).await.expect("kept");
}

/// Every draft, with its author.
async fn drafts(stage: &Stage) -> Vec<(String, Vec<Part>)> {
    stage.store.drafts(stage.id).await.expect("read")
}

fn of(author: &str, parts: &[Part]) -> (String, Vec<Part>) {
    (author.to_owned(), parts.to_vec())
}

/// One for each author; a draft is no change of the conversation, and in no fork and no export; its event goes to subscribers of
/// this conversation only.
pub async fn drafts_are_stored_outside_of_the_log(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let before = stage.store.summary(stage.id).await.expect("a summary");
    let (mut here, mut all) = (stage.store.subscribe(Some(stage.id)), stage.store.subscribe(None));
    let picture = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2]) };
    let (ada, mia) = ([Part::text("half a"), picture], [Part::text("other")]);
    set(&stage, "ada", &ada[..1]).await;
    set(&stage, "mia", &mia).await;
    set(&stage, "ada", &ada).await;
    set(&stage, "ada", &ada).await;
    assert_eq!(drafts(&stage).await, [of("ada", &ada), of("mia", &mia)]);
    set(&stage, "mia", &[]).await;
    set(&stage, "mia", &[]).await;
    assert_eq!(drafts(&stage).await, [of("ada", &ada)]);
    for _ in 0..4 {
        assert_eq!(here.next().await, Some(ChangeEvent::Drafts(stage.id)), "what is equal is not told again");
    }
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary"), before);
    for other in [stage.fork(None).await, copied(&stage).await] {
        assert_eq!(drafts(&other).await, []);
        let Some(ChangeEvent::Changed(made)) = all.next().await else { panic!("it is told what was made") };
        assert_eq!(made.conversation, other.id, "drafts are not told to who follows all");
    }
    let mut stage = stage;
    stage.turn("two").await;
    stage.rewind("two").await;
    assert_eq!(drafts(&stage).await, [of("ada", &ada)], "what is taken back touches no draft");
}

/// A text is erased from the drafts of the whole tree of forks, even if it is nowhere else.
pub async fn drafts_that_contain_an_erased_text_are_removed(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let fork = stage.fork(None).await;
    let plain = [Part::text("plain")];
    set(&stage, "ada", &[Part::text("with hunter2")]).await;
    set(&stage, "hunter2", &plain).await;
    set(&stage, "mia", &plain).await;
    set(&fork, "ada", &[Part::text("hunter2")]).await;
    let mut told = fork.store.subscribe(Some(fork.id));
    let action =
        || Action::Erase { entries: Vec::new(), matching: Some("hunter2".into()), objects: Vec::new() };
    let receipt = stage.act(action()).await.expect("erased");
    assert_eq!((drafts(&stage).await, drafts(&fork).await), (vec![of("mia", &plain)], vec![]));
    assert_eq!(told.next().await, Some(ChangeEvent::Drafts(fork.id)));
    assert!(!receipt.unchanged, "it was somewhere");
    assert!(stage.act(action()).await.expect("nothing to do").unchanged);
}

/// A draft of a new conversation is stored for a folder and an author until it is removed or erased.
pub async fn draft_of_a_new_conversation_belongs_to_its_folder(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let set = async |folder: &str, author: &str, parts: &[Part]| {
        let kept = stage.store.set_draft_in(folder.to_owned(), author.to_owned(), parts.to_vec()).await;
        kept.expect("kept");
    };
    let kept = async |folder: &str, author: &str| {
        stage.store.draft_in(folder.to_owned(), author.to_owned()).await.expect("read")
    };
    let (words, other) = ([Part::text("half a")], [Part::text("with hunter2")]);
    set("/a", "ada", &other).await;
    set("/a", "ada", &words).await;
    set("/a", "mia", &other).await;
    set("/b", "ada", &other[..]).await;
    assert_eq!((kept("/a", "ada").await, kept("/a", "mia").await), (words.to_vec(), other.to_vec()));
    assert_eq!((kept("/b", "mia").await, kept("/", "ada").await), (vec![], vec![]));
    assert_eq!(drafts(&stage).await, [], "it is of no conversation");
    set("/b", "ada", &[]).await;
    set("/b", "ada", &[]).await;
    assert_eq!(kept("/b", "ada").await, []);
    let erase = Action::Erase { entries: Vec::new(), matching: Some("hunter2".into()), objects: Vec::new() };
    assert!(!stage.act(erase).await.expect("erased").unchanged, "it was somewhere");
    assert_eq!((kept("/a", "ada").await, kept("/a", "mia").await), (words.to_vec(), vec![]));
}
