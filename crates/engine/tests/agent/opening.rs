//! What the agent gets at the start of a turn: instruction files, files changed meanwhile, mentioned files.

use retake_core::{Mode, Part, Role, joined_text};
use serde_json::json;

use super::{Desk, calls, words};

impl Desk {
    /// The last prompt, one line per message, without its first lines.
    fn heard(&self) -> Vec<String> {
        let told = |message: &retake_core::Message| joined_text(&message.parts);
        self.script.asked().messages.iter().map(told).collect()
    }
}

#[tokio::test]
async fn instructions_are_reported_once_and_again_when_they_have_changed() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("AGENTS.md", "Use tabs.\n");
    desk.turn("one", vec![words("1")]).await;
    assert!(desk.heard()[0].contains("Use tabs."), "{:?}", desk.heard());
    desk.turn("two", vec![words("2")]).await;
    let told = desk.heard().iter().filter(|text| text.contains("Use tabs.")).count();
    assert_eq!(told, 1, "{:?}", desk.heard());
    desk.write("AGENTS.md", "Use spaces.\n");
    desk.turn("three", vec![words("3")]).await;
    let heard = desk.heard();
    assert!(heard[0].contains("Use tabs."), "the beginning stays: {heard:?}");
    assert!(heard.iter().any(|text| text.contains("Use spaces.")), "{heard:?}");
    desk.rewind("t3").await;
    desk.rewind("t2").await;
    desk.turn("two again", vec![words("2")]).await;
    assert!(desk.script.asked().system.is_some_and(|system| system.contains("be kind")));
}

#[tokio::test]
async fn file_changed_by_others_is_reported_and_must_be_read_again() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("a.txt", "one\n");
    desk.write("b.txt", "one\n");
    let read = calls(&[("read", json!({"path": "a.txt"})), ("read", json!({"path": "b.txt"}))]);
    desk.turn("look", vec![read, words("seen")]).await;
    desk.write("a.txt", "mine\n");
    std::fs::remove_file(desk.path("b.txt")).expect("removed");
    let edit = calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "mine", "new": "yours"}]}))]);
    let (_, told) = desk.turn("edit", vec![edit, words("refused")]).await;
    assert!(told[1].contains("failed"), "{told:?}");
    let heard = desk.heard().join("\n");
    assert!(heard.contains("Changed: ") && heard.contains("a.txt"), "{heard}");
    assert!(heard.contains("Gone: ") && heard.contains("b.txt"), "{heard}");
    assert_eq!(desk.read("a.txt").as_deref(), Some("mine\n"));
    desk.turn("go on", vec![words("yes")]).await;
    let times = desk.heard().iter().filter(|text| text.contains("Gone: ")).count();
    assert_eq!(times, 1, "it is told once");
}

#[tokio::test]
async fn mentioned_files_are_attached_to_the_message() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("notes.txt", "remember the milk\n");
    let (_, told) = desk.turn("see @notes.txt and @missing.txt", vec![words("seen")]).await;
    let asked = desk.script.asked();
    let prompt = asked.messages.iter().find(|message| message.role == Role::User).expect("a prompt");
    let attached = |part: &Part| matches!(part, Part::File { name, .. } if name.ends_with("notes.txt"));
    assert!(prompt.parts.iter().any(attached), "{:?}", prompt.parts);
    assert!(told.iter().any(|line| line.contains("missing.txt")), "{told:?}");
}
