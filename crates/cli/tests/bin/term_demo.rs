//! The parts of `retake_cli::term`, one at a time, for tests in a pseudo-terminal and for trying them by hand: `cargo run -p
//! retake-cli --features demo --bin term_demo -- edit`. Must never become part of the binary.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

mod broken;

use retake_engine::clock::{Clock as _, SystemClock};

use retake_cli::term::editor::{Editor, Read, Settings};
use retake_cli::term::interrupt::Interrupts;
use retake_cli::term::pick::Row;
use retake_cli::term::style::Palette;
use retake_cli::term::{confirm, pager, pick, progress, restore_on_panic};

fn main() -> io::Result<()> {
    restore_on_panic();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = arguments.get(1).cloned();
    match arguments.first().map(String::as_str) {
        Some("edit") => edit(argument),
        Some("pick") => pick_a_row(),
        Some("confirm") => {
            let answer = confirm::confirm(Palette::stdout(), "Go on?", confirm::OnEnter::No)?;
            say(&format!("ANSWER {answer}\n"))
        }
        Some("page") => {
            pager::page(&numbered(100_000))?;
            // Standard output may be closed.
            io::stderr().write_all(b"PAGED\n")
        }
        Some("progress") => {
            let spinner = progress::Progress::spinner("thinking hard");
            io::stdin().read_line(&mut String::new())?;
            drop(spinner);
            say("DONE\n")
        }
        Some("interrupt") => interrupt(),
        Some("panic") => panic_while_reading(&argument.expect("the path of a file")),
        Some("client") => {
            let where_it_panics = argument.expect("where it panics");
            broken::client(&where_it_panics, arguments.get(2).expect("the path of a file"))
        }
        _ => say(
            "usage: term_demo edit [PREFILL] | pick | confirm | page | progress | interrupt | panic FILE\n\
             | client main|thread|task FILE\n",
        ),
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

fn editor() -> Editor {
    let command = |name: &str, help: &str| (name.to_owned(), help.to_owned());
    Editor::new(Settings {
        prompt: "you> ".to_owned(),
        history: vec!["first prompt".to_owned(), "second prompt".to_owned()],
        commands: vec![
            command("/redo", "comes forward again"),
            command("/rewind", "goes back to an earlier message"),
            command("/undo", "takes back the last thing done"),
        ],
        palette: Palette::stdout(),
        now_ms: || SystemClock.now_ms(),
    })
}

/// Reads until the person quits, and prints what was read: length, a hash, and the text if it is short.
fn edit(mut prefill: Option<String>) -> io::Result<()> {
    let mut editor = editor();
    loop {
        match editor.read(prefill.take())? {
            Read::Line(text) => {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                let short = text.chars().take(60).collect::<String>();
                say(&format!("READ {} {:016x} {short:?}\n", text.len(), hasher.finish()))?;
            }
            Read::Interrupted => return say("LEFT interrupted\n"),
            Read::Eof => return say("LEFT eof\n"),
        }
    }
}

/// The terminal of a list.
struct Lines;

impl pick::Lines for Lines {
    fn print(&mut self, text: &str) -> io::Result<()> {
        say(text)
    }

    fn read(&mut self, prompt: &str) -> io::Result<Read> {
        let mut editor = editor();
        editor.set_prompt(prompt);
        editor.answer(0)
    }
}

/// A list to pick from.
fn pick_a_row() -> io::Result<()> {
    let row = |number: usize| Row {
        title: format!("message {number} 漢字"),
        detail: format!("{number} minutes ago"),
        disabled: (number == 3).then(|| "its files are gone".to_owned()),
        key: None,
    };
    let rows: Vec<Row> = (1..=40).map(row).collect();
    let mut preview = |index: usize| format!("preview of {index}\x1b[2J\nand more");
    let picked = pick::pick(&mut Lines, (Palette::stdout(), 80), "Go back to", &rows, &mut preview)?;
    say(&format!("PICKED {picked:?}\n"))
}

fn interrupt() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupts = Interrupts::new()?;
        say("ready\n")?;
        for press in 1..=3 {
            interrupts.next().await;
            say(&format!("STOP {press}\n"))?;
        }
        Ok(())
    })
}

/// Panics on the main thread during a read on another one, as soon as a file exists.
fn panic_while_reading(sign: &str) -> io::Result<()> {
    std::thread::spawn(|| editor().read(None));
    while !std::fs::exists(sign)? {
        std::thread::yield_now();
    }
    panic!("a bug, as asked for");
}
