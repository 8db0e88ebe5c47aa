//! The conversation in the terminal, line by line: greeting, messages, commands. It speaks to the owner through the same requests as
//! the verbs. Must never run anything that the person did not submit, and must never lose words they typed.

use std::time::Duration;

use retake_wire::reply::{Composer, Models, Receipt};
use retake_wire::request::{Apply, History, Log, Projection};
use retake_wire::{Action, FilesWish, Part, Permit, Reply, Request, Role, Run, RunStart};

use crate::args::Start;
use crate::context::Context;
use crate::error::{Failure, Result, problem, unexpected, usage};
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::{Read, Ui};
use crate::verbs::answer::answer;
use retake_tui::models::{GoesOn, goes_on};
use retake_tui::render::{self, content, entries, id, receipt, words};

mod agent;
mod attend;
mod choices;
mod commands;
mod edit;
mod files;
mod line;
mod marks;
mod moves;
mod rewind;
mod shown;
mod switch;
mod turn;
mod views;

use line::Line;

/// The greeting does not wait longer than this to say which model answers.
const PATIENCE: Duration = Duration::from_millis(25);

/// So many messages are shown where a conversation goes on.
const SHOWN: usize = 4;

/// So many earlier prompts are remembered by the line.
const PROMPTS: usize = 500;

/// Whether there can be a conversation at all: with a person, or with a prompt that is piped in.
pub(crate) fn check(ui: &dyn Ui, json: bool) -> Result {
    if ui.input_is_terminal() && (json || !ui.interactive()) {
        return Err(usage(
            "a conversation needs a terminal for its output too",
            "`retake ask TEXT` answers once, and has --json",
        ));
    }
    Ok(())
}

/// Begins or goes on, until the person leaves.
pub(crate) async fn begin(mut cx: Context<'_>, start: Start) -> Result {
    if !cx.ui.input_is_terminal() {
        return piped(&mut cx, start).await;
    }
    let mut chat = Chat::new(cx, start.model);
    match (start.go_on, start.resume) {
        (true, _) => {
            let last = chat.cx.conversation(None).await?;
            chat.conversation = Some(last);
        }
        (_, Some(Some(id))) => chat.conversation = Some(chat.cx.info(&id).await?.id),
        (_, Some(None)) => match switch::pick(&mut chat).await? {
            Some(id) => chat.conversation = Some(id),
            None => return Ok(()),
        },
        (false, None) => {}
    }
    chat.greet().await?;
    chat.compose().await?;
    let attended = attend::run_at_work(&mut chat).await;
    chat.said(attended)?;
    chat.talk().await
}

/// The prompt comes through a pipe: one turn, like `retake ask`.
async fn piped(cx: &mut Context<'_>, start: Start) -> Result {
    if start.resume == Some(None) {
        return Err(usage("nobody can pick a conversation here", "name it: `retake -r ID`"));
    }
    let text = cx.words(&[], "message")?;
    let conversation = match start.resume.flatten() {
        Some(id) => id,
        None if start.go_on => cx.conversation(None).await?,
        // The run begins one.
        None => String::new(),
    };
    let run = Run {
        conversation,
        folder: Some(cx.folder.to_owned()),
        start: RunStart::Say { parts: vec![Part::text(text)], seen: None, steer: None, piped: true },
        model: start.model,
        head: None,
        permit: Permit::default(),
        files: FilesWish::default(),
        request_id: None,
    };
    answer(cx, run).await
}

/// A conversation in the terminal.
struct Chat<'a> {
    cx: Context<'a>,
    /// None until the first message is said.
    conversation: Option<String>,
    /// The model that the person chose; the configured one, without.
    model: Option<String>,
    /// The one that was named on the command line.
    named: Option<String>,
    /// What the next run may do besides: what was settled before there was a conversation to settle it for.
    permit: Permit,
    /// The last entry that was shown.
    seen: Option<String>,
    /// What the line begins with next time.
    prefill: Option<String>,
    /// Parts that go with the next message, such as images of a message that was taken back.
    attached: Vec<Part>,
    /// The message that the next one is to replace.
    editing: Option<Editing>,
    leaving: bool,
}

/// What is refused because files wait for a choice.
const CONFLICT: &str = "conflict";

/// Whether an action goes somewhere else in the tree.
fn is_move(action: &Action) -> bool {
    match action {
        Action::Rewind { .. }
        | Action::Undo { .. }
        | Action::Redo { .. }
        | Action::Restore { .. }
        | Action::Checkout { .. }
        | Action::Choose { .. }
        | Action::Edit { .. } => true,
        Action::RestoreFiles { .. }
        | Action::Mark { .. }
        | Action::Fold { .. }
        | Action::Unfold { .. }
        | Action::Label { .. }
        | Action::Title { .. }
        | Action::Erase { .. } => false,
    }
}

/// An edit that is not submitted yet, with what was shown that it takes back.
struct Editing {
    entry: String,
    head: String,
    files: FilesWish,
}

