//! Steps that change more files than one transaction writes behave like small steps.

use std::sync::Arc;

use retake_core::{
    Action, Apply, FileChange, Grade, Moved, Part, PathMove, Receipt, Role, SeenState, Stack, WorkspaceNo,
};

use super::files::{change, path, record};
use super::stage::{Stage, by};
use crate::{FilesHalf, NewDelta, Result, Store, StoreError};

/// More than two batches.
const FILES: usize = 2500;

fn inverse(made: &PathMove) -> PathMove {
    let (stack_before, stack_after) = (made.stack_after.clone(), made.stack_before.clone());
    PathMove { change: made.change.inverse(), stack_before, stack_after }
}

/// A turn that created many files.
struct Large {
    stage: Stage,
    workspace: WorkspaceNo,
    changes: Vec<FileChange>,
}

impl Large {
    async fn new(store: Arc<Store>) -> Self {
        let mut stage = Stage::with_turns(store, &["one"]).await;
        stage.turn("two").await;
        let workspace = super::files::workspace(&stage.store).await;
        let mut changes: Vec<FileChange> =
            (0..FILES).map(|no| change(&format!("d/f{no}"), ' ', 'a')).collect();
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        let large = Self { stage, workspace, changes };
        let changes = large.changes.clone();
        large.changed("r1", changes).await;
        large
    }

    async fn changed(&self, text: &str, changes: Vec<FileChange>) -> Receipt {
        let changes = changes.into_iter().map(|change| (Grade::Seen, change)).collect();
        let mark = retake_core::ContentHash([7; 32]);
        let delta = NewDelta::new(self.workspace, changes, mark);
        let say = self.stage.saying(Role::Assistant, vec![Part::text(text)]);
        self.stage.store.say_changed(self.stage.id, say, vec![delta]).await.expect("said")
    }

    async fn stacks(&self) -> Vec<Stack> {
        let paths = self.changes.iter().map(|change| change.path.clone()).collect();
        let layers = self.stage.store.layers(self.stage.id, self.workspace, paths).await.expect("layers");
        layers.into_iter().map(|(_, stack)| stack).collect()
    }

    /// The number of files that the calls changed, and the number of these changes that are in the files.
    async fn counts(&self) -> Vec<(u64, u64)> {
        let deltas = self.stage.store.deltas(self.stage.id).await.expect("deltas");
        deltas.iter().map(|(line, _)| (line.paths, line.applied)).collect()
    }

    /// The file half that removes all files.
    async fn away(&self, staging: Option<&str>) -> FilesHalf {
        if let Some(staging) = staging {
            self.stage.store.preparing(self.workspace, staging.into()).await.expect("prepared");
        }
        let moves = self.stacks().await.into_iter().zip(&self.changes);
        let moves = moves.map(|(stack_before, change)| PathMove {
            change: change.inverse(),
            stack_before,
            stack_after: Stack::default(),
        });
        FilesHalf {
            workspace: self.workspace,
            moves: moves.collect(),
            staged: staging.is_some(),
            adopted: Vec::new(),
        }
    }

    async fn apply(&self, action: Action, half: FilesHalf) -> Result<Receipt> {
        let apply = Apply { action, seen: SeenState::Anything, by: by() };
        self.stage.store.apply_files(self.stage.id, apply, vec![half]).await
    }

    async fn rewind(&self, half: FilesHalf) -> Result<Receipt> {
        self.apply(Action::Rewind(self.stage.named("two")), half).await
    }

    async fn assert_all_there(&self, layers: usize) {
        let all = self.stacks().await;
        assert!(all.iter().all(|stack| stack.layers().len() == layers));
        assert_eq!(all.len(), FILES);
    }
}

