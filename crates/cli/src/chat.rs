//! The line client: greeting, messages, commands. A command runs the verb of the command line; this module adds the composer, the
//! run and its requests. Must never run anything that the person did not submit, and must never lose typed text.

use std::time::Duration;

use clap::Parser as _;
use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use retake_wire::reply::{Composer, Models, Receipt};
use retake_wire::request::History;
use retake_wire::{Action, FileOptions, Part, Permit, ProblemKind, Request, Role, Run, english};

use crate::args::{self, Cli, ConversationArg, Start};
use crate::command_files;
use crate::context::{Context, FollowUp, Place};
use crate::error::{Failure, Result, expect_reply, hinted, usage};
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::{Read, Text, Ui};
use crate::undelivered;
use crate::verbs::RunVerb as _;
use crate::verbs::ask::Ask;
use retake_tui::hint::Audience;
use retake_tui::models::{ContinuedModel, goes_on};
use retake_tui::render::elsewhere::KnownOperations;
use retake_tui::render::{self, content, entries, id, words};
use retake_tui::text::time;
use retake_tui::ui::slash::{self, Meant};

mod active_run;
mod agent;
mod commands;
mod edit;
mod elsewhere;
mod handlers;
mod input;
mod pickers;
mod turn;

use input::Input;

/// The greeting waits no longer than this for the name of the model.
const PATIENCE: Duration = Duration::from_millis(25);

/// The number of messages shown when a conversation continues.
const SHOWN: usize = 4;

/// The number of earlier prompts in the history of the line.
const PROMPTS: usize = 500;

/// Checks that a conversation is possible: with a person, or with a prompt from a pipe.
pub(crate) fn check(ui: &dyn Ui, json: bool) -> Result {
    if ui.input_is_terminal() && (json || !ui.interactive()) {
        return Err(usage(
            "a conversation needs a terminal for its output, and standard output is not a terminal",
            "`retake ask TEXT` answers once, and takes --json",
        ));
    }
    Ok(())
}

/// Begins or continues a conversation, until the person quits.
pub(crate) async fn begin(mut cx: Context<'_>, start: Start) -> Result {
    let is_piped = !cx.ui.input_is_terminal();
    if is_piped && start.resume == Some(None) {
        return Err(usage(
            "cannot pick a conversation: standard input is not a terminal",
            "name it: `retake -r ID`",
        ));
    }
    let here = match (&start.resume, start.go_on) {
        (Some(Some(id)), _) => Some(cx.info(id).await.map_err(in_shell)?.id),
        (None, true) => Some(cx.conversation(None).await?),
        _ => None,
    };
    if is_piped {
        // One turn with the prompt from the pipe.
        let (new, place, text) =
            (here.is_none(), ConversationArg { conversation: here }, vec!["-".to_owned()]);
        return Ask { place, new, model: start.model, text, ..Ask::default() }.run(&mut cx).await;
    }
    cx.place = Place::Conversation(here);
    let mut chat = Chat::new(cx, start.model);
    if start.resume == Some(None) {
        let Some(picked) = pickers::conversation(&mut chat).await? else { return Ok(()) };
        chat.move_to(Some(picked));
    }
    chat.greet().await?;
    chat.compose().await?;
    let followed = active_run::follow(&mut chat).await;
    chat.report(followed)?;
    chat.talk().await
}

/// The same error with hints for a shell, because no conversation has begun.
fn in_shell(failure: Failure) -> Failure {
    match failure {
        Failure::Problem(problem) => Audience::Shell.word(*problem).into(),
        other => other,
    }
}

/// A conversation in the terminal.
struct Chat<'a> {
    /// With the conversation as its place; none until the first message.
    cx: Context<'a>,
    /// The model that the person chose; without one, that of the settings.
    model: Option<String>,
    /// The model of the command line.
    named: Option<String>,
    /// Permissions for the first message, before there is a conversation that could store them.
    permit: Permit,
    /// The last entry that was shown.
    seen: Option<String>,
    /// The operations that the person knows of.
    operations: KnownOperations,
    /// The next text in the line.
    prefill: Option<String>,
    /// Parts that go with the next message, such as images of a message that was taken back.
    attached: Vec<Part>,
    /// The message that the next one replaces.
    editing: Option<Editing>,
    /// The message that may not fit: sent again, it goes to the model.
    warned: Option<String>,
    quits: bool,
}

/// What the line conversation does after an action.
struct AfterAction {
    /// The action moved the tip: the parts that wait for a message belonged to the place before.
    is_move: bool,
    /// The path is another branch or an earlier one, so its last messages are printed.
    prints_messages: bool,
    /// The next step, where the verb does not print it.
    hint_after: Option<&'static str>,
}

