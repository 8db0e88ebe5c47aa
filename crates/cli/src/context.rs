//! What every verb works with: the client, the surroundings, and the few steps that all of them share. Must never decide what a verb
//! means.

use std::path::Path;
use std::time::Duration;

use retake_wire::reply::{Conversation, Receipt, Work};
use retake_wire::request::{List, Of};
use retake_wire::{Action, Client, ProblemKind, Reply, Request};

use crate::error::{Failure, Result, problem, unexpected, usage};
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::Ui;
use retake_tui::render::{self, id, words};

/// A JSON document on a line of its own. What acts on a terminal stands in it as an escape, also what JSON would let stand.
pub(crate) fn document(value: &impl serde::Serialize) -> String {
    let json =
        serde_json::to_string(value).expect("BUG: what the wire says has string keys and finite numbers");
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if safe::acts_on_terminal(c) {
            // Only strings can hold one, and none is outside the first plane.
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

/// How often it is asked how far something is.
const ASK: Duration = Duration::from_millis(250);

/// Whether a request may look through a whole folder, or wait for servers.
fn takes_time(request: &Request) -> bool {
    matches!(
        request,
        Request::Plan(_)
            | Request::Apply(_)
            | Request::Edit(_)
            | Request::Checkpoint(_)
            | Request::WorkspaceShow(_)
            | Request::McpList(_)
            | Request::McpTools(_)
    )
}

/// Waits for something, and says meanwhile what is being done where that takes longer than a moment. A program that reads
/// JSON is told nothing.
pub(crate) async fn watched<T>(client: &dyn Client, json: bool, work: impl Future<Output = T>) -> T {
    let progress = Progress::spinner("working");
    let progress = if json { progress } else { progress.or_lines() };
    let told = async {
        loop {
            tokio::time::sleep(ASK).await;
            // Who can't tell is not asked again by that: the spinner turns all the same.
            if let Ok(Reply::Work(Work { doing: Some(doing) })) = client.call(Request::Work).await {
                progress.message(&words::doing(doing));
            }
        }
    };
    // The question may wait for what the work holds: both go on at the same time.
    tokio::select! {
        done = work => done,
        never = told, if progress.is_seen() => never,
    }
}

/// What a verb works with.
pub(crate) struct Context<'a> {
    /// The owner of the data.
    pub(crate) client: &'a dyn Client,
    /// The surroundings.
    pub(crate) ui: &'a mut dyn Ui,
    /// Whether replies are printed as they are.
    pub(crate) json: bool,
    /// The folder the program was started in.
    pub(crate) folder: &'a str,
}

impl Context<'_> {
    /// Sends a request.
    pub(crate) async fn call(&self, request: Request) -> Result<Reply> {
        if !takes_time(&request) {
            return Ok(self.client.call(request).await?);
        }
        Ok(watched(self.client, self.json, self.client.call(request)).await?)
    }

    /// Sends a request whose reply is a receipt.
    pub(crate) async fn receipt(&self, request: Request) -> Result<Receipt> {
        match self.call(request).await? {
            Reply::Receipt(receipt) => Ok(receipt),
            other => Err(unexpected(&other)),
        }
    }

    /// Sends a request and shows its reply: as JSON, or as a text for people.
    pub(crate) async fn show(&mut self, request: Request) -> Result {
        let reply = self.call(request).await?;
        self.present(&reply)
    }

    /// Shows a reply.
    pub(crate) fn present(&mut self, reply: &Reply) -> Result {
        if self.json {
            return self.json(reply);
        }
        let text = render::reply(&self.ui.look(), reply);
        Ok(self.ui.page(&text)?)
    }

    /// Shows the plan of an action.
    pub(crate) fn planned(&mut self, action: &Action, reply: &Reply) -> Result {
        match reply {
            Reply::Plan(plan) if !self.json => {
                let text = render::plan::of(&self.ui.look(), action, plan);
                Ok(self.ui.page(&text)?)
            }
            other => self.present(other),
        }
    }

    /// Shows a receipt: as JSON, or as this text.
    pub(crate) fn acknowledge(&mut self, receipt: &Receipt, text: &str) -> Result {
        if self.json {
            return self.json(&Reply::Receipt(receipt.clone()));
        }
        Ok(self.ui.print(text)?)
    }

    /// Prints one JSON document on a line of its own.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result {
        Ok(self.ui.print(&document(value))?)
    }

    /// Says something beside the output, dimmed.
    pub(crate) fn aside(&mut self, text: &str) -> Result {
        let line = self.ui.error_palette().paint(Style::Dim, text);
        Ok(self.ui.note(&format!("{line}\n"))?)
    }

    /// What to do next, where that is no error.
    pub(crate) fn hint(&mut self, words: &str) -> Result {
        Ok(self.ui.note(&crate::error::labelled(self.ui, Style::Accent, "hint:", words))?)
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.ui.interactive() && !self.json
    }

    /// The conversation that is named, or the last one of this folder; which one that is, is said where there are several.
    pub(crate) async fn conversation(&mut self, named: Option<String>) -> Result<String> {
        if let Some(id) = named {
            return Ok(id);
        }
        let mut found = self.last_ones().await?.into_iter();
        let Some(last) = found.next() else {
            let mut none = problem(
                ProblemKind::NotFound,
                "no_conversation",
                format!("there is no conversation in {}", safe::line(self.folder)),
            );
            none.hint =
                Some("`retake` begins one, and `retake list --all` shows those of other folders".into());
            return Err(none.into());
        };
        if found.next().is_some() {
            let columns = self.ui.look().columns;
            let name = words::title(&last, columns.min(60));
            let id = id::short(&last.id).to_owned();
            self.aside(&format!("conversation {id}{name}, the last one of this folder"))?;
        }
        Ok(last.id)
    }

    /// The last conversation of this folder, if there is one.
    pub(crate) async fn last(&self) -> Result<Option<Conversation>> {
        Ok(self.last_ones().await?.into_iter().next())
    }

    async fn last_ones(&self) -> Result<Vec<Conversation>> {
        let list = List { folder: Some(self.folder.to_owned()), limit: Some(2), ..List::default() };
        match self.call(Request::List(list)).await? {
            Reply::Conversations(page) => Ok(page.conversations),
            other => Err(unexpected(&other)),
        }
    }

    /// A conversation as it is now.
    pub(crate) async fn info(&self, conversation: &str) -> Result<Conversation> {
        let of = Of { conversation: conversation.to_owned() };
        match self.call(Request::Info(of)).await? {
            Reply::Conversation(info) => Ok(info),
            other => Err(unexpected(&other)),
        }
    }

    /// A path as the owner needs it, whatever folder it works in.
    pub(crate) fn absolute(&self, path: &Path) -> Result<String> {
        let path = Path::new(self.folder).join(path);
        let text = path.to_str().map(str::to_owned);
        // Another name in its place would be another file.
        text.ok_or_else(|| {
            usage(format!("{} is not UTF-8", safe::line(&path.to_string_lossy())), "name it in UTF-8")
        })
    }

    /// The words of an argument, or standard input for `-` or where there are none and it is no terminal.
    pub(crate) fn words(&mut self, words: &[String], what: &str) -> Result<String> {
        let from_input = self.are_piped(words);
        let text = if from_input { self.input()? } else { words.join(" ") };
        if text.trim().is_empty() {
            return Err(usage(
                format!("there is no {what}"),
                format!("give the {what} as an argument, or `-` to read it from standard input"),
            ));
        }
        Ok(text)
    }

    /// Whether these words say that they come from standard input.
    pub(crate) fn are_piped(&self, words: &[String]) -> bool {
        match words {
            [] => !self.ui.input_is_terminal(),
            [dash] => dash == "-",
            _ => false,
        }
    }

    /// Standard input, whole, without the newline at its end.
    pub(crate) fn input(&mut self) -> Result<String> {
        let text =
            self.ui.input().map_err(|error| crate::error::file("standard input can't be read", &error))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }

    /// Says a problem, and goes on.
    pub(crate) fn complain(&mut self, failure: &Failure) -> Result {
        if let Some(problem) = failure.to_say() {
            if self.json {
                return Ok(self.ui.print(&document(&problem))?);
            }
            let text = crate::error::text(self.ui, &problem);
            self.ui.note(&text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use futures::stream::BoxStream;
    use retake_wire::{Follow, Problem, Run, RunEvent, Told};
    use tokio::sync::{Mutex, Notify};

    use super::*;

    /// An owner whose every answer needs the same lock, as a busy one's may.
    struct Busy(Arc<Mutex<()>>, Notify);

    #[async_trait]
    impl Client for Busy {
        async fn call(&self, _: Request) -> std::result::Result<Reply, Problem> {
            self.1.notify_one();
            let _held = self.0.lock().await;
            Ok(Reply::Work(Work { doing: None }))
        }

        async fn run(&self, _: Run) -> std::result::Result<BoxStream<'static, RunEvent>, Problem> {
            unreachable!("nobody runs anything here")
        }

        async fn follow(&self, _: Follow) -> std::result::Result<BoxStream<'static, Told>, Problem> {
            unreachable!("nobody follows anything here")
        }
    }

    #[tokio::test]
    async fn trial_11_work_goes_on_while_it_is_asked_how_far_it_is() {
        let lock = Arc::new(Mutex::new(()));
        let client = Busy(Arc::clone(&lock), Notify::new());
        let others = Arc::clone(&lock).lock_owned().await;
        // It is held until the question waits for it behind the work.
        let waits = async {
            client.1.notified().await;
            drop(others);
        };
        let work = watched(&client, false, async { drop(client.0.lock().await) });
        let both = async { tokio::join!(work, waits) };
        tokio::time::timeout(Duration::from_secs(60), both).await.expect("it ends");
    }
}