/// Its moves are listed in the order of the paths. Its layers are valid before the files are settled and
/// after.
pub async fn large_step_is_one_step_and_can_be_undone(store: Arc<Store>) {
    let large = Large::new(store).await;
    let stage = &large.stage;
    let half = large.away(Some(".retake-1")).await;
    let back: Vec<PathMove> = half.moves.iter().map(inverse).collect();
    let moves = half.moves.clone();
    let receipt = large.rewind(half).await.expect("rewound");
    for settled in [false, true] {
        large.assert_all_there(0).await;
        assert_eq!(large.counts().await, [(FILES as u64, 0)]);
        let moved = stage.store.moved(stage.id, receipt.ops[0]).await.expect("read");
        assert_eq!(moved, [Moved { workspace: large.workspace, moves: moves.clone() }]);
        assert_eq!(stage.store.intents().await.expect("intents").len(), usize::from(!settled));
        if !settled {
            stage.store.settle(large.workspace).await.expect("settled");
        }
    }
    let claims = stage.store.claims().await.expect("claims");
    let by_op = claims.iter().filter(|claim| matches!(claim.by, crate::Claimant::Op(..)));
    assert_eq!(by_op.count(), 2 * FILES, "each move names a file, and so does its layer");
    stage.store.preparing(large.workspace, ".retake-2".into()).await.expect("prepared");
    let half = FilesHalf { workspace: large.workspace, moves: back, staged: true, adopted: Vec::new() };
    let receipt = large.apply(Action::Undo(1), half).await.expect("undone");
    large.assert_all_there(1).await;
    stage.store.settle(large.workspace).await.expect("settled");
    large.assert_all_there(1).await;
    assert_eq!(large.counts().await, [(FILES as u64, FILES as u64)]);
    assert_eq!(stage.store.last_moved(stage.id, None).await.expect("read"), Some(receipt.ops[0]));
}

/// Before its files are settled, it can be reversed.
pub async fn large_step_that_is_turned_back_leaves_every_layer_as_it_was(store: Arc<Store>) {
    let large = Large::new(store).await;
    let half = large.away(Some(".retake-1")).await;
    large.rewind(half).await.expect("rewound");
    large.stage.store.turn_back(large.workspace, by()).await.expect("turned back");
    large.assert_all_there(1).await;
    assert_eq!(large.counts().await, [(FILES as u64, FILES as u64)]);
    large.stage.store.settle(large.workspace).await.expect("settled");
    large.assert_all_there(1).await;
    let again = large.away(Some(".retake-2")).await;
    large.rewind(again).await.expect("it can be done again");
    large.assert_all_there(0).await;
}

/// Even if only the last of its files has changed.
pub async fn large_step_whose_layers_have_changed_is_refused_and_changes_nothing(store: Arc<Store>) {
    let large = Large::new(store).await;
    let stale = large.away(Some(".retake-1")).await;
    let last = &large.changes[FILES - 1];
    let more = FileChange { path: last.path.clone(), before: record('a'), after: record('b') };
    large.changed("r2", vec![more]).await;
    let (stacks, head) = (large.stacks().await, large.stage.store.summary(large.stage.id).await.expect("it"));
    let refused = large.rewind(stale).await;
    assert!(
        matches!(&refused, Err(StoreError::StaleFiles(path)) if *path == last.path.to_string()),
        "{refused:?}"
    );
    assert_eq!(large.stacks().await, stacks);
    assert_eq!(large.stage.store.summary(large.stage.id).await.expect("it"), head);
    large.stage.store.settle(large.workspace).await.expect("settled");
    let fresh = large.away(Some(".retake-2")).await;
    large.rewind(fresh).await.expect("rewound");
    large.assert_all_there(0).await;
}

/// Such a step needs no settling. Calls put their layers on top of its result.
pub async fn large_step_without_changes_on_the_disk_sets_its_layers(store: Arc<Store>) {
    let large = Large::new(store).await;
    let half = large.away(None).await;
    large.rewind(half).await.expect("rewound");
    large.assert_all_there(0).await;
    let changes = large.changes.clone();
    large.changed("r2", changes).await;
    large.assert_all_there(1).await;
    assert_eq!(large.counts().await, [(FILES as u64, 0), (FILES as u64, FILES as u64)]);
}

/// An erasure removes its part of a large step, and the rest of the step stays.
pub async fn erasing_a_text_erases_its_paths_in_large_steps(store: Arc<Store>) {
    let large = Large::new(store).await;
    let half = large.away(Some(".retake-1")).await;
    let receipt = large.rewind(half).await.expect("rewound");
    large.stage.store.settle(large.workspace).await.expect("settled");
    let erase = Action::Erase { entries: Vec::new(), matching: Some("f7".into()), objects: Vec::new() };
    large.stage.act(erase).await.expect("erased");
    let moved = large.stage.store.moved(large.stage.id, receipt.ops[0]).await.expect("read");
    let gone = large.changes.iter().filter(|change| change.path.to_string().contains("f7")).count();
    assert!(gone > 100);
    assert_eq!(moved[0].moves.len(), FILES - gone);
    assert!(moved[0].moves.iter().all(|made| !made.change.path.to_string().contains("f7")));
    assert_eq!(large.counts().await, [((FILES - gone) as u64, 0)]);
    let other = path("d/f1");
    assert!(moved[0].moves.iter().any(|made| made.change.path == other));
}
