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

#[tokio::test]
async fn an_attached_file_counts_as_read_until_it_changes() {
    let edit = || calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}))]);
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("a.txt", "one\n");
    let (_, told) = desk.turn("change @a.txt", vec![edit(), words("done")]).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("two\n"), "{told:?}");
    // Its fact goes with the message.
    desk.rewind("t1").await;
    let (_, told) = desk.turn("change it", vec![edit(), words("refused")]).await;
    assert!(told[1].contains("have not read it"), "{told:?}");
    // Changed before the edit, and between two turns.
    desk.turn("see @a.txt", vec![words("seen")]).await;
    desk.write("a.txt", "one and more\n");
    let (_, told) = desk.turn("change it", vec![edit(), words("refused")]).await;
    assert!(told[1].contains("failed"), "{told:?}");
    assert!(desk.heard().join("\n").contains("Changed: "), "{:?}", desk.heard());
    assert_eq!(desk.read("a.txt").as_deref(), Some("one and more\n"));
}

#[tokio::test]
async fn instructions_of_a_subfolder_are_reported_once_a_call_works_there() {
    let desk = Desk::new(Mode::AllowAll).await;
    std::fs::create_dir_all(desk.path("sub/deep")).expect("made");
    desk.write("AGENTS.md", "Use tabs.\n");
    desk.write("sub/AGENTS.md", "Use spaces.\n");
    desk.write("sub/deep/a.txt", "one\n");
    desk.write("top.txt", "one\n");
    let read = |path: &str| calls(&[("read", json!({ "path": path }))]);
    let times = |desk: &Desk, text: &str| desk.heard().iter().filter(|heard| heard.contains(text)).count();
    desk.turn("top", vec![read("top.txt"), words("seen")]).await;
    assert_eq!((times(&desk, "Use tabs."), times(&desk, "Use spaces.")), (1, 0), "{:?}", desk.heard());
    let write = calls(&[("write", json!({ "path": "sub/new.txt", "content": "x" }))]);
    desk.turn("deep", vec![read("sub/deep/a.txt"), write, words("seen")]).await;
    assert_eq!((times(&desk, "Use tabs."), times(&desk, "Use spaces.")), (1, 1), "{:?}", desk.heard());
    // It is known in the next turn, and a change of it is reported at its beginning.
    desk.turn("again", vec![read("sub/deep/a.txt"), words("seen")]).await;
    assert_eq!(times(&desk, "Use spaces."), 1, "{:?}", desk.heard());
    desk.write("sub/AGENTS.md", "Use both.\n");
    desk.turn("changed", vec![words("yes")]).await;
    assert_eq!(times(&desk, "has changed. It now says:\n\nUse both."), 1, "{:?}", desk.heard());
    // A rewind takes it back: it is reported again when a call works there.
    desk.rewind("t2").await;
    desk.turn("nothing", vec![words("yes")]).await;
    assert_eq!(times(&desk, "Use spaces.") + times(&desk, "Use both."), 0, "{:?}", desk.heard());
    desk.turn("deep", vec![read("sub/deep/a.txt"), words("seen")]).await;
    assert_eq!(times(&desk, "Use both."), 1, "{:?}", desk.heard());
    std::fs::remove_file(desk.path("sub/AGENTS.md")).expect("removed");
    desk.turn("gone", vec![words("yes")]).await;
    assert_eq!(times(&desk, "sub/AGENTS.md is gone"), 1, "{:?}", desk.heard());
}

#[tokio::test]
async fn instructions_of_subfolders_are_limited_in_length_and_number() {
    let desk = Desk::new(Mode::AllowAll).await;
    let read = |at: usize| ("read", json!({ "path": format!("s{at}/a.txt") }));
    for at in 0..20 {
        std::fs::create_dir(desk.path(&format!("s{at}"))).expect("made");
        let rules = if at == 0 { "x".repeat(20_000) } else { "y".repeat(10) };
        desk.write(&format!("s{at}/AGENTS.md"), &format!("Rules {at}. {rules}"));
        desk.write(&format!("s{at}/a.txt"), "one\n");
    }
    for at in 0..20 {
        desk.turn("see", vec![calls(&[read(at)]), words("seen")]).await;
    }
    let heard = desk.heard().join("\n");
    let told: Vec<usize> = (0..20).filter(|at| heard.contains(&format!("Rules {at}. "))).collect();
    assert_eq!(told, (0..16).collect::<Vec<_>>());
    let length = heard.matches('x').count();
    assert!((7_900..8_100).contains(&length), "{length}");
    // Those that are known are still told of.
    desk.write("s3/AGENTS.md", "Other rules 3.");
    desk.turn("changed", vec![calls(&[read(3)]), words("yes")]).await;
    assert!(desk.heard().join("\n").contains("Other rules 3."), "{:?}", desk.heard());
}

/// Runs git in the folder, without the machine's configuration.
fn git(desk: &Desk, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(desk.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    assert!(git.status().expect("git").success(), "{arguments:?}");
}

#[tokio::test]
async fn state_of_the_git_repository_is_told_once_before_the_first_prompt() {
    let desk = Desk::new(Mode::AllowAll).await;
    git(&desk, &["init", "-q", "-b", "main"]);
    git(&desk, &["commit", "-q", "--allow-empty", "-m", "Add a door"]);
    desk.write(".gitignore", "target\n");
    desk.write("target", "");
    desk.turn("one", vec![words("1")]).await;
    let first = desk.heard()[0].clone();
    assert!(first.contains("Branch: main\nLast commit: "), "{first}");
    assert!(
        first.contains(" Add a door\nChanged, as `git status --short` shows it:\n?? .gitignore"),
        "{first}"
    );
    assert!(!first.contains("target"), "{first}");
    git(&desk, &["checkout", "-q", "-b", "other"]);
    desk.turn("two", vec![words("2")]).await;
    let heard = desk.heard();
    assert_eq!(heard[0], first, "the beginning stays");
    assert_eq!(heard.iter().filter(|text| text.contains("Branch: ")).count(), 1, "{heard:?}");
    desk.rewind("t2").await;
    desk.rewind("t1").await;
    desk.turn("again", vec![words("1")]).await;
    let heard = desk.heard();
    assert_eq!(heard.iter().filter(|text| text.contains("Branch: ")).count(), 1, "{heard:?}");
}

#[tokio::test]
async fn folder_without_git_says_nothing_also_if_a_repository_comes_later() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("one", vec![words("1")]).await;
    git(&desk, &["init", "-q"]);
    desk.turn("two", vec![words("2")]).await;
    assert_eq!(desk.heard(), ["one", "1", "two"]);
}