impl<'a> Chat<'a> {
    fn new(cx: Context<'a>, model: Option<String>) -> Self {
        Self {
            cx,
            conversation: None,
            named: model.clone(),
            model,
            permit: Permit::default(),
            seen: None,
            prefill: None,
            attached: Vec::new(),
            editing: None,
            leaving: false,
        }
    }

    async fn talk(&mut self) -> Result {
        while !self.leaving {
            let prompt = self.prompt();
            let prefill = self.prefill.take();
            match self.cx.ui.read(&prompt, prefill)? {
                Read::Line(line) => self.submitted(&line).await?,
                Read::Eof | Read::Interrupted => break,
            }
        }
        self.farewell()
    }

    /// A line is submitted. Problems are said, and the conversation goes on.
    async fn submitted(&mut self, line: &str) -> Result {
        let done = match line::read(line) {
            Line::Empty => self.empty(),
            Line::Say(text) => turn::say(self, text).await,
            Line::Command { name, rest } => self.command(name, rest, line).await,
        };
        self.said(done)
    }

    /// Does a command.
    async fn command(&mut self, name: &str, rest: &str, line: &str) -> Result {
        match commands::find(name) {
            Some(command) => (command.run)(self, rest).await,
            None => self.unknown(name, line),
        }
    }

    /// A problem is said, and the conversation goes on.
    fn said(&mut self, done: Result) -> Result {
        match done {
            Err(failure @ Failure::Problem(_)) => self.cx.complain(&failure),
            Err(Failure::Said(_)) => Ok(()),
            other => other,
        }
    }

    /// An empty line leaves an edit.
    fn empty(&mut self) -> Result {
        if self.editing.take().is_some() {
            self.attached.clear();
            self.dim("not edited: nothing has changed")?;
        }
        Ok(())
    }

    /// No such command: the words go back into the line.
    fn unknown(&mut self, name: &str, line: &str) -> Result {
        let mut problem = problem(
            retake_wire::ProblemKind::Usage,
            "unknown_command",
            format!("there is no command /{}", safe::line(name)),
        );
        let nearest =
            commands::nearest(name).map(|near| format!("did you mean /{near}? ")).unwrap_or_default();
        problem.hint = Some(
            format!("{nearest}/help lists the commands; a message that begins with / is sent as //").into(),
        );
        self.prefill = Some(line.to_owned());
        Err(problem.into())
    }

    fn prompt(&self) -> String {
        let attached =
            content::attached(&self.attached).map(|attached| format!("{attached} ")).unwrap_or_default();
        let editing = if self.editing.is_some() { "edit" } else { "" };
        format!("{attached}{editing}> ")
    }

    /// The conversation, where one is needed.
    fn here(&self) -> Result<String> {
        self.conversation.clone().ok_or_else(|| {
            let mut problem =
                problem(retake_wire::ProblemKind::Refused, "nothing_said", "nothing has been said here yet");
            problem.hint = Some("say something first, or /list for other conversations".into());
            problem.into()
        })
    }

    /// Does an action, says what it did, and takes up the words that return. A Move is done only from this head. Where files are in
    /// conflict the person decides what becomes of them. Nothing, where that is to do nothing.
    async fn apply(&mut self, action: Action, head: Option<String>) -> Result<Option<Receipt>> {
        match self.apply_with(action.clone(), head, FilesWish::default()).await {
            Err(Failure::Problem(problem)) if problem.code == CONFLICT => {
                rewind::settled(self, action, *problem).await
            }
            done => done.map(Some),
        }
    }

    /// The same, with what is wished for files, where that leaves nothing to decide.
    async fn apply_with(
        &mut self,
        action: Action,
        head: Option<String>,
        files: FilesWish,
    ) -> Result<Receipt> {
        let apply = Apply {
            conversation: self.here()?,
            action: action.clone(),
            head,
            since: false,
            files,
            request_id: None,
        };
        let given = self.cx.receipt(Request::Apply(apply)).await?;
        let text = receipt::in_line(&self.cx.ui.look(), &action, &given);
        self.print(&text)?;
        if is_move(&action) {
            // What waited for the next message belonged to where the conversation was.
            self.editing = None;
            self.attached.clear();
        }
        if let Some(composer) = &given.composer {
            self.take_up(composer);
        } else if !given.waited.is_empty() {
            self.take_back(given.waited.iter().flat_map(|words| words.parts.clone()).collect());
        }
        self.refresh().await?;
        Ok(given)
    }

    /// Puts words back into the line, for editing.
    fn take_up(&mut self, composer: &Composer) {
        self.editing = None;
        self.prefill = Some(composer.text.clone());
        self.attached = content::kept(&composer.parts);
    }

    /// Puts words that waited back into the line.
    fn take_back(&mut self, parts: Vec<Part>) {
        self.prefill = Some(render::effects::text(&parts));
        self.attached = content::kept(&parts);
    }

