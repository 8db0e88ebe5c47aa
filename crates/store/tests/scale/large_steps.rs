//! A step over many files never holds the writer for long: the size of one transaction does not grow with the files.

use retake_core::{ContentHash, FileChange, FilePath, Grade, PathMove, Record, Stack, Time, WorkspaceNo};
use retake_store::{FilesHalf, NewDelta};

use super::*;

/// The most statements of a transaction, for any step: three for each path of a batch, and a few.
const MOST: u64 = 3 * 256 + 100;

fn made(no: usize) -> FileChange {
    let record = Record::File { hash: ContentHash([7; 32]), len: 1, mode: 0o644 };
    let path = FilePath::new(format!("d/f{no}").as_bytes()).expect("a path");
    FileChange { path, before: None, after: Some(record) }
}

/// A conversation whose second turn created files.
async fn with_files(files: usize) -> (Stage, WorkspaceNo, Vec<FileChange>) {
    let Stage { dir, store, commits, .. } = Stage::with_entries(4).await;
    drop(store);
    let work = Arc::<Work>::default();
    let mut opened = Sqlite::open(dir.path(), NOW, Duration::ZERO).expect("opened");
    opened.writer.count_work(&work).expect("watched");
    opened.writer.count_transactions(&work).expect("watched");
    let store = Arc::new(Store::start(opened.readers, opened.writer).expect("started"));
    let stage = Stage { store, work, commits, entries: 4, dir, forks: 0 };
    let workspace = stage.store.workspace(b"/work".to_vec(), (1, 2), Time(7)).await.expect("made").no;
    let changes: Vec<FileChange> = (0..files).map(made).collect();
    let seen = changes.iter().map(|change| (Grade::Seen, change.clone())).collect();
    let mark = ContentHash([7; 32]);
    let delta = NewDelta::new(workspace, seen, mark);
    stage.store.say_changed(conversation(), say(5), vec![delta]).await.expect("said");
    (stage, workspace, changes)
}

/// Statements of each transaction of a rewind and its settling, and of one that is reverted.
async fn transactions(files: usize) -> (Vec<u64>, Vec<u64>) {
    let (stage, workspace, changes) = with_files(files).await;
    let mut counts = Vec::new();
    for turns_back in [true, false] {
        let paths = changes.iter().map(|change| change.path.clone()).collect();
        let stacks = stage.store.layers(conversation(), workspace, paths).await.expect("layers").into_iter();
        let moves = stacks.zip(&changes).map(|((_, stack_before), change)| PathMove {
            change: change.inverse(),
            stack_before,
            stack_after: Stack::default(),
        });
        let half = FilesHalf { workspace, moves: moves.collect(), staged: true, adopted: Vec::new() };
        stage.work.take_transactions();
        stage.store.preparing(workspace, ".retake-1".into()).await.expect("prepared");
        let apply = Apply { action: Action::Rewind(entry_id(3)), seen: SeenState::Anything, by: by() };
        stage.store.apply_files(conversation(), apply, vec![half]).await.expect("rewound");
        if turns_back {
            stage.store.turn_back(workspace, by()).await.expect("turned back");
        }
        stage.store.settle(workspace).await.expect("settled");
        counts.push(stage.work.take_transactions());
    }
    let rewound = counts.pop().expect("two");
    (rewound, counts.pop().expect("two"))
}

#[tokio::test]
async fn no_transaction_of_a_step_grows_with_its_files() {
    let ((few, few_back), (many, many_back)) = (transactions(2500).await, transactions(6500).await);
    for counts in [&few, &few_back, &many, &many_back] {
        assert!(counts.iter().all(|count| *count <= MOST), "{counts:?}");
    }
    // Prepared, written in batches, decided, its layers set in batches, settled.
    assert_eq!((few.len(), many.len()), (1 + 10 + 1 + 10 + 1, 1 + 26 + 1 + 26 + 1));
    assert_eq!((few_back.len(), many_back.len()), (1 + 10 + 1 + 1 + 1, 1 + 26 + 1 + 1 + 1));
    // The decision, and its reversal.
    assert_eq!((few[11], few_back[11], few_back[12]), (many[27], many_back[27], many_back[28]));
    assert!(few[11] < 100 && few_back[12] < 100, "{few:?} {few_back:?}");
}
