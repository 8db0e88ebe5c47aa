//! Tests of the demo: its answers, its honesty, and its streaming.

use futures::executor::block_on;
use retake_core::{Role, ToolOutcome};
use serde_json::{Value, json};

use super::*;
use crate::clock::ManualClock;
use crate::ids::SeededRandom;
use crate::model::{Answer, Message, ToolSpec};

fn prompt(said: &[&str], variant: u32) -> Prompt {
    let mut messages = Vec::new();
    for text in said {
        messages.push(Message::text(Role::User, *text));
        messages.push(Message::text(Role::Assistant, "…"));
    }
    messages.pop();
    Prompt { messages, variant, ..Prompt::default() }
}

fn demo() -> Demo {
    Demo::new(Arc::new(ManualClock::new(0)), Arc::new(SeededRandom::new(1)), Duration::ZERO)
}

fn chunks_of(demo: &Demo, prompt: Prompt) -> Vec<Chunk> {
    block_on(demo.stream(prompt).map(|chunk| chunk.expect("the demo never fails")).collect())
}

fn chunks(prompt: Prompt) -> Vec<Chunk> {
    chunks_of(&demo(), prompt)
}

fn answer(said: &[&str], variant: u32) -> String {
    let text = |chunk| match chunk {
        Chunk::Text(text) => Some(text),
        _ => None,
    };
    chunks(prompt(said, variant)).into_iter().filter_map(text).collect()
}

#[test]
fn the_first_answer_says_that_it_is_a_demo_and_how_to_get_more() {
    let first = answer(&["good day"], 0);
    for word in ["not a real model", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "Ollama"] {
        assert!(first.contains(word), "{first}");
    }
    assert!(!answer(&["good day", "and now"], 0).contains("not a real model"));
}

#[test]
fn it_shows_what_it_sees_so_that_a_rewound_message_is_gone() {
    let before = answer(&["I like tea", "I like milk", "well?"], 0);
    assert!(
        before.ends_with("You said \"well?\". This is turn 3; in the one before you said \"I like milk\"."),
        "{before}"
    );
    let after = answer(&["I like tea", "well?"], 0);
    assert!(after.contains("turn 2") && after.contains("tea") && !after.contains("milk"), "{after}");
    assert!(answer(&["a b", "c d", "What do you see?"], 0).contains("1. a b\n2. c d\n3. What do you see?"));
}

#[test]
fn it_answers_what_it_can() {
    let cases = [
        ("What is 17 * 3?", "17 * 3 = 51"),
        ("repeat: tea, milk", "- tea\n- milk"),
        ("How do I rewind?", "`/rewind` lists"),
        ("what about branches and undo", "`/undo` takes back"),
        ("Hello!", "`/retry`"),
        ("tell me a story about a fox.", "Once there was a fox, in"),
    ];
    for (said, expected) in cases {
        let answer = answer(&["before", said], 0);
        assert!(answer.contains(expected), "{said}: {answer}");
    }
    assert_eq!(answer(&["x", "tell me a story"], 0).split("\n\n").count(), 4);
}

#[test]
fn the_same_prompt_has_the_same_answer_and_each_variant_another() {
    let said = ["one", "tell me a story about a fox"];
    assert_eq!(answer(&said, 0), answer(&said, 0));
    let mut all: Vec<String> = (0..9).map(|variant| answer(&said, variant)).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9);
    assert!(answer(&said, u32::MAX).contains("answer 4294967296"));
}

#[test]
fn it_streams_word_by_word_at_its_pace_and_ends() {
    let clock = ManualClock::skipping(0);
    let pace = Duration::from_millis(15);
    let demo = Demo::new(Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)), pace);
    let count = block_on(demo.stream(prompt(&["x", "y"], 0)).collect::<Vec<_>>()).len();
    assert!(count > 10);
    assert_eq!(clock.slept(), vec![pace; count]);
    assert_eq!(chunks(prompt(&["x"], 0)).last(), Some(&Chunk::End(EndReason::Stop)));
}

