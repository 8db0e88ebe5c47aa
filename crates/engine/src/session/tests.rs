//! Tests of sessions under a scheduler that picks the next task at random at every await.

use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::future::{self, block_on};
use uuid::Uuid;

use super::*;

fn session() -> Arc<Session> {
    Arc::new(Session::new(ConversationId::new(Uuid::from_u128(1))))
}

/// Lets the scheduler choose another task.
async fn pause() {
    future::yield_now().await;
}

/// Every waiting task is woken, whatever happens in between: a lost wake-up is a deadlock, which the scheduler reports.
#[test]
fn no_wake_up_is_lost_under_a_random_scheduler() {
    shuttle::check_random(
        || {
            let session = session();
            let claimed = session.begin(Command::Claim).0.expect("claimed");
            session.handle(Command::OpenPlan);
            let mut tasks = Vec::new();
            for until in [WaitCondition::Idle, WaitCondition::Known, WaitCondition::PlansClosed] {
                let session = Arc::clone(&session);
                tasks.push(future::spawn(async move { session.wait(until).await }));
            }
            let run = Arc::clone(&session);
            tasks.push(future::spawn(async move {
                while run.handle(Command::TakeStop(claimed)) != Answer::Done {
                    run.wait(WaitCondition::Stopped(claimed)).await;
                }
                run.handle(Command::Serve(claimed, Some(Vec::new())));
                pause().await;
                run.handle(Command::Release(claimed));
            }));
            let person = Arc::clone(&session);
            tasks.push(future::spawn(async move {
                pause().await;
                assert_eq!(person.handle(Command::Stop), Answer::Done);
                pause().await;
                person.handle(Command::ClosePlan);
            }));
            block_on(async {
                for task in tasks {
                    task.await.expect("it ended");
                }
            });
        },
        2_000,
    );
}

/// Exclusive access is exclusive, and every task gets its turn, even if callers go away while they wait.
#[test]
fn exclusive_access_excludes_everybody_and_reaches_everybody() {
    shuttle::check_random(
        || {
            let session = session();
            let (shared, exclusive) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let mut tasks = Vec::new();
            for at in 0..5_usize {
                let session = Arc::clone(&session);
                let (shared, exclusive) = (Arc::clone(&shared), Arc::clone(&exclusive));
                tasks.push(future::spawn(async move {
                    if at == 4 {
                        // Cancelled before its turn, or at that moment.
                        let mut access = Box::pin(session.access(Access::Exclusive));
                        drop(futures::poll!(&mut access));
                        pause().await;
                        return;
                    }
                    let (own, access) = match at % 2 {
                        0 => (&shared, Access::Shared),
                        _ => (&exclusive, Access::Exclusive),
                    };
                    let _access = session.access(access).await;
                    own.fetch_add(1, Ordering::SeqCst);
                    let (beside, alone) = (shared.load(Ordering::SeqCst), exclusive.load(Ordering::SeqCst));
                    assert!(alone == 0 || (alone, beside) == (1, 0), "{alone} alone, {beside} beside");
                    pause().await;
                    own.fetch_sub(1, Ordering::SeqCst);
                }));
            }
            block_on(async {
                for task in tasks {
                    task.await.expect("it ended");
                }
            });
            assert!(session.is_at_rest());
        },
        2_000,
    );
}

/// Only one of many tasks holds the claim, and each look that found it claimed is repeated at its end.
#[test]
fn a_look_that_found_a_claim_is_made_up_for() {
    shuttle::check_random(
        || {
            let session = session();
            let looked = Arc::new(AtomicUsize::new(0));
            let mut tasks = Vec::new();
            for _ in 0..3 {
                let (session, looked) = (Arc::clone(&session), Arc::clone(&looked));
                tasks.push(future::spawn(async move {
                    let (mut look, mut tried) = (true, 0);
                    while look {
                        tried += 1;
                        assert!(tried < 100, "it looks for ever");
                        let Some(ticket) = session.begin(Command::Look).0 else { return };
                        pause().await;
                        assert_eq!(session.handle(Command::BeginLook(ticket)), Answer::Done);
                        looked.fetch_add(1, Ordering::SeqCst);
                        pause().await;
                        (_, look) = session.state().handle(Command::Release(ticket));
                    }
                }));
            }
            block_on(async {
                for task in tasks {
                    task.await.expect("it ended");
                }
            });
            assert!(looked.load(Ordering::SeqCst) >= 1 && session.is_at_rest());
        },
        2_000,
    );
}
