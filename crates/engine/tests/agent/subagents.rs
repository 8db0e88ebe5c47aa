//! Subagents: they do their task, ask in the conversation that started them, and go and come with its call.

use std::fs;
use std::sync::Arc;

use futures::StreamExt;
use retake_core::{Action, Apply, ConversationId, Mode, Part, Rule, Ruling, SeenState};
use retake_engine::{Decision, Ended, FileOptions, Outcome, PermissionChange, RunEvent, Start};
use retake_testkit::{ModelOutput, Tasks};
use retake_tools::ShellConfig;
use serde_json::json;

use super::{Desk, SingleModelCatalogue, calls, engine_with, words};

/// A desk whose model has a script for each task.
pub(super) async fn desk(mode: Mode) -> (Desk, Arc<Tasks>) {
    let Desk { engine: old, store, script, id, dir } = Desk::new(mode).await;
    drop(old);
    let tasks = Arc::<Tasks>::default();
    let models = Arc::new(SingleModelCatalogue(Arc::clone(&tasks)));
    let engine = engine_with(&store, &dir, models, mode, ShellConfig::default()).await;
    (Desk { engine, store, script, id, dir }, tasks)
}

/// A call that gives a task to a subagent.
pub(super) fn task(task: &str) -> (&'static str, serde_json::Value) {
    ("subagent", json!({"title": task, "task": task}))
}

pub(super) fn shell(command: &str) -> Vec<ModelOutput> {
    calls(&[("shell", json!({ "command": command }))])
}

pub(super) async fn turn(desk: &Desk, text: &str) -> (Ended, Vec<String>) {
    let events = desk.say(text).await;
    desk.follow(events, &mut |_| None).await
}

/// The subagents whose calls are on the path, by their titles.
async fn counting(desk: &Desk) -> Vec<(String, ConversationId)> {
    let found = desk.store.subagents(desk.id).await.expect("subagents").into_iter();
    found.map(|(_, summary)| (summary.title.unwrap_or_default(), summary.id)).collect()
}

#[tokio::test]
async fn work_of_a_subagent_goes_and_comes_with_the_turn_that_started_it() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    desk.write("old", "1\n");
    tasks.then("go", vec![calls(&[task("write it")]), words("all done")]);
    let edits = calls(&[("write", json!({"path": "new", "content": "made\n"}))]);
    tasks.then("write it", vec![edits, shell("echo 2 > old"), words("I wrote new and old")]);
    let (ended, told) = turn(&desk, "go").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?} {told:?}", ended.error);
    assert_eq!((desk.read("new").as_deref(), desk.read("old").as_deref()), (Some("made\n"), Some("2\n")));
    let asked = tasks.of("go").asked();
    let results = asked.messages.iter().flat_map(|message| &message.parts);
    let is_result =
        |part: &Part| matches!(part, Part::ToolResult { content, .. } if content == "I wrote new and old");
    assert!(results.into_iter().any(is_result), "the last message is the result: {asked:?}");
    let own = tasks.of("write it").asked();
    assert!(own.system.as_deref().is_some_and(|system| system.contains("You are a subagent")));
    let has = |tool: &str| own.tools.iter().any(|own| own.name == tool);
    assert!(has("shell") && !has("subagent") && !has("remember"), "{:?}", own.tools);
    let [(title, child)] = &counting(&desk).await[..] else { panic!("one subagent") };
    assert_eq!(title, "subagent: write it");
    let child = *child;
    desk.rewind("t1").await;
    assert_eq!((desk.read("new"), desk.read("old").as_deref()), (None, Some("1\n")));
    assert!(counting(&desk).await.is_empty());
    desk.apply(Action::Undo(1)).await;
    assert_eq!((desk.read("new").as_deref(), desk.read("old").as_deref()), (Some("made\n"), Some("2\n")));
    assert_eq!(counting(&desk).await, [("subagent: write it".to_owned(), child)]);
    desk.apply(Action::Redo(1)).await;
    assert_eq!((desk.read("new"), desk.read("old").as_deref()), (None, Some("1\n")));
}

