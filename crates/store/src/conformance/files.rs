//! Files: a call's changes come and go with its result. An operation with its files is one step, and settled or reversed
//! whatever happens in between.

use std::sync::Arc;

use retake_core::{
    Action, Apply, ContentHash, DeltaLine, FileChange, FilePath, GitMove, GitPlace, Grade, Moved, OpNo, Part,
    PathMove, Reason, Receipt, Record, Role, SayRequest, SeenState, Stack, Time, Uncertain, WorkspaceNo,
};

use super::stage::{Stage, by, by_request};
use crate::{
    CallsSeen, CapturedCallChanges, FilesHalf, NewCapture, NewDelta, OpenCall, Result, Store, StoreError,
    WantedFiles,
};

/// The mark of a capture.
const MARK: ContentHash = ContentHash([7; 32]);

pub(super) fn path(text: &str) -> FilePath {
    FilePath::new(text.as_bytes()).expect("a path")
}

/// A file that contains this letter; none for a blank.
pub(super) fn record(letter: char) -> Option<Record> {
    let hash = ContentHash([u8::try_from(letter).expect("ASCII"); 32]);
    (letter != ' ').then_some(Record::File { hash, len: 1, mode: 0o644 })
}

pub(super) fn change(name: &str, before: char, after: char) -> FileChange {
    FileChange { path: path(name), before: record(before), after: record(after) }
}

/// The workspace of these tests.
pub(super) async fn workspace(store: &Store) -> WorkspaceNo {
    store.workspace(b"/work".to_vec(), (1, 2), Time(7)).await.expect("a workspace").no
}

/// A call's result that is not stored yet.
fn result(stage: &Stage, text: &str) -> SayRequest {
    stage.saying(Role::Assistant, vec![Part::text(text)])
}

/// Stores a result that changed files.
pub(super) async fn changed(stage: &Stage, text: &str, changes: Vec<FileChange>) -> Receipt {
    let workspace = workspace(&stage.store).await;
    let changes = changes.into_iter().map(|change| (Grade::Seen, change)).collect();
    let delta = NewDelta::new(workspace, changes, MARK);
    stage.store.say_changed(stage.id, result(stage, text), vec![delta]).await.expect("said")
}

/// The layers of a path.
pub(super) async fn layers(stage: &Stage, name: &str) -> Stack {
    let workspace = workspace(&stage.store).await;
    let layers = stage.store.layers(stage.id, workspace, vec![path(name)]).await.expect("layers");
    layers.into_iter().next().expect("one path").1
}

/// The file half of an operation that reverts everything at a path.
pub(super) async fn half(stage: &Stage, name: &str, staging: Option<&str>) -> FilesHalf {
    let workspace = workspace(&stage.store).await;
    if let Some(staging) = staging {
        stage.store.preparing(workspace, staging.into()).await.expect("prepared");
    }
    let stack_before = layers(stage, name).await;
    let ends = (stack_before.layers().first(), stack_before.layers().last());
    let (Some(first), Some(last)) = ends else { panic!("nothing to take back from {name}") };
    let change = FileChange { path: path(name), before: last.after.clone(), after: first.before.clone() };
    let moves = vec![PathMove { change, stack_before, stack_after: Stack::default() }];
    FilesHalf { workspace, moves, staged: staging.is_some(), adopted: Vec::new() }
}

pub(super) async fn rewind(stage: &Stage, to: &str, half: FilesHalf) -> Result<Receipt> {
    let apply = Apply { action: Action::Rewind(stage.named(to)), seen: SeenState::Anything, by: by() };
    stage.store.apply_files(stage.id, apply, vec![half]).await
}

/// Also if one name is a prefix of the other.
pub async fn note_is_found_by_its_whole_name(store: Arc<Store>) {
    let noted = |name: &'static str| store.read(move |rows| rows.note(name));
    let set = |name: &'static str, note: Option<&'static [u8]>| {
        store.write(move |context| context.rows.set_note(name, note))
    };
    set("one more", Some(b"2")).await.expect("set");
    assert_eq!(noted("one").await.expect("read"), None);
    set("one", Some(b"1")).await.expect("set");
    for (name, note) in
        [("one", Some(&b"1"[..])), ("one more", Some(b"2")), ("one ", None), ("ne", None), ("", None)]
    {
        assert_eq!(noted(name).await.expect("read").as_deref(), note, "{name:?}");
    }
    set("one", None).await.expect("removed");
    assert_eq!(
        (noted("one").await.expect("read"), noted("one more").await.expect("read")),
        (None, Some(b"2".into()))
    );
}