#[test]
fn odd_prompts_do_no_harm() {
    assert!(answer(&[], 0).contains("no message"));
    for text in ["", "repeat", "story", "İstory of İ", "🦀 repeat 🦀", "\u{1b}[31m"] {
        assert!(answer(&["x", text], 3).contains("turn 2"), "{text:?}");
    }
    let long = "ä".repeat(1_000_000);
    assert!(answer(&["x", &long], 0).len() < 2_000);
}

/// Every tool that the demo knows.
const TOOLS: [&str; 14] = [
    "read",
    "write",
    "edit",
    "patch",
    "list",
    "glob",
    "grep",
    "shell",
    "job_output",
    "job_stop",
    "job_list",
    "todo",
    "fetch",
    "ask",
];

fn tools(names: &[&str]) -> Vec<ToolSpec> {
    let spec = |name: &&str| ToolSpec { name: (*name).into(), about: String::new(), schema: Value::Null };
    names.iter().map(spec).collect()
}

/// Runs the demo to its end. Each call that contains a word of `fails` fails. Returns its calls in each answer, and its
/// last text.
fn worked(said: &str, names: &[&str], fails: &str) -> (Vec<Vec<(String, Value)>>, String) {
    let mut prompt =
        Prompt { messages: vec![Message::text(Role::User, said)], tools: tools(names), ..Prompt::default() };
    let demo = demo();
    let mut answers = Vec::new();
    loop {
        let mut answer = Answer::default();
        chunks_of(&demo, prompt.clone()).into_iter().for_each(|chunk| answer.push(chunk));
        let mut called = Vec::new();
        let mut results = Vec::new();
        for part in answer.parts() {
            let Part::ToolCall { id, name, arguments } = part else { continue };
            let failed = !fails.is_empty() && format!("{name} {arguments}").contains(fails);
            let (content, outcome) = match failed {
                true => ("it went\nwrong.", ToolOutcome::Failed),
                false => ("fine", ToolOutcome::Ok),
            };
            results.push(Part::ToolResult { call: id, content: content.into(), outcome });
            called.push((name, serde_json::from_str(&arguments).expect("JSON")));
        }
        assert_eq!(answer.end() == Some(&EndReason::ToolUse), !called.is_empty());
        if called.is_empty() {
            return (answers, answer.text().to_owned());
        }
        answers.push(called);
        assert!(answers.len() < 20, "it never ends: {said}");
        prompt.messages.push(Message::new(Role::Assistant, answer.parts()));
        prompt.messages.push(Message::new(Role::Tool, results));
    }
}

