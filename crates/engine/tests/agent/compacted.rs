//! Compaction: a summary takes the place of earlier messages in the prompt, and of nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Action, Message, Mode, Part, Reason, RequestId, SeenState, Steer, ToolOutcome};
use retake_engine::model::{Chunk, Model, ModelError, ModelErrorKind, ModelInfo, Prompt};
use retake_engine::{Compaction, Ended, Kind, Outcome, RunEvent, RunRequest, Start};
use retake_testkit::{ModelOutput, SingleModelCatalogue};
use retake_tools::ShellConfig;
use serde_json::json;

use super::{Desk, calls, engine_with, words};

/// A text that is longer than any summary here.
fn long(text: &str) -> String {
    format!("{text} {}", "and so on ".repeat(40))
}

/// A message in a line: its role, and the beginning of its texts.
fn line(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.chars().take(60).collect::<String>().replace('\n', " "),
        Part::ToolCall { name, .. } => format!("calls {name}"),
        Part::ToolResult { content, .. } => format!("result of {} bytes", content.len()),
        other => format!("{other:?}"),
    };
    let parts: Vec<_> = message.parts.iter().map(part).collect();
    format!("{}: {}", message.role.name(), parts.join(" | "))
}

impl Desk {
    fn last_prompt(&self) -> Vec<String> {
        self.script.asked().messages.iter().map(line).collect()
    }

    /// The prompt of the next turn, which is then taken back.
    async fn next_prompt(&self) -> Vec<String> {
        self.turn("next", vec![words("yes")]).await;
        let prompt = self.last_prompt();
        self.apply(Action::Undo(1)).await;
        prompt
    }

    async fn compacts(&self, compaction: Compaction, answer: Vec<ModelOutput>) -> Ended {
        self.script.then(answer);
        let events = self.run(Start::Compact(compaction)).await;
        self.follow(events, &mut |_| None).await.0
    }
}

#[tokio::test]
async fn summary_replaces_messages_in_the_prompt_and_an_undo_returns_them() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn(&long("one"), vec![words(&long("1"))]).await;
    desk.turn(&long("two"), vec![calls(&[("shell", json!({"command": "echo hi"}))]), words(&long("2"))])
        .await;
    let before = desk.next_prompt().await;
    let shown = desk.shows().await;
    let keep = Compaction { instructions: Some("keep the numbers".into()), ..Compaction::default() };
    let ended = desk.compacts(keep, words("They counted to two.")).await;
    assert_eq!((ended.outcome, ended.entry), (Outcome::Succeeded, None), "{ended:?}");
    let asked = desk.script.asked();
    let request = asked.messages.last().expect("a request");
    assert!(line(request).starts_with("user: Write a summary of this conversation"), "{request:?}");
    assert!(matches!(&request.parts[..], [Part::Text(text)] if text.ends_with("adds: keep the numbers")));
    assert_eq!(desk.shows().await, shown, "people see the same");
    let summary = "user: [Summary of earlier messages] They counted to two. | next";
    assert_eq!(desk.next_prompt().await.last().map(String::as_str), Some(summary));
    assert_eq!(desk.next_prompt().await.len(), 1);
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.next_prompt().await, before);
    // Only a part: a call stays with its result.
    let last = desk.entry_with("calls shell").await;
    let part = Compaction { to: Some(last), ..Compaction::default() };
    assert_eq!(desk.compacts(part, words("One.")).await.outcome, Outcome::Succeeded);
    let prompt = desk.next_prompt().await;
    assert_eq!(prompt.iter().filter(|line| line.contains("calls shell")).count(), 1, "{prompt:?}");
    assert!(prompt[0].starts_with("user: [Summary of earlier messages] One."), "{prompt:?}");
}

#[tokio::test]
async fn instructions_of_the_folder_that_a_summary_covers_are_given_again() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn(&long("one"), vec![words(&long("1"))]).await;
    desk.write("AGENTS.md", "Always be brief.");
    desk.turn(&long("two"), vec![words(&long("2"))]).await;
    let given = |prompt: &[Message]| {
        let texts = prompt.iter().flat_map(|message| &message.parts).filter_map(Part::as_text);
        texts.filter(|text| text.contains("Always be brief.")).count()
    };
    assert_eq!(given(&desk.script.asked().messages), 1);
    assert_eq!(desk.compacts(Compaction::default(), words("Two.")).await.outcome, Outcome::Succeeded);
    desk.turn("three", vec![words("3")]).await;
    assert_eq!(given(&desk.script.asked().messages), 1);
    desk.turn("four", vec![words("4")]).await;
    assert_eq!(given(&desk.script.asked().messages), 1);
}

