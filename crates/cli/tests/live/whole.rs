//! Everything together: a model over HTTP, real tools in a real folder, ten turns, and a rewind to the third.

use std::fs;

use serde_json::{Value, json};

use super::harness::{World, error, manifest, until};
use super::model::{Answer, Model, call, calls, shell, words};
use super::{CTRL_D, prompt};

/// An MCP server with one tool. It writes into its folder, and sends something irreversible.
const SERVER: &str = r#"
import json, os, sys
home = os.path.dirname(os.path.abspath(__file__))
tool = {"name": "post", "description": "Posts a text",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
for line in sys.stdin:
    request = json.loads(line)
    method, result = request.get("method"), None
    if method == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "board", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [tool]}
    elif method == "tools/call":
        text = request["params"]["arguments"]["text"]
        open(os.path.join(home, "sent"), "a").write(text + "\n")
        open("posted.txt", "w").write(text)
        result = {"content": [{"type": "text", "text": "posted"}]}
    if "id" in request and result is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;

fn todo(items: &[(&str, &str)]) -> Answer {
    let items: Vec<Value> = items.iter().map(|(text, state)| json!({"text": text, "state": state})).collect();
    call("todo", json!({"items": items}))
}

fn background(command: &str) -> Answer {
    call("shell", json!({"command": command, "background": true}))
}

/// An effect outside of the world.
fn post() -> Answer {
    call("mcp__board__post", json!({"text": "hello"}))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({"path": path, "edits": [{"old": old, "new": new}]}))
}

/// The output of `/todo` and `/jobs`.
fn lists(world: &World) -> (String, String) {
    let mut pty = world.converse();
    prompt(&pty);
    let shown = |command: &str| {
        pty.send(format!("{command}\r"));
        let typed = format!("> {command}\n");
        let done = |screen: &str| screen.contains(&typed) && screen.trim_end().ends_with("\n>");
        let screen = pty.until(command, done);
        pty.reads_keys();
        let (_, shown) = screen.rsplit_once(&typed).expect("it was typed");
        shown.trim_end().trim_end_matches('>').trim_end().to_owned()
    };
    let lists = (shown("/todo"), shown("/jobs"));
    pty.send(CTRL_D);
    assert!(pty.ended());
    lists
}

/// The first three turns: a list, a job that has ended, edits by tool and by shell.
fn begin(model: &Model, world: &World) {
    let first = calls(&[("write", json!({"path": "notes.txt", "content": "1\n2\n3\n"}))]);
    model.turn(world, "begin", vec![first, todo(&[("plan", "doing"), ("build", "pending")]), words("begun")]);
    model.turn(world, "serve", vec![background(&world.waits_for("end")), words("it runs")]);
    fs::write(world.home().join("end"), "").expect("written");
    until("the job has ended", || lists(world).1.contains("exit code 0"));
    let both = calls(&[
        edit("notes.txt", "2", "two"),
        ("shell", json!({"command": "sed -i s/one/1/ b.txt; mkdir dir; echo made > dir/made; rm gone.txt"})),
    ]);
    model.turn(world, "edit", vec![both, todo(&[("plan", "done"), ("build", "doing")]), words("edited")]);
}

/// The other seven.
fn go_on(model: &Model, world: &World) {
    let patch = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n 1\n-two\n+2!\n 3\n";
    model.turn(world, "patch", vec![call("patch", json!({"patch": patch})), words("patched")]);
    let told = model.turn(world, "post", vec![post(), words("posted")]);
    assert!(told.iter().any(|it| it["class"] == "external"), "{told:?}");
    let move_all =
        "rm dir/made; rmdir dir; mv b.txt c.txt; chmod +x c.txt; ln -s c.txt link; printf '\\0\\377' > bin";
    model.turn(world, "move", vec![shell(move_all), todo(&[("all of it", "doing")]), words("moved")]);
    let read = call("read", json!({"path": "c.txt"}));
    model.turn(world, "again", vec![read, calls(&[edit("c.txt", "1", "2")]), words("edited")]);
    model.turn(world, "deep", vec![shell("mkdir deep && cd deep && echo here > here"), words("in there")]);
    model.turn(world, "watch", vec![background(&world.waits_for("nothing")), words("it runs")]);
    let write = call("write", json!({"path": "last.txt", "content": "last\n"}));
    model.turn(world, "last", vec![write, words("done")]);
}

/// Irreversible calls are named, with their arguments.
fn stays(said: &str) {
    let below = said.lines().skip_while(|line| !line.starts_with("! can't be taken back: ")).nth(1);
    assert!(below.is_some_and(|call| call.contains(r#"`mcp__board__post {"text":"hello"}`"#)), "{said}");
}

#[test]
fn a_rewind_from_the_tenth_to_the_third_turn_reverts_all_that_belongs_to_them() {
    let model = Model::start();
    let world = model.world(&[("b.txt", "one\n"), ("gone.txt", "dear\n")]);
    let server = world.home().join("board.py");
    fs::write(&server, SERVER).expect("written");
    world.does(&["mcp", "add", "board", "--", "python3", &server.display().to_string()]);
    begin(&model, &world);
    let (then, lists_then, texts_then) = (manifest(world.folder()), lists(&world), world.texts());
    assert!(lists_then.0.contains("[>] build"), "{lists_then:?}");
    let turn_4 = model.asked().len();
    go_on(&model, &world);
    let (now, texts_now) = (manifest(world.folder()), world.texts());
    assert!(world.read("deep/last.txt").is_some(), "the folder that the shell went to is kept: {now:?}");
    assert!(lists(&world).1.contains("running"));

    let refused = world.run(&["rewind", "t4"]);
    assert!(error(&refused).contains("--stop"), "{refused:?}");
    assert_eq!(manifest(world.folder()), now, "a refusal changes nothing");
    stays(&world.does(&["plan", "rewind", "t4"]));
    stays(&world.does(&["rewind", "t4", "--stop"]));
    assert_eq!(manifest(world.folder()), then);
    assert_eq!((lists(&world), world.texts()), (lists_then.clone(), texts_then));

    let back = world.does(&["undo"]);
    let watch = format!("the job `{}` does not run again", world.waits_for("nothing"));
    assert!(back.contains(&watch) && back.matches("the job").count() == 1, "{back}");
    assert_eq!((manifest(world.folder()), world.texts()), (now, texts_now));
    let (list, jobs) = lists(&world);
    assert!(list.contains("[>] all of it") && !jobs.contains("running"), "{list} {jobs}");
    stays(&world.does(&["plan", "redo"]));
    stays(&world.does(&["redo"]));
    assert_eq!((manifest(world.folder()), lists(&world)), (then, lists_then));

    let told = model.turn(&world, "patch", vec![shell("pwd"), words("here")]);
    let asked = model.asked();
    assert_eq!(asked[asked.len() - 2], asked[turn_4], "the prompt is that of then");
    let folder = fs::canonicalize(world.folder()).expect("it is there").display().to_string();
    let called = told.iter().find(|it| it["event"] == "called").expect("it was called");
    assert!(called["shown"].as_str().is_some_and(|it| it.lines().next() == Some(&folder)), "{called}");

    let told = model.turn(&world, "post", vec![post(), words("not again")]);
    let asks = told.iter().find(|it| it["event"] == "asks").expect("a person would be asked");
    assert!(asks["again_ms"].is_number(), "the same was done before: {asks}");
    let sent = fs::read_to_string(world.home().join("sent")).expect("it was sent");
    assert_eq!(sent, "hello\n", "nothing brings it back, and nothing is sent twice unasked");
}