#[test]
fn it_works_as_it_is_asked() {
    let edit = |old: &str, new: &str, all: bool| json!({"old": old, "new": new, "all": all});
    let cases: Vec<(&str, Value)> = vec![
        ("write a.txt: one two", json!([[["write", {"path": "a.txt", "content": "one two\n"}]]])),
        ("Please write \"a b.txt\": \"x\\ny\"", json!([[["write", {"path": "a b.txt", "content": "x\ny"}]]])),
        (
            "write a.txt: one\ntwo and three",
            json!([[["write", {"path": "a.txt", "content": "one\ntwo and three\n"}]]]),
        ),
        ("create a file a.txt with hello", json!([[["write", {"path": "a.txt", "content": "hello\n"}]]])),
        (
            "edit src/a.rs: replace \"one\" with \"two and three\" and replace \"x\" with \"\" everywhere",
            json!([
                [["read", {"path": "src/a.rs"}]],
                [["edit", {"path": "src/a.rs", "edits": [edit("one", "two and three", false), edit("x", "", true)]}]]
            ]),
        ),
        ("patch:\n--- a\n+++ b\n", json!([[["patch", {"patch": "--- a\n+++ b\n"}]]])),
        ("read a.txt.", json!([[["read", {"path": "a.txt"}]]])),
        ("list", json!([[["list", {}]]])),
        ("list src", json!([[["list", {"path": "src"}]]])),
        ("find *.rs in src", json!([[["glob", {"pattern": "*.rs", "path": "src"}]]])),
        ("search for fn main(", json!([[["grep", {"pattern": "fn main\\("}]]])),
        ("run cargo test", json!([[["shell", {"command": "cargo test"}]]])),
        ("run `a then b and c`", json!([[["shell", {"command": "a then b and c"}]]])),
        ("run `git push` with network.", json!([[["shell", {"command": "git push", "network": true}]]])),
        (
            "run serve with network in the background",
            json!([[["shell", {"command": "serve", "network": true, "background": true}]]]),
        ),
        ("run sleep 9 in the background", json!([[["shell", {"command": "sleep 9", "background": true}]]])),
        ("jobs then stop job j1", json!([[["job_list", {}]], [["job_stop", {"id": "j1"}]]])),
        ("output of job j1", json!([[["job_output", {"id": "j1"}]]])),
        (
            "todo: a; b",
            json!([[["todo", {"items": [{"text": "a", "state": "pending"}, {"text": "b", "state": "pending"}]}]]]),
        ),
        ("fetch http://127.0.0.1:1/x", json!([[["fetch", {"url": "http://127.0.0.1:1/x"}]]])),
        (
            "ask me which one? red, blue or green",
            json!([[["ask", {"question": "which one?", "choices": ["red", "blue", "green"]}]]]),
        ),
        ("ask me your name", json!([[["ask", {"question": "your name", "choices": []}]]])),
        ("call mcp__x__y {\"a\": \"b and then c\"}", json!([[["mcp__x__y", {"a": "b and then c"}]]])),
        (
            "write a: x, then read a and list\nrun ls",
            json!([[["write", {"path": "a", "content": "x\n"}]], [["read", {"path": "a"}], ["list", {}]], [["shell", {"command": "ls"}]]]),
        ),
    ];
    let names = [&TOOLS[..], &["mcp__x__y"]].concat();
    for (said, expected) in cases {
        let (called, last) = worked(said, &names, "");
        assert_eq!(json!(called), expected, "{said}");
        assert!(last.starts_with("Done: ") && last.contains("(fine)"), "{said}: {last}");
    }
}

/// The first sentences that people type.
#[test]
fn it_understands_how_people_say_it() {
    let write = |path: &str, content: &str| json!([[["write", {"path": path, "content": content}]]]);
    let change = |path: &str, old: &str, new: &str, all: bool| {
        let edits = json!([{"old": old, "new": new, "all": all}]);
        json!([[["read", {"path": path}]], [["edit", {"path": path, "edits": edits}]]])
    };
    let read = |path: &str| json!([[["read", {"path": path}]]]);
    let rm = |command: &str| json!([[["shell", {"command": command}]]]);
    for (said, expected) in [
        ("make a file a.txt with hello", write("a.txt", "hello\n")),
        ("Make a file called b.txt.", write("b.txt", "")),
        ("create an empty file b", write("b", "")),
        ("create a file notes.md with buy milk and bread", write("notes.md", "buy milk and bread\n")),
        ("can you make a new file named \"x y\" with the text \"a b\"", write("x y", "a b")),
        ("add a file src/a.rs containing fn a() {}", write("src/a.rs", "fn a() {}\n")),
        ("make a.txt with hello", write("a.txt", "hello\n")),
        ("delete a.txt", rm("rm a.txt")),
        ("please remove the file notes.", rm("rm notes")),
        ("delete \"it's.txt\"", rm("rm 'it'\\''s.txt'")),
        ("change a to b in f.txt", change("f.txt", "a", "b", false)),
        ("change one two to three in the file src/f", change("src/f", "one two", "three", false)),
        ("replace \"a to\" with \"b in\" in f.txt", change("f.txt", "a to", "b in", false)),
        ("change a to b everywhere in f.txt", change("f.txt", "a", "b", true)),
        ("show me a.txt", read("a.txt")),
        ("what's in a.txt?", read("a.txt")),
        ("list the files", json!([[["list", {}]]])),
        ("Show me the files!", json!([[["list", {}]]])),
        (
            "make a file a.txt with hello, then delete a.txt",
            json!([
                [["write", {"path": "a.txt", "content": "hello\n"}]],
                [["shell", {"command": "rm a.txt"}]]
            ]),
        ),
    ] {
        let (called, _) = worked(said, &TOOLS, "");
        assert_eq!(json!(called), expected, "{said}");
    }
}