#[tokio::test]
async fn summary_that_fails_or_is_longer_changes_nothing_and_says_so() {
    let desk = Desk::new(Mode::AllowAll).await;
    let nothing = desk.engine.run(desk.id, desk.request(Start::Compact(Compaction::default()))).await;
    assert_eq!(nothing.err().map(|error| error.code), Some("nothing_to_compact"));
    desk.turn("one", vec![words("1")]).await;
    let (before, head) = (desk.next_prompt().await, desk.store.summary(desk.id).await.expect("it").head);
    let failing = vec![Err(ModelError::new(ModelErrorKind::Overloaded, "test/script"))];
    let rows = [(failing, "model"), (words(&long("more")), "long_summary"), (words("  "), "no_summary")];
    for (answer, code) in rows {
        let ended = desk.compacts(Compaction::default(), answer).await;
        assert_eq!((ended.outcome, ended.error.map(|error| error.code)), (Outcome::Failed, Some(code)));
    }
    assert_eq!(desk.store.summary(desk.id).await.expect("it").head, head);
    assert_eq!(desk.next_prompt().await, before);
}

#[tokio::test]
async fn summary_that_a_hidden_message_put_out_of_force_is_made_again_without_that_message() {
    let desk = Desk::new(Mode::AllowAll).await;
    for (say, answer) in [("one", "1"), ("two", "the word is hunter2"), ("three", "3")] {
        desk.turn(&long(say), vec![words(&long(answer))]).await;
    }
    let compaction = Compaction { to: Some(desk.entry_with(&long("3")).await), ..Compaction::default() };
    assert_eq!(desk.compacts(compaction, words("All of it, and hunter2.")).await.outcome, Outcome::Succeeded);
    let secret = desk.entry_with(&long("the word is hunter2")).await;
    let hide = |to| Action::Mark { verb: to, entries: vec![secret], range: false, seen: None };
    desk.apply(hide(Reason::Hide)).await;
    let (ended, told) = desk.turn("next", vec![words("All but one."), words("yes")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert!(told.iter().any(|line| line.contains("FoldsAgain")), "{told:?}");
    assert_eq!(desk.last_prompt(), ["user: [Summary of earlier messages] All but one. | next"]);
    let times = desk.script.times();
    for prompt in desk.script.all().iter().skip(times - 2) {
        assert!(!format!("{:?}", prompt.messages).contains("hunter2"), "{prompt:?}");
    }
    // Once: it is in force now.
    desk.turn("further", vec![words("yes")]).await;
    assert_eq!(desk.script.times(), times + 1);
    // What is shown again has its first summary again.
    desk.apply(hide(Reason::Show)).await;
    desk.turn("last", vec![words("yes")]).await;
    assert!(desk.last_prompt()[0].contains("All of it, and hunter2."), "{:?}", desk.last_prompt());
    // A rewind into what it covers gives the messages, as before the summary.
    desk.rewind("t3").await;
    let times = desk.script.times();
    desk.turn("other", vec![words("yes")]).await;
    assert_eq!(desk.script.times(), times + 1);
    assert!(desk.last_prompt()[0].contains("one and so on"), "{:?}", desk.last_prompt());
}

#[tokio::test]
async fn summary_is_not_made_again_for_what_is_shorter_than_it_was() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("one", vec![words(&long("1"))]).await;
    let compaction = Compaction { to: Some(desk.entry_with(&long("1")).await), ..Compaction::default() };
    assert_eq!(desk.compacts(compaction, words("It was one.")).await.outcome, Outcome::Succeeded);
    let entries = vec![desk.entry_with(&long("1")).await];
    desk.apply(Action::Mark { verb: Reason::Hide, entries, range: false, seen: None }).await;
    let (_, told) = desk.turn("next", vec![words("yes")]).await;
    assert!(!told.iter().any(|line| line.contains("FoldsAgain")), "{told:?}");
    assert_eq!(desk.last_prompt(), ["user: one | next"]);
}

#[tokio::test]
async fn summary_of_an_older_state_is_refused() {
    let desk = Desk::new(Mode::AllowAll).await;
    let old = desk.store.summary(desk.id).await.expect("it").head;
    desk.turn(&long("one"), vec![words(&long("1"))]).await;
    let request =
        RunRequest { seen: SeenState::Exactly(old), ..desk.request(Start::Compact(Compaction::default())) };
    let refused = desk.engine.run(desk.id, request).await.err().expect("refused");
    assert_eq!((refused.kind, desk.script.times()), (Kind::Stale, 1), "{refused:?}");
}

#[tokio::test]
async fn context_that_the_tools_fill_is_summarised_once_in_a_run_and_keeps_the_newest_message() {
    // The tools alone have more tokens.
    let small = Arc::new(Small::new(3_000, 9));
    let desk = Desk::with_small(&small).await;
    desk.turn("no task", Vec::new()).await;
    small.summaries.store(0, Ordering::SeqCst);
    let (ended, _) = desk.turn("count", Vec::new()).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert_eq!(small.summaries.load(Ordering::SeqCst), 1);
    let prompts = small.prompts.lock().expect("sound").clone();
    let mut after =
        prompts.iter().skip_while(|prompt| !is_request(prompt)).filter(|prompt| !is_request(prompt));
    let first = after.find(|prompt| Small::reached(prompt) == 0).expect("a prompt of the task");
    assert!(first.messages.last().is_some_and(|last| line(last).ends_with("count")), "{:?}", first.messages);
}

#[tokio::test]
async fn message_that_arrives_during_a_summary_is_answered_after_it() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn(&long("one"), vec![words(&long("1"))]).await;
    let mut summary = desk.run(Start::Compact(Compaction::default())).await;
    desk.until_asked(2).await;
    let start = Start::Say(vec![Part::text("two")], None);
    let request = RunRequest { steer: Some(Steer::Queue), ..desk.request(start) };
    let mut queued = desk.engine.run(desk.id, request).await.expect("it waits");
    assert!(matches!(queued.next().await, Some(RunEvent::Queued)));
    // The model never answers, so the summary is stopped. Then the message has its turn.
    desk.script.then(words("2"));
    desk.engine.cancel(desk.id);
    while let Some(event) = summary.next().await {
        if let RunEvent::Ended(ended) = event {
            assert_eq!((ended.outcome, ended.receipt), (Outcome::RolledBack, None));
        }
    }
    let (ended, _) = desk.follow(queued, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(desk.shows().await.last().map(String::as_str), Some("2"));
}

/// Whether a prompt asks for a summary.
fn is_request(prompt: &Prompt) -> bool {
    prompt.messages.last().is_some_and(|last| line(last).contains("Write a summary of"))
}

/// A model with a small context: it does a task of many calls, and forgets everything that is not in its prompt.
struct Small {
    tokens: usize,
    calls: usize,
    prompts: Mutex<Vec<Prompt>>,
    summaries: AtomicUsize,
}

impl Small {
    fn new(tokens: usize, calls: usize) -> Self {
        Self { tokens, calls, prompts: Mutex::default(), summaries: AtomicUsize::new(0) }
    }

    fn bytes(prompt: &Prompt) -> usize {
        prompt.messages.iter().map(Message::bytes).sum::<usize>()
            + prompt.system.as_ref().map_or(0, String::len)
    }

    /// The highest number that a result or a summary in the prompt has.
    fn reached(prompt: &Prompt) -> usize {
        let numbers =
            prompt.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
                Part::ToolResult { content, outcome: ToolOutcome::Ok, .. } => {
                    content.lines().next()?.parse().ok()
                }
                Part::Text(text) => text.rsplit_once("reached ")?.1.trim().parse().ok(),
                _ => None,
            });
        numbers.max().unwrap_or(0)
    }
}

