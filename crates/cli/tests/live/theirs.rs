//! Whose environment and whose keys: those of the terminal that asked, whoever has started the owner.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::json;

use super::harness::{World, out};
use super::killed::holds;
use super::model::{Model, call, shell, words};

/// Sends a prompt with these variables, and lets the agent run a command line; returns its output.
fn printed(model: &Model, world: &World, line: &str, variables: &[(&str, &str)]) -> String {
    model.then(vec![shell(line), words("Done.")]);
    let mut command = world.command(&["ask", "--mode", "allow-all", "do it"]);
    let done = command.envs(variables.iter().copied()).output().expect("it runs");
    assert!(done.status.success(), "{done:?}");
    let told = model.asked_last();
    told.last().expect("it was told")["content"].as_str().expect("a text").to_owned()
}

fn pid(world: &World) -> u64 {
    world.json(&["status"])["pid"].as_u64().expect("a number")
}

#[test]
fn trial_18_commands_run_in_the_environment_of_the_requesting_terminal() {
    let model = Model::start();
    let world = model.world(&[]).with("RETAKE_IDLE_S", "600");
    let path = std::env::var("PATH").expect("there is one");
    let (left, right) = (format!("/left:{path}"), format!("/right:{path}"));
    let line = "echo \"$PATH|$VIRTUAL_ENV|$OTHER_API_KEY|$ONLY_LEFT\"";
    let first =
        [("PATH", &*left), ("VIRTUAL_ENV", "/left"), ("ONLY_LEFT", "left"), ("OTHER_API_KEY", "hidden")];
    let told = printed(&model, &world, line, &first);
    assert!(told.contains(&format!("{left}|/left||left")), "{told}");
    let owner = pid(&world);
    let told = printed(&model, &world, line, &[("PATH", &right), ("VIRTUAL_ENV", "/right")]);
    assert!(told.contains(&format!("{right}|/right||\n")), "nothing of the first one, nor a key: {told}");
    let mut own = world.command(&["exec", "--", "sh", "-c", "echo $VIRTUAL_ENV"]);
    let own = own.env("VIRTUAL_ENV", "/mine").output().expect("it runs");
    assert_eq!(out(&own), "/mine\n", "{own:?}");
    assert_eq!(pid(&world), owner, "one owner has done all");
    world.does(&["stop"]);
}

#[test]
fn trial_18_a_key_that_the_owner_lacks_comes_from_the_terminal_that_has_it() {
    const KEY: &str = "key-of-the-second-terminal";
    let model = Model::start();
    let world = model.world(&[]).with("RETAKE_IDLE_S", "600");
    let settings = std::fs::read_to_string(world.config()).expect("settings");
    let base = settings.lines().find(|line| line.starts_with("base_url")).expect("an address");
    let second = format!("[endpoint.second]\nkind = \"openai\"\n{base}\nkey_env = \"SECOND_KEY\"\n");
    world.settings(&format!("{settings}{second}"));
    world.does(&["new"]);
    let owner = pid(&world);
    let ask = ["ask", "--model", "second/m", "hello"];
    let refused = world.run(&ask);
    assert_eq!(refused.status.code(), Some(6), "the key is nowhere: {refused:?}");
    model.then(vec![words("I know you.")]);
    let answered = world.command(&ask).env("SECOND_KEY", KEY).output().expect("it runs");
    assert!(out(&answered).contains("I know you."), "{answered:?}");
    assert_eq!(pid(&world), owner);
    assert!(!holds(world.data(), KEY.as_bytes()), "it is in no file");
    world.does(&["stop"]);
}

/// The owner's own files are private to its user; files in a workspace get the umask of the requesting terminal.
#[test]
fn trial_18_files_get_the_umask_of_the_requesting_terminal() {
    let model = Model::start();
    let world = model.world(&[("old", "old\n")]).with("RETAKE_IDLE_S", "600");
    let mode = |name: &str| {
        let meta = std::fs::metadata(world.folder().join(name)).expect("it is there");
        format!("{:o}", meta.permissions().mode() & 0o777)
    };
    let asks = |umask: &str, ask: &str| {
        let given = world.command(&[]);
        let script = format!("umask {umask}; exec \"$0\" ask --mode allow-all '{ask}'");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).arg(given.get_program()).current_dir(world.folder());
        for (name, value) in given.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let done = shell.output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
    };
    for (umask, file, folder) in [("002", "664", "775"), ("022", "644", "755"), ("077", "600", "700")] {
        let name = |what: &str| format!("{what}-{umask}");
        let line = format!("echo a > {}; mkdir {}; rm -f old", name("shell"), name("folder"));
        let content = json!({"path": format!("{}/new", name("deep")), "content": "b\n"});
        model.then(vec![shell(&line), call("write", content), words("Done.")]);
        asks(umask, "work");
        let new = format!("{}/new", name("deep"));
        let made = [name("shell"), name("folder"), name("deep"), new].map(|name| mode(&name));
        assert_eq!(made, [file, folder, folder, file], "umask {umask}");
    }
    world.does(&["rewind", "t1"]);
    assert_eq!((mode("old"), world.read("shell-002")), ("644".to_owned(), None));
    world.does(&["undo"]);
    assert_eq!((mode("shell-002"), mode("deep-002/new")), ("664".to_owned(), "664".to_owned()));
    assert_eq!((mode("folder-002"), mode("deep-022")), ("775".to_owned(), "755".to_owned()));
    let pid = pid(&world).to_string();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    assert!(status.contains("Umask:\t0077"), "{status}");
    world.does(&["stop"]);
}
