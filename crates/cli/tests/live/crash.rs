//! The program killed during an answer, and keys that must have no effect.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use super::harness::{World, error, out};
use crate::term::pty::now;

/// How long an answer streams before the program is killed.
const STREAMING: Duration = Duration::from_secs(4);

/// The answer is saved each second; the rest is for a busy machine.
const LOST: Duration = Duration::from_secs(2);

#[test]
fn a_kill_while_an_answer_comes_loses_a_second_of_it() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 150\n");
    let words: Vec<String> = (0..900).map(|number| format!("word{number}")).collect();
    let prompt = words.join(" ");
    let mut child = world.command(&["ask", &prompt]).spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut printed = String::new();
    let mut long_ago = 0;
    let mut buffer = [0; 4096];
    let began = now();
    while now() - began < STREAMING {
        let count = stdout.read(&mut buffer).expect("more of the answer");
        assert!(count > 0, "the answer is long enough: {printed}");
        printed.push_str(std::str::from_utf8(&buffer[..count]).expect("UTF-8"));
        if now() - began < STREAMING - LOST {
            long_ago = printed.len();
        }
    }
    drop(stdout);
    world.kill(child);
    assert!(long_ago > 0);

    let log = world.json(&["log"]);
    let entries = log["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2, "{log}");
    assert_eq!(entries[0]["parts"][0]["text"], prompt.as_str());
    assert_eq!(entries[1]["interrupted"], true);
    let kept = entries[1]["parts"][0]["text"].as_str().expect("a text");
    assert!(kept.len() >= long_ago, "kept {} of {}, {long_ago} long ago", kept.len(), printed.len());
    // A little more may have been saved than was read here.
    assert!(kept.starts_with(&printed) || printed.starts_with(kept), "{kept}\n{printed}");
    assert!(world.does(&["log"]).contains("[interrupted]"));
    world.settings("[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0\n");
    let on = world.pipe(&["-c"], "still there?");
    assert!(out(&on).contains("This is turn 2"), "{on:?}");
}

/// A port without a listener.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn holds(folder: &Path, needle: &[u8]) -> bool {
    let mut entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.any(|path| match path.is_dir() {
        true => holds(&path, needle),
        false => std::fs::read(&path).expect("a file").windows(needle.len()).any(|it| it == needle),
    })
}

#[test]
fn an_api_key_appears_in_no_error_and_in_no_file() {
    const SECRET: &str = "sk-secret-0123456789abcdef";
    let world =
        World::new().with("OPENAI_API_KEY", SECRET).with("RUST_BACKTRACE", "1").with("RUST_LOG", "trace");
    let port = closed_port();
    world.settings(&format!(
        "[local]\nfind = false\n[retry]\ntries = 2\nfirst_wait_ms = 1\n[endpoint.openai]\nbase_url = \"http://127.0.0.1:{port}/v1\"\n"
    ));
    let mut seen = String::new();
    for arguments in [
        &["ask", "hello"][..],
        &["--json", "retry"],
        &["models"],
        &["--json", "models"],
        &["config"],
        &["log"],
        &["--json", "log"],
        &["doctor"],
    ] {
        let output = world.run(arguments);
        seen += &world.seen(arguments, &output);
        if arguments[0] == "ask" {
            assert_eq!(output.status.code(), Some(6), "{output:?}");
            assert!(
                error(&output).contains(&format!("127.0.0.1:{port}")),
                "the address is named: {output:?}"
            );
        }
    }
    assert!(!seen.contains("sk-secret"), "{seen}");
    assert!(!holds(world.home(), b"sk-secret"));
    assert_eq!(world.texts(), ["hello"], "what was said is kept");
}