impl Model for Small {
    fn name(&self) -> &str {
        "test/small"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { context_tokens: Some(self.tokens as u64), ..ModelInfo::default() }
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        let tokens = Self::bytes(&prompt) / 4;
        let mut answer = if tokens > self.tokens {
            vec![Err(ModelError::new(ModelErrorKind::ContextTooLong, "test/small"))]
        } else if is_request(&prompt) {
            self.summaries.fetch_add(1, Ordering::SeqCst);
            words(&format!("The person wants all numbers. I have reached {}", Self::reached(&prompt)))
        } else {
            match Self::reached(&prompt) {
                reached if reached >= self.calls => words(&format!("done: {reached}")),
                _ if prompt.messages.last().is_some_and(|last| line(last).ends_with("no task")) => {
                    words("good")
                }
                reached => {
                    let print = |at: usize| ("shell", json!({ "command": format!("echo {at}; seq 1 150") }));
                    calls(&[print(reached + 1), print(reached + 2), print(reached + 3)])
                }
            }
        };
        if answer.first().is_some_and(Result::is_ok) {
            let usage =
                retake_core::Usage { input_tokens: Some(tokens as u64), ..retake_core::Usage::default() };
            answer.insert(0, Ok(Chunk::Usage(usage)));
        }
        self.prompts.lock().expect("sound").push(prompt);
        futures::stream::iter(answer).boxed()
    }
}

