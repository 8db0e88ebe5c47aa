//! The owner as a separate process: started by the first client, detached from it, shared by all, ended when no client needs it.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::json;

use super::harness::{World, error, out, runs, signal, until};
use super::model::{Model, call, words};

/// An owner that the test ends itself.
fn staying() -> World {
    World::new().with("RETAKE_IDLE_S", "600").with("RETAKE_WAIT_MS", "20000")
}

fn pid(world: &World) -> String {
    world.json(&["status"])["pid"].to_string()
}

fn log(world: &World) -> String {
    world.owner_log()
}

/// The program run by a shell, with its environment.
pub(super) fn shell(world: &World, script: &str) -> Command {
    let given = world.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh"]).arg(given.get_program()).current_dir(world.folder());
    for (name, value) in given.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

#[test]
fn trial_18_the_owner_is_a_separate_process_that_inherits_nothing_from_its_client() {
    let world = staying();
    let told = shell(&world, "exec 7</etc/passwd; \"$1\" new").output().expect("it runs");
    assert!(told.status.success(), "{told:?}");
    let pid = pid(&world);
    let process = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).expect("a link");
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("its state");
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("fields").1.split(' ').collect();
    assert_eq!(fields[3], pid, "it has its own session: {stat}");
    assert_eq!(fields[4], "0", "and no terminal: {stat}");
    assert!(stat.contains("(retake)"), "it is found by its name: {stat}");
    assert_eq!(process("cwd").to_str(), Some("/"));
    assert_eq!(process("fd/0").to_str(), Some("/dev/null"));
    let log_file = world.state().join("owner.log");
    assert_eq!((process("fd/1"), process("fd/2")), (log_file.clone(), log_file));
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors").flatten() {
        let to = fs::read_link(entry.path()).unwrap_or_default();
        assert_ne!(to.to_str(), Some("/etc/passwd"), "it was inherited");
    }
    assert!(log(&world).contains(&format!(" {pid} ")), "{}", log(&world));
    assert_eq!(world.does(&["stop"]), "stopped\n");
    assert!(!runs(&pid), "what is said to be stopped is gone");
    assert!(log(&world).contains("ended reason=\"stopped by"), "{}", log(&world));
}

