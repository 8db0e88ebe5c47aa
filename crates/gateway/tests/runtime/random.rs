//! Random work with random faults and kills: what must hold of every order.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use proptest::prelude::*;
use retake_gateway::{BulkDeletion, Capabilities, DeletionWindow, Failure, Probe, Refused, Resend};
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::{Post, State, markdown};
use super::platform::{Fault, plain};

/// Ends a future after so many polls: a kill at any await.
struct Limited<F>(Pin<Box<F>>, u32);

impl<F: Future> Future for Limited<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.1 == 0 {
            return Poll::Ready(());
        }
        self.1 -= 1;
        self.0.as_mut().poll(context).map(drop)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A post in one of three chats, with so many parts.
    Plan(u8, u8),
    /// Takes back the post with this number.
    Unwant(u8),
    Edit(u8),
    /// A message arrives.
    Arrive(u8),
    Fault(u8, u8),
    /// Runs a gateway for so many polls, and kills it.
    Run(u32),
    /// Lets so many seconds pass without a gateway.
    Pass(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u8..3, 1_u8..4).prop_map(|(chat, parts)| Step::Plan(chat, parts)),
        2 => (0_u8..12).prop_map(Step::Unwant),
        1 => (0_u8..12).prop_map(Step::Edit),
        2 => (0_u8..3).prop_map(Step::Arrive),
        4 => (0_u8..4, 0_u8..6).prop_map(|(method, fault)| Step::Fault(method, fault)),
        6 => (1_u32..160).prop_map(Step::Run),
        1 => (0_u16..120).prop_map(Step::Pass),
    ]
}

const METHODS: [&str; 4] = ["send", "edit", "delete", "find"];

fn fault(number: u8) -> Fault {
    match number {
        0 => Fault::Fails(Failure::Wait { wait: Duration::from_secs(7), bucket: Some("b".into()) }),
        1 => Fault::Fails(Failure::Unknown),
        2 => Fault::Fails(Failure::Unreachable),
        3 => Fault::LostAfter,
        4 => Fault::Fails(Failure::Wait { wait: Duration::from_secs(90), bucket: None }),
        _ => Fault::Hangs,
    }
}

const AGAIN: &[Resend] = &[Resend::Again(Duration::from_hours(23)), Resend::Find, Resend::Send];
const FIND: &[Resend] = &[Resend::Find, Resend::Send];
const SEND: &[Resend] = &[Resend::Send];

fn is_over(post: &Post) -> bool {
    match &post.state {
        State::Sent => post.is_wanted && post.edit.is_none(),
        State::Cancelled | State::Gone(_) | State::Failed(_) => true,
        State::Stays(_) => true,
        State::Planned | State::Sending | State::Unknown => false,
    }
}

async fn play(steps: &[Step], resend: &'static [Resend], is_bulk: bool) -> Result<(), TestCaseError> {
    let bulk = is_bulk.then_some(BulkDeletion { least: 2, most: 100, oldest: Duration::from_hours(48) });
    let world = World::new(Capabilities { resend, bulk, deletes: DeletionWindow::Always, ..plain() });
    world.platform.inside().probe = Probe::Yes { bulk: true };
    let mut unwanted_before: Vec<(String, usize)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Plan(chat, parts) => {
                let text: Vec<String> = (0..*parts).map(|part| format!("{at}-{part} ").repeat(15)).collect();
                world.ledger.plan(
                    &format!("post{at}"),
                    &place(&format!("c{chat}")),
                    markdown(&text.join("\n\n")),
                );
            }
            Step::Unwant(number) => {
                let id = world.ledger.book().posts.get(usize::from(*number)).map(|post| post.id.clone());
                let Some(id) = id else { continue };
                if world.ledger.post(&id).state == State::Planned {
                    unwanted_before.push((id.clone(), at));
                }
                world.ledger.unwant(|post| post.id == id);
            }
            Step::Edit(number) => {
                if let Some(post) = world.ledger.book().posts.get_mut(usize::from(*number)) {
                    post.edit = (post.state == State::Sent && post.is_wanted).then(|| markdown("edited"));
                }
                world.ledger.wake();
            }
            Step::Arrive(chat) => {
                let message =
                    InboundMessage { place: place(&format!("c{chat}")), ..message(&at.to_string(), "hi") };
                world.platform.feed(0, &format!("k{at}"), Inbound::Message(message));
            }
            Step::Fault(method, number) => {
                world.platform.fault(METHODS[usize::from(*method)], fault(*number));
            }
            Step::Run(polls) => {
                let run = Limited(Box::pin(world.run("g")), *polls);
                drop(tokio::time::timeout(Duration::from_mins(10), run).await);
            }
            Step::Pass(seconds) => world.pass(u64::from(*seconds) * 1_000).await,
        }
    }
    finish(&world).await;
    check(&world, resend, steps)?;
    for (id, _) in unwanted_before {
        prop_assert_eq!(world.ledger.post(&id).state, State::Cancelled);
    }
    Ok(())
}