/// A folder is one workspace; another folder under its name is another workspace.
pub async fn workspace_is_identified_by_its_folder(store: Arc<Store>) {
    let one = store.workspace(b"/a\xff".to_vec(), (u64::MAX, 2), Time(1)).await.expect("made");
    let same = store.workspace(b"/a\xff".to_vec(), (u64::MAX, 2), Time(9)).await.expect("known");
    let other = store.workspace(b"/a\xff".to_vec(), (1, 3), Time(9)).await.expect("made");
    assert_eq!(one, same);
    assert_eq!(store.workspaces().await.expect("listed"), [one.clone(), other]);
    assert_eq!(one.mark, None);
    for (name, number) in [(None, 1), (Some("before lunch".to_owned()), 2)] {
        let changes = vec![change("f", ' ', 'a')];
        let (calls, manifest) = (CallsSeen::default(), name.is_some().then_some(MARK));
        let capture = NewCapture { time: Time(5), name, changes, calls, mark: MARK, manifest };
        let no = store.captured(one.no, capture).await.expect("captured");
        assert_eq!(no, number);
    }
    assert_eq!(store.workspaces().await.expect("listed")[0].mark, Some(MARK));
    let rows = store.captures(one.no, None, 9).await.expect("captures");
    let names: Vec<_> = rows.iter().map(|row| (row.no, row.name.as_deref())).collect();
    assert_eq!(names, [(2, Some("before lunch")), (1, None)]);
    assert_eq!(rows[0].changes, [change("f", ' ', 'a')]);
    assert_eq!((rows[0].manifest, rows[1].manifest), (Some(MARK), None));
    assert_eq!(store.captures(one.no, Some(2), 9).await.expect("captures").len(), 1);
    let named = async |name: &str| store.checkpoint(one.no, name.into()).await.expect("looked for");
    assert_eq!((named("before lunch").await.as_ref(), named("lunch").await), (rows.first(), None));
}

/// The changes of calls become layers in order; a fork does not own them.
pub async fn deltas_add_layers_to_their_paths(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let first = changed(&stage, "r1", vec![change("f", 'a', 'b'), change("g", ' ', 'x')]).await;
    changed(&stage, "r2", vec![change("f", 'b', 'c'), change("f", 'd', 'e')]).await;
    let deltas = stage.store.deltas(stage.id).await.expect("deltas");
    let lines: Vec<_> = deltas.iter().map(|(line, _)| (line.id.no, line.seq, line.paths)).collect();
    assert_eq!(lines, [(1, 3, 2), (2, 4, 1)]);
    assert_eq!(deltas[0].1, first.entries[0]);
    let shown: Vec<_> = layers(&stage, "f").await.layers().iter().map(|layer| layer.delta.no).collect();
    assert_eq!(shown, [1, 2, 2], "somebody else wrote in between");
    assert_eq!(stage.store.delta(stage.id, deltas[1].0.id).await.expect("a delta")[0].1.len(), 2);
    assert_eq!(layers(&stage, "h").await, Stack::default());
    let fork = stage.fork(None).await;
    assert!(fork.store.deltas(fork.id).await.expect("deltas").is_empty());
    assert_eq!(layers(&fork, "f").await, Stack::default());
}

/// The same request and its delta are stored once.
pub async fn delta_of_a_repeated_request_is_stored_once(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let workspace = workspace(&stage.store).await;
    let say = SayRequest { by: by_request("r"), ..result(&stage, "done") };
    let mut receipts = Vec::new();
    for _ in 0..2 {
        let delta = NewDelta::new(workspace, vec![(Grade::Written, change("f", 'a', 'b'))], MARK);
        receipts.push(stage.store.say_changed(stage.id, say.clone(), vec![delta]).await.expect("said"));
    }
    assert_eq!(receipts[0], receipts[1]);
    assert_eq!(stage.store.deltas(stage.id).await.expect("deltas").len(), 1);
}

