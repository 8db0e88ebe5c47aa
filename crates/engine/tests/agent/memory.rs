//! Memory with a scripted model: what it remembers counts in other conversations of the folder as long as the turn does.

use retake_core::{Action, Mode, Part, RecalledWords, joined_text};
use retake_engine::MemoryChange;
use rusqlite::types::ValueRef;
use serde_json::json;

use super::{Desk, calls, words};

/// A word that no other text of these tests contains.
const SECRET: &str = "violetblue";

impl Desk {
    /// Another conversation in the same folder.
    async fn beside(&self) -> Self {
        let folder = self.path("").to_str().map(|path| path.trim_end_matches('/').to_owned());
        let made = self.engine.create(None, folder, self.engine.by(None)).await.expect("created");
        let (engine, store) = (self.engine.clone(), self.store.clone());
        Self { engine, store, script: self.script.clone(), id: made.conversation, dir: self.dir.clone() }
    }

    /// The last prompt as a text.
    fn prompt(&self) -> String {
        let told = |part: &Part| match part {
            Part::ToolResult { content, .. } => content.clone(),
            part => joined_text(std::slice::from_ref(part)),
        };
        let asked = self.script.asked();
        asked.messages.iter().flat_map(|message| &message.parts).map(told).collect::<Vec<_>>().join("\n")
    }

    /// What a new conversation in the folder learns: in its first prompt, and from the tool.
    async fn learns(&self) -> (bool, bool) {
        let reader = self.beside().await;
        reader.turn("hello", vec![words("hi")]).await;
        let at_once = reader.prompt().contains(SECRET);
        let asks = calls(&[("recall", json!({ "query": SECRET }))]);
        let other = self.beside().await;
        // Its own recall is off the path: only the tool answers.
        other.turn("what do you know?", vec![asks, words("that")]).await;
        let results = other.script.asked();
        let result = results.messages.iter().flat_map(|message| &message.parts).find_map(|part| match part {
            Part::ToolResult { content, .. } => Some(content.clone()),
            _ => None,
        });
        (at_once, result.expect("a result").contains(SECRET))
    }

    /// The files of the data folder that contain the word.
    fn files_with_it(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.path().join("data")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(bytes) = std::fs::read(&path)
                    && bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
                {
                    found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    /// The tables of the database that contain the word.
    fn tables_with_it(&self) -> Vec<String> {
        let db = rusqlite::Connection::open(self.dir.path().join("data/retake.db")).expect("the database");
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'";
        let mut statement = db.prepare(names).expect("a query");
        let names = statement.query_map([], |row| row.get::<_, String>(0)).expect("tables");
        let names: Vec<String> = names.map(|name| name.expect("a name")).collect();
        let has_it = |cell: ValueRef<'_>| match cell {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).contains(SECRET),
            _ => false,
        };
        let holds = |name: &String| {
            let mut rows = db.prepare(&format!("SELECT * FROM {name}")).expect("a query");
            let columns = rows.column_count();
            let rows = rows.query_map([], |row| Ok((0..columns).any(|at| row.get_ref(at).is_ok_and(has_it))));
            rows.expect("rows").any(|row| row.expect("a row"))
        };
        // The index of the search has words that are no text any more.
        names.into_iter().filter(|name| !name.starts_with("search")).filter(holds).collect()
    }
}

#[tokio::test]
async fn fact_of_a_rewound_turn_is_not_recalled_until_an_undo_brings_it_back() {
    let desk = Desk::new(Mode::Ask).await;
    desk.turn("one", vec![words("1")]).await;
    let remember = calls(&[("remember", json!({ "text": format!("the door is {SECRET}") }))]);
    let (_, told) = desk.turn("two", vec![remember, words("kept")]).await;
    assert!(told[0].starts_with("remember in this folder: the door is"), "{told:?}");
    assert_eq!(desk.learns().await, (true, true));
    desk.rewind("t2").await;
    assert_eq!(desk.learns().await, (false, false));
    let database = |name: &String| name.starts_with("retake.db");
    assert!(desk.files_with_it().iter().all(database), "{:?}", desk.files_with_it());
    assert_eq!(desk.tables_with_it(), ["entry"], "the log has it");
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.learns().await, (true, true));
}

#[tokio::test]
async fn facts_are_given_once_and_the_prompt_keeps_its_beginning() {
    let desk = Desk::new(Mode::Ask).await;
    let change = |words: &str| MemoryChange::Remember(words.to_owned(), Default::default(), None);
    let home = desk.engine.memory_home(desk.path("").to_str().map(|it| it.trim_end_matches('/').to_owned()));
    let home = home.await.expect("a home").conversation;
    let remember = async |words: &str| {
        desk.engine.change_memory(home, change(words), desk.engine.by(None)).await.expect("remembered");
    };
    desk.turn("none", vec![words("0")]).await;
    assert!(!desk.prompt().contains("Facts from memory"), "nothing is added");
    remember("first fact").await;
    desk.turn("one", vec![words("1")]).await;
    let first = desk.prompt();
    assert!(first.contains("first fact"), "{first}");
    remember("second fact").await;
    desk.turn("two", vec![words("2")]).await;
    let second = desk.prompt();
    assert!(second.starts_with(&first), "{first}\n---\n{second}");
    assert_eq!((second.matches("first fact").count(), second.matches("second fact").count()), (1, 1));
    let page = retake_core::PageRequest { limit: 99, ..Default::default() };
    let reading = retake_core::Reading::now(retake_core::Projection::Timeline);
    let entries = desk.store.page(desk.id, reading, page).await.expect("a page").entries;
    let recalled: Vec<String> = entries
        .iter()
        .flat_map(|shown| &shown.entry.as_ref().expect("sound").parts)
        .filter_map(|part| match part {
            Part::Recalled(facts) => Some(facts),
            _ => None,
        })
        .flatten()
        .map(|fact| match &fact.words {
            RecalledWords::Known(words) => words.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(recalled, ["first fact", "second fact"]);
}

#[tokio::test]
async fn model_forgets_only_facts_that_are_remembered_here() {
    let desk = Desk::new(Mode::Ask).await;
    let remember = calls(&[("remember", json!({ "text": "a", "everywhere": true }))]);
    desk.turn("one", vec![remember, words("kept")]).await;
    let all = || retake_core::MemoryRequest { limit: 9, ..Default::default() };
    let facts = desk.engine.memory(all()).await.expect("read");
    let forget = |id: &str| calls(&[("forget", json!({ "id": id }))]);
    let (_, told) = desk.turn("two", vec![forget("000000000000"), words("no")]).await;
    assert!(told[1].starts_with("→ failed: no fact with the id 000000000000"), "{told:?}");
    desk.turn("three", vec![forget(facts[0].id.as_str()), words("gone")]).await;
    assert_eq!(desk.engine.memory(all()).await.expect("read"), []);
    desk.rewind("t3").await;
    assert_eq!(desk.engine.memory(all()).await.expect("read"), facts);
}