#[test]
fn unknown_request_is_answered_with_a_list_of_abilities() {
    let mut prompt = prompt(&["x", "paint the house"], 0);
    assert!(words::answer(&prompt).starts_with("I understand only a little: say `help`"));
    prompt.tools = tools(&TOOLS);
    let answer = words::answer(&prompt);
    assert!(
        answer.contains("such as `make a file a.txt with hello`") && answer.contains("`help`"),
        "{answer}"
    );
    for known in ["What is 17 * 3?", "help", "tell me a story about a fox"] {
        assert!(!self::answer(&["x", known], 0).contains("I understand only"), "{known}");
    }
}

#[test]
fn message_without_a_command_is_answered_in_words() {
    for said in [
        "make a cake with milk",
        "make a plan",
        "create something nice with words",
        "delete everything",
        "remove the last thing",
        "change your mind",
        "change a to b",
        "show me how",
        "show me what you can do in there",
        "read this carefully please",
        "list of my wishes",
        "find a way",
        "write to me",
        "call it a day",
        "then",
        "run ``",
    ] {
        let (called, last) = worked(said, &TOOLS, "");
        assert!(called.is_empty() && last.contains("You said \""), "{said}: {called:?} {last}");
    }
}

#[test]
fn it_says_what_failed_and_stops_there() {
    let (called, last) = worked("read a, then run ls, then list", &TOOLS, "shell");
    assert_eq!(called.len(), 2);
    assert_eq!(
        last,
        "Done: read a (fine). Failed: run `ls`: wrong. So I have stopped, and did not list the files."
    );
    let (called, last) = worked("edit a: replace \"x\" with \"y\"", &TOOLS, "read");
    assert_eq!((called.len(), last.as_str()), (1, "Failed: edit a: wrong."));
}

#[test]
fn without_the_tool_it_says_so_and_without_any_it_only_talks() {
    let (called, last) = worked("run ls", &["read"], "");
    assert!(called.is_empty());
    assert_eq!(last, "I cannot run `ls`: I have no tool called shell.");
    assert!(worked("run ls", &[], "").1.contains("You said \"run ls\""));
}

#[test]
fn another_answer_calls_again_and_says_which_one_it_is() {
    let mut prompt = prompt(&["list"], 1);
    prompt.tools = tools(&TOOLS);
    let mut answer = Answer::default();
    chunks(prompt).into_iter().for_each(|chunk| answer.push(chunk));
    assert_eq!(answer.text(), "Put differently (this is answer 2): I list the files.");
    assert_eq!(answer.end(), Some(&EndReason::ToolUse));
}

#[test]
fn calls_of_others_are_passed_over() {
    let mut prompt = prompt(&["list"], 0);
    prompt.tools = tools(&TOOLS);
    let call = Part::ToolCall { id: "e".into(), name: "exec".into(), arguments: "{}".into() };
    let result = Part::ToolResult { call: "e".into(), content: "x".into(), outcome: ToolOutcome::Ok };
    prompt.messages.push(Message::new(Role::Assistant, vec![call]));
    prompt.messages.push(Message::new(Role::Tool, vec![result]));
    assert_eq!(chunks(prompt).last(), Some(&Chunk::End(EndReason::ToolUse)));
}

#[test]
fn help_lists_what_it_understands() {
    let mut prompt = prompt(&["x", "what can you do?"], 0);
    assert!(!words::answer(&prompt).contains("`todo:"));
    prompt.tools = tools(&TOOLS);
    let help = words::answer(&prompt);
    assert!(help.contains("`todo: one; two; three`"));
    // The text after a list is no part of its last item.
    let lines: Vec<&str> = help.lines().collect();
    let glued =
        |pair: &&[&str]| pair[0].starts_with("- ") && !pair[1].starts_with("- ") && !pair[1].is_empty();
    assert_eq!(lines.windows(2).find(glued), None);
}

#[test]
fn a_wall_of_words_is_read_in_no_time() {
    let wall = "read a and ".repeat(100_000) + "b";
    assert!(grammar::steps(&wall).is_none());
    assert_eq!(
        grammar::steps(&("read a and ".repeat(150) + "read b")).map(|steps| steps[0].len()),
        Some(151)
    );
}
