//! stub until the store has runs, effects and permissions.
#![allow(missing_docs, reason = "stub")]
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use retake_core::*;

use crate::*;
pub struct RunsStepped {
    pub effects: Vec<RunEffect>,
    pub over: Vec<Run>,
    pub runs: Runs,
    pub said: Vec<Receipt>,
}

static RUNS: LazyLock<Mutex<HashMap<(usize, ConversationId), Runs>>> = LazyLock::new(Mutex::default);

#[async_trait::async_trait]
pub trait StubStore: Send + Sync {
    async fn step_runs(&self, c: ConversationId, inputs: Vec<RunInput>) -> Result<RunsStepped> {
        let mut all = RUNS.lock().unwrap_or_else(|e| e.into_inner());
        let mut runs =
            all.get(&(std::ptr::from_ref(self).cast::<()>() as usize, c)).cloned().unwrap_or_default();
        let mut out = RunsStepped { effects: vec![], over: vec![], runs: runs.clone(), said: vec![] };
        for input in inputs {
            let ground =
                RunGround { tail: Tail::default(), owner: 1, on_path: &|_| true, mark: &|_| Mark::Normal };
            let s = runs.step(input, &ground).map_err(|e| StoreError::StaleFiles(format!("{e:?}")))?;
            runs = s.runs;
            out.effects.extend(s.effects);
            out.over.extend(s.over);
        }
        out.runs = runs.clone();
        all.insert((std::ptr::from_ref(self).cast::<()>() as usize, c), runs);
        Ok(out)
    }
    async fn runs(&self, _c: ConversationId, _l: usize) -> Result<Vec<Run>> {
        Ok(vec![])
    }
    async fn effect_again(&self, _c: ConversationId, _p: [u8; 16]) -> Result<Option<Effect>> {
        Ok(None)
    }
    async fn begin_effect(&self, _e: Effect) -> Result<()> {
        Ok(())
    }
    async fn permission(&self, _c: ConversationId) -> Result<Option<Permission>> {
        Ok(None)
    }
    async fn set_permission(&self, _c: ConversationId, _p: Permission) -> Result<()> {
        Ok(())
    }
}
impl<T: ?Sized + Send + Sync> StubStore for T {}