impl AfterAction {
    fn of(action: &Action) -> Self {
        let (is_move, prints_messages, hint_after) = match action {
            Action::Rewind { .. } | Action::Redo { .. } | Action::Edit { .. } => (true, false, None),
            Action::Undo { .. } => (true, false, Some("/redo brings it back")),
            Action::Restore { .. } | Action::Checkout { .. } | Action::Choose { .. } => {
                (true, true, Some("/undo takes this back"))
            }
            Action::RestoreFiles { .. }
            | Action::Mark { .. }
            | Action::Fold { .. }
            | Action::Unfold { .. }
            | Action::Label { .. }
            | Action::Title { .. }
            | Action::Erase { .. } => (false, false, None),
        };
        Self { is_move, prints_messages, hint_after }
    }
}

/// An edit that is not submitted yet, with the plan that was shown for it.
struct Editing {
    entry: String,
    head: String,
    files: FileOptions,
}

impl<'a> Chat<'a> {
    fn new(cx: Context<'a>, model: Option<String>) -> Self {
        Self {
            cx,
            named: model.clone(),
            model,
            permit: Permit::default(),
            seen: None,
            operations: KnownOperations::default(),
            prefill: None,
            attached: Vec::new(),
            editing: None,
            warned: None,
            quits: false,
        }
    }

    /// The conversation, after its first message.
    fn conversation(&self) -> Option<&String> {
        match &self.cx.place {
            Place::Conversation(here) => here.as_ref(),
            Place::Shell => None,
        }
    }

    /// Goes to another conversation, or to a new one.
    fn move_to(&mut self, conversation: Option<String>) {
        self.cx.place = Place::Conversation(conversation);
        self.seen = None;
        self.operations = KnownOperations::default();
        self.attached.clear();
        self.editing = None;
    }

    async fn talk(&mut self) -> Result {
        while !self.quits {
            let prompt = self.prompt();
            let prefill = self.prefill.take();
            match self.cx.ui.read(&prompt, prefill)? {
                Read::Line(line) => self.submitted(&line).await?,
                Read::Eof | Read::Interrupted => break,
            }
        }
        if let Some(line) = undelivered::line(self.cx.client).await {
            self.cx.aside(&line)?;
        }
        self.farewell()
    }

    /// Handles a submitted line. Its errors do not end the conversation.
    async fn submitted(&mut self, line: &str) -> Result {
        let done = match input::parse(line) {
            Input::Empty => self.cancel_edit(),
            Input::Message(text) => turn::say(self, turn::Words::Text(text)).await,
            Input::Command { name, rest } => self.command(name, rest).await,
        };
        self.report(done)
    }