    /// Words for what nobody asks any more are no message by themselves: they go back into the line.
    fn came_late(&mut self, words: Option<String>) -> Result {
        let Some(words) = words else { return Ok(()) };
        // What begins with a slash is a message only with two of them.
        let slash = if words.starts_with('/') { "/" } else { "" };
        let before = self.prefill.take().map(|before| format!("{before}\n")).unwrap_or_default();
        self.prefill = Some(format!("{before}{slash}{words}"));
        self.dim("your words are back in the line: Enter there says them as a message")
    }

    /// Looks at where the conversation ends now.
    async fn refresh(&mut self) -> Result {
        if let Some(conversation) = self.conversation.clone() {
            self.seen = self.cx.info(&conversation).await?.tip;
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result {
        Ok(self.cx.ui.print(text)?)
    }

    fn dim(&mut self, line: &str) -> Result {
        let line = entries::dim(&self.cx.ui.look(), line);
        self.print(&line)
    }

    async fn greet(&mut self) -> Result {
        let look = self.cx.ui.look();
        let version = env!("CARGO_PKG_VERSION");
        let line =
            format!("retake {version}: nothing is final. /rewind goes back, /undo takes that back too");
        let name = look.palette.paint(Style::Bold, "retake").to_string();
        self.print(&content::block(&look, &line, 0, None).replacen("retake", &name, 1))?;
        let model = self.model_line().await?;
        self.dim(&model)?;
        self.dim("/help lists the commands · Alt+Enter begins a new line · Ctrl-D leaves")?;
        self.arrive().await
    }

    /// Which model answers, and why; the greeting does not wait for it.
    async fn model_line(&mut self) -> Result<String> {
        if let Some(model) = &self.model {
            return Ok(format!("model {}", safe::line(model)));
        }
        match tokio::time::timeout(PATIENCE, self.models()).await {
            Ok(models) => {
                let models = models?;
                let line = format!("model {}: {}", safe::line(&models.default), safe::line(&models.why));
                match &models.warning {
                    Some(warning) => Ok(format!("{line}, but it can't be used: {}", safe::line(warning))),
                    None => Ok(line),
                }
            }
            Err(_) => Ok("/model says which model answers".to_owned()),
        }
    }

    async fn models(&self) -> Result<Models> {
        match self.cx.call(Request::Models).await? {
            Reply::Models(models) => Ok(models),
            other => Err(unexpected(&other)),
        }
    }

    /// Shows the end of the conversation that goes on.
    async fn arrive(&mut self) -> Result {
        let Some(conversation) = self.conversation.clone() else {
            return Ok(());
        };
        let info = self.cx.info(&conversation).await?;
        let look = self.cx.ui.look();
        let log = Log {
            conversation,
            at: None,
            branch: None,
            projection: Projection::Timeline,
            limit: Some(SHOWN),
            before: None,
            after: None,
        };
        let page = match self.cx.call(Request::Log(log)).await? {
            Reply::Entries(page) => page,
            other => return Err(unexpected(&other)),
        };
        let name = format!("{} · {}\n", render::lists::name(&look, &info), words::counts(info.counts));
        self.print(&name)?;
        let text = entries::list(&look, &page.entries, &page.unbegun, &page.cut_off);
        self.print(&format!("{text}\n"))?;
        if let Some(why) = &info.read_only {
            self.dim(&format!("read-only: {}", safe::line(why)))?;
        }
        self.seen = info.tip;
        self.conversation = Some(info.id);
        self.goes_on(&page.entries).await
    }

    /// The model that answered last goes on answering; that it can't is said.
    async fn goes_on(&mut self, entries: &[retake_wire::reply::Entry]) -> Result {
        let last = entries.iter().rev().find(|entry| entry.role == Role::Assistant);
        // The models are asked for only where one of a provider has answered.
        if self.model.is_some() || !last.is_some_and(|last| last.author.contains('/')) {
            return Ok(());
        }
        let Ok(models) = tokio::time::timeout(PATIENCE, self.models()).await else { return Ok(()) };
        match goes_on(&models?, entries) {
            GoesOn::Usual => Ok(()),
            GoesOn::With(model) => {
                let line = format!("{} answers here, as before: /model chooses another", safe::line(&model));
                self.model = Some(model);
                self.dim(&line)
            }
            GoesOn::Gone(says) => self.dim(&says),
        }
    }

    async fn compose(&mut self) -> Result {
        let history = History { folder: Some(self.cx.folder.to_owned()), limit: Some(PROMPTS), before: None };
        let mut prompts = match self.cx.call(Request::History(history)).await? {
            Reply::History(page) => page.prompts,
            other => return Err(unexpected(&other)),
        };
        prompts.reverse();
        self.cx.ui.compose(prompts, commands::completions());
        Ok(())
    }

    fn farewell(&mut self) -> Result {
        if let Some(conversation) = &self.conversation {
            let short = id::short(conversation).to_owned();
            self.dim(&format!("to go on: retake -c, or retake -r {short}"))?;
        }
        Ok(())
    }
}
