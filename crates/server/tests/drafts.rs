//! Drafts of several terminals: a draft is replaced only by its successor, and each says what it was written for.

use retake_server::{Holding, hold};
use retake_wire::reply::Draft;
use retake_wire::request::{ClaimDraft, ClaimDraftIn, DraftIn, DraftOf, SetDraft, SetDraftIn};
use retake_wire::{Part, ProblemKind, Request};

use super::world::{Desk, get};

fn parts(texts: &[&str]) -> Vec<Part> {
    texts.iter().map(|text| Part::text(*text)).collect()
}

#[tokio::test]
async fn draft_is_replaced_only_by_a_client_that_knows_it() {
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
async fn draft_keeps_the_message_that_it_edits() {
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

#[tokio::test]
async fn content_set_aside_stays_with_its_holder_and_is_not_in_the_draft() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let _holding = ["a", "b"].map(|name| hold(&desk.file("data"), name).expect("held"));
    let set = async |holder: &str, texts: &[&str], aside: Option<&[&[&str]]>, released: bool| {
        let (conversation, holder) = (id.clone(), Some(holder.to_owned()));
        let aside = aside.map(|aside| aside.iter().map(|texts| parts(texts)).collect());
        let (parts, instead_of) = (parts(texts), Some(Vec::new()));
        let set =
            SetDraft { conversation, parts, aside, instead_of, holder, released, ..SetDraft::default() };
        desk.does(Request::SetDraft(set)).await;
    };
    let claims = async |holder: &str| {
        let (conversation, holder) = (id.clone(), Some(holder.to_owned()));
        let claim = ClaimDraft { conversation, holder, ..ClaimDraft::default() };
        let draft = get!(desk, Draft, Request::ClaimDraft(claim));
        (draft.parts, draft.aside)
    };
    let both = [parts(&["older"]), parts(&["old"])];
    set("a", &["now"], Some(&[&["older"], &["old"]]), false).await;
    assert_eq!(claims("b").await, (Vec::new(), Vec::new()), "another one shows them");
    set("a", &["now, and more"], None, false).await;
    assert_eq!(
        claims("a").await,
        (parts(&["now, and more"]), both.to_vec()),
        "they stay where nothing is said"
    );
    set("a", &[], None, true).await;
    assert_eq!(claims("b").await, (Vec::new(), both.to_vec()), "whoever comes next has them");
    set("b", &["words"], Some(&[&["old"]]), true).await;
    let of = DraftOf { conversation: id.clone(), ..DraftOf::default() };
    let told = get!(desk, Draft, Request::Draft(of));
    assert_eq!((told.parts, told.aside), (parts(&["words"]), vec![parts(&["old"])]));
    assert_eq!(claims("b").await, (parts(&["words"]), vec![parts(&["old"])]));
    set("b", &["words"], Some(&[]), false).await;
    assert_eq!(claims("b").await, (parts(&["words"]), Vec::new()), "thrown away");
}

/// A terminal that shows drafts of a conversation and of a folder.
struct Shows<'a> {
    desk: &'a Desk,
    conversation: &'a str,
    name: &'a str,
}

impl Shows<'_> {
    fn holder(&self) -> Option<String> {
        Some(self.name.to_owned())
    }

    /// The draft that it gets; conversation and folder have the same.
    async fn claims(&self) -> Vec<Part> {
        let claim = ClaimDraft {
            conversation: self.conversation.to_owned(),
            holder: self.holder(),
            ..ClaimDraft::default()
        };
        let claim_in =
            ClaimDraftIn { folder: "/work".to_owned(), holder: self.holder(), ..ClaimDraftIn::default() };
        let here = get!(self.desk, Draft, Request::ClaimDraft(claim)).parts;
        assert_eq!(get!(self.desk, Draft, Request::ClaimDraftIn(claim_in)).parts, here);
        here
    }

    async fn sets(&self, texts: &[&str], instead_of: &[&str], released: bool) {
        let (parts, instead_of, holder) = (parts(texts), Some(parts(instead_of)), self.holder());
        let set_in = SetDraftIn {
            folder: "/work".to_owned(),
            parts: parts.clone(),
            instead_of: instead_of.clone(),
            holder: holder.clone(),
            released,
            ..SetDraftIn::default()
        };
        let conversation = self.conversation.to_owned();
        let set = SetDraft { conversation, parts, instead_of, holder, released, ..SetDraft::default() };
        self.desk.does(Request::SetDraft(set)).await;
        self.desk.does(Request::SetDraftIn(set_in)).await;
    }
}

#[tokio::test]
async fn content_of_a_living_holder_is_given_to_no_other_client() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let holds = |name: &str| -> Holding { hold(&desk.file("data"), name).expect("held") };
    let (lives, _b, _c, _d) = (holds("a"), holds("b"), holds("c"), holds("d"));
    let conversation = id.as_str();
    let (a, b) =
        (Shows { desk: &desk, conversation, name: "a" }, Shows { desk: &desk, conversation, name: "b" });
    assert_eq!(a.claims().await, []);
    a.sets(&["of a"], &[], false).await;
    assert_eq!(b.claims().await, [], "its own composer is empty");
    b.sets(&["of b"], &[], false).await;
    assert_eq!(a.claims().await, parts(&["of a"]), "asked again, it is the same");

    // The owner ends, and the terminals live on.
    let next = desk.gives_way().await;
    let [b, c, d] = ["b", "c", "d"].map(|name| Shows { desk: &next, conversation, name });
    assert_eq!(c.claims().await, [], "both live");
    drop(lives);
    assert_eq!(c.claims().await, parts(&["of a"]), "nobody shows it any more");
    assert_eq!(d.claims().await, [], "it is given once");
    b.sets(&["of b", "and more"], &["of b"], false).await;
    let of = DraftOf { conversation: id.clone(), ..DraftOf::default() };
    let all = get!(next, Draft, Request::Draft(of.clone())).parts;
    assert_eq!(all, parts(&["of a", "of b", "and more"]), "all of it is there");

    // A released draft is for the next terminal; one that returns earlier takes it back.
    b.sets(&["of b", "and more"], &["of b", "and more"], true).await;
    b.sets(&["of b"], &["of b", "and more"], true).await;
    assert_eq!(c.claims().await, parts(&["of a", "of b"]));
    assert_eq!(b.claims().await, []);
    c.sets(&[], &["of a", "of b"], false).await;
    assert_eq!(get!(next, Draft, Request::Draft(of)).parts, [], "said");
}

#[tokio::test]
async fn name_of_a_holder_cannot_be_a_path() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    for name in ["../config.toml", "", "a/b", "A", &"a".repeat(65)] {
        let holder = Some(name.to_owned());
        let claim = ClaimDraft { conversation: id.clone(), holder, ..ClaimDraft::default() };
        let problem = desk.refused(Request::ClaimDraft(claim)).await;
        assert_eq!(problem.kind, ProblemKind::Usage, "{name}: {problem:?}");
        assert!(hold(&desk.file("data"), name).is_err(), "{name}");
    }
}
