//! The gateways inside `retake serve`, with a fake platform and the program as a person uses it.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_fakes::telegram::{TOKEN, Telegram};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::harness::{World, error, out, until};

const ANNA: i64 = 71;

/// A fake platform with Anna's private chat, and a home.
struct Scene {
    world: World,
    fake: Telegram,
    runtime: tokio::runtime::Runtime,
}

/// A running `retake serve`, which ends with the test.
struct Served {
    child: Child,
    file: std::path::PathBuf,
}

impl Served {
    /// All that it has printed.
    fn told(&self) -> String {
        fs::read_to_string(&self.file).expect("its output")
    }

    fn ends(mut self) -> String {
        assert!(self.child.wait().expect("ended").success(), "{}", self.told());
        self.told()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Scene {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let fake = runtime.block_on(Telegram::start());
        fake.add_chat(json!({ "id": ANNA, "type": "private", "first_name": "Anna" }));
        // Messages of long ago would not be answered.
        fake.control().set_now_ms(SystemClock.now_ms());
        Self { world: World::new(), fake, runtime }
    }

    /// Adds an account with the fake's token. Returns what the command says.
    fn adds(&self, name: &str) -> String {
        let answers = format!("{TOKEN}\n{}\n", self.fake.base());
        let added = self.world.pipe(&["gateway", "add", "telegram", "--name", name], &answers);
        assert!(added.status.success(), "{added:?}");
        out(&added)
    }

    /// Changes a value in the file of an account.
    fn changes(&self, name: &str, key: &str, value: &str) {
        let path = self.world.home().join("gateways").join(format!("{name}.json"));
        let mut all: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
        all[key] = value.into();
        fs::write(&path, all.to_string()).expect("written");
    }

    fn serves(&self, more: &[&str]) -> Served {
        let served = self.starts(more);
        until("it serves", || self.world.json(&["status"])["pid"] == served.child.id());
        served
    }

    fn starts(&self, more: &[&str]) -> Served {
        let path = self.world.home().join("serve.txt");
        let file = File::create(&path).expect("a file");
        let both = file.try_clone().expect("the same file");
        let mut command = self.world.command(&[&["serve"], more].concat());
        let child = command.stdout(file).stderr(both).spawn().expect("it starts");
        Served { child, file: path }
    }

    /// Kills the owners until `retake serve` has taken their place: a gateway starts them again.
    fn takes_the_place_of_owners(&self) -> Served {
        loop {
            self.world.kill_owners();
            let mut served = self.starts(&[]);
            until("it serves or ends", || {
                served.child.try_wait().is_ok_and(|it| it.is_some()) || served.told().contains("serving ")
            });
            if served.told().contains("serving ") {
                return served;
            }
        }
    }

    fn says(&self, text: &str) {
        self.fake.says(ANNA, ANNA, json!({ "text": text }));
    }

    /// How often such a text of the bot can be read.
    fn reads(&self, text: &str) -> usize {
        let texts = self.fake.posts(ANNA).into_iter().filter_map(|id| self.fake.message(ANNA, id));
        texts.filter(|message| message["text"].as_str().is_some_and(|it| it.contains(text))).count()
    }

    /// Anna writes, gets a code, and is paired.
    fn pairs(&self) {
        self.says("hello");
        until("a code comes", || self.reads("the code ") == 1);
        let told = self.fake.message(ANNA, self.fake.posts(ANNA)[0]).expect("it");
        let text = told["text"].as_str().expect("a text");
        let code = text.split("the code ").nth(1).expect("a code").split(' ').next().expect("a word");
        self.world.does(&["pair", code, "--owner"]);
    }

    /// What `retake gateway list` says of an account.
    fn state(&self, name: &str) -> Value {
        let all = self.world.json(&["gateway", "list"]);
        let all = all["accounts"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|line| line["account"] == name).expect("the account")["gateway"].clone()
    }

    fn interrupts(served: &Served) {
        let pid = i32::try_from(served.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, Signal::INT).expect("told");
    }
}

/// One account works and another one does not: the first one answers, the second one is reported once with its cause. A message is
/// answered once, also if the server stops when it has arrived.
#[test]
fn gateways_run_in_serve_and_one_that_fails_is_reported() {
    let scene = Scene::new();
    scene.adds("telegram");
    scene.adds("other");
    scene.changes("other", "token", "1:wrong");
    let served = scene.serves(&[]);
    scene.pairs();
    scene.says("what is 6 times 7");
    until("an answer comes", || scene.reads("6 × 7 = 42") == 1);
    until("the cause is told", || served.told().contains("gateway of other: "));
    let (good, bad) = (scene.state("telegram"), scene.state("other"));
    let holder = format!("process {} on ", served.child.id());
    assert!(good["is_here"] == true && good["trouble"].is_null(), "{good}");
    assert!(good["holder"].as_str().is_some_and(|it| it.starts_with(&holder)), "{good}");
    assert!(bad["trouble"]["code"] == "bad_token" && bad["again_ms"].is_null(), "{bad}");
    let list = scene.world.does(&["gateway", "list"]);
    assert!(list.contains("telegram  telegram  runs in the owner\n"), "{list}");
    let status = scene.world.does(&["status"]);
    assert!(status.contains("gateway of telegram: runs in the owner\n"), "{status}");
    assert!(status.contains("gateway of other: the platform does not accept the token: remove"), "{status}");
    // A new token helps without a restart.
    scene.changes("other", "base", "http://127.0.0.1:1");
    scene.changes("other", "token", TOKEN);
    until("it is tried again", || scene.state("other")["trouble"]["code"] == "unreachable");
    scene.says("what is 5 times 5");
    // Its number was confirmed: it is stored.
    let offset = |number: usize| {
        let polls = scene.fake.control().called("getUpdates");
        polls.iter().filter_map(|poll| poll["offset"].as_u64()).max() >= Some(4000 + number as u64)
    };
    until("it has arrived", || offset(4));
    Scene::interrupts(&served);
    let told = served.ends();
    assert!(told.contains("gateways run here: other, telegram\n") && told.ends_with("stopped\n"), "{told}");
    assert_eq!(told.matches("gateway of other: the platform does not accept the token").count(), 1, "{told}");
    assert!(!told.contains(TOKEN) && !told.contains("1:wrong"), "{told}");
    scene.says("what is 3 times 3");
    let served = scene.serves(&["--gateway", "telegram"]);
    until("the next server answers", || scene.reads("3 × 3 = 9") == 1 && scene.reads("5 × 5 = 25") == 1);
    assert_eq!(scene.state("other"), Value::Null, "it is left out");
    assert!(out(&scene.world.run(&["stop"])).starts_with("stopped"));
    served.ends();
    assert_eq!((scene.reads("6 × 7 = 42"), scene.reads("5 × 5 = 25"), scene.reads("3 × 3 = 9")), (1, 1, 1));
    let log = scene.world.owner_log();
    let cause = "the gateway does not run cause=\"the platform does not accept the token\"";
    assert_eq!(log.matches(cause).count(), 1, "{log}");
    assert!(!log.contains(TOKEN) && !log.contains("times") && !log.contains("Anna"), "{log}");
}

/// An account belongs to one gateway: the one in the server waits for that of a process of its own, and the other way round. Its token
/// permits no more than that of such a process, and the server lives without its platform.
#[test]
fn gateway_in_serve_waits_for_another_one_and_lives_without_its_platform() {
    let scene = Scene::new();
    scene.adds("telegram");
    let served = scene.serves(&[]);
    until("it runs", || scene.state("telegram")["holder"].is_string());
    let second = scene.world.run(&["gateway", "run", "telegram"]);
    let holder = format!("another gateway has the account: process {} on ", served.child.id());
    assert!(!second.status.success() && error(&second).contains(&holder), "{second:?}");
    scene.world.does(&["stop"]);
    served.ends();
    let served = scene.serves(&["--no-gateways"]);
    assert_eq!(scene.state("telegram"), Value::Null, "the process that had it has ended");
    let mut alone = scene.world.command(&["gateway", "run", "telegram"]).spawn().expect("it starts");
    let holder = |pid: u32| {
        let prefix = format!("process {pid} on ");
        scene.state("telegram")["holder"].as_str().is_some_and(|holder| holder.starts_with(&prefix))
    };
    until("the process has it", || holder(alone.id()));
    assert!(served.told().contains("serving ") && !served.told().contains("gateway"), "{}", served.told());
    // The process outlives the server: it starts an owner as soon as it misses one. That one is in use: it is killed.
    scene.world.does(&["stop"]);
    served.ends();
    until("the process has started an owner", || !scene.world.owners().is_empty());
    let served = scene.takes_the_place_of_owners();
    until("it waits", || scene.state("telegram")["trouble"]["code"] == "held");
    alone.kill().expect("killed");
    alone.wait().expect("ended");
    until("the server has it", || holder(served.child.id()));
    until("its end is told", || served.told().contains("gateway of telegram: works again"));
    let Scene { world, fake, runtime } = scene;
    runtime.block_on(fake.end());
    let trouble = || world.json(&["gateway", "list"])["accounts"][0]["gateway"]["trouble"]["code"].clone();
    until("the platform is away", || trouble() == "unreachable");
    assert!(world.does(&["ask", "hello"]).contains("turn 1"), "the server works");
    world.does(&["token", "revoke", "telegram"]);
    until("the token is revoked", || trouble() == "not_permitted");
    world.does(&["stop"]);
    let told = served.ends();
    assert_eq!(told.matches("the platform can't be reached").count(), 1, "{told}");
}

/// An account that is added is served at once, one that is removed is not any more, and a file that others can read is not used.
#[test]
fn accounts_are_noticed_while_the_server_runs() {
    let scene = Scene::new();
    let unknown = scene.world.run(&["serve", "--gateway", "telegram"]);
    assert!(!unknown.status.success() && error(&unknown).contains("there is no account"), "{unknown:?}");
    let served = scene.serves(&[]);
    let told = scene.adds("telegram");
    let runs = format!("`retake serve` (process {}) runs its gateway\nNext:\n  1. ", served.child.id());
    assert!(
        told.contains(&runs) && !told.contains("gateway run") && told.contains("\n  2. The bot"),
        "{told}"
    );
    scene.pairs();
    let path = scene.world.home().join("gateways/telegram.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("opened");
    until("it is refused", || scene.state("telegram")["trouble"]["code"] == "bad_account");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("closed");
    scene.says("what is 6 times 7");
    until("an answer comes", || scene.reads("6 × 7 = 42") == 1);
    // A file that the disk does not give is tried again.
    let away = path.with_extension("away");
    fs::rename(&path, &away).expect("moved");
    fs::create_dir(&path).expect("a folder in its place");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("closed");
    until("it is tried again", || {
        let state = scene.state("telegram");
        state["trouble"]["code"] == "unreadable_account" && state["again_ms"].is_number()
    });
    fs::remove_dir(&path).expect("removed");
    fs::rename(&away, &path).expect("moved back");
    scene.says("what is 5 times 5");
    until("an answer comes", || scene.reads("5 × 5 = 25") == 1);
    scene.world.does(&["gateway", "remove", "telegram"]);
    until("it is gone", || !scene.world.does(&["status"]).contains("gateway of telegram: runs in the owner"));
    scene.world.does(&["stop"]);
    served.ends();
    // Without a server, and with one that runs no gateways, the next step is another one.
    let told = scene.adds("telegram");
    let first = "Next:\n  1. retake serve (runs the gateways of all accounts), or: retake gateway run telegram\n  2. ";
    assert!(told.contains(first), "{told}");
    let served = scene.serves(&["--no-gateways"]);
    let told = scene.adds("other");
    let first = "does not run the gateway of this account\nNext:\n  1. retake gateway run other\n  2. ";
    assert!(told.contains(first), "{told}");
    scene.world.does(&["stop"]);
    served.ends();
}

/// A full export of a chat says elsewhere where it was said. The gateway there touches none of its posts, and reads no more in it.
#[test]
fn gateways_case_89_exported_chat_is_history_elsewhere() {
    let scene = Scene::new();
    scene.adds("telegram");
    let served = scene.serves(&[]);
    scene.pairs();
    scene.says("what is 6 times 7");
    until("an answer comes", || scene.reads("6 × 7 = 42") == 1);
    let list = scene.world.json(&["list", "--all"]);
    let id = list["conversations"][0]["id"].as_str().expect("an id").to_owned();
    until("it counts as sent", || {
        scene.world.does(&["posts", "--conversation", &id]).contains("in the chat")
    });
    let file = scene.world.home().join("chat.jsonl").display().to_string();
    scene.world.does(&["export", "--full", "--conversation", &id, "--output", &file]);
    scene.world.does(&["stop"]);
    served.ends();
    // The same account at another owner.
    let other = Scene { world: World::new(), ..scene };
    other.adds("telegram");
    let served = other.serves(&[]);
    other.world.does(&["import", &file]);
    let log = other.world.does(&["log", "--conversation", &id]);
    assert!(log.contains("what is 6 times 7") && log.contains(&format!("telegram in {ANNA}")), "{log}");
    let posts = other.world.does(&["posts", "--conversation", &id]);
    assert!(posts.contains("imported: in the chat"), "{posts}");
    let calls = other.fake.control().calls().len();
    let plan = other.world.does(&["plan", "rewind", "t1", "--conversation", &id]);
    assert!(!plan.contains("posts in"), "{plan}");
    other.world.does(&["rewind", "t1", "--yes", "--conversation", &id]);
    // The gateway is asked for work after the step: it has answered another message by then.
    other.says("hello");
    until("a code comes", || other.reads("the code ") == 2);
    let calls = other.fake.control().calls().split_off(calls);
    assert!(
        calls.iter().all(|call| !call.method.contains("delete") && !call.method.contains("edit")),
        "{calls:?}"
    );
    assert_eq!(other.reads("6 × 7 = 42"), 1);
    other.world.does(&["stop"]);
    served.ends();
}

/// The post begins without text, as Telegram does not recognise a request that it gets twice. A step in a terminal deletes it.
#[test]
fn gateways_case_26_and_47_answer_is_shown_while_it_is_written_and_taken_back_in_the_middle() {
    let scene = Scene::new();
    scene.world.settings("[demo]\nword_delay_ms = 60\n");
    scene.adds("telegram");
    let served = scene.serves(&[]);
    scene.pairs();
    let long = "tell me a story about a fox";
    scene.says(long);
    let button = "Take back";
    let edits = || scene.fake.control().called("editMessageText");
    until("the answer is complete", || edits().last().is_some_and(|it| it.to_string().contains(button)));
    let last = edits().last().expect("one")["text"].as_str().expect("a text").to_owned();
    let shown = edits().into_iter().filter_map(|it| it["text"].as_str().map(str::to_owned));
    // The formatting comes with the last edit.
    let parts = shown.filter(|text| text.len() < last.len() && text.starts_with(&last[..100])).count();
    assert!(parts > 0, "it was shown while it was written: {:?}", edits());
    assert_eq!(scene.reads(&last), 1);
    let first = scene.fake.control().called("sendMessage").pop().expect("a post");
    assert_eq!(first["text"], "…");
    let posts = scene.fake.posts(ANNA).len();
    scene.says(long);
    until("it is shown", || scene.reads("…") == 1);
    let list = scene.world.json(&["list", "--all"]);
    let id = list["conversations"][0]["id"].as_str().expect("an id").to_owned();
    scene.world.does(&["rewind", "t2", "--stop", "--yes", "--conversation", &id]);
    until("it is gone", || scene.reads("…") == 0 && scene.reads("Took back 1 turn. 1 post is gone") == 1);
    assert_eq!((scene.fake.posts(ANNA).len(), scene.reads(&last)), (posts + 1, 1), "only the notice is new");
    scene.world.does(&["stop"]);
    served.ends();
}