    /// Runs a command. It may follow a run, and another command may be typed during that run.
    fn command<'c>(&'c mut self, name: &'c str, rest: &'c str) -> LocalBoxFuture<'c, Result> {
        match commands::find(name) {
            Some(command) => command.does.run(self, rest),
            None => async move {
                match self.is_of_file(name).await {
                    true => turn::say(self, turn::Words::Command(name, rest)).await,
                    false => self.unknown(name),
                }
            }
            .boxed_local(),
        }
    }

    /// Whether a file has the command with this name. A command of the program hides it.
    async fn is_of_file(&self, name: &str) -> bool {
        commands::find(name).is_none() && command_files::is_known(&self.cx, name).await
    }

    /// Runs a verb of the command line on this conversation, and its follow-up.
    async fn verb(&mut self, arguments: Vec<String>) -> Result {
        let command = arguments.first().cloned().unwrap_or_default();
        let all = ["retake".to_owned()].into_iter().chain(arguments);
        let cli = Cli::try_parse_from(all).map_err(|error| refused(&command, &error))?;
        self.cx.follow_up = None;
        if let Some(verb) = cli.verb {
            verb.run(&mut self.cx).await?;
        }
        match self.cx.follow_up.take() {
            Some(FollowUp::Changed(action, given)) if self.conversation() == Some(&given.conversation) => {
                self.changed(&action, &given).await
            }
            // Text of another conversation stays there.
            Some(FollowUp::Changed(..)) | None => Ok(()),
            Some(FollowUp::Run(run)) => {
                let conversation = self.current(&command, &run.conversation).await?;
                turn::answer(self, Run { conversation, ..*run }).await
            }
            Some(FollowUp::Moved) => {
                self.editing = None;
                self.refresh().await
            }
        }
    }

    /// The current conversation, if this names it. A run of another one would move there without a notice.
    async fn current(&self, command: &str, name: &str) -> Result<String> {
        let here = self.conversation();
        if here.is_none_or(|here| here != name) {
            let named = self.cx.info(name).await?.id;
            if here != Some(&named) {
                let named = id::short(&named);
                return Err(usage(
                    format!("/{command} works in the current conversation only, and {named} is another one"),
                    format!("open it with /list, then type /{command} there"),
                ));
            }
        }
        self.cx.here()
    }

    /// Puts the text that an action returns into the line, and shows the new state.
    async fn changed(&mut self, action: &Action, given: &Receipt) -> Result {
        let after = AfterAction::of(action);
        self.operations.made(&given.operations);
        if after.is_move {
            self.editing = None;
            self.attached.clear();
        }
        if let Some(composer) = &given.composer {
            self.take_up(composer);
        } else if !given.waited.is_empty() {
            self.take_back(given.waited.iter().flat_map(|words| words.parts.clone()).collect());
        }
        if after.prints_messages {
            self.arrive().await?;
        } else {
            self.refresh().await?;
        }
        after.hint_after.map_or(Ok(()), |hint| self.cx.aside(hint))
    }

    /// Prints an error. Only a terminal error ends the conversation.
    fn report(&mut self, done: Result) -> Result {
        match done {
            Err(failure @ Failure::Problem(_)) => self.cx.complain(&failure),
            Err(Failure::Reported(_)) => Ok(()),
            other => other,
        }
    }

    /// An empty line cancels an edit.
    fn cancel_edit(&mut self) -> Result {
        if self.editing.take().is_some() {
            self.attached.clear();
            self.cx.aside("edit cancelled: nothing has changed")?;
        }
        Ok(())
    }

    /// There is no such command. The line is in the history only: the next one begins empty.
    fn unknown(&self, name: &str) -> Result {
        let message = format!("there is no command /{}", safe::line(name));
        let in_shell =
            if args::is_verb(name) { format!("in a shell: `retake {name}`; ") } else { String::new() };
        let instead = match slash::meant(name, &commands::names(), slash::of_full_screen()) {
            Some(Meant::Here(ours)) => format!("{in_shell}did you mean /{ours}? "),
            Some(Meant::Elsewhere(other)) => {
                format!("/{other} is a command of the full screen, which `retake` opens without --plain; ")
            }
            None => in_shell,
        };
        let hint = "/help lists the commands; to send a message that begins with /, type //";
        Err(hinted(ProblemKind::Usage, "unknown_command", message, format!("{instead}{hint}")).into())
    }

    fn prompt(&self) -> String {
        let attached =
            content::attached(&self.attached).map(|attached| format!("{attached} ")).unwrap_or_default();
        let editing = if self.editing.is_some() { "edit" } else { "" };
        format!("{attached}{editing}> ")
    }

    /// Puts text back into the line, for editing.
    fn take_up(&mut self, composer: &Composer) {
        self.editing = None;
        self.prefill = Some(composer.text.clone());
        self.attached = content::kept(&composer.parts);
    }

    /// Puts waiting messages back into the line.
    fn take_back(&mut self, parts: Vec<Part>) {
        self.prefill = Some(render::effects::text(&parts));
        self.attached = content::kept(&parts);
    }

    /// An answer came too late for its question. It is no message, so it returns to the line.
    fn came_late(&mut self, words: Option<String>) -> Result {
        let Some(words) = words else { return Ok(()) };
        let before = self.prefill.take().map(|before| format!("{before}\n")).unwrap_or_default();
        self.prefill = Some(format!("{before}{}", input::message(&words)));
        self.cx.aside("your words are back in the line: press Enter to send them as a message")
    }

    /// Stores the head of the conversation as it is now.
    async fn refresh(&mut self) -> Result {
        let Some(conversation) = self.conversation().cloned() else { return Ok(()) };
        let info = self.cx.info(&conversation).await?;
        self.seen.clone_from(&info.tip);
        self.report_others(&info).await
    }

    async fn greet(&mut self) -> Result {
        let look = self.cx.ui.look();
        let version = env!("CARGO_PKG_VERSION");
        let line =
            format!("retake {version}: nothing is final. /rewind goes back, /undo takes the rewind back");
        let text = content::block(&look, &line, 0, None).to_string();
        let rest = text.strip_prefix("retake").unwrap_or(&text);
        self.cx.print_text(&(Text::styled(Style::Bold, "retake") + rest))?;
        let model = self.model_line().await?;
        self.cx.aside(&model)?;
        self.about_folder().await?;
        self.cx.aside("/help lists the commands · Alt+Enter begins a new line · Ctrl-D quits")?;
        self.arrive().await
    }

    /// A new conversation: what works in a folder that is never captured, and how the last conversation of the folder is continued.
    /// The greeting does not wait long for it.
    async fn about_folder(&mut self) -> Result {
        if self.conversation().is_some() {
            return Ok(());
        }
        let Ok(listed) = tokio::time::timeout(PATIENCE, self.cx.listed_here()).await else { return Ok(()) };
        let listed = listed?;
        for line in listed.never_captured.iter().flat_map(english::never_captured) {
            self.cx.aside(&safe::line(&line))?;
        }
        let Some(last) = listed.conversations.into_iter().next() else { return Ok(()) };
        let look = self.cx.ui.look();
        let name = words::title(&last, look.columns.min(60));
        let when = time::relative(look.now_ms, last.changed_ms);
        self.cx.aside(&format!("/continue goes on with the last conversation here{name}, {when}"))
    }

    /// The model and the reason for it. The greeting does not wait long for it.
    async fn model_line(&mut self) -> Result<String> {
        if let Some(model) = &self.model {
            return Ok(format!("model {}", safe::line(model)));
        }
        match tokio::time::timeout(PATIENCE, self.models()).await {
            Ok(models) => {
                let models = models?;
                let cause = english::model_cause(&models.cause);
                let line = format!("model {}: {}", safe::line(&models.default), safe::line(&cause));
                match &models.problem {
                    Some(problem) => {
                        let problem = english::problem_with_causes(problem);
                        Ok(format!("{line}, but it cannot be used: {}", safe::line(&problem)))
                    }
                    None => Ok(line),
                }
            }
            Err(_) => Ok("/model shows which model answers".to_owned()),
        }
    }

    async fn models(&self) -> Result<Models> {
        Ok(expect_reply!(self.cx.call(Request::Models).await?, Models))
    }

    /// Shows the last messages of the conversation.
    async fn arrive(&mut self) -> Result {
        let Some(conversation) = self.conversation().cloned() else { return Ok(()) };
        let info = self.cx.info(&conversation).await?;
        let look = self.cx.ui.look();
        let page = pickers::newest(self, conversation, SHOWN).await?;
        let name = format!("{} · {}\n", render::lists::name(&look, &info), words::counts(info.counts));
        self.cx.print(&name)?;
        let text = entries::list(&look, &page.entries, &page.unbegun, &page.cut_off);
        self.cx.print_text(&(text + "\n"))?;
        if let Some(cause) = &info.access.read_only_cause {
            self.cx.aside(&format!("read-only: {}", safe::line(&english::read_only_cause(cause))))?;
        }
        self.seen.clone_from(&info.tip);
        self.report_others(&info).await?;
        self.cx.place = Place::Conversation(Some(info.id));
        self.goes_on(&page.entries).await
    }

    /// Keeps the model that answered last; reports if that is not possible.
    async fn goes_on(&mut self, entries: &[retake_wire::reply::Entry]) -> Result {
        let last = entries.iter().rev().find(|entry| entry.role == Role::Assistant);
        // The list of models is needed only if a model of a provider has answered.
        if self.model.is_some() || !last.is_some_and(|last| last.author.contains('/')) {
            return Ok(());
        }
        let Ok(models) = tokio::time::timeout(PATIENCE, self.models()).await else { return Ok(()) };
        match goes_on(&models?, entries) {
            ContinuedModel::Usual => Ok(()),
            ContinuedModel::With(model) => {
                let line =
                    format!("{} answers here, as before: /model chooses another one", safe::line(&model));
                self.model = Some(model);
                self.cx.aside(&line)
            }
            ContinuedModel::Gone(says) => self.cx.aside(&says),
        }
    }

    async fn compose(&mut self) -> Result {
        let history = History { folder: Some(self.cx.folder.to_owned()), limit: Some(PROMPTS), before: None };
        let mut prompts = expect_reply!(self.cx.call(Request::History(history)).await?, History).prompts;
        prompts.reverse();
        let completions = [commands::completions(), command_files::completions(&self.cx).await].concat();
        self.cx.ui.compose(prompts, completions);
        Ok(())
    }

    fn farewell(&mut self) -> Result {
        if let Some(conversation) = self.conversation() {
            let short = id::short(conversation).to_owned();
            self.cx.aside(&format!("to continue: retake -c, or retake -r {short}"))?;
        }
        Ok(())
    }
}

/// A command with arguments that its verb does not accept.
fn refused(command: &str, error: &clap::Error) -> Failure {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let message = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let takes = commands::find(command).map_or("", |command| command.takes);
    usage(format!("/{command}: {message}"), format!("type /{command} {takes}; /help {command} says more"))
}
