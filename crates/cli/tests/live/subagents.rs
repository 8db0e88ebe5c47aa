//! Subagents through the program: a real model server, the tree, the log by the name of a call, a rewind, and a kill.

use serde_json::json;

use super::harness::{error, outside, runs, until};
use super::model::{Model, call, shell, words};

/// An answer that gives a task to a subagent.
fn task(task: &str) -> super::model::Answer {
    call("subagent", json!({"title": task, "task": task}))
}

#[test]
fn subagent_is_in_the_tree_and_goes_with_the_turn_that_started_it() {
    let model = Model::start();
    let world = model.world(&[("a", "one\n")]);
    let answers =
        vec![task("count the files"), shell("ls | wc -l > count"), words("one file"), words("there is one")];
    model.turn(&world, "how many?", answers);
    let asked = model.asked();
    assert_eq!(asked[1].last().map(|it| &it["content"]), Some(&json!("count the files")), "{:?}", asked[1]);
    assert!(asked[1][0]["content"].as_str().is_some_and(|text| text.contains("You are a subagent")));
    assert_eq!(model.asked_last().last().map(|it| &it["content"]), Some(&json!("one file")));
    let tree = world.json(&["tree"]);
    let subagent = &tree["subagents"][0];
    assert_eq!(subagent["title"], "subagent: count the files", "{tree}");
    let (id, named) = (subagent["conversation"].as_str(), subagent["call"].as_str());
    let (id, named) = (id.expect("an id").to_owned(), named.expect("a call").to_owned());
    assert!(world.does(&["tree"]).contains("“subagent: count the files”"), "{}", world.does(&["tree"]));
    let log = world.json(&["log", "--conversation", &named]);
    assert_eq!(log["conversation"], id.as_str(), "the call names it");
    assert!(world.does(&["log", "--conversation", &id]).contains("count the files"));
    let list = world.json(&["list"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(1), "{list}");
    let refused = world.run(&["ask", "--conversation", &id, "more"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(error(&refused).contains("this is the conversation of a subagent"), "{refused:?}");
    assert_eq!(world.run(&["rewind", "--conversation", &id, "t1", "--yes"]).status.code(), Some(4));
    assert!(world.read("count").is_some());
    world.does(&["rewind", "t1", "--yes"]);
    assert_eq!(world.read("count"), None);
    assert_eq!(world.json(&["tree"])["subagents"], json!(null));
    world.does(&["undo", "--yes"]);
    assert!(world.read("count").is_some());
    assert_eq!(world.json(&["tree"])["subagents"][0]["conversation"], id.as_str());
}

#[test]
fn killed_in_the_middle_of_a_subagent() {
    let model = Model::start();
    let world = model.world(&[("a", "one\n")]);
    model.turn(&world, "hello", vec![words("hi")]);
    let command = format!("echo two > a; echo $$ > made; {}", world.waits_for("nothing"));
    model.then(vec![task("work"), shell(&command)]);
    let child = world.command(&["--json", "ask", "--mode", "allow-all", "go"]).spawn().expect("it starts");
    until("the command has written", || world.read("made").is_some_and(|it| it.ends_with('\n')));
    world.kill(child);
    // Nothing is stuck: the next turn is answered, and the model learns that there is no result.
    model.turn(&world, "and now?", vec![words("I see")]);
    let results: Vec<_> = model.asked_last().into_iter().filter(|it| it["role"] == "tool").collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0]["content"].as_str().is_some_and(|text| text.contains("no result")), "{results:?}");
    let subagents = world.json(&["tree"])["subagents"].clone();
    assert_eq!((subagents.as_array().map(Vec::len), &subagents[0]["running"]), (Some(1), &json!(false)));
    let plan = world.json(&["plan", "rewind", "t2"]);
    let paths: Vec<_> =
        plan["files"]["paths"].as_array().expect("paths").iter().map(|it| &it["path"]).collect();
    assert_eq!(paths, ["a", "made"], "{plan}");
    let pid = outside(&world.read("made").expect("it is there"), world.home());
    let pid = pid.expect("the command goes on without the program");
    world.does(&["rewind", "t2", "--stop", "--choose", "a=checkpoint", "--choose", "made=checkpoint"]);
    assert!(!runs(&pid), "it has ended");
    assert_eq!((world.read("a").as_deref(), world.read("made")), (Some("one\n"), None), "{plan}");
}
