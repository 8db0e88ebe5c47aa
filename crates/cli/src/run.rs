//! The program from its arguments to its exit code, without its surroundings. Must never touch the process: no printing, no exit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};
use retake_wire::{Problem, ProblemKind};

use crate::args::{self, Cli, EXIT_CODES, Global, Verb};
use crate::chat;
use crate::context::{Context, document};
use crate::error::{self, Failure, Result, problem, usage};
use crate::owner::{Opening, Owner, Places};
use crate::talk;
use crate::term::style::Style;
use crate::term::{safe, width};
use crate::ui::Ui;
use retake_tui::hint::Audience;

/// What the program finds around it when it starts.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The folder it is started in.
    pub folder: PathBuf,
    /// Where things are unless the arguments say otherwise.
    pub places: Places,
}

/// What takes longer is said to be waited for.
const LONG: Duration = Duration::from_secs(3);

/// Runs the program. The first argument is its name.
pub async fn run(
    arguments: Vec<OsString>,
    surroundings: &Surroundings,
    owner: &dyn Owner,
    ui: &mut dyn Ui,
) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    let outcome = match parse(arguments, ui, json) {
        Ok(cli) => start(cli, surroundings, owner, ui).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => say(&failure, ui, json),
    }
}

/// Says why the program can't begin, and gives the exit code.
pub(crate) fn refuse(problem: Problem, arguments: &[OsString], ui: &mut dyn Ui) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    say(&problem.into(), ui, json)
}

/// Says why it failed, and gives the exit code.
fn say(failure: &Failure, ui: &mut dyn Ui, json: bool) -> u8 {
    if let Some(problem) = failure.to_say() {
        let said = if json {
            ui.print(&document(&problem))
        } else {
            let text = error::text(ui, &problem);
            ui.note(&text)
        };
        // There is nobody left to tell; the exit code stands.
        drop(said);
    }
    failure.exit_code()
}

/// An option that a command does not have is hardly meant as words; words that begin with a hyphen are one text, in quotes.
fn without_tip_to_say_it(error: &mut clap::Error) {
    if error.kind() != clap::error::ErrorKind::UnknownArgument {
        return;
    }
    let unknown = error.get(ContextKind::InvalidArg);
    let is_long = matches!(unknown, Some(ContextValue::String(name)) if name.starts_with("--"));
    if error.remove(ContextKind::Suggested).is_some() && !is_long {
        let tip = "words that begin with `-` go in quotes behind `--`: -- 'rm -rf build'";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
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
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|mut error| {
        without_tip_to_say_it(&mut error);
        let rendered = error.render();
        if !error.use_stderr() {
            let text =
                if look.palette.is_coloured() { rendered.ansi().to_string() } else { rendered.to_string() };
            return match ui.print(&text) {
                Ok(()) => Failure::Said(0),
                Err(error) => error.into(),
            };
        }
        if json {
            let text = rendered.to_string();
            let text = text.split("\n\nFor more information").next().unwrap_or(&text);
            let message = text.trim().trim_start_matches("error: ");
            return problem(ProblemKind::Usage, "usage", message).into();
        }
        let text =
            if ui.error_palette().is_coloured() { rendered.ansi().to_string() } else { rendered.to_string() };
        match ui.note(&text) {
            Ok(()) => Failure::Said(ProblemKind::Usage.exit_code()),
            Err(error) => error.into(),
        }
    })
}

async fn start(cli: Cli, surroundings: &Surroundings, owner: &dyn Owner, ui: &mut dyn Ui) -> Result {
    ui.adjust(cli.global.color, !cli.global.no_pager);
    let places = places(&cli.global, surroundings);
    if cli.verb.is_some() && !cli.start.is_plain() {
        return Err(usage(
            "--continue, --resume, --model and --plain before a verb have no meaning",
            "put --model behind the verb, and name a conversation with --conversation",
        ));
    }
    let json = cli.global.json;
    let verb = match cli.verb {
        Some(Verb::Config(config)) => return config.run(owner, &places, ui, json).await,
        Some(Verb::Completions(completions)) => return completions.run(ui, json),
        Some(Verb::Man(man)) => return man.run(ui, json),
        Some(Verb::Serve(serve)) => return serve.run(owner, &places, ui, json).await,
        Some(Verb::Status(status)) => return status.run(owner, &places, ui, json).await,
        Some(Verb::Stop(stop)) => return stop.run(owner, &places, ui, json).await,
        verb => verb,
    };
    let folder = surroundings.folder.display().to_string();
    if verb.is_none() {
        chat::check(ui, json)?;
    }
    let talks = verb.is_none() && ui.input_is_terminal();
    if talks
        && !cli.start.plain
        && let Some(mut world) = ui.screen(&places.data_dir)
    {
        return talk::begin(owner, &places, ui, &mut *world, cli.start, folder).await;
    }
    let audience = if talks { Audience::Chat } else { Audience::Shell };
    let checked = match verb {
        // What is wrong in the settings is said also where nothing can be opened for it.
        Some(Verb::Doctor(_)) => owner.wrong(&places)?,
        _ => Vec::new(),
    };
    let client = Opening::new(owner, places, audience);
    if talks {
        client.open().await?;
    }
    let mut cx = Context { client: &client, ui, json, folder: &folder };
    let done = match verb {
        Some(Verb::Doctor(doctor)) => doctor.run(&mut cx, &checked).await,
        Some(verb) => verb.run(&mut cx).await,
        None => chat::begin(cx, cli.start).await,
    };
    for notice in client.notices() {
        notice_to(ui, notice)?;
    }
    ended(client.end(), ui).await?;
    done
}

/// Ends what was opened; what is waited for is said where it takes longer than a moment.
pub(crate) async fn ended<T>(ending: impl Future<Output = T>, ui: &mut dyn Ui) -> Result<T> {
    let mut ending = std::pin::pin!(ending);
    tokio::select! {
        ended = &mut ending => return Ok(ended),
        () = tokio::time::sleep(LONG) => {}
    }
    ui.note("waiting for the owner of the conversations to end\n")?;
    Ok(ending.await)
}

/// Says what the person should know.
pub(crate) fn notice_to(ui: &mut dyn Ui, notice: &str) -> Result {
    let text = ui.error_palette().paint(Style::Warn, safe::line(notice)).to_string();
    Ok(ui.note(&format!("{text}\n"))?)
}

fn places(global: &Global, surroundings: &Surroundings) -> Places {
    let mut places = surroundings.places.clone();
    if let Some(folder) = &global.data_dir {
        places.data_dir = surroundings.folder.join(folder);
    }
    if let Some(file) = &global.config {
        places.config_file = surroundings.folder.join(file);
        places.config_named_by = Some("--config");
    }
    places
}
