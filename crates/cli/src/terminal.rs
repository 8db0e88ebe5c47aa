//! The real environment: standard streams, the terminal, Ctrl-C and the clock. Must never decide what to print.

use std::env;
use std::io::{self, IsTerminal, Read as _, Write};
use std::path::Path;

use async_trait::async_trait;

use crate::host::Process;
use crate::term::editor::{Editor, Settings};
use crate::term::interrupt::Interrupts;
use crate::term::pick::Row;
use crate::term::style::Palette;
use crate::term::{self, confirm, echo, pager, pending_keys, pick, width};
use crate::ui::{Color, Look, Pressed, Read, Ui, World};

/// The width of a pipe: its reader wraps lines.
const PIPE: usize = 1 << 20;

/// Standard input, output and error.
pub struct Terminal {
    out: Palette,
    error: Palette,
    pager: bool,
    now_ms: fn() -> i64,
    editor: Option<Editor>,
    interrupts: Option<Interrupts>,
}

/// Nobody has read a request of the agent this soon after it appeared.
const UNREAD_MS: i64 = 500;

impl Terminal {
    /// A terminal with this clock.
    #[must_use]
    pub fn new(now_ms: fn() -> i64) -> Self {
        Self {
            out: Palette::stdout(),
            error: Palette::stderr(),
            pager: true,
            now_ms,
            editor: None,
            interrupts: None,
        }
    }

    fn interrupts(&mut self) -> io::Result<&mut Interrupts> {
        if self.interrupts.is_none() {
            self.interrupts = Some(Interrupts::new()?);
        }
        Ok(self.interrupts.as_mut().expect("BUG: they are there by now"))
    }

    fn ask(&mut self, prompt: &str, unread_ms: i64) -> io::Result<Read> {
        echo::show();
        pending_keys::discard_all();
        let settings = Settings {
            prompt: prompt.to_owned(),
            history: Vec::new(),
            commands: Vec::new(),
            palette: self.out,
            now_ms: self.now_ms,
        };
        Editor::new(settings).answer(unread_ms)
    }
}

impl pick::Lines for Terminal {
    fn print(&mut self, text: &str) -> io::Result<()> {
        Ui::print(self, text)
    }

    fn read(&mut self, prompt: &str) -> io::Result<Read> {
        self.ask(prompt, 0)
    }
}

#[async_trait]
impl Ui for Terminal {
    fn adjust(&mut self, color: Color, pager: bool) {
        let forced = match color {
            Color::Auto => None,
            Color::Always => Some(Palette::COLOURED),
            Color::Never => Some(Palette::PLAIN),
        };
        self.out = forced.unwrap_or(self.out);
        self.error = forced.unwrap_or(self.error);
        self.pager = pager;
    }

    fn look(&self) -> Look {
        let columns = if io::stdout().is_terminal() { width::terminal().columns } else { PIPE };
        Look { columns, now_ms: (self.now_ms)(), ids: true }
    }

    fn palette(&self) -> Palette {
        self.out
    }

    fn error_palette(&self) -> Palette {
        self.error
    }

    fn interactive(&self) -> bool {
        term::interactive()
    }

    fn input_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    fn output_is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    fn screen(&mut self, private: &Path) -> Option<Box<dyn World>> {
        let can = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        (can && self.interactive()).then(|| Box::new(Process::new(self.now_ms, private)) as Box<dyn World>)
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn page(&mut self, text: &str) -> io::Result<()> {
        if !self.pager {
            return self.print(text);
        }
        echo::show();
        // Ctrl-C is for the pager while it runs.
        self.interrupts()?;
        pager::page(text)
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }

    fn input(&mut self) -> io::Result<String> {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text)?;
        Ok(text)
    }

    fn confirm(&mut self, question: &str) -> io::Result<bool> {
        echo::show();
        confirm::confirm(self.out, question, confirm::OnEnter::No)
    }

    fn pick(
        &mut self,
        question: &str,
        rows: &[Row],
        preview: &mut dyn FnMut(usize) -> String,
    ) -> io::Result<Option<usize>> {
        let look = (self.out, self.look().columns);
        pick::pick(self, look, question, rows, preview)
    }

    fn compose(&mut self, history: Vec<String>, commands: Vec<(String, String)>) {
        self.editor = Some(Editor::new(Settings {
            prompt: String::new(),
            history,
            commands,
            palette: self.out,
            now_ms: self.now_ms,
        }));
    }

    fn read(&mut self, prompt: &str, prefill: Option<String>) -> io::Result<Read> {
        let editor = self.editor.as_mut().expect("BUG: compose comes before read");
        echo::show();
        editor.set_prompt(prompt);
        editor.read(prefill)
    }

    fn answer_secret(&mut self, prompt: &str) -> io::Result<Option<String>> {
        pending_keys::discard_all();
        echo::hide();
        self.print(prompt)?;
        let read = term::secret::line(&mut io::stdin().lock());
        self.print("\n")?;
        read
    }

    fn answer(&mut self, prompt: &str) -> io::Result<Read> {
        self.ask(prompt, UNREAD_MS)
    }

    fn listen(&mut self) -> io::Result<()> {
        echo::hide();
        self.interrupts()?.forget();
        Ok(())
    }

    async fn interrupted(&mut self) {
        match &mut self.interrupts {
            Some(interrupts) => interrupts.next().await,
            None => std::future::pending().await,
        }
    }

    async fn pressed(&mut self) -> Pressed {
        tokio::select! {
            biased;
            () = self.interrupted() => Pressed::Interrupt,
            () = pending_keys::waiting() => Pressed::Keys,
        }
    }
}
