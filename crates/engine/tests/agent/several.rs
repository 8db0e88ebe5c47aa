//! Several folders: writes of tools in any of them can be reverted, and plans say so.

use std::fs;
use std::sync::Arc;

use retake_core::Mode;
use retake_engine::Outcome;
use retake_tools::{Sandbox, Sandboxed, ShellConfig};
use serde_json::json;

use super::{Desk, SingleModelCatalogue, calls, engine_with, words};

impl Desk {
    /// The same, with these further folders in the settings.
    async fn further(self, names: &[&str]) -> Self {
        self.further_with(names, ShellConfig::default()).await
    }

    /// The same, with this shell.
    async fn further_with(self, names: &[&str], shell: ShellConfig) -> Self {
        let Self { engine: old, store, script, id, dir } = self;
        drop(old);
        let folders = names.iter().map(|name| format!("{}\n", dir.path().join(name).display()));
        fs::write(dir.path().join("roots"), folders.collect::<String>()).expect("written");
        let models = Arc::new(SingleModelCatalogue(Arc::clone(&script)));
        let engine = engine_with(&store, &dir, models, Mode::AllowAll, shell).await;
        Self { engine, store, script, id, dir }
    }
}

#[tokio::test]
async fn changes_in_further_folders_are_rewound_and_elsewhere_stay() {
    let desk = Desk::new(Mode::AllowAll).await;
    let other = fs::canonicalize(desk.dir.path()).expect("a folder").join("other");
    fs::create_dir(&other).expect("made");
    let desk = desk.further(&["other"]).await;
    let (made, ran) = (other.join("made"), other.join("ran"));
    let answers = vec![
        calls(&[("write", json!({"path": made, "content": "new\n"}))]),
        calls(&[("shell", json!({"command": format!("echo 1 > {}", ran.display())}))]),
        words("done"),
    ];
    let (ended, told) = desk.turn("go", answers).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
    assert!(told[0].ends_with("(workspace)"), "{told:?}");
    assert!(told[1].ends_with("[1]") && told[3].ends_with("[1]"), "{told:?}");
    assert!(made.exists() && ran.exists());
    desk.rewind("t1").await;
    assert!(!made.exists() && !ran.exists() && other.exists());
}

#[tokio::test]
async fn a_command_in_the_sandbox_writes_in_all_folders_that_are_captured() {
    // Wherever the test's folder is: commands write in the captured folders, and in no temporary one.
    let sandbox = Sandbox::bare();
    if sandbox.available(&[]) != Sandboxed::Full {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [kept, other] = ["kept", "other"].map(|name| place.path().join(name));
    fs::create_dir(&kept).expect("made");
    fs::create_dir(&other).expect("made");
    let shell = ShellConfig { sandbox: Some(sandbox), ..ShellConfig::default() };
    let desk = Desk::new(Mode::AllowAll).await;
    let desk = desk.further_with(&[kept.to_str().expect("UTF-8")], shell).await;
    let command = format!("echo 1 > a; echo 1 > {}/b; echo 1 > {}/c", kept.display(), other.display());
    let answers = vec![calls(&[("shell", json!({ "command": command }))]), words("done")];
    let (_, told) = desk.turn("go", answers).await;
    assert!(told[0].ends_with("(workspace)") && told[1].ends_with("[2]"), "{told:?}");
    assert!(desk.read("a").is_some() && kept.join("b").exists() && !other.join("c").exists(), "{told:?}");
    desk.rewind("t1").await;
    assert!(desk.read("a").is_none() && !kept.join("b").exists());
}

#[tokio::test]
async fn a_further_folder_that_no_capture_covers_is_reported_and_external() {
    let desk = Desk::new(Mode::AllowAll).await;
    // It contains the conversation's own folder.
    let desk = desk.further(&[".", "nowhere"]).await;
    let path = fs::canonicalize(desk.dir.path()).expect("a folder").join("made");
    let write = calls(&[("write", json!({"path": path, "content": "new\n"}))]);
    let (_, told) = desk.turn("go", vec![write, words("done")]).await;
    let notes: Vec<_> = told.iter().filter(|line| line.starts_with("note: FolderNotCaptured")).collect();
    assert_eq!(notes.len(), 2, "{told:?}");
    assert!(told.iter().any(|line| line.ends_with("(external)")), "{told:?}");
    desk.rewind("t1").await;
    assert!(path.exists());
}

#[tokio::test]
async fn a_further_folder_that_goes_away_meanwhile_stops_only_what_would_write_there() {
    let desk = Desk::new(Mode::AllowAll).await;
    let other = fs::canonicalize(desk.dir.path()).expect("a folder").join("other");
    fs::create_dir(&other).expect("made");
    let desk = desk.further(&["other"]).await;
    let answers = vec![
        calls(&[("shell", json!({"command": format!("echo 1 > a; rmdir {}", other.display())}))]),
        calls(&[("shell", json!({"command": "echo 2 > a"}))]),
        calls(&[("write", json!({"path": other.join("made"), "content": "new\n"}))]),
        words("done"),
    ];
    let (ended, told) = desk.turn("go", answers).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    assert!(told.iter().any(|line| line.contains("failed: not run: ")), "{told:?}");
    assert_eq!(desk.read("a").as_deref(), Some("2\n"), "{told:?}");
    assert!(!other.exists());
    desk.rewind("t1").await;
    assert_eq!(desk.read("a"), None);
}
