//! What a person waits for in the terminal client: the first drawing, a key during an answer, the rewind picker. It is drawn into
//! memory; the owner is a real one behind its socket. Works in a folder of its own that is removed afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use retake_tui::ui::{Colours, Headless, Keymap, Launch, Settings, Start, Theme, Themes, World};

use crate::TuiArguments;
use crate::report::Report;
use crate::samples::{at, median};
use crate::server::Desk;
use crate::start::{self, Program, Started};

/// A usual terminal size.
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;

/// Repetitions of steps that take place once.
const RUNS: usize = 7;

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures everything.
pub(crate) fn run(arguments: &TuiArguments) -> anyhow::Result<Report> {
    let dir = &arguments.dir;
    let folder = crate::own_folder(dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("turns", arguments.turns);
    report.count("keys", arguments.keys);
    report.count("words_per_s", arguments.words);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let conversation = runtime.block_on(measure(arguments, folder.path(), &mut report))?;
    // The owner releases the data with its last task.
    drop(runtime);
    measure_starts(arguments, folder.path(), &conversation, &mut report)?;
    Ok(report)
}

/// Starts the program, which becomes the owner of the data.
fn measure_starts(
    arguments: &TuiArguments,
    folder: &Path,
    conversation: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (first, shown) = ("start_first_paint_ms", "start_shown_ms");
    let Some(path) = arguments.retake.clone().or_else(start::beside) else {
        report.missing(first);
        report.missing(shown);
        return Ok(());
    };
    let path = path.canonicalize().with_context(|| format!("there is no program {}", path.display()))?;
    report.text("program", &path.display().to_string());
    let started = starts(&Program { path: &path, folder, columns: COLUMNS, rows: ROWS }, conversation)?;
    report.measure(first, median(started.iter().map(|one| one.paint).collect()));
    report.measure(shown, median(started.iter().map(|one| one.shown).collect()));
    Ok(())
}

/// Measures the program with an owner in this process; returns its conversation.
async fn measure(arguments: &TuiArguments, folder: &Path, report: &mut Report) -> anyhow::Result<String> {
    let delay = 1_000 / arguments.words;
    let desk = Desk::with(folder, &format!("[demo]\nword_delay_ms = {delay}\n")).await?;
    let long = desk.client(arguments.turns).await?;
    let screens = Screens { desk: &desk, conversation: long.conversation() };
    let mut first = Vec::new();
    let mut shown = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let mut stage = screens.stage()?;
        stage.draw();
        first.push(ms(start));
        screens.shown(&mut stage).await?;
        shown.push(ms(start));
    }
    report.measure("first_paint_ms", median(first));
    report.measure("conversation_shown_ms", median(shown));
    let mut stage = screens.stage()?;
    screens.shown(&mut stage).await?;
    let keys = keys(&mut stage, arguments).await?;
    report.measure("key_p50_ms", at(&keys, 50));
    report.measure("key_p99_ms", at(&keys, 99));
    // Including the turn of the key presses.
    let (open, filter) = picker(&screens, arguments.turns + 1).await?;
    report.measure("picker_open_ms", median(open));
    report.measure("picker_filter_ms", at(&filter, 99));
    drop(stage);
    let conversation = long.conversation().to_owned();
    drop(long);
    desk.close().await;
    Ok(conversation)
}

/// Starts the program, which owns the conversation shown before. The first start reads from the disk, and does not count.
fn starts(program: &Program<'_>, conversation: &str) -> anyhow::Result<Vec<Started>> {
    let started =
        (0..=RUNS).map(|_| program.start(conversation, LAST)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(started.into_iter().skip(1).collect())
}

/// Full-screen programs in one conversation.
struct Screens<'a> {
    desk: &'a Desk,
    conversation: &'a str,
}

impl Screens<'_> {
    fn stage(&self) -> anyhow::Result<Headless> {
        let beginning = Launch {
            start: Start::In(self.conversation.to_owned()),
            folder: "/".to_owned(),
            version: String::new(),
            model: Some("demo".to_owned()),
            settings: Settings::default(),
            keys: Keymap::default(),
            theme: Theme { colours: Colours::True, ..Theme::default() },
            themes: Themes::default(),
            notices: Vec::new(),
        };
        let client = Arc::new(self.desk.http()?);
        Ok(Headless::new(client, Box::new(Clock(Instant::now())), beginning, COLUMNS, ROWS))
    }

    /// Waits until the conversation is shown: its text, and the owner's title for it.
    async fn shown(&self, stage: &mut Headless) -> anyhow::Result<()> {
        let shown =
            stage.until(PATIENCE, |screen| screen.lines().filter(|line| !line.is_empty()).count() > 30).await;
        shown.map(drop).map_err(|screen| anyhow!("the conversation is not shown:\n{screen}"))
    }
}

/// A word of the answer during the key presses: it is at the end of the conversation.
const LAST: &str = "word";

/// A clock that starts with it.
struct Clock(Instant);

impl World for Clock {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    fn edit(&mut self, _text: &str) -> Result<String, String> {
        Err("nobody edits here".to_owned())
    }

    fn keep_theme(&mut self, _name: &str) -> Result<(), String> {
        Err("there is no settings file here".to_owned())
    }

    fn suspend(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Presses keys while the model answers: each waits until the text so far is handled and drawn.
async fn keys(stage: &mut Headless, arguments: &TuiArguments) -> anyhow::Result<Vec<f64>> {
    let seconds = arguments.keys * KEY_EVERY_MS / 1_000 + 1;
    // The demo model repeats the prompt.
    let words = "word ".repeat(usize::try_from(arguments.words * (seconds + 2))?);
    stage.paste(&words);
    stage.press("enter");
    let comes = stage.until(PATIENCE, |screen| screen.contains("You said")).await;
    comes.map_err(|screen| anyhow!("no answer comes:\n{screen}"))?;
    let mut times = Vec::new();
    for number in 0..arguments.keys {
        tokio::time::sleep(Duration::from_millis(KEY_EVERY_MS)).await;
        let start = Instant::now();
        stage.catch_up();
        stage.write(if number % 10 == 9 { "\n" } else { "k" });
        stage.draw();
        times.push(ms(start));
    }
    Ok(times)
}

/// A fast typist.
const KEY_EVERY_MS: u64 = 20;

/// Opens the picker, and filters once all turns are loaded.
async fn picker(screens: &Screens<'_>, turns: u64) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (mut open, mut filter) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut stage = screens.stage()?;
        screens.shown(&mut stage).await?;
        let start = Instant::now();
        stage.press("ctrl+r");
        let last = format!("{turns} ");
        let opened = stage.until(PATIENCE, |screen| screen.contains(&last)).await;
        opened.map_err(|screen| anyhow!("the picker is not there:\n{screen}"))?;
        open.push(ms(start));
        let all = retake_tui::render::words::count(turns, "turn");
        let loaded = stage.until(PATIENCE, |screen| screen.contains(&all)).await;
        loaded.map_err(|screen| anyhow!("not all turns are there:\n{screen}"))?;
        for letter in "hello the".chars() {
            let start = Instant::now();
            stage.write(&letter.to_string());
            stage.draw();
            filter.push(ms(start));
        }
    }
    Ok((open, filter))
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use crate::TuiArguments;

    #[test]
    fn everything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let arguments = TuiArguments { turns: 60, keys: 5, words: 200, retake: None, json: true, dir };
        let json = super::run(&arguments).unwrap().json();
        for name in ["first_paint_ms", "key_p99_ms", "picker_open_ms", "picker_filter_ms"] {
            assert!(json.get(name).is_some_and(|value| value.is_number()), "{name}: {json}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
