//! Keeps the adapter receiving: it connects again after each failure. Must never give up because of a failure that may pass.

use std::pin::pin;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::sync::watch;

use super::backoff::Backoff;
use super::inbox::Slot;
use super::{Context, RuntimeError, millis};
use crate::failure::Failure;

/// A connection that lasted so long was a good one.
const GOOD: Duration = Duration::from_mins(1);

/// A connection that lasts so long was made: each adapter gives up earlier if there is none.
const LASTS: Duration = Duration::from_secs(35);

/// How long another program may have the account before we look again.
const OCCUPIED: Duration = Duration::from_mins(1);

/// Receives until the gateway must end. When it is stopped, nothing more is received.
pub(super) async fn run(
    context: &Context,
    slot: &Slot<'_>,
    mut stopped: watch::Receiver<bool>,
) -> RuntimeError {
    let is_stopped = async {
        drop(stopped.wait_for(|it| *it).await);
    };
    tokio::select! {
        error = receive(context, slot) => error,
        () = is_stopped => std::future::pending().await,
    }
}

async fn receive(context: &Context, slot: &Slot<'_>) -> RuntimeError {
    let mut backoff = Backoff::of_the_platform();
    let mut occupied = 0;
    loop {
        let began = context.clock.now_ms();
        slot.connected();
        let failure = connection(context, slot).await;
        if context.clock.now_ms().saturating_sub(began) >= millis(GOOD) {
            backoff.reset();
            occupied = 0;
        }
        let least = match failure {
            Failure::BadToken => {
                tracing::error!("the platform does not accept the token");
                return RuntimeError::BadToken;
            }
            Failure::Occupied => {
                occupied += 1;
                if occupied >= context.limits.occupied {
                    tracing::error!(tries = occupied, "another program uses this account");
                    return RuntimeError::Occupied;
                }
                OCCUPIED
            }
            Failure::Wait { wait, .. } => wait,
            _ => Duration::ZERO,
        };
        let delay = {
            let mut jitter = context.jitter.lock().unwrap_or_else(PoisonError::into_inner);
            backoff.next(&mut jitter).max(least)
        };
        let seconds = delay.as_secs();
        match context.health.fails(&failure) {
            true => tracing::warn!(%failure, seconds, "the connection to the platform ended"),
            false => tracing::debug!(%failure, seconds, "the connection to the platform ended"),
        }
        tokio::time::sleep(delay).await;
    }
}

/// One connection, until it ends. One that lasts counts as working.
async fn connection(context: &Context, slot: &Slot<'_>) -> Failure {
    let mut receives = pin!(context.adapter.receive(context.cursor(), slot));
    tokio::select! {
        failure = &mut receives => return failure,
        () = tokio::time::sleep(LASTS) => context.health.works(),
    }
    receives.await
}