/// Changes that a call made before its result was stored, or long after, are layers above those in between; a closed
/// call is not open any more.
pub async fn change_observed_later_belongs_to_its_call(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let (place, entry) = (workspace(&stage.store).await, stage.named("one"));
    let call = |id: &str| OpenCall { id: id.into(), workspace: place, conversation: stage.id, entry };
    for id in ["job", "other"] {
        stage.store.begin_call(vec![call(id)]).await.expect("begun");
    }
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    assert_eq!(stage.store.open_calls().await.expect("calls"), [call("job"), call("other")]);
    let wanted = stage.store.wanted(stage.id, Action::Rewind(entry)).await.expect("it can be done");
    assert_eq!(wanted.running, [call("job"), call("other")], "they are taken back");
    let label = Action::Label(None, Some("name".into()));
    assert!(stage.store.wanted(stage.id, label).await.expect("it can be done").running.is_empty());
    let changes = vec![(Grade::Ambiguous(Uncertain::Job), change("f", 'b', 'c'))];
    let owned = vec![CapturedCallChanges { conversation: stage.id, entry, changes, candidates: Vec::new() }];
    let calls = CallsSeen { owned, over: vec!["job".into()] };
    let capture =
        NewCapture { time: Time(5), name: None, changes: Vec::new(), calls, mark: MARK, manifest: None };
    stage.store.captured(place, capture).await.expect("captured");
    let lines: Vec<_> =
        deltas(&stage).await.iter().map(|line| (line.id.no, line.seq, line.applied)).collect();
    assert_eq!(lines, [(1, 3, 1), (2, 1, 1)]);
    let grades: Vec<_> = layers(&stage, "f").await.layers().iter().map(|layer| layer.grade).collect();
    assert_eq!(grades, [Grade::Seen, Grade::Ambiguous(Uncertain::Job)]);
    assert_eq!(stage.store.open_calls().await.expect("calls"), [call("other")]);
    stage.store.forget_calls(place, vec!["other".into(), "never".into()]).await.expect("forgotten");
    assert!(stage.store.open_calls().await.expect("calls").is_empty());
}

/// Moves in git are listed for the reverted calls, oldest first.
pub async fn git_moves_of_rewound_calls_are_listed(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let place = workspace(&stage.store).await;
    let at = |commit: &str| GitPlace { branch: Some("main".into()), commit: Some(commit.into()) };
    let moved = |from, to| GitMove { head: Some((at(from), at(to))), ..GitMove::default() };
    assert!(!stage.store.has_changes(stage.id).await.expect("read"));
    for (turn, from, to) in [("two", "a", "b"), ("three", "b", "c")] {
        stage.turn(turn).await;
        let git = Some(moved(from, to));
        let delta = NewDelta { git, ..NewDelta::new(place, Vec::new(), MARK) };
        stage.store.say_changed(stage.id, result(&stage, "committed"), vec![delta]).await.expect("said");
    }
    assert!(stage.store.has_changes(stage.id).await.expect("read") && deltas(&stage).await.is_empty());
    let git = async |to| {
        let wanted = stage.store.wanted(stage.id, Action::Rewind(stage.named(to))).await.expect("wanted");
        wanted.git.into_iter().map(|it| (it.workspace, it.moved, it.earlier)).collect::<Vec<_>>()
    };
    assert_eq!(git("three").await, [(place, moved("b", "c"), false)]);
    assert_eq!(git("one").await, [(place, moved("a", "b"), false), (place, moved("b", "c"), false)]);
    stage.rewind("three").await;
    assert_eq!(git("one").await, [(place, moved("a", "b"), false), (place, moved("b", "c"), true)]);
}

/// An operation, its files and the intent to carry them out are one transaction.
pub async fn an_operation_and_its_files_are_one_step(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let two = stage.turn("two").await;
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    let taken = half(&stage, "f", Some(".retake-1")).await;
    let receipt = rewind(&stage, "two", taken.clone()).await.expect("rewound");
    assert_eq!(layers(&stage, "f").await, Stack::default());
    let moved = stage.store.moved(stage.id, receipt.ops[0]).await.expect("read");
    assert_eq!(moved, [Moved { workspace: taken.workspace, moves: taken.moves }]);
    assert_eq!(stage.store.moved(stage.id, OpNo(99)).await.expect("read"), []);
    let intents = stage.store.intents().await.expect("intents");
    assert_eq!(intents.len(), 1);
    let op = Some((stage.id, receipt.ops[0]));
    assert_eq!((intents[0].op, intents[0].staging.as_str(), intents[0].back), (op, ".retake-1", false));
    let applied: Vec<_> = deltas(&stage).await.iter().map(|line| line.applied).collect();
    assert_eq!(applied, [0]);
    stage.store.settle(taken.workspace).await.expect("settled");
    assert!(stage.store.intents().await.expect("intents").is_empty());
    let fork = stage.fork(None).await;
    let have_files = [stage.store.has_changes(stage.id).await, fork.store.has_changes(fork.id).await];
    assert_eq!(have_files.map(|has| has.expect("looked for")), [true, false], "a fork has its own only");
    let unknown = stage.store.content(stage.id, two).await.expect("it is on another branch");
    assert_eq!(unknown, [Part::text("two")]);
    let meta = stage.store.meta(stage.id, two).await.expect("there, too");
    assert_eq!((meta.id, stage.store.entry_id(stage.id, meta.pos).await.expect("an id")), (two, two));
}

async fn deltas(stage: &Stage) -> Vec<DeltaLine> {
    let deltas = stage.store.deltas(stage.id).await.expect("deltas");
    deltas.into_iter().map(|(line, _)| line).collect()
}

