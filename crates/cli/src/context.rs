//! The context of every verb: the client, the terminal, and common steps. Must never decide what a verb means.

use std::path::Path;
use std::time::Duration;

use retake_wire::reply::{Conversation, Conversations, Receipt, Work};
use retake_wire::request::{ConversationTarget, List};
use retake_wire::{Action, Client, ProblemKind, Reply, Request, Run};

use crate::error::{Failure, Result, expect_reply, hinted, usage};
use crate::owner::{Owner, Paths};
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::{Text, Ui};
use retake_tui::render::{self, entries, id, words};

/// A JSON document on a line of its own. Characters that a terminal would interpret are escaped, including those that JSON allows.
pub(crate) fn document(value: &impl serde::Serialize) -> String {
    let json =
        serde_json::to_string(value).expect("BUG: what the wire says has string keys and finite numbers");
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if safe::acts_on_terminal(c) {
            // They occur in strings only, and all are in the basic multilingual plane.
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

/// The error if a conversation is needed before its first message.
fn nothing_said() -> Failure {
    let hint = "send a message first, or choose another conversation with /list";
    hinted(ProblemKind::Refused, "nothing_said", "this conversation has no message yet", hint).into()
}

/// How often to ask for the progress.
const ASK: Duration = Duration::from_millis(250);

/// Whether a request may scan a whole folder, or wait for servers.
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

/// Waits for work, and shows its progress if it takes longer than about a second. With --json it prints nothing.
pub(crate) async fn with_progress<T>(client: &dyn Client, json: bool, work: impl Future<Output = T>) -> T {
    let progress = Progress::spinner("working");
    let progress = if json { progress } else { progress.or_lines() };
    let told = async {
        loop {
            tokio::time::sleep(ASK).await;
            // A failed progress request changes nothing: the spinner keeps turning.
            if let Ok(Reply::Work(Work { doing: Some(doing) })) = client.call(Request::Work).await {
                progress.message(&words::doing(doing));
            }
        }
    };
    // The progress request may wait for a lock that the work holds, so both run at the same time.
    tokio::select! {
        done = work => done,
        never = told, if progress.is_seen() => never,
    }
}

/// The context of a verb.
pub(crate) struct Context<'a> {
    /// The owner, for the few verbs that manage its process and settings.
    pub(crate) owner: &'a dyn Owner,
    /// The paths of data and settings.
    pub(crate) paths: &'a Paths,
    /// The owner of the data; opened by the first request.
    pub(crate) client: &'a dyn Client,
    /// The terminal or the streams.
    pub(crate) ui: &'a mut dyn Ui,
    /// Whether replies are printed as JSON.
    pub(crate) json: bool,
    /// The folder that the program was started in.
    pub(crate) folder: &'a str,
    /// What a verb uses if no conversation is named.
    pub(crate) place: Place,
    /// What the line client does after the last verb.
    pub(crate) follow_up: Option<FollowUp>,
}

/// What the line client does after a verb.
#[derive(Debug)]
pub(crate) enum FollowUp {
    /// An action is done: its text may return to the line.
    Changed(Action, Box<Receipt>),
    /// Starts a model run and follows it.
    Run(Box<Run>),
    /// The place is another conversation now.
    Moved,
}

/// Where a verb runs.
#[derive(Debug)]
pub(crate) enum Place {
    /// In a shell: the last conversation of the folder.
    Shell,
    /// In the line client: this conversation. `None` until its first message.
    Conversation(Option<String>),
}

/// Prints a notice.
pub(crate) fn notice_to(ui: &mut dyn Ui, notice: &str) -> Result {
    let text = ui.error_palette().paint(Style::Warn, safe::line(notice)).to_string();
    Ok(ui.note(&format!("{text}\n"))?)
}

impl<'a> Context<'a> {
    /// For a verb in a shell.
    pub(crate) fn new(
        owner: &'a dyn Owner,
        paths: &'a Paths,
        client: &'a dyn Client,
        ui: &'a mut dyn Ui,
        folder: &'a str,
        json: bool,
    ) -> Self {
        Self { owner, paths, client, ui, json, folder, place: Place::Shell, follow_up: None }
    }
}

impl Context<'_> {
    /// Whether the line client runs the verb.
    pub(crate) fn in_conversation(&self) -> bool {
        matches!(self.place, Place::Conversation(_))
    }

    /// The conversation of the line client, after its first message.
    pub(crate) fn here(&self) -> Result<String> {
        match &self.place {
            Place::Conversation(Some(here)) => Ok(here.clone()),
            Place::Conversation(None) | Place::Shell => Err(nothing_said()),
        }
    }

    /// A command as typed here: `retake undo` in a shell, `/undo` in the line client.
    pub(crate) fn command(&self, verb: &str) -> String {
        if self.in_conversation() { format!("/{verb}") } else { format!("`retake {verb}`") }
    }

    /// Prints a text to standard output.
    pub(crate) fn print(&mut self, text: &str) -> Result {
        Ok(self.ui.print(text)?)
    }

    /// Prints a rendering.
    pub(crate) fn print_text(&mut self, text: &Text) -> Result {
        Ok(self.ui.print_text(text)?)
    }

    /// Sends a request.
    pub(crate) async fn call(&self, request: Request) -> Result<Reply> {
        if !takes_time(&request) {
            return Ok(self.client.call(request).await?);
        }
        Ok(with_progress(self.client, self.json, self.client.call(request)).await?)
    }

    /// Sends a request whose reply is a receipt.
    pub(crate) async fn receipt(&self, request: Request) -> Result<Receipt> {
        Ok(expect_reply!(self.call(request).await?, Receipt))
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
        Ok(self.ui.page_text(&render::reply(&self.ui.look(), reply))?)
    }

    /// Shows the plan of an action.
    pub(crate) fn planned(&mut self, action: &Action, reply: &Reply) -> Result {
        match reply {
            Reply::Plan(plan) if !self.json => {
                let look = self.ui.look();
                let text = match self.in_conversation() {
                    true => render::plan::body(&look, plan),
                    false => render::plan::of(&look, action, plan),
                };
                Ok(self.ui.page_text(&text)?)
            }
            other => self.present(other),
        }
    }

    /// Prints a receipt: as JSON, or as this text.
    pub(crate) fn acknowledge(&mut self, receipt: &Receipt, text: impl Into<Text>) -> Result {
        if self.json {
            return self.json(&Reply::Receipt(receipt.clone()));
        }
        self.print_text(&text.into())
    }

    /// Prints one JSON document on a line of its own.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result {
        Ok(self.ui.print(&document(value))?)
    }

    /// Prints a dimmed note to standard error, so that it is no part of the output.
    pub(crate) fn aside(&mut self, text: &str) -> Result {
        if self.in_conversation() {
            let line = entries::dim(&self.ui.look(), text);
            return self.print_text(&line);
        }
        let line = self.ui.error_palette().paint(Style::Dim, text);
        Ok(self.ui.note(&format!("{line}\n"))?)
    }

    /// Prints a rendering that is no part of the output.
    pub(crate) fn aside_text(&mut self, text: &Text) -> Result {
        let printed = if self.in_conversation() { self.ui.print_text(text) } else { self.ui.note_text(text) };
        Ok(printed?)
    }

    /// Reports the move that a run or an edit began with, if there was one.
    pub(crate) fn went_back(&mut self, receipt: &Receipt) -> Result {
        let undo = if self.in_conversation() { "/undo" } else { "retake undo" };
        let text = render::receipt::went_back(&self.ui.look(), receipt, [undo, undo]);
        self.aside_text(&text.unwrap_or_default())
    }

    /// Prints what to do next, without an error.
    pub(crate) fn hint(&mut self, words: &str) -> Result {
        Ok(self.ui.note(&crate::error::labelled(self.ui, Style::Accent, "hint:", words))?)
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.ui.interactive() && !self.json
    }

    /// The named conversation, or the one of this place. If a folder has several, a note names the last one.
    pub(crate) async fn conversation(&mut self, named: Option<String>) -> Result<String> {
        if let Some(id) = named {
            return Ok(id);
        }
        if self.in_conversation() {
            return self.here();
        }
        let mut found = self.listed_here().await?.conversations.into_iter();
        let Some(last) = found.next() else { return Err(self.no_conversation()) };
        if found.next().is_some() {
            let columns = self.ui.look().columns;
            let name = words::title(&last, columns.min(60));
            let id = id::short(&last.id).to_owned();
            self.aside(&format!("conversation {id}{name}, the last one of this folder"))?;
        }
        Ok(last.id)
    }

    /// The error if this folder has no conversation.
    pub(crate) fn no_conversation(&self) -> Failure {
        let message = format!("there is no conversation in {}", safe::line(self.folder));
        let hint = "`retake` begins one, and `retake list --all` lists those of other folders";
        hinted(ProblemKind::NotFound, "no_conversation", message, hint).into()
    }

    /// The last conversation of this folder, if there is one.
    pub(crate) async fn last(&self) -> Result<Option<Conversation>> {
        Ok(self.listed_here().await?.conversations.into_iter().next())
    }

    /// The last two conversations of this folder, and whether it can be captured.
    pub(crate) async fn listed_here(&self) -> Result<Conversations> {
        let list = List { folder: Some(self.folder.to_owned()), limit: Some(2), ..List::default() };
        Ok(expect_reply!(self.call(Request::List(list)).await?, Conversations))
    }

    /// The current state of a conversation.
    pub(crate) async fn info(&self, conversation: &str) -> Result<Conversation> {
        let of = ConversationTarget { conversation: conversation.to_owned() };
        Ok(expect_reply!(self.call(Request::Info(of)).await?, Conversation))
    }

    /// An absolute path for the owner, which works in another folder.
    pub(crate) fn absolute(&self, path: &Path) -> Result<String> {
        let path = Path::new(self.folder).join(path);
        let text = path.to_str().map(str::to_owned);
        // A lossy path would name another file.
        text.ok_or_else(|| {
            usage(format!("{} is not UTF-8", safe::line(&path.to_string_lossy())), "name it in UTF-8")
        })
    }

    /// The text of the arguments, or standard input for `-`, or if there are no arguments and standard input is not a terminal.
    pub(crate) fn words(&mut self, words: &[String], what: &str) -> Result<String> {
        let from_input = self.are_piped(words);
        let text = if from_input { self.input()? } else { words.join(" ") };
        if text.trim().is_empty() {
            return Err(usage(
                format!("there is no {what}"),
                format!("give the {what} as an argument, or use `-` to read it from standard input"),
            ));
        }
        Ok(text)
    }

    /// Whether the text comes from standard input.
    pub(crate) fn are_piped(&self, words: &[String]) -> bool {
        match words {
            [] => !self.ui.input_is_terminal(),
            [dash] => dash == "-",
            _ => false,
        }
    }

    /// All of standard input, without the final newline.
    pub(crate) fn input(&mut self) -> Result<String> {
        let text =
            self.ui.input().map_err(|error| crate::error::file("cannot read standard input", &error))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }

    /// Prints an error without ending the command.
    pub(crate) fn complain(&mut self, failure: &Failure) -> Result {
        if let Some(problem) = failure.to_report() {
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
    use retake_wire::{Follow, NumberedEvent, Problem, Run, RunEvent};
    use tokio::sync::{Mutex, Notify};

    use super::*;

    /// An owner whose replies all need the same lock.
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

        async fn follow(&self, _: Follow) -> std::result::Result<BoxStream<'static, NumberedEvent>, Problem> {
            unreachable!("nobody follows anything here")
        }
    }

    #[tokio::test]
    async fn trial_11_work_goes_on_while_its_progress_is_read() {
        let lock = Arc::new(Mutex::new(()));
        let client = Busy(Arc::clone(&lock), Notify::new());
        let others = Arc::clone(&lock).lock_owned().await;
        // It is held until the progress request waits for it behind the work.
        let waits = async {
            client.1.notified().await;
            drop(others);
        };
        let work = with_progress(&client, false, async { drop(client.0.lock().await) });
        let both = async { tokio::join!(work, waits) };
        tokio::time::timeout(Duration::from_secs(60), both).await.expect("it ends");
    }
}
