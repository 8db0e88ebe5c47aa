//! Old results of tools are shortened in the prompt, and nowhere else: by what is on the path only, and so that the model can read the
//! whole.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Message, Mode, Part, ToolOutcome};
use retake_engine::Outcome;
use retake_engine::model::{Model, ModelInfo, Prompt};
use retake_testkit::{ModelOutput, SingleModelCatalogue};
use retake_tools::ShellConfig;
use serde_json::json;

use super::{Desk, calls, engine_with, words};

/// A model that prints long texts, as many as the message says.
#[derive(Default)]
struct Printing {
    prompts: Mutex<Vec<Prompt>>,
}

impl Model for Printing {
    fn name(&self) -> &str {
        "test/printing"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { context_tokens: Some(40_000), ..ModelInfo::default() }
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        let asked = prompt.messages.iter().rposition(|message| message.role == retake_core::Role::User);
        let asked = asked.expect("a message");
        let text = prompt.messages[asked].parts.iter().filter_map(Part::as_text).next_back();
        let done = prompt.messages.len() / 2 - asked / 2;
        let answer = match text.and_then(|text| text.strip_prefix("print ")?.parse::<usize>().ok()) {
            Some(times) if done < times => {
                calls(&[("shell", json!({ "command": format!("echo {asked} {done}; seq 1 1200") }))])
            }
            _ => match text.and_then(|text| text.strip_prefix("read ")) {
                Some(path) if done == 0 => calls(&[("read", json!({ "path": path, "limit": 3 }))]),
                _ => words("done"),
            },
        };
        self.prompts.lock().expect("sound").push(prompt);
        futures::stream::iter(answer).boxed()
    }
}

async fn desk(mode: Mode) -> (Desk, Arc<Printing>) {
    let desk = Desk::new(mode).await;
    let model = Arc::new(Printing::default());
    let models = Arc::new(SingleModelCatalogue(Arc::clone(&model)));
    let engine = engine_with(&desk.store, &desk.dir, models, mode, ShellConfig::default()).await;
    (Desk { engine, ..desk }, model)
}

fn results(messages: &[Message]) -> Vec<&str> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match part {
        Part::ToolResult { content, outcome: ToolOutcome::Ok, .. } => Some(content.as_str()),
        _ => None,
    });
    results.collect()
}

/// The file that a shortened result names.
fn file_of(result: &str) -> Option<&str> {
    Some(result.split_once("the whole is in ")?.1.split_once(" …]")?.0)
}

#[tokio::test]
async fn old_results_are_shortened_in_steps_and_a_rewind_returns_the_earlier_prompt() {
    let (desk, model) = desk(Mode::AllowAll).await;
    desk.turn("print 10", Vec::new()).await;
    let (ended, told) = desk.turn("print 12", Vec::new()).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert!(!told.iter().any(|line| line.contains("Compacts")), "nothing has to be summarised: {told:?}");
    let prompts = model.prompts.lock().expect("sound").clone();
    // Each prompt begins with the one before, except where the boundary moves.
    let moves = prompts.windows(2).filter(|two| !two[1].messages.starts_with(&two[0].messages)).count();
    assert!((1..=3).contains(&moves), "{moves}");
    let last = &prompts.last().expect("prompts").messages;
    let all = results(last);
    let short: Vec<_> = all.iter().filter_map(|result| file_of(result)).collect();
    assert_eq!((all.len(), all[21].len() > 4_000), (22, true), "the newest is whole");
    assert!((5..18).contains(&short.len()), "{}", short.len());
    assert!(all.iter().skip(short.len()).all(|result| file_of(result).is_none()), "only the first ones");
    // The file has the whole, and people see it.
    let whole = std::fs::read_to_string(short[0]).expect("it is kept");
    assert!(whole.starts_with("0 0\n1\n") && whole.contains("\n1200"), "{}", whole.len());
    let shown = desk.engine.summary(desk.id).await.expect("a summary").head;
    assert_eq!(
        &desk.engine.prompt_at(desk.id, shown).await.expect("a prompt")[..last.len()],
        last.as_slice()
    );
    // A rewind leads to the same prompt as before.
    let second = prompts.iter().find(|prompt| {
        let last = prompt.messages.last().and_then(|last| last.parts.last());
        matches!(last, Some(Part::Text(text)) if text == "print 12")
    });
    desk.rewind("t2").await;
    desk.turn("something else", Vec::new()).await;
    let again = model.prompts.lock().expect("sound")[prompts.len()].clone();
    let second = &second.expect("it was asked").messages;
    assert!(second.len() > 20 && results(second).iter().all(|result| file_of(result).is_none()));
    assert_eq!(again.messages[..second.len() - 1], second[..second.len() - 1]);
}

#[tokio::test]
async fn whole_of_a_shortened_result_is_read_without_an_approval_and_erased_with_it() {
    let (desk, model) = desk(Mode::AllowAll).await;
    desk.turn("print 20", Vec::new()).await;
    let prompts = model.prompts.lock().expect("sound").clone();
    let last = &prompts.last().expect("prompts").messages;
    let file =
        results(last).iter().find_map(|result| file_of(result)).expect("a shortened result").to_owned();
    let permission = retake_engine::PermissionChange { mode: Some(Mode::Ask), ..Default::default() };
    desk.engine.set_permission(desk.id, permission).await.expect("set");
    let (ended, told) = desk.turn(&format!("read {file}"), Vec::new()).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert!(told.iter().any(|line| line.starts_with("→ ") && !line.contains("failed")), "{told:?}");
    assert!(std::path::Path::new(&file).exists());
    desk.erase(Vec::new(), Some("0 0\n1\n2\n")).await;
    assert!(!std::path::Path::new(&file).exists(), "what is erased is in no file");
}
