//! The program killed during a rewind of turns with file changes: conversation, files and prompt are all as before, or all as
//! after, and everything acknowledged is there.

use retake_wire::request::{Apply, List};
use retake_wire::{Action, Client as _, HttpClient, Reply, Request};
use retake_worktree::failpoint::FAILPOINTS;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::harness::{Manifest, World, manifest};
use super::model::{Model, call, calls, shell, words};
use super::owned::Serving;

/// The points at which it is killed: those of file changes, and those of captures and records around them.
fn deadly(point: &str) -> bool {
    point.starts_with("apply.") || ["capture.opened", "capture.saved", "objects.synced"].contains(&point)
}

/// A state: the folder, the conversation, and the model's prompt.
#[derive(Debug, PartialEq)]
struct Moment {
    files: Manifest,
    texts: Vec<String>,
    prompt: Vec<Value>,
}

/// The present state. It is read with a turn, which is undone.
fn moment(model: &Model, world: &World) -> Moment {
    let (files, texts) = (manifest(world.folder()), world.texts());
    let asked = model.asked().len();
    model.turn(world, "what is there?", vec![shell("ls"), words("that")]);
    let prompt = model.asked().swap_remove(asked);
    world.does(&["undo"]);
    Moment { files, texts, prompt }
}

/// Three turns that use every writing tool.
fn work(model: &Model, world: &World) {
    let first = calls(&[("write", json!({"path": "a", "content": "1\n2\n3\n"}))]);
    model.turn(world, "begin", vec![first, words("begun")]);
    let edit = json!({"path": "a", "edits": [{"old": "2", "new": "two"}]});
    let made = call("write", json!({"path": "new/b", "content": "b\n"}));
    model.turn(world, "edit", vec![call("edit", edit), made, words("edited")]);
    let line = "echo 4 >> a; mv new old; rm -r tree; echo file > tree; chmod +x mine; ln -s a link";
    model.turn(world, "rework", vec![shell(line), words("reworked")]);
    // The effect of the line on what the agent had read is reported once, here.
    model.turn(world, "look", vec![words("seen")]);
}

/// Starts a rewind to the second turn with an owner that is killed at the `nth` pass of a point; returns whether it got there.
fn killed(world: &World, point: &str, nth: usize, request: &str) -> bool {
    let serving = Serving::doomed(world, &format!("{point}:{nth}"));
    let client = HttpClient::new(world.reach()).expect("a client");
    let done = Runtime::new().expect("a runtime").block_on(async {
        let list = List { folder: Some(world.folder().display().to_string()), ..List::default() };
        let Ok(Reply::Conversations(list)) = client.call(Request::List(list)).await else {
            panic!("there is one")
        };
        let back = Apply {
            conversation: list.conversations[0].id.clone(),
            action: Action::Rewind { entry: "t2".into() },
            head: None,
            since: false,
            files: Default::default(),
            request_id: Some(request.to_owned()),
        };
        client.call(Request::Apply(back)).await
    });
    match done {
        Ok(_) => {
            world.does(&["stop"]);
            assert!(serving.ended());
            false
        }
        Err(lost) => {
            assert_eq!(lost.code, "owner_lost", "{point}:{nth}");
            assert!(!serving.ended());
            true
        }
    }
}

#[test]
fn a_rewind_killed_at_any_step_is_done_completely_or_not_at_all() {
    let model = Model::start();
    let world = model.world(&[("mine", "mine\n")]);
    std::fs::create_dir(world.folder().join("tree")).expect("made");
    world.write("tree/leaf", "leaf\n");
    work(&model, &world);
    let before = moment(&model, &world);
    world.does(&["rewind", "t2"]);
    let after = moment(&model, &world);
    assert_eq!((after.texts.len(), after.files.len()), (4, 4), "{after:?}");
    world.does(&["undo"]);

    let (mut held, mut went) = (0, 0);
    for point in FAILPOINTS.iter().filter(|point| deadly(point)) {
        for nth in [1, 3] {
            let when = format!("{point}:{nth}");
            if !killed(&world, point, nth, &when) {
                world.does(&["undo"]);
                break;
            }
            let report = world.does(&["doctor"]);
            let now = moment(&model, &world);
            match now.texts == before.texts {
                true => assert_eq!(now, before, "{when}: all of before; {report}"),
                false => assert_eq!(now, after, "{when}: all of after; {report}"),
            }
            *(if now == before { &mut held } else { &mut went }) += 1;
            // A client without a reply repeats its request, and it is done once.
            world.does(&["rewind", "t2", "--request-id", &when]);
            assert_eq!((manifest(world.folder()), world.texts()), (after.files.clone(), after.texts.clone()));
            world.does(&["undo"]);
            world.does(&["redo"]);
            assert_eq!(manifest(world.folder()), after.files, "{when}");
            world.does(&["undo"]);
            assert_eq!(
                (manifest(world.folder()), world.texts()),
                (before.files.clone(), before.texts.clone())
            );
        }
    }
    assert!(held > 5 && went > 5, "{held} of before, {went} of after");
}