/// A plan whose files have changed is refused, and nothing has happened.
pub async fn stale_plan_of_files_changes_nothing(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    let stale = half(&stage, "f", Some(".retake-1")).await;
    changed(&stage, "r2", vec![change("f", 'b', 'c')]).await;
    let before = stage.store.summary(stage.id).await.expect("a summary");
    let refused = rewind(&stage, "one", stale).await;
    assert!(matches!(refused, Err(StoreError::StaleFiles(path)) if path == "f"));
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary"), before);
    let workspace = workspace(&stage.store).await;
    assert_eq!(stage.store.intents().await.expect("intents")[0].op, None, "prepared, and not decided");
    stage.store.settle(workspace).await.expect("settled");
    let fresh = half(&stage, "f", Some(".retake-1")).await;
    rewind(&stage, "one", fresh).await.expect("rewound");
    let second = stage.store.preparing(workspace, ".retake-2".into()).await;
    assert!(matches!(second, Err(StoreError::Unsettled)), "one at a time in a workspace");
    changed(&stage, "r3", vec![change("g", 'a', 'b')]).await;
    let files = Apply { action: Action::Files(Reason::Files), seen: SeenState::Anything, by: by() };
    let second = FilesHalf { staged: true, ..half(&stage, "g", None).await };
    let refused = stage.store.apply_files(stage.id, files, vec![second]).await;
    assert!(matches!(refused, Err(StoreError::Unsettled)));
}

/// An interrupted step is reverted: conversation and layers are as before, and the undo history does not contain it.
pub async fn interrupted_step_leaves_conversation_and_layers_as_before(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    stage.turn("two").await;
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    for alone in [false, true] {
        let (stack, before) = (layers(&stage, "f").await, stage.store.summary(stage.id).await.expect("it"));
        let taken = half(&stage, "f", Some(".retake-1")).await;
        let workspace = taken.workspace;
        if alone {
            let files = Apply { action: Action::Files(Reason::Rewind), seen: SeenState::Anything, by: by() };
            stage.store.apply_files(stage.id, files, vec![taken]).await.expect("done");
        } else {
            rewind(&stage, "two", taken).await.expect("rewound");
        }
        stage.store.turn_back(workspace, by()).await.expect("turned back");
        assert!(stage.store.intents().await.expect("intents")[0].back);
        stage.store.settle(workspace).await.expect("settled");
        let after = stage.store.summary(stage.id).await.expect("it");
        assert_eq!(
            (after.tip, after.counts, after.steps.undo),
            (before.tip, before.counts, before.steps.undo)
        );
        assert_eq!(layers(&stage, "f").await, stack);
        assert_eq!(deltas(&stage).await[0].applied, 1);
    }
}

/// A delta is wanted while its entry is on the path and not dropped; an operation's own changes are reversed.
pub async fn wanted_files_of_each_action(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    stage.turn("two").await;
    changed(&stage, "r2", vec![change("f", 'b', 'c')]).await;
    let wanted = async |action| stage.store.wanted(stage.id, action).await.expect("it can be done");
    let path = async |action| match wanted(action).await.files {
        WantedFiles::Path(lines) => lines.iter().map(|(_, wanted)| *wanted).collect::<Vec<_>>(),
        back => panic!("{back:?}"),
    };
    let back = async |action| match wanted(action).await.files {
        WantedFiles::Back { reversed, without, .. } => {
            (reversed, without.iter().map(|line| line.id.no).collect::<Vec<_>>())
        }
        path => panic!("{path:?}"),
    };
    let two = stage.named("two");
    assert_eq!(path(Action::Rewind(two)).await, [true, false]);
    assert_eq!(back(Action::Undo(1)).await, (vec![], vec![2]));
    assert_eq!(back(Action::Undo(2)).await, (vec![], vec![1, 2]));
    let mark = |verb| Action::Mark { verb, entries: vec![stage.named("one"), two], range: true, seen: None };
    assert_eq!(path(mark(Reason::Hide)).await, [true, true], "files stay with what is hidden");
    let last = stage.store.deltas(stage.id).await.expect("deltas")[1].1;
    let drop = Action::Mark { verb: Reason::Drop, entries: vec![two, last], range: true, seen: None };
    assert_eq!(path(drop).await, [true, false]);
    let taken = half(&stage, "f", None).await;
    let op = rewind(&stage, "two", taken).await.expect("rewound").ops[0];
    assert_eq!(back(Action::Undo(1)).await, (vec![op], vec![]));
    changed(&stage, "r3", vec![change("g", 'a', 'b')]).await;
    assert_eq!(back(Action::Undo(1)).await, (vec![op], vec![3]), "with what was said in answer to it");
    assert_eq!(back(Action::Undo(2)).await, (vec![op], vec![2, 3]));
}
