//! A scripted client and a scripted terminal that record everything. Must never wait.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_cli::term::pick::Row;
use retake_cli::term::safe;
use retake_cli::term::style::Palette;
use retake_cli::ui::{Color, Look, Pressed, Read, Ui, World};
use retake_cli::{Environment, FoundOwner, Opened, Owner, Paths, ServedAccounts, Serving, Setting, run};
use retake_tui::ui;
use retake_wire::reply::Status;
use retake_wire::{Client, Follow, NumberedEvent, Problem, Reply, Request, Run, RunEvent};

use super::fixtures::{self, NOW};

/// Replies like the sample world, unless the script says otherwise.
#[derive(Default)]
pub(super) struct Fake {
    /// Replies to the next request of a kind.
    scripted: Mutex<VecDeque<(String, Result<Reply, Problem>)>>,
    runs: Mutex<VecDeque<Result<Vec<RunEvent>, Problem>>>,
    /// The requests, as JSON.
    requests: Mutex<Vec<String>>,
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

#[async_trait]
impl Client for Fake {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        if let Request::Outbox = request {
            // Every conversation that ends asks for it: the samples leave it out.
            return Ok(fixtures::reply(&request));
        }
        let text = json(&request);
        let kind = serde_json::to_value(&request).expect("JSON")["request"]
            .as_str()
            .expect("a request has a name")
            .to_owned();
        self.requests.lock().expect("requests").push(text);
        let mut scripted = self.scripted.lock().expect("the script");
        if let Some(at) = scripted.iter().position(|(of, _)| *of == kind) {
            return scripted.remove(at).expect("it is there").1;
        }
        Ok(fixtures::reply(&request))
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        self.requests.lock().expect("requests").push(json(&run));
        let scripted = self.runs.lock().expect("the runs").pop_front();
        let events = match scripted {
            Some(events) => events?,
            None => fixtures::answer(),
        };
        Ok(stream::iter(events).boxed())
    }

    async fn follow(&self, _: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        Ok(futures::stream::empty().boxed())
    }
}

/// Provides the fake client.
struct FakeOwner {
    client: Arc<Fake>,
}

#[async_trait]
impl Owner for FakeOwner {
    async fn open(&self, _: &Paths) -> Result<Opened, Problem> {
        Ok(Opened {
            client: Arc::clone(&self.client) as Arc<dyn Client>,
            notices: Vec::new(),
            ending: Box::new(|| Box::pin(async {})),
        })
    }

    async fn find(&self, _: &Paths) -> Result<Option<FoundOwner>, Problem> {
        let asked = self.client.requests.lock().expect("requests");
        if asked.iter().any(|request| request.contains("\"stop\"")) {
            return Ok(None);
        }
        drop(asked);
        Ok(Some(FoundOwner { client: Arc::clone(&self.client) as Arc<dyn Client>, process: Some(4_711_000) }))
    }

    async fn serve(
        &self,
        _: &Paths,
        listen: Option<SocketAddr>,
        _: ServedAccounts,
    ) -> Result<Serving, Problem> {
        let address = listen.map(|address| address.to_string());
        let status = Status { address, ..status() };
        let gateways = tokio::sync::watch::channel(Default::default()).1;
        Ok(Serving { status, notices: Vec::new(), gateways, over: Box::pin(async { Ok(()) }) })
    }

    fn ui_settings(&self, _: &Paths) -> Result<ui::Configured, Problem> {
        Ok(ui::Configured::default())
    }

    fn wrong(&self, _: &Paths) -> Result<Vec<String>, Box<Problem>> {
        Ok(vec!["config.toml, line 3, face.theme: there is no theme “blue”".to_owned()])
    }

    fn warnings(&self, _: &Paths) -> Result<Vec<String>, Box<Problem>> {
        Ok(Vec::new())
    }

    fn settings(&self, _: &Paths, what: &Setting) -> Result<String, Box<Problem>> {
        match what {
            Setting::List => Ok("# every setting\n".to_owned()),
            Setting::Get(key) => Ok(format!("value of {key}")),
            Setting::Set(..) | Setting::Unset(_) => Ok(String::new()),
        }
    }
}

