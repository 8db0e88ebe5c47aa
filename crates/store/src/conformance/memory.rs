//! Memory: a fact counts while an entry that remembers it is on a path without a mark, and no such entry forgets it.

use std::sync::Arc;

use retake_core::{
    Action, ConversationId, Fact, MemoryId, MemoryRequest, MemoryScope, NewConversation, Part, Reason,
    Recalled, RecalledWords, Role, ToolOutcome,
};

use super::stage::{Stage, by, new_id};
use crate::Store;

/// A person's entry that remembers its own words.
pub(super) async fn remember(stage: &mut Stage, words: &str, scope: MemoryScope) -> MemoryId {
    let mut say = stage.saying(Role::User, vec![Part::text(words)]);
    let id = MemoryId::of(say.id);
    say.parts.push(Part::Facts(vec![Fact::remembering(&id, scope)]));
    stage.send(say).await.expect("said");
    id
}

/// A call of a tool that remembers these words, and its result.
pub(super) async fn remember_by_call(stage: &mut Stage, words: &str) -> MemoryId {
    let arguments = serde_json::json!({ "text": words }).to_string();
    let call = Part::ToolCall { id: "c1".into(), name: "remember".into(), arguments };
    stage.send(stage.saying(Role::Assistant, vec![call])).await.expect("said");
    let content = format!("kept {words}");
    let result = Part::ToolResult { call: "c1".into(), content: "kept".into(), outcome: ToolOutcome::Ok };
    let mut say = stage.saying(Role::Tool, vec![result, Part::text(content)]);
    let id = MemoryId::of(say.id);
    say.parts.push(Part::Facts(vec![Fact::remembering(&id, MemoryScope::Folder)]));
    stage.send(say).await.expect("said");
    id
}

pub(super) async fn forget(stage: &mut Stage, id: &MemoryId, note: &str) {
    let parts = vec![Part::text(note), Part::Facts(vec![Fact::forgetting(id)])];
    stage.send(stage.saying(Role::User, parts)).await.expect("said");
}

/// The words of all facts that count for a request, joined by `|`.
async fn known(stage: &Stage, request: MemoryRequest) -> String {
    let facts = stage.store.memory(request).await.expect("read");
    facts.into_iter().map(|fact| fact.text).collect::<Vec<_>>().join("|")
}

/// All facts that count in the folder of the stage, the newest first.
fn here() -> MemoryRequest {
    MemoryRequest { folder: Some(Some("/work".into())), limit: 100, ..MemoryRequest::default() }
}

/// Another conversation in this folder.
pub(super) async fn beside(stage: &Stage, folder: Option<&str>) -> Stage {
    let id = ConversationId::new(new_id());
    let new = NewConversation { id, folder: folder.map(Into::into), title: None, by: by() };
    stage.store.create(new).await.expect("created");
    stage.elsewhere(id)
}

/// A rewind takes a fact back and an undo returns it; so do marks. A fork has it, and it counts once.
pub async fn remembered_fact_counts_while_its_entry_does(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    remember_by_call(&mut stage, "tabs, not spaces").await;
    assert_eq!(known(&stage, here()).await, "tabs, not spaces");
    stage.rewind("T2").await;
    assert_eq!(known(&stage, here()).await, "");
    stage.undo().await;
    assert_eq!(known(&stage, here()).await, "tabs, not spaces");
    for (verb, back) in [(Reason::Hide, Reason::Show), (Reason::Exclude, Reason::Include)] {
        stage.mark(verb, &["kept tabs, not spaces"]).await.expect("marked");
        assert_eq!(known(&stage, here()).await, "", "{verb:?}");
        stage.mark(back, &["kept tabs, not spaces"]).await.expect("marked");
        assert_eq!(known(&stage, here()).await, "tabs, not spaces", "{back:?}");
    }
    let child = stage.fork(None).await;
    assert_eq!(known(&stage, here()).await, "tabs, not spaces", "listed once");
    stage.rewind("T1").await;
    assert_eq!(known(&stage, here()).await, "tabs, not spaces", "the fork has it");
    child.rewind("T1").await;
    assert_eq!(known(&stage, here()).await, "");
    stage.undo().await;
    stage.mark(Reason::Drop, &["T2", "T2!", "", "kept tabs, not spaces"]).await.expect("dropped");
    assert_eq!(known(&stage, here()).await, "");
}