#[test]
fn trial_18_fifty_clients_at_once_give_one_owner() {
    let world = staying();
    let clients: Vec<_> = (0..50).map(|_| world.command(&["new"]).spawn().expect("it starts")).collect();
    for client in clients {
        let done = client.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{done:?}");
    }
    assert_eq!(world.owners().len(), 1);
    assert_eq!(log(&world).matches("the owner has started").count(), 1, "{}", log(&world));
    let list = world.json(&["list", "--all", "--limit", "100"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(50));
    world.does(&["stop"]);
}

#[test]
fn trial_18_a_substitution_does_not_wait_for_the_end_of_the_owner() {
    let world = staying();
    let script = "said=$(\"$1\" ask 'one apple' 2>&1); printf '%s' \"$said\"";
    let told = shell(&world, script).output().expect("it runs");
    assert!(out(&told).contains("one apple"), "{told:?}");
    assert_eq!(world.owners().len(), 1, "the owner is still there");
    world.does(&["stop"]);
}

#[test]
fn trial_18_a_start_that_fails_is_the_error_of_the_client() {
    let world = World::new();
    world.settings("[model]\ndefualt = \"demo\"\n");
    let refused = world.run(&["new"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(error(&refused).contains("defualt"), "{refused:?}");
    assert_eq!(world.owners(), Vec::<String>::new());
    world.settings("[model]\ndefault = \"demo\"\n");
    fs::create_dir_all(world.data().join("retake.db")).expect("made");
    let refused = world.run(&["new"]);
    assert_eq!(refused.status.code(), Some(7), "{refused:?}");
    assert!(error(&refused).contains("retake.db"), "{refused:?}");
    assert_eq!(world.owners(), Vec::<String>::new());
}

/// Reading the many certificates took most of the time of a short command. A command that opened this file would hang.
#[test]
fn trial_18_no_command_that_speaks_to_the_owner_alone_reads_certificates() {
    let pipe = World::new();
    let certificates = pipe.home().join("certificates");
    assert!(Command::new("mkfifo").arg(&certificates).status().expect("it runs").success());
    let world = World::new().with("SSL_CERT_FILE", &certificates.display().to_string());
    for arguments in [&["ask", "one apple"][..], &["list"]] {
        let mut client = world.command(arguments).spawn().expect("it starts");
        until("it ends", || client.try_wait().expect("asked").is_some());
        assert!(client.wait().expect("ended").success());
    }
}

/// As in [`trial_18_a_start_that_fails_is_the_error_of_the_client`]; a full disk is `a_full_disk_is_reported`.
#[test]
fn trial_18_a_store_of_a_newer_version_is_the_error_of_the_client() {
    let world = World::new();
    world.does(&["new"]);
    let store = rusqlite::Connection::open(world.data().join("retake.db")).expect("opened");
    store.pragma_update(None, "user_version", 9999).expect("written");
    drop(store);
    for command in [["list"], ["new"]] {
        let refused = world.run(&command);
        assert_eq!(refused.status.code(), Some(7), "{refused:?}");
        assert!(error(&refused).contains("newer"), "{refused:?}");
        assert_eq!(world.owners(), Vec::<String>::new());
    }
}

/// The command waits only for the end of its owner.
#[test]
fn trial_18_an_idle_time_of_0_ends_the_owner_with_its_last_command() {
    let world = World::new().with("RETAKE_IDLE_S", "");
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[owner]\nidle_s = 0\n");
    for command in [&["ask", "one apple"][..], &["list"]] {
        world.does(command);
        assert_eq!(world.owners(), Vec::<String>::new(), "after {command:?}");
    }
    assert!(log(&world).contains("ended reason=\"no longer needed"), "{}", log(&world));
}

/// An active run may end first; then the process is gone.
#[test]
fn trial_18_stop_and_sigterm_let_a_run_end_and_then_the_process_is_gone() {
    for way in ["stop", "SIGTERM"] {
        let world = staying();
        world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 40\n");
        let asking = world.command(&["ask", "one apple"]).spawn().expect("it starts");
        until("it runs", || {
            let status = world.json(&["status"]);
            status["running"].as_array().is_some_and(|running| running.len() == 1)
        });
        let owner = pid(&world);
        if way == "stop" {
            assert_eq!(world.does(&["stop"]), "stopped\n");
            assert!(!runs(&owner), "what is said to be stopped is gone");
        } else {
            signal(&owner, Signal::TERM);
            until("it ends", || !runs(&owner));
        }
        let told = asking.wait_with_output().expect("ended");
        assert!(told.status.success() && out(&told).contains("This is turn 1"), "{way}: {told:?}");
        let entries = world.json(&["log"])["entries"].clone();
        assert!(entries[1].is_object() && entries[1]["interrupted"] != true, "{way}: {entries}");
        world.does(&["stop"]);
    }
}

#[test]
fn trial_18_stop_does_not_report_a_silent_owner_as_stopped() {
    let world = staying();
    world.does(&["new"]);
    let owner = pid(&world);
    signal(&owner, Signal::STOP);
    let refused = world.run(&["stop"]);
    assert_eq!((refused.status.code(), &*out(&refused)), (Some(4), ""), "{refused:?}");
    assert!(error(&refused).contains(&format!("`kill -KILL {owner}` ends it")), "{refused:?}");
    assert!(runs(&owner));
    signal(&owner, Signal::CONT);
    assert_eq!(world.does(&["stop"]), "stopped\n");
    assert!(!runs(&owner));
}

#[test]
fn trial_18_an_idle_owner_ends_after_the_configured_time() {
    let world = World::new().with("RETAKE_IDLE_S", "");
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[owner]\nidle_s = 2\n");
    world.does(&["new"]);
    let status = world.json(&["status"]);
    assert_eq!((&status["idle_s"], &status["clients"]), (&json!(2), &json!(0)), "{status}");
    assert!(status["ends_ms"].is_i64(), "{status}");
    let shown = world.does(&["status"]);
    assert!(shown.contains("ends by itself in "), "{shown}");
    until("it ends", || world.owners().is_empty());
    assert!(log(&world).contains("ended reason=\"no longer needed"), "{}", log(&world));
    assert!(world.does(&["status"]).starts_with("no process owns"));
}

#[test]
fn trial_18_a_client_and_a_job_keep_the_owner_and_are_reported() {
    let model = Model::start();
    let world = model.world(&[]);
    let line = world.waits_for("go");
    let job = call("shell", json!({"command": line, "background": true}));
    model.turn(&world, "begin", vec![job, words("begun")]);
    let status = world.json(&["status"]);
    assert_eq!((&status["jobs"], &status["clients"]), (&json!(1), &json!(0)), "{status}");
    let shown = world.does(&["status"]);
    assert!(shown.contains("1 background job"), "{shown}");
    let first = pid(&world);
    let pty = world.converse();
    super::prompt(&pty);
    let status = world.json(&["status"]);
    assert_eq!(status["clients"], 1, "{status}");
    assert!(world.does(&["status"]).contains("1 client"), "it is named");
    fs::write(world.home().join("go"), "").expect("written");
    until("the job is over", || world.json(&["status"])["jobs"] == 0);
    assert_eq!(pid(&world), first, "the terminal keeps it");
    drop(pty);
    until("it ends with its last client", || world.owners().is_empty());
}

/// An idle owner is replaced by `serve`, which never ends by itself; an owner in use is not.
#[test]
fn trial_18_serve_replaces_an_idle_owner() {
    let world = staying();
    world.does(&["new"]);
    let idle = pid(&world);
    let serving = super::owned::Serving::start(&world, &[]);
    assert!(!runs(&idle));
    let status = world.json(&["status"]);
    assert_eq!((&status["pid"], &status["idle_s"]), (&json!(serving.pid()), &json!(null)), "{status}");
    world.does(&["list"]);
    world.does(&["stop"]);
    assert!(serving.ended());
}

/// Changed settings apply to the next command: an idle owner is replaced by one that has read them.
#[test]
fn trial_18_a_changed_settings_file_is_read_by_the_next_command() {
    let world = staying();
    world.does(&["new"]);
    let old = pid(&world);
    world.settings("[model]\ndefault = \"demo\"\nsystem_prompt = \"be brief\"\n[local]\nfind = false\n");
    world.does(&["list"]);
    let new = pid(&world);
    assert_ne!(new, old);
    assert!(!runs(&old));
    let told = error(&world.run(&["config", "set", "model.system_prompt", "be clear"]));
    assert!(
        told.contains(&format!("process {new}) has nothing to do: the next command starts a new one")),
        "{told}"
    );
    world.settings("[model]\ndefualt = \"demo\"\n");
    let refused = world.run(&["list"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    until("the old one has ended", || world.owners().is_empty());
}

/// Starts a background job, which runs until the file `go` exists; returns the pid of the owner.
fn with_a_job(model: &Model, world: &World) -> String {
    let line = world.waits_for("go");
    let job = call("shell", json!({"command": line, "background": true}));
    model.turn(world, "begin", vec![job, words("begun")]);
    pid(world)
}

/// A busy owner stays: clients learn that it has older settings. Settings that it reads again at once do not matter.
#[test]
fn trial_18_a_busy_owner_reports_that_it_keeps_older_settings() {
    let model = Model::start();
    let world = model.world(&[]);
    let first = with_a_job(&model, &world);
    let settings = fs::read_to_string(world.config()).expect("there are settings");
    let told = || error(&world.run(&["list"]));
    world.settings(&format!("{settings}mode = \"plan\"\n# a remark\n"));
    assert_eq!(told(), "");
    world.settings(&format!("{settings}sandbox = false\n"));
    let notice = told();
    assert!(notice.contains("the settings file has changed") && notice.contains(&first), "{notice}");
    assert!(notice.contains("retake stop"), "{notice}");
    assert_eq!(pid(&world), first, "it stays");
    world.settings(&settings);
    assert_eq!(told(), "");
    fs::write(world.home().join("go"), "").expect("written");
    until("it ends with the job", || world.owners().is_empty());
}

/// A person at a terminal is asked whether to stop the owner with the old settings, and the next one has the new ones.
#[test]
fn trial_17_a_setting_that_needs_another_owner_offers_to_stop_the_one_that_runs() {
    let model = Model::start();
    let world = model.world(&[]);
    let first = with_a_job(&model, &world);
    let sets = |value: &str, key: &str| {
        let mut pty = world.types(&["config", "set", "permissions.sandbox", value]);
        pty.shows("Stop it now? [y/N]");
        pty.reads_keys();
        pty.send(key);
        assert!(pty.ended(), "{}", pty.screen());
        pty.screen()
    };
    let screen = sets("true", "n");
    assert!(screen.contains(&format!("process {first}) keeps its settings")), "{screen}");
    assert!(runs(&first), "a no stops nothing");
    let screen = sets("false", "y");
    assert!(screen.contains("stopped"), "{screen}");
    assert!(!runs(&first));
    // The next one has the new setting, according to its sandbox facts.
    let status = world.json(&["status"]);
    assert!(status["pid"].is_null(), "nobody has started one yet: {status}");
    let told = world.json(&["doctor"])["sandbox"].to_string();
    assert!(told.contains("permissions.sandbox"), "{told}");
    fs::write(world.home().join("go"), "").expect("written");
    until("it ends with the job", || world.owners().is_empty());
}

#[test]
fn trial_18_each_data_folder_has_an_owner_of_its_own() {
    let world = staying();
    let other = world.home().join("other").display().to_string();
    world.does(&["new"]);
    world.does(&["new", "--data-dir", &other]);
    assert_eq!(world.owners().len(), 2);
    world.does(&["stop"]);
    assert_eq!(world.owners().len(), 1);
    assert!(world.does(&["status", "--data-dir", &other]).contains(&other));
    world.does(&["stop", "--data-dir", &other]);
    assert_eq!(world.owners().len(), 0);
}

/// A job left by an owner belongs to the next one, which stays as long as the job is running.
#[test]
fn trial_18_a_job_of_an_earlier_owner_keeps_the_next_one() {
    let model = Model::start();
    let world = model.world(&[]);
    let first = with_a_job(&model, &world);
    world.kill_owners();
    world.does(&["list"]);
    let status = world.json(&["status"]);
    assert_ne!(status["pid"].to_string(), first, "another one: {status}");
    assert_eq!(
        (&status["jobs"], &status["clients"], &status["ends_ms"]),
        (&json!(1), &json!(0), &json!(null))
    );
    fs::write(world.home().join("go"), "").expect("written");
    until("it ends with the job", || world.owners().is_empty());
}

/// Jobs outlive their owner: `stop` names them, and the commands that end them.
#[test]
fn trial_18_stop_reports_what_goes_on() {
    let model = Model::start();
    let world = model.world(&[]);
    // One process, and the same all the time: a loop would name one that is gone before its signal comes.
    let line = "exec sleep 60";
    let job = || call("shell", json!({"command": line, "background": true}));
    model.turn(&world, "begin", vec![job(), words("begun")]);
    let told = world.does(&["stop"]);
    assert!(told.starts_with("stopped\n1 background job continues:\n"), "{told}");
    assert!(told.contains("stops it)\n") && told.contains("sleep 60"), "{told}");
    world.does(&["list"]);
    assert_eq!(world.json(&["status"])["jobs"], 1, "the next owner knows it");
    let told = world.json(&["stop"]);
    let pids = told["jobs"][0]["pids"].as_array().expect("its processes").clone();
    assert!(told["reply"] == "done" && !pids.is_empty(), "{told}");
    for pid in &pids {
        signal(&pid.to_string(), Signal::TERM);
    }
    until("the job is gone", || pids.iter().all(|pid| !runs(&pid.to_string())));
}