/// A last gateway without faults.
async fn finish(world: &World) {
    world.platform.inside().faults.clear();
    let _gateway = world.start();
    world.until("a final state of each post", |it| it.ledger.book().posts.iter().all(is_over)).await;
    let events = world.platform.fed().to_string();
    world.until("the cursor", |it| events == "0" || it.ledger.book().cursor.as_ref() == Some(&events)).await;
}

fn check(world: &World, resend: &[Resend], steps: &[Step]) -> Result<(), TestCaseError> {
    let book = world.ledger.book();
    let inside = world.platform.inside();
    let has_way = resend != SEND;
    for post in &book.posts {
        let there = inside.messages.iter().filter(|it| post.ids.contains(&it.id)).count();
        match &post.state {
            State::Sent => {
                prop_assert!(post.is_wanted);
                prop_assert_eq!(there, 1, "the ledger knows where {} is", &post.id);
            }
            State::Failed(_) => prop_assert!(!has_way, "{} is lost", &post.id),
            _ => prop_assert!(!post.is_wanted, "{} is wanted and {:?}", &post.id, &post.state),
        }
        let shown = inside.messages.iter().filter(|it| post.ids.contains(&it.id) && !it.is_deleted).count();
        prop_assert!(post.state == State::Sent || shown == 0, "{} is still there", &post.id);
    }
    let cancelled = book.posts.iter().filter(|post| post.state == State::Cancelled && post.lost.is_none());
    for post in cancelled {
        let (at, part) = (post.id.trim_start_matches("post"), post.part);
        let tag = format!("{}-{part} ", at.split('/').next().unwrap_or_default());
        let is_there = inside.messages.iter().any(|it| it.text.starts_with(&tag));
        prop_assert!(!is_there, "{} was sent, and nobody wanted it", &post.id);
    }
    if has_way {
        // Each marker is of one post and part.
        let mut keys: Vec<&str> = inside.messages.iter().map(|it| it.key.as_str()).collect();
        keys.sort_unstable();
        let all = keys.len();
        keys.dedup();
        prop_assert_eq!(keys.len(), all, "something was sent twice");
        let known: usize = book.posts.iter().map(|post| post.ids.len()).sum();
        let shown = inside.messages.iter().filter(|it| !it.is_deleted).count();
        prop_assert!(shown <= known, "a post is there that the ledger does not know");
    }
    let arrived = steps.iter().filter(|step| matches!(step, Step::Arrive(_))).count();
    prop_assert_eq!(book.stored.len(), arrived);
    Ok(())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_post_ends_in_a_final_state_and_nothing_is_lost_or_sent_twice(
        steps in proptest::collection::vec(step(), 1..60),
        way in 0_usize..3,
        is_bulk: bool,
    ) {
        runtime().block_on(play(&steps, [AGAIN, FIND, SEND][way], is_bulk))?;
    }

    /// Refusals in the middle of everything: the gateway still ends with a state for each post.
    #[test]
    fn refusals_and_kills_leave_no_post_without_a_state(
        refusals in proptest::collection::vec((0_u8..4, 0_u8..5), 0..12),
        polls in proptest::collection::vec(1_u32..160, 1..8),
    ) {
        runtime().block_on(async {
            let world = World::new(Capabilities { resend: FIND, ..plain() });
            world.platform.inside().probe = Probe::Yes { bulk: false };
            for at in 0..6 {
                world.ledger.plan(&format!("post{at}"), &place(&format!("c{}", at % 2)), markdown("**text**"));
            }
            let all = [Refused::NotPermitted, Refused::TooLong, Refused::BadFormat, Refused::Other, Refused::TooOld];
            for (method, why) in &refusals {
                let why = all[usize::from(*why)];
                world.platform.fault(METHODS[usize::from(*method)], Fault::Fails(Failure::Refused(why)));
            }
            for (at, polls) in polls.iter().enumerate() {
                let run = Limited(Box::pin(world.run("g")), *polls);
                drop(tokio::time::timeout(Duration::from_mins(5), run).await);
                world.ledger.unwant(|post| post.id == format!("post{at}"));
            }
            finish(&world).await;
        });
    }
}
