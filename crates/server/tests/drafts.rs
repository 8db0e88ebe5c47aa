//! Drafts that several terminals keep: none gives way but to what took its place, and each says what it was written for.

use retake_wire::reply::Draft;
use retake_wire::request::{DraftIn, DraftOf, SetDraft, SetDraftIn};
use retake_wire::{Part, Request};

use super::world::{Desk, get};

fn parts(texts: &[&str]) -> Vec<Part> {
    texts.iter().map(|text| Part::text(*text)).collect()
}

#[tokio::test]
async fn a_draft_gives_way_only_to_what_takes_its_place() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let set = async |instead_of: Option<&[&str]>, texts: &[&str]| {
        let instead_of = instead_of.map(parts);
        let (conversation, folder) = (id.clone(), "/work".to_owned());
        let here = SetDraft { conversation, parts: parts(texts), instead_of, ..SetDraft::default() };
        let in_folder = SetDraftIn {
            folder,
            parts: here.parts.clone(),
            instead_of: here.instead_of.clone(),
            ..SetDraftIn::default()
        };
        desk.does(Request::SetDraft(here)).await;
        desk.does(Request::SetDraftIn(in_folder)).await;
        let here = DraftOf { conversation: id.clone(), ..DraftOf::default() };
        let here = get!(desk, Draft, Request::Draft(here));
        let in_folder = DraftIn { folder: "/work".to_owned(), ..DraftIn::default() };
        assert_eq!(get!(desk, Draft, Request::DraftIn(in_folder)).parts, here.parts);
        here.parts
    };
    assert_eq!(set(Some(&[]), &["one"]).await, parts(&["one"]));
    assert_eq!(set(Some(&[]), &["two"]).await, parts(&["one", "two"]), "somebody else's stays");
    assert_eq!(set(Some(&["one"]), &["one more"]).await, parts(&["two", "one more"]));
    assert_eq!(set(Some(&["two"]), &[]).await, parts(&["one more"]), "said");
    assert_eq!(set(Some(&["one more"]), &["one more"]).await, parts(&["one more"]));
    assert_eq!(set(None, &["all"]).await, parts(&["all"]));
}

#[tokio::test]
async fn what_a_draft_was_written_for_is_kept_with_it() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one"]).await;
    let kept = async || -> Draft {
        let of = DraftOf { conversation: id.clone(), ..DraftOf::default() };
        get!(desk, Draft, Request::Draft(of))
    };
    let set = async |texts: &[&str], edits: Option<&String>| {
        let (conversation, instead_of) = (id.clone(), Some(parts(&["other words"])));
        let set = SetDraft {
            conversation,
            parts: parts(texts),
            instead_of,
            edits: edits.cloned(),
            ..SetDraft::default()
        };
        desk.does(Request::SetDraft(set)).await;
    };
    set(&["other words"], Some(&entries[0])).await;
    let draft = kept().await;
    assert_eq!((draft.parts, draft.edits.as_ref()), (parts(&["other words"]), Some(&entries[0])));
    set(&["other words"], None).await;
    assert_eq!(kept().await.edits, None, "said of no other words");
    set(&[], Some(&entries[0])).await;
    let draft = kept().await;
    assert_eq!((draft.parts, draft.edits), (Vec::new(), None));
}