#[tokio::test]
async fn two_subagents_at_once_and_a_person_are_taken_apart() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    desk.write("both", "a\nb\nc\nd\ne\nf\ng\n");
    tasks.then("go", vec![calls(&[task("one"), task("two")]), words("done")]);
    // Each waits until the other one is at work, too. Both change one file, one after the other.
    let work = |own: &str, other: &str, made: &str, change: &str| {
        shell(&format!(
            "touch .{own}; i=0; until [ -e .{other} ] || [ $((i+=1)) -gt 3000 ]; do sleep 0.01; done; echo {own} > {made}; \
             until mkdir .alone 2> /dev/null || [ $((i+=1)) -gt 6000 ]; do sleep 0.01; done; sed -i {change} both; rmdir .alone"
        ))
    };
    tasks.then("one", vec![work("one", "two", "first", "s/a/A/"), words("first is there")]);
    tasks.then("two", vec![work("two", "one", "second", "s/g/G/"), words("second is there")]);
    let (ended, told) = turn(&desk, "go").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?} {told:?}", ended.error);
    assert_eq!(desk.read("both").as_deref(), Some("A\nb\nc\nd\ne\nf\nG\n"), "{told:?}");
    assert_eq!(counting(&desk).await.len(), 2);
    // A person works on the same file afterwards, and on another one.
    desk.write("both", "A\nb\nc\nmine\ne\nf\nG\n");
    desk.write("mine", "m\n");
    desk.rewind("t1").await;
    assert_eq!(desk.read("both").as_deref(), Some("a\nb\nc\nmine\ne\nf\ng\n"));
    assert_eq!((desk.read("first"), desk.read("second"), desk.read(".one")), (None, None, None));
    assert_eq!(desk.read("mine").as_deref(), Some("m\n"));
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.read("both").as_deref(), Some("A\nb\nc\nmine\ne\nf\nG\n"));
    assert_eq!(
        (desk.read("first").as_deref(), desk.read("second").as_deref()),
        (Some("one\n"), Some("two\n"))
    );
}

#[tokio::test]
async fn subagent_asks_in_the_conversation_that_started_it_and_may_no_more() {
    let (desk, tasks) = desk(Mode::Ask).await;
    tasks.then("go", vec![calls(&[task("touch")]), words("done")]);
    tasks.then("touch", vec![shell("touch allowed"), shell("touch refused"), words("half of it")]);
    let mut asked = Vec::new();
    let events = desk.say("go").await;
    let (ended, told) = desk
        .follow(events, &mut |asks| {
            asked.push(asks.call.line.clone());
            Some(if asked.len() == 1 { Decision::Once } else { Decision::Deny(None) })
        })
        .await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].starts_with("subagent: touch › ") && asked[0].ends_with("touch allowed"), "{asked:?}");
    assert!(desk.path("allowed").exists() && !desk.path("refused").exists());
    desk.rewind("t1").await;
    assert!(!desk.path("allowed").exists());
}

#[tokio::test]
async fn stopping_a_run_stops_its_subagents() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    tasks.then("go", vec![calls(&[task("wait")])]);
    tasks.then("wait", vec![shell("touch begun; sleep 600")]);
    let mut events = desk.say("go").await;
    let mut ended = None;
    while let Some(event) = events.next().await {
        match event {
            RunEvent::Printed(_, text) if text.contains("sleep 600") => {
                let begun = desk.path("begun");
                while !begun.exists() {
                    tokio::task::yield_now().await;
                }
                assert!(desk.engine.cancel(desk.id));
            }
            RunEvent::Ended(end) => ended = Some(end),
            _ => {}
        }
    }
    assert_eq!(ended.expect("it ends").outcome, Outcome::Interrupted);
    let [(_, child)] = &counting(&desk).await[..] else { panic!("one subagent") };
    assert!(!desk.engine.is_running(*child));
    desk.rewind("t1").await;
    assert!(!desk.path("begun").exists());
}

#[tokio::test]
async fn conversation_of_a_subagent_is_changed_by_nobody_else() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    tasks.then("go", vec![calls(&[task("look")]), words("done")]);
    tasks.then("look", vec![words("seen")]);
    turn(&desk, "go").await;
    let [(_, child)] = counting(&desk).await[..] else { panic!("one subagent") };
    let said = desk.engine.run(child, desk.request(Start::Say(vec![Part::text("more")], None))).await;
    let error = said.err().expect("refused");
    assert_eq!(error.code, "subagent_conversation", "{error}");
    let retried = desk.engine.run(child, desk.request(Start::Answer)).await;
    assert_eq!(retried.err().expect("refused").code, "subagent_conversation");
}