impl Desk {
    async fn with_small(small: &Arc<Small>) -> Self {
        let desk = Self::new(Mode::AllowAll).await;
        let models = Arc::new(SingleModelCatalogue(Arc::clone(small)));
        let engine =
            engine_with(&desk.store, &desk.dir, models, Mode::AllowAll, ShellConfig::default()).await;
        Self { engine, ..desk }
    }
}

#[tokio::test]
async fn task_of_a_hundred_calls_fits_into_a_context_of_8000_tokens() {
    let small = Arc::new(Small::new(8_000, 100));
    let desk = Desk::with_small(&small).await;
    desk.turn("no task", Vec::new()).await;
    desk.write("AGENTS.md", "Always count.");
    let (ended, told) = desk.turn("count", Vec::new()).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert_eq!(desk.shows().await.last().map(String::as_str), Some("done: 102"));
    let summaries = small.summaries.load(Ordering::SeqCst);
    assert!((2..20).contains(&summaries), "{summaries}");
    assert_eq!(told.iter().filter(|line| line.contains("Compacts")).count(), summaries, "each is told");
    let prompts = small.prompts.lock().expect("sound")[1..].to_vec();
    assert!(prompts.iter().all(|prompt| Small::bytes(prompt) / 4 <= 8_000), "none is refused");
    // The instructions of the folder are in each, though a summary covers them.
    let has_instructions = |prompt: &Prompt| {
        let texts = prompt.messages.iter().flat_map(|message| &message.parts).filter_map(Part::as_text);
        texts.filter(|text| text.contains("Always count.")).count() == 1
    };
    let work = prompts.iter().filter(|prompt| !is_request(prompt));
    assert!(work.clone().count() > 30 && work.clone().all(has_instructions));
    // A call and its result are never parted.
    for prompt in &prompts {
        let parts = || prompt.messages.iter().flat_map(|message| &message.parts);
        let asked = parts().filter_map(Part::call_id).count();
        assert_eq!(asked, parts().filter_map(Part::answered_call).count());
    }
    // After a rewind, the prompt is what it was before the task.
    desk.rewind("t2").await;
    desk.turn("no task", Vec::new()).await;
    let again = small.prompts.lock().expect("sound")[prompts.len() + 1].clone();
    let texts: Vec<_> = again.messages.iter().map(line).collect();
    assert_eq!(texts.last().map(String::as_str), Some("user: no task"), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("Summary")), "{texts:?}");
}