/// Any conversation can forget a fact, as long as that entry counts. An edit forgets one and remembers another.
pub async fn forgotten_fact_returns_with_a_rewind_of_its_forgetting(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let id = remember(&mut stage, "the port is 80", MemoryScope::Folder).await;
    let mut other = beside(&stage, Some("/work")).await;
    forget(&mut other, &id, "forget it").await;
    assert_eq!(known(&stage, here()).await, "");
    assert_eq!(stage.store.memory_fact(id.clone()).await.expect("read"), None);
    other.rewind("forget it").await;
    assert_eq!(known(&stage, here()).await, "the port is 80");
    let say = stage.saying(Role::User, vec![Part::text("the port is 81")]);
    let facts =
        vec![Fact::forgetting(&id), Fact::remembering(&MemoryId::of(say.id), MemoryScope::Everywhere)];
    let edit = retake_core::SayRequest { parts: [say.parts, vec![Part::Facts(facts)]].concat(), ..say };
    stage.send(edit).await.expect("edited");
    assert_eq!(known(&stage, here()).await, "the port is 81");
    stage.act(Action::Undo(1)).await.expect("undone");
    assert_eq!(known(&stage, here()).await, "the port is 80");
}

/// A fact is for one folder or for all of them. Words find it; a conversation whose path has it needs it no more.
pub async fn remembered_facts_are_of_a_folder_or_of_all(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    remember(&mut stage, "Straße nach Öst", MemoryScope::Folder).await;
    let mut far = beside(&stage, Some("/far")).await;
    remember(&mut far, "far away", MemoryScope::Folder).await;
    remember(&mut far, "for everybody", MemoryScope::Everywhere).await;
    let beside = beside(&stage, Some("/work")).await;
    assert_eq!(known(&stage, here()).await, "for everybody|Straße nach Öst");
    let of = |folder: Option<&str>| MemoryRequest { folder: Some(folder.map(Into::into)), ..here() };
    assert_eq!(known(&stage, of(Some("/far"))).await, "for everybody|far away");
    assert_eq!(known(&stage, of(None)).await, "for everybody");
    let all = MemoryRequest { folder: None, ..here() };
    assert_eq!(known(&stage, all.clone()).await, "for everybody|far away|Straße nach Öst");
    let limited = MemoryRequest { limit: 1, ..all.clone() };
    assert_eq!(known(&stage, limited).await, "for everybody");
    for (words, found) in
        [("ost", "Straße nach Öst"), ("away far everybody", "far away|for everybody"), ("fa", ""), ("", "")]
    {
        let request = MemoryRequest { words: Some(words.into()), ..all.clone() };
        assert_eq!(known(&stage, request).await, found, "{words}");
    }
    for (reader, found) in [(&stage, "for everybody"), (&beside, "for everybody|Straße nach Öst")] {
        let request = MemoryRequest { unknown_to: Some(reader.id), ..here() };
        assert_eq!(known(&stage, request).await, found);
    }
}

/// An entry recalls ids. The words are those of now, and of an erased fact there are none.
pub async fn recalled_facts_have_the_words_of_now(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let called = remember_by_call(&mut stage, "call me Ann").await;
    let said = remember(&mut stage, "be brief", MemoryScope::Folder).await;
    let mut reader = beside(&stage, Some("/work")).await;
    let recalled = [&called, &said].map(|id| Recalled::new(id.clone())).to_vec();
    let facts = [&called, &said].map(Fact::recalling).to_vec();
    let parts = vec![Part::Recalled(recalled), Part::Facts(facts)];
    let entry = reader.send(reader.saying(Role::System, parts)).await.expect("said").entries[0];
    let words = async |reader: &Stage| {
        let parts = reader.store.content(reader.id, entry).await.expect("read");
        let Some(Part::Recalled(facts)) = parts.into_iter().next() else { panic!("not recalled") };
        facts.into_iter().map(|fact| fact.words).collect::<Vec<_>>()
    };
    let known = |words: &str| RecalledWords::Known(words.into());
    assert_eq!(words(&reader).await, [known("call me Ann"), known("be brief")]);
    let prompt = format!("{:?}", reader.store.prompt(reader.id, None).await.expect("a prompt"));
    assert!(prompt.contains("be brief"), "{prompt}");
    let request = MemoryRequest { unknown_to: Some(reader.id), ..here() };
    assert_eq!(self::known(&stage, request).await, "", "it has them already");
    stage.rewind("be brief").await;
    assert_eq!(words(&reader).await, [known("call me Ann"), RecalledWords::TakenBack]);
    stage.undo().await;
    let matching = Some("Ann".to_owned());
    stage.act(Action::Erase { entries: Vec::new(), matching, objects: Vec::new() }).await.expect("erased");
    assert_eq!(words(&reader).await, [RecalledWords::Erased, known("be brief")]);
    assert_eq!(self::known(&stage, here()).await, "be brief");
    let entries = vec![stage.named("be brief")];
    stage.act(Action::Erase { entries, matching: None, objects: Vec::new() }).await.expect("erased");
    assert_eq!(words(&reader).await, [RecalledWords::Erased, RecalledWords::Erased]);
}