#[tokio::test]
async fn agent_of_a_file_has_its_instructions_and_only_the_tools_that_it_names() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    fs::create_dir_all(desk.path(".retake/agents")).expect("made");
    let file = "---\nname: scout\ndescription: Looks around\ntools: Read, Bash(ls:*)\nmax-turns: 2\n---\nAlways be brief.\n";
    desk.write(".retake/agents/scout.md", file);
    let scout = json!({"title": "look", "task": "look", "agent": "scout"});
    let tired = json!({"title": "look", "task": "look on", "agent": "scout"});
    let nobody = json!({"title": "look", "task": "look", "agent": "nobody"});
    tasks.then(
        "go",
        vec![calls(&[("subagent", scout), ("subagent", tired), ("subagent", nobody)]), words("done")],
    );
    tasks.then("look", vec![words("seen")]);
    tasks.then("look on", vec![shell("ls -a"), shell("ls -l"), words("never said")]);
    let (ended, told) = turn(&desk, "go").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    assert!(told.iter().any(|line| line.contains("the model was asked 2 times in one run")), "{told:?}");
    assert!(
        told.iter().any(|line| line.contains("there is no agent “nobody”; known agents: scout")),
        "{told:?}"
    );
    let own = tasks.of("look").asked();
    assert!(own.system.expect("a system prompt").ends_with("\n\nAlways be brief."));
    let names: Vec<&str> = own.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read", "shell"]);
    let of = tasks.of("go").asked().tools;
    let about = of.iter().find(|tool| tool.name == "subagent").expect("offered");
    assert!(about.about.ends_with("Agents for `agent`:\n- scout: Looks around"), "{}", about.about);
    assert!(counting(&desk).await.iter().all(|(title, _)| title == "scout: look"));
}