#[tokio::test]
async fn prompt_that_the_model_finds_too_long_is_summarised_and_sent_once_more() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn(&long("one"), vec![words(&long("1"))]).await;
    let too_long = || vec![Err(ModelError::new(ModelErrorKind::ContextTooLong, "test/script"))];
    let (ended, told) = desk.turn("two", vec![too_long(), words("One was said."), words("2")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert!(told.iter().any(|line| line.contains("Compacts")), "{told:?}");
    assert_eq!(desk.shows().await.last().map(String::as_str), Some("2"));
    let prompt = desk.last_prompt();
    assert!(prompt[0].starts_with("user: [Summary of earlier messages] One was said."), "{prompt:?}");
    assert!(prompt.last().is_some_and(|line| line.ends_with("two")), "{prompt:?}");
    // Only once: then the failure counts.
    let (ended, _) = desk.turn("three", vec![too_long(), words("All."), too_long()]).await;
    assert_eq!((ended.outcome, ended.error.map(|error| error.code)), (Outcome::Failed, Some("model")));
}

#[tokio::test]
async fn summary_of_another_branch_becomes_a_message_here() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("one", vec![words("1")]).await;
    desk.turn("the left way", vec![words("left is closed")]).await;
    desk.rewind("t2").await;
    desk.turn("the right way", vec![words("right is open")]).await;
    let shown = desk.shows().await;
    let branches = desk.engine.branches(desk.id).await.expect("branches");
    let leaf = branches.iter().find(|branch| !branch.current).expect("another branch").last.meta.id;
    let request: RequestId = "carry-1".parse().expect("an id");
    let carry = Compaction { branch: Some(leaf), ..Compaction::default() };
    let start = Start::Compact(carry.clone());
    let ask = || RunRequest { by: desk.engine.by(Some(request.clone())), ..desk.request(start.clone()) };
    desk.script.then(words("Left was closed."));
    let events = desk.engine.run(desk.id, ask()).await.expect("started");
    let (ended, _) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    let asked = desk.last_prompt();
    assert!(asked.iter().any(|line| line.ends_with("left is closed")), "{asked:?}");
    assert!(!asked.iter().any(|line| line.contains("right")), "{asked:?}");
    let request_text = desk.script.asked().messages.last().cloned().expect("a request");
    assert!(matches!(&request_text.parts[..], [Part::Text(text)] if text.contains("“the left way”")));
    let summary = "[Summary of another branch of this conversation]\nLeft was closed.";
    assert_eq!(desk.shows().await.last().map(String::as_str), Some(summary));
    // The same request again makes nothing, and the model is not asked.
    let times = desk.script.times();
    let events = desk.engine.run(desk.id, ask()).await.expect("started");
    let (again, _) = desk.follow(events, &mut |_| None).await;
    assert_eq!((again.outcome, again.entry), (Outcome::Succeeded, ended.entry));
    assert_eq!((desk.script.times(), desk.shows().await.len()), (times, shown.len() + 1));
    let prompt = desk.next_prompt().await;
    assert!(prompt.last().is_some_and(|line| line.contains("Summary of another branch")), "{prompt:?}");
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.shows().await, shown);
    // This branch has nothing that it lacks.
    let own = branches.iter().find(|branch| branch.current).expect("this one").last.meta.id;
    let own = Start::Compact(Compaction { branch: Some(own), ..Compaction::default() });
    let refused = desk.engine.run(desk.id, desk.request(own)).await.err().map(|error| error.code);
    assert_eq!(refused, Some("nothing_to_compact"));
}

#[tokio::test]
async fn rewind_before_inside_and_after_a_fold_gives_the_prompt_and_the_files_of_then() {
    let desk = Desk::new(Mode::AllowAll).await;
    let mut prompts = Vec::new();
    for (turn, number) in [("one", 1), ("two", 2), ("three", 3)] {
        prompts.push(desk.next_prompt().await);
        let write = json!({"command": format!("echo {number} > a; seq 1 400")});
        desk.turn(&long(turn), vec![calls(&[("shell", write)]), words(&long("done"))]).await;
        if number == 2 {
            let whole = Compaction::default();
            assert_eq!(desk.compacts(whole, words("Two were counted.")).await.outcome, Outcome::Succeeded);
        }
    }
    let last = desk.next_prompt().await;
    let has_summary = |prompt: &[String]| prompt.iter().any(|line| line.contains("Two were counted."));
    assert!(has_summary(&prompts[2]) && has_summary(&last), "{last:?}");
    for (turn, file) in [("t3", Some("2\n")), ("t2", Some("1\n")), ("t1", None)] {
        let at = turn[1..].parse::<usize>().expect("a number") - 1;
        desk.rewind(turn).await;
        assert_eq!(desk.read("a").as_deref(), file, "{turn}");
        assert_eq!(desk.next_prompt().await, prompts[at], "{turn}");
        desk.apply(Action::Undo(1)).await;
        assert_eq!(
            (desk.read("a").as_deref(), desk.next_prompt().await),
            (Some("3\n"), last.clone()),
            "{turn}"
        );
    }
}