/// The person's next action.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Submits this, replacing the line.
    Line(&'static str),
    /// Submits the line unchanged.
    Enter,
    /// Picks a row.
    Pick(usize),
    /// Leaves the picker.
    Escape,
    /// Answers a question.
    Answer(bool),
    /// Answers a run's question with text.
    Words(&'static str),
    /// Presses Ctrl-C instead of answering.
    Stop,
}

/// The input of a run of the program.
pub(super) struct Case {
    client: Arc<Fake>,
    acts: VecDeque<Act>,
    input: Option<&'static str>,
    terminal: bool,
    coloured: bool,
    interrupt_when: Option<&'static str>,
    types_when: Option<(&'static str, &'static str)>,
}

impl Case {
    /// In a terminal, with a person.
    pub(super) fn terminal(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            client: Arc::default(),
            acts: acts.into_iter().collect(),
            input: None,
            terminal: true,
            coloured: false,
            interrupt_when: None,
            types_when: None,
        }
    }

    /// In a script, with this on standard input.
    pub(super) fn script(input: &'static str) -> Self {
        Self { input: Some(input), terminal: false, ..Self::terminal([]) }
    }

    pub(super) fn coloured(mut self) -> Self {
        self.coloured = true;
        self
    }

    /// Ctrl-C as soon as this is on the screen.
    pub(super) fn interrupted(mut self, when: &'static str) -> Self {
        self.interrupt_when = Some(when);
        self
    }

    /// Types a line during a run, as soon as this is on the screen.
    pub(super) fn types(mut self, when: &'static str, line: &'static str) -> Self {
        self.types_when = Some((when, line));
        self
    }

    /// The next request of this kind gets this reply.
    pub(super) fn reply(self, kind: &str, reply: Result<Reply, Problem>) -> Self {
        let mut scripted = self.client.scripted.lock().expect("the script");
        scripted.push_back((kind.to_owned(), reply));
        drop(scripted);
        self
    }

    /// The next run goes like this.
    pub(super) fn run(self, events: Result<Vec<RunEvent>, Problem>) -> Self {
        self.client.runs.lock().expect("runs").push_back(events);
        self
    }

    /// Runs the program, and returns everything visible.
    #[must_use]
    pub(super) fn see(self, arguments: &[&str]) -> String {
        let mut ui = FakeUi {
            acts: self.acts,
            input: self.input,
            terminal: self.terminal,
            coloured: self.coloured,
            interrupt_when: self.interrupt_when,
            types_when: self.types_when,
            seen: Seen::default(),
        };
        let owner = FakeOwner { client: Arc::clone(&self.client) };
        let all = ["retake"].iter().chain(arguments).map(OsString::from);
        let environment = Environment {
            folder: PathBuf::from("/home/ada/project"),
            paths: Paths {
                data_dir: PathBuf::from("/home/ada/.local/share/retake"),
                config_file: PathBuf::from("/home/ada/.config/retake/config.toml"),
                log_file: PathBuf::from("/home/ada/.local/state/retake/owner.log"),
                config_named_by: None,
            },
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let code = runtime.block_on(run(all.collect(), &environment, &owner, &mut ui));
        assert!(ui.acts.is_empty(), "not done: {:?}", ui.acts);
        let mut text = ui.seen.text(self.terminal);
        text.push_str(&format!("--- exit {code}\n"));
        for request in self.client.requests.lock().expect("requests").iter() {
            text.push_str(&format!("{request}\n"));
        }
        text
    }
}

/// The output.
#[derive(Default)]
struct Seen {
    out: String,
    error: String,
    /// Both, and the person's actions.
    screen: String,
}

impl Seen {
    fn text(&self, terminal: bool) -> String {
        if terminal {
            return self.screen.clone();
        }
        let mut text = format!("--- stdout\n{}", self.out);
        if !self.error.is_empty() {
            text.push_str(&format!("--- stderr\n{}", self.error));
        }
        text
    }
}

struct FakeUi {
    acts: VecDeque<Act>,
    input: Option<&'static str>,
    terminal: bool,
    coloured: bool,
    interrupt_when: Option<&'static str>,
    types_when: Option<(&'static str, &'static str)>,
    seen: Seen,
}

impl FakeUi {
    fn act(&mut self, of: &str) -> Act {
        self.acts.pop_front().unwrap_or_else(|| panic!("nothing is scripted for {of}; {}", self.seen.screen))
    }
}

#[async_trait]
impl Ui for FakeUi {
    fn adjust(&mut self, color: Color, _: bool) {
        if color != Color::Auto {
            self.coloured = color == Color::Always;
        }
    }

    fn look(&self) -> Look {
        Look { columns: 80, now_ms: NOW, ids: true }
    }

    fn palette(&self) -> Palette {
        if self.coloured { Palette::COLOURED } else { Palette::PLAIN }
    }

    fn error_palette(&self) -> Palette {
        self.palette()
    }

    fn interactive(&self) -> bool {
        self.terminal
    }

    fn output_is_terminal(&self) -> bool {
        true
    }

    fn input_is_terminal(&self) -> bool {
        self.input.is_none()
    }

    fn screen(&mut self, _: &Path) -> Option<Box<dyn World>> {
        None
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        self.seen.out.push_str(text);
        self.seen.screen.push_str(text);
        Ok(())
    }

    fn page(&mut self, text: &str) -> io::Result<()> {
        self.print(text)
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.seen.error.push_str(text);
        self.seen.screen.push_str(text);
        Ok(())
    }

    fn input(&mut self) -> io::Result<String> {
        Ok(self.input.unwrap_or_default().to_owned())
    }

    fn confirm(&mut self, question: &str) -> io::Result<bool> {
        let Act::Answer(answer) = self.act(question) else {
            panic!("{question} is asked");
        };
        self.seen.screen.push_str(&format!("{question} [{answer}]\n"));
        Ok(answer)
    }

    fn pick(
        &mut self,
        question: &str,
        rows: &[Row],
        preview: &mut dyn FnMut(usize) -> String,
    ) -> io::Result<Option<usize>> {
        self.seen.screen.push_str(&format!("┌ {question}\n"));
        for row in rows {
            let why = row.disabled.as_deref().map(|why| format!(" ({why})"));
            let key = row.key.map(|key| format!("{key}  ")).unwrap_or_default();
            self.seen.screen.push_str(&format!(
                "│ {key}{} · {}{}\n",
                safe::line(&row.title),
                safe::line(&row.detail),
                why.unwrap_or_default()
            ));
        }
        let picked = match self.act(question) {
            Act::Pick(row) => Some(row),
            Act::Escape => None,
            other => panic!("{question} is asked, not {other:?}"),
        };
        if let Some(row) = picked {
            for line in safe::block(&preview(row)).lines() {
                self.seen.screen.push_str(&format!("│   {line}\n"));
            }
        }
        self.seen.screen.push_str(&format!("└ {picked:?}\n"));
        Ok(picked)
    }

    fn compose(&mut self, history: Vec<String>, commands: Vec<(String, String)>) {
        assert!(!commands.is_empty());
        self.seen.screen.push_str(&format!("(earlier prompts: {history:?})\n"));
    }

    fn read(&mut self, prompt: &str, prefill: Option<String>) -> io::Result<Read> {
        if let Some(prefill) = &prefill {
            let line = format!("(in the line: {prefill:?})\n");
            self.seen.screen.push_str(&line);
        }
        let line = match self.acts.pop_front() {
            None => {
                self.seen.screen.push_str(&format!("{prompt}^D\n"));
                return Ok(Read::Eof);
            }
            Some(Act::Line(line)) => line.to_owned(),
            Some(Act::Enter) => prefill.unwrap_or_default(),
            Some(other) => panic!("a line is read, not {other:?}; {}", self.seen.screen),
        };
        self.seen.screen.push_str(&format!("{prompt}{line}\n"));
        Ok(Read::Line(line))
    }

    fn answer_secret(&mut self, prompt: &str) -> io::Result<Option<String>> {
        panic!("no test answers {prompt}")
    }

    fn answer(&mut self, prompt: &str) -> io::Result<Read> {
        let read = match self.act(prompt) {
            Act::Words(words) => Read::Line(words.to_owned()),
            Act::Stop => Read::Interrupted,
            other => panic!("{prompt} is asked, not {other:?}; {}", self.seen.screen),
        };
        let said = match &read {
            Read::Line(line) => line,
            _ => "^C",
        };
        self.seen.screen.push_str(&format!("{prompt}{said}\n"));
        Ok(read)
    }

    fn listen(&mut self) -> io::Result<()> {
        Ok(())
    }

    async fn pressed(&mut self) -> Pressed {
        match self.types_when {
            Some((when, line)) if self.seen.screen.contains(when) => {
                self.types_when = None;
                self.acts.push_front(Act::Line(line));
                Pressed::Keys
            }
            _ => {
                self.interrupted().await;
                Pressed::Interrupt
            }
        }
    }

    async fn interrupted(&mut self) {
        match self.interrupt_when {
            Some(when) if self.seen.screen.contains(when) => {
                self.interrupt_when = None;
                self.seen.screen.push_str("^C\n");
            }
            _ => std::future::pending().await,
        }
    }
}

/// A serving owner.
pub(super) fn status() -> Status {
    Status {
        version: "0.1.0".to_owned(),
        pid: 4_711_000,
        data_dir: "/home/ada/\x1b[2Jdata".to_owned(),
        address: Some("127.0.0.1:4117".to_owned()),
        since_ms: NOW - 9_000,
        serves: true,
        running: vec!["0192".to_owned()],
        following: 2,
        mode: None,
        config_file: None,
        ..Status::default()
    }
}
