//! The program from its arguments to its exit code, without its environment. Must never touch the process: no printing, no exit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use retake_wire::{Problem, ProblemKind};

use crate::args::{self, Cli, EXIT_CODES, Global};
use crate::chat;
use crate::context::{Context, document, notice_to};
use crate::error::{self, Failure, Result, hinted, usage};
use crate::fullscreen;
use crate::owner::{LazyClient, Owner, Paths};
use crate::term::width;
use crate::ui::Ui;
use crate::verbs::RunVerb as _;
use retake_tui::hint::Audience;

/// The environment of the program at its start.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The folder that it is started in.
    pub folder: PathBuf,
    /// The default paths of data and settings.
    pub paths: Paths,
}

/// Waits that take longer are reported.
const LONG: Duration = Duration::from_secs(3);

/// Runs the program. The first argument is its name.
pub async fn run(
    arguments: Vec<OsString>,
    environment: &Environment,
    owner: &dyn Owner,
    ui: &mut dyn Ui,
) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    let outcome = match parse(arguments, ui, json) {
        Ok(cli) => start(cli, environment, owner, ui).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => say(&failure, ui, json),
    }
}

/// Reports why the program cannot start. Returns the exit code.
pub(crate) fn refuse(problem: Problem, arguments: &[OsString], ui: &mut dyn Ui) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    say(&problem.into(), ui, json)
}

/// Reports a failure. Returns the exit code.
fn say(failure: &Failure, ui: &mut dyn Ui, json: bool) -> u8 {
    if let Some(problem) = failure.to_report() {
        let said = if json {
            ui.print(&document(&problem))
        } else {
            let text = error::text(ui, &problem);
            ui.note(&text)
        };
        // The output is closed; the exit code stays.
        drop(said);
    }
    failure.exit_code()
}

/// Replaces clap's tip for an unknown option: the tip would send the option as part of the message.
fn without_tip_to_say_it(error: &mut clap::Error) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let unknown = error.get(ContextKind::InvalidArg);
    let is_long = matches!(unknown, Some(ContextValue::String(name)) if name.starts_with("--"));
    if error.remove(ContextKind::Suggested).is_some() && !is_long {
        let tip = "put words that begin with `-` in quotes after `--`: -- 'rm -rf build'";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Adds what to do next: how to find a missing entry, or how to ask the model if the arguments are words for it.
fn add_tip(error: &mut clap::Error, arguments: &[String]) {
    let tip =
        match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
            (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing)), _)
                if missing.iter().any(|name| ["ENTRY", "TURN"].iter().any(|entry| name.contains(entry))) =>
            {
                "`retake targets` lists the turns".to_owned()
            }
            (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(first))) => {
                let words: Vec<&str> =
                    arguments.iter().skip_while(|word| *word != first).map(String::as_str).collect();
                let has_several = words.len() > 1 || first.contains(' ');
                let is_typo = error.get(ContextKind::SuggestedSubcommand).is_some() && words.len() < 3;
                if !has_several || is_typo && !first.contains(' ') {
                    return;
                }
                format!("to ask the model: `retake ask {}`", quoted(&words.join(" ")))
            }
            _ => return,
        };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A wrong command line, for programs: its first paragraph is what is wrong, the others say what to do next.
fn usage_problem(error: &clap::Error, rendered: &str) -> Problem {
    let in_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = rendered.trim_start_matches("error: ");
    let mut paragraphs = text.split("\n\n").map(in_line).filter(|text| !text.is_empty());
    let first = paragraphs.next().unwrap_or_default();
    let hints: Vec<String> = paragraphs.map(|text| text.trim_end_matches('.').to_owned()).collect();
    let mut problem = hinted(ProblemKind::Usage, "usage", first, hints.join("; "));
    if let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) {
        problem.fields.insert("argument".to_owned(), argument.as_str().into());
    }
    problem
}

fn parse(arguments: Vec<OsString>, ui: &mut dyn Ui, json: bool) -> Result<Cli> {
    let look = ui.look();
    let mut help = String::from("Exit codes:\n");
    let columns = look.columns.min(100);
    for (code, meaning) in EXIT_CODES {
        let meaning = width::wrap(meaning, columns.saturating_sub(7).max(20)).join("\n       ");
        help.push_str(&format!("  {code:>3}  {meaning}\n"));
    }
    let command = args::command().term_width(columns).after_long_help(help.trim_end().to_owned());
    let words: Vec<String> = arguments.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|mut error| {
        without_tip_to_say_it(&mut error);
        add_tip(&mut error, &words);
        let rendered = error.render();
        if !error.use_stderr() {
            let text =
                if ui.palette().is_coloured() { rendered.ansi().to_string() } else { rendered.to_string() };
            return match ui.print(&text) {
                Ok(()) => Failure::Reported(0),
                Err(error) => error.into(),
            };
        }
        if json {
            return usage_problem(&error, &rendered.to_string()).into();
        }
        let text =
            if ui.error_palette().is_coloured() { rendered.ansi().to_string() } else { rendered.to_string() };
        match ui.note(&text) {
            Ok(()) => Failure::Reported(ProblemKind::Usage.exit_code()),
            Err(error) => error.into(),
        }
    })
}

async fn start(cli: Cli, environment: &Environment, owner: &dyn Owner, ui: &mut dyn Ui) -> Result {
    // The line client is for screen readers and simple terminals, too.
    ui.adjust(cli.global.color, !cli.global.no_pager && cli.verb.is_some());
    let paths = paths(&cli.global, environment);
    if cli.verb.is_some() && !cli.start.is_plain() {
        return Err(usage(
            "--continue, --resume, --model and --plain cannot stand before a verb",
            "put --model after the verb, and name a conversation with --conversation",
        ));
    }
    let json = cli.global.json;
    let folder = environment.folder.display().to_string();
    if cli.verb.is_none() {
        chat::check(ui, json)?;
    }
    let is_conversation = cli.verb.is_none() && ui.input_is_terminal();
    if is_conversation
        && !cli.start.plain
        && let Some(mut host) = ui.screen(&paths.data_dir)
    {
        return fullscreen::begin(owner, &paths, ui, &mut *host, cli.start, folder).await;
    }
    let audience = if is_conversation { Audience::Chat } else { Audience::Shell };
    let client = LazyClient::new(owner, &paths, audience);
    if is_conversation {
        client.open().await?;
    }
    let mut cx = Context::new(owner, &paths, &client, ui, &folder, json);
    let done = match cli.verb {
        Some(verb) => verb.run(&mut cx).await,
        None => chat::begin(cx, cli.start).await,
    };
    for notice in client.notices() {
        notice_to(ui, notice)?;
    }
    ended(client.end(), ui).await?;
    done
}

/// Waits for the end of the client, and reports a long wait.
pub(crate) async fn ended<T>(ending: impl Future<Output = T>, ui: &mut dyn Ui) -> Result<T> {
    let mut ending = std::pin::pin!(ending);
    tokio::select! {
        ended = &mut ending => return Ok(ended),
        () = tokio::time::sleep(LONG) => {}
    }
    ui.note("waiting for the owner of the conversations to stop\n")?;
    Ok(ending.await)
}

fn paths(global: &Global, environment: &Environment) -> Paths {
    let mut paths = environment.paths.clone();
    if let Some(folder) = &global.data_dir {
        paths.data_dir = environment.folder.join(folder);
    }
    if let Some(file) = &global.config {
        paths.config_file = environment.folder.join(file);
        paths.config_named_by = Some("--config");
    }
    paths
}
