//! A chat, from its set-up to a rewind, with a real Matrix server and the program as a person uses it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use retake_fakes::synapse::Synapse;
use serde_json::{Value, json};

use super::harness::{World, error, out, until};

/// A person at the homeserver.
struct Person {
    port: u16,
    token: String,
    sent: std::cell::Cell<u32>,
}

impl Person {
    fn register(server: &Synapse, name: &str) -> Self {
        let own = Self { port: server.port(), token: String::new(), sent: std::cell::Cell::new(0) };
        let body =
            json!({ "username": name, "password": "secret-word", "auth": { "type": "m.login.dummy" } });
        let made = own.call("POST", "/register", Some(&body));
        Self { token: made["access_token"].as_str().expect("a token").to_owned(), ..own }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        let bearer = match self.token.as_str() {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let length = body.len();
        let head =
            format!("{method} /_matrix/client/v3{path} HTTP/1.0\r\n{bearer}Content-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        let mut told = String::new();
        stream.read_to_string(&mut told).expect("an answer");
        let (_, body) = told.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).expect("JSON")
    }

    /// A private room with the bot.
    fn begins(&self, bot: &str) -> String {
        let body = json!({ "is_direct": true, "invite": [bot], "preset": "trusted_private_chat" });
        self.call("POST", "/createRoom", Some(&body))["room_id"].as_str().expect("a room").to_owned()
    }

    fn says(&self, room: &str, text: &str) {
        self.sent.set(self.sent.get() + 1);
        let path = format!("/rooms/{room}/send/m.room.message/{}", self.sent.get());
        let sent = self.call("PUT", &path, Some(&json!({ "msgtype": "m.text", "body": text })));
        assert!(sent["event_id"].is_string(), "{sent}");
    }

    /// The texts of the room that somebody can still read, oldest first, each with its author.
    fn reads(&self, room: &str) -> Vec<String> {
        let page = self.call("GET", &format!("/rooms/{room}/messages?dir=b&limit=100"), None);
        let all = page["chunk"].as_array().cloned().unwrap_or_default();
        let texts = all.iter().rev().filter(|event| event["type"] == "m.room.message");
        let line = |event: &Value| {
            Some(format!("{} {}", event["sender"].as_str()?, event["content"]["body"].as_str()?))
        };
        texts.filter_map(line).collect()
    }

    fn has_joined(&self, room: &str, bot: &str) -> bool {
        !self.call("GET", &format!("/rooms/{room}/joined_members"), None)["joined"][bot].is_null()
    }
}

/// A running gateway, which ends with the test.
struct Running(Child);

impl Running {
    fn of(world: &World, account: &str) -> Self {
        let mut command = world.command(&["gateway", "run", account]);
        Self(
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::fs::File::create(world.home().join("gateway-matrix.txt")).expect("a file"))
                .spawn()
                .expect("started"),
        )
    }

    /// Without any chance to say goodbye.
    fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Whether such a text of the bot can be read.
fn has(all: &[String], text: &str) -> bool {
    all.iter().any(|line| line.starts_with("@helper:chat.test ") && line.contains(text))
}

/// Set-up, pairing, an answer, a rewind in the chat and one in a terminal (spec cases 42 and 43), and a gateway that is killed: what was
/// said meanwhile is answered once by the next one (cases 2 and 13).
#[test]
fn chat_on_a_real_server_is_set_up_answered_and_taken_back() {
    let server = Synapse::shared();
    let ann = Person::register(server, "ann");
    Person::register(server, "helper");
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n");
    let wrong = world.pipe(&["gateway", "add", "matrix"], &format!("{}\nhelper\nwrong\n", server.address()));
    assert!(error(&wrong).contains("does not accept") && !error(&wrong).contains("wrong\n"), "{wrong:?}");
    let answers = format!("{}\nhelper\nsecret-word\n", server.address());
    let added = world.pipe(&["gateway", "add", "matrix"], &answers);
    let told = out(&added);
    assert!(
        added.status.success() && told.contains("retake gateway run matrix") && told.contains("retake pair"),
        "{told}"
    );
    assert!(!told.contains("secret-word") && !told.contains("syt_"), "{told}");
    let bot = "@helper:chat.test";
    let gateway = Running::of(&world, "matrix");
    let room = ann.begins(bot);
    until("the bot comes", || ann.has_joined(&room, bot));
    ann.says(&room, "hello");
    until("a code comes", || has(&ann.reads(&room), "the code "));
    let told = ann.reads(&room).pop().expect("it");
    let code = told.split("the code ").nth(1).expect("a code").split(' ').next().expect("a word").to_owned();
    assert!(world.does(&["pair", &code]).contains("member"));
    ann.says(&room, "what is 6 times 7");
    until("an answer comes", || has(&ann.reads(&room), "6 × 7 = 42"));
    ann.says(&room, "what is 5 times 5");
    until("the second one comes", || has(&ann.reads(&room), "5 × 5 = 25"));
    ann.says(&room, "!rewind");
    until("the turns are listed", || has(&ann.reads(&room), "1. what is 5 times 5"));
    ann.says(&room, "!rewind 1");
    until("it is taken back", || !has(&ann.reads(&room), "5 × 5 = 25") && has(&ann.reads(&room), "emptied"));
    assert!(has(&ann.reads(&room), "6 × 7 = 42"), "the first one stays");
    let list = world.json(&["list", "--all"]);
    let id = list["conversations"][0]["id"].as_str().expect("an id").to_owned();
    assert!(world.does(&["ops", "--conversation", &id]).contains("by ann (matrix)"));
    let plan = world.does(&["plan", "rewind", "t1", "--conversation", &id]);
    assert!(plan.contains("posts in matrix in ") && plan.contains(": 1 to be deleted"), "{plan}");
    world.does(&["rewind", "t1", "--yes", "--conversation", &id]);
    until("that, too", || !has(&ann.reads(&room), "6 × 7 = 42"));
    // The homeserver knows it before the gateway has said so.
    let posts = || world.does(&["posts", "--conversation", &id]);
    until("both count as emptied", || posts().matches("emptied").count() == 2);
    gateway.kill();
    ann.says(&room, "what is 3 times 3");
    let _next = Running::of(&world, "matrix");
    until("the next gateway answers", || {
        let said = std::fs::read_to_string(world.home().join("gateway-matrix.txt")).unwrap_or_default();
        assert!(!said.contains("error"), "{said}");
        has(&ann.reads(&room), "3 × 3 = 9")
    });
    assert_eq!(ann.reads(&room).iter().filter(|line| line.contains("3 × 3 = 9")).count(), 1);
    let log = world.owner_log();
    assert!(!log.contains("3 times 3") && !log.contains("syt_") && !log.contains("@ann"), "{log}");
}

#[test]
fn account_whose_file_is_damaged_is_removed() {
    let world = World::new();
    let folder = world.home().join("gateways");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("matrix.json"), "{").expect("written");
    assert!(world.does(&["gateway", "list"]).contains("can't be used"));
    assert!(world.does(&["gateway", "remove", "matrix"]).contains("removed matrix"));
    assert!(!folder.join("matrix.json").exists());
}