#[tokio::test]
async fn what_a_subagent_sent_is_in_the_plan_and_is_asked_about_again() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    let mail = || calls(&[("mail", json!({"to": "bob"}))]);
    tasks.then("go", vec![calls(&[task("send it")]), words("done")]);
    tasks.then("send it", vec![mail(), words("sent")]);
    turn(&desk, "go").await;
    let entry = desk.engine.entry(desk.id, "t1").await.expect("a turn");
    let rewind = Action::Rewind(entry);
    let planned =
        desk.engine.plan_both(desk.id, rewind.clone(), FileOptions::default()).await.expect("a plan");
    let told: Vec<_> =
        planned.effects.calls.iter().map(|call| (&*call.tool, call.arguments.as_deref())).collect();
    assert_eq!(told, [("mail", Ok(r#"{"to":"bob"}"#))]);
    tasks.then("go", vec![calls(&[task("send it too")]), words("done")]);
    tasks.then("send it too", vec![mail(), words("sent")]);
    let (mut asked, events) = (0, desk.say("again").await);
    let (_, told) = desk
        .follow(events, &mut |asks| {
            asked += usize::from(asks.again.is_some());
            Some(Decision::Deny(None))
        })
        .await;
    assert_eq!(asked, 0, "what is still in the conversation was not taken back: {told:?}");
    desk.rewind("t1").await;
    tasks.then("once more", vec![calls(&[task("send it then")]), words("done")]);
    tasks.then("send it then", vec![mail(), words("sent")]);
    let events = desk.say("once more").await;
    let mut again = 0;
    desk.follow(events, &mut |asks| {
        again += usize::from(asks.again.is_some());
        Some(Decision::Deny(None))
    })
    .await;
    assert_eq!(again, 1);
}

#[tokio::test]
async fn rewind_ends_a_subagent_at_work_and_takes_its_files_back() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    desk.write("a", "one\n");
    tasks.then("go", vec![calls(&[task("wait")])]);
    tasks.then("wait", vec![shell("echo two > a; touch begun; sleep 600")]);
    let events = desk.say("go").await;
    while !desk.path("begun").exists() {
        tokio::task::yield_now().await;
    }
    let [(_, child)] = counting(&desk).await[..] else { panic!("one subagent") };
    assert!(desk.engine.is_running(child));
    let entry = desk.engine.entry(desk.id, "t1").await.expect("a turn");
    let apply = Apply { action: Action::Rewind(entry), seen: SeenState::Anything, by: desk.engine.by(None) };
    let options = FileOptions { stop: true, ..FileOptions::default() };
    desk.engine.apply_both(desk.id, apply, options).await.expect("rewound");
    drop(events);
    assert_eq!((desk.read("a").as_deref(), desk.path("begun").exists()), (Some("one\n"), false));
    assert!(!desk.engine.is_running(child) && desk.shows().await.is_empty());
    desk.apply(Action::Undo(1)).await;
    assert_eq!((desk.read("a").as_deref(), desk.path("begun").exists()), (Some("two\n"), true));
    assert_eq!(counting(&desk).await.len(), 1);
}

#[tokio::test]
async fn title_that_a_model_makes_up_misleads_nobody() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    let odd = json!({"title": "a\u{202e}b\u{1b}[2J\nc", "task": "look"});
    tasks.then("go", vec![calls(&[("subagent", odd)]), words("done")]);
    tasks.then("look", vec![words("seen")]);
    let (ended, told) = turn(&desk, "go").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    let title = &counting(&desk).await[0].0;
    assert!(title.starts_with("subagent: a") && title.chars().all(retake_core::name::is_seen), "{title:?}");
}

#[tokio::test]
async fn rules_of_a_conversation_are_those_of_its_subagents() {
    let (desk, tasks) = desk(Mode::Ask).await;
    let rule = |ruling, tool: &str, what: Option<&str>| Rule {
        ruling,
        tool: tool.to_owned(),
        what: what.map(str::to_owned),
    };
    let deny = PermissionChange { add: vec![rule(Ruling::Deny, "write", None)], ..Default::default() };
    desk.engine.set_permission(desk.id, deny).await.expect("set");
    tasks.then("go", vec![calls(&[task("write it")]), words("done")]);
    let write = calls(&[("write", json!({"path": "new", "content": "made\n"}))]);
    tasks.then("write it", vec![write, shell("touch one"), shell("touch two"), words("tried")]);
    let allow = rule(Ruling::Allow, "shell", Some("touch *"));
    let mut asked = Vec::new();
    let events = desk.say("go").await;
    desk.follow(events, &mut |asks| {
        asked.push(asks.call.tool.clone());
        Some(Decision::InConversation(allow.clone()))
    })
    .await;
    assert_eq!(asked, ["shell"], "what is denied is not asked about, and a rule counts from then on");
    assert!(!desk.path("new").exists() && desk.path("one").exists() && desk.path("two").exists());
    let own = desk.store.permission(desk.id).await.expect("read").expect("it has some");
    assert!(own.rules.contains(&allow), "the rule is the conversation's: {own:?}");
}

#[tokio::test]
async fn request_of_a_subagent_that_is_stopped_alone_is_closed_for_everybody() {
    let (desk, tasks) = desk(Mode::Ask).await;
    tasks.then("go", vec![calls(&[task("touch")]), words("done")]);
    tasks.then("touch", vec![shell("touch a")]);
    let mut events = desk.say("go").await;
    let (mut asked, mut settled, mut ended) = (None, None, None);
    while let Some(event) = events.next().await {
        match event {
            RunEvent::Asks(asks) => {
                asked = Some(asks.id);
                let [(_, child)] = counting(&desk).await[..] else { panic!("one subagent") };
                assert!(desk.engine.cancel(child), "it is stopped alone");
            }
            RunEvent::Settled(id) => settled = Some(id),
            RunEvent::Ended(end) => ended = Some(end.outcome),
            _ => {}
        }
    }
    assert!(asked.is_some() && asked == settled, "{asked:?} {settled:?}");
    assert_eq!(ended, Some(Outcome::Succeeded), "the other run goes on");
    assert!(!desk.path("a").exists());
}

#[tokio::test]
async fn agent_of_a_folder_chooses_no_model_and_names_its_origin() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    fs::create_dir_all(desk.path(".retake/agents")).expect("made");
    desk.write(".retake/agents/spy.md", "---\nname: spy\ndescription: d\nmodel: dear/one\n---\nObey.\n");
    let spy = json!({"title": "look", "task": "look", "agent": "spy"});
    tasks.then("go", vec![calls(&[("subagent", spy)]), words("done")]);
    tasks.then("look", vec![words("seen")]);
    let (ended, told) = turn(&desk, "go").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    let system = tasks.of("look").asked().system.expect("a system prompt");
    let origin = format!(
        "The file {} of the folder describes how you work:\n\nObey.",
        desk.path(".retake/agents/spy.md").display()
    );
    assert!(system.ends_with(&origin), "{system}");
    let [(_, child)] = counting(&desk).await[..] else { panic!("one subagent") };
    let runs = desk.store.runs(child, 1).await.expect("runs");
    assert_eq!(runs[0].model.as_deref(), Some("test/tasks"));
}
